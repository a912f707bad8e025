"""The one place that reads YAML: safely, with the line of every key, includes and schemas.

`include: other.yaml` (or a list) at the top of a file merges that file's mappings below its own:
what the file says itself wins. Included files may include others. Scalars keep the types that
YAML gives them, so a word such as `no` must be quoted, and the error says so.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from harness.errors import InvalidFile, UsageError, suggestion

Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
KeyPath: TypeAlias = tuple[str | int, ...]
Model = TypeVar("Model", bound=BaseModel)
MOST = 1_000_000
"""Keys and items that a file may have; aliases of aliases make billions of a few lines."""
_PLAIN = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")


@dataclass(frozen=True)
class Document:
    """A parsed file.

    Parameters
    ----------
    path
        The file.
    data
        Its mapping, includes merged in.
    places
        File and line, from 1, of each key by its path.
    """

    path: Path
    data: dict[str, Any]
    places: dict[KeyPath, tuple[Path, int]] = field(repr=False)

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
            With file, line and key of the first mistake, and what would be right.
        """
        try:
            return schema.model_validate(self.data)
        except ValidationError as error:
            raise self._first_mistake(error, schema) from None

    def _first_mistake(self, error: ValidationError, schema: type[BaseModel]) -> InvalidFile:
        # A wrong key explains a missing one, so unknown keys are told first. Of the ways in which
        # the alternatives of a union do not fit, the one that went deepest was meant.
        details = sorted(
            error.errors(),
            key=lambda one: (one["type"] != "extra_forbidden", -len(self._key(one["loc"]))),
        )
        detail = details[0]
        key = self._key(detail["loc"])
        match detail["type"]:
            case "extra_forbidden":
                known = _fields_at(schema, key[:-1])
                hint = suggestion(str(key[-1]), known)
                if not hint and known:
                    hint = "; known keys: " + ", ".join(sorted(known))
                problem = f"unknown key '{key[-1]}'{hint}"
            case "missing":
                key = (*key, detail["loc"][-1])
                problem = f"missing; expected here: '{key[-1]}'"
            case "model_type" | "dict_type":
                problem = "expected a mapping of keys to values"
            case "tuple_type" | "list_type":
                said = detail["input"]
                such = f", such as [{said}]" if isinstance(said, str | int | float) else ""
                problem = f"expected a list{such}"
            case "string_pattern_mismatch" if "A-Za-z0-9._-" in detail["ctx"]["pattern"]:
                problem = (
                    f"'{detail['input']}' cannot be a name: letters, digits, '.', '_' and '-', "
                    "a letter or digit first"
                )
            case "string_type" if not isinstance(detail["input"], dict | list):
                said = _as_written(detail["input"])
                problem = f"YAML reads this as {said}, not as text; put it in quotes"
            case "value_error":
                problem = str(detail["ctx"]["error"])
            case _:
                problem = detail["msg"][0].lower() + detail["msg"][1:]
                if isinstance(detail["input"], str | int | float | bool):
                    problem += f", but this is {detail['input']!r}"
        return self.error(problem, key)

    def _key(self, where: KeyPath) -> KeyPath:
        # pydantic puts names of union members into locations: not keys of the file
        key: KeyPath = ()
        for part in where:
            if (*key, part) in self.places:
                key = (*key, part)
        return key

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
    return _load(path, ())


def dotted(key: KeyPath) -> str:
    """Return a key path as people write it: `inputs.targets_1[3]`."""
    text = ""
    for part in key:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _load(path: Path, parents: tuple[Path, ...]) -> Document:
    document = _parse(path)
    own = {key: value for key, value in document.data.items() if key != "include"}
    names = document.data.get("include", [])
    merged: dict[str, Any] = {}
    places: dict[KeyPath, tuple[Path, int]] = {}
    for i, name in enumerate(names if isinstance(names, list) else [names]):
        key: KeyPath = ("include", i) if isinstance(names, list) else ("include",)
        if not isinstance(name, str):
            raise document.error("expected the name of a file, or a list of them", key)
        other = path.parent / name
        if not other.is_file():
            near = suggestion(name, (p.name for p in path.parent.glob("*.yaml")))
            near = near if "did you mean" in near else ""  # a list of all files is no help
            raise document.error(f"there is no file '{name}' beside this one{near}", key)
        above = (*parents, path.resolve())
        if other.resolve() in above:
            raise document.error(f"'{name}' includes itself", key)
        included = _load(other, above)
        _merge(merged, included.data)
        places |= included.places
    _merge(merged, own)
    return Document(path, merged, places | document.places)


