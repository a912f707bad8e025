"""Sentences that any concept's words can stand in."""

from __future__ import annotations

from harness.concept import Concept
from harness.plugins.mitigators.sentences.contextualised import (
    TEMPLATES,
    contexts,
    contextualised,
    defining_sets,
    in_contexts,
)

PAIRS = (("she", "he"), ("gal", "guy"))
SETS = (("mosque", "church", "temple"),)


def test_each_template_has_each_word_once():
    assert all(template.count("{text}") == 1 for template in TEMPLATES)
    assert len(set(TEMPLATES)) == len(TEMPLATES)
    assert in_contexts(["ovarian_cancer"])[0] == ("ovarian cancer",)
    assert contexts(["she", "he", "she"]) == [
        text for word in ("she", "he") for (text,) in in_contexts([word])
    ]


def test_sentences_of_a_set_differ_in_their_words_alone():
    sets = contextualised(PAIRS)
    assert len(sets) == 2 * len(TEMPLATES)
    assert all(one.replace("she", "he") == other for one, other in sets[: len(TEMPLATES)])


def test_sets_go_before_pairs():
    assert defining_sets(Concept(name="x", definitional_pairs=PAIRS)) == list(PAIRS)
    both = Concept(name="x", definitional_pairs=PAIRS, definitional_sets=SETS)
    assert defining_sets(both) == list(SETS)
    assert defining_sets(None) == []
