"""The main job: models × mitigators × tasks in, records out.

For each model: plan, encode the texts that are not in the store, score task by task, and write the
records of each task when it is scored.
"""

from __future__ import annotations

import contextlib
import dataclasses
import uuid
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from harness import folders, names
from harness.chain import Chain
from harness.concept import Concept
from harness.embedder import Embedder, ModelInfo
from harness.encode import adapters
from harness.encode.engine import Engine
from harness.encode.stored_embedder import StoredEmbedder
from harness.errors import DiskError, HarnessError, UsageError
from harness.progress import Silent
from harness.registry.registry import Registry
from harness.results.folder import ResultsFile
from harness.results.not_run import NotRun
from harness.results.records import Records
from harness.run.job_runner import JobRunner, notices_of
from harness.run.plan import Plan, make_plan
from harness.run.settings import Settings
from harness.run.tasks import TaskReader, select
from harness.store.store import Store
from harness.task.task import Task


def evaluate(
    model: str | object | Iterable[str | object],
    tasks: str | Iterable[str] = "all",
    mitigators: str | Iterable[str] = names.NONE,
    *,
    results: Path | str | None = None,
    cache: Path | str | None = None,
    registry: Registry | None = None,
    **settings: Any,
) -> Records:
    """Evaluate models under mitigators on tasks.

    Parameters
    ----------
    model
        A model name, an `Embedder`, any object with `encode(texts)`, or several of these. The
        vectors of an object without `info` are not kept for a later call.
    tasks
        Names, globs, tags, categories, `all`, or paths to task files.
    mitigators
        Names, such as `hard-debias?k=2` or `context-injection+normalize`; `none` for the
        unmitigated model.
    results
        Folder to write records to. What is recorded there already is not run again.
    cache
        Folder of the store.
    registry
        Where names are looked up; by default the installed plugins.
    **settings
        Further fields of `Settings`.

    Returns
    -------
    Records
        The records of these models, tasks and mitigators, those recorded earlier included.

    Raises
    ------
    UsageError
        If a name, option or file is wrong. Nothing was run then.
    HarnessError
        If the only model is not available, or a folder cannot be written to.
    """
    chosen = Settings.of(results=results, cache=cache, **settings)
    registry = registry or Registry(include=chosen.include)
    # An object that encodes is one model, even if it is a sequence, as a SentenceTransformer is.
    is_single = isinstance(model, str) or callable(getattr(model, "encode", None))
    is_several = isinstance(model, Iterable) and not is_single
    models = list(cast("Iterable[str | object]", model)) if is_several else [model]
    if not models:
        raise UsageError("no model is given")
    run = Run(registry, chosen, _as_list(tasks), _as_list(mitigators))
    parts: dict[str, Records] = {}
    # Every name is looked up before the first model runs.
    for model_, embedder in [(model_, run.embedder(model_)) for model_ in models]:
        name = model_ if isinstance(model_, str) else None
        try:
            if isinstance(embedder, HarnessError):
                raise embedder
            key = embedder.info.fingerprint
            if key not in parts:  # one model may be given in two spellings
                parts[key] = run.model(embedder, name)
        except (UsageError, DiskError):
            raise
        except HarnessError as error:  # the other models go on
            if len(models) == 1:
                raise
            label = name or str(model_)
            lost = NotRun(label, "any mitigator", "any task", str(error), failed=True)
            parts[str(model_)] = Records([], not_run=[lost])
        finally:
            getattr(embedder, "close", lambda: None)()
    return Records(
        (record for part in parts.values() for record in part),
        not_run=[entry for part in parts.values() for entry in part.not_run],
        notices=dict.fromkeys(
            [*registry.notices, *(line for part in parts.values() for line in part.notices)]
        ),
        encoded=sum(part.encoded for part in parts.values()),
    )


