"""Removes names from a text, or replaces them by placeholders. Does not find names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import ascii_uppercase
from typing import Literal, TypeAlias

from .mentions import Kind, Mention, parts, possessive_end

Identifiers: TypeAlias = Literal["letters", "numbers"]

PLACEHOLDERS: dict[Kind, str] = {
    # "What is in a name?", table 17, has the first three.
    "person": "CHAR",
    "place": "LOC",
    "organisation": "ORG",
    "group": "GROUP",
    "product": "PRODUCT",
    "facility": "FACILITY",
    "other": "NAME",
}


def without(text: str, mentions: Sequence[Mention], *, possessives: bool = False) -> str:
    """Return `text` without its mentions; of two adjacent blanks, one is removed.

    Nothing else changes: `Kashvi's dog` becomes `dog`, or `'s dog` if `possessives` are kept.
    """
    return _edited(text, mentions, lambda _: "", keep_possessives=possessives)


def replaced(text: str, mentions: Sequence[Mention], identifiers: Identifiers = "letters") -> str:
    """Return `text` with a placeholder for each mention: `CHAR_A`, `LOC_A`, or `CHAR_1`.

    Identifiers start at A (1) for each text and kind. The same name always has the same
    identifier, and a part of a person's name has that of the full name. Possessive endings stay.
    """
    full_names = {part: mention.text for mention in reversed(mentions) for part in parts(mention)}
    order: dict[Kind, list[str]] = {}

    def placeholder(mention: Mention) -> str:
        name = full_names.get(mention.text, mention.text)
        names = order.setdefault(mention.kind, [])
        if name not in names:
            names.append(name)
        return f"{PLACEHOLDERS[mention.kind]}_{_identifier(names.index(name), identifiers)}"

    return _edited(text, mentions, placeholder, keep_possessives=True)


def _edited(
    text: str,
    mentions: Sequence[Mention],
    replacement: Callable[[Mention], str],
    *,
    keep_possessives: bool,
) -> str:
    """Return `text` with each of its mentions replaced, all at once."""
    if not mentions:
        return text
    pieces: list[str] = []
    end = 0
    for mention in mentions:
        before = text[end : mention.start]
        end = mention.end if keep_possessives else possessive_end(text, mention.end)
        new = replacement(mention)
        if not new and (not before or before[-1].isspace()) and text[end : end + 1].isspace():
            end += 1  # of the two blanks around a removed name, one is removed too
        pieces += [before, new]
    return "".join([*pieces, text[end:]]).strip()


def _identifier(place: int, identifiers: Identifiers) -> str:
    if identifiers == "numbers":
        return str(place + 1)
    if place < len(ascii_uppercase):
        return ascii_uppercase[place]
    return _identifier(place // 26 - 1, identifiers) + ascii_uppercase[place % 26]
