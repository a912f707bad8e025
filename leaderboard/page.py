"""The index page: boards as one HTML file that needs no network. Only formats their numbers."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.leaderboard import ranking
from harness.leaderboard.board import Board
from harness.leaderboard.cells import BASELINES
from harness.leaderboard.plot import plot, published_plot
from harness.leaderboard.rendering import MADE_BY, inline, short, template
from harness.leaderboard.studies import StudyOnModel
from harness.results.record import STARS, stars

_LAST = 1e99  # the sort key of an empty cell, so that it sorts last
_MARKS = {"better": "▲", "worse": "▼"}
_MEASURES = {"control": "control, not ranked", "usefulness": "usefulness"}
_LISTED = 12  # most words that a warning lists


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Parameters
    ----------
    text
        The text shown.
    order
        The sort key.
    tip
        The text shown on hover or tap.
    distance
        Distance to the ideal in [0, 1], drawn as a tint and a bar; None draws neither.
    marks
        Symbols after the text.
    """

    text: str
    order: float | str
    tip: str = ""
    distance: float | None = None
    marks: str = ""


def render(
    boards: Iterable[Board],
    *,
    title: str,
    notices: Iterable[str],
    built: str,
    studies: Iterable[StudyOnModel] = (),
) -> str:
    """Return the page as HTML."""
    from itables import options
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs

    bundle = Path(options.dt_bundle)  # DataTables, which itables ships for offline use
    views = [_view(board) for board in boards]
    drawn = any(view["plot"] or view["published"] for view in views)
    return template("index.html.j2").render(
        title=title,
        generator=MADE_BY,
        built=built,
        notices=list(notices),
        boards=views,
        studies=list(studies),
        ranking=ranking,
        stars=STARS,
        # Not escaped: files of this package and its dependencies.
        style=inline("style.css"),
        script=inline("page.js"),
        tables_style=Markup(bundle.with_suffix(".css").read_text("utf-8")),  # noqa: S704 -- bundled
        tables_script=base64.b64encode(bundle.read_bytes()).decode(),
        plot_script=Markup(get_plotlyjs()) if drawn else "",  # noqa: S704 -- bundled
    )


def _view(board: Board) -> dict[str, Any]:
    from markupsafe import Markup

    cells = {(cell["row"], cell["task"]): cell for cell in board.cells.iter_rows(named=True)}
    lacks: dict[str, dict[str, str]] = {}
    for lack in board.lacks.iter_rows(named=True):
        lacks.setdefault(lack["row"], {})[lack["task"]] = lack["reason"]
    tasks = [task | {"reading": _reading(task)} for task in board.tasks.to_dicts()]
    changes = {(line["row"], line["baseline"]): line for line in board.effects.to_dicts()}
    rows = board.rows.to_dicts()
    for row in rows:
        row["href"] = row["url"] if (row["url"] or "").startswith(("https://", "http://")) else None
        row["lacks"] = lacks.get(row["row"], {})
        row["ranks"] = [_rank(row, "")]
        row["numbers"] = _numbers(board, row, changes)
        row["values"] = [
            _value(task, cells.get((row["row"], task["task"])), row["lacks"].get(task["task"]))
            for task in tasks
        ]
        row["has"] = len(tasks) - len(row["lacks"])
    drawing, published = plot(board), published_plot(board)
    return {
        "kind": board.kind,
        "title": f"{board.kind.capitalize()} embeddings",
        "summary": board.summary(),
        "notices": board.notices,
        "bias_tasks": len(board.names("bias")),
        "bias_families": board.families("bias"),
        "usefulness_tasks": len(board.names("usefulness")),
        "columns": _columns(board),
        "ranked": [row for row in rows if _is_comparable(row)],
        "incomplete": [row for row in rows if not _is_comparable(row)],
        "rows": rows,
        "tasks": tasks,
        "task_groups": _task_groups(tasks),
        "warnings": _warnings(board),
        "others": board.others.to_dicts(),
        "environments": board.environments,
        # plotly writes its data as JSON with <, > and / as \u escapes; names are escaped in it
        "plot": Markup(drawing) if drawing else None,  # noqa: S704 -- escaped
        "published": Markup(published) if published else None,  # noqa: S704 -- escaped
        "attachments": _attachments(board),
    }


def _is_comparable(row: Mapping[str, Any]) -> bool:
    """Return whether a row stands in the table of ranks."""
    return row["complete"] and row["unusable"] is None and row["role"] != "reference"


def _attachments(board: Board) -> list[dict[str, Any]]:
    """Return the figures and tables of each row and task, by scenario."""
    by_cell: dict[tuple[str, str, str], dict[str, list[dict[str, Any]]]] = {}
    for line in board.attachments.sort("model", "mitigator", "task").iter_rows(named=True):
        key = (line["model"], line["mitigator"], line["task"])
        by_cell.setdefault(key, {}).setdefault(line["scenario"], []).append(line)
    return [
        {"model": model, "mitigator": mitigator, "task": task, "scenarios": scenarios}
        for (model, mitigator, task), scenarios in by_cell.items()
    ]


