"""Digests of JSON, texts and files."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from harness.digest import SIZE, digest, file_sha256, text_keys

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON))
def test_the_order_of_keys_does_not_matter(content):
    turned = dict(reversed(list(content.items())))
    assert digest(content) == digest(turned)


def test_the_order_of_items_and_their_types_matter():
    assert len({digest(x) for x in ([1, 2], [2, 1], ["1", "2"], [[1], 2], {"1": 2}, "[1,2]")}) == 6


def test_a_digest_is_the_same_in_every_process():
    canonical = '{"a":"é","b":[1,null]}'.encode()
    expected = hashlib.blake2b(canonical, digest_size=16).hexdigest()
    assert digest({"b": [1, None], "a": "é"}) == expected


@given(st.lists(st.text(), unique=True))
def test_different_texts_have_different_keys(texts):
    keys = text_keys(texts)
    parts = {keys[i : i + SIZE] for i in range(0, len(keys), SIZE)}
    assert len(keys) == SIZE * len(texts)
    assert len(parts) == len(texts)


def test_a_text_with_a_lone_surrogate_has_a_key():
    assert len(text_keys(["\ud800"])) == SIZE


def test_the_sha256_of_a_file_is_that_of_its_bytes(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    assert file_sha256(tmp_path / "a") == hashlib.sha256(b"abc").hexdigest()
