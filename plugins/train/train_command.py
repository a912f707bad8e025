"""`harness train`: the command line. Reads the options and prints the result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import arguments
from harness.printing import echo

if TYPE_CHECKING:
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
    required=True,
    help="Word vectors, for a BiLSTM over them; or a text encoder, which is fine-tuned.",
    shell_complete=arguments.complete("model"),
)
@click.option(
    "--corpus",
    "-i",
    required=True,
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
    required=True,
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
@arguments.include
@arguments.as_json
def command(include: tuple[Path, ...], as_json: bool, **options: Any) -> int:
    """Train an encoder on pairs of sentences.

    Word vectors give a BiLSTM with max pooling, trained as InferSent was. A text encoder is
    fine-tuned. Labels that are names are learnt by a softmax classifier, scores by the cosine.

    \b
    harness train --base glove-6b-50d --corpus ./fair --hidden 256 --out ./bilstm
    harness train --base all-MiniLM-L6-v2 --corpus hf://stanfordnlp/snli --out ./fine-tuned
    harness train --base ./encoder --corpus ./fair --out ./mine --bias seat-c6,ws-353
    harness eval --model sentence-transformers:./bilstm --tasks all
    """  # noqa: D301  # click keeps the lines after a backspace
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
