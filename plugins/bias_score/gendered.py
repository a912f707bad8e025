"""The list L: words that are gendered by definition, whose gender does not count as bias.

The default list has the words printed in papers and pairs of our own. The long list adds the words
of GN-GloVe and given names, which are shipped in `data/`. Others are read from files of the user.
Word senses are ignored: `count` and `host` are titles here.
"""

from __future__ import annotations

import csv
import functools
import gzip
import io
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from harness.concept import Concept
from harness.embedder import words
from harness.errors import InvalidFile

from ..texts.swapping import PEOPLE, PRONOUNS

NAMES = 5_765  # number of names in the paper of the bias score, section 3.3
_PERSONAL = ("her", "hers", "him", "his")


@dataclass(frozen=True)
class Gendered:
    """Words and names that do not count as bias.

    Parameters
    ----------
    words
        In lower case; matched in any case, and as a part of a hyphenated word.
    names
        In lower case; matched only where they are written with a capital letter, because many are
        words too (will, rose). At the beginning of a sentence every word has a capital.
    """

    words: frozenset[str]
    names: frozenset[str] = frozenset()

    def mask(self, text: str) -> npt.NDArray[np.bool_]:
        """Return (W,) which words of a text are gendered."""
        return np.array(
            [self._has(word.text, text[word.start : word.end]) for word in words(text)], dtype=bool
        )

    def joined(self, *, words: Iterable[str] = (), names: Iterable[str] = ()) -> Gendered:
        """Return a copy with further words and names."""
        return Gendered(
            self.words | {word.lower() for word in words},
            self.names | {name.lower() for name in names},
        )

    def _has(self, word: str, written: str) -> bool:
        if word in self.words or any(part in self.words for part in word.split("-")):
            return True
        return word in self.names and not written.islower()


def of_concept(concept: Concept) -> Gendered:
    """Return the pairs, sets, specific words and names of a concept.

    For `gender` also the words of `swapping.py`, which include plurals.
    """
    pairs = [word for pair in concept.definitional_pairs for word in pair]
    names = [name for group in concept.names.values() for name in group]
    given_names = [word for word in pairs if word[0].isupper()]  # Mary and John
    groups = (*concept.definitional_sets, *concept.equalize_sets)
    others = [*concept.specific_words, *(word for group in groups for word in group)]
    if concept.name.split("-")[0] == "gender":
        others += [word for pair in (*PRONOUNS, *PEOPLE) for word in pair]
        others += _PERSONAL
    return Gendered(
        words=frozenset(word.lower() for word in (*pairs, *others) if word not in given_names),
        names=frozenset(name.lower() for name in (*names, *given_names)),
    )


@functools.cache
def long_list() -> Gendered:
    """Return the 409 words of GN-GloVe and 5,765 given names; `data/README.md` has their sources.

    With the words of the concept they are the list L, as far as the paper says what is in it.

    References
    ----------
    Dolci, Azzalini and Tanelli (2023), section 3.3; Zhao et al. (2018), Learning gender-neutral
    word embeddings.
    """
    words_, names = (_shipped(f"{name}.txt.gz") for name in ("gendered_words", "given_names"))
    return Gendered(frozenset(words_), frozenset(name.lower() for name in names))


def read_words(path: Path) -> Sequence[str]:
    """Read words: one per line, or a JSON array of words, of groups of words, or of objects.

    An object has a `word`; one whose `gender` is `n` is skipped.

    Raises
    ------
    InvalidFile
        If the file cannot be read or has another structure.
    """
    content = read_text(path)
    if path.suffix != ".json":
        return [line.strip() for line in content.splitlines() if line.strip()]
    try:
        parsed = json.loads(content)
    except json.JSONDecodeError as error:
        raise InvalidFile(f"invalid JSON: {error.msg}", path=path, line=error.lineno) from None
    flat = [
        word
        for group in (parsed if isinstance(parsed, list) else [None])
        for word in (group if isinstance(group, list) else [group])
        if not (isinstance(word, dict) and word.get("gender") == "n")
    ]
    entries = [word.get("word") if isinstance(word, dict) else word for word in flat]
    parsed_words = [word for word in entries if isinstance(word, str)]
    if len(parsed_words) < len(entries):
        raise InvalidFile("expected an array of words", path=path)
    return parsed_words


def read_names(path: Path, *, most: int = NAMES) -> Collection[str]:
    """Read given names: lines of name, sex and count, or one name per line.

    Parameters
    ----------
    path
        A file such as `yob1980.txt` of the US Social Security Administration.
    most
        Number of names to use, the most frequent first, from a file with counts.

    Raises
    ------
    InvalidFile
        If the file cannot be read, or a count is not a number.
    """
    counts: dict[str, int] = {}
    for i, row in enumerate(csv.reader(io.StringIO(read_text(path))), start=1):
        if len(row) < 3:
            counts.update({row[0].strip(): 1} if row and row[0].strip() else {})
            continue
        try:
            counts[row[0].strip()] = counts.get(row[0].strip(), 0) + int(row[2])
        except ValueError:
            if i > 1:  # the first line may be a header
                problem = f"expected name,sex,count; '{row[2]}' is not a number"
                raise InvalidFile(problem, path=path, line=i) from None
    frequent = sorted(counts, key=lambda name: (-counts[name], name))
    return frequent[:most] if max(counts.values(), default=1) > 1 else frequent


def _shipped(name: str) -> list[str]:
    path = Path(__file__).parent / "data" / name
    return gzip.decompress(path.read_bytes()).decode("utf-8").splitlines()


def read_text(path: Path) -> str:
    """Return the text of a file of the user in UTF-8.

    Raises
    ------
    InvalidFile
        If it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise InvalidFile(f"cannot be read ({reason})", path=path) from None
