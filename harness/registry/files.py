"""Finds the YAML files of tasks, concepts and studies, in plugins' folders and included ones.

A folder holds task files, directly or in a subfolder per family, and the subfolders `concepts` and
`studies`. Files whose name begins with `_` are fragments for others to include. A file with a
mistake is skipped with a notice, so that it does not cost the other tasks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.errors import HarnessError, InvalidFile, NameClash
from harness.registry import discovery
from harness.task import yaml_files

SUBFOLDERS = {"concept": "concepts", "study": "studies"}
"""Subfolder of each kind of file that is not a task."""


def files(folder: Path, what: str) -> list[Path]:
    """Return the files of a folder, sorted by path, fragments left out.

    Parameters
    ----------
    folder
        A folder of task files.
    what
        `task`, `concept` or `study`.
    """
    if what in SUBFOLDERS:
        found = list((folder / SUBFOLDERS[what]).glob("*.yaml"))
    else:
        families = [
            path
            for path in folder.glob("*/*.yaml")
            if path.parent.name not in SUBFOLDERS.values() and not path.parent.name.startswith(".")
        ]
        found = [*folder.glob("*.yaml"), *families]
    return sorted(path for path in found if not path.name.startswith("_"))


class TaskFolders:
    """The folders of task files.

    Parameters
    ----------
    plugins
        Whose folders there are.
    include
        Further folders, or task files.
    """

    def __init__(self, plugins: discovery.Plugins, include: Sequence[Path] = ()) -> None:
        self.plugins, self.include = plugins, include
        self.notices: list[str] = []

    def read(self, what: str) -> dict[str, yaml_files.Document]:
        """Return the parsed files by the name that they state.

        Parameters
        ----------
        what
            `task`, `concept` or `study`.

        Raises
        ------
        InvalidFile
            If an included place does not exist.
        NameClash
            If two files state one name.
        """
        found: dict[str, yaml_files.Document] = {}
        for path in self._paths(what):
            try:
                document = yaml_files.load(path)
                name = document.data.get("name")
                if not isinstance(name, str):
                    raise document.error(f"a {what} needs a 'name'", ("name",))
            except InvalidFile as error:
                self.leave_out(error)
                continue
            if name in found and found[name].path.resolve() != path.resolve():
                raise NameClash(
                    f"two files claim the {what} '{name}': {found[name].path} and {path}"
                )
            found[name] = document
        return found

    def leave_out(self, error: HarnessError) -> None:
        """Note that a file was left out."""
        self.note(f"left out: {error}")

    def note(self, line: str) -> None:
        """Note what the user should know of a file."""
        if line not in self.notices:
            self.notices.append(line)

    def _paths(self, what: str) -> Iterable[Path]:
        for plugin, folder in self.plugins.results("harness_task_folders"):
            if not Path(folder).is_dir():
                self.leave_out(
                    InvalidFile(f"plugin '{plugin.name}': there is no such folder", path=folder)
                )
            yield from files(Path(folder), what)
        for place in self.include:
            if place.is_dir():
                yield from files(place, what)
            elif not place.exists():
                raise InvalidFile("there is no such file or folder", path=place)
            elif what == "task" and not place.name.startswith("_"):
                yield place
