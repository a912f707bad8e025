"""Vectors are compared with their checks when they are read: no flipped byte becomes a number."""

import numpy as np
import pytest

from harness.embedder import MockEmbedder
from harness.store.store import CHECK, Store

TEXTS = [f"text {i}" for i in range(100)]


def files(store):
    return sorted(store.folder.glob("*.safetensors"))


def flip(path, position, bits=1):
    content = bytearray(path.read_bytes())
    content[position] ^= bits
    path.write_bytes(content)


def test_a_hole_in_a_file_is_no_row_of_zeros(tmp_path, fill):
    (path,) = files(fill(Store(tmp_path, "model"), TEXTS, d=8))
    size, content = len(TEXTS) * (8 + 8 * 4), path.read_bytes()
    path.write_bytes(content[:-size] + bytes(size))  # keys alone were copied
    store = Store(tmp_path, "model")
    with pytest.raises(KeyError):
        store.get(TEXTS)
    assert store.missing(TEXTS) == TEXTS


def test_a_vector_of_zeros_is_a_vector(tmp_path):
    store, vectors = Store(tmp_path, "model"), np.zeros((len(TEXTS), 8), dtype=np.float32)
    with store.writer() as writer:
        writer.add(TEXTS, vectors)
    np.testing.assert_array_equal(Store(tmp_path, "model").get(TEXTS), vectors)


@pytest.mark.parametrize("d", [8, 9])
def test_every_flipped_byte_of_the_vectors_is_seen(tmp_path, fill, d):
    source = fill(Store(tmp_path, "model"), TEXTS[:12], d=d)
    (path,) = files(source)
    original, start = path.read_bytes(), path.stat().st_size - 12 * d * 4
    expected = MockEmbedder(dimensions=d).encode(TEXTS[:12])
    for position in range(start, len(original)):
        flip(path, position, bits=1 << position % 8)
        store = Store(tmp_path, "model")
        with pytest.raises(KeyError):
            store.get(TEXTS[:12])
        assert store.missing(TEXTS[:12]) == TEXTS[:12]
        (notice,) = store.notices
        assert path.name in notice
        path.write_bytes(original)
    np.testing.assert_array_equal(Store(tmp_path, "model").get(TEXTS[:12]), expected)


def test_damage_that_comes_after_the_first_reading_is_seen(tmp_path, fill):
    store = fill(Store(tmp_path, "model"))
    store.get(TEXTS)
    with files(store)[0].open("r+b") as file:  # in place: the open segment maps this file
        file.seek(-1, 2)
        file.write(b"\x99")
    with pytest.raises(KeyError):
        store.get(TEXTS)


def test_the_checks_can_be_left_out(tmp_path, fill, monkeypatch):
    monkeypatch.setenv(CHECK, "0")
    store = fill(Store(tmp_path, "model"))
    flip(files(store)[0], -1)
    assert len(store.get(TEXTS)) == 100
    assert [checked.ok for checked in store.verify()] == [False]
