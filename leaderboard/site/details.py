"""More about each cell of a board, which the page loads when it is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from harness.leaderboard.boards.board import Board
from harness.leaderboard.site.columns import column, rounded
from harness.leaderboard.site.layout import Layout, layout_of

FLOATS = {
    **{name: name for name in ("value", "low", "high", "floor", "floor_sd", "spread")},
    "p": "p_value",
}
"""Columns of floats in the file, and their names in the cells of a board."""
COUNTS = ("n", "asked", "found")


def details_data(board: Board, tables: pl.DataFrame) -> dict[str, Any]:
    """Return what the file of details holds; see `Details` in `assets/types.d.ts`.

    Parameters
    ----------
    board
        The board.
    tables
        Tables that were copied, from `attachments.tables_of`.
    """
    cells, layout = board.cells, layout_of(board)
    reasons = sorted(set(board.lacks["reason"]))
    lacks = board.lacks.with_columns(place=pl.col("reason").cast(pl.Enum(reasons)).to_physical())
    shape = (layout.rows.height, len(layout.tasks))
    nothing = column(np.full(shape, np.nan), "f32")
    return {
        **{
            name: column(rounded(layout.spread(cells, source)), "f32")
            if source in cells.columns
            else nothing
            for name, source in FLOATS.items()
        },
        **{name: column(layout.spread(cells, name, empty=0), "i32") for name in COUNTS},
        "reason": column(
            layout.spread(lacks.with_columns(pl.col("place") + 1), "place", empty=0), "u16"
        ),
        "reasons": ["", *reasons],
        "tables": _tables(tables, layout),
    }


def _tables(tables: pl.DataFrame, layout: Layout) -> list[dict[str, Any]]:
    rows, tasks = layout.places(tables)
    kept = tables.select("scenario", "name", "path").to_dicts()
    return [
        {"row": int(row), "task": int(task), **line}
        for row, task, line in zip(rows, tasks, kept, strict=True)
    ]
