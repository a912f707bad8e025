"""Pipes, devices and names that no file can have as arguments: one line, and an end."""

from __future__ import annotations

import os

import pytest

LONG = "x" * 300
pytestmark = pytest.mark.posix


@pytest.fixture(autouse=True)
def odd_files(tmp_path, monkeypatch):
    """Make named pipes, which nobody writes to, and a link to a device; work beside them."""
    monkeypatch.chdir(tmp_path)
    for name in ("pipe", "pipe.yaml", "pipe.jsonl"):
        os.mkfifo(name)
    (tmp_path / "zero.yaml").symlink_to("/dev/zero")


@pytest.mark.parametrize(
    "arguments",
    [
        ("eval", "-m", "toy-letters", "-t", "pipe.yaml"),
        ("eval", "-m", "toy-letters", "-t", f"{LONG}.yaml"),
        ("eval", "-m", "vectors:pipe", "-t", "toy-places"),
        ("eval", "-m", LONG, "-t", "toy-places"),
        ("eval", "-m", "~nobody/model", "-t", "toy-places"),
        ("eval", "-c", "zero.yaml"),
        ("eval", "-c", LONG),
        ("list", "tasks", "--include", LONG),
        ("validate", LONG),
        ("show", "task", "zero.yaml"),
        ("study", "run", "pipe.yaml"),
        ("study", "show", LONG),
        ("results", "show", "pipe.jsonl"),
        ("results", "show", "zero.yaml"),
        ("results", "verify", LONG),
        ("leaderboard", "build", LONG, "--out", "site"),
    ],
)
def test_an_odd_file_as_an_argument_is_one_line(harness, toy, arguments):
    result = harness(*arguments)
    assert result.code in (1, 2), result
    assert result.err.count("\n") == 1, result.err
    assert result.err.startswith("harness: ")
    assert "unexpected" not in result.err


def test_an_odd_file_in_an_included_folder_is_skipped_with_a_line(harness, toy, tmp_path):
    result = harness("list", "tasks", "--include", tmp_path)
    assert result.code == 0
    assert "pipe.yaml: is no regular file" in result.err + result.out
    assert "zero.yaml" in result.err + result.out


def test_a_pipe_in_place_of_a_results_file_is_one_line(harness, toy, tmp_path):
    (tmp_path / "results").mkdir()
    os.mkfifo(tmp_path / "results" / "toy-letters.jsonl")
    result = harness("eval", "-m", "toy-letters", "-t", "toy-places", "-r", tmp_path / "results")
    assert result.code == 2
    assert "toy-letters.jsonl: is no regular file" in result.err
    assert result.err.count("\n") == 1
