"""Which claims are trusted: rules that a record must fulfil, and facts that replace what it says.

A record says what was measured, and the value. How to read the value (scale, bounds, category,
whether it is ranked ...) says the registered task. `rules.py` has the rules, `conflicts.py` what
happens to two records of one thing, `names.py` what models are called.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import polars as pl

from harness.leaderboard.claims import conflicts, names
from harness.leaderboard.claims.facts import TaskFacts
from harness.leaderboard.claims.frame import SCHEMA, TEXT
from harness.leaderboard.claims.identities import identities
from harness.leaderboard.claims.reading import Aside, Claims, asides
from harness.leaderboard.claims.rules import FACT, Rule, rules

_SCORE = ("task", "scenario", "metric", "score")
_OF_TASK = (
    *("kinds", "version", "digest", "title", "measures", "concept", "category", "family"),
    *("language", "unranked", "required"),
)
_OF_SCORE = ("ideal", "low_bound", "high_bound", "may_widen", "is_primary")
_REPLACED = (
    *("title", "measures", "concept", "category", "family", "language", "unranked", "required"),
    *("ideal", "low_bound", "high_bound"),
)
"""Columns that a registered task decides."""


def trusted(
    claims: Claims, facts: Mapping[str, TaskFacts], *, now: datetime | None = None
) -> Claims:
    """Return the claims that count, as the registered tasks read them.

    Parameters
    ----------
    claims
        Records as they were read, without those that `withdrawn.yaml` takes off.
    facts
        The registered tasks among theirs, from `facts.known`.
    now
        Time of the build, after which no record can have been made; by default now.

    Returns
    -------
    Claims
        The records that fulfil every rule, one of each id, sorted by their age, with one name for
        each model. The others are in `aside`, each with its reason.
    """
    frame = _with_facts(claims.frame, facts)
    frame = frame.with_columns(identities(frame))
    frame, aside = _judged(frame, rules(frame, now or datetime.now(UTC)))
    frame, references = conflicts.of_references(_read_by_facts(frame))
    frame, equal = conflicts.of_equal_ids(names.unified(frame))
    frame, fits = conflicts.of_fits(frame)
    aside += (*references, *equal, *fits)
    frame = frame.sort("created", "id").select(*SCHEMA)
    return Claims(frame, (*claims.aside, *sorted(aside, key=lambda a: (a.file, a.line))))


def _with_facts(frame: pl.DataFrame, facts: Mapping[str, TaskFacts]) -> pl.DataFrame:
    """Add what the registered tasks say, in columns that begin with `FACT`."""
    tasks = [
        {
            "task": task.name,
            **task.model_dump(include=set(_OF_TASK)),
            "kinds": list(task.kinds),
            "family": f"{task.category}/{task.family}",
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


def _judged(frame: pl.DataFrame, table: list[Rule]) -> tuple[pl.DataFrame, list[Aside]]:
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
    """Return records with the facts of the registered task in place of what they say.

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
        .with_columns(pl.col(FACT + name).alias(name) for name in _REPLACED)
        .with_columns(
            primary=pl.col(f"{FACT}is_primary"),
            low_bound=pl.coalesce("usual_low", "low_bound"),
            high_bound=pl.coalesce("usual_high", "high_bound"),
        )
    )
