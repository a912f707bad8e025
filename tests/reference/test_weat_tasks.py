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
    assert effect.details["statistic"] == pytest.approx(peer["WEAT"], abs=1e-6)
