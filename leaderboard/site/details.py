"""More about each cell of a board, which the page loads when it is asked for."""

from __future__ import annotations

from typing import Any

import polars as pl

from harness.leaderboard.boards.board import Board
from harness.leaderboard.site.columns import column, rounded
from harness.leaderboard.site.layout import Layout, layout_of

FLOATS = {
    "value": ("value", 14),
    "low": ("low", 11),
    "high": ("high", 11),
    "p": ("p_value", 10),
    "floor": ("floor", 10),
    "floor_sd": ("floor_sd", 8),
    "spread": ("spread", 8),
}
"""Columns of floats in the file: their names in the cells of a board, and the bits of the mantissa
that the page needs. Fewer bits make a smaller file: 14 are four digits, 11 are three."""
COUNTS = ("n", "asked", "found")
_MOST = 2**31 - 1
"""Largest count that the file holds."""


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
    places = layout.places(cells)
    nothing = pl.Series([None], dtype=pl.Float64)
    floats = {
        name: places.spread(cells[source] if source in cells.columns else nothing)
        for name, (source, _) in FLOATS.items()
    }
    counts = {name: places.spread(cells[name].clip(0, _MOST), empty=0) for name in COUNTS}
    reasons = sorted(set(board.lacks["reason"]))
    reason = board.lacks["reason"].cast(pl.Enum(reasons)).to_physical().cast(pl.Int64) + 1
    return {
        **{name: column(rounded(floats[name], FLOATS[name][1]), "f32") for name in floats},
        **{name: column(counts[name], "i32") for name in COUNTS},
        "reason": column(layout.places(board.lacks).spread(reason, empty=0), "u16"),
        "reasons": ["", *reasons],
        "tables": _tables(tables, layout),
    }


def _tables(tables: pl.DataFrame, layout: Layout) -> list[dict[str, Any]]:
    places = layout.places(tables)
    kept = tables.select("scenario", "name", "path").to_dicts()
    return [
        {"row": int(row), "task": int(task), **line}
        for row, task, line in zip(places.row, places.task, kept, strict=True)
    ]
