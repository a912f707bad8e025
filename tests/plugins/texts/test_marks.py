"""Facts on texts in which a person has marked the names."""

from __future__ import annotations

import pytest

from harness.errors import HarnessError
from harness.plugins.texts import marks

MARKED = "[Kashvi|person] met [Ravi|person 2] in [Leeds|place]. [Kashvi|person] left."


def test_marks_are_taken_off_and_say_where_names_are():
    one = marks.read(MARKED)
    assert one.text == "Kashvi met Ravi in Leeds. Kashvi left."
    assert [m.text for m in one.mentions] == ["Kashvi", "Ravi", "Leeds", "Kashvi"]
    assert all(one.text[m.start : m.end] == m.text for m in one.mentions)
    assert one.names == {("person", 1): "Kashvi", ("person", 2): "Ravi", ("place", 1): "Leeds"}


def test_others_can_be_named():
    other = marks.read("[Jo|person 2] and [Al|person] of [Rome|place]").names
    assert marks.renamed(MARKED, other) == "Al met Jo in Rome. Al left."


def test_who_has_no_other_name_keeps_it():
    assert marks.renamed("[Kashvi|person]", {}) == "Kashvi"


@pytest.mark.parametrize("wrong", ["[Kashvi]", "[Kashvi|human]", "[Kashvi|person", "a | b"])
def test_a_bracket_that_is_no_mark_is_told(wrong):
    with pytest.raises(HarnessError, match=r"marked as \[name\|kind\]"):
        marks.read(wrong)
