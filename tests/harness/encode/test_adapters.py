"""Any object with `encode`, and any function from texts to vectors, can be used as an embedder."""

from __future__ import annotations

import numpy as np

from harness.embedder import MockEmbedder
from harness.encode.adapters import ObjectEmbedder
from harness.encode.stored_embedder import store_folder


class Plain:
    def encode(self, texts):
        assert isinstance(texts, list)
        return [[1, len(text)] for text in texts]


def test_an_adapted_object_returns_floats_and_has_a_new_fingerprint():
    plain = Plain()
    first, second = ObjectEmbedder(plain), ObjectEmbedder(plain)
    vectors = first.encode(("a", "bb"))
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[1, 1], [1, 2]]
    assert first.info.name == "Plain"
    assert first.info.kind == "text"
    assert first.info.fingerprint != second.info.fingerprint


def test_an_object_with_a_fingerprint_keeps_it_under_its_name():
    plain, other, renamed = Plain(), Plain(), Plain()
    plain.fingerprint, other.fingerprint, renamed.fingerprint = "1", "2", "1"
    renamed.name = "renamed"
    embedders = [ObjectEmbedder(model) for model in (plain, other, renamed)]
    assert len({embedder.info.fingerprint for embedder in embedders}) == 3
    assert ObjectEmbedder(plain).info.fingerprint == embedders[0].info.fingerprint
    assert embedders[0].notes == ()


def test_the_store_of_an_unnamed_object_is_in_a_temporary_folder(tmp_path):
    with store_folder(ObjectEmbedder(Plain()).info, tmp_path) as folder:
        assert folder != tmp_path
        assert folder.is_dir()
    assert not folder.exists()
    with store_folder(MockEmbedder().info, tmp_path) as folder:
        assert folder == tmp_path
