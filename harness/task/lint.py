"""Warnings for task and concept files, which `harness validate` prints.

A word that is listed twice in a set counts twice. An input or template that nothing uses may be a
misspelt name; included files are not checked for that, since other tasks may use their parts. The
byte order mark of a table is left out, but other tools take it for a part of the first column. A
yardstick with few contrasts, or with words of the concept, does not cancel what it should.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from harness.concept import Concept
from harness.errors import InvalidFile
from harness.task import data_files
from harness.task.schema import TaskFile
from harness.task.task import Task
from harness.task.yaml_files import Document, KeyPath

Sets = Iterator[tuple[KeyPath, Sequence[str]]]


def of_concept(document: Document, concept: Concept) -> list[str]:
    """Return a line for each likely mistake in a concept file, with file, line and key."""
    return _repeated(document, _sets_of_concept(concept))


def of_task(document: Document, task: Task) -> list[str]:
    """Return a line for each likely mistake in a task file, with file, line and key."""
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
    return [
        *_repeated(document, _sets_of_task(file)),
        *_byte_order_marks(document, file),
        *_yardstick(document, task),
        *(
            _notice(document, warning, key)
            for key, warning in unused.items()
            if document.places[key][0] == document.path  # not from an included file
        ),
    ]


def _notice(document: Document, warning: str, key: KeyPath) -> str:
    return str(document.error(f"notice: {warning}", key))


def _byte_order_marks(document: Document, file: TaskFile) -> Iterator[str]:
    for name, data in data_files.of_tables(file.tables, document).items():
        if data.path and data_files.has_byte_order_mark(file.tables[name], data.path):
            problem = "notice: a byte order mark at the beginning is left out"
            yield str(InvalidFile(problem, path=data.path, line=1))


FEWEST_CONTRASTS = 8
"""Fewest contrasts of a yardstick: with fewer, one topic decides."""


def _yardstick(document: Document, task: Task) -> Iterator[str]:
    """Yield lines on a yardstick that has few contrasts, or words that define the concept."""
    yardstick = task.yardstick
    if yardstick is None:
        return
    n = len(yardstick.scenarios)
    if n < FEWEST_CONTRASTS:
        warning = f"the yardstick has {n} contrasts; {FEWEST_CONTRASTS} or more are needed"
        yield _notice(document, warning, ("yardstick",))
    if task.concept is None or task.file.measures != "bias":
        return
    concept = task.concept
    groups = (*concept.definitional_pairs, *concept.definitional_sets, *concept.equalize_sets)
    known = {word.lower() for group in groups for word in group}
    words = {
        word
        for input_ in yardstick.texts()
        for text in input_.texts or ()
        for word in re.findall(r"\w+", text.lower())
    }
    if shared := sorted(known & words):
        named = ", ".join(f"'{word}'" for word in shared[:3])
        warning = f"the yardstick has words of the concept '{concept.name}': {named}"
        yield _notice(document, warning, ("yardstick",))


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
    for key, source in file.sources():
        yield (*key, "words"), source.words or ()


def _templates(file: TaskFile) -> Iterator[KeyPath]:
    yield from (("templates", name) for name in file.templates)
    for scenario, part in file.scenarios.items():
        yield from (("scenarios", scenario, "templates", name) for name in part.templates)
