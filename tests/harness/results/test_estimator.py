"""The one estimator: by hand, what does not depend on the order or the sign, and its errors."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from score_records import record, void

from harness.results.estimator import (
    BLURRED,
    NO_SCALE,
    NOT_IN_BOTH,
    SCHEMA,
    cells_of,
    differences,
    means,
    ranks,
)
from harness.results.record import NO_REFERENCE, NOT_STATED, VOID, UnseenPart

UNITS = 30


def cell(row="a", task="t", gap=0.5, **more):
    """Return a cell; its method is its task, unless it is named."""
    known = {
        "row": row, "task": task, "digest": task, "measures": "bias", "concept": "gender",
        "method": task, "gap": gap, "gap_error": 0.0, "yardstick": 1.0, "yardstick_error": 0.0,
        "power": 1, "of": "y", "is_evidence": True, "reference_gap": 0.5, "reference_error": 0.0,
        "reference_yardstick": 1.0, "reference_yardstick_error": 0.0,
    }  # fmt: skip
    return known | more


def frame(*cells):
    lines = [[of.get(name) for name in SCHEMA] for of in cells]
    return pl.DataFrame(lines, schema=SCHEMA, orient="row")


def sampled(row, task, contributions, yardsticks=None, **more):
    """Return a cell whose gap and yardstick are means of what each unit contributes."""
    sides = contributions, np.ones(len(contributions)) if yardsticks is None else yardsticks
    n = len(contributions)
    deviations = [(of - of.mean()) / np.sqrt(n * (n - 1)) for of in sides]
    units = {
        f"{task} {i}": pair for i, pair in enumerate(np.transpose(deviations).round(9).tolist())
    }
    (gap, gap_error), (yardstick, yardstick_error) = (
        (float(of.mean()), float(np.sqrt((d**2).sum())))
        for of, d in zip(sides, deviations, strict=True)
    )
    known = {
        "gap_error": gap_error, "yardstick": yardstick, "yardstick_error": yardstick_error,
        "deviations": json.dumps(units),
    }  # fmt: skip
    return cell(row, task, gap, **known | more)


def draw(rng, row, mean, methods=4, spread=0.15, **more):
    """Return the cells of a row whose gaps have this mean; that of the reference is .5."""
    error = spread * np.sqrt(UNITS)
    return [sampled(row, f"t{i}", rng.normal(mean, error, UNITS), **more) for i in range(methods)]


def value(*cells, row="a", measures="bias"):
    return means(frame(*cells)).of(row, measures)["value"]


# By hand.


def test_the_mean_of_a_method_of_differences_and_one_of_variances_by_hand():
    """Two tasks of a method have one yardstick, so that its errors add up as they are."""
    more = {"method": "m", "of": "y"}
    cells = frame(
        cell("a", "t", 0.2, gap_error=0.03, yardstick=1.0, yardstick_error=0.1, reference_gap=0.1,
             reference_error=0.03, **more),
        cell("a", "u", 0.4, gap_error=0.04, yardstick=2.0, yardstick_error=0.2, reference_gap=0.3,
             reference_error=0.04, **more),
        cell("a", "v", 0.08, gap_error=0.01, yardstick_error=0.1, power=2, reference_gap=0.02,
             of="z"),
    )  # fmt: skip
    # r = (.6 / 3) / (.4 / 2) = 1, v = (.05² + .2² · .3²) / (3 · .2)²; of variances r² = .08 / .02.
    v, v_reference = (0.0025 + 0.0036) / 0.36, 0.0025 / 0.16
    square = (1 - v + 4) / (1 - v_reference + 1)
    of_variances = np.hypot(0.01, 0.08 * 0.1) / 0.02
    error = np.hypot(2 * np.sqrt(v), of_variances) / (2 - v_reference)
    found = means(cells).of("a", "bias")
    assert found["value"] == pytest.approx(np.sqrt(square))
    # Near 0 the root is steep: the error is that of the secant over the error of the square.
    low, high = np.sqrt(square - error), np.sqrt(square + error)
    assert found["error"] == pytest.approx((high - low) / 2)
    assert (found["methods"], found["tasks"]) == (2, 3)
    assert found["low"] < found["value"] < found["high"]


def test_usefulness_is_the_mean_over_families_of_the_mean_over_tasks():
    more = {"measures": "usefulness", "is_evidence": False, "reference_gap": 1.0}
    cells = [cell(task=task, gap=gap, method=method, **more) for task, gap, method in (
        ("s", 0.6, "sts"), ("t", 0.8, "sts"), ("u", 0.5, "retrieval"),
    )]  # fmt: skip
    assert value(*cells, measures="usefulness") == pytest.approx((0.7 + 0.5) / 2)


def test_the_reference_encoder_has_exactly_1_whatever_its_error():
    rng = np.random.default_rng(0)
    parts, own = ("gap", "yardstick"), []
    for i in range(4):
        known = sampled("a", f"t{i}", rng.normal(0.5, 1.0, UNITS), rng.normal(1.0, 0.5, UNITS))
        reference = {f"reference_{part}": known[part] for part in parts}
        reference["reference_error"] = known["gap_error"]
        reference["reference_yardstick_error"] = known["yardstick_error"]
        own.append(known | reference)
    # What the tasks share changes the variances of both alike.
    shared = [of | {"method": "m"} for of in own]
    for cells in (own, shared):
        assert value(*cells) == pytest.approx(1, abs=1e-12)


def test_a_stereotype_and_its_opposite_do_not_cancel_and_the_side_stands_beside():
    rng = np.random.default_rng(1)
    cells = draw(rng, "a", 0.5, spread=0.02)
    reversed_ = []
    for of in cells:
        turned = {unit: (-n, d) for unit, (n, d) in json.loads(of["deviations"]).items()}
        reversed_.append(of | {"gap": -of["gap"], "deviations": json.dumps(turned)})
    found, other = (means(frame(*of)).of("a", "bias") for of in (cells, reversed_))
    for name in ("value", "low", "high", "error"):
        assert found[name] == pytest.approx(other[name])
    assert (found["toward"], other["toward"]) == (1, -1)
    mixed = means(frame(*cells[:2], *reversed_[2:])).of("a", "bias")
    assert mixed["value"] == pytest.approx(found["value"], abs=1e-9)
    assert mixed["toward"] == 0


def test_a_method_that_is_fair_by_chance_is_not_clipped():
    biased, fair = cell(task="t", gap=0.5), cell(task="u", gap=0.0, gap_error=0.15)
    assert value(biased, fair) == pytest.approx(np.sqrt((1 - 0.3**2) / 2))
    assert value(fair) == 0.0


def scaled(of, by):
    """Return the cell of the same model with larger vectors: its gap and its yardstick grow."""
    names = ("gap", "gap_error", "yardstick", "yardstick_error")
    units = {unit: (n * by, d * by) for unit, (n, d) in json.loads(of["deviations"]).items()}
    return of | {name: of[name] * by for name in names} | {"deviations": json.dumps(units)}


def test_the_order_of_cells_and_the_size_of_vectors_change_nothing():
    cells = rows_of_draws(gaps=(0.5, 0.6, 0.7))
    pairs = [("a", ("b",)), ("a", ("c",))]
    expected = means(frame(*cells)).frame, differences(frame(*cells), pairs).frame
    other = frame(*(scaled(of, 3.0) if of["row"] == "b" else of for of in cells[::-1]))
    found = means(other).frame, differences(other, pairs).frame
    for left, right, by in zip(expected, found, ("row", "pair"), strict=True):
        assert_frame_equal(left.sort(by, "name"), right.sort(by, "name"))


# What counts.


def test_what_does_not_count_is_named_with_its_reason():
    without = record("u").ratio.model_copy(update={"reference_gap": None})
    unclear = record("v").ratio.model_copy(update={"reference_error": 0.6})
    cells = cells_of(
        {
            "a": [
                record("s", family="s"),
                record("t", "x", unseen=UnseenPart(kind="fit not stated", value=0.5)),
                record("void", "x", unseen=void()),
                record("u", family="u").model_copy(update={"ratio": without}),
                record("v", family="v").model_copy(update={"ratio": unclear}),
                record("w", value=None, reason="r"),
            ]
        }
    )
    found = means(cells)
    reasons = dict(found.left_out.select("task", "reason").iter_rows())
    assert reasons == {
        "t": NOT_STATED, "u": NO_REFERENCE, "v": NO_SCALE, "void": VOID, "w": VOID,
    }  # fmt: skip
    assert found.of("a", "bias")["tasks"] == 1
    assert found.of("a", "usefulness") == {}


def test_a_method_without_a_clear_yardstick_leaves_both_sides():
    rows = [cell(row, task, gap) for row, gap in (("a", 0.5), ("b", 0.7)) for task in "tuv"]
    rows[-1] |= {"yardstick_error": 0.4}
    cells = frame(*rows)
    assert dict(means(cells).left_out.select("row", "reason").iter_rows()) == {"b": BLURRED}
    found = differences(cells, [("a", ("b",))])
    assert (found.of()["methods"], found.of()["tasks"]) == (2, 2)
    assert found.left_out.select("task", "reason").rows() == [("v", BLURRED)]


def test_a_row_with_clear_yardsticks_in_fewer_than_half_of_its_methods_has_no_mean():
    cells = [cell(task=task, yardstick_error=0.4) for task in "uvw"]
    assert "yardsticks of 1 of 4 methods" in means(frame(cell(), *cells)).unusable["a"]
    assert means(frame(cell(), *cells)).of("a", "bias") == {}
    assert value(cell(), cell(task="s"), *cells[:2]) == pytest.approx(1)
    # What random vectors show, too, is no evidence.
    assert value(cell(), *(of | {"is_evidence": False} for of in cells)) < 1


# Differences.


def rows_of_draws(seed=3, *, gaps=(0.5, 0.6), methods=4):
    rng = np.random.default_rng(seed)
    return [
        of
        for row, gap in zip("abcdef", gaps, strict=False)
        for of in draw(rng, row, gap, methods, spread=0.05)
    ]


def test_a_difference_is_that_of_its_means_over_the_tasks_of_both():
    cells = rows_of_draws()
    for of in cells[::2]:
        of["concept"] = "age"
    found = differences(frame(*cells[:-1]), [("a", ("b",))])
    assert found.frame["name"].to_list() == ["overall", "age", "gender"]
    for line in found.frame.iter_rows(named=True):
        assert line["model"] - line["base"] == pytest.approx(line["difference"], abs=1e-15)
    assert found.of()["tasks"] == 3
    assert found.left_out.select("task", "reason").rows() == [("t3", NOT_IN_BOTH)]
    assert found.of()["base"] == pytest.approx(value(*cells[:3]))
    assert found.of()["base"] != pytest.approx(value(*cells[:4]))


@pytest.mark.parametrize("gap", [0.5, 0.53, 0.8])
def test_the_order_of_a_pair_turns_the_sign_and_nothing_else(gap):
    cells = frame(*rows_of_draws(gaps=(0.5, gap)))
    found, back = (differences(cells, [pair]).of() for pair in (("a", ("b",)), ("b", ("a",))))
    assert found["difference"] == -back["difference"]
    assert (found["low"], found["high"]) == pytest.approx((-back["high"], -back["low"]))
    turned = {"more": "less", "less": "more"}
    assert found["verdict"] == turned.get(back["verdict"], back["verdict"])
    for name in ("agree", "depends_on", "tasks", "methods", "reason"):
        assert found[name] == back[name]


def test_all_pairs_and_lines_hold_at_once():
    cells = frame(*rows_of_draws(gaps=(0.5, 0.6, 0.7)))
    one = differences(cells, [("a", ("b",))]).of()
    two = differences(cells, [("a", ("b",)), ("a", ("c",))]).of()
    assert two["difference"] == one["difference"]
    wider = (two["high"] - two["low"]) / (one["high"] - one["low"])
    assert wider == pytest.approx(2.49 / 2.24, rel=0.02)  # Šidák's quantiles for 4 and 2


def test_three_seeds_are_their_mean_and_their_spread_is_part_of_the_interval():
    cells = frame(*rows_of_draws(gaps=(0.5, 0.6, 0.7, 0.8)))
    single = [differences(cells, [("a", (row,))]).of() for row in "bcd"]
    found = differences(cells, [("a", tuple("bcd"))]).of()
    assert found["difference"] == pytest.approx(np.mean([of["difference"] for of in single]))
    assert found["model"] - found["base"] == pytest.approx(found["difference"])
    assert found["high"] - found["low"] > max(of["high"] - of["low"] for of in single)


def test_the_error_of_a_prompt_is_part_of_the_intervals():
    cells = frame(*rows_of_draws())
    alone, prompted = (means(cells, prompts).of("a", "bias") for prompts in (None, {"a": 0.1}))
    assert prompted["value"] == alone["value"]
    assert prompted["error"] == pytest.approx(np.hypot(alone["error"], 0.1))
    assert prompted["high"] - prompted["low"] > alone["high"] - alone["low"]
    pair = [("a", ("b",))]
    alone, prompted = (differences(cells, pair, prompts=of).of() for of in (None, {"b": 0.1}))
    assert prompted["high"] - prompted["low"] > alone["high"] - alone["low"]


# Ranks.


def test_rows_are_ranked_by_their_means_and_those_that_cannot_be_told_apart_share_a_range():
    cells = rows_of_draws(gaps=(0.5, 0.51, 0.9, 0.1))
    found = ranks(means(frame(*cells))).filter(name="overall")
    places = {row: ends for row, *ends in found.select("row", "rank_low", "rank_high").iter_rows()}
    assert found["rank"].to_list() == [1, 2, 3, 4]
    order = means(frame(*cells)).frame.filter(name="overall").sort("value")["row"].to_list()
    assert found["row"].to_list() == order
    assert places == {"d": [1, 1], "a": [2, 3], "b": [2, 3], "c": [4, 4]}


def test_the_ranges_of_two_rows_say_what_the_interval_of_their_difference_says():
    apart = 0
    for seed in range(20):
        cells = frame(*rows_of_draws(seed, gaps=(0.5, 0.57)))
        line = differences(cells, [("a", ("b",))]).of()
        is_sure = line["low"] > 0 or line["high"] < 0
        found = ranks(means(cells)).filter(name="overall")
        assert ((found["rank_low"] == found["rank_high"]).all()) == is_sure
        apart += is_sure
    assert 0 < apart < 20


def test_a_row_has_no_rank_where_it_is_incomplete_blurred_or_too_unsure():
    cells = rows_of_draws(gaps=(0.5, 0.5, 0.5, 0.5))
    del cells[0]
    cells[3] |= {"yardstick_error": 0.4}
    wide = draw(np.random.default_rng(5), "e", 0.5, spread=0.9)
    found = ranks(means(frame(*cells, *wide))).filter(name="overall")
    reasons = found.drop_nulls("unranked").select("row", "unranked").iter_rows()
    assert dict(reasons) == {
        "a": "3 of 4 tasks count",
        "b": "the yardstick of t0 is not clear",
        "e": "the interval is wider than ± 0.5",
    }
    assert sorted(found.drop_nulls("rank")["row"]) == ["c", "d"]


def test_what_a_prompt_changes_may_leave_a_row_without_a_rank():
    cells = frame(*rows_of_draws(gaps=(0.5, 0.5, 0.5)))
    line = ranks(means(cells, {"a": 0.3})).filter(row="a", name="overall").row(0, named=True)
    assert (line["rank"], line["unranked"]) == (None, "the interval is wider than ± 0.5")
    kept = ranks(means(cells), ["b", "c"]).filter(name="overall")
    assert sorted(kept["row"]) == ["b", "c"]


# How often it is right.


def test_noise_neither_raises_nor_lowers_a_mean():
    """400 fair methods with errors of .3: clipped at 0 each, their mean square would be .21²."""
    rng = np.random.default_rng(7)
    assert value(*draw(rng, "a", 0.0, methods=400)) < 0.12
    assert value(*draw(rng, "a", 0.5, methods=400)) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("bias", [0.0, 1.0])
def test_intervals_hold_the_true_value_in_95_percent_of_draws(bias):
    rng = np.random.default_rng(11)
    cells = [of for i in range(200) for of in draw(rng, f"row {i}", bias / 2)]
    found = means(frame(*cells)).frame.filter(name="overall")
    holds = ((found["low"] <= bias) & (found["high"] >= bias)).mean()
    assert 0.92 <= holds <= 1.0
    if bias:
        assert holds <= 0.98
        assert (found["value"] ** 2).mean() == pytest.approx(1, abs=0.06)
    else:
        assert 0.3 <= (found["value"] == 0).mean() <= 0.7, "as many squares are below 0 as above"
