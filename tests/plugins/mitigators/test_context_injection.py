"""Context injection adds a sentence to each text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.concept import Concept
from harness.embedder import MockEmbedder
from harness.errors import NotApplicable
from harness.plugins.mitigators.context_injection import ContextInjection

# Uriot, On debiasing text embeddings through context injection, table 2
UNKNOWN = "This person's gender is unknown."
GENDER = Concept(
    name="gender", contexts={"debiasing": UNKNOWN, "positive": "This person is a woman."}
)


def fitted(**options) -> ContextInjection:
    return ContextInjection(**options).fit(MockEmbedder(), GENDER)


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        ("This person is a nurse.", f"This person is a nurse. {UNKNOWN}"),
        ("Who is a nurse?", f"Who is a nurse? {UNKNOWN}"),
        ('She said "stop!"', f'She said "stop!" {UNKNOWN}'),
        ("nurse", f"nurse. {UNKNOWN}"),
        ("nurse \n", f"nurse. {UNKNOWN}"),
        ("", UNKNOWN),
        (f"This person is a nurse. {UNKNOWN}", f"This person is a nurse. {UNKNOWN}"),
    ],
)
def test_the_context_follows_the_text_as_a_sentence(text, rewritten):
    assert fitted().rewrite([text]) == [rewritten]


def test_another_context_can_be_chosen():
    assert fitted(context="positive").rewrite(["A nurse."]) == ["A nurse. This person is a woman."]


@given(st.lists(st.text(max_size=20)))
def test_adding_the_context_twice_equals_adding_it_once(texts):
    once = fitted().rewrite(texts)
    assert len(once) == len(texts)
    assert all(text.endswith(UNKNOWN) for text in once)
    assert fitted().rewrite(once) == once


def test_the_error_of_an_unknown_context_names_the_known_ones():
    with pytest.raises(NotApplicable, match=r"'debias'.*'debiasing'"):
        fitted(context="debias")
    with pytest.raises(NotApplicable, match=r"'neutral'.*debiasing, positive"):
        fitted(context="neutral")


@pytest.mark.parametrize("concept", [None, Concept(name="age")])
def test_a_concept_without_contexts_is_not_applicable(concept):
    with pytest.raises(NotApplicable, match="contexts"):
        ContextInjection().fit(MockEmbedder(), concept)
