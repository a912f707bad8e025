"""Files that belong together, at every step of replacing them: a power cut, a kill, a full disk."""

import contextlib
import errno
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from disk import failing, power_cuts

from harness import folders
from harness.errors import DiskError
from harness.folders import MANIFEST, STAGING, Generation

pytestmark = pytest.mark.posix
OLD = {"data/old.js": "old data", "pages/a.html": "old a", "b.csv": "old b", "index.html": "old"}
NEW = {"data/new.js": "new data", "pages/a.html": "new a", "c.csv": "new c", "index.html": "new"}
LOADED = {"old": "data/old.js", "new": "data/new.js"}


def write(folder, files):
    with Generation(folder, replaces=True) as generation:
        for path, content in files.items():
            generation.write(path, content)


def tree(folder):
    """Return the files of a folder, and its folders as None."""
    return {
        path.relative_to(folder).as_posix(): path.read_text() if path.is_file() else None
        for path in folder.rglob("*")
    }


def is_read(folder):
    """Assert that what a reader sees from index.html is of one generation; return which."""
    index = (folder / "index.html").read_text()
    assert (folder / LOADED[index]).read_text() == {**OLD, **NEW}[LOADED[index]]
    assert (folder / "pages/a.html").read_text() in ("old a", "new a")
    return index


@pytest.fixture
def undisturbed(tmp_path):
    write(tmp_path / "undisturbed", OLD)
    (tmp_path / "undisturbed" / "mine.txt").write_text("not of a generation")
    write(tmp_path / "undisturbed", NEW)
    return tree(tmp_path / "undisturbed")


def old_folder(folder):
    write(folder, OLD)
    (folder / "mine.txt").write_text("not of a generation")
    return folder


def test_a_generation_replaces_the_one_before_and_touches_nothing_else(undisturbed):
    files = {path: content for path, content in undisturbed.items() if content is not None}
    record = json.loads(files.pop(MANIFEST))
    assert files == NEW | {"mine.txt": "not of a generation"}
    assert list(record["files"]) == list(NEW)
    assert {path for path, content in undisturbed.items() if content is None} == {"data", "pages"}


def test_a_power_cut_at_any_step_leaves_one_generation_and_the_next_run_cleans_up(
    tmp_path, undisturbed
):
    root = old_folder(tmp_path / "root")
    seen, steps = set(), set()
    for cut in power_cuts(root, lambda: write(root, NEW)):
        found = cut.restore(tmp_path / "found")
        seen.add(is_read(found))
        write(found, NEW)
        assert tree(found) == undisturbed, cut
        steps.add(cut.step)
    assert seen == {"old", "new"}
    assert steps >= {"open", "write", "sync", "rename", "remove", "make", "end"}


def test_a_power_cut_at_any_step_of_finishing_leaves_one_generation(tmp_path, undisturbed):
    root = old_folder(tmp_path / "root")
    states = {
        json.dumps(cut.tree, default=str): cut for cut in power_cuts(root, lambda: write(root, NEW))
    }
    committed = [
        cut
        for cut in states.values()
        if f"{STAGING}/committed.json" in cut.tree and cut.state == "whole"
    ]
    assert len(committed) > 5
    for first in committed[::3]:
        root = first.restore(tmp_path / "root")
        for cut in power_cuts(root, lambda root=root: write(root, NEW)):
            found = cut.restore(tmp_path / "found")
            is_read(found)
            write(found, NEW)
            assert tree(found) == undisturbed, (first, cut)


@pytest.mark.parametrize("error", [None, KeyboardInterrupt])
def test_a_failure_at_any_step_leaves_one_generation_and_one_line(tmp_path, error, undisturbed):
    for k in itertools.count():
        folder = old_folder(tmp_path / str(k))
        before = tree(folder)
        message = ""
        with failing(k, error) as disk, contextlib.suppress(KeyboardInterrupt):
            try:
                write(folder, NEW)
            except DiskError as problem:
                message = str(problem)
        assert "\n" not in message
        if message:
            assert "No space left" in message
            assert "finishes it" in message or tree(folder) == before, disk.steps
        is_read(folder)
        if disk.failed is None:
            break
        write(folder, NEW)
        assert tree(folder) == undisturbed, disk.steps
    assert k > 40


