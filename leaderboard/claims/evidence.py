"""Evidence: the strongest items of a record, as a submission has them and a page shows them.

`harness eval --samples` writes what every item contributes to a score. An extract keeps the items
that are furthest from the ideal, at most `KEPT`, and the number of all. A file `RUN.samples.jsonl`
beside the records of a run has a line for each extract.

An item is a row of an input of the registered task. Its text is a copy for readers, and must be
that of the task, so nobody can put a text of their own on a page. The texts of a task are quoted
only where its licence lets everybody publish them.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import Field, ValidationError

from harness import limits
from harness.errors import HarnessError
from harness.metrics import Bounds, Ideal
from harness.results.reading import SetAside, Trust, judged
from harness.results.record import SUFFIX, Count, Finite, Line, Part, Record, loss

from .facts import UNQUOTED

if TYPE_CHECKING:
    from harness.registry.registry import Registry

KEPT = 40
"""Items of an extract: four times what a page shows, so that most of the items that it shows of one
model have a value of another model beside them."""
LONGEST_TEXT = 300
"""Characters of a quoted text, which is cut there; as of the examples of a task."""
DIGITS = 4
"""Significant digits of the value of an item."""
_MOST_INPUTS = 8
"""Inputs whose rows are one item: a pair has two, a context with two texts three."""
_OPEN = re.compile(
    r"(MIT|Apache-2\.0|BSD-[23]-Clause|CC0[- ]1\.0|CC[- ]BY([- ]SA)?([- ]\d\.\d)?( [A-Z]{2})?"
    r"|the harness's own( sentences)?)(, of [^;]*)?(; (lists of words.*|.* are facts))?"
)
"""Licences of tasks whose texts anybody may publish, as task files state them."""


class Item(Part):
    """An item of a task, and what it contributes to a score."""

    of: Annotated[
        tuple[Annotated[str, Field(max_length=100)], ...],
        Field(min_length=1, max_length=_MOST_INPUTS),
    ]
    """Inputs of the metric whose row it is: one for a word, two for a pair."""
    row: Annotated[int, Field(ge=0, lt=limits.INPUT_TEXTS)]
    """Row of the item in these inputs, from 0."""
    value: Finite
    """Its contribution: the mean over all items is the score."""
    texts: (
        Annotated[
            tuple[Annotated[str, Field(max_length=LONGEST_TEXT)], ...],
            Field(min_length=1, max_length=_MOST_INPUTS),
        ]
        | None
    ) = None
    """Its text in each input, up to the longest length; absent where it may not be published."""


class Extract(Line):
    """The strongest items of a record; `id` is that of the record."""

    items: Annotated[Count, Field(ge=1, le=limits.INPUT_TEXTS)]
    """Number of all items that have a contribution."""
    strongest: Annotated[tuple[Item, ...], Field(min_length=1, max_length=KEPT)]
    """The items that are furthest from the ideal, the furthest first."""


def samples_file(run: Path) -> Path:
    """Return the file with the extracts of the records in `RUN.jsonl`."""
    return run.with_name(run.name.removesuffix(".jsonl") + SUFFIX)


# The items of a registered task, with which those of an extract are compared.


Texts: TypeAlias = "Mapping[str, Sequence[str]]"
"""Texts of the inputs of a metric, by its parameters."""


@dataclass(frozen=True)
class TaskItems:
    """The items of a registered task.

    Parameters
    ----------
    name
        The task.
    texts
        Texts by scenario and metric; None if the data of the task are missing.
    withheld
        Why no text is quoted; empty if texts are.
    needs_words
        Whether single words alone are quoted: a word is nobody's work, a sentence may be.
    """

    name: str
    texts: Mapping[tuple[str, str], Texts] | None = None
    withheld: str = ""
    needs_words: bool = False

    def of(self, scenario: str, metric: str) -> Texts:
        """Return the texts of the inputs of a metric; none if they are not known."""
        return (self.texts or {}).get((scenario, metric), {})

    def quoted(self, texts: Sequence[str]) -> tuple[str, ...] | None:
        """Return texts as they are quoted; None if they are not."""
        if self.withheld or not all(text.isprintable() for text in texts):
            return None
        if self.needs_words and any(len(text.split()) > 1 for text in texts):
            return None
        return tuple(text[:LONGEST_TEXT] for text in texts)

    @property
    def note(self) -> str:
        """Why a reader of the items misses texts; empty if all are quoted."""
        if self.withheld:
            return self.withheld
        if self.texts is None:
            return "the data of the task are missing here"
        if self.needs_words:
            return "the licence of the task does not say that its sentences may be published"
        return ""


class Catalogue:
    """The items of registered tasks. Only the last task is kept: some have millions of texts.

    Parameters
    ----------
    registry
        Where the tasks are looked up.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._last = TaskItems("")

    def task(self, name: str) -> TaskItems:
        """Return the items of a task; without texts if it is not registered, or lacks data."""
        if self._last.name != name:
            self._last = self._resolved(name)
        return self._last

    def _resolved(self, name: str) -> TaskItems:
        from harness.task.schema import TaskFile

        document = self._registry.task_files.get(name)
        if document is None:
            return TaskItems(name, withheld="the task is not registered here")
        withheld = ""
        try:
            file = document.validate(TaskFile)
            if UNQUOTED in file.tags:
                withheld = "the texts of the task are stereotypes, which pages do not show"
            task = self._registry.resolve(document)
        except HarnessError:  # its data are missing, or its file is invalid
            return TaskItems(name, withheld=withheld)
        texts = {
            (scenario.name, measurement.metric.name): {
                parameter: input_.texts
                for parameter, input_ in measurement.inputs.items()
                if input_.texts is not None
            }
            for scenario in task.scenarios
            for measurement in scenario.measurements
        }
        return TaskItems(name, texts, withheld, needs_words=not is_open(file.licence))


