"""Texts in which a person has marked the names."""

from __future__ import annotations

import pytest

from harness.errors import HarnessError
from harness.plugins.texts import marks

MARKED = "[Kashvi|person] met [Ravi|person 2] in [Leeds|place]. [Kashvi|person] left."


def test_marks_are_removed_and_give_the_mentions():
    parsed = marks.read(MARKED)
    assert parsed.text == "Kashvi met Ravi in Leeds. Kashvi left."
    assert [m.text for m in parsed.mentions] == ["Kashvi", "Ravi", "Leeds", "Kashvi"]
    assert all(parsed.text[m.start : m.end] == m.text for m in parsed.mentions)
    assert parsed.names == {("person", 1): "Kashvi", ("person", 2): "Ravi", ("place", 1): "Leeds"}


def test_roles_can_be_renamed():
    names = marks.read("[Jo|person 2] and [Al|person] of [Rome|place]").names
    assert marks.renamed(MARKED, names) == "Al met Jo in Rome. Al left."


def test_roles_without_a_new_name_keep_theirs():
    assert marks.renamed("[Kashvi|person]", {}) == "Kashvi"


@pytest.mark.parametrize("wrong", ["[Kashvi]", "[Kashvi|human]", "[Kashvi|person", "a | b"])
def test_an_invalid_mark_is_an_error(wrong):
    with pytest.raises(HarnessError, match=r"\[name\|kind\]"):
        marks.read(wrong)