def _task_groups(tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the tasks, which are sorted by measure and category, in groups of both."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for task in tasks:
        groups.setdefault((task["measures"], task["category"]), []).append(task)
    return [
        {
            "title": category if measures == "bias" else f"{_MEASURES[measures]}: {category}",
            "tasks": group,
            "measures": measures,
        }
        for (measures, category), group in groups.items()
    ]


def _columns(board: Board) -> list[dict[str, Any]]:
    """Return the numeric columns of the ranking table, a group for each measure."""
    groups = []
    for measures, title in (
        ("bias", "Bias: distance above the floor (0: as by chance)"),
        ("usefulness", "Usefulness (1 is best)"),
    ):
        if board.names(measures):
            first = ["Mean"] if measures == "bias" else ["Rank", "Mean"]
            changes = [f"vs {baseline}" for baseline in BASELINES]
            groups.append(
                {"title": title, "names": [*first, *changes, *_categories(board, measures)]}
            )
    return groups


def _numbers(
    board: Board, row: Mapping[str, Any], changes: Mapping[tuple[str, str], Mapping[str, Any]]
) -> list[Cell]:
    """Return the cells of `_columns`."""
    cells = []
    for measures, prefix in (("bias", ""), ("usefulness", "usefulness_")):
        if not board.names(measures):
            continue
        if measures == "usefulness":
            cells.append(_rank(row, prefix))
        cells.append(_mean(row[measures], measures))
        cells += [
            _change(changes.get((row["row"], baseline), {}), measures, baseline)
            for baseline in BASELINES
        ]
        cells += [_mean(row[f"{measures}:{c}"], measures) for c in _categories(board, measures)]
    return cells


def _categories(board: Board, measures: str) -> list[str]:
    """Return the categories to show: none if there is one, which would repeat the mean."""
    categories = board.categories(measures)
    return categories if len(categories) > 1 else []


def _rank(row: Mapping[str, Any], prefix: str) -> Cell:
    rank, low, high = (row[f"{prefix}{name}"] for name in ("rank", "rank_low", "rank_high"))
    if rank is None:
        return Cell("–", _LAST, f"not ranked: {_why_not(row, prefix)}")
    if low is None:
        return Cell(str(rank), rank, "too few families for a set of ranks")
    return Cell(str(rank), rank, f"{ranking.LEVEL:.0%} set of ranks: {low} to {high}")


def _why_not(row: Mapping[str, Any], prefix: str) -> str:
    if row["role"] == "reference":
        return "a reference"
    if row["role"] == "mitigated":
        return "mitigated rows are compared with their own model"
    if row["unusable"]:
        return f"not usable, {row['unusable']}"
    return "no other complete row" if row[f"{prefix}complete"] else "incomplete"


def _mean(value: float | None, measures: str) -> Cell:
    if value is None:
        return Cell("–", _LAST, "no distance: no value on a score with bounds")
    distance = value if measures == "bias" else 1 - value
    return Cell(short(value), value, distance=min(max(distance, 0.0), 1.0))


def _change(change: Mapping[str, Any], measures: str, baseline: str) -> Cell:
    value = change.get(measures)
    if value is None:
        return Cell("", _LAST)
    evidence = change[f"{measures}_evidence"]
    gain = -value if measures == "bias" else value
    verdict = "no evidence of a change" if not evidence else "better" if gain > 0 else "worse"
    tip = f"{verdict} against {baseline}, over {change[f'{measures}_tasks']} tasks"
    if change[f"{measures}_holm"] is not None:
        tip += f"; p = {change[f'{measures}_holm']:.3g} after Holm's correction"
    return Cell(short(value, sign=True), value, tip, marks=_MARKS.get(verdict, ""))


def _value(task: Mapping[str, Any], cell: Mapping[str, Any] | None, reason: str | None) -> Cell:
    """Return the cell of a row's value on a task; the tip has its p-value, coverage and so on."""
    if cell is None or cell["value"] is None:
        return Cell("–", _LAST, f"no value: {reason}")
    tip = [f"{task['metric']} {task['score']} {cell['value']:.6g}; {_reading(task)}"]
    p = cell["p_value"]
    marks = "" if task["measures"] == "usefulness" else stars(p)  # no test against 0
    if p is not None:
        tip.append(f"p = {p:.3g}")
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
    distance = None if task["measures"] == "control" else cell["distance"]
    return Cell(short(cell["value"]), cell["value"], "; ".join(tip), distance, marks=marks)


def _reading(task: Mapping[str, Any]) -> str:
    """Return the ideal and the bounds of a task's score in words."""
    low, high = (
        "unbounded" if bound is None else f"{bound:g}"
        for bound in (task["low_bound"], task["high_bound"])
    )
    ideal = {"higher": "higher is better", "lower": "lower is better"}.get(task["ideal"])
    return f"{ideal or 'ideal ' + format(float(task['ideal']), 'g')}, from {low} to {high}"


def _warnings(board: Board) -> list[dict[str, str]]:
    """Return warnings about single values: missing vectors, and texts used for fitting."""
    warnings = []
    names = {row["row"]: f"{row['model']} · {row['mitigator']}" for row in board.rows.to_dicts()}
    for cell in board.cells.iter_rows(named=True):
        row, task = names[cell["row"]], cell["task"]
        if cell["found"] < cell["asked"]:
            text = f"{cell['asked'] - cell['found']} of {cell['asked']} texts have no vector"
            text += _list(cell["missing"])
            warnings.append({"mark": "◐", "row": row, "task": task, "text": text})
        if cell["overlap"]:
            text = f"the mitigator was fitted on {len(cell['overlap'])} of the task's texts"
            text += _list(cell["overlap"])
            warnings.append({"mark": "†", "row": row, "task": task, "text": text})
    return warnings


def _list(words: list[str]) -> str:
    if not words:
        return ""
    more = f" and {len(words) - _LISTED} more" if len(words) > _LISTED else ""
    return ": " + ", ".join(words[:_LISTED]) + more
