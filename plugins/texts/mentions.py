"""Mentions of names in a text, and the other places of the same name.

Neither finds names nor changes texts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import regex

from harness.letters import LETTER, words

Kind: TypeAlias = Literal[
    "person", "place", "organisation", "group", "product", "facility", "other"
]
"""`group`: nationalities and religions; `other`: any other proper noun."""
KINDS: tuple[Kind, ...] = get_args(Kind)

POSSESSIVE = re.compile(r"['’]s\b|(?<=s)['’](?!\w)")
# Words before a name that do not belong to it.
# fmt: off
TITLES = frozenset({
    "mr", "mrs", "ms", "miss", "dr", "doctor", "nurse", "prof", "professor", "sir", "lady", "lord",
    "dame", "king", "queen", "prince", "princess", "emperor", "president", "premier", "minister",
    "chancellor", "secretary", "governor", "gov", "mayor", "senator", "sen", "rep", "judge",
    "justice", "justices", "attorney", "chairman", "captain", "capt", "colonel", "col", "general",
    "gen", "major", "maj", "lieutenant", "lt", "sergeant", "sgt", "coach", "uncle", "aunt",
    "father", "mother", "sister", "brother", "jr", "sr", "the", "a", "an", "of", "and",
})
# Lower-case words that a name may start with.
PARTICLES = frozenset({
    "al", "bin", "ben", "da", "de", "del", "den", "der", "di", "do", "dos", "du", "el", "ibn", "la",
    "le", "ter", "van", "von", "zu",
})
# fmt: on
SHORTEST_PART = 3  # letters
_ENDING = re.compile(r"['’]s$")
_EDGES = " \t\n\r\"'“”‘’«»()[]{}.,;:!?*_`-–—"


@dataclass(frozen=True, order=True)
class Mention:
    """A name in a text, from `start` to `end` (exclusive), without a possessive ending."""

    start: int
    end: int
    text: str
    kind: Kind


def tidy(text: str, start: int, end: int, kind: Kind) -> Mention | None:
    """Return the mention in `text[start:end]` with its edges trimmed, or None if nothing is left.

    Quotation marks, punctuation and a possessive ending are removed; so are an article, a title or
    a common noun before the name (`hunter Martinez`). A title alone is not a name.
    """
    while True:
        name = text[start:end]
        stripped = name.strip(_EDGES)
        first = name.split(" ", 1)[0]
        if ending := _ENDING.search(name):
            end = start + ending.start()
        elif stripped != name:
            start += name.index(stripped)
            end = start + len(stripped)
        elif not name or name.strip(".").lower() in TITLES:
            return None
        elif first != name and _is_prefix(first, name):
            start += len(first)
        else:
            return Mention(start, end, name, kind)


def everywhere(text: str, mentions: Iterable[Mention]) -> list[Mention]:
    """Return mentions of all places of the names in `text`, in order, without overlaps.

    A name is a mention wherever it is a whole word. So are the parts of a person's name: `Kashvi`
    if `Kashvi Rao` was found. All mentions of a name get its most frequent kind.
    """
    mentions = sorted(mentions)
    votes: dict[str, Counter[Kind]] = {}
    for mention in mentions:
        votes.setdefault(mention.text, Counter())[mention.kind] += 1
    kinds = {name: vote.most_common(1)[0][0] for name, vote in votes.items()}
    for mention in mentions:
        for part in parts(mention):
            kinds.setdefault(part, "person")
    other_places = [
        Mention(start, start + len(name), name, kind)
        for name, kind in kinds.items()
        for start in _places(text, name)
    ]
    unified = [replace(mention, kind=kinds[mention.text]) for mention in mentions]
    return longest(unified + other_places)


def parts(mention: Mention) -> list[str]:
    """Return the words of a person's full name that can be used instead of it."""
    names = words(mention.text, "-.'’_") if mention.kind == "person" else []
    if len(names) < 2:
        return []
    return [
        word
        for word in names
        if len(word) >= SHORTEST_PART and word[0].isupper() and word.lower() not in TITLES
    ]


def longest(mentions: Iterable[Mention]) -> list[Mention]:
    """Return `mentions` in order; of overlapping ones the longest, and of those the first."""
    taken: list[Mention] = []
    covered: set[int] = set()
    for mention in sorted(mentions, key=lambda m: (m.start - m.end, m.start)):
        places = range(mention.start, mention.end)
        if covered.isdisjoint(places):
            covered.update(places)
            taken.append(mention)
    return sorted(taken)


def of_kinds(mentions: Iterable[Mention], kinds: Collection[str]) -> list[Mention]:
    """Return the mentions whose kind is among `kinds`."""
    return [mention for mention in mentions if mention.kind in kinds]


def possessive_end(text: str, end: int) -> int:
    """Return the end of the possessive ending that starts at `end`; `end` if there is none."""
    match = POSSESSIVE.match(text, end)
    return match.end() if match else end


def as_rows(mentions: Sequence[Mention]) -> list[list[int | str]]:
    """Return mentions as JSON-like values, which `from_rows` reads."""
    return [[mention.start, mention.end, mention.kind] for mention in mentions]


def from_rows(text: str, rows: Iterable[tuple[int, int, Kind]]) -> list[Mention]:
    """Return the mentions of `text` that `as_rows` wrote."""
    return [Mention(start, end, text[start:end], kind) for start, end, kind in rows]


def _places(text: str, name: str) -> Iterator[int]:
    """Yield where `name` is a whole word in `text`. A regular expression of all names is slower."""
    start = text.find(name) if name else -1
    while start >= 0:
        around = text[max(start - 1, 0) : start] + text[start + len(name) :][:1]
        if not regex.search(f"{LETTER}|_", around):
            yield start
        start = text.find(name, start + 1)


def _is_prefix(word: str, name: str) -> bool:
    """Say whether the first word of `name` is a title or a common noun."""
    plain = word.strip(".").lower()
    if plain in PARTICLES:
        return False
    return plain in TITLES or (word.islower() and not name.islower())
