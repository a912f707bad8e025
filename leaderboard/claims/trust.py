"""Which claims are trusted: rules for records, and facts of tasks that replace their statements.

A record states what was measured, and the value. The registered task states how to read the value:
scale, bounds, category, whether it is ranked, and so on.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any

import polars as pl

from harness.digest import digest, of_json
from harness.embedder import COMPARING, NEUTRAL
from harness.limits import INTEGER, NAME_CHARACTERS, RECORD_TEXT_CHARACTERS
from harness.metrics import ROUNDING
from harness.names import with_fingerprint, without_options
from harness.results import conflicts
from harness.results.columns import TEXT
from harness.results.conflicts import NUMBERS, TOLERANCE, asides
from harness.results.reading import SetAside
from harness.results.record import SCHEMA as SCHEMA_VERSION
from harness.results.record import family_of

from ..boards import references
from ..boards.cells import NONE, REFERENCES
from .facts import TaskFacts
from .reading import SCHEMA, Claims

# Ids of claims, recomputed from their content.


OWN_ID = "own id"
"""Column of the id that a record should have."""
SCORE = ("fingerprint", "mitigator_fingerprint", "digest", "scenario", "metric", "score")
"""Columns that identify a score. Records of one score differ in their seeds."""
_CHUNK = 65_536
"""Records whose ids are computed together: the JSON of a record is larger than its columns."""


def identities(frame: pl.DataFrame) -> pl.Series:
    """Return the column `OWN_ID`: the id of the content of each record.

    They are those of `record.identity`; each text is turned into JSON once.
    """
    names = (*SCORE, "seed")
    form = f"[{SCHEMA_VERSION}{',{}' * len(names)}]"
    chunks = [pl.Series(OWN_ID, [], dtype=pl.String)]
    for start in range(0, frame.height, _CHUNK):
        chunk = frame.select(names)[start : start + _CHUNK]
        contents = pl.select(pl.format(form, *map(_as_json, chunk))).to_series()
        ids = [of_json(content) for content in contents]
        chunks.append(pl.Series(OWN_ID, ids, dtype=pl.String))
    return pl.concat(chunks)


def _as_json(values: pl.Series) -> pl.Series:
    different = values.unique()
    texts = [json.dumps(value, ensure_ascii=False) for value in different]
    keys = pl.DataFrame({"key": different, "text": texts})
    found = (
        values.alias("key")
        .to_frame()
        .join(keys, on="key", how="left", nulls_equal=True, maintain_order="left")
    )
    return found["text"]


# Two records with the same id: equal ones are one record, others are a conflict. Records in
# conflict do not count until a maintainer decides (`withdrawn.yaml`). So nobody can change what the
# board shows by sending a second value.


_CELL = (
    *("fingerprint", "label", "params", "task", "digest", "scenario", "metric", "score", "seed"),
)
_FIT = ("label", "params", "mitigator_fingerprint")

_Decided = tuple[pl.DataFrame, list[SetAside]]


def of_equal_ids(frame: pl.DataFrame) -> _Decided:
    """Return one record of each id, the oldest; all that differ are set aside."""
    kept, aside = conflicts.one_of_each_id(frame)
    advice = "none counts until withdrawn.yaml decides"
    return (
        kept.filter(pl.col("conflict").is_null()).drop("conflict"),
        [dataclasses.replace(entry, reason=f"{entry.reason}; {advice}") for entry in aside],
    )


def of_references(frame: pl.DataFrame) -> _Decided:
    """Set aside records that differ from the shipped records of the reference models.

    All rows are compared with them. So no other model may have their names or fingerprints, and no
    other seed is averaged with the shipped records. There may be records of them on further tasks.
    """
    shipped = _references()
    prints = shipped.select("fingerprint", reference=pl.col("model").cast(pl.String)).unique()
    is_own = pl.col("model").is_in(REFERENCES) | pl.col("fingerprint").is_in(
        prints["fingerprint"].implode()
    )
    own = frame.filter(is_own)
    if not own.height:
        return frame, []
    numbers = shipped.select(
        *SCORE, shipped_id="id", **{f"shipped_{name}": pl.col(name) for name in NUMBERS}
    )
    compared = own.join(prints, on="fingerprint", how="left").join(numbers, on=SCORE, how="left")
    name = pl.col("model").cast(pl.String)
    is_another_seed = pl.col("shipped_id") != pl.col("id")
    differing = pl.coalesce(pl.when(_differs_from_shipped(n)).then(pl.lit(n)) for n in NUMBERS)
    reason = (
        pl.when(pl.col("reference").is_null())
        .then(pl.format("'{}' is the name of a reference model", name))
        .when(pl.col("reference") != name)
        .then(pl.format("the fingerprint is that of the reference model '{}'", "reference"))
        .when(is_another_seed)
        .then(pl.lit("a reference model has one seed on a task, which is shipped"))
        .when(pl.col("shipped_id").is_not_null() & differing.is_not_null())
        .then(pl.format("the shipped {} of this reference model is another", differing))
    )
    wrong = compared.with_columns(why=reason).drop_nulls("why")
    kept = frame.join(wrong.select("id", "model"), on=["id", "model"], how="anti",
                      maintain_order="left")  # fmt: skip
    return kept, asides(wrong, pl.col("why"))


def _differs_from_shipped(name: str) -> pl.Expr:
    own, shipped = pl.col(name), pl.col(f"shipped_{name}")
    span = (pl.col("high_bound") - pl.col("low_bound")).abs()
    room = TOLERANCE * pl.coalesce("shipped_unit", span, 1.0)
    return (own.is_null() != shipped.is_null()) | ((own - shipped).abs() > room).fill_null(
        value=False
    )


def of_fits(frame: pl.DataFrame) -> _Decided:
    """Set aside fits of a mitigator that fewer models have than another fit of the same cell.

    If several fits have equally many models, a board shows the latest: a concept was changed.
    """
    fits = pl.col("mitigator_fingerprint").n_unique()
    cells = frame.group_by(_CELL).agg(fits.alias("fits")).filter(pl.col("fits") > 1)
    if not cells.height:
        return frame, []
    models = frame.group_by(_FIT).agg(models=pl.col("fingerprint").n_unique())
    compared = (
        frame.join(cells.drop("fits"), on=_CELL, how="semi", nulls_equal=True)
        .join(models, on=_FIT)
        .with_columns(most=pl.col("models").max().over(_CELL))
    )
    wrong = compared.filter(pl.col("models") < pl.col("most"))
    reason = pl.format(
        "another fit of '{}' than most models have: its concept was changed; evaluate again",
        pl.col("label").cast(pl.String),
    )
    kept = frame.join(wrong.select("id"), on="id", how="anti", maintain_order="left")
    return kept, asides(wrong, reason)


def of_variants(
    variants: pl.DataFrame, frame: pl.DataFrame, sources: Mapping[str, str]
) -> _Decided:
    """Set aside variants without their base's record of the task from the same source.

    A variant states the fingerprint of its base, and changes its interval and its ranks. So nobody
    can state that of somebody else's model.

    Parameters
    ----------
    variants
        Claims of models under other prompts.
    frame
        Those that count of models under their own prompts.
    sources
        As of `trusted`.
    """
    key = ("source", "base_fingerprint", "task")
    source = pl.col("file").cast(pl.String).replace(sources).alias("source")
    own = (
        frame.filter(pl.col("fingerprint").is_in(variants["base_fingerprint"].unique().implode()))
        .select(source, "task", base_fingerprint="fingerprint")
        .unique()
    )
    variants = variants.with_row_index("row").with_columns(source)
    bound = variants.join(own, on=key, how="semi", nulls_equal=True, maintain_order="left")
    foreign = variants.join(bound, on="row", how="anti", maintain_order="left")
    reason = pl.lit(
        "a run under another prompt (--prompts) whose base has no result on this task from the "
        "same submitter or results folder"
    )
    return bound.select(frame.columns), asides(foreign, reason)


@functools.cache
def _references() -> pl.DataFrame:
    return references.shipped_claims()


# Names and facts of models and mitigators if records disagree: nobody can rename another's row.
#
# One fingerprint is one model or one mitigator, whatever its records call it, and has the facts of
# most of them. A name, or a label of a mitigator, that several have belongs to one of them; the
# others get the end of their fingerprint. The kind of embedder is no such fact: a record of another
# kind stands on another board, and takes nothing with it.


_OF_MODEL = (
    *("revision", "url", "dimensions", "parameters", "max_tokens", "licence"),
    *("open_weights", "released", "superseded_by", "languages", "published"),
)
_OF_MITIGATOR = ("mitigator", "label", "params", "fitted_on", "method", "control")


def unified(frame: pl.DataFrame, registered: Collection[str] | None = None) -> pl.DataFrame:
    """Return records with one name for each model, and one model and method for each name.

    Of several names of a fingerprint, a registered one is chosen whose own records are mostly of
    this fingerprint; else the one with most records, then the oldest. The others become aliases. Of
    several fingerprints with a name, that with most records keeps it, then the oldest.

    Parameters
    ----------
    frame
        The records.
    registered
        Names of registered models; by default those of the installed plugins.
    """
    frame = _usual(frame, "fingerprint", _OF_MODEL)
    frame = _usual(frame, "mitigator_fingerprint", _OF_MITIGATOR)
    frame = _with_one_name(frame, registered)
    frame = _distinct(frame, "model", "fingerprint")
    return _distinct(frame, "label", "method")


def _usual(frame: pl.DataFrame, key: str, facts: tuple[str, ...]) -> pl.DataFrame:
    """Return records with the facts that most records of their key have, else the oldest."""
    variants = (
        frame.group_by(key, *facts)
        .agg(n=pl.len(), since=pl.col("created").cast(pl.String).min())
        .sort("n", "since", *facts, descending=[True] + [False] * (1 + len(facts)))
    )
    if variants.height == variants[key].n_unique():
        return frame
    usual = variants.unique(key, keep="first", maintain_order=True).select(key, *facts)
    columns = frame.columns
    return frame.drop(facts).join(usual, on=key, how="left", maintain_order="left").select(columns)


def _with_one_name(frame: pl.DataFrame, registered: Collection[str] | None) -> pl.DataFrame:
    uses = _uses(frame, "fingerprint", "model")
    several = uses.filter(pl.col("fingerprint").is_duplicated())
    if not several.height:
        return frame
    if registered is None:
        from harness.registry.registry import Registry

        registered = Registry().embedders
    first: dict[str, str] = {}
    for fingerprint, name in uses.select("fingerprint", "model").iter_rows():
        first.setdefault(name, fingerprint)  # the one with most records
    chosen: list[dict[str, Any]] = []
    for (fingerprint,), lines in several.group_by("fingerprint", maintain_order=True):
        names = lines["model"].to_list()
        own = [n for n in names if without_options(n) in registered and first[n] == fingerprint]
        best = next(iter(own or names))
        others = json.dumps(sorted({name for name in names if name != best}), ensure_ascii=False)
        chosen.append({"fingerprint": fingerprint, "best": best, "others": others})
    schema = dict.fromkeys(("fingerprint", "best", "others"), TEXT)
    return (
        frame.join(
            pl.DataFrame(chosen, schema=schema), on="fingerprint", how="left", maintain_order="left"
        )
        .with_columns(model=pl.coalesce("best", "model"), aliases=pl.coalesce("others", "aliases"))
        .drop("best", "others")
    )


def _distinct(frame: pl.DataFrame, name: str, key: str) -> pl.DataFrame:
    """Add the end of the key to a name of several keys, except to the key with most records."""
    uses = _uses(frame.filter(pl.col(key) != ""), key, name)
    later = uses.filter(~pl.col(name).is_first_distinct())
    if not later.height:
        return frame
    distinct = [
        {key: print_, name: text, "distinct": with_fingerprint(text, print_)}
        for print_, text in later.select(key, name).iter_rows()
    ]
    table = pl.DataFrame(distinct, schema=dict.fromkeys((key, name, "distinct"), TEXT))
    return (
        frame.join(table, on=[key, name], how="left", maintain_order="left")
        .with_columns(pl.coalesce("distinct", name).alias(name))
        .drop("distinct")
    )


def _uses(frame: pl.DataFrame, key: str, name: str) -> pl.DataFrame:
    """Return each key with each name, that with most records first, then the oldest."""
    texts = [pl.col(column).cast(pl.String) for column in (key, name)]
    return (
        frame.group_by(key, name)
        .agg(n=pl.len(), since=pl.col("created").cast(pl.String).min())
        .sort(
            pl.col("n"), pl.col("since"), *texts, descending=[True, False, *(False for _ in texts)]
        )
    )


# The rules that a record must fulfil to count, in one table: each has its reason.
#
# Every rule is an expression over a frame of claims with the facts of the registered tasks beside
# them. What is null breaks no rule.


FACT = "fact:"
"""Prefix of the columns with facts of the registered task."""
FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
"""Before this there was no harness; the shipped reference models are dated 1970."""
CLOCKS = timedelta(days=1)
"""Largest difference between the clocks of two machines."""
WIDEST = 5
"""Bounds that depend on the number of items are at most this times as wide as usual."""
LARGEST_GAP = 4.0
"""Largest gap of cosines: a difference of two differences."""
FARTHEST = 100
"""Most units between a value or floor and the ideal. Of 2,300 scores the largest was 3.2: a unit is
the spread of what the score is computed from."""
_RESERVED = (NONE, "normalize")
"""Labels that only the mitigators of these names may have."""
_NONE = digest([NONE, {}, None])
"""Fingerprint of no mitigator."""
_NAMES = (
    *("run", "created", "model", "fingerprint", "revision", "url", "licence", "released"),
    "superseded_by",
    *("mitigator", "label", "fitted_on", "mitigator_fingerprint", "method", "task", "digest"),
    *("scenario", "metric", "score", "alternative", "harness", "python"),
    *("platform", "device"),
)
_TEXTS = ("reason", "params")
_JSON = {
    "params": "an object",
    "published": "an object of numbers",
    "contrasts": "an object of numbers",
    "packages": "an object of texts",
    **dict.fromkeys(("aliases", "languages"), "a list of texts"),
}
"""Columns of JSON, and the type of their content."""
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
        Its subject.
    is_broken
        Whether a record breaks it.
    reason
        What is wrong, and what would be right.
    """

    name: str
    is_broken: pl.Expr
    reason: pl.Expr


