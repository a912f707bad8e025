"""Multiclass hard debiasing: sets of several groups, and pairs as sets of two words."""

from __future__ import annotations

import numpy as np
import pytest
from given_vectors import Vocabulary
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.concept import Concept
from harness.errors import NotApplicable
from harness.plugins.mitigators.hard_debias import HardDebias
from harness.plugins.mitigators.multiclass_hard_debias import MulticlassHardDebias

SETS = (("judaism", "christianity", "islam"), ("jew", "christian", "muslim"))
RELIGION = Concept(
    name="religion",
    definitional_sets=SETS,
    equalize_sets=(("rabbi", "priest", "imam"),),
    specific_words=("altar",),
)
NEUTRAL = ["doctor", "greedy"]
EQUAL = ["rabbi", "priest", "imam"]
WORDS = [*SETS[0], *SETS[1], *EQUAL, *NEUTRAL, "altar"]


def vocabulary(seed: int = 0, d: int = 8) -> Vocabulary:
    rng = np.random.default_rng(seed)
    return Vocabulary({w: rng.standard_normal(d) * rng.uniform(0.5, 3) for w in WORDS})


def debiased(embedder, texts, concept=RELIGION, **options):
    mitigator = MulticlassHardDebias(**options).fit(embedder, concept)
    return mitigator.transform(embedder.encode(texts), texts)


def test_a_set_of_three_words_equals_the_computation_by_hand():
    embedder = Vocabulary(
        {"jew": [1, 0, 0], "christian": [0, 1, 0], "muslim": [-1, 0, 0], "doctor": [3, 4, 5]}
        | {"a": [0.6, 0, 0.8], "b": [0, 0.6, 0.8]}
    )
    concept = Concept(name="religion", definitional_sets=(SETS[1],), equalize_sets=(("a", "b"),))
    result = debiased(embedder, ["doctor", "a", "b"], concept)
    # the set spans the first two axes; a and b have the third in common, .8 of it
    half = 0.6 / np.sqrt(2)
    assert result == pytest.approx(
        np.array([[0, 0, 1], [half, -half, 0.8], [-half, half, 0.8]]), abs=1e-6
    )


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_neutral_words_lose_the_subspace_and_are_equally_near_to_all_words_of_a_set(seed, k):
    embedder = vocabulary(seed)
    mitigator = MulticlassHardDebias(k=k).fit(embedder, RELIGION)
    neutral = mitigator.transform(embedder.encode(NEUTRAL), NEUTRAL)
    equal = mitigator.transform(embedder.encode(EQUAL), EQUAL)
    assert mitigator.subspace_ @ mitigator.subspace_.T == pytest.approx(np.eye(k), abs=1e-10)
    assert np.abs(neutral @ mitigator.subspace_.T).max() < 1e-6
    assert neutral @ (equal - equal[0]).T == pytest.approx(0, abs=1e-6)
    assert np.linalg.norm(np.vstack([neutral, equal]), axis=1) == pytest.approx(1, abs=1e-6)


def test_the_subspace_has_the_principal_components_of_words_minus_the_mean_of_their_set():
    embedder = vocabulary()
    rows = []
    for members in SETS:
        words = embedder.encode(members).astype(float)
        words /= np.linalg.norm(words, axis=1, keepdims=True)
        rows.extend(words - words.mean(axis=0))
    values, vectors = np.linalg.eigh(np.transpose(rows) @ rows)
    mitigator = MulticlassHardDebias().fit(embedder, RELIGION)
    assert len(mitigator.subspace_) == 2  # groups less one
    overlap = np.abs(mitigator.subspace_ @ vectors[:, ::-1][:, :2])
    assert overlap == pytest.approx(np.eye(2), abs=1e-6)
    assert mitigator.explained_ == pytest.approx(values[::-1][:2] / values.sum())


def test_with_pairs_the_result_equals_hard_debiasing():
    concept = Concept(
        name="gender",
        definitional_pairs=(("jew", "muslim"), ("judaism", "islam")),
        equalize_sets=(("rabbi", "imam"),),
    )
    embedder = vocabulary()
    hard = HardDebias().fit(embedder, concept).transform(embedder.encode(WORDS), WORDS)
    assert debiased(embedder, WORDS, concept) == pytest.approx(hard, abs=1e-6)
    assert concept.has(MulticlassHardDebias.needs)


def test_definitional_and_specific_words_are_only_normalised():
    embedder = vocabulary()
    words = [*SETS[0], "altar"]
    rows = embedder.encode(words)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert debiased(embedder, words) == pytest.approx(unit, abs=1e-6)


def test_a_set_needs_at_least_two_known_words():
    embedder = vocabulary()
    sets = (*SETS, ("torah", "bible", "quran"), ("jew", "unheard", "muslim"))
    concept = RELIGION.model_copy(update={"definitional_sets": sets})
    mitigator = MulticlassHardDebias().fit(embedder, concept)
    assert mitigator.missing_ == ["bible", "quran", "torah", "unheard"]
    known = RELIGION.model_copy(update={"definitional_sets": (*SETS, ("jew", "muslim"))})
    same = MulticlassHardDebias().fit(embedder, known).subspace_
    assert mitigator.subspace_ == pytest.approx(same)


def test_directions_of_rounding_errors_are_an_error_where_published_code_removes_them():
    # Both sets have the same three words, so they span two directions. WEFE always requests ten;
    # its directions outside the span are rounding errors.
    embedder = vocabulary()
    twice = ("jew", "christian", "muslim"), ("muslim", "jew", "christian")
    concept = RELIGION.model_copy(update={"definitional_sets": twice})
    with pytest.raises(NotApplicable, match=r"k=3.*\b2 dimensions"):
        MulticlassHardDebias(k=3).fit(embedder, concept)
    words = embedder.encode(twice[0]).astype(float)
    words /= np.linalg.norm(words, axis=1, keepdims=True)
    published = []
    for precision in (np.float32, np.float64):
        rows = (words - words.mean(axis=0)).astype(precision)
        published.append(np.linalg.svd(np.vstack([rows, rows[[2, 0, 1]]]))[2])
    assert abs(published[0][1] @ published[1][1]) == pytest.approx(1, abs=1e-4)
    assert abs(published[0][2] @ published[1][2]) < 0.999
    right = MulticlassHardDebias(k=2).fit(embedder, concept).subspace_
    assert np.linalg.norm(right @ published[1][:2].T) == pytest.approx(2**0.5)