class Run:
    """An evaluation in progress. Every name but the models' is looked up when it is made.

    Parameters
    ----------
    registry
        Where names are looked up.
    settings
        How it runs.
    tasks, mitigators
        As users type them.

    Raises
    ------
    UsageError
        If a name is wrong, or there is none.
    """

    def __init__(
        self,
        registry: Registry,
        settings: Settings,
        tasks: Sequence[str],
        mitigators: Sequence[str],
    ) -> None:
        self.registry, self.settings = registry, settings
        if not mitigators:
            raise UsageError("no mitigator is given; 'none' stands for the unmitigated model")
        self.mitigators: dict[str, Chain] = {
            name: registry.mitigator(name) for name in dict.fromkeys(mitigators)
        }
        self.fallback: Concept | None = (
            registry.concept(settings.concept) if settings.concept else None
        )
        self.tasks = TaskReader(registry, select(registry, tasks), settings.progress)
        self.id = uuid.uuid4().hex[:12]

    def embedder(self, model: str | object) -> Embedder | HarnessError:
        """Return the embedder of a name or object, or why it is not available.

        Raises
        ------
        UsageError
            If the name is unknown, or the object is no model.
        """
        devices = self.settings.devices
        try:
            if isinstance(model, str):
                return self.registry.embedder(model, device=devices[0] if devices else None)
            return adapters.as_embedder(model)
        except UsageError:
            raise
        except HarnessError as error:
            return error

    def plan(self, embedder: Embedder, file: ResultsFile | None) -> Plan:
        """Return the plan for a model, without the jobs that are recorded in `file`."""
        info, seed = embedder.info, self.settings.seed
        recorded = file.records if file and not self.settings.overwrite else {}
        entries = self.tasks.for_kind(info.kind)
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
                is_done=lambda job: job.is_recorded(recorded, info, seed),
                advance=advance,
            )
        return dataclasses.replace(plan, not_run=(*unavailable, *plan.not_run))

    @contextlib.contextmanager
    def store(self, info: ModelInfo) -> Iterator[Store]:
        """Open the store of a model; it is temporary for a model without a fingerprint."""
        with adapters.store_folder(info, self.settings.cache or folders.embeddings()) as folder:
            yield Store(folder, info.fingerprint)

    def model(self, embedder: Embedder, name: str | None) -> Records:
        """Evaluate one model; `name` is what users typed for it, if it was a name."""
        info, seed = embedder.info, self.settings.seed
        file = ResultsFile(self.settings.results, info.name) if self.settings.results else None
        plan = self.plan(embedder, file)
        notices = list(file.notices) if file else []
        records = dict(file.records) if file else {}
        not_run = list(plan.not_run)
        encoded = 0
        if plan.jobs:
            with self.store(info) as store:
                store.describe({"name": info.name, "kind": info.kind, "revision": info.revision})
                vectors = StoredEmbedder(
                    embedder, name, self._engine(info), store, self.settings.progress
                )
                vectors.ensure(plan.texts)
                runner = JobRunner(vectors, self.settings, self.id)
                label = f"{info.name}: scoring"
                with self.settings.progress.stage(label, len(plan.jobs), "tasks") as advance:
                    for job in plan.jobs:
                        result = runner.run(job)
                        if isinstance(result, NotRun):
                            not_run.append(result)
                        else:
                            records |= {record.id: record for record in result}
                            if file:
                                file.add(result)
                        advance(1)
                encoded = vectors.encoded
                notices += [*store.notices, *vectors.notices]
                notices += notices_of(plan.jobs, info.name)
                notices += getattr(embedder, "notes", ())
        ids = [id_ for job in (*plan.done, *plan.jobs) for id_ in job.ids(info, seed).values()]
        return Records(
            [records[id_] for id_ in ids if id_ in records],
            not_run=not_run,
            notices=notices,
            encoded=encoded,
        )

    def _engine(self, info: ModelInfo) -> Engine:
        devices = list(self.settings.devices)
        # A process of its own is not worth while for looking words up.
        name = self.settings.engine or (
            "devices" if len(devices) > 1 and info.kind == "text" else "local"
        )
        return self.registry.engine(name, devices)


def _as_list(names: str | Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
