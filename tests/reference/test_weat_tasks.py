"""The WEAT tasks on GloVe 6B 50d against WEFE 1.0.1, which divides by n for the deviation."""

from __future__ import annotations

import pytest

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
    assert effect.details["association"] == pytest.approx(peer["WEAT"], abs=1e-6)


@pytest.mark.parametrize("task", [f"weat-{i}" for i in range(1, 11)])
def test_glove_has_the_association_that_people_have(task, scores, glove):
    assert scores(task, glove)["default"]["weat"]["effect_size"].value > 0


def test_an_exact_p_value_is_that_of_all_partitions(scores, glove, expected):
    peer = expected("wefe_glove50.json")["weat_p"][QUERIES["weat-6"]]
    effect = scores("weat-6", glove)["default"]["weat"]["effect_size"]
    assert effect.details["partitions"] == peer["n_partitions"]
    assert effect.p_value == pytest.approx(peer["p_right_ge"])
