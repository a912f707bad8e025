"""A concept's words in template sentences."""

from __future__ import annotations

import pytest

from harness.concept import Concept
from harness.errors import NotApplicable
from harness.plugins.mitigators.fitting.sentences import (
    BY_LANGUAGE,
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


@pytest.mark.parametrize("language", BY_LANGUAGE)
def test_templates_of_every_language_hold_the_word_once_and_alone_first(language):
    texts = template_texts(["elle"], language)
    assert texts[0] == "elle"
    assert len(set(texts)) == len(BY_LANGUAGE[language]) >= 7
    assert all(text.count("elle") == 1 and text.endswith(".") for text in texts[1:])


def test_a_language_without_sentences_is_named():
    with pytest.raises(NotApplicable, match="no template sentences in 'sw', only in en, de"):
        sets_in_templates(PAIRS, "sw")
