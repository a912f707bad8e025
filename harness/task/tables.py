"""The tables of a task: read from files, or made from one another by table makers of plugins.

`data_files.py` finds the files, and `table_files.py` parses them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness import options
from harness.concept import Concept
from harness.errors import InvalidFile, suggestion
from harness.task import table_files
from harness.task.schema import TaskFile
from harness.task.table_files import Row
from harness.task.table_schema import Table
from harness.task.yaml_files import Document, KeyPath

MEMBERS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
"""Column names of the concept's pairs and sets."""


class Tables:
    """The tables of a task by name, each read or made when it is first used.

    Parameters
    ----------
    document
        The parsed file, for errors.
    file
        The validated task file.
    concept
        The task's concept: its pairs and sets are tables, and table makers may take it.
    maker
        Finds a table maker by name.
    paths
        Path of the file of each table that has one.
    """

    def __init__(
        self,
        document: Document,
        file: TaskFile,
        concept: Concept | None,
        maker: Callable[[str], Callable[..., Any]],
        paths: Mapping[str, Path],
    ) -> None:
        self.document, self.file, self.concept, self.maker = document, file, concept, maker
        self.paths = paths
        self._known: dict[str, Sequence[Row]] = {}

    def rows(self, name: str, key: KeyPath) -> Sequence[Row]:
        """Return the rows of a table; `key` is the place in the file that uses it.

        Raises
        ------
        InvalidFile
            If the table is unknown or has a mistake in it.
        Unavailable
            If its file is not the one that the task was made for.
        """
        if name == "concept.definitional_pairs" and self.concept is not None:
            pairs = self.concept.definitional_pairs
            return [{"first": first, "second": second} for first, second in pairs]
        if name == "concept.definitional_sets" and self.concept is not None:
            sets = self.concept.definitional_sets
            return [dict(zip(MEMBERS, members, strict=False)) for members in sets]
        if name not in self.file.tables:
            near = suggestion(name, self.file.tables)
            raise self.document.error(f"unknown table '{name}'{near}", key)
        if name not in self._known:
            table, place = self.file.tables[name], ("tables", name)
            self._known[name] = []  # recognises a table that is made from itself
            if table.made_from:
                self._known[name] = self._made(table, place)
            elif table.rows is not None:
                columns = table.columns
                self._known[name] = [dict(zip(columns, row, strict=True)) for row in table.rows]
            else:
                self._known[name] = table_files.parse(table, self.paths[name])
        return self._known[name]

    def mistakes(
        self, name: str, problems: Mapping[int, str], column: str, key: KeyPath
    ) -> Iterator[InvalidFile]:
        """Yield the error for cells of a column, at the line of a file or the key of a row.

        Parameters
        ----------
        name
            The table.
        problems
            What is wrong with the cell, by row from 0.
        column
            The column.
        key
            The place in the task file that uses it, for tables that are made.
        """
        table = self.file.tables.get(name)
        lines: Sequence[int] = ()
        if table is not None and not table.made_from and table.rows is None:
            lines = table_files.lines(table, self.paths[name])
        for i, problem in problems.items():
            if lines:
                text = f"column '{column}': {problem} (row {i + 1} of table '{name}')"
                yield InvalidFile(text, path=self.paths[name], line=lines[i])
            elif table is not None and table.rows is not None:
                cell: KeyPath = ("tables", name, "rows", i, table.columns.index(column))
                yield self.document.error(f"column '{column}': {problem}", cell)
            else:
                text = f"row {i + 1} of table '{name}', column '{column}': {problem}"
                yield self.document.error(text, key)

    def _made(self, table: Table, place: KeyPath) -> Sequence[Row]:
        source = (*place, "made_from")
        rows = self.rows(table.made_from or "", source)
        if not rows:
            raise self.document.error("the table is made from itself", source)
        name = table.made_by or ""
        with self.document.pointing_at((*place, "made_by")):
            maker = self.maker(name)
        with self.document.pointing_at((*place, "options")):
            parameters = options.parameters(maker)
            known = set(parameters) - {"rows", "concept"}
            arguments = options.convert(maker, table.options, known=known, what=f"table '{name}'")
            if "concept" in parameters:
                arguments["concept"] = self.concept
            new_rows = list(maker(rows, **arguments))
        if not new_rows or not all(isinstance(row, Mapping) for row in new_rows):
            raise self.document.error(f"table maker '{name}' returned no rows", place)
        return new_rows
