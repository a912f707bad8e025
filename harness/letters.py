"""The words of a text, in any script: letters and digits with their marks, by Unicode's rules.

Vowel signs, points, decomposed accents and the joiners inside a word belong to it, and texts are
read in composed form (NFC). Lower and upper case are those of a language where it is stated.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable
from typing import Any

import regex

LETTER = "[\\p{Alphabetic}\\p{N}\\p{M}\u200c\u200d]"
"""A letter or digit, a mark of one, or a joiner, for patterns of `regex` and of tokenizers."""
RUN = rf"[\p{{Alphabetic}}\p{{N}}]{LETTER}*+"
"""A word without a mark of punctuation inside."""
_DOTTED = ("tr", "az")  # languages in which I is the capital of ı, and İ of i


def composed(text: str) -> str:
    """Return a text in Unicode's composed form, NFC, in which equal texts are equal."""
    return unicodedata.normalize("NFC", text)


@functools.lru_cache(100_000)
def plain(text: str) -> str:
    """Return a text in composed form, in no case, and with spaces for `_`."""
    return composed(text.casefold().replace("_", " "))


def variants(texts: Iterable[str]) -> list[list[str]]:
    """Return the groups of texts that differ in case, in `_` for a space, or in form alone."""
    groups: dict[str, list[str]] = {}
    for text in dict.fromkeys(texts):
        groups.setdefault(plain(text), []).append(text)
    return [group for group in groups.values() if len(group) > 1]


def words(text: str, inside: str = "") -> list[str]:
    """Return the words of a text, which may have any of the characters `inside` in their middle."""
    return list(_runs(inside).findall(composed(text)))


@functools.cache
def _runs(inside: str) -> Any:
    return regex.compile(f"{RUN}(?:[{regex.escape(inside)}]{RUN})*" if inside else RUN)


def whole(words: Iterable[str], before: str = "", *, ignoring_case: bool = False) -> Any:
    """Return a pattern of whole words, the longest first, as a group; `before` is put before it."""
    either = "|".join(sorted(words, key=len, reverse=True))
    pattern = rf"{before}(?<!{LETTER}|_)({either})(?!{LETTER}|_)"
    return regex.compile(pattern, regex.IGNORECASE if ignoring_case else 0)


def lower(text: str, language: str = "") -> str:
    """Return a text in lower case and composed form: KIZ is kız in Turkish and Azerbaijani."""
    text = composed(text)
    if language in _DOTTED:
        text = text.replace("I", "ı").replace("İ", "i")
    return text.lower()


def upper(text: str, language: str = "") -> str:
    """Return a text in capitals, the reverse of `lower`."""
    return (text.replace("i", "İ") if language in _DOTTED else text).upper()
