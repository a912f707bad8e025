"""`harness study`: compare mitigators by nested cross-validation, and show the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import arguments, listing

if TYPE_CHECKING:
    from harness.study.study_record import StudyRecord
    from harness.study.study_run import StudyRun
    from harness.study.summary import Summary

FORMATS = ("text", "csv", "latex", "markdown", "json")


@click.group("study")
def command() -> None:
    """Compare mitigators by nested cross-validation, and show the results.

    Exit code 1: a part of the table is missing or undefined; the notes say which.
    """


command.add_command(listing.command.commands["studies"], "list")


@command.command("run")
@click.argument("studies", nargs=-1, required=True, shell_complete=arguments.complete("study"))
@arguments.results
@arguments.cache
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Number of processes.  [default: one for each core]",
)
@click.option("--engine", help="Name of the engine that encodes: local, or ray?actors=4.")
@arguments.include
@arguments.trust
@click.option("--overwrite", is_flag=True, help="Run again what is recorded.")
@arguments.as_json
def run(studies: tuple[str, ...], as_json: bool, workers: int | None, **options: Any) -> int:
    """Run studies: names of installed studies, or files. What is recorded is not run again.

    \b
    harness study run gender-hard-soft
    harness study run ./my-study.yaml --workers 4
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness import parallel, progress
    from harness.commands import output, study_report
    from harness.study import running

    reports = []
    code = 0
    for name in dict.fromkeys(studies):
        path = Path(name)
        result = running.run_study(
            path if path.suffix else name,
            workers=workers or parallel.cores(),
            progress=progress.for_terminal(),
            **options,
        )
        summaries = result.summaries
        tables = f"; tables and violins in {study_report.write(summaries, result.path)}"
        if as_json:
            reports.append(_as_json(result, summaries))
        else:
            study_report.show(summaries)
            counts = f"{output.counted(len(result), 'record')}, {result.new} of them new"
            click.echo(f"{counts}, in {result.path}{tables if summaries else ''}")
            for line in (*(f"FAILED: {failure}" for failure in result.failed), *result.notices):
                click.echo(line, err=True)
        code = max(code, int(bool(result.failed)), _code(summaries))
    if as_json:
        output.as_json(reports)
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
    help="Format of the output.",
)
def show(study: str, results: Path, kind: str) -> int:
    """Show the results of a study, by its name or its file of records."""
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
        writers: dict[str, Callable[[Sequence[Summary]], str]] = {
            "csv": formats.changes_csv,
            "latex": study_report.latex,
            "markdown": study_report.markdown,
        }
        click.echo(writers[kind](summaries), nl=False)
    for line in notices:
        click.echo(line, err=True)
    return _code(summaries)


def _as_json(result: StudyRun, summaries: Sequence[Summary]) -> dict[str, Any]:
    from harness.study import formats

    return {
        "records": str(result.path),
        "made": result.new,
        "failed": list(result.failed),
        "notices": list(result.notices),
        "summaries": [formats.as_json(summary) for summary in summaries],
    }


def _code(summaries: Sequence[Summary]) -> int:
    return int(any(summary.undefined or not summary.complete for summary in summaries))


def _read(study: str, results: Path, notices: list[str]) -> list[StudyRecord]:
    """Return the records of a study, by its name or by the path of its records."""
    from harness import folders
    from harness.errors import InvalidFile, UsageError, suggestion
    from harness.results import jsonl
    from harness.results.folder import STUDY
    from harness.study.study_record import StudyRecord

    path = Path(study)
    is_path = path.suffix == ".jsonl" or folders.exists(path)
    if not is_path:
        path = results / f"{folders.safe_name(study)}{STUDY}"
        if not path.exists():
            known = [file.name.removesuffix(STUDY) for file in results.glob(f"*{STUDY}")]
            raise UsageError(
                f"no records of study '{study}' in '{results}'{suggestion(study, known)}; "
                "'harness study run' makes them"
            )
    if not folders.is_file(path):
        problem = "is a folder" if folders.is_folder(path) else "no such file or folder"
        raise InvalidFile(f"{problem}; records of a study are a file '*{STUDY}'", path=path)
    records = list(jsonl.read(path, StudyRecord, notices))
    if not records and notices:
        problem = f"no records of a study, whose files end in '{STUDY}': {notices[0]}"
        raise InvalidFile(problem, path=path)
    if not records:
        raise InvalidFile("the file has no records yet", path=path)
    return records
