"""Resolves the inputs of a task: the texts or numbers of each input, per scenario."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
import re
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness import limits
from harness.arrays import Floats
from harness.digest import digest
from harness.embedder import Role
from harness.errors import suggestion
from harness.letters import composed
from harness.task import data_files
from harness.task.data_files import Row, Tables
from harness.task.schema import InputFile, ScenarioFile, Source, TaskFile, VocabularyPart
from harness.task.yaml_files import Collector, Document, KeyPath

# The size of an input of a task, counted while its texts are made.


class InputSize:
    """The number of texts and characters of an input.

    Parameters
    ----------
    document
        The parsed file, for errors.
    place
        Key of the input.
    """

    def __init__(self, document: Document, place: KeyPath) -> None:
        self._document, self._place = document, place
        self._texts = self._characters = 0

    def add(self, values: Sequence[Any]) -> None:
        """Count values; numbers have no characters.

        Raises
        ------
        InvalidFile
            If the input is larger than the limits, or a text cannot be written as UTF-8.
        """
        texts = [value for value in values if isinstance(value, str)]
        longest = max(map(len, texts), default=0)
        self._texts += len(values)
        self._characters += sum(map(len, texts))
        for size, largest, unit in (
            (longest, limits.TEXT_CHARACTERS, "characters of a text"),
            (self._texts, limits.INPUT_TEXTS, "texts"),
            (self._characters, limits.INPUT_CHARACTERS, "characters of all texts"),
        ):
            if size > largest:
                raise self._document.error(limits.too_many(size, largest, unit), self._place)
        for text in texts:
            if not text.isascii():
                self._check_characters(text)

    def _check_characters(self, text: str) -> None:
        try:
            text.encode()
        except UnicodeEncodeError as error:  # half of a character, which JSON allows
            problem = f"the text {text[:40]!r} has a character that is none ({error.reason})"
            raise self._document.error(problem, self._place) from None


# A smoke run (`--limit N`) cuts each set and table of a task to its first N items.
#
# All inputs from a table get the same rows of it, so aligned inputs stay aligned.


def first_rows(rows: Sequence[Row], limit: int, labels: Sequence[str] = ()) -> Sequence[Row]:
    """Return the first `limit` rows, with every label among them if possible.

    Parameters
    ----------
    rows
        The rows of a table or set.
    limit
        Largest number of rows to return.
    labels
        Columns of numbers. If they have no more than `limit` different values, the first rows of
        each value are taken in turn; the rows stay in their order.
    """
    by_label: dict[tuple[str, ...], list[int]] = {}
    for i, row in enumerate(rows):
        by_label.setdefault(tuple(str(row.get(column)) for column in labels), []).append(i)
    if len(by_label) > limit:
        return rows[:limit]
    in_turn = itertools.chain.from_iterable(itertools.zip_longest(*by_label.values()))
    chosen = itertools.islice((i for i in in_turn if i is not None), limit)
    return [rows[i] for i in sorted(chosen)]


def smoke_labels(file: TaskFile) -> dict[str, list[str]]:
    """Return the columns of each table that inputs of a task read as numbers."""
    columns: dict[str, list[str]] = {}
    for _, source in file.sources():
        known = columns.setdefault(source.table or "", [])
        if source.number and source.column not in known:
            known.append(source.column)
    return columns


# Fills templates: `{text}`, `{column}`, `{Column}` and `{context.name}` become text.


def fields(text: str, cells: Mapping[str, Any], contexts: Mapping[str, str]) -> dict[str, str]:
    """Return the value of each field of a template.

    Parameters
    ----------
    text
        The item.
    cells
        The cells of its row, by column.
    contexts
        The contexts of the concept, by name.
    """
    known = {"text": text} | {name: str(cell) for name, cell in cells.items()}
    known |= {name.capitalize(): cell[:1].upper() + cell[1:] for name, cell in known.items()}
    return known | {f"context.{name}": sentence for name, sentence in contexts.items()}


def columns(template: str | Sequence[str], row: Mapping[str, Any], column: str) -> list[str]:
    """Return the columns of a row that are fields of a template, or of one in a list.

    Parameters
    ----------
    template
        The template, or list of templates.
    row
        A row of the table.
    column
        The column that `{text}` stands for.
    """
    by_field = {"text": column} | {name: name for name in row}
    by_field |= {field.capitalize(): name for field, name in by_field.items()}
    found: dict[str, None] = {}
    for variant in [template] if isinstance(template, str) else template:
        with contextlib.suppress(ValueError):  # `fill` reports the mistake
            for _, field, _, _ in string.Formatter().parse(variant):
                if field in by_field:
                    found[by_field[field]] = None
    return list(found)


def fill(template: str, known: Mapping[str, str], document: Document, place: KeyPath) -> str:
    """Return a template with its fields filled; `place` is its key in the file.

    A field is a name, which may contain a dot. Formats such as `{text:>9}` are refused, since they
    could fill the memory.

    Raises
    ------
    InvalidFile
        If it has an unknown field, a field with a format, a brace that is not closed, or more
        characters than a text may have.
    """
    parts: list[str] = []
    try:
        for literal, field, format_, conversion in string.Formatter().parse(template):
            parts.append(literal)
            if field is None:
                continue
            if field not in known:
                problem = f"unknown field '{{{field}}}' in '{template}'{suggestion(field, known)}"
                raise document.error(problem, place)
            if format_ or conversion:
                problem = f"the field '{{{field}}}' has a format in '{template}'; leave it out"
                raise document.error(problem, place)
            parts.append(known[field])
    except ValueError as error:
        raise document.error(
            f"invalid template '{template}' ({error}); double a brace that is text", place
        ) from None
    size = sum(map(len, parts))
    if size > limits.TEXT_CHARACTERS:
        problem = limits.too_many(size, limits.TEXT_CHARACTERS, "characters")
        raise document.error(f"a text of {problem}", place)
    return "".join(parts)


_MOST_MISTAKES = 20
"""Number of mistakes that are shown of a column."""


@dataclass(frozen=True)
class Input:
    """One named input of a scenario.

    Parameters
    ----------
    name
        Its name in the task.
    texts
        The texts to embed, or None for numbers.
    numbers
        (n,) numbers, or None for texts.
    clusters
        (n,) code of the item (word or row) of each text.
    group
        Inputs of one group are aligned row by row: a row missing in one is dropped from all.
    probe
        Whether the texts define the concept, so that mitigators do not rewrite them.
    items
        The word or cell of each code of `clusters`; none for numbers.
    original
        Whether the vectors are the model's own, without any mitigator.
    vocabulary
        The part of an embedder's vocabulary that supplies the texts. There are no texts before a
        model is known, and the task's digest does not depend on them.
    role
        Whether the texts are queries, documents or neither. The task's digest does not depend on
        it, since it has no effect on models without prompts by role.
    sets
        Names of the word sets that it is made of; empty if it is made of anything else.
    """

    name: str
    texts: tuple[str, ...] | None
    numbers: Floats | None
    clusters: np.ndarray[Any, np.dtype[np.int64]]
    group: str
    probe: bool
    items: tuple[str, ...] = dataclasses.field(default_factory=tuple)
    original: bool = False
    vocabulary: VocabularyPart | None = None
    role: Role = "text"
    sets: str = ""

    def __len__(self) -> int:
        return len(self.clusters)

    def content(self) -> dict[str, Any]:
        """Return the content that the task's digest depends on, as JSON-like values."""
        numbers = None if self.numbers is None else self.numbers.tolist()
        texts = None if self.texts is None else list(self.texts)
        content = {"texts": texts, "numbers": numbers, "group": self.group, "probe": self.probe}
        if self.vocabulary is not None:
            content["texts"] = self.vocabulary.model_dump()
        if self.original:
            content["original"] = True
        return content

    def of_words(self, words: Sequence[str]) -> Input:
        """Return the input with its texts from a vocabulary."""
        if self.vocabulary is None:
            return self
        matches = re.compile(self.vocabulary.pattern).fullmatch
        chosen = tuple(itertools.islice(filter(matches, words), self.vocabulary.size))
        codes = np.arange(len(chosen), dtype=np.int64)
        return dataclasses.replace(self, texts=chosen, clusters=codes, items=chosen)


