"""Warnings for task and concept files, which `harness validate` prints.

A word that is listed twice in a set counts twice. An input or template that nothing uses may be a
misspelt name; included files are not checked for that, since other tasks may use their parts.
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
    """Return a line for each likely slip in a concept file, with file, line and key."""
    return _repeated(document, _sets_of_concept(concept))


def of_task(document: Document, task: Task) -> list[str]:
    """Return a line for each likely slip in a task file, with file, line and key."""
    file = task.file
    inputs = {
        input_.name
        for scenario in task.scenarios
        for measurement in scenario.measurements
        for input_ in measurement.inputs.values()
    }
    templates = {source.template for _, source in _sources(file)}
    unused = {key: "no metric takes this input" for key in _inputs(file) if key[-1] not in inputs}
    unused |= {
        key: "no input uses this template" for key in _templates(file) if key[-1] not in templates
    }
    return [
        *_repeated(document, _sets_of_task(file)),
        *(
            _notice(document, warning, key)
            for key, warning in unused.items()
            if document.places[key][0] == document.path  # not from an included file
        ),
    ]


def _notice(document: Document, warning: str, key: KeyPath) -> str:
    return str(document.error(f"notice: {warning}", key))


def _repeated(document: Document, sets: Sets) -> list[str]:
    notices = []
    for key, words in sets:
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
    for key, source in _sources(file):
        yield (*key, "words"), source.words or ()


def _inputs(file: TaskFile) -> dict[KeyPath, InputFile]:
    """Return the inputs of the task and of its scenarios by key."""
    inputs: dict[KeyPath, InputFile] = {
        ("inputs", name): input_ for name, input_ in file.inputs.items()
    }
    for scenario, part in file.scenarios.items():
        for name, input_ in part.inputs.items():
            inputs["scenarios", scenario, "inputs", name] = input_
    return inputs


def _templates(file: TaskFile) -> Iterator[KeyPath]:
    yield from (("templates", name) for name in file.templates)
    for scenario, part in file.scenarios.items():
        yield from (("scenarios", scenario, "templates", name) for name in part.templates)


def _sources(file: TaskFile) -> Iterator[tuple[KeyPath, Source]]:
    """Yield the sources of all inputs, with their keys."""
    for key, input_ in _inputs(file).items():
        if isinstance(input_, Source):
            yield key, input_
        else:
            yield from (((*key, i), source) for i, source in enumerate(input_))
