"""The tables of mitigators: paired effects on each model, and mitigators ranked over models.

Only formats; every number comes from the board.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.leaderboard.boards.board import Board
from harness.leaderboard.boards.cells import BASELINES
from harness.leaderboard.site.model_table import families, rank_set
from harness.leaderboard.site.rendering import EMPTY, LAST, Cell, count, interval, short

_MEASURES = ("bias", "usefulness")


def effects(board: Board) -> dict[str, Any] | None:
    """Return the columns and lines of the table of effects; None if no row is mitigated."""
    by_row: dict[str, dict[str, Mapping[str, Any]]] = {}
    for line in board.effects.sort("model", "mitigator", "row").iter_rows(named=True):
        by_row.setdefault(line["row"], {})[line["baseline"]] = line
    if not by_row:
        return None
    baselines = [name for name in BASELINES if name in set(board.effects["baseline"])]
    shown = [name for name in _MEASURES if board.names(name)]
    groups = [
        {"title": f"{name.capitalize()}, against {baseline}", "names": list(_names(name))}
        for baseline in baselines
        for name in shown
    ]
    lines = []
    for of_baseline in by_row.values():
        any_line = next(iter(of_baseline.values()))
        lines.append(
            {
                "model": any_line["model"],
                "mitigator": any_line["mitigator"],
                "unusable": any_line["unusable"],
                "cells": [
                    cell
                    for baseline in baselines
                    for name in shown
                    for cell in _effect(of_baseline.get(baseline), name, baseline)
                ],
            }
        )
    unusable = any(line["unusable"] for line in lines)
    return {"groups": groups, "lines": lines, "unusable": unusable}


def columns(board: Board) -> list[dict[str, Any]]:
    """Return the numeric columns of the table of mitigators, a group for each measure."""
    names = ["Change", "95 % interval", "Families"]
    return [
        {"title": f"{name.capitalize()}, against {BASELINES[0]}", "names": names}
        for name in _MEASURES
        if board.names(name)
    ]


def mitigators(board: Board) -> list[dict[str, Any]]:
    """Return the lines of the table of mitigators, best first."""
    return [
        {
            "mitigator": line["mitigator"],
            "rank": _rank(line),
            "set": rank_set(line),
            "models": line["models"],
            "cells": [
                cell
                for name in _MEASURES
                for cell in (
                    _plain(line[name]),
                    interval(line[f"{name}_low"], line[f"{name}_high"], sign=True),
                    families(line, name),
                )
                if board.names(name)
            ],
            "unranked": line["unranked"],
        }
        for line in board.mitigators.iter_rows(named=True)
    ]


def _names(measures: str) -> tuple[str, ...]:
    return ("Change", "95 % interval", "p", *(("Leaks",) if measures == "bias" else ()))


def _effect(line: Mapping[str, Any] | None, measures: str, baseline: str) -> list[Cell]:
    """Return the change with its interval and p-value, and the number of leaky tasks."""
    if line is None or line[measures] is None:
        leaks = None if line is None else line["bias_leaks"]
        return [EMPTY, EMPTY, EMPTY, *([_leaks(leaks)] if measures == "bias" else [])]
    value, evidence, p = line[measures], line[f"{measures}_evidence"], line[f"{measures}_holm"]
    gain = -value if measures == "bias" else value
    verdict = "no evidence of a change" if not evidence else "better" if gain > 0 else "worse"
    over = f"{count(line[f'{measures}_tasks'], 'task')} of "
    over += count(line[f"{measures}_families"], "family", "families")
    tip = f"{verdict} against {baseline}, over {over}"
    if p is None:
        tip += "; too few families for a test"
    cells = [
        Cell(
            short(value, sign=True),
            value,
            tip,
            marks={"better": "▲", "worse": "▼"}.get(verdict, ""),
        ),
        interval(line[f"{measures}_low"], line[f"{measures}_high"], sign=True),
        EMPTY if p is None else Cell(f"{p:.3f}" if p >= 0.001 else "< .001", p),
    ]
    return cells + ([_leaks(line["bias_leaks"])] if measures == "bias" else [])


def _leaks(n: int | None) -> Cell:
    if not n:
        return Cell("", LAST)
    return Cell(
        f"{n}", n, f"{count(n, 'task')} left out: the mitigator was fitted on its texts", marks="†"
    )


def _rank(line: Mapping[str, Any]) -> Cell:
    if line["rank"] is None:
        return Cell("–", LAST, f"not ranked: {line['unranked'] or 'no other mitigator'}")
    return Cell(str(line["rank"]), line["rank"])


def _plain(value: float | None) -> Cell:
    return EMPTY if value is None else Cell(short(value, sign=True), value)
