"""Facts of registered tasks, with which records are compared, and which pages show.

The facts of the shipped tasks are in `tasks.json`, so that reading a record does not need their
data; `python -m harness.leaderboard.claims.facts` updates the file. Tasks of other plugins and of
included folders are resolved when they are needed.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from harness import folders
from harness.embedder import Kind
from harness.errors import HarnessError
from harness.metrics import Bounds, Ideal
from harness.task import reference
from harness.task.reference import Reference

if TYPE_CHECKING:
    from harness.registry.registry import Registry
    from harness.task.schema import TaskFile
    from harness.task.task import Task
    from harness.task.yaml_files import Document

FILE = Path(__file__).parent / "tasks.json"
EXAMPLES = 3
"""Texts that are kept of each input."""
LONGEST_EXAMPLE = 300
UNQUOTED = "stereotyped-texts"
"""Tag of tasks whose texts are stereotypes or slurs: pages do not show them."""


class _Facts(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class ScoreFacts(_Facts):
    """A score of a task, and how to read its number."""

    scenario: str
    metric: str
    score: str
    ideal: Ideal
    bounds: Bounds
    may_widen: bool = False
    """Whether the bounds of a record may be wider: they depend on the number of items."""


class TaskFacts(_Facts):
    """The facts in a task file, with the digest of its content and the scales of its scores."""

    name: str
    kinds: tuple[Kind, ...]
    version: int
    digest: str | None
    """Digest of the content; null if the task's data were missing when it was computed."""
    title: str
    description: str
    source: str
    licence: str
    measures: Literal["bias", "usefulness", "control"]
    category: str
    family: str
    """Family of methods."""
    language: str
    concept: str | None
    yardstick: str | None = None
    """The task that its gap is compared with; null for one that is made of its own items."""
    references: dict[Kind, Reference] = Field(default_factory=dict)
    """What the reference encoder of each kind shows on this version."""
    unranked: str
    """Why its score is shown and not ranked, or empty."""
    reviewed: bool = True
    """False if no reader of the language has read its texts."""
    superseded_by: str | None
    primary: tuple[str, str, str]
    """Scenario, metric and score that stand for the task."""
    scores: tuple[ScoreFacts, ...]
    examples: dict[str, tuple[str, ...]]
    """Some texts of each input of the primary scenario; none of data that are not shipped."""


@functools.cache
def shipped(file: Path = FILE) -> Mapping[str, TaskFacts]:
    """Return the facts of the shipped tasks by name."""
    if not file.exists():
        return {}
    content = json.loads(file.read_text("utf-8"))
    return {task["name"]: TaskFacts.model_validate(task) for task in content}


def known(names: Iterable[str], include: Sequence[Path] = ()) -> dict[str, TaskFacts]:
    """Return the facts of the tasks among `names`.

    Parameters
    ----------
    names
        Names of tasks, registered or not.
    include
        Further folders of tasks, or task files.
    """
    names, facts = set(names), dict(shipped())
    if include or not names <= facts.keys():
        from harness.registry.registry import Registry

        registry = Registry(include=include)
        for name in sorted(names & set(registry.task_files.owners)):
            document = registry.task_files.get(name)
            if document is None:  # two files claim the name
                facts.pop(name, None)
            elif name not in facts or not _is_shipped(document):
                facts[name] = of_document(document, registry)
    return {name: facts[name] for name in sorted(names & facts.keys())}


def of_document(document: Document, registry: Registry) -> TaskFacts:
    """Return the facts of the task that a parsed file describes.

    Raises
    ------
    InvalidFile
        If the file is no task.
    """
    from harness.task.schema import TaskFile

    file = document.validate(TaskFile)
    try:
        task = registry.resolve(document)
    except HarnessError:  # its data are missing
        task = None
    return TaskFacts(
        **file.model_dump(
            include={
                *("name", "kinds", "version", "title", "measures", "category", "language"),
                *("concept", "yardstick", "superseded_by"),
            }
        ),
        **{name: getattr(file, name).strip() for name in ("description", "source", "licence")},
        reviewed=file.is_reviewed,
        digest=None if task is None else task.digest,
        references=reference.of_task(document.path, file.name, file.version),
        family=file.family or file.primary.metric,
        unranked=file.not_ranked,
        primary=(file.primary.scenario, file.primary.metric, file.primary.score),
        scores=tuple(_scores(file, registry)),
        examples={} if task is None or not _may_be_quoted(file) else _examples(task),
    )


