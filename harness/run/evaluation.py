"""`harness.evaluate`, the main job: models × mitigators × tasks in, records out."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias, cast

from harness import names, parallel
from harness.encode import adapters
from harness.errors import DiskError, HarnessError, UsageError
from harness.folders import Place
from harness.progress import Progress
from harness.registry.registry import Registry
from harness.results.not_run import EVERY_TASK, NotRun, NotRunWarning
from harness.results.outcome import reasons
from harness.results.records import Records
from harness.run import added_metrics, models
from harness.run import mitigators as mitigators_
from harness.run.added_metrics import Added
from harness.run.mitigators import Row
from harness.run.run import Run
from harness.run.run_file import RunFile
from harness.run.same_models import distinct
from harness.run.settings import FALLBACK_CONCEPT, Settings, paths
from harness.task.yaml_files import Document

Task: TypeAlias = str | Path | Mapping[str, Any]
"""Tasks as users give them: names or a path, or one task as a mapping."""


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
    trust: Path | str | Iterable[Path | str] = (),
    exclude: str | Path | Iterable[str | Path] = (),
    limit: int | None = None,
    any_language: bool = False,
    devices: str | Iterable[str] = (),
    engine: str | None = None,
    timeout: float | None = None,
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
        a tuple or list of these, which is a chain. An object is copied and fitted anew. One of a
        registered class is the same mitigator as its name; the code of any other class is part of
        what identifies its results.
    metrics
        Functions decorated with `harness.metric`, or names of metrics. They score each task that
        has all their inputs, beside its own metrics, and a task may name them. The code of a
        function is part of what identifies its scores.
    results
        Folder to write records to, also in a bucket, such as `s3://bucket/results`. What is
        recorded there already is not run again. None writes nothing.
    cache
        Folder of the stored embeddings, also in a bucket; by default `embeddings` in the cache
        folder.
    concept
        Concept to fit a mitigator on if the task's own lacks a field that it needs; None for none.
    seed
        Seed of every random choice: a whole number from 0.
    overwrite
        Whether to run again what is recorded.
    samples
        Whether to keep what each word, pair or text contributes to a score, for
        `Record.read_samples` and in `results`. What is recorded without is run again.
    include
        Further folders of tasks, concepts, studies and benchmarks.
    trust
        Task files, or folders of them, that may name addresses, keys and paths anywhere.
    exclude
        Tasks to leave out, written as in `tasks`.
    limit
        For a smoke run: each set or table of a task is cut to this number of items. Its records say
        so, and are never ranked.
    any_language
        Whether to run tasks in languages that a model's card lacks, too, as a control.
    devices
        Devices to encode on, such as `"cuda:0,cuda:1"` or `["cpu", "cpu"]`; by default one, which
        the model chooses.
    engine
        Name of the engine, such as `ray?actors=4`; by default `local` for one device and `devices`
        for several.
    timeout
        Seconds for a batch: a process that takes longer is ended, and its texts are tried once
        more. The engine is then `devices` by default. None waits.
    workers
        Number of processes that score, which does not change any number. By default one for each
        core that this process may use, if more than some seconds of scoring are left after the
        first three; else everything is scored in this process.
    registry
        Where names are looked up; by default the installed plugins.
    progress
        Whether to show progress: bars in a terminal, and in a notebook that has the package
        ipywidgets; else lines. Or where to show it.
    debug
        Whether an unexpected error in a task is raised; by default it is reported.

    Returns
    -------
    Records
        The records of these models, tasks and mitigators, those recorded earlier included.

    Warns
    -----
    NotRunWarning
        If a task failed, or one that was asked for by its own name did not run. `Records.not_run`
        lists them.

    Raises
    ------
    UsageError
        If a name, argument or file is wrong. Nothing was run then.
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
        devices=devices,
        engine=engine,
        timeout=timeout,
        workers=workers,
        progress=progress,
        debug=debug,
    )
    registry = registry or Registry(include=settings.include, trust=paths(trust, "trust"))
    models_ = models.as_list(model, registry)
    patterns, rows = _patterns(tasks), mitigators_.rows(mitigators)
    registry, added = added_metrics.resolve(metrics, registry)
    run = Run(registry, settings, patterns, rows, added)
    names_ = [metric.name if not metric.source else metric for metric in added]
    run.file = RunFile.of(models_, rows, patterns, settings, names_)
    # Every name is looked up before the first model runs.
    entries, same = distinct(
        [(model_, run.embedder(model_)) for model_ in models_], registry.embedders
    )
    parts: list[Records] = []
    try:
        for model_, embedder in entries:
            name = model_ if isinstance(model_, str) else None
            try:
                if isinstance(embedder, HarnessError):
                    raise embedder
                with parallel.at_most(settings.workers):
                    parts.append(run.model(embedder, name))
            except (UsageError, DiskError):
                raise
            except HarnessError as error:  # the other models go on
                if len(models_) == 1:
                    raise
                label = name or adapters.name_of(model_)
                lost = NotRun(label, "every mitigator", EVERY_TASK, str(error), "failed")
                parts.append(Records([], not_run=[lost]))
            finally:
                getattr(embedder, "close", lambda: None)()
    finally:
        run.close()
    records = [record for part in parts for record in part]
    with_records = {record.task.name for record in records}
    notices = [*registry.notices, *same, *(line for part in parts for line in part.notices)]
    if concept not in (None, names.NONE, FALLBACK_CONCEPT) and run.ignores_concept:
        notices.append(f"concept '{concept}' was not used: no mitigator was fitted on it")
    notices += added_metrics.unused(added, records)
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
    for line in _lost(evaluated):
        warnings.warn(line, NotRunWarning, stacklevel=2)
    return evaluated


def _lost(records: Records) -> list[str]:
    """Return why the command would exit with 1: what failed, and named tasks that did not run."""
    missed = [entry for entry in records.skipped if entry.task in records.missed]
    return [
        f"{label}: {reason.line(verbose=False)}"
        for label, entries in (("failed", records.failed), ("not run", missed))
        for reason in reasons(entries)
    ]


def _patterns(tasks: Task | Iterable[Task]) -> list[str | Document]:
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
