"""A third-party package extends the harness through its entry point only."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PACKAGE = Path(__file__).parents[1] / "example_package"
MITIGATORS = ("none", "drop-difference", "drop-difference?strength=0.5", "normalize")
TASKS = ("town-and-country-traits", "seat-c6")


@pytest.fixture(scope="module")
def environment(
    make_environment: Callable[[str], Any], wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Any:
    """Return an environment with the harness and a copy of the package."""
    source = tmp_path_factory.mktemp("third_party") / "example_package"
    shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("__pycache__"))
    extended = make_environment("third_party")
    extended.install(wheel, source)
    return extended


@pytest.fixture(scope="module")
def evaluated(environment: Any) -> dict[str, Any]:
    """Return the output of `harness eval` on the package's model, metric, mitigator and task."""
    options = [f"--mitigator={name}" for name in MITIGATORS]
    return environment.harness_json(
        *("eval", "--model", "letter-trigrams", "--model", "letter-trigrams?dimensions=32"),
        *options,
        *("--tasks", ",".join(TASKS)),
        HARNESS_CACHE="cache",
    )


def test_the_list_of_plugins_names_everything_that_the_package_adds(environment: Any) -> None:
    (row,) = [r for r in environment.harness_json("plugins")["plugins"] if r["plugin"] == "example"]
    assert (row["distribution"], row["version"]) == ("harness-example", "0.3.0")
    assert row["error"] is None
    assert row["adds"]["embedders"] == ["letter-trigrams"]
    assert row["adds"]["metrics"] == ["nearer-share"]
    assert row["adds"]["mitigators"] == ["drop-difference"]
    assert [Path(folder).name for folder in row["adds"]["task_folders"]] == ["tasks"]


def test_its_model_runs_with_its_mitigator_on_its_task_and_on_a_built_in_task(
    evaluated: dict[str, Any],
) -> None:
    assert evaluated["not_run"] == []
    run = {(r["model"]["name"], r["mitigator"]["name"], r["task"]["name"], r["metric"])
           for r in evaluated["records"]}  # fmt: skip
    assert run == {
        (model, mitigator, task, metric)
        for model in ("letter-trigrams", "letter-trigrams?dimensions=32")
        for mitigator in ("none", "drop-difference", "normalize")
        for task, metrics in (
            ("town-and-country-traits", ("nearer-share", "weat")),
            ("seat-c6", ("weat",)),
        )
        for metric in metrics
    }


def test_its_records_have_bounds_p_value_interval_and_provenance(evaluated: dict[str, Any]) -> None:
    (record,) = [
        record
        for record in evaluated["records"]
        if record["model"]["name"] == "letter-trigrams"
        and record["mitigator"]["params"] == {"strength": 0.5}
        and record["metric"] == "nearer-share"
        and record["scenario"] == "words"
    ]
    assert record["score"] == "share"
    assert record["ideal"] == 0.5
    assert record["bounds"] == [0, 1]
    assert record["primary"]
    assert 0 <= record["value"] <= 1
    assert 0 < record["p_value"] <= 1
    assert record["interval"]["method"] == "Clopper-Pearson"
    assert record["interval"]["low"] <= record["value"] <= record["interval"]["high"]
    assert record["n"] == 5
    assert record["concept"] == record["category"] == record["mitigator"]["concept"] == "residence"
    assert record["model"]["revision"] == "1"
    assert record["model"]["dimensions"] == 256
    assert record["unseen"]["kind"] == "void"
    assert set(record["withheld"]) >= {"town", "village"}, "words of the task that it was fitted on"


def test_a_new_plugin_installs_passes_its_own_tests_and_runs(
    make_environment: Callable[[str], Any], wheel: Path
) -> None:
    environment = make_environment("new_plugin")
    environment.install(wheel)
    environment.harness("new", "plugin", "my-lab")
    environment.install(environment.folder / "harness-my-lab")
    tests = "import sys, pytest; sys.exit(pytest.main(['-q', 'harness-my-lab/tests']))"
    assert "11 passed" in environment.run(tests, HARNESS_CACHE="cache")
    evaluated = environment.harness_json(
        *("eval", "--model", "my-lab-model", "--mitigator", "none"),
        *("--mitigator", "my-lab-mitigator", "--tasks", "my-lab-task,seat-c6"),
        HARNESS_CACHE="cache",
    )
    assert evaluated["not_run"] == []
    assert {r["task"]["name"] for r in evaluated["records"]} == {"my-lab-task", "seat-c6"}
    assert environment.harness("my-lab", "-m", "my-lab-model", "he", "he") == "1.000\n"
