"""What in a task or concept file is no mistake, but is seldom meant: `harness validate` tells it.

A word that stands in a set twice counts twice; what nothing uses may be a name with a slip in it.
What comes of an included file may be for other tasks, and is not looked at for that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from harness.concept import Concept
from harness.task.schema import InputFile, Source, TaskFile
from harness.task.task import Task
from harness.task.yaml_files import Document, KeyPath

Sets = Iterator[tuple[KeyPath, Sequence[str]]]


def of_concept(document: Document, concept: Concept) -> list[str]:
    """Return a line for each oversight in a concept file, with file, line and key."""
    return _repeated(document, _sets_of_concept(concept))


def of_task(document: Document, task: Task) -> list[str]:
    """Return a line for each oversight in a task file, with file, line and key."""
    file = task.file
    read = {
        given.name
        for scenario in task.scenarios
        for measurement in scenario.measurements
        for given in measurement.inputs.values()
    }
    filled = {source.template for _, source in _sources(file)}
    unused = {key: "no metric takes this input" for key in _inputs(file) if key[-1] not in read}
    unused |= {
        key: "no input uses this template" for key in _templates(file) if key[-1] not in filled
    }
    own = {key: what for key, what in unused.items() if document.places[key][0] == document.path}
    return [
        *_repeated(document, _sets_of_task(file)),
        *(_notice(document, what, key) for key, what in own.items()),
    ]


def _notice(document: Document, what: str, key: KeyPath) -> str:
    return str(document.error(f"notice: {what}", key))


def _repeated(document: Document, sets: Sets) -> list[str]:
    found = []
    for key, words in sets:
        repeated = [word for word, times in Counter(words).items() if times > 1]
        if repeated:
            which = ", ".join(f"'{word}'" for word in repeated)
            stand = "stands" if len(repeated) == 1 else "stand"
            found.append(_notice(document, f"{which} {stand} here more than once", key))
    return found


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
    for key, source in _sources(file):
        yield (*key, "words"), source.words or ()


def _inputs(file: TaskFile) -> dict[KeyPath, InputFile]:
    """Return the inputs of the task and of its scenarios by key."""
    inputs: dict[KeyPath, InputFile] = {("inputs", name): it for name, it in file.inputs.items()}
    for scenario, said in file.scenarios.items():
        inputs |= {("scenarios", scenario, "inputs", name): it for name, it in said.inputs.items()}
    return inputs


def _templates(file: TaskFile) -> Iterator[KeyPath]:
    yield from (("templates", name) for name in file.templates)
    for scenario, said in file.scenarios.items():
        yield from (("scenarios", scenario, "templates", name) for name in said.templates)


def _sources(file: TaskFile) -> Iterator[tuple[KeyPath, Source]]:
    """Yield the sources of all inputs, with their keys."""
    for key, given in _inputs(file).items():
        if isinstance(given, Source):
            yield key, given
        else:
            yield from (((*key, i), source) for i, source in enumerate(given))
