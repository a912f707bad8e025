"""The files of tables: where each of them is, fetching those that are missing, and parsing them.

The places of a file, in the order in which they are tried: the folder of the environment variable
HARNESS_DATA, the folder of the task or its package, the cache, its address. No path of a task leads
out of these folders, not even through a link.
"""

from __future__ import annotations

import codecs
import dataclasses
import functools
import gzip
import io
import json
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal

from harness import folders, limits
from harness.bucket import Address, Downloads
from harness.digest import file_sha256, remembered_sha256
from harness.errors import InvalidFile, Unavailable, suggestion
from harness.letters import composed
from harness.names import convert_options, parameters_of
from harness.printing import printable
from harness.progress import Progress, Silent
from harness.task.yaml_files import Collector, Document, KeyPath

if TYPE_CHECKING:
    from harness.concept import Concept
    from harness.task.schema import Table, TaskFile

SHOWN_FILES = 3
"""Number of missing files that the notice of a run names; the error of a task names all."""
State = Literal["shipped", "local copy", "fetched", "to fetch", "missing"]
HOW = (
    "on a machine with a network 'harness data fetch --out FOLDER' fetches them all: "
    "copy FOLDER here and set HARNESS_DATA to it"
)


@dataclass(frozen=True)
class DataFile:
    """The file of a table.

    Parameters
    ----------
    name
        Its path under HARNESS_DATA, or in the folder of the task.
    state
        Where it is.
    path
        Its path; None if it is not on this machine.
    terms
        Licence or terms of use of the file, or of the whole task.
    address
        Where it can be fetched; None if it has no address.
    problem
        Why it is missing.
    """

    name: str
    state: State
    path: Path | None = None
    terms: str = ""
    address: Address | None = None
    problem: str = ""

    @property
    def size(self) -> int | None:
        """Its size in bytes, or that of the download; None if unknown."""
        if self.path is not None:
            return self.path.stat().st_size
        return self.address.size if self.address else None


@dataclass(frozen=True)
class Problem:
    """Why a file is missing, and whether it has an address."""

    reason: str
    has_address: bool


class MissingData(Unavailable):
    """Files of tables that are not on this machine and cannot be fetched.

    Parameters
    ----------
    problems
        Why, by the name of the file.
    """

    def __init__(self, problems: Mapping[str, Problem]) -> None:
        self.problems = dict(problems)
        super().__init__(f"missing data: {_grouped(problems)}")


class DataFiles:
    """Finds and fetches the files of tables.

    It lives for one run. It remembers what is missing and does not try twice.

    Parameters
    ----------
    progress
        Where it reports fetched files and their terms.
    """

    def __init__(self, progress: Progress | None = None) -> None:
        self.progress = progress or Silent()
        self._missing: dict[str, Problem] = {}
        self._unsaid: list[str] = []

    @functools.cached_property
    def _downloads(self) -> Downloads:
        return Downloads()

    @property
    def notices(self) -> list[str]:
        """Fetched files, if no progress is shown, and one line about all missing files."""
        lines = list(self._unsaid)
        root = os.environ.get("HARNESS_DATA")
        if root and not Path(root).is_dir():
            lines.append(f"HARNESS_DATA: there is no folder '{root}'")
        if self._missing:
            n = len(self._missing)
            files = "1 data file is" if n == 1 else f"{n} data files are"
            lines.append(f"{files} missing: {_grouped(self._missing, most=SHOWN_FILES)}")
        return lines

    def provide(self, tables: Mapping[str, Table], document: Document) -> dict[str, Path]:
        """Return the path of the file of each table that has one; fetch what is missing.

        Raises
        ------
        MissingData
            If files are missing; the message names all of them.
        InvalidFile
            If a file in the task's folder is missing.
        """
        files = of_tables(tables, document)
        fetched = self.fetch(files.values())
        missing = [f.name for f in files.values() if f.path is None and f.name not in fetched]
        if missing:
            raise MissingData({name: self._missing[name] for name in missing})
        return {table: file.path or fetched[file.name] for table, file in files.items()}

    def fetch(self, files: Iterable[DataFile], folder: Path | None = None) -> dict[str, Path]:
        """Fetch files that have an address, each once; continue after a failure.

        Parameters
        ----------
        files
            What to fetch; files that exist are skipped.
        folder
            Where to put them, under their names; by default the cache.

        Returns
        -------
        dict
            Path of each file that was fetched, by name; `notices` says what failed.
        """
        waiting: dict[str, tuple[DataFile, Address]] = {}
        for file in files:
            if file.path is None and file.name not in self._missing:
                if file.address is None:
                    self._missing[file.name] = Problem(file.problem, has_address=False)
                else:
                    waiting[file.name] = (file, file.address)
        paths: dict[str, Path] = {}
        if not waiting:
            return paths
        size = sum(file.size or 0 for file, _ in waiting.values()) / 1e6
        label = f"fetching data ({size:.1f} MB)" if size else "fetching data"
        with self.progress.stage(label, len(waiting), "files") as advance:
            for name, (file, address) in waiting.items():
                path = (folder or cache()) / name
                try:
                    self._downloads.fetch(address, path)
                except Unavailable as error:
                    self._missing[name] = Problem(str(error), has_address=True)
                else:
                    paths[name] = path
                    self._say(file, address, path)
                    advance(1)
        return paths

    def _say(self, file: DataFile, address: Address, path: Path) -> None:
        size = f"{path.stat().st_size / 1e6:.2f} MB"
        terms = file.terms or "terms not stated"
        line = f"fetched {file.name} from {address.host} ({size}); {terms}"
        self.progress.say(line)
        if isinstance(self.progress, Silent):  # the user must see the terms
            self._unsaid.append(line)


