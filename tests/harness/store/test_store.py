"""The store: look-up of vectors, writing, kills, several writers, pruning and merging."""

import multiprocessing
import os
import signal
import time

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.embedder import MockEmbedder, packed, unpacked
from harness.store import pruning, segment
from harness.store.store import Store, keys_of

TEXTS = [f"text {i}" for i in range(100)]


def vectors_of(texts, d=8):
    return MockEmbedder(dimensions=d).encode(texts)


def files(store):
    return sorted(store.folder.glob("*.safetensors"))


@settings(deadline=None)
@given(
    batches=st.lists(st.lists(st.text(max_size=3), max_size=8), max_size=5),
    queries=st.lists(st.text(max_size=3), max_size=10),
    rows=st.integers(1, 5),
)
def test_a_store_returns_what_a_dictionary_would(tmp_path_factory, batches, queries, rows):
    store = Store(tmp_path_factory.mktemp("store"), "model")
    expected = {}
    with store.writer(rows=rows) as writer:
        for batch in batches:
            vectors = vectors_of(batch, 4)
            writer.add(batch, vectors)
            expected |= dict(zip(batch, vectors, strict=True))
    known = [text for text in queries if text in expected]
    for reader in (store, Store(store.folder.parent, "model")):
        assert reader.missing(queries) == [t for t in dict.fromkeys(queries) if t not in expected]
        assert reader.missing(expected) == []
        np.testing.assert_array_equal(
            reader.get(known), [expected[t] for t in known] or np.empty((0, 4 if expected else 0))
        )


def test_of_several_segments_with_the_same_text_the_first_is_used(tmp_path):
    store = Store(tmp_path, "model")
    for value in (1, 2, 3):
        with store.writer() as writer:
            writer.add(["a", f"b{value}"], np.full((2, 2), value, dtype=np.float32))
    assert store.get(["a", "b3", "a"]).tolist() == [[1, 1], [3, 3], [1, 1]]


def test_different_fingerprints_never_share_a_vector(tmp_path, fill):
    fill(Store(tmp_path, "a/b"))
    for other in ("a_b", "A/b", "a/b ", "a/b?prompt=query"):
        assert Store(tmp_path, other).missing(TEXTS) == TEXTS
    assert Store(tmp_path, "a/b").missing(TEXTS) == []


def test_a_segment_copied_from_another_model_is_dropped(tmp_path, fill):
    mine, other = Store(tmp_path, "mine"), fill(Store(tmp_path, "other"))
    mine.folder.mkdir()
    (mine.folder / files(other)[0].name).write_bytes(files(other)[0].read_bytes())
    assert mine.missing(TEXTS) == TEXTS
    (notice,) = mine.notices
    assert files(other)[0].name in notice
    assert "embedder" in notice


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_writer_flushes_when_an_exception_leaves_its_context(tmp_path, error):
    store = Store(tmp_path, "model")

    def write():
        with store.writer() as writer:
            writer.add(["a"], vectors_of(["a"]))
            raise error

    with pytest.raises(error):
        write()
    assert store.missing(["a", "b"]) == ["b"]


def test_short_packed_rows_behind_long_ones_are_not_filled_up_with_zeros(tmp_path):
    store = Store(tmp_path, "packed", packed=True)
    lengths = [10_000] * 30 + [100] * 300
    texts = [f"text {i}" for i in range(len(lengths))]
    rows = [np.full(length, i + 1, np.float32) for i, length in enumerate(lengths)]
    with store.writer() as writer:
        for start in range(0, len(texts), 30):
            writer.add(texts[start : start + 30], packed(rows[start : start + 30]))
    store.refresh()
    needed = sum(4 * (1 + length) for length in lengths)
    assert needed < sum(path.stat().st_size for path in files(store)) < 1.1 * needed
    assert len(files(store)) == 2
    for row, found in zip(rows, unpacked(store.get(texts)), strict=True):
        np.testing.assert_array_equal(found, row)


def test_the_safetensors_library_reads_a_segment(tmp_path, fill):
    store = fill(Store(tmp_path, "model"))
    tensors = safetensors.numpy.load_file(files(store)[0])
    order = np.lexsort(keys_of(TEXTS).T[::-1])
    np.testing.assert_array_equal(tensors["keys"], keys_of(TEXTS)[order])
    np.testing.assert_array_equal(tensors["vectors"], vectors_of(TEXTS)[order])


