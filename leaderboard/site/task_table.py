"""The table of the scores themselves, by task, and the facts of the tasks.

Only formats; every number comes from the board.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.leaderboard.boards.board import Board
from harness.leaderboard.site.rendering import LAST, Cell, short
from harness.results.formats import REVERSED
from harness.results.record import stars

MARKS = (
    f"{REVERSED} reversed: the association points the other way · ◐ some texts have no vector · "
    "† leak: the mitigator was fitted on some of the task's texts, so the value does not count · "
    "– no value"
)
"""Legend of the marks beside a value."""
_MEASURES = {"control": "control, not ranked", "usefulness": "usefulness"}
_LISTED = 12  # most words that a warning lists


def tasks_of(board: Board) -> list[dict[str, Any]]:
    """Return the tasks with the reading of their scores in words."""
    return [task | {"reading": _reading(task)} for task in board.tasks.to_dicts()]


def groups(tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the tasks, which are sorted by measure and category, in groups of both."""
    by_both: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for task in tasks:
        by_both.setdefault((task["measures"], task["category"]), []).append(task)
    return [
        {
            "title": category if measures == "bias" else f"{_MEASURES[measures]}: {category}",
            "tasks": group,
            "measures": measures,
        }
        for (measures, category), group in by_both.items()
    ]


def shown_only(tasks: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Return the tasks that are shown and not ranked, by reason; controls are left out."""
    by_reason: dict[str, list[str]] = {}
    for task in tasks:
        if task["not_ranked"] and task["measures"] != "control":
            by_reason.setdefault(task["not_ranked"], []).append(task["task"])
    return by_reason


def value(task: Mapping[str, Any], cell: Mapping[str, Any] | None, reason: str | None) -> Cell:
    """Return the cell of a row's value on a task; the tip has its p-value, floor and so on."""
    if cell is None or cell["value"] is None:
        return Cell("–", LAST, f"no value: {reason}")
    tip = [f"{task['metric']} {task['score']} {cell['value']:.6g}; {_reading(task)}"]
    if _counts(task, cell):
        is_bias = task["measures"] == "bias"
        counts = "above the floor" if is_bias else "usefulness"
        tip.append(f"{counts}: {short(cell['measure'])}")
    else:
        tip.append(f"does not count: {task['not_ranked'] or reason}")
    if cell["floor"] is not None:
        floor = f"floor {cell['floor']:.3g} ± {cell['floor_sd']:.2g}"
        tip.append(f"{floor}: its distance from the ideal with shuffled sides")
    p, marks = cell["p_value"], ""
    if p is not None:
        side = _SIDES.get(cell["alternative"], "")
        tip.append(f"p = {p:.3g}{side}")
        marks = "" if task["measures"] == "usefulness" else stars(p)  # no test against 0
    if cell["reversed"]:
        marks += REVERSED
        tip.append("reversed: the association points the other way")
    if cell["low"] is not None:
        tip.append(f"{cell['level']:.0%} interval {cell['low']:.3f} to {cell['high']:.3f}")
    if cell["n"] is not None:
        tip.append(f"n = {cell['n']}")
    if cell["found"] < cell["asked"]:
        marks += "◐"
        tip.append(f"{cell['asked'] - cell['found']} of {cell['asked']} texts have no vector")
    if cell["truncated"]:
        tip.append(f"{cell['truncated']} of {cell['asked']} texts are truncated")
    if cell["overlap"]:
        marks += "†"
        tip.append(f"the mitigator was fitted on {len(cell['overlap'])} of the task's texts")
    if cell["fitted_on"]:
        tip.append(f"concept of the mitigator: {cell['fitted_on']}")
    return Cell(short(cell["value"]), cell["value"], "; ".join(tip), _tint(task, cell), marks=marks)


def warnings(board: Board) -> list[dict[str, str]]:
    """Return warnings about single values: missing vectors, and texts used for fitting."""
    lines = []
    names = {row["row"]: f"{row['model']} · {row['mitigator']}" for row in board.rows.to_dicts()}
    for cell in board.cells.iter_rows(named=True):
        row, task = names[cell["row"]], cell["task"]
        if cell["found"] < cell["asked"]:
            text = f"{cell['asked'] - cell['found']} of {cell['asked']} texts have no vector"
            text += _list(cell["missing"])
            lines.append({"mark": "◐", "row": row, "task": task, "text": text})
        if cell["overlap"]:
            text = f"the mitigator was fitted on {len(cell['overlap'])} of the task's texts"
            text += _list(cell["overlap"])
            lines.append({"mark": "†", "row": row, "task": task, "text": text})
    return lines


_SIDES = {"two-sided": ", two-sided", "greater": ", one-sided", "less": ", one-sided"}


def _counts(task: Mapping[str, Any], cell: Mapping[str, Any]) -> bool:
    return task["not_ranked"] is None and cell["measure"] is not None


def _tint(task: Mapping[str, Any], cell: Mapping[str, Any]) -> float | None:
    """Return the distance that the tint shows: none for a value that does not count."""
    if not _counts(task, cell):
        return None
    distance = cell["measure"] if task["measures"] == "bias" else 1 - cell["measure"]
    return min(max(float(distance), 0.0), 1.0)


def _reading(task: Mapping[str, Any]) -> str:
    """Return the ideal and the bounds of a task's score in words."""
    low, high = (
        "unbounded" if bound is None else f"{bound:g}"
        for bound in (task["low_bound"], task["high_bound"])
    )
    ideal = {"higher": "higher is better", "lower": "lower is better"}.get(task["ideal"])
    return f"{ideal or 'ideal ' + format(float(task['ideal']), 'g')}, from {low} to {high}"


def _list(words: list[str]) -> str:
    if not words:
        return ""
    more = f" and {len(words) - _LISTED} more" if len(words) > _LISTED else ""
    return ": " + ", ".join(words[:_LISTED]) + more
