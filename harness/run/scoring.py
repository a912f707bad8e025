"""From stored vectors to scores: fits the mitigator, drops what is missing, calls the metrics."""

from __future__ import annotations

import dataclasses
import itertools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.arrays import Reals, Vectors, has_direction
from harness.digest import digest
from harness.errors import HarnessError
from harness.metrics import Score
from harness.results.record import Coverage
from harness.run.plan import Job
from harness.task.inputs import Input
from harness.task.task import Measurement, Scenario

Encode = Callable[[Sequence[str]], Vectors]
Truncated = Callable[[Sequence[str]], Sequence[bool] | None]


@dataclass(frozen=True)
class Measured:
    """What a metric said of a scenario.

    Parameters
    ----------
    scenario, measurement
        What was measured.
    options
        Options of the metric, defaults included.
    scores
        Scores by name.
    coverage
        How many distinct texts had a usable vector.
    clusters
        Number of distinct items that the texts were made of.
    overlap
        Texts that the mitigator was fitted on too.
    seconds
        Time that the metric took.
    """

    scenario: Scenario
    measurement: Measurement
    options: Mapping[str, Any]
    scores: Mapping[str, Score]
    coverage: Coverage
    clusters: int
    overlap: tuple[str, ...]
    seconds: float


def measure(
    job: Job, encode: Encode, *, seed: int, truncated: Truncated | None = None
) -> list[Measured]:
    """Return all measurements of a job; its mitigator must be fitted.

    Parameters
    ----------
    job
        The task under its mitigator.
    encode
        Gives the vectors, (n, d), of texts, unmitigated.
    seed
        Seed of the run.
    truncated
        Says whether the model cuts each text for its length, or None; None if nobody can say.
    """
    fitted_on = {
        text for stage in job.mitigator.mitigators for text in stage.fitting_texts(job.concept)
    }  # as written: what is made of a word is about that word
    measured = []
    for scenario in job.task.scenarios:
        vectors = {
            name: _mitigated(job, given, encode)
            for name, given in scenario.inputs.items()
            if given.texts is not None
        }
        cut = {
            name: truncated(job.texts(scenario.inputs[name])) if truncated else None
            for name in vectors
        }
        for measurement in scenario.measurements:
            generator = random_generator(
                seed, job.task.digest, scenario.name, measurement.metric.name
            )
            one = _measure(job, scenario, measurement, vectors, cut, fitted_on, generator)
            if job.mitigator.mitigators and any(map(_nothing_left, one.scores.values())):
                own = {name: encode(scenario.inputs[name].texts or ()) for name in vectors}
                before = _measure(job, scenario, measurement, own, cut, fitted_on, generator)
                one = dataclasses.replace(one, scores=_undone(one.scores, before.scores))
            measured.append(one)
    return measured


def random_generator(seed: int, *what: str) -> np.random.Generator:
    """Return the generator for a random choice: a function of the seed and what it is for.

    The model is left out, so that all models are judged by the same draws.
    """
    return np.random.default_rng([seed, int(digest(list(what)), 16)])


def _mitigated(job: Job, given: Input, encode: Encode) -> Vectors:
    texts = given.texts or ()
    if given.original:
        return encode(texts)
    chain = job.chain(given)
    if not chain.mitigators:
        return encode(texts)
    new = [text for text in dict.fromkeys(texts) if text not in chain.known]
    if new:
        rows = chain.transform(encode(chain.rewrite(new)), new)
        if rows.ndim != 2 or len(rows) != len(new):
            raise HarnessError(
                f"'{job.part.name}' returned an array of shape {rows.shape} for {len(new)} texts"
            )
        chain.known.update(zip(new, rows, strict=True))
    return np.stack([chain.known[text] for text in texts])


