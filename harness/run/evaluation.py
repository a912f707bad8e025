"""`harness.evaluate`, the main job: models × mitigators × tasks in, records out."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import inspect
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

from harness import folders, names, parallel
from harness.concept import Concept
from harness.embedder import (
    NEUTRAL,
    Embedder,
    ModelInfo,
    is_embedder,
    ranks_by,
    reads_texts,
    renamed,
    with_info,
)
from harness.encode import admission
from harness.encode.adapters import ObjectEmbedder, name_of
from harness.encode.batches import takes_tokens
from harness.encode.engine import Engine
from harness.encode.stored_embedder import (
    LocalEngine,
    StoredEmbedder,
    store_folder,
    store_of,
    visible_gpus,
)
from harness.errors import (
    PLUGIN_ERRORS,
    DiskError,
    HarnessError,
    ModelError,
    UsageError,
    one_line,
    suggestion,
)
from harness.folders import Place
from harness.metrics import Metric
from harness.progress import Progress, Silent
from harness.registry.registry import Registry
from harness.results.comparison import judge
from harness.results.folder import ResultsFile, SharedResults, local_copy
from harness.results.ratios import SMALLEST
from harness.results.records import EVERY_TASK, NotRun, NotRunWarning, Records, reasons
from harness.results.verdict import Verdict
from harness.run import plan
from harness.run.plan import Plan, Row, chains, make_plan
from harness.run.plan import Row as MitigatorRow
from harness.run.scoring import score
from harness.run.settings import FALLBACK_CONCEPT, RunFile, Settings, paths
from harness.run.tasks import Added, TaskReader, resolve, select, unused
from harness.store.store import Store
from harness.task.task import Task as LoadedTask
from harness.task.yaml_files import Document

# The models of a run: names and Python objects become embedders.


EXPECTED = (
    "expected a model's name, an Embedder, an object with encode(texts), or a function from texts "
    "to vectors"
)


def as_list(model: object, registry: Registry) -> list[str | object]:
    """Return the models of a user as a list: one model, or an iterable of models.

    An object that encodes or that a plugin knows is one model, even if it is iterable, such as a
    SentenceTransformer or gensim's vectors.

    Raises
    ------
    UsageError
        If there is none.
    """
    if isinstance(model, str) or callable(getattr(model, "encode", None)) or callable(model):
        return [model]
    is_of_names = isinstance(model, list) and all(isinstance(item, str) for item in model)
    adapted = None if is_of_names else _adapted(model, registry)
    if adapted is not None:
        return [adapted]
    if not isinstance(model, Iterable) or isinstance(model, Mapping):
        return [model]
    models = list(cast("Iterable[str | object]", model))
    if not models:
        raise UsageError("no model is given")
    return models


def embedder_of(model: str | object, registry: Registry, *, device: str | None = None) -> Embedder:
    """Return the embedder of a name or object.

    Raises
    ------
    UsageError
        If the name is unknown, or the object is no model.
    HarnessError
        If the model is not available, or is broken.
    """
    if isinstance(model, str):
        return registry.embedder(model, device=device)
    if isinstance(model, type):
        raise UsageError(f"{EXPECTED}, not the class {model.__name__} itself")
    if is_embedder(model):
        return model
    adapted = _adapted(model, registry)
    if adapted is not None:
        return adapted
    if not callable(getattr(model, "encode", None)) and not callable(model):
        raise UsageError(f"{EXPECTED}, not {type(model).__name__}")
    return ObjectEmbedder(model)


def _adapted(model: object, registry: Registry) -> Embedder | None:
    """Return a plugin's embedder for an object; None if no plugin knows the object."""
    for class_ in type(model).__mro__:
        name = f"{class_.__module__.partition('.')[0]}.{class_.__name__}"
        if name not in registry.adapters:
            continue
        adapter = registry.load(registry.adapters[name], f"adapter '{name}'")
        try:
            embedder = cast("Callable[[object], Embedder | None]", adapter)(model)
        except HarnessError:
            raise
        except PLUGIN_ERRORS as error:
            raise ModelError(
                f"this {name} cannot be used as a model ({one_line(error)})"
            ) from error
        if embedder is not None:
            return embedder
    return None


