"""Files of word vectors: what is read from them, and which files are refused and how."""

import gzip
import pickle

import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from harness.embedder import WordEmbedder
from harness.errors import InvalidFile, InvalidOption, ModelError
from harness.plugins.embedders.vectors.vectors_file import vectors_file
from harness.plugins.embedders.vectors.word_vectors import WordVectors
from harness.registry.registry import Registry

WORDS = ["the", "King", "new_york", "naïve", "王", '"', "#", "NA", "nan", "3.5"]
RNG = np.random.default_rng(0)
VECTORS = RNG.standard_normal((len(WORDS), 12)).astype(np.float32)


def written_by_gensim(path, *, binary=False, header=True, words=WORDS, vectors=VECTORS):
    keyed = KeyedVectors(vectors.shape[1])
    keyed.add_vectors(words, vectors)
    keyed.save_word2vec_format(str(path), binary=binary, write_header=header, sort_attr=None)
    return path


FORMATS = {
    "glove": {"header": False},
    "word2vec": {},
    "word2vec-binary": {"binary": True},
}


@pytest.mark.parametrize("zipped", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("kind", FORMATS)
def test_what_gensim_writes_is_read_back(tmp_path, kind, zipped):
    path = written_by_gensim(tmp_path / "vectors", **FORMATS[kind])
    if zipped:
        path.write_bytes(gzip.compress(path.read_bytes()))
    for format_ in ("auto", kind):
        embedder = vectors_file(str(path), format=format_)
        assert isinstance(embedder, WordEmbedder)
        assert list(embedder.words) == WORDS
        assert embedder.vectors.dtype == np.float32
        np.testing.assert_allclose(embedder.vectors, VECTORS, rtol=1e-6)
        assert embedder.info.dimensions == 12
        assert embedder.info.kind == "word"


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50
)
@given(
    data=st.data(),
    kind=st.sampled_from(sorted(FORMATS)),
    d=st.integers(1, 20),
)
def test_any_finite_vectors_of_any_words_survive_a_round_trip(tmp_path, data, kind, d):
    word = st.text(
        st.characters(exclude_characters=" \n\r", exclude_categories=["Cs", "Zs", "Cc"]), min_size=1
    )
    words = data.draw(st.lists(word, min_size=1, max_size=8, unique=True))
    finite = st.floats(allow_nan=False, allow_infinity=False, width=32)
    vectors = data.draw(arrays.arrays(np.float32, (len(words), d), elements=finite))
    path = written_by_gensim(tmp_path / "vectors", words=words, vectors=vectors, **FORMATS[kind])
    embedder = vectors_file(str(path), format=kind)
    assert list(embedder.words) == words
    np.testing.assert_allclose(embedder.vectors, vectors, rtol=1e-6, atol=1e-38)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=100
)
@given(content=st.one_of(st.binary(max_size=200), st.binary(max_size=60).map(b"2 3\nab ".__add__)))
def test_any_file_gives_finite_vectors_or_is_refused(tmp_path, content):
    path = tmp_path / "vectors"
    path.write_bytes(content)
    try:
        vectors = vectors_file(str(path)).vectors
    except InvalidFile:
        return
    assert np.isfinite(vectors).all()


def test_all_variants_of_text_files_are_read(tmp_path):
    variants = {
        "no last newline": "the 1 2\nKing 3 4",
        "Windows": "the 1 2\r\nKing 3 4\r\n",
        "space at the end": "the 1 2 \nKing 3 4 \n",
        "blank lines": "the 1 2\n\nKing 3 4\n\n",
        "byte order mark": "\ufeffthe 1 2\nKing 3 4\n",
        "numbers": "the 1e0 2.\nKing +3 04\n",
        "header and mark": "\ufeff2 2\nthe 1 2\nKing 3 4\n",
        "header and Windows": "2 2\r\nthe 1 2\r\nKing 3 4\r\n",
        "header and blank lines": "2 2\nthe 1 2\n\nKing 3 4\n\n",
    }
    for name, text in variants.items():
        (tmp_path / "v.txt").write_bytes(text.encode())
        embedder = vectors_file(str(tmp_path / "v.txt"))
        assert list(embedder.words) == ["the", "King"], name
        np.testing.assert_array_equal(embedder.vectors, [[1, 2], [3, 4]], name)


def test_of_equal_words_the_first_is_kept(tmp_path):
    for name, options in FORMATS.items():
        path = written_by_gensim(
            tmp_path / name, words=["aaaaaa", "bbbbbb", "cccccc"], vectors=VECTORS[:3], **options
        )
        path.write_bytes(path.read_bytes().replace(b"cccccc", b"aaaaaa"))
        embedder = vectors_file(str(path))
        assert list(embedder.words) == ["aaaaaa", "bbbbbb"]
        np.testing.assert_allclose(embedder.encode(["aaaaaa"]), VECTORS[:1], rtol=1e-6)


