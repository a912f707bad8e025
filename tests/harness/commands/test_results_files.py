"""`harness results verify`: what is wrong with each line."""

from __future__ import annotations

import json
import re

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


def test_each_line_that_does_not_count_is_listed(harness, damaged):
    folder, _ = damaged
    expected = [(1, "damaged"), (2, "doubtful"), (3, "unknown"), (7, "torn")]
    result = harness("results", "verify", folder, "--json")
    assert problems(result) == expected
    assert json.loads(result.out)["records"] == 2
    assert result.code == 1
    shown = harness("results", "verify", folder)
    assert shown.code == 1
    assert all(state in shown.out for _, state in expected)
