"""The two models that come as packages of the package index, and the hashes of large files."""

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from harness import digest, folders
from harness.embedder import WordEmbedder
from harness.errors import ModelError
from harness.plugins.embedders import cards
from harness.plugins.embedders.transformers import minilm
from harness.plugins.embedders.vectors import glove
from harness.registry.registry import Registry


@pytest.fixture
def packaged():
    if folders.of_package(minilm.PACKAGE) is None or folders.of_package(glove.PACKAGE) is None:
        pytest.skip("the packages of the extra 'models' are not installed")
    return Registry()


SENTENCES = ["The nurse is here.", "word", "", "Überall – 王! " * 200, "This is a man. " * 3]


def test_minilm_gives_the_vectors_of_its_library(packaged):
    from sentence_transformers import SentenceTransformer

    embedder = packaged.embedder("all-MiniLM-L6-v2", device="cpu")
    folder = folders.of_package(minilm.PACKAGE) / "model"
    expected = SentenceTransformer(str(folder), device="cpu").encode(SENTENCES)
    np.testing.assert_allclose(embedder.encode(SENTENCES), expected, atol=1e-6)
    assert embedder.info.name == "all-MiniLM-L6-v2"
    assert (embedder.info.dimensions, embedder.info.max_tokens) == (384, 256)
    assert embedder.info.n_parameters == 22_713_216
    assert embedder.info.licence == "Apache-2.0"


def test_glove_has_the_words_and_vectors_of_stanford(packaged):
    embedder = packaged.embedder("glove-6b-50d")
    assert isinstance(embedder, WordEmbedder)
    assert embedder.info.dimensions == 50
    assert len(embedder.words) == len(embedder.vectors) == 400_000
    assert list(embedder.words[:3]) == ["the", ",", "."]
    # The first numbers of "the" in glove.6B.50d.txt.
    np.testing.assert_allclose(
        embedder.encode(["The"])[0, :4], [0.418, 0.24968, -0.41242, 0.1217], rtol=1e-6
    )
    assert np.isnan(embedder.encode(["no such word"])).all()
    assert np.isfinite(embedder.vectors).all()
    assert embedder.info.fingerprint == packaged.embedder("glove-6b-50d").info.fingerprint


@pytest.mark.parametrize(
    ("name", "package", "file"),
    [
        ("glove-6b-50d", glove.PACKAGE, "data/glove_6B_50d_emb.npy"),
        ("all-MiniLM-L6-v2", minilm.PACKAGE, "model/model.safetensors"),
    ],
)
def test_a_package_with_other_files_is_refused(tmp_path, monkeypatch, name, package, file):
    (tmp_path / package / file).parent.mkdir(parents=True)
    (tmp_path / package / "__init__.py").write_text("raise AssertionError('it was imported')")
    monkeypatch.delitem(sys.modules, package, raising=False)  # another test may have imported it
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModelError, match=re.escape(file)):
        Registry().embedder(name)
    (tmp_path / package / file).write_bytes(b"other weights")
    with pytest.raises(ModelError, match=r"SHA-256 is [0-9a-f]{64}") as caught:
        Registry().embedder(name)
    assert "\n" not in str(caught.value)


def test_without_the_packages_the_models_say_how_to_install_them(tmp_path):
    """In a process that cannot import them, with an unreachable hub."""
    code = (
        "import sys\n"
        f"sys.modules[{glove.PACKAGE!r}] = sys.modules[{minilm.PACKAGE!r}] = None\n"
        "from harness.errors import Unavailable\n"
        "from harness.registry.registry import Registry\n"
        "for name in ('glove-6b-50d', 'all-MiniLM-L6-v2'):\n"
        "    try:\n"
        "        Registry().embedder(name)\n"
        "    except Unavailable as error:\n"
        "        print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path), "PATH": ""},
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 2, done.stderr
    assert all(cards.INSTALL in line for line in lines)


def test_the_hash_of_a_large_file_changes_with_the_file(tmp_path):
    path = tmp_path / "weights"
    path.write_bytes(bytes(digest.SMALL))
    before = digest.remembered_sha256(path)
    assert before == hashlib.sha256(path.read_bytes()).hexdigest() == digest.remembered_sha256(path)
    path.write_bytes(bytes(digest.SMALL) + b"more")
    assert digest.remembered_sha256(path) == hashlib.sha256(path.read_bytes()).hexdigest() != before


def test_a_file_with_the_size_and_time_of_another_is_hashed_again(tmp_path, monkeypatch):
    monkeypatch.setattr(digest, "TICK", 0.0)
    path = tmp_path / "weights"
    for replaced in (False, True):
        hashes = []
        for content in (b"a", b"b"):
            if replaced:  # as rsync does: a new file takes the place of the old one
                path.unlink(missing_ok=True)
            path.write_bytes(content * digest.SMALL)
            os.utime(path, (315532800, 315532800))
            hashes.append(digest.remembered_sha256(path))
            assert hashes[-1] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert hashes[0] != hashes[1]


def test_a_remembered_hash_is_used_and_a_damaged_one_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr(digest, "TICK", 0.0)
    path = tmp_path / "weights"
    path.write_bytes(bytes(digest.SMALL))
    right = digest.remembered_sha256(path)
    (note,) = (tmp_path / "cache" / "sha256").iterdir()
    note.write_text("f" * 64)
    assert digest.remembered_sha256(path) == "f" * 64
    note.write_text("f" * 10)
    assert digest.remembered_sha256(path) == right


def test_hashes_are_computed_without_a_writable_cache(tmp_path, monkeypatch):
    path = tmp_path / "weights"
    path.write_bytes(bytes(digest.SMALL))
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "file"))
    assert digest.remembered_sha256(path) == hashlib.sha256(Path(path).read_bytes()).hexdigest()
