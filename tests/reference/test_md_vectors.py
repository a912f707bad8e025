"""The gender direction and word similarity of spaCy's 300d vectors against measured values.

The table is pruned: 514,157 words share 20,000 rows. A word is looked up by all of its keys.
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
    """Return the unit vectors of the 291 professions in the vocabulary."""
    rows = model.encode([row[0] for row in debiaswe("professions")])
    return unit_rows(rows[np.isfinite(rows).all(axis=1)].astype(np.float64))


@pytest.mark.parametrize("subspace", KEYS)
def test_explained_variance_and_direct_bias_are_as_measured(
    subspace, registry, model, professions, expected
):
    reference = expected("bolukbasi_words.json")["md300"][KEYS[subspace]]
    mitigator = HardDebias(k=10, subspace=subspace).fit(model, registry.concept("gender"))
    assert mitigator.explained_ == pytest.approx(np.array(reference["explained"]), abs=2e-3)
    assert len(professions) == reference["n_prof"]
    direct_bias = np.abs(professions @ mitigator.subspace_[0]).mean()
    assert direct_bias == pytest.approx(reference["direct_bias_all"], abs=2e-3)


@pytest.mark.parametrize(("task", "key"), [("ws-353", "WS before"), ("simlex-999", "SL before")])
def test_word_similarity_is_as_measured(task, key, model, scores, expected):
    reference, n, missing = expected("bolukbasi_words.json")["md300"]["bench"][key]
    spearman = scores(task, model.encode)["default"]["similarity-correlation"]["spearman"]
    assert spearman.n == n - missing
    assert spearman.value == pytest.approx(reference, abs=2e-3)
