"""Whether single pairs define a concept (Bolukbasi et al. 2016, figure 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.metrics import Compares, Null, Samples, Scale, Score, metric

from .statistics import intervals, nulls
from .statistics.concept_scores import NO_OVERLAP


@metric(
    "pair-accuracy",
    scores={
        "accuracy": Scale(
            ideal="higher",
            bounds=(0, 1),
            help="share of words that are closer to the word of their own side, over pairs",
        )
    },
    later_options=("null_draws",),
    compares=Compares(("words_1", "words_2"), ("pairs_1", "pairs_2")),
)
def pair_accuracy(
    pairs_1: Reals,
    pairs_2: Reals,
    words_1: Reals,
    words_2: Reals,
    *,
    null_draws: int = nulls.DRAWS,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, intervals.Codes] | None = None,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> Score:
    """Share of words that pairs put on their own side.

    A pair (x, y) takes a word w for one of the first side if cos(w, x) > cos(w, y). Its accuracy is
    the mean of the shares of `words_1` and of `words_2` that it takes rightly, so both sides weigh
    the same. Words as close to x as to y count one half. Chance is 0.5.

    What a high value means depends on the words: words that have the concept in their meaning
    should be classified rightly, words of stereotypes at chance.

    Parameters
    ----------
    pairs_1, pairs_2
        (n, d) vectors of the pairs.
    words_1, words_2
        (m, d) and (k, d) vectors of words that belong to the first and to the second side.
    null_draws
        Number of times that the sides of the words are shuffled for the floor; 0 for no floor.
    confidence, resamples
        Level of the interval over words, and the most of these to leave out; the pairs are
        fixed.
    rng
        Random number generator of the resamples.
    clusters
        Cluster codes by input name: items made from one word or template share a code.
    texts
        Words by input name; without them there is no table.

    Returns
    -------
    Score
        Mean accuracy of the pairs, in [0, 1]. `n` is the number of pairs. Details: `words`, the
        number of words. Table `pairs`: each pair with its accuracy (figure 5).
        Samples: each pair, and each word with the `share` of pairs that take it rightly. There is
        no p-value.

    Raises
    ------
    InvalidOption
        If `confidence` is not between 0 and 1.

    References
    ----------
    Bolukbasi et al. (2016), Man is to computer programmer as woman is to homemaker? Debiasing
    word embeddings, section 5.1 and figure 5.
    """
    m, k = len(words_1), len(words_2)
    if min(len(pairs_1), m, k) == 0:
        return Score(float("nan"), n=len(pairs_1), reason="there are no pairs, or a side is empty")
    between = unit_rows(pairs_1) - unit_rows(pairs_2)
    right = [_rightly(unit_rows(words_1) @ between.T), _rightly(-unit_rows(words_2) @ between.T)]
    by_pair = (right[0].mean(axis=0) + right[1].mean(axis=0)) / 2
    by_word = [side.mean(axis=1) for side in right]

    def mean(first: Floats, second: Floats) -> Floats:
        sides = zip((first, second), by_word, strict=True)
        means = [counts @ shares / counts.sum(axis=1) for counts, shares in sides]
        return np.asarray((means[0] + means[1]) / 2)

    interval = intervals.jackknife_interval(
        mean,
        [m, k],
        rng=rng,
        clusters=intervals.codes_of(clusters, ["words_1", "words_2"]),
        resamples=resamples,
        confidence=confidence,
        bounds=(0, 1),
    )
    null = None
    if null_draws:
        towards_first = np.concatenate([by_word[0], 1 - by_word[1]])
        in_first = nulls.shuffled_members((m, k), rng=rng, draws=null_draws)
        values = (1 + nulls.differences_of_means(towards_first, in_first)) / 2
        null = Null(values, "sides of the words")
    tables = {}
    if texts is not None:
        names = list(zip(texts["pairs_1"], texts["pairs_2"], strict=True))
        accuracies = zip(names, by_pair.tolist(), strict=True)
        tables["pairs"] = [{"first": x, "second": y, "accuracy": a} for (x, y), a in accuracies]
    shares = [share * (m + k) / (2 * len(share)) for share in by_word]  # both sides weigh the same
    return Score(
        float(by_pair.mean()),
        interval=interval,
        n=len(by_pair),
        details={"words": m + k},
        tables=tables,
        samples=[
            Samples(("pairs_1", "pairs_2"), by_pair),
            Samples("words_1", shares[0], {"share": by_word[0]}),
            Samples("words_2", shares[1], {"share": by_word[1]}),
        ],
        null=null,
    )


def _rightly(leads: Floats) -> Floats:
    """Return for (m, n) leads of the own side over the other: 1 if above 0, ½ if 0, else 0."""
    close = np.abs(leads) <= NO_OVERLAP
    return np.asarray(np.where(close, 0.5, leads > 0), dtype=np.float64)
