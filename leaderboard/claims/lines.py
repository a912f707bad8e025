"""Lines of JSON to a frame of claims, all at once: the only place that knows both forms.

The reader of polars ignores keys that it does not know, takes the first of equal keys, writes a
number as a text where a text is expected, and refuses everything else: text for a number, integers
beyond int64, NaN, bytes that are not UTF-8, and JSON nested more than 1,000 deep.
"""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from harness.leaderboard.claims.frame import SCHEMA, TEXT
from harness.results.record import SCHEMA as SCHEMA_VERSION
from harness.results.record import Record

_T, _F, _I, _B = pl.String(), pl.Float64(), pl.Int64(), pl.Boolean()
_LIST = pl.List(_T)
# What is an object of any keys in a record is read as a text that holds its JSON.
_RECORD: dict[str, Any] = {
    **dict.fromkeys(("id", "run", "created", "concept", "category", "language", "scenario"), _T),
    **dict.fromkeys(("metric", "score", "reason", "ideal", "tables"), _T),
    **dict.fromkeys(("value", "p_value", "unit"), _F),
    **dict.fromkeys(("schema", "n", "seed", "limit"), _I),
    "primary": _B,
    "bounds": pl.List(_F),
    "overlap": _LIST,
    "model": pl.Struct(
        {
            **dict.fromkeys(("name", "fingerprint", "kind", "revision", "url", "licence"), _T),
            **dict.fromkeys(("released", "superseded_by", "published"), _T),
            **dict.fromkeys(("dimensions", "parameters", "max_tokens"), _I),
            **dict.fromkeys(("aliases", "languages"), _T),
            "open_weights": _B,
        }
    ),
    "mitigator": pl.Struct(
        dict.fromkeys(("name", "label", "params", "concept", "fingerprint", "method"), _T)
    ),
    "task": pl.Struct(
        {
            **dict.fromkeys(("name", "digest", "title", "measures", "family", "unranked"), _T),
            "version": _I,
            "required": _B,
        }
    ),
    "details": pl.Struct({"alternative": _T, "reversed": _B, "undone": _T}),
    "interval": pl.Struct(dict.fromkeys(("low", "high", "level"), _F)),
    "floor": pl.Struct(dict.fromkeys(("mean", "sd"), _F)),
    "coverage": pl.Struct({"asked": _I, "found": _I, "truncated": _I, "missing": _LIST}),
    "environment": pl.Struct(
        dict.fromkeys(("harness", "python", "platform", "device", "packages"), _T)
    ),
}
_PARTS = {  # column: part and field
    **{
        name: ("model", name)
        for name in _RECORD["model"].to_schema()
        if name not in ("name", "kind")
    },
    "kind": ("model", "kind"),
    "model": ("model", "name"),
    "mitigator": ("mitigator", "name"),
    "label": ("mitigator", "label"),
    "params": ("mitigator", "params"),
    "fitted_on": ("mitigator", "concept"),
    "mitigator_fingerprint": ("mitigator", "fingerprint"),
    "method": ("mitigator", "method"),
    **{name: ("task", name) for name in _RECORD["task"].to_schema() if name != "name"},
    "task": ("task", "name"),
    **{name: ("details", name) for name in ("alternative", "reversed", "undone")},
    **{name: ("interval", name) for name in ("low", "high", "level")},
    "floor": ("floor", "mean"),
    "floor_sd": ("floor", "sd"),
    **{name: ("coverage", name) for name in _RECORD["coverage"].to_schema()},
    **{name: ("environment", name) for name in _RECORD["environment"].to_schema()},
}
_DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(("aliases", "languages"), "[]"),
    **dict.fromkeys(("published", "params", "packages", "tables"), "{}"),
    **dict.fromkeys(("title", "unranked", "method"), ""),
    "required": False,
    "reversed": False,
}
_REQUIRED = (
    *("id", "run", "created", "model", "fingerprint", "kind", "mitigator", "task", "version"),
    *("mitigator_fingerprint", "digest", "measures", "category", "language", "scenario", "metric"),
    *("score", "primary", "ideal", "asked", "found", "seed", "harness", "python", "platform"),
    "device",
)
_OBJECTS = ("aliases", "languages", "published", "params", "packages", "tables")
"""Columns of JSON."""
_VALUE = b'"value":'
"""A key that stands in a line once. Of another repeated key the first one counts."""
_AMBIGUOUS = r"[\\\x00-\x1f]"
"""Polars writes an object as a text without escaping backslashes and some control characters."""


@dataclass(frozen=True)
class Parsed:
    """Lines that are JSON.

    Parameters
    ----------
    frame
        A frame of claims, whose columns `file` and `line` are null.
    is_plain
        (n,) whether a line has every field of a record, and one value. Other lines have to be
        looked at one by one: not all of them are records.
    """

    frame: pl.DataFrame
    is_plain: np.ndarray[Any, np.dtype[np.bool_]]


