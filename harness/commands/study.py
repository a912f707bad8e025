"""`harness study`: compare mitigators by nested cross-validation, and show the results.

Results are shown in the terminal, and written as files into the folder of the records.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import arguments, listing, output
from harness.printing import echo

if TYPE_CHECKING:
    from harness.study.running import StudyRun
    from harness.study.study_record import StudyRecord
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
        tables = f"; tables and violins in {write_tables(summaries, result.path)}"
        if as_json:
            reports.append(_as_json(result, summaries))
        else:
            _show(summaries)
            counts = f"{output.counted(len(result), 'record')}, {result.new} of them new"
            echo(f"{counts}, in {result.path}{tables if summaries else ''}")
            for line in (*(f"FAILED: {failure}" for failure in result.failed), *result.notices):
                echo(line, err=True)
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
    from harness.study import study_tables
    from harness.study.summary import summarize

    notices: list[str] = []
    summaries = summarize(_read(study, results, notices))
    if kind == "text":
        _show(summaries)
    elif kind == "json":
        output.as_json([study_tables.as_json(summary) for summary in summaries])
    else:
        echo(study_tables.formatted(summaries, kind), nl=False)
    for line in notices:
        echo(line, err=True)
    return _code(summaries)


def _as_json(result: StudyRun, summaries: Sequence[Summary]) -> dict[str, Any]:
    from harness.study import study_tables

    return {
        "records": str(result.path),
        "made": result.new,
        "failed": list(result.failed),
        "notices": list(result.notices),
        "summaries": [study_tables.as_json(summary) for summary in summaries],
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


def _show(summaries: Sequence[Summary]) -> None:
    from harness.study import study_tables

    for summary in summaries:
        output.report(study_tables.report(summary))


def write_tables(summaries: Sequence[Summary], records: Path) -> Path:
    """Write tables and violins into a folder next to the records, and return it.

    Parameters
    ----------
    summaries
        The results of the study on each model.
    records
        File of its records.

    Raises
    ------
    DiskError
        If the folder cannot be written to.
    """
    from harness import folders
    from harness.results.figures import write_if_installed
    from harness.results.formats import plain_text
    from harness.study import study_tables
    from harness.study.violins import violins

    folder = records.with_suffix("")
    contents = {
        "table.txt": "".join(plain_text(study_tables.report(summary)) for summary in summaries),
        "table.csv": study_tables.formatted(summaries, "csv"),
        "table.tex": study_tables.formatted(summaries, "latex"),
        "table.md": study_tables.formatted(summaries, "markdown"),
        "chosen.csv": study_tables.choices_csv(summaries),
    }
    for name, content in contents.items():
        if content:
            folders.write_atomically(folder / name, content.encode())
    for summary in summaries:
        model = f"-{folders.safe_name(summary.model.name)}" if len(summaries) > 1 else ""
        for suffix in ("svg", "pdf"):
            write_if_installed(folder / f"violins{model}.{suffix}", *violins(summary))
    return folder
