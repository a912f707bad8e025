"""Paired comparison of two rows: of two models, two mitigators, or two runs of one.

Scores are paired by task, scenario, metric and score, and only if the task has the same content.
Over tasks it gives the mean difference of the distance to the ideal, with its interval.
"""

from __future__ import annotations

import contextlib
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import pstdev
from typing import TYPE_CHECKING, Any, TypeAlias

from harness.errors import UnknownName, UsageError
from harness.names import NONE
from harness.results.ratios import MEANING, OVERALL, SMALLEST
from harness.results.record import (
    Record,
    finite,
    samples_exist,
)
from harness.results.tables import age
from harness.results.verdict import (
    MEASURES,
    Moved,
    Verdict,
    differences_of,
)

if TYPE_CHECKING:
    import polars as pl

    from harness.results.columns import Columns


Folders: TypeAlias = "tuple[Path | str | None, Path | str | None]"
Key = tuple[str, str, str, str]
"""Task, scenario, metric and score."""
MOVED = 5
"""Number of items that are named because they moved most."""


@dataclass(frozen=True)
class Pair:
    """A score of both rows: the records, and the value of `b` less that of `a`."""

    a: Record
    b: Record
    difference: float


@dataclass(frozen=True)
class Comparison:
    """Two rows, score by score.

    Parameters
    ----------
    pairs
        Scores that both have.
    verdict
        For each concept and overall, whether `b` is more biased or more useful than `a`.
    left_out
        Scores of one row only, void ones, and those of different versions of a task: the name of
        the task, and why.
    several_seeds
        Number of scores of several runs with different seeds, of which the latest counts.
    """

    pairs: tuple[Pair, ...] = field(repr=False)  # whole records
    verdict: Verdict
    left_out: tuple[tuple[str, str], ...] = ()
    several_seeds: int = 0

    def __str__(self) -> str:
        return str(self.verdict)

    def _repr_html_(self) -> str:
        return self.verdict._repr_html_()

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat mapping per pair; its keys are the columns of the data frame."""
        return [
            {
                "model_a": pair.a.model.name,
                "mitigator_a": pair.a.mitigator.label,
                "model_b": pair.b.model.name,
                "mitigator_b": pair.b.mitigator.label,
                "task": pair.a.task.name,
                "measures": pair.a.task.measures,
                "scenario": pair.a.scenario,
                "metric": pair.a.metric,
                "score": pair.a.score,
                "ideal": str(pair.a.ideal),
                "a": pair.a.value,
                "b": pair.b.value,
                "difference": pair.difference,
                "unseen": pair.b.unseen.kind if pair.b.unseen else None,
                "left_out": pair.a.left_out or pair.b.left_out,
            }
            for pair in self.pairs
        ]

    def to_polars(self) -> pl.DataFrame:
        """Return a polars data frame with one row per pair."""
        import polars as pl

        return pl.DataFrame(self.rows())


def compare(
    a: Iterable[Record],
    b: Iterable[Record],
    *,
    folder: Path | str | None = None,
    folder_b: Path | str | None = None,
    smallest: float = SMALLEST,
    prompts: tuple[float, float] = (0.0, 0.0),
) -> Comparison:
    """Compare two rows, score by score; of several records of a score the newest counts.

    Parameters
    ----------
    a, b
        Records of one model under one mitigator each, such as
        `records.select(mitigator="none")` of the records of one model.
    folder, folder_b
        The results folder, and that of `b` if it is another one, for samples.
    smallest
        Smallest difference of bias that counts as more or less.
    prompts
        What other prompts change in the bias of each, as of `estimator.prompt_error`.

    Raises
    ------
    UsageError
        If a side has records of several models or mitigators.
    """
    a, b = ([record.judged() for record in side] for side in (a, b))
    left, right = _by_key(a), _by_key(b)
    pairs: list[Pair] = []
    left_out: list[tuple[str, str]] = []
    for key in dict.fromkeys([*left, *right]):
        found = _paired(left.get(key), right.get(key))
        if isinstance(found, Pair):
            pairs.append(found)
        else:
            left_out.append((key[0], found))
    folders = folder, folder_b or folder
    verdict = judge(a, [b], folders=folders, smallest=smallest, prompts=prompts)
    return Comparison(tuple(pairs), verdict, tuple(left_out), _several_seeds(a) + _several_seeds(b))


def judge(
    base: Iterable[Record],
    models: Sequence[Iterable[Record]],
    *,
    folders: Folders = (None, None),
    smallest: float = SMALLEST,
    prompts: tuple[float, float] = (0.0, 0.0),
) -> Verdict:
    """Return the verdict on a model beside its base.

    Parameters
    ----------
    base
        The records of the base.
    models
        Those of the model, or of each seed of its training. With three seeds or more their spread
        is part of the intervals.
    folders
        The results folders of the base and the model, for samples.
    smallest
        Smallest difference of bias that counts as more or less.
    prompts
        What other prompts change in the bias of the base, and of the model.
    """
    from harness.results import estimator

    newest = [_by_key(list(of)) for of in (base, *models)]
    names = ["base", *(f"model {i}" for i in range(len(models)))]
    rows = {name: list(of.values()) for name, of in zip(names, newest, strict=True)}
    every = [record for of in rows.values() for record in of]
    versions: dict[str, int] = {}
    for part in (record.task for record in every):
        versions[part.name] = max(part.version, versions.get(part.name, 0))

    def is_old(record: Record) -> bool:
        return record.task.version < versions[record.task.name]

    cells = estimator.cells_of(rows, is_old=is_old)
    found = estimator.differences(
        cells,
        [("base", names[1:])],
        smallest=smallest,
        prompts={"base": prompts[0], **dict.fromkeys(names[1:], prompts[1])},
    )
    shown = set(found.frame.filter(measures="bias")["name"])
    left_out: dict[str, dict[str, tuple[str, ...]]] = {}
    for task, measures, reason in found.left_out.select("task", "measures", "reason").iter_rows():
        if measures in MEASURES:
            reasons = left_out.setdefault(measures, {})
            reasons[reason] = tuple(dict.fromkeys((*reasons.get(reason, ()), task)))
    out = {task for tasks in left_out.get("bias", {}).values() for task in tasks}
    of_bias = cells.filter(measures="bias")
    tasks = of_bias.select("task", "concept").unique().iter_rows()
    concepts = {concept for task, concept in tasks if task not in out}
    void = {
        record.category: record.unseen.reason or ""
        for record in every
        if record.primary and record.unseen is not None and record.unseen.kind == "void"
    }
    meaning = found.of(measures=MEANING)
    moved = {(m.task, m.text): m for of in newest[1:] for m in _moved(newest[0], of, folders)}
    labels = [_name(rows[name], rows["base"]) for name in names[1:]]
    label = labels[0] if len(labels) == 1 else f"{len(labels)} seeds ({', '.join(labels)})"
    return Verdict(
        differences=tuple(differences_of(found)),
        left_out=left_out,
        moved=tuple(sorted(moved.values(), key=lambda m: -abs(m.spreads))[:MOVED]),
        without_line=tuple(sorted(concepts - shown)) if OVERALL in shown else (),
        not_judged={concept: void[concept] for concept in sorted(set(void) - concepts)},
        names=(_name(rows["base"], rows["model 0"]), label),
        seeds=len(models),
        meaning=(meaning["base"], meaning["model"]) if meaning else None,
        smallest=smallest,
        compared=tuple(every),
    )


def _name(records: Sequence[Record], others: Sequence[Record]) -> str:
    """Return what tells a row from the other one: its model, its mitigator, or both."""
    if not records or not others:
        return ""
    row, other = records[0], others[0]
    if row.model.name == other.model.name and row.mitigator.label != other.mitigator.label:
        return f"{row.model.name} under {row.mitigator.label}"
    is_plain = row.mitigator.label == other.mitigator.label == NONE
    return row.model.name if is_plain else f"{row.model.name} under {row.mitigator.label}"


def _several_seeds(records: Iterable[Record]) -> int:
    """Return how many scores of a row have runs with different seeds."""
    seeds: defaultdict[tuple[Key, str], set[int]] = defaultdict(set)
    for record in records:
        seeds[_key(record), record.task.digest].add(record.seed)
    return sum(len(of_score) > 1 for of_score in seeds.values())


def _key(record: Record) -> Key:
    return record.task.name, record.scenario, record.metric, record.score


def _by_key(records: Sequence[Record]) -> dict[Key, Record]:
    rows = {(record.model.name, record.mitigator.label) for record in records}
    if len(rows) > 1:
        raise UsageError(
            f"a side of a comparison is one model under one mitigator; here are {len(rows)} of "
            "them, and `select` chooses"
        )
    # Of several weights that had one name, those of the last run count: they are never mixed.
    runs = [(record.created, record.model.fingerprint) for record in records]
    latest = max(runs, default=("", ""))[1]
    newest: dict[Key, Record] = {}
    for record in records:
        if record.model.fingerprint != latest:
            continue
        key = _key(record)
        if key not in newest or age(newest[key]) <= age(record):
            newest[key] = record
    return newest


def _paired(a: Record | None, b: Record | None) -> Pair | str:
    """Return a pair of records, or the reason why they cannot be compared."""
    if a is None or b is None:
        return "only one of the two has it"
    if a.task.digest != b.task.digest:
        return "the versions or data of the task differ"
    if a.value is None or b.value is None:
        return "a value is void"
    return Pair(a, b, b.value - a.value)


def _samples(record: Record, folder: Path | str | None) -> Sequence[Mapping[str, Any]]:
    """Return the samples of a record: those in its folder or in memory; none if it has none."""
    if folder is not None:
        is_there = samples_exist(Path(folder), record)
        return record.read_samples(folder) if is_there else ()
    with contextlib.suppress(UsageError):  # its folder was not passed
        return record.read_samples()
    return ()


# The items that moved most.


def _moved(a: Mapping[Key, Record], b: Mapping[Key, Record], folders: Folders) -> Iterator[Moved]:
    """Yield the items of each score of bias that moved most."""
    for key, record in a.items():
        pair = _paired(record, b.get(key))
        if isinstance(pair, Pair) and record.primary and record.task.measures == "bias":
            both = pair.a, pair.b
            if not any(of.left_out for of in both):
                yield from moved_items(key[0], *map(_samples, both, folders))


def moved_items(
    task: str, a: Sequence[Mapping[str, Any]], b: Sequence[Mapping[str, Any]]
) -> list[Moved]:
    """Return the items of a score whose contribution moved most, in spreads of the score.

    Parameters
    ----------
    task
        Name of the task.
    a, b
        The samples of the base and of the model.
    """
    values = [
        {
            _item(row): float(row["contribution"])
            for row in rows
            if row.get("contribution") is not None
        }
        for rows in (a, b)
    ]
    spreads = [pstdev(of.values()) if len(of) > 1 else 0.0 for of in values]
    spread = math.hypot(*spreads) / math.sqrt(2)
    if spread <= 0:
        return []
    moved = [
        Moved(task, " : ".join(key), base, values[1][key], (values[1][key] - base) / spread)
        for key, base in values[0].items()
        if key in values[1]
    ]
    return sorted(moved, key=lambda m: -abs(m.spreads))[:MOVED]


# Two rows item by item: the samples of a score for one model and for another.
#
# Figure 4 of Bolukbasi et al. (2016) is one use: professions' projections in one embedding against
# those in another.


@dataclass(frozen=True)
class Items:
    """One column of the samples of both records of a pair, for the items that both have.

    Parameters
    ----------
    context
        What both rows share, as in a comparison: a model, a mitigator, or both.
    pair
        The two records.
    column
        Name of the column.
    texts
        The n items.
    a, b
        Their n values in each record.
    """

    context: str
    pair: Pair
    column: str
    texts: tuple[str, ...]
    a: tuple[float, ...]
    b: tuple[float, ...]

    @property
    def spearman(self) -> float | None:
        """Rank correlation of both; None for fewer than three items, or where all are equal."""
        from scipy.stats import spearmanr

        if len(self.texts) < 3 or 1 in (len(set(self.a)), len(set(self.b))):
            return None
        return finite(float(spearmanr(self.a, self.b).statistic))

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat mapping per item."""
        values = zip(self.texts, self.a, self.b, strict=True)
        return [{"text": text, "a": a, "b": b} for text, a, b in values]