# An evaluation in progress: names become objects, and models are run one by one.
#
# For each model: plan, encode the texts that are not in the store, score task by task, and write
# the records of each task when it is scored.


Entry: TypeAlias = tuple[str | object, Embedder | HarnessError]
"""A model as the user passed it, and its embedder, or the error instead."""


class Run:
    """An evaluation in progress. Its creation looks up all names except those of models.

    Parameters
    ----------
    registry
        Where names are looked up.
    settings
        How it runs.
    tasks, rows
        Tasks and mitigators as the user passed them.
    metrics
        Metrics that are added to the tasks.

    Attributes
    ----------
    mitigators
        Unfitted chains by label.
    ignores_concept
        Whether mitigators were run, and none was fitted on the concept of the settings.
    file
        The file that repeats the run. It is written before the first computation, if there is a
        results folder.

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
        rows: Iterable[MitigatorRow],
        metrics: Sequence[Metric] = (),
    ) -> None:
        self.registry, self.settings = registry, settings
        self.mitigators = chains(rows, registry)
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
            prompts=settings.prompts,
        )
        self.ignores_concept = any(chain.mitigators for chain in self.mitigators.values())
        self.id = uuid.uuid4().hex[:12]
        self._engines: dict[tuple[str, ...], Engine] = {}
        if settings.engine is not None:
            self._engine_of(settings.engine, settings.devices)
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
            return embedder_of(model, self.registry, device=devices[0] if devices else None)
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
            if info.base:  # the user may have run this prompt by hand, so that no base is stated
                recorded -= {i for i in recorded if file.records[i].model.base != info.base}
        entries = self.tasks.for_model(info)
        tasks = [entry for entry in entries if isinstance(entry, LoadedTask)]
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
            has_usual = FALLBACK_CONCEPT in self.registry.concept_files
            plan = make_plan(
                embedder,
                tasks,
                self.mitigators,
                fallback=self.fallback,
                usual=self.registry.concept(FALLBACK_CONCEPT) if has_usual else None,
                translation=self.registry.concept_in,
                is_done=lambda job: job.is_recorded(recorded, info, seed),
                advance=advance,
            )
        return dataclasses.replace(plan, not_run=(*unavailable, *plan.not_run))

    def settle(self, embedder: Embedder) -> list[str]:
        """Find out which model answers behind a hosted name; return lines for the user."""
        return admission.settle(embedder, self.place)

    @property
    def place(self) -> Place:
        """The folder of all stores."""
        return self.settings.cache or folders.embeddings()

    @contextlib.contextmanager
    def store(self, embedder: Embedder) -> Iterator[Store]:
        """Open the store of a model; it is temporary for a model without a fingerprint."""
        with store_folder(embedder.info, self.place) as folder:
            yield store_of(embedder, folder)

    @contextlib.contextmanager
    def vectors(
        self, embedder: Embedder, name: str | None, keys: Sequence[str]
    ) -> Iterator[StoredEmbedder]:
        """Open a model with its store.

        Parameters
        ----------
        embedder
            The model.
        name
            The name that the user typed, if any.
        keys
            Keys of the texts that are planned.
        """
        info = embedder.info
        with self.store(embedder) as store:
            stated = ("name", "kind", "revision", "dimensions")
            facts = {fact: getattr(info, fact) for fact in stated}
            store.describe(facts)
            engine, notice = self._engine(embedder, name, store, keys)
            vectors = StoredEmbedder(embedder, name, engine, store, self.settings.progress)
            vectors.notices += [notice] if notice else []
            yield vectors

    def model(self, entry: Entry) -> Records:
        """Evaluate one model, which is available."""
        embedder = cast("Embedder", entry[1])
        name = entry[0] if isinstance(entry[0], str) else None
        settled = self.settle(embedder) if embedder.info.hosted else []
        info, seed = embedder.info, self.settings.seed
        file = self._file(info)
        plan = self.plan(embedder, file)
        notices = [*settled, *(file.notices if file else ())]
        records = dict(file.records) if file else {}
        not_run = list(plan.not_run)
        encoded, unplanned, seconds = 0, 0, 0.0  # mitigators may need texts that are not planned
        if plan.jobs:
            if self.file and self.results:
                self.file.write(self.results, self.id, self.registry)
            if self.shared:
                self.shared.send()
            with self.vectors(embedder, name, plan.texts) as vectors:
                vectors.ensure(plan.texts)
                planned = vectors.encoded
                scores = score(plan.jobs, vectors, self.settings, run=self.id, file=file)
                records |= scores.records
                not_run += scores.not_run
                encoded, seconds = vectors.encoded, vectors.seconds
                unplanned = encoded - planned
                notices += [*vectors.store.notices, *vectors.notices, *scores.notices]
                notices += getattr(embedder, "notes", ())
                if info.fitted_on is None:
                    notices.append(
                        f"{info.name}: its card does not list the texts that it was fitted on, so "
                        "its scores of bias do not rank"
                    )
                if by := ranks_by(embedder):
                    notices.append(
                        f"{info.name}: documents are ranked by the similarity that the model "
                        f"states ({by}); all other scores are of cosines"
                    )
        fitted_on = {job.part.concept for job in plan.in_order}
        self.ignores_concept &= self.settings.concept not in fitted_on
        ids = [id_ for job in plan.in_order for id_ in job.ids(info, seed).values()]
        if file:
            file.arrange(ids)  # a killed run may not have done it
        return Records(
            [records[id_] for id_ in ids if id_ in records],
            not_run=not_run,
            notices=notices,
            texts=len(plan.texts) + unplanned,
            encoded=encoded,
            seconds=seconds,
            reused=sum(len(job.ids(info, seed)) for job in plan.done),
        )

    def _file(self, info: ModelInfo) -> ResultsFile | None:
        return ResultsFile(self.results, info.name, self.shared) if self.results else None

    def close(self) -> None:
        """Close engines, and send the remaining records to results in a bucket.

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

    def _engine(
        self, embedder: Embedder, model: str | None, store: Store, keys: Sequence[str]
    ) -> tuple[Engine, str]:
        """Return the engine for an embedder of a name, with what the user should know of it."""
        devices, name = self.settings.devices, self.settings.engine
        if name is not None:
            return self._engine_of(name, devices), ""
        # Looking words up does not need a separate process.
        if reads_texts(embedder.info.kind) and len(devices) > 1:
            return self._engine_of("devices", devices), ""
        gpus = visible_gpus() if not devices and model and takes_tokens(embedder) else ()
        missing = store.missing(keys) if len(gpus) > 1 else ()
        if not missing:
            return LocalEngine(devices), ""
        notice = f"{embedder.info.name}: encodes on {', '.join(gpus)}; set --devices for fewer"
        return self._engine_of("devices", gpus), notice

    def _engine_of(self, name: str, devices: Sequence[str]) -> Engine:
        key = (name, *devices)
        if key not in self._engines:
            self._engines[key] = self.registry.engine(name, devices)
        return self._engines[key]


