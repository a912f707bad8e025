"""Results files at every step of writing them: a failing disk and a power cut lose no record."""

from __future__ import annotations

import errno
import itertools
import os

import pytest
from disk import failing, power_cuts
from score_records import record

from harness.errors import DiskError
from harness.results import jsonl
from harness.results.folder import ResultsFile, read
from harness.results.record import Record

pytestmark = pytest.mark.posix

RECORDS = [record(f"task-{i}", value=i / 8) for i in range(4)]
CHANGED = record("task-1", value=0.75)
VALUES = {r.id: {r.value} for r in RECORDS}
VALUES[CHANGED.id].add(CHANGED.value)


def with_samples(r):
    """Return a record that keeps a row of samples."""
    return r.keeping({}, {}, [{"text": "a", "contribution": r.value}])


def life_of_a_file(folder, promised):
    """Add records, replace one, bring them into order, and add another one."""
    file = ResultsFile(folder, "m")
    for batch in (RECORDS[:2], [CHANGED], RECORDS[2:3]):
        file.add([with_samples(r) for r in batch])
        promised |= {r.id: r.value for r in batch}
    file.arrange([r.id for r in reversed(RECORDS)])
    file.add([with_samples(RECORDS[3])])
    promised[RECORDS[3].id] = RECORDS[3].value


def check(folder, promised):
    """Assert that a folder has what was promised, with its samples, and no wrong value."""
    reading = read([folder])
    values = {r.id: r.value for r in reading.records}
    assert promised.keys() <= values.keys()
    assert all(values[id_] in VALUES[id_] for id_ in values)
    if promised.get(CHANGED.id) == CHANGED.value:
        assert values[CHANGED.id] == CHANGED.value
    assert all("torn" in notice or "NUL" in notice for notice in reading.notices)
    for r in reading.records:
        if r.id in promised:
            assert [row["text"] for row in r.read_samples(folder)] == ["a"]


def goes_on(folder):
    """Assert that the next run leaves a whole file."""
    ResultsFile(folder, "m").add(RECORDS)
    reading = read([folder])
    assert {r.id for r in reading.records} == VALUES.keys()
    assert reading.notices == ()


def test_a_power_cut_at_any_step_loses_no_record_and_makes_none_wrong(tmp_path):
    promised, root = {}, tmp_path / "results"
    root.mkdir()
    steps = set()
    for cut in power_cuts(root, lambda: life_of_a_file(root, promised), lambda: dict(promised)):
        folder = cut.restore(tmp_path / "left")
        check(folder, cut.promised)
        goes_on(folder)
        steps.add(cut.step)
    assert steps >= {"open", "write", "sync", "rename"}
    assert promised.keys() == VALUES.keys()


def test_a_failure_at_any_step_loses_no_record_and_makes_none_wrong(tmp_path):
    for k in itertools.count():
        promised, root = {}, tmp_path / str(k)
        root.mkdir()
        with failing(k) as disk:
            try:
                life_of_a_file(root, promised)
            except DiskError:
                assert disk.failed
        check(root, promised)
        if disk.failed is None:
            break
        goes_on(root)
    assert k > 30


@pytest.mark.parametrize("k", [1, 2, 3, 4])  # 0 makes the folder of the lock, which exists
def test_a_disk_that_fills_in_an_append_leaves_the_file_as_it_was(tmp_path, k):
    file = ResultsFile(tmp_path, "m")
    file.add(RECORDS[:2])
    before = file.path.read_bytes()
    with failing(k) as disk, pytest.raises(DiskError, match="are as they were"):
        file.add(RECORDS[2:])
    assert disk.failed in ("open", "write", "sync")
    assert file.path.read_bytes() == before
    assert file.records.keys() == {r.id for r in RECORDS[:2]}


def test_a_file_is_read_without_the_right_to_lock_it(tmp_path):
    ResultsFile(tmp_path, "m").add(RECORDS[:1])
    path = next(tmp_path.glob("*.jsonl"))
    lock = tmp_path / f".{path.stem}.lock"
    lock.unlink(missing_ok=True)
    lock.mkdir()  # it cannot be opened, like that of somebody else
    assert list(jsonl.RecordsFile(path, Record).records) == [RECORDS[0].id]


def test_a_file_system_without_locks_is_refused_before_anything_is_computed(tmp_path, monkeypatch):
    def flock(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", flock)
    with pytest.raises(DiskError, match="its file system has no locks; choose a folder on another"):
        jsonl.RecordsFile(tmp_path / "model.jsonl", Record)
