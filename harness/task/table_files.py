"""Parses the file of a table. `data_files.py` finds it.

A `.csv` is read as RFC 4180 says: double quotes enclose cells, which may have delimiters and line
breaks in them, and two quotes stand for one. In other text tables quotes are text, unless the table
says `quoted: true`. What does not fit is a mistake with file, line and column; nothing is guessed.
"""

from __future__ import annotations

import codecs
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePath
from typing import Any

from harness import limits, user_files
from harness.errors import InvalidFile, Unavailable
from harness.task.mistakes import Collector
from harness.task.table_schema import Table

Row = Mapping[str, Any]
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]')
"""Brackets of JSON, and texts, which may have brackets in them."""
_BREAK = re.compile(r"\r\n?|\n")
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")
_QUOTED = re.compile(r'"([^"]*+(?:""[^"]*+)*+)"')
"""A cell in quotes; possessive, so that a quote that is not closed is found in linear time."""
_DELIMITERS = (";", "\t", ",", "|")
_MARK = "\ufeff"
_MARKS = {
    codecs.BOM_UTF8: ("utf-8", "utf-8-sig"),
    codecs.BOM_UTF32_LE: ("utf-32", "utf-32-le"),  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: ("utf-32", "utf-32-be"),
    codecs.BOM_UTF16_LE: ("utf-16", "utf-16-le"),
    codecs.BOM_UTF16_BE: ("utf-16", "utf-16-be"),
}
"""Byte order marks, and the encodings that each belongs to."""
_MOST_MISTAKES = 20
"""Mistakes that are shown of a file: one of another format has one in each row."""
_SWALLOWED_LINES = 4
"""Lines of a row from which on each of them may not look like a row of its own: then a quote is
missing, and a cell has swallowed rows. Verses with as many commas in each line are shorter."""


def parse(table: Table, path: Path) -> Sequence[Row]:
    """Return the rows of a table's file, each a mapping from column to cell.

    Raises
    ------
    InvalidFile
        If the file has a mistake in it.
    Unavailable
        If it is another file than the one that the task was made for.
    """
    rows = [row for _, row in _numbered(table, path)]
    if not rows:
        raise InvalidFile("has no rows", path=path)
    return rows


def lines(table: Table, path: Path) -> Sequence[int]:
    """Return the line on which each row of a table's file begins; parses it anew, for messages."""
    return [line for line, _ in _numbered(table, path)]


def other_delimiter(columns: Sequence[str], column: str | None = None) -> str:
    """Return what to say if the only column of a table has the names of several, else nothing.

    Parameters
    ----------
    columns
        The table's columns.
    column
        One that is looked for; by default any.
    """
    for delimiter in _DELIMITERS if len(columns) == 1 else ():
        names = [name.strip(' "') for name in columns[0].split(delimiter)]
        if len(names) > 1 and (column is None or column in names):
            shown = json.dumps(delimiter)
            return f"; if columns end at {shown}, say 'delimiter: {shown}'"
    return ""


def has_byte_order_mark(table: Table, path: Path) -> bool:
    """Return whether a file begins with one of UTF-8, as Excel writes it, and nobody says so."""
    content = _decompressed(path, max(limits.TABLE_BYTES, table.size or 0))
    return content.startswith(codecs.BOM_UTF8) and table.encoding != "utf-8-sig"


def _numbered(table: Table, path: Path) -> Iterator[tuple[int, Row]]:
    """Yield each row with the line on which it begins."""
    try:
        content = _decompressed(path, max(limits.TABLE_BYTES, table.size or 0))
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidFile(f"cannot be read ({error})", path=path) from None
    if table.sha256 and sha256(content).hexdigest() != table.sha256:
        raise Unavailable(
            f"{path} is not the file that the task was made for: expected sha256 {table.sha256}"
        )
    text = _decoded(content, table, path)
    suffix = PurePath(path.name.lower().removesuffix(".gz")).suffix
    if suffix == ".jsonl" and not table.columns:
        return _objects(text, table, path)
    return _rows(_TextTable(text, table, path, suffix))


def _decompressed(path: Path, largest: int) -> bytes:
    content = user_files.read(path, largest)
    if path.suffix.lower() == ".gz":
        with gzip.open(io.BytesIO(content)) as file:
            content = file.read(largest + 1)
        if len(content) > largest:
            problem = f"more than {largest:,} bytes once it is decompressed"
            raise InvalidFile(f"{problem}, which is the limit", path=path)
    return content


