"""Reads configuration files of models: JSON of a sane size, which anybody may have written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness import limits, user_files
from harness.errors import InvalidFile, ModelError, shown

_LONGEST_VALUE = 60


def read(path: Path, name: str, place: str = "") -> Any:
    """Return the content of a JSON file.

    Parameters
    ----------
    path
        The file.
    name
        What errors call the model.
    place
        What errors call the file; its name by default.

    Raises
    ------
    ModelError
        If it is missing, no regular file, too large, no JSON, or nested too deeply.
    """
    place = place or path.name
    try:
        return json.loads(user_files.read(path, limits.MODEL_CONFIG_BYTES).decode("utf-8"))
    except InvalidFile as error:
        raise ModelError(f"'{name}': {place} {_predicate(error.problem)}") from None
    except RecursionError:
        raise ModelError(f"'{name}': {place} is nested too deeply") from None
    except ValueError as error:
        raise ModelError(f"'{name}': {place} cannot be read ({error})") from None


def read_object(path: Path, name: str, place: str = "") -> dict[str, Any]:
    """Return the object in a JSON file; see `read`."""
    content = read(path, name, place)
    if not isinstance(content, dict):
        found = _described(content)
        raise ModelError(f"'{name}': {place or path.name} is {found}; expected a JSON object")
    return content


def expect(valid: bool, expected: str, *, name: str, file: str, key: str, value: object) -> None:
    """Raise ModelError that names the model, file, key, value and what is expected."""
    if not valid:
        raise ModelError(f"'{name}': {file}: {key} is {_described(value)}; expected {expected}")


def is_count(value: object, *, at_least: int = 1) -> bool:
    """Return whether a value is a whole number that is not too small."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= at_least


def is_texts(value: object) -> bool:
    """Return whether a value is a list of texts."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _described(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return str(value).lower()
    text = shown(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def _predicate(problem: str) -> str:
    """Return what is wrong with a file as the end of a sentence that begins with the file."""
    if problem == "no such file or folder":
        return "is missing"
    return f"is {problem}" if problem.startswith("a file of") else problem