def parsed(content: bytes) -> Parsed:
    """Parse the lines of a file of records; none may be blank.

    Raises
    ------
    polars.exceptions.PolarsError
        If a line is no JSON object, or has a number or text where a record has something else. It
        is not said which line.
    """
    if not content:
        return Parsed(pl.DataFrame(schema=SCHEMA), np.zeros(0, dtype=bool))
    if not content.lstrip().startswith(b"{"):  # polars would decompress what looks like gzip
        raise pl.exceptions.ComputeError("the first line is no JSON object")
    raw = pl.read_ndjson(io.BytesIO(content), schema=_RECORD)
    frame = raw.select(_is_whole().alias("is_whole"), **{name: _column(name) for name in SCHEMA})
    is_plain = frame["is_whole"].to_numpy()
    if content.count(_VALUE) != raw.height:
        is_plain = is_plain & _has_one_value(content)
    params = _sorted(frame["params"])
    is_plain = is_plain & params.is_not_null().to_numpy()
    return Parsed(frame.drop("is_whole").with_columns(params), is_plain)


def line_of(record: Record) -> str:
    """Return a record as a line that is parsed exactly: objects of any keys are texts in it."""
    content = record.model_dump(mode="json", by_alias=True)
    content["details"] = {
        name: value
        for name, value in content["details"].items()
        if name == "undone" or (name, type(value)) in (("alternative", str), ("reversed", bool))
    }
    for name in _OBJECTS:
        part, field = _PARTS.get(name, (name, ""))
        holder = content[part] if field else content
        holder[field or name] = json.dumps(holder[field or name], ensure_ascii=False)
    return json.dumps(content, ensure_ascii=False) + "\n"


def _has_one_value(content: bytes) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return np.array([line.count(_VALUE) == 1 for line in content.split(b"\n") if line])


def _is_whole() -> pl.Expr:
    """Return whether a line has every field of a record, and no other words than a record."""
    required = [
        pl.col(part).struct.field(field).is_not_null() if field else pl.col(part).is_not_null()
        for part, field in (_PARTS.get(name, (name, "")) for name in _REQUIRED)
    ]
    complete = [
        pl.col(part).is_null() | pl.all_horizontal(pl.col(part).struct.unnest().is_not_null())
        for part in ("interval", "floor")
    ]
    exact = [
        ~(pl.col(part).struct.field(field) if field else pl.col(part))
        .fill_null("")
        .str.contains(_AMBIGUOUS)
        for part, field in (_PARTS.get(name, (name, "")) for name in _OBJECTS)
    ]
    ideal = pl.col("ideal")
    number = ideal.cast(pl.Float64, strict=False)
    return pl.all_horizontal(
        *required,
        *complete,
        *exact,
        pl.col("id") != "",
        pl.col("schema") == SCHEMA_VERSION,
        pl.col("bounds").list.len() == 2,
        ideal.is_in(["higher", "lower"]) | number.is_finite().fill_null(value=False),
        pl.col("model").struct.field("kind").is_in(["word", "text"]),
        pl.col("task").struct.field("measures").is_in(["bias", "usefulness", "control"]),
    ).fill_null(value=False)


def _column(name: str) -> pl.Expr:
    kind = SCHEMA[name]
    if name in ("file", "line"):
        return pl.lit(None, dtype=kind)
    if name in ("low_bound", "high_bound"):
        return pl.col("bounds").list.get(0 if name == "low_bound" else 1, null_on_oob=True)
    if name == "family":
        own = pl.col("task").struct.field("family").fill_null("")
        method = pl.when(own == "").then("metric").otherwise(own)
        return pl.concat_str("category", method, separator="/").cast(kind)
    part, field = _PARTS.get(name, (name, ""))
    value = pl.col(part).struct.field(field) if field else pl.col(name)
    if name == "undone":
        return value.is_not_null()
    if name == "label":
        own = pl.col("mitigator").struct.field("name")
        return pl.when(value.fill_null("") == "").then(own).otherwise(value).cast(kind)
    if name in ("missing", "overlap"):
        value = value.fill_null(pl.lit([], dtype=_LIST))
    elif name in _DEFAULTS:
        value = value.fill_null(_DEFAULTS[name])
    return value.cast(kind)


def _sorted(params: pl.Series) -> pl.Series:
    """Return settings as JSON with sorted keys, so that equal ones are equal texts; else null."""
    texts = params.unique().cast(pl.String).to_list()
    canonical = [_canonical(text) for text in texts]
    return params.cast(pl.String).replace(texts, canonical).cast(TEXT)


def _canonical(text: str) -> str | None:
    with contextlib.suppress(ValueError, RecursionError):
        return json.dumps(json.loads(text), sort_keys=True)
    return None
