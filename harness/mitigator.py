"""What a mitigator is: the base class, chains of them, and an embedder under mitigation.

Knows no method. Mitigators live in plugins (`harness.plugins.mitigators` for the built-in ones).
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from harness.arrays import Reals, Vectors
from harness.concept import Concept
from harness.embedder import Embedder, Kind, ModelInfo


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
        Names of the concept's fields that `fit` reads, such as `definitional_pairs`; empty if it
        is the same for every concept.
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
        """Return the `n` texts to embed in place of `texts`."""
        return list(texts)

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return (n, d) float32 vectors to use in place of `vectors`, (n, d), of `texts`.

        `texts` are as the task has them, before `rewrite`. Rows that are NaN stay NaN.
        """
        return np.asarray(vectors, dtype=np.float32)

    @property
    def rewrites(self) -> bool:
        """Whether it works on texts, so that it is fitted when the plan is made."""
        return type(self).rewrite is not Mitigator.rewrite


class Chain(Mitigator):
    """Mitigators one after another: texts are rewritten in order, then vectors transformed.

    Each is fitted on the embedder as those before it leave it.

    Parameters
    ----------
    mitigators
        The stages in order.
    """

    def __init__(self, mitigators: Sequence[Mitigator]) -> None:
        self.mitigators = mitigators

    @property
    def rewrites(self) -> bool:
        """Whether any stage works on texts."""
        return any(stage.rewrites for stage in self.mitigators)

    @property
    def all_needs(self) -> tuple[str, ...]:
        """The concept's fields that any stage reads."""
        return tuple(dict.fromkeys(need for stage in self.mitigators for need in stage.needs))

    @property
    def all_kinds(self) -> tuple[Kind, ...]:
        """The kinds of embedder that every stage works on."""
        kinds: tuple[Kind, ...] = ("word", "text")
        return tuple(kind for kind in kinds if all(kind in s.kinds for s in self.mitigators))

    def fitting_texts(self, concept: Concept | None) -> list[str]:
        """Return every stage's fitting texts, rewritten by the stages before it.

        Stages that rewrite must have been fitted.
        """
        texts: list[str] = []
        for i, stage in enumerate(self.mitigators):
            own = stage.fitting_texts(concept)
            for before in self.mitigators[:i]:
                own = before.rewrite(own)
            texts.extend(own)
        return list(dict.fromkeys(texts))

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Fit each stage on the embedder as the earlier stages leave it."""
        for stage in self.mitigators:
            stage.fit(embedder, concept)
            embedder = MitigatedEmbedder(embedder, stage)
        return self

    def fit_rewriters(self, embedder: Embedder, concept: Concept | None) -> Self:
        """Fit only the stages that work on texts: what the plan needs."""
        for stage in self.mitigators:
            if stage.rewrites:
                stage.fit(embedder, concept)
        return self

    def rewrite(self, texts: Sequence[str]) -> list[str]:
        """Rewrite `texts` by each stage in turn."""
        for stage in self.mitigators:
            texts = stage.rewrite(texts)
        return list(texts)

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Transform `vectors`, (n, d), by each stage in turn."""
        for stage in self.mitigators:
            vectors = stage.transform(vectors, texts)
        return np.asarray(vectors, dtype=np.float32)


class MitigatedEmbedder:
    """An embedder under a fitted mitigator; itself an embedder.

    Parameters
    ----------
    embedder
        What is mitigated.
    mitigator
        The fitted mitigator.
    """

    def __init__(self, embedder: Embedder, mitigator: Mitigator) -> None:
        self.embedder, self.mitigator = embedder, mitigator
        self._fingerprint = uuid.uuid4().hex  # what was fitted cannot be named by its parameters

    @property
    def info(self) -> ModelInfo:
        """The embedder's info under a fingerprint of its own, so that it shares no vectors."""
        return dataclasses.replace(self.embedder.info, fingerprint=self._fingerprint)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the mitigated (n, d) vectors of `texts`."""
        vectors = self.embedder.encode(self.mitigator.rewrite(texts))
        return self.mitigator.transform(vectors, texts)
