"""The four sets of an association test, read from JSON."""

from __future__ import annotations

import json

from harness.plugins.tables.association_tests import association_tests

SETS = {
    "targ1": {"category": "Maths", "examples": ["This is algebra.", "That is algebra."]},
    "targ2": {"category": "Arts", "examples": ["This is poetry."]},
    "attr1": {"category": "Male", "examples": ["He is here."]},
    "attr2": {"category": "Female", "examples": ["She is here."]},
}


def lines(value):
    return [{"line": line} for line in json.dumps(value, indent=2).splitlines()]


def test_each_text_has_the_input_and_the_name_of_its_set():
    assert association_tests(lines(SETS)) == [
        {"input": "targets_1", "category": "Maths", "text": "This is algebra."},
        {"input": "targets_1", "category": "Maths", "text": "That is algebra."},
        {"input": "targets_2", "category": "Arts", "text": "This is poetry."},
        {"input": "attributes_1", "category": "Male", "text": "He is here."},
        {"input": "attributes_2", "category": "Female", "text": "She is here."},
    ]
