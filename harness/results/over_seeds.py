"""Means over runs that differ only in a seed: of the run, or the option `seed` of a mitigator.

A score that depends on a random choice, such as the answers of a language model, is worth as much
as its spread over runs.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean, stdev
from typing import Any

from harness import labels, names
from harness.results.record import Record, finite
from harness.results.record_parts import IntervalPart, MitigatorPart

SEED = "seed"
LEVEL = 0.95
RUNS = "runs"
"""Key of the details of a mean: the values of its runs."""


def over_seeds(records: Iterable[Record]) -> list[Record]:
    """Return records in which runs that differ only in a seed are one record: their mean.

    The mean has the values of its runs in the details (`runs`), with their `standard_error`, the
    sample standard deviation over √n. Its interval is that of Student's t with n − 1 degrees of
    freedom, which is wide for two runs. It has no p-value. A score with a single value stays as it
    is. A run without a value does not count.
    """
    groups: dict[tuple[Any, ...], list[Record]] = defaultdict(list)
    for record in records:
        part = record.model
        mitigator = (_without_seed(record.mitigator.label), record.mitigator.concept)
        task = (record.task.name, record.task.version, record.task.digest)
        score = (record.scenario, record.metric, record.score, record.limit)
        groups[part.name, part.fingerprint, *mitigator, *task, *score].append(record)
    return [_mean(group) for group in groups.values()]


def _mean(group: Sequence[Record]) -> Record:
    runs = [record for record in group if record.value is not None]
    first = (runs or group)[0]
    update: dict[str, Any] = {"mitigator": _of_any_seed(first.mitigator)}
    values = [record.value for record in runs if record.value is not None]
    if len(values) > 1:
        error = stdev(values) / math.sqrt(len(values))
        update |= {
            "value": fmean(values),
            "details": {RUNS: values, "standard_error": error},
            "interval": _interval(fmean(values), error, len(values), first.bounds),
            "p_value": None,
            "tables": {},
            "figures": {},
            "samples": None,
        }
    return first.model_copy(update=update)


def _interval(
    mean: float, error: float, n: int, bounds: tuple[float | None, float | None]
) -> IntervalPart:
    from scipy.stats import t

    half = float(t.ppf((1 + LEVEL) / 2, n - 1)) * error
    low, high = mean - half, mean + half
    return IntervalPart(
        low=low if bounds[0] is None else max(low, bounds[0]),
        high=high if bounds[1] is None else min(high, bounds[1]),
        level=LEVEL,
        method=f"Student's t over {n} runs",
    )


def standard_error(record: Record) -> float | None:
    """Return the standard error of a mean over runs; None if the record is of one run."""
    return finite(record.details["standard_error"]) if RUNS in record.details else None


def _of_any_seed(part: MitigatorPart) -> MitigatorPart:
    params = {
        key: {k: v for k, v in value.items() if k != SEED} if isinstance(value, dict) else value
        for key, value in part.params.items()
        if key != SEED
    }
    return part.model_copy(update={"label": _without_seed(part.label), "params": params})


def _without_seed(label: str) -> str:
    """Return the label of a mitigator without the option `seed` of any stage."""
    stages = names.mitigators(label)
    if not any(SEED in stage.options for stage in stages):
        return label
    return "+".join(
        labels.with_options(
            stage.name, {key: value for key, value in stage.options.items() if key != SEED}
        )
        for stage in stages
    )
