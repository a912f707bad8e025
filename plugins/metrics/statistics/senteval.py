"""The published protocol of SentEval's classification tasks.

Conneau and Kiela (2018), SentEval: an evaluation toolkit for universal sentence representations;
details from the toolkit's `validation.py` and `classifier.py`. A softmax regression, or a network
with one hidden layer, is trained by Adam on the vectors as they are. The weight of its penalty is
chosen by accuracy on development texts.

Two things differ from the toolkit. Its folds and initial weights have fixed seeds; here they have
the run's. It averages the accuracies of the folds; here each text counts the same. As in the
toolkit with any torch since 0.4, the loss of a minibatch is the mean of its texts. The paper's own
torch summed it, which makes the same penalty 64 times weaker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.arrays import Floats, Reals
from harness.plugins.metrics.statistics.adam import Trained, train
from harness.plugins.metrics.statistics.classifying import Codes

if TYPE_CHECKING:
    import torch

PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2)
HELD_OUT = 0.05  # share of the training texts that end the last training


@dataclass(frozen=True)
class Predicted:
    """Predicted classes of the tested texts.

    Parameters
    ----------
    classes
        (m,) predicted class of each.
    penalties
        The chosen penalty of each training.
    development
        The accuracy that chose it.
    parts
        (m,) fold of each; all 0 with a test set.
    """

    classes: Codes
    penalties: list[float]
    development: list[float]
    parts: Codes


def of_folds(x: Reals, y: Codes, *, folds: int, hidden: int, rng: np.random.Generator) -> Predicted:
    """Predict each text by a classifier that was trained on the other folds.

    The penalty is chosen by a cross-validation inside them, with as many folds. The classifier
    with that penalty is trained on all of them but a random 5 %, on which it is stopped.

    Parameters
    ----------
    x
        (n, d) vectors.
    y
        (n,) classes from 0.
    folds
        Number of stratified folds, at least 2.
    hidden
        Number of hidden units; 0 for a softmax regression.
    rng
        Random number generator of the folds and the seed.
    """
    splits = _folds(y, folds, rng)
    seed = int(rng.integers(2**31))
    penalties, development = [], []
    for rows, _ in splits:
        inner = [(rows[a], rows[b]) for a, b in _folds(y[rows], folds, rng)]
        penalty, quality = _chosen(_trained(x, y, inner, _grid(folds), hidden, seed))
        penalties.append(penalty)
        development.append(quality)
    last = [_held_out(rows, seed) for rows, _ in splits]
    fitted = _trained(x, y, last, np.array(penalties)[:, None], hidden, seed)
    classes, parts = np.zeros_like(y), np.zeros_like(y)
    for i, (_, tested) in enumerate(splits):
        classes[tested], parts[tested] = fitted.probabilities(x[tested], i).argmax(axis=1), i
    return Predicted(classes, penalties, development, parts)


def of_test(
    x: Reals, y: Codes, test: Reals, *, folds: int, hidden: int, rng: np.random.Generator
) -> Predicted:
    """Predict (m, d) test vectors; the penalty is chosen by cross-validation of the others.

    Parameters are those of `of_folds`.
    """
    splits = _folds(y, folds, rng)
    seed = int(rng.integers(2**31))
    penalty, quality = _chosen(_trained(x, y, splits, _grid(folds), hidden, seed))
    last = [_held_out(np.arange(len(y)), seed)]
    fitted = _trained(x, y, last, np.array([[penalty]]), hidden, seed)
    predicted = fitted.probabilities(test, 0).argmax(axis=1)
    return Predicted(predicted, [penalty], [quality], np.zeros_like(predicted))


def of_development(
    x: Reals,
    y: Codes,
    dev: Reals,
    dev_y: Codes,
    test: Reals,
    *,
    hidden: int,
    rng: np.random.Generator,
) -> Predicted:
    """Predict (m, d) test vectors; a development set chooses the penalty and ends the training.

    Parameters
    ----------
    x, y, test, hidden, rng
        As for `of_folds`.
    dev, dev_y
        Vectors and classes of the development set.
    """
    rows = np.arange(len(y) + len(dev_y))
    split = rows[: len(y)], rows[len(y) :]
    seed = int(rng.integers(2**31))
    both = np.concatenate([y, dev_y])
    fitted = _trained(np.vstack([x, dev]), both, [split], _grid(1), hidden, seed)
    penalty, quality = _chosen(fitted)
    predicted = fitted.probabilities(test, 0, PENALTIES.index(penalty)).argmax(axis=1)
    return Predicted(predicted, [penalty], [quality], np.zeros_like(predicted))


def _trained(
    x: Reals,
    y: Codes,
    splits: Sequence[tuple[Codes, Codes]],
    penalties: Floats,
    hidden: int,
    seed: int,
) -> Trained:
    """Train the classifiers; the quality of each is its accuracy on the development rows."""
    return train(
        x,
        np.eye(y.max() + 1)[y],
        splits,
        penalties,
        lambda probabilities, rows: (probabilities.argmax(axis=2) == y[rows]).mean(axis=1),
        loss=cross_entropy,
        hidden=hidden,
        seed=seed,
    )


def cross_entropy(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return the (f, r, b) cross-entropy of (f, r, c, b) logits and target distributions."""
    return -(targets * logits.log_softmax(dim=2)).sum(dim=2)


def _chosen(trained: Trained) -> tuple[float, float]:
    """Return the penalty of the highest mean accuracy over the splits, and that accuracy.

    Of penalties whose accuracies are equal in hundredths of a per cent, the first is chosen.
    """
    accuracies = trained.quality.mean(axis=0)
    best = int(np.argmax(np.round(100 * accuracies, 2)))
    return PENALTIES[best], float(accuracies[best])


def _grid(splits: int) -> Floats:
    return np.tile(PENALTIES, (splits, 1))


def _folds(y: Codes, folds: int, rng: np.random.Generator) -> list[tuple[Codes, Codes]]:
    """Return the rows outside each stratified fold, and those in it."""
    from sklearn.model_selection import StratifiedKFold

    state = int(rng.integers(2**31))
    return list(StratifiedKFold(folds, shuffle=True, random_state=state).split(y, y))


def _held_out(rows: Codes, seed: int) -> tuple[Codes, Codes]:
    """Return the rows without a random 5 %, and these; at least one row."""
    order = np.random.default_rng(seed).permutation(rows)
    size = max(1, int(HELD_OUT * len(rows)))
    return order[size:], order[:size]
