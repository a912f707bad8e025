"""The content of the data files of the site, as in `scripts/types.d.ts`. Computes no number."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from harness.results.ratios import root
from harness.results.tables import judged_lines

from ..boards.board import Benchmark, Board
from ..boards.cells import NONE
from ..boards.views import ENDS, PREFIXES, View
from .registered import NOTHING, Registered
from .rendering import slug

# Columns of numbers as the scripts of the site read them: little-endian bytes in base64.


TYPES = {"f32": "<f4", "u8": "u1", "u16": "<u2", "i32": "<i4"}
"""NumPy's name of each type."""


def column(values: Any, type_: str) -> dict[str, str]:
    """Return a column of numbers, row after row; missing floats are NaN.

    The first bytes of all numbers come first, then the second bytes, since similar bytes compress
    well.
    """
    array = np.ascontiguousarray(values, dtype=TYPES[type_]).reshape(-1)
    planes = array.view("u1").reshape(-1, array.itemsize).T
    return {"type": type_, "data": base64.b64encode(planes.tobytes()).decode()}


def rounded(values: Any, bits: int) -> Any:
    """Return numbers as float32 whose mantissa has `bits` bits, which compress.

    The last bit is rounded; infinity and NaN stay what they are.
    """
    array = np.ascontiguousarray(values, dtype="<f4")
    dropped = 23 - bits
    words = array.view("<u4")
    short = (words + np.uint32(1 << (dropped - 1))) & np.uint32(0xFFFFFFFF << dropped & 0xFFFFFFFF)
    return np.where(np.isfinite(array), short.view("<f4"), array)


# Places of cells in the data files: (rows × tasks), with the rows of a model together.


@dataclass(frozen=True)
class Layout:
    """The order of rows, models, mitigators and tasks in the data files of a board.

    Parameters
    ----------
    rows
        The board's rows, with those of a model together, `none` first.
    models
        The first row of each model.
    mitigators
        Labels of mitigators, `none` first.
    tasks
        Names of tasks.
    model, mitigator
        By row, the index of its model and of its mitigator.
    """

    rows: pl.DataFrame
    models: pl.DataFrame
    mitigators: list[str]
    tasks: list[str]
    model: list[int]
    mitigator: list[int]

    def places(self, frame: pl.DataFrame) -> Places:
        """Return the places of the lines of a frame with `row` and `task`."""
        return Places(
            shape=(self.rows.height, len(self.tasks)),
            row=_index(frame["row"], self.rows["row"].to_list()),
            task=_index(frame["task"], self.tasks),
        )


@dataclass(frozen=True)
class Places:
    """The places of the lines of a frame in an array (rows × tasks).

    Parameters
    ----------
    shape
        Number of rows and of tasks.
    row, task
        (n,) by line.
    """

    shape: tuple[int, int]
    row: Any
    task: Any

    def spread(self, values: pl.Series, *, empty: float = np.nan) -> Any:
        """Return the values of the lines as an array, filled with `empty`."""
        array = np.full(self.shape, empty)
        array[self.row, self.task] = values.cast(pl.Float64).fill_null(empty).to_numpy()
        return array


def layout_of(board: Board) -> Layout:
    """Return the order of everything in the data files of a board."""
    rows = board.rows.sort("model", "fingerprint", pl.col("mitigator") != NONE, "mitigator")
    key = ["model", "fingerprint"]
    models = rows.unique(key, keep="first", maintain_order=True)
    mitigators = sorted(set(rows["mitigator"]), key=lambda label: (label != NONE, label))
    index = models.select(*key).with_row_index("model_index")
    numbered = rows.join(index, on=key, how="left", maintain_order="left")
    return Layout(
        rows=rows,
        models=models,
        mitigators=mitigators,
        tasks=board.tasks["task"].to_list(),
        model=numbered["model_index"].to_list(),
        mitigator=_index(rows["mitigator"], mitigators).tolist(),
    )


def _index(values: pl.Series, names: list[str]) -> Any:
    """Return the place in `names` of each value."""
    return values.cast(pl.Enum(names)).to_physical().cast(pl.Int64).to_numpy()


