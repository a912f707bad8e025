"""Concepts: what a person may write in one."""

from __future__ import annotations

import pytest

from harness.concept import Concept
from harness.errors import InvalidFile
from harness.task import yaml_files


def told(path):
    with pytest.raises(InvalidFile) as caught:
        yaml_files.load(path).validate(Concept)
    return str(caught.value).replace(f"{path.parent}/", "")


def test_a_name_is_enough():
    assert Concept(name="gender").definitional_pairs == ()


def test_it_says_whether_it_has_what_a_mitigator_needs():
    concept = Concept(name="a", definitional_pairs=(("she", "he"),), contexts={"debiasing": "x"})
    assert concept.has(())
    assert concept.has(("definitional_pairs", "contexts"))
    assert not concept.has(("definitional_pairs", "names"))
    assert not concept.has(("no_such_field",))


def test_of_fields_that_will_do_for_each_other_one_is_enough_and_pairs_serve_as_sets():
    pairs = Concept(name="a", definitional_pairs=(("she", "he"),))
    words = Concept(name="b", specific_words=("beard",))
    for concept in (pairs, words):
        assert concept.has(("definitional_sets or specific_words",))
    assert not words.has(("definitional_sets or specific_words", "definitional_sets"))
    assert not words.has(("definitional_pairs or contexts",))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("definitional_pair: []", "c.yaml:2: definitional_pair: unknown key 'definitional_pair'; "
         "did you mean 'definitional_pairs'"),
        ("definitional_pairs: [[she, he, it]]", "c.yaml:2: definitional_pairs[0]: "),
        ("definitional_pairs: [[she]]", "c.yaml:2: definitional_pairs[0][1]: missing"),
        ("definitional_pairs: [she, he]", "c.yaml:2: definitional_pairs[0]: expected a list"),
        ("specific_words: [he, '']", "c.yaml:2: specific_words[1]: string should have at least 1"),
        ("specific_words: [he, off]", "c.yaml:2: specific_words[1]: YAML reads this as false, not"),
        ("contexts: {debiasing: 3}", "c.yaml:2: contexts.debiasing: YAML reads this as 3, not as"),
        ("contexts: some text", "c.yaml:2: contexts: expected a mapping of keys to values"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_line_and_key(write, line, said):
    assert told(write("c.yaml", f"name: c\n{line}\n")).startswith(said)


@pytest.mark.parametrize("name", ["a b", "../x", "", "x/y"])
def test_a_name_that_cannot_be_typed_is_told(write, name):
    said = told(write("c.yaml", f"name: '{name}'\n"))
    assert said.startswith(f"c.yaml:1: name: invalid name '{name}'")
