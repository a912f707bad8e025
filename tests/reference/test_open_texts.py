"""Usefulness tasks of open texts on all-MiniLM-L6-v2, against scikit-learn."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score

GRID = (0.1, 1.0, 10.0, 100.0)
FEW = {"resamples": 20}


def rows_of(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.long
def test_the_genre_of_a_book_is_found_as_often_as_by_scikit_learn(registry, minilm, data_folder):
    genre_of = {
        row["plot"]: row["genre"] for row in rows_of(data_folder / "book_genre_sample.jsonl")
    }
    inputs = registry.task("book-genres").scenarios[0].inputs
    plots = inputs["texts_1"].texts
    genres = np.array([genre_of[plot] for plot in plots])
    assert sorted(set(genres)) == ["crime", "fantasy", "history", "horror", "science", "thriller"]
    codes = inputs["labels"].numbers
    assert len(set(zip(genres, codes, strict=True))) == 6, "a genre is a code"
    x = minilm(plots)
    search = GridSearchCV(
        LogisticRegression(max_iter=1000), {"C": GRID}, cv=StratifiedKFold(3, shuffle=True)
    )
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    peer = cross_val_score(search, x, genres, cv=folds)
    score = registry.metric("linear-probe")(
        x, codes, texts={"texts_1": plots}, rng=np.random.default_rng(0), **FEW
    )["accuracy"]
    assert score.n == 300
    assert score.details["majority"] == pytest.approx(1 / 6, abs=0.01)
    # the folds differ: three standard errors of an accuracy over 300 plots are .085
    assert score.value == pytest.approx(peer.mean(), abs=0.05)
    assert score.value == pytest.approx(0.62, abs=0.03)  # as measured


@pytest.mark.parametrize(
    ("rows", "expected"),
    [(250, None), pytest.param(1000, 0.584, marks=pytest.mark.long)],  # as measured
)
def test_pairs_of_snli_are_labelled_as_by_scikit_learn(
    rows, expected, registry, minilm, data_folder
):
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
        **arrays, texts=texts, rng=np.random.default_rng(0), **FEW
    )["accuracy"]
    assert (score.n, score.details["seen"]) == (rows, 0)
    (c,) = score.details["c"]
    peer = LogisticRegression(C=c, max_iter=1000).fit(x, y).score(test_x, test_y)
    assert score.value == pytest.approx(peer, abs=2 / rows)  # two test pairs
    assert score.value > 0.45  # .34 by chance
    if expected is not None:
        assert score.value == pytest.approx(expected, abs=0.01)
