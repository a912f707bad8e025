"""The tables of a task: read as they are, or made of one another by what plugins register.

How a file is found and parsed is `table_files.py`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness import options
from harness.concept import Concept
from harness.errors import suggestion
from harness.task import table_files
from harness.task.schema import Table, TaskFile
from harness.task.table_files import Row
from harness.task.yaml_files import Document, KeyPath

MEMBERS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
"""Columns of the concept's pairs and sets."""


class Tables:
    """The tables of a task by name, each read or made when it is first asked for.

    Parameters
    ----------
    document
        The parsed file, for errors.
    file
        What it says.
    concept
        The task's concept, whose pairs are a table and which what makes tables may ask for.
    maker
        Finds what makes a table of another, by name.
    """

    def __init__(
        self,
        document: Document,
        file: TaskFile,
        concept: Concept | None,
        maker: Callable[[str], Callable[..., Any]],
    ) -> None:
        self.document, self.file, self.concept, self.maker = document, file, concept, maker
        self._known: dict[str, Sequence[Row]] = {}

    def rows(self, name: str, key: KeyPath) -> Sequence[Row]:
        """Return the rows of a table; `key` is where the file asks for it.

        Raises
        ------
        InvalidFile
            If there is no such table, or a mistake in it.
        Unavailable
            If its data cannot be had.
        """
        if name == "concept.definitional_pairs" and self.concept is not None:
            pairs = self.concept.definitional_pairs
            return [{"first": first, "second": second} for first, second in pairs]
        if name == "concept.definitional_sets" and self.concept is not None:
            sets = self.concept.definitional_sets
            return [dict(zip(MEMBERS, members, strict=False)) for members in sets]
        if name not in self.file.tables:
            near = suggestion(name, self.file.tables)
            raise self.document.error(f"there is no table '{name}'{near}", key)
        if name not in self._known:
            table, place = self.file.tables[name], ("tables", name)
            self._known[name] = []  # while it is being made, for one that is made from itself
            self._known[name] = (
                self._made(table, place)
                if table.made_from
                else table_files.read(table, self.document, place)
            )
        return self._known[name]

    def _made(self, table: Table, place: KeyPath) -> Sequence[Row]:
        source = (*place, "made_from")
        rows = self.rows(table.made_from or "", source)
        if not rows:
            raise self.document.error("is made from itself", source)
        name = table.made_by or ""
        with self.document.pointing_at((*place, "made_by")):
            maker = self.maker(name)
        with self.document.pointing_at((*place, "options")):
            taken = options.parameters(maker)
            known = set(taken) - {"rows", "concept"}
            chosen = options.convert(maker, table.options, known=known, what=f"table '{name}'")
            if "concept" in taken:
                chosen["concept"] = self.concept
            made = list(maker(rows, **chosen))
        if not made or not all(isinstance(row, Mapping) for row in made):
            raise self.document.error(f"'{name}' made no rows of it", place)
        return made
