"""Facts on texts without their names, or with placeholders for them."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.texts import edits, marks


def without(marked: str, **options) -> str:
    one = marks.read(marked)
    return edits.without(one.text, one.mentions, **options)


def replaced(marked: str, **options) -> str:
    one = marks.read(marked)
    return edits.replaced(one.text, one.mentions, **options)


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
def test_names_and_their_possessives_are_taken_out_and_nothing_else(marked, left):
    assert without(marked) == left


def test_possessives_can_stay():
    assert without("[Mike|person]'s dog", possessives=True) == "'s dog"


def test_placeholders_name_kinds_and_begin_anew_in_each_text():
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


def test_letters_go_on_after_z():
    names = [f"{a}{b}" for a in "PQ" for b in string.ascii_lowercase][:28]
    text = replaced(" ".join(f"[{name}|person]" for name in names))
    assert text.split()[25:] == ["CHAR_Z", "CHAR_AA", "CHAR_AB"]


def test_all_names_are_replaced_at_once():
    assert replaced("[CHAR_B|person] met [CHAR_A|person]") == "CHAR_A met CHAR_B"


@given(st.text())
def test_a_text_without_names_stays_as_it_is(text):
    assert edits.without(text, []) == text == edits.replaced(text, [])
