"""Prints the tables of an evaluation on a terminal: `harness eval` and `harness results`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.commands import output
from harness.printing import echo
from harness.results import formats, tables
from harness.results.formats import Report, Sentences, Table
from harness.results.record import STARS

if TYPE_CHECKING:
    from harness.results.comparison import Comparison, Pair
    from harness.results.record import Record
    from harness.results.records import Records


def show_other_scenarios(records: Sequence[Record], *, intervals: bool, width: int | None) -> None:
    """Print the scores of the scenarios that are not ranked."""
    primary = {
        (record.task.name, record.metric, record.score) for record in records if record.primary
    }
    others = [
        record
        for record in records
        if not record.primary and (record.task.name, record.metric, record.score) in primary
    ]
    if others:
        echo("other scenarios\n")
        formats.show(tables.report(tables.sections(others), intervals=intervals), width)


def show_seconds(records: Iterable[Record], *, width: int | None) -> None:
    """Print how long the metrics of each task took under each mitigator."""
    by_model: dict[str, list[Record]] = {}
    for record in records:
        by_model.setdefault(record.model.name, []).append(record)
    for model, of_model in by_model.items():
        mitigators = dict.fromkeys(record.mitigator.label for record in of_model)
        # The scores of one metric share its time.
        once = {(r.task.name, r.mitigator.label, r.scenario, r.metric): r for r in of_model}
        rows: dict[str, dict[str, Any]] = {}
        for (task, label, *_), record in once.items():
            row = rows.setdefault(task, {"task": task} | dict.fromkeys(mitigators, 0.0))
            row[label] += record.seconds
        title = f"{model}: seconds of the metrics"
        formats.show(Report("", [Table.of(title, list(rows.values()), repeat=1)]), width)


# Tables that metrics write next to the records: finds them, and prints them.
#
# For `harness results show --tables` and `harness results figures`.


ITEMS = "items"
"""Name of the figure that is made of samples."""


def show_attached(tables: Iterable[tuple[Record, str, Sequence[Mapping[str, Any]]]]) -> int:
    """Print tables, each with its record and name; return how many there are."""
    n = 0
    for n, (record, name, rows) in enumerate(tables, start=1):  # noqa: B007  # n is returned
        free_text = {name for row in rows for name in row if isinstance(row[name], str)}
        title = (
            f"{record.model.name}, {record.mitigator.label}, {record.task.name} "
            f"({record.scenario}), {record.score}: {name}"
        )
        output.lines(rows, title=title, shorten=list(free_text))
    return n


def attached_as_json(
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


def read_attached(
    paths: Sequence[Path], ids: Iterable[str], names: Sequence[str]
) -> Iterator[tuple[Record, str, Sequence[Mapping[str, Any]]]]:
    """Yield the tables of some records: the record, the name of the table, and its rows.

    The arguments are those of `attached`.

    Raises
    ------
    UnknownName
        If no record has a table of a name.
    """
    for path, record, name in attached(paths, ids, names):
        yield record, name, rows_of(path)


def attached(
    paths: Sequence[Path], ids: Iterable[str], names: Sequence[str]
) -> list[tuple[Path, Record, str]]:
    """Return the tables of some records: the path, the record and the name of each.

    Parameters
    ----------
    paths
        Results folders, read at any depth, or their files.
    ids
        Ids of the records.
    names
        Names of tables; by default all.

    Raises
    ------
    UnknownName
        If no record has a table of a name.
    InvalidFile
        If a record names a file outside its results folder.
    """
    return _attached(paths, ids, names, with_samples=False)


def drawable(
    paths: Sequence[Path], ids: Iterable[str], names: Sequence[str]
) -> list[tuple[Path, Record, str]]:
    """Return what figures are made of: the tables, as `attached`, and the samples as `ITEMS`."""
    return _attached(paths, ids, names, with_samples=True)


def _attached(
    paths: Sequence[Path], ids: Iterable[str], names: Sequence[str], *, with_samples: bool
) -> list[tuple[Path, Record, str]]:
    from harness.errors import UnknownName
    from harness.results import jsonl
    from harness.results.folder import read_results

    wanted = set(ids)
    found = []
    for file in jsonl.files(paths, "*.jsonl"):
        records = [record for record in read_results(file) if record.id in wanted]
        drawn = _drawn(file.parent, records) if with_samples else {}
        for record in records:
            own = record.tables | drawn.get(record.id, {})
            found += [(_inside(file, path), record, name) for name, path in own.items()]
    known = {name for _, _, name in found}
    for name in names:
        if name not in known:
            raise UnknownName("figure" if with_samples else "table", name, known)
    return [entry for entry in found if not names or entry[2] in names]


def _drawn(folder: Path, records: Sequence[Record]) -> dict[str, dict[str, str]]:
    """Return the samples that a figure is made of, by id: of the scores of a metric one."""
    from harness.results.record import samples_exist, samples_path

    first: dict[tuple[str, ...], Record] = {}
    for record in sorted(records, key=lambda record: not record.primary):
        names = (record.model.fingerprint, record.mitigator.fingerprint, record.task.digest)
        if samples_exist(folder, record):
            first.setdefault((*names, record.scenario, record.metric, str(record.seed)), record)
    return {record.id: {ITEMS: samples_path(record.id)} for record in first.values()}


def _inside(file: Path, path: str) -> Path:
    """Return a path that a record names, checked, since records may come from anybody."""
    from harness.errors import InvalidFile

    folder = file.parent.resolve()
    if not (folder / path).resolve().is_relative_to(folder):
        raise InvalidFile(f"a record names '{path}', outside its folder", path=file)
    return file.parent / path


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a table's file, with numbers as numbers."""
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


