"""Mitigators in a chain."""

from __future__ import annotations

import dataclasses
import functools
import uuid
from collections.abc import Sequence
from typing import Any, Self, get_args

import numpy as np

from harness.arrays import Reals, Vectors
from harness.concept import Concept
from harness.embedder import COMPARING, Embedder, Kind, ModelInfo, Vocabulary, vocabulary_of
from harness.errors import HarnessError
from harness.mitigator import Map, Mitigator, checked, clone, named

# The embedders that mitigators of a chain are fitted with.
#
# `MitigatedEmbedder` is an embedder under a chain, or under its first stages. `NotYetEncoding` is
# what a stage that rewrites texts gets.


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


class Chain(Mitigator):
    """Mitigators one after another: all texts are rewritten in order, then vectors transformed.

    A stage that rewrites is fitted first, on the concept alone. Each other stage is fitted on the
    vectors that it will get: of texts as all stages rewrite them, under the transforms of the
    stages before it. A chain remembers the texts that it returned, since many tasks share texts.

    Parameters
    ----------
    mitigators
        The stages in order.
    rewriting
        Whether texts are rewritten. Probes (texts that define a concept) are embedded as they are
        written, so they go through a chain that does not rewrite; see `without_rewriting`.
    sources
        Digests of the code of stages that no plugin registers.
    """

    def __init__(
        self,
        mitigators: Sequence[Mitigator],
        rewriting: bool = True,
        sources: tuple[str, ...] = (),
    ) -> None:
        self.mitigators = mitigators
        self.rewriting = rewriting
        self.sources = sources
        self._rewriters_fitted = False
        self._fitted_with: dict[int, NotYetEncoding] = {}  # by stage that rewrites
        self._fit_outcome: bool | HarnessError = False  # of `fit_once`
        self._rewritten: dict[str, str] = {}

    def unfitted(self) -> Chain:
        """Return a chain of unfitted copies of the stages."""
        stages = [clone(stage) for stage in self.mitigators]
        return Chain(stages, rewriting=self.rewriting, sources=self.sources)

    @property
    def rewrites(self) -> bool:
        """Whether any stage changes texts."""
        return self.rewriting and any(stage.rewrites for stage in self.mitigators)

    @property
    def all_needs(self) -> tuple[str, ...]:
        """The concept's fields that any stage reads."""
        return tuple(dict.fromkeys(need for stage in self.mitigators for need in stage.needs))

    @property
    def all_kinds(self) -> tuple[Kind, ...]:
        """The kinds of embedder that every stage works on.

        A stage for text encoders that only rewrites texts works on every encoder.
        """
        return tuple(
            kind
            for kind in get_args(Kind)
            if all(
                kind in stage.kinds
                or (kind in COMPARING and "text" in stage.kinds and not stage.transforms)
                for stage in self.mitigators
            )
        )

    @property
    def monolingual(self) -> bool:  # type: ignore[override]  # of its stages
        """Whether any stage adds or swaps words of its concept in texts."""
        return any(stage.monolingual for stage in self.mitigators)

    @property
    def control(self) -> bool:  # type: ignore[override]  # of its stages
        """Whether any stage is a control of measures."""
        return any(stage.control for stage in self.mitigators)

    def in_language(self, language: str) -> Chain:
        """Return the unfitted chain for texts in a language; itself if no stage differs."""
        stages = [stage.in_language(language) for stage in self.mitigators]
        if all(new is old for new, old in zip(stages, self.mitigators, strict=True)):
            return self
        return Chain(stages, rewriting=self.rewriting, sources=self.sources)

    @functools.cached_property
    def depends_on(self) -> list[Any]:
        """What the stages depend on, without those that depend on nothing; each is read once."""
        values = [value for stage in self.mitigators if (value := stage.depends_on)]
        return [*values, *self.sources]

    def fitting_texts(self, concept: Concept | None) -> list[str]:
        """Return the fitting texts of every stage, as all stages rewrite them.

        Stages that rewrite must have been fitted.
        """
        texts = [text for stage in self.mitigators for text in stage.fitting_texts(concept)]
        return list(dict.fromkeys(self.rewrite(texts)))

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Fit all stages anew: those that rewrite on the concept alone, the others on vectors."""
        self.fit_rewriters(embedder.info, concept)
        return self._fit_transforms(embedder, concept)

    def fit_rewriters(self, info: ModelInfo, concept: Concept | None) -> Self:
        """Fit only the stages that rewrite, which the plan needs; return self."""
        for i, stage in enumerate(self.mitigators):
            if stage.rewrites:
                self._fitted_with[i] = NotYetEncoding(info)
                stage.fit(self._fitted_with[i], concept)
        self._rewriters_fitted = True
        self._rewritten.clear()
        return self

    def fit_once(self, embedder: Embedder, concept: Concept | None) -> None:
        """Fit the stages that are not fitted yet.

        Raises
        ------
        HarnessError
            If the fit fails. Every later call raises the same error without another fit.
        """
        if self._fit_outcome is False:
            try:
                if not self._rewriters_fitted:
                    self.fit_rewriters(embedder.info, concept)
                self._fit_transforms(embedder, concept)
                self._fit_outcome = True
            except HarnessError as error:
                self._fit_outcome = error
        if isinstance(self._fit_outcome, HarnessError):
            raise self._fit_outcome

    def _fit_transforms(self, embedder: Embedder, concept: Concept | None) -> Self:
        for i, stage in enumerate(self.mitigators):
            below = MitigatedEmbedder(embedder, self, stages=i)
            if not stage.rewrites:
                stage.fit(below, concept)
            elif i in self._fitted_with:
                self._fitted_with[i].inner = below
        return self

    def without_rewriting(self) -> Chain:
        """Return the chain that probes go through, which leaves texts as they are written.

        It shares the stages that rewrite, since these learn nothing from vectors. The other stages
        are unfitted copies, to be fitted on texts as they are written. A chain that rewrites
        nothing is returned itself.
        """
        return self._refitting(rewriting=False) if self.rewrites else self

    def refitting(self) -> Chain:
        """Return the chain with unfitted copies of the stages that learn from vectors."""
        return self._refitting(rewriting=self.rewriting)

    def _refitting(self, *, rewriting: bool) -> Chain:
        stages = [stage if stage.rewrites else clone(stage) for stage in self.mitigators]
        chain = Chain(stages, rewriting=rewriting)
        chain._rewriters_fitted = self._rewriters_fitted
        return chain

    def rewrite(self, texts: Sequence[str]) -> list[str]:
        """Rewrite `texts` by each stage in turn.

        Raises
        ------
        HarnessError
            If a stage does not return one text for each.
        """
        if not self.rewrites:
            return list(texts)
        before = [text for text in dict.fromkeys(texts) if text not in self._rewritten]
        after = before
        for stage in self.mitigators if before else ():
            n, after = len(after), stage.rewrite(after)
            if len(after) != n:
                raise HarnessError(f"{named(stage)} rewrote {n} texts as {len(after)}")
            if not all(isinstance(text, str) for text in after):
                raise HarnessError(f"{named(stage)} rewrote a text as something else than text")
        self._rewritten.update(zip(before, after, strict=True))
        return [self._rewritten[text] for text in texts]

    def reads(self, texts: Sequence[str], concept: Concept | None) -> list[str]:
        """Return the further texts that any stage reads, as all stages rewrite them."""
        read = [text for stage in self.mitigators for text in stage.reads(texts, concept)]
        return self.rewrite(read)

    def as_map(self) -> Map:
        """Return the maps of all stages as one.

        Raises
        ------
        NotApplicable
            If a stage is no map.
        """
        return functools.reduce(Map.then, (stage.as_map() for stage in self.mitigators), Map())

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of every stage."""
        return tuple(note for stage in self.mitigators for note in stage.notes)

    def transform(
        self, vectors: Reals, texts: Sequence[str], *, stages: int | None = None
    ) -> Vectors:
        """Transform `vectors`, (n, d), by each stage in turn, or by the first `stages` of them.

        Raises
        ------
        HarnessError
            If a stage does not return one finite vector for each text that had one.
        """
        for stage in self.mitigators[:stages]:
            vectors = checked(stage, vectors, stage.transform(vectors, texts))
        return np.asarray(vectors, dtype=np.float32)