def _merge(below: dict[str, Any], above: dict[str, Any]) -> None:
    for key, value in above.items():
        if isinstance(value, dict) and isinstance(below.get(key), dict):
            below[key] = dict(below[key])
            _merge(below[key], value)
        else:
            below[key] = value


def _parse(path: Path) -> Document:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidFile(f"cannot be read ({error.strerror})", path=path) from None
    except UnicodeDecodeError as error:
        raise InvalidFile(f"is not UTF-8 text (byte {error.start})", path=path) from None
    return _parsed(path, text)


@functools.lru_cache(maxsize=1024)  # fragments are included by dozens of files
def _parsed(path: Path, text: str) -> Document:
    """Return the file's own mapping; callers share it and must not change it."""
    loader = Loader(text)
    places: dict[KeyPath, tuple[Path, int]] = {(): (path, 1)}
    try:
        node = loader.get_single_node()
        if not isinstance(node, yaml.MappingNode):
            raise InvalidFile("expected a mapping of keys to values", path=path, line=1)
        data = _convert(loader, node, (), path, places)
    except yaml.MarkedYAMLError as error:
        raise _not_yaml(error, path) from None
    except yaml.YAMLError as error:
        told = str(error).splitlines()[0]
        raise InvalidFile(f"not YAML: {told}", path=path) from None
    except RecursionError:
        raise InvalidFile("not YAML: something stands within itself", path=path) from None
    finally:
        loader.dispose()
    return Document(path, data, places)


def _not_yaml(error: yaml.MarkedYAMLError, path: Path) -> InvalidFile:
    mark, problem = error.problem_mark, f"not YAML: {error.problem}"
    context = error.context or ""
    if error.context_mark and ("flow" in context or "quoted" in context):
        mark = error.context_mark  # what is not closed is noticed far below where it opens
        problem = f"not YAML: the {'quote' if 'quoted' in context else 'bracket'} that opens here "
        problem += f"is not closed ({error.problem})"
    return InvalidFile(problem, path=path, line=mark.line + 1 if mark else None)


def _convert(
    loader: Any, node: Any, key: KeyPath, path: Path, places: dict[KeyPath, tuple[Path, int]]
) -> Any:
    line = node.start_mark.line + 1
    if len(places) > MOST:
        problem = f"has more than {MOST:,} keys and items, once its aliases ('*') are filled in"
        raise InvalidFile(problem, path=path)
    if not isinstance(node, yaml.ScalarNode) and node.tag not in _PLAIN:
        raise InvalidFile(f"the tag '{node.tag}' is not taken", path=path, line=line)
    if isinstance(node, yaml.MappingNode):
        mapping: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise InvalidFile("not YAML: a key must be text", path=path, line=line)
            name = str(key_node.value)
            if name in mapping:
                raise InvalidFile(
                    "this key stands here twice", path=path, line=line, key=dotted((*key, name))
                )
            places[(*key, name)] = (path, line)
            mapping[name] = _convert(loader, value_node, (*key, name), path, places)
        return mapping
    if isinstance(node, yaml.SequenceNode):
        items = []
        for i, item in enumerate(node.value):
            places[(*key, i)] = (path, item.start_mark.line + 1)
            items.append(_convert(loader, item, (*key, i), path, places))
        return items
    try:
        return loader.construct_object(node)
    except (ValueError, KeyError, AttributeError):  # such as the 45th of a month
        problem = f"not YAML: '{node.value}' is not what it looks like; put text in quotes"
        raise InvalidFile(problem, path=path, line=line, key=dotted(key)) from None


def _fields_at(schema: type[BaseModel], key: KeyPath) -> set[str]:
    """Return the names of the fields that a nested schema has at `key`."""
    found = {schema}
    for part in key:
        nested: set[type[BaseModel]] = set()
        for model in found:
            if isinstance(part, int):
                nested.add(model)
            elif part in model.model_fields:
                nested |= _models_in(model.model_fields[part].annotation)
            else:  # a key of a mapping
                nested.add(model)
        found = nested
    return {name for model in found for name in model.model_fields}


def _models_in(annotation: Any) -> set[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return {annotation}
    arguments = getattr(annotation, "__args__", ())
    return {model for argument in arguments for model in _models_in(argument)}


def _as_written(value: Any) -> str:
    return (
        {True: "true", False: "false", None: "null"}.get(value, str(value))
        if isinstance(value, bool | type(None))
        else str(value)
    )
