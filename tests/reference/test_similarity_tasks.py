"""Word similarity against gensim's evaluation, and STS-B against a published score."""

from __future__ import annotations

import pytest
from gensim.models import KeyedVectors
from gensim.test.utils import datapath


@pytest.mark.parametrize(
    ("task", "file"), [("ws-353", "wordsim353.tsv"), ("simlex-999", "simlex999.txt")]
)
def test_word_similarity_is_that_of_gensim(task, file, scores, glove, registry):
    inputs = registry.task(task).scenarios[0].inputs
    words = sorted({word.lower() for key in ("texts_1", "texts_2") for word in inputs[key].texts})
    peer = KeyedVectors(50)
    peer.add_vectors(words, glove(words))
    pearson, spearman, missing = peer.evaluate_word_pairs(datapath(file))
    score = scores(task, glove)["default"]["similarity-correlation"]
    assert missing == 0
    assert score["spearman"].value == pytest.approx(spearman[0], abs=1e-4)
    assert score["pearson"].value == pytest.approx(pearson[0], abs=1e-5)


@pytest.mark.usefixtures("fetched_data")
def test_minilm_has_its_published_score_on_sts_b(scores, minilm):
    # 82.03 for STSBenchmark on the MTEB leaderboard
    score = scores("sts-b", minilm)["default"]["similarity-correlation"]
    assert score["spearman"].value == pytest.approx(0.8203, abs=2e-3)
