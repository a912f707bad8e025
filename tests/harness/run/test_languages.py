"""Mitigators of tasks in several languages: their concepts, and their own forms by language."""

from __future__ import annotations

import pytest

from harness.chain import Chain
from harness.concept import Concept
from harness.embedder import MockEmbedder
from harness.errors import NotApplicable
from harness.mitigator import Mitigator
from harness.run import plan

TASK = """
name: places-${language}
version: 1
title: Places
category: places
language: ${language}
concept: toy-place
kinds: [text]
sets: {country: [campo], town: [ciudad]}
templates: {in: "en el {text}"}
inputs:
  targets_1: {set: country, template: in}
  targets_2: {set: town, template: in}
metrics: {toy-gap: {}}
primary: {metric: toy-gap, score: gap}
each: [{language: en}, {language: es}, {language: sw}]
"""
SPANISH = """
name: toy-place-es
language: es
definitional_pairs: [[pueblo, ciudad], [granja, calle]]
"""
GREETINGS = {"en": "hello", "es": "hola"}
NAMES = ["places-en", "places-es", "places-sw"]


class Swap(Mitigator):
    """Adds a word of the concept to each text."""

    needs = ("definitional_pairs",)
    monolingual = True

    def fit(self, embedder, concept=None):
        self.word_ = concept.definitional_pairs[0][0]
        return self

    def rewrite(self, texts):
        return [f"{text} {self.word_}" for text in texts]


class Greet(Mitigator):
    """Adds a greeting in the language of a text; it needs no concept."""

    def __init__(self, word=None):
        self.word = word

    @property
    def depends_on(self):
        return self.word or "hello"

    def in_language(self, language):
        if language == "en":
            return self
        if language not in GREETINGS:
            raise NotApplicable(f"no greeting in '{language}'")
        return Greet(GREETINGS[language])

    def rewrite(self, texts):
        return [f"{text} {self.word or 'hello'}" for text in texts]


@pytest.fixture
def planned(registry_with, write):
    """Plan the three tasks under a mitigator; the concept toy-place exists in English, Spanish."""
    write("more/concepts/toy-place-es.yaml", SPANISH)
    folder = write("more/family/places.yaml", TASK).parents[1]

    def make(mitigator, fallback=None):
        registry = registry_with(include=[folder])
        return plan.make_plan(
            MockEmbedder("text"),
            [registry.task(name) for name in NAMES],
            {"it": Chain([mitigator])},
            fallback=fallback,
            translation=registry.concept_in,
        )

    return make


def test_a_mitigator_that_changes_words_is_fitted_in_the_language_of_the_task(planned):
    made = planned(Swap())
    assert [job.part.concept for job in made.jobs] == ["toy-place", "toy-place-es"]
    assert {"en el campo village", "en el campo pueblo"} < set(made.texts)
    (skipped,) = made.not_run
    assert skipped.task == "places-sw"
    assert not skipped.failed
    assert "in 'sw': it needs a concept 'toy-place-sw' with definitional_pairs" in skipped.reason


def test_a_mitigator_of_vectors_takes_another_language_if_there_is_no_other_concept(planned):
    class Shift(Mitigator):
        needs = ("definitional_pairs",)

    assert [job.part.concept for job in planned(Shift()).jobs] == [
        "toy-place",
        "toy-place-es",
        "toy-place",
    ]


def test_the_fallback_is_taken_in_the_language_of_the_task(planned):
    class Context(Swap):
        needs = ("contexts",)

        def fit(self, embedder, concept=None):
            self.word_ = concept.contexts["debiasing"]
            return self

    fallback = Concept(name="other", language="sw", contexts={"debiasing": "mtu"})
    made = planned(Context(), fallback)
    assert [(job.task.name, job.part.concept) for job in made.jobs] == [("places-sw", "other")]
    assert "'toy-place-es' or 'other-es' with contexts" not in made.not_run[0].reason
    assert "'other-en'" in made.not_run[0].reason


def test_a_mitigator_without_a_concept_may_be_another_one_in_each_language(planned):
    made = planned(Greet())
    assert {"en el campo hello", "en el campo hola"} < set(made.texts)
    assert {job.part.label for job in made.jobs} == {"it"}
    assert len({job.part.fingerprint for job in made.jobs}) == 2
    assert [bool(job.part.method) for job in made.jobs] == [True, False]
    assert [entry.reason for entry in made.not_run] == ["no greeting in 'sw'"]
