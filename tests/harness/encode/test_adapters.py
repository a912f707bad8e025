"""Any object with `encode` is an embedder."""

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


def test_an_embedder_stays_itself():
    mock = MockEmbedder()
    assert adapters.as_embedder(mock) is mock


def test_a_plain_object_gets_floats_and_a_fingerprint_of_its_own():
    plain = Plain()
    one, two = adapters.as_embedder(plain), adapters.as_embedder(plain)
    vectors = one.encode(("a", "bb"))
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[1, 1], [1, 2]]
    assert one.info.name == "Plain"
    assert one.info.kind == "text"
    assert one.info.fingerprint != two.info.fingerprint


def test_an_object_may_say_its_name():
    plain = Plain()
    plain.name = "mine"
    assert adapters.as_embedder(plain).info.name == "mine"


def test_an_info_of_another_type_does_not_count():
    plain = Plain()
    plain.info = {"name": "x"}
    assert adapters.as_embedder(plain).info.name == "Plain"


@pytest.mark.parametrize("thing", [3, None, object(), {"encode": 1}])
def test_what_cannot_encode_is_told(thing):
    with pytest.raises(
        UsageError, match=rf"object with encode\(texts\), not {type(thing).__name__}"
    ):
        adapters.as_embedder(thing)


def test_an_unnamed_object_has_a_folder_that_goes_away(tmp_path):
    with adapters.store_folder(adapters.as_embedder(Plain()).info, tmp_path) as folder:
        assert folder != tmp_path
        assert folder.is_dir()
    assert not folder.exists()
    with adapters.store_folder(MockEmbedder().info, tmp_path) as folder:
        assert folder == tmp_path