# Models of one run: each is run once, and different models have different names.


_PROMPTS = ("prompt", "query_prompt", "document_prompt")
"""Options by which users choose prompts themselves."""


def under_prompts(entries: Iterable[Entry], run: Run) -> Distinct:
    """Return the models, and after them their variants under other neutral instructions.

    All models are run under their own prompts first, so that a stopped run has these. The user says
    how many instructions there are, or else the benchmarks of the run; then variants run its tasks
    of bias alone. A variant replaces the model's prompts of all roles, by the option `prompt`. If
    the model has one prompt or none, no variant repeats it.

    Parameters
    ----------
    entries
        The models as the user passed them.
    run
        The run, whose tasks say the number of instructions.

    Returns
    -------
    Distinct
        The models and variants, with a line for each model that takes no other prompt.
    """
    count, own = run.tasks.prompts, list(entries)
    if count == 1:
        return Distinct(own, [])
    models = run.registry.models
    variants: list[Entry] = []
    notices = []
    for source, embedder in own:
        if isinstance(embedder, HarnessError):
            continue
        base = embedder.info
        reason = ""
        if not isinstance(source, str) or "prompt" not in models.options(source):
            reason = "it has no option 'prompt'"
        elif models.find(source).options.keys() & set(_PROMPTS):
            reason = "its prompt is chosen"
        if reason:
            if run.tasks.is_own_number:
                notices.append(f"{base.name}: {reason}, so --prompts does not apply")
            elif reads_texts(base.kind):
                notices.append(f"{base.name}: {reason}, so it is run under one prompt, not {count}")
            continue
        has_roles = len(base.role_prompts) > 1
        stated = None if has_roles else base.role_prompts.get("text", "")
        for text in [text for text in ("", *NEUTRAL) if text != stated][: count - 1]:
            name = names.with_option(cast("str", source), "prompt", text)
            variant = run.embedder(name)
            if not isinstance(variant, HarnessError):
                label = names.with_option(base.name, "prompt", text)
                variant = with_info(renamed(variant, label), _with_base(base))
            variants.append((name, variant))
    return Distinct([*own, *variants], notices)


