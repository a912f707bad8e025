"""`harness validate`: checks files of tasks, concepts, studies and benchmarks; runs the tasks.

It also prints notices of likely slips. A word that is listed twice in a set counts twice, and an
input or template that nothing uses may be a misspelt name.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness import folders
from harness.commands import arguments
from harness.letters import composed
from harness.printing import echo

if TYPE_CHECKING:
    from harness.concept import Concept
    from harness.registry.registry import Registry
    from harness.task.schema import TaskFile
    from harness.task.task import Task
    from harness.task.yaml_files import Document, KeyPath

    Sets = Iterator[tuple[KeyPath, Sequence[str]]]

KINDS = ("task", "concept", "study", "benchmark")
"""Kinds of files in a folder of tasks."""


@click.command("validate")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@arguments.trust
@click.pass_obj
def command(debug: bool, /, paths: tuple[Path, ...], trust: bool) -> int:
    """Check task, concept, study, benchmark and run files, or folders of them.

    Each file is loaded and its data is read. The inputs and options of its metrics are checked,
    and tasks are run on a mock embedder. All mistakes are shown, each with file, line and key.
    Notices point out likely slips: a word twice in a set, an input or template that nothing uses.
    """
    from harness import progress
    from harness.commands import output
    from harness.errors import HarnessError, Unavailable
    from harness.registry.registry import Registry, with_concepts_beside

    installed = Registry(trust=trust)
    installed.data.progress = progress.for_terminal()
    registries: dict[Path, Registry] = {}
    mistakes = unavailable = checked = 0
    shown: dict[str, None] = {}  # a notice about an included file is shown once
    for path in _files(paths):
        checked += 1
        folder = path.parent
        if folder not in registries:
            registries[folder] = with_concepts_beside(installed, path)
        try:
            summary, notices = _check(registries[folder], path, debug)
        except Unavailable as error:
            unavailable += 1
            echo(f"{path}: unavailable: {error}")
        except HarnessError as error:
            mistakes += 1
            for mistake in getattr(error, "mistakes", [error]):
                echo(str(mistake) if str(path) in str(mistake) else f"{path}: {mistake}")
        else:
            echo(f"{path}: {summary}")
            for notice in notices:
                if notice not in shown:
                    echo(notice)
            shown |= dict.fromkeys(notices)
    echo(
        f"{output.counted(checked, 'file')}, {mistakes} with mistakes"
        + (f", {output.counted(len(shown), 'notice')}" if shown else "")
        + (f", {unavailable} without their data" if unavailable else "")
    )
    return 2 if mistakes else 1 if unavailable else 0


def _check(registry: Registry, path: Path, debug: bool) -> tuple[str, list[str]]:
    """Return a summary of a file, and notices about it."""
    from harness.commands.output import counted
    from harness.concept import Concept
    from harness.registry.discovery import kind_of, load_file
    from harness.run.settings import RunFile, asked_in_file
    from harness.task import yaml_files

    document = load_file(path)
    kind = kind_of(document)
    if kind == "concept":
        concept = document.validate(Concept)
        pairs = counted(len(concept.definitional_pairs), "definitional pair")
        return f"concept '{concept.name}', {pairs}", _repeated(document, _sets_of_concept(concept))
    if kind == "study":
        return _study(registry, document), []
    if kind == "benchmark":
        parts = yaml_files.documents(document)
        return ", ".join(_benchmark(registry, part) for part in parts), []
    if kind == "reproduction":
        return "rows of a paper; `harness reproduce --no-run` checks them", []
    if kind == "run":
        n_models = len(document.validate(RunFile).models)
        asked_in_file(document, registry).check()
        return f"run of {counted(n_models, 'model')}", []
    parts = yaml_files.documents(document)
    tasks = [registry.resolve(part) for part in parts]
    scores = counted(sum(_run(registry, task, path, debug) for task in tasks), "score")
    scenarios = counted(sum(len(task.scenarios) for task in tasks), "scenario")
    names = f"task '{tasks[0].name}'"
    if len(tasks) > 1:
        names = f"{counted(len(tasks), 'task')} from '{tasks[0].name}' to '{tasks[-1].name}'"
    notices = [line for pair in zip(parts, tasks, strict=True) for line in _slips(*pair)]
    return f"{names}, {scenarios}, {scores} on a mock embedder", list(dict.fromkeys(notices))


def _study(registry: Registry, document: Document) -> str:
    from harness.commands.output import counted
    from harness.study.study import resolve

    study = resolve(document, registry)
    file = study.file
    folds = f"{len(study.items)} {file.folded.replace('_', ' ')} in {file.folds} folds"
    settings = sum(len(candidate.settings) for candidate in study.candidates)
    rows = f"{counted(len(study.candidates), 'row')} with {counted(settings, 'setting')}"
    return f"study '{file.name}', {folds}, {rows}, {counted(len(study.measures), 'measure')}"


def _benchmark(registry: Registry, document: Document) -> str:
    from harness.commands.output import counted
    from harness.registry import discovery
    from harness.registry.discovery import SUBFOLDERS
    from harness.registry.registry import Registry
    from harness.run.tasks import check_benchmark, list_tasks

    entries = list_tasks(registry)
    folder = document.path.resolve().parent
    if folder.name == SUBFOLDERS["benchmark"]:  # its tasks may not be installed
        folder_registry = Registry(discovery.Plugins(()), include=[folder.parent])
        entries = [*entries, *list_tasks(folder_registry)]
    file = check_benchmark(entries, document)
    return f"benchmark '{file.name}', {counted(len(file.tasks), 'task')}"


def _run(registry: Registry, task: Task, path: Path, debug: bool) -> int:
    """Run a task on a mock embedder and return the number of its scores.

    With `debug` an exception of a metric is not wrapped, for its traceback.
    """
    from harness.embedder import MockEmbedder
    from harness.errors import PLUGIN_ERRORS, HarnessError, InvalidFile, one_line
    from harness.run import plan, scoring

    # Tasks that read a vocabulary look for their own words in it.
    words = dict.fromkeys(text for input_ in task.texts() for text in input_.texts or ())
    mock = MockEmbedder(kind=task.file.kinds[0], words=words)
    unmitigated = {"none": registry.mitigator("none")}
    planned = plan.make_plan(mock, [task], unmitigated)
    for entry in planned.not_run:
        raise InvalidFile(f"the task cannot run: {entry.reason}", path=path)
    n_scores = 0
    for job in planned.jobs:
        try:
            for measured in scoring.measure(job, mock.encode, seed=0, samples=True):
                n_scores += len(measured.scores)
                for name, score in measured.scores.items():
                    if not math.isfinite(score.value):
                        reason = score.reason or f"'{name}' is {score.value}"
                        scenario = f"scenario '{measured.scenario.name}'"
                        raise InvalidFile(f"{scenario} gives no score: {reason}", path=path)
        except HarnessError:
            raise
        except PLUGIN_ERRORS as error:
            if debug:
                raise
            raise InvalidFile(f"its metric raised {one_line(error)}", path=path) from error
    if not n_scores:
        raise InvalidFile("the task gives no score", path=path)
    return n_scores


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    from harness.errors import InvalidFile, unreadable
    from harness.registry.discovery import files_of

    for path in paths:
        if not folders.exists(path):
            raise unreadable(path)
        if folders.is_folder(path):
            inside = {file for kind in KINDS for file in files_of(path, kind)}
            if not inside:
                raise InvalidFile(
                    "no task, concept, study or benchmark files in this folder", path=path
                )
            yield from sorted(inside)
        else:
            yield path


def _slips(document: Document, task: Task) -> list[str]:
    """Return a line for each likely slip in a task file, with file, line and key."""
    file = task.file
    inputs = {
        input_.name
        for scenario in task.scenarios
        for measurement in scenario.measurements
        for input_ in measurement.inputs.values()
    }
    templates = {source.template for _, source in file.sources()}
    unused = {
        key: "no metric takes this input" for key in file.inputs_by_key() if key[-1] not in inputs
    }
    unused |= {
        key: "no input uses this template" for key in _templates(file) if key[-1] not in templates
    }
    return _repeated(document, _sets_of_task(file)) + [
        _notice(document, slip, key)
        for key, slip in unused.items()
        if document.places[key][0] == document.path  # other tasks may use what is included
    ]


def _notice(document: Document, slip: str, key: KeyPath) -> str:
    return str(document.error(f"notice: {slip}", key))


def _repeated(document: Document, sets: Sets) -> list[str]:
    notices = []
    for key, words in ((key, map(composed, words)) for key, words in sets):
        repeated = [f"'{word}'" for word, times in Counter(words).items() if times > 1]
        if repeated:
            notices.append(_notice(document, f"repeated words: {', '.join(repeated)}", key))
    return notices


def _sets_of_concept(concept: Concept) -> Sets:
    for field in ("definitional_pairs", "definitional_sets", "equalize_sets"):
        for i, members in enumerate(getattr(concept, field)):
            yield (field, i), members
    yield ("specific_words",), concept.specific_words
    for field in ("names", "sets"):
        for name, words in getattr(concept, field).items():
            yield (field, name), words


def _sets_of_task(file: TaskFile) -> Sets:
    for name, words in file.sets.items():
        yield ("sets", name), words
    for key, source in file.sources():
        yield (*key, "words"), source.words or ()


def _templates(file: TaskFile) -> Iterator[KeyPath]:
    yield from (("templates", name) for name in file.templates)
    for scenario, part in file.scenarios.items():
        yield from (("scenarios", scenario, "templates", name) for name in part.templates)