class Inputs:
    """Resolves the inputs of a task.

    Parameters
    ----------
    tables
        The task's tables; they also give its file and its concept.
    limit
        Largest number of items of each set or table; None for all.
    """

    def __init__(self, tables: Tables, limit: int | None = None) -> None:
        self.document, self.file, self.concept = tables.document, tables.file, tables.concept
        self._limit, self._labels = limit, smoke_labels(tables.file)
        self._tables = tables
        self._known: dict[tuple[str, ...], Input] = {}

    def of_scenario(self, name: str, scenario: ScenarioFile) -> dict[str, Input]:
        """Return the inputs of a scenario by name.

        Raises
        ------
        InvalidFile
            If a source names something unknown, or aligned inputs differ in length.
        """
        templates = {
            name: self._mended_template(template)
            for name, template in (self.file.templates | scenario.templates).items()
        }
        resolved = {}
        mistakes = Collector()
        for key, source in self.file.inputs.items():
            with mistakes.collecting():
                resolved[key] = self._shared(key, source, templates)
        for key, source in scenario.inputs.items():
            place: KeyPath = ("scenarios", name, "inputs", key)
            with mistakes.collecting():
                resolved[key] = self._input(key, source, place, templates)
        mistakes.check()
        by_group: dict[str, Input] = {}
        for input_ in resolved.values():
            other = by_group.setdefault(input_.group, input_)
            if len(other) != len(input_):
                raise self.document.error(
                    f"{len(input_)} items, but '{other.name}' of the same table has {len(other)}; "
                    "give both the same templates",
                    ("inputs", input_.name),
                )
        return resolved

    def _shared(self, name: str, source: InputFile, templates: Mapping[str, Any]) -> Input:
        """Return an input of the task, made once for all scenarios with the same templates."""
        parts = [source] if isinstance(source, Source) else source
        key = (name, *(repr(templates.get(part.template or "")) for part in parts))
        if key not in self._known:
            self._known[key] = self._input(name, source, ("inputs", name), templates)
        return self._known[key]

    def _input(
        self, name: str, source: InputFile, place: KeyPath, templates: Mapping[str, Any]
    ) -> Input:
        if isinstance(source, Source):
            parts, keys = [source], [place]
        else:
            parts, keys = list(source), [(*place, i) for i in range(len(source))]
        if not parts:
            raise self.document.error("empty list; an input needs at least one source", place)
        number, original, role = parts[0].number, parts[0].original, parts[0].role
        if any(part.number != number for part in parts):
            raise self.document.error("mixes numbers and texts", place)
        if any(part.original != original for part in parts):
            raise self.document.error("mixes original and mitigated vectors", place)
        if any(part.role != role for part in parts):
            raise self.document.error("mixes texts of several roles", place)
        if parts[0].vocabulary is not None:
            return self._of_vocabulary(name, parts, place)
        values: list[Any] = []
        size = InputSize(self.document, place)
        items: list[str] = []
        clusters: list[int] = []
        for part, key in zip(parts, keys, strict=True):
            rows = self.rows_of(part, key, templates)
            if self._limit is not None:
                rows = first_rows(rows, self._limit, self._labels.get(part.table or "", ()))
            offset = clusters[-1] + 1 if clusters else 0
            cells = [row.get(part.column, row.get("text")) for row in rows]
            items += map(str, cells)
            filled: Iterable[list[Any]]
            if part.template is None:
                filled = [cells if number else list(map(str, cells))]
                clusters += range(offset, offset + len(cells))
            else:
                filled = self._filled(part.template, part, rows, cells, key, templates)
            for i, texts in enumerate(filled, offset):
                if not number and not all(map(str.strip, texts)):
                    raise self.document.error("an empty text; remove it", key)
                size.add(texts)
                values += texts
                if part.template is not None:
                    clusters += [i] * len(texts)
        group = name
        if all(part.table is not None for part in parts):
            # Row i of two inputs is one row of the data if both list the same tables and
            # conditions in the same order.
            group = ", ".join(f"{part.table} {digest(part.where)[:8]}" for part in parts)
        return Input(
            name=name,
            texts=None if number else tuple(values),
            numbers=self._numbers(values, place) if number else None,
            clusters=np.asarray(clusters, dtype=np.int64),
            group=group,
            probe=any(part.probe for part in parts),
            items=() if number else tuple(items),
            original=original,
            role=role,
            sets=" and ".join(part.set for part in parts if part.set),
        )

    def _of_vocabulary(self, name: str, parts: Sequence[Source], place: KeyPath) -> Input:
        part = parts[0]
        if len(parts) > 1:
            raise self.document.error("a vocabulary cannot be mixed with other sources", place)
        if self.file.kinds != ("word",):
            raise self.document.error(
                "only word embedders have a vocabulary: give the task 'kinds: [word]'", place
            )
        return Input(
            name=name,
            texts=(),
            numbers=None,
            clusters=np.arange(0),
            group=f"vocabulary {part.vocabulary}",
            probe=part.probe,
            original=part.original,
            vocabulary=part.vocabulary,
        )

    def rows_of(self, source: Source, key: KeyPath, templates: Mapping[str, Any]) -> Sequence[Row]:
        """Return the rows of a source, before they are put into templates."""
        if source.words is not None or source.set is not None:
            words = source.words or self._set(source.set or "", key)
            # The words of a concept are no texts of the task, so its reviews do not mend them.
            is_own = not (source.set or "").startswith("concept.")
            rows: Sequence[Row] = [{"text": word} for word in words]
            return data_files.mended_rows(rows, self.file.mended if is_own else {})
        rows = self._tables.rows(source.table or "", (*key, "table"))
        mistakes = Collector()
        for column in (source.column, *source.where):
            place = (*key, "column" if column == source.column else "where")
            if rows and not any(column in row for row in rows):
                hint = data_files.other_delimiter(list(rows[0]), column)
                raise self.document.error(
                    f"table '{source.table}' has no column '{column}'"
                    f"{hint or suggestion(column, rows[0])}",
                    place,
                )
            problems = ((i, "no value") for i, row in enumerate(rows) if row.get(column) is None)
            self._collect(mistakes, source, column, problems, place)
        mistakes.check()
        # Compared as text: the cells of a file are text, but YAML has numbers.
        allowed = {
            column: {composed(str(v)) for v in (values if isinstance(values, tuple) else (values,))}
            for column, values in source.where.items()
        }
        selected = dict(enumerate(rows))
        for column, values in allowed.items():
            selected = {
                i: row for i, row in selected.items() if composed(str(row[column])) in values
            }
        if not selected:
            raise self.document.error("empty set: no row of the table fits 'where'", key)
        for column in self._used_columns(source, templates, rows[0]):
            is_item = column == source.column
            wrong = _not_a_number if source.number else _not_an_item if is_item else _not_a_text
            problems = (
                (i, problem) for i, row in selected.items() if (problem := wrong(row.get(column)))
            )
            place = (*key, "column" if is_item else "template")
            self._collect(mistakes, source, column, problems, place)
        mistakes.check()
        return list(selected.values())

    def _mended_template(self, template: str | Sequence[str]) -> str | tuple[str, ...]:
        """Return a template, or a list of them, as reviews mended it."""
        mended = self.file.mended
        if isinstance(template, str):
            return mended.get(template, template)
        return tuple(new for old in template if (new := mended.get(old, old)))

    def _used_columns(
        self, source: Source, templates: Mapping[str, Any], row: Row
    ) -> Sequence[str]:
        """Return the columns whose cells become texts, parts of texts, or numbers."""
        if source.number or source.template is None:
            return (source.column,)
        return columns(templates.get(source.template, ()), row, source.column)

    def _collect(
        self,
        mistakes: Collector,
        source: Source,
        column: str,
        problems: Iterable[tuple[int, str]],
        place: KeyPath,
    ) -> None:
        """Collect the first mistakes of a column; `problems` are pairs of row and problem."""
        first = dict(itertools.islice(problems, _MOST_MISTAKES))
        if not first:
            return
        for mistake in self._tables.mistakes(source.table or "", first, column, place):
            with mistakes.collecting():
                raise mistake

    def _set(self, name: str, key: KeyPath) -> Sequence[str]:
        known: dict[str, Sequence[str]] = dict(self.file.sets)
        if self.concept is not None:
            known |= {f"concept.{n}": words for n, words in self.concept.sets.items()}
            known["concept.specific_words"] = self.concept.specific_words
        if name not in known:
            problem = f"unknown set '{name}'{suggestion(name, known)}"
            raise self.document.error(problem, (*key, "set"))
        if not known[name]:
            problem = f"empty set '{name}'; an input needs at least one text"
            raise self.document.error(problem, (*key, "set"))
        return known[name]

    def _filled(
        self,
        template: str,
        source: Source,
        rows: Sequence[Row],
        cells: Sequence[Any],
        key: KeyPath,
        templates: Mapping[str, Any],
    ) -> Iterator[list[Any]]:
        """Yield the texts of each row in a template, or the number of each of them."""
        if template not in templates:
            raise self.document.error(
                f"unknown template '{template}'{suggestion(template, templates)}",
                (*key, "template"),
            )
        place: KeyPath = ("templates", template)
        variants = templates[template]
        variants = [variants] if isinstance(variants, str) else variants
        contexts = {} if self.concept is None else self.concept.contexts
        for row, cell in zip(rows, cells, strict=True):
            if source.number:  # the number belongs to each text of its row
                yield [cell] * len(variants)
            else:
                known = fields(str(cell), row, contexts)
                yield [fill(variant, known, self.document, place) for variant in variants]

    def _numbers(self, values: Sequence[Any], place: KeyPath) -> Floats:
        try:
            numbers: Floats = np.asarray([float(value) for value in values], dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise self.document.error(f"expected numbers ({error})", place) from None
        if not np.isfinite(numbers).all():
            raise self.document.error("expected finite numbers", place)
        return numbers


def _not_a_text(cell: Any) -> str | None:
    """Return why a cell cannot be part of a text."""
    if isinstance(cell, str):
        empty = "empty, but a text is needed; fill it in, or remove the row"
        return None if cell.strip() else empty
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return None
    kinds = {dict: "an object", list: "a list", bool: "a truth value", type(None): "no value"}
    return f"{kinds.get(type(cell), type(cell).__name__)}, but a text is needed"


def _not_an_item(cell: Any) -> str | None:
    """Return why a cell cannot be a text of its own."""
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return "a number, but a text is needed; put it in quotes"
    return _not_a_text(cell)


def _not_a_number(cell: Any) -> str | None:
    """Return why a cell cannot be a finite number."""
    try:
        is_finite = math.isfinite(float(cell))
    except (TypeError, ValueError, OverflowError):
        is_finite = False
    return None if is_finite else f"{str(cell)[:40]!r}, but a number is needed"