def _measure(
    job: Job,
    scenario: Scenario,
    measurement: Measurement,
    vectors: Mapping[str, Vectors],
    cut: Mapping[str, Sequence[bool] | None],
    fitted_on: set[str],
    rng: np.random.Generator,
) -> Measured:
    metric, inputs = measurement.metric, measurement.inputs
    kept = _usable(inputs, vectors)
    coverage = _coverage(inputs, vectors, cut)
    options = metric.options | dict(measurement.options)
    reason = _too_few(inputs, kept, job.task.file.max_missing)
    started = time.perf_counter()
    if reason:
        scores = {name: Score(float("nan"), reason=reason) for name in metric.scores}
    else:
        arrays: dict[str, Reals] = {}
        clusters, texts = {}, {}
        for parameter, given in inputs.items():
            values = vectors[given.name] if given.numbers is None else given.numbers
            arrays[parameter] = values[kept[given.group]]
            clusters[parameter] = given.clusters[kept[given.group]]
            texts[parameter] = tuple(itertools.compress(given.texts or (), kept[given.group]))
        scores = metric.measure(arrays, options, rng=rng, clusters=clusters, texts=texts)
    asked = {text for given in inputs.values() for text in (*(given.texts or ()), *given.items)}
    return Measured(
        scenario=scenario,
        measurement=measurement,
        options=options,
        scores=scores,
        coverage=coverage,
        clusters=sum(
            len(np.unique(given.clusters[kept[given.group]]))
            for given in {given.group: given for given in inputs.values()}.values()
        ),
        overlap=tuple(sorted(asked & fitted_on)),
        seconds=time.perf_counter() - started,
    )


def _nothing_left(score: Score) -> bool:
    """Return whether a score is undefined since there is no difference to measure."""
    return score.without_difference is not None and not math.isfinite(score.value)


def _undone(scores: Mapping[str, Score], before: Mapping[str, Score]) -> dict[str, Score]:
    """Return the scores, those defined that have no value because of the mitigator alone."""
    new = dict(scores)
    for name, score in scores.items():
        instead = score.without_difference if _nothing_left(score) else None
        if instead is not None and math.isfinite(before[name].value):
            new[name] = dataclasses.replace(
                score,
                value=instead,
                reason=None,
                details={**score.details, "undone": score.reason, "before": before[name].value},
            )
    return new


def _usable(
    inputs: Mapping[str, Input], vectors: Mapping[str, Vectors]
) -> dict[str, np.ndarray[Any, np.dtype[np.bool_]]]:
    """Return by group the rows that have a vector in every aligned input."""
    kept = {given.group: np.ones(len(given), dtype=bool) for given in inputs.values()}
    for given in inputs.values():
        if given.texts is not None:
            kept[given.group] &= has_direction(vectors[given.name])
    return kept


def _coverage(
    inputs: Mapping[str, Input],
    vectors: Mapping[str, Vectors],
    cut: Mapping[str, Sequence[bool] | None],
) -> Coverage:
    found: dict[str, bool] = {}
    too_long: set[str] | None = set()
    for given in inputs.values():
        if given.texts is not None:
            has = has_direction(vectors[given.name])
            found |= dict(zip(given.texts, has.tolist(), strict=True))
            marks = cut[given.name]
            if marks is None or too_long is None:
                too_long = None
            else:
                too_long.update(itertools.compress(given.texts, marks))
    missing = tuple(text for text, has in found.items() if not has)
    return Coverage(
        asked=len(found),
        found=len(found) - len(missing),
        missing=missing,
        truncated=None if too_long is None else len(too_long),
    )


def _too_few(
    inputs: Mapping[str, Input],
    kept: Mapping[str, np.ndarray[Any, np.dtype[np.bool_]]],
    max_missing: float,
) -> str | None:
    for given in inputs.values():
        lost = 1 - float(kept[given.group].mean())
        if lost > max_missing or lost == 1:
            return (
                f"{lost:.0%} of '{given.name}' has no vector, "
                f"more than the {max_missing:.0%} that the task allows"
            )
    return None
