"""WinoBias and Winogender: versions differ in their pronouns, and occupations align."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from harness.registry.registry import Registry

FEMALE = {"she", "her", "hers", "herself"}
MALE = {"he", "him", "his", "himself"}
TASKS = ("winobias-similarity", "winogender-similarity")
ORIGINAL = {
    "winobias-similarity": "winobias/*_type?.txt.*",
    "winogender-similarity": "winogender/all*",
}


@pytest.fixture(scope="module")
def scenarios():
    """Return a function from a task's name to the inputs of its scenarios."""
    registry = Registry()
    return lambda name: {s.name: s.inputs for s in registry.task(name).scenarios}


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@pytest.mark.parametrize("task", TASKS)
def test_versions_differ_in_their_pronouns_alone_and_name_the_occupation(task, scenarios):
    for inputs in scenarios(task).values():
        names = ("sentences", "versions_1", "versions_2")
        rows = [*zip(*(inputs[name].texts for name in names), strict=True)]
        assert len(rows) == {"winobias-similarity": 640, "winogender-similarity": 120}[task]
        for phrase, male, female in rows:
            pairs = [
                pair for pair in zip(words(male), words(female), strict=True) if len({*pair}) > 1
            ]
            assert pairs, female
            assert {first for first, _ in pairs} <= MALE, male
            assert {second for _, second in pairs} <= FEMALE, female
            assert not FEMALE & {*words(male)}
            assert not MALE & {*words(female)}
            assert phrase.removeprefix("The ").lower() in female.lower()


@pytest.mark.parametrize("task", TASKS)
def test_all_sentences_of_an_occupation_are_one_item_with_one_share(task, scenarios):
    for inputs in scenarios(task).values():
        shares = inputs["statistics"].numbers
        clusters = inputs["sentences"].clusters
        assert clusters.tolist() == inputs["statistics"].clusters.tolist()
        assert ((shares >= 0) & (shares <= 1)).all()
        for code in set(clusters.tolist()):
            assert len({*shares[clusters == code]}) == 1
            assert len({inputs["sentences"].texts[i] for i in (clusters == code).nonzero()[0]}) == 1
        if task == "winobias-similarity":
            assert shares.mean() == 0.5


def test_stereotyped_versions_are_those_of_the_share(scenarios):
    (inputs,) = scenarios("winobias-similarity").values()
    names = ("sentences", "versions_1", "versions_2")
    rows = zip(*(inputs[name].texts for name in names), inputs["statistics"].numbers, strict=True)
    expected = {(phrase, *((f, m) if share else (m, f))) for phrase, m, f, share in rows}
    names = ("contexts", "stereotyped", "anti_stereotyped")
    assert {*zip(*(inputs[name].texts for name in names), strict=True)} == expected


@pytest.mark.parametrize("task", TASKS)
def test_every_sentence_is_one_of_the_original(task, scenarios):
    folder = os.environ.get("HARNESS_DATA")
    files = sorted(Path(folder).glob(ORIGINAL[task])) if folder else []
    if not files:
        pytest.skip("needs the original files, HARNESS_DATA")
    lines = "\n".join(path.read_text("utf-8") for path in files).splitlines()
    known = {plain(line.rpartition("\t")[2]) for line in lines}
    for inputs in scenarios(task).values():
        for name in ("versions_1", "versions_2"):
            assert {plain(text) for text in inputs[name].texts} <= known


def plain(line: str) -> str:
    """Return a sentence without its number, brackets, spaces and a repeated article."""
    letters = re.sub(r"[^a-z\u2019']", "", re.sub(r"^\d+ ", "", line).lower())
    return letters.replace("thethe", "the")
