"""What mitigators leave of the gender of sentences: all-MiniLM-L6-v2, measured."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from harness.embedder import ModelInfo
from harness.plugins.mitigators.hard_debias import HardDebias
from harness.plugins.mitigators.inlp import Inlp
from harness.plugins.mitigators.leace import Leace
from harness.plugins.mitigators.sent_debias import SentDebias

LEFT = {None: 1.0, HardDebias: 1.0, Leace: 0.97, SentDebias: 0.87, Inlp: 0.86}
"""Accuracy on persons that the classifier did not see."""


@pytest.fixture(scope="module")
def recovered(minilm, registry, scores):
    """Return a function that gives the scores of the task after a mitigator."""
    info = ModelInfo(name="minilm", kind="text", dimensions=384, fingerprint="minilm")
    encoder, gender = SimpleNamespace(info=info, encode=minilm), registry.concept("gender")

    def measure(kind, scenario):
        encode = minilm
        if kind is not None:
            mitigator = kind().fit(encoder, gender)

            def encode(texts):
                return mitigator.transform(minilm(texts), texts)

        return scores("residual-bias-sentences", encode)[scenario]["residual-sides"]

    return measure


@pytest.mark.parametrize("kind", LEFT, ids=lambda kind: kind.__name__ if kind else "none")
def test_a_classifier_finds_the_gender_of_persons_that_it_has_not_seen(kind, recovered):
    score = recovered(kind, "persons")["recoverability"]
    assert score.value == pytest.approx(LEFT[kind], abs=0.04)
    assert score.p_value < 0.01
    floor = np.abs(np.asarray(score.null.values) - 0.5).mean()
    assert abs(score.value - 0.5) > 3 * floor


def test_mitigators_leave_the_stereotypes_of_occupations(recovered):
    before, after = (recovered(kind, "occupations")["recoverability"] for kind in (None, Inlp))
    assert before.value == pytest.approx(0.79, abs=0.05)
    assert after.value > 0.7
