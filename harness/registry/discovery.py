"""Finds the installed plugins, and the YAML files of tasks, concepts, studies and so on.

Entry points of the group `harness` name the plugins, also the built-in ones. A plugin that fails is
left out. Loading a plugin imports only its hook module. An object that it names is imported when it
is first used.

A folder of a plugin or user holds task files, directly or in one subfolder a family, and the
subfolders `concepts`, `studies`, `benchmarks` and `reproduction` (rows of papers, which
`harness reproduce` reads). Files whose names begin with `_` are fragments that others include. A
file may name only files in its own folder of task files, and installed ones. A file with a mistake,
or with the name of another file, is left out with a notice.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pluggy

from harness import folders, specs
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
from harness.printing import apart
from harness.specs import (
    AdapterSpec,
    EmbedderSpec,
    EngineSpec,
    MetricSpec,
    MitigatorSpec,
    Spec,
    TableSpec,
)

if TYPE_CHECKING:
    import click

    from harness.task import yaml_files

T = TypeVar("T")
HOOKS: Mapping[str, tuple[type, ...]] = {
    "harness_embedders": (EmbedderSpec,),
    "harness_adapters": (AdapterSpec,),
    "harness_mitigators": (MitigatorSpec,),
    "harness_metrics": (MetricSpec,),
    "harness_tables": (TableSpec,),
    "harness_engines": (EngineSpec,),
    "harness_task_folders": (Path, str),
    "harness_commands": (),
}
"""Types that each hook may return."""
EXTENDED = frozenset({"results"})
"""Groups of the command line that plugins add commands to."""


class BadHook(HarnessError):
    """A hook is unknown or returns a wrong type."""


@dataclass(frozen=True)
class Plugin:
    """An entry point, and whether it could be loaded.

    Parameters
    ----------
    name
        Name of the entry point.
    distribution, version
        Installed package that declares it.
    module
        Its import path.
    error
        Why it could not be loaded, or None.
    """

    name: str
    distribution: str
    version: str
    module: str
    error: str | None = None


class Plugins:
    """All plugins, and what their hooks return.

    Parameters
    ----------
    points
        Entry points to load; by default all that are installed.
    """

    def __init__(self, points: Iterable[EntryPoint] | None = None) -> None:
        self.manager = pluggy.PluginManager(specs.GROUP)
        self.manager.add_hookspecs(specs)
        self.plugins: list[Plugin] = []
        self._modules: list[ModuleType | None] = []
        self._commands: dict[str, int] = {}  # index of the plugin by command
        self._results: dict[str, list[tuple[Plugin, Any]]] = {}  # by hook
        points = entry_points(group=specs.GROUP) if points is None else points
        for point in sorted(
            set(points), key=lambda p: (not p.value.startswith("harness."), p.name, p.value)
        ):
            self._load(point)

    def results(self, hook: str) -> list[tuple[Plugin, Any]]:
        """Return every object that the implementations of a hook return, with its plugin.

        A hook is called once. A plugin whose hook raises is left out, like one that cannot be
        loaded.
        """
        if hook not in self._results:
            self._results[hook] = self._called(hook)
        return self._results[hook]

    def _called(self, hook: str) -> list[tuple[Plugin, Any]]:
        results = []
        for i, implementation in self._implementations(hook):
            plugin = self.plugins[i]
            try:
                objects = list(implementation())
                for object_ in objects:
                    if not isinstance(object_, HOOKS[hook]):
                        expected = " or ".join(type_.__name__ for type_ in HOOKS[hook])
                        raise BadHook(f"expected {expected}, but it returned {object_!r}")
            except PLUGIN_ERRORS as error:
                self.plugins[i] = _failed(plugin, f"{hook}: {one_line(error)}")
            else:
                results += [(plugin, object_) for object_ in objects]
        return results

    def add_commands(self, group: click.Group, taken: Iterable[str] = ()) -> None:
        """Add every plugin's commands to the command line.

        A plugin that claims a command in `taken`, or another plugin's, adds none. The commands of a
        group in `EXTENDED` join the group of this name, if that is loaded.
        """
        import click

        for i, implementation in self._implementations("harness_commands"):
            own = click.Group()
            try:
                implementation(own)
                for name in EXTENDED & own.commands.keys():
                    self._extend(i, group.commands.get(name), own.commands.pop(name))
                for name in own.commands:
                    owner = self._commands.setdefault(name, i)
                    if name in taken or owner != i:
                        by = f"plugin '{self.plugins[owner].name}'" if owner != i else "the harness"
                        raise BadHook(f"the command '{name}' is claimed by {by} already")
            except PLUGIN_ERRORS as error:
                self.plugins[i] = _failed(self.plugins[i], f"harness_commands: {one_line(error)}")
            else:
                for name, command in own.commands.items():
                    group.add_command(command, name)

    def _extend(self, i: int, group: click.Command | None, further: click.Command) -> None:
        """Add the commands of a plugin's group to the loaded group of the same name."""
        import click

        if not isinstance(group, click.Group) or not isinstance(further, click.Group):
            return
        for name, command in further.commands.items():
            full = f"{further.name} {name}"
            is_taken = (
                full not in self._commands and group.commands.get(name, command) is not command
            )
            if is_taken or self._commands.setdefault(full, i) != i:
                raise BadHook(f"the command '{full}' is claimed already")
            group.add_command(command, name)

    @property
    def failed(self) -> list[Plugin]:
        """The plugins that could not be loaded."""
        return [plugin for plugin in self.plugins if plugin.error]

    def _implementations(self, hook: str) -> Iterator[tuple[int, Any]]:
        for i, module in enumerate(self._modules):
            function = getattr(module, hook, None)
            if hasattr(function, f"{specs.GROUP}_impl"):
                yield i, function

    def _load(self, point: EntryPoint) -> None:
        name, version = _stated(point.dist) if point.dist else ("?", "?")
        plugin = Plugin(name=point.name, distribution=name, version=version, module=point.value)
        module = None
        try:
            with apart():
                loaded = point.load()
            unknown = self._unknown_hooks(loaded)
            if unknown:
                raise BadHook(f"unknown hook '{unknown[0]}'; known hooks: {', '.join(HOOKS)}")
            # The name of an entry point is unique in its distribution only.
            self.manager.register(loaded, name=f"{point.name} = {point.value}")
            module = loaded
        except PLUGIN_ERRORS as error:
            plugin = _failed(plugin, one_line(error))
        self.plugins.append(plugin)
        self._modules.append(module)

    @staticmethod
    def _unknown_hooks(module: ModuleType) -> list[str]:
        mark = f"{specs.GROUP}_impl"
        return [name for name in vars(module) if name not in HOOKS and _has(module, name, mark)]