def items_of(
    comparisons: Mapping[str, Comparison],
    column: str,
    folder: Path,
    folder_b: Path | None = None,
) -> list[Items]:
    """Return the items of each pair of records that has samples with a column of numbers.

    Parameters
    ----------
    comparisons
        Comparisons of two rows, by what both share.
    column
        Name of the column, such as `projection` or `contribution`.
    folder, folder_b
        The results folder, and that of the second records if it is another one.

    Raises
    ------
    UsageError
        If no pair has samples.
    UnknownName
        If no samples have the column.
    """
    chosen: list[Items] = []
    known: set[str] = set()
    pairs = [(context, pair) for context, of in comparisons.items() for pair in of.pairs]
    for context, pair in pairs:
        rows = _by_item(pair.a, folder), _by_item(pair.b, folder_b or folder)
        shared = [key for key in rows[0] if key in rows[1]]
        for key in shared[:1]:
            known |= {name for name, value in rows[0][key].items() if _is_number(value)}
        both = [(key, rows[0][key].get(column), rows[1][key].get(column)) for key in shared]
        numbers = [(key, a, b) for key, a, b in both if _is_number(a) and _is_number(b)]
        if numbers:
            keys, a, b = zip(*numbers, strict=True)
            texts = tuple(rows[0][key].get("text") or " : ".join(key) for key in keys)
            chosen.append(Items(context, pair, column, texts, tuple(a), tuple(b)))
    if not known:
        raise UsageError("these scores have no samples in common; run `harness eval --samples`")
    if not chosen:
        raise UnknownName("column", column, known)
    return chosen


