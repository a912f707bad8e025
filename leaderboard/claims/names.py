"""What models and mitigators are when records disagree: nobody can rename another's row.

One fingerprint is one model or one mitigator, whatever its records call it, and has the facts of
most of them. A name, or a label of a mitigator, that several have belongs to one of them; the
others get the end of their fingerprint. The kind of embedder is no such fact: a record of another
kind stands on another board, and takes nothing with it.

A later harness may give the same weights another fingerprint. Fingerprints with one name and one
revision, which both are stated, are one model if no two of their scores contradict each other.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

import polars as pl

from harness import labels
from harness.leaderboard.claims import conflicts
from harness.leaderboard.claims.frame import TEXT
from harness.leaderboard.claims.identities import identities
from harness.names import without_options

_OF_MODEL = (
    *("revision", "url", "dimensions", "parameters", "max_tokens", "licence"),
    *("open_weights", "released", "superseded_by", "languages", "published"),
)
_OF_MITIGATOR = ("mitigator", "label", "params", "fitted_on", "method")


def unified(frame: pl.DataFrame, registered: Collection[str] | None = None) -> pl.DataFrame:
    """Return records with one name for each model, and one model and method for each name.

    Of several names of a fingerprint, a registered one is chosen whose own records are mostly of
    this fingerprint; else the one with most records, then the oldest. The others become aliases. Of
    several fingerprints with a name, that with most records keeps it, then the oldest. It replaces
    the others of its revision that agree with it; ids follow.

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
    frame = _with_one_fingerprint(frame)
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


def _with_one_fingerprint(frame: pl.DataFrame) -> pl.DataFrame:
    """Return records with one fingerprint for each name and revision, where they agree."""
    stated = frame.filter(pl.col("revision").cast(pl.String) != "")
    uses = _uses(stated, "fingerprint", "model", "revision")
    several = uses.filter(pl.len().over("model", "revision") > 1)
    replaced: dict[str, str] = {}
    for _, lines in several.group_by("model", "revision", maintain_order=True):
        own, *others = lines["fingerprint"].to_list()
        for other in others:
            same = {print_: own for print_, kept in replaced.items() if kept == own} | {other: own}
            records = frame.filter(pl.col("fingerprint").is_in([own, *same]))
            if not conflicts.of_equal_ids(_of_fingerprints(records, same))[1]:
                replaced = replaced | same
    if not replaced:
        return frame
    return _usual(_of_fingerprints(frame, replaced), "fingerprint", _OF_MODEL)


def _of_fingerprints(frame: pl.DataFrame, replaced: Mapping[str, str]) -> pl.DataFrame:
    """Return records with other fingerprints, and the ids that follow from them."""
    print_ = pl.col("fingerprint").cast(pl.String).replace(replaced).cast(TEXT)
    frame = frame.with_columns(print_.alias("fingerprint"))
    return frame.with_columns(identities(frame).alias("id"))


def _distinct(frame: pl.DataFrame, name: str, key: str) -> pl.DataFrame:
    """Add the end of the key to a name of several keys, except to the key with most records."""
    uses = _uses(frame.filter(pl.col(key) != ""), key, name)
    later = uses.filter(~pl.col(name).is_first_distinct())
    if not later.height:
        return frame
    distinct = [
        {key: print_, name: text, "distinct": labels.with_fingerprint(text, print_)}
        for print_, text in later.select(key, name).iter_rows()
    ]
    table = pl.DataFrame(distinct, schema=dict.fromkeys((key, name, "distinct"), TEXT))
    return (
        frame.join(table, on=[key, name], how="left", maintain_order="left")
        .with_columns(pl.coalesce("distinct", name).alias(name))
        .drop("distinct")
    )


def _uses(frame: pl.DataFrame, key: str, *names: str) -> pl.DataFrame:
    """Return each combination of a key and names, that with most records first, then the oldest."""
    texts = [pl.col(column).cast(pl.String) for column in (key, *names)]
    return (
        frame.group_by(key, *names)
        .agg(n=pl.len(), since=pl.col("created").cast(pl.String).min())
        .sort(
            pl.col("n"), pl.col("since"), *texts, descending=[True, False, *(False for _ in texts)]
        )
    )
