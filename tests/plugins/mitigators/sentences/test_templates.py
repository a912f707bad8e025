"""A concept's words in template sentences."""

from __future__ import annotations

from harness.concept import Concept
from harness.plugins.mitigators.sentences.templates import (
    TEMPLATES,
    defining_sets,
    in_templates,
    sets_in_templates,
    template_texts,
)

PAIRS = (("she", "he"), ("gal", "guy"))
SETS = (("mosque", "church", "temple"),)


def test_each_template_contains_each_word_once():
    assert all(template.count("{text}") == 1 for template in TEMPLATES)
    assert len(set(TEMPLATES)) == len(TEMPLATES)
    assert in_templates(["ovarian_cancer"])[0] == ("ovarian cancer",)
    assert template_texts(["she", "he", "she"]) == [
        text for word in ("she", "he") for (text,) in in_templates([word])
    ]


def test_the_sentences_of_a_set_differ_in_the_word_alone():
    sets = sets_in_templates(PAIRS)
    assert len(sets) == 2 * len(TEMPLATES)
    assert all(female.replace("she", "he") == male for female, male in sets[: len(TEMPLATES)])


def test_definitional_sets_take_precedence_over_pairs():
    assert defining_sets(Concept(name="x", definitional_pairs=PAIRS)) == list(PAIRS)
    both = Concept(name="x", definitional_pairs=PAIRS, definitional_sets=SETS)
    assert defining_sets(both) == list(SETS)
    assert defining_sets(None) == []
