"""Reads the files of rows, and checks them against each other and against what is installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness import user_files
from harness.errors import UnknownName
from harness.plugins.reproduction import selection
from harness.plugins.reproduction.schema import Paper, Row
from harness.plugins.reproduction.selection import Selection
from harness.plugins.reproduction.standing import standing
from harness.registry import trust
from harness.registry.files import files, load
from harness.task.mistakes import Collector

if TYPE_CHECKING:
    from harness.registry.registry import Registry

KIND = "reproduction"
"""Kind of file, and the subfolder of a folder of tasks."""


@dataclass(frozen=True)
class PaperFile:
    """A checked file of rows.

    Parameters
    ----------
    path
        The file.
    paper
        What it says.
    selections
        What each row with a score or study selects, by the row's id.
    standings
        Whether that is a valid score, by the row's id; as from `standing`.
    """

    path: Path
    paper: Paper
    selections: Mapping[str, Selection]
    standings: Mapping[str, str]

    def rows(self) -> Iterable[tuple[Row, Selection | None]]:
        """Yield each row with what it selects; None for a row that states its answer."""
        for row in self.paper.rows:
            yield row, self.selections.get(row.id)


def read(registry: Registry, include: Iterable[Path] = ()) -> dict[str, PaperFile]:
    """Return the files of rows by the name of their paper.

    Parameters
    ----------
    registry
        Names its plugins' folders of tasks, and knows what rows may select.
    include
        Further folders of tasks, with rows in their subfolder `reproduction`.

    Raises
    ------
    InvalidFile
        If a folder does not exist, a file has a mistake in it, or a row selects what does not
        exist. It holds all mistakes.
    """
    folders = [Path(folder) for _, folder in registry.plugins.results("harness_task_folders")]
    include = tuple(include)
    for place in include:
        user_files.check(place)
    papers: dict[str, PaperFile] = {}
    owners: dict[str, Path] = {}
    mistakes = Collector()
    for path in (path for folder in (*folders, *include) for path in files(folder, KIND)):
        with mistakes.collecting():
            document = load(path)
            paper = document.validate(Paper)
            if paper.name in papers:
                problem = f"the paper '{paper.name}' has another file, {papers[paper.name].path}"
                raise document.error(problem, ("name",))
            trust.of_rows(document, registry).check()
            selections: dict[str, Selection] = {}
            for i, row in enumerate(paper.rows):
                with mistakes.collecting():
                    if row.id in owners:
                        problem = f"duplicate id '{row.id}', also in {owners[row.id]}"
                        raise document.error(problem, ("rows", i, "id"))
                    owners[row.id] = path
                    with document.pointing_at(("rows", i)):
                        selected = selection.of(row, registry)
                    if selected is not None:
                        selections[row.id] = selected
            standings = {id_: standing(of_row, registry) for id_, of_row in selections.items()}
            papers[paper.name] = PaperFile(path, paper, selections, standings)
    mistakes.check()
    return papers


def chosen(papers: Mapping[str, PaperFile], names: Sequence[str]) -> list[PaperFile]:
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
