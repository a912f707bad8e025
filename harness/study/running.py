"""Runs a study: on each model, in parallel, the rows in folds that are not recorded yet."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness import folders, parallel
from harness.embedder import Embedder
from harness.encode import admission
from harness.encode.engine import Engine
from harness.encode.stored_embedder import StoredEmbedder
from harness.errors import (
    DiskError,
    HarnessError,
    InvalidOption,
    UsageError,
)
from harness.progress import Progress, shown
from harness.registry import discovery
from harness.registry.registry import Registry, with_concepts_beside
from harness.results import jsonl
from harness.results.folder import STUDY
from harness.run.evaluation import Entry, distinct
from harness.run.settings import paths
from harness.study import judging
from harness.study.judging import Place
from harness.study.on_model import OnModel
from harness.study.study import Study, resolve
from harness.study.study_record import StudyPart, StudyRecord
from harness.study.study_run import StudyRun
from harness.task import yaml_files


def run_study(
    study: str | Path,
    *,
    results: Path | str = "results",
    cache: folders.Place | str | None = None,
    workers: int = 1,
    engine: str | None = None,
    include: Path | str | Iterable[Path | str] = (),
    trust: Path | str | Iterable[Path | str] = (),
    overwrite: bool = False,
    progress: bool | Progress = False,
) -> StudyRun:
    """Run a study, or the part of it that is not recorded yet.

    Parameters
    ----------
    study
        Name of an installed study, or path of a study file.
    results
        Folder of the records; what is recorded there is not run again.
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
        Files whose wishes count as if you had typed them: they may run models' own code, and name
        keys, addresses, and paths outside of their folders. A folder stands for all files in it.
    overwrite
        Whether to run again what is recorded.
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
    registry = Registry(include=folders_, trust=paths(trust, "trust"))
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
    models, same = distinct(entries, registry.embedders)
    with contextlib.ExitStack() as left, parallel.at_most(workers):
        left.callback(getattr(runner.engine, "close", lambda: None))
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

    One that is not installed may name concepts beside its file.

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
        By id of each record of the models run so far, the study as the record should state it.
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
        """Judge and record what is not recorded of a model; return the number of new records."""
        self.notices += admission.settle(embedder, self.store, self.progress.say)
        place = Place(model, embedder.info.fingerprint, self.include, self.store)
        if embedder.info.kind == "text":  # workers only read
            embedder = judging.stored(embedder, place, self.progress, self.engine)
        on_model = OnModel(self.study, embedder, self.id)
        self.parts |= dict.fromkeys(on_model.units, on_model.part)
        recorded = {} if self.overwrite else self.file.records
        units = [unit for id_, unit in on_model.units.items() if id_ not in recorded]
        if not units:
            return 0
        if isinstance(embedder, StoredEmbedder):
            embedder.ensure(on_model.texts())
        label = f"{self.study.file.name} on {model}"
        with self.progress.stage(label, len(units), "rows in folds") as advance:
            results = judging.in_parallel(on_model.bench, place, units, self.workers, self.cluster)
            for i, result in results:
                self.file.add([on_model.record(units[i], result)])
                advance(1)
        return len(units)

    @property
    def cluster(self) -> parallel.Cluster | None:
        """Where rows are judged instead of on this machine."""
        return self.engine if isinstance(self.engine, parallel.Cluster) else None

    def update_records(self) -> None:
        """Bring old records up to date with the study file, such as its title or `alpha`."""
        outdated = [
            self.file.records[id_].model_copy(update={"study": part})
            for id_, part in self.parts.items()
            if id_ in self.file.records and self.file.records[id_].study != part
        ]
        if outdated:
            self.file.add(outdated)
