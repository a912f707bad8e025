"""Which rows are compared: two mitigators on each model, two models, or two runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

from harness.errors import UnknownName, UsageError
from harness.results.comparison import Comparison, Folders, compare
from harness.results.record import Record

Column: TypeAlias = Callable[[Record], str]


def between(
    records: Sequence[Record], a: str, b: str, *, folder: Path | None = None
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
    kinds: tuple[tuple[Column, Column], ...] = ((_mitigator, _model), (_model, _mitigator))
    for column, other in kinds:
        known = {column(record) for record in records}
        if a in known and b in known:
            sides = [[r for r in records if column(r) == name] for name in (a, b)]
            return _by_context(sides[0], sides[1], other, (folder, folder))
    every = {_mitigator(record) for record in records} | {_model(record) for record in records}
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
) -> dict[str, Comparison]:
    """Compare two sets of records on each model and mitigator that both have; see `compare`.

    Raises
    ------
    UsageError
        If they have none in common.
    """
    return _by_context(
        list(a),
        list(b),
        lambda record: f"{_model(record)} under {_mitigator(record)}",
        (folder, folder_b),
    )


def _model(record: Record) -> str:
    return record.model.name


def _mitigator(record: Record) -> str:
    return record.mitigator.label


def _by_context(
    a: list[Record], b: list[Record], context: Column, folders: Folders
) -> dict[str, Comparison]:
    comparisons = {}
    for name in dict.fromkeys(map(context, a)):
        left, right = ([r for r in side if context(r) == name] for side in (a, b))
        if right:
            comparisons[name] = compare(left, right, folder=folders[0], folder_b=folders[1])
    if not any(comparison.pairs for comparison in comparisons.values()):
        raise UsageError("the two have no score in common")
    return comparisons
