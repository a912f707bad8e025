"""Why a vocabulary lacks most of the words that it is asked for: how its words are written."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

MOST = 1_000_000
"""Words of a vocabulary that are compared, which takes seconds."""
SHOWN = 5
"""Words of the vocabulary that are shown."""
_CONCEPTNET = re.compile(r"/c/([a-z-]+)/")
_ENDS = re.compile(r"(?:_|\||#|/|::|@@)[A-Za-z]{1,5}\d?\$?$")  # house_NOUN, house|n, house/NN


@dataclass(frozen=True)
class _Manner:
    """A manner of writing words.

    Parameters
    ----------
    plain
        Returns a word of the vocabulary as tasks write it.
    reason
        What is special about the words.
    advice
        What to do.
    """

    plain: Callable[[str], str]
    reason: str
    advice: str


_MANNERS = (
    _Manner(str.lower, "are written in capitals", "write them in lower case"),
    _Manner(lambda word: _CONCEPTNET.sub("", word), "are names of ConceptNet", "remove '/c/…/'"),
    _Manner(
        lambda word: re.sub(r"^(?:▁|Ġ|##)|(?:</w>|@@)$", "", word),
        "have marks of parts of words",
        "remove the marks, or take a file of whole words",
    ),
    _Manner(
        lambda word: re.sub(r"^b(?=['\"])", "", word).strip("\"'`«»“”‘’"),
        "stand in quotes",
        "remove the quotes",
    ),
    _Manner(
        lambda word: _ENDS.sub("", word),
        "end in a part of speech or another mark",
        "remove the ends of the words",
    ),
    _Manner(
        lambda word: re.sub(r"^(?:[a-z]{2,3}|[A-Z]+)[:_/#]", "", word),
        "begin with a prefix",
        "remove the prefix",
    ),
    _Manner(
        lambda word: re.sub(r"[\s\ufeff\u200b-\u200f\u2060\xad]+", "", word),
        "have white space or marks that are not seen",
        "remove these",
    ),
    _Manner(lambda word: _bare(word), "have other accents", "write them as the tasks do"),
)


def reason(words: Sequence[str], vocabulary: Sequence[str]) -> str:
    """Return words of a vocabulary, and the likely reason why it lacks most of `words`.

    Parameters
    ----------
    words
        The words that it lacks.
    vocabulary
        Its words.
    """
    shown = ", ".join(repr(word[:40]) for word in vocabulary[:SHOWN])
    return f"its vocabulary has {shown}: {_likely(words, vocabulary[:MOST])}"


def _likely(words: Sequence[str], vocabulary: Sequence[str]) -> str:
    """Return the manner of writing in which most of `words` are found, or what differs."""
    wanted = {word.lower().replace(" ", "_") for word in words}
    found = {manner: len(wanted.intersection(_plain(manner, vocabulary))) for manner in _MANNERS}
    best = max(_MANNERS, key=lambda manner: found[manner])
    if found[best] * 2 >= len(wanted):
        prefix = _CONCEPTNET.match(vocabulary[0])
        if best.reason == _MANNERS[1].reason and prefix:
            return _conceptnet(wanted, vocabulary)
        return f"its words {best.reason}; {best.advice}"
    named = [_CONCEPTNET.match(word) is not None for word in vocabulary[:1000]]
    if 2 * sum(named) > len(named):
        return _conceptnet(wanted, vocabulary)
    if all(word.isdigit() for word in vocabulary[:1000]):
        return "its words are numbers, perhaps rows of a list of words that is another file"
    theirs, ours = _script(vocabulary[:1000]), _script(list(words)[:1000])
    if theirs != ours:
        return f"its words are in another script ({theirs}; those that it lacks: {ours})"
    return "its words seem to be of another language or subject"


def _plain(manner: _Manner, vocabulary: Sequence[str]) -> Iterable[str]:
    return (manner.plain(word).lower().replace(" ", "_") for word in vocabulary)


def _conceptnet(wanted: set[str], vocabulary: Sequence[str]) -> str:
    """Return what to do with names of ConceptNet, such as /c/en/office."""
    languages: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    for word in vocabulary:
        name = _CONCEPTNET.match(word)
        if name:
            languages[name[1]] += 1
            hits[name[1]] += word[name.end() :].lower() in wanted
    language = (hits if any(hits.values()) else languages).most_common(1)[0][0]
    return (
        f"its words begin with '/c/{language}/', as in ConceptNet Numberbatch; add "
        f"?language={language} to the model's name"
    )


def _bare(word: str) -> str:
    parts = unicodedata.normalize("NFD", word)
    return "".join(letter for letter in parts if not unicodedata.combining(letter))


def _script(words: Sequence[str]) -> str:
    """Return the script of most letters, such as LATIN."""
    letters = (letter for word in words for letter in word if letter.isalpha())
    counts = Counter(unicodedata.name(letter, "UNKNOWN").split(" ")[0] for letter in letters)
    return counts.most_common(1)[0][0].capitalize() if counts else "no letters"
