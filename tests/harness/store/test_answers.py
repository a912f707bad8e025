"""Answers kept on disk: by text, by what gave them, and by several processes at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

from harness.errors import DiskError
from harness.store.answers import AnswerCache


def test_answers_are_there_for_the_next_one_who_asks(tmp_path):
    AnswerCache("edit", {"model": "a"}, tmp_path).add({"one": "1", "two ☃": "2"})
    kept = AnswerCache("edit", {"model": "a"}, tmp_path)
    assert kept.get(["two ☃", "three", "one", "one"]) == {"two ☃": "2", "one": "1"}


def test_another_model_has_answers_of_its_own(tmp_path):
    AnswerCache("edit", {"model": "a"}, tmp_path).add({"one": "1"})
    assert AnswerCache("edit", {"model": "b"}, tmp_path).get(["one"]) == {}


def test_a_new_answer_replaces_the_old_one(tmp_path):
    kept = AnswerCache("edit", 0, tmp_path)
    kept.add({"one": "1"})
    kept.add({"one": "eins"})
    assert kept.get(["one"]) == {"one": "eins"}


def test_many_texts_are_asked_for_at_once(tmp_path):
    kept = AnswerCache("edit", 0, tmp_path)
    kept.add({f"text {i}": str(i) for i in range(3000)})
    found = kept.get([f"text {i}" for i in range(0, 6000, 2)])
    assert len(found) == 1500
    assert found["text 2998"] == "2998"


def test_a_damaged_file_is_told_with_what_to_do(tmp_path):
    kept = AnswerCache("edit", 0, tmp_path)
    kept.path.write_bytes(b"no database" * 1000)
    with pytest.raises(DiskError, match="delete it: its answers are asked for anew"):
        kept.get(["one"])


def test_a_name_is_no_path(tmp_path):
    assert AnswerCache("../../edit", 0, tmp_path).path.parent == tmp_path


ADDING = """
import sys; from pathlib import Path; from harness.store.answers import AnswerCache
for i in range(20):
    AnswerCache("edit", 0, Path(sys.argv[1])).add({f"{sys.argv[2]} {i}": "yes"})
"""


def test_two_processes_may_add_at_once(tmp_path):
    both = [subprocess.Popen([sys.executable, "-c", ADDING, tmp_path, name]) for name in "ab"]
    assert [process.wait() for process in both] == [0, 0]
    texts = [f"{name} {i}" for name in "ab" for i in range(20)]
    assert len(AnswerCache("edit", 0, tmp_path).get(texts)) == 40
