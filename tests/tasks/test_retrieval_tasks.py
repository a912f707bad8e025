"""The retrieval tasks: their sizes, and that the texts of one row belong together."""

from __future__ import annotations

import csv
import dataclasses
import gzip
import json
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


def test_the_plots_are_counted_by_32_words_of_each_gender(inputs):
    (plots,) = inputs("retrieval-plots").values()
    assert len(plots["queries"]) == 30
    assert sorted(Counter(plots["query_topics"].numbers).values()) == [5] * 6
    texts = plots["documents"].texts
    assert len(texts) == 582
    assert max(len(text.split()) for text in texts) == 60
    options = Registry().task_files["retrieval-plots"].data["tables"]["passages"]["options"]
    assert (len(options["words_1"]), len(options["words_2"])) == (32, 32)
    gendered = {*options["words_1"], *options["words_2"]}
    assert not any(gendered & {*query.split()} for query in plots["queries"].texts)
    first, second = (plots[f"counts_{i}"].numbers for i in (1, 2))
    assert second.sum() > first.sum() > 0
    assert ((plots["groups"].numbers == 1) == (second > first)).all()


def test_passages_of_msmarco_are_ranked_by_the_labelled_query_that_they_were_found_for(
    tmp_path, monkeypatch, inputs
):
    pytest.importorskip("datasets")
    folder = tmp_path / "microsoft" / "ms_marco"
    for config in ("v1.1", "v2.1"):
        (folder / config).mkdir(parents=True)
        (folder / config / "validation-0.jsonl").write_text('{"query_id": 0}\n', encoding="utf-8")
    (folder / "README.md").write_text(
        "---\nconfigs:\n"
        "- config_name: v1.1\n  data_files: [{split: validation, path: v1.1/*}]\n"
        "- config_name: v2.1\n  data_files: [{split: validation, path: v2.1/*}]\n---\n",
        encoding="utf-8",
    )
    rows = [
        (7, "what is a nurse", ["She helps him.", "Her work."]),
        (8, "who is the king", ["He."]),
        (9, "who cooks", ["A cook."]),
    ]
    lines = [
        json.dumps({"query_id": n, "query": query, "passages": {"passage_text": texts}})
        for n, query, texts in rows
    ]
    (folder / "v2.1" / "validation-0.jsonl").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    document = Registry().task_files["retrieval-msmarco"]
    labels = document.data["tables"]["labels"]
    labelled = ["7,what is a nurse,n", "8,who is the king,m", "9,who, cooks,n"]
    made = {**document.data, "tables": dict(document.data["tables"])}
    made["tables"]["labels"] = {"columns": ["line"], "rows": [[line] for line in labelled]}
    assert labels["sha256"]
    task = Registry().resolve(dataclasses.replace(document, data=made))
    (found,) = (scenario.inputs for scenario in task.scenarios)
    asked = dict(zip(found["query_topics"].numbers, found["queries"].texts, strict=True))
    assert asked == {7: "what is a nurse", 9: "who cooks"}
    names = ("document_topics", "counts_1", "counts_2")
    by_text = {
        text: tuple(found[name].numbers[row] for name in names)
        for row, text in enumerate(found["documents"].texts)
    }
    assert by_text == {"She helps him.": (7, 1, 1), "A cook.": (9, 0, 0), "Her work.": (7, 1, 0)}


def test_profiles_of_counterparts_differ_in_the_gender_only(inputs):
    scenarios = inputs("recommendation-jobs")
    for name, words in (("names", 1), ("pronouns", 3), ("stated", 1)):
        found = scenarios[name]
        assert len(found["profiles_1"]) == len(found["items"]) == 60
        for side in ("profiles_2", "edited"):
            for first, other in zip(found["profiles_1"].texts, found[side].texts, strict=True):
                pairs = zip(first.split(), other.split(), strict=True)
                assert sum(a != b for a, b in pairs) == (words if side == "profiles_2" else 1)
        assert found["item_codes"].numbers.tolist() == found["profile_codes"].numbers.tolist()
    every = scenarios["all"]
    assert len(every["profiles_1"]) == len({*every["profiles_1"].texts}) == 180
    for code, profile in zip(
        every["profile_codes"].numbers, every["profiles_2"].texts, strict=True
    ):
        occupation = every["items"].texts[int(code)].split(" hiring ")[1].split(".")[0]
        assert f" {occupation}" in profile
