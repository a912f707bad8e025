"""Writes a whole vocabulary under mitigation to a file: `harness debias`.

The mitigators are fitted on the words they need, then the vocabulary goes through them block by
block. Nothing is stored or scored on the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.concept import Concept
from harness.embedder import Embedder, ModelInfo
from harness.encode import adapters
from harness.errors import NotApplicable
from harness.mitigator import Chain, MitigatedEmbedder
from harness.progress import Advance, Progress, Silent
from harness.registry.registry import Registry
from harness.run import vector_files
from harness.run.settings import FALLBACK_CONCEPT
from harness.vocabulary import Vocabulary, vocabulary_of

if TYPE_CHECKING:
    from harness.arrays import Vectors

BLOCK_NUMBERS = 2**21
"""Numbers of a block: 8 MB of float32, and a few times that while it is transformed."""


@dataclass(frozen=True)
class Debiased:
    """A file that was written.

    Parameters
    ----------
    path
        The file; gensim's form has `PATH.vectors.npy` beside it.
    format
        How it is written.
    model, mitigator, concept
        What was debiased, by what and of what; the concept is None if the mitigator needs none.
    words, dimensions, bytes
        How much was written.
    missing
        Words that the mitigator was given for its fit and the model lacks.
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


def debias(
    model: str | Embedder,
    mitigator: str,
    out: Path | str,
    *,
    concept: str | Concept | None = FALLBACK_CONCEPT,
    format: str | None = None,  # noqa: A002 -- what users call it
    overwrite: bool = False,
    include: Iterable[Path] = (),
    registry: Registry | None = None,
    progress: Progress | None = None,
) -> Debiased:
    """Write a word embedder's whole vocabulary under a mitigator, in bounded memory.

    Parameters
    ----------
    model
        Name of a word embedder, or one.
    mitigator
        Name, such as `hard-debias?k=2` or a chain with `+`; `none` writes the model as it is.
    out
        File to write; evaluate it as `vectors:OUT` (but not gensim's form, which is a pickle).
    concept
        What to remove; its name, or the concept.
    format
        `word2vec`, `word2vec-binary`, `gensim` or `safetensors`; by default the suffix of `out`
        says: `.txt`, `.vec`, `.bin`, `.kv`, `.safetensors`.
    overwrite
        Whether a file that is there is replaced.
    include
        Further folders of concepts.
    registry
        Where names are looked up; by default the installed plugins.
    progress
        Where to show progress.

    Returns
    -------
    Debiased
        What was written.

    Raises
    ------
    UsageError
        If a name, option or path is wrong, the file is there, or the format cannot hold a word.
    NotApplicable
        If the model has no vocabulary, or the mitigator cannot be fitted.
    DiskError
        If the file cannot be written; nothing is left behind.
    """
    path = Path(out).expanduser()
    chosen = vector_files.format_of(path, format)
    if not overwrite:
        vector_files.refuse_to_replace(path)
    registry = registry or Registry(include=tuple(include))
    chain = registry.mitigator(mitigator)
    about = registry.concept(concept) if isinstance(concept, str) else concept
    embedder = registry.embedder(model) if isinstance(model, str) else adapters.as_embedder(model)
    info = embedder.info
    needed = _concept_for(chain, mitigator, info, about)
    shown = progress or Silent()
    try:
        chain.fit(embedder, needed)
        words = vocabulary_of(MitigatedEmbedder(embedder, chain))
        dimensions = words.rows(0, 1).shape[1]
        label = f"{info.name}: writing {path.name}"
        with shown.stage(label, len(words), "words") as advance:
            size = vector_files.write(
                path,
                chosen,
                words.words,
                dimensions,
                _blocks(words, dimensions, advance),
                about={
                    "model": info.name,
                    "mitigator": mitigator,
                    "concept": needed.name if needed else "",
                },
            )
    finally:
        getattr(embedder, "close", lambda: None)()
    return Debiased(
        path=path,
        format=chosen,
        model=info.name,
        mitigator=mitigator,
        concept=needed.name if needed else None,
        words=len(words),
        dimensions=dimensions,
        bytes=size,
        missing=tuple(dict.fromkeys(word for stage in chain.mitigators for word in stage.lacks)),
    )


def _concept_for(
    chain: Chain, mitigator: str, info: ModelInfo, concept: Concept | None
) -> Concept | None:
    """Return the concept to fit on, None if none is needed; refuse what cannot be done."""
    if info.kind != "word":
        raise NotApplicable(
            f"'{info.name}' is a text encoder and has no vocabulary to write; "
            "name a word embedder, such as glove-6b-50d or vectors:PATH"
        )
    if "word" not in chain.all_kinds:
        raise NotApplicable(f"'{mitigator}' does not work on word embedders")
    if chain.rewrites:
        raise NotApplicable(f"'{mitigator}' rewrites texts, and the words of a file stay as is")
    needs = chain.all_needs
    if not needs:
        return None
    if concept is None or not concept.has(needs):
        lack = f"'{concept.name}' lacks them" if concept else "none is given"
        raise NotApplicable(f"'{mitigator}' needs {' and '.join(needs)} of a concept; {lack}")
    return concept


def _blocks(
    words: Vocabulary, dimensions: int, advance: Advance
) -> Iterator[tuple[Sequence[str], Vectors]]:
    for block in words.blocks(max(1, BLOCK_NUMBERS // dimensions)):
        yield block
        advance(len(block[0]))
