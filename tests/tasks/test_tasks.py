"""The tasks that ship: they load, are complete, and keep to the conventions."""

from __future__ import annotations

import functools
import os
import re
from collections import Counter
from pathlib import Path

import pytest

from harness import tasks
from harness.commands import show
from harness.leaderboard.boards import references
from harness.leaderboard.claims import facts
from harness.registry.discovery import files_of, load_file
from harness.registry.registry import Registry
from harness.task import yaml_files
from harness.task.schema import TaskFile

FOLDER = Path(tasks.__file__).parent
FILES = files_of(FOLDER, "task")
DOCUMENTS = {path: yaml_files.documents(load_file(path)) for path in FILES}
TASKS = {part.data["name"]: part.data for parts in DOCUMENTS.values() for part in parts}
NAMES = [*TASKS]
LARGE = {name for name, data in TASKS.items() if data.get("large")}
"""Tasks that take too long to be resolved here; they have tests of their own."""
WITHOUT_COPY = {name for name in NAMES if name.startswith(("x-weat-", "ca-weat-"))}
"""Tasks of which HARNESS_DATA has no data, either: test_languages.py reads files of their form."""
FETCHED = tuple(
    name
    for name, data in TASKS.items()
    if name not in {*LARGE, *WITHOUT_COPY}
    and any("url" in table for table in data.get("tables", {}).values())
)
SHIPPED = [name for name in NAMES if name not in {*FETCHED, *LARGE, *WITHOUT_COPY}]
WEAT_SIZES = {
    "weat-1": (25, 25, 25, 25),
    "weat-2": (25, 25, 25, 25),
    "weat-3": (32, 32, 25, 25),
    "weat-4": (18, 18, 25, 25),
    "weat-5": (18, 18, 8, 8),
    "weat-6": (8, 8, 8, 8),
    "weat-7": (8, 8, 8, 8),
    "weat-8": (8, 8, 8, 8),
    "weat-9": (6, 6, 7, 7),
    "weat-10": (8, 8, 8, 8),
}
SIMILARITY_SIZES = {
    "ws-353": 353,
    "simlex-999": 999,
    "sts-b": 1379,
    "rg-65": 65,
    "mc-30": 30,
    "men-3k": 3000,
    "mturk-287": 287,
    "mturk-771": 771,
    "rw-stanford": 2034,
    "simverb-3500": 3500,
    "verb-143": 144,  # one more than in its name
    "yp-130": 130,
    "sick-r": 9927,
    "sts-14": 3750,
    "summeval": 1600,
}
PROBES = {  # number of training texts, of test texts (0 without a test part), and of labels
    "book-genres": (300, 0, 6),
    "snli-pairs": (1000, 1000, 3),
    "senteval-cr": (2000, 0, 2),
    "senteval-mpqa": (2000, 0, 2),
    "senteval-mr": (2000, 0, 2),
    "senteval-mrpc": (1500, 1000, 2),
    "senteval-sick-e": (2000, 1000, 3),
    "senteval-sst": (2000, 1000, 2),
    "senteval-sst5": (2000, 1000, 5),
    "senteval-subj": (2000, 0, 2),
    "senteval-trec": (2000, 500, 6),
}
PUBLISHED = {  # SentEval's parts: texts to train on, development and test texts
    "senteval-cr-published": (3771, 0, 0),  # 4 of 3,775 lines have no text
    "senteval-mpqa-published": (10603, 0, 0),  # 3 of 10,606 have none
    "senteval-mr-published": (10662, 0, 0),
    "senteval-mrpc-published": (4076, 0, 1725),
    "senteval-sick-e-published": (4500, 500, 4927),
    "senteval-sst-published": (6920, 872, 1821),
    "senteval-sst5-published": (8544, 1101, 2210),
    "senteval-subj-published": (10000, 0, 0),
    "senteval-trec-published": (5452, 0, 500),
    "senteval-sick-r": (4500, 500, 4927),
    "senteval-sts-b": (5749, 1500, 1379),
    "senteval-sts-b-published": (5749, 1500, 1379),
}
FOUR = ("targets_1", "targets_2", "attributes_1", "attributes_2")
INJECTION_SIZES = {
    "gender-occupations": {"targets_1": 20, "targets_2": 20, "pairs_1": 20, "labels": 48},
    "age-traits": {"targets_1": 22, "targets_2": 21, "pairs_1": 22, "labels": 29},
    "wealth-ethnicities": {"targets_1": 44, "targets_2": 44, "pairs_1": 44, "labels": 34},
}


