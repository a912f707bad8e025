"""Several seeds of one score become one: their mean.

The seed is that of the run, or the option `seed` of a mitigator. Random draws in a score
(permutations, splits) differ between seeds; the texts and vectors are the same. So:

- The value, its floor, its unit and what follows from them are means over seeds.
- The ends of the interval are means of the ends. The error of a mean is at most the mean of the
  errors, and seeds share the items, which the interval is about. So the mean interval holds the
  mean value at least as often as each interval its own value. The spread over seeds is another
  thing: it is that of the draws, not of the words.
- The p-value is the largest: evidence has to hold with every seed. The smallest would be a choice
  of the best of several tests, and a mean of p-values is no p-value.
- `reversed` and `undone` hold if they hold with every seed.
- Counts, words, dates and the id are those of the smallest seed.

A seed without a value that counts is left out if another seed has one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness import names
from harness.results import ratios
from harness.results.record import Record, finite

if TYPE_CHECKING:
    import polars as pl


SEED = "seed"
RUNS = "runs"
"""Key of the details of a mean: the values of its runs."""
_OF_RATIO = ("gap", "gap_error", "yardstick", "yardstick_error")
_MEANS = (
    *("value", "measure", "distance", "low", "high", "unit"),
    *("floor", "floor_sd", "floor_centre", "floor_spread"),
    *(*_OF_RATIO, "ratio_low", "ratio_high"),
)
_EVERY = ("reversed", "undone")


def mean_of_seeds(
    runs: pl.DataFrame, by: Sequence[str], counts: pl.Expr | None = None
) -> pl.DataFrame:
    """Return one line for each group of runs that differ only in their seed, by the rule above.

    Parameters
    ----------
    runs
        A line a run: its `seed`, `value` and `p_value`, and any further columns.
    by
        Columns of the groups.
    counts
        Whether the value of a run counts; by default whether there is one.

    Returns
    -------
    pl.DataFrame
        The columns of `runs`, with `seeds`, the number of values, and `spread`, their standard
        deviation, which is null with one.
    """
    import polars as pl

    counts = pl.col("value").is_not_null() if counts is None else counts
    means = [name for name in _MEANS if name in runs.columns]
    every = [name for name in _EVERY if name in runs.columns]
    return (
        runs.filter(counts | ~counts.any().over(by))
        .sort(*by, SEED)
        .group_by(by, maintain_order=True)
        .agg(
            pl.exclude(*by, *means, *every, "p_value").first(),
            pl.col(means).mean(),
            pl.col(every).all(),
            pl.col("p_value").max(),
            seeds=pl.col("value").count().cast(pl.Int64),
            spread=pl.col("value").std(),
        )
    )


def over_seeds(records: Iterable[Record]) -> list[Record]:
    """Return records in which runs that differ only in a seed are one record: `mean_of_seeds`.

    The mean has the values of its runs in the details (`runs`), with their `standard_error`, the
    sample standard deviation over √n. A score with a single value stays as it is.
    """
    groups: dict[tuple[Any, ...], list[Record]] = defaultdict(list)
    for record in records:
        part = record.model
        mitigator = (_without_seed(record.mitigator.label), record.mitigator.concept)
        task = (record.task.name, record.task.version, record.task.digest)
        score = (record.scenario, record.metric, record.score, record.limit)
        groups[part.name, part.fingerprint, *mitigator, *task, *score].append(record)
    runs = {
        group: sorted((r for r in of_group if r.value is not None), key=lambda r: r.seed)
        for group, of_group in enumerate(groups.values())
    }
    means = _means({group: of_group for group, of_group in runs.items() if len(of_group) > 1})
    return [
        _mean(runs[group], means[group])
        if group in means
        else _with_any_seed((runs[group] or of_group)[0])
        for group, of_group in enumerate(groups.values())
    ]


def _means(runs: Mapping[int, Sequence[Record]]) -> dict[int, dict[str, Any]]:
    """Return the line of `mean_of_seeds` for each group of runs."""
    import polars as pl

    lines = [
        {
            "group": group,
            SEED: record.seed,
            "value": record.value,
            "p_value": record.p_value,
            "unit": record.unit,
            "low": None if record.interval is None else record.interval.low,
            "high": None if record.interval is None else record.interval.high,
            "floor": None if record.floor is None else record.floor.mean,
            "floor_sd": None if record.floor is None else record.floor.sd,
            "floor_centre": None if record.floor is None else record.floor.centre,
            "floor_spread": None if record.floor is None else record.floor.spread,
            **{name: record.ratio and getattr(record.ratio, name) for name in _OF_RATIO},
            "ratio_low": record.ratio and record.ratio.low,
            "ratio_high": record.ratio and record.ratio.high,
            "reversed": bool(record.details.get("reversed")),
            "undone": record.undone,
        }
        for group, of_group in runs.items()
        for record in of_group
    ]
    if not lines:
        return {}
    kinds = {"group": pl.Int64(), SEED: pl.Int64(), **dict.fromkeys(_EVERY, pl.Boolean())}
    schema = {name: kinds.get(name, pl.Float64()) for name in lines[0]}
    means = mean_of_seeds(pl.DataFrame(lines, schema=schema), ("group",))
    return {line["group"]: line for line in means.iter_rows(named=True)}


def _mean(runs: Sequence[Record], mean: Mapping[str, Any]) -> Record:
    """Return the record of several runs, of which the first has the smallest seed."""
    first = runs[0]
    details: dict[str, Any] = {
        RUNS: [record.value for record in runs],
        "standard_error": mean["spread"] / math.sqrt(mean["seeds"]),
    }
    details |= {key: first.details[key] for key in ("alternative",) if key in first.details}
    if "reversed" in first.details:
        details["reversed"] = mean["reversed"]
    if mean["undone"]:
        details["undone"] = first.details["undone"]
    interval = next((record.interval for record in runs if record.interval is not None), None)
    if interval is not None:
        ends = {"low": mean["low"], "high": mean["high"]}
        method = f"mean over {len(runs)} seeds of: {interval.method}"
        interval = interval.model_copy(update={**ends, "method": method})
    floor = next((record.floor for record in runs if record.floor is not None), None)
    if floor is not None:
        update = {"mean": "floor", **{key: f"floor_{key}" for key in ("sd", "centre", "spread")}}
        floor = floor.model_copy(update={key: mean[name] for key, name in update.items()})
    ratio = next((record.ratio for record in runs if record.ratio is not None), None)
    if ratio is not None:
        update = {name: mean[name] for name in _OF_RATIO}
        update |= {"low": mean["ratio_low"], "high": mean["ratio_high"]}
        ratio = ratios.with_value(ratio.model_copy(update=update))
    return _with_any_seed(first).model_copy(
        update={
            **{name: mean[name] for name in ("value", "p_value", "unit")},
            "details": details,
            "interval": interval,
            "floor": floor,
            "ratio": ratio,
            "tables": {},
            "samples": None,
        }
    )


def standard_error(record: Record) -> float | None:
    """Return the standard error of a mean over runs; None if the record is of one run."""
    return finite(record.details["standard_error"]) if RUNS in record.details else None


def _with_any_seed(record: Record) -> Record:
    """Return a record without the seed of its mitigator."""
    part = record.mitigator
    params = {
        key: {k: v for k, v in value.items() if k != SEED} if isinstance(value, dict) else value
        for key, value in part.params.items()
        if key != SEED
    }
    part = part.model_copy(update={"label": _without_seed(part.label), "params": params})
    return record.model_copy(update={"mitigator": part})


def _without_seed(label: str) -> str:
    """Return the label of a mitigator without the option `seed` of any stage."""
    stages = names.chain_stages(label)
    if not any(SEED in stage.options for stage in stages):
        return label
    return "+".join(
        names.with_options(
            stage.name, {key: value for key, value in stage.options.items() if key != SEED}
        )
        for stage in stages
    )
