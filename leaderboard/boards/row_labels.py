"""Labels of the rows of a board: the model and the mitigator as shown."""

from __future__ import annotations

import json
from collections import defaultdict

import polars as pl

from harness import labels


def labelled(every: pl.DataFrame) -> pl.DataFrame:
    """Return the model and mitigator of each row as shown: their labels.

    Different weights under one label get the end of the fingerprint. Rows of records that were
    written without a label get the settings that differ.
    """
    identity = ["row", "model", "fingerprint", "mitigator", "params"]
    facts = ["url", "dimensions", "parameters"]  # some are null in older records
    unique = (
        every.group_by(identity)
        .agg(pl.col(facts).drop_nulls().last(), pl.col("label").max())
        .sort("row")
    )
    prints: defaultdict[str, set[str]] = defaultdict(set)
    settings: defaultdict[str, list[str]] = defaultdict(list)
    for row in unique.iter_rows(named=True):
        prints[row["model"]].add(row["fingerprint"])
        if row["label"] == row["mitigator"] and row["params"] not in settings[row["mitigator"]]:
            settings[row["mitigator"]].append(row["params"])
    models, mitigators = [], []
    for row in unique.iter_rows(named=True):
        several = len(prints[row["model"]]) > 1
        model, fingerprint = row["model"], row["fingerprint"]
        models.append(labels.with_fingerprint(model, fingerprint) if several else model)
        alike = [json.loads(params) for params in settings[row["label"]]]
        params = json.loads(row["params"]) if row["label"] == row["mitigator"] else {}
        differing = {
            key: value
            for key, value in params.items()
            if any(other.get(key) != value for other in alike)
        }
        mitigators.append(labels.with_options(row["label"], differing))
    return unique.select(
        "row",
        pl.Series("model", models, dtype=pl.String),
        pl.Series("mitigator", mitigators, dtype=pl.String),
        "fingerprint",
        "params",
        *facts,
    )