@functools.cache
def _stated(distribution: Distribution) -> tuple[str, str]:
    """Return the name and version of a distribution; each look at its metadata parses them all."""
    metadata = distribution.metadata
    return metadata["Name"], metadata["Version"]


@functools.cache
def installed() -> Plugins:
    """Return the installed plugins, loaded once a process."""
    return Plugins()


def _has(module: ModuleType, name: str, mark: str) -> bool:
    return callable(vars(module)[name]) and hasattr(vars(module)[name], mark)


def _failed(plugin: Plugin, error: str) -> Plugin:
    return dataclasses.replace(plugin, error=error)


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
        that only its use is an error.
    """

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self.owners: dict[str, str] = {}
        self.clashes: dict[str, NameClash] = {}

    def claim(self, name: str, value: T, owner: str, *, advice: str = "") -> None:
        """Add a name; if it has another owner already, it belongs to none."""
        if name not in self.owners:
            self[name], self.owners[name] = value, owner
            return
        self.pop(name, None)
        self.owners[name] += f" and {owner}"
        self.clashes[name] = NameClash(
            f"the {self.kind} '{name}' is claimed by {self.owners[name]}{advice}"
        )

    def find(self, name: str, *further: str) -> T:
        """Return the object of a name.

        Parameters
        ----------
        name
            The name.
        further
            Names of another kind that the message for an unknown name may suggest.

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


# Files of tasks, concepts, studies and so on.


