"""A file with `each` is several tasks or benchmarks: one a mapping, with `${key}` filled in."""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any

from harness.errors import suggestion
from harness.task.mistakes import KeyPath
from harness.task.yaml_files import Document

KEY = "each"
KINDS = ("task", "benchmark")
"""Kinds of file that may have it."""
_VARIABLE = re.compile(r"\$\{(\w*)\}")


def documents(document: Document) -> list[Document]:
    """Return the documents of a parsed file: itself, or one for each mapping of `each`.

    `${key}` in any text, also of an included file, is replaced by the mapping's value. A text that
    is `${key}` alone becomes the value itself, such as a number, a list of words or a mapping.

    Raises
    ------
    InvalidFile
        If `each` is no list of mappings of equal keys, a text names a key that they lack, no text
        names a key that they have, or two of the tasks have one name.
    """
    if KEY not in document.data:
        return [document]
    mappings = document.data[KEY]
    template = {key: value for key, value in document.data.items() if key != KEY}
    if not isinstance(mappings, list) or not mappings:
        raise document.error("expected a list of mappings", (KEY,))
    for i, mapping in enumerate(mappings):
        if not isinstance(mapping, dict) or not mapping:
            raise document.error("expected a mapping, such as {language: de}", (KEY, i))
        if mapping.keys() != mappings[0].keys():
            keys = ", ".join(map(str, mappings[0]))
            raise document.error(f"expected the keys of the first mapping: {keys}", (KEY, i))
    made = [
        dataclasses.replace(document, data=_filled(document, template, mapping, ()))
        for mapping in mappings
    ]
    seen: set[Any] = set()
    for i, task in enumerate(made):
        name = task.data.get("name")
        if isinstance(name, str) and name in seen:
            raise document.error(f"a second '{name}'; the name needs a ${{key}}", (KEY, i))
        seen.add(name if isinstance(name, str) else i)
    named = set(_names(template))
    for key in mappings[0]:
        if named and str(key) not in named:
            raise document.error(f"no text of the file has ${{{key}}}", (KEY, 0, key))
    return made


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