def _with_base(base: ModelInfo) -> Callable[[ModelInfo], ModelInfo]:
    name, fingerprint = base.name, base.fingerprint
    return lambda info: dataclasses.replace(info, base=name, base_fingerprint=fingerprint)


class Distinct(NamedTuple):
    """The models of a run, and lines about them for the user."""

    entries: list[Entry]
    notices: list[str]


def distinct(entries: Iterable[Entry], registry: Registry) -> Distinct:
    """Return each model once.

    If a model (a fingerprint) has several names, a registered one is kept, or else the first. The
    others become its aliases.

    Parameters
    ----------
    entries
        The models as the user passed them.
    registry
        Where the names of registered models are looked up.

    Raises
    ------
    UsageError
        If two different models have the same name.
    """
    unavailable: list[Entry] = []
    groups: dict[str, list[tuple[str | object, Embedder]]] = {}
    for source, embedder in entries:
        if isinstance(embedder, HarnessError):
            unavailable.append((source, embedder))
        else:
            groups.setdefault(embedder.info.fingerprint, []).append((source, embedder))
    kept: dict[str, str | object] = {}
    merged: list[Entry] = []
    notices = []
    for group in groups.values():
        names = [embedder.info.name for _, embedder in group]
        best = 0
        if len(group) > 1:
            best = next((i for i, name in enumerate(names) if name in registry.embedders), 0)
        source, embedder = group[best]
        name = names[best]
        if name in kept:
            raise UsageError(_clash(name, kept[name], source))
        kept[name] = source
        others = [other for other in dict.fromkeys(names) if other != name]
        notices += [
            f"{other} is the same model as {name}; results are shown under {name}"
            for other in others
        ]
        for _, other_embedder in group:
            if other_embedder is not embedder:
                getattr(other_embedder, "close", lambda: None)()
        merged.append((source, renamed(embedder, name, others)))
    return Distinct([*merged, *unavailable], notices)


def _clash(name: str, first: str | object, second: str | object) -> str:
    """Return the message for two different models of one name."""
    message = f"two different models have the name '{name}'"
    if not (isinstance(first, str) and isinstance(second, str)):
        return (
            f"{message}: give one of the objects another `name`; a dict has none, so call once for "
            "each dict"
        )
    separator = "&" if "?" in second else "?"
    return f"{message}, '{first}' and '{second}': name one of them, '{second}{separator}name=…'"


Task: TypeAlias = str | Path | Mapping[str, Any]
"""Tasks as users give them: names or a path, or one task as a mapping."""


COMPARED = ("social-bias-encoders", "social-bias-words", "usefulness")
"""Tasks of `compare_models` and `harness compare`: those that rank, and those of usefulness."""
SCREENING = "screening"
"""The tag of tasks that `harness compare` runs for its page."""


