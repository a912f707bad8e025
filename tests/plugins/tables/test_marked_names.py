"""Texts with marked names."""

from __future__ import annotations

import pytest

from harness.errors import HarnessError
from harness.plugins.tables.marked_names import marked_names

ROWS = [
    {
        "topic": "dogs",
        "query": "[Mike|person]'s dog bit [Ann|person 2] in [Leeds|place].",
        "positive": "In [Rome|place] [Ida|person 2] was bitten by the dog of [Ugo|person].",
        "negative": "[Mike|person] sold [Ann|person 2] a dog.",
    }
]


def texts(**options):
    (row,) = marked_names(ROWS, **options)
    return row["query"], row["positive"], row["negative"]


def test_marks_are_removed_and_other_columns_are_kept():
    assert marked_names(ROWS) == [
        {
            "topic": "dogs",
            "query": "Mike's dog bit Ann in Leeds.",
            "positive": "In Rome Ida was bitten by the dog of Ugo.",
            "negative": "Mike sold Ann a dog.",
        }
    ]


def test_shared_names_are_those_of_the_first_column():
    assert texts(names="shared") == (
        "Mike's dog bit Ann in Leeds.",
        "In Leeds Ann was bitten by the dog of Mike.",
        "Mike sold Ann a dog.",
    )


def test_names_are_removed_with_their_possessives():
    assert texts(names="removed") == (
        "dog bit in .",
        "In was bitten by the dog of .",
        "sold a dog.",
    )


def test_placeholders_are_numbered_separately_in_each_text():
    assert texts(names="replaced") == (
        "CHAR_A's dog bit CHAR_B in LOC_A.",
        "In LOC_A CHAR_A was bitten by the dog of CHAR_B.",
        "CHAR_A sold CHAR_B a dog.",
    )
    assert texts(names="replaced", identifiers="numbers")[2] == "CHAR_1 sold CHAR_2 a dog."


def test_an_invalid_mark_is_rejected():
    with pytest.raises(HarnessError, match="\\[Mike\\|man"):
        marked_names([{"query": "[Mike|man]"}], columns=["query"])
