"""`harness study`: comparisons of mitigators by nested cross-validation, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import arguments, listing

if TYPE_CHECKING:
    from harness.study.running import Ran
    from harness.study.study_record import StudyRecord
    from harness.study.summary import Summary

FORMATS = ("text", "csv", "latex", "markdown", "json")


@click.group("study")
def command() -> None:
    """Compare mitigators by nested cross-validation, and show what a comparison says.

    Exit code 1: something in the table lacks or is undefined; the notes say what.
    """


command.add_command(listing.command.commands["studies"], "list")


@command.command("run")
@click.argument("studies", nargs=-1, required=True, shell_complete=arguments.complete("study"))
@arguments.results
@arguments.cache
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Processes that share the work.  [default: one for each core]",
)
@arguments.include
@click.option("--overwrite", is_flag=True, help="Run again what is recorded.")
@arguments.as_json
def run(studies: tuple[str, ...], as_json: bool, workers: int | None, **given: Any) -> int:
    """Run studies: names of installed ones, or files. What is recorded is not run again.

    \b
    harness study run gender-hard-soft
    harness study run ./my-study.yaml --workers 4
    """  # noqa: D301  # click keeps the lines after a backspace
    import joblib

    from harness import progress
    from harness.commands import output, study_report
    from harness.study import running
    from harness.study.summary import summarize

    told = []
    code = 0
    for name in dict.fromkeys(studies):
        path = Path(name)
        ran = running.run(
            path if path.suffix else name,
            workers=workers or joblib.cpu_count(),
            progress=progress.for_terminal(),
            **given,
        )
        summaries = summarize(ran.records)
        beside = f"; tables and violins in {study_report.write(summaries, ran.path)}"
        if as_json:
            told.append(_ran(ran, summaries))
        else:
            study_report.show(summaries)
            made = f"{ran.made} of {output.counted(len(ran.records), 'record')} made now"
            click.echo(f"{made}, in {ran.path}{beside if summaries else ''}")
            for line in (*(f"FAILED: {failure}" for failure in ran.failed), *ran.notices):
                click.echo(line, err=True)
        code = max(code, int(bool(ran.failed)), _code(summaries))
    if as_json:
        output.as_json(told)
    return code


@command.command("show")
@click.argument("study", shell_complete=arguments.complete("study"))
@arguments.results
@click.option(
    "--format",
    "kind",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How to print it.",
)
def show(study: str, results: Path, kind: str) -> int:
    """Show what a study that was run says: its name, or the path of its records."""
    from harness.commands import output, study_report
    from harness.study import formats
    from harness.study.summary import summarize

    notices: list[str] = []
    summaries = summarize(_read(study, results, notices))
    if kind == "text":
        study_report.show(summaries)
    elif kind == "json":
        output.as_json([formats.as_json(summary) for summary in summaries])
    else:
        written: dict[str, Callable[[Sequence[Summary]], str]] = {
            "csv": formats.changes_csv,
            "latex": study_report.latex,
            "markdown": study_report.markdown,
        }
        click.echo(written[kind](summaries), nl=False)
    for line in notices:
        click.echo(line, err=True)
    return _code(summaries)


def _ran(ran: Ran, summaries: Sequence[Summary]) -> dict[str, Any]:
    from harness.study import formats

    return {
        "records": str(ran.path),
        "made": ran.made,
        "failed": list(ran.failed),
        "notices": list(ran.notices),
        "summaries": [formats.as_json(summary) for summary in summaries],
    }


def _code(summaries: Sequence[Summary]) -> int:
    return int(any(one.undefined or not one.complete for one in summaries))


def _read(study: str, results: Path, notices: list[str]) -> list[StudyRecord]:
    """Return the records of a study that was run, by its name or by the path of its records."""
    from harness import folders
    from harness.errors import InvalidFile, UsageError, suggestion
    from harness.results import jsonl
    from harness.results.folder import STUDY
    from harness.study.study_record import StudyRecord

    path = Path(study)
    named = path.suffix == ".jsonl" or path.exists()
    if not named:
        path = results / f"{folders.safe_name(study)}{STUDY}"
        if not path.exists():
            known = [one.name.removesuffix(STUDY) for one in results.glob(f"*{STUDY}")]
            raise UsageError(
                f"no study '{study}' was run in '{results}'{suggestion(study, known)}; "
                "'harness study run' runs one"
            )
    if not path.is_file():
        what = "a folder" if path.is_dir() else "no such file"
        raise InvalidFile(f"{what}: the records of a study are a file '…{STUDY}'", path=path)
    try:
        records = list(jsonl.read(path, StudyRecord, notices))
    except InvalidFile as error:
        if path.name.endswith(STUDY):
            raise
        raise InvalidFile(
            f"no records of a study, whose files end in '{STUDY}': {error.problem}",
            path=path,
            line=error.line,
        ) from None
    if not records:
        raise InvalidFile("there is no record in it yet", path=path)
    return records
