"""The work of one process: a row in an outer fold, chosen in inner folds and judged outside."""

from __future__ import annotations

import contextlib
import functools
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.base import clone

from harness import folders, parallel
from harness.digest import json_like
from harness.embedder import Embedder
from harness.encode import admission
from harness.encode.engine import Engine
from harness.encode.stored_embedder import StoredEmbedder, store_of
from harness.errors import HarnessError
from harness.progress import Progress, Silent
from harness.registry.registry import Registry
from harness.study.base import Base
from harness.study.bench import Bench
from harness.study.candidates import Candidate
from harness.study.folds import Fold, Split
from harness.study.outcome import Outcome
from harness.study.pooling import pooled
from harness.study.study_record import Inner, Judged, Setting


@dataclass(frozen=True)
class Place:
    """Where a process finds the model.

    Parameters
    ----------
    model, fingerprint
        The model's name and fingerprint.
    include
        Further folders of tasks, concepts and studies.
    store
        Folder of the stored embeddings of text encoders.
    """

    model: str
    fingerprint: str
    include: tuple[Path, ...]
    store: folders.Place


@dataclass(frozen=True)
class Unit:
    """A row in an outer fold."""

    candidate: Candidate
    fold: Fold


@dataclass(frozen=True)
class Result:
    """The result of a row in an outer fold; fields as in the record."""

    inner: tuple[Inner, ...]
    settings: tuple[Setting, ...]
    judged: Mapping[str, Judged]
    reasons: Mapping[str, str]
    overlap: tuple[str, ...]
    seconds: float


def in_parallel(
    bench: Bench,
    place: Place,
    units: Sequence[Unit],
    workers: int,
    cluster: parallel.Cluster | None = None,
) -> Iterator[tuple[int, Result]]:
    """Yield the position and the result of each unit, as they are finished.

    Raises
    ------
    UsageError
        If a hyper-parameter is invalid.
    HarnessError
        If a process died; the other units are yielded first.
    """
    lost: list[str] = []
    judged = parallel.results(
        functools.partial(judge, bench, place), units, workers=workers, cluster=cluster
    )
    try:
        with contextlib.closing(judged):
            for i, result in judged:
                if isinstance(result, parallel.Lost):
                    row, fold = units[i].candidate.label, units[i].fold.number
                    lost.append(f"'{row}', fold {fold}: {result.reason}")
                else:
                    yield i, result
    finally:
        _base.cache_clear()  # of this process: the model must not outlive the run
    if lost:
        more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
        raise HarnessError(f"{lost[0]}{more}; run the study again to complete it")


def judge(bench: Bench, place: Place, unit: Unit) -> Result:
    """Choose a row's hyper-parameters in the inner folds, and judge them in the outer fold."""
    started = time.perf_counter()
    candidate, fold, study = unit.candidate, unit.fold, bench.study
    base = _base(place, study.starts_at_unit_length(candidate))

    def outcome(s: int, split: Split, *, floors: bool = False) -> Outcome:
        return bench.judge(base, clone(candidate.chains[s]), split, floors=floors)

    inner: list[list[Outcome]] = [[] for _ in candidate.settings]
    if len(candidate.settings) > 1:
        inner = [[outcome(s, split) for split in fold.inner] for s in range(len(inner))]
    distances = [_distances(outcomes, pool=study.judging == "pooled") for outcomes in inner]
    chosen = {c: best([of_setting.get(c) for of_setting in distances]) for c in study.criteria}
    outer = {s: outcome(s, fold.outer, floors=True) for s in dict.fromkeys(chosen.values())}
    params: list[dict[str, Any]] = [json_like(dict(setting)) for setting in candidate.settings]
    return Result(
        inner=tuple(
            Inner(params=params[s], fold=k, values=dict(outcome_.values))
            for s, of_setting in enumerate(inner)
            for k, outcome_ in enumerate(of_setting)
        ),
        settings=tuple(
            Setting(params=params[s], values=of_setting)
            for s, of_setting in enumerate(distances)
            if of_setting
        ),
        judged={criterion: _judged_by(outer[s], params[s]) for criterion, s in chosen.items()},
        reasons={name: why for judged in outer.values() for name, why in judged.reasons.items()},
        overlap=tuple(
            sorted({t for s in outer for t in bench.overlap(candidate.chains[s], fold.outer)})
        ),
        seconds=time.perf_counter() - started,
    )


def best(distances: Sequence[float | None]) -> int:
    """Return the setting with the least distance from fair.

    A setting without a distance, undefined in an inner fold, is not chosen. Of equals, and if no
    setting is defined, the first is chosen.
    """
    known = [float("inf") if distance is None else distance for distance in distances]
    return known.index(min(known))


def _distances(outcomes: Sequence[Outcome], *, pool: bool) -> dict[str, float | None]:
    """Return the distances from fair of a setting over the inner folds; None where undefined.

    With `pool`, a score with a sign is pooled over the folds first.
    """
    distances: dict[str, float | None] = {}
    for measure in outcomes[0].values if outcomes else ():
        values = [outcome.values[measure] for outcome in outcomes]
        if pool and measure in outcomes[0].signed:
            values = pooled([outcome.signed[measure] for outcome in outcomes]).tolist()
        defined = [value for value in values if value is not None and math.isfinite(value)]
        complete = len(defined) == len(values)
        distances[measure] = sum(defined) / len(defined) if complete else None
    return distances


def _judged_by(outcome: Outcome, params: dict[str, Any]) -> Judged:
    return Judged(
        params=params,
        values=dict(outcome.values),
        signed=dict(outcome.signed),
        floors=dict(outcome.floors),
        spreads=dict(outcome.spreads),
    )


def stored(
    embedder: Embedder, place: Place, progress: Progress, engine: Engine | None = None
) -> StoredEmbedder:
    """Return an embedder that reads from the store; by default this process encodes."""
    engine = engine or Registry().engine("local", [])
    store = store_of(embedder, place.store)
    return StoredEmbedder(embedder, place.model, engine, store, progress)


@functools.lru_cache(maxsize=2)  # as it is, and at length 1
def _base(place: Place, unit: bool) -> Base:
    """Return the model in this process, loaded once."""
    embedder: Any = Registry(include=place.include).embedder(place.model)
    admission.follow(embedder, place.store, place.fingerprint)
    if embedder.info.fingerprint != place.fingerprint:
        raise HarnessError(f"model '{place.model}' changed while the study ran")
    if embedder.info.kind == "text":
        embedder = stored(embedder, place, Silent())
    return Base(embedder, unit=unit)
