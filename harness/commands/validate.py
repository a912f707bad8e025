"""`harness validate`: loads task, concept and study files, reads their data, and runs tasks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from harness.registry.registry import Registry
    from harness.task.task import Task
    from harness.task.yaml_files import Document

KINDS = ("task", "concept", "study")
"""What a folder of task files holds."""


@click.command("validate")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
def command(paths: tuple[Path, ...]) -> int:
    """Check task, concept and study files, or folders of them, by really running them.

    Each file is loaded, its data is read, its metrics' inputs and options are checked, and tasks
    are run on a mock embedder. Every mistake is told with file, line and key; so is, as a notice,
    what is seldom meant: a word twice in a set, an input or template that nothing uses.
    """
    from harness.commands import output
    from harness.errors import HarnessError, Unavailable
    from harness.registry import discovery
    from harness.registry.registry import Registry

    registry = Registry()
    # What is named here wins over what is installed: a package's source, after a change in it.
    own = Registry(discovery.Plugins(()), include=_folders(paths))
    registry.concept_files.update(own.concept_files)
    mistakes = unavailable = checked = 0
    notices: dict[str, None] = {}  # one of an included file is told once
    for path in _files(paths):
        checked += 1
        try:
            told, overlooked = _check(registry, path)
        except Unavailable as error:
            unavailable += 1
            click.echo(f"{path}: unavailable: {error}")
        except HarnessError as error:
            mistakes += 1
            click.echo(str(error) if str(path) in str(error) else f"{path}: {error}")
        else:
            click.echo(f"{path}: {told}")
            for notice in overlooked:
                if notice not in notices:
                    click.echo(notice)
            notices |= dict.fromkeys(overlooked)
    click.echo(
        f"{output.counted(checked, 'file')}, {mistakes} with mistakes"
        + (f", {output.counted(len(notices), 'notice')}" if notices else "")
        + (f", {unavailable} whose data is not here" if unavailable else "")
    )
    return 2 if mistakes else 1 if unavailable else 0


def _check(registry: Registry, path: Path) -> tuple[str, list[str]]:
    """Return what a file is, and notices about it."""
    from harness.commands.output import counted
    from harness.concept import Concept
    from harness.task import lint, yaml_files

    document = yaml_files.load(path)
    if path.parent.name == "concepts":
        concept = document.validate(Concept)
        pairs = counted(len(concept.definitional_pairs), "definitional pair")
        overlooked = lint.of_concept(document, concept)
        return f"concept '{concept.name}', {pairs}", overlooked
    if path.parent.name == "studies" or "mitigators" in document.data:
        return _study(registry, document), []
    task = registry.task_file(path)
    n = _run(registry, task, path)
    scenarios, scores = counted(len(task.scenarios), "scenario"), counted(n, "score")
    told = f"task '{task.name}', {scenarios}, {scores} on a mock embedder"
    return told, lint.of_task(document, task)


def _study(registry: Registry, document: Document) -> str:
    from harness.commands.output import counted
    from harness.study.study import resolve

    study = resolve(document, registry)
    file = study.file
    dealt = f"{len(study.items)} {file.folded.replace('_', ' ')} in {file.folds} folds"
    settings = sum(len(candidate.settings) for candidate in study.candidates)
    rows = f"{counted(len(study.candidates), 'row')} with {counted(settings, 'setting')}"
    return f"study '{file.name}', {dealt}, {rows}, {counted(len(study.measures), 'measure')}"


def _run(registry: Registry, task: Task, path: Path) -> int:
    from harness.embedder import MockEmbedder
    from harness.errors import HarnessError, InvalidFile, one_line
    from harness.run import plan, scoring

    mock = MockEmbedder(kind=task.file.kinds[0])
    made = plan.make(mock.info, [task], {"none": registry.mitigator("none")})
    scores = 0
    for job in made.jobs:
        try:
            for measured in scoring.measure(job, mock.encode, seed=0):
                scores += len(measured.scores)
                for name, score in measured.scores.items():
                    if not math.isfinite(score.value):
                        why = score.reason or f"'{name}' is {score.value}"
                        where = f"scenario '{measured.scenario.name}'"
                        raise InvalidFile(f"{where} gives no score: {why}", path=path)
        except HarnessError:
            raise
        except Exception as error:  # a plugin may raise anything
            raise InvalidFile(f"its metric raised {one_line(error)}", path=path) from error
    return scores


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    from harness.errors import InvalidFile
    from harness.registry.files import files

    for path in paths:
        if not path.exists():
            raise InvalidFile("there is no such file or folder", path=path)
        if path.is_dir():
            found = [file for what in KINDS for file in files(path, what)]
            if not found:
                raise InvalidFile("no task, concept or study files here", path=path)
            yield from sorted(found)
        else:
            yield path


def _folders(paths: Iterable[Path]) -> list[Path]:
    """Return the folders whose concepts the files may name."""
    folders = [path if path.is_dir() else path.parent for path in paths if path.exists()]
    around = [place for folder in folders for place in (folder, folder.parent)]
    return [folder for folder in dict.fromkeys(around) if (folder / "concepts").is_dir()]
