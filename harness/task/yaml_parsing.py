"""Parses one YAML file, safely: of limited size and depth, with the line of every key.

Scalars keep the types that YAML gives them, so a word such as `no` must be quoted, and the error
says so. `yaml_files.py` adds includes.
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from harness import limits, user_files
from harness.errors import InvalidFile
from harness.task.mistakes import KeyPath

Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Places: TypeAlias = dict[KeyPath, tuple[Path, int]]
_BEGINNING = re.compile(rf"^[ \t?:-]{{{limits.NESTING // 2},}}", re.MULTILINE)
"""What may begin a line that is deeply nested without brackets."""
_PLAIN = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
_TEXT = "tag:yaml.org,2002:str"
_SCALARS = tuple(
    f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null", "timestamp")
)
_LONGEST_NUMBER = 100


def parse(path: Path) -> tuple[dict[str, Any], Places]:
    """Return the mapping in a YAML file, without its includes, and the place of each key.

    Raises
    ------
    InvalidFile
        If it cannot be read, is larger than the limits, is not YAML or not a mapping, or repeats a
        key.
    """
    text = user_files.text(path, limits.YAML_BYTES)
    loader = Loader(text)
    places: Places = {(): (path, 1)}
    try:
        _check_size(text, path)
        node = loader.get_single_node()
        if not isinstance(node, yaml.MappingNode):
            raise InvalidFile("expected a mapping of keys to values", path=path, line=1)
        if _entries(node, {}) > limits.YAML_ENTRIES:
            raise _too_many_entries(path)
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
    """Return a key path as people write it: `inputs.targets_1[3]`."""
    text = ""
    for part in key:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _check_size(text: str, path: Path) -> None:
    """Raise InvalidFile if a text has too many entries, or is nested too deeply.

    It is asked before the parser builds nodes, which calls itself in C at each level. Most files
    cannot be so large, and are not read twice.
    """
    n_brackets = text.count("[") + text.count("{")
    is_small = len(text) < limits.YAML_ENTRIES and n_brackets <= limits.NESTING
    if is_small and not _BEGINNING.search(text):
        return
    depth = 0
    for n, event in enumerate(yaml.parse(text, Loader=Loader)):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > limits.NESTING:
            problem = f"nested too deeply; at most {limits.NESTING} levels are allowed"
            line = event.start_mark.line + 1 if event.start_mark else None
            raise InvalidFile(problem, path=path, line=line)
        if n > 2 * limits.YAML_ENTRIES:
            raise _too_many_entries(path)


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
    value = node.value if len(node.value) <= _LONGEST_NUMBER else f"{node.value[:20]}…"
    problem = f"not YAML: '{value}' is not a valid value; put text in quotes"
    if node.tag not in _SCALARS:
        problem = f"not YAML: unsupported tag '{node.tag}'; put text in quotes"
    elif len(node.value) <= _LONGEST_NUMBER:
        with contextlib.suppress(ValueError, LookupError, AttributeError, ArithmeticError):
            value = loader.construct_object(node)  # raises for instance for day 45 of a month
            if not isinstance(value, int) or abs(value) <= limits.INTEGER:
                return value
            problem = f"the integer {node.value} is beyond 64 bits; put text in quotes"
    line = node.start_mark.line + 1
    raise InvalidFile(problem, path=path, line=line, key=dotted(key))