class OneReading(Registry):
    """A registry that resolves each task once: reading all of them takes ten seconds."""

    def __init__(self):
        super().__init__()
        self._resolved = {}

    def resolve(self, document, *, limit=None):
        key = document.path, document.data["name"], limit
        if key not in self._resolved:
            self._resolved[key] = super().resolve(document, limit=limit)
        return self._resolved[key]


@pytest.fixture(scope="module")
def registry():
    return OneReading()


@pytest.fixture(scope="module")
def task(registry):
    """Return a function that resolves a task once; without HARNESS_DATA no data is fetched."""

    @functools.cache
    def find(name):
        if name in FETCHED and "HARNESS_DATA" not in os.environ:
            pytest.skip(f"the data of '{name}' is fetched: HARNESS_DATA is not set")
        return registry.task(name)

    return find


@pytest.fixture(params=[SHIPPED, FETCHED], ids=["shipped", "fetched"])
def every_task(request, task):
    """Return a function that applies a check to each task, and reports all that fail."""

    def run(check):
        failures = []
        for name in request.param:
            try:
                check(task(name))
            except AssertionError as error:
                failures.append(f"{name}: {error}")
        assert not failures, "\n".join(failures)

    return run


def test_a_task_has_the_name_of_its_file_title_source_licence_and_description():
    for path, documents in DOCUMENTS.items():
        for file in (document.validate(TaskFile) for document in documents):
            assert len(documents) > 1 or file.name == path.stem
            for key in ("title", "source", "licence", "description"):
                assert getattr(file, key), f"{file.name}: {key}"
            assert len(file.title) <= 100, file.name


def test_the_shipped_facts_are_those_of_the_shipped_tasks(registry):
    outdated = facts.outdated(facts.current(registry))
    command = "`python -m harness.leaderboard.claims.facts`"
    assert outdated == [], f"no current facts of {', '.join(outdated)}: {command} computes them"


def test_the_shipped_references_cover_the_shipped_tasks_as_they_are(registry):
    outdated = references.outdated(registry)
    command = "`python -m harness.leaderboard.boards.references`"
    assert outdated == [], f"no reference records of {', '.join(outdated)}: {command} computes them"


