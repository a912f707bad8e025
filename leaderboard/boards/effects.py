"""Paired effects of mitigators on each model, and mitigators ranked over models.

An effect is a mean over families of differences on the same tasks, without the tasks on whose texts
the mitigator was fitted. Knows cells, not records.
"""

from __future__ import annotations

import polars as pl

from .cells import (
    BASELINES,
)
from .ranking import (
    DIGITS,
    means,
    rank,
)

EVIDENCE = 0.05
"""A change with a p-value below this after Holm's correction has evidence."""
MEASURES = ("bias", "usefulness")
_MODEL = ["name", "fingerprint"]


def effects(grid: pl.DataFrame, unusable: pl.DataFrame) -> pl.DataFrame:
    """Return a line for each mitigated row and baseline; see `Board.effects`.

    Parameters
    ----------
    grid
        A line for every row and ranked task: `row`, `name` and `fingerprint` of the model,
        `mitigator`, `params`, `label` (the mitigator as shown), `role`, `task`, `family`,
        `measures`, `measure` and `leak`.
    unusable
        `row` and `unusable`, the reason, of the rows that are not usable.
    """
    frames = [_against(grid, baseline) for baseline in BASELINES]
    return pl.concat(frames).join(unusable, on="row", how="left").sort("row", "baseline")


def mitigators(changes: pl.DataFrame, rows: pl.DataFrame, unusable: pl.DataFrame) -> pl.DataFrame:
    """Return a line a mitigator, best first; see `Board.mitigators`.

    Parameters
    ----------
    changes
        The `differences` against `none`, on the tasks to rank by.
    rows
        `row`, `role`, `name` and `fingerprint` of the model, and `label`, of every row.
    unusable
        As of `effects`.
    """
    # Effects on unusable models say nothing about the mitigator.
    rows = rows.with_columns(pl.col(_MODEL).cast(changes.schema["name"]))
    excluded = rows.filter(role="model").join(unusable, on="row", how="semi").select(_MODEL)
    changes = changes.join(excluded.unique(), on=_MODEL, how="anti")
    rows = rows.filter(role="mitigated").select("row", *_MODEL, mitigator="label").unique()
    judged = rows.join(excluded, on=_MODEL, how="anti")
    reasons, models = _comparable(judged, changes, unusable)
    for name in rows["mitigator"].unique().sort():
        reasons.setdefault(name, "run on no usable model")
    ranked = [name for name, reason in reasons.items() if not reason]
    block = (
        changes.filter(pl.col("mitigator").is_in(ranked))
        .join(models, on=_MODEL, how="semi")
        .filter(pl.len().over("task") == len(ranked) * models.height)
    )
    over = {
        measures: block.filter(measures=measures)
        .group_by("mitigator", "family", "task")
        .agg(measure=pl.col("difference").mean())
        for measures in MEASURES
    }
    ranks = rank(over["bias"].rename({"mitigator": "row"})).rename({"row": "mitigator"})
    if ranks.is_empty():
        reasons = {
            name: reason or "the mitigators have no bias task in common that does not leak"
            for name, reason in reasons.items()
        }
    if ranks.height == 1:  # a rank needs two
        ranks = ranks.with_columns(pl.lit(None, pl.Int64).alias(name) for name in _RANK)
    frame = pl.DataFrame(
        {"mitigator": list(reasons), "unranked": list(reasons.values())},
        schema={"mitigator": pl.String, "unranked": pl.String},
    ).join(
        rows.select("mitigator", *_MODEL)
        .unique()
        .group_by("mitigator")
        .agg(models=pl.len().cast(pl.Int64)),
        on="mitigator",
    )
    for name in MEASURES:
        mean = means(over[name], ["mitigator"]).rename({"mean": name})
        ends = ("low", "high", "p", "families", "tasks")
        mean = mean.rename({end: f"{name}_{end}" for end in ends})
        frame = frame.join(mean, on="mitigator", how="left")
    return (
        _corrected(frame).join(ranks, on="mitigator", how="left")
        .sort("rank", "mitigator", nulls_last=True)
        .select("mitigator", "models", *_RANK, *_columns("bias"), *_columns("usefulness"),
                "unranked")
    )  # fmt: skip


_RANK = ("rank", "rank_low", "rank_high")


def _columns(name: str) -> list[str]:
    ends = ("low", "high", "holm", "tasks", "families")
    return [name, *(f"{name}_{end}" for end in ends)]


