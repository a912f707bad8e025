"""Digests that identify content: 128-bit BLAKE2b of JSON and texts, SHA-256 of files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

SIZE = 16  # bytes: with 128 bits, collisions are practically impossible


def digest(content: Any) -> str:
    """Return 32 hex digits that identify JSON-like `content`; the order of keys does not matter."""
    return of_json(json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":")))


def of_json(canonical: str) -> str:
    """Return the digest of content that is JSON with sorted keys and without spaces."""
    return hashlib.blake2b(canonical.encode(), digest_size=SIZE).hexdigest()


def json_like(value: Any) -> Any:
    """Return a value as JSON types, the same in every process.

    numpy values become Python values. A set becomes a sorted list, a function or class its
    qualified name, an object its class with its attributes. Anything else becomes its text.
    """
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): json_like(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((json_like(item) for item in value), key=repr)
    if isinstance(value, list | tuple):
        return [json_like(item) for item in value]
    if hasattr(value, "tolist"):
        return json_like(value.tolist())
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    text = str(value)
    if " at 0x" in text:  # the address of an object, which differs between processes
        kind = type(value)
        return {f"{kind.__module__}.{kind.__qualname__}": json_like(getattr(value, "__dict__", {}))}
    return text


def text_keys(texts: Iterable[str]) -> bytes:
    """Return the 16-byte keys of `texts`, concatenated."""
    blake2b = hashlib.blake2b
    return b"".join(
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=SIZE).digest() for text in texts
    )


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file as hex digits, as hubs and package indexes publish it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
