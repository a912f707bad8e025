"""`harness results verify` and `repair`: what is wrong with each line, and nothing is deleted."""

from __future__ import annotations

import json
import os
import re
import time

import pytest


@pytest.fixture
def folder(harness, toy, tmp_path):
    """Return a results folder of five records."""
    harness("eval", "-m", "toy-letters", "-t", "toy-places,toy-places-10", "-r",
            tmp_path / "results", "--concept", "none")  # fmt: skip
    return tmp_path / "results"


@pytest.fixture
def damaged(folder):
    """Return the folder with a line of each kind in its file, and its lines before."""
    file = folder / "toy-letters.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    changed = re.sub(r'"value":[-.\d]+', '"value":0.123', lines[0])
    doubtful = re.sub(',"check":"[0-9a-f]+"', "", lines[1]).replace('"seed":0', '"seed":7')
    later = lines[2].replace('"schema":1', '"schema":2')
    file.write_text("".join([changed, doubtful, later, lines[3], *lines[3:], '{"schema":1,"id']))
    return folder, lines


def problems(result):
    return [(row["line"], row["state"]) for row in json.loads(result.out)["problems"]]


def test_a_whole_folder_has_no_problems(harness, folder):
    result = harness("results", "verify", folder)
    assert (result.code, result.out) == (0, "1 file, 5 records, 0 problems\n")
    assert harness("results", "repair", folder).out == "nothing to repair\n"


def test_each_line_that_does_not_count_is_listed(harness, damaged):
    folder, _ = damaged
    expected = [(1, "damaged"), (2, "doubtful"), (3, "unknown"), (4, "repeated"), (7, "torn")]
    result = harness("results", "verify", folder, "--json")
    assert problems(result) == expected
    assert json.loads(result.out)["records"] == 2
    assert result.code == 1
    shown = harness("results", "verify", folder)
    assert shown.code == 1
    assert all(state in shown.out for _, state in expected)


def test_repair_moves_lines_and_loses_none(harness, damaged):
    folder, lines = damaged
    file = folder / "toy-letters.jsonl"
    before = file.read_text()
    result = harness("results", "repair", folder, "--json")
    assert result.code == 0
    (done,) = json.loads(result.out)["files"]
    assert [row["line"] for row in done["moved"]] == [1, 2, 4, 7]
    assert [row["state"] for row in done["left"]] == ["unknown"]
    moved = (folder / "toy-letters.jsonl.damaged").read_text()
    assert done["to"] == str(folder / "toy-letters.jsonl.damaged")
    assert file.read_text().splitlines()[1:] == [line.rstrip() for line in lines[3:]]
    both = (moved + file.read_text()).splitlines()
    assert sorted(both) == sorted(before.splitlines())
    assert problems(harness("results", "verify", folder, "--json")) == [(1, "unknown")]


def test_repair_leaves_files_without_a_record(harness, tmp_path):
    contents = {"data.jsonl": b'{"text": "a"}\n{"text": "b"}\n', "task.yaml": b"name: a\n"}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    for path in (tmp_path, tmp_path / "task.yaml"):
        result = harness("results", "repair", path)
        assert result.code == 0
        assert "left" in result.out
    assert {name: (tmp_path / name).read_bytes() for name in contents} == contents
    assert not list(tmp_path.glob("*.damaged"))


def test_what_was_moved_is_computed_again(harness, damaged, toy):
    folder, lines = damaged
    harness("results", "repair", folder)
    evaluated = harness("eval", "-m", "toy-letters", "-t", "toy-places,toy-places-10", "-r",
                        folder, "--concept", "none")  # fmt: skip
    assert evaluated.code == 0
    after = (folder / "toy-letters.jsonl").read_text().splitlines()
    ids = {json.loads(line)["id"] for line in lines}
    assert {json.loads(line)["id"] for line in after} == ids


def test_views_are_shown_with_a_notice(harness, damaged):
    folder, _ = damaged
    for command in ("show", "show --json", "average", "export --format csv", "tables"):
        result = harness("results", *command.split(), folder, "--tasks", "toy-places-10")
        assert result.code == 0, command
        assert "toy-letters.jsonl:1: the line was left out" in result.err, command


def test_old_temporary_files_are_listed_and_removed(harness, folder):
    (folder / "samples").mkdir()
    old = folder / "samples" / ".x.samples.jsonl.abcd12_3.tmp"
    young, others = folder / ".toy.jsonl.abcdefgh.tmp", folder / ".mine.tmp"
    for path in (old, young, others):
        path.write_text("")
    hours_ago = time.time() - 7200
    for path in (old, others):
        os.utime(path, (hours_ago, hours_ago))
    result = harness("results", "verify", folder, "--json")
    assert result.code == 1
    assert [row["file"] for row in json.loads(result.out)["problems"]] == [str(old)]
    assert "1 temporary file removed" in harness("results", "repair", folder).out
    assert [path.exists() for path in (old, young, others)] == [False, True, True]


def test_a_path_that_does_not_exist_is_an_error(harness, tmp_path):
    for command in ("verify", "repair"):
        result = harness("results", command, tmp_path / "absent")
        assert result.code == 2
        assert "absent" in result.err
