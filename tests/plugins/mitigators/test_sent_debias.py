"""SentDebias projects a concept's subspace of sentences out."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.concept import Concept
from harness.embedder import MockEmbedder, ModelInfo
from harness.errors import NotApplicable
from harness.plugins.mitigators.fitting.sentences import TEMPLATES
from harness.plugins.mitigators.sent_debias import SentDebias

GENDER = Concept(name="gender", definitional_pairs=(("she", "he"), ("woman", "man")))
FAITH = Concept(
    name="faith",
    definitional_pairs=(("mosque", "church"),),
    definitional_sets=(("mosque", "church", "temple"), ("imam", "priest", "monk")),
)


WORDS = {"she": (1, 0), "he": (-1, 0), "woman": (2, 1), "man": (-2, 1)}


class Encoder:
    """Encodes a text by its word, (x, y, 0), and by the length of the rest, (0, 0, z)."""

    info = ModelInfo(name="hand", kind="text", dimensions=3, fingerprint="hand")

    def encode(self, texts):
        words = [next(w for w in WORDS if re.search(rf"\b{w}\b", text)) for text in texts]
        return np.array(
            [
                [*WORDS[word], len(text) - len(word)]
                for word, text in zip(words, texts, strict=True)
            ],
            dtype=np.float32,
        )


def test_the_direction_in_which_the_sentences_differ_is_removed():
    mitigator = SentDebias(normalize=False).fit(Encoder(), GENDER)
    assert np.abs(mitigator.subspace_) == pytest.approx(np.array([[1, 0, 0]]), abs=1e-6)
    assert mitigator.explained_ == pytest.approx([1])
    result = mitigator.transform(np.array([[3.0, 4.0, 12.0]]), ["x"])
    assert result == pytest.approx(np.array([[0, 4, 12]]), abs=1e-6)
    unit = SentDebias().fit(Encoder(), GENDER).transform(np.array([[3.0, 4.0, 12.0]]), ["x"])
    assert np.linalg.norm(unit) == pytest.approx(1)


@given(st.integers(0, 2**32 - 1), st.sampled_from([GENDER, FAITH]), st.booleans())
def test_the_projection_is_idempotent_and_leaves_nothing_in_the_subspace(seed, concept, normalize):
    mitigator = SentDebias(normalize=normalize).fit(MockEmbedder("text", 12), concept)
    rows = np.random.default_rng(seed).standard_normal((5, 12))
    once = mitigator.transform(rows, list("abcde"))
    assert np.abs(once @ mitigator.subspace_.T).max() < 1e-5
    assert mitigator.transform(once, list("abcde")) == pytest.approx(once, abs=1e-5)
    if normalize:
        assert np.linalg.norm(once, axis=1) == pytest.approx(np.ones(5), abs=1e-5)


def test_sets_of_three_words_give_two_dimensions_and_take_precedence_over_pairs():
    embedder = MockEmbedder("text", 12)
    assert SentDebias().fit(embedder, GENDER).subspace_.shape == (1, 12)
    assert SentDebias().fit(embedder, FAITH).subspace_.shape == (2, 12)
    assert SentDebias(k=3).fit(embedder, FAITH).subspace_.shape == (3, 12)
    assert any("temple" in text for text in SentDebias().fitting_texts(FAITH))


def test_fitting_texts_equal_the_encoded_texts():
    encoded = []

    class RecordingEmbedder(MockEmbedder):
        def encode(self, texts):
            encoded.extend(texts)
            return super().encode(texts)

    mitigator = SentDebias().fit(RecordingEmbedder("text"), GENDER)
    assert set(encoded) == set(mitigator.fitting_texts(GENDER))
    assert len(encoded) == 4 * len(TEMPLATES)
    assert mitigator.fitting_texts(None) == []


def test_a_concept_in_another_language_is_put_into_its_sentences():
    concept = Concept(name="gender-fr", language="fr", definitional_pairs=(("elle", "il"),))
    assert "Voici le mot elle." in SentDebias().fitting_texts(concept)
    assert not any("This is" in text for text in SentDebias().fitting_texts(concept))
    with pytest.raises(NotApplicable, match="'sw'"):
        SentDebias().fit(MockEmbedder("text"), concept.model_copy(update={"language": "sw"}))
