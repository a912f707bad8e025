"""Residual bias of texts (after Gonen and Goldberg 2019): whether two sides can be told apart.

`residual-bias` finds the two sides among the words of a vocabulary. A text encoder has none, so
here the task states them, such as sentences about women and about men.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.errors import InvalidOption
from harness.metrics import Null, Samples, Scale, Score, metric

from .statistics import nulls
from .statistics.intervals import Codes
from .statistics.separability import (
    Classifier,
    Indices,
    Shuffle,
    fold_predictions,
    matched_accuracy,
    nearest_in_other_groups,
    two_clusters,
)

SIDES = ("side_1", "side_2")
SCORES = ("recoverability", "neighbours", "clustering")


@metric(
    "residual-sides",
    scores={
        "recoverability": Scale(
            ideal=0.5,
            bounds=(0, 1),
            help="accuracy of a classifier of the two sides, on groups that it was not trained on",
        ),
        "neighbours": Scale(
            ideal=0.5,
            bounds=(0, 1),
            help="share of a text's nearest neighbours in other groups that are on its side",
        ),
        "clustering": Scale(
            ideal=0.5, bounds=(0.5, 1), help="accuracy of two clusters as the two sides"
        ),
    },
)
def residual_sides(
    side_1: Reals,
    side_2: Reals,
    *,
    classifier: Classifier = "rbf-svm",
    folds: int = 5,
    k: int = 10,
    null_draws: int = nulls.DRAWS,
    rng: np.random.Generator,
    clusters: Mapping[str, Codes] | None = None,
) -> dict[str, Score]:
    """Whether two sides of texts can be told apart.

    - recoverability: cross-validated accuracy of a classifier of the two sides.
    - neighbours: mean share of a text's k nearest neighbours that are on its side.
    - clustering: k-means makes two clusters of all texts. The score is the share of texts in the
      cluster of their side, under the better of the two matchings.

    Texts of one group, such as all sentences about a mother or a father, are in one fold, and are
    no neighbours of each other. So a classifier cannot know a person by the word.

    The floors are what the same predictions, neighbours and clusters give for sides that are
    swapped at random, group by group.

    Parameters
    ----------
    side_1, side_2
        (n, d) and (m, d) vectors of the texts of both sides.
    classifier
        `rbf-svm`, as published, or `logistic`, which finds only linear differences.
    folds
        Number of folds of the cross-validation; fewer if there are fewer groups.
    k
        Number of neighbours of a text.
    null_draws
        Number of times that the sides are shuffled; 0 for no floor and no p-value.
    rng
        Random number generator of the seed of clusters and folds, and of the shuffles.
    clusters
        Cluster codes by input name. The code of a text is its group; the same code in both sides
        is the same group.

    Returns
    -------
    dict of Score
        Fair is 0.5 for all. `n` is the number of texts. The p-values are two-sided. Details of
        all: `groups`. Samples: each text with its `side` (0 or 1), and the side that is
        `predicted` in its `fold`, its share of `neighbours`, or its `cluster`. There is no
        interval.

    Raises
    ------
    InvalidOption
        If `folds` is below 2, `k` is below 1, or `classifier` is unknown.

    References
    ----------
    Gonen and Goldberg (2019), Lipstick on a pig: debiasing methods cover up systematic gender
    biases in word embeddings but do not remove them.
    """
    if folds < 2 or k < 1:
        raise InvalidOption(
            f"residual-sides: folds={folds}, k={k}: folds must be at least 2, k at least 1"
        )
    if classifier not in ("rbf-svm", "logistic"):
        raise InvalidOption(f"residual-sides: classifier={classifier}: use 'rbf-svm' or 'logistic'")
    sizes = (len(side_1), len(side_2))
    n, labels = sum(sizes), np.repeat([0, 1], sizes)
    codes = [
        np.arange(size) if clusters is None or name not in clusters else clusters[name]
        for name, size in zip(SIDES, sizes, strict=True)
    ]
    groups = np.unique(np.concatenate(codes), return_inverse=True)[1]
    in_both = len(np.intersect1d(codes[0], codes[1]))
    if in_both < 2 or n - np.bincount(groups).max() <= k:
        reason = f"{n} texts of {in_both} groups with both sides are too few"
        return {name: Score(float("nan"), n=n, reason=reason) for name in SCORES}
    x = unit_rows(np.vstack([side_1, side_2]))
    if (np.ptp(x, axis=0) < 1e-6).all():
        reason = "all texts have equal vectors"
        return {
            name: Score(float("nan"), n=n, reason=reason, without_difference=0.5) for name in SCORES
        }
    seed, shuffle = int(rng.integers(2**31)), Shuffle(rng, null_draws)
    predictions = fold_predictions(x, labels, classifier, min(folds, in_both), seed, groups=groups)
    right = (predictions.predicted == labels).astype(np.float64)
    nearest = nearest_in_other_groups(x, groups, k)
    shares = (labels[nearest] == labels[:, None]).mean(axis=1)
    cluster = two_clusters(x, seed)
    matched = (cluster == labels).astype(np.float64)
    if matched.mean() < matched_accuracy(cluster, labels):
        matched = 1 - matched
    of_score = {
        "recoverability": (
            right,
            {"predicted": predictions.predicted, "fold": predictions.folds},
            shuffle.accuracies(predictions.predicted, labels, groups=groups),
        ),
        "neighbours": (shares, {"neighbours": shares}, _null(nearest, labels, groups, shuffle)),
        "clustering": (
            matched,
            {"cluster": cluster},
            shuffle.accuracies(cluster, labels, groups=groups, matched=True),
        ),
    }
    return {
        name: _score(values, columns, labels, null, int(groups.max()) + 1)
        for name, (values, columns, null) in of_score.items()
    }


def _null(nearest: Indices, labels: Indices, groups: Codes, shuffle: Shuffle) -> Null | None:
    """Return the mean shares of neighbours with the sides of groups swapped at random.

    A neighbour stays on one's side if both groups are swapped, or neither is.
    """
    if not shuffle.draws:
        return None
    own = np.where(labels[nearest] == labels[:, None], 1.0, -1.0)
    agreement = np.zeros((int(groups.max()) + 1,) * 2)
    of_item = np.broadcast_to(groups[:, None], nearest.shape)
    np.add.at(agreement, (of_item, groups[nearest]), own)
    signs = nulls.shuffled_sides(len(agreement), rng=shuffle.rng, draws=shuffle.draws)
    products = np.einsum("bi,ij,bj->b", signs, agreement, signs)
    return Null((1 + products / own.size) / 2, nulls.SIDES)


def _score(
    values: Floats,
    columns: Mapping[str, Reals | Indices],
    labels: Indices,
    null: Null | None,
    groups: int,
) -> Score:
    """Return the mean of (n,) values as a score."""
    value = float(values.mean())
    first = labels == 0
    parts = [
        Samples(
            name,
            values[rows],
            {"side": labels[rows], **{key: column[rows] for key, column in columns.items()}},
        )
        for name, rows in zip(SIDES, (first, ~first), strict=True)
    ]
    return Score(
        value,
        p_value=None if null is None else nulls.two_sided(value, null.values, ideal=0.5),
        n=len(values),
        details={"groups": groups},
        samples=parts,
        null=null,
    )
