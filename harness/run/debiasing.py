"""Writes a whole vocabulary under mitigation to a file: `harness debias`.

The mitigators are fitted on the words that they need. Then the vocabulary is transformed and
written block by block. Nothing is stored or scored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.chain import Chain
from harness.concept import Concept
from harness.embedder import Embedder, ModelInfo
from harness.errors import NotApplicable
from harness.mitigated_embedder import MitigatedEmbedder
from harness.progress import Advance, Progress, shown
from harness.registry.registry import Registry
from harness.run import mitigators, models, vector_files
from harness.run.mitigators import Row
from harness.run.settings import FALLBACK_CONCEPT, paths
from harness.vocabulary import Vocabulary, vocabulary_of

if TYPE_CHECKING:
    from harness.arrays import Vectors

BLOCK_NUMBERS = 2**21
"""Numbers in a block: 8 MB of float32, and several times that while it is transformed."""


@dataclass(frozen=True)
class Debiased:
    """A file of debiased word vectors that was written.

    Parameters
    ----------
    path
        The file; gensim's format has `PATH.vectors.npy` beside it.
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
        What the model says of its source, such as words that were left out.
    """

    path: Path
    format: vector_files.Format
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
    overwrite: bool = False,
    include: Path | str | Iterable[Path | str] = (),
    registry: Registry | None = None,
    progress: bool | Progress = False,
) -> Debiased:
    """Write a word embedder's whole vocabulary under a mitigator, in bounded memory.

    Parameters
    ----------
    model
        A word embedder, its name, or an object that `evaluate` takes as one.
    mitigator
        Name, such as `hard-debias?k=2`, or a chain with `+`; `none` writes the unmitigated model.
        Or a `Mitigator` object, or a tuple or list of names and objects, which is a chain.
    out
        File to write. Evaluate it as `vectors:OUT`, except gensim's format, which is a pickle.
    concept
        Concept to remove, or its name.
    format
        `word2vec`, `word2vec-binary`, `gensim` or `safetensors`; by default that of the suffix of
        `out`: `.txt`, `.vec`, `.bin`, `.kv`, `.safetensors`.
    overwrite
        Whether an existing file is replaced.
    include
        Further folders of concepts.
    registry
        Where names are looked up; by default the installed plugins.
    progress
        Whether to show progress, or where to show it.

    Returns
    -------
    Debiased
        Facts about the file.

    Raises
    ------
    UsageError
        If a name, option or path is wrong, the file exists, or the format cannot hold a word.
    NotApplicable
        If the model has no vocabulary, or the mitigator cannot be fitted.
    DiskError
        If the file cannot be written. Nothing is left behind.
    """
    path = Path(out).expanduser()
    format_ = vector_files.format_of(path, format)
    if not overwrite:
        vector_files.refuse_to_replace(path)
    registry = registry or Registry(include=paths(include))
    name, chain = mitigators.chain(mitigator, registry)
    concept = registry.concept(concept) if isinstance(concept, str) else concept
    embedder = models.embedder(model, registry)
    info = embedder.info
    fitted_on = concept_for(chain, name, info, concept)
    progress = shown(progress)
    try:
        chain.fit(embedder, fitted_on)
        words = vocabulary_of(MitigatedEmbedder(embedder, chain))
        dimensions = words.rows(0, 1).shape[1]
        label = f"{info.name}: writing {path.name}"
        with progress.stage(label, len(words), "words") as advance:
            size = vector_files.write(
                path,
                format_,
                words.words,
                dimensions,
                _blocks(words, dimensions, advance),
                about={
                    "model": info.name,
                    "mitigator": name,
                    "concept": fitted_on.name if fitted_on else "",
                },
            )
    finally:
        getattr(embedder, "close", lambda: None)()
    return Debiased(
        path=path,
        format=format_,
        model=info.name,
        mitigator=name,
        concept=fitted_on.name if fitted_on else None,
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
    """Return the concept to fit a chain on for a whole vocabulary, or None if none is needed.

    Raises
    ------
    NotApplicable
        If the model has no vocabulary, or the mitigator cannot be fitted.
    """
    if info.kind != "word":
        raise NotApplicable(
            f"'{info.name}' is a text encoder and has no vocabulary; "
            "give a word embedder, such as glove-6b-50d or vectors:PATH"
        )
    if "word" not in chain.all_kinds:
        raise NotApplicable(f"'{mitigator}' does not work on word embedders")
    if chain.rewrites:
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
