"""Runs that differ only in a seed, as one: by hand, and what stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from score_records import record

from harness.results import tables
from harness.results.record import FloorPart, IntervalPart
from harness.results.seeds import over_seeds


def run(label: str, value: float | None, *, version: int = 1, mitigator_concept="", **more):
    base = record("t", label, value, **more)
    task = base.task.model_copy(update={"version": version})
    mitigator = base.mitigator.model_copy(update={"concept": mitigator_concept or None})
    return base.model_copy(update={"task": task, "mitigator": mitigator})


def test_runs_of_two_seeds_are_their_mean_with_its_standard_error():
    mean, none = over_seeds([run("a?k=2&seed=1", 0.5), run("a?k=2&seed=2", 0.9), run("none", 1)])
    assert mean.mitigator.label == "a?k=2"
    assert mean.value == pytest.approx(0.7)
    assert mean.details == {"runs": [0.5, 0.9], "standard_error": pytest.approx(0.2)}
    assert mean.interval is None
    assert (none.value, none.details) == (1, {})


def of_weit_6(seed: int, value: float, low: float, high: float, p_value: float):
    base = run("none", value, seed=seed)
    floor = FloorPart(
        mean=0.05 + 0.01 * seed, sd=0.02, centre=0.0, spread=0.06, draws=1000, shuffled="words"
    )
    interval = IntervalPart(low=low, high=high, level=0.95, method="jackknife t of words")
    update = {"interval": interval, "p_value": p_value, "unit": 0.5, "floor": floor}
    return base.model_copy(update=update | {"details": {"reversed": seed != 2}})


WEIT_6 = [
    of_weit_6(1, 0.2899, 0.1621, 0.4177, 0.004),
    of_weit_6(2, 0.2901, 0.1619, 0.4173, 0.012),
    of_weit_6(3, 0.2903, 0.1620, 0.4169, 0.008),
]
"""The words are the same with every seed, and so is nearly all of the interval."""


def test_the_interval_of_several_seeds_is_that_of_the_words_and_not_of_the_draws():
    (mean,) = over_seeds(reversed(WEIT_6))
    assert (mean.value, mean.seed) == (pytest.approx(0.2901), 1)
    assert (mean.interval.low, mean.interval.high) == pytest.approx((0.1620, 0.4173))
    assert mean.interval.method == "mean over 3 seeds of: jackknife t of words"
    (section,) = tables.sections([mean])
    assert tables.beside(section.rows[0].cells[0], intervals=True) == "[0.16, 0.42]"


def test_the_p_value_of_several_seeds_is_the_largest_and_reversed_holds_with_every_seed():
    (mean,) = over_seeds(WEIT_6)
    assert mean.p_value == 0.012
    assert mean.details["reversed"] is False
    assert over_seeds([WEIT_6[0], WEIT_6[2]])[0].details["reversed"] is True
    assert (mean.floor.mean, mean.floor.sd, mean.unit) == pytest.approx((0.07, 0.02, 0.5))


def test_the_gap_and_the_yardstick_of_several_seeds_are_means():
    (mean,) = over_seeds(WEIT_6)
    gaps = [record.ratio.gap for record in WEIT_6]
    assert (mean.ratio.gap, mean.ratio.yardstick) == pytest.approx((sum(gaps) / 3, 1.0))
    assert mean.ratio.value == pytest.approx(sum(gaps) / 3)
    assert mean.left_out is None


def test_the_default_seed_and_the_seed_of_the_run_count_too():
    assert over_seeds([run("a", 1.0), run("a?seed=3", 0.0)])[0].value == 0.5
    assert over_seeds([run("a", 1.0), run("a", 0.0, seed=1)])[0].value == 0.5
    assert over_seeds([run("a+b?seed=1", 1.0), run("a+b?seed=2", 0.0)])[0].mitigator.label == "a+b"


def test_other_options_tasks_models_and_versions_are_never_averaged():
    different = [
        run("a?seed=1", 1.0),
        run("a?k=2&seed=1", 1.0),
        run("a?seed=1", 1.0, model="other"),
        run("a?seed=1", 1.0, scenario="other"),
        run("a?seed=1", 1.0, version=2),
        run("a?seed=1", 1.0, digest="other data"),
        run("a?seed=2", 1.0, mitigator_concept="religion"),
    ]
    assert [r.details for r in over_seeds(different)] == [{}] * 7


def test_a_run_without_a_value_does_not_count():
    runs = [run("a?seed=1", None, reason="x"), run("a?seed=2", 0.5), run("a?seed=3", 0.7)]
    assert over_seeds(runs)[0].value == pytest.approx(0.6)
    assert over_seeds(runs[:1])[0].value is None


@given(st.lists(st.floats(-2, 2), min_size=2, max_size=6), st.randoms())
def test_the_order_of_runs_does_not_matter(values, random):
    runs = [run(f"a?seed={i}", value) for i, value in enumerate(values)]
    shuffled = random.sample(runs, len(runs))
    first, second = over_seeds(runs)[0], over_seeds(shuffled)[0]
    assert first.value == pytest.approx(second.value)
    assert first.details["standard_error"] == pytest.approx(second.details["standard_error"])


def test_two_runs_of_the_paper_have_its_printed_mean_and_1_41_times_its_printed_error():
    """Table 6 prints .99 ± .0071 for all-MiniLM-L6-v2: the runs .98 and 1, and .01/√2 = .0071.

    That is the population's standard deviation over √2; with the sample's it is .01.
    """
    (mean,) = over_seeds([run("a?seed=1", 0.98), run("a?seed=2", 1.0)])
    assert mean.value == pytest.approx(0.99)
    assert mean.details["standard_error"] / 2**0.5 == pytest.approx(0.0071, abs=5e-5)
