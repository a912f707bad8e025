"""Runs a study: folds and rows in parallel, each recorded as it comes, from where it stopped."""

from __future__ import annotations

import functools
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness import folders, json_lines, recording, yaml_files
from harness.digest import json_like
from harness.embedder import Embedder
from harness.errors import InvalidOption
from harness.progress import Progress, Silent
from harness.registry import Registry
from harness.results import STUDY
from harness.store import Store
from harness.stored import StoredEmbedder
from harness.study import bench as benches
from harness.study.bench import Base, Bench, Outcome
from harness.study.folds import Fold, Split, deal
from harness.study.study import RAW, UNIT, Candidate, Study, resolve
from harness.study.study_record import (
    Inner,
    Judged,
    MeasurePart,
    StudyPart,
    StudyRecord,
    identity,
)


@dataclass(frozen=True)
class Ran:
    """What a run of a study gave.

    Parameters
    ----------
    records
        All its records, made now or before.
    made
        How many were made now.
    notices
        What the user should know, a line each.
    path
        The file that they are in.
    """

    records: tuple[StudyRecord, ...]
    made: int
    notices: tuple[str, ...]
    path: Path


@dataclass(frozen=True)
class Setting:
    """What a worker needs, besides the unit of work; sent to its process."""

    bench: Bench
    model: str
    include: tuple[Path, ...]
    store: Path


@dataclass(frozen=True)
class Result:
    """What a row gave in a fold."""

    inner: tuple[Inner, ...]
    judged: dict[str, Judged]
    reasons: dict[str, str]
    overlap: tuple[str, ...]
    seconds: float


