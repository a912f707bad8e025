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
LABELLED = Contrast(sides=("x",), towards=("a", "b"), labels="ratings")
FORMS = Contrast(sides=("x", "other"), towards=("a", "b"), labels="ratings")
CATEGORIES = Contrast(sides=("x",), towards=("a", "b"), labels="groups", categorical=True)
CLASSES = Contrast(sides=("x",), towards=("a", "b"), labels="groups", within="classes")
ROWS = Contrast(sides=("x",), towards=("own",), labels="ratings")
RANKED = Contrast(
    sides=("x",), towards=("of_row",), labels="groups", categorical=True, rankings="rankings"
)
PARTS = Contrast(sides=("x", "y"), towards=("a", "b"), parts=("of_x", "of_y", "of_a", "of_b"))
PAIRED = Contrast(sides=("x",), towards=("own", "other"), paired=True)
KINDS = {
    "two": TWO,
    "one": ONE,
    "labelled": LABELLED,
    "forms": FORMS,
    "categories": CATEGORIES,
    "classes": CLASSES,
    "rows": ROWS,
    "parts": PARTS,
}


@pytest.fixture
def arrays() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    sizes = {"x": 9, "y": 7, "a": 5, "b": 6, "other": 9, "own": 9}
    made = {name: 3 * rng.standard_normal((n, 20)) + 1 for name, n in sizes.items()}
    parts = {f"of_{name}": np.arange(sizes[name]) % 2 + 7.0 for name in "xyab"}
    rankings = np.repeat([0.0, 1.0, 2.0], 3)
    numbers = {
        "ratings": rng.standard_normal(9),
        "groups": np.array([7.0, 2, 5] * 3),
        "classes": np.repeat([4.0, 9.0, 1.0], 3),
        "rankings": rankings,
        "of_row": rng.standard_normal((3, 20))[rankings.astype(int)],
    }
    return made | parts | numbers


def projections(arrays, name):
    return unit_rows(arrays[name]) @ checks.moves(arrays, TWO)[0].along[0]


def test_the_amplitude_that_was_planted_is_measured(arrays):
    for kind, contrast in KINDS.items():
        for amplitude in (0.0, 0.25) if contrast.categorical else (-0.25, 0.0, 0.25):
            result = checks.planted(arrays, contrast, amplitude)
            measured = checks.amplitude_of(result, contrast)
            assert measured == pytest.approx(amplitude, abs=1e-9), kind
            for name in {*arrays} - {*contrast.sides}:
                assert result[name] is arrays[name], (kind, name)
            for name in contrast.sides:
                lengths = [np.linalg.norm(of[name], axis=1) for of in (result, arrays)]
                assert lengths[0] == pytest.approx(lengths[1]), kind


def test_two_sides_are_as_far_apart_as_the_amplitude_says(arrays):
    groups = projections(arrays, "a").mean() - projections(arrays, "b").mean()
    before = projections(arrays, "x").mean() + projections(arrays, "y").mean()
    for amplitude in checks.AMPLITUDES:
        result = checks.planted(arrays, TWO, amplitude)
        x, y = projections(result, "x"), projections(result, "y")
        assert x.mean() - y.mean() == pytest.approx(amplitude * groups)
        assert x.mean() + y.mean() == pytest.approx(before)
        assert np.std(x) == pytest.approx(np.std(projections(arrays, "x")))


def test_a_single_side_is_moved_from_where_both_groups_are_as_near(arrays):
    def difference(amplitude: float) -> float:
        x = checks.planted(arrays, ONE, amplitude)["x"]
        return cosines(x, arrays["a"]).mean() - cosines(x, arrays["b"]).mean()

    assert abs(difference(0)) < 1e-9
    gap = checks.moves(arrays, TWO)[0].gap
    assert difference(0.5) == pytest.approx(0.5 * gap * 2 * gap)


def test_low_labels_are_moved_to_the_first_group_in_all_forms(arrays):
    none, full = (checks.planted(arrays, FORMS, amplitude) for amplitude in (0, 1))
    assert np.corrcoef(projections(none, "x"), arrays["ratings"])[0, 1] == pytest.approx(0)
    moved = [projections(full, name) - projections(none, name) for name in FORMS.sides]
    assert moved[0] == pytest.approx(moved[1])
    assert np.corrcoef(moved[0], arrays["ratings"])[0, 1] == pytest.approx(-1)


