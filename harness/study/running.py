"""Runs a study: on each model, in parallel, the rows in folds that are not recorded yet.

The unit of work is a row in an outer fold: its hyper-parameters are chosen in the inner folds and
judged in the outer fold. A process loads the model once.
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, overload

from harness import folders, parallel
from harness.digest import json_like
from harness.embedder import Embedder
from harness.encode import admission
from harness.encode.engine import Engine
from harness.encode.stored_embedder import StoredEmbedder, store_of
from harness.errors import (
    DiskError,
    HarnessError,
    InvalidOption,
    UsageError,
)
from harness.progress import Progress, Silent, shown
from harness.registry import discovery
from harness.registry.registry import Registry, with_concepts_beside
from harness.results import jsonl
from harness.results.folder import STUDY
from harness.results.records import Framed
from harness.run import recording, steps
from harness.run.evaluation import Entry, distinct
from harness.run.settings import paths
from harness.study.bench import Base, Bench, Outcome, prepare, refuse_overlap
from harness.study.cells import pooled
from harness.study.folds import Fold, Split, deal
from harness.study.study import Candidate, Study, resolve
from harness.study.study_record import (
    Inner,
    Judged,
    MeasurePart,
    StudyPart,
    StudyRecord,
    identity,
)
from harness.task import yaml_files

if TYPE_CHECKING:
    from harness.study.summary import Summary


def run_study(
    study: str | Path,
    *,
    results: Path | str = "results",
    cache: folders.Place | str | None = None,
    workers: int = 1,
    engine: str | None = None,
    include: Path | str | Iterable[Path | str] = (),
    trust: bool = False,
    overwrite: bool = False,
    progress: bool | Progress = False,
) -> StudyRun:
    """Run a study, or the part of it that is not recorded yet.

    Parameters
    ----------
    study
        Name of an installed study, or path of a study file.
    results
        Folder of the records; recorded folds are not run again.
    cache
        Folder of the stored embeddings of text encoders.
    workers
        Number of processes; the numbers are the same for any number of them.
    engine
        Name of the engine that encodes, such as `ray?actors=4`; by default `local`. Rows are judged
        on the cluster of an engine that has one.
    include
        Further folders of concepts and studies.
    trust
        Whether files that are not installed may run models' own code, and name keys and addresses.
    overwrite
        Whether to run recorded folds again.
    progress
        Whether to show progress, or where to show it.

    Returns
    -------
    StudyRun
        All records of the study: a sequence with `to_polars()`, `to_pandas()` and `summaries`.

    Raises
    ------
    UsageError
        If the study is invalid, or judges texts on which a mitigator is fitted.
    HarnessError
        If its only model fails, or a folder cannot be written.
    """
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise InvalidOption(f"workers={workers}: expected a whole number from 1")
    folders_ = paths(include)
    registry = Registry(include=folders_, trust=trust)
    registry.data.progress = shown(progress)
    document = discovery.find_file(registry.study_files, study)
    study_ = resolved(registry, document)
    path = Path(results) / f"{folders.safe_name(study_.file.name)}{STUDY}"
    file = jsonl.RecordsFile(path, StudyRecord)
    runner = _Runner(
        study=study_,
        file=file,
        store=folders.place(cache) if cache else folders.embeddings(),
        workers=workers,
        engine=registry.engine(engine or "local"),
        include=folders_,
        overwrite=overwrite,
        progress=shown(progress),
    )
    new, failed = 0, []
    entries = _embedders(document, registry, study_.file.models)
    models, same = distinct(entries, registry)
    with contextlib.ExitStack() as stack, parallel.at_most(workers):
        stack.callback(getattr(runner.engine, "close", lambda: None))
        for source, embedder in models:
            model = str(source)
            try:
                if isinstance(embedder, HarnessError):
                    raise embedder
                new += runner.run(model, embedder)
            except (UsageError, DiskError):
                raise
            except HarnessError as error:  # the other models are still run
                if len(study_.file.models) == 1:
                    raise
                failed.append(f"{model}: {error}")
            finally:
                getattr(embedder, "close", lambda: None)()
    runner.update_records()
    return StudyRun(
        (file.records[id_] for id_ in runner.parts if id_ in file.records),
        new=new,
        failed=tuple(failed),
        notices=(*registry.notices, *same, *runner.notices, *file.notices),
        path=path,
    )


def resolved(registry: Registry, document: yaml_files.Document) -> Study:
    """Return the study of a parsed file, with its data read and everything checked.

    A study that is not installed may name concepts in a folder next to its file.

    Raises
    ------
    InvalidFile
        If the file is invalid.
    Unavailable
        If its data is missing.
    """
    if document.path not in [installed.path for installed in registry.study_files.values()]:
        registry = with_concepts_beside(registry, document.path)
    return resolve(document, registry)


def _embedders(
    document: yaml_files.Document, registry: Registry, models: Sequence[str]
) -> list[Entry]:
    """Return each model or its error; every name is looked up before the first model runs."""
    embedders: list[Entry] = []
    for i, model in enumerate(models):
        try:
            with document.pointing_at(("models", i)):
                embedders.append((model, registry.embedder(model)))
        except UsageError:
            raise
        except HarnessError as error:
            embedders.append((model, error))
    return embedders


@dataclass(kw_only=True)
class _Runner:
    """Runs a study on one model after another.

    Parameters
    ----------
    study, file
        The study and the file of its records.
    store, workers, engine, include, overwrite, progress
        As in `run_study`.
    parts
        The description of the study for each record, by id, of the models that have run so far.
    notices
        Lines for the user.
    id
        Identifier of the run.
    """

    study: Study
    file: jsonl.RecordsFile[StudyRecord]
    store: folders.Place
    workers: int
    engine: Engine
    include: tuple[Path, ...]
    overwrite: bool
    progress: Progress
    parts: dict[str, StudyPart] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    id: str = field(default_factory=lambda: uuid.uuid4().hex[:12])

    def run(self, model: str, embedder: Embedder) -> int:
        """Judge and record the missing rows of a model; return the number of new records."""
        self.notices += admission.settle(embedder, self.store)
        place = Place(model, embedder.info.fingerprint, self.include, self.store)
        if embedder.info.kind == "text":  # workers do not encode
            embedder = stored(embedder, place, self.progress, self.engine)
        on_model = OnModel(self.study, embedder, self.id)
        self.parts |= dict.fromkeys((unit.id for unit in on_model.units), on_model.part)
        recorded = {} if self.overwrite else self.file.records
        units = steps.unfinished(on_model.units, recorded)
        if not units:
            return 0
        if isinstance(embedder, StoredEmbedder):
            embedder.ensure(on_model.texts())
        label = f"{self.study.file.name} on {model}"
        try:
            with self.progress.stage(label, len(units), "rows in folds") as advance:
                steps.run(
                    units,
                    functools.partial(judge, on_model.bench, place),
                    on_model.record,
                    self.file,
                    workers=self.workers,
                    cluster=self.engine if isinstance(self.engine, parallel.Cluster) else None,
                    advance=advance,
                )
        finally:
            _base.cache_clear()  # the model of this process must not outlive the run
        return len(units)

    def update_records(self) -> None:
        """Bring old records up to date with the study file, such as its title or `alpha`."""
        outdated = [
            self.file.records[id_].model_copy(update={"study": part})
            for id_, part in self.parts.items()
            if id_ in self.file.records and self.file.records[id_].study != part
        ]
        if outdated:
            self.file.add(outdated)


class StudyRun(Framed[StudyRecord]):
    """The records of a study: one for each row in each fold on each model.

    Parameters
    ----------
    records
        All records of the study, old and new.
    new
        Number of new records.
    failed
        The models that failed and why, a line each.
    notices
        Further notices for the user, a line each.
    path
        File of the records.

    Attributes
    ----------
    columns
        Columns of the data frames, with their types.
    """

    columns: ClassVar = {
        **dict.fromkeys(("study", "model", "row", "mitigator", "criterion", "params"), str),
        **dict.fromkeys(("repeat", "fold", "train", "held_out"), int),
        "measure": str,
        "value": float,
        "reason": str,
        "seconds": float,
        "id": str,
    }

    def __init__(
        self,
        records: Iterable[StudyRecord],
        *,
        new: int,
        failed: Iterable[str] = (),
        notices: Iterable[str] = (),
        path: Path,
    ) -> None:
        self._records = tuple(records)
        self.new, self.path = new, path
        self.failed, self.notices = tuple(failed), tuple(notices)

    @overload
    def __getitem__(self, index: int) -> StudyRecord: ...
    @overload
    def __getitem__(self, index: slice) -> StudyRun: ...
    def __getitem__(self, index: int | slice) -> StudyRecord | StudyRun:
        if isinstance(index, int):
            return self._records[index]
        return StudyRun(
            self._records[index],
            new=self.new,
            failed=self.failed,
            notices=self.notices,
            path=self.path,
        )

    def __repr__(self) -> str:
        return f"<{len(self)} records of {len({r.model.name for r in self})} models>"

    @property
    def records(self) -> tuple[StudyRecord, ...]:
        """All records of the study."""
        return tuple(self._records)

    @property
    def summaries(self) -> tuple[Summary, ...]:
        """The results on each model: changes, tests, chosen hyper-parameters and caveats."""
        from harness.study.summary import summarize

        return summarize(self._records)

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat mapping per record, criterion and measure.

        `value` is the distance from fair on the pairs of the outer fold, with the hyper-parameters
        that `criterion` chose: `params`, a JSON object. `held_out` is the number of these pairs.
        """
        return [
            {
                "study": record.study.name,
                "model": record.model.name,
                "row": record.row,
                "mitigator": record.mitigator,
                "criterion": criterion,
                "params": json.dumps(judged.params, ensure_ascii=False),
                "repeat": record.repeat,
                "fold": record.fold,
                "train": record.train,
                "held_out": len(record.held_out),
                "measure": measure,
                "value": value,
                "reason": record.reasons.get(measure),
                "seconds": record.seconds,
                "id": record.id,
            }
            for record in self
            for criterion, judged in record.judged.items()
            for measure, value in judged.values.items()
        ]

    def _repr_html_(self) -> str:
        from harness.results.formats import Report, Sentences, html
        from harness.study import study_tables

        parts = []
        for summary in self.summaries:
            title, tables = study_tables.about(summary), study_tables.changes(summary)
            legend = study_tables.legend(summary)
            lines = [*legend, *summary.statement, *summary.notes]
            parts.append(html(Report(title, [*tables, Sentences("", lines)])))
        return "".join([*parts, html(Report("", [Sentences("", [*self.failed, *self.notices])]))])