def test_show_works_for_every_listed_task(registry, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # nothing listens there
    assert set(NAMES) <= set(registry.task_files.owners)
    for name in registry.task_files.owners:
        shown = show.describe(registry, "task", name)
        assert name in "\n".join(show.lines(shown))
        reason = shown.get("unavailable", "")
        assert not reason or "missing data" in reason or "its data" in reason or "hf://" in reason


def test_no_input_is_empty_and_no_text_is_blank(every_task):
    def check(loaded):
        # Documents of the web have paragraphs.
        has_line_breaks = loaded.name.startswith("retrieval-grep-biasir")
        for scenario in loaded.scenarios:
            for item in scenario.inputs.values():
                assert len(item) > 0 or item.vocabulary, f"{scenario.name}: {item.name}"
                for text in item.texts or ():
                    assert text.strip(), f"{scenario.name}: {item.name}"
                    assert not re.search(r"\{\w*\}", text), text
                    assert has_line_breaks or "\n" not in text, text

    every_task(check)


def test_every_input_is_used_by_a_metric(every_task):
    def check(loaded):
        for scenario in loaded.scenarios:
            used = {i.name for use in scenario.measurements for i in use.inputs.values()}
            assert used == set(scenario.inputs)

    every_task(check)


def test_scenarios_differ(every_task):
    def check(loaded):
        contents = [
            (
                {key: item.content() for key, item in scenario.inputs.items()},
                [use.options for use in scenario.measurements],
            )
            for scenario in loaded.scenarios
        ]
        for i, content in enumerate(contents):
            assert content not in contents[:i]

    every_task(check)


def test_a_usefulness_task_names_the_concept_whose_removal_it_prices():
    loaded = [part.validate(TaskFile) for parts in DOCUMENTS.values() for part in parts]
    useful = [file for file in loaded if file.measures == "usefulness"]
    more = {"google-analogies", "msr-analogies", "retrieval-grep-biasir-answers"}
    more |= {"senteval-sick-r", "senteval-sts-b"}
    assert {file.name for file in useful} == {*SIMILARITY_SIZES, *PROBES, *more}
    for file in useful:
        assert file.concept == "gender", file.name
        assert "mitigators" in file.description, file.name


@pytest.mark.parametrize("fetched", [False, True], ids=["shipped", "fetched"])
def test_similarity_data_have_their_published_sizes(fetched, task):
    for name, size in SIMILARITY_SIZES.items():
        if (name in FETCHED) == fetched:
            assert len(task(name).scenarios[0].inputs["ratings"]) == size


@pytest.mark.parametrize("fetched", [False, True], ids=["shipped", "fetched"])
def test_classification_data_are_samples_of_their_stated_sizes(fetched, task):
    for name, (n_train, n_test, labels) in PROBES.items():
        if (name in FETCHED) == fetched:
            inputs = task(name).scenarios[0].inputs
            assert len(inputs["texts_1"]) == n_train
            assert len(inputs["test_1"] if n_test else ()) == n_test
            assert len(set(inputs["labels"].numbers)) == labels
            assert "sample" in task(name).file.description


def test_senteval_as_published_and_learnt_relatedness_have_all_texts(task):
    for name, sizes in PUBLISHED.items():
        inputs = task(name).scenarios[0].inputs
        lengths = tuple(len(inputs.get(f"{p}_1", ())) for p in ("texts", "dev", "test"))
        assert lengths == sizes, name
        if name.endswith("-published"):
            assert task(name).file.measures == "control"


def test_analogies_have_their_published_sizes(task):
    google = {s.name: len(s.inputs["a"]) for s in task("google-analogies").scenarios}
    assert google == {"all": 19544, "semantic": 8869, "syntactic": 10675, "family": 506}
    assert len(task("msr-analogies").scenarios[0].inputs["a"]) == 8000
    sem_bias = {s.name: len(s.inputs["definition_1"]) for s in task("sem-bias").scenarios}
    assert sem_bias == {"all": 440, "unseen-pairs": 40}


def test_weat_sets_have_their_published_sizes_and_seat_has_the_same_words(task):
    for name, sizes in WEAT_SIZES.items():
        inputs = task(name).scenarios[0].inputs
        assert tuple(len(inputs[key]) for key in FOUR) == sizes, name
        for key in FOUR:
            assert len(set(inputs[key].texts)) == len(inputs[key]), f"{name}: {key} repeats a word"
        seat = name.replace("weat-", "seat-c")
        word = {s.name: s.inputs for s in task(seat).scenarios}["word"]
        assert [word[key].texts for key in FOUR] == [inputs[key].texts for key in FOUR], name


@pytest.mark.parametrize("name", [name for name in SHIPPED if name.startswith("seat-")])
def test_seat_sentences_are_sentences_in_clusters_of_one_word(name, task):
    scenarios = {s.name: s.inputs for s in task(name).scenarios}
    for key in FOUR:
        item = scenarios["sentence"][key]
        assert len(set(item.texts)) == len(item), f"{key} repeats a sentence"
        for text in item.texts:
            assert re.fullmatch(r"[A-Z][A-Za-z' ]+\.", text), text
            assert not re.search(r"\b[Aa] [aeio]|\b[Aa]n [^aeiouh]", text), text
        words = len(scenarios["word"][key])
        assert len(set(item.clusters.tolist())) == words, f"{key}: a cluster is a word"


@pytest.mark.parametrize(("name", "sizes"), INJECTION_SIZES.items())
def test_context_injection_has_the_sizes_of_its_tables(name, sizes, task):
    for scenario in task(name).scenarios:
        assert {key: len(scenario.inputs[key]) for key in sizes} == sizes
        sides = len(scenario.inputs["attributes_1"]) + len(scenario.inputs["attributes_2"])
        assert sides == sizes["labels"]
        labels = scenario.inputs["labels"].numbers
        assert ((labels > 0) & (labels < 1)).all()


@pytest.mark.parametrize("name", [*INJECTION_SIZES, "religion-words", "ethnicity-words"])
def test_each_scenario_adds_its_context_of_the_concept_and_runs_its_own_test(name, task):
    loaded = task(name)
    scenarios = {scenario.name: scenario for scenario in loaded.scenarios}
    plain = scenarios["neutral"].inputs["attributes_1"].texts
    for context, sentence in loaded.concept.contexts.items():
        added = scenarios[context].inputs["attributes_1"].texts
        assert added == tuple(f"{text} {sentence}" for text in plain)
    for scenario_name, scenario in scenarios.items():
        (options,) = (
            use.options for use in scenario.measurements if use.metric.name == "association-test"
        )
        assert options["test"] == scenario_name


@pytest.mark.parametrize("name", INJECTION_SIZES)
def test_a_context_is_added_to_attributes_but_not_to_probes(name, task):
    loaded = task(name)
    scenarios = {s.name: s.inputs for s in loaded.scenarios}
    neutral = scenarios["neutral"]
    assert {key for key, item in neutral.items() if item.probe} == {
        "targets_1",
        "targets_2",
        "pairs_1",
        "pairs_2",
    }
    for scenario, context in loaded.concept.contexts.items():
        inputs = scenarios[scenario]
        for key in ("attributes", "attributes_1", "attributes_2"):
            assert inputs[key].texts == tuple(f"{text} {context}" for text in neutral[key].texts)
        for key in ("targets_1", "targets_2", "pairs_1", "pairs_2"):
            assert inputs[key].texts == neutral[key].texts


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("name-sentences", {"default": (2, 20)}),
        ("name-perturbations-movies", {"default": (16, 20)}),
        (
            "name-perturbations-books",
            {"people-and-countries": (9, 20)}
            | dict.fromkeys(["people", "people-only"], (40, 5))
            | dict.fromkeys([f"names-of-{c}" for c in ("spain", "france", "india")], (40, 5)),
        ),
    ],
)
def test_every_text_occurs_equally_often_with_other_names(name, sizes, task):
    assert {s.name for s in task(name).scenarios} == set(sizes)
    for scenario in task(name).scenarios:
        texts, times = sizes[scenario.name]
        perturbed, texts_of = scenario.inputs["perturbed"], scenario.inputs["texts_of"]
        assert set(Counter(texts_of.numbers.tolist()).values()) == {times}
        assert len(perturbed) == texts * times
        assert len(set(perturbed.texts)) > 0.95 * len(perturbed)


