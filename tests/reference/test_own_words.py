"""Own lists with the sets of WEAT 6 have the values of `weat-6` on GloVe 6B."""

from __future__ import annotations

import pytest

import harness
from harness.registry.registry import Registry


def test_own_lists_with_the_sets_of_weat_6_have_its_values():
    sets = Registry().task("weat-6").file.sets
    expected = {r.score: r for r in harness.evaluate("glove-6b-50d", "weat-6")}
    records = harness.words(
        "glove-6b-50d",
        targets_1=sets["male_names"],
        targets_2=sets["female_names"],
        attributes_1=sets["career"],
        attributes_2=sets["family"],
    )
    own = {r.score: r for r in records if r.metric == "weat"}
    assert own.keys() == expected.keys()
    for score, record in expected.items():
        assert own[score].value == record.value
        assert own[score].p_value == record.p_value
        assert own[score].interval == record.interval
        assert own[score].floor.mean == pytest.approx(record.floor.mean, rel=0.15)
    assert own["association"].ratio.value == expected["association"].ratio.value
