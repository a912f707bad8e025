"""Any object with `encode` can be used as an embedder."""

from __future__ import annotations

import numpy as np
import pytest

from harness.embedder import MockEmbedder
from harness.encode import adapters
from harness.errors import UsageError


class Plain:
    def encode(self, texts):
        assert isinstance(texts, list)
        return [[1, len(text)] for text in texts]


def test_an_embedder_is_returned_unchanged():
    mock = MockEmbedder()
    assert adapters.as_embedder(mock) is mock


def test_an_adapted_object_returns_floats_and_has_a_new_fingerprint():
    plain = Plain()
    first, second = adapters.as_embedder(plain), adapters.as_embedder(plain)
    vectors = first.encode(("a", "bb"))
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[1, 1], [1, 2]]
    assert first.info.name == "Plain"
    assert first.info.kind == "text"
    assert first.info.fingerprint != second.info.fingerprint


def test_an_adapted_object_keeps_its_name():
    plain = Plain()
    plain.name = "mine"
    assert adapters.as_embedder(plain).info.name == "mine"


def test_an_info_that_is_no_model_info_is_ignored():
    plain = Plain()
    plain.info = {"name": "x"}
    assert adapters.as_embedder(plain).info.name == "Plain"


@pytest.mark.parametrize("value", [3, None, object(), {"encode": 1}])
def test_an_object_without_encode_is_refused(value):
    with pytest.raises(UsageError, match=r"encode\(texts\)") as caught:
        adapters.as_embedder(value)
    assert type(value).__name__ in str(caught.value)


def test_the_store_of_an_unnamed_object_is_in_a_temporary_folder(tmp_path):
    with adapters.store_folder(adapters.as_embedder(Plain()).info, tmp_path) as folder:
        assert folder != tmp_path
        assert folder.is_dir()
    assert not folder.exists()
    with adapters.store_folder(MockEmbedder().info, tmp_path) as folder:
        assert folder == tmp_path