def test_with_identical_names_only_the_positives_change(task):
    scenarios = {s.name: s.inputs for s in task("name-triplets").scenarios}
    original, identical = scenarios["original"], scenarios["identical-names"]
    assert identical["queries"].texts == original["queries"].texts
    assert identical["negatives"].texts == original["negatives"].texts
    for before, after in zip(
        original["positives"].texts, identical["positives"].texts, strict=True
    ):
        assert before != after


def test_anonymised_texts_contain_no_name(task):
    scenarios = {s.name: s.inputs for s in task("name-triplets").scenarios}
    for key, item in scenarios["anonymised"].items():
        for before, after in zip(scenarios["original"][key].texts, item.texts, strict=True):
            # A capital letter inside a sentence marks a name, with these exceptions.
            capitals = re.findall(r"(?<![.] )(?<!^)\b[A-Z][a-z]+", after)
            assert set(capitals) <= {"Dr", "Tuesday", "American", "Chinese"}, after
            assert len(after) < len(before)


def test_no_task_has_an_unused_set_table_or_template():
    unused = {"sets": set(), "tables": set(), "templates": set()}
    used = {"sets": set(), "tables": set(), "templates": set()}
    for document in TASKS.values():
        scenarios = document.get("scenarios", {}).values()
        for key in unused:
            unused[key] |= set(document.get(key, {}))
        made_from = {table.get("made_from") for table in document.get("tables", {}).values()}
        used["tables"] |= made_from
        for inputs in [document["inputs"], *(s.get("inputs", {}) for s in scenarios)]:
            for source in inputs.values():
                for part in source if isinstance(source, list) else [source]:
                    used["sets"].add(part.get("set"))
                    used["tables"].add(part.get("table"))
                    used["templates"].add(part.get("template"))
    for key in unused:
        assert not unused[key] - used[key], key
