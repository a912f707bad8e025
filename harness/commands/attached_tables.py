"""What metrics keep beside their scores: finds tables and figures, and prints tables.

For `harness results tables` and `harness results figures`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from harness.commands import output

if TYPE_CHECKING:
    from harness.results.record import Record


def show(tables: Iterable[tuple[Record, str, Sequence[Mapping[str, Any]]]]) -> int:
    """Print tables, each with what it belongs to; return how many there are."""
    n = 0
    for n, (record, name, rows) in enumerate(tables, start=1):  # noqa: B007  # n is returned
        columns = list(rows[0]) if rows else []
        cells = [[row[column] for column in columns] for row in rows]
        free_text = [column for column in columns if any(isinstance(r[column], str) for r in rows)]
        title = (
            f"{record.model.name}, {record.mitigator.label}, {record.task.name} "
            f"({record.scenario}), {record.score}: {name}"
        )
        output.table(columns, cells, title=title, shorten=free_text)
    return n


def as_json(
    tables: Iterable[tuple[Record, str, Sequence[Mapping[str, Any]]]],
) -> list[dict[str, Any]]:
    """Return tables as JSON-like values."""
    return [
        {
            "model": record.model.name,
            "mitigator": record.mitigator.label,
            "task": record.task.name,
            "scenario": record.scenario,
            "metric": record.metric,
            "score": record.score,
            "table": name,
            "rows": list(rows),
        }
        for record, name, rows in tables
    ]


def read(
    paths: Sequence[Path], ids: Iterable[str], names: Sequence[str]
) -> Iterator[tuple[Record, str, Sequence[Mapping[str, Any]]]]:
    """Yield the tables of some records: the record, the name of the table, and its rows.

    The arguments are those of `attached`.

    Raises
    ------
    UnknownName
        If no record has a table of a name.
    """
    for path, record, name in attached("table", paths, ids, names):
        yield record, name, _rows(path)


def attached(
    kind: Literal["table", "figure"],
    paths: Sequence[Path],
    ids: Iterable[str],
    names: Sequence[str],
) -> list[tuple[Path, Record, str]]:
    """Return what lies beside some records: the path, the record and the name of each.

    Parameters
    ----------
    kind
        Tables or figures.
    paths
        Results folders, read at any depth, or their files.
    ids
        Ids of the records.
    names
        Names of tables or figures; by default all.

    Raises
    ------
    UnknownName
        If no record has a table or figure of a name.
    InvalidFile
        If a record names a file outside its results folder.
    """
    from harness.errors import UnknownName
    from harness.results import jsonl
    from harness.results.folder import read_results

    wanted = set(ids)
    attachments = [
        (_inside(file, path), record, name)
        for file in jsonl.files(paths, "*.jsonl")
        for record in read_results(file)
        if record.id in wanted
        for name, path in (record.tables if kind == "table" else record.figures).items()
    ]
    for name in names:
        if name not in {known for _, _, known in attachments}:
            raise UnknownName(
                f"{kind} of these records", name, {known for _, _, known in attachments}
            )
    return [entry for entry in attachments if not names or entry[2] in names]


def _inside(file: Path, path: str) -> Path:
    """Return a path that a record of a file names: records may come from anybody."""
    from harness.errors import InvalidFile

    folder = file.parent.resolve()
    if not (folder / path).resolve().is_relative_to(folder):
        raise InvalidFile(f"a record names '{path}', outside its folder", path=file)
    return file.parent / path


def _rows(path: Path) -> list[dict[str, Any]]:
    from harness.errors import DiskError

    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file, delimiter="\t")
            return [{key: _value(cell) for key, cell in row.items()} for row in rows]
    except OSError as error:
        raise DiskError(f"cannot read '{path}' ({error.strerror})") from None


def _value(cell: str) -> Any:
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell
