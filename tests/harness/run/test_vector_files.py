"""Files of word vectors, read back by gensim, by safetensors and by the harness itself."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from disk import failing
from gensim.models import KeyedVectors
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from harness.errors import (
    DiskError,
    HarnessError,
    InvalidFile,
    InvalidOption,
    Unavailable,
    UsageError,
)
from harness.plugins.embedders.vectors import table_builder
from harness.plugins.embedders.vectors import vectors_file as binary_file
from harness.plugins.embedders.vectors import vectors_file as text_file
from harness.plugins.embedders.vectors.vectors_file import vectors_file
from harness.run import debiasing

WORDS = ["the", "King", "new_york", "naïve", "王", '"', "#", "NA", "nan", "3.5"]
VECTORS = np.random.default_rng(0).standard_normal((len(WORDS), 12)).astype(np.float32)
READ = {"word2vec": ".txt", "word2vec-binary": ".bin", "safetensors": ".safetensors"}
FORMATS = {**READ, "gensim": ".kv"}


def write(path, words=WORDS, vectors=VECTORS, *, block=3, **options):
    def blocks():
        for start in range(0, len(words), block):
            yield words[start : start + block], vectors[start : start + block]

    format_ = options.pop("format", None) or debiasing.format_of(path)
    return debiasing.write_vectors(path, format_, words, vectors.shape[1], blocks(), **options)


def by_gensim(path, format_):
    if format_ == "gensim":
        return KeyedVectors.load(str(path), mmap="r")
    return KeyedVectors.load_word2vec_format(str(path), binary=format_ == "word2vec-binary")


@pytest.mark.parametrize("format_", ["word2vec", "word2vec-binary", "gensim"])
def test_gensim_reads_the_same_bits(tmp_path, format_):
    path = tmp_path / f"vectors{FORMATS[format_]}"
    write(path)
    keyed = by_gensim(path, format_)
    assert keyed.index_to_key == WORDS
    np.testing.assert_array_equal(keyed.vectors, VECTORS)
    np.testing.assert_array_equal(keyed["naïve"], VECTORS[3])
    cosines = VECTORS @ VECTORS[3] / np.linalg.norm(VECTORS, axis=1)
    nearest = [WORDS[i] for i in np.argsort(-cosines) if i != 3]
    assert [word for word, _ in keyed.most_similar("naïve", topn=9)] == nearest


def test_without_gensim_its_format_is_one_line_and_no_file(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim.models", None)  # as where it is not installed
    with pytest.raises(Unavailable, match="pip install gensim, or write word2vec-binary"):
        write(tmp_path / "a.kv")
    assert list(tmp_path.iterdir()) == []


def test_gensim_can_load_and_save_its_format_again(tmp_path):
    write(tmp_path / "a.kv")
    KeyedVectors.load(str(tmp_path / "a.kv")).save(str(tmp_path / "b.kv"))
    np.testing.assert_array_equal(KeyedVectors.load(str(tmp_path / "b.kv")).vectors, VECTORS)


def test_safetensors_reads_the_same_words_and_vectors(tmp_path):
    write(tmp_path / "v.safetensors")
    tensors = safetensors.numpy.load_file(tmp_path / "v.safetensors")
    np.testing.assert_array_equal(tensors["vectors"], VECTORS)
    text, ends = tensors["words"].tobytes(), tensors["word_ends"]
    starts = [0, *ends[:-1]]
    assert [text[a:b].decode() for a, b in zip(starts, ends, strict=True)] == WORDS
    with safetensors.safe_open(tmp_path / "v.safetensors", "np") as file:
        assert file.metadata() == {"format": "word-vectors"}


@pytest.mark.parametrize("format_", READ)
def test_the_harness_reads_the_same_bits(tmp_path, format_):
    path = tmp_path / f"vectors{READ[format_]}"
    assert write(path) == path.stat().st_size
    for asked in ("auto", format_):
        made = vectors_file(str(path), format=asked)
        assert list(made.words) == WORDS
        np.testing.assert_array_equal(made.vectors, VECTORS)
        np.testing.assert_array_equal(made.vocabulary.rows(2, 5), VECTORS[2:5])
        assert made.info.dimensions == 12


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40
)
@given(data=st.data(), format_=st.sampled_from(sorted(READ)), d=st.integers(1, 20))
def test_any_words_with_finite_vectors_are_read_back(tmp_path, data, format_, d):
    text = st.text(
        st.characters(exclude_characters=" \n\r", exclude_categories=["Cs", "Cc"]), min_size=1
    )
    words = data.draw(st.lists(text, min_size=1, max_size=8, unique=True))
    finite = st.floats(allow_nan=False, allow_infinity=False, width=32)
    vectors = data.draw(arrays.arrays(np.float32, (len(words), d), elements=finite))
    path = tmp_path / "vectors"
    write(path, words, vectors, format=format_)
    made = vectors_file(str(path), format=format_)
    assert list(made.words) == words
    np.testing.assert_array_equal(made.vectors, vectors)


@pytest.mark.parametrize("word", ["new york", "two\nlines", "cr\r", ""])
def test_the_error_names_a_word_that_word2vecs_formats_cannot_hold(tmp_path, word):
    for suffix in (".txt", ".vec", ".bin"):
        with pytest.raises(UsageError, match=r"safetensors") as caught:
            write(tmp_path / f"v{suffix}", ["a", word], VECTORS[:2])
        assert repr(word) in str(caught.value)
        assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
    write(tmp_path / "v.safetensors", ["a", word], VECTORS[:2])
    assert list(vectors_file(str(tmp_path / "v.safetensors")).words) == ["a", word]
    write(tmp_path / "v.kv", ["a", word], VECTORS[:2])
    assert KeyedVectors.load(str(tmp_path / "v.kv")).index_to_key == ["a", word]


def test_the_format_is_that_of_the_suffix_unless_it_is_given():
    formats = {
        "v.txt": "word2vec",
        "v.VEC": "word2vec",
        "v.bin": "word2vec-binary",
        "v.kv": "gensim",
        "v.safetensors": "safetensors",
    }
    assert {name: debiasing.format_of(Path(name)) for name in formats} == formats
    assert debiasing.format_of(Path("v"), "gensim") == "gensim"
    with pytest.raises(InvalidOption, match=r"v\.pkl.*\.bin"):
        debiasing.format_of(Path("v.pkl"))
    with pytest.raises(InvalidOption, match="'word2vec-binary'"):
        debiasing.format_of(Path("v.bin"), "word2vec-binry")


@pytest.mark.parametrize("format_", FORMATS)
def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, format_):
    path = tmp_path / f"v{FORMATS[format_]}"
    with failing(10**6) as disk:
        write(path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    first = disk.steps.index("write")
    with failing(first), pytest.raises(DiskError, match=r"cannot write .*No space left"):
        write(path, WORDS[::-1])
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize("format_", FORMATS)
def test_the_error_names_the_word_of_a_vector_that_is_not_finite(tmp_path, format_):
    vectors = VECTORS.copy()
    vectors[4, 2] = np.nan
    with pytest.raises(HarnessError, match="'王'"):
        write(tmp_path / f"v{FORMATS[format_]}", vectors=vectors)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def small_stretches(monkeypatch, tmp_path):
    """Read a few bytes at a time, and keep vectors of more than 200 bytes on disk."""
    monkeypatch.setattr(text_file, "BLOCK", 50)
    monkeypatch.setattr(binary_file, "BLOCK", 50)
    monkeypatch.setattr(table_builder, "LARGE", 200)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("suffix", [".txt", ".bin"])
def test_a_large_file_is_read_in_stretches_and_its_vectors_stay_on_disk(
    tmp_path, small_stretches, suffix
):
    path = tmp_path / f"v{suffix}"
    write(path)
    made = vectors_file(str(path))
    assert isinstance(made.vectors, np.memmap)
    assert list(made.words) == WORDS
    np.testing.assert_array_equal(made.vectors, VECTORS)
    np.testing.assert_array_equal(made.encode(["THE"]), VECTORS[:1])
    words, rows = zip(*made.vocabulary.blocks(4), strict=True)
    assert [word for block in words for word in block] == WORDS
    np.testing.assert_array_equal(np.concatenate(rows), VECTORS)
    assert not any((tmp_path / "cache").iterdir()), "the temporary file has no name"


@pytest.mark.parametrize("suffix", [".txt", ".bin"])
def test_the_first_of_equal_words_in_different_stretches_counts(tmp_path, small_stretches, suffix):
    words = [f"w{i % 7}" for i in range(20)]
    vectors = np.arange(60, dtype=np.float32).reshape(20, 3)
    write(tmp_path / f"v{suffix}", words, vectors)
    made = vectors_file(str(tmp_path / f"v{suffix}"))
    assert list(made.words) == words[:7]
    np.testing.assert_array_equal(made.vectors, vectors[:7])


def test_a_truncated_safetensors_file_is_refused(tmp_path):
    write(tmp_path / "v.safetensors")
    path = tmp_path / "v.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InvalidFile, match="truncated"):
        vectors_file(str(path))
