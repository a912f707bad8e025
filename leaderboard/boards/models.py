"""The models of a board: their facts, and the environments that their records were computed in."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import Any

import polars as pl

from harness.leaderboard.boards.cells import REFERENCES, name_without_options

FACTS = (
    *("revision", "url", "dimensions", "parameters", "max_tokens", "licence", "open_weights"),
    *("released", "superseded_by", "languages", "published"),
)
"""Columns of a claim that say what its model is."""
_TEXTS = ("revision", "url", "licence", "released", "superseded_by")
_KEY = ("name", "fingerprint")
_LISTED, _LONGEST = 5, 40
"""Most versions of the harness that a line names, and most characters of each."""
_ENVIRONMENT = ("harness", "python", "platform", "device", "packages")


def models_of(claims: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Return one line a model; see `Board.models`.

    A fact is that of the latest claim that has it.

    Parameters
    ----------
    claims
        All claims of the kind of embedder.
    rows
        As of `row_labels.rows_of`.
    """
    claims = claims.rename({"model": "name"})
    facts = (
        claims.group_by(*_KEY, *FACTS)
        .agg(pl.col("created").max())
        .sort("created", *FACTS)
        .with_columns(
            pl.col("languages").cast(pl.String).replace("[]", None),
            pl.col("published").cast(pl.String).replace("{}", None),
        )
        .group_by(_KEY)
        .agg(pl.col(FACTS).drop_nulls().last())
        .with_columns(pl.col(*_KEY, *_TEXTS).cast(pl.String))
        .with_columns(
            languages=pl.col("languages").fill_null("[]").str.json_decode(pl.List(pl.String)),
            published=pl.col("published").fill_null("{}"),
        )
    )
    return (
        rows.select("model", *_KEY)
        .unique()
        .join(facts, on=_KEY, how="left")
        .join(_environments(claims), on=_KEY, how="left")
        .sort("model", "fingerprint")
    )


def environments_of(models: pl.DataFrame) -> tuple[tuple[str, int], ...]:
    """Return the environments of all models, with the number of records of each."""
    counts: Counter[str] = Counter()
    for environments in models["environments"].to_list():
        for line in environments:
            counts[line["environment"]] += line["records"]
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def mixed_versions(claims: pl.DataFrame) -> list[str]:
    """Return a line if the primary claims on models are from several versions of the harness."""
    name = name_without_options()
    versions = (
        claims.filter("primary")
        .group_by("model", "harness")
        .len("records")
        .filter(~name.is_in(REFERENCES))
        .group_by(pl.col("harness").cast(pl.String))
        .agg(pl.col("records").sum())
        .sort("records", "harness", descending=[True, False])
    )
    if versions.height < 2:
        return []
    counts = ", ".join(
        f"{version[:_LONGEST]} ({n} record{'' if n == 1 else 's'})"
        for version, n in versions.head(_LISTED).iter_rows()
    )
    more = f" and {versions.height - _LISTED} more" if versions.height > _LISTED else ""
    return [f"values of {versions.height} versions of the harness: {counts}{more}"]


def _environments(claims: pl.DataFrame) -> pl.DataFrame:
    """Return the environments of each model, the one with most records first."""
    by_model: defaultdict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    counts = claims.group_by(*_KEY, *_ENVIRONMENT).len("records")
    for name, fingerprint, harness, python, platform, device, packages, n in counts.sort(
        "records", *_ENVIRONMENT, descending=[True, *(False for _ in _ENVIRONMENT)]
    ).iter_rows():
        versions = sorted(json.loads(packages).items())
        text = f"harness {harness}, Python {python}, {platform}, {device}"
        text += "".join(
            f"{', ' if i else '; '}{package} {version}"
            for i, (package, version) in enumerate(versions)
        )
        by_model[name, fingerprint].append({"environment": text, "records": n})
    struct = pl.Struct({"environment": pl.String, "records": pl.Int64})
    return pl.DataFrame(
        {
            "name": [name for name, _ in by_model],
            "fingerprint": [fingerprint for _, fingerprint in by_model],
            "environments": list(by_model.values()),
        },
        schema={"name": pl.String, "fingerprint": pl.String, "environments": pl.List(struct)},
    )
