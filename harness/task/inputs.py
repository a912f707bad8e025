"""Resolves the inputs of a task: the texts or numbers of each input, per scenario."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.arrays import Floats
from harness.digest import digest
from harness.embedder import Role
from harness.errors import suggestion
from harness.task import smoke_rows, table_files
from harness.task import templates as templates_
from harness.task.input_size import InputSize
from harness.task.mistakes import Collector
from harness.task.schema import InputFile, ScenarioFile, Source, VocabularyPart
from harness.task.table_files import Row
from harness.task.tables import Tables
from harness.task.yaml_files import KeyPath

_MOST_MISTAKES = 20
"""Mistakes that are shown of a column."""


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
        (n,) code of the item (word, row) that each text was made from.
    group
        Inputs of one group are aligned row by row: a row missing in one is dropped from all.
    probe
        Whether the texts define the concept, so that mitigators do not rewrite them.
    items
        The distinct words or cells that the texts were made from; none for numbers.
    original
        Whether the vectors are those of the model without any mitigator.
    vocabulary
        Part of the embedder's vocabulary that gives the texts. They are empty until a model is
        known, and the task's digest does not depend on them.
    role
        Whether the texts are queries, documents or neither. The task's digest does not depend on
        it, since it changes nothing for models without prompts by role.
    """

    name: str
    texts: tuple[str, ...] | None
    numbers: Floats | None
    clusters: np.ndarray[Any, np.dtype[np.int64]]
    group: str
    probe: bool
    items: tuple[str, ...] = ()
    original: bool = False
    vocabulary: VocabularyPart | None = None
    role: Role = "text"

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
        """Return the input with the texts that it takes from a vocabulary."""
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
        self._limit, self._labels = limit, smoke_rows.labels(tables.file)
        self._tables = tables
        self._known: dict[tuple[str, ...], Input] = {}

    def of_scenario(self, name: str, scenario: ScenarioFile) -> dict[str, Input]:
        """Return the inputs of a scenario by name.

        Raises
        ------
        InvalidFile
            If a source names something unknown, or aligned inputs differ in length.
        """
        templates = self.file.templates | scenario.templates
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
            rows = self._rows(part, key, templates)
            if self._limit is not None:
                rows = smoke_rows.first(rows, self._limit, self._labels.get(part.table or "", ()))
            offset = clusters[-1] + 1 if clusters else 0
            for i, row in enumerate(rows):
                filled = self._fill(part, row, key, templates)
                if not number and not all(text.strip() for text in filled):
                    raise self.document.error("an empty text; remove it", key)
                size.add(filled)
                values += filled
                items.append(str(row.get(part.column, row.get("text"))))
                clusters += [offset + i] * len(filled)
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
            items=() if number else tuple(dict.fromkeys(items)),
            original=original,
            role=role,
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

    def _rows(self, source: Source, key: KeyPath, templates: Mapping[str, Any]) -> Sequence[Row]:
        if source.words is not None:
            return [{"text": word} for word in source.words]
        if source.set is not None:
            return [{"text": word} for word in self._set(source.set, key)]
        rows = self._tables.rows(source.table or "", (*key, "table"))
        mistakes = Collector()
        for column in (source.column, *source.where):
            place = (*key, "column" if column == source.column else "where")
            if rows and not any(column in row for row in rows):
                hint = table_files.other_delimiter(list(rows[0]), column)
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
            column: {str(value) for value in (values if isinstance(values, tuple) else (values,))}
            for column, values in source.where.items()
        }
        kept = {
            i: row for i, row in enumerate(rows) if all(str(row[c]) in allowed[c] for c in allowed)
        }
        if not kept:
            raise self.document.error("empty set: no row of the table fits 'where'", key)
        for column in self._used_columns(source, templates, rows[0]):
            is_item = column == source.column
            wrong = _not_a_number if source.number else _not_an_item if is_item else _not_a_text
            problems = (
                (i, problem) for i, row in kept.items() if (problem := wrong(row.get(column)))
            )
            place = (*key, "column" if is_item else "template")
            self._collect(mistakes, source, column, problems, place)
        mistakes.check()
        return list(kept.values())

    def _used_columns(
        self, source: Source, templates: Mapping[str, Any], row: Row
    ) -> Sequence[str]:
        """Return the columns whose cells become texts, parts of texts, or numbers."""
        if source.number or source.template is None:
            return (source.column,)
        return templates_.columns(templates.get(source.template, ()), row, source.column)

    def _collect(
        self,
        mistakes: Collector,
        source: Source,
        column: str,
        problems: Iterable[tuple[int, str]],
        place: KeyPath,
    ) -> None:
        """Collect the first mistakes of a column; `problems` has them with their rows."""
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

    def _fill(
        self, source: Source, row: Row, key: KeyPath, templates: Mapping[str, Any]
    ) -> list[Any]:
        value = row.get(source.column, row.get("text"))
        if source.template is None:
            return [value] if source.number else [str(value)]
        if source.template not in templates:
            raise self.document.error(
                f"unknown template '{source.template}'{suggestion(source.template, templates)}",
                (*key, "template"),
            )
        template = templates[source.template]
        if source.number:  # a number belongs to each of the texts that a row makes
            return [value] * (1 if isinstance(template, str) else len(template))
        contexts = {} if self.concept is None else self.concept.contexts
        known = templates_.fields(str(value), row, contexts)
        place: KeyPath = ("templates", source.template)
        variants = [template] if isinstance(template, str) else template
        return [templates_.fill(variant, known, self.document, place) for variant in variants]

    def _numbers(self, values: Sequence[Any], place: KeyPath) -> Floats:
        try:
            numbers: Floats = np.asarray([float(value) for value in values], dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise self.document.error(f"expected numbers ({error})", place) from None
        if not np.isfinite(numbers).all():
            raise self.document.error("expected finite numbers", place)
        return numbers


def _not_a_text(cell: Any) -> str | None:
    """Return why a cell cannot be put into a text."""
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
