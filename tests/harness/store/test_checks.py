"""Vectors are compared with their checks when they are read: no flipped byte becomes a number."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.embedder import MockEmbedder
from harness.store import folder, pruning, segment
from harness.store.segment import row_checks
from harness.store.store import CHECK, Store, keys_of

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


def test_a_damaged_segment_is_dropped_alone_and_encoded_again(tmp_path, fill):
    store = fill(Store(tmp_path, "model"), rows=10)
    damaged, *_ = files(store)
    flip(damaged, -1)
    with pytest.raises(KeyError, match="10 of 100"):
        store.get(TEXTS)
    missing = store.missing(TEXTS)
    assert len(missing) == 10
    fill(store, missing)
    np.testing.assert_array_equal(store.get(TEXTS), MockEmbedder(dimensions=8).encode(TEXTS))
    assert len(store.notices) == 1


def test_a_text_that_another_segment_has_is_read_from_there(tmp_path, fill):
    fill(Store(tmp_path, "model"))
    store = fill(Store(tmp_path, "model"))
    flip(files(store)[0], -1)
    np.testing.assert_array_equal(store.get(TEXTS), MockEmbedder(dimensions=8).encode(TEXTS))
    assert len(store.notices) == 1


def test_damage_that_comes_after_the_first_reading_is_seen(tmp_path, fill):
    store = fill(Store(tmp_path, "model"))
    store.get(TEXTS)
    with files(store)[0].open("r+b") as file:  # in place: the open segment maps this file
        file.seek(-1, 2)
        file.write(b"\x99")
    with pytest.raises(KeyError):
        store.get(TEXTS)


def test_reading_few_rows_compares_these_alone(tmp_path, fill):
    store = fill(Store(tmp_path, "model"))
    flip(files(store)[0], -1)  # of the row with the largest key
    last = max(TEXTS, key=lambda text: tuple(keys_of([text])[0]))
    others = [text for text in TEXTS if text != last]
    assert len(store.get(others)) == 99
    assert store.notices == []


def test_the_checks_can_be_left_out(tmp_path, fill, monkeypatch):
    monkeypatch.setenv(CHECK, "0")
    store = fill(Store(tmp_path, "model"))
    flip(files(store)[0], -1)
    assert len(store.get(TEXTS)) == 100
    assert [checked.ok for checked in store.verify()] == [False]


@given(
    d=st.integers(1, 9),
    row=st.integers(0, 3),
    offset=st.integers(0, 35),
    change=st.integers(1, 255),
)
def test_every_changed_byte_changes_the_check_of_its_row_alone(d, row, offset, change):
    vectors = np.random.default_rng(0).standard_normal((4, d), dtype=np.float32)
    before = row_checks(vectors)
    damaged = vectors.copy()
    damaged.view(np.uint8)[row, offset % (4 * d)] ^= change
    assert np.flatnonzero(row_checks(damaged) != before).tolist() == [row]


def test_zeroed_and_swapped_blocks_change_the_check():
    vectors = np.random.default_rng(0).standard_normal((1, 384), dtype=np.float32)
    zeroed, swapped = vectors.copy(), vectors.copy()
    zeroed[0, 128:256] = 0
    swapped[0, :2], swapped[0, 2:4] = vectors[0, 2:4], vectors[0, :2]
    assert row_checks(zeroed) != row_checks(vectors)
    assert row_checks(swapped) != row_checks(vectors)


def test_a_store_whose_model_file_is_damaged_is_read_as_before(tmp_path, fill):
    store = fill(Store(tmp_path, "model"))
    (store.folder / "model.json").write_bytes(b"\xff" * 100)
    fresh = Store(tmp_path, "model")
    assert fresh.missing(TEXTS) == []
    assert folder.read_model_file(fresh.files) == {}
    assert [info.fingerprint for info in pruning.stores(tmp_path)] == ["model"]
    assert segment.read(files(store)[0], "model").keys.shape == (100, 2)
