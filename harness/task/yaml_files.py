"""The one place that reads YAML: safely, with the line of every key, includes and schemas.

`include: other.yaml` (or a list) at the top of a file merges that file's mappings below its own:
the file itself wins. Included files may include others. Scalars keep the types that YAML gives
them, so a word such as `no` must be quoted, and the error says so.

A file is parsed once a process and again when it changes. Callers get copies of its data.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from harness import limits
from harness.errors import InvalidFile, UsageError, suggestion, unreadable
from harness.task import mistakes
from harness.task.mistakes import KeyPath

__all__ = ["Document", "KeyPath", "dotted", "load"]

Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Places: TypeAlias = dict[KeyPath, tuple[Path, int]]
Model = TypeVar("Model", bound=BaseModel)
_PLAIN = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
_TEXT = "tag:yaml.org,2002:str"


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
    """

    path: Path
    data: dict[str, Any]
    places: Places = field(repr=False)

    def error(self, problem: str, key: KeyPath = ()) -> InvalidFile:
        """Return an error that points at `key`, or at the nearest key above it."""
        for end in range(len(key), -1, -1):
            if key[:end] in self.places:
                path, line = self.places[key[:end]]
                return InvalidFile(problem, path=path, line=line, key=dotted(key))
        return InvalidFile(problem, path=self.path, key=dotted(key))

    def validate(self, schema: type[Model]) -> Model:
        """Return the data as `schema`.

        Raises
        ------
        InvalidFile
            With file, line and key of each mistake, and what would be right.
        """
        try:
            return schema.model_validate(self.data)
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


def load(path: Path) -> Document:
    """Return the mapping in a YAML file, with its includes.

    Raises
    ------
    InvalidFile
        If it cannot be read, is not YAML or not a mapping, repeats a key, or includes itself.
    """
    document = _with_includes(path, ())
    return Document(path, _copy(document.data), document.places)


def dotted(key: KeyPath) -> str:
    """Return a key path as people write it: `inputs.targets_1[3]`."""
    text = ""
    for part in key:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _with_includes(path: Path, parents: tuple[Path, ...]) -> Document:
    """Return a file merged over its includes; the result shares values with the cache."""
    document = _cached(path)
    names = document.data.get("include", [])
    merged: dict[str, Any] = {}
    places: Places = {}
    for i, name in enumerate(names if isinstance(names, list) else [names]):
        key: KeyPath = ("include", i) if isinstance(names, list) else ("include",)
        included = _with_includes(*_include(document, name, key, parents))
        _merge(merged, included.data)
        places |= included.places
    _merge(merged, {key: value for key, value in document.data.items() if key != "include"})
    return Document(path, merged, places | document.places)


def _include(
    document: Document, name: Any, key: KeyPath, parents: tuple[Path, ...]
) -> tuple[Path, tuple[Path, ...]]:
    """Return the path of an included file, and the files that it may not include in turn."""
    if not isinstance(name, str):
        raise document.error("expected a file name or a list of file names", key)
    path = document.path.parent / name
    if not path.is_file():
        near = suggestion(name, (p.name for p in document.path.parent.glob("*.yaml")))
        near = near if "did you mean" in near else ""  # a list of all files is no help
        raise document.error(f"there is no file '{name}' in this folder{near}", key)
    parents = (*parents, document.path.resolve())
    if path.resolve() in parents:
        raise document.error(f"'{name}' includes itself", key)
    return path, parents


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


_CACHE: dict[Path, tuple[tuple[int, ...], Document]] = {}
"""Parsed file by path, with the stamp that the file had: device, inode, time and size."""


def _cached(path: Path) -> Document:
    """Return a parsed file without its includes. Its data belongs to the cache: do not change it.

    A file of which many others include a part (a family's templates) would be parsed once for
    each of them.
    """
    try:
        stat = path.stat()
    except (OSError, ValueError):  # `_parse` says what is wrong
        return _parse(path)
    stamp = (stat.st_dev, stat.st_ino, stat.st_mtime_ns, stat.st_size)
    known = _CACHE.get(path)
    if known is None or known[0] != stamp:
        known = _CACHE[path] = (stamp, _parse(path))
    return known[1]