SCHEMA = 5
"""Version of the data files and of leaderboard.json."""
FLAGS = {
    "reversed": 2,
    "missing": 4,
    "truncated": 8,
    "aside": 16,
    "p": 32,
    "run": 64,
    "items": 128,
}
"""Bits of the flags of a cell."""
SIGNIFICANT = 0.05
MEASURE_BITS = 20
"""Bits of a measure: six digits."""
DIGITS = 3
"""Digits of what stands beside the ranks."""
_ENCODERS = {"text": "dense", "word": ""}
"""What an encoder is called by its kind, where that is not the kind; word vectors have none."""
_CARD = ("revision", "max_tokens", "licence", "open_weights", "released", "superseded_by")


def board_data(
    board: Board,
    registered: Registered = NOTHING,
    submitters: Mapping[tuple[str, str], Sequence[str]] | None = None,
    items: Mapping[str, tuple[str, Sequence[str]]] | None = None,
) -> dict[str, Any]:
    """Return the contents of a board's data file.

    Parameters
    ----------
    board
        The board.
    registered
        Facts of registered models, mitigators and tasks. They come before those of records.
    submitters
        The people who submitted results of a model, by its name and fingerprint.
    items
        Data file of the strongest items of a task, and the rows that have any, by task.
    """
    items = items or {}
    layout = layout_of(board)
    rows, places = layout.rows, layout.places(board.cells)
    reasons = enumerate(rows["unusable"].to_list())
    tasks = [
        task_entry(task, registered) | {"items": items.get(task["task"], (None, ()))[0]}
        for task in board.tasks.to_dicts()
    ]
    flags = places.spread(_flags(board), empty=0)
    having = [(row, task) for task, (_, of_task) in items.items() for row in of_task]
    with_items = layout.places(pl.DataFrame(having, schema=["row", "task"], orient="row"))
    flags[with_items.row, with_items.task] += FLAGS["items"]
    return {
        "kind": board.kind,
        "reference": board.reference or "the reference model",
        "notices": list(board.notices),
        "judged": judged_lines(board.judged),
        "benchmarks": [_benchmark(part, tasks) for part in board.benchmarks],
        "views": [_view(view, layout) for view in board.views],
        "tasks": tasks,
        "models": model_entries(board, layout, registered, submitters or {}),
        "mitigators": _mitigators(board, layout, registered),
        "rows": {
            "model": layout.model,
            "mitigator": layout.mitigator,
            "role": rows["role"].to_list(),
            "unusable": {i: reason for i, reason in reasons if reason is not None},
            "uneven": {i: text for i, text in enumerate(rows["uneven"]) if text is not None},
            **{name: rows[name].round(DIGITS).to_list() for name in ("meaning", "recoverability")},
        },
        **{
            name: column(rounded(places.spread(board.cells[source]), MEASURE_BITS), "f32")
            for name, source in _MEASURES.items()
        },
        "flags": column(flags, "u8"),
        "published": board.published.drop("tasks").to_dicts(),
    }


_MEASURES = {"measure": "measure", "measure_low": "ratio_low", "measure_high": "ratio_high"}
"""Columns of what is measured, and their names in the cells of a board."""
END = ',"{}");\n'
"""End of a data file, with the id of its build."""


