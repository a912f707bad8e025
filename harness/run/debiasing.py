"""Writes a model under mitigation: `harness debias`.

Of a word embedder, the whole vocabulary is written to a file. The mitigators are fitted on the
words that they need. Then the vocabulary is transformed and written block by block. Nothing is
stored or scored. A text encoder becomes a model of its own (`exporting`).
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

import numpy as np

from harness import folders
from harness.chain import Chain, MitigatedEmbedder
from harness.concept import Concept
from harness.embedder import Embedder, ModelInfo, Vocabulary, vocabulary_of
from harness.errors import (
    DiskError,
    HarnessError,
    InvalidOption,
    NotApplicable,
    Unavailable,
    UsageError,
    suggestion,
)
from harness.progress import Advance, Progress, shown
from harness.registry.registry import Registry
from harness.run import evaluation, exporting, plan
from harness.run.exporting import Exported, Source
from harness.run.plan import Row
from harness.run.settings import FALLBACK_CONCEPT, paths

if TYPE_CHECKING:
    from harness.arrays import Vectors


# Writes word vectors to a file, block by block, so that they need not fit into memory.
#
# Formats: word2vec's text and binary formats, gensim's own `KeyedVectors`, and safetensors. Nothing
# is read here: the embedder `vectors:PATH` reads all formats but gensim's, which is a pickle.
#
# The file is written in a hidden folder next to its path and renamed, so that a reader
# sees the old file or the new one. gensim's format has two files: `NAME.vectors.npy` is renamed
# first.
#
# A safetensors file has three tensors: `words`, (bytes,) uint8, all words in UTF-8 one after
# another; `word_ends`, (n,) int64, the position in `words` at which each word ends; and `vectors`,
# (n, d) float32.


Format: TypeAlias = Literal["word2vec", "word2vec-binary", "gensim", "safetensors"]
Blocks: TypeAlias = "Iterable[tuple[Sequence[str], Vectors]]"
SUFFIXES: Mapping[str, Format] = {
    ".txt": "word2vec",
    ".vec": "word2vec",
    ".bin": "word2vec-binary",
    ".kv": "gensim",
    ".safetensors": "safetensors",
}
"""Format by the suffix of the file."""
_SEPARATOR = re.compile(r"[ \n\r]|\A\Z")  # forbidden in words of word2vec's formats
_ALIGNMENT = 64  # bytes; the tensors of a safetensors file begin at a multiple of it


def format_of(path: Path, format: str | None = None) -> Format:  # noqa: A002 -- what users call it
    """Return the format to write: `format` if it is given, or else that of the suffix.

    Raises
    ------
    InvalidOption
        If the format or suffix is unknown.
    """
    if format is not None:
        if format not in get_args(Format):
            near = suggestion(format, get_args(Format))
            raise InvalidOption(f"unknown format '{format}' of word vectors{near}")
        return cast("Format", format)
    by_suffix = SUFFIXES.get(path.suffix.lower())
    if by_suffix is None:
        known = ", ".join(f"{suffix} ({name})" for suffix, name in SUFFIXES.items())
        raise InvalidOption(f"'{path.name}': unknown suffix of word vectors; known are {known}")
    return by_suffix


def refuse_to_replace(path: Path) -> None:
    """Raise UsageError if a path exists."""
    if path.exists():
        raise UsageError(f"'{path}' exists already; overwrite replaces it")


def write_vectors(
    path: Path,
    format: Format,  # noqa: A002 -- as above
    words: Sequence[str],
    dimensions: int,
    blocks: Blocks,
) -> int:
    """Write words and their vectors, replace an existing file, and return the size in bytes.

    Parameters
    ----------
    path
        The file; its folder is made if it does not exist.
    format
        Format of the file.
    words
        All words, distinct.
    dimensions
        Length of a vector, d.
    blocks
        The same words in the same order, in blocks, with their (size, d) float32 vectors.

    Raises
    ------
    UsageError
        If the format cannot hold one of the words.
    HarnessError
        If a number is NaN or infinite; readers refuse such files.
    DiskError
        If the disk is full or not writable. Temporary files are removed; the old file stays.
    """
    _check(words, format)
    writer = _WRITERS[format]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with folders.temporary_beside(path) as folder:
            writer(folder / path.name, words, dimensions, _finite(blocks))
            return _put_in_place(folder, path)
    except OSError as error:
        raise DiskError(f"cannot write '{path}' ({error.strerror or error})") from None


def _write_text(path: Path, words: Sequence[str], d: int, blocks: Blocks) -> None:
    import polars as pl

    columns = [str(k) for k in range(d)]
    with path.open("wb") as file:
        file.write(b"%d %d\n" % (len(words), d))
        file.flush()  # polars, which writes below this buffer, hides an error of it
        for block, vectors in blocks:
            # polars prints the shortest digits that parse to the same number.
            frame = pl.DataFrame(vectors, schema=columns)
            frame.insert_column(0, pl.Series("word", block, dtype=pl.String))
            frame.write_csv(file, include_header=False, separator=" ", quote_style="never")


def _write_binary(path: Path, words: Sequence[str], d: int, blocks: Blocks) -> None:
    with path.open("wb") as file:
        file.write(b"%d %d\n" % (len(words), d))
        for block, vectors in blocks:
            with _little_endian(vectors).data.cast("B") as view:
                parts: Iterator[Any] = itertools.chain.from_iterable(
                    (word.encode() + b" ", view[4 * d * i : 4 * d * (i + 1)])
                    for i, word in enumerate(block)
                )
                file.write(b"".join(parts))


def _write_gensim(path: Path, words: Sequence[str], d: int, blocks: Blocks) -> None:
    try:
        from gensim.models import KeyedVectors
    except ModuleNotFoundError:
        raise Unavailable(
            "gensim's format needs the package 'gensim', which has no wheels for Python 3.14: "
            "pip install gensim, or write word2vec-binary, which gensim reads"
        ) from None

    keyed = KeyedVectors(d)
    keyed.index_to_key = list(words)
    keyed.key_to_index = {word: row for row, word in enumerate(keyed.index_to_key)}
    # gensim writes the words and an empty array, so it needs no memory for the vectors. Then the
    # file of the array is replaced: gensim takes the shape from that file.
    keyed.save(str(path), separately=["vectors"])
    with Path(f"{path}.vectors.npy").open("wb") as file:
        shape = {"descr": "<f4", "fortran_order": False, "shape": (len(words), d)}
        np.lib.format.write_array_header_1_0(file, shape)
        _write_rows(file, blocks)


def _write_safetensors(path: Path, words: Sequence[str], d: int, blocks: Blocks) -> None:
    ends = np.cumsum(np.fromiter((len(word.encode()) for word in words), "<i8", len(words)))
    first, second = ends.nbytes, ends.nbytes + 4 * d * len(words)
    third = second + int(ends[-1])
    header: dict[str, Any] = {
        "__metadata__": {"format": "word-vectors"},
        "word_ends": {"dtype": "I64", "shape": [len(words)], "data_offsets": [0, first]},
        "vectors": {"dtype": "F32", "shape": [len(words), d], "data_offsets": [first, second]},
        "words": {"dtype": "U8", "shape": [int(ends[-1])], "data_offsets": [second, third]},
    }
    text = json.dumps(header).encode()
    text += b" " * (-(len(text) + 8) % _ALIGNMENT)  # the format allows spaces at the end
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.write(ends.astype("<i8", copy=False).data)
        _write_rows(file, blocks)
        for start in range(0, len(words), 2**16):
            file.write("".join(words[start : start + 2**16]).encode())


_WRITERS = {
    "word2vec": _write_text,
    "word2vec-binary": _write_binary,
    "gensim": _write_gensim,
    "safetensors": _write_safetensors,
}


def _write_rows(file: IO[bytes], blocks: Blocks) -> None:
    for _, vectors in blocks:
        file.write(_little_endian(vectors).data)


def _little_endian(vectors: Vectors) -> Vectors:
    return np.ascontiguousarray(vectors, dtype="<f4")


def _finite(blocks: Blocks) -> Iterator[tuple[Sequence[str], Vectors]]:
    for words, vectors in blocks:
        finite = np.isfinite(vectors).all(axis=1)
        if not finite.all():
            word = words[int(np.argmin(finite))]
            raise HarnessError(f"the vector of '{word}' is not finite, so it cannot be written")
        yield words, vectors


def _check(words: Sequence[str], format: Format) -> None:  # noqa: A002 -- as above
    if not words:
        raise UsageError("no words to write")
    if not format.startswith("word2vec"):
        return
    for word in words:
        if _SEPARATOR.search(word):
            raise UsageError(
                f"word2vec's formats cannot hold the word {word!r}: they separate words from "
                "numbers by spaces and ends of lines; write a .safetensors or .kv file"
            )


def _put_in_place(folder: Path, path: Path) -> int:
    """Rename the files, `path` last; return their size in bytes."""
    files = sorted(folder.iterdir(), key=lambda file: file.name == path.name)
    size = sum(file.stat().st_size for file in files)
    if len(files) > 1 and path.exists():
        path.unlink()  # a reader finds no file rather than one with the numbers of another
    for file in files:
        file.replace(path.parent / file.name)
    return size


BLOCK_NUMBERS = 2**21
"""Numbers in a block: 8 MB of float32, and several times as much during a transform."""


@dataclass(frozen=True)
class Debiased:
    """A file of debiased word vectors that was written.

    Parameters
    ----------
    path
        The file; beside it are its card, `PATH.md`, and in gensim's format `PATH.vectors.npy`.
    format
        Its format.
    model, mitigator, concept
        Labels of the model and the mitigator, and the concept that it was fitted on; the concept is
        None if the mitigator needs none.
    words, dimensions, bytes
        Number of words, length of a vector, and size on disk.
    missing
        Words of the mitigator's fit that the model does not have.
    notes
        Notes of the model about its source, such as words that were left out.
    """

    path: Path
    format: Format
    model: str
    mitigator: str
    concept: str | None
    words: int
    dimensions: int
    bytes: int
    missing: tuple[str, ...]
    notes: tuple[str, ...] = ()


def debias(
    model: str | Embedder,
    mitigator: Row,
    out: Path | str,
    *,
    concept: str | Concept | None = FALLBACK_CONCEPT,
    format: str | None = None,  # noqa: A002 -- what users call it
    results: Path | str | None = None,
    onnx: bool = False,
    push: str | None = None,
    overwrite: bool = False,
    include: Path | str | Iterable[Path | str] = (),
    registry: Registry | None = None,
    progress: bool | Progress = False,
) -> Debiased | Exported:
    """Write a model under a mitigator.

    The whole vocabulary of a word embedder is written to a file, in bounded memory, with a card
    beside it. A text encoder of sentence-transformers becomes a folder with a card, which that
    library loads by itself. An evaluation reads in the card what the model was fitted on.

    Parameters
    ----------
    model
        A word embedder or a text encoder, its name, or an object that `evaluate` takes as one.
    mitigator
        Name, such as `hard-debias?k=2`, or a chain with `+`; `none` writes the unmitigated model.
        Or a `Mitigator` object, or a tuple or list of names and objects, which is a chain.
    out
        File or folder to write. Evaluate it as `vectors:OUT`, except gensim's format, which is a
        pickle, or a folder by its path.
    concept
        Concept to remove, or its name.
    format
        Of word vectors: `word2vec`, `word2vec-binary`, `gensim` or `safetensors`; by default that
        of the suffix of `out`: `.txt`, `.vec`, `.bin`, `.kv`, `.safetensors`.
    results
        Of a text encoder: results folder with scores for the card; by default it has none.
    onnx
        Of a text encoder: whether to write the whole model as `onnx/model.onnx`, too.
    push
        Of a text encoder: repository of the Hugging Face hub to upload it to.
    overwrite
        Whether an existing file or model is replaced.
    include
        Further folders of concepts.
    registry
        Where names are looked up; by default the installed plugins.
    progress
        Whether to show progress, or where to show it.

    Returns
    -------
    Debiased or Exported
        Facts about the file, or about the folder.

    Raises
    ------
    UsageError
        If a name, option or path is wrong, the path exists, the format cannot hold a word, or the
        results have no scores of the model.
    NotApplicable
        If the mitigator cannot be fitted, or what it does cannot be written.
    DiskError
        If it cannot be written. Temporary files are removed.
    Unavailable
        If a package is missing, or the hub does not take the model.
    """
    path = Path(out).expanduser()
    registry = registry or Registry(include=paths(include))
    label, chain = plan.chain_of(mitigator, registry)
    concept = registry.concept(concept) if isinstance(concept, str) else concept
    embedder = evaluation.embedder_of(model, registry)
    is_text = embedder.info.kind == "text"
    asked = {"results": results, "onnx": onnx, "push": push, "format": format}
    foreign = ("format",) if is_text else ("results", "onnx", "push")
    for name in foreign:
        if asked[name]:
            kind = "word vectors" if is_text else "text encoders"
            raise UsageError(f"{name} is for {kind}, not for '{embedder.info.name}'")
    typed = model if isinstance(model, str) else None
    try:
        if is_text:
            exporting.check(embedder, typed, path, overwrite=overwrite)
        format_ = None if is_text else format_of(path, format)
        for file in (path, _card_of(path)) if format_ and not overwrite else ():
            refuse_to_replace(file)
        concept = concept_for(chain, label, embedder.info, concept)
        source = Source(embedder, typed, label, chain, concept)
        if format_:
            return _debias_words(source, path, format_, shown(progress))
        return exporting.export(
            source,
            path,
            results=None if results is None else Path(results),
            onnx=onnx,
            push=push,
            progress=shown(progress),
        )
    finally:
        getattr(embedder, "close", lambda: None)()


def _card_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.md")


def _debias_words(
    source: Source,
    path: Path,
    format: Format,  # noqa: A002 -- as above
    progress: Progress,
) -> Debiased:
    """Fit a chain, and write the vocabulary under it with a card that says so."""
    embedder, chain, concept, info = source.embedder, source.chain, source.concept, source.info
    chain.fit(embedder, concept)
    words = vocabulary_of(MitigatedEmbedder(embedder, chain))
    dimensions = words.rows(0, 1).shape[1]
    with progress.stage(f"{info.name}: writing {path.name}", len(words), "words") as advance:
        blocks = _blocks(words, dimensions, advance)
        size = write_vectors(path, format, words.words, dimensions, blocks)
    card = exporting.metadata(source, {"model": info.name})
    folders.write_atomically(_card_of(path), f"{card}\n".encode())
    return Debiased(
        path=path,
        format=format,
        model=info.name,
        mitigator=source.label,
        concept=concept.name if concept else None,
        words=len(words),
        dimensions=dimensions,
        bytes=size,
        missing=tuple(
            dict.fromkeys(word for stage in chain.mitigators for word in stage.missing_words)
        ),
        notes=tuple(getattr(embedder, "notes", ())),
    )


def concept_for(
    chain: Chain, mitigator: str, info: ModelInfo, concept: Concept | None
) -> Concept | None:
    """Return the concept to fit a chain on for a whole model, or None if none is needed.

    Raises
    ------
    NotApplicable
        If the mitigator does not work on the kind of model, or cannot be fitted.
    """
    if info.kind not in chain.all_kinds:
        kind = "word embedders" if info.kind == "word" else "text encoders"
        raise NotApplicable(f"'{mitigator}' does not work on {kind}")
    if info.kind == "word" and chain.rewrites:
        raise NotApplicable(f"'{mitigator}' rewrites texts, but a vocabulary keeps its words")
    needs = chain.all_needs
    if not needs:
        return None
    if concept is None or not concept.has(needs):
        problem = f"'{concept.name}' lacks them" if concept else "none is given"
        raise NotApplicable(f"'{mitigator}' needs {' and '.join(needs)} of a concept; {problem}")
    return concept


def _blocks(
    words: Vocabulary, dimensions: int, advance: Advance
) -> Iterator[tuple[Sequence[str], Vectors]]:
    for block in words.blocks(max(1, BLOCK_NUMBERS // dimensions)):
        yield block
        advance(len(block[0]))
