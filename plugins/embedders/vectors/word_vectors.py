"""A vocabulary with vectors as an embedder, from whatever source.

This module reads no file: `vectors_file.py`, `glove.py` and `spacy_vectors.py` pass their loader to
`WordVectors`.
"""

from __future__ import annotations

import functools
import hashlib
import mmap
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from harness import letters
from harness.digest import SIZE, text_keys
from harness.embedder import ModelInfo, Vocabulary
from harness.errors import ModelError

if TYPE_CHECKING:
    from harness.arrays import Reals, Vectors


# Why a vocabulary lacks most of the words that it is asked for: how its words are written.


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


def unlike_words(words: Sequence[str], vocabulary: Sequence[str]) -> str:
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
    known = set(vocabulary).intersection
    if 2 * len(known(words)) >= len(words):
        return "it has these words, but their vectors are zero or no numbers"
    if 2 * len(known(word.strip() for word in words if word != word.strip())) >= len(words):
        return "those that are asked for begin or end with white space"
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


SELECTION = 10_000
"""A vocabulary of fewer words is taken for a selection."""


@dataclass(frozen=True)
class Table:
    """Distinct words and their vectors, (len(words), d) float32.

    Parameters
    ----------
    words, vectors
        The vocabulary, row `i` of the vectors for word `i`.
    aliases
        Row by word, for words without a row of their own. They are found by a look-up, but are not
        in the vocabulary.
    notes
        What the user should know of the source, a line each.
    """

    words: Sequence[str]
    vectors: Vectors
    aliases: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class WordVectors:
    """A word embedder.

    A word is looked up as it is, then lower-cased, then with `_` for spaces, then both; then all of
    these with composed accents (NFC) and with decomposed ones (NFD). An unknown word gives a row of
    NaN. A zero vector is returned as it is; the harness counts it as missing.

    Parameters
    ----------
    info
        Facts of the vocabulary.
    load
        Returns the table; called once, when a vector is first needed.
    """

    def __init__(self, info: ModelInfo, load: Callable[[], Table]) -> None:
        self.info = info
        self.load = load

    @classmethod
    def of(cls, words: Iterable[str], vectors: Reals, *, name: str = "word-vectors") -> WordVectors:
        """Make an embedder from words and an (n, d) array; of equal words the first is kept.

        Raises
        ------
        ModelError
            If the shapes do not match or a value is NaN or infinite.
        """
        return cls.of_table(
            first_of_each(list(words), np.asarray(vectors, dtype=np.float32)), name=name
        )

    @classmethod
    def of_table(cls, table: Table, *, name: str) -> WordVectors:
        """Make an embedder from a table in memory.

        Raises
        ------
        ModelError
            If a value is NaN or infinite.
        """
        row = first_not_finite(table.vectors)
        if row is not None:
            raise ModelError(f"{name}: the vector of '{table.words[row]}' is not finite")
        content = hashlib.blake2b(text_keys(table.words), digest_size=SIZE)
        content.update(np.ascontiguousarray(table.vectors).tobytes())
        for word, place in sorted(table.aliases.items()):
            if table.words[place] != word:
                content.update(f"{word}\n{place}\n".encode("utf-8", "surrogatepass"))
        info = ModelInfo(
            name=name,
            kind="word",
            dimensions=table.vectors.shape[1],
            n_parameters=table.vectors.size,
            fingerprint=f"words-{content.hexdigest()}",
        )
        return cls(info, lambda: table)

    @classmethod
    def of_keyed_vectors(cls, keyed_vectors: Any, *, name: str = "keyed-vectors") -> WordVectors:
        """Make an embedder from a gensim `KeyedVectors` object, such as `Word2Vec(…).wv`."""
        return cls.of(keyed_vectors.index_to_key, keyed_vectors.vectors, name=name)

    @property
    def words(self) -> Sequence[str]:
        """The vocabulary, in the order of its source."""
        return self._table.words

    @property
    def vectors(self) -> Vectors:
        """(len(words), d) float32, row i for `words[i]`."""
        return self._table.vectors

    @functools.cached_property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary, always the same object, so that results about it can be cached with it.

        Of vectors mapped from a file, one block at a time is in memory.
        """
        vectors = self.vectors

        if not isinstance(vectors.base, mmap.mmap):
            return Vocabulary(self.words, lambda start, stop: vectors[start:stop])

        def rows(start: int, stop: int) -> Vectors:
            block = np.array(vectors[start:stop], order="C")  # callers read it row by row
            free_memory(vectors)
            return block

        return Vocabulary(self.words, rows)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of the source; nothing before it is read."""
        table = self.__dict__.get("_table")
        return table.notes if isinstance(table, Table) else ()

    def unlike(self, words: Sequence[str]) -> str:
        """Return words of the vocabulary, and the likely reason why it lacks most of `words`."""
        return unlike_words(words, self.words)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return (n, d) float32 vectors, with a row of NaN for each unknown word."""
        row_list = [self._row(text) for text in texts]
        if -1 not in row_list:  # a fast path, because many calls have a few known words
            return self._known(row_list)
        known = self._known([row for row in row_list if row >= 0])
        vectors = np.full((len(texts), known.shape[1]), np.nan, dtype=np.float32)
        vectors[np.array(row_list) >= 0] = known
        return vectors

    def _known(self, rows: Sequence[int]) -> Vectors:
        """Return the (len(rows), d) vectors of rows of the vocabulary."""
        return self._plain[np.array(rows, dtype=np.intp)]

    def ranks(self, words: Sequence[str]) -> list[int] | None:
        """Return the place of each word in the vocabulary, from 1; 0 for a word without a row.

        None if the vocabulary is in alphabetical order or so small that it is a selection: its
        order then says nothing of frequency. Files and packages of word vectors have the most
        frequent word first.
        """
        if len(self.words) < SELECTION or self._is_alphabetical:
            return None
        return [self._row(word) + 1 if self._has_row(word) else 0 for word in words]

    @functools.cached_property
    def _is_alphabetical(self) -> bool:
        head = [word.lower() for word in self.words[:1_000]]
        return head == sorted(head)

    def _has_row(self, text: str) -> bool:
        """Return whether a text is a word of the vocabulary, and not an alias of another word."""
        row = self._row(text)
        return row >= 0 and _plain_form(self.words[row]) == _plain_form(text)

    @functools.cached_property
    def _plain(self) -> Vectors:
        """The vectors as a plain array, which is faster to index than a memory map."""
        return np.asarray(self.vectors, dtype=np.float32).view(np.ndarray)

    @functools.cached_property
    def _table(self) -> Table:
        return self.load()

    @functools.cached_property
    def _rows(self) -> dict[str, int]:
        rows = {word: row for row, word in enumerate(self.words)}
        return {**self._aliases, **rows} if self._aliases else rows

    @property
    def _aliases(self) -> Mapping[str, int]:
        return self._table.aliases

    def _row(self, text: str) -> int:
        """Return the row of a word, -1 if it is unknown."""
        row = self._rows.get(text)
        if row is not None:
            return row
        lower = letters.lower(text, *self.info.languages[:1])
        forms = (lower, text.replace(" ", "_"), lower.replace(" ", "_"))
        for form in forms:
            if form in self._rows:
                return self._rows[form]
        if text.isascii():
            return -1
        for normal in ("NFC", "NFD"):
            for form in (text, *forms):
                row = self._rows.get(unicodedata.normalize(normal, form))
                if row is not None:
                    return row
        return -1


class ComposedVectors(WordVectors):
    """Word vectors in which unknown words have a vector that is made of their parts, as fastText's.

    A text with a space is no word, so that it has none.

    Parameters
    ----------
    info, load
        As of `WordVectors`.
    compose
        Returns the vector of an unknown word; None if it has none.
    """

    def __init__(
        self,
        info: ModelInfo,
        load: Callable[[], Table],
        compose: Callable[[str], Vectors | None],
    ) -> None:
        super().__init__(info, load)
        self._compose_one = compose
        self._composed: dict[str, None] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of the source, and how many words were made of their parts."""
        words = list(self._composed)
        if not words:
            return super().notes
        listed, more = ", ".join(map(repr, words[:SHOWN])), " …" if len(words) > SHOWN else ""
        are = "1 word is" if len(words) == 1 else f"{len(words):,} words are"
        line = f"{self.info.name}: {are} composed from n-grams, as fastText does: {listed}{more}"
        return (*super().notes, line)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return (n, d) float32 vectors, with a row of NaN for each word without known parts."""
        vectors = super().encode(texts)
        for i, text in enumerate(texts):
            if self._row(text) < 0 and text.strip() and len(text.split()) == 1:
                vector = self._compose_one(text)
                if vector is not None and vector.any():
                    vectors[i] = vector
                    self._composed[text] = None
        return vectors


def _plain_form(text: str) -> str:
    return letters.lower(text.replace("_", " "))


def first_of_each(words: list[str], vectors: Vectors) -> Table:
    """Return a table that keeps the first of equal words.

    Raises
    ------
    ModelError
        If the number of vectors differs from the number of words.
    """
    if vectors.ndim != 2 or len(words) != len(vectors) or not vectors.size:
        raise ModelError(
            f"{len(words)} words and vectors of shape {vectors.shape}: expected shape (words, d)"
        )
    first: dict[str, int] = {}
    for row, word in enumerate(words):
        first.setdefault(word, row)
    if len(first) == len(words):
        return Table(words, vectors)
    rows = np.fromiter(first.values(), dtype=np.intp)
    repeated = [word for row, word in enumerate(words) if first[word] != row]
    return Table(list(first), vectors[rows], notes=(duplicates(len(repeated), repeated),))


def duplicates(n: int, first: Sequence[str]) -> str:
    """Return a line on `n` words that are left out because they stood there before."""
    are = "duplicate word is" if n == 1 else "duplicate words are"
    listed = ", ".join(repr(word[:40]) for word in first[:SHOWN])
    more = " …" if n > SHOWN else ""
    return f"{n:,} {are} left out, since the first of equal words counts: {listed}{more}"


def free_memory(vectors: Vectors) -> None:
    """Free the memory of vectors mapped from a file; they are read again when needed."""
    mapped = vectors.base
    if isinstance(mapped, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


def first_not_finite(vectors: Vectors) -> int | None:
    """Return the first row with NaN or infinity; None if there is none."""
    finite = np.isfinite(vectors).all(axis=1)
    return None if finite.all() else int(np.argmin(finite))
