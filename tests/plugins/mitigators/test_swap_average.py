"""The mean of a text's vector and those of the texts about other groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.chain import Chain
from harness.concept import Concept
from harness.embedder import MockEmbedder
from harness.errors import NotApplicable
from harness.plugins.mitigators.sent_debias import SentDebias
from harness.plugins.mitigators.swap_average import SwapAverage

GENDER = Concept(
    name="gender",
    definitional_pairs=(("she", "he"), ("woman", "man")),
    specific_words=("beard", "her elder brother"),
)
FAITH = Concept(
    name="faith",
    definitional_sets=(("mosque", "church", "temple"), ("Muslim", "Christian", "Jew")),
)
TEXTS = ["She is a nurse.", "He is a nurse.", "The nurse is here.", "she"]


def fitted(concept: Concept = GENDER, **options) -> SwapAverage:
    return SwapAverage(**options).fit(MockEmbedder("text", 8), concept)


def averaged(texts, concept: Concept = GENDER, **options) -> np.ndarray:
    return fitted(concept, **options).transform(MockEmbedder("text", 8).encode(texts), texts)


def test_the_mean_is_as_by_hand():
    she, he, neutral, word = MockEmbedder("text", 8).encode(TEXTS).astype(float)
    found = averaged(TEXTS, normalize=False)
    assert found[0] == pytest.approx((she + he) / 2, abs=1e-6)
    assert found[2] == pytest.approx(neutral, abs=1e-7)
    assert found[3] == pytest.approx(word, abs=1e-7)
    mean = she + he
    assert averaged(TEXTS)[0] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)


def test_nothing_tells_a_text_from_the_one_about_the_other_gender():
    found = averaged(["My aunt and his wife", "My uncle and her husband"])
    assert found[0] == pytest.approx(found[1], abs=1e-6)


def test_single_words_and_listed_phrases_stay_as_they_are():
    words = ["she", "He", "woman", "beard", "king", "Her elder brother"]
    assert SwapAverage().reads(["king"], GENDER) == []
    assert averaged(words) == pytest.approx(MockEmbedder("text", 8).encode(words), abs=1e-6)


def test_a_set_of_three_is_averaged_over_three_texts():
    texts = [f"A {one} saw the {other}." for one, other in
             (("Muslim", "mosque"), ("Christian", "church"), ("Jew", "temple"))]  # fmt: skip
    rows = MockEmbedder("text", 8).encode(texts)
    assert set(SwapAverage().reads(texts[:1], FAITH)) == set(texts[1:])
    assert averaged(texts, FAITH, normalize=False) == pytest.approx(
        np.tile(rows.mean(axis=0), (3, 1)), abs=1e-6
    )
    assert SwapAverage().reads(["She is a nurse.", "JEW of Jewry"], FAITH) == [
        "MUSLIM of Jewry", "CHRISTIAN of Jewry"]  # fmt: skip


@given(st.lists(st.sampled_from([*TEXTS, "His son", "her", "a king's beard", "xyz"]), max_size=6))
def test_all_that_it_asks_for_was_said_before(texts):
    asked = []

    class Asked(MockEmbedder):
        def encode(self, texts):
            asked.extend(texts)
            return super().encode(texts)

    mitigator = SwapAverage().fit(Asked("text", 8), GENDER)
    rows = MockEmbedder("text", 8).encode(texts)
    found = mitigator.transform(rows, texts)
    assert found.shape == rows.shape
    assert found.dtype == np.float32
    assert set(asked) == set(SwapAverage().reads(texts, GENDER))


def test_in_a_chain_the_other_text_is_mitigated_alike():
    embedder = MockEmbedder("text", 8)
    chain = Chain([SentDebias(), SwapAverage()]).fit(embedder, GENDER)
    found = chain.transform(embedder.encode(TEXTS), TEXTS)
    assert np.abs(found @ chain.mitigators[0].subspace_.T).max() < 1e-6


def test_sets_of_unequal_size_average_over_what_they_have():
    concept = Concept(name="x", definitional_sets=(("mosque", "church", "temple"), ("nun", "monk")))
    both = averaged(["the nun", "the monk"], concept)
    assert both[0] == pytest.approx(both[1], abs=1e-6)


def test_nan_stays_nan():
    assert np.isnan(fitted().transform(np.full((1, 8), np.nan), ["she said"])).all()


def test_a_concept_without_words_is_refused():
    with pytest.raises(NotApplicable, match="'empty' has none"):
        fitted(Concept(name="empty"))
    with pytest.raises(NotApplicable, match="no concept is given"):
        SwapAverage().fit(MockEmbedder("text"))
