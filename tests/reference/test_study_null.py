"""How often a study's tests reject under the null hypothesis, on GloVe 6B 50d.

A simulated study has the 45 gender pairs in ten folds, ten times. Methods are fitted on the
training pairs. The values of a fold are WEAT's effect size d of the held-out pairs with career and
family, and the numerator of d, the difference of the mean associations. Under the null hypothesis a
coin for each pair decides which word is on which side, before anything else.

Why this is a null hypothesis. Let e be the coins, ±1. The numerator is the mean of
e_i (s(x_i) − s(y_i)) over held-out pairs; the denominator of d does not depend on sides. Turn over
all coins: a method that projects out a direction does the same as before, because the sign of a
direction does not matter. Every value of every fold changes its sign, and so does every difference
of two methods. Hence all differences of a study are jointly symmetric around 0, and their mean is
0, for any two such methods. Values must keep their sign: hard debiasing lowers |d| for any coins.

What is expected. Hard debiasing does not depend on sides: its values are means over held-out pairs
of numbers with random signs. The mean over a repeat is a mean over all 45 pairs for any folds, so
that repeats add no information and the error of the plain t-test has no bound. Two folds of
different repeats share a tenth of their pairs, which is the correlation that Nadeau and Bengio
assume. Folds of one repeat share no pairs: without repeats the plain test is near its level. A
method that learns from sides learns chance here, from training sets that overlap, which adds to the
correlation.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from harness.arrays import unit_rows
from harness.concept import Concept
from harness.plugins.metrics.weat import weat
from harness.plugins.mitigators.hard_debias import HardDebias
from harness.study.significance import corrected_t_test

FOLDS, REPEATS = 10, 10
STUDIES = 2_000  # the standard error of a rate of 5 % is 1 % with 500 studies, here 0.5 %
LEVEL = 0.05
D, NUMERATOR = 0, 1
HARD, MEAN, _ = COMPARED = (
    "hard debiasing - none",
    "mean difference - none",
    "hard debiasing - mean difference",
)


class Pairs:
    """Unit vectors of the pairs and of two attribute sets, and the directions that methods remove.

    Arrays of directions have the shape (folds, 50).
    """

    def __init__(self, model, words, attributes) -> None:
        self.model, self.words, self.attributes = model, words, attributes
        flat = [word for pair in words for word in pair]
        self.vectors = unit_rows(model.encode(flat))  # (90, 50), the two of a pair together
        self.directions = self.vectors[1::2] - self.vectors[::2]
        self.first_axis = np.linalg.svd(self.directions)[2][:1]
        self.attribute_rows = unit_rows(model.encode([*attributes[0], *attributes[1]]))
        first, second = map(len, attributes)
        self.weights = np.repeat([1 / first, -1 / second], [first, second])

    def hard(self, train: np.ndarray) -> np.ndarray:
        """Return the first principal axis of the training pairs, (folds, 50), by iteration."""
        axis = self.first_axis
        for _ in range(15):
            axis = unit_rows((axis @ self.directions.T * train) @ self.directions)
        return axis

    def mean_difference(self, train: np.ndarray, signs: np.ndarray) -> np.ndarray:
        """Return the mean difference of the training pairs, (folds, 50), at length 1."""
        return unit_rows((train * signs) @ self.directions)

    def nothing(self) -> np.ndarray:
        return np.zeros((1, self.vectors.shape[1]))

    def shares(self, removed: np.ndarray, held_out: np.ndarray) -> np.ndarray:
        """Return what each held-out pair adds to d and to its numerator, (2, folds, pairs).

        `removed`, (folds, 50), is projected out of all words, which are set to length 1 again.
        """
        along = removed @ self.attribute_rows.T
        weights = self.weights / np.sqrt(1 - along**2)
        towards = weights @ self.attribute_rows - (weights * along).sum(1)[:, None] * removed
        s = towards @ self.vectors.T / np.sqrt(1 - (removed @ self.vectors.T) ** 2)
        m = held_out.sum(1)[:, None]
        inside = np.repeat(held_out, 2, axis=1)
        deviations = inside * (s - (inside * s).sum(1)[:, None] / (2 * m))
        sd = np.sqrt((deviations**2).sum(1)[:, None] / (2 * m - 1))
        numerator = held_out * (s[:, ::2] - s[:, 1::2]) / m
        return np.stack([numerator / sd, numerator])

    def fitted(self, train: np.ndarray, signs: np.ndarray) -> HardDebias:
        """Return the harness's hard debiasing, fitted on the training pairs with these sides."""
        learnt = tuple(self.sided(i, signs) for i in np.flatnonzero(train))
        concept = Concept(name="gender", definitional_pairs=learnt)
        return HardDebias(equalize=False).fit(self.model, concept)

    def sided(self, i: int, signs: np.ndarray) -> tuple[str, str]:
        first, second = self.words[i]
        return (first, second) if signs[i] > 0 else (second, first)


