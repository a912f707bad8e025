"""From a task file's sources to the texts and numbers of each input, scenario by scenario."""

from __future__ import annotations

import dataclasses
import itertools
import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.arrays import Floats
from harness.digest import digest
from harness.errors import suggestion
from harness.task.schema import InputFile, ScenarioFile, Source, VocabularyPart
from harness.task.table_files import Row
from harness.task.tables import Tables
from harness.task.yaml_files import KeyPath


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
        (n,) code of the item (word, row) that each text was made of.
    group
        Inputs of one group are aligned, row by row: a row lost to one is lost to all.
    probe
        Whether mitigators leave the texts as they are written.
    items
        The words or cells that the texts were made of, each once; none for numbers.
    original
        Whether vectors are taken as the model gives them, whatever the mitigator.
    vocabulary
        Which part of the embedder's vocabulary the texts are; they are empty until a model is at
        hand, and are no part of what the task is.
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

    def __len__(self) -> int:
        return len(self.clusters)

    def content(self) -> dict[str, Any]:
        """Return what makes the input what it is, as JSON-like values."""
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
        The task's tables, with its file and its concept, whose sets and pairs inputs may name.
    """

    def __init__(self, tables: Tables) -> None:
        self.document, self.file, self.concept = tables.document, tables.file, tables.concept
        self._tables = tables

    def of_scenario(self, name: str, scenario: ScenarioFile) -> dict[str, Input]:
        """Return the inputs of a scenario by name.

        Raises
        ------
        InvalidFile
            If a source names what is not there, or aligned inputs differ in length.
        """
        templates = self.file.templates | scenario.templates
        resolved = {}
        for key, source in self.file.inputs.items():
            resolved[key] = self._input(key, source, ("inputs", key), templates)
        for key, source in scenario.inputs.items():
            where = ("scenarios", name, "inputs", key)
            resolved[key] = self._input(key, source, where, templates)
        lengths: dict[str, Input] = {}
        for item in resolved.values():
            other = lengths.setdefault(item.group, item)
            if len(other) != len(item):
                raise self.document.error(
                    f"has {len(item)} items where '{other.name}', of the same table, "
                    f"has {len(other)}: give both the same templates",
                    ("inputs", item.name),
                )
        return resolved

    def _input(
        self, name: str, source: InputFile, where: KeyPath, templates: Mapping[str, Any]
    ) -> Input:
        if isinstance(source, Source):
            parts, keys = [source], [where]
        else:
            parts, keys = list(source), [(*where, i) for i in range(len(source))]
        if any(part.number != parts[0].number for part in parts):
            raise self.document.error("mixes numbers and texts", where)
        if any(part.original != parts[0].original for part in parts):
            raise self.document.error("mixes original and mitigated vectors", where)
        if parts[0].vocabulary is not None:
            return self._of_vocabulary(name, parts, where)
        items: list[Any] = []
        made_of: list[str] = []
        clusters: list[int] = []
        for part, key in zip(parts, keys, strict=True):
            rows = self._rows(part, key)
            offset = clusters[-1] + 1 if clusters else 0
            for i, row in enumerate(rows):
                filled = self._fill(part, row, key, templates)
                items += filled
                made_of.append(str(row.get(part.column, row.get("text"))))
                clusters += [offset + i] * len(filled)
        group = name
        if all(part.table is not None for part in parts):
            # Several sources in one order are aligned as one is: row i of both is one row.
            group = ", ".join(f"{part.table} {digest(part.where)[:8]}" for part in parts)
        return Input(
            name=name,
            texts=None if parts[0].number else tuple(items),
            numbers=self._numbers(items, where) if parts[0].number else None,
            clusters=np.asarray(clusters, dtype=np.int64),
            group=group,
            probe=any(part.probe for part in parts),
            items=() if parts[0].number else tuple(dict.fromkeys(made_of)),
            original=parts[0].original,
        )

    def _of_vocabulary(self, name: str, parts: Sequence[Source], where: KeyPath) -> Input:
        part = parts[0]
        if len(parts) > 1:
            raise self.document.error("words of a vocabulary are an input of their own", where)
        if self.file.kinds != ("word",):
            raise self.document.error(
                "only word embedders have a vocabulary: give the task 'kinds: [word]'", where
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

    def _rows(self, source: Source, key: KeyPath) -> Sequence[Row]:
        if source.words is not None:
            return [{"text": word} for word in source.words]
        if source.set is not None:
            return [{"text": word} for word in self._set(source.set, key)]
        rows = self._tables.rows(source.table or "", (*key, "table"))
        for column in (source.column, *source.where):
            at = (*key, "column" if column == source.column else "where")
            if rows and column not in rows[0]:
                raise self.document.error(
                    f"table '{source.table}' has no column '{column}'{suggestion(column, rows[0])}",
                    at,
                )
            for i, row in enumerate(rows, start=1):
                if row.get(column) is None:
                    problem = f"row {i} of table '{source.table}' has nothing in column '{column}'"
                    raise self.document.error(problem, at)
        # As text, since the cells of a file are text where YAML has numbers.
        wanted = {
            column: {str(value) for value in (values if isinstance(values, tuple) else (values,))}
            for column, values in source.where.items()
        }
        kept = [row for row in rows if all(str(row[c]) in wanted[c] for c in wanted)]
        if not kept:
            raise self.document.error("no row of the table is left; this set is empty", key)
        return kept

    def _set(self, name: str, key: KeyPath) -> Sequence[str]:
        known: dict[str, Sequence[str]] = dict(self.file.sets)
        if self.concept is not None:
            known |= {f"concept.{n}": words for n, words in self.concept.sets.items()}
            known["concept.specific_words"] = self.concept.specific_words
        if name not in known:
            raise self.document.error(
                f"there is no set '{name}'{suggestion(name, known)}", (*key, "set")
            )
        if not known[name]:
            raise self.document.error(
                f"the set '{name}' is empty; an input needs at least one text", (*key, "set")
            )
        return known[name]

    def _fill(
        self, source: Source, row: Row, key: KeyPath, templates: Mapping[str, Any]
    ) -> list[Any]:
        value = row.get(source.column, row.get("text"))
        if source.number:
            return [value]
        if source.template is None:
            return [str(value)]
        if source.template not in templates:
            raise self.document.error(
                f"there is no template '{source.template}'{suggestion(source.template, templates)}",
                (*key, "template"),
            )
        chosen = templates[source.template]
        known = {"text": str(value)} | {name: str(cell) for name, cell in row.items()}
        known |= {name.capitalize(): cell[:1].upper() + cell[1:] for name, cell in known.items()}
        contexts = {} if self.concept is None else self.concept.contexts
        known |= {f"context.{name}": sentence for name, sentence in contexts.items()}
        place: KeyPath = ("templates", source.template)
        return [
            self._filled(template, known, place)
            for template in ([chosen] if isinstance(chosen, str) else chosen)
        ]

    def _filled(self, template: str, known: Mapping[str, str], place: KeyPath) -> str:
        formatter = _Fields()
        try:
            for _, field, _, _ in formatter.parse(template):
                if field is not None and field not in known:
                    raise self.document.error(
                        f"the template '{template}' has '{{{field}}}'{suggestion(field, known)}",
                        place,
                    )
            return formatter.vformat(template, (), known)
        except (ValueError, KeyError) as error:
            raise self.document.error(
                f"the template '{template}' cannot be filled ({error}); "
                "a brace that is text is doubled",
                place,
            ) from None

    def _numbers(self, items: Sequence[Any], where: KeyPath) -> Floats:
        try:
            numbers: Floats = np.asarray([float(item) for item in items], dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise self.document.error(f"expected numbers ({error})", where) from None
        if not np.isfinite(numbers).all():
            raise self.document.error("expected finite numbers", where)
        return numbers


class _Fields(string.Formatter):
    """Takes a field's name whole: `{context.debiasing}` is one name and looks into no value."""

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        return kwargs[field_name], field_name
