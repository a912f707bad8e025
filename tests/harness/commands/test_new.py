"""`harness new`: the stubs work without an edit."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("kind", ["model", "metric", "mitigator"])
def test_a_stub_is_a_package_that_passes_its_own_tests(harness, tmp_path, cache, kind):
    result = harness("new", kind, "my-own", "--out", tmp_path)
    assert result.code == 0
    package = tmp_path / "harness-my-own"
    files, next_steps = result.out.split("\n\n")
    written = files.split()
    assert f"pip install -e {package}" in next_steps
    assert f"harness show {kind} my-own" in next_steps
    assert "harness eval " in next_steps
    assert sorted(written) == sorted(str(p) for p in package.rglob("*") if p.is_file())
    for path in written:
        placeholders = re.findall(r"<[A-Za-z]+>", Path(path).read_text(encoding="utf-8"))
        assert placeholders == [], path
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=package,
        env=os.environ | {"PYTHONPATH": str(package)},
        check=True,
        capture_output=True,
    )


def test_the_tests_of_a_plugin_pass_if_its_metric_has_two_scores(harness, tmp_path, cache):
    assert harness("new", "plugin", "my-lab", "--out", tmp_path).code == 0
    package = tmp_path / "harness-my-lab"
    metric = package / "harness_my_lab" / "my_lab_metric.py"
    text = metric.read_text()
    text = text.replace('0 is fair")}', '0 is fair"), "size": Scale(ideal=0)}')
    text = text.replace("return Score(", "score = Score(")
    text = text.replace(
        "\n\n\ndef _unit", '\n    return {"difference": score, "size": score}\n\n\ndef _unit'
    )
    metric.write_text(text)
    installed = package / "harness_my_lab-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Name: harness-my-lab\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text("[harness]\nmy-lab = harness_my_lab\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=package,
        env=os.environ | {"PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert '"size": score' in metric.read_text()


@pytest.mark.parametrize("kind", ["model", "metric", "mitigator", "task"])
def test_the_last_of_the_next_steps_prints_a_score(harness, tmp_path, toy, install, kind):
    """The model of the step comes with an extra, so a toy model replaces it here."""
    name = f"fresh-{kind}"
    result = harness("new", kind, name, "--out", tmp_path)
    if kind != "task":
        module = f"harness_fresh_{kind}"
        install(f"harness-{name}", {name: module})
        (tmp_path / f"harness-{name}" / module).rename(tmp_path / f"site-harness-{name}" / module)
    step = result.out.splitlines()[-1].split()
    assert step[:2] == ["harness", "eval"]
    toys = {"glove-6b-50d": "toy-letters", "weat-6": "seat-c6"}
    arguments = [toys.get(argument, argument) for argument in step[1:]]
    result = harness(*arguments, "--results", tmp_path / "results", "--json")
    assert result.code == 0, result.err
    records = json.loads(result.out)["records"]
    assert records
    assert all(record["value"] is not None for record in records)
    if kind == "model":  # boards that lack the package take it
        assert re.search("-[0-9a-f]{64}$", records[0]["model"]["fingerprint"])
    if kind == "metric":
        assert {record["metric"] for record in records} == {name}
    if kind == "mitigator":
        assert {record["mitigator"]["name"] for record in records} == {"none", name}


def test_a_new_task_is_valid_and_passes_its_own_test(harness, tmp_path):
    result = harness("new", "task", "my-task", "--out", tmp_path)
    assert result.code == 0
    assert {line.rsplit("/", 1)[1] for line in result.out.split("\n\n")[0].split()} == {
        "my-task.yaml", "test_my_task.py",
    }  # fmt: skip
    result = harness("validate", tmp_path / "my-task.yaml")
    assert result.code == 0, result.out
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_my_task.py"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )


@pytest.mark.parametrize("name", ["My-Metric", "a b", "../x", "9a", "a_b", "", "class", "none"])
def test_an_invalid_name_is_an_error(harness, tmp_path, name):
    result = harness("new", "metric", name, "--out", tmp_path / "out")
    assert result.code == 2
    assert result.err.startswith("harness: ")
    assert f"'{name}'" in result.err
    assert result.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("kind", "name", "owner"),
    [("metric", "toy-gap", "'toy' (toy 1.0)"), ("task", "toy-places", "toy-places.yaml")],
)
def test_a_name_in_use_is_an_error_that_names_the_owner(harness, toy, tmp_path, kind, name, owner):
    result = harness("new", kind, name, "--out", tmp_path / "out")
    assert result.code == 2
    assert f"{kind} '{name}'" in result.err
    assert owner in result.err
    assert result.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("name", "language"), [("gender-xx", "xx"), ("class-of-people", "en")])
def test_a_new_concept_is_valid_and_has_the_language_of_its_name(harness, tmp_path, name, language):
    result = harness("new", "concept", name, "--out", tmp_path)
    assert result.code == 0, result.err
    path = tmp_path / "concepts" / f"{name}.yaml"
    assert f"language: {language} " in path.read_text(encoding="utf-8")
    assert harness("validate", path).code == 0
    shown = harness("show", "concept", name, "--include", tmp_path)
    assert shown.code == 0, shown.err