class OnModel:
    """A study on one model: its folds, and each row in each fold.

    Parameters
    ----------
    study
        The study.
    embedder
        The model.
    run
        Identifier of the run.

    Raises
    ------
    UsageError
        If words would be both fitted on and judged.
    NotApplicable
        If a row does not work on the model's kind, or more words are missing than allowed.
    """

    def __init__(self, study: Study, embedder: Embedder, run: str) -> None:
        self.study, self.info, self.run = study, embedder.info, run
        file = study.file
        self.bench = prepare(study, embedder)
        self.folds = deal(
            len(self.bench.items),
            folds=file.folds,
            inner_folds=file.inner_folds,
            repeats=file.repeats,
            seed=file.seed,
            protocol=file.protocol,
        )
        splits = [split for fold in self.folds for split in (fold.outer, *fold.inner)]
        refuse_overlap(self.bench, list(dict.fromkeys(splits)))
        self.units = tuple(
            Unit(candidate, fold, self._id(candidate, fold))
            for fold in self.folds
            for candidate in study.candidates
        )

    @property
    def part(self) -> StudyPart:
        """The description of the study in its records."""
        study, file = self.study, self.study.file
        return StudyPart(
            name=file.name,
            version=file.version,
            digest=study.digest,
            title=file.title,
            description=file.description,
            concept=file.concept,
            items=len(self.bench.items),
            folds=file.folds,
            inner_folds=file.inner_folds,
            repeats=file.repeats,
            seed=file.seed,
            normalize=file.normalize,
            protocol=file.protocol,
            alpha=file.alpha,
            baseline=study.baseline,
            rows=tuple(candidate.label for candidate in study.candidates),
            unit=study.unit_row,
            measures={
                measure.name: MeasurePart(
                    metric=measure.metric.name,
                    score=measure.score,
                    ideal=measure.ideal,
                    rises=measure.rises,
                    scenarios=tuple(scenario.name for scenario in measure.task.scenarios),
                    signed=measure.signed,
                )
                for measure in study.measures
            },
            criteria=study.criteria,
        )

    def texts(self) -> list[str]:
        """Return the keys of all texts to encode before anything is judged, in order of use."""
        needed: dict[str, None] = {}
        for unit in self.units:
            for chain in unit.candidate.chains:
                for split in (unit.fold.outer, *unit.fold.inner):
                    unfitted = chain.unfitted()
                    needed |= dict.fromkeys(self.bench.needed(unfitted, split, self.info))
        bench, info = self.bench, self.info
        return [*needed, *bench.keys("probe", info), *bench.keys("original", info)]

    def record(self, unit: Unit, result: Result, seconds: float) -> StudyRecord:
        """Return the record of a unit, of its result and the seconds that it took."""
        candidate, fold, words = unit.candidate, unit.fold, self.bench.words
        return StudyRecord(
            id=unit.id,
            run=self.run,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            study=self.part,
            model=recording.model_part(self.info),
            row=candidate.label,
            mitigator=candidate.name,
            fingerprint=candidate.fingerprint,
            normalize=candidate.normalize,
            repeat=fold.repeat,
            fold=fold.number,
            train=len(fold.outer.train),
            held_out=tuple(words[i] for i in fold.outer.held_out),
            missing=self.bench.missing,
            inner=result.inner,
            judged=dict(result.judged),
            reasons=dict(result.reasons),
            seconds=seconds,
            environment=recording.environment("cpu"),
        )

    def _id(self, candidate: Candidate, fold: Fold) -> str:
        return identity(
            model=self.info.fingerprint,
            study=self.study.digest,
            row=candidate.label,
            mitigator=candidate.fingerprint,
            repeat=fold.repeat,
            fold=fold.number,
        )