def current(registry: Registry) -> dict[str, TaskFacts]:
    """Return the facts of the shipped tasks by name, as their files and data are now."""
    return {name: of_document(doc, registry) for name, doc in _documents(registry).items()}


def outdated(now: Mapping[str, TaskFacts], file: Path = FILE) -> list[str]:
    """Return the tasks whose facts in the file are not those of `now`.

    The digest and examples of a task whose data are missing are not compared.
    """
    has = shipped(file)
    return sorted(
        {name for name in now if has.get(name) != _completed(now[name], has.get(name))}
        | (has.keys() - now.keys())
    )


def update(now: Mapping[str, TaskFacts], file: Path = FILE) -> int:
    """Write the facts of `now` to the file, and return the number of tasks in it.

    Facts that need missing data are kept from the file.
    """
    has = shipped(file)
    lines = [
        _completed(now[name], has.get(name)).model_dump_json(exclude_defaults=True)
        for name in sorted(now)
    ]
    folders.write_atomically(file, ("[\n" + ",\n".join(lines) + "\n]\n").encode())
    shipped.cache_clear()
    return len(lines)


def _completed(now: TaskFacts, old: TaskFacts | None) -> TaskFacts:
    """Return facts, with the old digest and examples if the data are missing."""
    if now.digest is not None or old is None:
        return now
    return now.model_copy(update={"digest": old.digest, "examples": old.examples})


def _documents(registry: Registry) -> dict[str, Document]:
    return {name: doc for name, doc in registry.task_files.items() if _is_shipped(doc)}


def _is_shipped(document: Document) -> bool:
    spec = find_spec("harness.tasks")  # a layer that is not imported here
    places = spec.submodule_search_locations if spec else None
    parents = document.path.resolve().parents
    return any(Path(folder).resolve() in parents for folder in places or ())


def _scores(file: TaskFile, registry: Registry) -> Iterator[ScoreFacts]:
    """Yield every score of every scenario; this needs no data."""
    from harness.task.schema import DEFAULT_SCENARIO

    for scenario in file.scenarios or (DEFAULT_SCENARIO,):
        for metric in file.metrics:
            for score, scale in registry.metric(metric).scores.items():
                yield ScoreFacts(
                    scenario=scenario,
                    metric=metric,
                    score=score,
                    ideal=scale.ideal,
                    bounds=scale.bounds,
                    may_widen=scale.may_widen,
                )


def _may_be_quoted(file: TaskFile) -> bool:
    """Whether all texts are in the task's folder: others may not be published.

    Texts that are stereotypes are in the folder, and are not shown.
    """
    return UNQUOTED not in file.tags and all(
        table.file and not table.package
        for table in file.tables.values()
        if table.rows is None and table.made_from is None
    )


def _examples(task: Task) -> dict[str, tuple[str, ...]]:
    """Return the first, the middle and the last text of each input, without repeats."""
    scenario = next(s for s in task.scenarios if s.name == task.file.primary.scenario)
    examples: dict[str, tuple[str, ...]] = {}
    for name, input_ in scenario.inputs.items():
        texts: Sequence[Any] = list(dict.fromkeys(input_.texts or ()))
        if texts:
            places = sorted({round(i * (len(texts) - 1) / (EXAMPLES - 1)) for i in range(EXAMPLES)})
            examples[name] = tuple(texts[place][:LONGEST_EXAMPLE] for place in places)
    return examples


def main() -> None:
    """Bring the file of the shipped tasks up to date."""
    from harness.registry.registry import Registry

    now = current(Registry())
    if changed := outdated(now):
        n = update(now)
        print(f"wrote {FILE}: {n} tasks, of which changed: {', '.join(changed)}")
    else:
        print(f"{FILE} has all tasks as they are")


if __name__ == "__main__":
    main()
