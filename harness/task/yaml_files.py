"""The one way to read YAML: with includes, schemas, and the line of every key.

`include: other.yaml` (or a list) at the top of a file merges that file's mappings below its own:
the file itself wins. Included files may include others, all in one folder (`Document.roots`).

A file is parsed once a process and again when it changes. `load` gives callers a copy of its data,
and `shared` gives all callers the same document, whose data they must not change.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import yaml

from harness import folders, limits
from harness.errors import InvalidFile, UsageError, suggestion
from harness.letters import composed

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError  # imported late: what is kept needs none

# All mistakes of a file, in words for its author.


KeyPath: TypeAlias = tuple[str | int, ...]
"""Keys and indexes from the top of a file to a value."""


class Collector:
    """Collects the mistakes of a file, so that its author sees them all at once."""

    def __init__(self) -> None:
        self._mistakes: dict[str, InvalidFile] = {}

    @contextlib.contextmanager
    def collecting(self) -> Iterator[None]:
        """Catch an `InvalidFile`, keep its mistakes, and continue."""
        try:
            yield
        except InvalidFile as error:
            self._mistakes |= {str(mistake): mistake for mistake in error.mistakes}

    def check(self) -> None:
        """Raise `InvalidFile` with all mistakes, if there are any."""
        if self._mistakes:
            raise self.error()

    def error(self) -> InvalidFile:
        """Return an error with all mistakes, of which there must be some."""
        error, *further = self._mistakes.values()
        error.further = tuple(further)
        return error


def in_words(
    error: ValidationError, schema: type[BaseModel], places: Container[KeyPath]
) -> list[tuple[str, KeyPath]]:
    """Return every mistake with its key, unknown keys first, as they often explain missing ones.

    Parameters
    ----------
    error
        What pydantic found.
    schema
        The schema that the file does not fit.
    places
        Paths of all keys in the file.
    """
    details = sorted(
        _as_meant(error.errors(), places),
        key=lambda detail: (
            detail["type"] != "extra_forbidden",
            -len(_key(detail["loc"], places)),
        ),
    )
    by_list: dict[tuple[str, KeyPath], tuple[str, KeyPath]] = {}
    for detail in details:
        problem, key = _in_words(detail, schema, places)
        # The same problem of each item of a list is one mistake.
        owner = key[:-1] if key and isinstance(key[-1], int) else key
        by_list.setdefault((problem, owner), (problem, key))
    return list(by_list.values())


def _as_meant(details: Iterable[Any], places: Container[KeyPath]) -> Iterator[Any]:
    """Yield the details, without those of alternatives that the author did not mean.

    If no alternative of a union fits, pydantic reports all. The one with an unknown key or with the
    deepest mistake is taken as the one that was meant.
    """
    unions: dict[KeyPath, dict[str | int, list[Any]]] = {}
    for detail in details:
        location = detail["loc"][:-1] if detail["type"] == "missing" else detail["loc"]
        depth = next((i for i in range(len(location)) if location[: i + 1] not in places), None)
        if depth is None:
            yield detail
        else:
            alternatives = unions.setdefault(location[:depth], {})
            alternatives.setdefault(location[depth], []).append(detail)
    for alternatives in unions.values():
        yield from max(
            alternatives.values(),
            key=lambda of_one: max(
                (detail["type"] == "extra_forbidden", len(_key(detail["loc"], places)))
                for detail in of_one
            ),
        )


def _in_words(
    detail: Any, schema: type[BaseModel], places: Container[KeyPath]
) -> tuple[str, KeyPath]:
    key = _key(detail["loc"], places)
    if detail["type"] == "missing":
        name = detail["loc"][-1]
        problem = "missing item" if isinstance(name, int) else f"missing required key '{name}'"
        return problem, (*key, name)
    if detail["type"] == "extra_forbidden":
        # The data of a mapping that a program passes have no places, so no key is known.
        return _unknown_key(schema, key or detail["loc"]), key
    return _problem(detail, key), key


def _key(location: KeyPath, places: Container[KeyPath]) -> KeyPath:
    # pydantic puts the names of union members into locations; these are not keys of the file.
    key: KeyPath = ()
    for part in location:
        if (*key, part) in places:
            key = (*key, part)
    return key


def _unknown_key(schema: type[BaseModel], key: KeyPath) -> str:
    known = _fields_at(schema, key[:-1])
    hint = suggestion(str(key[-1]), known)
    if not hint and known:
        hint = "; known keys: " + ", ".join(sorted(known))
    return f"unknown key '{key[-1]}'{hint}"


def _problem(detail: Any, key: KeyPath) -> str:
    value = detail["input"]
    match detail["type"]:
        case "model_type" | "dict_type":
            if key == ("tasks",):
                return "expected a mapping of tasks to their versions, for instance {weat-6: 2}"
            example = ", for instance {words: [woman, man]}" if "inputs" in key else ""
            return f"expected a mapping of keys to values{example}"
        case "tuple_type" | "list_type":
            example = f", for instance [{value}]" if isinstance(value, str | int | float) else ""
            return f"expected a list{example}"
        case "string_pattern_mismatch" if "A-Za-z0-9._-" in detail["ctx"]["pattern"]:
            return (
                f"invalid name '{value}': use letters, digits, '.', '_' and '-', "
                "and begin with a letter or digit"
            )
        case "string_pattern_mismatch" if key[-1:] == ("language",):
            return f"expected an ISO 639 code of two or three letters, such as de, not '{value}'"
        case "string_type" if not isinstance(value, dict | list):
            return f"YAML reads this as {_as_yaml(value)}, not as text; put it in quotes"
        case "value_error":
            return str(detail["ctx"]["error"])
    problem = str(detail["msg"][0].lower() + detail["msg"][1:])
    if isinstance(value, str | int | float | bool):
        problem += f", but this is {value!r}"
    return problem


def _fields_at(schema: type[BaseModel], key: KeyPath) -> set[str]:
    """Return the names of the fields that a nested schema has at `key`."""
    models = {schema}
    for part in key:
        nested: set[type[BaseModel]] = set()
        for model in models:
            if isinstance(part, str) and part in model.model_fields:
                nested |= _models_in(model.model_fields[part].annotation)
            else:  # an index of a list, or a key of a mapping
                nested.add(model)
        models = nested
    return {name for model in models for name in model.model_fields}


def _models_in(annotation: Any) -> set[type[BaseModel]]:
    from pydantic import BaseModel

    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return {annotation}
    arguments = getattr(annotation, "__args__", ())
    return {model for argument in arguments for model in _models_in(argument)}


def _as_yaml(value: Any) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


# Parses one YAML file, safely: of limited size and depth, with the line of every key.
#
# Scalars keep the types that YAML gives them, so a word such as `no` must be quoted, and the error
# says so. Includes are added below.


Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Places: TypeAlias = dict[KeyPath, tuple[Path, int]]
_DEEP = re.compile(r"(?:[\[{][ \t]*|[?:-][ \t]+)" + f"{{{limits.NESTING}}}")
"""Brackets or items within each other: the parser recurses in C, and deep nesting ends it."""
_PLAIN = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
_TEXT = "tag:yaml.org,2002:str"
_SCALARS = tuple(
    f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null", "timestamp")
)
_LONGEST_NUMBER = 100


def parse_yaml(path: Path) -> tuple[dict[str, Any], Places]:
    """Return the mapping in a YAML file, without its includes, and the place of each key.

    Raises
    ------
    InvalidFile
        If it cannot be read, is larger than the limits, is not YAML or not a mapping, or repeats a
        key.
    """
    text = composed(folders.read_text(path, limits.YAML_BYTES))
    if _DEEP.search(text):
        problem = f"nested too deeply; at most {limits.NESTING} levels are allowed"
        raise InvalidFile(problem, path=path)
    loader = Loader(text)
    places: Places = {(): (path, 1)}
    try:
        node = loader.get_single_node()
        if not isinstance(node, yaml.MappingNode):
            raise InvalidFile("expected a mapping of keys to values", path=path, line=1)
        data = _convert(loader, node, (), path, places)
    except yaml.MarkedYAMLError as error:
        raise _not_yaml(error, path) from None
    except yaml.YAMLError as error:
        raise InvalidFile(f"not YAML: {str(error).splitlines()[0]}", path=path) from None
    except RecursionError:
        problem = "not YAML: a value contains itself, or aliases are nested too deeply"
        raise InvalidFile(problem, path=path) from None
    finally:
        loader.dispose()
    return data, places


def dotted(key: KeyPath) -> str:
    """Return a key path as text: `inputs.targets_1[3]`."""
    text = ""
    for part in key:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _too_many_entries(path: Path) -> InvalidFile:
    most = f"{limits.YAML_ENTRIES:,} keys and items"
    return InvalidFile(f"has more than {most} once its aliases are expanded", path=path)


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


def _convert(loader: Any, node: Any, key: KeyPath, path: Path, places: Places) -> Any:
    """Return the value of a node, and note the line of each key in `places`."""
    line = node.start_mark.line + 1
    if isinstance(node, yaml.ScalarNode):
        return node.value if node.tag == _TEXT else _scalar(loader, node, key, path)
    if node.tag not in _PLAIN:
        raise InvalidFile(f"unsupported tag '{node.tag}'", path=path, line=line)
    if len(places) + len(node.value) > limits.YAML_ENTRIES:  # aliases are expanded here
        raise _too_many_entries(path)
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
    value = node.value if len(node.value) <= _LONGEST_NUMBER else f"{node.value[:20]}…"
    problem = f"not YAML: '{value}' is not a valid value; put text in quotes"
    if node.tag not in _SCALARS:
        problem = f"not YAML: unsupported tag '{node.tag}'; put text in quotes"
    elif len(node.value) <= _LONGEST_NUMBER:
        with contextlib.suppress(ValueError, LookupError, AttributeError, ArithmeticError):
            value = loader.construct_object(node)  # raises for day 45 of a month, for instance
            if not isinstance(value, int) or abs(value) <= limits.INTEGER:
                return value
            problem = f"the integer {node.value} is beyond 64 bits; put text in quotes"
    line = node.start_mark.line + 1
    raise InvalidFile(problem, path=path, line=line, key=dotted(key))


__all__ = ["Document", "KeyPath", "dotted", "load"]

Model = TypeVar("Model", bound="BaseModel")
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
        Device, inode, time and size of this file and its includes when they were read.
    """

    path: Path
    data: dict[str, Any]
    places: Places = field(repr=False)
    roots: tuple[Path, ...] = ()
    stamps: dict[Path, Stamp | None] = field(default_factory=dict, repr=False, compare=False)
    _models: dict[type[BaseModel], Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @functools.cached_property
    def name(self) -> Any:
        """What the file states as its name; None if it states none."""
        return self.data.get("name")

    def locate(self, name: str, key: KeyPath) -> Path:
        """Return the path of a file that `key` names; it is relative to the file that has the key.

        Raises
        ------
        InvalidFile
            If it is outside of the roots, perhaps through a link.
        """
        named_in = self.places.get(key, (self.path, 0))[0]
        path = named_in.parent / name
        self._check_inside(path, name, key)
        return path

    def _check_inside(self, path: Path, name: str, key: KeyPath) -> None:
        with contextlib.suppress(OSError):  # such as of a long name
            if PurePath(name).name == name != ".." and not path.is_symlink():
                return  # beside the file that names it
        roots = self.roots or (self.path.parent,)
        if not any(folders.is_inside(path, root) for root in roots):
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
        from pydantic import ValidationError

        try:
            read: Model = self._models.setdefault(schema, schema.model_validate(self.data))
            return read
        except ValidationError as error:
            first, *further = (
                self.error(problem, key) for problem, key in in_words(error, schema, self.places)
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
    """Return what `load` returns, but the same document as long as its files are unchanged.

    So each process merges and validates installed files only once.
    """
    known = _MERGED.get((path, *roots))
    if known is None or any(
        stamp is None or _stamp(file) != stamp for file, stamp in known.stamps.items()
    ):
        known = _MERGED[path, *roots] = _with_includes(path, roots, ())
    return known


def _with_includes(
    path: Path, roots: tuple[Path, ...], parents: tuple[Stamp | None, ...]
) -> Document:
    """Return a file merged over its includes; the result shares values with the cache."""
    document = dataclasses.replace(_cached(path), roots=roots or (path.parent,))
    merged: dict[str, Any] = {}
    places: Places = {}
    stamps = dict(document.stamps)
    for included in _included(document, document.data.get("include", []), ("include",), parents):
        _merge(merged, included.data)
        places |= included.places
        stamps |= included.stamps
    _merge(merged, {key: value for key, value in document.data.items() if key != "include"})
    return Document(path, merged, places | document.places, document.roots, stamps)


def _included(
    document: Document, names: Any, key: KeyPath, parents: tuple[Stamp | None, ...] = ()
) -> Iterator[Document]:
    """Yield the files that the key `include` names, each with its own includes."""
    parents = (*parents, document.stamps.get(document.path))
    for i, name in enumerate(names if isinstance(names, list) else [names]):
        place = (*key, i) if isinstance(names, list) else key
        if not isinstance(name, str):
            raise document.error("expected a file name or a list of file names", place)
        path = document.locate(name, place)
        if not folders.is_file(path):
            near = suggestion(name, (p.name for p in document.path.parent.glob("*.yaml")))
            near = near if "did you mean" in near else ""  # a list of all files would not help
            raise document.error(f"there is no file '{name}' in this folder{near}", place)
        if _stamp(path) in parents:
            raise document.error(f"'{name}' includes itself", place)
        yield _with_includes(path, document.roots, parents)


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

    Without the cache, a file that many others include (a family's templates) would be parsed once
    for each of them.
    """
    stamp, known = _stamp(path), _PARSED.get(path)
    if known is None or stamp is None or known.stamps[path] != stamp:
        known = Document(path, *parse_yaml(path), stamps={path: stamp})
        _PARSED[path] = known
    return known


def _stamp(path: Path) -> Stamp | None:
    """Return a stamp that changes with the file; None if there is no such file."""
    try:
        stat = path.stat()
    except (OSError, ValueError):  # reading it reports the problem
        return None
    return stat.st_dev, stat.st_ino, stat.st_mtime_ns, stat.st_size


# A file with `each` is several tasks or benchmarks, one for each entry.


KEY = "each"
KINDS = ("task", "benchmark")
"""Kinds of file that may have the key."""
_VARIABLE = re.compile(r"\$\{(\w*)\}")


def documents(document: Document) -> list[Document]:
    """Return the documents of a parsed file: itself, or one for each entry of `each`.

    An entry is what its task has beside the rest of the file: its own `include`, and keys that are
    merged over those of the file. A key that a text of the file names as `${key}`, also in an
    included file, is no key of the task: its value stands in that text. A text that is `${key}`
    alone becomes the value itself, such as a number, a list of words or a mapping.

    Raises
    ------
    InvalidFile
        If `each` is not a list of mappings, if a text names a key that an entry lacks, if an
        included file is missing, or if two of the tasks have the same name.
    """
    if KEY not in document.data:
        return [document]
    entries = document.data[KEY]
    if not isinstance(entries, list) or not entries:
        raise document.error("expected a list of mappings", (KEY,))
    data = {key: value for key, value in document.data.items() if key != KEY}
    places: Places = {}
    own: dict[int | str, Places] = {i: {} for i in range(len(entries))}
    for key, place in document.places.items():
        if key[:1] != (KEY,):
            places[key] = place
        elif len(key) > 1:
            own[key[1]][key[2:]] = place
    shared_part = dataclasses.replace(document, data=data, places=places)
    variables = frozenset(_names(data))
    filled: list[Document] = []
    for i, entry in enumerate(entries):
        if not isinstance(entry, dict) or not entry:
            raise document.error("expected a mapping, such as {language: de}", (KEY, i))
        filled.append(_of_entry(document, i, entry, own[i], shared_part, variables))
        name = filled[-1].data.get("name")
        if isinstance(name, str) and any(task.data.get("name") == name for task in filled[:-1]):
            raise document.error(f"a second '{name}'; each needs a name of its own", (KEY, i))
    return filled


def _of_entry(
    document: Document,
    i: int,
    entry: Mapping[str, Any],
    own_places: Places,
    shared_part: Document,
    variables: frozenset[str],
) -> Document:
    """Return the document of an entry of `each`, and of the part that all entries share.

    `own_places` are those of the entry by its keys, `variables` those of the shared part.
    """
    data, places = dict(shared_part.data), dict(shared_part.places)
    stamps = dict(document.stamps)
    for included in _included(document, entry.get("include", []), (KEY, i, "include")):
        _merge(data, included.data)
        places |= included.places
        stamps |= included.stamps
        variables |= set(_names(included.data))
    own = {key: value for key, value in entry.items() if key not in {*variables, "include"}}
    _merge(data, own)
    places |= own_places
    merged = dataclasses.replace(document, data=data, places=places, stamps=stamps)
    if not variables and not set(_names(own)):
        return merged
    return dataclasses.replace(merged, data=_filled(merged, data, entry, ()))


def _filled(document: Document, value: Any, mapping: Mapping[str, Any], key: KeyPath) -> Any:
    """Return a copy of a value with the variables of its texts replaced."""
    if isinstance(value, dict):
        return {k: _filled(document, part, mapping, (*key, k)) for k, part in value.items()}
    if isinstance(value, list):
        return [_filled(document, part, mapping, (*key, i)) for i, part in enumerate(value)]
    if not isinstance(value, str) or "${" not in value:
        return value
    for name in _VARIABLE.findall(value):
        if name not in mapping:
            raise document.error(f"'each' has no key '{name}'{suggestion(name, mapping)}", key)
    alone = _VARIABLE.fullmatch(value)
    if alone:
        return copy.deepcopy(mapping[alone[1]])
    for name in _VARIABLE.findall(value):
        if isinstance(mapping[name], bool):  # no is the language of Norway, and false in YAML
            problem = f"'each' has a truth value for '{name}': put words like no and on in quotes"
            raise document.error(problem, key)
    return _VARIABLE.sub(lambda match: str(mapping[match[1]]), value)


def _names(value: Any) -> Iterator[str]:
    """Yield the names of the variables in all texts."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _names(part)
    elif isinstance(value, str):
        yield from _VARIABLE.findall(value)
