"""Word similarity and analogies against gensim, and STS-B against a published score."""

from __future__ import annotations

import re

import numpy as np
import pytest
from gensim.models import KeyedVectors
from gensim.test.utils import datapath

from harness.embedder import vocabulary_of
from harness.plugins.metrics.word_analogies import word_analogies


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


def test_analogies_of_families_are_those_of_gensim(registry, glove_50d, data_folder, tmp_path):
    words, vectors = vocabulary_of(glove_50d).head(30_000)
    scenarios = registry.task("google-analogies").scenarios
    inputs = next(s.inputs for s in scenarios if s.name == "family")
    texts = {name: inputs[name].texts for name in "abcd"} | {"vocabulary": words}
    no_vectors = [np.empty((len(inputs["a"]), 0))] * 4
    rng = np.random.default_rng(0)
    scores = word_analogies(*no_vectors, vectors, texts=texts, rng=rng, resamples=0)
    text = (data_folder / "google_questions-words.txt").read_text("utf-8")
    section = re.search(r"^: family\n(?:[^:].*\n)+", text, flags=re.MULTILINE).group()
    (tmp_path / "family.txt").write_text(section, encoding="utf-8")
    peer = KeyedVectors(50)
    peer.add_vectors(words, vectors)
    accuracy, _ = peer.evaluate_word_analogies(str(tmp_path / "family.txt"), restrict_vocab=None)
    assert scores["accuracy_3cosadd"].value == pytest.approx(accuracy)