@pytest.fixture(scope="module")
def pairs(registry) -> Pairs:
    inputs = registry.task("weat-6").scenarios[0].measurements[0].inputs
    attributes = [list(inputs[name].texts) for name in ("attributes_1", "attributes_2")]
    words = registry.concept("gender-45").definitional_pairs
    return Pairs(registry.embedder("glove-6b-50d"), words, attributes)


def deal_folds(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return which pairs each fold of each repeat holds out, (repeats · folds, n)."""
    parts = rng.permuted(np.tile(np.arange(n) % FOLDS, (REPEATS, 1)), axis=1)
    return (parts[:, None, :] == np.arange(FOLDS)[:, None]).reshape(-1, n)


def toss_coins(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.choice([-1.0, 1.0], n)


@pytest.fixture(scope="module")
def differences(pairs) -> dict[str, np.ndarray]:
    """Return the differences of d and of its numerator, (2, studies, folds), by methods."""
    rng = np.random.default_rng(0)
    n = len(pairs.words)
    values = np.empty((3, 2, STUDIES, REPEATS * FOLDS))
    for study in range(STUDIES):
        held_out, signs = deal_folds(rng, n), toss_coins(rng, n)
        train = ~held_out
        removed = pairs.nothing(), pairs.hard(train), pairs.mean_difference(train, signs)
        values[:, :, study] = [pairs.shares(directions, held_out) @ signs for directions in removed]
    none, hard, mean = values
    return dict(zip(COMPARED, (hard - none, mean - none, hard - mean), strict=True))


def rejected(studies: np.ndarray) -> tuple[float, float]:
    """Return the shares of studies that the corrected and the plain t-test reject."""
    corrected = [corrected_t_test(d, test_to_train=1 / (FOLDS - 1)).p_value for d in studies]
    plain = stats.ttest_1samp(studies, 0, axis=1).pvalue
    return float(np.mean(np.array(corrected) <= LEVEL)), float(np.mean(plain <= LEVEL))


@pytest.mark.parametrize("fold", [0, 57])
def test_the_arithmetic_here_is_that_of_hard_debiasing_and_weat(pairs, fold):
    rng = np.random.default_rng(1)
    held_out, signs = deal_folds(rng, len(pairs.words)), toss_coins(rng, len(pairs.words))
    method = pairs.fitted(~held_out[fold], signs)  # does not depend on the signs
    sides = zip(*(pairs.sided(i, signs) for i in np.flatnonzero(held_out[fold])), strict=True)
    groups = [*map(list, sides), *pairs.attributes]
    for removed, transform in (
        (pairs.hard(~held_out), method.transform),
        (pairs.nothing(), lambda rows, _: rows),
    ):
        arrays = [transform(pairs.model.encode(words), words) for words in groups]
        score = weat(*arrays, permutations=5, resamples=0, rng=rng)["effect_size"]
        ours = (pairs.shares(removed, held_out) @ signs)[:, fold]
        theirs = score.value, score.details["statistic"] / held_out[fold].sum()  # a sum there
        assert ours == pytest.approx(theirs, abs=1e-5)


@pytest.mark.parametrize(("compared", "measure"), [(HARD, NUMERATOR), (MEAN, D)])
def test_with_repeats_the_corrected_test_keeps_its_level_and_the_plain_one_does_not(
    differences, compared, measure
):
    corrected, plain = rejected(differences[compared][measure])
    assert 0.03 <= corrected <= 0.07, corrected
    assert plain > 0.4, plain


@pytest.mark.parametrize("compared", COMPARED)
@pytest.mark.parametrize("measure", [D, NUMERATOR])
def test_without_repeats_the_corrected_test_is_conservative(differences, compared, measure):
    corrected, plain = rejected(differences[compared][measure, :, :FOLDS])
    assert corrected < LEVEL, corrected
    assert plain > corrected + 0.02, plain


@pytest.mark.parametrize("measure", [D, NUMERATOR])
def test_without_repeats_and_without_learning_from_sides_the_plain_test_is_right(
    differences, measure
):
    corrected, plain = rejected(differences[HARD][measure, :, :FOLDS])
    assert 0.03 <= plain <= 0.07, plain
    assert corrected < 0.02, corrected


def test_both_tests_reject_too_often_for_methods_that_learn_chance(pairs):
    # Two methods remove a random direction, each learnt from its own shuffle of the sides, and are
    # judged by |d| with the true sides. They are exchangeable, so there is no true difference. But
    # training sets that share most pairs give nearly the same direction in all folds of a study:
    # the folds agree on which of the two was luckier, and the corrected test rejects half of them.
    rng = np.random.default_rng(2)
    n = len(pairs.words)
    luck = []
    for _ in range(300):
        held_out = deal_folds(rng, n)
        removed = [pairs.mean_difference(~held_out, toss_coins(rng, n)) for _ in range(2)]
        d = [np.abs(pairs.shares(directions, held_out)[0].sum(1)) for directions in removed]
        luck.append(d[0] - d[1])
    corrected, plain = rejected(np.array(luck))
    assert corrected > 0.3, corrected
    assert plain > corrected