@dataclass(frozen=True)
class Place:
    """The location of the model and its vectors, for another process.

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
    """A row in an outer fold; a step of the study, with the id of its record."""

    candidate: Candidate
    fold: Fold
    id: str

    @property
    def key(self) -> str:
        """Its id, which covers everything that the result depends on."""
        return self.id

    @property
    def name(self) -> str:
        """Its name in messages."""
        return f"'{self.candidate.label}', fold {self.fold.number}"


@dataclass(frozen=True)
class Result:
    """The result of a row in an outer fold; fields as in the record."""

    inner: tuple[Inner, ...]
    judged: Mapping[str, Judged]
    reasons: Mapping[str, str]


def judge(bench: Bench, place: Place, unit: Unit) -> Result:
    """Choose a row's hyper-parameters in the inner folds, and judge them in the outer fold."""
    candidate, fold, study = unit.candidate, unit.fold, bench.study
    base = _base(place, study.starts_at_unit_length(candidate))

    def outcome(s: int, split: Split, *, floors: bool = False) -> Outcome:
        return bench.judge(base, candidate.chains[s].unfitted(), split, floors=floors)

    inner: list[list[Outcome]] = [[] for _ in candidate.settings]
    if len(candidate.settings) > 1:
        inner = [[outcome(s, split) for split in fold.inner] for s in range(len(inner))]
    pool = study.file.protocol == "nested"
    known = [distances(outcomes, pool=pool) for outcomes in inner]
    chosen = {c: best([of_setting.get(c) for of_setting in known]) for c in study.criteria}
    outer = {s: outcome(s, fold.outer, floors=True) for s in dict.fromkeys(chosen.values())}
    params: list[dict[str, Any]] = [json_like(dict(setting)) for setting in candidate.settings]
    return Result(
        inner=tuple(
            Inner(params=params[s], fold=k, values=dict(outcome_.values))
            for s, of_setting in enumerate(inner)
            for k, outcome_ in enumerate(of_setting)
        ),
        judged={criterion: _judged_by(outer[s], params[s]) for criterion, s in chosen.items()},
        reasons={name: why for judged in outer.values() for name, why in judged.reasons.items()},
    )


