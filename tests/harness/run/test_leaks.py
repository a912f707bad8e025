"""Leaks between fitting and judging: texts and words that a mitigator was fitted on."""

from __future__ import annotations

import dataclasses

import pytest

import harness
from harness.concept import Concept
from harness.embedder import MockEmbedder
from harness.mitigator import Mitigator
from harness.results.record import LEAKS
from harness.run.plan import fitting_words

SCIENCE, ART = ["physics", "astronomy", "chemistry"], ["poetry", "dance", "literature"]


class Uncased(MockEmbedder):
    """A mock that reads every text in lower case."""

    def __init__(self):
        super().__init__()
        self.info = dataclasses.replace(self.info, name="uncased", fingerprint="uncased")

    def encode(self, texts):
        return super().encode([text.lower() for text in texts])


def task(inputs, *, metric="weat", score="association", **more):
    return {
        "name": "mine",
        "version": 1,
        "title": "A test",
        "category": "gender",
        "concept": "gender",
        "inputs": inputs,
        "metrics": {metric: {}},
        "primary": {"metric": metric, "score": score},
        **more,
    }


def lists(female, male, **more):
    """A task of a user's own word lists."""
    sets = {"targets_1": SCIENCE, "targets_2": ART, "attributes_1": male, "attributes_2": female}
    inputs = {name: {"words": words} | more.get("source", {}) for name, words in sets.items()}
    return task(inputs, **{key: value for key, value in more.items() if key != "source"})


def primary(own_task, tmp_path, *, model=None, mitigators="hard-debias"):
    records = harness.evaluate(
        model or Uncased(), [own_task], mitigators=mitigators, cache=tmp_path
    )
    return next(record for record in records if record.primary), records


def held(record):
    return {part.input: (part.holding, part.texts) for part in record.word_overlap}


def test_own_lists_of_he_and_she_are_a_leak_that_no_mean_counts(tmp_path):
    record, records = primary(lists(["she", "her"], ["he", "his"]), tmp_path)
    assert record.overlap == ("he", "her", "his", "she")
    assert held(record) == {
        "targets_1": (0, 3), "targets_2": (0, 3), "attributes_1": (2, 2), "attributes_2": (2, 2),
    }  # fmt: skip
    assert record.is_leak
    assert record.left_out == LEAKS
    assert not any("fitted on" in line for line in records.notices)


def test_a_word_in_a_template_is_a_leak(tmp_path):
    sentences = lists(["wife", "SHE"], ["husband", "actor"], templates={"about": "It is {text}."},
                      source={"template": "about"})  # fmt: skip
    record, _ = primary(sentences, tmp_path)
    assert record.overlap == ("SHE",)
    assert held(record)["attributes_2"] == (1, 2)
    assert record.word_overlap[-1].words == ("she",)


ROWS = [
    ["The nurse is here.", "He is here.", "She is here.", 1],
    ["The other hero sang.", "The man sang.", "The woman sang.", 0],
    ["A guard and her mother.", "The actor sang.", "The actress sang.", 1],
]


def versions(rows):
    columns = ["sentence", "male", "female", "share"]
    names = {"sentences": "sentence", "versions_1": "male", "versions_2": "female"}
    inputs = {name: {"table": "all", "column": column} for name, column in names.items()}
    inputs["statistics"] = {"table": "all", "column": "share", "number": True}
    tables = {"all": {"columns": columns, "rows": rows}}
    return task(inputs, metric="similarity-gap", score="slope", tables=tables, kinds=["text"])


def test_words_inside_versions_are_counted_and_are_no_leak(tmp_path):
    record, records = primary(versions(ROWS), tmp_path)
    assert record.overlap == ()
    assert held(record) == {"sentences": (1, 3), "versions_1": (2, 3), "versions_2": (2, 3)}
    assert [part.versions for part in record.word_overlap] == [0, 2, 2]
    assert record.word_share == pytest.approx(5 / 9)
    assert not record.is_leak
    (line,) = [line for line in records.notices if "fitted on words inside" in line]
    assert "mine (5 of 9 texts)" in line


def test_words_are_counted_as_the_task_has_them_whatever_rewrites_its_texts(tmp_path):
    alone, _ = primary(versions(ROWS), tmp_path)
    chained, _ = primary(versions(ROWS), tmp_path, mitigators="context-injection+hard-debias")
    assert chained.word_overlap == alone.word_overlap


def test_a_model_that_reads_case_tells_a_word_from_its_capitals(tmp_path):
    rows = [[row[0], "HE is here.", *row[2:]] for row in ROWS[:1]] + ROWS[1:]
    uncased, _ = primary(versions(rows), tmp_path)
    cased, _ = primary(versions(rows), tmp_path, model=MockEmbedder())
    assert held(uncased)["versions_1"] == (2, 3)
    assert held(cased)["versions_1"] == (1, 3), "'HE' is another word"
    assert held(cased)["versions_2"] == (2, 3), "the equalize sets have 'She'"


def test_a_text_of_one_word_counts_only_if_its_vector_is_that_of_the_word(tmp_path):
    words = lists(["SHE", "wife"], ["husband", "HE"])
    assert primary(words, tmp_path)[0].overlap == ("HE", "SHE")
    record, _ = primary(words, tmp_path, model=MockEmbedder())
    assert record.overlap == ()
    assert record.word_share == 0


def test_of_sentences_of_a_fit_the_words_of_the_concept_count():
    concept = Concept(name="own", definitional_pairs=[("she", "he")], specific_words=["nun"])
    sentences = ["She is a doctor.", "He is a doctor.", "The old nun is a doctor."]
    assert fitting_words([*sentences, "twin brother"], concept) == ["twin brother", "she", "he",
                                                                   "nun"]  # fmt: skip
    assert fitting_words(sentences, None) == []


class OnSentences(Mitigator):
    """Is fitted on sentences alone."""

    needs = ("definitional_pairs",)

    def fitting_texts(self, concept):
        pairs = concept.definitional_pairs
        return [f"We have often talked about {word} here." for pair in pairs for word in pair]


def test_a_fit_on_sentences_alone_is_found_by_the_words_of_the_concept(tmp_path):
    record, _ = primary(versions(ROWS), tmp_path, mitigators=OnSentences())
    assert held(record) == {"sentences": (1, 3), "versions_1": (2, 3), "versions_2": (2, 3)}
