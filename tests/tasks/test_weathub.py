"""WEATHub: what is wrong with its lists, what is shipped of them, and what the tasks have."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from harness import tasks
from harness.arrays import unit_rows
from harness.plugins.metrics.weat_mean import weat_mean
from harness.plugins.tables import mended_tests
from harness.registry.discovery import load_file
from harness.registry.registry import Registry
from harness.task import data_files
from harness.task.schema import Table

FAMILY = Path(tasks.__file__).parent / "weathub"
README = (FAMILY / "README.md").read_text("utf-8")
KEYS = dict(zip(("targ1", "targ2", "attr1", "attr2"), mended_tests.INPUTS, strict=True))
ORIGINAL = Path(os.environ.get("HARNESS_DATA", "no such folder")) / "weathub" / "data"
LANGUAGES = [mapping["language"] for mapping in load_file(FAMILY / "weathub.yaml").data["each"]]
INDIAN = [mapping["language"] for mapping in load_file(FAMILY / "weathub-india.yaml").data["each"]]
ELSEWHERE = {"weat3", "weat4", "weat5", "weat10"}
"""English tests that the family `weat` has."""


@pytest.fixture(scope="module")
def registry():
    return Registry()


@pytest.fixture(scope="module")
def shipped():
    """Return the lists of each language and test, as they are shipped."""
    table = Table(**load_file(FAMILY / "weathub.yaml").data["tables"]["lists"])
    rows = data_files.parse_table(table, FAMILY / "data" / "tests.tsv.gz")
    return {
        (language, test): lists
        for language in dict.fromkeys(row["language"] for row in rows)
        for test, lists in mended_tests.word_lists(rows, language).items()
    }


def test_the_shipped_lists_are_those_of_the_repository(shipped):
    if not ORIGINAL.is_dir():
        pytest.skip("HARNESS_DATA has no original of WEATHub")
    original = {}
    for path in ORIGINAL.glob("*/*.json"):
        sets = json.loads(path.read_text("utf-8"))
        lists = {name: sets[key]["examples"] for key, name in KEYS.items()}
        original[path.parent.name.split("_")[0], path.stem] = lists
    assert shipped == original


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_thirteen_tests_without_a_repeated_word(language, registry, shipped):
    task = registry.task(f"weathub-{language}")
    assert task.file.language == language
    assert task.file.not_ranked
    assert task.file.reviewed == (language == "en")
    n = 0
    for scenario in task.scenarios:
        numbers, inputs = {0.0}, scenario.inputs
        if "tests_of_targets_1" in inputs:
            numbers = set(inputs["tests_of_targets_1"].numbers.tolist())
        n += len(numbers)
        for number in numbers:
            words = []
            for name in mended_tests.INPUTS:
                of = inputs.get(f"tests_of_{name}")
                texts = np.array(inputs[name].texts)
                words += texts[of.numbers == number].tolist() if of else texts.tolist()
            assert len({word.casefold() for word in words}) == len(words), (scenario.name, number)
    assert n == 13
    tests = {test for of, test in shipped if of == language} - ELSEWHERE
    assert len(tests) == (13 if language not in INDIAN else 24)


@pytest.mark.parametrize("language", INDIAN)
def test_a_language_of_india_has_six_tests_more(language, registry):
    task = registry.task(f"weathub-india-{language}")
    assert [scenario.name for scenario in task.scenarios] == [
        "caste", "religion", "gender", "region",
    ]  # fmt: skip
    assert not task.file.reviewed
    counts = [len(set(s.inputs["tests_of_targets_1"].numbers)) for s in task.scenarios[:2]]
    assert counts == [2, 2]


def test_english_has_the_words_of_weat_6_to_8(registry):
    inputs = registry.task("weathub-en").scenarios[0].inputs
    for name in mended_tests.INPUTS:
        texts, of = np.array(inputs[name].texts), inputs[f"tests_of_{name}"].numbers
        for number in (6, 7, 8):
            weat = registry.task(f"weat-{number}").scenarios[0].inputs[name].texts
            assert texts[of == number].tolist() == list(weat)


def test_english_by_hand(registry):
    """Means of cosines, written out, against the metric on the words of the task."""
    inputs = registry.task("weathub-en").scenarios[0].inputs
    draw = np.random.default_rng(1)
    vectors = {
        word: draw.normal(size=20)
        for name in mended_tests.INPUTS
        for word in dict.fromkeys(inputs[name].texts)
    }
    arrays, single = {}, []
    for name in mended_tests.INPUTS:
        arrays[name] = np.array([vectors[word] for word in inputs[name].texts])
        arrays[f"tests_of_{name}"] = inputs[f"tests_of_{name}"].numbers
    for number in (6, 7, 8):
        x, y, a, b = (
            unit_rows(arrays[name][arrays[f"tests_of_{name}"] == number])
            for name in mended_tests.INPUTS
        )
        single.append(
            (x @ a.T).mean() - (x @ b.T).mean() - (y @ a.T).mean() + (y @ b.T).mean()
        )  # fmt: skip
    score = weat_mean(**arrays, rng=draw)
    assert score.value == pytest.approx(np.mean(single))
    assert [row["association"] for row in score.tables["tests"]] == pytest.approx(single)
