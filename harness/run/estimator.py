"""Mitigators as transformers of scikit-learn, on arrays: `harness.Debiaser`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from harness.arrays import Floats, Vectors
from harness.concept import Concept
from harness.embedder import Kind, ModelInfo, Vocabulary
from harness.errors import NotApplicable
from harness.mitigator import Map, Mitigator
from harness.registry.registry import Registry
from harness.run import plan


class Debiaser(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A mitigator that does one thing to every vector, for pipelines of scikit-learn.

    Parameters
    ----------
    mitigator
        Name, such as `leace?normalize=false`, a chain with `+`, or a `Mitigator` object.

    Attributes
    ----------
    map_
        What is done to a vector, a `harness.mitigator.Map`: what a neutral text gets.
    """

    def __init__(self, mitigator: str | Mitigator = "leace") -> None:
        self.mitigator = mitigator

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Fit the mitigator on (n, d) vectors and the (n,) group of each; None or NaN is of none.

        `groups` has the groups where a later step predicts `y`. Hard debiasing and SentDebias
        compare the i-th rows of all groups; a smaller group begins again. `NotApplicable` if the
        mitigator cannot be fitted on these rows, or is no map of a vector.
        """
        rows = validate_data(self, X, dtype=np.float64)
        labels = y if groups is None else groups
        _, chain = plan.chain_of(self.mitigator, Registry())
        concept = _concept(rows, labels) if chain.all_needs else None
        self.map_ = Map()
        for stage in chain.mitigators:
            # Without a concept it learns from the vocabulary of a word embedder: from all rows.
            preferred: Kind = "text" if stage.needs and "text" in stage.kinds else "word"
            kind = preferred if preferred in stage.kinds else stage.kinds[0]
            stage.fit(_Rows(self.map_.apply(rows), kind), concept)
            self.map_ = self.map_.then(stage.as_map())
        if self.map_.sentences:
            raise NotApplicable(f"'{self.mitigator}' adds a sentence to texts, and rows are none")
        return self

    def transform(self, X: Any) -> Floats:
        """Return the (n, m) vectors under the mitigator."""
        check_is_fitted(self, "map_")
        return self.map_.apply(validate_data(self, X, dtype=np.float64, reset=False))


def _concept(rows: Floats, labels: npt.ArrayLike | None) -> Concept:
    """Return the concept whose words, `row0` and so on, are the rows of the groups."""
    if labels is None:
        raise NotApplicable("the group of each row is needed: fit(X, y) or fit(X, groups=…)")
    check_consistent_length(rows, labels)
    by_group: dict[Any, list[str]] = {}
    for row, label in enumerate(np.asarray(labels, dtype=object).tolist()):
        if label is not None and label == label:  # NaN differs from itself
            by_group.setdefault(label, []).append(f"row{row}")
    if len(by_group) < 2:
        raise NotApplicable(f"y has {len(by_group)} groups; two or more are required")
    groups = [by_group[label] for label in sorted(by_group, key=str)]
    sets = [tuple(group[i % len(group)] for group in groups) for i in range(max(map(len, groups)))]
    return Concept(
        name="y",
        definitional_pairs=tuple((row[0], row[1]) for row in sets if len(groups) == 2),
        definitional_sets=tuple(sets),
        specific_words=tuple(text for group in groups for text in group),
    )


class _Rows:
    """An embedder of (n, d) rows, which it knows by the words `row0` and so on."""

    def __init__(self, rows: Floats, kind: Kind) -> None:
        self.info = ModelInfo(name="X", kind=kind, dimensions=rows.shape[1], fingerprint="rows")
        self._rows = {f"row{i}": row for i, row in enumerate(rows.astype(np.float32))}

    @property
    def vocabulary(self) -> Vocabulary:
        """All rows."""
        words = list(self._rows)
        return Vocabulary(words, lambda start, stop: self.encode(words[start:stop]))

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the rows of texts; NaN for a text that stands for none."""
        missing = np.full(self.info.dimensions or 0, np.nan, dtype=np.float32)
        found = [self._rows.get(text, missing) for text in texts]
        return np.array([missing, *found])[1:]
