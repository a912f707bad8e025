"""The embedders that mitigators of a chain are fitted with.

`MitigatedEmbedder` is an embedder under a chain, or under its first stages. `NotYetEncoding` is
what a stage that rewrites texts gets.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.arrays import Vectors
from harness.embedder import Embedder, ModelInfo
from harness.errors import HarnessError
from harness.vocabulary import Vocabulary, vocabulary_of

if TYPE_CHECKING:
    from harness.chain import Chain


class MitigatedEmbedder:
    """An embedder under a chain of mitigators; itself an embedder.

    Parameters
    ----------
    embedder
        The embedder to mitigate.
    chain
        The mitigators; those that are used must be fitted.
    stages
        How many of them transform, from the first; all by default.
    """

    def __init__(self, embedder: Embedder, chain: Chain, *, stages: int | None = None) -> None:
        self.embedder, self.chain, self.stages = embedder, chain, stages
        self._fingerprint = uuid.uuid4().hex  # the parameters do not identify what was learnt

    @property
    def info(self) -> ModelInfo:
        """The embedder's info with a fingerprint of its own, so that it shares no vectors."""
        return dataclasses.replace(self.embedder.info, fingerprint=self._fingerprint)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the mitigated (n, d) vectors of `texts`."""
        vectors = self.embedder.encode(self.chain.rewrite(texts))
        return self.chain.transform(vectors, texts, stages=self.stages)

    @property
    def vocabulary(self) -> Vocabulary:
        """The embedder's words, which stay as they are, with their mitigated vectors.

        Where nothing is transformed it is the embedder's own vocabulary, with all its attributes.
        """
        inner = vocabulary_of(self.embedder)
        if not self.chain.mitigators[: self.stages]:
            return inner

        def rows(start: int, stop: int) -> Vectors:
            words = inner.words[start:stop]
            return self.chain.transform(inner.rows(start, stop), words, stages=self.stages)

        return Vocabulary(inner.words, rows)


class NotYetEncoding:
    """The embedder that mitigators of texts are fitted with: it has info, and cannot encode yet.

    A mitigator that rewrites texts and transforms vectors may keep it: `transform` is called when
    it can encode.

    Parameters
    ----------
    info
        The info of the real embedder.

    Attributes
    ----------
    inner
        The embedder that encodes; None until the other stages of the chain are fitted.
    """

    def __init__(self, info: ModelInfo) -> None:
        self.info = info
        self.inner: Embedder | None = None

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of `texts`, or raise HarnessError while the mitigator is fitted."""
        if self.inner is not None:
            return self.inner.encode(texts)
        raise HarnessError(
            "a mitigator that rewrites texts is fitted before anything is encoded, "
            "so its fit cannot encode texts"
        )
