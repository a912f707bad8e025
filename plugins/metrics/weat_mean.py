"""Mean association of several WEAT tests, such as those of gender in one language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import compress
from typing import Any, Literal

import numpy as np

from harness.arrays import Floats, Mask, Reals, unit_rows
from harness.metrics import Compares, Contrast, Gap, Gaps, Samples, Scale, Score, metric

from .statistics import intervals, nulls
from .statistics.association import (
    SIGNIFICANT,
    differential_association,
    effect_size,
    empty,
    resampled_associations,
)
from .statistics.gaps import Units, association_gap
from .statistics.intervals import Codes, to_difference, without_one

Sides = Literal["both", "targets"]
INPUTS = ("targets_1", "targets_2", "attributes_1", "attributes_2")
DRAWS = 2_000
"""Number of assignments; the smallest p-value is 1/2,001."""


def mean_association_gap(
    targets_1: Reals,
    targets_2: Reals,
    attributes_1: Reals,
    attributes_2: Reals,
    tests_of_targets_1: Floats | None = None,
    tests_of_targets_2: Floats | None = None,
    tests_of_attributes_1: Floats | None = None,
    tests_of_attributes_2: Floats | None = None,
    *,
    units: Units,
) -> Gaps:
    """Return the mean over tests of the gap of `association_gap`; parameters as of `weat_mean`.

    A word that several tests share is one unit, which is left out of all of them.
    """
    arrays = (targets_1, targets_2, attributes_1, attributes_2)
    numbers = (tests_of_targets_1, tests_of_targets_2, tests_of_attributes_1, tests_of_attributes_2)
    tests_of = [
        np.zeros(len(array)) if of is None else np.asarray(of)
        for array, of in zip(arrays, numbers, strict=True)
    ]
    gaps = []
    for test in np.unique(np.concatenate(tests_of)):
        masks = [of == test for of in tests_of]
        if not all(mask.any() for mask in masks):
            return Gaps(Gap(float("nan"), {}, 1))
        names = {
            name: list(compress(units[name], mask))
            for name, mask in zip(INPUTS, masks, strict=True)
        }
        rows = (array[mask] for array, mask in zip(arrays, masks, strict=True))
        gaps.append(association_gap(*rows, units=names).gap)
    return Gaps(Gap.mean(gaps))


@metric(
    "weat-mean",
    scores={
        "association": Scale(
            ideal=0,
            bounds=(-4, 4),
            in_cosines=True,
            help="mean over tests of the association that WEAT measures, in cosines",
        )
    },
    contrast=Contrast(
        sides=("targets_1", "targets_2"),
        towards=("attributes_1", "attributes_2"),
        parts=tuple(f"tests_of_{name}" for name in INPUTS),
    ),
    gap=mean_association_gap,
    compares=Compares(("targets_1", "targets_2"), ("attributes_1", "attributes_2")),
)
def weat_mean(
    targets_1: Reals,
    targets_2: Reals,
    attributes_1: Reals,
    attributes_2: Reals,
    tests_of_targets_1: Floats | None = None,
    tests_of_targets_2: Floats | None = None,
    tests_of_attributes_1: Floats | None = None,
    tests_of_attributes_2: Floats | None = None,
    *,
    sides: Sides = "both",
    null_draws: int = DRAWS,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> Score:
    """Mean over several word embedding association tests of their associations.

    With the sets X_t, Y_t, A_t and B_t of test t, and s of Caliskan et al. (2017)::

        s_t(w) = mean over a in A_t of cos(w, a) − mean over b in B_t of cos(w, b)
        association = mean over t of ( mean over X_t of s_t(x) − mean over Y_t of s_t(y) )

    Each test has the same weight. Of one test it is the score `association` of the metric `weat`.
    The mean of signed associations: tests of opposite stereotypes cancel, so all should run in one
    direction.

    A test of a few words says little of a model in one language; several together say more. A word
    that several tests share is one word: it is left out of all of them at once, and keeps its side
    in all when sides are assigned at random.

    Parameters
    ----------
    targets_1, targets_2
        (n, d) and (m, d) vectors of the X and the Y of all tests.
    attributes_1, attributes_2
        (a, d) and (b, d) vectors of the A and the B of all tests.
    tests_of_targets_1, tests_of_targets_2, tests_of_attributes_1, tests_of_attributes_2
        (n,), (m,), (a,) and (b,) number of the test that each word belongs to. By default all
        words are of one test.
    sides
        What the floor and the p-value assign at random: the members of `both` the target sets and
        the attribute sets, or of the `targets` alone.
    null_draws
        Number of random assignments of each side; 0 for neither floor nor p-value.
    confidence, resamples
        Level of the interval over words, and the most of these to leave out; 0 for neither an
        interval nor the detail `without_one`.
    rng
        Random number generator of the assignments.
    texts
        Texts by input name: equal texts of an input are one word. By default all differ.

    Returns
    -------
    Score
        In cosines, in [−4, 4]; fair is 0, and a positive value is the association that the tests
        state. Its unit is the mean over tests of the standard deviation of the cosines between
        targets and attributes. The floor is its mean distance from 0 with the words of X and Y
        drawn at random from both, for the tests that share targets together, or with those of A and
        B: the larger of the two. The p-value is two-sided: the share of these assignments with at
        least the distance, the larger of both sides, too (see `weat`). Without a word in
        some set of a test there is no score. Details: `tests`, their number; `p_targets` and
        `p_attributes`, the two p-values; `reversed`, whether
        it is negative with a p-value below .05; `without_one`, as for `weat`. Table `tests`: the
        association, the effect size d and the number of targets of each test. Samples: each target
        with its s_t(w), and each attribute with s_t(a, X, Y), and their test.

    Raises
    ------
    InvalidOption
        If `confidence` is not between 0 and 1.

    References
    ----------
    Caliskan, Bryson and Narayanan (2017), Semantics derived automatically from language corpora
    contain human-like biases: s(w, A, B), and the effect size d. Mukherjee, Raj, Zhu and
    Anastasopoulos (2023), Global Voices, Local Biases: tests in many languages.
    """
    arrays = (targets_1, targets_2, attributes_1, attributes_2)
    numbers = (tests_of_targets_1, tests_of_targets_2, tests_of_attributes_1, tests_of_attributes_2)
    n = len(targets_1) + len(targets_2)
    if reason := empty(dict(zip(INPUTS, arrays, strict=True))):
        return Score(float("nan"), n=n, reason=reason)
    tests_of = [
        np.zeros(len(array)) if of is None else np.asarray(of, dtype=np.float64)
        for array, of in zip(arrays, numbers, strict=True)
    ]
    tests = np.unique(np.concatenate(tests_of))
    for test in tests:
        for name, of in zip(INPUTS, tests_of, strict=True):
            if test not in of:
                return Score(float("nan"), n=n, reason=f"{name} of test {test:g} is empty")
    units = [unit_rows(array) for array in arrays]
    members = [[of == test for of in tests_of] for test in tests]
    words = [
        _codes(len(array), (texts or {}).get(name))
        for name, array in zip(INPUTS, arrays, strict=True)
    ]
    s = [_associations(units, of_test) for of_test in members]
    associations = np.array([first.mean() - second.mean() for first, second in s])
    value = float(associations.mean())
    of_sides: dict[str, nulls.Shuffled] = {}
    if null_draws:
        own = [of_test[:2] for of_test in members]
        of_sides["targets"] = _shuffled(
            value, s, own, words[:2], nulls.MEMBERS, draws=null_draws, rng=rng
        )
    if null_draws and sides == "both":
        own = [of_test[2:] for of_test in members]
        of_attributes = [_associations_of_attributes(units, of_test) for of_test in members]
        of_sides["attributes"] = _shuffled(
            value, of_attributes, own, words[2:], nulls.ATTRIBUTES, draws=null_draws, rng=rng
        )
    chance = nulls.Chance(of_sides)
    statistic = partial(_resampled, units, members)
    sizes = [len(array) for array in arrays]
    named = None if texts is None else [texts[name] for name in INPUTS]
    return Score(
        value,
        p_value=chance.p_value,
        interval=intervals.jackknife_interval(
            statistic, sizes, rng=rng, clusters=words, resamples=resamples, confidence=confidence
        ),
        n=n,
        details={
            "tests": len(tests),
            **chance.p_values,
            "alternative": "two-sided",
            "reversed": value < 0 and chance.two_sided < SIGNIFICANT,
            "without_one": without_one(
                statistic, value, sizes, resamples=resamples, clusters=words, texts=named
            ),
        },
        tables={"tests": _table(tests, s, associations)},
        samples=partial(_samples, units, members, tests_of),
        null=chance.null,
        unit=_spread(units, members),
    )


def _codes(size: int, texts: Sequence[str] | None) -> Codes:
    """Return the (size,) code of each word: equal texts have one."""
    codes: Codes = np.arange(size) if texts is None else np.unique(texts, return_inverse=True)[1]
    return codes


def _associations(units: Sequence[Floats], of_test: Sequence[Mask]) -> tuple[Floats, Floats]:
    """Return s_t of the first and of the second targets of a test."""
    x, y, a, b = (unit[rows] for unit, rows in zip(units, of_test, strict=True))
    return differential_association(x, a, b), differential_association(y, a, b)


def _associations_of_attributes(
    units: Sequence[Floats], of_test: Sequence[Mask]
) -> tuple[Floats, Floats]:
    """Return by how much attributes of both sets of a test are closer to X_t than to Y_t."""
    x, y, a, b = (unit[rows] for unit, rows in zip(units, of_test, strict=True))
    return differential_association(a, x, y), differential_association(b, x, y)


def _resampled(
    units: Sequence[Floats], members: Sequence[Sequence[Mask]], *counts: Floats
) -> Floats:
    """Return the (b,) values of b resamples: four (b, n) counts of words; NaN without a set."""
    with np.errstate(invalid="ignore"):
        values = [
            resampled_associations(
                *(unit[rows] for unit, rows in zip(units, of_test, strict=True)),
                *(count[:, rows] for count, rows in zip(counts, of_test, strict=True)),
            )
            for of_test in members
        ]
    mean: Floats = np.mean(values, axis=0)
    return mean


def _shuffled(
    value: float,
    s: Sequence[tuple[Floats, Floats]],
    members: Sequence[Sequence[Mask]],
    words: Sequence[Codes],
    shuffled: str,
    *,
    draws: int,
    rng: np.random.Generator,
) -> nulls.Shuffled:
    """Return the value with the words of two sides, targets or attributes, exchanged at random.

    A word has one side in all tests. Among tests that share words of these sides, directly or
    through others, the number of words of a side stays the same; the number in one test may not.
    """
    first, second = words[0], words[1]
    unit = np.concatenate([first, second + first.max() + 1])
    of_tests = [np.concatenate([of_test[0], of_test[1]]) for of_test in members]
    in_first = np.zeros((draws, int(unit.max()) + 1), dtype=np.bool_)
    for rows in _linked(unit, of_tests):
        linked = np.unique(unit[rows])
        sides = np.tile(linked <= first.max(), (draws, 1))
        in_first[:, linked] = rng.permuted(sides, axis=1)
    values = []
    with np.errstate(invalid="ignore", divide="ignore"):  # NaN if a side of a test is empty
        for of_test, parts in zip(of_tests, s, strict=True):
            mask = in_first[:, unit[of_test]]
            values.append(nulls.differences_of_means(np.concatenate(parts), mask))
    mean: Floats = np.mean(values, axis=0)
    return nulls.by_draws(value, mean, shuffled)


def _linked(unit: Codes, of_tests: Sequence[Mask]) -> Iterator[Mask]:
    """Yield the rows of each group of tests that are linked by words that they share."""
    remaining = list(of_tests)
    while remaining:
        rows, grown = remaining.pop(0), True
        while grown:
            others = [bool(np.isin(unit[of], unit[rows]).any()) for of in remaining]
            grown = any(others)
            for of, shares in zip(remaining, others, strict=True):
                rows = rows | of if shares else rows
            remaining = [of for of, shares in zip(remaining, others, strict=True) if not shares]
        yield rows


def _spread(units: Sequence[Floats], members: Sequence[Sequence[Mask]]) -> float | None:
    """Return the mean over tests of the standard deviation of the cosines; None if it is 0."""
    spreads = []
    for of_test in members:
        x, y, a, b = (unit[rows] for unit, rows in zip(units, of_test, strict=True))
        spreads.append((np.vstack([x, y]) @ np.vstack([a, b]).T).std())
    return float(np.mean(spreads)) or None


def _table(
    tests: Floats, s: Sequence[tuple[Floats, Floats]], associations: Floats
) -> list[dict[str, Any]]:
    """Return a row for each test; without an effect size if all targets are alike."""
    sizes = [effect_size(first, second, ddof=1) for first, second in s]
    return [
        {
            "test": float(test),
            "association": float(association),
            "effect_size": None if np.isnan(d) else d,
            "targets_1": len(first),
            "targets_2": len(second),
        }
        for test, association, d, (first, second) in zip(tests, associations, sizes, s, strict=True)
    ]


def _samples(
    units: Sequence[Floats], members: Sequence[Sequence[Mask]], tests_of: Sequence[Floats]
) -> list[Samples]:
    """Return what each word contributes: the mean over targets, and over attributes, is the score.

    A word contributes to its test as in `weat`. A test counts as much as another one, however
    many words it has.
    """
    parts = []
    for sides, others in (((0, 1), (2, 3)), ((2, 3), (0, 1))):
        contributions = [np.empty(len(units[side])) for side in sides]
        own = [np.empty(len(units[side])) for side in sides]
        total = sum(len(units[side]) for side in sides)
        for of_test in members:
            towards = [units[other][of_test[other]] for other in others]
            s = [differential_association(units[side][of_test[side]], *towards) for side in sides]
            share = total / (sum(map(len, s)) * len(members))
            for i, part in enumerate(to_difference(s[0], s[1])):
                contributions[i][of_test[sides[i]]] = part * share
                own[i][of_test[sides[i]]] = s[i]
        parts += [
            Samples(INPUTS[side], part, {"association": values, "test": tests_of[side]})
            for side, part, values in zip(sides, contributions, own, strict=True)
        ]
    return parts
