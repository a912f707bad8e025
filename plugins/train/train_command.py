"""`harness train`: the command line. Reads the options and prints the result.

`training` trains one model, and `recipes` several.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import arguments
from harness.errors import InvalidFile, UsageError
from harness.printing import echo

if TYPE_CHECKING:
    from .recipes.recipe import Overrides, Recipe
    from .settings import Trained


def _bounds(
    ctx: click.Context, parameter: click.Parameter, texts: tuple[str, ...]
) -> dict[str, float]:
    """Return bounds by the name of a metric."""
    bounds = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            bounds[name] = float(value)
        except ValueError:
            raise click.BadParameter(
                f"'{text}': expected METRIC=VALUE, such as bias_overall=1.2", ctx, parameter
            ) from None
    return bounds


@click.command("train")
@click.option(
    "--base",
    "-b",
    help="Word vectors, for a BiLSTM over them; or a text encoder, which is fine-tuned.",
    shell_complete=arguments.complete("model"),
)
@click.option(
    "--corpus",
    "-i",
    help="Training pairs: a folder with train.jsonl, dev.jsonl and test.jsonl, a file, or "
    "hf://owner/name.",
)
@click.option("--dev", help="Dev pairs, which choose the best epoch.  [default: of the corpus]")
@click.option("--test", help="Test pairs, only scored at the end.  [default: of the corpus]")
@click.option(
    "--format",
    type=click.Choice(["jsonl", "tsv", "snli", "multinli", "stsb"]),
    help="Format of the files.  [default: by the file extension]",
)
@click.option(
    "--out",
    "-o",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the trained model; checkpoints are kept in it, and a stopped training goes on.",
)
@click.option(
    "--hidden",
    type=click.IntRange(min=1),
    help="BiLSTM: units in each direction.  [default: 2048]",
)
@click.option(
    "--words",
    type=click.IntRange(min=1),
    help="BiLSTM: keep only the first words of the vocabulary.  [default: all]",
)
@click.option(
    "--epochs", type=click.IntRange(min=1), help="At most.  [default: 8; text encoder: 1]"
)
@click.option(
    "--batch-size",
    type=click.IntRange(min=1),
    help="Pairs in a batch.  [default: 64; text encoder: 32]",
)
@click.option(
    "--lr",
    type=click.FloatRange(min=0, min_open=True),
    help="Learning rate of the first epoch.  [default: 0.1; text encoder: 2e-5]",
)
@click.option("--limit", type=click.IntRange(min=1), help="Read only the first N training pairs.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--device", help="cpu, cuda or mps.  [default: the best one available]")
@click.option(
    "--precision",
    type=click.Choice(["float32", "float16", "bfloat16"]),
    default="float32",
    show_default=True,
    help="Precision of the arithmetic; weights stay in float32.",
)
@click.option(
    "--bias",
    metavar="TASKS",
    default="",
    help="Measure bias on these tasks before, during and after the training.",
)
@click.option(
    "--bias-steps",
    type=click.IntRange(min=1),
    help="With --bias: batches between measurements.  [default: an epoch]",
)
@click.option(
    "--stop-above",
    metavar="METRIC=VALUE",
    multiple=True,
    callback=_bounds,
    help="With --bias: stop if a metric, such as bias_overall, is above; repeatable.",
)
@click.option(
    "--stop-below",
    metavar="METRIC=VALUE",
    multiple=True,
    callback=_bounds,
    help="With --bias: stop if a metric, such as bias_usefulness, is below; repeatable.",
)
@click.option("--overwrite", is_flag=True, help="Replace a training in the folder.")
@click.option(
    "--recipe",
    help="Train and evaluate all models of a recipe: its name or file. Other options replace what "
    "it says; --out is then by default a folder of its name.",
    shell_complete=arguments.complete("recipe"),
)
@click.option("--dry-run", is_flag=True, help="With --recipe: only list its steps.")
@arguments.include
@arguments.trust
@arguments.as_json
@click.pass_context
def command(
    ctx: click.Context,
    /,
    include: tuple[Path, ...],
    trust: bool,
    as_json: bool,
    recipe: str | None,
    dry_run: bool,
    **options: Any,
) -> int:
    """Train an encoder on pairs of sentences.

    Word vectors give a BiLSTM with max pooling, trained as InferSent was. A text encoder is
    fine-tuned. Labels that are names are learnt by a softmax classifier, scores by the cosine.

    \b
    harness train --base glove-6b-50d --corpus ./fair --hidden 256 --out ./bilstm
    harness train --base all-MiniLM-L6-v2 --corpus hf://stanfordnlp/snli --out ./fine-tuned
    harness train --base ./encoder --corpus ./fair --out ./mine --bias seat-c6,ws-353
    harness eval --model sentence-transformers:./bilstm --tasks all
    harness train --recipe fairer-snli-small
    """  # noqa: D301  # click keeps the lines after a backspace
    if recipe is not None:
        typed = {
            name: value
            for name, value in options.items()
            if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        }
        return run(recipe, typed, include=include, trust=trust, dry_run=dry_run, as_json=as_json)
    for name in ("base", "corpus", "out"):
        if options[name] is None:
            raise click.MissingParameter(param_hint=f"--{name}", param_type="option", ctx=ctx)
    if dry_run:
        raise click.UsageError("--dry-run requires --recipe", ctx)
    from harness import progress
    from harness.registry.registry import Registry

    from .settings import TrainSettings
    from .training import is_main, train

    trained = train(
        TrainSettings(**options),
        registry=Registry(include=include),
        progress=progress.for_terminal(),
    )
    if is_main():
        report(trained, as_json=as_json)
    return 0


def report(trained: Trained, *, as_json: bool) -> None:
    """Print the scores of a training, and where the model is."""
    from harness.commands import output

    if as_json:
        output.as_json(vars(trained))
        return
    columns = {
        "split": [split for split, scores in trained.scores.items() for _ in scores],
        "pairs": [trained.pairs[split] for split, scores in trained.scores.items() for _ in scores],
        "score": [metric for scores in trained.scores.values() for metric in scores],
        "before": [score for scores in trained.before.values() for score in scores.values()],
        "value": [score for scores in trained.scores.values() for score in scores.values()],
    }
    columns = {name: values for name, values in columns.items() if values}
    output.table(list(columns), list(zip(*columns.values(), strict=True)))
    if trained.stopped:
        echo(trained.stopped)
    folder, here = Path(trained.folder), Path.cwd()
    shown = folder.relative_to(here) if folder.is_relative_to(here) else folder
    echo(
        f"{'wrote' if trained.is_new else 'complete before, nothing done:'} {shown} "
        f"(epoch {trained.best_epoch} of {trained.epochs})"
    )


def run(
    name: str,
    options: Mapping[str, Any],
    *,
    include: Iterable[Path] = (),
    trust: bool = False,
    dry_run: bool = False,
    as_json: bool = False,
) -> int:
    """Run a recipe by its name or file, show its result, and return the exit code.

    Parameters
    ----------
    name
        Name of an installed recipe, or path of a file.
    options
        Options of `harness train` that were typed: `out` is the folder of the recipe, by default
        one of its name; the others replace what the file says.
    include
        Further folders of recipes, tasks and concepts.
    trust
        Whether files may run code, and name keys and addresses.
    dry_run
        Whether only to list the steps.
    as_json
        Whether to print JSON.

    Returns
    -------
    int
        1 if a task did not run on some model, 2 if the file has mistakes, else 0.

    Raises
    ------
    UsageError
        If an option is about a single model.
    """
    from harness import folders, progress
    from harness.commands import output
    from harness.registry import discovery
    from harness.registry.registry import Registry

    from .recipes import recipe, recipe_tables
    from .recipes.results import run_recipe

    shown = progress.for_terminal()
    registry = Registry(include=tuple(include), trust=trust)
    registry.data.progress = shown
    try:
        resolved = recipe.resolve(
            discovery.find_file(registry.recipe_files, name), registry, _overrides(options)
        )
    except InvalidFile as error:
        for mistake in error.mistakes:
            echo(f"harness: {mistake}", err=True)
        return error.exit_code
    folder = options.get("out") or Path(folders.safe_name(resolved.file.name))
    if dry_run:
        _list(resolved, folder, as_json=as_json)
        return 0
    result = run_recipe(resolved, folder, registry=registry, progress=shown)
    recipe_tables.write(result.summary, folder)
    if as_json:
        output.as_json(result.summary.model_dump(mode="json"))
    else:
        output.report(recipe_tables.report(result.summary))
        steps = output.counted(len(result.steps), "step")
        echo(f"{steps}, {result.new} of them new; tables and records in {folder}")
    for line in result.notices:
        echo(line, err=True)
    return int(bool(result.missed))


def _overrides(options: Mapping[str, Any]) -> Overrides:
    from .recipes.recipe import OPTIONS, Overrides

    own = {key: options[key] for key in ("corpus", "format", "base", "limit") if key in options}
    training = {key: value for key, value in options.items() if key in OPTIONS}
    for key in options:
        if key not in own and key not in training and key != "out":
            option = key.replace("_", "-")
            raise UsageError(f"--{option} cannot be combined with --recipe")
    return Overrides(**own, training=training)


def _list(recipe: Recipe, folder: Path, *, as_json: bool) -> None:
    from harness.commands import output
    from harness.results import jsonl

    from .recipes.recipe import StepRecord, plan
    from .recipes.steps import STEPS, unfinished

    steps = plan(recipe)
    path = folder / STEPS
    records = {r.id: r for r in jsonl.read(path, StepRecord, [])} if path.exists() else {}
    left = {step.name for step in unfinished(steps, records, folder)}
    rows = [
        {
            "step": i,
            "name": step.name,
            "needs": list(step.needs),
            "result": step.folder,
            "state": "to do" if step.name in left else "done",
        }
        for i, step in enumerate(steps, start=1)
    ]
    if as_json:
        output.as_json({"corpus": recipe.corpus, "folder": str(folder), "steps": rows})
        return
    output.lines(rows, drop=("needs", "result"))
    echo(f"{len(left)} of {len(steps)} steps to do; corpus {recipe.corpus}")
