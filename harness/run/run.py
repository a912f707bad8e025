"""An evaluation in progress: names become objects, and models are run one by one.

For each model: plan, encode the texts that are not in the store, score task by task, and write the
records of each task when it is scored.
"""

from __future__ import annotations

import contextlib
import dataclasses
import uuid
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from harness import folders
from harness.concept import Concept
from harness.embedder import Embedder, ModelInfo
from harness.encode import adapters, canary
from harness.encode.engine import Engine
from harness.encode.stored_embedder import StoredEmbedder, store_of
from harness.errors import HarnessError, UsageError
from harness.folders import Place
from harness.metrics import Metric
from harness.progress import Silent
from harness.registry.registry import Registry
from harness.results.folder import ResultsFile
from harness.results.not_run import NotRun
from harness.results.records import Records
from harness.results.shared import SharedResults
from harness.run import mitigators, models
from harness.run.plan import Plan, make_plan
from harness.run.plan_scores import score
from harness.run.run_file import RunFile
from harness.run.settings import Settings
from harness.run.task_reader import TaskReader
from harness.run.tasks import select
from harness.store import model_file, pruning
from harness.store.store import Store
from harness.task.task import Task
from harness.task.yaml_files import Document


class Run:
    """An evaluation in progress. Every name but the models' is looked up when it is made.

    Parameters
    ----------
    registry
        Where names are looked up.
    settings
        How it runs.
    tasks, rows
        Tasks and mitigators as users give them.
    metrics
        Metrics that are added to the tasks.

    Attributes
    ----------
    mitigators
        Unfitted chains by label.
    ignores_concept
        Whether mitigators were run, and none was fitted on the concept of the settings.
    file
        The file that repeats the run. It is written as soon as something is to be computed, if
        there is a results folder.

    Raises
    ------
    UsageError
        If a name is wrong, or there is none.
    """

    def __init__(
        self,
        registry: Registry,
        settings: Settings,
        tasks: Sequence[str | Document],
        rows: Iterable[mitigators.Row],
        metrics: Sequence[Metric] = (),
    ) -> None:
        self.registry, self.settings = registry, settings
        self.mitigators = mitigators.chains(rows, registry)
        self.fallback: Concept | None = (
            registry.concept(settings.concept) if settings.concept else None
        )
        selected = select(registry, tasks, settings.exclude)
        self.tasks = TaskReader(
            registry,
            selected,
            settings.progress,
            limit=settings.limit,
            metrics=metrics,
            any_language=settings.any_language,
        )
        self.ignores_concept = any(chain.mitigators for chain in self.mitigators.values())
        self.id = uuid.uuid4().hex[:12]
        self._engines: dict[str, Engine] = {}
        if settings.engine is not None:
            self._engine_of(settings.engine, settings.timeout)
        place = settings.results
        self.shared = SharedResults(place, self.id) if isinstance(place, folders.Url) else None
        shared = self.shared.path if self.shared is not None else None
        self.results = place if isinstance(place, Path) else shared
        self.file: RunFile | None = None

    def embedder(self, model: str | object) -> Embedder | HarnessError:
        """Return the embedder of a name or object, or why it is not available.

        Raises
        ------
        UsageError
            If the name is unknown, or the object is no model.
        """
        devices = self.settings.devices
        try:
            return models.embedder(model, self.registry, device=devices[0] if devices else None)
        except UsageError:
            raise
        except HarnessError as error:
            return error

    def plan(self, embedder: Embedder, file: ResultsFile | None) -> Plan:
        """Return the plan for a model, without the jobs that are recorded in `file`."""
        info, seed = embedder.info, self.settings.seed
        recorded: set[str] = set()
        if file and not self.settings.overwrite:
            recorded = file.ids(with_samples=self.settings.samples)
        entries = self.tasks.for_model(info)
        tasks = [entry for entry in entries if isinstance(entry, Task)]
        unavailable = [
            dataclasses.replace(entry, model=info.name, mitigator=name)
            for entry in entries
            if isinstance(entry, NotRun)
            for name in self.mitigators
        ]
        is_slow = any(chain.rewrites for chain in self.mitigators.values())
        progress = self.settings.progress if is_slow else Silent()
        label, n = f"{info.name}: planning", len(tasks) * len(self.mitigators)
        with progress.stage(label, n, "tasks under mitigators") as advance:
            plan = make_plan(
                embedder,
                tasks,
                self.mitigators,
                fallback=self.fallback,
                translation=self.registry.concept_in,
                is_done=lambda job: job.is_recorded(recorded, info, seed),
                advance=advance,
            )
        return dataclasses.replace(plan, not_run=(*unavailable, *plan.not_run))

    def settle(self, embedder: Embedder) -> list[str]:
        """Find out which model answers behind a hosted name; return lines for the user."""
        return canary.settle(embedder, self.place, self.settings.progress.say)

    @property
    def place(self) -> Place:
        """The folder of all stores."""
        return self.settings.cache or folders.embeddings()

    @contextlib.contextmanager
    def store(self, embedder: Embedder) -> Iterator[Store]:
        """Open the store of a model; it is temporary for a model without a fingerprint."""
        with adapters.store_folder(embedder.info, self.place) as folder:
            yield store_of(embedder, folder)

    @contextlib.contextmanager
    def vectors(self, embedder: Embedder, name: str | None) -> Iterator[StoredEmbedder]:
        """Open a model with its store; `name` is what users typed for it, if it was a name."""
        info = embedder.info
        with self.store(embedder) as store:
            stated = ("name", "kind", "revision", "dimensions")
            facts = {fact: getattr(info, fact) for fact in stated}
            is_again = not info.hosted and pruning.has_older(store, self.place, facts)
            store.describe({**facts, model_file.RULE: model_file.CURRENT_RULE})
            engine = self._engine(info)
            vectors = StoredEmbedder(embedder, name, engine, store, self.settings.progress)
            if is_again:
                vectors.notices.append(
                    f"{info.name}: its texts are encoded again, since it was changed, or more of "
                    "it is identified than in earlier versions ('harness cache prune "
                    "--unused-days 30' removes old vectors)"
                )
            yield vectors

    def model(self, embedder: Embedder, name: str | None) -> Records:
        """Evaluate one model; `name` is what users typed for it, if it was a name."""
        settled = self.settle(embedder)
        info, seed = embedder.info, self.settings.seed
        file = ResultsFile(self.results, info.name, self.shared) if self.results else None
        plan = self.plan(embedder, file)
        notices = [*settled, *(file.notices if file else ())]
        records = dict(file.records) if file else {}
        not_run = list(plan.not_run)
        encoded, unplanned, seconds = 0, 0, 0.0  # mitigators may need texts beyond the plan
        if plan.jobs:
            if self.file and self.results:
                self.file.write(self.results, self.id, self.registry)
            if self.shared:
                self.shared.send()
            with self.vectors(embedder, name) as vectors:
                vectors.ensure(plan.texts)
                planned = vectors.encoded
                scores = score(plan.jobs, vectors, self.settings, run=self.id, file=file)
                records |= scores.records
                not_run += scores.not_run
                encoded, seconds = vectors.encoded, vectors.seconds
                unplanned = encoded - planned
                notices += [*vectors.store.notices, *vectors.notices, *scores.notices]
                notices += getattr(embedder, "notes", ())
        fitted_on = {job.part.concept for job in plan.in_order}
        self.ignores_concept &= self.settings.concept not in fitted_on
        ids = [id_ for job in plan.in_order for id_ in job.ids(info, seed).values()]
        if file:
            file.arrange(ids)  # also if a run was killed just before it did
        return Records(
            [records[id_] for id_ in ids if id_ in records],
            not_run=not_run,
            notices=notices,
            texts=len(plan.texts) + unplanned,
            encoded=encoded,
            seconds=seconds,
            reused=sum(len(job.ids(info, seed)) for job in plan.done),
        )

    def close(self) -> None:
        """Let engines leave what they started, and put what is left into results in a bucket.

        Raises
        ------
        DiskError
            If the bucket cannot be written. The results are kept on this machine.
        """
        for engine in self._engines.values():
            getattr(engine, "close", lambda: None)()
        self._engines.clear()
        if self.shared:
            self.shared.close()

    def _engine(self, info: ModelInfo) -> Engine:
        devices, timeout = self.settings.devices, self.settings.timeout
        name = self.settings.engine
        if name is None:
            # A process of its own is not worth while for looking words up.
            several = info.kind == "text" and (len(devices) > 1 or timeout is not None)
            name, timeout = ("devices", timeout) if several else ("local", None)
        return self._engine_of(name, timeout)

    def _engine_of(self, name: str, timeout: float | None) -> Engine:
        if name not in self._engines:
            engine = self.registry.engine(name, self.settings.devices, timeout=timeout)
            self._engines[name] = engine
        return self._engines[name]
