"""A full disk, an interrupt and a kill at every step of writing: nothing promised is lost."""

import contextlib
import itertools

import numpy as np
import pytest
from disk import failing, kills, restore, tree
from score_records import record

from harness import folders
from harness.embedder import MockEmbedder
from harness.errors import DiskError
from harness.results.folder import ResultsFile, read
from harness.store import pruning
from harness.store.folder import stored_dimensions
from harness.store.store import Store

pytestmark = pytest.mark.posix
D = 4
TEXTS = [f"text {i}" for i in range(12)]
RECORDS = [record(f"task-{i}", value=i / 8) for i in range(4)]
CHANGED = record("task-1", value=0.75, created="2999-01-01T00:00:00+00:00")
VALUES = {r.id: {r.value} for r in RECORDS}
VALUES[CHANGED.id].add(CHANGED.value)


@pytest.mark.parametrize("error", [None, KeyboardInterrupt])
def test_a_failure_at_any_step_of_replacing_a_file_leaves_the_old_one_and_no_other(tmp_path, error):
    path = tmp_path / "file"
    for k in itertools.count():
        path.write_bytes(b"old")
        with failing(k, error) as disk, contextlib.suppress(error or DiskError):
            folders.write_atomically(path, b"new")
        if disk.failed is None:
            break
        renamed = "rename" in disk.steps and disk.failed != "rename"
        assert path.read_bytes() == (b"new" if renamed else b"old")
        assert [file.name for file in tmp_path.iterdir()] == ["file"]
    assert path.read_bytes() == b"new"


def build(folder, version):
    with folders.BuiltFolder(folder) as files:
        files.write("pages/a.html", f"a {version}")
        files.write("index.html", version)


def test_a_failure_at_any_step_of_replacing_a_folder_leaves_the_old_one_or_the_new_one(tmp_path):
    for k in itertools.count():
        folder = tmp_path / str(k) / "site"
        build(folder, "old")
        (folder / ".git").write_text("mine")
        with failing(k) as disk, contextlib.suppress(DiskError):
            build(folder, "new")
        index = (folder / "index.html").read_text()
        assert (folder / "pages" / "a.html").read_text() == f"a {index}"
        if disk.failed != "remove":  # which needs no room
            assert [path.name for path in folder.parent.iterdir()] == ["site"]
        if disk.failed is None:
            break
    assert index == "new"
    assert tree(folder).keys() == {".git", "index.html", "pages", "pages/a.html"}


def vectors_of(texts):
    return MockEmbedder(dimensions=D).encode(list(texts))


def check_store(folder, promised):
    """Assert that a store has what was promised, and no wrong vector; return it."""
    store = Store(folder, "model")
    assert store.missing(sorted(promised)) == []
    texts = [text for text in TEXTS if not store.missing([text])]
    np.testing.assert_array_equal(
        store.get(texts), vectors_of(texts) if texts else np.empty((0, 0))
    )
    assert store.notices == []
    return store


def life_of_a_store(folder, promised):
    """Describe, write three segments, merge, write, and describe again."""
    store = Store(folder, "model")
    store.describe({"name": "Model", "kind": "text"})
    for start in (0, 3, 6):
        write(store, TEXTS[start : start + 3], promised)
    pruning.prune(folder)
    write(store, TEXTS[9:], promised)
    store.describe({"name": "Model", "kind": "text", "revision": "2"})


def write(store, texts, promised):
    with store.writer() as writer:
        writer.add(texts, vectors_of(texts))
        writer.flush()
        promised |= set(texts)


@pytest.mark.parametrize("error", [None, KeyboardInterrupt])
def test_a_failure_at_any_step_of_a_store_loses_nothing_and_damages_nothing(tmp_path, error):
    for k in itertools.count():
        promised, root = set(), tmp_path / str(k)
        with failing(k, error) as disk, contextlib.suppress(error or DiskError):
            life_of_a_store(root, promised)
        check_store(root, promised)
        if disk.failed is None:
            break
        life_of_a_store(root, promised)  # once more, on a disk that works
        check_store(root, TEXTS)
    assert k > 30


def test_a_kill_at_any_step_of_a_store_damages_nothing(tmp_path):
    (tmp_path / "stores").mkdir()
    for _, state in kills(tmp_path / "stores", lambda: life_of_a_store(tmp_path / "stores", set())):
        root = restore(state, tmp_path / "left")
        check_store(root, set())
        life_of_a_store(root, set())
        check_store(root, TEXTS)


def test_a_store_whose_model_file_is_lost_or_half_written_still_has_its_vectors(tmp_path):
    promised = set()
    life_of_a_store(tmp_path, promised)
    file = Store(tmp_path, "model").folder / "model.json"
    whole = file.read_bytes()
    for content in (None, b"", whole[: len(whole) // 2]):
        file.unlink()
        if content is not None:
            file.write_bytes(content)
        store = check_store(tmp_path, promised)
        store.describe({"name": "Model", "kind": "text"})
        assert stored_dimensions(store.files) == D


def with_samples(r):
    """Return a record that keeps a row of samples."""
    return r.keeping({}, [{"text": "a", "contribution": r.value}])


def life_of_a_file(folder, promised):
    """Add records, replace one, bring them into order, and add another one."""
    file = ResultsFile(folder, "m")
    for batch in (RECORDS[:2], [CHANGED], RECORDS[2:3]):
        file.add([with_samples(r) for r in batch])
        promised |= {r.id: r.value for r in batch}
    file.arrange([r.id for r in reversed(RECORDS)])
    file.add([with_samples(RECORDS[3])])
    promised[RECORDS[3].id] = RECORDS[3].value


def check_results(folder, promised):
    """Assert that a folder has what was promised, with its samples, and no wrong value."""
    reading = read([folder])
    values = {r.id: r.value for r in reading.records}
    assert promised.keys() <= values.keys()
    assert all(values[id_] in VALUES[id_] for id_ in values)
    if promised.get(CHANGED.id) == CHANGED.value:
        assert values[CHANGED.id] == CHANGED.value
    assert all("torn" in notice for notice in reading.notices)
    for r in reading.records:
        if r.id in promised:
            assert [row["text"] for row in r.read_samples(folder)] == ["a"]


def test_a_failure_at_any_step_loses_no_record_and_makes_none_wrong(tmp_path):
    for k in itertools.count():
        promised, root = {}, tmp_path / str(k)
        root.mkdir()
        with failing(k) as disk:
            try:
                life_of_a_file(root, promised)
            except DiskError:
                assert disk.failed
        check_results(root, promised)
        if disk.failed is None:
            break
        ResultsFile(root, "m").add(RECORDS)
        assert {r.id for r in read([root]).records} == VALUES.keys()
        assert read([root]).notices == ()
    assert k > 25


def test_a_kill_at_any_step_makes_no_record_wrong_and_the_next_run_goes_on(tmp_path):
    (tmp_path / "results").mkdir()
    for _, state in kills(tmp_path / "results", lambda: life_of_a_file(tmp_path / "results", {})):
        root = restore(state, tmp_path / "left")
        check_results(root, {})
        ResultsFile(root, "m").add(RECORDS)
        assert {r.id for r in read([root]).records} == VALUES.keys()


def test_a_file_is_read_without_the_right_to_lock_it(tmp_path):
    ResultsFile(tmp_path, "m").add(RECORDS[:1])
    (tmp_path / ".m.lock").unlink(missing_ok=True)
    (tmp_path / ".m.lock").mkdir()  # it cannot be opened, like that of somebody else
    assert list(ResultsFile(tmp_path, "m").records) == [RECORDS[0].id]
