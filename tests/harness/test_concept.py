"""Concepts: valid and invalid concept files, and what a concept has."""

from __future__ import annotations

import pytest

from harness.concept import Concept
from harness.errors import InvalidFile
from harness.task import yaml_files


def error_of(path):
    with pytest.raises(InvalidFile) as caught:
        yaml_files.load(path).validate(Concept)
    return str(caught.value).replace(f"{path.parent}/", "")


def test_only_the_name_is_required():
    assert Concept(name="gender").definitional_pairs == ()


def test_has_is_true_if_all_needed_fields_are_non_empty():
    concept = Concept(name="a", definitional_pairs=(("she", "he"),), contexts={"debiasing": "x"})
    assert concept.has(())
    assert concept.has(("definitional_pairs", "contexts"))
    assert not concept.has(("definitional_pairs", "names"))
    assert not concept.has(("no_such_field",))


def test_one_of_two_alternative_fields_is_enough_and_pairs_count_as_sets():
    pairs = Concept(name="a", definitional_pairs=(("she", "he"),))
    words = Concept(name="b", specific_words=("beard",))
    for concept in (pairs, words):
        assert concept.has(("definitional_sets or specific_words",))
    assert not words.has(("definitional_sets or specific_words", "definitional_sets"))
    assert not words.has(("definitional_pairs or contexts",))


@pytest.mark.parametrize(
    ("line", "facts"),
    [
        ("definitional_pair: []", ["definitional_pair:", "did you mean 'definitional_pairs'"]),
        ("definitional_pairs: [[she, he, it]]", ["definitional_pairs[0]:"]),
        ("definitional_pairs: [[she]]", ["definitional_pairs[0][1]:", "missing"]),
        ("definitional_pairs: [she, he]", ["definitional_pairs[0]:", "list"]),
        ("specific_words: [he, '']", ["specific_words[1]:", "at least 1"]),
        ("specific_words: [he, off]", ["specific_words[1]:", "false"]),
        ("contexts: {debiasing: 3}", ["contexts.debiasing:", "3"]),
        ("contexts: some text", ["contexts:", "mapping"]),
    ],
)
def test_the_error_of_a_mistake_names_line_and_key(write, line, facts):
    message = error_of(write("c.yaml", f"name: c\n{line}\n"))
    assert message.startswith(f"c.yaml:2: {facts[0]}")
    assert [fact for fact in facts if fact not in message] == []


@pytest.mark.parametrize("name", ["a b", "../x", "", "x/y"])
def test_an_invalid_name_is_refused(write, name):
    message = error_of(write("c.yaml", f"name: '{name}'\n"))
    assert message.startswith("c.yaml:1: name: ")
    assert f"'{name}'" in message