def _by_item(record: Record, folder: Path) -> Mapping[tuple[str, ...], Mapping[str, Any]]:
    """Return the samples of a record by item: its input and text, or the texts of a pair."""
    rows: Sequence[Mapping[str, Any]] = ()
    if samples_exist(folder, record):
        rows = record.read_samples(folder)
    return {_item(row): row for row in rows}


def _item(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the key of an item: its input and text or, for a pair, the text of each input."""
    of_pair = [key for key in row if not key.endswith("_embedded")]
    keys = ("input", "text") if "text" in row else of_pair
    return tuple(row[key] for key in keys if isinstance(row.get(key), str))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# Which rows are compared: two mitigators on each model, two models, or two runs.


def between(
    records: Iterable[Record],
    a: str,
    b: str,
    *,
    folder: Path | None = None,
    smallest: float = SMALLEST,
) -> dict[str, Comparison]:
    """Compare two mitigators on each model, or two models under each mitigator.

    Parameters
    ----------
    records
        Records of both.
    a, b
        Labels of two mitigators, or names of two models.
    folder
        The results folder, if it has samples.
    smallest
        As of `compare`.

    Returns
    -------
    dict
        A comparison for each model, or for each mitigator, that both have records of.

    Raises
    ------
    UnknownName
        If a name is neither.
    UsageError
        If one is a mitigator and the other a model, or they have no score in common.
    """
    import polars as pl

    from harness.results.columns import Columns

    columns = Columns.of(records)
    frame = columns.flat(_ROW_NAMES).cast(pl.String)
    for kind, other in (("mitigator", "model"), ("model", "mitigator")):
        if {a, b} <= set(frame[kind].unique()):
            sides = [columns.at(frame[kind].eq(name).arg_true()) for name in (a, b)]
            whole = columns, columns
            return _by_context(sides[0], sides[1], (other,), (folder, folder), smallest, whole)
    every = {name for kind in _ROW_NAMES for name in frame[kind].unique()}
    for name in (a, b):
        if name not in every:
            raise UnknownName("mitigator or model in these records", name, every)
    raise UsageError(f"'{a}' and '{b}' cannot be compared: one is a mitigator, the other a model")


def between_runs(
    a: Iterable[Record],
    b: Iterable[Record],
    *,
    folder: Path | None = None,
    folder_b: Path | None = None,
    smallest: float = SMALLEST,
) -> dict[str, Comparison]:
    """Compare two sets of records on each model and mitigator that both have; see `compare`.

    Raises
    ------
    UsageError
        If they have none in common.
    """
    from harness.results.columns import Columns

    sides = Columns.of(a), Columns.of(b)
    return _by_context(*sides, ("model", "mitigator"), (folder, folder_b), smallest, sides)


_ROW_NAMES = {"model": "model.name", "mitigator": "mitigator.label"}


def _by_context(
    a: Columns,
    b: Columns,
    shared: tuple[str, ...],
    folders: Folders,
    smallest: float,
    every: tuple[Columns, Columns],
) -> dict[str, Comparison]:
    """Compare the rows of each model, mitigator or both that two sides share.

    A record is made of its columns once, for the only context that it belongs to. `every` has the
    records of each side under all prompts.
    """
    import polars as pl

    from harness.results.estimator import prompt_error

    left, right = (
        {
            " under ".join(row): places
            for *row, places in side.flat({name: _ROW_NAMES[name] for name in shared})
            .cast(pl.String)
            .with_row_index("place")
            .group_by(shared, maintain_order=True)
            .agg("place")
            .iter_rows()
        }
        for side in (a, b)
    )
    comparisons = {}
    for context, places in left.items():
        if context not in right:
            continue
        sides = a.at(places), b.at(right[context])
        models = [side[0].model.fingerprint for side in sides]
        is_one = models[0] == models[1]  # under one prompt
        prompts = [
            0.0 if is_one else prompt_error(of, model)
            for of, model in zip(every, models, strict=True)
        ]
        comparisons[context] = compare(
            *sides,
            folder=folders[0],
            folder_b=folders[1],
            smallest=smallest,
            prompts=(prompts[0], prompts[1]),
        )
    if not any(found.pairs or found.verdict.not_judged for found in comparisons.values()):
        raise UsageError("the two have no score in common")
    return comparisons
