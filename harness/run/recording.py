"""Makes records of scores: everything that is needed to trust and repeat a score."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import math
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from statistics import fmean

import numpy as np

import harness
from harness import names
from harness.digest import json_like
from harness.embedder import ModelInfo
from harness.encode.stored_embedder import StoredEmbedder
from harness.results.record import (
    Environment,
    FloorPart,
    Frequency,
    IntervalPart,
    ModelPart,
    Record,
    TaskPart,
    finite,
)
from harness.run.plan import Job
from harness.run.scoring import MetricScores
from harness.scores import Ideal, Score
from harness.task.inputs import Input
from harness.task.task import Measurement

PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "transformers", "sentence-transformers")
"""Packages whose version can change a score."""


@dataclass(frozen=True)
class Provenance:
    """Where the records of one model in one run come from.

    Parameters
    ----------
    run
        Identifies the run.
    model
        The model as records name it.
    seed
        Seed of the run.
    environment
        Versions and devices that it ran on.
    """

    run: str
    model: ModelPart
    seed: int
    environment: Environment


def make_records(job: Job, result: MetricScores, provenance: Provenance) -> Iterator[Record]:
    """Yield a record for each score of a metric on a scenario of a job."""
    file, metric = job.task.file, result.measurement.metric
    primary = (file.primary.scenario, file.primary.metric, file.primary.score)
    for name, score in result.scores.items():
        scale = metric.scores[name]
        value = finite(score.value)
        record = Record(
            run=provenance.run,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            model=provenance.model,
            mitigator=job.part,
            task=TaskPart(
                name=file.name,
                version=file.version,
                digest=job.task.digest_of(result.measurement),
                title=file.title,
                measures=file.measures,
                family=file.family or file.primary.metric,
                unranked=file.not_ranked,
                required=file.required,
            ),
            concept=file.concept,
            category=file.category,
            language=file.language,
            scenario=result.scenario.name,
            metric=metric.name,
            options=names.public_value(json_like(result.options)),
            score=name,
            primary=(result.scenario.name, metric.name, name) == primary,
            value=value,
            reason=None if value is not None else score.reason,
            ideal=scale.ideal,
            bounds=score.bounds or scale.bounds,
            p_value=finite(score.p_value),
            interval=_interval(score) if value is not None else None,
            floor=floor_of(score, scale.ideal) if value is not None else None,
            unit=finite(score.unit),
            n=None if score.n is None else int(score.n),
            clusters=result.clusters,
            details=json_like(score.details),
            coverage=result.coverage,
            overlap=result.overlap,
            seed=provenance.seed,
            limit=job.task.limit,
            seconds=result.seconds,
            environment=provenance.environment,
        )
        samples = None if result.samples is None else result.samples[name]
        yield record.keeping(score.tables, score.figures, samples)


@functools.cache
def environment(device: str) -> Environment:
    """Return the versions that this process runs on; `device` names the devices that encoded."""
    packages = {}
    for package in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            packages[package] = metadata.version(package)
    return Environment(
        harness=harness.__version__,
        python=platform.python_version(),
        platform=f"{sys.platform}-{platform.machine()}",
        device=device,
        packages=packages,
    )


def model_part(info: ModelInfo) -> ModelPart:
    """Return a model as records name it."""
    return ModelPart(
        name=info.name,
        aliases=info.aliases,
        revision=info.revision,
        fingerprint=info.fingerprint,
        kind=info.kind,
        dimensions=info.dimensions,
        parameters=info.n_parameters,
        max_tokens=info.max_tokens,
        licence=info.licence,
        open_weights=info.open_weights,
        released=info.released,
        superseded_by=info.superseded_by,
        languages=info.languages,
        prompts={str(role): prompt for role, prompt in info.role_prompts.items()},
        routes={str(role): route for role, route in info.routes.items()},
        url=info.url,
        published=dict(info.scores),
    )


def floor_of(score: Score, ideal: Ideal) -> FloorPart | None:
    """Return the floor of a score; None if it has none, or if its ideal is no number."""
    if score.null is None or isinstance(ideal, str):
        return None
    values = np.asarray(score.null.values, dtype=np.float64)
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return None
    distances = np.abs(values - ideal)
    return FloorPart(
        mean=float(distances.mean()),
        sd=float(distances.std()),
        centre=float(values.mean()),
        spread=float(values.std()),
        draws=len(values),
        shuffled=score.null.shuffled,
    )


def _interval(score: Score) -> IntervalPart | None:
    interval = score.interval
    if interval is None or finite(interval.low) is None or finite(interval.high) is None:
        return None
    return IntervalPart(
        low=interval.low, high=interval.high, level=interval.level, method=interval.method
    )


# How frequent the words of a score are, from their places in the vocabulary of a word embedder.
#
# Vectors depend on frequency, so that scores of bias do, even where there is no bias: Valentini,
# Rosati, Fernandez Slezak and Altszyler (2022), The undesirable dependence on frequency of gender
# bias metrics based on word embeddings. They show the effect and give no threshold; the two below
# are the harness's own.


Ranks = Callable[[Sequence[str]], Sequence[int] | None]
"""Returns the rank of each word, 1 for the most frequent one and 0 if it is unknown, or None."""
FREQUENT = 50_000
"""Words of greater rank are rare. Bolukbasi et al. (2016) study the 50,000 most frequent words."""
UNLIKE = 3.0
"""Contrasted sets whose typical ranks differ by this factor, about half an order of magnitude, are
unlike."""
SHOWN = 4
"""Most tasks that a notice names."""


def frequency_of(measurement: Measurement, ranks: Ranks) -> Frequency | None:
    """Return the typical rank of each input; None if the order of the vocabulary is unknown."""
    typical: dict[str, float] = {}
    rare: dict[str, int] = {}
    for parameter, input_ in measurement.inputs.items():
        if input_.texts is None or input_.vocabulary:
            continue
        words = list(dict.fromkeys(input_.texts))
        of_words = ranks(words)
        if of_words is None:
            return None
        known = {word: rank for word, rank in zip(words, of_words, strict=True) if rank}
        if known:
            typical[parameter] = math.exp(fmean(map(math.log, known.values())))
        rare |= {word: rank for word, rank in known.items() if rank > FREQUENT}
    contrast = measurement.metric.contrast
    pairs = [] if contrast is None else [contrast.sides, contrast.towards]
    return Frequency(
        ranks={parameter: round(rank) for parameter, rank in typical.items()},
        unlike={
            " and ".join(pair): round(ratio, 1)
            for pair in pairs
            if len(pair) == 2 and set(pair) <= set(typical)
            if (ratio := _ratio(*(typical[name] for name in pair))) >= UNLIKE
        },
        rare=tuple(rare),
    )


def frequency_notices(records: Iterable[Record], model: str) -> list[str]:
    """Return what the user should know of the frequency of the words of bias tasks."""
    unlike: dict[str, str] = {}
    rare: dict[str, str] = {}
    for record in records:
        frequency = record.coverage.frequency
        if frequency is None or record.task.measures != "bias":
            continue
        if frequency.unlike:
            unlike[record.task.name] = f"{max(frequency.unlike.values()):g} ×"
        if frequency.rare:
            rare[record.task.name] = f"{len(frequency.rare)}"
    lines = []
    if unlike:
        lines.append(
            f"{model}: contrasted words differ in frequency in {_listed(unlike)}: "
            "part of the association may be frequency (coverage.frequency)"
        )
    if rare:
        lines.append(
            f"{model}: words that are not among the {FREQUENT:,} most frequent ones in "
            f"{_listed(rare)}: their vectors are less certain (coverage.frequency)"
        )
    return lines


def _ratio(first: float, second: float) -> float:
    return max(first, second) / min(first, second)


def _listed(by_task: dict[str, str]) -> str:
    named = [f"{task} ({value})" for task, value in list(by_task.items())[:SHOWN]]
    more = len(by_task) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


# What only the model knows about the texts of a score: which it cuts, and how frequent words are.
#
# The main process adds it to records, wherever they were computed.


@dataclasses.dataclass(frozen=True)
class _Facts:
    """Facts as in a record's coverage."""

    truncated: int | None
    frequency: Frequency | None


