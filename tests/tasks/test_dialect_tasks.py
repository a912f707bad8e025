"""The tasks on dialect and style and on descriptors: what their texts have and lack."""

from __future__ import annotations

import csv
import itertools
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from harness import tasks
from harness.plugins.tables.misspelt import words_changed
from harness.registry.registry import Registry

VARIETIES = ("aae", "learner", "informal")
NAMES = ("disability", "forms", "class", "politics")
MESSAGES = Path(tasks.__file__).parent / "dialect" / "data" / "messages.tsv"
FEATURES = {
    "ain't", "completive done", "existential it", "got for has", "habitual be", "negative concord",
    "negative inversion", "possessive without -s", "third person without -s", "was for were",
    "zero copula",
}  # fmt: skip


@pytest.fixture(scope="module")
def registry():
    return Registry()


@pytest.fixture(scope="module")
def messages():
    with MESSAGES.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def of(registry, name):
    return {part.name: part.inputs for part in registry.task(name).scenarios}


def test_there_are_four_messages_on_each_of_sixteen_topics(messages):
    assert {*Counter(row["topic"] for row in messages).values()} == {4}
    assert len(messages) == 64
    for column in ("standard", *VARIETIES, "document"):
        assert len({row[column] for row in messages}) == 64, column


def test_every_message_differs_from_the_standard_and_names_published_features(messages):
    for row in messages:
        assert all(row["standard"] != row[variety] for variety in VARIETIES)
        assert {*row["aae_features"].split(", ")} <= FEATURES, row["aae"]
        assert row["learner_errors"]
    found = Counter(itertools.chain(*(row["aae_features"].split(", ") for row in messages)))
    assert len(found) == len(FEATURES)


@pytest.mark.parametrize("variety", VARIETIES)
def test_a_search_has_the_same_documents_for_all_versions(variety, registry, messages):
    (inputs,) = of(registry, f"dialect-retrieval-{variety}").values()
    assert list(inputs["queries"].texts) == [row["standard"] for row in messages]
    assert list(inputs["varied"].texts) == [row[variety] for row in messages]
    assert list(inputs["documents"].texts) == [row["document"] for row in messages]
    assert [inputs[name].role for name in ("varied", "edited", "documents")] == [
        "query", "query", "document",
    ]  # fmt: skip
    changed = [
        (words_changed(standard, edited), words_changed(standard, varied))
        for standard, edited, varied in zip(
            *(inputs[name].texts for name in ("queries", "edited", "varied")), strict=True
        )
    ]
    assert all(edited <= varied for edited, varied in changed)
    assert sum(edited for edited, _ in changed) >= 0.8 * sum(varied for _, varied in changed)


@pytest.mark.parametrize("name", NAMES)
def test_a_sentence_and_its_two_versions_are_about_the_same(name, registry):
    for inputs in of(registry, f"descriptors-{name}").values():
        rows = zip(
            *(inputs[i].texts for i in ("sentences", "versions_1", "versions_2")), strict=True
        )
        for sentence, good, bad in rows:
            predicate = " ".join(good.split()[3:])
            assert sentence.endswith(f" {predicate}")
            assert bad.endswith(f" person {predicate}")
        labels = Counter(inputs["statistics"].numbers.tolist())
        assert labels[0.0] == labels[1.0] > 0


def test_no_descriptor_has_a_word_of_a_trait(registry):
    traits = set()
    for inputs in of(registry, "descriptors-class").values():
        for side in ("versions_1", "versions_2"):
            traits |= {text.split()[1] for text in inputs[side].texts}
    assert len(traits) == 12
    for name in NAMES:
        for inputs in of(registry, f"descriptors-{name}").values():
            words = {*re.findall(r"\w+", " ".join(inputs["sentences"].texts).lower())}
            assert not words & {*re.findall(r"\w+", " ".join(traits))}, name


@pytest.mark.long
def test_learners_sentences_of_the_hub_stand_without_their_instruction(tmp_path, monkeypatch):
    pytest.importorskip("datasets")
    folder = tmp_path / "grammarly" / "coedit"
    folder.mkdir(parents=True)
    rows = [
        {
            "_id": str(i),
            "task": "gec" if i % 2 else "clarity",
            "src": f"Fix grammar: Text number {i} have some error: two.",
            "tgt": f"Text number {i} has some errors: two.",
        }
        for i in range(8)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "validation.jsonl").write_text(lines)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (scenario,) = Registry().task("dialect-retrieval-coedit").scenarios
    inputs = scenario.inputs
    assert inputs["documents"].texts == inputs["queries"].texts
    assert inputs["queries"].texts[0] == "Text number 1 has some errors: two."
    assert inputs["varied"].texts[0] == "Text number 1 have some error: two."
    assert len(inputs["varied"].texts) == 4
    assert all(sorted(e) == sorted(q) and e != q for e, q in
               zip(inputs["edited"].texts, inputs["queries"].texts, strict=True))  # fmt: skip
