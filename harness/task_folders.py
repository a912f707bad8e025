"""Finds task and concept files: in the folders that plugins add, and in those a user includes.

A file with a mistake in it is left out and told, so that it costs nobody else's tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from harness import discovery, yaml_files
from harness.errors import HarnessError, InvalidFile, NameClash


class TaskFolders:
    """The folders of task files, with the subfolders `concepts` and `studies`.

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

    def read(
        self, what: str, files: Callable[[Path], Iterable[Path]]
    ) -> dict[str, yaml_files.Document]:
        """Return the parsed files by the name that they state.

        Parameters
        ----------
        what
            `task`, `concept` or `study`.
        files
            Finds them in a folder; those that begin with `_` are fragments for others.

        Raises
        ------
        InvalidFile
            If an included place does not exist.
        NameClash
            If two files state one name.
        """
        found: dict[str, yaml_files.Document] = {}
        for path in self._paths(what, files):
            if path.name.startswith("_"):
                continue
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

    def _paths(self, what: str, files: Callable[[Path], Iterable[Path]]) -> Iterable[Path]:
        for plugin, folder in self.plugins.results("harness_task_folders"):
            if not Path(folder).is_dir():
                self.leave_out(
                    InvalidFile(f"plugin '{plugin.name}': there is no such folder", path=folder)
                )
            yield from sorted(files(Path(folder)))
        for place in self.include:
            if place.is_dir():
                yield from sorted(files(place))
            elif not place.exists():
                raise InvalidFile("there is no such file or folder", path=place)
            elif what == "task":
                yield place
