"""Finds the YAML files of tasks, concepts, studies and so on in folders of plugins and users.

A folder holds task files, directly or in one subfolder a family, and the subfolders `concepts`,
`studies`, `benchmarks`, `recipes` (of training, which `harness train` reads) and `reproduction`
(rows of papers, which `harness reproduce` reads). Files whose names begin with `_` are fragments
that others include. A file names only files in its own folder of task files, and installed ones.
One with a mistake, or a name that another file has too, is left out with a notice.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from harness import user_files
from harness.errors import (
    PLUGIN_ERRORS,
    HarnessError,
    InvalidFile,
    NameClash,
    Unavailable,
    UnknownName,
    one_line,
    suggestion,
    unreadable,
)
from harness.registry import discovery
from harness.specs import Spec
from harness.task import yaml_files

# Things of one kind by name. A name that two plugins or files claim belongs to neither.


T = TypeVar("T")


class Catalogue(dict[str, T]):
    """Things of one kind by name.

    Parameters
    ----------
    kind
        What the names stand for, for messages: `model`, `task`, `metric` …

    Attributes
    ----------
    owners
        The plugin or file of each name.
    clashes
        Error for each name that two plugins or files claim. Such a name is not in the mapping, so
        that a clash concerns only who uses the name.
    """

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self.owners: dict[str, str] = {}
        self.clashes: dict[str, NameClash] = {}

    def claim(self, name: str, value: T, owner: str, *, advice: str = "") -> None:
        """Add a name; if another owner has it already, withdraw it from both."""
        if name not in self.owners:
            self[name], self.owners[name] = value, owner
            return
        self.pop(name, None)
        self.owners[name] += f" and {owner}"
        self.clashes[name] = NameClash(
            f"the {self.kind} '{name}' is claimed by {self.owners[name]}{advice}"
        )

    def find(self, name: str, *further: str) -> T:
        """Return what a name stands for.

        Parameters
        ----------
        name
            The name.
        further
            Names that have a meaning elsewhere, which the message for an unknown name may suggest.

        Raises
        ------
        NameClash
            If two plugins or files claim it.
        UnknownName
            If it is unknown.
        """
        if name in self.clashes:
            raise self.clashes[name]
        if name not in self:
            raise UnknownName(self.kind, name, {*self, *further})
        return self[name]


SUBFOLDERS = {
    "concept": "concepts",
    "study": "studies",
    "benchmark": "benchmarks",
    "reproduction": "reproduction",
    "recipe": "recipes",
}
"""Subfolder by kind of file; task files lie elsewhere."""


def files(folder: Path, kind: str) -> list[Path]:
    """Return the files of one kind in a folder, sorted by path, without fragments.

    Parameters
    ----------
    folder
        A folder of task files.
    kind
        `task`, or a kind that `SUBFOLDERS` has.
    """
    if kind in SUBFOLDERS:
        paths = list((folder / SUBFOLDERS[kind]).glob("*.yaml"))
    else:
        in_families = [
            path
            for path in folder.glob("*/*.yaml")
            if path.parent.name not in SUBFOLDERS.values() and not path.parent.name.startswith(".")
        ]
        paths = [*folder.glob("*.yaml"), *in_families]
    return sorted(path for path in paths if not path.name.startswith("_"))


def load(path: Path) -> yaml_files.Document:
    """Return a parsed file that the user named by its path.

    It may name files in its own folder. If that belongs to a folder of task files, as a family or
    as a subfolder of `SUBFOLDERS`, it may name files in all of that. It may name installed ones.

    Raises
    ------
    InvalidFile
        If it cannot be read.
    """
    folder = path.absolute().parent
    concepts = SUBFOLDERS["concept"]
    has_own = user_files.is_folder(folder / concepts)
    is_family = user_files.is_folder(folder.parent / concepts) and not has_own
    is_part = is_family or folder.name in SUBFOLDERS.values()
    return yaml_files.load(path, folder.parent if is_part else folder, *_installed())


def _installed() -> list[Path]:
    """Return the folders of the plugins, which anybody may read."""
    return [Path(folder) for _, folder in discovery.installed().results("harness_task_folders")]


def find(documents: Catalogue[yaml_files.Document], file: str | Path) -> yaml_files.Document:
    """Return a parsed file: an installed one by its name, or any by its path.

    Parameters
    ----------
    documents
        The installed files of one kind.
    file
        A name, or a path.

    Raises
    ------
    NameClash
        If two files claim the name.
    UnknownName
        If it is neither a name nor a path.
    InvalidFile
        If the file cannot be read.
    """
    if str(file) in documents.owners:
        return documents.find(str(file))
    path = Path(file)
    if path.suffix in (".yaml", ".yml") or user_files.is_file(path):
        return load(path)
    near = suggestion(str(file), documents)
    hint = "" if "mean" in near else f"; the name of a {documents.kind} file ends in .yaml"
    raise UnknownName(documents.kind, str(file), documents, hint=hint)


def kind_of(document: yaml_files.Document) -> str:
    """Return the kind of a parsed file, by its folder or else by its keys."""
    folders = {folder: kind for kind, folder in SUBFOLDERS.items()}
    folder = document.path.resolve().parent.name
    if folder in folders:
        return folders[folder]
    if len(document.data.keys() & {"base", "rows", "seeds", "training"}) > 1:
        return "recipe"
    if "tasks" in document.data:
        has_list = "name" not in document.data and not isinstance(document.data["tasks"], dict)
        return "run" if "models" in document.data or has_list else "benchmark"
    return "study" if "mitigators" in document.data else "task"


class TaskFolders:
    """The folders of task files.

    Parameters
    ----------
    plugins
        Plugins that name folders.
    include
        Further folders or task files.
    """

    def __init__(self, plugins: discovery.Plugins, include: Sequence[Path] = ()) -> None:
        self.plugins, self.include = plugins, include
        self.notices: list[str] = []

    def read(self, kind: str) -> Catalogue[yaml_files.Document]:
        """Return the parsed files of one kind by the name that they state.

        Parameters
        ----------
        kind
            `task`, or a kind that `SUBFOLDERS` has.

        Raises
        ------
        InvalidFile
            If an included file or folder does not exist.
        """
        documents: Catalogue[yaml_files.Document] = Catalogue(kind)
        paths: set[Path] = set()
        for path, folder in self._paths(kind):
            try:
                if folder and not user_files.is_inside(path, folder):
                    raise InvalidFile(f"a link to a file outside of '{folder}'", path=path)
                document = yaml_files.load(path, folder, *_installed()) if folder else load(path)
                of_file = yaml_files.documents(document) if kind in yaml_files.KINDS else [document]
                for part in of_file:
                    if not isinstance(part.data.get("name"), str):
                        raise part.error(f"a {kind} requires a 'name'", ("name",))
            except InvalidFile as error:
                self.leave_out(error)
                continue
            if path.resolve() not in paths:
                paths.add(path.resolve())
                for part in of_file:
                    documents.claim(part.data["name"], part, str(path))
        for clash in documents.clashes.values():
            self.leave_out(clash)
        return documents

    def leave_out(self, error: HarnessError) -> None:
        """Keep a notice that a file was left out."""
        self.note(f"left out: {error}")

    def note(self, line: str) -> None:
        """Keep a notice about a file for the user."""
        if line not in self.notices:
            self.notices.append(line)

    def _paths(self, kind: str) -> Iterable[tuple[Path, Path | None]]:
        """Yield each file with its folder of task files; None if the user named the file."""
        for plugin, folder in self.plugins.results("harness_task_folders"):
            if not Path(folder).is_dir():
                self.leave_out(InvalidFile(f"plugin '{plugin.name}': no such folder", path=folder))
            yield from ((path, Path(folder)) for path in files(Path(folder), kind))
        for place in self.include:
            if user_files.is_folder(place):
                yield from ((path, place) for path in files(place, kind))
            elif not user_files.exists(place):
                raise unreadable(place)
            elif kind == "task" and not place.name.startswith("_"):
                yield place, None


# Imports the object that a spec names, when it is first used.


def load_target(spec: Spec, what: str) -> Callable[..., Any]:
    """Import the object of a spec.

    Raises
    ------
    Unavailable
        If a package that it imports is not installed.
    HarnessError
        If it cannot be imported.
    """
    module, _, attribute = spec.target.partition(":")
    try:
        return cast("Callable[..., Any]", getattr(importlib.import_module(module), attribute))
    except PLUGIN_ERRORS as error:
        if isinstance(error, ModuleNotFoundError) and not (
            "." in module and f"{module}.".startswith(f"{error.name}.")
        ):
            raise Unavailable(
                f"{what} needs the package '{error.name}': pip install {error.name}"
            ) from error
        reason = one_line(error)
        raise HarnessError(f"{what}: '{spec.target}' cannot be imported ({reason})") from error