def _decoded(content: bytes, table: Table, path: Path) -> str:
    """Return the text of a file, with its line breaks as they are and without a byte order mark.

    Raises
    ------
    InvalidFile
        If it is not text in the table's encoding.
    """
    encoding = codecs.lookup(table.encoding).name
    of = next((names for mark, names in _MARKS.items() if content.startswith(mark)), None)
    if of and encoding not in of:
        problem = f"begins with the byte order mark of {of[0]}, but is read as {encoding}"
        raise InvalidFile(f"{problem}; say 'encoding: {of[0]}'", path=path, line=1)
    try:
        return content.decode(table.encoding).removeprefix(_MARK)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = f"cannot be read ({error}); say its 'encoding'"
        raise InvalidFile(problem, path=path, line=line) from None
    except (LookupError, TypeError) as error:  # an encoding that is none of texts
        raise InvalidFile(f"cannot be read ({error})", path=path) from None


class _TextTable:
    """A text table: finds its lines, and the cells of each row.

    Parameters
    ----------
    text
        The text of the file.
    table, path, suffix
        How it is read, its path, and the end of its name without `.gz`.

    Raises
    ------
    InvalidFile
        If quotes are both delimiters and quotes.
    """

    def __init__(self, text: str, table: Table, path: Path, suffix: str) -> None:
        self.text, self.table, self.path = text, table, path
        delimiters = table.delimiter or ("," if suffix == ".csv" else "\t")
        self.delimiters = "".join(dict.fromkeys(delimiters))
        self._quoted = suffix == ".csv" if table.quoted is None else table.quoted
        if self._quoted and '"' in self.delimiters:
            raise InvalidFile("a delimiter may not be a quote: say 'quoted: false'", path=path)
        self._plain = re.compile(rf"[^{re.escape(self.delimiters)}\r\n]*")
        self._one_delimiter = str.maketrans(dict.fromkeys(self.delimiters[1:], self.delimiters[0]))
        self.columns: Sequence[str] = table.columns

    def rows(self) -> Iterator[_TextRow]:
        """Yield the rows, the header among them."""
        position, line = 0, 1
        section = ""
        while position < len(self.text):
            end = self._end_of_line(position)
            content = self.text[position:end]
            if self.table.section and content.startswith(":"):
                section = content[1:].strip()
            elif content.strip() and not (
                self.table.comment and content.startswith(self.table.comment)
            ):
                if self._quoted:
                    cells, end = self._cells_in_quotes(position, line)
                else:
                    content = content.rstrip("\r\n").translate(self._one_delimiter)
                    cells = content.split(self.delimiters[0])
                yield _TextRow(line, self.text[position:end], cells, section)
            line += len(_BREAK.findall(self.text, position, end)) if self._quoted else 1
            position = end

    def mistake(self, line: int, cell: int, problem: str) -> InvalidFile:
        """Return the error for a cell, numbered from 0."""
        name = f"column '{self.columns[cell]}'" if cell < len(self.columns) else f"cell {cell + 1}"
        return InvalidFile(f"{name}: {problem}", path=self.path, line=line)

    def _end_of_line(self, position: int) -> int:
        match = _LINE.match(self.text, position)
        return match.end() if match else len(self.text)

    def _cells_in_quotes(self, position: int, line: int) -> tuple[list[str], int]:
        """Return the cells of the row that begins at `position`, and where the next one begins."""
        cells: list[str] = []
        while True:
            if self.text.startswith('"', position):
                match = _QUOTED.match(self.text, position)
                if match is None:
                    problem = "the quote at its beginning is not closed"
                    raise self.mistake(line, len(cells), problem)
                cells.append(match[1].replace('""', '"'))
                position = match.end()
            else:
                match = self._plain.match(self.text, position)
                position = match.end() if match else position
                cells.append(match[0] if match else "")
            if position == len(self.text) or self.text[position] in "\r\n":
                return cells, self._end_of_line(position)
            if self.text[position] not in self.delimiters:
                found = self.text[position : position + 10]
                problem = f"{found!r} follows its closing quote; in quotes, write a quote as two"
                problem += other_delimiter(self.columns)
                raise self.mistake(line, len(cells) - 1, problem)
            position += 1


@dataclass(frozen=True)
class _TextRow:
    """A row of a text table: the line on which it begins, its text, cells and section."""

    line: int
    text: str
    cells: list[str]
    section: str


def _rows(file: _TextTable) -> Iterator[tuple[int, Row]]:
    """Yield the rows of a text table with their lines.

    Raises
    ------
    InvalidFile
        With the mistakes of all rows, once they are read.
    """
    table, path = file.table, file.path
    mistakes = Collector()
    n_rows = n_wrong = 0
    for row in file.rows():
        if not file.columns:
            _check_header(row, file)
            file.columns = row.cells
            continue
        n_rows += 1
        if n_rows == 1 < len(table.columns) and tuple(map(str.strip, row.cells)) == table.columns:
            problem = "a header, though the table says 'columns'; remove 'columns', or the header"
            raise InvalidFile(problem, path=path, line=row.line)
        if n_rows > limits.TABLE_ROWS:
            problem = f"more than {limits.TABLE_ROWS:,} rows, which is the limit"
            raise InvalidFile(problem, path=path, line=row.line)
        mistake = _mistake(row, file)
        if mistake is not None:
            n_wrong += 1
            with mistakes.collecting():
                raise mistake
            if n_wrong == _MOST_MISTAKES:
                break
        columns = (*file.columns, *table.optional)
        cells = dict.fromkeys(columns, "") | dict(zip(columns, row.cells, strict=False))
        if table.section:
            cells[table.section] = row.section
        yield row.line, cells
    mistakes.check()


