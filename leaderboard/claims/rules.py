"""The rules that a record must fulfil to count, in one table: each has its reason.

Every rule is an expression over a frame of claims with the facts of the registered tasks beside
them. What is null breaks no rule.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl

from harness.digest import digest
from harness.leaderboard.boards.cells import BASELINES, REFERENCES
from harness.leaderboard.claims.identities import OWN_ID
from harness.limits import INTEGER, NAME_CHARACTERS, RECORD_TEXT_CHARACTERS
from harness.scores import ROUNDING

FACT = "fact:"
"""Beginning of the columns that the registered task fills."""
FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
"""Before this there was no harness; the shipped reference models are dated 1970."""
CLOCKS = timedelta(days=1)
"""How much the clocks of two machines may differ."""
WIDEST = 5
"""Bounds that depend on the number of items are at most this times as wide as usual."""
FARTHEST = 100
"""Most units between a value or floor and the ideal. Of 2,300 scores the largest was 3.2: a unit is
the spread of what the score is computed from."""
NONE = BASELINES[0]
_NONE = digest([NONE, {}, None])
"""Fingerprint of no mitigator."""
_NAMES = (
    *(
        "run",
        "created",
        "model",
        "fingerprint",
        "revision",
        "url",
        "licence",
        "released",
        "superseded_by",
    ),
    *("mitigator", "label", "fitted_on", "mitigator_fingerprint", "method", "task", "digest"),
    *("scenario", "metric", "score", "alternative", "harness", "python"),
    *("platform", "device"),
)
_TEXTS = ("reason", "params")
_JSON = {
    "params": "an object",
    "published": "an object of numbers",
    "packages": "an object of texts",
    **dict.fromkeys(("aliases", "languages"), "a list of texts"),
}
"""Columns of JSON, and what a record has there."""
_COUNTS = (
    *("dimensions", "parameters", "max_tokens", "n", "asked", "found", "truncated"),
    "seed",
)


@dataclass(frozen=True)
class Rule:
    """A rule.

    Parameters
    ----------
    name
        What it is about.
    is_broken
        Whether a record breaks it.
    reason
        What is wrong, and what would be right.
    """

    name: str
    is_broken: pl.Expr
    reason: pl.Expr


def rules(frame: pl.DataFrame, now: datetime) -> list[Rule]:
    """Return the rules for a frame, the first that is broken gives the reason.

    `now` is the time after which no record can have been made.
    """
    is_none = pl.col("mitigator") == NONE
    value, low, high = pl.col("value"), _fact("low_bound"), _fact("high_bound")
    own_low, own_high = pl.col("low_bound"), pl.col("high_bound")
    widens = _fact("may_widen")
    low, high = (
        pl.when(widens).then(own_low).otherwise(low),
        pl.when(widens).then(own_high).otherwise(high),
    )
    span = high - low
    unit, fair = pl.col("unit"), _fact("ideal").cast(pl.String).cast(pl.Float64, strict=False)
    is_reference = pl.col("model").is_in(REFERENCES)
    return [
        Rule(
            "smoke run",
            pl.col("limit").is_not_null(),
            pl.lit("a smoke run: --limit cut the task, so the score means nothing"),
        ),
        *(
            Rule(name, _one_of(frame, name, _is_no_name),
                 pl.lit(f"{name}: a name has at most {NAME_CHARACTERS} printable characters"))
            for name in _NAMES
        ),
        *(
            Rule(name, _one_of(frame, name, _is_no_text),
                 pl.lit(f"{name}: at most {RECORD_TEXT_CHARACTERS} printable characters"))
            for name in _TEXTS
        ),
        *(
            Rule(name, _one_of(frame, name, _IS_NO[name]), pl.lit(f"{name}: expected {expected}"))
            for name, expected in _JSON.items()
        ),
        *(
            Rule(name, _one_of(frame, name, lambda text: not text or text != text.strip()),
                 pl.lit(f"{name}: a name is not empty, and has no space at its ends"))
            for name in ("model", "label")
        ),
        Rule(
            "address", _one_of(frame, "url", _is_no_address),
            pl.lit("url: not an address that begins with https:// or http://"),
        ),
        Rule(
            "id", pl.col("id") != pl.col(OWN_ID),
            pl.format("the id is not that of the record's content, which is {}", OWN_ID),
        ),
        Rule(
            "task", _fact("version").is_null(),
            pl.format("the task '{}' is not registered here; name its folder with --include, or "
                      "install its plugin", _text("task")),
        ),
        Rule(
            "kind", ~_fact("kinds").list.contains(pl.col("kind")),
            pl.format("the task '{}' is not made for {} embedders", _text("task"), _text("kind")),
        ),
        Rule(
            "version", pl.col("version") != _fact("version"),
            pl.format("version {} of the task '{}'; the registered version is {}: evaluate again",
                      "version", _text("task"), _fact("version")),
        ),
        Rule(
            "digest", pl.col("digest") != _fact("digest"),
            pl.format("other content or added metrics of the task '{}': the digest is {}, and the "
                      "registered one is {}", _text("task"), _text("digest"),
                      _fact("digest").cast(pl.String)),
        ),
        Rule(
            "score", _fact("ideal").is_null(),
            pl.format("the task '{}' has no score '{}' of '{}' in the scenario '{}'",
                      *map(_text, ("task", "score", "metric", "scenario"))),
        ),
        Rule(
            "no mitigator",
            (is_none & ((pl.col("label") != NONE) | (pl.col("params") != "{}")
                        | (pl.col("mitigator_fingerprint") != _NONE)))
            | pl.any_horizontal((pl.col("label") == name) & (pl.col("mitigator") != name)
                                for name in BASELINES),
            pl.format("the mitigator '{}' is called '{}', which it is not",
                      _text("mitigator"), _text("label")),
        ),
        Rule(
            "bounds",
            widens & (own_low.is_null() | own_high.is_null() | (own_low > _fact("low_bound"))
                      | (own_high < _fact("high_bound"))
                      | (span > WIDEST * (_fact("high_bound") - _fact("low_bound")))),
            pl.format("the bounds {} to {} are not possible", own_low, own_high),
        ),
        Rule(
            "value",
            (value < low - ROUNDING * _largest(low, value))
            | (value > high + ROUNDING * _largest(high, value))
            | value.is_nan() | value.is_infinite(),
            pl.format("the value {} is outside its bounds {} to {}", value,
                      low.cast(pl.String).fill_null("…"), high.cast(pl.String).fill_null("…")),
        ),
        Rule(
            "p-value", ~pl.col("p_value").is_between(0, 1),
            pl.format("the p-value {} is not in [0, 1]", "p_value"),
        ),
        Rule(
            "interval",
            (pl.col("low") > pl.col("high")) | (pl.col("low") < low - span)
            | (pl.col("high") > high + span) | (pl.col("level") <= 0) | (pl.col("level") >= 1)
            | pl.any_horizontal(~pl.col(name).is_finite() for name in ("low", "high", "level")),
            pl.format("an interval from {} to {} of the level {} is not possible",
                      "low", "high", "level"),
        ),
        Rule(
            "floor",
            (pl.col("floor") < 0) | (pl.col("floor") > span + ROUNDING)
            | (pl.col("floor_sd") < 0) | (pl.col("floor_sd") > span + ROUNDING)
            | pl.any_horizontal(~pl.col(name).is_finite() for name in ("floor", "floor_sd")),
            pl.format("a floor of {} with the standard deviation {} is not possible",
                      "floor", "floor_sd"),
        ),
        Rule(
            "unit", (unit < 0) | (unit > span) | ~unit.is_finite()
            | ((unit > 0) & (pl.max_horizontal((value - fair).abs(), "floor") > FARTHEST * unit)),
            pl.format("a unit of {} is not possible with the value {}", unit, value),
        ),
        *(
            Rule(name, (pl.col(name) < 0) | (pl.col(name) > INTEGER),
                 pl.format(f"{name}: {{}} is not possible", name))
            for name in _COUNTS
        ),
        Rule(
            "coverage",
            (pl.col("found") > pl.col("asked")) | (pl.col("truncated") > pl.col("asked")),
            pl.format("{} texts with a vector, and {} truncated, of {}",
                      "found", pl.col("truncated").fill_null(0), "asked"),
        ),
        Rule(
            "created",
            _one_of(frame, "created", lambda text: not _is_time(text, now))
            & ~(is_reference & pl.col("created").cast(pl.String).str.starts_with("1970-01-01T")),
            pl.format("created '{}': a time from {} until now is needed",
                      _text("created").str.slice(0, 40), pl.lit(f"{FIRST_DAY:%Y-%m-%d}")),
        ),
    ]  # fmt: skip


def _fact(name: str) -> pl.Expr:
    return pl.col(FACT + name)


def _text(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.String)


def _largest(bound: pl.Expr, value: pl.Expr) -> pl.Expr:
    return pl.max_horizontal(bound.abs(), value.abs(), 1.0)


def _one_of(frame: pl.DataFrame, column: str, is_wrong: Callable[[str], bool]) -> pl.Expr:
    """Return whether a column has a text for which `is_wrong`: each text is looked at once."""
    texts = frame[column].unique().drop_nulls().to_list()
    wrong = [text for text in texts if is_wrong(text)]
    return pl.col(column).is_in(wrong) if wrong else pl.lit(value=False)


def _is_no_name(text: str) -> bool:
    return len(text) > NAME_CHARACTERS or not text.isprintable()


def _is_no_text(text: str) -> bool:
    return len(text) > RECORD_TEXT_CHARACTERS or not text.isprintable()


def _is_no_address(text: str) -> bool:
    return not text.startswith(("https://", "http://"))


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_no_object(text: str) -> bool:
    return not isinstance(_json(text), dict)


def _is_no_object_of(text: str, *types: type) -> bool:
    content = _json(text)
    return not isinstance(content, dict) or any(type(v) not in types for v in content.values())


def _is_no_list(text: str) -> bool:
    items = _json(text)
    return not isinstance(items, list) or not all(isinstance(item, str) for item in items)


_IS_NO: dict[str, Callable[[str], bool]] = {
    "params": _is_no_object,
    "published": lambda text: _is_no_object_of(text, int, float),
    "packages": lambda text: _is_no_object_of(text, str),
    "aliases": _is_no_list,
    "languages": _is_no_list,
}


def _is_time(text: str, now: datetime) -> bool:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return False
    if time.tzinfo is None:
        time = time.replace(tzinfo=UTC)
    return FIRST_DAY <= time <= now + CLOCKS
