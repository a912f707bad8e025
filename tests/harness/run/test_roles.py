"""Queries and documents: a model with prompts by role encodes each text in its role."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import harness
from harness.embedder import MockEmbedder
from harness.encode import admission

PROMPTS = {"text": "", "query": "query: ", "document": "passage: "}
TASK = """
    name: my-search
    version: 1
    title: Which document is closest
    category: gender
    concept: gender
    kinds: [text]
    inputs:
      queries: {words: [who is a nurse, he is kind], role: query}
      versions_1: {words: [she is a nurse, she is kind], role: document}
      versions_2: {words: [he is a nurse, he is kind], role: document}
    metrics:
      version-gap: {options: {resamples: 0}}
    primary: {metric: version-gap, score: first_share}
    """

WITHOUT_ROLES = TASK.replace(", role: query", "").replace(", role: document", "")


class Asymmetric(MockEmbedder):
    """Encodes a text behind the prompt of its role; remembers the texts of each role."""

    def __init__(self, prompts=PROMPTS):
        super().__init__(dimensions=8)
        fingerprint = f"asymmetric-{prompts}"
        self.info = dataclasses.replace(
            self.info, fingerprint=fingerprint, role_prompts=prompts, max_tokens=20
        )
        self.encoded = []

    def encode(self, texts, *, role="text"):
        self.encoded += [(role, text) for text in texts]
        return super().encode([self.info.role_prompts[role] + text for text in texts])

    def lengths(self, texts, *, role="text"):
        return [len(self.info.role_prompts[role] + text) for text in texts]

    def truncated(self, texts, *, role="text"):
        return [length > self.info.max_tokens for length in self.lengths(texts, role=role)]


@pytest.fixture
def task(tmp_path):
    path = tmp_path / "my-search.yaml"

    def write(text=TASK):
        path.write_text("\n".join(line[4:] for line in text.splitlines()))
        return str(path)

    return write


def evaluate(model, task, tmp_path, mitigator="none"):
    return harness.evaluate(model, task, mitigator, cache=tmp_path / "cache")


def value(records):
    return next(record.value for record in records if record.score == "first_share")


def test_each_text_is_encoded_once_in_each_of_its_roles(task, tmp_path):
    model = Asymmetric()
    records = evaluate(model, task(), tmp_path)
    encoded = [pair for pair in model.encoded if pair[1] not in admission.TEXTS]
    assert sorted(encoded) == [
        ("document", "he is a nurse"),
        ("document", "he is kind"),
        ("document", "she is a nurse"),
        ("document", "she is kind"),
        ("query", "he is kind"),
        ("query", "who is a nurse"),
    ]
    (record, *_) = records
    assert record.model.prompts == PROMPTS
    assert (record.coverage.asked, record.coverage.found, record.coverage.truncated) == (5, 5, 3)
    again = Asymmetric()
    assert value(evaluate(again, task(), tmp_path)) == value(records)
    assert again.encoded == []


def test_scores_are_those_of_the_prompted_texts(task, tmp_path):
    prompted = WITHOUT_ROLES
    for text in ("who is a nurse, he is kind", "she is a nurse, she is kind"):
        assert text in prompted
    prompted = prompted.replace("[who is a nurse, he is", "['query: who is a nurse', 'query: he is")
    prompted = prompted.replace("[she is a nurse, she", "['passage: she is a nurse', 'passage: she")
    prompted = prompted.replace("[he is a nurse, he", "['passage: he is a nurse', 'passage: he")
    prompted = prompted.replace("kind]", "kind']")
    by_role = evaluate(Asymmetric(), task(), tmp_path)
    plain = evaluate(MockEmbedder(dimensions=8), task(prompted), tmp_path)
    assert [(r.score, r.value) for r in by_role] == [(r.score, r.value) for r in plain]


def test_roles_change_nothing_for_a_model_without_prompts_by_role(task, tmp_path):
    with_roles = evaluate(MockEmbedder(), task(), tmp_path)
    again = evaluate(MockEmbedder(), task(WITHOUT_ROLES), tmp_path)
    assert [(r.id, r.value) for r in with_roles] == [(r.id, r.value) for r in again]
    assert with_roles[0].model.prompts == {}


def test_a_role_with_the_prompt_of_plain_texts_shares_their_vectors(task, tmp_path):
    model = Asymmetric({"text": "query: ", "query": "query: ", "document": "passage: "})
    evaluate(model, task(), tmp_path)
    assert {role for role, _ in model.encoded} == {"text", "document"}


def test_a_mitigator_sees_texts_without_prompts_and_encodes_in_their_role(task, tmp_path):
    model = Asymmetric()
    evaluate(model, task(), tmp_path, "swap-average")
    swapped = {("query", "she is kind"), ("document", "she is kind"), ("document", "he is kind")}
    assert swapped <= set(model.encoded)
    assert {role for role, _ in model.encoded} == {"query", "document"}
    model.encoded.clear()
    evaluate(model, task(), tmp_path, "context-injection")
    assert ("query", "who is a nurse") not in model.encoded
    assert any(
        role == "query" and text.startswith("who is a nurse. ") for role, text in model.encoded
    )


def test_a_mitigator_is_fitted_on_plain_texts(task, tmp_path):
    model = Asymmetric()
    records = evaluate(model, task(), tmp_path, "hard-debias")
    assert ("text", "she") in model.encoded
    assert np.isfinite(value(records))