def _parse(path: Path) -> Document:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise unreadable(path, error) from None
    except UnicodeDecodeError as error:
        raise InvalidFile(f"is not UTF-8 text (byte {error.start})", path=path) from None
    loader = Loader(text)
    places: Places = {(): (path, 1)}
    try:
        node = loader.get_single_node()
        if not isinstance(node, yaml.MappingNode):
            raise InvalidFile("expected a mapping of keys to values", path=path, line=1)
        if _entries(node, {}) > limits.YAML_ENTRIES:
            most = f"{limits.YAML_ENTRIES:,} keys and items"
            problem = f"has more than {most} once its aliases are expanded"
            raise InvalidFile(problem, path=path)
        data = _convert(loader, node, (), path, places)
    except yaml.MarkedYAMLError as error:
        raise _not_yaml(error, path) from None
    except yaml.YAMLError as error:
        raise InvalidFile(f"not YAML: {str(error).splitlines()[0]}", path=path) from None
    except RecursionError:
        raise InvalidFile("not YAML: a value contains itself", path=path) from None
    finally:
        loader.dispose()
    return Document(path, data, places)


def _not_yaml(error: yaml.MarkedYAMLError, path: Path) -> InvalidFile:
    mark, problem = error.problem_mark, f"not YAML: {error.problem}"
    context = error.context or ""
    if error.context_mark and ("flow" in context or "quoted" in context):
        # The parser notices an unclosed quote or bracket far below the line that opens it.
        mark = error.context_mark
        problem = f"not YAML: this {'quote' if 'quoted' in context else 'bracket'} "
        problem += f"is not closed ({error.problem})"
    elif "tab" in str(error.problem) or "'\\t'" in str(error.problem):
        problem = "not YAML: a tab; indent with spaces"
    elif "mapping values are not allowed" in str(error.problem):
        problem = "not YAML: a second ': ' in this line; put text that has ': ' in it in quotes"
    return InvalidFile(problem, path=path, line=mark.line + 1 if mark else None)


def _entries(node: Any, known: dict[int, int]) -> int:
    """Return the number of keys and items in a node; each aliased node is counted only once."""
    if isinstance(node, yaml.ScalarNode):
        return 0
    if id(node) not in known:
        values = node.value
        if isinstance(node, yaml.MappingNode):
            values = [value for _, value in values]
        known[id(node)] = len(values) + sum(_entries(value, known) for value in values)
    return known[id(node)]


def _convert(loader: Any, node: Any, key: KeyPath, path: Path, places: Places) -> Any:
    """Return the value of a node, and note the line of each key in `places`."""
    line = node.start_mark.line + 1
    if isinstance(node, yaml.ScalarNode):
        return node.value if node.tag == _TEXT else _scalar(loader, node, key, path)
    if node.tag not in _PLAIN:
        raise InvalidFile(f"unsupported tag '{node.tag}'", path=path, line=line)
    if isinstance(node, yaml.SequenceNode):
        items = []
        for i, item in enumerate(node.value):
            places[(*key, i)] = (path, item.start_mark.line + 1)
            items.append(_convert(loader, item, (*key, i), path, places))
        return items
    mapping: dict[str, Any] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode):
            raise InvalidFile("not YAML: a key must be text", path=path, line=line)
        name = str(key_node.value)
        if name in mapping:
            raise InvalidFile("duplicate key", path=path, line=line, key=dotted((*key, name)))
        places[(*key, name)] = (path, line)
        mapping[name] = _convert(loader, value_node, (*key, name), path, places)
    return mapping


def _scalar(loader: Any, node: yaml.ScalarNode, key: KeyPath, path: Path) -> Any:
    try:
        return loader.construct_object(node)
    except (ValueError, KeyError, AttributeError):  # for instance day 45 of a month
        problem = f"not YAML: '{node.value}' is not a valid value; put text in quotes"
        line = node.start_mark.line + 1
        raise InvalidFile(problem, path=path, line=line, key=dotted(key)) from None
