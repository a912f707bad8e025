"""`harness results verify` and `repair`: the files themselves, line by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands import arguments, selection

if TYPE_CHECKING:
    from harness.results.lines import Fault
    from harness.results.record_parts import Line

COLUMNS = ("file", "line", "state", "problem")


@click.command("verify")
@selection.paths
@arguments.as_json
def verify(paths: tuple[Path, ...], as_json: bool) -> int:
    """Check results files line by line.

    Exits with 1 if a line does not count:

    \b
    damaged   no record, or changed since it was written
    torn      the last line of a run that was killed, or NUL bytes
    repeated  a later line has the same id
    doubtful  its id is not that of its content
    unknown   of another version of the harness
    leftover  a temporary file of a run that was killed
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness.commands import output
    from harness.results import verifying

    chosen = paths or (Path("results"),)
    checked = [verifying.verify(file, schema) for file, schema in _files(chosen)]
    leftovers = list(_leftovers(chosen))
    rows = [_row(fault) for part in checked for fault in part.faults]
    rows += [
        dict(zip(COLUMNS, (str(path), None, "leftover", "a temporary file"), strict=True))
        for path in leftovers
    ]
    records = sum(part.records for part in checked)
    if as_json:
        output.as_json({"files": len(checked), "records": records, "problems": rows})
    else:
        if rows:
            output.table(COLUMNS, [list(row.values()) for row in rows], shorten=("problem",))
        facts = f"{output.counted(len(checked), 'file')}, {output.counted(records, 'record')}"
        click.echo(f"{facts}, {output.counted(len(rows), 'problem')}")
        if rows:
            click.echo("`harness results repair` moves damaged lines to a file beside", err=True)
    return int(bool(rows))


@click.command("repair")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@arguments.as_json
def repair(paths: tuple[Path, ...], as_json: bool) -> int:
    """Move damaged lines out of results files.

    The lines that `verify` lists go to a file beside, NAME.jsonl.damaged; none is deleted. Lines of
    other versions of the harness stay, and files without a record. `harness eval` computes what was
    moved again. Temporary files that are older than an hour are removed.
    """
    from harness.commands import output
    from harness.results import verifying

    done = [verifying.repair(file, schema) for file, schema in _files(paths)]
    removed = [str(path) for path in _leftovers(paths)]
    for path in removed:
        Path(path).unlink(missing_ok=True)
    changed = [part for part in done if part.moved or part.left]
    if as_json:
        rows = [
            {
                "file": str(part.path),
                "moved": [_row(fault) for fault in part.moved],
                "to": str(part.beside) if part.moved else None,
                "left": [_row(fault) for fault in part.left],
            }
            for part in changed
        ]
        output.as_json({"files": rows, "removed": removed})
        return 0
    for part in changed:
        if part.moved:
            lines = output.counted(len(part.moved), "line")
            click.echo(f"{part.path}: {lines} moved to {part.beside}")
        if part.left:
            lines = output.counted(len(part.left), "line")
            reason = "of another version" if part.has_records else "without any record"
            click.echo(f"{part.path}: {lines} {reason} left")
    if removed:
        click.echo(f"{output.counted(len(removed), 'temporary file')} removed")
    if not changed and not removed:
        click.echo("nothing to repair")
    return 0


def _files(paths: Iterable[Path]) -> Iterator[tuple[Path, type[Line]]]:
    """Yield the files of records in `paths`, each with the schema of its lines."""
    from harness.results import jsonl, samples
    from harness.results.folder import STUDY
    from harness.results.record import Record
    from harness.study.study_record import StudyRecord

    for file in jsonl.files(paths, "*.jsonl"):
        if file.is_file() and not file.name.endswith(samples.SUFFIX):
            yield file, StudyRecord if file.name.endswith(STUDY) else Record


def _leftovers(paths: Iterable[Path]) -> Iterator[Path]:
    from harness import user_files
    from harness.results import verifying

    for path in paths:
        if user_files.is_folder(path):
            yield from verifying.temporary_files(path)


def _row(fault: Fault) -> dict[str, str | int | None]:
    values = (str(fault.path), fault.line, fault.fate, fault.problem)
    return dict(zip(COLUMNS, values, strict=True))
