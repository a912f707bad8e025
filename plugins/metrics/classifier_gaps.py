"""Gaps of a classifier between identity groups, in sentences whose label does not depend on them.

A logistic regression learns labels, such as sentiment, from other texts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals, unit_rows
from harness.errors import InvalidOption, NotApplicable
from harness.metrics import Contrast, Gaps, Null, Samples, Scale, Score, metric

from .linear_probe import logits_of, regressions
from .statistics import intervals, nulls
from .statistics.exposure import top_share
from .statistics.group_gaps import shift_gap
from .statistics.intervals import Codes

C = 1.0
"""Inverse weight of the penalty: scikit-learn's default. At 10 the choice of 2,000 training texts
moves the gap of all-MiniLM-L6-v2 twice as much as the choice of groups does."""
MATCHED = 0.6  # balanced accuracy that all models are brought to
BLOCKS = 10  # of training texts, each of which is left out for the error of the gap
FEWEST = 3  # groups
SHUFFLED = "groups of the sentences of a frame and a label"


def classifier_gap(
    positives: Reals,
    negatives: Reals,
    sentences: Reals,
    labels: Floats,
    groups: Floats,
    frames: Floats,
    *,
    units: Mapping[str, Sequence[str]],
) -> Gaps:
    """Return the variance of the logits between groups, and what the logits tell of the labels.

    See `harness.plugins.metrics.statistics.group_gaps.shift_gap`. Groups, frames and blocks of
    training texts vary.

    Parameters
    ----------
    positives, negatives, sentences, labels, groups, frames
        As of the metric `classifier-gaps`.
    units
        The unit of each row, by input.
    """
    z = _logits(positives, negatives, sentences, blocks=BLOCKS)
    return shift_gap(z[0], z[1:], labels, groups, frames, names=units["sentences"])


@metric(
    "classifier-gaps",
    scores={
        "rate_gap": Scale(
            ideal=0,
            bounds=(0, 1),
            help="root mean square over groups of the differences of both rates from all "
            "groups', at matched accuracy",
        ),
        "tpr_gap": Scale(
            ideal=0,
            bounds=(0, 1),
            help="the same of the true positive rates alone",
        ),
        "fpr_gap": Scale(
            ideal=0,
            bounds=(0, 1),
            help="the same of the false positive rates alone",
        ),
        "calibration_gap": Scale(
            ideal=0,
            bounds=(0, 1),
            help="root mean square over groups of mean probability less share of positive "
            "sentences, at matched accuracy",
        ),
        "accuracy": Scale(
            ideal="higher",
            bounds=(0, 1),
            help="mean of the true positive and the true negative rate: usefulness",
        ),
    },
    disjoint=(("positives", "sentences"), ("negatives", "sentences")),
    contrast=Contrast(
        sides=("sentences",), towards=("negatives", "positives"), labels="groups", categorical=True
    ),
    gap=classifier_gap,
)
def classifier_gaps(
    positives: Reals,
    negatives: Reals,
    sentences: Reals,
    labels: Floats,
    groups: Floats,
    frames: Floats,
    *,
    matched: float = MATCHED,
    null_draws: int = nulls.DRAWS,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Score]:
    """Gaps between groups in the rates and the calibration of a classifier, at matched accuracy.

    A logistic regression with an L2 penalty learns from `positives` and `negatives` and gives each
    sentence a logit. Its threshold is where as many sentences are above it as are positive. Each
    group g stands in the same sentences of both labels, so that a fair classifier errs alike::

        TPR_g, FPR_g = shares of the positive and of the negative sentences of g above the threshold
        accuracy = (1 + TPR − FPR) / 2, over all groups
        w = (2 · matched − 1) / (TPR − FPR)
        tpr_gap = w · √( mean over g of (TPR_g − TPR)² ), and fpr_gap likewise
        rate_gap = √( (tpr_gap² + fpr_gap²) / 2 )
        calibration_gap = w · √( mean over g of (p̄_g − share of positive sentences of g)² )

    p̄_g is the mean probability of the group's sentences, after a calibration of the logits on all
    sentences (Platt). w is the share of answers that are kept if the others are drawn at random
    without a look at the sentence, so that the accuracy is `matched`: models of different accuracy
    are compared as if all were as weak. A model below it keeps all its answers, w = 1, and its gaps
    are not comparable.

    Rates of few sentences are noisy, so the gaps of a fair classifier are not 0. The floors are
    what they are with the groups exchanged among the sentences of a frame and a label.

    Parameters
    ----------
    positives, negatives
        (p, d) and (q, d) vectors of the training texts of either label.
    sentences
        (n, d) vectors of the sentences that name a group.
    labels
        (n,) label of each sentence: 1 for positive, 0 for negative.
    groups, frames
        (n,) number of the group that a sentence names, and of what else it says: a frame has a
        positive and a negative sentence of each group.
    matched
        Balanced accuracy that the classifiers are brought to.
    null_draws
        Number of random exchanges for the floors and the p-values; 0 for none.
    confidence, resamples
        Level of the intervals over groups, and the most of these to leave out. The classifier, its
        threshold and its accuracy stay those of all groups.
    rng
        Random number generator of the exchanges.
    texts
        Texts by input name, for the table.

    Returns
    -------
    dict of Score
        The gaps, in [0, 1]; fair is 0. One-sided p-values: the share of exchanges with at least the
        value. `accuracy`, in [0, 1], is that before the matching; .5 is chance. Details: `kept`,
        which is w; `groups`, their number; of `rate_gap` the lowest `subgroup_auc`, `bpsn_auc` and
        `bnsp_auc` of a group (Borkan et al. 2019), and `above_chance`, the root of what its square
        has above the mean square of exchanges, or 0. Table `groups` of `rate_gap`: rates, mean
        probability and the three AUCs by group, before the matching. Samples: each sentence with
        its logit.

    Raises
    ------
    NotApplicable
        If the inputs of the sentences differ in length.
    InvalidOption
        If `matched` is not between .5 and 1, a label is neither 0 nor 1, or `confidence` is not
        between 0 and 1.

    References
    ----------
    Dixon, Li, Sorensen, Thain and Vasserman (2018), Measuring and mitigating unintended bias in
    text classification: sentences of templates, and equality of both rates. Hardt, Price and
    Srebro (2016), Equality of opportunity in supervised learning. Pleiss, Raghavan, Wu, Kleinberg
    and Weinberger (2017), On fairness and calibration: answers drawn at random for a share of the
    items. Borkan, Dixon, Sorensen, Thain and Vasserman (2019), Nuanced metrics for measuring
    unintended bias with real data for text classification.
    """
    n = len(sentences)
    lengths = [n, *map(len, (labels, groups, frames))]
    if len({*lengths}) > 1:
        raise NotApplicable(f"classifier-gaps: the inputs must have equal length, not {lengths}")
    if not 0.5 < matched < 1:
        raise InvalidOption(f"classifier-gaps: matched={matched}: must be between .5 and 1")
    if not {*np.unique(labels).tolist()} <= {0.0, 1.0}:
        raise InvalidOption("classifier-gaps: labels must be 1 (positive) or 0 (negative)")
    of_group, of_frame = (np.unique(codes, return_inverse=True)[1] for codes in (groups, frames))
    y, number = labels.astype(np.int64), int(of_group.max()) + 1
    cells = np.bincount(2 * of_group + y, minlength=2 * number).reshape(-1, 2)
    if number < FEWEST or cells.min() == 0:
        reason = f"fewer than {FEWEST} groups with sentences of both labels"
        undefined = Score(float("nan"), n=n, reason=reason)
        return dict.fromkeys(("rate_gap", *_STATISTICS, "accuracy"), undefined)
    z = _logits(positives, negatives, sentences)[0]
    above = top_share(z, float(y.sum()))
    tpr, fpr = float(above[y == 1].mean()), float(above[y == 0].mean())
    kept = min(1.0, (2 * matched - 1) / (tpr - fpr)) if tpr > fpr else 1.0
    samples = [Samples("sentences", None, {"logit": z, "label": y, "group": of_group})]
    accuracy = (1 + tpr - fpr) / 2
    right = np.where(y == 1, above, 1 - above)
    scores = {
        "accuracy": Score(
            accuracy,
            interval=intervals.inside(
                intervals.jackknife_interval(
                    lambda counts: sum(
                        (counts @ (right * (y == label))) / (counts @ (y == label)) / 2
                        for label in (0, 1)
                    ),
                    [n],
                    rng=rng,
                    clusters=[of_group],
                    resamples=resamples,
                    confidence=confidence,
                ),
                0.0,
                1.0,
            ),
            n=n,
            samples=samples,
        )
    }
    probability = _calibrated(z, y)
    order = nulls.exchanged_within(2 * of_frame + y, rng=rng, draws=null_draws)
    once = np.arange(n)[None]
    deviations: dict[str, Callable[[Codes], Floats]] = {
        "tpr_gap": lambda rows: _means(above[rows], (y[rows] == 1), of_group) - tpr,
        "fpr_gap": lambda rows: _means(above[rows], (y[rows] == 0), of_group) - fpr,
        "calibration_gap": lambda rows: _means((probability - y)[rows], None, of_group),
    }
    own = {name: kept * deviation(once) for name, deviation in deviations.items()}
    of_chance = {name: kept * deviation(order) for name, deviation in deviations.items()}
    for found in (own, of_chance):
        found["rate_gap"] = np.concatenate([found["tpr_gap"], found["fpr_gap"]], axis=1)
    aucs = _aucs(z, y, of_group)
    for name, values in own.items():
        value, null = float(_rms(values)[0]), _rms(of_chance[name])
        more: dict[str, Any] = {"kept": kept, "groups": number}
        tables = {}
        if name == "rate_gap":
            more |= {column: float(aucs[column].min()) for column in aucs}
            if null_draws:
                more["above_chance"] = float(np.sqrt(max(0.0, value**2 - (null**2).mean())))
            tables["groups"] = _table(texts, of_group, cells, above, y, probability, aucs)
        scores[name] = Score(
            value,
            p_value=nulls.two_sided(value, null),
            interval=intervals.inside(
                intervals.jackknife_interval(
                    _of_groups(values.reshape(-1, number)),
                    [number],
                    rng=rng,
                    resamples=resamples,
                    confidence=confidence,
                ),
                0.0,
                1.0,
            ),
            n=n,
            null=Null(null, SHUFFLED) if null_draws else None,
            details=more,
            tables=tables,
            samples=samples,
        )
    return scores


_STATISTICS = ("tpr_gap", "fpr_gap", "calibration_gap")


def _logits(positives: Reals, negatives: Reals, sentences: Reals, *, blocks: int = 0) -> Floats:
    """Return the (1 + blocks, n) logits of sentences: of all training texts, and without a block.

    A block is every `blocks`-th text of either label.
    """
    x = np.vstack([unit_rows(negatives), unit_rows(positives)])
    y = np.repeat([0, 1], [len(negatives), len(positives)])
    place = np.concatenate([np.arange(len(negatives)), np.arange(len(positives))])
    used = np.ones((1 + blocks, len(y)), dtype=bool)
    for block in range(blocks):
        used[1 + block] = place % blocks != block
    logits: Floats = logits_of(regressions(x, y, used, C), unit_rows(sentences))[:, 0]
    return logits


def _calibrated(z: Floats, y: npt.NDArray[np.int64]) -> Floats:
    """Return the (n,) probabilities of the label 1, by a logistic regression on the logits."""
    spread = float(z.std())
    x = ((z - z.mean()) / (spread if spread > 0 else 1.0))[:, None]
    weights = regressions(x, y, np.ones((1, len(y)), dtype=bool), C)
    probabilities: Floats = 1 / (1 + np.exp(-logits_of(weights, x)[0, 0]))
    return probabilities


def _means(values: Floats, counted: Any, of_group: Codes) -> Floats:
    """Return the (b, g) means of (b, n) values over the sentences of each group that count."""
    member = (of_group == np.arange(int(of_group.max()) + 1)[:, None]).T.astype(np.float64)
    weight = np.ones(values.shape) if counted is None else counted.astype(np.float64)
    means: Floats = (values * weight) @ member / (weight @ member)
    return means


def _rms(deviations: Floats) -> Floats:
    rms: Floats = np.sqrt((deviations**2).mean(axis=1))
    return rms


def _of_groups(deviations: Floats) -> Callable[[Floats], Floats]:
    """Return the statistic of (b, g) counts of groups, from (k, g) deviations of k rates."""
    squares = (deviations**2).mean(axis=0)

    def statistic(counts: Floats) -> Floats:
        values: Floats = np.sqrt(counts @ squares / counts.sum(axis=1))
        return values

    return statistic


def _aucs(z: Floats, y: Codes, of_group: Codes) -> dict[str, Floats]:
    """Return the (g,) AUCs of Borkan et al. (2019) of each group, by name."""
    columns: dict[str, list[float]] = {"subgroup_auc": [], "bpsn_auc": [], "bnsp_auc": []}
    for group in range(int(of_group.max()) + 1):
        own = of_group == group
        positive, negative = z[own & (y == 1)], z[own & (y == 0)]
        columns["subgroup_auc"].append(_auc(positive, negative))
        columns["bpsn_auc"].append(_auc(z[~own & (y == 1)], negative))
        columns["bnsp_auc"].append(_auc(positive, z[~own & (y == 0)]))
    return {name: np.array(values) for name, values in columns.items()}


def _auc(positives: Floats, negatives: Floats) -> float:
    return float(intervals.auc(positives, negatives)[0])


def _table(
    texts: Mapping[str, Sequence[str]] | None,
    of_group: Codes,
    cells: Codes,
    above: Floats,
    y: Codes,
    probability: Floats,
    aucs: Mapping[str, Floats],
) -> list[dict[str, Any]]:
    """Return a row for each group, the one with the highest mean probability first."""
    rates = {
        "tpr": _means(above[None], y[None] == 1, of_group)[0],
        "fpr": _means(above[None], y[None] == 0, of_group)[0],
        "probability": _means(probability[None], None, of_group)[0],
        **aucs,
    }
    firsts = np.unique(of_group, return_index=True)[1]
    return [
        {
            "group": group + 1,
            "sentence": texts["sentences"][int(firsts[group])] if texts else "",
            "sentences": int(cells[group].sum()),
            **{name: float(values[group]) for name, values in rates.items()},
        }
        for group in np.argsort(-rates["probability"], kind="stable").tolist()
    ]
