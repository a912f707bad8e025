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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness import names
from harness.results import ratios
from harness.results.record import Record, finite

if TYPE_CHECKING:
    import polars as pl


SEED = "seed"
RUNS = "runs"
"""Key of the details of a mean: the values of its runs."""
_OF_FLOOR = ("sd", "centre", "spread")
_OF_RATIO = ("gap", "gap_error", "yardstick", "yardstick_error")
_FIELDS = {
    **{name: name for name in (SEED, "value", "p_value", "unit")},
    **{name: f"interval.{name}" for name in ("low", "high")},
    "floor": "floor.mean",
    **{f"floor_{key}": f"floor.{key}" for key in _OF_FLOOR},
    **{name: f"ratio.{name}" for name in _OF_RATIO},
    "ratio_low": "ratio.low",
    "ratio_high": "ratio.high",
}
"""What is a mean over runs of a record, or needed for it, by the names of columns."""
_MEANS = "measure", "distance", *(name for name in _FIELDS if name not in (SEED, "p_value"))
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
    runs = [
        sorted((r for r in of if r.value is not None), key=lambda r: r.seed) or of[:1]
        for of in groups.values()
    ]
    means = _means([of for of in runs if len(of) > 1])
    return [_mean(of, next(means)) if len(of) > 1 else _with_any_seed(of[0]) for of in runs]


def _means(runs: Sequence[Sequence[Record]]) -> Iterator[dict[str, Any]]:
    """Yield the line of `mean_of_seeds` for each group of runs."""
    import polars as pl

    from harness.results.columns import Columns

    frame = Columns.of(record for of in runs for record in of).flat(_FIELDS)
    group = pl.Series([group for group, of in enumerate(runs) for _ in of], dtype=pl.Int64)
    yield from mean_of_seeds(frame.with_columns(group=group), ("group",)).iter_rows(named=True)


def _mean(runs: Sequence[Record], mean: Mapping[str, Any]) -> Record:
    """Return the record of several runs, of which the first has the smallest seed."""
    first = runs[0]
    details: dict[str, Any] = {
        RUNS: [record.value for record in runs],
        "standard_error": mean["spread"] / math.sqrt(mean["seeds"]),
    }
    details |= {key: first.details[key] for key in ("alternative",) if key in first.details}
    if "reversed" in first.details:
        details["reversed"] = all(record.details.get("reversed") for record in runs)
    if all(record.undone for record in runs):
        details["undone"] = first.details["undone"]
    parts: dict[str, Any] = {}
    for name in ("interval", "floor", "ratio"):
        part = next((of for of in (getattr(r, name) for r in runs) if of is not None), None)
        paths = {column: path.partition(".") for column, path in _FIELDS.items()}
        update = {key: mean[column] for column, (of, _, key) in paths.items() if of == name}
        parts[name] = None if part is None else part.model_copy(update=update)
    if parts["interval"] is not None:
        method = f"mean over {len(runs)} seeds of: {parts['interval'].method}"
        parts["interval"] = parts["interval"].model_copy(update={"method": method})
    if parts["ratio"] is not None:
        parts["ratio"] = ratios.with_value(parts["ratio"])
    values = {name: mean[name] for name in ("value", "p_value", "unit")}
    update = {**values, **parts, "details": details, "tables": {}, "samples": None}
    return _with_any_seed(first).model_copy(update=update)


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
