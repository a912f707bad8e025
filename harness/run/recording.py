"""Makes records of scores: everything that is needed to trust and repeat a score."""

from __future__ import annotations

import contextlib
import functools
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata

import numpy as np

import harness
from harness import labels
from harness.digest import json_like
from harness.embedder import ModelInfo
from harness.results.record import Record, finite
from harness.results.record_parts import Environment, FloorPart, IntervalPart, ModelPart, TaskPart
from harness.run.plan import Job
from harness.run.scoring import MetricScores
from harness.scores import Ideal, Score

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
            options=labels.public(json_like(result.options)),
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
