"""Makes records of measurements: everything that is needed to trust and repeat a score."""

from __future__ import annotations

import contextlib
import functools
import platform
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import metadata

import harness
from harness.digest import json_like
from harness.embedder import ModelInfo
from harness.metrics import Score
from harness.results.record import Environment, IntervalPart, ModelPart, Record, TaskPart, finite
from harness.run.plan import Job
from harness.run.scoring import Measured

PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "transformers", "sentence-transformers")
"""Packages whose version can change a number."""


def records(
    job: Job, measured: Measured, info: ModelInfo, *, run: str, seed: int, device: str
) -> Iterator[Record]:
    """Yield the record of each score of a measurement.

    Parameters
    ----------
    job, measured, info
        What was measured of which model.
    run
        Identifies the run.
    seed
        Seed of the run.
    device
        Devices that encoded.
    """
    file, metric = job.task.file, measured.measurement.metric
    primary = (file.primary.scenario, file.primary.metric, file.primary.score)
    for name, score in measured.scores.items():
        scale = metric.scores[name]
        value = finite(score.value)
        record = Record(
            run=run,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            model=model_part(info),
            mitigator=job.part,
            task=TaskPart(
                name=file.name,
                version=file.version,
                digest=job.task.digest,
                title=file.title,
                measures=file.measures,
            ),
            concept=file.concept,
            category=file.category,
            language=file.language,
            scenario=measured.scenario.name,
            metric=metric.name,
            options=json_like(measured.options),
            score=name,
            primary=(measured.scenario.name, metric.name, name) == primary,
            value=value,
            reason=None if value is not None else score.reason or "the metric is undefined here",
            ideal=scale.ideal,
            bounds=scale.bounds,
            p_value=finite(score.p_value),
            interval=_interval(score) if value is not None else None,
            n=None if score.n is None else int(score.n),
            clusters=measured.clusters,
            details=json_like(score.details),
            coverage=measured.coverage,
            overlap=measured.overlap,
            seed=seed,
            seconds=measured.seconds,
            environment=environment(device),
        )
        yield record.keeping(score.tables, score.figures)


@functools.cache
def environment(device: str) -> Environment:
    """Return what this process runs on."""
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
    """Return how records name a model."""
    return ModelPart(
        name=info.name,
        revision=info.revision,
        fingerprint=info.fingerprint,
        kind=info.kind,
        dimensions=info.dimensions,
        parameters=info.n_parameters,
        url=info.url,
        published=dict(info.scores),
    )


def _interval(score: Score) -> IntervalPart | None:
    given = score.interval
    if given is None or finite(given.low) is None or finite(given.high) is None:
        return None
    return IntervalPart(low=given.low, high=given.high, level=given.level, method=given.method)
