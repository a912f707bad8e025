"""A text without its names, or with placeholders for them. Knows no way to find names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import ascii_uppercase
from typing import Literal, TypeAlias

from harness.plugins.texts.mentions import Kind, Mention, parts, possessive_end

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
    """Return `text` with its mentions taken out, and blanks that met put together.

    Nothing else changes: `Kashvi's dog` becomes `dog`, or `'s dog` if `possessives` stay.
    """
    return _edited(text, mentions, lambda _: "", keep_possessives=possessives)


def replaced(text: str, mentions: Sequence[Mention], identifiers: Identifiers = "letters") -> str:
    """Return `text` with a placeholder for each mention: `CHAR_A`, `LOC_A`, or `CHAR_1`.

    Identifiers begin anew in each text and in each kind. One name has one in all its places, and a
    part of a person's name has that of the whole. Possessive endings stay.
    """
    whole = {part: mention.text for mention in reversed(mentions) for part in parts(mention)}
    order: dict[Kind, list[str]] = {}

    def placeholder(mention: Mention) -> str:
        name = whole.get(mention.text, mention.text)
        known = order.setdefault(mention.kind, [])
        if name not in known:
            known.append(name)
        return f"{PLACEHOLDERS[mention.kind]}_{_identifier(known.index(name), identifiers)}"

    return _edited(text, mentions, placeholder, keep_possessives=True)


def _edited(
    text: str,
    mentions: Sequence[Mention],
    instead: Callable[[Mention], str],
    *,
    keep_possessives: bool,
) -> str:
    """Return `text` with something instead of each of its mentions, all at once."""
    if not mentions:
        return text
    pieces: list[str] = []
    done = 0
    for mention in mentions:
        before = text[done : mention.start]
        done = mention.end if keep_possessives else possessive_end(text, mention.end)
        new = instead(mention)
        if not new and (not before or before[-1].isspace()) and text[done : done + 1].isspace():
            done += 1  # of two blanks around what goes, one goes with it
        pieces += [before, new]
    return "".join([*pieces, text[done:]]).strip()


def _identifier(place: int, identifiers: Identifiers) -> str:
    if identifiers == "numbers":
        return str(place + 1)
    if place < len(ascii_uppercase):
        return ascii_uppercase[place]
    return _identifier(place // 26 - 1, identifiers) + ascii_uppercase[place % 26]
