"""Analogies by 3CosAdd and 3CosMul, compared with the equations word by word."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ortho_group

from harness.plugins.metrics.word_analogies import word_analogies


def run(questions, words, vectors, **options):
    texts = {name: [four[i] for four in questions] for i, name in enumerate("abcd")}
    columns = [np.zeros((len(questions), vectors.shape[1]))] * 4
    return word_analogies(
        *columns,
        vectors,
        texts=texts | {"vocabulary": words},
        rng=np.random.default_rng(0),
        **({"resamples": 0} | options),
    )


def random_questions(seed: int, n: int = 60, size: int = 25, dimensions: int = 4):
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(size)]
    pairs = [rng.choice(words, 2, replace=False) for _ in range(8)]
    questions = [(*pairs[rng.integers(8)], *rng.choice(words, 2, replace=False)) for _ in range(n)]
    return questions, words, rng.standard_normal((size, dimensions))


def by_the_equations(questions, words, vectors):
    """Return the accuracies by equations 1 and 4, question by question."""
    unit = dict(zip(words, vectors / np.linalg.norm(vectors, axis=1, keepdims=True), strict=True))
    right = [0, 0]
    for a, b, c, d in questions:
        sums, products = {}, {}
        for word in set(words) - {a, b, c}:
            to_a, to_b, to_c = (float(unit[word] @ unit[neighbour]) for neighbour in (a, b, c))
            sums[word] = to_b - to_a + to_c
            products[word] = (to_b + 1) / 2 * (to_c + 1) / 2 / ((to_a + 1) / 2 + 0.001)
        right[0] += max(sums, key=sums.get) == d
        right[1] += max(products, key=products.get) == d
    return [count / len(questions) for count in right]


def test_a_parallelogram_is_completed():
    words = ["man", "woman", "king", "queen", "apple"]
    vectors = np.array([[1.0, 0, 1], [1, 1, 0], [2, 0, 1], [2, 1, 0], [-1, -1, -1]])
    scores = run([("man", "woman", "king", "queen")], words, vectors)
    assert {name: score.value for name, score in scores.items()} == {
        "accuracy_3cosadd": 1.0,
        "accuracy_3cosmul": 1.0,
    }


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_answers_equal_the_equations_under_any_rotation_and_scale(seed):
    questions, words, vectors = random_questions(seed)
    turn = ortho_group.rvs(4, random_state=seed)
    lengths = np.random.default_rng(seed).uniform(0.5, 2, (len(words), 1))
    scores = run(questions, words, lengths * vectors @ turn)
    expected = by_the_equations(questions, words, vectors)
    assert [score.value for score in scores.values()] == pytest.approx(expected)


def test_question_words_are_excluded_from_the_answers():
    # with nearly equal a and b, the sum is largest for c itself
    words, vectors = ["a", "b", "c", "d"], np.array([[1.0, 0], [1, 0.01], [0, 1], [-1, 1]])
    scores = run([("a", "b", "c", "d")], words, vectors)
    assert scores["accuracy_3cosadd"].value == 1.0
    assert run([("a", "b", "c", "c")], words, vectors)["accuracy_3cosadd"].value == 0.0


def test_questions_with_a_missing_word_are_left_out_and_counted():
    questions, words, vectors = random_questions(1)
    more = [*questions, ("w0", "w1", "w2", "elsewhere"), ("elsewhere", "w1", "w2", "w3")]
    scores, fewer = run(more, words, vectors), run(questions, words, vectors)
    for name, score in scores.items():
        assert score.value == fewer[name].value
        assert score.n == len(questions)
        assert score.details["not_asked"] == 2


def test_words_are_found_as_written_and_then_in_lower_case():
    questions, words, vectors = random_questions(2)
    upper = [tuple(word.upper() for word in four) for four in questions]
    assert run(upper, words, vectors) == run(questions, words, vectors)


def test_intervals_contain_the_value_and_resample_pairs():
    questions, words, vectors = random_questions(4, n=400, size=12)
    for score in run(questions, words, vectors, resamples=200).values():
        assert score.interval.low <= score.value <= score.interval.high
        assert "pairs" in score.interval.method


def test_3cosmul_accepts_opposite_vectors():
    words, vectors = ["a", "b", "c", "d"], np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]])
    assert run([("a", "b", "c", "d")], words, vectors)["accuracy_3cosmul"].value == 1.0