def test_a_bias_is_added_to_the_one_that_is_there(arrays):
    own = checks.amplitude_of(arrays, TWO)
    result = checks.shifted(arrays, TWO, 0.5)
    assert checks.amplitude_of(result, TWO) == pytest.approx(own + 0.5)


def test_groups_that_do_not_differ_are_refused(arrays):
    for contrast, change in (
        (TWO, {"b": arrays["a"]}),
        (ROWS, {"own": np.ones((9, 20))}),
        (PAIRED, {"own": arrays["other"]}),
        (RANKED, {"x": np.ones((9, 20))}),
    ):
        with pytest.raises(HarnessError, match="do not differ"):
            checks.planted(arrays | change, contrast, 1)


def test_categories_are_spread_evenly_and_have_no_other_difference(arrays):
    gap = checks.moves(arrays, TWO)[0].gap
    for amplitude in checks.AMPLITUDES:
        x = projections(checks.planted(arrays, CATEGORIES, amplitude), "x")
        means = [x[arrays["groups"] == group].mean() for group in (2.0, 5.0, 7.0)]
        assert np.diff(means) == pytest.approx(-amplitude * gap), amplitude


def test_an_item_is_moved_towards_its_own_row_by_its_label(arrays):
    (own,) = checks.moves(arrays, ROWS)
    centred = arrays["ratings"] - arrays["ratings"].mean()
    x = unit_rows(checks.planted(arrays, ROWS, 0.25)["x"])
    slope = float(centred @ (x * own.along).sum(axis=1) / (centred @ centred))
    assert slope == pytest.approx(0.25 * own.gap / np.abs(centred).max())


def test_a_text_with_versions_of_its_own_is_moved_between_them():
    rng = np.random.default_rng(3)
    pairs = {name: 3 * rng.standard_normal((200, 20)) + 1 for name in ("x", "own", "other")}
    (own,) = checks.moves(pairs, PAIRED)
    a, b = unit_rows(pairs["own"]), unit_rows(pairs["other"])
    for amplitude in (-1.0, 0.0, 0.5):
        result = checks.planted(pairs, PAIRED, amplitude)
        assert checks.amplitude_of(result, PAIRED) == pytest.approx(amplitude, abs=0.01)
        x = unit_rows(result["x"])
        moved = (x * own.along).sum(axis=1) - own.cosines
        assert np.std(moved) == pytest.approx(0, abs=1e-9), "all are moved by the same"
        nearer = np.sign(((a - b) * x).sum(axis=1)).mean()
        assert nearer == pytest.approx(0.7 * amplitude, abs=0.15)


def test_each_part_has_the_planted_bias_along_its_own_direction(arrays):
    result = checks.planted(arrays, PARTS, 0.5)
    for part in (7, 8):
        of_part = {name: result[name][arrays[f"of_{name}"] == part] for name in "xyab"}
        assert checks.amplitude_of(of_part, TWO) == pytest.approx(0.5)
    sets = {name: arrays[name] for name in "xyab"}
    one, plain = (checks.planted(sets, contrast, 0.5) for contrast in (PARTS, TWO))
    assert one["x"] == pytest.approx(plain["x"]), "without numbers of parts there is one"


def test_what_is_between_classes_is_no_bias(arrays):
    arrays["groups"] = np.array([0.0, 0, 1, 0, 1, 1, 0, 1, 1])
    (move,) = checks.moves(arrays, CLASSES)
    apart = move.cosines + np.array([0.1, 0.3, 0.2]).repeat(3)
    arrays["x"] = move.turned(apart)
    means = [
        [projections(of, "x")[arrays["classes"] == k].mean() for k in (1, 4, 9)]
        for of in (arrays, checks.planted(arrays, CLASSES, 0))
    ]
    assert np.ptp(np.subtract(*means)) < 0.1


def test_items_of_rankings_are_moved_by_the_spread_of_a_ranking(arrays):
    rows = unit_rows(arrays["of_row"])

    def nearness(amplitude: float) -> np.ndarray:
        x = unit_rows(checks.planted(arrays, RANKED, amplitude)["x"])
        return (x * rows).sum(axis=1).reshape(3, 3)

    none = nearness(0)
    gap = (none - none.mean(axis=1, keepdims=True)).std()
    assert np.ptp(none.mean(axis=0)) == pytest.approx(0, abs=1e-9)
    by_group = nearness(0.5).mean(axis=0)[[1, 2, 0]]
    assert np.diff(by_group) == pytest.approx(0.5 * gap)
