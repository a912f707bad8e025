"""Files at every step of writing them: a failing disk and a power cut lose nothing promised."""

import contextlib
import itertools

import numpy as np
import pytest
from disk import failing, power_cuts

from harness import folders
from harness.embedder import MockEmbedder
from harness.errors import DiskError
from harness.store import pruning
from harness.store.folder import stored_dimensions
from harness.store.store import Store

pytestmark = pytest.mark.posix
D = 4


def vectors_of(texts):
    return MockEmbedder(dimensions=D).encode(list(texts))


def check(folder, promised):
    """Assert that a store has what was promised, and no wrong vector; return it."""
    store = Store(folder, "model")
    assert store.missing(sorted(promised)) == []
    texts = [text for text in ALL if not store.missing([text])]
    np.testing.assert_array_equal(
        store.get(texts), vectors_of(texts) if texts else np.empty((0, 0))
    )
    assert store.notices == []
    assert all(checked.ok for checked in store.verify())
    return store


ALL = [f"text {i}" for i in range(12)]


def life_of_a_store(folder, promised):
    """Describe, write three segments, merge, write, and describe again."""
    store = Store(folder, "model")
    store.describe({"name": "Model", "kind": "text"})
    for start in (0, 3, 6):
        write(store, ALL[start : start + 3], promised)
    pruning.prune(folder)
    write(store, ALL[9:], promised)
    store.describe({"name": "Model", "kind": "text", "revision": "2"})


def write(store, texts, promised):
    with store.writer() as writer:
        writer.add(texts, vectors_of(texts))
        writer.flush()
        promised |= set(texts)


def test_a_power_cut_at_any_step_of_a_store_loses_nothing_and_damages_nothing(tmp_path):
    promised, root = set(), tmp_path / "stores"
    root.mkdir()
    steps = set()
    for cut in power_cuts(root, lambda: life_of_a_store(root, promised), lambda: set(promised)):
        check(cut.restore(tmp_path / "found"), cut.promised)
        steps.add(cut.step)
    assert steps >= {"open", "write", "sync", "rename", "remove", "make"}
    assert promised == set(ALL)


@pytest.mark.parametrize("error", [None, KeyboardInterrupt])
def test_a_failure_at_any_step_of_a_store_loses_nothing_and_damages_nothing(tmp_path, error):
    for k in itertools.count():
        promised, root = set(), tmp_path / str(k)
        with failing(k, error) as disk, contextlib.suppress(error or DiskError):
            life_of_a_store(root, promised)
        check(root, promised)
        if disk.failed is None:
            break
        life_of_a_store(root, promised)  # once more, on a disk that works
        check(root, ALL)
    assert k > 40


def test_a_power_cut_at_any_step_of_replacing_a_file_leaves_the_old_or_the_new_one(tmp_path):
    root, done = tmp_path / "disk", []
    root.mkdir()

    def work():
        for content in (b"first", b"second"):
            folders.write_atomically(root / "new" / "folder" / "file", content)
            done.append(content)

    for cut in power_cuts(root, work, lambda: list(done)):
        path = cut.restore(tmp_path / "found") / "new" / "folder" / "file"
        content = path.read_bytes() if path.exists() else None
        order = [None, b"first", b"second"]
        assert content in order[len(cut.promised) :], cut
    assert done == [b"first", b"second"]


@pytest.mark.parametrize("error", [None, KeyboardInterrupt])
def test_a_failure_at_any_step_of_replacing_a_file_leaves_the_old_one_and_no_other(tmp_path, error):
    path = tmp_path / "file"
    for k in itertools.count():
        path.write_bytes(b"old")
        with failing(k, error) as disk, contextlib.suppress(error or DiskError):
            folders.write_atomically(path, b"new")
        if disk.failed is None:
            break
        renamed = disk.steps.index("rename") < k if "rename" in disk.steps else False
        assert path.read_bytes() == (b"new" if renamed else b"old")
        assert [file.name for file in tmp_path.iterdir()] == ["file"]
    assert path.read_bytes() == b"new"


def test_a_store_whose_model_file_is_lost_or_half_written_still_has_its_vectors(tmp_path):
    promised = set()
    life_of_a_store(tmp_path, promised)
    file = Store(tmp_path, "model").folder / "model.json"
    whole = file.read_bytes()
    for content in (None, b"", whole[: len(whole) // 2]):
        file.unlink()
        if content is not None:
            file.write_bytes(content)
        store = check(tmp_path, promised)
        store.describe({"name": "Model", "kind": "text"})
        assert stored_dimensions(store.files) == D
