"""The on-disk cache of answers: by text, by identity, shared by several processes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from harness.errors import DiskError
from harness.store.answers import AnswerCache


def test_a_second_cache_of_the_same_identity_has_the_answers(tmp_path):
    AnswerCache("edit", {"model": "a"}, tmp_path).add({"one": "1", "two ☃": "2"})
    cache = AnswerCache("edit", {"model": "a"}, tmp_path)
    assert cache.get(["two ☃", "three", "one", "one"]) == {"two ☃": "2", "one": "1"}


def test_a_cache_of_another_identity_has_no_answers(tmp_path):
    AnswerCache("edit", {"model": "a"}, tmp_path).add({"one": "1"})
    assert AnswerCache("edit", {"model": "b"}, tmp_path).get(["one"]) == {}


def test_one_call_looks_up_thousands_of_texts(tmp_path):
    cache = AnswerCache("edit", 0, tmp_path)
    cache.add({f"text {i}": str(i) for i in range(3000)})
    answers = cache.get([f"text {i}" for i in range(0, 6000, 2)])
    assert len(answers) == 1500
    assert answers["text 2998"] == "2998"


def test_the_error_of_a_damaged_file_names_it_and_says_to_delete_it(tmp_path):
    cache = AnswerCache("edit", 0, tmp_path)
    cache.path.write_bytes(b"no database" * 1000)
    with pytest.raises(DiskError, match="delete") as caught:
        cache.get(["one"])
    assert str(cache.path) in str(caught.value)


ADDING = """
import sys; from pathlib import Path; from harness.store.answers import AnswerCache
for i in range(20):
    AnswerCache("edit", 0, Path(sys.argv[1])).add({f"{sys.argv[2]} {i}": "yes"})
"""


def test_two_processes_may_add_at_once(tmp_path):
    processes = [subprocess.Popen([sys.executable, "-c", ADDING, tmp_path, name]) for name in "ab"]
    assert [process.wait() for process in processes] == [0, 0]
    texts = [f"{name} {i}" for name in "ab" for i in range(20)]
    assert len(AnswerCache("edit", 0, tmp_path).get(texts)) == 40
