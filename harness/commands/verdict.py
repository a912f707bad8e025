"""`harness compare`: a verdict on a model beside its base, with an exit code."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness import names
from harness.commands import arguments, output
from harness.printing import echo
from harness.results.ratios import SMALLEST

if TYPE_CHECKING:
    from harness.results.formats import Sentences, Table
    from harness.results.verdict import FailOn, Verdict


@click.command("compare")
@click.option(
    "--model",
    "-m",
    "models",
    multiple=True,
    help="Model to judge: a registered name, hub id, folder or file; repeated, the seeds of one "
    "training.",
    shell_complete=arguments.complete("model"),
)
@click.option(
    "--recorded",
    nargs=2,
    metavar="A B",
    help="Compare recorded scores instead, without the models: B beside A, which are two "
    "mitigators, two models, or two results folders or files. --model, --mitigator and --tasks "
    "then select records by names or globs.",
)
@click.option(
    "--base",
    "-b",
    help="What it is compared with, without a mitigator.  [default: the model itself]",
    shell_complete=arguments.complete("model"),
)
@click.option(
    "--mitigator",
    "-M",
    help="Mitigator of the model; the base has none.  [default: none]",
    shell_complete=arguments.complete("mitigator"),
)
@click.option(
    "--tasks",
    "-t",
    multiple=True,
    help="As for `harness eval`; repeatable.  [default: those that rank, and usefulness]",
    shell_complete=arguments.complete(arguments.SELECTION),
)
@click.option(
    "--exclude",
    "-x",
    multiple=True,
    help="Tasks to leave out, written as after --tasks.",
    shell_complete=arguments.complete(arguments.SELECTION),
)
@click.option(
    "--fail-on",
    type=click.Choice(["more", "unclear", "never"]),
    default="more",
    show_default=True,
    help="Which verdict on bias fails: more biased in a concept or overall; also an overall one "
    "that is not clear; or none.",
)
@click.option(
    "--margin",
    type=click.FloatRange(0, min_open=True),
    metavar="X",
    help="Fail unless the overall bias is shown to be at most X above the base.",
)
@click.option(
    "--usefulness-margin",
    type=click.FloatRange(0, min_open=True),
    metavar="X",
    help="Fail unless usefulness is shown to fall by less than X.",
)
@click.option(
    "--smallest",
    type=click.FloatRange(0),
    default=SMALLEST,
    show_default=True,
    metavar="X",
    help="Smallest difference of bias that counts as more or less.",
)
@click.option("--markdown", is_flag=True, help="Print Markdown, for a pull request.")
@click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Also write one self-contained page for an auditor; by default it has tasks of screening, "
    "too, which do not count.",
)
@click.option(
    "--figure",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Also draw the differences with their intervals: .svg, .pdf or .png.",
)
@arguments.as_json
@arguments.shared_results
@arguments.cache
@arguments.concept("Concept for mitigators that need more than a task's concept has; or none.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="As for `harness eval`.",
)
@click.option("--overwrite", is_flag=True, help="Compute recorded scores again.")
@arguments.include
@arguments.trust
@arguments.verbose
@click.option("--quiet", is_flag=True, help="Show no progress.")
@click.pass_obj
def command(
    debug: bool,
    /,
    models: tuple[str, ...],
    recorded: tuple[str, str] | None,
    markdown: bool,
    page: Path | None,
    figure: Path | None,
    as_json: bool,
    fail_on: FailOn,
    margin: float | None,
    usefulness_margin: float | None,
    verbose: bool,
    **options: Any,
) -> int:
    """Judge a model beside its base: whether it is more biased, and what that costs.

    \b
    harness compare --model ./mine --base all-MiniLM-L6-v2
    harness compare --model all-MiniLM-L6-v2 --mitigator leace --usefulness-margin 0.02
    harness compare --model ./mine --base all-MiniLM-L6-v2 --fail-on unclear --margin 0.1
    harness compare --recorded none hard-debias --model all-MiniLM-L6-v2
    harness compare --recorded results-of-monday results-of-friday

    Scores that are recorded are not computed again.

    \b
    Exit codes:
    0   the model passes
    1   something failed, such as a task
    2   the command line or a file has a mistake in it
    3   more biased (--fail-on), or not shown to be within --margin
    4   not clear (--fail-on unclear), or bias could not be measured
    5   usefulness is not shown to be within --usefulness-margin
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness import folders
    from harness.errors import UsageError
    from harness.results import figures, formats

    if as_json and markdown:
        raise UsageError("--json and --markdown cannot be used together")
    if figure is not None:
        figures.check_suffix(figure)
    if recorded:
        found = _of_records(recorded, models, options)
    else:
        found = [_of_models(models, options, debug=debug, screening=page is not None)]
    if len(found) > 1 and (page or figure):
        contexts = ", ".join(part.context for part in found)
        raise UsageError(f"a page or a figure is of one comparison, here are {contexts}")
    codes: list[int] = []
    contents: list[dict[str, Any]] = []
    for part in found:
        verdict = part.verdict
        failures = verdict.failures(
            fail_on=fail_on, margin=margin, usefulness_margin=usefulness_margin
        )
        codes += [failure.code for failure in failures] or [1] * bool(part.not_run)
        result = [f"fails: {failure.line} (exit code {failure.code})" for failure in failures]
        if not failures:
            result = [f"fails: {line} (exit code 1)" for line in part.not_run] or ["passes"]
        if page is not None:
            limits = {"margin": margin, "usefulness margin": usefulness_margin}
            asked = [
                f"fail on {fail_on}",
                *(f"{n} {x}" for n, x in limits.items() if x is not None),
            ]
            html = verdict.page(
                licences=_licences(options), result=[f"asked: {', '.join(asked)}", *result]
            )
            folders.write_atomically(page, html.encode())
        if figure is not None:
            figures.write_figure(figure, *verdict.figure())
        contents.append({**part.content, "failures": [failure._asdict() for failure in failures]})
        if not as_json:
            report = verdict.report(verbose=verbose)
            last = formats.Sentences("Result", result)
            report = formats.Report(
                f"{part.context}: {recorded[1]} beside {recorded[0]}" if recorded else report.title,
                [*part.scores, *report.parts, last],
            )
            if markdown:
                echo(formats.markdown(report), nl=False)
            else:
                output.report(report)
        for line in (*verdict.notices, *part.not_run):
            echo(line, err=True)
    if as_json:
        output.as_json(contents if recorded else contents[0])
    return min(codes, default=0)