def in_folder(file: DataFile, folder: Path) -> DataFile:
    """Return a file with its copy in `folder`; it is copied there if it is elsewhere.

    Raises
    ------
    DiskError
        If it cannot be written.
    """
    copy = folder / file.name
    if file.path is None:
        is_there = file.address and copy.is_file() and file_sha256(copy) == file.address.sha256
        return dataclasses.replace(file, state="fetched", path=copy) if is_there else file
    if not (copy.is_file() and copy.samefile(file.path)):
        folders.write_atomically(copy, file.path.read_bytes())
    return dataclasses.replace(file, path=copy)


def cache() -> Path:
    """Return the folder of fetched files, laid out as HARNESS_DATA is."""
    return folders.cache() / "data"


def of_tables(tables: Mapping[str, Table], document: Document) -> dict[str, DataFile]:
    """Return the file of each table that has one; nothing is fetched.

    Raises
    ------
    InvalidFile
        If a file in the task's folder is missing.
    """
    return {
        name: _find(table, document, ("tables", name))
        for name, table in tables.items()
        if table.rows is None and table.made_from is None
    }


def _find(table: Table, document: Document, key: KeyPath) -> DataFile:
    name, terms = table.place, table.terms or str(document.data.get("licence", ""))
    address = None
    if table.url:
        address = Address(table.url, table.sha256 or "", table.member, table.size)
    copy = _under(os.environ.get("HARNESS_DATA"), name)
    if copy is not None:
        if not folders.is_inside(copy, Path(os.environ["HARNESS_DATA"])):
            problem = f"{copy} is a link to a file outside of HARNESS_DATA; copy it there"
            return DataFile(name or "", "missing", None, terms, None, problem)
        if table.sha256 and remembered_sha256(copy) != table.sha256:
            problem = (
                f"{copy} is not the expected file: its SHA-256 is not {table.sha256}; remove it"
            )
            return DataFile(name or "", "missing", None, terms, None, problem)
        return DataFile(name or "", "local copy", copy, terms, address)
    if table.package:
        return _in_package(table.package, table.file or "", terms)
    if table.file:
        return DataFile(table.file, "shipped", _file_of_task(table.file, document, key), terms)
    fetched = _under(str(cache()), name)
    if fetched is not None and remembered_sha256(fetched) == table.sha256:
        return DataFile(name or "", "fetched", fetched, terms, address)
    if address is not None:
        return DataFile(name or "", "to fetch", None, terms, address)
    problem = "the task has no address for it; put it in the folder that HARNESS_DATA names"
    return DataFile(name or "", "missing", None, terms, None, problem)


def _under(folder: str | None, name: str | None) -> Path | None:
    """Return the file of this name in a folder, if there is one."""
    if not folder or not name:
        return None
    path = Path(folder) / name
    return path if folders.is_file(path) else None


def _file_of_task(file: str, document: Document, key: KeyPath) -> Path:
    """Return a file in the folder of the YAML file (perhaps an included one) that names it."""
    path = document.locate(file, (*key, "file"))
    if not folders.is_file(path):
        raise document.error(f"there is no file '{file}' in this folder", key)
    return path


def _in_package(package: str, file: str, terms: str) -> DataFile:
    folder = folders.of_package(package)
    if folder is None:
        problem = f"missing package '{package}' with its data: pip install {package}"
        return DataFile(file, "missing", None, terms, None, problem)
    path = folder / file  # links are allowed: installers make them, packages do not
    if not folders.is_file(path):
        problem = f"the installed package '{package}' has no file '{file}'"
        return DataFile(file, "missing", None, terms, None, problem)
    return DataFile(file, "shipped", path, terms)