class ModelFacts:
    """Adds to records what the model knows about their texts.

    Parameters
    ----------
    vectors
        The model.
    """

    def __init__(self, vectors: StoredEmbedder) -> None:
        self._vectors = vectors
        # By task, scenario and metric, since the words are the same under every mitigator.
        self._frequency: dict[tuple[str, str, str], Frequency | None] = {}

    def added(self, job: Job, records: Sequence[Record]) -> list[Record]:
        """Return the records of a job with these facts in their coverage."""
        facts = {
            (scenario.name, measurement.metric.name): _Facts(
                self._truncated(job, measurement.inputs.values()),
                self._frequency_of(job, scenario.name, measurement),
            )
            for scenario in job.task.scenarios
            for measurement in scenario.measurements
        }
        updated = []
        for record in records:
            of_record = facts[record.scenario, record.metric]
            update = {"truncated": of_record.truncated, "frequency": of_record.frequency}
            coverage = record.coverage.model_copy(update=update)
            updated.append(record.model_copy(update={"coverage": coverage}))
        return updated

    def _truncated(self, job: Job, inputs: Iterable[Input]) -> int | None:
        """Return how many distinct texts the model cuts; None if it cannot say."""
        too_long: set[str] = set()
        for input_ in inputs:
            if input_.texts is None:
                continue
            with self._vectors.reading(input_.role):
                cut = self._vectors.truncated(job.texts(input_))
            if cut is None:
                return None
            too_long.update(itertools.compress(input_.texts, cut))
        return len(too_long)

    def _frequency_of(self, job: Job, scenario: str, measurement: Measurement) -> Frequency | None:
        key = job.task.name, scenario, measurement.metric.name
        if key not in self._frequency:
            self._frequency[key] = frequency_of(measurement, self._vectors.ranks)
        return self._frequency[key]
