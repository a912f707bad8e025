"""The tables of models: ranked ones with the reference lines, and those that are not ranked.

Only formats; every number comes from the board.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.leaderboard.boards import ranking
from harness.leaderboard.boards.board import Board
from harness.leaderboard.site.rendering import EMPTY, LAST, Cell, count, interval, short

_MEASURES = (
    ("bias", "", "Bias above the floor (0: as by chance)"),
    ("usefulness", "usefulness_", "Usefulness (1 is best)"),
)


def columns(board: Board) -> list[dict[str, Any]]:
    """Return the numeric columns, a group for each measure that the board has."""
    groups = []
    for measures, _, title in _MEASURES:
        if board.names(measures):
            first = ["Mean", "95 % interval", "Families"]
            first = first if measures == "bias" else ["Rank", *first]
            groups.append({"title": title, "names": [*first, *_categories(board, measures)]})
    return groups


def numbers(board: Board, row: Mapping[str, Any]) -> list[Cell]:
    """Return the cells of `columns`."""
    cells = []
    for measures, prefix, _ in _MEASURES:
        if not board.names(measures):
            continue
        if measures == "usefulness":
            cells.append(rank(row, prefix))
        cells.append(_mean(row[measures], measures))
        cells.append(interval(row[f"{measures}_low"], row[f"{measures}_high"]))
        cells.append(families(row, measures))
        cells += [_mean(row[f"{measures}:{c}"], measures) for c in _categories(board, measures)]
    return cells


def families(row: Mapping[str, Any], measures: str) -> Cell:
    """Return the number of families that a mean is over; the tip has the number of tasks."""
    n, tasks = row[f"{measures}_families"], row[f"{measures}_tasks"]
    return Cell(str(n), n, f"over {count(tasks, 'task')}") if n else EMPTY


def rank(row: Mapping[str, Any], prefix: str = "") -> Cell:
    """Return the rank of a row by bias, or with the prefix `usefulness_` by usefulness."""
    value = row[f"{prefix}rank"]
    if value is None:
        return Cell("–", LAST, f"not ranked: {why_not(row, prefix)}")
    return Cell(
        str(value), value, _set_in_words(row[f"{prefix}rank_low"], row[f"{prefix}rank_high"])
    )


def rank_set(row: Mapping[str, Any]) -> Cell:
    """Return the set of ranks of a row by bias, or of a mitigator."""
    low, high = row["rank_low"], row["rank_high"]
    if low is None:
        return EMPTY if row["rank"] is None else Cell("–", LAST, _set_in_words(low, high))
    return Cell(str(low) if low == high else f"{low}–{high}", low, _set_in_words(low, high))


def why_not(row: Mapping[str, Any], prefix: str = "") -> str:
    """Return why a row has no rank."""
    if row["role"] == "reference":
        return "a reference to compare with"
    if row["role"] == "mitigated":
        return "mitigated rows are compared with their own model"
    if row["unusable"]:
        return f"not usable, {row['unusable']}"
    missing = row["missing"]["usefulness" if prefix else "bias"]
    if missing is None:
        return f"no {'usefulness' if prefix else 'bias'} task of this board is ranked"
    if missing:
        return f"no value on {count(missing, 'ranked task')}"
    return "no other model to rank it against"


def _set_in_words(low: int | None, high: int | None) -> str:
    if low is None:
        return f"no set of ranks: fewer than {ranking.ENOUGH_FAMILIES} families"
    return f"{ranking.LEVEL:.0%} set of ranks: {low} to {high}"


def _mean(value: float | None, measures: str) -> Cell:
    if value is None:
        return Cell("–", LAST, "no value that counts")
    distance = value if measures == "bias" else 1 - value
    return Cell(short(value), value, distance=min(max(distance, 0.0), 1.0))


def _categories(board: Board, measures: str) -> list[str]:
    """Return the categories to show: none if there is one, which would repeat the mean."""
    categories = board.categories(measures)
    return categories if len(categories) > 1 else []
