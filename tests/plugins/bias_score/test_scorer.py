"""Scores with text encoders: a BiLSTM with max pooling, and words of several tokens."""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness.embedder import ModelInfo, TokenStates
from harness.plugins.bias_score import scorer
from harness.plugins.bias_score.gendered import Gendered
from harness.plugins.bias_score.scorer import Direction, Scorer
from harness.plugins.embedders.infersent.infersent import InferSentEmbedder
from harness.plugins.embedders.vectors.word_vectors import WordVectors

WORDS = ["<s>", "</s>", "she", "he", "likes", "the", "pink", "dress", "."]
D, H = 4, 16
LISTED = Gendered(frozenset(["she", "he"]))


@pytest.fixture(scope="module")
def glove():
    rows = np.random.default_rng(1).standard_normal((len(WORDS), D)).astype(np.float32)
    return WordVectors.of(WORDS, rows)


@pytest.fixture(scope="module")
def infersent(glove, tmp_path_factory):
    import torch
    from safetensors.torch import save_file

    folder = tmp_path_factory.mktemp("infersent")
    torch.manual_seed(2)
    lstm = torch.nn.LSTM(D, H, bidirectional=True)
    save_file(
        {f"enc_lstm.{k}": v for k, v in lstm.state_dict().items()}, folder / "model.safetensors"
    )
    config = {"model_type": "infersent", "word_dimensions": D, "hidden_size": H}
    (folder / "config.json").write_text(json.dumps(config))
    return InferSentEmbedder(str(folder), vectors=glove)


def test_importance_is_of_the_encoder_and_cosines_are_of_the_word_vectors(infersent, glove):
    g = scorer.of_words(glove, [("she", "he")], "max")
    result = Scorer(infersent, g, importance="max", gendered=LISTED, vectors=glove).score(
        ["She likes the dress."]
    )[0]
    h = infersent.token_states(["She likes the dress."])[0].states[1:-1]  # without the marks
    importance = np.bincount(h.argmax(axis=0), minlength=5) / (2 * H)
    difference = glove.encode(["she"])[0] / np.linalg.norm(glove.encode(["she"]))
    difference = difference - glove.encode(["he"])[0] / np.linalg.norm(glove.encode(["he"]))
    vectors = glove.encode(["likes", "the", "dress", "."])
    cosines = vectors @ difference / np.linalg.norm(vectors, axis=1) / np.linalg.norm(difference)
    assert result.words == ("she", "likes", "the", "dress", ".")
    assert result.score.importance == pytest.approx(importance)
    assert result.score.biases == pytest.approx([0, *(cosines * importance[1:])], abs=1e-6)


def test_the_score_of_a_sentence_is_independent_of_the_batch(infersent):
    texts = ["She likes the dress.", "pink", "he", "the pink dress the pink dress"]
    g = Direction(np.eye(2 * H)[0], 1.0, 1)
    together = Scorer(infersent, g, importance="mean", gendered=LISTED).score(texts)
    for text, result in zip(texts, together, strict=True):
        alone = Scorer(infersent, g, importance="mean", gendered=LISTED).score([text])[0]
        assert result.score.biases == pytest.approx(alone.score.biases, abs=1e-6)


class TwoTokensAWord:
    """Gives two tokens for each word, between special tokens."""

    info = ModelInfo(name="two", kind="text", dimensions=2, fingerprint="two-1")
    poolings = ("mean",)

    def encode(self, texts):
        return np.array([self._states(text).mean(axis=0) for text in texts])

    def token_states(self, texts):
        return [
            TokenStates(
                tuple(text.split()),
                np.array([-1, *np.repeat(np.arange(len(text.split())), 2), -1]),
                self._states(text),
            )
            for text in texts
        ]

    def truncated(self, texts):
        return [len(text.split()) > 2 for text in texts]

    def _states(self, text):
        rows = [[9, 9]] + [[len(word), i] for word in text.split() for i in (1, -1)] + [[9, -9]]
        return np.array(rows, dtype=np.float32)


def test_a_word_of_several_tokens_has_the_mean_of_their_states():
    g = Direction(np.array([1.0, 0.0]), 1.0, 1)
    scores = Scorer(TwoTokensAWord(), g, importance="uniform", gendered=LISTED)
    result, longer = scores.score(["she sings", "she sings well"])
    assert result.gendered.tolist() == [True, False]
    assert result.score.importance == pytest.approx([0.5, 0.5])
    assert result.score.cosines == pytest.approx([1, 1])  # of the mean of a word's two tokens
    assert result.score.female == pytest.approx(0.5)
    assert (result.cut, longer.cut) == (False, True)


def test_batches_are_bounded_and_contain_each_text_once(infersent):
    texts = [" ".join(["pink"] * (1 + i % 40)) for i in range(150)]
    batches = scorer.in_batches(infersent, texts)
    assert sorted(i for batch in batches for i in batch) == list(range(150))
    assert max(map(len, batches)) <= scorer.TEXTS
    for batch in batches:
        assert len(batch) * (max(len(texts[i].split()) for i in batch) + 2) <= scorer.TOKENS
