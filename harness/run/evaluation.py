"""The main job: models × mitigators × tasks in, records out.

For each model: plan, encode what the store lacks, score task by task, write records as they come.
"""

from __future__ import annotations

import contextlib
import dataclasses
import uuid
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from harness import folders, names
from harness.concept import Concept
from harness.embedder import Embedder, ModelInfo
from harness.encode import adapters
from harness.encode.engine import Engine
from harness.encode.stored_embedder import StoredEmbedder
from harness.errors import (
    DiskError,
    HarnessError,
    NotApplicable,
    UsageError,
    one_line,
)
from harness.mitigator import Chain
from harness.progress import Silent
from harness.registry.registry import Registry
from harness.results.folder import ResultsFile
from harness.results.record import Record
from harness.results.records import Records, Skipped
from harness.run import recording, scoring
from harness.run.plan import Job, Plan, make
from harness.run.settings import Settings
from harness.run.tasks import Reader, select
from harness.store.store import Store
from harness.task.task import Task
from harness.vocabulary import vocabulary_of


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
        A model name, an `Embedder`, any object with `encode(texts)`, or several of these. An
        object that does not say by `info` what it is shares no vectors with a later call.
    tasks
        Names, globs, tags, categories, `all`, or paths to task files.
    mitigators
        Names, such as `hard-debias?k=2` or `context-injection+normalize`; `none` for the model
        as it is.
    results
        Folder to write records to; what is recorded there already is not run again.
    cache
        Folder of the store.
    registry
        Where names are looked up; by default the installed plugins.
    **settings
        Further fields of `Settings`.

    Returns
    -------
    Records
        The records asked for, whether made now or before.

    Raises
    ------
    UsageError
        If a name, option or file is wrong; nothing was run then.
    HarnessError
        If a model cannot be had or a folder cannot be written.
    """
    chosen = Settings.of(results=results, cache=cache, **settings)
    registry = registry or Registry(include=chosen.include)
    # What encodes is one model, even if it is a sequence, as a SentenceTransformer is of modules.
    single = isinstance(model, str) or callable(getattr(model, "encode", None))
    several = isinstance(model, Iterable) and not single
    models = list(cast("Iterable[str | object]", model)) if several else [model]
    if not models:
        raise UsageError("no model is asked for")
    run = Run(registry, chosen, _several(tasks), _several(mitigators))
    parts: dict[str, Records] = {}
    # Every name is looked up before the first model runs.
    for each, embedder in [(each, run.embedder(each)) for each in models]:
        name = each if isinstance(each, str) else None
        try:
            if isinstance(embedder, HarnessError):
                raise embedder
            key = embedder.info.fingerprint
            if key not in parts:  # one model under two spellings is one
                parts[key] = run.model(embedder, name)
        except (UsageError, DiskError):
            raise
        except HarnessError as error:  # the other models go on
            if len(models) == 1:
                raise
            lost = Skipped(name or str(each), "any mitigator", "any task", str(error), failed=True)
            parts[str(each)] = Records([], skipped=[lost])
        finally:
            getattr(embedder, "close", lambda: None)()
    return Records(
        (record for part in parts.values() for record in part),
        skipped=[skipped for part in parts.values() for skipped in part.skipped],
        notices=dict.fromkeys(
            [*registry.notices, *(n for part in parts.values() for n in part.notices)]
        ),
        encoded=sum(part.encoded for part in parts.values()),
    )


class Run:
    """An evaluation under way; every name is looked up when it is made.

    Parameters
    ----------
    registry
        Where names are looked up.
    settings
        How it runs.
    tasks, mitigators
        What users typed.
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
            raise UsageError("no mitigator is asked for; 'none' means the model as it is")
        self.mitigators: dict[str, Chain] = {
            name: registry.mitigator(name) for name in dict.fromkeys(mitigators)
        }
        self.fallback: Concept | None = (
            registry.concept(settings.concept) if settings.concept else None
        )
        self.tasks = Reader(registry, select(registry, tasks), settings.progress)
        self.id = uuid.uuid4().hex[:12]

    def plan(self, embedder: Embedder, file: ResultsFile | None) -> Plan:
        """Return the plan for a model, less what is recorded in `file`."""
        info = embedder.info
        recorded = file.records if file and not self.settings.overwrite else {}
        slow = any(chain.rewrites for chain in self.mitigators.values())
        progress = self.settings.progress if slow else Silent()
        given = self.tasks.for_kind(info.kind)
        tasks = [task for task in given if isinstance(task, Task)]
        label, n = f"{info.name}: planning", len(tasks) * len(self.mitigators)
        with progress.stage(label, n, "tasks under mitigators") as advance:
            return make(
                info,
                tasks,
                self.mitigators,
                unavailable=[
                    dataclasses.replace(skipped, model=info.name, mitigator=name)
                    for skipped in given
                    if isinstance(skipped, Skipped)
                    for name in self.mitigators
                ],
                fallback=self.fallback,
                words=lambda: vocabulary_of(embedder).words,
                recorded=recorded.__contains__,
                seed=self.settings.seed,
                advance=advance,
            )

    @contextlib.contextmanager
    def store(self, info: ModelInfo) -> Iterator[Store]:
        """Give the store of a model; one that cannot be named gets one that goes away."""
        with adapters.store_folder(info, self.settings.cache or folders.embeddings()) as folder:
            yield Store(folder, info.fingerprint)

    def embedder(self, model: str | object) -> Embedder | HarnessError:
        """Return the embedder that is meant, or why it cannot be had."""
        devices = self.settings.devices
        try:
            if isinstance(model, str):
                return self.registry.embedder(model, device=devices[0] if devices else None)
            return adapters.as_embedder(model)
        except UsageError:
            raise
        except HarnessError as error:
            return error

    def model(self, embedder: Embedder, name: str | None) -> Records:
        """Evaluate one model; `name` is what it was made from, if anything."""
        info = embedder.info
        file = ResultsFile(self.settings.results, info.name) if self.settings.results else None
        todo = self.plan(embedder, file)
        notices = list(file.notices) if file else []
        made = dict(file.records) if file else {}
        skipped = list(todo.skipped)
        encoded = 0
        if todo.jobs:
            with self.store(info) as store:
                store.describe({"name": info.name, "kind": info.kind, "revision": info.revision})
                engine = self._engine(info)
                vectors = StoredEmbedder(embedder, name, engine, store, self.settings.progress)
                vectors.ensure(todo.texts)
                label = f"{info.name}: scoring"
                with self.settings.progress.stage(label, len(todo.jobs), "tasks") as advance:
                    for job in todo.jobs:
                        records = self._attempt(job, vectors, engine)
                        if isinstance(records, Skipped):
                            skipped.append(records)
                        else:
                            made |= {record.id: record for record in records}
                            if file:
                                file.add(records)
                        advance(1)
                encoded = vectors.encoded
                notices += [*store.notices, *vectors.notices, *_lacking(todo.jobs, info)]
                notices += getattr(embedder, "notes", ())
                notices += [
                    f"'{job.part.name}': {note}"
                    for job in todo.jobs
                    for chain in job.chains
                    for note in chain.notes
                ]
        jobs = (*todo.done, *todo.jobs)
        wanted = [one for job in jobs for one in job.ids(info, self.settings.seed).values()]
        return Records(
            [made[one] for one in wanted if one in made],
            skipped=skipped,
            notices=notices,
            encoded=encoded,
        )

    def _attempt(self, job: Job, vectors: StoredEmbedder, engine: Engine) -> list[Record] | Skipped:
        """Return the records of a job, or why there are none; the run goes on."""
        failed = True
        try:
            return self._score(job, vectors, engine)
        except DiskError:
            raise
        except NotApplicable as error:
            failed, reason = False, str(error)
        except Exception as error:  # a plugin may raise anything
            if self.settings.debug and not isinstance(error, HarnessError):
                raise
            reason = one_line(error)
        return Skipped(vectors.info.name, job.part.name, job.task.name, reason, failed)

    def _engine(self, info: ModelInfo) -> Engine:
        devices = list(self.settings.devices)
        # Looking words up is no work worth a process.
        name = self.settings.engine or (
            "devices" if len(devices) > 1 and info.kind == "text" else "local"
        )
        return self.registry.engine(name, devices)

    def _score(self, job: Job, vectors: StoredEmbedder, engine: Engine) -> list[Record]:
        for chain in job.chains:
            chain.fit_once(vectors, job.concept)
        measured = scoring.measure(
            job, vectors.encode, seed=self.settings.seed, truncated=vectors.truncated
        )
        device = ",".join(engine.devices) or "default"
        return [
            record
            for one in measured
            for record in recording.records(
                job, one, vectors.info, run=self.id, seed=self.settings.seed, device=device
            )
        ]


def _lacking(jobs: Iterable[Job], info: ModelInfo) -> list[str]:
    """Return a line for each list of words that mitigators were given and the model lacks."""
    fitted: dict[tuple[str, ...], list[str]] = {}
    for job in jobs:
        for stage in job.mitigator.mitigators:
            if stage.lacks:
                about = f" on {job.concept.name}" if job.concept else ""
                fitted.setdefault(stage.lacks, []).append(f"'{job.part.name}'{about}")
    lines = []
    for lacks, told in fitted.items():
        more = f" and {len(lacks) - 5} more" if len(lacks) > 5 else ""
        under = ", ".join(dict.fromkeys(told))
        lines.append(f"{info.name} lacks {', '.join(lacks[:5])}{more}, fitted without: {under}")
    return lines


def _several(given: str | Iterable[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)
