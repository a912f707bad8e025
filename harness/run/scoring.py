"""From vectors to scores: encodes, mitigates, drops what is missing, and calls the metrics."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.arrays import Vectors, has_direction
from harness.digest import digest
from harness.results.record_parts import Coverage
from harness.run import leaks
from harness.run.job_vectors import Encode, JobVectors, Reading
from harness.run.metric_inputs import MetricInputs, all_equal, too_few, usable_rows
from harness.run.plan import Job
from harness.run.sample_rows import SampleRow, SampleRows
from harness.scores import Score
from harness.task.inputs import Input
from harness.task.task import Measurement, Scenario


@dataclass(frozen=True)
class MetricScores:
    """The scores of a metric on a scenario.

    Parameters
    ----------
    scenario, measurement
        The scenario, and the metric with its inputs.
    options
        Options of the metric, defaults included.
    scores
        Scores by name.
    coverage
        How many distinct texts had a usable vector; `model_facts` adds what the model says of them.
    clusters
        Number of distinct items that the texts were made of.
    overlap
        Texts of the task that the mitigator was fitted on, in any spelling that the model reads
        alike.
    seconds
        Time that the metric took.
    samples
        What each item contributes, by score; None if it was not asked for.
    """

    scenario: Scenario
    measurement: Measurement
    options: Mapping[str, Any]
    scores: Mapping[str, Score]
    coverage: Coverage
    clusters: int
    overlap: tuple[str, ...]
    seconds: float
    samples: Mapping[str, Sequence[SampleRow]] | None = None

    @property
    def lacks_samples(self) -> bool:
        """Whether samples were asked for, and the metric gives none of a value."""
        samples, scores = self.samples, self.scores
        if samples is None or any(samples.values()):
            return False
        return any(math.isfinite(score.value) for score in scores.values())


def measure(
    job: Job,
    encode: Encode,
    *,
    seed: int,
    reading: Reading = lambda _: contextlib.nullcontext(),
    samples: bool = False,
) -> list[MetricScores]:
    """Return the scores of all metrics of a job; its mitigator must be fitted.

    Parameters
    ----------
    job
        The task under its mitigator.
    encode
        Returns the (n, d) vectors of texts, unmitigated.
    seed
        Seed of the run.
    reading
        Returns a context in which `encode` takes texts as texts of a role.
    samples
        Whether to return what each item contributes.
    """
    scorer = _Scorer(job, encode, seed, reading, samples)
    return [scores for scenario in job.task.scenarios for scores in scorer.of_scenario(scenario)]


def random_generator(seed: int, *purpose: str) -> np.random.Generator:
    """Return the generator for random choices: a function of the seed and their purpose.

    The model is no part of the purpose, so that all models are judged by the same draws.
    """
    return np.random.default_rng([seed, int(digest(list(purpose)), 16)])


class _Scorer:
    """Scores one job; parameters as those of `measure`."""

    def __init__(
        self, job: Job, encode: Encode, seed: int, reading: Reading, samples: bool
    ) -> None:
        self.job, self.seed, self.samples = job, seed, samples
        self.vectors = JobVectors(job, encode, reading)
        self.fitted_on = leaks.fitted_on(job, encode)

    def of_scenario(self, scenario: Scenario) -> Iterator[MetricScores]:
        """Yield the scores of each metric of a scenario."""
        inputs = {name: i for name, i in scenario.inputs.items() if i.texts is not None}
        mitigated = {name: self.vectors.mitigated(input_) for name, input_ in inputs.items()}
        for measurement in scenario.measurements:
            digest = self.job.task.digest_of(measurement)
            rng = random_generator(self.seed, digest, scenario.name, measurement.metric.name)
            result = self._measured(scenario, measurement, mitigated, rng)
            if self.job.mitigator.mitigators and any(map(_nothing_left, result.scores.values())):
                unmitigated = {
                    name: self.vectors.unmitigated(input_) for name, input_ in inputs.items()
                }
                before = self._measured(scenario, measurement, unmitigated, rng)
                scores = _without_difference(result.scores, before.scores)
                result = dataclasses.replace(result, scores=scores)
            yield result

    def _measured(
        self,
        scenario: Scenario,
        measurement: Measurement,
        vectors: Mapping[str, Vectors],
        rng: np.random.Generator,
    ) -> MetricScores:
        metric, inputs = measurement.metric, measurement.inputs
        kept = usable_rows(inputs, vectors)
        coverage = _coverage(inputs, vectors)
        options = metric.options | dict(measurement.options)
        reason = too_few(inputs, kept, self.job.task.file.max_missing)
        reason = reason or all_equal(inputs, kept, vectors, self.job.texts)
        started = time.perf_counter()
        if reason:
            scores = {name: Score(float("nan"), reason=reason) for name in metric.scores}
        else:
            metric_inputs = MetricInputs.of(inputs, vectors, kept)
            scores = metric.measure(
                metric_inputs.arrays,
                options,
                rng=rng,
                clusters=metric_inputs.clusters,
                texts=metric_inputs.texts,
            )
        seconds = time.perf_counter() - started
        samples = None
        if self.samples:
            rows = SampleRows(self.job, metric, inputs, kept)
            samples = {name: rows.of(score) for name, score in scores.items()}
        one_of_each_group = {input_.group: input_ for input_ in inputs.values()}.values()
        return MetricScores(
            scenario=scenario,
            measurement=measurement,
            options=options,
            scores=scores,
            coverage=coverage,
            clusters=sum(
                len(np.unique(input_.clusters[kept[input_.group]])) for input_ in one_of_each_group
            ),
            overlap=tuple(sorted(leaks.judged_texts(inputs.values()) & self.fitted_on)),
            seconds=seconds,
            samples=samples,
        )


def _nothing_left(score: Score) -> bool:
    """Return whether a score is undefined because there is no difference to measure."""
    return score.without_difference is not None and not math.isfinite(score.value)


def _without_difference(
    scores: Mapping[str, Score], before: Mapping[str, Score]
) -> dict[str, Score]:
    """Return the scores, with a value for those that only the mitigator made undefined.

    Parameters
    ----------
    scores, before
        Scores by name of the mitigated vectors, and of the model's own.
    """
    defined = dict(scores)
    for name, score in scores.items():
        value = score.without_difference if _nothing_left(score) else None
        if value is not None and math.isfinite(before[name].value):
            details = {**score.details, "undone": score.reason, "before": before[name].value}
            defined[name] = dataclasses.replace(score, value=value, reason=None, details=details)
    return defined


def _coverage(inputs: Mapping[str, Input], vectors: Mapping[str, Vectors]) -> Coverage:
    has_vector: dict[str, bool] = {}
    for input_ in inputs.values():
        if input_.texts is not None:
            usable = has_direction(vectors[input_.name]).tolist()
            has_vector |= dict(zip(input_.texts, usable, strict=True))
    missing = tuple(text for text, has in has_vector.items() if not has)
    return Coverage(asked=len(has_vector), found=len(has_vector) - len(missing), missing=missing)
