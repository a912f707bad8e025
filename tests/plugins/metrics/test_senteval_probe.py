"""SentEval's published protocol of classification.

Its steps are small and it stops early, so it needs some hundred texts even where classes are apart.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.stats import ortho_group
from sklearn.metrics import f1_score

from harness.plugins.metrics.senteval_probe import senteval_probe


def run(x, y, *, seed=0, texts=None, **inputs):
    options = {key: inputs.pop(key) for key in ("folds", "hidden") if key in inputs}
    vectors = {"texts_1": x} | {k: v for k, v in inputs.items() if not k.endswith("labels")}
    names = {key: [f"{key} {i}" for i in range(len(v))] for key, v in vectors.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return senteval_probe(
            x, y, **inputs, resamples=0,
            rng=np.random.default_rng(seed), texts=names | (texts or {}), **{"folds": 3} | options,
        )  # fmt: skip


def sides(n=900, d=32, gap=3.0, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    x = rng.standard_normal((n, d))
    x[np.arange(n), y] += gap
    return x, y.astype(float)


def parts(n=900, **options):
    x, y = sides(3 * n, **options)
    return {
        "x": x[:n], "y": y[:n], "dev_1": x[n : 2 * n], "dev_labels": y[n : 2 * n],
        "test_1": x[2 * n :], "test_labels": y[2 * n :],
    }  # fmt: skip


def test_planted_classes_are_found_by_all_three_ways():
    with_dev = parts()
    with_test = {k: v for k, v in with_dev.items() if not k.startswith("dev")}
    assert run(*sides()).value > 0.85
    assert run(**with_test).value > 0.95
    assert run(**with_dev).value > 0.95


def test_noise_and_shuffled_labels_are_at_chance():
    x, y = sides()
    shuffled = np.random.default_rng(1).permutation(y)
    assert abs(run(x, shuffled).value - 0.5) < 0.1
    noise = np.random.default_rng(2).standard_normal((900, 32))
    assert abs(run(noise, y).value - 0.5) < 0.1


def test_accuracy_is_about_the_same_after_a_rotation_and_with_other_names_of_labels():
    data = parts(gap=1.2)
    turn = ortho_group.rvs(32, random_state=0)
    turned = {k: v if k == "y" or k.endswith("labels") else v @ turn for k, v in data.items()}
    renamed = {k: 7 - 9 * v if k == "y" or k.endswith("labels") else v for k, v in data.items()}
    value = run(**data).value
    assert run(**turned).value == pytest.approx(value, abs=0.03)
    assert run(**renamed).value == pytest.approx(value, abs=0.03)


def test_vectors_keep_their_lengths():
    # only the length tells the classes apart, so that unit vectors would be at chance
    y = np.arange(2000) % 2
    x = np.ones((2000, 32)) * np.where(y, 5, 0.2)[:, None]
    assert run(x, y.astype(float), folds=2).value > 0.95


def test_pairs_have_difference_and_product():
    rng = np.random.default_rng(0)
    u, v = rng.standard_normal((2, 900, 16))
    same = np.arange(900) % 2
    v[same == 1] = u[same == 1]
    names = {"texts_2": [f"second {i}" for i in range(900)]}
    assert run(u, same.astype(float), texts_2=v, texts=names).value > 0.9


def test_details_say_what_was_chosen_and_f1_is_that_of_the_higher_label():
    data = {k: v for k, v in parts(gap=1.5).items() if not k.startswith("dev")}
    score = run(**data)
    (part,) = score.samples
    assert score.details["penalty"][0] in (1e-5, 1e-4, 1e-3, 1e-2)
    assert 0.5 < score.details["development"][0] <= 1
    assert score.details["f1"] == pytest.approx(
        f1_score(part.columns["label"], part.columns["predicted"])
    )
    assert np.mean(part.contribution) == score.value
    folded = run(*sides())
    assert len(folded.details["penalty"]) == len(folded.details["folds"]) == 3


def test_copies_are_counted_in_a_cross_validation_and_with_a_test_set():
    x, y = sides(n=60)
    texts = {"texts_1": [str(i // 2) for i in range(60)]}
    y = np.repeat(y[:30], 2)
    assert 0 < run(x, y, texts=texts).details["seen"] <= 60
    assert run(x, y).details["seen"] == 0
    tested = {"test_1": x[:3], "test_labels": y[:3]}
    seen = {"texts_1": [f"t{i}" for i in range(60)], "test_1": ["t0", "t1", "new"]}
    assert run(x, y, **tested, texts=seen).details["seen"] == 2


def test_a_label_of_the_test_set_that_was_not_trained_on_is_never_right():
    data = parts(n=90)
    data["test_labels"] = np.full(90, 5.0)
    data["dev_labels"] = np.where(np.arange(90) < 5, 9.0, data["dev_labels"])
    assert run(**data).value == 0
