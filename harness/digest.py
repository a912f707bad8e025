"""One way to name content: a 128-bit BLAKE2b of canonical JSON, text or files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

SIZE = 16  # bytes: 128 bits, as design asks of text keys; collisions are out of reach


def digest(content: Any) -> str:
    """Return 32 hex digits that name JSON-like `content`, whatever the order of its keys."""
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(canonical.encode(), digest_size=SIZE).hexdigest()


def json_like(value: Any) -> Any:
    """Return a value as JSON knows it, the same in every process.

    What numpy made becomes what Python has; a set is sorted; a function or class is its name, an
    object its class with its attributes, and anything else its text.
    """
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): json_like(one) for key, one in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((json_like(one) for one in value), key=repr)
    if isinstance(value, list | tuple):
        return [json_like(one) for one in value]
    if hasattr(value, "tolist"):
        return json_like(value.tolist())
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    text = str(value)
    if " at 0x" in text:  # the address of an object, another in every process
        kind = type(value)
        return {f"{kind.__module__}.{kind.__qualname__}": json_like(getattr(value, "__dict__", {}))}
    return text


def text_keys(texts: Iterable[str]) -> bytes:
    """Return the 16-byte keys of `texts`, one after the other."""
    blake2b = hashlib.blake2b
    return b"".join(
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=SIZE).digest() for text in texts
    )


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file as hex digits: what hubs and package indexes publish."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