def evaluate(
    model: str | object | Iterable[str | object],
    tasks: Task | Iterable[Task] = "all",
    mitigators: Row | Iterable[Row] = names.NONE,
    *,
    metrics: Added | Iterable[Added] = (),
    results: Place | str | None = None,
    cache: Place | str | None = None,
    concept: str | None = FALLBACK_CONCEPT,
    seed: int = 0,
    overwrite: bool = False,
    samples: bool = False,
    include: Path | str | Iterable[Path | str] = (),
    trust: bool = False,
    exclude: str | Path | Iterable[str | Path] = (),
    limit: int | None = None,
    any_language: bool = False,
    prompts: int | None = None,
    devices: str | Iterable[str] = (),
    engine: str | None = None,
    workers: int | None = None,
    registry: Registry | None = None,
    progress: bool | Progress = False,
    debug: bool = False,
) -> Records:
    """Evaluate models under mitigators on tasks.

    Parameters
    ----------
    model
        A model, or several: a name; an `Embedder`; a SentenceTransformer; gensim's vectors; a
        mapping from word to vector, or words and an array; any other object with
        `encode(texts)`; or a function from texts to vectors. A text `name` of an object is its
        name in records. A text `fingerprint` of an object, which must change whenever its vectors
        do, lets a later call use its vectors and results again.
    tasks
        Names, globs, benchmarks, tags, categories, `all`, or paths of files of tasks or
        benchmarks; a text may hold several with commas, `"weat-6,ws-353"`. Or a task as a mapping,
        with the keys of a task file.
    mitigators
        A row of the table, or several: a name, such as `hard-debias?k=2` or
        `context-injection+normalize`; `none` for the unmitigated model; a `Mitigator` object; or
        a tuple or list of these, which is a chain. An object is copied and fitted anew. An object
        of a registered class is the same mitigator as its name; for any other class, its code is
        part of the ids of its results.
    metrics
        Functions decorated with `harness.metric`, or names of metrics. They score each task that
        has all their inputs, in addition to its own metrics, and a task may name them. The code of
        a function is part of the ids of its scores.
    results
        Folder to write records to, also in a bucket, such as `s3://bucket/results`. Scores that are
        recorded there are not computed again. None writes nothing.
    cache
        Folder of the stored embeddings, also in a bucket; by default `embeddings` in the cache
        folder.
    concept
        Concept to fit a mitigator on if the task's own lacks a field that it needs; None for none.
    seed
        Seed of every random choice: a whole number from 0.
    overwrite
        Whether to compute recorded scores again.
    samples
        Whether to keep the contribution of each word, pair or text to a score, for
        `Record.read_samples` and in `results`. Scores that were recorded without it are computed
        again.
    include
        Further folders of tasks, concepts, studies and benchmarks.
    trust
        Whether task files that are not installed may name addresses and keys, and run code.
    exclude
        Tasks to leave out, written as in `tasks`.
    limit
        For a smoke run: each set or table of a task is cut to this number of items. Its records say
        so, and are never ranked.
    any_language
        Whether to run tasks even in languages that a model's card lacks, as a control.
    prompts
        Number of neutral instructions to run each model under: its own, none, and stated ones; 1
        for its own alone. By default what the benchmarks among the tasks ask for, on their tasks of
        bias. Each is a model of its own in the records, which names its base. Only models with
        names, and with the option `prompt`, are run so; a notice names the others.
    devices
        Devices to encode on, such as `"cuda:0,cuda:1"` or `["cpu", "cpu"]`; by default those
        GPUs of this process, else the device that the model chooses.
    engine
        Name of the engine, such as `ray?actors=4`; by default `local` for one device and `devices`
        for several.
    workers
        Number of processes that score. It does not affect results. By default one for each core
        that this process may use, if some seconds of scoring remain after the first three seconds;
        if not, this process scores everything.
    registry
        Where names are looked up; by default the installed plugins.
    progress
        Whether to show progress: bars in a terminal, a line below the cell of a notebook; otherwise
        lines. Or a `Progress`, which shows it.
    debug
        Whether an unexpected error in a task is raised; by default it is reported.

    Returns
    -------
    Records
        The records of these models, tasks and mitigators, including earlier ones.

    Warns
    -----
    NotRunWarning
        If a task failed, or if a task that was requested by its own name did not run.
        `Records.not_run` lists them.

    Raises
    ------
    UsageError
        If a name, argument or file is wrong. Nothing has run then.
    HarnessError
        If the only model is not available, or a folder cannot be written to.
    """
    settings = Settings.of(
        results=results,
        cache=cache,
        concept=concept,
        seed=seed,
        overwrite=overwrite,
        samples=samples,
        include=include,
        exclude=exclude,
        limit=limit,
        any_language=any_language,
        prompts=prompts,
        devices=devices,
        engine=engine,
        workers=workers,
        progress=progress,
        debug=debug,
    )
    registry = registry or Registry(include=settings.include, trust=trust)
    models_ = as_list(model, registry)
    patterns, rows = task_patterns(tasks), plan.rows(mitigators)
    registry, added = resolve(metrics, registry)
    run = Run(registry, settings, patterns, rows, added)
    names_ = [metric.name if not metric.source else metric for metric in added]
    run.file = RunFile.of(models_, rows, patterns, settings, names_)
    # Every name is looked up before the first model runs.
    entries, own_only = under_prompts([(model_, run.embedder(model_)) for model_ in models_], run)
    entries, same = distinct(entries, registry)
    parts: list[Records] = []
    try:
        for entry in entries:
            model_, embedder = entry
            name = model_ if isinstance(model_, str) else None
            try:
                if isinstance(embedder, HarnessError):
                    raise embedder
                with parallel.at_most(n) if (n := settings.workers) else contextlib.nullcontext():
                    parts.append(run.model(entry))
            except (UsageError, DiskError):
                raise
            except HarnessError as error:  # the other models are still run
                if len(entries) == 1:
                    raise
                label = name or name_of(model_)
                not_run = NotRun(label, "every mitigator", EVERY_TASK, str(error), "failed")
                parts.append(Records([], not_run=[not_run]))
            finally:
                getattr(embedder, "close", lambda: None)()
    finally:
        run.close()
    records = [record for part in parts for record in part]
    with_records = {record.task.name for record in records}
    notices = [
        *registry.notices,
        *own_only,
        *same,
        *(line for part in parts for line in part.notices),
    ]
    if concept not in (None, names.NONE, FALLBACK_CONCEPT) and run.ignores_concept:
        notices.append(f"concept '{concept}' was not used: no mitigator was fitted on it")
    notices += unused(added, records)
    evaluated = Records(
        records,
        missed=[name for name in run.tasks.named if name not in with_records],
        not_run=[entry for part in parts for entry in part.not_run],
        notices=dict.fromkeys(notices),
        texts=sum(part.texts for part in parts),
        encoded=sum(part.encoded for part in parts),
        seconds=sum(part.seconds for part in parts),
        reused=sum(part.reused for part in parts),
    )
    for line in _failures(evaluated):
        warnings.warn(line, NotRunWarning, stacklevel=2)
    return evaluated