@dataclass(frozen=True)
class _Found:
    """A verdict to print.

    Parameters
    ----------
    verdict
        The verdict.
    content
        The same as plain values.
    not_run
        Tasks that failed, a line each.
    context
        What recorded rows share: a model, a mitigator, or both; empty for models that were run.
    scores
        The recorded scores of both rows.
    """

    verdict: Verdict
    content: Mapping[str, Any]
    not_run: Sequence[str] = ()
    context: str = ""
    scores: Sequence[Table | Sentences] = ()


def _of_models(
    models: Sequence[str], options: Mapping[str, Any], *, debug: bool, screening: bool
) -> _Found:
    """Evaluate models and their base."""
    from harness.errors import UsageError
    from harness.progress import Silent, for_terminal
    from harness.results.records import NotRunWarning
    from harness.run import evaluation

    if not models:
        raise UsageError("--model is missing: the model to judge; or use --recorded")
    tasks = list(options["tasks"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", NotRunWarning)
        verdict = evaluation.compare_models(
            list(models),
            options["base"],
            options["mitigator"] or names.NONE,
            tasks or evaluation.COMPARED,
            screening=screening and not tasks,
            concept=arguments.concept_or_none(options["concept"]),
            include=list(options["include"]),
            trust=options["trust"],
            progress=Silent() if options["quiet"] else for_terminal(),
            debug=debug,
            **{name: options[name] for name in _OF_EVALUATE},
        )
    not_run = dict.fromkeys(str(part.message) for part in caught)
    return _Found(verdict, verdict.as_json(), tuple(not_run))


_OF_EVALUATE = ("results", "cache", "seed", "overwrite", "exclude", "smallest")
"""Options that `compare_models` takes as they are."""


def _of_records(
    rows: tuple[str, str], models: Sequence[str], options: Mapping[str, Any]
) -> list[_Found]:
    """Compare two mitigators, models or runs by their records."""
    from harness.commands import result_tables
    from harness.commands.results import read_comparison
    from harness.errors import UsageError
    from harness.results.folder import local_copy

    for name in ("base", "exclude", "overwrite"):
        if options[name]:
            raise UsageError(f"--{name} and --recorded cannot be used together")
    chosen = {
        "model": models,
        "mitigator": options["mitigator"] or (),
        "task": names.split(options["tasks"]),
    }
    found = read_comparison(
        *rows, local_copy(options["results"]), chosen, smallest=options["smallest"]
    )
    return [
        _Found(
            comparison.verdict,
            result_tables.comparison_as_json(context, comparison),
            context=context,
            scores=result_tables.of_comparison(rows, comparison),
        )
        for context, comparison in found.comparisons.items()
    ]


def _licences(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the licence of the data of each task."""
    from harness.registry.registry import Registry
    from harness.run.tasks import list_tasks

    registry = Registry(include=list(options["include"]), trust=options["trust"])
    return {entry.file.name: entry.file.licence for entry in list_tasks(registry)}
