"""Folders, and atomic writing of files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import folders
from harness.errors import DiskError


def test_the_cache_folder_comes_from_harness_cache_then_xdg_cache_home_then_home(monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", "/a")
    monkeypatch.setenv("XDG_CACHE_HOME", "/b")
    monkeypatch.setenv("HOME", "/c")
    assert folders.cache() == Path("/a")
    monkeypatch.delenv("HARNESS_CACHE")
    assert folders.cache() == Path("/b/harness")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert folders.cache() == Path("/c/.cache/harness")
    assert folders.embeddings() == Path("/c/.cache/harness/embeddings")


def test_a_folder_is_created_with_its_parents_and_left_empty(tmp_path):
    folder = folders.make(tmp_path / "a" / "b")
    assert folder.is_dir()
    assert list(folder.iterdir()) == []


def test_a_folder_below_a_file_is_a_disk_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DiskError, match="Not a directory") as caught:
        folders.make(tmp_path / "file" / "a")
    assert f"'{tmp_path}/file/a'" in str(caught.value)


def test_a_folder_that_is_not_writable_is_a_disk_error():
    with pytest.raises(DiskError, match="'/proc/self'"):
        folders.make(Path("/proc/self"))


def test_a_file_is_written_without_leftovers(tmp_path):
    folders.write_atomically(tmp_path / "a" / "b.txt", b"one")
    folders.write_atomically(tmp_path / "a" / "b.txt", b"two")
    assert (tmp_path / "a" / "b.txt").read_bytes() == b"two"
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b.txt"]


@pytest.mark.posix
def test_a_full_disk_leaves_the_old_file_unchanged(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    script = """
import resource, signal, sys
from pathlib import Path
from harness import errors, folders
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    folders.write_atomically(Path(sys.argv[1]), b"x" * 5000)
except errors.DiskError as error:
    print(error)
"""
    process = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True
    )
    (message,) = process.stdout.splitlines()
    assert f"'{path}'" in message
    assert "File too large" in message
    assert path.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["a.txt"]


@given(st.text())
def test_a_safe_name_never_leaves_its_folder(name):
    safe = folders.safe_name(name)
    assert safe
    assert Path("/results", safe).parent == Path("/results")
    assert not safe.startswith(".")
    assert len(safe) <= 120
    assert safe.isascii()


def test_a_safe_name_changes_only_characters_that_are_not_allowed():
    assert folders.safe_name("all-MiniLM-L6-v2") == "all-MiniLM-L6-v2"
    assert folders.safe_name("../../etc/passwd") == "etc_passwd"


def test_two_long_names_have_two_file_names():
    first, second = (folders.safe_name("model?prompt=" + "x" * 200 + end) for end in "ab")
    assert first != second
    assert len(first) == len(second) == 120