def compare_models(
    model: str | object | Sequence[str | object],
    base: str | object | None = None,
    mitigator: Row = names.NONE,
    tasks: Task | Iterable[Task] = COMPARED,
    *,
    screening: bool = False,
    smallest: float = SMALLEST,
    **options: Any,
) -> Verdict:
    """Evaluate a model and its base, and return whether the model is more biased.

    Parameters
    ----------
    model
        The model, as in `evaluate`; or a list of the seeds of one training.
    base
        What it is compared with, without a mitigator; by default the model itself.
    mitigator
        Mitigator of the model.
    tasks
        As in `evaluate`; by default those that rank, and those of usefulness.
    screening
        Whether to run the tasks of screening, too, which `Verdict.page` shows. They do not count.
    smallest
        Smallest difference of bias that counts as more or less.
    **options
        Further arguments of `evaluate`. Samples are always kept.

    Returns
    -------
    Verdict
        The differences with their intervals. It is printed as tables, and `failures` says whether
        the model passes.

    Raises
    ------
    UsageError
        If an argument is wrong, or there is nothing to compare.
    """
    own = {"model", "tasks", "mitigators", "samples", "prompts"}
    known = inspect.signature(evaluate).parameters.keys() - own
    if unknown := options.keys() - known:
        near = suggestion(min(unknown), {*known, *inspect.signature(compare_models).parameters})
        raise UsageError(f"unknown argument '{min(unknown)}'{near}")
    models = list(model) if isinstance(model, list | tuple) else [model]
    if base is None and mitigator == names.NONE:
        raise UsageError("a model is compared with a base, or with itself under a mitigator")
    if not models or (base is None and len(models) > 1):
        raise UsageError("name a base, and one model or the seeds of one")
    base = models[0] if base is None else base
    registry = options.get("registry") or Registry(
        include=paths(options.get("include", ())), trust=options.get("trust", False)
    )
    _check_models([base, *models], registry)
    chains(plan.rows([mitigator]), registry)
    options |= {"samples": True, "registry": registry, "prompts": 1}
    before = evaluate(base, tasks, names.NONE, **options)
    # What the base cannot run, such as tasks in languages that its card lacks, counts in no mean.
    missing = {entry.task for entry in before.not_run} & set(registry.task_files)
    excluded = options.pop("exclude", ())
    excluded = [excluded] if isinstance(excluded, str | Path) else list(excluded)
    place = options.get("results")
    seeds: list[Records] = []
    notices = dict.fromkeys(before.notices)
    not_run = list(before.not_run)
    # Not among the results: a comparison of these would count it.
    apart = options | {"results": None, "overwrite": False}
    screened = list(evaluate(base, SCREENING, names.NONE, **apart)) if screening else []
    for seed in models:
        records = evaluate(seed, tasks, [mitigator], exclude=[*excluded, *missing], **options)
        screened += evaluate(seed, SCREENING, [mitigator], **apart) if screening else []
        notices |= dict.fromkeys(records.notices)
        not_run += records.not_run
        seeds.append(records)
    folder = None if place is None else local_copy(place)
    verdict = judge(before, seeds, folders=(folder, folder), smallest=smallest)
    lacking = [entry for entry in not_run if entry.kind not in ("embedder", "language")]
    return dataclasses.replace(
        verdict,
        screened=tuple(screened),
        notices=tuple(notices),
        not_run=tuple(reason.line(verbose=False) for reason in reasons(lacking)),
    )


