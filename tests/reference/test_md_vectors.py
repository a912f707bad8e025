"""The gender direction and word similarity of spaCy's 300d vectors, as measured elsewhere.

The table is pruned: 20,000 rows that 514,157 words share. Words are found by all keys.
"""

from __future__ import annotations

import numpy as np
import pytest

from harness.arrays import unit_rows
from harness.plugins.mitigators.hard_debias import HardDebias

KEYS = {"unit-differences": "pc_unitdiff", "centred-pairs": "pc_paircentered"}


@pytest.fixture(scope="module")
def model(en_core_web_md):
    return en_core_web_md


@pytest.fixture(scope="module")
def professions(debiaswe, model):
    """Return the unit vectors of the 291 professions that the vocabulary has, found by any key."""
    rows = model.encode([row[0] for row in debiaswe("professions")])
    return unit_rows(rows[np.isfinite(rows).all(axis=1)].astype(np.float64))


@pytest.mark.parametrize("subspace", KEYS)
def test_the_direction_explains_and_biases_as_measured(
    subspace, registry, model, professions, expected
):
    wanted = expected("bolukbasi_words.json")["md300"][KEYS[subspace]]
    mitigator = HardDebias(k=10, subspace=subspace).fit(model, registry.concept("gender"))
    assert mitigator.explained_ == pytest.approx(np.array(wanted["explained"]), abs=2e-3)
    assert len(professions) == wanted["n_prof"]
    direct_bias = np.abs(professions @ mitigator.subspace_[0]).mean()
    assert direct_bias == pytest.approx(wanted["direct_bias_all"], abs=2e-3)


@pytest.mark.parametrize(("task", "key"), [("ws-353", "WS before"), ("simlex-999", "SL before")])
def test_similarity_is_that_of_all_pairs(task, key, model, scores, expected):
    wanted, n, missing = expected("bolukbasi_words.json")["md300"]["bench"][key]
    found = scores(task, model.encode)["default"]["similarity-correlation"]["spearman"]
    assert found.n == n - missing
    assert found.value == pytest.approx(wanted, abs=2e-3)
