"""Sides of held-out pairs are swapped in assignments that are balanced over pairs."""

import itertools

import numpy as np
import pytest

from harness.study.bench import Part, Route, assignments, scores_of_swapped

ITEMS = np.array([7, 3])


def part(codes, *, held_out=True):
    codes = np.array(codes)
    return Part(Route("mitigated", "text"), np.arange(len(codes)), codes, held_out, None)


def swapped(parts, arrays, texts=None):
    """Return what the metric gets in each assignment: the first input, and its texts."""
    seen = []

    def score(arrays, texts):
        seen.append((arrays["x"].ravel().tolist(), texts.get("x")))
        return float(arrays["x"].sum() - arrays["y"].sum())

    return scores_of_swapped(score, parts, arrays, texts or {}, ITEMS), seen


@pytest.mark.parametrize("pairs", [1, 2, 3, 4, 5, 8, 13])
def test_any_two_pairs_are_swapped_in_every_combination_equally_often(pairs):
    swaps = assignments(pairs)
    assert not swaps[0].any()
    assert (2 * swaps.sum(axis=0) == len(swaps)).all()
    for i, j in itertools.combinations(range(pairs), 2):
        both = np.unique(swaps[:, [i, j]], axis=0, return_counts=True)[1]
        assert both.tolist() == [len(swaps) / 4] * 4


def test_few_assignments_have_the_variance_of_all():
    shares = np.random.default_rng(0).normal(size=5)
    all_signs = np.array(list(itertools.product([1, -1], repeat=5)))
    few = 1 - 2 * assignments(5)
    assert len(few) == 8
    assert (few @ shares).std() == pytest.approx((all_signs @ shares).std())


def test_all_rows_of_a_swapped_pair_change_sides():
    parts = {"x": part([3, 3, 7]), "y": part([3, 3, 7]), "a": part([0], held_out=False)}
    arrays = {"x": np.array([[1.0], [2], [3]]), "y": np.array([[-1.0], [-2], [-3]])}
    scores, seen = swapped(
        parts, arrays | {"a": np.ones((1, 1))}, {"x": ("b", "c", "d"), "y": ("B", "C", "D")}
    )
    assert sorted(seen) == sorted(
        [
            ([-1, -2, 3], ("B", "C", "d")),
            ([1, 2, -3], ("b", "c", "D")),
            ([-1, -2, -3], ("B", "C", "D")),
        ]
    )
    assert sorted(scores) == [-12, 0, 0]


def test_pairs_without_two_sides_have_no_swapped_scores():
    x, y = np.ones((2, 1)), np.zeros((2, 1))
    assert not swapped({"x": part([3, 7])}, {"x": x})[0].size
    assert not swapped({"x": part([3, 7]), "y": part([7, 3])}, {"x": x, "y": y})[0].size