def _comparable(
    rows: pl.DataFrame, changes: pl.DataFrame, unusable: pl.DataFrame
) -> tuple[dict[str, str | None], pl.DataFrame]:
    """Return why mitigators are not ranked, and the models that the others share.

    The others are the largest block of mitigators that all ran on the same models.
    """
    names = rows["mitigator"].unique().sort().to_list()
    failing = rows.join(unusable, on="row", how="semi").group_by("mitigator").len()
    reasons: dict[str, str | None] = dict.fromkeys(names)
    for name, n in failing.iter_rows():
        reasons[name] = f"not usable on {n} model" + ("" if n == 1 else "s")
    judged = changes.filter(measures="bias").select("mitigator", *_MODEL).unique()
    has = {
        name: set(judged.filter(mitigator=name).select(_MODEL).rows())
        for name in names
        if not reasons[name]
    }
    for name, models in has.items():
        if not models:
            reasons[name] = "no bias task without a leak to compare on"
    order = sorted((name for name in has if has[name]), key=lambda name: (-len(has[name]), name))
    blocks = [
        set.intersection(*(has[name] for name in order[:n])) for n in range(1, len(order) + 1)
    ]
    sizes = [len(block) * (n + 1) for n, block in enumerate(blocks)]
    best = max(range(len(sizes)), key=sizes.__getitem__, default=-1)
    for name in order[best + 1 :]:
        reasons[name] = "not run on the models of the others"
    shared = sorted(blocks[best]) if order else []
    schema = {name: rows.schema[name] for name in _MODEL}
    return reasons, pl.DataFrame(shared, schema=schema, orient="row")


def differences(grid: pl.DataFrame, baseline: str = BASELINES[0]) -> pl.DataFrame:
    """Return the difference of each mitigated cell from that of the same model and task.

    A line for each row and task that both have without a leak: `difference`.

    Parameters
    ----------
    grid
        As of `effects`.
    baseline
        Mitigator to compare with.
    """
    base = (
        grid.filter(mitigator=baseline)
        .sort(pl.col("params").cast(pl.String).str.len_chars(), "params", "row")  # fewest settings
        .unique([*_MODEL, "task"], keep="first", maintain_order=True)
        .select(*_MODEL, "task", base="measure", base_row="row")
    )
    return (
        grid.filter(role="mitigated")
        .select("row", *_MODEL, "task", "family", "measures", "measure", mitigator="label")
        .join(base, on=[*_MODEL, "task"])
        .filter(pl.col("row") != pl.col("base_row"))
        .with_columns(difference=(pl.col("measure") - pl.col("base")).round(DIGITS))
        .drop_nulls("difference")
        .drop("measure", "base", "base_row")
        .with_columns(pl.col("mitigator").cast(pl.String))
    )


def _against(grid: pl.DataFrame, baseline: str) -> pl.DataFrame:
    """Return the effects of all mitigated rows against one baseline."""
    changes = differences(grid, baseline).with_columns(measure=pl.col("difference"))
    frame = grid.filter(role="mitigated").select("row").unique().sort("row")
    leaks = grid.filter("leak").group_by("row").agg(bias_leaks=pl.len().cast(pl.Int64))
    for name in MEASURES:
        mean = means(changes.filter(measures=name), ["row"]).rename({"mean": name})
        ends = ("low", "high", "p", "tasks", "families")
        frame = frame.join(
            mean.rename({end: f"{name}_{end}" for end in ends}), on="row", how="left"
        )
    return (
        _corrected(frame)
        .join(leaks, on="row", how="left")
        .select(
            pl.lit(baseline).alias("baseline"),
            "row",
            *(
                f"{name}{end}"
                for name in MEASURES
                for end in ("", "_low", "_high", "_p", "_holm", "_evidence", "_tasks", "_families")
            ),
            pl.col("bias_leaks").fill_null(0),
        )
        .filter(pl.any_horizontal(pl.col(MEASURES).is_not_null()))
    )


def _corrected(frame: pl.DataFrame) -> pl.DataFrame:
    """Add the p-values after Holm's correction over the table, and whether there is evidence."""
    from harness.study.significance import holm

    names = [f"{name}_p" for name in MEASURES]
    adjusted = holm(frame.select(pl.col(names).fill_null(float("nan"))).to_numpy())
    for i, name in enumerate(MEASURES):
        column = pl.Series(f"{name}_holm", adjusted[:, i], nan_to_null=True)
        evidence = (column < EVIDENCE).fill_null(value=False).alias(f"{name}_evidence")
        frame = frame.with_columns(column, evidence)
    return frame
