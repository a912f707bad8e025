"""Planted bias: the amount that was asked for, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from harness.arrays import cosines, unit_rows
from harness.errors import HarnessError
from harness.metrics import Contrast
from harness.plugins.validity import checks

TWO = Contrast(sides=("x", "y"), towards=("a", "b"))
ONE = Contrast(sides=("x",), towards=("a", "b"))
FORMS = Contrast(sides=("x", "other"), towards=("a", "b"), labels="ratings")
LABELLED = Contrast(sides=("x",), towards=("a", "b"), labels="ratings")


@pytest.fixture
def arrays() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    sizes = (("x", 9), ("y", 7), ("a", 5), ("b", 6), ("other", 9))
    made = {name: 3 * rng.standard_normal((n, 20)) + 1 for name, n in sizes}
    return made | {"ratings": rng.standard_normal(9)}


def projections(arrays, name):
    g = checks.direction_of(arrays, TWO).vector
    return unit_rows(arrays[name]) @ g


@pytest.mark.parametrize("amplitude", checks.AMPLITUDES)
def test_two_sides_are_as_far_apart_as_the_amplitude_says(arrays, amplitude):
    gap = checks.direction_of(arrays, TWO).gap
    result = checks.planted(arrays, TWO, amplitude)
    x, y = projections(result, "x"), projections(result, "y")
    assert x.mean() - y.mean() == pytest.approx(2 * amplitude * gap)
    before = projections(arrays, "x").mean() + projections(arrays, "y").mean()
    assert x.mean() + y.mean() == pytest.approx(before)


def test_amplitude_1_is_the_gap_between_the_groups(arrays):
    result = checks.planted(arrays, TWO, 1)
    groups = projections(arrays, "a").mean() - projections(arrays, "b").mean()
    sides = projections(result, "x").mean() - projections(result, "y").mean()
    assert sides == pytest.approx(groups)


def test_lengths_groups_and_differences_within_a_side_stay(arrays):
    result = checks.planted(arrays, TWO, 0.5)
    for name in "xy":
        assert np.linalg.norm(result[name], axis=1) == pytest.approx(
            np.linalg.norm(arrays[name], axis=1)
        )
        assert np.std(projections(result, name)) == pytest.approx(np.std(projections(arrays, name)))
    assert result["a"] is arrays["a"]


def test_a_single_side_is_moved_from_where_both_groups_are_as_near(arrays):
    def difference(amplitude: float) -> float:
        x = checks.planted(arrays, ONE, amplitude)["x"]
        return cosines(x, arrays["a"]).mean() - cosines(x, arrays["b"]).mean()

    assert abs(difference(0)) < 1e-9
    gap = checks.direction_of(arrays, TWO).gap
    assert difference(0.5) == pytest.approx(0.5 * gap * 2 * gap)


def test_low_labels_are_moved_to_the_first_group(arrays):
    none = projections(checks.planted(arrays, LABELLED, 0), "x")
    assert np.corrcoef(none, arrays["ratings"])[0, 1] == pytest.approx(0, abs=1e-9)
    full = projections(checks.planted(arrays, LABELLED, 1), "x")
    assert np.corrcoef(full - none, arrays["ratings"])[0, 1] == pytest.approx(-1)


def test_all_forms_of_an_item_are_moved_by_its_label(arrays):
    none, full = (checks.planted(arrays, FORMS, amplitude) for amplitude in (0, 1))
    moved = [projections(full, name) - projections(none, name) for name in FORMS.sides]
    assert moved[0] == pytest.approx(moved[1])
    assert np.corrcoef(moved[0], arrays["ratings"])[0, 1] == pytest.approx(-1)


@pytest.mark.parametrize(
    "contrast", [TWO, ONE, LABELLED, FORMS], ids=["two", "one", "labelled", "forms"]
)
@pytest.mark.parametrize("amplitude", [-1.0, 0.0, 0.5])
def test_the_amplitude_that_was_planted_is_measured(arrays, contrast, amplitude):
    result = checks.planted(arrays, contrast, amplitude)
    assert checks.amplitude_of(result, contrast) == pytest.approx(amplitude, abs=1e-9)


def test_a_bias_is_added_to_the_one_that_is_there(arrays):
    own = checks.amplitude_of(arrays, TWO)
    result = checks.shifted(arrays, TWO, 0.5)
    assert checks.amplitude_of(result, TWO) == pytest.approx(own + 0.5)


def test_equal_groups_have_no_direction(arrays):
    with pytest.raises(HarnessError, match="same mean"):
        checks.planted(arrays | {"b": arrays["a"]}, TWO, 1)


CATEGORIES = Contrast(sides=("x",), towards=("a", "b"), labels="groups", categorical=True)
ROWS = Contrast(sides=("x",), towards=("own",), labels="ratings")


def test_categories_are_spread_evenly_and_have_no_other_difference(arrays):
    groups = np.repeat([7.0, 2.0, 5.0], 3)
    arrays = arrays | {"groups": groups}
    gap = checks.direction_of(arrays, TWO).gap
    for amplitude in checks.AMPLITUDES:
        x = projections(checks.planted(arrays, CATEGORIES, amplitude), "x")
        means = [x[groups == group].mean() for group in (2.0, 5.0, 7.0)]
        assert np.diff(means) == pytest.approx(-amplitude * gap), amplitude
    planted = checks.planted(arrays, CATEGORIES, 0.5)
    assert checks.amplitude_of(planted, CATEGORIES) == pytest.approx(0.5)


def test_an_item_is_moved_towards_its_own_row_by_its_label(arrays):
    arrays = arrays | {"own": np.random.default_rng(2).standard_normal((9, 20))}
    along = checks.direction_of(arrays, ROWS)
    centred = arrays["ratings"] - arrays["ratings"].mean()

    def slope(amplitude: float) -> float:
        x = unit_rows(checks.planted(arrays, ROWS, amplitude)["x"])
        return float(centred @ (x * along.vector).sum(axis=1) / (centred @ centred))

    assert slope(0) == pytest.approx(0)
    assert slope(0.25) == pytest.approx(0.25 * along.gap / np.abs(centred).max())
    planted = checks.planted(arrays, ROWS, 0.25)
    assert checks.amplitude_of(planted, ROWS) == pytest.approx(0.25)
    assert planted["own"] is arrays["own"]


def test_equal_rows_are_refused(arrays):
    with pytest.raises(HarnessError, match="same vector"):
        checks.planted(arrays | {"own": np.ones((9, 20))}, ROWS, 1)


PAIRED = Contrast(sides=("x",), towards=("a", "b"), paired=True)


@pytest.fixture
def pairs() -> dict[str, np.ndarray]:
    """Texts, each with two versions of its own."""
    rng = np.random.default_rng(3)
    return {name: 3 * rng.standard_normal((200, 20)) + 1 for name in ("x", "a", "b")}


def nearer(arrays) -> np.ndarray:
    """Return how much nearer each text is to its first version than to its second."""
    x, a, b = (unit_rows(arrays[name]) for name in ("x", "a", "b"))
    return ((a - b) * x).sum(axis=1)


@pytest.mark.parametrize("amplitude", [-1.0, 0.0, 0.5])
def test_a_text_with_versions_of_its_own_is_moved_between_them(pairs, amplitude):
    result = checks.planted(pairs, PAIRED, amplitude)
    assert checks.amplitude_of(result, PAIRED) == pytest.approx(amplitude, abs=0.01)
    own = checks.direction_of(pairs, PAIRED)
    assert own.vector.shape == (200, 20)
    moved = own.cosines(result["x"]) - own.cosines(pairs["x"])
    assert np.std(moved) == pytest.approx(0, abs=1e-9), "all are moved by the same"
    assert np.sign(nearer(result)).mean() == pytest.approx(0.7 * amplitude, abs=0.15)


def test_versions_of_different_texts_need_no_direction_in_common(pairs):
    swapped = pairs | {"a": pairs["b"], "b": pairs["a"]}
    own = checks.amplitude_of(pairs, PAIRED)
    assert checks.amplitude_of(swapped, PAIRED) == pytest.approx(-own)
    with pytest.raises(HarnessError, match="no text is nearer"):
        checks.planted(pairs | {"b": pairs["a"]}, PAIRED, 1)


PARTS = Contrast(sides=("x", "y"), towards=("a", "b"), parts=("of_x", "of_y", "of_a", "of_b"))


@pytest.fixture
def two_tests() -> dict[str, np.ndarray]:
    """Two tests with directions of their own, one after the other in each set."""
    rng = np.random.default_rng(4)
    vectors = {name: rng.standard_normal((12, 20)) + 1 for name in ("x", "y", "a", "b")}
    return vectors | {f"of_{name}": np.repeat([7.0, 8.0], 6) for name in vectors}


@pytest.mark.parametrize("amplitude", [-0.5, 0.0, 1.0])
def test_each_part_has_the_planted_bias_along_its_own_direction(two_tests, amplitude):
    result = checks.planted(two_tests, PARTS, amplitude)
    assert checks.amplitude_of(result, PARTS) == pytest.approx(amplitude)
    for part in (slice(6), slice(6, None)):
        of_part = {name: result[name][part] for name in ("x", "y", "a", "b")}
        assert checks.amplitude_of(of_part, TWO) == pytest.approx(amplitude)
    assert result["a"] is two_tests["a"]


def test_without_numbers_of_parts_there_is_one(two_tests):
    sets = {name: two_tests[name] for name in ("x", "y", "a", "b")}
    one, plain = (checks.planted(sets, contrast, 0.5) for contrast in (PARTS, TWO))
    assert one["x"] == pytest.approx(plain["x"])
    assert checks.amplitude_of(sets, PARTS) == pytest.approx(checks.amplitude_of(sets, TWO))


def test_a_bias_within_classes_is_what_labels_do_among_items_of_a_class(arrays):
    contrast = Contrast(sides=("x",), towards=("a", "b"), labels="groups", within="classes")
    classes = np.repeat([4.0, 9.0, 1.0], 3)
    arrays = arrays | {"groups": np.array([0.0, 0, 1, 0, 1, 1, 0, 1, 1]), "classes": classes}
    along = checks.direction_of(arrays, TWO)
    apart = along.cosines(arrays["x"]) + np.array([0.1, 0.3, 0.2])[[0, 0, 0, 1, 1, 1, 2, 2, 2]]
    arrays["x"] = checks.moved(arrays["x"], along, apart)
    planted = checks.planted(arrays, contrast, 0.5)
    assert checks.amplitude_of(planted, contrast) == pytest.approx(0.5)
    means = [
        [projections(part, "x")[classes == k].mean() for k in (1, 4, 9)]
        for part in (arrays, checks.planted(arrays, contrast, 0))
    ]
    assert np.ptp(np.subtract(*means)) < 0.1, "what is between classes is no bias"


RANKED = Contrast(
    sides=("x",), towards=("own",), labels="groups", categorical=True, units="names", rankings="of"
)


def test_items_of_rankings_are_moved_towards_their_rows_by_the_spread_of_a_ranking(arrays):
    rng = np.random.default_rng(4)
    ranking = np.repeat([0.0, 1.0, 2.0], 3)
    more = {"own": rng.standard_normal((3, 20))[ranking.astype(int)], "of": ranking}
    arrays = arrays | more | {"groups": np.tile([0.0, 1.0, 2.0], 3)}
    rows = unit_rows(arrays["own"])

    def means(amplitude: float) -> np.ndarray:
        cosines = (unit_rows(checks.planted(arrays, RANKED, amplitude)["x"]) * rows).sum(axis=1)
        return cosines.reshape(3, 3).mean(axis=0)

    none = checks.planted(arrays, RANKED, 0)
    cosines = (unit_rows(none["x"]) * rows).sum(axis=1).reshape(3, 3)
    gap = (cosines - cosines.mean(axis=1, keepdims=True)).std()
    assert np.ptp(means(0)) == pytest.approx(0, abs=1e-9)
    assert np.diff(means(0.5)) == pytest.approx(0.5 * gap)
    assert checks.amplitude_of(none, RANKED) == pytest.approx(0, abs=1e-9)
    with pytest.raises(HarnessError, match="all items of a ranking are as near"):
        checks.planted(arrays | {"x": np.ones((9, 20))}, RANKED, 1)
