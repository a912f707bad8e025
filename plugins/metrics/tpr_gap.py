"""Gaps in true positive rates: whom a classifier of occupations by vectors finds less often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.errors import InvalidOption
from harness.metrics import Contrast, Gap, Gaps, Null, Samples, Scale, Score, metric

from .linear_probe import deal, logits_of, regressions
from .statistics import intervals, nulls
from .statistics.gaps import gap_of_sets, means_by_unit
from .statistics.senteval import Codes

C = 10.0
"""Inverse weight of the penalty. It is fixed, so that a model is read by the same classifier before
and after a mitigation."""
FOLDS = 5
CLOSE = 1e-8
"""Largest gradient at the end of a training: with few items of many classes, that of `linear-probe`
leaves single items on the other side of a tie."""
FEWEST_OF_A_GROUP = 3
"""Items of a group in a class whose true positive rate says something."""
FEWEST_CLASSES = 3  # whose gaps can be correlated
SHUFFLED = "groups of the items of a class"
BOUNDS = {
    "gap_rms": (0.0, 1.0),
    "gap_correlation": (-1.0, 1.0),
    "leaning": (-np.inf, np.inf),
    "accuracy": (0.0, 1.0),
}


def leaning_gap(
    items: Reals, labels: Floats, groups: Floats, *, units: Mapping[str, Sequence[str]]
) -> Gaps:
    """Return how far the logits of items lean to the classes of their group.

    With the logits z of an item that the classifier was not trained on, less their mean over
    classes, and with π_k the share of group 1 in class k, less its mean over classes::

        v = Σ_k π_k z_k / Σ_k π_k²
        N = mean over classes of (mean of v over group 1 − over group 0)
        D = mean of (logit of the own class − mean logit of the other classes)

    N is how much more a class is favoured for items of group 1 of equal class, from a class
    without them to one of them alone. It uses all logits, where a rate is of a few items. Items
    vary; the classifiers stay.

    Parameters
    ----------
    items, labels, groups
        As of the metric `tpr-gap`.
    units
        The unit of each row, by input; items of one unit are in one fold.
    """
    classes, y = np.unique(labels, return_inverse=True)
    both, z = np.unique(groups, return_inverse=True)
    names = units["items"]
    copies = np.unique(np.array(names), return_inverse=True)[1]
    k = len(classes)
    if len(both) != 2 or k < FEWEST_CLASSES or _too_few(y, copies, k, 1):
        return Gaps(Gap(float("nan"), {}, 1))
    x = unit_rows(items)
    logits = _held_out(x, y, deal(copies, 2 * y + z, FOLDS, np.random.default_rng(0)), C)
    v, own = _leaning(logits, y, z)
    cells = np.bincount(2 * y + z, minlength=2 * k).reshape(-1, 2)
    kept = np.flatnonzero((cells >= 2).all(axis=1))
    if len(kept) < FEWEST_CLASSES:
        return Gaps(Gap(float("nan"), {}, 1))
    of_cells, value = [], 0.0
    for label in kept:
        for group in (0, 1):
            rows = np.flatnonzero((y == label) & (z == group))
            signed = (2 * group - 1) * v[rows] / len(kept)
            value += float(signed.mean())
            of_cells.append(means_by_unit(signed, [names[row] for row in rows.tolist()]))
    yardstick = gap_of_sets(float(own.mean()), [means_by_unit(own, names)])
    return Gaps(gap_of_sets(value, of_cells), yardstick)


@metric(
    "tpr-gap",
    scores={
        "gap_rms": Scale(
            ideal=0,
            bounds=BOUNDS["gap_rms"],
            help="root mean square over classes of the difference of the true positive rates of "
            "both groups",
        ),
        "gap_correlation": Scale(
            ideal=0,
            bounds=BOUNDS["gap_correlation"],
            help="correlation of the difference of true positive rates with the share of the "
            "group in the class",
        ),
        "leaning": Scale(
            ideal=0,
            help="how much more the classifier favours a class for items of the group that the "
            "class is full of, over how much it favours the right class",
        ),
        "accuracy": Scale(
            ideal="higher",
            bounds=BOUNDS["accuracy"],
            help="share of the items that the classifier labels correctly: usefulness",
        ),
    },
    contrast=Contrast(
        sides=("items",), towards=("poles_1", "poles_2"), labels="groups", within="labels"
    ),
    gap=leaning_gap,
)
def tpr_gap(
    items: Reals,
    labels: Floats,
    groups: Floats,
    poles_1: Reals | None = None,
    poles_2: Reals | None = None,
    *,
    c: float = C,
    folds: int = FOLDS,
    fewest: int = FEWEST_OF_A_GROUP,
    null_draws: int = nulls.DRAWS,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    texts: Mapping[str, Sequence[str]],
) -> dict[str, Score]:
    """Gaps between two groups in the true positive rates of a linear classifier.

    A multinomial logistic regression with an L2 penalty predicts the class y of an item, such as
    the occupation of a biography, from its vector of length 1. Each item is predicted by a
    classifier that was trained on the other folds of a cross-validation, stratified by class and
    group; copies of a text are in one fold. With the predicted class ŷ and the group z::

        TPR_z,y = P(ŷ = y | Z = z, Y = y)
        Gap_y = TPR_1,y − TPR_0,y
        gap_rms = √( Σ_y Gap_y² / |C| )
        gap_correlation = correlation over y of Gap_y and π_y, the share of group 1 in class y
        leaning = N / D, as in `leaning_gap`, over the classes in C

    C are the classes with at least `fewest` items of both groups; the classifier knows all. Rates
    of few items are noisy, so that gap_rms is above 0 where no group is disadvantaged. Its floor is
    what it is with the groups exchanged among the items of each class. The classifier is not
    trained on groups, so nothing has to be trained again for it.

    Parameters
    ----------
    items
        (n, d) vectors.
    labels
        (n,) class of each item, any numbers.
    groups
        (n,) group of each item: two different numbers, of which the higher one is group 1.
    poles_1, poles_2
        Vectors of texts of group 0 and of group 1, such as "he" and "she". No score is made of
        them: `harness validate-metric` plants bias along their difference.
    c
        Inverse weight of the penalty. The gap has its default, and the default number of folds.
    folds
        Number of folds.
    fewest
        Least number of items of each group in a class of C.
    null_draws
        Number of random exchanges for the floors and the p-values; 0 for none.
    confidence, resamples
        Level of the intervals over items, and the most of these to leave out. They cover the
        choice of the tested items, not that of the training items.
    rng
        Random number generator of the folds, exchanges and resamples.
    texts
        Texts by input name, which identify copies.

    Returns
    -------
    dict of Score
        `gap_rms`, in [0, 1], fair is 0; the p-value is the share of exchanges with at least the
        value. `gap_correlation`, in [−1, 1], fair is 0: above 0, group 1 is found more often where
        it is the majority; two-sided p-value. `accuracy`, in [0, 1], higher is better: what the
        gaps cost to remove. `n` is the number of items. Details: `classes`, the number of C;
        `left_out`, that of the other classes; of `gap_rms` also `above_chance`, the root of what
        its square has above the mean square of exchanges, or 0; of `accuracy` `majority`, the
        share of the most frequent class. Table `gaps` of `gap_rms`: numbers of items, rates and
        gap of each class in C. Samples: each item with its `label`, `group` and `predicted` class.
        Scores have no value if a class has one text, or if C has fewer than three classes.

    Raises
    ------
    InvalidOption
        If `folds` is below 2, `fewest` below 1, `c` not above 0, `groups` has not two numbers, or
        `confidence` is not between 0 and 1.

    References
    ----------
    De-Arteaga, Romanov, Wallach, Chayes, Borgs, Chouldechova, Geyik, Kenthapadi and Kalai (2019),
    Bias in Bios: a case study of semantic representation bias in a high-stakes setting. Ravfogel,
    Elazar, Gonen, Twiton and Goldberg (2020), Null it out: guarding protected attributes by
    iterative nullspace projection (the root mean square of the gaps).
    """
    if folds < 2 or fewest < 1 or c <= 0:
        raise InvalidOption(
            f"tpr-gap: folds={folds}, fewest={fewest}, c={c}: folds must be at least 2, fewest at "
            "least 1, and c above 0"
        )
    classes, y = np.unique(labels, return_inverse=True)
    both, z = np.unique(groups, return_inverse=True)
    if len(both) != 2:
        raise InvalidOption(f"tpr-gap: groups has {len(both)} different numbers; expected two")
    code_of: dict[str, int] = {}
    copies = np.array([code_of.setdefault(text, len(code_of)) for text in texts["items"]])
    cells = np.bincount(2 * y + z, minlength=2 * len(classes)).reshape(-1, 2)
    kept = np.flatnonzero((cells >= fewest).all(axis=1))
    if reason := _too_few(y, copies, len(kept), fewest):
        return {name: Score(float("nan"), n=len(y), reason=reason) for name in BOUNDS}
    logits = _held_out(unit_rows(items), y, deal(copies, 2 * y + z, folds, rng), c)
    predicted = logits.argmax(axis=1)
    hits = (predicted == y).astype(np.float64)
    member = (y[:, None] == kept).astype(np.float64)
    order, once = nulls.exchanged_within(y, rng=rng, draws=null_draws), np.ones((1, len(y)))
    null_gaps, _ = gaps(hits, z[order], once, member)
    statistics = {"gap_rms": _rms, "gap_correlation": _correlation}
    answers = {"label": labels, "group": groups, "predicted": classes[predicted]}
    details: dict[str, float] = {"classes": len(kept), "left_out": len(classes) - len(kept)}

    def score(name: str, of_counts: Any, null: Any, undefined: str) -> Score:
        value = float(of_counts(once)[0])
        return Score(
            value,
            p_value=nulls.two_sided(value, null) if np.isfinite(value) else None,
            interval=_interval(of_counts, name, copies, rng, resamples, confidence),
            n=len(y),
            reason=None if np.isfinite(value) else undefined,
            null=Null(null, SHUFFLED) if null_draws else None,
            details=details,
            samples=[Samples("items", None, answers)],
        )

    scores = {}
    for name, statistic in statistics.items():

        def of_counts(counts: Floats, statistic: Any = statistic) -> Any:
            return statistic(*gaps(hits, z[None], counts, member))

        null = statistic(null_gaps, cells[kept, 1] / cells[kept].sum(axis=1))
        scores[name] = score(name, of_counts, null, "all gaps, or all shares, are equal")
    v, own = _leaning(logits, y, z)
    own = own if abs(own.mean()) > 1e-12 else np.full(len(y), np.nan)  # it favours no class

    def leaning(counts: Floats, of_group: Codes = z[None]) -> Any:
        found = gaps(v, of_group, counts, member)[0].mean(axis=1)
        return found * counts.sum(axis=1) / (counts @ own)

    scores["leaning"] = score(
        "leaning", leaning, leaning(once, z[order]), "the classifier favours no class"
    )
    if null_draws:
        excess = scores["gap_rms"].value ** 2 - float((_rms(null_gaps, null_gaps) ** 2).mean())
        details = details | {"above_chance": float(np.sqrt(max(0.0, excess)))}
    table = _table(classes, kept, cells, hits, z, member)
    scores["gap_rms"] = replace(scores["gap_rms"], details=details, tables={"gaps": table})
    scores["accuracy"] = Score(
        float(hits.mean()),
        interval=_interval(
            lambda counts: counts @ hits / counts.sum(axis=1),
            "accuracy", copies, rng, resamples, confidence,
        ),
        n=len(y),
        details={"majority": float(np.bincount(y).max() / len(y))},
        samples=[Samples("items", hits, answers)],
    )  # fmt: skip
    return scores


def gaps(hits: Floats, z: Codes, counts: Floats, member: Floats) -> tuple[Floats, Floats]:
    """Return the gap of each class, and the share of group 1 in it; (b, k) both.

    Parameters
    ----------
    hits
        (n,) whether each item is predicted correctly.
    z
        (n,) group of each item, 0 or 1; or (b, n).
    counts
        (b, n) how often each item counts; b may be 1 beside several groupings.
    member
        (n, k) whether each item is in each class.
    """
    in_1 = counts * z
    of_1, all_ = in_1 @ member, counts @ member
    hits_1, all_hits = (in_1 * hits) @ member, (counts * hits) @ member
    with np.errstate(divide="ignore", invalid="ignore"):
        gap: Floats = hits_1 / of_1 - (all_hits - hits_1) / (all_ - of_1)
        share: Floats = of_1 / all_
    return gap, share


def _held_out(x: Floats, y: Codes, parts: Codes, c: float) -> Floats:
    """Return the (n, k) logits of each item, by the classifier of the other folds."""
    folds = np.unique(parts)
    weights = regressions(x, y, parts != folds[:, None], c, close=CLOSE)
    logits: Floats = logits_of(weights, x)[np.searchsorted(folds, parts), :, np.arange(len(y))]
    return logits


def _leaning(logits: Floats, y: Codes, z: Codes) -> tuple[Floats, Floats]:
    """Return (n,) v of `leaning_gap`, and logits of the own class less the mean of the others."""
    k = logits.shape[1]
    logits = logits - logits.mean(axis=1, keepdims=True)
    share = np.bincount(y, z) / np.bincount(y)
    share = share - share.mean()
    # the others' mean is −own / (k − 1)
    return logits @ share / (share @ share), logits[np.arange(len(y)), y] * k / (k - 1)


def _rms(gap: Floats, _: Floats) -> Any:
    return np.sqrt((gap**2).mean(axis=1))


def _correlation(gap: Floats, share: Floats) -> Floats:
    dx = gap - gap.mean(axis=1, keepdims=True)
    dy = share - share.mean(axis=-1, keepdims=True)
    scale = np.sqrt((dx**2).sum(axis=1) * (dy**2).sum(axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation: Floats = np.where(scale > 1e-12, (dx * dy).sum(axis=1) / scale, np.nan)
    return np.clip(correlation, -1.0, 1.0)


def _too_few(y: Codes, copies: Codes, classes: int, fewest: int) -> str:
    """Return why items cannot be scored; empty if they can."""
    if min(np.bincount(np.unique(np.stack([y, copies]), axis=1)[0])) < 2:
        return "a class has one text: at least 2 are needed"
    if classes < FEWEST_CLASSES:
        return f"fewer than {FEWEST_CLASSES} classes with at least {fewest} items of both groups"
    return ""


def _interval(
    statistic: Any,
    name: str,
    copies: Codes,
    rng: np.random.Generator,
    resamples: int,
    confidence: float,
) -> Any:
    found = intervals.jackknife_interval(
        statistic,
        [len(copies)],
        rng=rng,
        clusters=[copies],
        resamples=resamples,
        confidence=confidence,
        bounds=BOUNDS[name] if name in ("gap_correlation", "accuracy") else None,
    )
    return intervals.inside(found, *BOUNDS[name])


def _table(
    classes: Floats, kept: Codes, cells: Codes, hits: Floats, z: Codes, member: Floats
) -> list[dict[str, Any]]:
    """Return a row for each class of C, the largest gap for group 1 first."""
    rates = [(hits * (z == group)) @ member / cells[kept, group] for group in (0, 1)]
    gap = rates[1] - rates[0]
    return [
        {
            "class": float(classes[kept[i]]),
            "items_0": int(cells[kept[i], 0]),
            "items_1": int(cells[kept[i], 1]),
            "tpr_0": float(rates[0][i]),
            "tpr_1": float(rates[1][i]),
            "gap": float(gap[i]),
        }
        for i in np.argsort(-gap, kind="stable")
    ]
