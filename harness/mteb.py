"""The tasks of the harness as tasks of mteb, for `mteb.evaluate`.

>>> import mteb, harness.mteb
>>> mteb.evaluate(model, harness.mteb.tasks("social-bias-encoders"))  # doctest: +SKIP

Each task is a class of mteb's, with its metadata. Its main score is the primary score of the task,
as `harness eval` computes it, without a mitigator: the harness itself encodes and scores. Texts are
read as those of mteb's tasks of the type STS, queries and documents as those of its retrieval.

What cannot be a task of mteb is left out, or refused if it was named: a task for word embedders,
since mteb's models have no vocabulary, and one in a language that mteb has no code for. mteb takes
a model as it is; a mitigator becomes a model by `harness debias`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from packaging.version import Version

import harness
from harness.commands.cite import Entry, papers
from harness.digest import digest
from harness.errors import ModelError, NotApplicable, Unavailable, UnknownName, UsageError
from harness.names import split
from harness.registry.registry import Registry
from harness.results.records import NotRunWarning
from harness.run.evaluation import evaluate
from harness.run.settings import paths
from harness.run.tasks import TaskEntry, select
from harness.task.schema import DEFAULT_SCENARIO, BenchmarkFile, TaskFile

OLDEST, NEWEST = "2.26", "3"
"""The versions of mteb that are supported: from the first on, before the second."""
INSTALL = 'pip install "embedding-bias-harness[mteb]"'


def library() -> Any:
    """Return the package mteb.

    Raises
    ------
    Unavailable
        If it is not installed, or in a version that is not supported.
    """
    try:
        import mteb
    except ImportError as error:
        missing = error.name or "a part of mteb"
        what = "mteb is not installed" if missing == "mteb" else f"mteb needs {missing}"
        raise Unavailable(f"{what}: {INSTALL}") from None
    version = str(getattr(mteb, "__version__", "0"))
    if not Version(OLDEST) <= Version(version) < Version(NEWEST):
        raise Unavailable(
            f"mteb {version} is installed; expected {OLDEST} or later, below {NEWEST}: {INSTALL}"
        )
    return mteb


mteb = library()

from mteb.abstasks import AbsTask, AbsTaskSTS  # noqa: E402  # after the check of the version
from mteb.abstasks.task_metadata import TaskMetadata  # noqa: E402
from mteb.languages.iso_mappings import (  # noqa: E402  # there are no public functions
    _get_iso1_to_iso3,
    _hf_lang_to_iso_lang_script,
)
from mteb.types import Licenses  # noqa: E402


@dataclass(frozen=True)
class _Source:
    """Where a task of mteb comes from, and how it is run."""

    registry: Registry
    entry: TaskEntry
    cache: Path | str | None


class HarnessTask(AbsTask):  # type: ignore[misc]  # mteb is not checked for types
    """A task of the harness as a task of mteb; `tasks` makes a subclass for each."""

    abstask_prompt = AbsTaskSTS.abstask_prompt
    source: _Source

    def load_data(self, *_: Any, **__: Any) -> None:
        """Do nothing that mteb needs: the harness reads, and if need be fetches, the texts."""
        self.dataset: Any = {split: [] for split in self.metadata.eval_splits}
        self.data_loaded = True

    def _evaluate_subset(self, model: Any, *_: Any, **__: Any) -> dict[str, float]:
        """Return the scores by name.

        Raises
        ------
        HarnessError
            If the task cannot be run on the model, or gives no main score.
        """
        source, name = self.source, self.source.entry.file.name
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotRunWarning)  # an error says it below
            records = evaluate(
                model,
                source.entry.document.path if source.entry.from_path else name,
                cache=source.cache,
                registry=source.registry,
            )
        ours = [record for record in records if record.task.name == name]
        scores = {
            _score_name(record.scenario, record.metric, record.score): record.value
            for record in ours
            if record.value is not None
        }
        if self.metadata.main_score not in scores:
            reasons = [entry.reason for entry in records.not_run if entry.task == name]
            reasons += [record.reason for record in ours if record.primary and record.reason]
            raise ModelError(f"task '{name}' gives no score: {'; '.join(dict.fromkeys(reasons))}")
        return scores

    def _calculate_descriptive_statistics_from_split(self, *_: Any, **__: Any) -> dict[str, int]:
        task = self.source.registry.resolve(self.source.entry.document)
        return {
            "num_samples": len({text for input_ in task.texts() for text in input_.texts or ()})
        }


def tasks(
    *names: str | Path,
    include: Path | str | Iterable[Path | str] = (),
    cache: Path | str | None = None,
) -> list[HarnessTask]:
    """Return tasks of the harness as tasks of mteb.

    Parameters
    ----------
    names
        As after `--tasks`: names, globs, benchmarks, tags, categories, `all`, or paths.
    include
        Further folders of tasks.
    cache
        Folder of the stored embeddings; by default that of the harness.

    Raises
    ------
    NotApplicable
        If a task that is named cannot be a task of mteb.
    UsageError
        If a name is unknown, or no task is left.
    """
    folders = paths(include, "include")
    registry = Registry(include=folders)
    entries = []
    for entry in _selected(split(names), registry):
        reason = _unfit(entry.file)
        if reason is None:
            entries.append(entry)
        elif entry.is_named:
            raise NotApplicable(f"'{entry.file.name}' cannot be a task of mteb: {reason}")
    if not entries:
        raise UsageError("no task is left: mteb's models are text encoders, these tasks need words")
    cited = papers({entry.file.name: entry.file.source for entry in entries}, registry, folders)
    return [
        _class_of(_Source(registry, entry, cache), cited.get(entry.file.name, ()))()
        for entry in entries
    ]


def benchmark(
    name: str,
    *,
    include: Path | str | Iterable[Path | str] = (),
    cache: Path | str | None = None,
) -> Any:
    """Return a benchmark of the harness, such as `social-bias-encoders`, as one of mteb's.

    Parameters
    ----------
    name
        Name of the benchmark.
    include, cache
        As of `tasks`.

    Raises
    ------
    UnknownName
        If there is no such benchmark.
    UsageError
        If all its tasks are for word embedders.
    """
    registry = Registry(include=paths(include, "include"))
    file = registry.benchmark_files.find(name).validate(BenchmarkFile)
    return mteb.Benchmark(
        name=file.name,
        tasks=tasks(name, include=include, cache=cache),
        description=" ".join(f"{file.title}. {file.description}".split()),
    )


def short_languages(languages: Iterable[str]) -> tuple[str, ...]:
    """Return languages as the harness writes them: `en` for mteb's `eng-Latn`."""
    short = {long: code for code, long in _get_iso1_to_iso3().items()}
    found = (language.partition("-")[0] for language in languages)
    return tuple(dict.fromkeys(short.get(language, language) for language in found))


