"""Texts without their names, or with placeholders."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.texts import edits, marks


def without(marked: str, **options) -> str:
    parsed = marks.read(marked)
    return edits.without(parsed.text, parsed.mentions, **options)


def replaced(marked: str, **options) -> str:
    parsed = marks.read(marked)
    return edits.replaced(parsed.text, parsed.mentions, **options)


@pytest.mark.parametrize(
    ("marked", "left"),
    [
        ("[Mike|person] ran to [Leeds|place].", "ran to ."),
        ("[Mike|person]'s dog", "dog"),
        ("the dog of [James|person]' aunt", "the dog of aunt"),
        ("“[Mike|person]” ran", "“” ran"),
        ("Dr. [Mike|person], a doctor", "Dr. , a doctor"),
        ("[Mike|person]", ""),
        ("two  blanks  stay", "two  blanks  stay"),
        ("from [Leeds|place] to [York|place] by bus", "from to by bus"),
    ],
)
def test_only_names_and_their_possessive_endings_are_removed(marked, left):
    assert without(marked) == left


def test_possessive_endings_can_be_kept():
    assert without("[Mike|person]'s dog", possessives=True) == "'s dog"


def test_placeholders_name_the_kind_and_start_at_a_in_each_text():
    assert replaced("[Mike|person] of [Leeds|place] met [Ann|person]; [Mike|person] left.") == (
        "CHAR_A of LOC_A met CHAR_B; CHAR_A left."
    )
    assert replaced("[Ann|person]'s boss at [Corvex|organisation]") == "CHAR_A's boss at ORG_A"


def test_placeholders_can_have_numbers():
    assert replaced("[Mike|person] and [Ann|person]", identifiers="numbers") == "CHAR_1 and CHAR_2"


def test_a_part_of_a_name_has_the_placeholder_of_the_whole():
    assert replaced("[Kate|person] is [Kate Powell|person], not [Ben|person].") == (
        "CHAR_A is CHAR_A, not CHAR_B."
    )


def test_letters_continue_with_aa_after_z():
    names = [f"{a}{b}" for a in "PQ" for b in string.ascii_lowercase][:28]
    text = replaced(" ".join(f"[{name}|person]" for name in names))
    assert text.split()[25:] == ["CHAR_Z", "CHAR_AA", "CHAR_AB"]


def test_all_names_are_replaced_at_once():
    assert replaced("[CHAR_B|person] met [CHAR_A|person]") == "CHAR_A met CHAR_B"


@given(st.text())
def test_a_text_without_names_is_unchanged(text):
    assert edits.without(text, []) == text == edits.replaced(text, [])