def _check_models(models: Sequence[str | object], registry: Registry) -> None:
    """Find mistakes in the names and files of all models before the first text is encoded.

    Raises
    ------
    UsageError
        If a name is wrong, or one model is of words and one of texts: then they share no task.
    HarnessError
        If a model is not available.
    """
    by_texts: dict[bool, str] = {}
    for model in models:
        embedder = embedder_of(model, registry)
        by_texts.setdefault(reads_texts(embedder.info.kind), embedder.info.name)
        if isinstance(model, str):
            getattr(embedder, "close", lambda: None)()
    if len(by_texts) > 1:
        raise UsageError(
            f"'{by_texts[False]}' has vectors of words and '{by_texts[True]}' of texts: they have "
            f"no task in common ('bag-of-words:{by_texts[False]}' encodes texts)"
        )


def _failures(records: Records) -> list[str]:
    """Return the reasons for exit code 1: failed tasks, and named tasks that did not run."""
    missed = [entry for entry in records.skipped if entry.task in records.missed]
    return [
        f"{label}: {reason.line(verbose=False)}"
        for label, entries in (("failed", records.failed), ("not run", missed))
        for reason in reasons(entries)
    ]


def task_patterns(tasks: Task | Iterable[Task]) -> list[str | Document]:
    """Return the names and paths of tasks, and parsed files of those that are mappings."""
    is_single = isinstance(tasks, str | Path | Mapping) or not isinstance(tasks, Iterable)
    several = [cast("Task", tasks)] if is_single else list(cast("Iterable[Task]", tasks))
    patterns: list[str | Document] = []
    for i, task in enumerate(several):
        if isinstance(task, Mapping):
            patterns.append(Document(Path(f"tasks[{i}]"), copy.deepcopy(dict(task)), {}))
        elif isinstance(task, str | Path):
            patterns += names.split(task)
        else:
            raise UsageError(
                f"tasks: expected a name, a path or a mapping, not {type(task).__name__}"
            )
    return patterns
