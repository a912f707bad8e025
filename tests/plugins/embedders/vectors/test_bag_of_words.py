"""The bag-of-words baseline."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.embedder import MockEmbedder
from harness.errors import InvalidFile, InvalidOption, UnknownName
from harness.plugins.embedders.vectors.bag_of_words import BagOfWords
from harness.plugins.embedders.vectors.word_vectors import WordVectors
from harness.registry.registry import Registry

INNER = WordVectors.of(["a", "b", "c", "anti-c", "don"], np.diag([1.0, 2, 3, 4, 5]))


def encoded(*texts, **options):
    return BagOfWords(INNER, **options).encode(texts)


def test_a_text_is_the_mean_of_its_known_words():
    np.testing.assert_allclose(encoded("a b?"), [[0.5, 1, 0, 0, 0]])
    np.testing.assert_allclose(encoded("A, unknown; a b"), [[2 / 3, 2 / 3, 0, 0, 0]])


def test_max_pooling_takes_the_largest_of_each_dimension():
    np.testing.assert_allclose(encoded("a b b", "c", pooling="max")[0], [1, 2, 0, 0, 0])


def test_a_compound_is_looked_up_whole_and_then_in_parts():
    np.testing.assert_allclose(encoded("anti-c")[0], [0, 0, 0, 4, 0])
    np.testing.assert_allclose(encoded("a-b")[0], [0.5, 1, 0, 0, 0])
    np.testing.assert_allclose(encoded("don't")[0], [0, 0, 0, 0, 5])


def test_a_text_without_known_words_gives_a_row_of_nan():
    vectors = encoded("", "unknown", "?!", "a")
    assert np.isnan(vectors[:3]).all()
    assert np.isfinite(vectors[3]).all()
    assert encoded("x", "y").shape == (2, 5)
    assert encoded().shape == (0, 5)


@given(st.lists(st.text(st.sampled_from("abc xX-'.")), max_size=6))
def test_a_vector_does_not_depend_on_the_other_texts(texts):
    together = encoded(*texts)
    apart = [encoded(text)[0] for text in texts]
    np.testing.assert_allclose(together, np.reshape(apart, (len(texts), 5)))


def test_the_fingerprint_depends_on_the_word_vectors_and_the_pooling():
    other = WordVectors.of(["a"], np.eye(1))
    prints = [
        BagOfWords(inner, pooling=pooling).info.fingerprint
        for inner in (INNER, other)
        for pooling in ("mean", "max")
    ]
    assert len({*prints, INNER.info.fingerprint}) == 5
    assert BagOfWords(INNER).info.fingerprint == prints[0]


def test_a_text_encoder_is_refused():
    with pytest.raises(InvalidOption, match="mock-text"):
        BagOfWords(MockEmbedder("text"))


def test_it_is_loaded_by_its_name(tmp_path):
    (tmp_path / "v.txt").write_text("a 1 0\nb 0 1\n")
    embedder = Registry().embedder(f"bag-of-words:vectors:{tmp_path}/v.txt?pooling=max")
    np.testing.assert_array_equal(embedder.encode(["a b"]), [[1, 1]])
    assert embedder.info.name == "bag-of-words:v?pooling=max"


def test_errors_of_the_word_vectors_are_reported():
    with pytest.raises(UnknownName, match="glove-6b-50d"):
        Registry().embedder("bag-of-words:glove-6b")
    with pytest.raises(InvalidFile, match=r"nowhere\.txt"):
        Registry().embedder("bag-of-words:vectors:nowhere.txt")
    with pytest.raises(InvalidOption, match="pooling"):
        Registry().embedder("bag-of-words:glove-6b-50d?pooling=sum")


def test_words_of_every_script_are_looked_up_whole():
    texts = ["पुत्री", "মেয়ে", "தாய்", "พ่อ", "می\u200cخواهم", "fiance\u0301e", "אִמָּא", "צה״ל"]
    pieces = ["प", "म", "த", "พ", "می", "خواهم", "fiance", "e", "א", "צה"]
    bag = BagOfWords(WordVectors.of([*texts, *pieces], np.eye(len(texts) + len(pieces))))
    np.testing.assert_array_equal(bag.encode(texts).argmax(axis=1), range(len(texts)))
