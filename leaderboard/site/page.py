"""The index page: boards as one HTML file that needs no network.

Only formats; every number comes from the board. jinja2 escapes every text from a record.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness.leaderboard.boards import ranking
from harness.leaderboard.boards.board import Board
from harness.leaderboard.boards.cells import BASELINES
from harness.leaderboard.site import mitigator_tables, model_table, task_table
from harness.leaderboard.site.pareto import pareto_plot
from harness.leaderboard.site.published_plot import published_plot
from harness.leaderboard.site.rendering import MADE_BY, inline, template
from harness.leaderboard.site.studies import StudyOnModel
from harness.results.record import STARS


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
    return template("old.html.j2").render(
        title=title,
        generator=MADE_BY,
        built=built,
        notices=list(notices),
        boards=views,
        studies=list(studies),
        ranking=ranking,
        stars=STARS,
        marks=task_table.MARKS,
        # Not escaped: files of this package and its dependencies.
        style=inline("style.css"),
        script=inline("page.js"),
        tables_style=Markup(bundle.with_suffix(".css").read_text("utf-8")),  # noqa: S704 -- bundled
        tables_script=base64.b64encode(bundle.read_bytes()).decode(),
        plot_script=Markup(get_plotlyjs()) if drawn else "",  # noqa: S704 -- bundled
    )


def _view(board: Board) -> dict[str, Any]:
    from markupsafe import Markup

    tasks = task_table.tasks_of(board)
    rows = _rows(board, tasks)
    drawing, published = pareto_plot(board), published_plot(board)
    models = [row for row in rows if row["role"] == "model"]
    ranked = [row for row in models if row["complete"] and not row["unusable"]]
    return {
        "kind": board.kind,
        "title": f"{board.kind.capitalize()} embeddings",
        "summary": board.summary(),
        "notices": board.notices,
        "bias_tasks": len(board.names("bias")),
        "bias_families": board.families("bias"),
        "usefulness_tasks": len(board.names("usefulness")),
        "columns": model_table.columns(board),
        "ranked": ranked,
        "references": [
            row for row in rows if row["role"] == "reference" and row["mitigator"] == BASELINES[0]
        ],
        "unranked": [row for row in models if row not in ranked],
        "effects": mitigator_tables.effects(board),
        "mitigators": mitigator_tables.mitigators(board),
        "mitigator_columns": mitigator_tables.columns(board),
        "rows": rows,
        "tasks": tasks,
        "shown_only": task_table.shown_only(tasks),
        "task_groups": task_table.groups(tasks),
        "warnings": task_table.warnings(board),
        "others": board.others.to_dicts(),
        "environments": board.environments,
        # plotly writes its data as JSON with <, > and / as \u escapes; names are escaped in it
        "plot": Markup(drawing) if drawing else None,  # noqa: S704 -- escaped
        "published": Markup(published) if published else None,  # noqa: S704 -- escaped
        "attachments": _attachments(board),
    }


def _rows(board: Board, tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of the board with their cells, references last."""
    cells = {(cell["row"], cell["task"]): cell for cell in board.cells.iter_rows(named=True)}
    lacks: dict[str, dict[str, str]] = {}
    for lack in board.lacks.iter_rows(named=True):
        lacks.setdefault(lack["row"], {})[lack["task"]] = lack["reason"]
    rows = sorted(board.rows.to_dicts(), key=lambda row: row["role"] == "reference")
    names = {measures: set(board.names(measures)) for measures in ("bias", "usefulness")}
    deciding = "" if names["bias"] or not names["usefulness"] else "usefulness_"
    for row in rows:
        row["href"] = row["url"] if (row["url"] or "").startswith(("https://", "http://")) else None
        row["lacks"] = lacks.get(row["row"], {})
        row["missing"] = {
            measures: len(row["lacks"].keys() & ranked) if ranked else None
            for measures, ranked in names.items()
        }
        row["rank_cell"], row["set_cell"] = model_table.rank(row), model_table.rank_set(row)
        row["why_not"] = model_table.why_not(row, deciding)
        row["numbers"] = model_table.numbers(board, row)
        row["values"] = [
            task_table.value(
                task, cells.get((row["row"], task["task"])), row["lacks"].get(task["task"])
            )
            for task in tasks
        ]
        row["has"] = len(tasks) - len(row["lacks"])
    return rows


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
