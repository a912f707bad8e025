"""The benchmarks that ship."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import tasks
from harness.registry.discovery import files_of, load_file
from harness.registry.registry import Registry
from harness.run.tasks import check_benchmark, list_tasks, select
from harness.task import yaml_files

FOLDER = Path(tasks.__file__).parent
NAMES = sorted(
    part.data["name"]
    for path in files_of(FOLDER, "benchmark")
    for part in yaml_files.documents(load_file(path))
)
OF_PAPERS = {"bolukbasi-2016", "dolci-2023", "name-bias", "uriot-2024", "zambrano-2024"}
SENTEVAL = {"senteval", "senteval-published"}
OWN = {
    "social-bias-words",
    "social-bias-encoders",
    "stereotype-tests",
    "downstream",
    "languages",
    "names",
}
ENGLISH = {"weathub-en", "weathub-india-en", "ca-weat-en"}
"""Tasks that other languages are compared with."""
OF_LANGUAGES = {name for name in NAMES if name.startswith("languages-")}
IN_NONE = (
    "analog",
    "direct-bias-ethnicity",
    "gender-",
    "pair-",
    "seat-",
    "sentiment-",
    "weat-",
    "mc-",
    "verb-",
    "yp-",
    "name-perturbations-",
)
"""Beginnings of the names of older tasks that are in no benchmark."""
BY_ADDRESS = ("toxicity-classifier-", "retrieval-msmarco", "dialect-retrieval-coedit")
"""Large tasks that are run by their names, since `downstream` has half an hour."""


@pytest.fixture(scope="module")
def registry():
    return Registry()


@pytest.fixture(scope="module")
def benchmarks(registry):
    entries = list_tasks(registry)
    return {name: check_benchmark(entries, registry.benchmark_files.find(name)) for name in NAMES}


def members(registry, name):
    return [entry.file for entry in select(registry, [name])]


def test_there_is_a_quick_one_one_for_each_kind_and_one_for_each_paper(benchmarks):
    assert set(benchmarks) == {"quick"} | OWN | OF_LANGUAGES | OF_PAPERS | SENTEVAL
    assert {name for name, file in benchmarks.items() if not file.citation} == {"quick"}


def test_their_tasks_agree_with_those_of_their_papers(benchmarks):
    assert {"direct-bias", "indirect-bias", "rg-65", "ws-353", "msr-analogies"} <= set(
        benchmarks["bolukbasi-2016"].tasks
    )
    assert set(benchmarks["uriot-2024"].tasks) == {
        "gender-occupations", "age-traits", "wealth-ethnicities", "retrieval-army",
    }  # fmt: skip
    seat = {f"seat-{test}-published" for test in ("c6", "c6b", "c7", "c7b", "c8", "c8b")}
    assert seat < set(benchmarks["dolci-2023"].tasks)


def test_senteval_has_the_twelve_of_the_paper_on_the_bias_score_in_both_protocols(benchmarks):
    twelve = set(benchmarks["senteval"].tasks)
    assert len(twelve) == 12
    assert twelve < set(benchmarks["dolci-2023"].tasks)
    published = set(benchmarks["senteval-published"].tasks)
    assert {name.removesuffix("-published") for name in published} == twelve
    assert {name for name in published if not name.endswith("-published")} == {
        "senteval-sick-r", "sts-14",
    }  # fmt: skip


def test_every_newer_task_is_in_a_benchmark(registry, benchmarks):
    listed = {task for file in benchmarks.values() for task in file.tasks}
    missing = {entry.file.name for entry in list_tasks(registry)} - listed
    # A yardstick is run with the tasks that name it.
    known = (*IN_NONE, *BY_ADDRESS, "yardstick-")
    assert {name for name in missing if not name.startswith(known)} == set()


def test_what_is_downstream_is_not_counted_twice(registry):
    def bias(name):
        return {file.name for file in members(registry, name) if file.measures == "bias"}

    assert bias("downstream") & bias("social-bias-encoders") == set()
    ranked = {file.name for file in members(registry, "downstream") if not file.not_ranked}
    assert len(ranked & bias("downstream")) >= 8


def test_each_language_has_one_with_all_of_its_tasks_and_one_is_over_all(registry, benchmarks):
    of: dict[str, dict[str, int]] = {}
    for entry in list_tasks(registry):
        if "yardstick" not in entry.file.tags:  # it is run with the tasks that name it
            of.setdefault(entry.file.language, {})[entry.file.name] = entry.file.version
    english = {name: version for name, version in of.pop("en").items() if name in ENGLISH}
    every = english | {name: version for tasks in of.values() for name, version in tasks.items()}
    assert benchmarks["languages"].tasks == every
    assert {f"languages-{language}": tasks for language, tasks in of.items()} == {
        name: benchmarks[name].tasks for name in OF_LANGUAGES
    }
