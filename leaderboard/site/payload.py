"""What the data files of the site hold, as `assets/types.d.ts` describes it. Computes no number."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from harness.leaderboard.boards import ranking
from harness.leaderboard.boards.board import Board
from harness.leaderboard.site.columns import column
from harness.leaderboard.site.layout import Layout, layout_of

SCHEMA = 3
"""Version of the data files."""
FLAGS = {"leak": 1, "reversed": 2, "missing": 4, "truncated": 8, "aside": 16, "p": 32, "run": 64}
"""Bits of the flags of a cell."""
SIGNIFICANT = 0.05


def board_data(board: Board) -> dict[str, Any]:
    """Return the contents of a board's data file."""
    layout = layout_of(board)
    rows = layout.rows
    unusable = {
        i: reason for i, reason in enumerate(rows["unusable"].to_list()) if reason is not None
    }
    return {
        "kind": board.kind,
        "notices": list(board.notices),
        "benchmarks": [_all(board, rows)],
        "tasks": [_task(task) for task in board.tasks.to_dicts()],
        "models": [_model(model) for model in layout.models.to_dicts()],
        "mitigators": [_mitigator(label) for label in layout.mitigators],
        "rows": {
            "model": layout.model,
            "mitigator": layout.mitigator,
            "role": rows["role"].to_list(),
            "unusable": unusable,
        },
        "measure": column(layout.spread(board.cells, "measure"), "f32"),
        "flags": column(_flags(board, layout), "u8"),
        "student": _student(),
        "level": ranking.LEVEL,
        "enough_families": ranking.ENOUGH_FAMILIES,
        "published": board.published.drop("tasks").to_dicts(),
    }


def script(file: str, value: Mapping[str, Any]) -> str:
    """Return a data file: a script that calls `harnessData`."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return f"harnessData({json.dumps(file)},{text});\n"


def _flags(board: Board, layout: Layout) -> Any:
    """Return the bits of each cell (rows × tasks)."""
    bits = {
        "leak": pl.col("leak"),
        "reversed": pl.col("reversed"),
        "missing": pl.col("found") < pl.col("asked"),
        "truncated": pl.col("truncated") > 0,
        "aside": pl.col("aside").is_not_null(),
        "p": pl.col("p_value") < SIGNIFICANT,
        "run": pl.lit(value=True),
    }
    total = pl.sum_horizontal(
        expression.fill_null(value=False).cast(pl.Int64) * FLAGS[name]
        for name, expression in bits.items()
    )
    return layout.spread(board.cells.select("row", "task", bits=total), "bits", empty=0)


def _all(board: Board, rows: pl.DataFrame) -> dict[str, Any]:
    ranked = board.tasks.with_row_index().filter(pl.col("not_ranked").is_null())
    ends = ("rank_low", "rank_high", "usefulness_rank_low", "usefulness_rank_high")
    return {
        "name": "all",
        "title": "All tasks",
        "description": "",
        "citation": "",
        "version": None,
        "tasks": ranked["index"].to_list(),
        "languages": sorted(set(ranked["language"])),
        "licences": [],
        "findings": [board.summary()],
        "notices": [],
        **{end: rows[end].to_list() for end in ends},
        "mitigators": board.mitigators.to_dicts(),
    }


def _task(task: dict[str, Any]) -> dict[str, Any]:
    ideal = task["ideal"] if task["ideal"] in ("higher", "lower") else float(task["ideal"])
    kept = (
        *("title", "version", "digest", "measures", "category", "family", "language", "metric"),
        *("score", "scenario", "low_bound", "high_bound", "required", "not_ranked"),
    )
    empty = {"description": "", "source": "", "licence": "", "concept": None, "examples": {}}
    return {"name": task["task"], "ideal": ideal, "validity": None} | empty | {
        key: task[key] for key in kept
    }  # fmt: skip


def _model(row: dict[str, Any]) -> dict[str, Any]:
    facts = ("revision", "max_tokens", "licence", "open_weights", "released", "superseded_by")
    return {
        "name": row["model"],
        **{key: row[key] for key in ("fingerprint", "url", "dimensions", "parameters")},
        **dict.fromkeys(facts),
        "languages": [],
        "published": {},
        "environments": [],
        "submitters": [],
    }


def _mitigator(label: str) -> dict[str, Any]:
    name = label.partition("?")[0]
    return {"label": label, "name": name, "params": {}, "concept": None, "title": ""}


def _student() -> list[float]:
    from scipy import stats

    values = stats.t.ppf((1 + ranking.LEVEL) / 2, np.arange(1, 201))
    return [float(value) for value in values]
