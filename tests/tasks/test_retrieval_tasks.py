"""The retrieval tasks: their sizes, and that the texts of one row belong together."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from pathlib import Path

import pytest

from harness import tasks
from harness.registry.registry import Registry

DATA = Path(tasks.__file__).parent / "retrieval" / "data"


@pytest.fixture(scope="module")
def inputs():
    """Return a function from a task's name to its inputs by scenario."""

    def find(name):
        return {s.name: s.inputs for s in Registry().task(name).scenarios}

    return find


def words(text: str) -> str:
    """Return a text on one line: the texts of cells may have several."""
    return " ".join(text.split())


def test_the_army_has_five_chunks_of_each_kind_and_four_queries(inputs):
    scenarios = inputs("retrieval-army")
    neutral = scenarios["neutral"]
    assert Counter(neutral["groups"].numbers.tolist()) == {0: 5, 1: 5, 2: 5, 3: 5}
    relevant = neutral["document_topics"].numbers == neutral["query_topics"].numbers[0]
    assert relevant.tolist() == [True] * 15 + [False] * 5
    queries = {inputs_["queries"].texts[0] for inputs_ in scenarios.values()}
    assert len(queries) == 4
    assert scenarios["female"]["queries"].texts == neutral["queries_1"].texts
    assert scenarios["male"]["queries"].texts == neutral["queries_2"].texts
    for inputs_ in scenarios.values():
        assert inputs_["documents"].texts == neutral["documents"].texts


def test_chunks_of_one_number_differ_in_gender_only(inputs):
    texts = inputs("retrieval-army")["neutral"]["documents"].texts
    for female, male, neutral in zip(texts[:5], texts[5:10], texts[10:15], strict=True):
        assert len(set(female.split()) ^ set(male.split())) == 2
        assert set(female.split()) & set(male.split()) & set(neutral.split())


def test_versions_in_grep_biasir_answer_the_query_of_their_row(inputs):
    scenarios = inputs("retrieval-grep-biasir")
    every = scenarios["all"]
    names = ("queries", "versions_1", "versions_2", "neutral")
    rows = set(zip(*(map(words, every[name].texts) for name in names), strict=True))
    assert len(every["queries"]) == 117
    answers: dict[tuple[str, str], dict[str, str]] = {}
    for path in DATA.glob("queries-documents_*.csv.gz"):
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row["relevant"] == "1":
                    text = words(f"{row['doc_title']} {row['document']}")
                    by = answers.setdefault((row["q_id"], words(row["query"])), {})
                    by[row["content_gender"]] = text
    assert rows == {(query, by["F"], by["M"], by["N"]) for (_, query), by in answers.items()}
    fields = [len(part["queries"]) for name, part in scenarios.items() if name != "all"]
    assert sum(fields) == 117


def test_each_query_of_grep_biasir_has_three_answers_of_its_own(inputs):
    answers = inputs("retrieval-grep-biasir-answers")["default"]
    versions = inputs("retrieval-grep-biasir")["all"]
    assert answers["queries"].texts == versions["queries"].texts
    documents = Counter(answers["documents"].texts)
    names = ("versions_1", "versions_2", "neutral")
    assert documents == Counter(text for name in names for text in versions[name].texts)
    topics, groups = answers["document_topics"].numbers, answers["groups"].numbers
    assert sorted(answers["query_topics"].numbers) == list(range(117))
    for topic in answers["query_topics"].numbers:
        assert sorted(groups[topics == topic]) == [0, 1, 2]
    of_query = dict(zip(answers["query_topics"].numbers, answers["queries"].texts, strict=True))
    for path in DATA.glob("queries-documents_*.csv.gz"):
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                assert words(of_query[int(row["q_id"])]) == words(row["query"])


def test_gendered_queries_have_the_gender_of_the_stereotype_first(inputs):
    scenarios = inputs("retrieval-gendered-queries")
    assert {name: len(part["queries"]) for name, part in scenarios.items()} == {
        "all": 280,
        "of-women": 140,
        "of-men": 140,
    }
    assert sorted(set(scenarios["of-women"]["topics"].numbers)) == [0, 1, 2, 3]
    assert sorted(set(scenarios["of-men"]["topics"].numbers)) == [4, 5, 6, 7]
    for word, scenario in (("female", "of-women"), ("male", "of-men")):
        first = " ".join(scenarios[scenario]["versions_1"].texts).split()
        second = " ".join(scenarios[scenario]["versions_2"].texts).split()
        assert first.count(word) > 5 * second.count(word)
