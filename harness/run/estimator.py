"""Mitigators as transformers of scikit-learn, on arrays: `harness.Debiaser`.

Importing this module imports scikit-learn, which takes a second; nothing else in the core does.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from harness.arrays import Floats, Vectors
from harness.concept import Concept
from harness.embedder import Embedder, ModelInfo, Vocabulary
from harness.errors import NotApplicable
from harness.mitigator import Map, Mitigator
from harness.registry.registry import Registry
from harness.run import plan


class Debiaser(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A mitigator on arrays of vectors, for pipelines of scikit-learn.

    It works for mitigators that do one thing to every vector: LEACE, INLP, SentDebias, hard
    debiasing, half-sibling regression, whitening, soft debiasing, normalisation and their chains.
    It does to every row what they do to a neutral text.

    Parameters
    ----------
    mitigator
        Name, such as `leace?normalize=false`, a chain with `+`, or a `Mitigator` object.

    Attributes
    ----------
    map_
        What is done to a vector, a `harness.mitigator.Map`.
    n_features_in_
        Number of dimensions of a vector.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> probe = make_pipeline(harness.Debiaser("leace"), LogisticRegression())  # doctest: +SKIP
    >>> probe.fit(vectors, gender)  # how well is the gender still found?  # doctest: +SKIP
    """

    def __init__(self, mitigator: str | Mitigator = "leace") -> None:
        self.mitigator = mitigator

    def fit(
        self, X: npt.ArrayLike, y: npt.ArrayLike | None = None, groups: npt.ArrayLike | None = None
    ) -> Self:
        """Fit the mitigator on rows of two or more groups; return self.

        Parameters
        ----------
        X
            (n, d) vectors.
        y
            (n,) the group of each row, such as its gender; None or NaN for a row of no group. A
            mitigator that needs no concept, such as whitening, ignores it and learns from all
            rows. Half-sibling regression takes the rows of any group as those about the concept.
            Hard debiasing and SentDebias compare the i-th rows of all groups with each other; a
            group with fewer rows begins again.
        groups
            The same, where `y` is what a later step predicts: `fit(X, y, debiaser__groups=…)` of a
            pipeline.

        Raises
        ------
        NotApplicable
            If the mitigator cannot be fitted on these rows, or is no map of a vector.
        """
        rows = np.asarray(check_array(X, dtype=np.float64))
        labels = y if groups is None else groups
        _, chain = plan.chain_of(self.mitigator, Registry())
        concept = None
        if chain.all_needs:
            if labels is None:
                raise NotApplicable(
                    f"'{self.mitigator}' needs the group of each row: fit(X, y) or fit(X, groups=…)"
                )
            concept = _concept(np.asarray(labels, dtype=object), len(rows))
        self.n_features_in_ = rows.shape[1]
        self.map_ = Map()
        for stage in chain.mitigators:
            stage.fit(_Rows.for_stage(stage, self.map_.apply(rows)), concept)
            self.map_ = self.map_.then(stage.as_map())
        if self.map_.sentences:
            raise NotApplicable(f"'{self.mitigator}' adds a sentence to texts, and rows are none")
        return self

    def transform(self, X: npt.ArrayLike) -> Floats:
        """Return the (n, m) vectors under the mitigator."""
        check_is_fitted(self, "map_")
        rows = np.asarray(check_array(X, dtype=np.float64))
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {rows.shape[1]} features, but Debiaser is expecting "
                f"{self.n_features_in_} features as input"
            )
        return self.map_.apply(rows)


def _text(row: int) -> str:
    return f"row{row}"


def _concept(labels: npt.NDArray[Any], n: int) -> Concept:
    """Return the concept whose words are the rows of the groups."""
    if labels.shape != (n,):
        raise ValueError(f"y has the shape {labels.shape}; expected one group for each of {n} rows")
    by_group: dict[Hashable, list[str]] = {}
    for row, label in enumerate(labels.tolist()):
        if label is not None and label == label:  # NaN differs from itself
            by_group.setdefault(label, []).append(_text(row))
    if len(by_group) < 2:
        raise NotApplicable(f"y has {len(by_group)} groups; two or more are required")
    groups = [by_group[label] for label in sorted(by_group, key=lambda label: str(label))]
    sets = [tuple(group[i % len(group)] for group in groups) for i in range(max(map(len, groups)))]
    return Concept(
        name="y",
        definitional_pairs=tuple((row[0], row[1]) for row in sets if len(groups) == 2),
        definitional_sets=tuple(sets),
        specific_words=tuple(text for group in groups for text in group),
    )


class _Rows:
    """The rows of an array as an embedder that knows a text for each of them."""

    def __init__(self, rows: Floats, info: ModelInfo) -> None:
        self.info = info
        self._rows = rows.astype(np.float32)
        self._texts = [_text(row) for row in range(len(rows))]
        self._row_of = {text: row for row, text in enumerate(self._texts)}

    @classmethod
    def for_stage(cls, stage: Mitigator, rows: Floats) -> Embedder:
        """Return the embedder that a mitigator learns from: of labelled texts, or of all rows.

        What needs no concept learns from a vocabulary of all rows, where it would learn from texts
        of its own otherwise.
        """
        kind = "text" if stage.needs and "text" in stage.kinds else "word"
        if kind not in stage.kinds:
            kind = stage.kinds[0]
        return cls(
            rows, ModelInfo(name="X", kind=kind, dimensions=rows.shape[1], fingerprint="rows")
        )

    @property
    def vocabulary(self) -> Vocabulary:
        """All rows."""
        return Vocabulary(self._texts, lambda start, stop: self._rows[start:stop])

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the rows of texts; NaN for a text that stands for none."""
        found = np.full((len(texts), self._rows.shape[1]), np.nan, dtype=np.float32)
        for i, text in enumerate(texts):
            if (row := self._row_of.get(text)) is not None:
                found[i] = self._rows[row]
        return found