def is_open(licence: str) -> bool:
    """Return whether the licence in a task file lets everybody publish the texts of the task."""
    return _OPEN.fullmatch(licence.strip()) is not None


# Extracts of one's own samples.


@dataclass(frozen=True)
class Scale:
    """What is known of the score of an extract.

    Parameters
    ----------
    scenario, metric
        Where the score is from.
    value
        The score.
    ideal, bounds
        Its scale.
    """

    scenario: str
    metric: str
    value: float | None
    ideal: Ideal
    bounds: Bounds

    @classmethod
    def of(cls, record: Record) -> Scale:
        """Return the scale of a record."""
        return cls(record.scenario, record.metric, record.value, record.ideal, record.bounds)

    def loss(self, value: float) -> float:
        """Return how far the value of an item is from the ideal."""
        return loss(value, self.ideal, self.bounds)


def extract_of(
    id_: str, rows: Iterable[Mapping[str, Any]], scale: Scale, task: TaskItems
) -> Extract | str:
    """Return the extract of the samples of a record, or why there is none.

    Parameters
    ----------
    id_
        The record.
    rows
        Its samples, as `harness.results.record.read_samples` returns them.
    scale
        Its score.
    task
        The items of its task.
    """
    if task.texts is None:
        return "the data of the task are missing, so its items cannot be found"
    inputs = task.of(scale.scenario, scale.metric)
    numbered = [(row, row["contribution"]) for row in rows if _is_number(row.get("contribution"))]
    if not numbered:
        return "its score is no mean over items"
    places: dict[tuple[str, ...], dict[tuple[str, ...], list[int]]] = {}
    seen: Counter[tuple[tuple[str, ...], tuple[str, ...]]] = Counter()
    items = []
    for row, value in numbered:
        of, texts = _key(row, inputs)
        if of not in places:
            places[of] = _rows_by_texts(inputs, of)
        rows_of = places[of].get(texts, [])
        if not rows_of:
            return "its items are not those of an input of the task"
        number = min(seen[of, texts], len(rows_of) - 1)
        seen[of, texts] += 1
        items.append(Item(of=of, row=rows_of[number], value=float(f"{value:.{DIGITS}g}")))
    items.sort(key=lambda item: -scale.loss(item.value))
    if len(items) > KEPT and scale.loss(items[0].value) == scale.loss(items[-1].value):
        return "all its items are equally far from the ideal"
    strongest = [
        item.model_copy(update={"texts": task.quoted([inputs[name][item.row] for name in item.of])})
        for item in items[:KEPT]
    ]
    extract = Extract(id=id_, items=len(items), strongest=tuple(strongest))
    while len(extract.line().encode()) > limits.EXTRACT_BYTES and len(extract.strongest) > 1:
        extract = extract.model_copy(update={"strongest": extract.strongest[:-1]})
    return extract


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _key(row: Mapping[str, Any], inputs: Texts) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the inputs of an item and its texts there."""
    if "text" in row:
        return (str(row.get("input")),), (str(row["text"]),)
    of = tuple(name for name in row if name in inputs and isinstance(row[name], str))
    return of, tuple(row[name] for name in of)


def _rows_by_texts(inputs: Texts, of: tuple[str, ...]) -> dict[tuple[str, ...], list[int]]:
    """Return the rows with each text; none if an input is not known."""
    rows: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    if of and all(name in inputs for name in of):
        for i, texts in enumerate(zip(*(inputs[name] for name in of), strict=False)):
            rows[texts].append(i)
    return dict(rows)


# Extracts of anybody: what contradicts the record, or the items of the task.


def mistake(extract: Extract, scale: Scale, task: TaskItems) -> str:
    """Return what is wrong with an extract; empty if nothing is.

    Its items and their texts are compared with those of the task, and their values with the score:
    they are in order, and the other items can have the rest of the mean. Without the data of the
    task only the values are.
    """
    chosen = extract.strongest
    if len(chosen) > extract.items:
        return f"{len(chosen)} items of {extract.items}"
    if len({(item.of, item.row) for item in chosen}) < len(chosen):
        return "an item occurs twice"
    if reason := _wrong_values(extract, scale):
        return reason
    inputs = None if task.texts is None else task.of(scale.scenario, scale.metric)
    if inputs and extract.items > (most := sum(map(len, inputs.values()))):
        return f"{extract.items:,} items; the task '{task.name}' has {most:,} texts"
    for item in chosen:
        if reason := _wrong_item(item, inputs, task):
            return reason
    return ""


def _wrong_item(item: Item, inputs: Texts | None, task: TaskItems) -> str:
    if item.texts is not None and len(item.texts) != len(item.of):
        return f"an item of {len(item.of)} inputs with {len(item.texts)} texts"
    if inputs is None:
        return ""
    for name in item.of:
        if name not in inputs:
            return f"'{name[:30]}' is no input with texts of the task '{task.name}'"
        if item.row >= len(inputs[name]):
            n = len(inputs[name])
            return f"item {item.row} of '{name}': the task '{task.name}' has {n:,} there"
    if item.texts is None:
        return ""
    own = task.quoted([inputs[name][item.row] for name in item.of])
    if own is None:
        return f"a text of the task '{task.name}' that may not be published: {task.note}"
    if own != item.texts:
        return f"item {item.row} of '{item.of[0]}' has another text in the task '{task.name}'"
    return ""


def _wrong_values(extract: Extract, scale: Scale) -> str:
    losses = [scale.loss(item.value) for item in extract.strongest]
    if any(a < b for a, b in itertools.pairwise(losses)):
        return "the items are not in order: the furthest from the ideal comes first"
    if scale.value is None:
        return "items of a record without a value"
    values = [item.value for item in extract.strongest]
    most = max(abs(scale.value), *map(abs, values))
    error = extract.items * most * 10.0 ** (1 - DIGITS)  # each value is rounded
    rest = extract.items - len(values)
    total = extract.items * scale.value - sum(values)
    is_possible = (
        scale.loss(total / rest) <= losses[-1] + error / rest if rest else abs(total) <= error
    )
    return "" if is_possible else "the score is not the mean of such items"


# Files of extracts, which anybody may have written: sizes are checked before lines are read.


_ID = re.compile(rb'"id": ?"([0-9a-zA-Z_-]{1,100})"')
_ID_BYTES = 200
"""Bytes of a line before which its id stands."""


def file_problem(file: Path) -> str:
    """Return why a file of extracts is not read; empty if it is."""
    if file.is_symlink() or not file.is_file():
        return "not a plain file"
    size = file.stat().st_size
    if size > limits.SUBMITTED_SAMPLES_BYTES:
        return limits.too_many(size, limits.SUBMITTED_SAMPLES_BYTES)
    with file.open("rb") as content:
        n = sum(block.count(b"\n") for block in iter(lambda: content.read(1 << 20), b""))
    if n > limits.SUBMITTED_RECORDS:
        return limits.too_many(n, limits.SUBMITTED_RECORDS, "lines")
    return ""


def lines_of(file: Path) -> Iterator[tuple[int, bytes, str]]:
    """Yield the number of each line, the line, and the id at its beginning, unjudged."""
    with file.open("rb") as content:
        for number, line in enumerate(content, start=1):
            found = _ID.search(line, 0, _ID_BYTES)
            yield number, line, "" if found is None else found[1].decode()


def read_line(line: bytes) -> Extract | str:
    """Return the extract of a line, or why it is none."""
    if len(line) > limits.EXTRACT_BYTES:
        return f"a line of {limits.too_many(len(line), limits.EXTRACT_BYTES)}"
    with contextlib.suppress(ValidationError):
        extract = Extract.model_validate_json(line)
        if extract.line().encode() == line:  # as `pack` writes it: it has one meaning
            return extract
    if not line.endswith(b"\n"):
        return "torn: the last line has no end; pack again"
    result = judged(line, Extract, Trust.SUBMITTED)
    if isinstance(result, Extract):
        return result
    return "an empty line; remove it" if result is None else result[1]


def read(
    file: Path, scales: Mapping[str, tuple[str, Scale]], catalogue: Catalogue | None
) -> Iterator[Extract | SetAside]:
    """Yield the extracts in a file, task by task, and the lines that are none.

    Parameters
    ----------
    file
        The file.
    scales
        The task and the score of each record, by its id. Lines of other records are wrong.
    catalogue
        The tasks with which the items are compared; None to leave that to a later reader.
    """
    found: dict[str, tuple[int, Extract]] = {}
    for number, line, _ in lines_of(file):
        extract = read_line(line)
        if isinstance(extract, str):
            reason = extract
        elif extract.id not in scales:
            reason = "its id is that of no record in the file beside it"
        elif extract.id in found:
            reason = f"line {found[extract.id][0]} has the items of the same record"
        else:
            found[extract.id] = number, extract
            continue
        yield SetAside(str(file), number, reason)
    if catalogue is None:
        yield from (extract for _, extract in found.values())
        return
    for number, extract in sorted(found.values(), key=lambda pair: scales[pair[1].id][0]):
        task, scale = scales[extract.id]
        reason = mistake(extract, scale, catalogue.task(task))
        yield SetAside(str(file), number, reason, extract.id) if reason else extract
