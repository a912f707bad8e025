"""What the data files of the site hold, as `assets/types.d.ts` describes it. Computes no number."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from harness.leaderboard.boards import ranking
from harness.leaderboard.boards.benchmarks import Benchmark
from harness.leaderboard.boards.board import Board
from harness.leaderboard.site.columns import column, rounded
from harness.leaderboard.site.layout import Layout, layout_of
from harness.leaderboard.site.registered import NOTHING, Registered

SCHEMA = 3
"""Version of the data files and of leaderboard.json."""
FLAGS = {"leak": 1, "reversed": 2, "missing": 4, "truncated": 8, "aside": 16, "p": 32, "run": 64}
"""Bits of the flags of a cell."""
SIGNIFICANT = 0.05
MEASURE_BITS = 20
"""Bits of a measure: means of the scripts and of Python agree to 1e-6."""
_ENDS = ("rank_low", "rank_high", "usefulness_rank_low", "usefulness_rank_high")
_CARD = ("revision", "max_tokens", "licence", "open_weights", "released", "superseded_by")


def board_data(
    board: Board,
    registered: Registered = NOTHING,
    submitters: Mapping[tuple[str, str], Sequence[str]] | None = None,
) -> dict[str, Any]:
    """Return the contents of a board's data file.

    Parameters
    ----------
    board
        The board.
    registered
        Facts of registered models, mitigators and tasks. They come before those of records.
    submitters
        Who submitted the results of a model, by its name and fingerprint.
    """
    layout = layout_of(board)
    rows, places = layout.rows, layout.places(board.cells)
    reasons = enumerate(rows["unusable"].to_list())
    tasks = [task_entry(task, registered) for task in board.tasks.to_dicts()]
    return {
        "kind": board.kind,
        "notices": list(board.notices),
        "benchmarks": [_benchmark(part, layout, tasks) for part in board.benchmarks],
        "tasks": tasks,
        "models": model_entries(board, layout, registered, submitters or {}),
        "mitigators": _mitigators(board, layout, registered),
        "rows": {
            "model": layout.model,
            "mitigator": layout.mitigator,
            "role": rows["role"].to_list(),
            "unusable": {i: reason for i, reason in reasons if reason is not None},
        },
        "measure": column(rounded(places.spread(board.cells["measure"]), MEASURE_BITS), "f32"),
        "flags": column(places.spread(_flags(board), empty=0), "u8"),
        "student": _student(),
        "level": ranking.LEVEL,
        "enough_families": ranking.ENOUGH_FAMILIES,
        "published": board.published.drop("tasks").to_dicts(),
    }


def script(file: str, value: Mapping[str, Any]) -> str:
    """Return a data file: a script that calls `harnessData`.

    The value is parsed as JSON: as an object of JavaScript, a key `__proto__` would be no key.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    quoted = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"harnessData({json.dumps(file)},JSON.parse('{quoted}'));\n"


def task_entry(task: Mapping[str, Any], registered: Registered) -> dict[str, Any]:
    """Return a task of a board with what its file says about it."""
    ideal = task["ideal"] if task["ideal"] in ("higher", "lower") else float(task["ideal"])
    kept = (
        *("title", "version", "digest", "measures", "category", "family", "language", "metric"),
        *("score", "scenario", "low_bound", "high_bound", "required", "not_ranked"),
    )
    entry = {
        "name": task["task"],
        "ideal": ideal,
        **dict.fromkeys(("description", "source", "licence"), ""),
        "concept": None,
        "examples": {},
        "validity": None,
        **{key: task[key] for key in kept},
    }
    facts = registered.tasks.get(task["task"])
    if facts is not None and facts.version == task["version"]:
        entry |= facts.model_dump(
            include={"description", "source", "licence", "concept", "examples"}
        ) | {"validity": registered.validity.get(facts.name)}
    return entry


def model_entries(
    board: Board,
    layout: Layout,
    registered: Registered,
    submitters: Mapping[tuple[str, str], Sequence[str]],
) -> list[dict[str, Any]]:
    """Return the models of a board in the order of the layout."""
    by_key = {(model["model"], model["fingerprint"]): model for model in board.models.to_dicts()}
    entries = []
    for row in layout.models.select("model", "fingerprint").iter_rows():
        model = by_key[row]
        entry = {
            "name": model["model"],
            "fingerprint": model["fingerprint"],
            **{key: model[key] for key in ("url", "dimensions", "parameters", *_CARD)},
            "languages": list(model["languages"]),
            "published": json.loads(model["published"]),
            "environments": [list(line.values()) for line in model["environments"]],
            "submitters": list(submitters.get((model["name"], model["fingerprint"]), ())),
        }
        card = registered.card(model["name"])
        if card is not None:
            known = {
                **{key: getattr(card, key) for key in ("url", "dimensions", *_CARD)},
                "parameters": card.n_parameters,
                "languages": list(card.languages),
                "published": dict(card.scores),
            }
            entry |= {key: value for key, value in known.items() if value not in (None, [], {})}
        entries.append(entry)
    return entries


def _benchmark(
    part: Benchmark, layout: Layout, tasks: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return a benchmark, its ranks by row of the layout."""
    index = {task["name"]: i for i, task in enumerate(tasks)}
    ranks = layout.rows.select("row").join(part.ranks, on="row", how="left", maintain_order="left")
    chosen = [index[task] for task in part.tasks]
    return {
        "name": part.name,
        "title": part.title,
        "description": part.description,
        "citation": part.citation,
        "version": part.version,
        "tasks": chosen,
        "languages": list(part.languages),
        "licences": sorted({tasks[i]["licence"] for i in chosen} - {""}),
        "findings": list(part.findings),
        "notices": list(part.notices),
        **{end: ranks[end].to_list() for end in _ENDS},
        "mitigators": part.mitigators.to_dicts(),
    }


def _mitigators(board: Board, layout: Layout, registered: Registered) -> list[dict[str, Any]]:
    """Return the mitigators in the order of the layout; one may be fitted on several concepts."""
    lines = (
        board.cells.select("row", pl.col("mitigator").alias("name"), "fitted_on")
        .unique()
        .join(layout.rows.select("row", "mitigator", "params"), on="row")
        .sort("params")
        .group_by("mitigator")
        .agg(pl.col("name", "params").first(), concepts=pl.col("fitted_on").drop_nulls().unique())
    )
    by_label = {line["mitigator"]: line for line in lines.to_dicts()}
    return [
        {
            "label": label,
            "name": by_label[label]["name"],
            "params": json.loads(by_label[label]["params"]),
            "concept": ", ".join(sorted(by_label[label]["concepts"])) or None,
            "title": registered.mitigator(by_label[label]["name"]),
        }
        for label in layout.mitigators
    ]


def _flags(board: Board) -> pl.Series:
    """Return the bits of each cell."""
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
    return board.cells.select(total.alias("flags"))["flags"]


def _student() -> list[float]:
    from scipy import special  # scipy.stats takes a second to import

    values: Iterable[float] = special.stdtrit(np.arange(1, 201), (1 + ranking.LEVEL) / 2)
    return [float(value) for value in values]
