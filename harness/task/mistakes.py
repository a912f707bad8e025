"""The mistakes of a file, all of them, in words for the person who wrote it."""

from __future__ import annotations

import contextlib
from collections.abc import Container, Iterable, Iterator
from typing import Any, TypeAlias

from pydantic import BaseModel, ValidationError

from harness.errors import InvalidFile, suggestion

KeyPath: TypeAlias = tuple[str | int, ...]
"""Keys and indexes from the top of a file to a value."""


class Collector:
    """Collects the mistakes of a file, so that its author sees them all at once."""

    def __init__(self) -> None:
        self._mistakes: dict[str, InvalidFile] = {}

    @contextlib.contextmanager
    def collecting(self) -> Iterator[None]:
        """Keep the mistakes of an `InvalidFile` that is raised, and go on."""
        try:
            yield
        except InvalidFile as error:
            self._mistakes |= {str(mistake): mistake for mistake in error.mistakes}

    def check(self) -> None:
        """Raise `InvalidFile` with all mistakes, if there are any."""
        if self._mistakes:
            raise self.error()

    def error(self) -> InvalidFile:
        """Return the first of the mistakes with the others in it; there must be some."""
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
    """Yield the details without those of alternatives that the author did not have in mind.

    If no alternative of a union fits, pydantic reports each. The one with an unknown key or with
    the deepest mistake is the one that was meant.
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
        return _unknown_key(schema, key), key
    return _problem(detail, key), key


def _key(location: KeyPath, places: Container[KeyPath]) -> KeyPath:
    # pydantic puts the names of union members into locations; they are no keys of the file.
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
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return {annotation}
    arguments = getattr(annotation, "__args__", ())
    return {model for argument in arguments for model in _models_in(argument)}


def _as_yaml(value: Any) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