def _selected(patterns: Sequence[str], registry: Registry) -> list[TaskEntry]:
    try:
        return select(registry, patterns)
    except UnknownName as error:
        for pattern in patterns:
            if pattern.partition("+")[0].partition("?")[0] in registry.mitigators:
                raise UsageError(
                    f"'{pattern}' is a mitigator, no task; mteb evaluates a model as it is: write "
                    f"harness debias -m MODEL -M {pattern} --out FOLDER, and evaluate that folder"
                ) from None
        raise error


def _unfit(file: TaskFile) -> str | None:
    """Return why a task cannot be one of mteb; None if it can."""
    if any(source.vocabulary for _, source in file.sources()):
        return "it reads the vocabulary of a word embedder, and mteb's models have none"
    if reason := file.unfit_for("text"):
        return f"it is {reason}, and mteb's models are text encoders"
    if _hf_lang_to_iso_lang_script(file.language) is None:
        return f"mteb has no code for the language '{file.language}'"
    return None


def _class_of(source: _Source, cited: Sequence[Entry]) -> type[HarnessTask]:
    """Return the class of a task, with its metadata."""
    file = source.entry.file
    in_scenarios = any(scenario.templates for scenario in file.scenarios.values())
    about = (f"{file.title}.", file.description, f"Source: {file.source}" if file.source else "")
    metadata = TaskMetadata(
        name=file.name,
        description=" ".join(" ".join(about).split()),
        type="STS",
        category="t2t",
        # mteb keeps results by name, and runs a task again if this revision changes.
        dataset={
            "path": f"embedding-bias-harness/{file.name}",
            "revision": f"{file.version}-{_digest(file)}",
        },
        eval_langs=[_hf_lang_to_iso_lang_script(file.language)],
        main_score=_score_name(*_primary(file)),
        domains=["Constructed", "Written"] if file.templates or in_scenarios else ["Written"],
        license=_licence(file.licence),
        bibtex_citation="\n\n".join(entry.text for entry in cited),
    )
    class_name = re.sub(r"\W", "_", file.name)
    return type(class_name, (HarnessTask,), {"metadata": metadata, "source": source})


def _digest(file: TaskFile) -> str:
    """Return a digest of a task file and of the version of the harness, which has the metrics."""
    return digest([file.model_dump(mode="json"), harness.__version__])[:12]


def _primary(file: TaskFile) -> tuple[str, str, str]:
    return file.primary.scenario, file.primary.metric, file.primary.score


def _score_name(scenario: str, metric: str, score: str) -> str:
    return ".".join([*([] if scenario == DEFAULT_SCENARIO else [scenario]), metric, score])


def _licence(text: str) -> str | None:
    """Return a licence as mteb writes it; None if mteb has no word for it."""
    stated = re.split("[;,]", text)[0].strip().lower().replace(" ", "-")
    stated = stated.removeprefix("the-") if stated else "not-stated"
    if stated.startswith("not-stated"):
        return "not specified"
    return stated if stated in get_args(Licenses) else None