def rules(frame: pl.DataFrame, now: datetime) -> list[Rule]:
    """Return the rules for a frame; the first broken rule gives the reason.

    `now` is the latest possible time of a record.
    """
    is_none = pl.col("mitigator") == NONE
    value, low, high = pl.col("value"), _fact("low_bound"), _fact("high_bound")
    own_low, own_high = pl.col("low_bound"), pl.col("high_bound")
    widens = _fact("may_widen")
    low, high = (
        pl.when(_WITHOUT_BOUNDS).then(None).when(widens).then(own).otherwise(bound)
        for own, bound in ((own_low, low), (own_high, high))
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
        Rule(
            "prompt", _is_variant() & (
                (pl.col("base_fingerprint").fill_null("") == "")
                | ~pl.col("prompt").fill_null("").is_in(["", *NEUTRAL])
            ),
            pl.lit("a run under another prompt (--prompts) that is not one of the neutral "
                   "instructions, or does not state its base's fingerprint: evaluate again"),
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
            Rule(name, pl.col(name).is_null() | _one_of(frame, name, _IS_NO[name]),
                 pl.lit(f"{name}: expected {expected}"))
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
                                for name in _RESERVED),
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
        Rule(
            "gap",
            pl.any_horizontal(
                ((pl.col(name).abs() > LARGEST_GAP) & ~_COMPARES) | ~pl.col(name).is_finite()
                for name in ("gap", "yardstick", "gap_error", "yardstick_error")
            )
            | (pl.col("gap_error") < 0) | (pl.col("yardstick_error") < 0)
            | ~pl.col("power").is_between(1, 2),
            pl.format("a gap of {} over a yardstick of {} is not possible", "gap", "yardstick"),
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
            "unseen", (_fact("measures") == "bias") & pl.col("unseen").is_null(),
            pl.lit("a score of bias that does not say how it is judged: evaluate again"),
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


_COMPARES = pl.col("encoder").cast(pl.String).is_in(COMPARING)
"""Records of encoders that compare texts themselves, in units of their own."""
_WITHOUT_BOUNDS = (
    _COMPARES
    & (_fact("measures") != "usefulness")
    & pl.col("low_bound").is_null()
    & pl.col("high_bound").is_null()
)
"""Scores in similarities that are no cosines. Bias ranks by a ratio of them, in whatever unit."""


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
    "contrasts": lambda text: _is_no_object_of(text, int, float),
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


_SCORE = ("task", "scenario", "metric", "score")
_OF_TASK = (
    *("kinds", "version", "digest", "title", "measures", "concept", "category", "family"),
    *("language", "unranked"),
)
_OF_SCORE = ("ideal", "low_bound", "high_bound", "may_widen", "is_primary")
_REPLACED = (
    *("title", "measures", "concept", "category", "family", "language", "unranked"),
    *("ideal", "low_bound", "high_bound"),
)
"""Columns whose values come from the registered task."""


def trusted(
    claims: Claims,
    facts: Mapping[str, TaskFacts],
    *,
    now: datetime | None = None,
    sources: Mapping[str, str] = MappingProxyType({}),
) -> Claims:
    """Return the claims that count, with the facts of the registered tasks.

    Parameters
    ----------
    claims
        Records as they were read, without withdrawn ones.
    facts
        The registered tasks among theirs, from `facts.known`.
    now
        Time of the build, the latest possible time of a record; by default now.
    sources
        By file whose records it has: a person's or a folder's. A file that is not here has its own.

    Returns
    -------
    Claims
        The records that fulfil every rule, one of each id, in their order, with one name for each
        model; those under other prompts in `variants`. The others are in `aside`, each with its
        reason.
    """
    frame = _with_facts(claims.frame, facts)
    frame = frame.with_columns(identities(frame))
    frame, aside = _judged(frame, rules(frame, now or datetime.now(UTC)))
    frame, references = of_references(_read_by_facts(frame))
    frame = unified(frame)
    is_variant = frame.select(_is_variant()).to_series()
    variants = frame.filter(is_variant)
    if is_variant.any():
        frame = frame.filter(~is_variant)
    frame, equal = of_equal_ids(frame)
    frame, fits = of_fits(frame)
    aside += (*references, *equal, *fits)
    if not variants.is_empty():
        variants, foreign = of_variants(variants, frame, sources)
        variants, equal = of_equal_ids(variants)
        aside += (*foreign, *equal)
    told = (*claims.aside, *sorted(aside, key=lambda a: (a.file, a.line)))
    return Claims(frame, told, variants)


def _is_variant() -> pl.Expr:
    """Return whether a claim is of a model under another neutral instruction."""
    return pl.col("base").fill_null("") != ""


def _with_facts(frame: pl.DataFrame, facts: Mapping[str, TaskFacts]) -> pl.DataFrame:
    """Add the facts of the registered tasks, in columns that begin with `FACT`."""
    tasks = [
        {
            "task": task.name,
            **task.model_dump(include=set(_OF_TASK)),
            "kinds": list(task.kinds),
            "family": family_of(task.measures, task.category, task.family),
        }
        for task in facts.values()
    ]
    scores = [
        {
            **{name: getattr(score, name) for name in _SCORE[1:]},
            "task": task.name,
            "ideal": str(score.ideal),
            "low_bound": score.bounds[0],
            "high_bound": score.bounds[1],
            "may_widen": score.may_widen,
            "is_primary": (score.scenario, score.metric, score.score) == task.primary,
        }
        for task in facts.values()
        for score in task.scores
    ]
    types = SCHEMA | {"kinds": pl.List(TEXT), "may_widen": pl.Boolean, "is_primary": pl.Boolean}

    def table(
        lines: list[dict[str, Any]], key: tuple[str, ...], columns: tuple[str, ...]
    ) -> pl.DataFrame:
        schema = {name: types[name] for name in (*key, *columns)}
        return pl.DataFrame(lines, schema=schema).rename({c: FACT + c for c in columns})

    return frame.join(
        table(tasks, _SCORE[:1], _OF_TASK), on="task", how="left", maintain_order="left"
    ).join(table(scores, _SCORE, _OF_SCORE), on=_SCORE, how="left", maintain_order="left")


def _judged(frame: pl.DataFrame, table: list[Rule]) -> tuple[pl.DataFrame, list[SetAside]]:
    """Return the records that fulfil all rules, and the others with the first rule they break."""
    is_broken = pl.any_horizontal(rule.is_broken.fill_null(value=False) for rule in table)
    frame = frame.with_columns(is_broken.alias("is_broken"))
    broken = frame.filter("is_broken")
    if not broken.height:
        return frame, []
    reason = pl.coalesce(
        pl.when(rule.is_broken.fill_null(value=False)).then(rule.reason) for rule in table
    )
    return frame.filter(~pl.col("is_broken")), asides(broken, reason)


def _read_by_facts(frame: pl.DataFrame) -> pl.DataFrame:
    """Return records with the facts of the registered task instead of their own statements.

    Bounds that depend on the number of items are those that most records of the content have.
    """
    usual = (
        frame.filter(pl.col(f"{FACT}may_widen"))
        .group_by(*_SCORE, "digest", "low_bound", "high_bound")
        .len()
        .sort("len", "high_bound", descending=[True, False])
        .unique([*_SCORE, "digest"], keep="first", maintain_order=True)
        .select(*_SCORE, "digest", usual_low="low_bound", usual_high="high_bound")
    )
    return (
        frame.join(usual, on=[*_SCORE, "digest"], how="left")
        .with_columns(_WITHOUT_BOUNDS.alias("without_bounds"))
        .with_columns(pl.col(FACT + name).alias(name) for name in _REPLACED)
        .with_columns(
            primary=pl.col(f"{FACT}is_primary"),
            **{
                bound: pl.when(~pl.col("without_bounds")).then(pl.coalesce(usual, bound))
                for usual, bound in (("usual_low", "low_bound"), ("usual_high", "high_bound"))
            },
        )
        .select(*SCHEMA)
    )
