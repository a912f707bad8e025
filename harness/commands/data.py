"""`harness data`: data files of tasks and studies, and what the reference encoders show on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import arguments
from harness.printing import echo

if TYPE_CHECKING:
    from harness.registry.registry import Registry
    from harness.results.record import Record
    from harness.task.data_files import DataFile
    from harness.task.reference import Reference
    from harness.task.schema import Table
    from harness.task.yaml_files import Document

_tasks = click.argument("tasks", nargs=-1, shell_complete=arguments.complete(arguments.SELECTION))


@click.group("data")
def command() -> None:
    """Show and fetch data files; write references.

    TASKS are as in `harness eval --tasks`, or names of studies; by default all.
    """


@command.command("status")
@_tasks
@arguments.include
@arguments.as_json
def status(tasks: tuple[str, ...], include: tuple[Path, ...], as_json: bool) -> None:
    """Show which data files tasks need, where they are, their sizes and terms.

    \b
    shipped      in the package or beside the task
    local copy   in the folder that HARNESS_DATA names
    fetched      in the cache
    to fetch     a run, or `harness data fetch`, fetches it
    missing      cannot be fetched; the reason is below the table
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness import names
    from harness.commands import output
    from harness.registry.registry import Registry

    registry = Registry(include=include)
    needs = list(_needs(registry, _users(registry, names.split(tasks))))
    if as_json:
        output.as_json([_as_json(task, file) for task, file in needs])
    elif not needs:
        echo("no data files: texts are in the task files, or a run reads them from the hub")
    else:
        rows = [
            [task, file.name, file.state, _megabytes(file.size), file.terms] for task, file in needs
        ]
        columns = ["task", "file", "state", "MB", "licence or terms"]
        output.table(columns, rows, shorten=["file", "licence or terms"], drop=("MB",))
        for line in _totals(file for _, file in needs):
            echo(line)
    for line in registry.notices:
        echo(line, err=True)


@command.command("fetch")
@_tasks
@click.option(
    "--out",
    "-o",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for all files that are not shipped, to be named by HARNESS_DATA.  "
    "[default: data/ in HARNESS_CACHE, for files that are not here]",
)
@arguments.include
@arguments.trust
def fetch(tasks: tuple[str, ...], out: Path | None, include: tuple[Path, ...], trust: bool) -> int:
    """Fetch the data files that tasks need, once and for all.

    For a machine without a network, fetch into a folder, copy it there, and set the environment
    variable HARNESS_DATA to it. If a file cannot be fetched, the others are, and the exit code
    is 1.

    \b
    harness data fetch
    harness data fetch sts-b senteval --out ./harness-data
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness import names, progress
    from harness.commands import output
    from harness.registry.registry import Registry
    from harness.registry.trust import Gate
    from harness.task import data_files

    registry = Registry(include=include, trust=trust)
    registry.data.progress = progress.for_terminal()
    needs: dict[str, DataFile] = {}
    users = list(_users(registry, names.split(tasks)))
    for _, document, tables in users:
        gate = Gate(document, registry)
        gate.tables(tables)
        gate.check()
    for _, file in _needs(registry, users):
        needs.setdefault(file.name, file)
    files = [file for file in needs.values() if file.state != "shipped"]
    if out is not None:
        files = [data_files.in_folder(file, out) for file in files]
    fetched = registry.data.fetch(files, out)
    here = [file.path for file in files if file.path is not None]
    folder = out or data_files.cache()
    n_fetched = output.counted(len(fetched), "file")
    echo(f"fetched {n_fetched}, {len(here)} were there already; folder: {folder}")
    for line in registry.notices:
        echo(line, err=True)
    return 0 if len(fetched) + len(here) == len(files) else 1


@command.command("references")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.argument("results", type=click.Path(path_type=Path, exists=True))
def references(folder: Path, results: Path) -> int:
    """Write FOLDER/reference.json: what the reference encoders show on the tasks of FOLDER.

    \b
    harness eval -m all-MiniLM-L6-v2 -m glove-6b-50d --include my-tasks -t all -r results
    harness data references my-tasks results
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness import folders
    from harness.commands import output
    from harness.registry import discovery
    from harness.registry.registry import Registry
    from harness.results.folder import read_results
    from harness.run.tasks import list_tasks
    from harness.task.reference import NAME, Reference, rows_of

    registry = Registry(discovery.Plugins(()), include=[folder])
    versions = {entry.file.name: entry.file.version for entry in list_tasks(registry)}
    path = folder / NAME
    kept = rows_of(path, NAME, Reference)
    new = [row for record in read_results(results) for row in _references(record, versions)]
    rows = {(row.task, row.kind): row for row in [*kept, *new] if row.task in versions}
    lines = ",\n".join(rows[key].model_dump_json() for key in sorted(rows))
    folders.write_atomically(path, f"[\n{lines}\n]\n".encode())
    echo(f"wrote {path}: {output.counted(len(rows), 'reference')}")
    for line in registry.notices:
        echo(line, err=True)
    return 0 if new else 1


