"""The list L: words whose gender is their meaning, and no bias.

Ships what is printed in papers, and pairs of our own; longer lists and given names are read from a
user's files. Knows no word senses: `count` and `host` are titles here.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from harness.concept import Concept
from harness.errors import InvalidFile
from harness.plugins.texts.swapping import PEOPLE, PRONOUNS
from harness.token_states import words

NAMES = 5_765  # as many as the paper of the bias score takes, section 3.3
_PERSONAL = ("her", "hers", "him", "his")


@dataclass(frozen=True)
class Gendered:
    """Words and names that a score leaves out.

    Parameters
    ----------
    words
        In lower case; found however they are written, and as a part of a hyphenated word.
    names
        In lower case; found only where they are written with a capital letter, since many are
        words as well (will, rose). At the beginning of a sentence every word is.
    """

    words: frozenset[str]
    names: frozenset[str] = frozenset()

    def found(self, text: str) -> npt.NDArray[np.bool_]:
        """Return (W,) which of a text's words are gendered."""
        return np.array(
            [self._has(word.text, text[word.start : word.end]) for word in words(text)], dtype=bool
        )

    def joined(self, *, words: Iterable[str] = (), names: Iterable[str] = ()) -> Gendered:
        """Return these with further ones."""
        return Gendered(
            self.words | {word.lower() for word in words},
            self.names | {name.lower() for name in names},
        )

    def _has(self, word: str, written: str) -> bool:
        if word in self.words or any(part in self.words for part in word.split("-")):
            return True
        return word in self.names and not written.islower()


def of_concept(concept: Concept) -> Gendered:
    """Return what a concept holds: its pairs, sets, specific words and names.

    For `gender` the words of `swapping.py` too, which have the plurals.
    """
    pairs = [word for pair in concept.definitional_pairs for word in pair]
    names = [name for group in concept.names.values() for name in group]
    given = [word for word in pairs if word[0].isupper()]  # Mary and John
    groups = (*concept.definitional_sets, *concept.equalize_sets)
    held = [*concept.specific_words, *(word for group in groups for word in group)]
    if concept.name.split("-")[0] == "gender":
        held += [word for pair in (*PRONOUNS, *PEOPLE) for word in pair]
        held += _PERSONAL
    return Gendered(
        words=frozenset(word.lower() for word in (*pairs, *held) if word not in given),
        names=frozenset(name.lower() for name in (*names, *given)),
    )


def read_words(path: Path) -> Sequence[str]:
    """Read words: one a line, or a JSON array of words, of groups of words, or of objects.

    An object has a `word`; one whose `gender` is `n` is left out.

    Raises
    ------
    InvalidFile
        If the file cannot be read or holds something else.
    """
    content = _text(path)
    if path.suffix != ".json":
        return [line.strip() for line in content.splitlines() if line.strip()]
    try:
        found = json.loads(content)
    except json.JSONDecodeError as error:
        raise InvalidFile(f"no JSON: {error.msg}", path=path, line=error.lineno) from None
    flat = [
        word
        for group in (found if isinstance(found, list) else [None])
        for word in (group if isinstance(group, list) else [group])
        if not (isinstance(word, dict) and word.get("gender") == "n")
    ]
    listed = [word.get("word") if isinstance(word, dict) else word for word in flat]
    found_words = [word for word in listed if isinstance(word, str)]
    if len(found_words) < len(listed):
        raise InvalidFile("expected an array of words", path=path)
    return found_words


def read_names(path: Path, *, most: int = NAMES) -> Collection[str]:
    """Read given names: lines of name, sex and count, or one name a line.

    Parameters
    ----------
    path
        Such as `yob1980.txt` of the US Social Security Administration.
    most
        The most frequent names that are taken, of a file with counts.

    Raises
    ------
    InvalidFile
        If the file cannot be read, or a count is none.
    """
    counts: dict[str, int] = {}
    for i, row in enumerate(csv.reader(_text(path).splitlines()), start=1):
        if len(row) < 3:
            counts.update({row[0].strip(): 1} if row and row[0].strip() else {})
            continue
        try:
            counts[row[0].strip()] = counts.get(row[0].strip(), 0) + int(row[2])
        except ValueError:
            if i > 1:  # the first line may be a header
                problem = f"expected name,sex,count, and '{row[2]}' is no count"
                raise InvalidFile(problem, path=path, line=i) from None
    frequent = sorted(counts, key=lambda name: (-counts[name], name))
    return frequent[:most] if max(counts.values(), default=1) > 1 else frequent


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InvalidFile(f"cannot be read ({reason})", path=path) from None
