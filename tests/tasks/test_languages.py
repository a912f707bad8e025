"""X-WEAT and CA-WEAT, whose data are only fetched: the tasks on small data of the same form."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from harness import tasks
from harness.registry.discovery import load_file
from harness.registry.registry import Registry
from harness.task import yaml_files

FOLDER = Path(tasks.__file__).parent
X_WEAT = yaml_files.documents(load_file(FOLDER / "x_weat" / "x-weat.yaml"))
CA_WEAT = yaml_files.documents(load_file(FOLDER / "ca_weat" / "ca-weat.yaml"))


@pytest.fixture(scope="module")
def registry():
    return Registry()


def with_rows(document, table, columns, rows):
    """Return a task with rows in place of the file that would be fetched."""
    tables = document.data["tables"] | {table: {"columns": columns, "rows": rows}}
    return dataclasses.replace(document, data=document.data | {"tables": tables})


@pytest.mark.parametrize("document", X_WEAT, ids=lambda document: document.data["name"])
def test_x_weat_has_five_tests(document, registry):
    lists = document.data["tables"]["lists"]["options"]["tests"]
    english = {word for sets in lists.values() for words in sets.values() for word in words}
    rows = [[word, f"<{word}>"] for word in english]
    task = registry.resolve(with_rows(document, "vocabulary", ["english", "word"], rows))
    scenarios = {scenario.name: scenario.inputs for scenario in task.scenarios}
    assert [*scenarios] == ["gender", "universal", "illness"]
    assert set(scenarios["gender"]["tests_of_targets_1"].numbers) == {7, 8}
    assert len(scenarios["universal"]["targets_1"]) == 50
    assert scenarios["illness"]["attributes_1"].texts[0] == "<impermanent>"
    assert task.file.not_ranked


@pytest.mark.parametrize("document", CA_WEAT, ids=lambda document: document.data["name"])
def test_ca_weat_is_a_control_of_its_language(document, registry):
    names = ["WEAPONS", "FLOWERS", "INSTRUMENTS", "INSECTS", "PLEASANT", "UNPLEASANT"]
    language = document.data["language"]
    rows = [
        [
            f"{code}{i}",
            "original",
            *(", ".join(f"{name}{i}{j}" for j in range(5)) for name in names),
        ]
        for code in (language, "xx")
        for i in range(6)
    ]
    task = registry.resolve(with_rows(document, "speakers", ["LANG", "TYPE", *names], rows))
    (scenario,) = task.scenarios
    assert len(scenario.inputs["targets_1"]) == 4 * 2 * 5, "four speakers, two tests, five words"
    assert len(set(scenario.inputs["tests_of_attributes_2"].numbers)) == 8
    assert task.file.measures == "control"
    assert task.file.language == language
