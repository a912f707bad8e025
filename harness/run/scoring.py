"""From vectors to scores: encodes, mitigates, drops what is missing, and calls the metrics."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.arrays import Mask, Reals, Vectors, has_direction
from harness.digest import digest, json_like
from harness.embedder import Role
from harness.errors import HarnessError
from harness.metrics import Metric
from harness.results.record import Coverage, finite
from harness.run import plan
from harness.run.plan import Job
from harness.scores import Samples, Score
from harness.task.inputs import Input
from harness.task.task import Measurement, Scenario

# The vectors of the texts of one job, under its mitigator.
#
# Each text is encoded and transformed once a job, in the order of the task's inputs. The last
# digits of a product depend on which texts are transformed together. So they do not depend on the
# jobs that ran before, or in which process, and the vectors of all tasks are never in memory
# together.


Encode = Callable[[Sequence[str]], Vectors]
Reading = Callable[[Role], contextlib.AbstractContextManager[None]]


class JobVectors:
    """The vectors of a job.

    Parameters
    ----------
    job
        The job; its mitigator must be fitted.
    encode
        Returns the (n, d) vectors of texts, unmitigated.
    reading
        Returns a context in which `encode` takes texts as texts of a role.
    """

    def __init__(self, job: Job, encode: Encode, reading: Reading) -> None:
        self._job, self._encode, self._reading = job, encode, reading
        self._rows: dict[tuple[int, Role, str], Vectors] = {}  # by chain, role and text

    def unmitigated(self, input_: Input) -> Vectors:
        """Return the (n, d) vectors of an input as the model gives them."""
        with self._reading(input_.role):
            return self._encode(input_.texts or ())

    def mitigated(self, input_: Input) -> Vectors:
        """Return the (n, d) vectors of an input under the mitigator.

        Raises
        ------
        HarnessError
            If the mitigator does not return one text or vector for each.
        """
        chain, texts = self._job.chain(input_), input_.texts or ()
        if input_.original or not chain.mitigators:
            return self.unmitigated(input_)
        keys = [(id(chain), input_.role, text) for text in texts]
        new = [key for key in dict.fromkeys(keys) if key not in self._rows]
        if new:
            written = [text for _, _, text in new]
            with self._reading(input_.role):
                rows = chain.transform(self._encode(chain.rewrite(written)), written)
            self._rows.update(zip(new, rows, strict=True))
        return np.stack([self._rows[key] for key in keys])


# What a metric gets of a task: the arrays, clusters and texts of its inputs, without missing rows.
#
# Made from the vectors of the task's texts, whoever looked them up.


SAME = 1e-5
"""Largest relative difference of equal vectors: the batch of a text changes its vector as much."""


@dataclass(frozen=True, eq=False)
class MetricInputs:
    """The inputs of a metric, each by the name of its parameter; row i of all is the same item.

    Parameters
    ----------
    arrays
        (n, d) vectors or (n,) numbers.
    clusters
        (n,) cluster codes.
    texts
        The n texts; none for numbers.
    """

    arrays: Mapping[str, Reals]
    clusters: Mapping[str, Any]
    texts: Mapping[str, Sequence[str]]

    @classmethod
    def of(
        cls,
        inputs: Mapping[str, Input],
        vectors: Mapping[str, Vectors],
        kept: Mapping[str, Mask],
    ) -> MetricInputs:
        """Return the rows that are kept of a metric's inputs.

        Parameters
        ----------
        inputs
            Inputs by parameter of the metric.
        vectors
            (n, d) vectors by the name of the input.
        kept
            (n,) which rows are kept, by group.
        """
        arrays: dict[str, Reals] = {}
        clusters, texts = {}, {}
        for parameter, input_ in inputs.items():
            mask = kept[input_.group]
            numbers = input_.numbers
            arrays[parameter] = (vectors[input_.name] if numbers is None else numbers)[mask]
            clusters[parameter] = input_.clusters[mask]
            texts[parameter] = tuple(itertools.compress(input_.texts or (), mask))
        return cls(arrays, clusters, texts)


def usable_rows(inputs: Mapping[str, Input], vectors: Mapping[str, Vectors]) -> dict[str, Mask]:
    """Return by group which rows have a vector in every aligned input."""
    kept = {input_.group: np.ones(len(input_), dtype=bool) for input_ in inputs.values()}
    for input_ in inputs.values():
        if input_.texts is not None:
            kept[input_.group] &= has_direction(vectors[input_.name])
    return kept


def too_few(
    inputs: Mapping[str, Input], kept: Mapping[str, Mask], max_missing: float
) -> str | None:
    """Return the reason why the inputs cannot be scored, or None if they can."""
    for input_ in inputs.values():
        lost = 1 - float(kept[input_.group].mean())
        if lost > max_missing or lost == 1:
            return (
                f"{lost:.0%} of '{input_.name}' has no vector, "
                f"more than the {max_missing:.0%} that the task allows"
            )
    return None


def all_equal(
    inputs: Mapping[str, Input],
    kept: Mapping[str, Mask],
    vectors: Mapping[str, Vectors],
    embedded: Callable[[Input], Sequence[str]],
) -> str | None:
    """Return a reason if different texts all have one vector, or None.

    No difference is not fairness: such a model reads nothing.

    Parameters
    ----------
    inputs, vectors, kept
        As in `MetricInputs.of`.
    embedded
        Returns the texts of an input as they are embedded, rewritten by the mitigator.
    """
    texts: set[str] = set()
    first = None
    for input_ in inputs.values():
        if input_.texts is None:
            continue
        mask = kept[input_.group]
        usable = vectors[input_.name][mask]
        first = usable[0] if first is None else first
        if np.abs(usable - first).max() > SAME * np.abs(first).max():
            return None
        texts.update(itertools.compress(embedded(input_), mask))
    return "all texts have the same vector" if len(texts) > 1 else None


# The rows of `--samples`: the texts of each item of a score, and what the item contributes.


SampleRow = dict[str, Any]


class SampleRows:
    """The rows of the scores of one metric on one scenario.

    Parameters
    ----------
    job
        The task under its mitigator, which may rewrite texts.
    metric
        The metric.
    inputs
        Input by parameter of the metric.
    kept
        By group of inputs, which rows the metric got.
    """

    def __init__(
        self, job: Job, metric: Metric, inputs: Mapping[str, Input], kept: Mapping[str, Mask]
    ) -> None:
        self.job, self.metric, self.inputs, self.kept = job, metric, inputs, kept

    def of(self, score: Score) -> list[SampleRow]:
        """Return the rows of a score.

        A row has the text of the item as `text` and its input as `input`; an item of several
        inputs, such as a pair, has each text under the name of its input. `embedded` is the text
        as the mitigator rewrote it, and `cluster` the number that items of one word share.

        Raises
        ------
        HarnessError
            If the metric's samples do not fit its inputs.
        """
        samples = score.samples() if callable(score.samples) else score.samples
        return list(itertools.chain.from_iterable(map(self._part, samples)))

    def _part(self, part: Samples) -> Iterator[SampleRow]:
        names = (part.inputs,) if isinstance(part.inputs, str) else tuple(part.inputs)
        columns: dict[str, Sequence[Any]] = {}
        for name in names:
            columns |= self._texts(name, part, single=len(names) == 1)
        if names:
            columns |= self._clusters(names[0], part)
        columns |= {name: _values(values) for name, values in part.columns.items()}
        if part.contribution is not None:
            columns["contribution"] = _values(part.contribution)
        lengths = {name: len(values) for name, values in columns.items()}
        if len(set(lengths.values())) > 1:
            sizes = ", ".join(f"{name} {length}" for name, length in lengths.items())
            raise HarnessError(f"{self.metric}: columns of its samples differ in length: {sizes}")
        for values in zip(*columns.values(), strict=True):
            yield dict(zip(columns, values, strict=True))

    def _texts(self, name: str, part: Samples, *, single: bool) -> dict[str, Sequence[Any]]:
        """Return the columns of the texts of an input."""
        input_ = self.inputs.get(name)
        if input_ is None or input_.texts is None:
            raise HarnessError(f"{self.metric}: its samples are of '{name}', no input with texts")
        texts = self._chosen(input_, input_.texts, part)
        embedded = self._chosen(input_, self.job.texts(input_), part)
        rewritten = {"embedded" if single else f"{name}_embedded": embedded}
        columns: dict[str, Sequence[Any]] = {name: texts}
        if single:
            columns = {"input": [name] * len(texts), "text": texts}
        return columns | (rewritten if embedded != texts else {})

    def _clusters(self, name: str, part: Samples) -> dict[str, Sequence[int]]:
        """Return the column of the clusters of an input, if items share one."""
        input_ = self.inputs[name]
        codes = self._chosen(input_, input_.clusters.tolist(), part)
        return {"cluster": codes} if len(set(codes)) < len(codes) else {}

    def _chosen(self, input_: Input, values: Sequence[Any], part: Samples) -> list[Any]:
        """Return the values of the items of a part, from those of all rows of the input."""
        kept = list(itertools.compress(values, self.kept[input_.group]))
        if part.rows is None:
            return kept
        try:
            return [kept[row] for row in np.asarray(part.rows).tolist()]
        except (IndexError, TypeError):
            raise HarnessError(
                f"{self.metric}: its samples have rows that '{input_.name}' does not have"
            ) from None


def _values(values: Any) -> list[Any]:
    """Return the values of a column as JSON values; NaN and infinity become None."""
    return [_finite(value) for value in map(json_like, values)]


def _finite(value: Any) -> Any:
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return finite(value) if isinstance(value, float) else value


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
        self.fitted_on = plan.fitted_on(job, encode)

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
            overlap=tuple(sorted(plan.judged_texts(inputs.values()) & self.fitted_on)),
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