def _grouped(problems: Mapping[str, Problem], most: int | None = None) -> str:
    """Return the names of files with their problems, each problem once, and what to do.

    With `most`, only so many files of a problem are named.
    """
    files: dict[str, list[str]] = {}
    for name, problem in problems.items():
        files.setdefault(problem.reason, []).append(f"'{name}'")
    parts = []
    for reason, names in files.items():
        n_more = len(names[most:]) if most is not None else 0
        more = f" and {n_more} more, which 'harness data status' lists" if n_more else ""
        parts.append(f"{', '.join(names[:most])}{more} ({reason})")
    if any(problem.has_address for problem in problems.values()):
        parts.append(HOW)
    return "; ".join(parts)


# Parses the file of a table. `data_files.py` finds it.
#
# A `.csv` is read by RFC 4180: double quotes enclose cells, which may contain delimiters and line
# breaks, and two quotes stand for one. In other text tables quotes are text, unless the table says
# `quoted: true`. Anything else is an error with file, line and column; nothing is guessed.


Row = Mapping[str, Any]
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]')
"""Brackets of JSON, and texts, which may have brackets in them."""
_BREAK = re.compile(r"\r\n?|\n")
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")
_QUOTED = re.compile(r'"([^"]*+(?:""[^"]*+)*+)"')
"""A cell in quotes. Possessive quantifiers find an unclosed quote in linear time."""
_DELIMITERS = (";", "\t", ",", "|")
_MARK = "\ufeff"
_MARKS = {
    codecs.BOM_UTF8: ("utf-8", "utf-8-sig"),
    codecs.BOM_UTF32_LE: ("utf-32", "utf-32-le"),  # before UTF-16, since it begins with its mark
    codecs.BOM_UTF32_BE: ("utf-32", "utf-32-be"),
    codecs.BOM_UTF16_LE: ("utf-16", "utf-16-le"),
    codecs.BOM_UTF16_BE: ("utf-16", "utf-16-be"),
}
"""Byte order marks, and the encodings that each belongs to."""
_MOST_MISTAKES = 20
"""Number of mistakes that are shown of a file: a file of another format has one in each row."""
_SWALLOWED_LINES = 4
"""If a row has at least this many lines and each looks like a row, a quote is missing, and a cell
contains the rows after it. Poems with as many commas in each line are shorter."""


def parse_table(table: Table, path: Path) -> Sequence[Row]:
    """Return the rows of a table's file, each a mapping from column to cell.

    Raises
    ------
    InvalidFile
        If the file has a mistake in it.
    Unavailable
        If it is not the file that the task was made for.
    """
    rows = [row for _, row in _numbered(table, path)]
    if not rows:
        raise InvalidFile("has no rows", path=path)
    return rows


def row_lines(table: Table, path: Path) -> Sequence[int]:
    """Return the first line of each row of a table's file, for messages; parses the file again."""
    return [line for line, _ in _numbered(table, path)]


def other_delimiter(columns: Sequence[str], column: str | None = None) -> str:
    """Return a hint if the only column of a table has several names in it, else an empty text.

    Parameters
    ----------
    columns
        The table's columns.
    column
        The column that was looked for; by default any.
    """
    for delimiter in _DELIMITERS if len(columns) == 1 else ():
        names = [name.strip(' "') for name in columns[0].split(delimiter)]
        if len(names) > 1 and (column is None or column in names):
            shown = json.dumps(delimiter)
            return f"; if columns end at {shown}, say 'delimiter: {shown}'"
    return ""


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
    content = folders.read_bytes(path, largest)
    if path.suffix.lower() == ".gz":
        with gzip.open(io.BytesIO(content)) as file:
            content = file.read(largest + 1)
        if len(content) > largest:
            problem = f"more than {largest:,} bytes once it is decompressed"
            raise InvalidFile(f"{problem}, which is the limit", path=path)
    return content


def _decoded(content: bytes, table: Table, path: Path) -> str:
    """Return the text of a file, with unchanged line breaks and without a byte order mark.

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
    except (LookupError, TypeError) as error:  # a codec that is not for text
        raise InvalidFile(f"cannot be read ({error})", path=path) from None


class _TextTable:
    """A text table: finds its lines, and the cells of each row.

    Parameters
    ----------
    text
        The text of the file.
    table, path, suffix
        Its description, its path, and its suffix without `.gz`.

    Raises
    ------
    InvalidFile
        If a quote is also a delimiter.
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
        """Yield the rows, including the header."""
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
        """Return the cells of the row at `position`, and the position of the next row."""
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
    """A row of a text table: its first line, text, cells and section."""

    line: int
    text: str
    cells: list[str]
    section: str


