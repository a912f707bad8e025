"""Texts in records that must not be published: paths of a machine, scripts, and hidden characters.

Every page and every comment escapes what it shows. This is the second wall: a name with a script in
it is no mistake that anybody makes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from harness import limits

_PATH = re.compile(
    r"(?<![\w.:/~-])(?:/(?:home|Users|root|mnt|media|tmp|var|opt|data|scratch|private)/"
    r"|~/|file://|[A-Za-z]:\\|\\\\\w)"
)
"""The beginning of a path of a machine; not what follows the host of a page's address."""
_TAG = re.compile(r"<\s*[A-Za-z/!?]|&#|javascript:", re.IGNORECASE)
_PAGE = re.compile(r"https?://[^\s\"'<>`\\]+", re.IGNORECASE)
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
"""Unicode categories of characters that cannot be seen, or that change a line or its direction."""
_QUOTED = ("coverage", "overlap", "details", "options", "prompts", "reason")
"""Parts of a record that repeat texts of tasks and prompts, which may hold any character."""
_NAMES = re.compile(
    r"run|model\.(name|aliases|revision|fingerprint|licence|superseded_by)|"
    r"mitigator\.(name|label|concept|fingerprint|method)|environment\..*|"
    r"category|concept|language|scenario|metric|score|task\.(name|family)"
)
_STARTS = re.compile(r"run|model\.(name|aliases)|mitigator\.(name|label)")
"""Names that tables begin a cell with."""


def problems(content: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield the key of each text that must not be published, and what is wrong with it.

    Parameters
    ----------
    content
        A record or an entry of `submission.json`, as JSON types.
    key
        Its key in the record.
    """
    if isinstance(content, str):
        if reason := _problem(key, content):
            yield key, reason
    elif isinstance(content, dict):
        for name, item in content.items():
            below = f"{key}.{name}" if key else name
            if reason := _problem("", name):
                yield f"a key in {key or 'the record'}", reason
            else:
                yield from problems(item, below)
    elif isinstance(content, list | tuple):
        for item in content:
            yield from problems(item, key)


def hidden(text: str) -> str:
    """Return the first character of a text that cannot be seen, as `U+200B`; empty if none."""
    if text.isascii() and text.isprintable():
        return ""
    character = next((c for c in text if unicodedata.category(c) in _HIDDEN), None)
    return "" if character is None else f"U+{ord(character):04X}"


@lru_cache(maxsize=100_000)
def _problem(key: str, text: str) -> str:
    """Return what is wrong with a text; empty if nothing is."""
    if match := _PATH.search(text):
        return f"a path of a machine ('{match[0]}…'); leave the folder out"
    if key.split(".", 1)[0] in _QUOTED or key == "model.prompts":
        return ""
    if code := hidden(text):
        return f"the character {code}, which cannot be seen; leave it out"
    if match := _TAG.search(text):
        return f"'{match[0]}', as in a page or script; leave it out"
    if _NAMES.fullmatch(key) and len(text) > limits.SUBMITTED_NAME_CHARACTERS:
        most = limits.SUBMITTED_NAME_CHARACTERS
        return f"a name of {limits.too_many(len(text), most, 'characters')}"
    if _STARTS.fullmatch(key) and not text[:1].isalnum():
        return f"it begins with {text[:1]!r}; a name begins with a letter or digit"
    if key == "model.url" and not _PAGE.fullmatch(text):
        return "not the address of a page; https://… is expected"
    return ""
