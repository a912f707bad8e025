"""Usefulness: relatedness of text pairs, learnt from rated pairs.

The protocol is that of SentEval's tasks on SICK and the STS Benchmark. `similarity-correlation`
needs no training: it takes the cosine of a pair.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from harness.arrays import Floats, Reals
from harness.errors import InvalidOption
from harness.metrics import Scale, Score, metric

from .statistics import intervals
from .statistics.correlations import correlation_scores
from .statistics.intervals import pearson
from .statistics.senteval import Schedule, pair_features, train

if TYPE_CHECKING:
    import torch

LEVELS = (1.0, 2.0, 3.0, 4.0, 5.0)
SCHEDULE = Schedule(epochs=50, tenacity=3, most_epochs=1000)  # SentEval, relatedness.py


@metric(
    "trained-relatedness",
    scores={
        "pearson": Scale(
            ideal="higher", bounds=(-1, 1), help="correlation of learnt and human ratings"
        ),
        "spearman": Scale(
            ideal="higher", bounds=(-1, 1), help="rank correlation of learnt and human ratings"
        ),
    },
)
def trained_relatedness(
    texts_1: Reals,
    texts_2: Reals,
    ratings: Floats,
    dev_1: Reals,
    dev_2: Reals,
    dev_ratings: Floats,
    test_1: Reals,
    test_2: Reals,
    test_ratings: Floats,
    *,
    levels: Sequence[float] = LEVELS,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, intervals.Codes] | None = None,
) -> dict[str, Score]:
    """Correlation of human ratings of text pairs with ratings that were learnt from other pairs.

    A softmax regression on |u − v| and u·v predicts how a rating spreads over its levels: a rating
    of 3.7 is level 3 with .3 and level 4 with .7. The predicted rating is the expected level. The
    regression minimises the squared error of the probabilities by Adam, without a penalty, in
    minibatches of 64, and is looked at every 50 epochs; it ends after the fourth look without a
    better Pearson correlation on the development pairs.

    Parameters
    ----------
    texts_1, texts_2, ratings
        (n, d) vectors of the pairs to train on, and their (n,) ratings.
    dev_1, dev_2, dev_ratings
        Those of the development pairs.
    test_1, test_2, test_ratings
        Those of the (m,) tested pairs.
    levels
        Levels of the ratings, in steps of 1. SentEval has 1 to 5 for all data. Of a rating below
        the lowest or above the highest level, only a part is a target: of .4 below 1, .4.
    confidence, resamples
        Level of the intervals over tested pairs, and the most of these to leave out.
    rng
        Random number generator of the first weights, the minibatches and the resamples.
    clusters
        Cluster codes by input name; those of `test_1`, (m,), define the clusters of pairs.

    Returns
    -------
    dict of Score
        `pearson` and `spearman` over the tested pairs, in [−1, 1], higher is better. The p-values
        are those of the two-sided t test of no correlation. Details: `development`, the Pearson
        correlation on the development pairs; `epochs` of the training; `squared_error`, the mean
        squared error of the tested ratings. Samples: each pair with its `prediction` and `rating`.

    Raises
    ------
    InvalidOption
        If `levels` are not two or more in steps of 1, or `confidence` is not between 0 and 1.

    References
    ----------
    Tai, Socher and Manning (2015), Improved semantic representations from tree-structured long
    short-term memory networks, section 4.2. Conneau and Kiela (2018), SentEval: an evaluation
    toolkit for universal sentence representations.
    """
    steps = np.asarray(levels, dtype=np.float64)
    if len(steps) < 2 or not np.allclose(np.diff(steps), 1):
        raise InvalidOption(
            f"trained-relatedness: levels={list(levels)}: must be two or more in steps of 1, "
            "such as [1, 2, 3, 4, 5]"
        )
    sizes = {"training": len(ratings), "development": len(dev_ratings)}
    for part, size in sizes.items():
        if size < 3:
            reason = f"fewer than three {part} pairs"
            return {s: Score(float("nan"), n=size, reason=reason) for s in ("pearson", "spearman")}
    x = np.vstack([pair_features(texts_1, texts_2), pair_features(dev_1, dev_2)])
    y = np.concatenate([ratings, dev_ratings])
    rows = np.arange(len(y))
    trained = train(
        x,
        distributions(y, steps),
        [(rows[: len(ratings)], rows[len(ratings) :])],
        np.zeros((1, 1)),
        lambda probabilities, dev: _agreement(probabilities @ steps, y[dev]),
        loss=squared_error,
        seed=int(rng.integers(2**31)),
        schedule=SCHEDULE,
    )
    predicted = trained.probabilities(pair_features(test_1, test_2), 0) @ steps
    scores = correlation_scores(
        predicted,
        np.asarray(test_ratings, dtype=np.float64),
        name="prediction",
        inputs=("test_1", "test_2"),
        rng=rng,
        clusters=clusters,
        resamples=resamples,
        confidence=confidence,
    )
    development = float(trained.quality[0, 0])
    details = {
        "development": development if np.isfinite(development) else None,
        "epochs": int(trained.epochs[0, 0]),
        "squared_error": float(np.mean((predicted - test_ratings) ** 2)),
    }
    return {name: dataclasses.replace(score, details=details) for name, score in scores.items()}


def distributions(ratings: Floats, levels: Floats) -> Floats:
    """Return the (n, c) shares of ratings at their two nearest levels (Tai et al., equation 17)."""
    shares: Floats = np.clip(1 - np.abs(ratings[:, None] - levels), 0, None)
    return shares


def squared_error(
    logits: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    """Return the gradient of the mean squared error of the probabilities: `senteval.Loss`."""
    import torch

    probabilities = logits.softmax(dim=2)
    slope = (probabilities - targets).mul_(weights * 2 / logits.shape[2])
    return torch._softmax_backward_data(slope, probabilities, 2, logits.dtype)


def _agreement(predicted: Floats, ratings: Floats) -> Floats:
    """Return the (r,) Pearson correlations of (r, m) predictions and (m,) ratings."""
    return np.array([pearson(row, ratings)[0] for row in predicted])
