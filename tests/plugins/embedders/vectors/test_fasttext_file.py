"""fastText's vectors, from its binary files and from gensim's objects: as gensim computes them."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest
from gensim.models import FastText
from gensim.models.fasttext import load_facebook_vectors, save_facebook_model

import harness
from harness.embedder import vocabulary_of
from harness.errors import InvalidFile, InvalidOption
from harness.plugins.embedders.vectors import fasttext_file, objects
from harness.plugins.embedders.vectors.vectors_file import vectors_file
from harness.registry.registry import Registry

WORDS = ["he", "she", "doctor", "nurse", "naïve", "王さま"]
UNKNOWN = ["doctors", "naïveté", "王", "Ωmega", "x"]
TASK = {
    "name": "mine",
    "version": 1,
    "title": "A test",
    "category": "gender",
    "kinds": ["word"],
    "inputs": {
        "targets_1": {"words": ["doctor", "doctors"]},
        "targets_2": {"words": ["nurse", "nurses"]},
        "attributes_1": {"words": ["he", "hers"]},
        "attributes_2": {"words": ["she", "sheep"]},
    },
    "metrics": {"weat": {}},
    "primary": {"metric": "weat", "score": "association"},
}


def model(**options):
    options = {"vector_size": 8, "bucket": 100, "seed": 1, **options}
    return FastText(sentences=[WORDS] * 3, min_count=1, workers=1, **options)


@pytest.fixture
def path(tmp_path):
    save_facebook_model(model(), str(tmp_path / "m.bin"))
    return tmp_path / "m.bin"


def assert_equal(embedder, keyed, words):
    expected = np.array([keyed.get_vector(word) for word in words])
    expected[~expected.any(axis=1)] = np.nan  # no part of the word is known
    np.testing.assert_allclose(embedder.encode(words), expected, atol=1e-7)


@pytest.mark.parametrize(
    "options",
    [{}, {"min_n": 2, "max_n": 3}, {"min_n": 1, "max_n": 4, "bucket": 7}, {"sg": 1}],
)
def test_vectors_of_all_words_are_those_of_gensim(tmp_path, options):
    save_facebook_model(model(**options), str(tmp_path / "m.bin"))
    keyed = load_facebook_vectors(str(tmp_path / "m.bin"))
    embedder = vectors_file(str(tmp_path / "m.bin"))
    assert list(embedder.words) == keyed.index_to_key
    assert embedder.info.dimensions == 8
    assert_equal(embedder, keyed, [*WORDS, *UNKNOWN])
    np.testing.assert_allclose(embedder.vectors, keyed.vectors, atol=1e-7)
    rows = vocabulary_of(embedder).rows(2, 5)
    np.testing.assert_allclose(rows, keyed.vectors[2:5], atol=1e-7)


def test_the_end_of_a_sentence_has_no_ngrams(tmp_path):
    trained = FastText([["</s>", "he"]] * 3, min_count=1, vector_size=8, bucket=100, workers=1)
    save_facebook_model(trained, str(tmp_path / "m.bin"))
    own = trained.wv.vectors_vocab[trained.wv.key_to_index["</s>"]]  # dictionary.cc, initNgrams
    vector = vectors_file(str(tmp_path / "m.bin")).encode(["</s>"])[0]
    np.testing.assert_array_equal(vector, own)


def test_the_hash_is_that_of_gensim():
    inner = pytest.importorskip("gensim.models.fasttext_inner")
    for word in (*WORDS, *UNKNOWN, "😀"):
        ngrams = inner.compute_ngrams_bytes(word, 2, 5)
        expected = sorted(inner.ft_hash_bytes(ngram) for ngram in ngrams)
        assert sorted(fasttext_file.hashes(word, 2, 5)) == expected


@pytest.mark.parametrize("kind", ["model", "wv", "file"])
def test_composed_words_count_as_found_and_are_told(tmp_path, kind):
    trained = model()
    save_facebook_model(trained, str(tmp_path / "m.bin"))
    given = {"model": trained, "wv": trained.wv, "file": str(tmp_path / "m.bin")}[kind]
    records = harness.evaluate(given, [TASK], cache=tmp_path / "cache")
    assert records[0].coverage.found == records[0].coverage.asked == 8
    sides = [np.array([trained.wv[w] for w in part["words"]]) for part in TASK["inputs"].values()]
    x, y, a, b = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in sides)
    association = [(words @ a.T).mean() - (words @ b.T).mean() for words in (x, y)]
    value = next(record.value for record in records if record.score == "association")
    assert value == pytest.approx(association[0] - association[1], abs=1e-6)
    (line,) = [line for line in records.notices if "n-grams" in line]
    assert "4 words are composed" in line
    assert "'doctors'" in line


def test_the_ngrams_of_an_object_are_in_its_fingerprint():
    first, second = model(), model()
    adapted = objects.of_word2vec(first).info.fingerprint
    assert objects.of_word2vec(second).info.fingerprint == adapted
    second.wv.vectors_ngrams[0, 0] += 1
    assert objects.of_word2vec(second).info.fingerprint != adapted
    first.wv.max_n += 1
    assert objects.of_word2vec(first).info.fingerprint != adapted


def test_a_file_that_is_cut_anywhere_is_refused(path, tmp_path):
    whole = path.read_bytes()
    for size in (*range(4, 300, 7), len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.bin").write_bytes(whole[:size])
        with pytest.raises(InvalidFile, match="cut off"):
            vectors_file(str(tmp_path / "cut.bin")).encode(["he"])


def test_a_quantised_model_is_refused(path, tmp_path):
    changed = bytearray(path.read_bytes())
    sizes = struct.Struct("<?2q").pack(False, 100 + len(WORDS), 8)
    changed[changed.index(sizes)] = 1
    (tmp_path / "m.ftz").write_bytes(changed)
    with pytest.raises(InvalidFile, match=r"compressed fastText model \(\.ftz\)"):
        vectors_file(str(tmp_path / "m.ftz")).encode(["he"])


def test_a_header_with_impossible_sizes_is_refused(path, tmp_path):
    whole = path.read_bytes()
    for at in (8, 40, 64, 68):  # dim, bucket, number of entries and of words
        changed = whole[:at] + struct.pack("<i", 2**31 - 1) + whole[at + 4 :]
        (tmp_path / "m2.bin").write_bytes(changed)
        with pytest.raises(InvalidFile):
            vectors_file(str(tmp_path / "m2.bin")).encode(["he"])


def test_other_formats_and_compressed_models_are_refused(path, tmp_path):
    (tmp_path / "m.bin.gz").write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(InvalidFile, match="unpack"):
        vectors_file(str(tmp_path / "m.bin.gz"))
    with pytest.raises(InvalidFile, match="fastText model, not"):
        vectors_file(str(path), format="word2vec-binary")
    with pytest.raises(InvalidOption, match="language"):
        vectors_file(str(path), language="en")
    (tmp_path / "v.txt").write_text("a 1 2\n")
    with pytest.raises(InvalidFile, match="not a fastText model"):
        vectors_file(str(tmp_path / "v.txt"), format="fasttext-binary")


def test_a_whole_vocabulary_is_written(path, tmp_path):
    harness.debias(str(path), "none", tmp_path / "d.bin")
    written = Registry().embedder(str(tmp_path / "d.bin"))
    np.testing.assert_array_equal(written.vectors, vectors_file(str(path)).vectors)
