"""Whitening gives equal variance in all directions."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.arrays import cosines
from harness.embedder import MockEmbedder
from harness.errors import NotApplicable
from harness.plugins.embedders.vectors.word_vectors import WordVectors
from harness.plugins.mitigators.fitting.sentences import neutral_sentences
from harness.plugins.mitigators.whitening import Whitening

WORDS = [f"w{i}" for i in range(80)]


def words(seed: int = 0, d: int = 5) -> WordVectors:
    rng = np.random.default_rng(seed)
    return WordVectors.of(WORDS, rng.standard_normal((80, d)) @ rng.standard_normal((d, d)) + 2)


def test_the_sentences_of_the_sample_mention_no_person():
    result = neutral_sentences()
    assert len(result) == len(set(result)) == 640
    assert all(re.fullmatch(r"[A-Z][A-Za-z ]+\.", text) for text in result)
    people = r"\b(he|she|him|her|his|man|men|woman|women|person|people|who|boy|girl)\b"
    assert not any(re.search(people, text) for text in result)


def test_whitening_in_two_dimensions_equals_the_computation_by_hand():
    # mean (1, 0), variances 4 and 1
    rows = np.array([[3.0, 1.0], [3.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    embedder = WordVectors.of(list("abcd"), rows)
    mitigator = Whitening(normalize=False, shrinkage=0).fit(embedder)
    assert mitigator.mean_ == pytest.approx([1, 0])
    assert mitigator.transform([[5.0, 3.0]], ["x"])[0] == pytest.approx([2, 3])
    kept = Whitening(normalize=False, shrinkage=0, k=1).fit(embedder)
    assert kept.transform([[5.0, 3.0]], ["x"])[0] == pytest.approx([2, 0])
    # half of (4 + 1) / 2 and half of the variances: 3.25 and 1.75
    half = Whitening(normalize=False, shrinkage=0.5).fit(embedder)
    assert half.transform([[5.0, 3.0]], ["x"])[0] == pytest.approx([4 / 3.25**0.5, 3 / 1.75**0.5])


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_the_kept_directions_have_variance_one_over_the_sample(seed, k):
    embedder = words(seed)
    mitigator = Whitening(k=k, shrinkage=0, normalize=False).fit(embedder)
    result = (embedder.vectors.astype(float) - mitigator.mean_) @ mitigator.matrix_
    covariance = result.T @ result / len(result)
    assert result.mean(axis=0) == pytest.approx(0, abs=1e-6)
    assert np.linalg.eigvalsh(covariance) == pytest.approx([0.0] * (5 - k) + [1.0] * k, abs=1e-6)


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_cosines_are_invariant_under_linear_maps_and_shifts(seed):
    embedder = words(seed)
    rng = np.random.default_rng(seed)
    mapped = embedder.vectors @ (np.eye(5) + 0.3 * rng.standard_normal((5, 5))) + rng.random(5)
    result = []
    for vectors in (embedder.vectors, mapped):
        mitigator = Whitening(shrinkage=0, normalize=False).fit(WordVectors.of(WORDS, vectors))
        rows = mitigator.transform(vectors, WORDS)
        result.append(cosines(rows, rows))
    assert result[0] == pytest.approx(result[1], abs=1e-2)


def test_full_shrinkage_only_centres():
    embedder = words()
    rows = Whitening(shrinkage=1, normalize=False).fit(embedder).transform(embedder.vectors, WORDS)
    centred = embedder.vectors - embedder.vectors.mean(axis=0)
    assert cosines(rows, centred).diagonal() == pytest.approx(np.ones(80), abs=1e-5)


def test_text_encoders_are_fitted_on_sentences_or_on_the_lines_of_a_file(tmp_path):
    mitigator = Whitening().fit(MockEmbedder("text", 16))
    assert 0 < mitigator.shrinkage_ <= 1
    assert len(mitigator.fitting_texts(None)) == 640
    path = tmp_path / "mine.txt"
    path.write_text("one\n\ntwo \none\nthree\n", encoding="utf-8")
    own = Whitening(texts=str(path))
    assert own.fitting_texts(None) == ["one", "two", "three"]
    lines = MockEmbedder("text", 16).encode(["one", "two", "three"])
    assert own.fit(MockEmbedder("text", 16)).mean_ == pytest.approx(lines.mean(axis=0), abs=1e-6)


def test_a_sample_with_too_little_variance_is_not_applicable():
    with pytest.raises(NotApplicable, match="k=79"):
        Whitening(shrinkage=0).fit(words(d=90))
    with pytest.raises(NotApplicable, match=r"k=9\b"):
        Whitening(k=9).fit(words())
    same = WordVectors.of(["a", "b"], np.ones((2, 3)))
    with pytest.raises(NotApplicable, match="2 vectors"):
        Whitening().fit(same)


def test_depends_on_changes_with_the_file_of_texts(tmp_path):
    file = tmp_path / "texts.txt"
    file.write_text("One.\nTwo.\n")
    before = Whitening(texts=str(file)).depends_on
    file.write_text("One.\nThree.\n")
    assert Whitening(texts=str(file)).depends_on != before
    assert Whitening().depends_on is None