def _rows(file: _TextTable) -> Iterator[tuple[int, Row]]:
    """Yield the rows of a text table with their lines.

    Raises
    ------
    InvalidFile
        With the mistakes of all rows, after reading them.
    """
    table, path = file.table, file.path
    mistakes = Collector()
    n_rows = n_wrong = 0
    columns = (*file.columns, *table.optional)
    for row in file.rows():
        if not file.columns:
            _check_header(row, file)
            file.columns = tuple(map(composed, row.cells))
            columns = (*file.columns, *table.optional)
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
        cells: dict[str, Any] = dict(zip(columns, row.cells, strict=False))
        if len(cells) < len(columns):
            cells = dict.fromkeys(columns, "") | cells
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
    """Return the problem with the characters of a cell; None if there is none."""
    if "\0" in cell:
        return "a NUL character; if the file is UTF-16, say 'encoding: utf-16-le'"
    if cell.startswith(_MARK):
        return "begins with a byte order mark; remove it"
    return None


def _mistake(row: _TextRow, file: _TextTable) -> InvalidFile | None:
    """Return the mistake in a row; None if there is none."""
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
    is_odd = len(row.text) > limits.CELL_CHARACTERS or "\0" in row.text or _MARK in row.text
    for i, cell in enumerate(row.cells if is_odd else ()):
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
    """Return a JSON object from its pairs; an `object_pairs_hook` of `json.loads`.

    Raises
    ------
    ValueError
        If a key occurs twice: most readers drop the first value.
    """
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key '{printable(repeated)}' stands twice in one object")
    return values


def _json(line: str) -> Any:
    """Return the value of a line; ValueError if it is not JSON, or nested too deeply."""
    brackets = line.count("[") + line.count("{")
    if brackets > limits.NESTING:
        depth = deepest = 0
        for bracket in _BRACKETS.findall(line):
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(bracket, 0)
            deepest = max(depth, deepest)
        if deepest > limits.NESTING:
            raise ValueError(limits.too_many(deepest, limits.NESTING, "levels"))
    return json.loads(line, object_pairs_hook=without_repeated_keys)


# The tables of a task: read from files, or derived from other tables by table makers.


MEMBERS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
"""Column names of the concept's pairs and sets."""


def mended_rows(rows: Sequence[Row], mended: Mapping[str, str]) -> Sequence[Row]:
    """Return rows with the cells that reviews mended, without rows of which one was left out."""
    if not mended:
        return rows
    texts = [[cell for cell in row.values() if isinstance(cell, str)] for row in rows]
    return [
        {column: mended.get(cell, cell) if isinstance(cell, str) else cell
         for column, cell in row.items()}
        for row, cells in zip(rows, texts, strict=True)
        if all(mended.get(cell, cell) or not cell for cell in cells)
    ]  # fmt: skip


class Tables:
    """The tables of a task by name, each read or derived at its first use.

    Parameters
    ----------
    document
        The parsed file, for errors.
    file
        The validated task file.
    concept
        The task's concept: its pairs and sets are tables, and table makers may use it.
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
            If its file is not the file that the task was made for.
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
            self._known[name] = []  # to detect a table that is derived from itself
            if table.made_from:
                self._known[name] = self._derived(table, place)
            elif table.rows is not None:
                columns = table.columns
                self._known[name] = [dict(zip(columns, row, strict=True)) for row in table.rows]
            else:
                self._known[name] = parse_table(table, self.paths[name])
            self._known[name] = mended_rows(self._known[name], self.file.mended)
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
            The place in the task file that uses the table, for derived tables.
        """
        table = self.file.tables.get(name)
        lines: Sequence[int] = ()
        if table is not None and not table.made_from and table.rows is None:
            lines = row_lines(table, self.paths[name])
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

    def _derived(self, table: Table, place: KeyPath) -> Sequence[Row]:
        source = (*place, "made_from")
        rows = self.rows(table.made_from or "", source)
        if not rows:
            raise self.document.error("the table is made from itself", source)
        name = table.made_by or ""
        with self.document.pointing_at((*place, "made_by")):
            maker = self.maker(name)
        with self.document.pointing_at((*place, "options")):
            parameters = parameters_of(maker)
            known = set(parameters) - {"rows", "concept"}
            arguments = convert_options(maker, table.options, known=known, what=f"table '{name}'")
            if "concept" in parameters:
                arguments["concept"] = self.concept
            new_rows = list(maker(rows, **arguments))
        if not new_rows or not all(isinstance(row, Mapping) for row in new_rows):
            raise self.document.error(f"table maker '{name}' returned no rows", place)
        return new_rows
