"""The files of tables: where each of them is, and fetching those that are missing.

A file is looked for in the folder that the environment variable HARNESS_DATA names, then beside
the task or in its package, then in the cache, and then at its address. `table_files.py` parses it.
Each of these is a folder that no path of a task leads out of, also not through a link.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness import folders, user_files
from harness.digest import file_sha256
from harness.download import Address, Downloads
from harness.errors import Unavailable
from harness.progress import Progress, Silent
from harness.task.package_folder import package_folder
from harness.task.table_schema import Table
from harness.task.yaml_files import Document, KeyPath

SHOWN_FILES = 3
"""Number of missing files that the notice of a run names; a task names all of its own."""
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
        Where it can be fetched from, if it can.
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
        """Its bytes, or those of the download; None if neither is known."""
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

    It remembers for its lifetime, a run, what is missing, and tries nothing twice.

    Parameters
    ----------
    progress
        Where it says what it fetches, and under which terms.
    """

    def __init__(self, progress: Progress | None = None) -> None:
        self.progress = progress or Silent()
        self._downloads = Downloads()
        self._missing: dict[str, Problem] = {}
        self._unsaid: list[str] = []

    @property
    def notices(self) -> list[str]:
        """What was fetched, if no progress is shown, and one line about all missing files."""
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
            If files are missing; it names all of them.
        InvalidFile
            If the task names a file beside it that is not there.
        """
        files = of_tables(tables, document)
        fetched = self.fetch(files.values())
        missing = [f.name for f in files.values() if f.path is None and f.name not in fetched]
        if missing:
            raise MissingData({name: self._missing[name] for name in missing})
        return {table: file.path or fetched[file.name] for table, file in files.items()}

    def fetch(self, files: Iterable[DataFile], folder: Path | None = None) -> dict[str, Path]:
        """Fetch the files that are to be fetched, each once; go on after a failure.

        Parameters
        ----------
        files
            What to fetch; files that are here are left.
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
        if isinstance(self.progress, Silent):  # the terms are always told
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
        If there is no file where the task says that it lies.
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
        if not user_files.is_inside(copy, Path(os.environ["HARNESS_DATA"])):
            problem = f"{copy} is a link to a file outside of HARNESS_DATA; copy it there"
            return DataFile(name or "", "missing", None, terms, None, problem)
        if table.sha256 and file_sha256(copy) != table.sha256:
            problem = (
                f"{copy} is not the expected file: its SHA-256 is not {table.sha256}; remove it"
            )
            return DataFile(name or "", "missing", None, terms, None, problem)
        return DataFile(name or "", "local copy", copy, terms, address)
    if table.package:
        return _in_package(table.package, table.file or "", terms)
    if table.file:
        return DataFile(table.file, "shipped", _beside(table.file, document, key), terms)
    fetched = _under(str(cache()), name)
    if fetched is not None and file_sha256(fetched) == table.sha256:
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
    return path if user_files.is_file(path) else None


def _beside(file: str, document: Document, key: KeyPath) -> Path:
    """Return a file beside the YAML file that names it, which may be an included one."""
    path = document.beside(file, (*key, "file"))
    if not user_files.is_file(path):
        raise document.error(f"there is no file '{file}' in this folder", key)
    return path


def _in_package(package: str, file: str, terms: str) -> DataFile:
    folder = package_folder(package)
    if folder is None:
        problem = f"missing package '{package}' with its data: pip install {package}"
        return DataFile(file, "missing", None, terms, None, problem)
    path = folder / file  # no link is followed: installers may link files, and packages have none
    if not user_files.is_file(path):
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