def refused(path, **options):
    with pytest.raises(InvalidFile) as caught:
        _ = vectors_file(str(path), **options).vectors
    assert "\n" not in str(caught.value)
    return caught.value


def test_a_malformed_text_file_is_refused_with_the_line(tmp_path):
    for text, line, fact in (
        ("a 1 2\nb 3\n", 2, "2 numbers"),
        ("a 1 2\nb 3 1_0\n", 2, "underscore"),
        ("a 1 2\n\nb 3 -inf\n", 3, "'b' is not finite"),
        ("just some words\n", 1, "a word and its numbers"),
        ("2 2\na 1 2\nb 3\n", 3, "2 numbers"),
        ("1 2\na 1 2\nb 3 4\n", 1, "1 words, but 2"),
        ("0 2\n", 1, "header"),
        (" \n\n", None, "empty"),
        ("2 9\nab 1 2 3 4 5 6 7 8 x\n", 2, "9 numbers"),
    ):
        (tmp_path / "v.txt").write_text(text)
        error = refused(tmp_path / "v.txt")
        assert error.line == line
        assert fact in error.problem


def test_a_binary_file_that_ends_early_is_refused_with_the_word(tmp_path):
    path = written_by_gensim(tmp_path / "v.bin", binary=True)
    path.write_bytes(path.read_bytes()[:-1])
    assert "word 10" in str(refused(path))


class Trap:
    """Creates a file if it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_a_pickle_is_refused_unread_with_a_hint_on_how_to_convert_it(tmp_path):
    (tmp_path / "v.kv").write_bytes(pickle.dumps(Trap(tmp_path / "trap")))
    assert "save_word2vec_format" in str(refused(tmp_path / "v.kv"))
    assert not (tmp_path / "trap").exists()


def test_words_are_looked_up_as_they_are_then_lower_cased_then_joined():
    words = ["King", "king", "queen", "new_york", "New_York", "los_angeles"]
    embedder = WordVectors.of(words, np.eye(6))
    queries = ["King", "KING", "Queen", "new york", "New York", "NEW YORK", "Los Angeles", "rook"]
    expected = np.full((8, 6), np.nan)
    for row, word in enumerate([0, 1, 2, 3, 4, 3, 5]):
        expected[row] = np.eye(6)[word]
    np.testing.assert_array_equal(embedder.encode(queries), expected)
    assert embedder.encode(queries).dtype == np.float32


def test_the_fingerprint_depends_on_the_content_and_the_format(tmp_path):
    first = vectors_file(str(written_by_gensim(tmp_path / "first"))).info.fingerprint
    same = vectors_file(str(written_by_gensim(tmp_path / "same"))).info.fingerprint
    changed = VECTORS.copy()
    changed[0, 0] += 1
    other = vectors_file(str(written_by_gensim(tmp_path / "other", vectors=changed)))
    assert first == same
    assert first != other.info.fingerprint
    (tmp_path / "v").write_text("1 1\n2 2\n")
    as_glove = vectors_file(str(tmp_path / "v"), format="glove").info.fingerprint
    assert as_glove != vectors_file(str(tmp_path / "v"), format="word2vec").info.fingerprint


def test_a_gensim_object_is_an_embedder():
    keyed = KeyedVectors(12)
    keyed.add_vectors(WORDS, VECTORS)
    embedder = WordVectors.of_keyed_vectors(keyed)
    assert list(embedder.words) == WORDS
    np.testing.assert_array_equal(embedder.encode(["naïve"]), VECTORS[3:4])
    assert embedder.info.fingerprint == WordVectors.of(WORDS, VECTORS).info.fingerprint
    assert embedder.info.fingerprint != WordVectors.of(WORDS[::-1], VECTORS).info.fingerprint


@pytest.mark.parametrize(
    ("words", "vectors"),
    [(["a", "b"], np.eye(3)), (["a"], np.ones(1)), ([], np.ones((0, 2))), (["a"], [[np.nan]])],
)
def test_arrays_of_the_wrong_shape_or_not_finite_are_refused(words, vectors):
    with pytest.raises(ModelError):
        WordVectors.of(words, vectors)


def test_a_file_is_loaded_by_its_name(tmp_path):
    path = written_by_gensim(tmp_path / "v.txt")
    embedder = Registry().embedder(f"vectors:{path}?format=word2vec")
    assert embedder.info.name == "v?format=word2vec"
    np.testing.assert_allclose(embedder.encode(["the"]), VECTORS[:1], rtol=1e-6)
    with pytest.raises(InvalidOption, match="format"):
        Registry().embedder(f"vectors:{path}?format=fasttext")
    with pytest.raises(InvalidOption, match="did you mean 'format'"):
        Registry().embedder(f"vectors:{path}?fromat=glove")