def write_many(folder, start, stop):
    store = Store(folder, "model")
    with store.writer(rows=50) as writer:
        for i in range(start, stop, 10):
            texts = [f"text {j}" for j in range(i, i + 10)]
            writer.add(texts, vectors_of(texts))


def test_two_processes_may_write_at_once(tmp_path):
    context = multiprocessing.get_context("fork")
    spans = ((0, 1000), (500, 1500))
    processes = [context.Process(target=write_many, args=(tmp_path, *span)) for span in spans]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    texts = [f"text {i}" for i in range(1500)]
    store = Store(tmp_path, "model")
    np.testing.assert_array_equal(store.get(texts), vectors_of(texts))
    assert store.notices == []


@pytest.mark.posix
def test_a_kill_loses_only_rows_that_were_not_flushed(tmp_path):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with Store(tmp_path, "model").writer(rows=10) as out:
            for i in range(0, 1_000_000, 5):
                texts = [f"text {j}" for j in range(i, i + 5)]
                out.add(texts, vectors_of(texts))
                os.write(writer, b".")
    os.close(writer)
    done = 0
    while done < 200:
        done += len(os.read(reader, 200 - done))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    store = Store(tmp_path, "model")
    texts = [f"text {i}" for i in range(5 * done)]
    assert len(store.missing(texts)) < 10
    assert store.notices == []


def test_info_has_the_model_and_the_counts(tmp_path, fill):
    store = fill(Store(tmp_path, "model/1"), rows=30)
    store.describe({"name": "Model", "revision": None})
    info = store.info()
    assert (info.fingerprint, info.model["name"]) == ("model/1", "Model")
    assert (info.segments, info.rows) == (4, 100)
    assert info.bytes == sum(path.stat().st_size for path in files(store))
    assert pruning.stores(tmp_path) == [info]


def age(store, days):
    os.utime(store.folder, times=(time.time() - 86_400 * days,) * 2)


def test_prune_removes_by_name(tmp_path, fill):
    for name in ("mini-a", "mini-b", "large"):
        fill(Store(tmp_path, f"{name} weights")).describe({"name": name})
    pruned = pruning.prune(tmp_path, names=["mini-*"])
    assert {info.model["name"] for info in pruned.removed} == {"mini-a", "mini-b"}
    assert [info.model["name"] for info in pruning.stores(tmp_path)] == ["large"]
    assert pruned.freed == sum(info.bytes for info in pruned.removed)


def test_prune_removes_stores_that_were_not_used_for_long(tmp_path, fill):
    for name, days in (("old", 40), ("new", 1)):
        age(fill(Store(tmp_path, name)), days)
    pruning.prune(tmp_path, unused_days=30)
    assert [info.fingerprint for info in pruning.stores(tmp_path)] == ["new"]


def test_prune_to_a_size_keeps_the_stores_that_were_used_last(tmp_path, fill):
    for name, days in (("a", 3), ("b", 1), ("c", 2)):
        age(fill(Store(tmp_path, name)), days)
    size = Store(tmp_path, "a").info().bytes
    pruning.prune(tmp_path, max_bytes=2 * size)
    assert [info.fingerprint for info in pruning.stores(tmp_path)] == ["b", "c"]


def test_prune_removes_old_temporary_files_but_not_new_ones(tmp_path, fill):
    store = fill(Store(tmp_path, "model"))
    for name, hours in (("a.tmp", 2), ("b.tmp", 0)):
        (store.folder / name).touch()
        os.utime(store.folder / name, times=(time.time() - 3600 * hours,) * 2)
    assert pruning.prune(tmp_path).leftovers == 1
    kept = {path.name for path in store.folder.iterdir()}
    assert kept == {"b.tmp", files(store)[0].name}


def test_a_merged_segment_holds_each_vector_once(tmp_path, fill):
    store = Store(tmp_path, "model")
    for start in range(0, 90, 10):
        fill(store, TEXTS[start : start + 20])
    reader = Store(tmp_path, "model")
    assert reader.missing(TEXTS) == []
    assert pruning.prune(tmp_path).merged == 9
    (path,) = files(store)
    assert len(segment.read(path, "model").keys) == 100
    for store_or_reader in (store, reader, Store(tmp_path, "model")):
        np.testing.assert_array_equal(store_or_reader.get(TEXTS), vectors_of(TEXTS))
