"""A third-party package extends the harness through its entry point only."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import read_results

PACKAGE = Path(__file__).parents[1] / "example_package"
MITIGATORS = ("none", "drop-difference", "drop-difference?strength=0.5", "normalize")
TASKS = ("town-and-country-traits", "seat-c6")
ADDED = {
    "models": "letter-trigrams",
    "metrics": "nearer-share",
    "mitigators": "drop-difference",
    "tasks": "town-and-country-traits",
    "concepts": "residence",
}


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


@pytest.fixture(scope="module")
def listed(environment: Any, installed: Any) -> list[dict[str, set[str]]]:
    """Return the listed names by kind, with the package and without it."""
    return [
        {
            kind: {row["name"] for row in rows}
            for kind, rows in zip(
                ADDED, place.harness_jsons(*(("list", kind) for kind in ADDED)), strict=True
            )
        }
        for place in (environment, installed)
    ]


@pytest.mark.parametrize("kind", ADDED)
def test_its_objects_are_listed_with_the_built_in_ones(
    listed: list[dict[str, set[str]]], kind: str
) -> None:
    with_it, without_it = (names[kind] for names in listed)
    assert with_it - without_it == {ADDED[kind]}
    assert without_it < with_it


@pytest.fixture(scope="module")
def shown(environment: Any) -> dict[str, Any]:
    """Return what `harness show` gives of each of its objects, by kind."""
    commands = [("show", kind.removesuffix("s"), name) for kind, name in ADDED.items()]
    return dict(zip(ADDED, environment.harness_jsons(*commands), strict=True))


@pytest.mark.parametrize("kind", ADDED)
def test_its_objects_are_shown_with_the_name_of_the_package(
    shown: dict[str, Any], kind: str
) -> None:
    assert shown[kind]
    if kind in ("models", "metrics"):
        assert "harness-example 0.3.0" in shown[kind]["registered by"]


def test_its_task_is_valid(environment: Any) -> None:
    folder = environment.site_packages / "harness_example" / "tasks"
    assert "2 files, 0 with mistakes" in environment.harness("validate", str(folder))


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
    assert set(record["overlap"]) >= {"town", "village"}, "words of the task that it was fitted on"


def test_its_mitigator_changes_its_scores(evaluated: dict[str, Any]) -> None:
    values = {
        (json.dumps(r["mitigator"], sort_keys=True)): r["value"]
        for r in evaluated["records"]
        if r["model"]["name"] == "letter-trigrams"
        and (r["task"]["name"], r["scenario"], r["metric"])
        == ("town-and-country-traits", "sentences", "weat")
    }
    assert len(values) == len(MITIGATORS)
    assert len(set(values.values())) >= len(MITIGATORS) - 1, (
        "only normalize may leave WEAT unchanged"
    )


def test_a_model_of_a_package_comes_onto_a_board_beside_that_of_somebody_else(
    environment: Any, kept_cache: Path
) -> None:
    """From a wheel: all tasks run, a board is made, and two people submit to it."""
    newcomer = {"HARNESS_DATA": "", "HTTPS_PROXY": "http://127.0.0.1:9"}  # nothing to fetch from
    every = ("--tasks", "all", "--limit", "3", "--results", "smoke", "--json")
    commands = [
        ("eval", "--model", "letter-trigrams", *every),
        ("leaderboard", "init", "board", "--title", "Bias in embeddings"),
    ]
    people = {"Ada Example": "letter-trigrams", "Bo Example": "bag-of-words:glove-6b-50d"}
    for person, model in people.items():
        place, submission = f"results of {person}", f"submission of {person}"
        tasks = ("--tasks", "seat-c6,town-and-country-traits", "--results", place)
        commands += [
            ("eval", "--model", model, "--mitigator", "none", *tasks),
            ("results", "pack", place, "--out", submission, "--by", person),
            ("results", "check", submission, "--base", "board"),
            ("results", "merge", submission, "--into", "board"),
        ]
    commands.append(("leaderboard", "build", "board/results", "--out", "site"))
    environment.harness_commands(*commands, HARNESS_CACHE=str(kept_cache), **newcomer)
    smoke = [r for r in read_results(environment.folder / "smoke") if r.value is not None]
    assert len({record.category for record in smoke}) > 5
    assert len({record.task.name for record in smoke}) > 50
    rows = (environment.folder / "site" / "leaderboard.csv").read_text("utf-8")
    assert all(model in rows for model in people.values())


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
