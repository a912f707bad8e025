"""What classifiers of texts share: features of pairs, folds with copies together, predictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals

Codes: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Predicted:
    """Predicted classes of the tested texts.

    Parameters
    ----------
    classes
        (m,) predicted class of each.
    details
        How the classifiers were chosen, for the record.
    parts
        (m,) fold of each in a cross-validation; empty with a test set.
    """

    classes: Codes
    details: Mapping[str, Any]
    parts: Codes = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


def deal(groups: Codes, y: Codes, folds: int, rng: np.random.Generator) -> Codes:
    """Return the (n,) fold of each item: groups stay together, classes are spread evenly.

    Parameters
    ----------
    groups
        (n,) group code of each item; a group has the class of its first item.
    y
        (n,) class of each item.
    folds
        Number of folds; the shuffled groups of each class are assigned to them in turn.
    rng
        Random number generator of the shuffle.
    """
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    order = rng.permutation(len(first))
    order = order[np.argsort(y[first][order], kind="stable")]
    fold = np.empty(len(first), dtype=np.int64)
    fold[order] = np.arange(len(first)) % folds
    return fold[inverse]


def splits(parts: Codes, folds: int) -> Iterator[tuple[Codes, Codes]]:
    """Yield the rows outside each fold, and those in it."""
    for fold in range(folds):
        yield np.flatnonzero(parts != fold), np.flatnonzero(parts == fold)


def pair_features(first: Reals, second: Reals) -> Floats:
    """Return the (n, 2d) features of pairs of (n, d) vectors: |u − v| and u·v, entry by entry."""
    u, v = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    return np.hstack([np.abs(u - v), u * v])
