"""Reads the files of rows, and checks them against each other and against what is installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import UnknownName, suggestion
from harness.plugins.reproduction.schema import Paper, Row
from harness.registry.files import files
from harness.task import yaml_files
from harness.task.mistakes import Collector

if TYPE_CHECKING:
    from harness.registry.registry import Registry
    from harness.task.yaml_files import Document

KIND = "reproduction"
"""Kind of file, and the subfolder of a folder of tasks."""


def read(registry: Registry, include: Iterable[Path] = ()) -> dict[str, Paper]:
    """Return the papers by name.

    Parameters
    ----------
    registry
        Names its plugins' folders of tasks, and checks what the rows select.
    include
        Further folders of tasks, with rows in their subfolder `reproduction`.

    Raises
    ------
    InvalidFile
        If a file has a mistake in it, or a row selects what does not exist. It holds all mistakes.
    """
    folders = [Path(folder) for _, folder in registry.plugins.results("harness_task_folders")]
    paths = [path for folder in (*folders, *include) for path in files(folder, KIND)]
    papers: dict[str, Paper] = {}
    owners: dict[str, Path] = {}
    mistakes = Collector()
    for path in paths:
        with mistakes.collecting():
            document = yaml_files.load(path)
            paper = document.validate(Paper)
            if paper.name in papers:
                raise document.error(f"the paper '{paper.name}' has a file already", ("name",))
            papers[paper.name] = paper
            for i, row in enumerate(paper.rows):
                with mistakes.collecting():
                    if row.id in owners:
                        problem = f"duplicate id '{row.id}', also in {owners[row.id]}"
                        raise document.error(problem, ("rows", i, "id"))
                    owners[row.id] = path
                    _check(registry, document, i, row)
    mistakes.check()
    return papers


def chosen(papers: Mapping[str, Paper], names: Sequence[str]) -> list[Paper]:
    """Return the papers of these names; without names, all.

    Raises
    ------
    UnknownName
        If a name is not that of a paper.
    """
    for name in names:
        if name not in papers:
            raise UnknownName("paper", name, papers)
    return [papers[name] for name in dict.fromkeys(names or papers)]


def _check(registry: Registry, document: Document, i: int, row: Row) -> None:
    """Raise InvalidFile if a row selects a task, study, mitigator or model that does not exist."""
    if row.study is not None:
        _known(document, ("rows", i, "study", "study"), "study", registry.study_files)
    if row.score is not None:
        key = ("rows", i, "score")
        _known(document, (*key, "task"), "task", registry.task_files)
        with document.pointing_at((*key, "mitigator")):
            registry.mitigator(row.score.mitigator)
        data = registry.task_files[row.score.task].data
        if row.score.scenario is not None:
            scenarios = data.get("scenarios") or {"default": None}
            _known(document, (*key, "scenario"), "scenario", scenarios)
        if row.score.metric is not None:
            _known(document, (*key, "metric"), "metric of this task", data["metrics"])


def _known(document: Document, key: tuple[str | int, ...], kind: str, known: Iterable[str]) -> None:
    value: Any = document.data
    for part in key:
        value = value[part]
    if value not in known:
        raise document.error(f"unknown {kind} '{value}'{suggestion(str(value), known)}", key)