def _check_header(row: _TextRow, file: _TextTable) -> None:
    further = [*file.table.optional, *filter(None, [file.table.section])]
    names = [*row.cells, *further]
    for i, name in enumerate(names):
        problem = _odd_character(name)
        # pandas writes the index of a data frame as a first column without a name.
        if not name.strip() and i > 0:
            problem = "is empty in the header; a column needs a name"
        elif name.strip() in map(str.strip, names[:i]):
            problem = f"the second column with the name '{name}'; each needs a name of its own"
        if problem:
            raise file.mistake(row.line, i, problem)


def _odd_character(cell: str) -> str | None:
    """Return what is wrong with the characters of a cell, if anything is."""
    if "\0" in cell:
        return "a NUL character; if the file is UTF-16, say 'encoding: utf-16-le'"
    if cell.startswith(_MARK):
        return "begins with a byte order mark; remove it"
    return None


def _mistake(row: _TextRow, file: _TextTable) -> InvalidFile | None:
    """Return what is wrong with a row, if anything is."""
    fewest, most = len(file.columns), len(file.columns) + len(file.table.optional)
    n = len(row.cells)
    if not fewest <= n <= most:
        expected = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        names = ", ".join((*file.columns, *file.table.optional))
        problem = f"expected {expected} cells ({names}), but found {n}"
        if n > most:
            problem += f": {row.cells[most][:40]!r} has no column"
            if "," in file.delimiters:
                problem += "; a text with a comma stands in double quotes"
            problem += other_delimiter(file.columns)
        else:
            problem += f": column '{file.columns[n]}' has no cell"
        return InvalidFile(problem, path=file.path, line=row.line)
    for i, cell in enumerate(row.cells):
        if len(cell) > limits.CELL_CHARACTERS:
            size = limits.too_many(len(cell), limits.CELL_CHARACTERS, "characters")
            return file.mistake(row.line, i, f"{size}; is a quote missing?")
        odd = _odd_character(cell)
        if odd:
            return file.mistake(row.line, i, odd)
    if fewest > 1 and len(row.text) > sum(map(len, row.cells)) + n:
        parts = _BREAK.split(row.text.rstrip("\r\n"))
        if len(parts) >= _SWALLOWED_LINES and all(
            sum(map(part.count, file.delimiters)) == n - 1 for part in parts
        ):
            broken = next(i for i, cell in enumerate(row.cells) if _BREAK.search(cell))
            problem = f"holds {len(parts)} lines that look like rows; is a quote missing?"
            return file.mistake(row.line, broken, problem)
    return None


def _objects(text: str, table: Table, path: Path) -> Iterator[tuple[int, Row]]:
    """Yield the objects of a JSONL file, one per line, with their lines."""
    n_rows = 0
    for number, line in enumerate(io.StringIO(text, newline=""), start=1):
        if not line.strip() or (table.comment and line.startswith(table.comment)):
            continue
        n_rows += 1
        if n_rows > limits.TABLE_ROWS:
            problem = f"more than {limits.TABLE_ROWS:,} rows, which is the limit"
            raise InvalidFile(problem, path=path, line=number)
        try:
            row = _json(line)
        except (ValueError, RecursionError) as error:
            raise InvalidFile(f"not JSON ({error})", path=path, line=number) from None
        if not isinstance(row, dict):
            raise InvalidFile("expected a JSON object", path=path, line=number)
        yield number, row


def without_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object of its pairs, as an `object_pairs_hook` of `json.loads`.

    Raises
    ------
    ValueError
        If a key stands twice in it: most readers drop the first value.
    """
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key '{repeated}' stands twice in one object")
    return values


def _json(line: str) -> Any:
    """Return the value of a line; ValueError if it is no JSON, or nested too deeply."""
    brackets = line.count("[") + line.count("{")
    if brackets > limits.NESTING:
        depth = deepest = 0
        for bracket in _BRACKETS.findall(line):
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(bracket, 0)
            deepest = max(depth, deepest)
        if deepest > limits.NESTING:
            raise ValueError(limits.too_many(deepest, limits.NESTING, "levels"))
    return json.loads(line, object_pairs_hook=without_repeated_keys)