def run(
    study: str | Path,
    *,
    results: Path | str = "results",
    cache: Path | str | None = None,
    workers: int = 1,
    include: Sequence[Path] = (),
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Ran:
    """Run a study, or what is left of it.

    Parameters
    ----------
    study
        Name of an installed study, or path of a study file.
    results
        Folder of the records; those that are there are not made again.
    cache
        Folder of the stored embeddings of text encoders.
    workers
        Processes that share the work; the numbers are the same for any number of them.
    include
        Further folders of concepts and studies.
    overwrite
        Whether to make again what is there.
    progress
        Where to show progress.

    Raises
    ------
    UsageError
        If the study has a mistake in it, or judges what it fits on.
    HarnessError
        If a model cannot be had or lacks too much, or a folder cannot be written.
    """
    if workers < 1:
        raise InvalidOption(f"workers={workers}: at least 1")
    shown = progress or Silent()
    registry = Registry(include=tuple(include))
    resolved = resolve(find(registry, study), registry)
    file = json_lines.RecordsFile(
        Path(results) / f"{folders.safe_name(resolved.file.name)}{STUDY}", StudyRecord
    )
    here = uuid.uuid4().hex[:12]
    made = 0
    wanted: list[str] = []
    for model in resolved.file.models:
        embedder = registry.embedder(model)
        try:
            one = _Model(resolved, embedder, model, here)
            wanted += one.ids.values()
            todo = {
                unit: id_ for unit, id_ in one.ids.items() if overwrite or id_ not in file.records
            }
            if not todo:
                continue
            place = Path(cache) if cache else folders.embeddings()
            setting = Setting(one.bench, model, tuple(include), place)
            if embedder.info.kind == "text":
                _encode(one, embedder, model, place, shown)
            label = f"{resolved.file.name} on {model}"
            with shown.stage(label, len(todo), "rows in folds") as advance:
                for unit, result in _results(setting, one, list(todo), workers):
                    file.add([one.record(unit, result)])
                    made += 1
                    advance(1)
        finally:
            getattr(embedder, "close", lambda: None)()
    records = tuple(file.records[one] for one in dict.fromkeys(wanted) if one in file.records)
    return Ran(records, made, (*registry.notices, *file.notices), file.path)


def find(registry: Registry, study: str | Path) -> yaml_files.Document:
    """Return the parsed file of a study: an installed one by its name, or any by its path."""
    from harness.errors import UnknownName

    if str(study) in registry.study_files:
        return registry.study_files[str(study)]
    path = Path(study)
    if path.suffix in (".yaml", ".yml") or path.is_file():
        return yaml_files.load(path)
    raise UnknownName(
        "study", str(study), registry.study_files, hint="; or name a file that ends in .yaml"
    )


Unit = tuple[int, int]
"""A row and a fold, by position."""


class _Model:
    """A study on one model: its folds and units."""

    def __init__(self, study: Study, embedder: Embedder, model: str, run: str) -> None:
        self.study, self.info, self.model, self.run = study, embedder.info, model, run
        file = study.file
        self.bench = benches.prepare(study, embedder)
        self.folds = deal(
            len(self.bench.items),
            folds=file.folds,
            inner_folds=file.inner_folds,
            repeats=file.repeats,
            seed=file.seed,
            protocol=file.protocol,
        )
        if not file.allow_overlap:
            splits = [split for fold in self.folds for split in (fold.outer, *fold.inner)]
            benches.refuse_overlap(self.bench, list(dict.fromkeys(splits)))
        self.ids = {
            (row, number): identity(
                model=self.info.fingerprint,
                study=study.digest,
                mitigator=candidate.fingerprint,
                repeat=fold.repeat,
                fold=fold.number,
            )
            for number, fold in enumerate(self.folds)
            for row, candidate in enumerate(study.candidates)
        }

    def record(self, unit: Unit, result: Result) -> StudyRecord:
        candidate, fold = self.study.candidates[unit[0]], self.folds[unit[1]]
        words = self.bench.words
        return StudyRecord(
            id=self.ids[unit],
            run=self.run,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            study=_study_part(self.study, len(words)),
            model=recording.model_part(self.info),
            row=candidate.label,
            mitigator=candidate.name,
            repeat=fold.repeat,
            fold=fold.number,
            train=len(fold.outer.train),
            held_out=tuple(words[i] for i in fold.outer.held_out),
            missing=self.bench.missing,
            inner=result.inner,
            judged=result.judged,
            reasons=result.reasons,
            overlap=result.overlap,
            seconds=result.seconds,
            environment=recording.environment("cpu"),
        )


def _study_part(study: Study, items: int) -> StudyPart:
    file = study.file
    return StudyPart(
        name=file.name,
        version=file.version,
        digest=study.digest,
        title=file.title,
        description=file.description,
        concept=file.concept,
        items=items,
        folds=file.folds,
        inner_folds=file.inner_folds,
        repeats=file.repeats,
        seed=file.seed,
        normalize=file.normalize,
        protocol=file.protocol,
        alpha=file.alpha,
        rope=file.rope,
        baseline=study.baseline,
        rows=tuple(candidate.label for candidate in study.candidates),
        measures={
            one.name: MeasurePart(
                metric=one.metric.name,
                score=one.score,
                ideal=one.ideal,
                rises=one.rises,
                scenarios=tuple(scenario.name for scenario in one.task.scenarios),
            )
            for one in study.measures
        },
        criteria=study.criteria,
    )


def _encode(one: _Model, embedder: Embedder, model: str, place: Path, progress: Progress) -> None:
    """Encode all that the study needs and the store lacks, so that workers only read."""
    texts: dict[str, None] = {}
    for candidate in one.study.candidates:
        for chain in candidate.chains:
            for fold in one.folds:
                for split in (fold.outer, *fold.inner):
                    needed = one.bench.needed(benches.unfitted(chain), split, one.info)
                    texts |= dict.fromkeys(needed)
    for way in ("probe", "original"):
        texts |= dict.fromkeys(one.bench.texts[way])
    _stored(embedder, model, place, progress).ensure(list(texts))


def _stored(embedder: Embedder, model: str, place: Path, progress: Progress) -> StoredEmbedder:
    engine = Registry().engine("local", [])
    store = Store(place, embedder.info.fingerprint)
    return StoredEmbedder(embedder, model, engine, store, progress)


def _results(
    setting: Setting, one: _Model, units: list[Unit], workers: int
) -> Iterator[tuple[Unit, Result]]:
    """Yield what each unit gave, as it comes."""
    import joblib

    calls = (
        joblib.delayed(_judged)(setting, unit, one.study.candidates[unit[0]], one.folds[unit[1]])
        for unit in units
    )
    yield from joblib.Parallel(n_jobs=workers, return_as="generator_unordered")(calls)


def _judged(setting: Setting, unit: Unit, candidate: Candidate, fold: Fold) -> tuple[Unit, Result]:
    from threadpoolctl import threadpool_limits

    # One thread each: the sums, and so the numbers, are the same for any number of workers.
    with threadpool_limits(1):
        return unit, judge(setting, candidate, fold)


def judge(setting: Setting, candidate: Candidate, fold: Fold) -> Result:
    """Choose a row's hyper-parameters in the inner folds and judge them in the outer one."""
    started = time.perf_counter()
    bench, study = setting.bench, setting.bench.study
    unit = candidate.label == UNIT or (study.file.normalize and candidate.label != RAW)
    base = _base(setting.model, setting.include, setting.store, unit)

    def outcome(number: int, split: Split) -> Outcome:
        return bench.judge(base, benches.unfitted(candidate.chains[number]), split)

    settings = range(len(candidate.settings))
    inner = (
        {(s, k): outcome(s, split) for s in settings for k, split in enumerate(fold.inner)}
        if len(settings) > 1
        else {}
    )
    chosen = {
        criterion: _best(inner, criterion, len(settings), len(fold.inner)) if inner else 0
        for criterion in study.criteria
    }
    outer = {s: outcome(s, fold.outer) for s in dict.fromkeys(chosen.values())}
    reasons: dict[str, str] = {}
    for one in outer.values():
        reasons |= one.reasons
    overlap = {text for s in outer for text in bench.overlap(candidate.chains[s], fold.outer)}
    params = [json_like(dict(given)) for given in candidate.settings]
    return Result(
        inner=tuple(
            Inner(params=params[s], fold=k, values=dict(found.values))
            for (s, k), found in inner.items()
        ),
        judged={
            criterion: Judged(params=params[s], values=dict(outer[s].values))
            for criterion, s in chosen.items()
        },
        reasons=reasons,
        overlap=tuple(sorted(overlap)),
        seconds=time.perf_counter() - started,
    )


def _best(inner: dict[tuple[int, int], Outcome], criterion: str, settings: int, splits: int) -> int:
    """Return the setting with the least mean distance; the first of equals, or of all if none."""
    means = []
    for s in range(settings):
        found = [inner[s, k].values[criterion] for k in range(splits)]
        defined = [value for value in found if value is not None]
        means.append(sum(defined) / splits if len(defined) == splits else float("inf"))
    return means.index(min(means))


@functools.lru_cache(maxsize=2)  # raw, and at length 1
def _base(model: str, include: tuple[Path, ...], place: Path, unit: bool) -> Base:
    """Return a model in this process, made once in it."""
    embedder: Any = Registry(include=include).embedder(model)
    if embedder.info.kind == "text":
        embedder = _stored(embedder, model, place, Silent())
    return Base(embedder, unit=unit)