def _references(record: Record, versions: Mapping[str, int]) -> Iterator[Reference]:
    """Yield what a record says of its task and of its yardstick, if it is of a reference encoder.

    `versions` are those of the tasks that are asked for.
    """
    from harness.task.reference import ENCODERS, Reference

    ratio, model, task = record.ratio, record.model, record.task
    is_plain = record.mitigator.name == "none" and record.limit is None
    if ratio is None or not is_plain or ENCODERS.get(model.kind) != model.name:
        return
    gap, error = float(f"{ratio.gap:.6g}"), float(f"{ratio.gap_error:.4g}")
    d, its_error = float(f"{ratio.yardstick:.6g}"), float(f"{ratio.yardstick_error:.4g}")
    own = Reference(
        task=task.name, version=task.version, kind=model.kind, model=model.name,
        gap=gap, error=error, yardstick=d, yardstick_error=its_error,
    )  # fmt: skip
    if versions.get(task.name) == task.version and task.measures != "usefulness":
        yield own
    if record.contrasts and ratio.of in versions:
        contrasts = {name: float(f"{v:.4g}") for name, v in record.contrasts.items()}
        its = {"task": ratio.of, "version": versions[ratio.of], "contrasts": contrasts}
        yield own.model_copy(update={**its, "gap": d, "error": its_error})


def facts(document: Document, tables: Mapping[str, Table], name: str) -> dict[str, Any]:
    """Return what `harness show` says about data files. Nothing is fetched.

    `texts` is there if some are not fetched yet, and `unavailable` if some are missing.
    """
    from harness.task import data_files

    files = data_files.of_tables(tables, document).values()
    shown: dict[str, Any] = {}
    if files:
        shown["data"] = list(dict.fromkeys(map(_line, files)))
    missing = dict.fromkeys(f"'{file.name}'" for file in files if not (file.path or file.address))
    if missing:
        shown["unavailable"] = f"missing data: {', '.join(missing)}; see 'data' above"
    elif any(file.path is None for file in files):
        shown["texts"] = f"not fetched; see them after: harness data fetch {name}"
    return shown


def _line(file: DataFile) -> str:
    size = "" if file.size is None else f", {_megabytes(file.size)} MB"
    terms = f"; {file.terms}" if file.terms else ""
    source = f" from {file.address.url}" if file.state == "to fetch" and file.address else ""
    problem = f" ({file.problem})" if file.problem else ""
    return f"{file.name}: {file.state}{source}{problem}{size}{terms}"


def _users(
    registry: Registry, patterns: Iterable[str]
) -> Iterator[tuple[str, Document, Mapping[str, Table]]]:
    """Yield the name, the file and the tables of tasks and studies."""
    from harness.errors import InvalidFile
    from harness.run.tasks import ALL, select
    from harness.study.study_file import StudyFile

    chosen = list(patterns) or [ALL]
    studies = [name for name in chosen if name in registry.study_files]
    tasks = [name for name in chosen if name not in registry.study_files]
    if ALL in chosen:
        studies = list(registry.study_files)
    for entry in select(registry, tasks) if tasks else []:
        yield entry.file.name, entry.document, entry.file.tables
    for name in studies:
        document = registry.study_files[name]
        try:
            tables = document.validate(StudyFile).tables
        except InvalidFile as error:
            registry.leave_out(error)
        else:
            yield name, document, tables


def _needs(
    registry: Registry, users: Iterable[tuple[str, Document, Mapping[str, Table]]]
) -> Iterator[tuple[str, DataFile]]:
    """Yield the data files of tasks and studies, each with the name of the task or study."""
    from harness.errors import InvalidFile
    from harness.task import data_files

    for name, document, tables in users:
        try:
            for file in data_files.of_tables(tables, document).values():
                yield name, file
        except InvalidFile as error:
            registry.leave_out(error)


def _as_json(task: str, file: DataFile) -> dict[str, Any]:
    return {
        "task": task,
        "file": file.name,
        "state": file.state,
        "path": str(file.path) if file.path else None,
        "bytes": file.size,
        "terms": file.terms,
        "url": file.address.url if file.address else None,
        "problem": file.problem or None,
    }


def _totals(files: Iterable[DataFile]) -> Iterator[str]:
    """Yield a line for each state, with its number of files, and the reasons of missing ones."""
    from harness.commands import output
    from harness.task.data_files import MissingData, Problem

    distinct = {(file.name, file.path): file for file in files}.values()
    states: dict[str, list[DataFile]] = {}
    for file in distinct:
        states.setdefault(file.state, []).append(file)
    for state, of_state in states.items():
        sizes = [file.size for file in of_state if file.size is not None]
        n_unknown = len(of_state) - len(sizes)
        unknown = f" and {n_unknown} of unknown size" if n_unknown and sizes else ""
        size = f"{_megabytes(sum(sizes))} MB{unknown}" if sizes else "of unknown size"
        yield f"{state}: {output.counted(len(of_state), 'file')}, {size}"
    if missing := states.get("missing"):
        yield str(MissingData({file.name: Problem(file.problem, False) for file in missing}))


def _megabytes(n_bytes: int | None) -> float | None:
    return None if n_bytes is None else round(n_bytes / 1e6, 3)