# Prints means over tasks: `harness results show --average`.


def show_means(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the mean of each row over its tasks that count (`Records.means`)."""
    shown = [
        {
            "model": row["model"],
            "mitigator": row["mitigator"],
            "mean of": row["name"],
            "mean": row["mean"],
            "95% interval": None
            if row["low"] is None
            else f"[{row['low']:.3f}, {row['high']:.3f}]",
            "scores": f"{row['n']} of {row['of']}",
        }
        for row in rows
    ]
    if shown:
        output.lines(shown, title="means over families of tasks, of the scores that count")
    for row in rows:
        name = f"{row['model']}, {row['mitigator']}, {row['name']}"
        if row["change"]:
            echo(f"{name}: {row['change']['sentence']}")
        for reason, tasks in row["left_out"].items():
            echo(f"{name}: {len(tasks)} {reason} ({', '.join(tasks)})")


# Two rows, score by score: `harness compare --recorded`.


def of_comparison(names: tuple[str, str], comparison: Comparison) -> list[Table | Sentences]:
    """Return the scores of two rows with their differences: a table a kind of task, and a legend.

    Parameters
    ----------
    names
        Names of the two rows.
    comparison
        The comparison.
    """
    columns = ["task", "score", "ideal", *names, "difference"]
    found = [
        Table(measures, columns, [_row(pair) for pair in pairs], drop=("score",), repeat=1)
        for measures in tables.MEASURES
        if (pairs := [pair for pair in comparison.pairs if pair.a.task.measures == measures])
    ]
    return [*found, Sentences("", _legend(comparison))]


def _row(pair: Pair) -> list[Any]:
    ideal = pair.a.ideal if isinstance(pair.a.ideal, str) else f"{pair.a.ideal:g}"
    values = [tables.value_of(tables.cell_of(record)) for record in (pair.a, pair.b)]
    return [pair.a.task.name, pair.a.score, ideal, *values, f"{pair.difference:+z.3f}"]


def _legend(comparison: Comparison) -> list[str]:
    """Return what the columns and marks mean, a line each; only of those that occur."""
    lines = []
    if any(
        pair.a.p_value is not None and pair.a.task.measures != "usefulness"
        for pair in comparison.pairs
    ):
        lines.append(STARS)
    if n := comparison.several_seeds:
        lines.append(tables.seeds_line(n, "counts, not their mean"))
    return lines


def comparison_as_json(context: str, comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as plain values; `context` is what its rows share."""
    return {
        "context": context,
        "verdict": comparison.verdict.as_json(),
        "scores": comparison.rows(),
        "left_out": [{"task": task, "reason": reason} for task, reason in comparison.left_out],
    }


# The formats of `harness results export`.


FORMATS = ("csv", "latex", "markdown", "parquet")
SUFFIXES = {".csv": "csv", ".tex": "latex", ".md": "markdown", ".parquet": "parquet"}
"""Format by the suffix of the file."""


def of_file(out: Path | None) -> str:
    """Return the format of the suffix of a file; without a file CSV."""
    from harness.errors import UsageError

    if out is None:
        return "csv"
    suffix = out.suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(
            f"'{out}': no format has the suffix '{suffix}'; name one with --format, or use "
            f"{', '.join(SUFFIXES)}"
        )
    return SUFFIXES[suffix]


def written(records: Records, kind: str, *, intervals: bool) -> bytes:
    """Return records in a format, as the content of a file."""
    if kind == "parquet":
        buffer = io.BytesIO()
        records.to_polars().write_parquet(buffer)
        return buffer.getvalue()
    if kind == "csv":
        return _comma_separated(records)
    write = formats.latex if kind == "latex" else formats.markdown
    report = tables.report(tables.sections(records), intervals=intervals, best=formats.BOLD)
    return write(report).encode()


_BLOCK = 20_000
"""Number of records that are written at once."""


def _comma_separated(records: Records) -> bytes:
    """Return records as CSV; only the rows of one block are in memory as objects."""
    out = io.BytesIO()
    for start in range(0, len(records), _BLOCK):
        block = formats.comma_separated(records[start : start + _BLOCK].rows())
        out.write((block.partition("\n")[2] if start else block).encode())
    return out.getvalue()
