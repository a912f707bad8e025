"""Prints the tables of an evaluation on a terminal: `harness eval` and `harness results`."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from harness.commands import output
from harness.results.comparison import Average, Score, agreements

if TYPE_CHECKING:
    from rich.text import Text

    from harness.results.comparison import Comparison, Mean, Pair
    from harness.results.record import IntervalPart, Record
    from harness.results.records import Records
    from harness.results.tables import Cell, Row, Section


def show(records: Iterable[Record], *, intervals: bool, width: int | None) -> None:
    """Print the tables of records, and a legend.

    Parameters
    ----------
    records
        The records: those that share a task, scenario and score are a row.
    intervals
        Whether to show confidence intervals in place of changes.
    width
        Width of the terminal in characters; None for no limit.
    """
    from harness.results.tables import legend, sections

    tables = sections(records)
    dropped = [column for section in tables for column in _print(section, intervals, width)]
    if dropped:
        click.echo(f"not shown on this narrow terminal: {dropped[0]} (see --json)")
    for line in legend(tables, intervals=intervals):
        click.echo(line)
    if tables:
        click.echo()


def text(records: Iterable[Record], *, intervals: bool) -> str:
    """Return what `show` prints, without a limit of the width."""
    buffer = io.StringIO()
    with contextlib.redirect_stdout(buffer):
        show(records, intervals=intervals, width=None)
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"


def show_other_scenarios(records: Sequence[Record], *, intervals: bool, width: int | None) -> None:
    """Print the scores of the scenarios that do not stand for their task in rankings."""
    primary = {
        (record.task.name, record.metric, record.score) for record in records if record.primary
    }
    others = [
        record
        for record in records
        if not record.primary and (record.task.name, record.metric, record.score) in primary
    ]
    if others:
        click.echo("other scenarios\n")
        show(others, intervals=intervals, width=width)


def show_seconds(records: Iterable[Record], *, width: int | None) -> None:
    """Print how long the metrics of each task took under each mitigator."""
    times: dict[str, dict[str, dict[tuple[str, str, str], float]]] = {}
    for record in records:
        of_task = times.setdefault(record.model.name, {}).setdefault(record.task.name, {})
        # The scores of one metric share its time.
        of_task[record.mitigator.label, record.scenario, record.metric] = record.seconds
    for model, tasks in times.items():
        mitigators = list(dict.fromkeys(key[0] for of_task in tasks.values() for key in of_task))
        rows = [
            [
                task,
                *(
                    sum(value for key, value in of_task.items() if key[0] == mitigator)
                    for mitigator in mitigators
                ),
            ]
            for task, of_task in tasks.items()
        ]
        columns = ["task", *mitigators]
        title = f"{model}: seconds of the metrics"
        output.print_table(columns, rows, title=title, repeat=1, width=width)


def _print(section: Section, intervals: bool, width: int | None) -> list[str]:
    """Print a section, and return the columns that are dropped.

    If it is too wide, mitigators become rows, or else the table is split.
    """
    rows = [*section.rows, *([section.mean] if section.mean else [])]
    columns = [_aligned(cells, intervals) for cells in _by_column(section, rows)]
    names = ["task", "score", "ideal", *section.columns]
    lines = [
        [row.task, row.score, row.ideal, *(column[i] for column in columns)]
        for i, row in enumerate(rows)
    ]
    if not output.fits(names, lines, width):
        tasks = [f"{row.task}\n{row.score or 'lower is better'}\nideal {row.ideal}" for row in rows]
        by_task = [_aligned(row.cells, intervals) for row in rows]
        turned = [[name, *(task[i] for task in by_task)] for i, name in enumerate(section.columns)]
        if output.fits(["mitigator", *tasks], turned, width):
            names, lines = ["mitigator", *tasks], turned
    return output.print_table(
        names, lines, title=section.title, drop=("score",), repeat=1, width=width
    )


def _by_column(section: Section, rows: Sequence[Row]) -> list[list[Cell | None]]:
    return [[row.cells[i] for row in rows] for i in range(len(section.columns))]


def _aligned(cells: Sequence[Cell | None], intervals: bool) -> list[Text]:
    """Return the texts of a column, with the decimal points, stars and changes below each other."""
    from rich.text import Text

    from harness.results import tables

    numbers = [tables.number(cell) for cell in cells]
    marks = [tables.marks(cell) for cell in cells]
    extras = [tables.beside(cell, intervals=intervals) for cell in cells]
    best = [tables.BEST if cell and cell.is_best else "" for cell in cells]
    widths = [max(map(len, texts), default=0) for texts in (best, numbers, marks, extras)]
    texts = []
    for i, mark in enumerate(best):
        value = f"{mark:>{widths[0]}}{numbers[i]:>{widths[1]}}{marks[i]:<{widths[2]}}"
        text = Text(value, style="bold" if mark else "")
        if widths[3]:
            text.append(f" {extras[i]:>{widths[3]}}", style="not bold dim")
        texts.append(text)
    return texts


# What metrics keep beside their scores: finds tables and figures, and prints tables.
#
# For `harness results tables` and `harness results figures`.


def show_attached(tables: Iterable[tuple[Record, str, Sequence[Mapping[str, Any]]]]) -> int:
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


# Prints means over tasks: `harness results average`.


def show_averages(rows: Sequence[Average]) -> None:
    """Print the averages, and how the scores agree if there are several."""
    output.table(
        ["model", "mitigator", "score", "tasks", "mean", "mean |value|"],
        [
            [
                row.model,
                row.mitigator,
                _name((row.metric, row.score, row.scenario)),
                f"{row.tasks - len(row.missing)} of {row.tasks}",
                row.mean,
                row.mean_absolute,
            ]
            for row in rows
        ],
    )
    for row in rows:
        if row.missing:
            click.echo(f"{row.model}, {row.mitigator}: no value of {', '.join(row.missing)}")
    pairs = agreements(rows)
    if pairs and all(pair.pearson is None for pair in pairs):
        click.echo("no correlation: it needs three models or mitigators with different values")
    elif pairs:
        output.table(
            ["A", "B", "rows", "Pearson", "Spearman"],
            [[_name(pair.a), _name(pair.b), pair.rows, pair.pearson, pair.spearman]
             for pair in pairs],
            title="correlation of A and B over models and mitigators, by their means of |value|",
        )  # fmt: skip


def averages_as_json(rows: Sequence[Average]) -> dict[str, Any]:
    """Return the same as JSON-like values."""
    return {
        "averages": [row.row() for row in rows],
        "agreements": [asdict(pair) for pair in agreements(rows)],
    }


def _name(score: Score) -> str:
    metric, name, scenario = score
    return f"{metric}: {name}" + ("" if scenario == "default" else f" ({scenario})")


# Prints what `harness results compare` finds.


LISTED = 3
"""Most tasks that are listed by name where they are left out."""


def show_comparison(
    context: str, names: tuple[str, str], comparison: Comparison, width: int | None
) -> None:
    """Print a comparison: a table for what the tasks measure each, and a conclusion for each.

    Parameters
    ----------
    context
        What both rows share: a model, a mitigator, or both.
    names
        Names of the two rows.
    comparison
        The comparison.
    width
        Width of the terminal in characters; None for no limit.
    """
    from harness.results.tables import MEASURES

    columns = ["task", "score", "ideal", *names, "difference", "nearer"]
    for measures in MEASURES:
        pairs = [pair for pair in comparison.pairs if pair.a.task.measures == measures]
        if pairs:
            rows = [_row(pair, names, measures) for pair in pairs]
            title = f"{context}: {measures}"
            output.print_table(
                columns, rows, title=title, drop=("nearer", "score"), repeat=1, width=width
            )
    if any(pair.interval for pair in comparison.pairs):
        click.echo("[low, high]: 95% interval of the difference over the items of the task")
    for mean in comparison.means:
        click.echo(_conclusion(mean, names, comparison))
    reasons: dict[str, list[str]] = {}
    for task, reason in comparison.left_out:
        reasons.setdefault(reason, []).append(task)
    for reason, tasks in reasons.items():
        names_ = list(dict.fromkeys(tasks))
        listed = ", ".join(names_) if len(names_) <= LISTED else f"{len(names_)} tasks"
        click.echo(f"left out: {listed}: {reason}", err=True)
    click.echo()


def comparison_as_json(comparisons: Mapping[str, Comparison]) -> list[dict[str, Any]]:
    """Return comparisons as plain values."""
    return [
        {
            "context": context,
            "scores": comparison.rows(),
            "means": [_mean(mean) for mean in comparison.means],
            "left_out": [{"task": task, "reason": reason} for task, reason in comparison.left_out],
        }
        for context, comparison in comparisons.items()
    ]


def _mean(mean: Mean) -> dict[str, Any]:
    interval = mean.interval
    return asdict(mean) | {"interval": interval.model_dump() if interval else None}


def _row(pair: Pair, names: tuple[str, str], measures: str) -> list[Any]:
    ideal = pair.a.ideal if isinstance(pair.a.ideal, str) else f"{pair.a.ideal:g}"
    nearer = {"a": names[0], "b": names[1]}.get(pair.nearer, "")
    return [
        pair.a.task.name,
        pair.a.score,
        ideal,
        pair.value_a,
        pair.value_b,
        _difference(pair),
        "" if measures == "control" else nearer,
    ]


def _difference(pair: Pair) -> str:
    """Return the difference and its interval over items, if there is one."""
    interval = f" {_ends(pair.interval)}" if pair.interval else ""
    return f"{pair.difference:+z.3f}{interval}"


def _ends(interval: IntervalPart) -> str:
    return f"[{interval.low:+z.3f}, {interval.high:+z.3f}]"


def _conclusion(mean: Mean, names: tuple[str, str], comparison: Comparison) -> str:
    """Return how often each is nearer to the ideal, and the mean difference with its interval."""
    from harness.results import resampling

    nearer = [pair.nearer for pair in comparison.pairs if pair.a.task.measures == mean.measures]
    lines = [
        f"{mean.measures}: of {output.counted(len(nearer), 'score')}, {names[0]} is nearer to the "
        f"ideal on {nearer.count('a')}, {names[1]} on {nearer.count('b')}",
        f"  {resampling.NAMES[mean.measures]} ({mean.n}): {mean.a:.3f} and {mean.b:.3f}, "
        f"difference {mean.difference:+z.3f}",
    ]
    if mean.interval:
        interval = f"{mean.interval.level:.0%} interval of the difference over families"
        lines.append(f"  {interval}: {_ends(mean.interval)}")
    return "\n".join(lines)


# The formats of `harness results export`.


FORMATS = ("table", "csv", "latex", "markdown", "parquet")
SUFFIXES = {
    "": "table", ".txt": "table", ".csv": "csv", ".tex": "latex", ".md": "markdown",
    ".parquet": "parquet",
}  # fmt: skip
"""Format by the suffix of the file."""


def of_file(out: Path | None) -> str:
    """Return the format that the suffix of a file stands for."""
    from harness.errors import UsageError

    suffix = "" if out is None else out.suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(
            f"'{out}': no format has the suffix '{suffix}'; name one with --format, or use "
            f"{', '.join(filter(None, SUFFIXES))}"
        )
    return SUFFIXES[suffix]


def written(records: Records, kind: str, *, intervals: bool) -> bytes:
    """Return records in a format, as the content of a file."""
    from harness.results import tables
    from harness.results.tables import sections

    if kind == "parquet":
        buffer = io.BytesIO()
        records.to_polars().write_parquet(buffer)
        return buffer.getvalue()
    texts: dict[str, Callable[[], str]] = {
        "table": lambda: text(records, intervals=intervals),
        "csv": lambda: tables.comma_separated(records.rows()),
        "latex": lambda: tables.latex(sections(records), intervals=intervals),
        "markdown": lambda: tables.markdown(sections(records), intervals=intervals),
    }
    return texts[kind]().encode()
