"""Rated pairs, analogies and SemBias on GloVe 6B 50d, against gensim and by hand."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors

from harness.embedder import vocabulary_of
from harness.plugins.metrics.word_analogies import word_analogies
from harness.registry.registry import Registry


@pytest.fixture(scope="module")
def first_words():
    """Return the 30,000 most frequent words of GloVe and their vectors."""
    return vocabulary_of(Registry().embedder("glove-6b-50d")).head(30_000)


@pytest.fixture
def answer(first_words, registry):
    """Return a function that answers a scenario of the Google questions."""
    words, vectors = first_words

    def run(scenario):
        inputs = {s.name: s.inputs for s in registry.task("google-analogies").scenarios}[scenario]
        texts = {name: inputs[name].texts for name in "abcd"} | {"vocabulary": words}
        no_vectors = [np.empty((len(inputs["a"]), 0))] * 4
        rng = np.random.default_rng(0)
        return word_analogies(*no_vectors, vectors, texts=texts, rng=rng, resamples=0)

    return run


# The peer is gensim's `evaluate_word_pairs`; the sets have very different sizes.
@pytest.mark.parametrize("task", ["men-3k", "mturk-287", "mturk-771", "simverb-3500", "yp-130"])
def test_rated_pairs_are_those_of_gensim(task, scores, glove, registry, data_folder):
    table = registry.task(task).file.tables["pairs"]
    inputs = registry.task(task).scenarios[0].inputs
    words = sorted({word.lower() for key in ("texts_1", "texts_2") for word in inputs[key].texts})
    rows = glove(words)
    known = np.isfinite(rows).all(axis=1)
    peer = KeyedVectors(50)
    peer.add_vectors([w for w, is_known in zip(words, known, strict=True) if is_known], rows[known])
    _, spearman, _ = peer.evaluate_word_pairs(str(data_folder / Path(table.file).stem))
    score = scores(task, glove)["default"]["similarity-correlation"]["spearman"]
    assert score.value == pytest.approx(spearman[0], abs=2e-4)


def test_the_accuracy_on_family_is_that_of_gensim(answer, first_words, data_folder, tmp_path):
    text = (data_folder / "google_questions-words.txt").read_text("utf-8")
    section = re.search(r"^: family\n(?:[^:].*\n)+", text, flags=re.MULTILINE).group()
    (tmp_path / "family.txt").write_text(section, encoding="utf-8")
    peer = KeyedVectors(50)
    peer.add_vectors(*first_words)
    accuracy, _ = peer.evaluate_word_analogies(str(tmp_path / "family.txt"), restrict_vocab=None)
    assert answer("family")["accuracy_3cosadd"].value == pytest.approx(accuracy)


def test_sem_bias_is_the_share_of_its_questions_answered_separately(scores, glove, data_folder):
    lines = (data_folder / "SemBias.txt").read_text("utf-8").splitlines()
    kinds = ("definition", "none", "none", "stereotype")
    word = dict.fromkeys(w for line in lines for w in re.split(r"[\t:]", line.strip()))
    rows = glove(["he", "she", *word])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    vector = dict(zip(["he", "she", *word], rows, strict=True))
    g = vector["he"] - vector["she"]
    chosen, outdone = [], []
    for line in lines:
        cosines = []
        for pair in line.strip().split("\t"):
            first, second = pair.split(":")
            difference = vector[first] - vector[second]
            cosines.append(difference @ g / np.linalg.norm(difference))
        chosen.append(kinds[int(np.argmax(cosines))])
        outdone += [cosines[3] > cosines[1], cosines[3] > cosines[2]]
    results = scores("sem-bias", glove)
    for scenario, choices in (("all", chosen), ("unseen-pairs", chosen[-40:])):
        for kind in kinds:
            score = results[scenario]["sem-bias"][kind]
            assert score.value == pytest.approx(choices.count(kind) / len(choices))
    assert results["all"]["sem-bias"]["preference"].value == pytest.approx(np.mean(outdone))
