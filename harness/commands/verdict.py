"""`harness compare`: a verdict on a model beside its base, with an exit code."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import click

from harness import names
from harness.commands import arguments, output
from harness.printing import echo


@click.command("compare")
@click.option(
    "--model",
    "-m",
    "models",
    multiple=True,
    required=True,
    help="Model to judge: a registered name, hub id, folder or file; repeated, the seeds of one "
    "training.",
    shell_complete=arguments.complete("model"),
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
    default=names.NONE,
    show_default=True,
    help="Mitigator of the model; the base has none.",
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
    help="Also draw the differences with their intervals: .svg, .pdf, .png, or .json.",
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
    base: str | None,
    mitigator: str,
    tasks: tuple[str, ...],
    exclude: tuple[str, ...],
    concept: str,
    include: tuple[Path, ...],
    trust: tuple[Path, ...],
    quiet: bool,
    **options: Any,
) -> int:
    """Judge a model beside its base: whether it is more biased, and what that costs.

    \b
    harness compare --model ./mine --base all-MiniLM-L6-v2
    harness compare --model all-MiniLM-L6-v2 --mitigator leace --usefulness-margin 0.02
    harness compare --model ./mine --base all-MiniLM-L6-v2 --fail-on unclear --margin 0.1

    Scores that are recorded are not computed again. For records alone see `harness results
    compare`.

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
    from harness.progress import Silent, for_terminal
    from harness.registry.registry import Registry
    from harness.results import figures, formats
    from harness.results.records import NotRunWarning
    from harness.run import evaluation
    from harness.run.tasks import list_tasks

    if options["as_json"] and options["markdown"]:
        raise UsageError("--json and --markdown cannot be used together")
    if (figure := options["figure"]) is not None:
        figures.check_suffix(figure)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", NotRunWarning)
        verdict = evaluation.compare_models(
            list(models),
            base,
            mitigator,
            list(tasks) or evaluation.COMPARED,
            screening=options["page"] is not None and not tasks,
            results=options["results"],
            cache=options["cache"],
            concept=arguments.concept_or_none(concept),
            seed=options["seed"],
            overwrite=options["overwrite"],
            include=list(include),
            trust=list(trust),
            exclude=exclude,
            progress=Silent() if quiet else for_terminal(),
            debug=debug,
        )
    failures = verdict.failures(
        fail_on=options["fail_on"],
        margin=options["margin"],
        usefulness_margin=options["usefulness_margin"],
    )
    not_run = list(dict.fromkeys(str(part.message) for part in caught))
    result = [f"fails: {part.line} (exit code {part.code})" for part in failures]
    if not_run and not failures:
        result = [f"fails: {line} (exit code 1)" for line in not_run]
    result = result or ["passes"]
    if (page := options["page"]) is not None:
        registry = Registry(include=list(include), trust=list(trust))
        licences = {entry.file.name: entry.file.licence for entry in list_tasks(registry)}
        asked = ", ".join(
            f"{name.replace('_', ' ')} {options[name]}"
            for name in ("fail_on", "margin", "usefulness_margin")
            if options[name] is not None
        )
        html = verdict.page(licences=licences, result=[f"asked: {asked}", *result])
        folders.write_atomically(page, html.encode())
    if figure is not None:
        figures.write_figure(figure, verdict.figure())
    if options["as_json"]:
        output.as_json(verdict.as_json() | {"failures": [part._asdict() for part in failures]})
    else:
        report = verdict.report(verbose=options["verbose"])
        report = formats.Report(report.title, [*report.parts, formats.Sentences("Result", result)])
        if options["markdown"]:
            echo(formats.markdown(report), nl=False)
        else:
            output.report(report)
    for line in (*verdict.notices, *not_run):
        echo(line, err=True)
    if failures:
        return min(part.code for part in failures)
    return 1 if not_run else 0
