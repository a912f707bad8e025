"""The one way to read YAML: with includes, schemas, and the line of every key.

`include: other.yaml` (or a list) at the top of a file merges that file's mappings below its own:
the file itself wins. Included files may include others, all in one folder (`Document.roots`).

A file is parsed once a process and again when it changes. `load` gives callers a copy of its data,
and `shared` gives all callers the same document, whose data they must not change.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError

from harness import user_files
from harness.errors import InvalidFile, UsageError, suggestion
from harness.task import mistakes, yaml_parsing
from harness.task.mistakes import KeyPath
from harness.task.yaml_parsing import Places, dotted

__all__ = ["Document", "KeyPath", "dotted", "load"]

Model = TypeVar("Model", bound=BaseModel)
Stamp: TypeAlias = tuple[int, ...]
"""Device, inode, time and size of a file."""


@dataclass(frozen=True)
class Document:
    """A parsed file.

    Parameters
    ----------
    path
        The file.
    data
        Its mapping, with includes merged in.
    places
        File and line, from 1, of each key by its path.
    roots
        Folders that hold all files that it may name; by default its own folder.
    stamps
        What each file was when it was read, this one and those that it includes.
    """

    path: Path
    data: dict[str, Any]
    places: Places = field(repr=False)
    roots: tuple[Path, ...] = ()
    stamps: dict[Path, Stamp | None] = field(default_factory=dict, repr=False, compare=False)
    _models: dict[type[BaseModel], Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def beside(self, name: str, key: KeyPath) -> Path:
        """Return the path of a file that `key` names, relative to the file that has the key.

        Raises
        ------
        InvalidFile
            If it lies outside of the roots, also through a link.
        """
        named_in = self.places.get(key, (self.path, 0))[0]
        path = named_in.parent / name
        self._check_inside(path, name, key)
        return path

    def _check_inside(self, path: Path, name: str, key: KeyPath) -> None:
        roots = self.roots or (self.path.parent,)
        if not any(user_files.is_inside(path, root) for root in roots):
            problem = f"'{name}' is not in the folder '{roots[0]}'"
            raise self.error(f"{problem}; a file names only files in its folder", key)

    def error(self, problem: str, key: KeyPath = ()) -> InvalidFile:
        """Return an error that points at `key`, or at the nearest key above it."""
        path, line = self._place(key)
        return InvalidFile(problem, path=path, line=line, key=dotted(key))

    def file_of(self, key: KeyPath) -> Path:
        """Return the file that has a key, or the nearest key above it: this or an included one."""
        return self._place(key)[0]

    def _place(self, key: KeyPath) -> tuple[Path, int | None]:
        for end in range(len(key), -1, -1):
            if key[:end] in self.places:
                return self.places[key[:end]]
        return self.path, None

    def validate(self, schema: type[Model]) -> Model:
        """Return the data as `schema`, the same object each time.

        Raises
        ------
        InvalidFile
            With file, line and key of each mistake, and what would be right.
        """
        if schema in self._models:
            model: Model = self._models[schema]
            return model
        try:
            return self._models.setdefault(schema, schema.model_validate(self.data))
        except ValidationError as error:
            first, *further = (
                self.error(problem, key)
                for problem, key in mistakes.in_words(error, schema, self.places)
            )
            first.further = tuple(further)
            raise first from None

    @contextlib.contextmanager
    def pointing_at(self, key: KeyPath) -> Iterator[None]:
        """Re-raise an error about a name or option as one about a place in the file."""
        try:
            yield
        except InvalidFile:
            raise
        except UsageError as error:
            raise self.error(str(error), key) from None


def load(path: Path, *roots: Path) -> Document:
    """Return the mapping in a YAML file, with its includes.

    Parameters
    ----------
    path
        The file.
    roots
        Folders that hold all files that it may name; by default its own folder.

    Raises
    ------
    InvalidFile
        If it cannot be read, is not YAML or not a mapping, repeats a key, or includes itself or a
        file outside of the roots.
    """
    document = shared(path, *roots)
    return dataclasses.replace(document, data=_copy(document.data), places=dict(document.places))


def shared(path: Path, *roots: Path) -> Document:
    """Return what `load` does, but the same document while its files stay as they are.

    So installed files are merged and validated once a process, however often they are listed.
    """
    known = _MERGED.get((path, *roots))
    if known is None or any(
        stamp is None or _stamp(file) != stamp for file, stamp in known.stamps.items()
    ):
        known = _MERGED[path, *roots] = _with_includes(path, roots, ())
    return known


def _with_includes(path: Path, roots: tuple[Path, ...], parents: tuple[Path, ...]) -> Document:
    """Return a file merged over its includes; the result shares values with the cache."""
    document = dataclasses.replace(_cached(path), roots=roots or (path.parent,))
    names = document.data.get("include", [])
    merged: dict[str, Any] = {}
    places: Places = {}
    stamps = dict(document.stamps)
    for i, name in enumerate(names if isinstance(names, list) else [names]):
        key: KeyPath = ("include", i) if isinstance(names, list) else ("include",)
        included_path = _include(document, name, key, parents)
        included = _with_includes(included_path, document.roots, (*parents, path.resolve()))
        _merge(merged, included.data)
        places |= included.places
        stamps |= included.stamps
    _merge(merged, {key: value for key, value in document.data.items() if key != "include"})
    return Document(path, merged, places | document.places, document.roots, stamps)


def _include(document: Document, name: Any, key: KeyPath, parents: tuple[Path, ...]) -> Path:
    """Return the path of an included file, which is none of those that include this one."""
    if not isinstance(name, str):
        raise document.error("expected a file name or a list of file names", key)
    path = document.beside(name, key)
    if not user_files.is_file(path):
        near = suggestion(name, (p.name for p in document.path.parent.glob("*.yaml")))
        near = near if "did you mean" in near else ""  # a list of all files is no help
        raise document.error(f"there is no file '{name}' in this folder{near}", key)
    if path.resolve() in (*parents, document.path.resolve()):
        raise document.error(f"'{name}' includes itself", key)
    return path


def _merge(below: dict[str, Any], above: dict[str, Any]) -> None:
    """Merge `above` into `below`. Nested dicts are replaced, never changed in place."""
    for key, value in above.items():
        if isinstance(value, dict) and isinstance(below.get(key), dict):
            below[key] = dict(below[key])
            _merge(below[key], value)
        else:
            below[key] = value


def _copy(value: Any) -> Any:
    # Several times faster than copy.deepcopy, and enough: scalars cannot change.
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copy(item) for item in value]
    return value


_PARSED: dict[Path, Document] = {}
"""Parsed file by path, without its includes."""
_MERGED: dict[tuple[Path, ...], Document] = {}
"""Parsed file with its includes, by path and roots."""


def _cached(path: Path) -> Document:
    """Return a parsed file without its includes. Its data belongs to the cache: do not change it.

    A file of which many others include a part (a family's templates) would be parsed once for
    each of them.
    """
    stamp, known = _stamp(path), _PARSED.get(path)
    if known is None or stamp is None or known.stamps[path] != stamp:
        known = Document(path, *yaml_parsing.parse(path), stamps={path: stamp})
        _PARSED[path] = known
    return known


def _stamp(path: Path) -> Stamp | None:
    """Return what changes when a file does; None if there is no such file."""
    try:
        stat = path.stat()
    except (OSError, ValueError):  # whoever reads it says what is wrong
        return None
    return stat.st_dev, stat.st_ino, stat.st_mtime_ns, stat.st_size
