"""SummEval on all-MiniLM-L6-v2: pooled over all articles as in table 8, and within articles."""

from __future__ import annotations

import pytest

from harness.plugins.mitigators.anonymize import Anonymize

PRINTED = {"spearman": 0.251, "pearson": 0.282}
# The mean over articles is another number: see section 5.2 of the paper.
WITHIN = {"spearman": 0.258, "pearson": 0.298}


def test_table_8_without_anonymisation(scores, minilm, expected):
    result = scores("summeval", minilm)["default"]["reference-correlation"]
    reference = expected("minilm.json")["names_summeval"]
    for name, printed in PRINTED.items():
        pooled, within = result[f"pooled_{name}"], result[name]
        assert pooled.value == pytest.approx(reference[name][0], abs=2e-3)
        # the texts here are tokenised and partly in lower case
        assert pooled.value == pytest.approx(printed, abs=5e-3)
        assert within.value == pytest.approx(WITHIN[name], abs=2e-3)
        for score in (pooled, within):
            assert score.details["documents"] == 100
            assert score.n == 1600


def test_without_names_the_pooled_correlation_rises_and_that_within_articles_falls(scores, minilm):
    """The paper's claim rests on levels of whole articles: within them, removing names costs."""
    anonymize = Anonymize()
    anonymize.fit(None, None)
    written = scores("summeval", minilm)["default"]["reference-correlation"]
    without = scores("summeval", lambda texts: minilm(anonymize.rewrite(texts)))
    without = without["default"]["reference-correlation"]
    assert written["pooled_spearman"].value == pytest.approx(0.248, abs=2e-3)
    assert without["pooled_spearman"].value == pytest.approx(0.312, abs=5e-3)
    assert written["spearman"].value == pytest.approx(0.258, abs=2e-3)
    assert without["spearman"].value == pytest.approx(0.228, abs=5e-3)
