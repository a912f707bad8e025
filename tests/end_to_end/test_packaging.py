"""An installation has one import name and its data, both from a wheel and in place."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import harness

PACKAGES = ("harness", "harness.plugins", "harness.tasks", "harness.leaderboard")
PRINT_FOLDERS = f"""
import importlib, json, os
modules = [importlib.import_module(name) for name in {PACKAGES!r}]
print(json.dumps([os.path.dirname(module.__file__) for module in modules]))
"""


@pytest.fixture(scope="session")
def in_place(make_environment: Callable[[str], Any], source_tree: Path, wheel: Path) -> Any:
    """Return an environment with an editable install, made after the wheel of a clean tree."""
    environment = make_environment("in_place")
    environment.install("-e", source_tree)
    return environment


def test_only_harness_is_installed_in_site_packages(installed: Any) -> None:
    assert installed.installed_names() == {
        "harness",
        f"embedding_bias_harness-{harness.__version__}.dist-info",
    }


def test_the_wheel_has_all_files_that_are_read_at_run_time(wheel: Path, source_tree: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    expected = {"harness/py.typed"}
    for folder, target, patterns in (
        ("tasks", "harness/tasks", ("*.yaml", "*.tsv", "*.gz", "*.md", "LICENSE.*")),
        ("harness/stubs", "harness/stubs", ("*",)),
        ("leaderboard/site/templates", "harness/leaderboard/site/templates", ("*",)),
        ("leaderboard/site/assets", "harness/leaderboard/site/assets", ("*.js", "*.css")),
        ("leaderboard/boards", "harness/leaderboard/boards", ("*.gz",)),
        ("plugins/embedders", "harness/plugins/embedders", ("*.yaml", "*.gz")),
    ):
        paths = [path for pattern in patterns for path in (source_tree / folder).rglob(pattern)]
        assert paths, f"{folder} has no such files"
        expected |= {
            f"{target}/{path.relative_to(source_tree / folder).as_posix()}"
            for path in paths
            if path.is_file()
        }
    assert expected - names == set()


def test_every_module_is_in_the_wheel(wheel: Path, source_tree: Path) -> None:
    expected = set()
    for folder in ("harness", "plugins", "tasks", "leaderboard"):
        for path in (source_tree / folder).rglob("*.py"):
            name = path.relative_to(source_tree).as_posix()
            expected.add(name if folder == "harness" else f"harness/{name}")
    assert expected - set(zipfile.ZipFile(wheel).namelist()) == set()


def test_a_plain_install_has_the_four_folders_under_one_name(installed: Any) -> None:
    top = installed.site_packages / "harness"
    folders = [Path(folder) for folder in json.loads(installed.run(PRINT_FOLDERS))]
    assert folders == [top, top / "plugins", top / "tasks", top / "leaderboard"]


def test_an_editable_install_has_the_four_folders_under_one_name(
    in_place: Any, source_tree: Path
) -> None:
    folders = [Path(folder) for folder in json.loads(in_place.run(PRINT_FOLDERS))]
    assert folders == [
        source_tree / name for name in ("harness", "plugins", "tasks", "leaderboard")
    ]


def test_all_plugins_load_in_both_installs(installed: Any, in_place: Any) -> None:
    for environment in (installed, in_place):
        errors = {p["plugin"]: p["error"] for p in environment.harness_json("plugins")["plugins"]}
        assert set(errors.values()) == {None}, errors
        assert "leaderboard" in environment.harness("--help")


def test_a_checkout_has_the_four_folders_under_one_name(
    make_environment: Callable[[str], Any], source_tree: Path
) -> None:
    go_there = f"import os, sys; os.chdir({str(source_tree)!r}); sys.path.insert(0, '')"
    printed = make_environment("bare").run(f"{go_there}\n{PRINT_FOLDERS}")
    folders = [Path(folder) for folder in json.loads(printed)]
    assert [folder.name for folder in folders] == ["harness", "plugins", "tasks", "leaderboard"]
    assert {folder.parent for folder in folders} == {source_tree}