def script(file: str, value: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield the parts of a data file: a script that calls `harnessData`. `END` ends it.

    The value is parsed as JSON, since a key `__proto__` has a special meaning in JavaScript
    objects.
    """
    yield f"harnessData({json.dumps(file)},JSON.parse('".encode()
    for i, (key, part) in enumerate(value.items()):
        yield b"," if i else b"{"
        text = f"{_compact(key)}:{_compact(part)}"
        yield text.replace("\\", "\\\\").replace("'", "\\'").encode()
    yield b"}')"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def task_entry(task: Mapping[str, Any], registered: Registered) -> dict[str, Any]:
    """Return a task of a board with the facts in its file."""
    ideal = task["ideal"] if task["ideal"] in ("higher", "lower") else float(task["ideal"])
    kept = (
        *("title", "version", "digest", "measures", "category", "family", "language", "metric"),
        *("score", "scenario", "low_bound", "high_bound", "not_ranked"),
        "yardstick_of",
    )
    entry = {
        "name": task["task"],
        "ideal": ideal,
        "reference_ratio": _reference_ratio(task),
        **dict.fromkeys(("description", "source", "licence"), ""),
        **dict.fromkeys(("concept", "reviewed")),
        "examples": {},
        "validity": None,
        **{key: task[key] for key in kept},
    }
    facts = registered.tasks.get(task["task"])
    if facts is not None and facts.version == task["version"]:
        entry |= facts.model_dump(
            include={"description", "source", "licence", "concept", "reviewed", "examples"}
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
            "slug": slug(model["model"]),
            "encoder": _ENCODERS.get(model["encoder"], model["encoder"]),
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


def _reference_ratio(task: Mapping[str, Any]) -> float | None:
    """Return the gap of the reference encoder over its yardstick; of squares the root."""
    gap, yardstick = task["reference_gap"], task["reference_yardstick"]
    if gap is None or not yardstick or task["measures"] != "bias":
        return None
    return float(round(root(gap / yardstick, task["power"]), DIGITS))


def _benchmark(part: Benchmark, tasks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a benchmark."""
    index = {task["name"]: i for i, task in enumerate(tasks)}
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
    }


_COUNTED = ("methods", "agree", "compared")
_RANKS = tuple(prefix + end for prefix in PREFIXES.values() for end in ENDS)
_NUMBERS = (
    *("bias", "bias_low", "bias_high", "usefulness", "usefulness_low", "usefulness_high"),
    *("base", "model", "difference", "difference_low", "difference_high"),
    "usefulness_difference",
)
_WORDS = ("unranked", "direction", "verdict", "reason", "depends_on")
"""Columns of a view: of numbers, and of texts that many rows share."""


def _view(view: View, layout: Layout) -> dict[str, Any]:
    """Return what was computed for a benchmark, a concept and a language, by row of the layout."""
    frame = layout.rows.select("row")
    unranked = pl.coalesce("unranked", "usefulness_unranked") if not view.ranked() else "unranked"
    for part in (view.rows.with_columns(unranked=unranked), view.effects):
        frame = frame.join(part, on="row", how="left", maintain_order="left")
    index = {task: i for i, task in enumerate(layout.tasks)}
    numbers = {
        **{name: column(rounded(_floats(frame[name]), MEASURE_BITS), "f32") for name in _NUMBERS},
        **{
            name: column(frame[name].fill_null(0).to_numpy(), "u16")
            for name in (*_RANKS, *_COUNTED)
        },
    }
    return {
        "benchmark": view.benchmark,
        "concept": view.concept,
        "language": view.language,
        "tasks": [index[task] for task in view.tasks],
        "finding": view.finding,
        "notices": list(view.notices),
        "numbers": numbers,
        "words": {name: _words(frame[name]) for name in _WORDS},
        "mitigators": [
            {**line, **{name: _rounded(line[name]) for name in ("change", "usefulness")}}
            for line in view.mitigators.to_dicts()
        ],
    }


def _floats(values: pl.Series) -> Any:
    return values.cast(pl.Float64).fill_null(np.nan).to_numpy()


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)


def _words(texts: pl.Series) -> dict[str, Any]:
    """Return texts by row: the different ones, of which the first is empty, and their places."""
    different = ["", *sorted(texts.drop_nulls().unique())]
    return {"texts": different, "of": column(_index(texts.fill_null(""), different), "u16")}


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


# Details of each cell of a board, which the page loads when they are needed.


FLOATS = {
    "value": ("value", 14),
    "low": ("low", 11),
    "high": ("high", 11),
    "p": ("p_value", 10),
    "floor": ("floor", 10),
    "floor_sd": ("floor_sd", 8),
    **{name: (name, 11) for name in ("gap", "gap_error", "yardstick", "yardstick_error")},
    "spread": ("spread", 8),
    "word_share": ("word_share", 8),
}
"""Columns of floats in the file: their names in the cells of a board, and the bits of the mantissa
that the page needs. Fewer bits make a smaller file: 14 are four digits, 11 are three."""
COUNTS = ("n", "asked", "found")
_MOST = 2**31 - 1
"""Largest count in the file."""


def details_data(board: Board) -> dict[str, Any]:
    """Return the content of the file of details; see `Details` in `scripts/types.d.ts`."""
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
    }
