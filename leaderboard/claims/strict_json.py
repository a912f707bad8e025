"""Strict JSON: one meaning for every reader, or an error with one line.

Refuses what parsers read differently or not at all: a byte order mark, other encodings, keys that
occur twice, NaN and infinity, integers of thousands of digits, and deep nesting.
"""

from __future__ import annotations

import json
import math
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

Model = TypeVar("Model", bound=BaseModel)
_DIGITS = 4_000
"""Python itself reads no integers of more than 4,300 digits."""
LONGEST_REASON = 300
"""Most characters of a message that quotes somebody else."""
_LONGEST = 60
"""Characters of a text of somebody else that a message repeats."""


def parsed(content: bytes) -> Any:
    """Return the value of a JSON text.

    Raises
    ------
    ValueError
        If it is not strict JSON; the message has one line.
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError("UTF-16; write it as UTF-8")
    if content.startswith(b"\xef\xbb\xbf"):
        raise ValueError("a byte order mark; write it as UTF-8 without one")
    try:
        return json.loads(
            content.decode(),
            object_pairs_hook=_without_repeats,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_integer,
        )
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start + 1} is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(
            f"not JSON ({error.msg.removesuffix(' at')} at character {error.pos + 1})"
        ) from None
    except RecursionError:
        raise ValueError("nested too deeply") from None


def mistakes(content: bytes, schema: type[Model]) -> tuple[Model | None, list[tuple[str, str]]]:
    """Return JSON as a model, or None and its mistakes: the key of each, and what is wrong.

    Types are strict: no text and no boolean counts as a number.
    """
    try:
        parsed(content)
        return schema.model_validate_json(content, strict=True), []
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False, include_context=False)
        return None, [(_key(mistake["loc"]), in_one_line(mistake["msg"])) for mistake in errors]
    except ValueError as error:
        return None, [("", in_one_line(str(error)))]


def _key(parts: tuple[int | str, ...]) -> str:
    return in_one_line(".".join(map(str, parts)))


def in_one_line(text: str) -> str:
    """Return a text that quotes a stranger, without control characters, and cut if it is long."""
    line = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return line if len(line) <= LONGEST_REASON else line[: LONGEST_REASON - 1] + "…"


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key '{repeated[:_LONGEST]}' stands twice in one object")
    return content


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number in JSON; null stands for no value")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        shown = text[:_LONGEST]
        raise ValueError(f"not JSON that every reader takes: the number {shown} is too large")
    return number


def _integer(text: str) -> int:
    if len(text) > _DIGITS:
        raise ValueError(f"not JSON that every reader takes: an integer of {len(text):,} digits")
    return int(text)