def best(distances: Sequence[float | None]) -> int:
    """Return the setting with the least distance from fair.

    A setting that is undefined in an inner fold is not chosen. Of equal settings, and if none is
    defined, the first is chosen.
    """
    known = [float("inf") if distance is None else distance for distance in distances]
    return known.index(min(known))


def distances(outcomes: Sequence[Outcome], *, pool: bool) -> dict[str, float | None]:
    """Return the distances from fair of a setting over the inner folds; None where undefined.

    With `pool`, a score with a sign is pooled over the folds first.
    """
    means: dict[str, float | None] = {}
    for measure in outcomes[0].values if outcomes else ():
        values = [outcome.values[measure] for outcome in outcomes]
        if pool and measure in outcomes[0].signed:
            values = pooled([outcome.signed[measure] for outcome in outcomes]).tolist()
        defined = [value for value in values if value is not None and math.isfinite(value)]
        complete = len(defined) == len(values)
        means[measure] = sum(defined) / len(defined) if complete else None
    return means


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


@functools.lru_cache(maxsize=2)  # original vectors, and vectors at length 1
def _base(place: Place, unit: bool) -> Base:
    """Return the model in this process, loaded once."""
    embedder: Any = Registry(include=place.include).embedder(place.model)
    admission.follow(embedder, place.fingerprint)
    if embedder.info.fingerprint != place.fingerprint:
        raise HarnessError(f"model '{place.model}' changed while the study ran")
    if embedder.info.kind == "text":
        embedder = stored(embedder, place, Silent())
    return Base(embedder, unit=unit)
