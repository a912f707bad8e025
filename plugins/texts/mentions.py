"""What a mention of a name is, and where else in a text the same name stands.

Knows neither what finds names nor what becomes of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

Kind: TypeAlias = Literal[
    "person", "place", "organisation", "group", "product", "facility", "other"
]
"""`group`: nationalities and religions; `other`: a proper noun of no known kind."""
KINDS: tuple[Kind, ...] = get_args(Kind)

POSSESSIVE = re.compile(r"['’]s\b|(?<=s)['’](?!\w)")
# What stands before a name and is none.
# fmt: off
TITLES = frozenset({
    "mr", "mrs", "ms", "miss", "dr", "doctor", "nurse", "prof", "professor", "sir", "lady", "lord",
    "dame", "king", "queen", "prince", "princess", "emperor", "president", "premier", "minister",
    "chancellor", "secretary", "governor", "gov", "mayor", "senator", "sen", "rep", "judge",
    "justice", "justices", "attorney", "chairman", "captain", "capt", "colonel", "col", "general",
    "gen", "major", "maj", "lieutenant", "lt", "sergeant", "sgt", "coach", "uncle", "aunt",
    "father", "mother", "sister", "brother", "jr", "sr", "the", "a", "an", "of", "and",
})
# Lower-case words that a name may begin with.
PARTICLES = frozenset({
    "al", "bin", "ben", "da", "de", "del", "den", "der", "di", "do", "dos", "du", "el", "ibn", "la",
    "le", "ter", "van", "von", "zu",
})
# fmt: on
SHORTEST_PART = 3  # letters
_WORD = re.compile(r"\w+(?:[-.'’]\w+)*")
_ENDING = re.compile(r"['’]s$")
_EDGES = " \t\n\r\"'“”‘’«»()[]{}.,;:!?*_`-–—"


@dataclass(frozen=True, order=True)
class Mention:
    """A name in a text: `text` is what stands from `start` up to `end`, without a possessive."""

    start: int
    end: int
    text: str
    kind: Kind


def tidy(text: str, start: int, end: int, kind: Kind) -> Mention | None:
    """Return the mention in `text[start:end]` without what is no name at its edges, or None.

    Quotation marks and stops go, so do a possessive ending, an article or title, and a common noun
    before the name (`hunter Martinez`). A title alone is no name.
    """
    while True:
        found = text[start:end]
        stripped = found.strip(_EDGES)
        first = found.split(" ", 1)[0]
        if ending := _ENDING.search(found):
            end = start + ending.start()
        elif stripped != found:
            start += found.index(stripped)
            end = start + len(stripped)
        elif not found or found.strip(".").lower() in TITLES:
            return None
        elif first != found and _is_no_name(first, found):
            start += len(first)
        else:
            return Mention(start, end, found, kind)


def everywhere(text: str, mentions: Iterable[Mention]) -> list[Mention]:
    """Return all places where a name of `mentions` stands in `text`, in order, none overlapping.

    A name that was found once is one wherever it stands as a whole word, and so are the parts of a
    person's name: `Kashvi` where `Kashvi Rao` was found. It is of one kind in all places, that
    which it was found with most often.
    """
    mentions = sorted(mentions)
    votes: dict[str, Counter[Kind]] = {}
    for mention in mentions:
        votes.setdefault(mention.text, Counter())[mention.kind] += 1
    kinds = {name: vote.most_common(1)[0][0] for name, vote in votes.items()}
    for mention in mentions:
        for part in parts(mention):
            kinds.setdefault(part, "person")
    again = [
        Mention(start, start + len(name), name, kind)
        for name, kind in kinds.items()
        for start in _places(text, name)
    ]
    return longest([replace(found, kind=kinds[found.text]) for found in mentions] + again)


def parts(mention: Mention) -> list[str]:
    """Return the words of a person's full name that may stand for it."""
    words = _WORD.findall(mention.text) if mention.kind == "person" else []
    if len(words) < 2:
        return []
    return [
        word
        for word in words
        if len(word) >= SHORTEST_PART and word[0].isupper() and word.lower() not in TITLES
    ]


def longest(mentions: Iterable[Mention]) -> list[Mention]:
    """Return `mentions` in order without those that overlap a longer one, or an earlier as long."""
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
    """Return where the possessive ending after `text[:end]` ends: `end` if there is none."""
    match = POSSESSIVE.match(text, end)
    return match.end() if match else end


def as_rows(mentions: Sequence[Mention]) -> list[list[int | str]]:
    """Return mentions as plain values; `from_rows` reads them."""
    return [[mention.start, mention.end, mention.kind] for mention in mentions]


def from_rows(text: str, rows: Iterable[tuple[int, int, Kind]]) -> list[Mention]:
    """Return the mentions of `text` that `as_rows` wrote."""
    return [Mention(start, end, text[start:end], kind) for start, end, kind in rows]


def _places(text: str, name: str) -> Iterator[int]:
    """Yield where `name` stands as a whole word. Making an expression of names takes longer."""
    start = text.find(name) if name else -1
    while start >= 0:
        around = text[max(start - 1, 0) : start], text[start + len(name) : start + len(name) + 1]
        if not any(letter.isalnum() or letter == "_" for letter in around):
            yield start
        start = text.find(name, start + 1)


def _is_no_name(word: str, name: str) -> bool:
    plain = word.strip(".").lower()
    if plain in PARTICLES:
        return False
    return plain in TITLES or (word.islower() and not name.islower())
