"""Damaged segments, full disks and read-only folders: reported, and no vector is lost."""

import os
import resource
import subprocess
import sys
import tempfile
import textwrap
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.errors import DiskError
from harness.store.store import Store

TEXTS = [f"text {i}" for i in range(100)]


def files(store):
    return sorted(store.folder.glob("*.safetensors"))


DAMAGES = {
    "truncated": lambda content: content[:-1],
    "empty": lambda content: b"",
    "cut in the header": lambda content: content[:40],
    "no header": lambda content: b"\xff" * len(content),
    "no metadata": lambda content: content.replace(b"__metadata__", b"__metadatb__"),
    "wrong shape": lambda content: content.replace(b"[100,8]", b"[101,8]"),
}


def test_a_damaged_segment_is_dropped_with_a_notice_and_its_texts_are_missing(tmp_path, fill):
    for name, damage in DAMAGES.items():
        folder = tmp_path / name
        fill(Store(folder, "model"), ["other"])
        store = fill(Store(folder, "model"))
        path = files(store)[1]
        path.write_bytes(damage(path.read_bytes()))
        fresh = Store(folder, "model")
        assert fresh.missing(["other", *TEXTS]) == TEXTS, name
        (notice,) = fresh.notices
        assert f"'{path}'" in notice
        assert not path.exists(), name
        fill(fresh)
        assert fresh.missing(TEXTS) == [], name
        assert len(fresh.notices) == 1


def test_a_segment_of_a_later_version_is_left_in_place_with_a_notice(tmp_path, fill):
    store = fill(Store(tmp_path, "model"))
    path = files(store)[0]
    path.write_bytes(path.read_bytes().replace(b'"schema":"2"', b'"schema":"3"'))
    fresh = Store(tmp_path, "model")
    assert fresh.missing(TEXTS) == TEXTS
    assert "version 3" in fresh.notices[0]
    assert path.exists()


@pytest.mark.posix
def test_a_full_disk_is_a_disk_error_of_one_line_and_earlier_vectors_stay(tmp_path):
    def limit():  # a file may have 20 kB: the first segment fits, the second does not
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    script = """
        import sys, pathlib
        import numpy as np
        from harness.errors import DiskError
        from harness.store.store import Store
        store = Store(pathlib.Path(sys.argv[1]), "model")
        try:
            with store.writer(rows=100) as writer:
                writer.add([f"text {i}" for i in range(100)], np.zeros((100, 8), np.float32))
                writer.flush()
            with store.writer(rows=1000) as writer:
                writer.add([str(i) for i in range(1000)], np.zeros((1000, 8), np.float32))
        except DiskError as error:
            print(error)
    """
    output = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), str(tmp_path)],
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    store = Store(tmp_path, "model")
    (message,) = output.splitlines()
    assert str(store.folder) in message
    assert "File too large" in message
    assert store.missing(TEXTS) == []
    left = {path.name for path in store.folder.iterdir()}
    assert left == {files(store)[0].name}


@contextmanager
def not_as_root():
    """Run as the user `nobody` if this is root, who may write everywhere."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


@pytest.mark.posix
def test_a_read_only_store_can_be_read_and_raises_on_writing(fill):
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to others
        folder = Path(name)
        folder.chmod(0o755)
        store = fill(Store(folder, "model"))
        store.folder.chmod(0o555)
        with not_as_root():
            fresh = Store(folder, "model")
            assert fresh.missing(TEXTS) == []
            with pytest.raises(DiskError, match="Permission denied"):
                fill(fresh, ["new"])
        store.folder.chmod(0o755)
        assert store.missing(["new", *TEXTS]) == ["new"]