SUBFOLDERS = {
    "concept": "concepts",
    "study": "studies",
    "benchmark": "benchmarks",
    "reproduction": "reproduction",
}
"""Subfolder by kind of file; task files lie elsewhere."""


def files_of(folder: Path, kind: str) -> list[Path]:
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


def load_file(path: Path) -> yaml_files.Document:
    """Return a parsed file that the user named by its path.

    It may name installed files and files in its own folder. If that is the folder of a family, or
    one of `SUBFOLDERS`, it may name files in the whole folder of task files around it.

    Raises
    ------
    InvalidFile
        If it cannot be read.
    """
    from harness.task import yaml_files

    folder = path.absolute().parent
    concepts = SUBFOLDERS["concept"]
    has_own = folders.is_folder(folder / concepts)
    is_family = folders.is_folder(folder.parent / concepts) and not has_own
    is_part = is_family or folder.name in SUBFOLDERS.values()
    return yaml_files.load(path, folder.parent if is_part else folder, *_installed())


def _installed() -> list[Path]:
    """Return the folders of the plugins, which anybody may read."""
    return [Path(folder) for _, folder in installed().results("harness_task_folders")]


def find_file(documents: Catalogue[yaml_files.Document], file: str | Path) -> yaml_files.Document:
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
    if path.suffix in (".yaml", ".yml") or folders.is_file(path):
        return load_file(path)
    near = suggestion(str(file), documents)
    hint = "" if "mean" in near else f"; the name of a {documents.kind} file ends in .yaml"
    raise UnknownName(documents.kind, str(file), documents, hint=hint)


def kind_of(document: yaml_files.Document) -> str:
    """Return the kind of a parsed file, by its folder or else by its keys."""
    kinds = {folder: kind for kind, folder in SUBFOLDERS.items()}
    folder = document.path.resolve().parent.name
    if folder in kinds:
        return kinds[folder]
    if "tasks" in document.data:
        has_list = "name" not in document.data and not isinstance(document.data["tasks"], dict)
        return "run" if "models" in document.data or has_list else "benchmark"
    return "study" if "mitigators" in document.data else "task"


_PARTS: dict[Path, tuple[yaml_files.Document, list[yaml_files.Document]]] = {}
"""The documents of installed files by path, shared by all registries."""


def _parts(document: yaml_files.Document, kind: str) -> list[yaml_files.Document]:
    """Return the documents in a file; the same objects again as long as the file is unchanged."""
    from harness.task import yaml_files

    if kind not in yaml_files.KINDS:
        return [document]
    known = _PARTS.get(document.path)
    if known is None or known[0] is not document:
        known = _PARTS[document.path] = (document, yaml_files.documents(document))
    return known[1]


class TaskFolders:
    """The folders of task files.

    Parameters
    ----------
    plugins
        Plugins that name folders.
    include
        Further folders or task files.
    """

    def __init__(self, plugins: Plugins, include: Sequence[Path] = ()) -> None:
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
        from harness.task import yaml_files

        roots = _installed()
        documents: Catalogue[yaml_files.Document] = Catalogue(kind)
        paths: set[Path | None] = set()
        resolve = functools.cache(Path.resolve)
        for path, folder in self._paths(kind):
            try:
                resolved = folders.resolved(path)
                if folder and not (resolved and resolved.is_relative_to(resolve(folder))):
                    raise InvalidFile(f"a link to a file outside of '{folder}'", path=path)
                document = yaml_files.shared(path, folder, *roots) if folder else load_file(path)
                of_file = _parts(document, kind)
                for part in of_file:
                    if not isinstance(part.name, str):
                        raise part.error(f"a {kind} requires a 'name'", ("name",))
            except InvalidFile as error:
                self.leave_out(error)
                continue
            if resolved not in paths:
                paths.add(resolved)
                for part in of_file:
                    documents.claim(part.name, part, str(path))
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
            yield from ((path, Path(folder)) for path in files_of(Path(folder), kind))
        for place in self.include:
            if folders.is_folder(place):
                yield from ((path, place) for path in files_of(place, kind))
            elif not folders.exists(place):
                raise unreadable(place)
            elif kind == "task" and not place.name.startswith("_"):
                yield place, None
