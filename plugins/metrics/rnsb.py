"""RNSB: divergence of the target words' negative sentiment from equal shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals
from harness.errors import InvalidOption
from harness.metrics import Contrast, Null, Samples, Scale, Score, metric

from .statistics import association, nulls, separability

Indices: TypeAlias = npt.NDArray[np.integer[Any]]
"""(n,) row numbers of the attributes."""


@dataclass(frozen=True, eq=False)
class Run:
    """What one classifier says.

    Parameters
    ----------
    targets
        (n,) probability of each target word that it is negative.
    accuracy
        Accuracy on the held-out attributes; NaN if there are none.
    separation
        Mean probability of the negative attributes less that of the positive ones.
    """

    targets: Floats
    accuracy: float
    separation: float


@metric(
    "rnsb",
    scores={
        "divergence": Scale(
            ideal=0,
            bounds=(0, None),
            help="divergence of the targets' shares of negative sentiment from equal, in nats",
        ),
        "gap": Scale(
            ideal=0,
            bounds=(0, 1),
            help="largest difference of two target sets' mean probabilities of being negative",
        ),
    },
    contrast=Contrast(sides=("attributes_1", "attributes_2"), towards=("targets_1", "targets_2")),
    later_options=("null_draws",),
)
def rnsb(
    targets_1: Reals,
    attributes_1: Reals,
    attributes_2: Reals,
    targets_2: Reals | None = None,
    targets_3: Reals | None = None,
    targets_4: Reals | None = None,
    *,
    holdout: float = 0.2,
    repeats: int = 30,
    unit_length: bool = False,
    null_draws: int = nulls.DRAWS,
    rng: np.random.Generator,
) -> dict[str, Score]:
    """Relative negative sentiment bias (RNSB).

    A logistic regression learns to separate positive and negative attributes. It predicts the
    probability pᵢ that target word i is negative. RNSB = KL(P ‖ U) = Σ Pᵢ log(n Pᵢ), with the
    shares Pᵢ = pᵢ / Σ p of the n target words and the uniform distribution U. All target sets
    together are one population of words, as published. So RNSB shows that words differ, and not
    that groups do: it hardly moves with a bias between the target sets. `gap` does: it is the
    largest difference between the mean pᵢ of two target sets.

    RNSB depends on the training words as much as on the embedding: two single runs, as
    published, can differ by a factor of two. Both scores are therefore means of `repeats` seeded
    runs, each with different attributes held out; the standard deviation of the divergence is in
    its details.

    The p-value of `gap` is the larger of two: with the target words assigned to their sets at
    random, and with the labels of the attributes shuffled and the classifier trained again. The
    first alone asks whether other target words would differ as much, given these attributes. But
    a classifier of random labels also finds a difference between groups: in GloVe (50 dimensions)
    the first alone rejects 84 % of shuffled attributes at 5 %, for surnames of ethnic groups. The
    floor is the larger of both, too. A shuffled classifier is trained once, on all attributes,
    each with the weight 1 − `holdout`.

    Parameters
    ----------
    targets_1, targets_2, targets_3, targets_4
        (n, d) vectors of the target words; all sets but the first are optional.
    attributes_1, attributes_2
        (a, d) and (b, d) vectors of the positive and the negative words.
    holdout
        Share of each attribute set that a run is not trained on; the accuracy is measured on
        these words. With 0 all words are trained on, and there is only one run, because all runs
        would be equal.
    repeats
        Number of runs.
    unit_length
        Whether vectors are set to length 1 first. Published: False. The effect of the
        classifier's penalty (C = 1) depends on the lengths.
    null_draws
        Number of times that the members of the target sets, and the labels of the attributes,
        are shuffled for the floor and the p-value of `gap`; 0 for neither.
    rng
        Random number generator of the splits and of the shuffles.

    Returns
    -------
    dict of Score
        `gap`, in [0, 1]; fair is 0. Its unit is the difference of the mean probabilities of the
        negative and the positive attributes. NaN for a single target set. Details: `p_targets`
        and `p_attributes`, the two p-values. `divergence`, the
        mean of KL(P ‖ U) over the runs, in nats, in [0, log n]; fair is 0: all words are equally
        negative. Its `n` is the number of target words. Details: `sd`, the standard deviation over
        runs (ddof 1), None for one run; `repeats`; `holdout`; `unit_length`; `accuracy`, the mean
        on held-out words, None if there are none; `negative`, the mean probability of each target
        set. Samples: each target with its mean probability `negative`; it contributes its
        term of the sum, times n, to `divergence`. There is no interval.

    Raises
    ------
    InvalidOption
        If `holdout` is not in [0, 1) or `repeats` is below 1.

    References
    ----------
    Sweeney and Najafian (2019), A transparent framework for evaluating unintended demographic
    bias in word embeddings: RNSB. The classifier is that of WEFE (Badilla et al. 2020).
    """
    if not 0 <= holdout < 1:
        raise InvalidOption(f"rnsb: holdout={holdout}: must be at least 0 and below 1, such as 0.2")
    if repeats < 1:
        raise InvalidOption(f"rnsb: repeats={repeats}: must be at least 1")
    named = {
        "targets_1": targets_1,
        "targets_2": targets_2,
        "targets_3": targets_3,
        "targets_4": targets_4,
    }
    sets = {name: array for name, array in named.items() if array is not None}
    n = sum(map(len, sets.values()))
    reason = association.empty(sets | {"attributes_1": attributes_1, "attributes_2": attributes_2})
    a, b = len(attributes_1), len(attributes_2)
    if reason is None and n < 2:
        reason = "fewer than two target words"
    # Each side of a split needs words of both sets.
    if reason is None and holdout and min(a, b, holdout * (a + b), (1 - holdout) * (a + b)) < 2:
        reason = "too few attributes to hold some out"
    if reason:
        undefined = Score(float("nan"), n=n, reason=reason)
        return {"divergence": undefined, "gap": undefined}
    targets = [association.rows(array, unit_length=unit_length) for array in sets.values()]
    x = association.rows(np.vstack([attributes_1, attributes_2]), unit_length=unit_length)
    negative = np.repeat([0, 1], [a, b])
    runs = [
        _run(x, negative, np.vstack(targets), train, test)
        for train, test in _splits(negative, holdout, repeats, rng)
    ]
    p = np.stack([run.targets for run in runs])
    divergences = _divergence(p)
    ends = np.cumsum([len(array) for array in targets])[:-1]
    by_set = [float(part.mean()) for part in np.split(p.mean(axis=0), ends)]
    parts = zip(
        sets,
        np.split(_terms(p).mean(axis=0) * n, ends),
        np.split(p.mean(axis=0), ends),
        strict=True,
    )
    divergence = Score(
        float(divergences.mean()),
        n=n,
        details={
            "sd": float(divergences.std(ddof=1)) if len(runs) > 1 else None,
            "repeats": len(runs),
            "holdout": holdout,
            "unit_length": unit_length,
            "accuracy": float(np.mean([run.accuracy for run in runs])) if holdout else None,
            "negative": dict(zip(sets, by_set, strict=True)),
        },
        samples=[Samples(name, terms, {"negative": means}) for name, terms, means in parts],
    )
    of_set = np.repeat(np.arange(len(targets)), [len(array) for array in targets])
    relabelled = separability.with_shuffled_labels(
        x,
        negative,
        np.vstack(targets),
        weight=1 - holdout,
        draws=null_draws if len(sets) > 1 else 0,
        rng=rng,
    )
    separation = float(np.mean([run.separation for run in runs]))
    return {
        "divergence": divergence,
        "gap": _gap(p.mean(axis=0), relabelled, of_set, list(sets), separation, rng),
    }


def _gap(
    p: Floats,
    relabelled: Floats,
    of_set: Indices,
    names: list[str],
    separation: float,
    rng: np.random.Generator,
) -> Score:
    """Return the largest difference between the mean (n,) probabilities of two target sets.

    `relabelled` are the (b, n) probabilities by classifiers of shuffled attributes.
    """
    if len(names) < 2:
        return Score(float("nan"), n=len(p), reason="there is only one target set")
    value = float(_largest_gaps(p, of_set[None], len(names))[0])
    null, p_values = None, {}
    if len(relabelled):
        members = rng.permuted(np.tile(of_set, (len(relabelled), 1)), axis=1)
        by_members = _largest_gaps(p, members, len(names))
        by_labels = _largest_gaps(relabelled, of_set[None], len(names))
        p_values = {
            "p_targets": nulls.two_sided(value, by_members),
            "p_attributes": nulls.two_sided(value, by_labels),
        }
        null = max(
            (Null(by_members, nulls.MEMBERS), Null(by_labels, nulls.ATTRIBUTES)),
            key=lambda null: float(np.mean(null.values)),
        )
    return Score(
        value,
        p_value=max((p for p in p_values.values() if p is not None), default=None),
        n=len(p),
        details=p_values,
        samples=[
            Samples(name, columns={"negative": p[of_set == i]}) for i, name in enumerate(names)
        ],
        null=null,
        unit=separation if separation > 0 else None,
    )


def _largest_gaps(p: Floats, of_set: Indices, sets: int) -> Floats:
    """Return the (b,) largest differences of the sets' means, for (b, n) assignments to sets.

    `p` is (n,), or (b, n) where it differs; a single assignment may be (1, n).
    """
    members = [of_set == i for i in range(sets)]
    means = np.stack([(p * each).sum(axis=1) / each.sum(axis=1) for each in members])
    gaps: Floats = means.max(axis=0) - means.min(axis=0)
    return gaps


def _splits(
    negative: Indices, holdout: float, repeats: int, rng: np.random.Generator
) -> list[tuple[Indices, Indices]]:
    """Return the rows that each run is trained on, and the rows held out."""
    from sklearn.model_selection import StratifiedShuffleSplit  # it takes a second to import

    if not holdout:
        return [(np.arange(len(negative)), np.arange(0))]
    seed = int(rng.integers(2**31))
    shuffle = StratifiedShuffleSplit(repeats, test_size=holdout, random_state=seed)
    return list(shuffle.split(negative, negative))


def _run(x: Floats, negative: Indices, targets: Floats, train: Indices, test: Indices) -> Run:
    """Return what a classifier says that is trained on some of the attributes."""
    from sklearn.linear_model import LogisticRegression  # it takes a second to import

    classifier = LogisticRegression(solver="liblinear", max_iter=10_000, random_state=0)
    classifier.fit(x[train], negative[train])
    p = classifier.predict_proba(x)[:, 1]
    return Run(
        targets=classifier.predict_proba(targets)[:, 1],
        accuracy=float(classifier.score(x[test], negative[test])) if len(test) else float("nan"),
        separation=float(p[negative == 1].mean() - p[negative == 0].mean()),
    )


def _divergence(p: Floats) -> Floats:
    """Return the (r,) divergences from uniform of (r, n) probabilities."""
    divergences: Floats = np.maximum(_terms(p).sum(axis=1), 0.0)
    return divergences


def _terms(p: Floats) -> Floats:
    """Return the (r, n) terms Pᵢ log(n Pᵢ) of the divergences of (r, n) probabilities."""
    n = p.shape[1]
    shares = p / p.sum(axis=1, keepdims=True)
    logs = np.log(np.where(shares > 0, n * shares, 1.0))
    terms: Floats = shares * logs
    return terms
