"""The files of tables: where each of them is, fetching those that are missing, and parsing them.

The places of a file, in the order in which they are tried: the folder of the environment variable
HARNESS_DATA, the folder of the task or its package, the cache, its address. No path of a task leads
out of these folders, not even through a link.
"""

from __future__ import annotations

import csv
import dataclasses
import functools
import gzip
import io
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from harness import folders, limits
from harness.bucket import Address, Downloads
from harness.digest import file_sha256, remembered_sha256
from harness.errors import InvalidFile, Unavailable, suggestion
from harness.letters import composed
from harness.names import convert_options, parameters_of
from harness.printing import printable
from harness.progress import Progress, Silent
from harness.task.yaml_files import Document, KeyPath

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
# A `.csv` is read by Python's module `csv`: double quotes enclose cells, which may contain
# delimiters and line breaks, and two quotes stand for one. In other text tables quotes are text,
# unless the table says `quoted: true`. Anything else is an error with file and line.


Row = Mapping[str, Any]
_DELIMITERS = (";", "\t", ",", "|")


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
    return _rows(text, table, path, suffix)


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
    try:
        text = content.decode(table.encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = f"cannot be read ({error}); say its 'encoding'"
        raise InvalidFile(problem, path=path, line=line) from None
    except (LookupError, TypeError) as error:  # a codec that is not for text
        raise InvalidFile(f"cannot be read ({error})", path=path) from None
    if "\0" in text:
        problem = "a NUL character; if the file is UTF-16, say 'encoding: utf-16-le'"
        raise InvalidFile(problem, path=path, line=text[: text.index("\0")].count("\n") + 1)
    return text


class _TextRow(NamedTuple):
    """A row of a text table: its first line from 1, the text of that line, and its cells."""

    line: int
    text: str
    cells: list[str]


def _text_rows(text: str, table: Table, path: Path, suffix: str) -> Iterator[_TextRow]:
    """Yield the rows of a text table, also its header, comments and blank lines."""
    lines = io.StringIO(text, newline="").readlines()
    delimiters = table.delimiter or ("," if suffix == ".csv" else "\t")
    if not (suffix == ".csv" if table.quoted is None else table.quoted):
        to_first = str.maketrans(dict.fromkeys(delimiters[1:], delimiters[0]))
        for number, line in enumerate(lines, start=1):
            cells = line.rstrip("\r\n").translate(to_first).split(delimiters[0])
            yield _TextRow(number, line, cells)
        return
    if len(delimiters) > 1:
        raise InvalidFile("cells in quotes end at one delimiter, not several", path=path)
    reader = csv.reader(lines, delimiter=delimiters, strict=True)
    start = 0
    try:
        for cells in reader:
            yield _TextRow(start + 1, lines[start], cells)
            start = reader.line_num
    except csv.Error as error:
        raise InvalidFile(f"{error}; is a quote missing?", path=path, line=start + 1) from None


def _rows(text: str, table: Table, path: Path, suffix: str) -> Iterator[tuple[int, Row]]:
    """Yield the rows of a text table with their lines.

    Raises
    ------
    InvalidFile
        If a row has a mistake in it.
    """
    header: Sequence[str] = table.columns
    section = ""
    n_rows = 0
    for row in _text_rows(text, table, path, suffix):
        if table.section and row.text.startswith(":"):
            section = row.text[1:].strip()
            continue
        is_comment = table.comment and row.text.startswith(table.comment)
        if is_comment or (not row.text.strip() and len(row.cells) < 2):
            continue
        if not header:
            header = tuple(map(composed, row.cells))
            _check_header(header, table, path, row.line)
            continue
        n_rows += 1
        if n_rows == 1 < len(table.columns) and tuple(map(str.strip, row.cells)) == table.columns:
            problem = "a header, though the table says 'columns'; remove 'columns', or the header"
            raise InvalidFile(problem, path=path, line=row.line)
        if n_rows > limits.TABLE_ROWS:
            problem = f"more than {limits.TABLE_ROWS:,} rows, which is the limit"
            raise InvalidFile(problem, path=path, line=row.line)
        columns = (*header, *table.optional)
        fewest, n = len(header), len(row.cells)
        if not fewest <= n <= len(columns):
            expected = f"{fewest}" if not table.optional else f"{fewest} to {len(columns)}"
            problem = f"expected {expected} cells ({', '.join(columns)}), but found {n}"
            if n > len(columns):
                problem += f": {row.cells[len(columns)][:40]!r} has no column; a text with a "
                problem += f"delimiter stands in double quotes{other_delimiter(header)}"
            raise InvalidFile(problem, path=path, line=row.line)
        cells: dict[str, Any] = dict(zip(columns, row.cells, strict=False))
        if n < len(columns):
            cells = dict.fromkeys(columns, "") | cells
        if table.section:
            cells[table.section] = section
        yield row.line, cells


def _check_header(header: Sequence[str], table: Table, path: Path, line: int) -> None:
    names = [name.strip() for name in (*header, *table.optional, *filter(None, [table.section]))]
    for i, name in enumerate(names):
        if name in names[:i]:
            problem = f"a second column with the name '{name}'; each needs a name of its own"
        # pandas writes the index of a data frame as a first column without a name.
        elif not name and i > 0:
            problem = f"the name of column {i + 1} is empty in the header"
        else:
            continue
        raise InvalidFile(problem, path=path, line=line)


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
            row = json.loads(line, object_pairs_hook=without_repeated_keys)
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