def test_a_failure_in_the_block_changes_nothing(tmp_path):
    def half_a_generation():
        with Generation(folder, replaces=True) as generation:
            generation.write("index.html", "new")
            generation.write("data.js", (1 // 0 for _ in range(2)))

    folder = old_folder(tmp_path / "folder")
    before = tree(folder)
    with pytest.raises(ZeroDivisionError):
        half_a_generation()
    assert tree(folder) == before


def test_a_file_that_was_changed_since_stays(tmp_path):
    folder = old_folder(tmp_path / "folder")
    (folder / "b.csv").write_text("changed by hand")
    write(folder, NEW)
    assert (folder / "b.csv").read_text() == "changed by hand"
    assert not (folder / "data/old.js").exists()


def test_a_file_that_is_kept_belongs_to_the_next_generation_and_is_removed_after_it(tmp_path):
    folder = old_folder(tmp_path / "folder")
    with Generation(folder, replaces=True) as generation:
        generation.keep("b.csv")
        generation.keep("mine.txt")
        generation.write("index.html", "second")
    assert {"b.csv", "mine.txt", "index.html", MANIFEST} == tree(folder).keys()
    write(folder, NEW)
    assert "b.csv" not in tree(folder)
    assert "mine.txt" in tree(folder)


def test_files_without_a_list_of_the_older_ones_stay(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/old.js").write_text("old data")
    write(tmp_path, NEW)
    assert (tmp_path / "data/old.js").exists()


def test_a_forged_list_removes_nothing_elsewhere(tmp_path):
    folder = old_folder(tmp_path / "folder")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("old data")
    (folder / "link").symlink_to(tmp_path / "mine")
    record = json.loads((folder / MANIFEST).read_text())
    digest = record["files"]["data/old.js"]
    for path in ("../mine/file", "link/file", str(tmp_path / "mine/file"), "link"):
        (folder / MANIFEST).write_text(json.dumps(record | {"files": {path: digest}}))
        write(folder, NEW)
        assert (tmp_path / "mine" / "file").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"files": 3, "replaces": true}', "[" * 99999])
def test_a_damaged_list_removes_nothing(tmp_path, text):
    folder = old_folder(tmp_path / "folder")
    (folder / MANIFEST).write_text(text)
    write(folder, NEW)
    assert (folder / "b.csv").exists()
    assert is_read(folder) == "new"


def test_temporary_files_of_earlier_kills_are_removed(tmp_path):
    folder = old_folder(tmp_path / "folder")
    for name in (".index.html.abcd_123.tmp", "data/.old.js.abcd_123.tmp"):
        (folder / name).write_text("half")
    (folder / ".mine.tmp").write_text("not of the harness")
    write(folder, NEW)
    assert [path.name for path in folder.rglob(".*.tmp")] == [".mine.tmp"]


def test_two_processes_do_not_write_one_folder(tmp_path):
    script = "import sys; from harness.folders import Generation; from pathlib import Path\n"
    script += "with Generation(Path(sys.argv[1])) as files: files.write('a', 'x')"
    with Generation(tmp_path) as generation:
        generation.write("a", "mine")
        other = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True
        )
        assert "another process is writing it" in other.stderr.splitlines()[-1]
    assert tree(tmp_path) == {"a": "mine"}


@pytest.mark.parametrize("place", ["a folder", "a file", "another disk"])
def test_a_place_that_cannot_be_written_changes_nothing(tmp_path, place, monkeypatch):
    folder = old_folder(tmp_path / "folder")
    files = NEW
    if place == "a folder":
        (folder / "c.csv").mkdir()
    elif place == "a file":
        files = NEW | {"mine.txt/x": "x", "index.html": "new"}
    else:
        (folder / "shm").symlink_to("/dev/shm")
        if Path("/dev/shm").stat().st_dev == folder.stat().st_dev:
            pytest.skip("/dev/shm is on the same disk")
        files = NEW | {"shm/x": "x"}
    before = tree(folder)
    with pytest.raises(DiskError) as caught:
        write(folder, files)
    assert len(str(caught.value).splitlines()) == 1
    assert tree(folder) == before


def test_a_disk_without_locks_is_written(tmp_path, monkeypatch):
    import fcntl

    def refused(*arguments):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refused)
    write(tmp_path, NEW)
    assert is_read(tmp_path) == "new"


@pytest.mark.parametrize("path", ["../x", "/x", "a//b", "a/../b", "", "a\\b", "c:x"])
def test_a_file_elsewhere_is_refused(tmp_path, path):
    with pytest.raises(ValueError, match="generation"), Generation(tmp_path) as generation:
        generation.write(path, "x")


def test_a_link_in_place_of_the_hidden_folder_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / STAGING).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DiskError):
        write(tmp_path / "folder", NEW)
    assert folders.exists(tmp_path / "elsewhere")
    assert list((tmp_path / "elsewhere").iterdir()) == []
