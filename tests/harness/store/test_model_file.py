"""The file that describes a store's model: facts are kept, damage is survived, widths are held."""

import numpy as np
import pytest

from harness.embedder import MockEmbedder
from harness.errors import ModelError
from harness.store.folder import (
    MODEL_FILE,
    Folder,
    read_model_file,
    stored_dimensions,
    update_model_file,
)
from harness.store.store import Store


@pytest.fixture
def files(tmp_path):
    return Folder(tmp_path / "store")


def stored(folder, texts, d):
    """Write vectors; there is no model file, which may state their width."""
    store = Store(folder, "model")
    with store.writer() as writer:
        writer.add(texts, MockEmbedder(dimensions=d).encode(texts))


def test_an_update_keeps_the_facts_under_other_keys(files):
    update_model_file(files, {"name": "a", "canaries": [1, 2]})
    update_model_file(files, {"name": "b", "half": "\ud800"})
    assert read_model_file(files) == {"name": "b", "canaries": [1, 2], "half": "\ud800"}


DAMAGED = [b"", b"{", b"[1]", b"\xff\xfe", b"[" * 100_000, b'{"dimensions": 1' + b"0" * 5000 + b"}"]


def test_a_damaged_file_holds_no_facts_and_the_next_update_writes_it_again(files):
    for content in DAMAGED:
        files.write_model(content)
        assert read_model_file(files) == {}, content[:20]
        assert stored_dimensions(files) is None
        update_model_file(files, {"dimensions": 8})
        assert stored_dimensions(files) == 8


def test_a_segment_of_another_width_is_not_used(tmp_path):
    stored(tmp_path, ["a"], 8)
    store = Store(tmp_path, "model")
    stored(tmp_path / "other", ["b"], 9)
    (other,) = (tmp_path / "other").rglob("*.safetensors")
    other.rename(store.folder / other.name)
    assert store.missing(["a", "b"]) == ["b"]
    assert "8 dimensions" in store.notices[0]


def test_segments_are_left_alone_and_not_used_if_none_has_the_stated_width(tmp_path):
    stored(tmp_path, ["a"], 8)
    update_model_file(Store(tmp_path, "model").files, {"dimensions": 9})
    store = Store(tmp_path, "model")
    assert store.missing(["a"]) == ["a"]
    (notice,) = store.notices
    assert "9" in notice.rpartition(store.folder.name)[2]
    (store.folder / MODEL_FILE).unlink()
    assert Store(tmp_path, "model").missing(["a"]) == []


def test_a_writer_refuses_vectors_of_another_width_than_the_store(tmp_path):
    stored(tmp_path, ["a"], 8)
    store = Store(tmp_path, "model")
    with store.writer() as writer, pytest.raises(ModelError, match=r"9.*8"):
        writer.add(["b"], np.zeros((1, 9), dtype=np.float32))
    assert Store(tmp_path, "model").missing(["a", "b"]) == ["b"]


def test_a_model_with_another_width_than_its_store_is_refused(tmp_path):
    stored(tmp_path, ["a"], 8)
    store = Store(tmp_path, "model")
    store.describe({"name": "small", "dimensions": 8})
    store.describe({"name": "small", "dimensions": None})
    with pytest.raises(ModelError, match=r"small.*9.*8"):
        store.describe({"name": "small", "dimensions": 9})
    assert stored_dimensions(store.files) == 8
