"""What a mitigator is: the base class, chains of them, and an embedder under mitigation.

Knows no method. Mitigators live in plugins (`harness.plugins.mitigators` for the built-in ones).
"""

from __future__ import annotations

import dataclasses
import functools
import uuid
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from harness.arrays import Reals, Vectors
from harness.concept import Concept
from harness.embedder import Embedder, Kind, ModelInfo
from harness.errors import HarnessError
from harness.vocabulary import Vocabulary, vocabulary_of


class Mitigator(BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Turns an embedder into one with less of a concept in it.

    A scikit-learn estimator: hyper-parameters are keyword arguments of `__init__`, stored
    untouched; what `fit` learns ends in an underscore; `clone` and `ParameterGrid` work.
    Override `rewrite` to work on what is embedded, `transform` to work on what comes out, or both.

    Attributes
    ----------
    kinds
        Kinds of embedder that it works on.
    needs
        Names of the concept's fields that `fit` reads, such as `definitional_pairs`, or
        `definitional_pairs or specific_words` where either will do; empty if it is the same for
        every concept.
    """

    kinds: ClassVar[tuple[Kind, ...]] = ("word", "text")
    needs: ClassVar[tuple[str, ...]] = ()

    def fitting_texts(self, concept: Concept | None) -> list[str]:
        """Return the texts that `fit` learns from.

        The plan encodes them with everything else, and a score says which of its own texts are
        among them (a leak between fitting and judging).
        """
        return []

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Learn what to change from `embedder` and `concept`; return self.

        One that overrides `rewrite` is fitted before anything is encoded, so it learns from the
        concept alone.

        Raises
        ------
        NotApplicable
            If the concept lacks something needed, or the fit is singular.
        """
        return self

    def rewrite(self, texts: Sequence[str]) -> list[str]:
        """Return the `n` texts to embed in place of `texts`.

        What becomes of a text depends on that text alone: each is rewritten once.
        """
        return list(texts)

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return (n, d) float32 vectors to use in place of `vectors`, (n, d), of `texts`.

        `texts` are as the task has them, before `rewrite`. Rows that are NaN stay NaN. What
        becomes of a row depends on that row and its text alone: each text is transformed once,
        whatever tasks it stands in.
        """
        return np.asarray(vectors, dtype=np.float32)

    def reads(self, texts: Sequence[str], concept: Concept | None) -> list[str]:
        """Return further texts whose vectors `transform` asks the embedder for to change `texts`.

        The plan asks before any fit, and encodes them with everything else. What `transform` asks
        for besides is encoded then and there, which is slower.
        """
        return []

    @property
    def depends_on(self) -> Any:
        """What its outcome depends on besides hyper-parameters, the concept and the embedder.

        JSON-like, such as the hash of a file or the version of a tool; part of the fingerprint in
        records. Asked of an unfitted mitigator, once a run.
        """
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of its work so far, a line each; told when a run ends."""
        return ()

    @property
    def lacks(self) -> tuple[str, ...]:
        """The words that it was given for its fit and that the embedder lacks: its `missing_`."""
        return tuple(getattr(self, "missing_", ()))

    @property
    def rewrites(self) -> bool:
        """Whether it works on texts, so that it is fitted when the plan is made."""
        return type(self).rewrite is not Mitigator.rewrite


class Chain(Mitigator):
    """Mitigators one after another: all texts are rewritten in order, then vectors transformed.

    Each stage that transforms is fitted on vectors as they come to it: of the texts as all stages
    rewrite them, under the transforms of the stages before it.

    Parameters
    ----------
    mitigators
        The stages in order.
    rewriting
        Whether texts are rewritten. Without it the chain is what probes go through: texts that
        define a concept stay as they are written, and so must what is learnt for them.
    """

    def __init__(self, mitigators: Sequence[Mitigator], rewriting: bool = True) -> None:
        self.mitigators = mitigators
        self.rewriting = rewriting
        self._outcome: bool | HarnessError = False  # of `fit_once`
        # Many tasks ask for the same texts, each of which is rewritten and transformed once.
        self.rewritten: dict[str, str] = {}
        self.known: dict[str, Vectors] = {}

    @property
    def rewrites(self) -> bool:
        """Whether any stage works on texts."""
        return self.rewriting and any(stage.rewrites for stage in self.mitigators)

    @property
    def all_needs(self) -> tuple[str, ...]:
        """The concept's fields that any stage reads."""
        return tuple(dict.fromkeys(need for stage in self.mitigators for need in stage.needs))

    @property
    def all_kinds(self) -> tuple[Kind, ...]:
        """The kinds of embedder that every stage works on."""
        kinds: tuple[Kind, ...] = ("word", "text")
        return tuple(kind for kind in kinds if all(kind in s.kinds for s in self.mitigators))

    @functools.cached_property
    def depends_on(self) -> list[Any]:
        """What the stages depend on, of those that depend on something; each is asked once."""
        return [found for stage in self.mitigators if (found := stage.depends_on)]

    def fitting_texts(self, concept: Concept | None) -> list[str]:
        """Return every stage's fitting texts, as all stages rewrite them.

        Stages that rewrite must have been fitted.
        """
        own = [text for stage in self.mitigators for text in stage.fitting_texts(concept)]
        return list(dict.fromkeys(self.rewrite(own)))

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Fit the stages that rewrite on the concept alone, the others on vectors, in order."""
        self.fit_rewriters(embedder, concept)
        for i, stage in enumerate(self.mitigators):
            if not stage.rewrites:
                stage.fit(MitigatedEmbedder(embedder, self, stages=i), concept)
        return self

    def fit_rewriters(self, embedder: Embedder, concept: Concept | None) -> Self:
        """Fit only the stages that work on texts: what the plan needs."""
        for stage in self.mitigators:
            if stage.rewrites:
                stage.fit(embedder, concept)
        return self

    def fit_once(self, embedder: Embedder, concept: Concept | None) -> None:
        """Fit unless that was done; a fit that failed fails again in the same words."""
        if self._outcome is False:
            try:
                self.fit(embedder, concept)
                self._outcome = True
            except HarnessError as error:
                self._outcome = error
        if isinstance(self._outcome, HarnessError):
            raise self._outcome

    def rewrite(self, texts: Sequence[str]) -> list[str]:
        """Rewrite `texts` by each stage in turn.

        Raises
        ------
        HarnessError
            If a stage does not give a text for each.
        """
        if not self.rewrites:
            return list(texts)
        new = written = [text for text in dict.fromkeys(texts) if text not in self.rewritten]
        for stage in self.mitigators:
            given, new = new, stage.rewrite(new)
            what = f"a mitigator ({type(stage).__name__})"
            if len(new) != len(given):
                raise HarnessError(f"{what} rewrote {len(given)} texts as {len(new)}")
            if not all(isinstance(text, str) for text in new):
                raise HarnessError(f"{what} rewrote a text as something else")
        self.rewritten.update(zip(written, new, strict=True))
        return [self.rewritten[text] for text in texts]

    def reads(self, texts: Sequence[str], concept: Concept | None) -> list[str]:
        """Return what any stage reads besides `texts`, as all stages rewrite it."""
        read = [text for stage in self.mitigators for text in stage.reads(texts, concept)]
        return self.rewrite(read)

    @property
    def notes(self) -> tuple[str, ...]:
        """What every stage says of its work."""
        return tuple(note for stage in self.mitigators for note in stage.notes)

    def transform(
        self, vectors: Reals, texts: Sequence[str], *, stages: int | None = None
    ) -> Vectors:
        """Transform `vectors`, (n, d), by each stage in turn, or by the first `stages` of them."""
        for stage in self.mitigators[:stages]:
            vectors = stage.transform(vectors, texts)
        return np.asarray(vectors, dtype=np.float32)


class MitigatedEmbedder:
    """An embedder under a chain of mitigators; itself an embedder.

    Parameters
    ----------
    embedder
        What is mitigated.
    chain
        The mitigators; those that are used must be fitted.
    stages
        How many of them transform, from the first; all by default.
    """

    def __init__(self, embedder: Embedder, chain: Chain, *, stages: int | None = None) -> None:
        self.embedder, self.chain, self.stages = embedder, chain, stages
        self._fingerprint = uuid.uuid4().hex  # what was fitted cannot be named by its parameters

    @property
    def info(self) -> ModelInfo:
        """The embedder's info under a fingerprint of its own, so that it shares no vectors."""
        return dataclasses.replace(self.embedder.info, fingerprint=self._fingerprint)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the mitigated (n, d) vectors of `texts`."""
        vectors = self.embedder.encode(self.chain.rewrite(texts))
        return self.chain.transform(vectors, texts, stages=self.stages)

    @property
    def vocabulary(self) -> Vocabulary:
        """The embedder's words with their mitigated vectors; a word stays the word it is.

        It is the embedder's own while nothing is transformed, with all that is known of it.
        """
        inner = vocabulary_of(self.embedder)
        if not self.chain.mitigators[: self.stages]:
            return inner

        def rows(start: int, stop: int) -> Vectors:
            words = inner.words[start:stop]
            return self.chain.transform(inner.rows(start, stop), words, stages=self.stages)

        return Vocabulary(inner.words, rows)
