"""Usefulness tasks of open texts on all-MiniLM-L6-v2, against scikit-learn."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression


def rows_of(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_pairs_of_snli_are_labelled_as_by_scikit_learn(registry, minilm, data_folder):
    rows = 250
    label_of = {
        (row["premise"], row["hypothesis"]): row["label"]
        for part in ("train", "test")
        for row in rows_of(data_folder / f"snli_{part}.jsonl")
    }
    inputs = registry.task("snli-pairs").scenarios[0].inputs
    texts = {name: item.texts[:rows] for name, item in inputs.items() if item.texts is not None}
    codes = {name: item.numbers[:rows] for name, item in inputs.items() if item.texts is None}

    def part(first, second, labels):
        words = [label_of[pair] for pair in zip(texts[first], texts[second], strict=True)]
        assert len(set(zip(words, codes[labels], strict=True))) == 3
        u, v = minilm(texts[first]), minilm(texts[second])
        return np.hstack([np.abs(u - v), u * v]), words

    x, y = part("texts_1", "texts_2", "labels")
    test_x, test_y = part("test_1", "test_2", "test_labels")
    arrays = codes | {name: minilm(of_input) for name, of_input in texts.items()}
    score = registry.metric("linear-probe")(
        **arrays, texts=texts, rng=np.random.default_rng(0), resamples=20
    )["accuracy"]
    assert (score.n, score.details["seen"]) == (rows, 0)
    (c,) = score.details["c"]
    peer = LogisticRegression(C=c, max_iter=1000).fit(x, y).score(test_x, test_y)
    assert score.value == pytest.approx(peer, abs=2 / rows)  # two test pairs
    assert score.value > 0.45  # .34 by chance
