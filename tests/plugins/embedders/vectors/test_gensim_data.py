"""The gensim-data collection, read without the code that comes with it."""

import gzip
import hashlib
import json
import sys

import numpy as np
import pytest
from gensim import downloader

from harness.errors import InvalidOption, Unavailable
from harness.registry.registry import Registry

CONTENT = gzip.compress(b"2 2\nking 1 2\nqueen 3 4\n")


@pytest.fixture
def collection(tmp_path, monkeypatch):
    """A copy of the collection's site on disk, with one model whose code would write a file."""
    site, home = tmp_path / "site", tmp_path / "home"
    (site / "tiny").mkdir(parents=True)
    (site / "tiny" / "tiny.gz").write_bytes(CONTENT)
    (site / "tiny" / "__init__.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    facts = {"parts": 1, "file_name": "tiny.gz", "checksum": hashlib.md5(CONTENT).hexdigest()}
    (site / "list.json").write_text(json.dumps({"corpora": {}, "models": {"tiny": facts}}))
    monkeypatch.setenv("GENSIM_DATA_DIR", str(home))
    monkeypatch.setattr(downloader, "BASE_DIR", str(home))
    url = (site / "list.json").as_uri()
    monkeypatch.setattr(downloader._load_info, "__defaults__", (url, "utf-8"))
    monkeypatch.setattr(downloader, "DOWNLOAD_BASE_URL", site.as_uri())
    return site


def test_vectors_are_downloaded_once_and_their_code_is_not_run(collection, tmp_path, capsys):
    embedder = Registry().embedder("gensim:tiny")
    np.testing.assert_array_equal(embedder.encode(["queen"]), [[3, 4]])
    assert embedder.info.name == "gensim:tiny"
    assert not (tmp_path / "ran").exists()
    assert capsys.readouterr().out == ""
    (collection / "list.json").unlink()
    (collection / "tiny" / "tiny.gz").unlink()
    again = Registry().embedder("gensim:tiny")
    assert again.info.fingerprint == embedder.info.fingerprint


def test_without_the_collection_it_is_unavailable_in_one_line(collection):
    (collection / "list.json").unlink()
    with pytest.raises(Unavailable, match="gensim:tiny") as caught:
        Registry().embedder("gensim:tiny")
    assert "\n" not in str(caught.value)


def test_without_gensim_a_line_says_what_to_install(collection, monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim", None)  # as where it is not installed
    with pytest.raises(Unavailable, match="pip install gensim"):
        Registry().embedder("gensim:tiny")


def test_a_download_with_a_wrong_hash_is_unavailable(collection):
    (collection / "tiny" / "tiny.gz").write_bytes(CONTENT[:-1])
    with pytest.raises(Unavailable, match="Checksum"):
        Registry().embedder("gensim:tiny")


def test_a_path_is_refused(collection):
    with pytest.raises(InvalidOption, match=r"\.\./tiny"):
        Registry().embedder("gensim:../tiny")
