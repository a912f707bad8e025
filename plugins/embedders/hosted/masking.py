"""Keeps keys out of every line that is shown or written: what an endpoint sends may repeat a key.

A part of a key as it is becomes `…`. A message that repeats a part in another form, such as base64
or percent signs, is withheld as a whole.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Iterator
from urllib.parse import unquote

PART = 4  # characters of a key in a row that are masked
APART = 6  # the same with other characters between them
WITHHELD = "(message withheld: it repeats the key)"
LONGEST = 20_000  # characters of a message that are read
_ESCAPE = re.compile(r"\\(?:u\{?|x)([0-9a-fA-F]{2,6})\}?")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{6,}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}[\s:,]?){4,}")
_SEPARATOR = re.compile(r"[\W_]+")


def masked(message: str, secret: str) -> str:
    """Return a message as one line without the key `secret` and without any part of it."""
    line = " ".join(message[:LONGEST].split())
    if not secret:
        return line
    line = _without_parts(line, secret)
    if any(_repeats(view, secret, PART) for view in _decoded(line)):
        return WITHHELD
    if _repeats(_SEPARATOR.sub("", line), _SEPARATOR.sub("", secret), APART):
        return WITHHELD
    return line


def _without_parts(line: str, secret: str) -> str:
    parts, start = [], 0
    while start < len(line):
        size = _shared(line, secret, start)
        is_part = size >= min(PART, len(secret))
        parts.append("…" if is_part else line[start])
        start += size if is_part else 1
    return "".join(parts)


def _repeats(line: str, secret: str, least: int) -> bool:
    least = min(least, len(secret))
    return least > 0 and any(_shared(line, secret, i) >= least for i in range(len(line)))


def _shared(line: str, secret: str, start: int) -> int:
    """Return how many characters from `start` are a part of the key, in capitals or not."""
    low, key, size = line.lower(), secret.lower(), 0
    while start + size < len(low) and low[start : start + size + 1] in key:
        size += 1
    return size


def _decoded(line: str) -> Iterator[str]:
    """Yield what a line says after the codes that a server may put a key into."""
    plain = line
    for _ in range(2):  # a code within a code
        plain = html.unescape(unquote(_ESCAPE.sub(_character, plain)))
    yield plain
    for text in {line, plain}:
        for token in _BASE64.findall(text):
            yield from _of_base64(token)
        for token in _HEX.findall(text):
            digits = re.sub(r"[\s:,]", "", token)
            yield bytes.fromhex(digits).decode("latin-1")


def _of_base64(token: str) -> Iterator[str]:
    standard = token.translate(str.maketrans("-_", "+/"))
    for skipped in range(4):
        whole = standard[skipped:]
        whole = whole[: len(whole) // 4 * 4]
        try:
            yield base64.b64decode(whole).decode("latin-1")
        except binascii.Error:  # such as a length that none has
            continue


def _character(match: re.Match[str]) -> str:
    code = int(match[1], 16)
    return chr(code) if code < 0x110000 else ""
