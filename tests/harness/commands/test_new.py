"""`harness new`: stubs that work as they are."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize("kind", ["model", "metric", "mitigator"])
def test_a_stub_is_a_package_that_passes_its_own_tests(harness, tmp_path, cache, kind):
    said = harness("new", kind, "my-own", "--out", tmp_path)
    assert said.code == 0
    package = tmp_path / "harness-my-own"
    files, following = said.out.split("\n\n")
    written = files.split()
    assert following.startswith(f"next: pip install -e {package}\n")
    assert sorted(written) == sorted(str(p) for p in package.rglob("*") if p.is_file())
    assert "<" not in (package / "pyproject.toml").read_text()
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=package,
        env=os.environ | {"PYTHONPATH": str(package)},
        check=True,
        capture_output=True,
    )


@pytest.mark.parametrize("kind", ["model", "metric", "mitigator"])
def test_a_stub_is_found_by_its_name_once_it_is_installed(harness, tmp_path, install, kind):
    harness("new", kind, f"fresh-{kind}", "--out", tmp_path)
    package = tmp_path / f"harness-fresh-{kind}"
    module = f"harness_fresh_{kind}"
    install(f"harness-fresh-{kind}", {f"fresh-{kind}": module})
    (package / module).rename(tmp_path / f"site-harness-fresh-{kind}" / module)
    assert f"fresh-{kind}" in harness("list", f"{kind}s").out
    said = harness("show", kind, f"fresh-{kind}")
    assert said.code == 0, said.err


def test_a_new_task_is_valid_and_passes_its_own_test(harness, tmp_path):
    said = harness("new", "task", "my-task", "--out", tmp_path)
    assert said.code == 0
    assert {line.rsplit("/", 1)[1] for line in said.out.split("\n\n")[0].split()} == {
        "my-task.yaml", "test_my_task.py",
    }  # fmt: skip
    said = harness("validate", tmp_path / "my-task.yaml")
    assert said.code == 0, said.out
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_my_task.py"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )


@pytest.mark.parametrize("name", ["My-Metric", "a b", "../x", "9a", "a_b", "", "class", "none"])
def test_a_name_that_cannot_be_one_is_told(harness, tmp_path, name):
    said = harness("new", "metric", name, "--out", tmp_path / "out")
    assert said.code == 2
    assert said.err.startswith(f"harness: '{name}' cannot be a name here")
    assert not (tmp_path / "out").exists()


def test_nothing_is_overwritten(harness, tmp_path):
    harness("new", "task", "mine", "--out", tmp_path)
    (tmp_path / "mine.yaml").write_text("my work")
    said = harness("new", "task", "mine", "--out", tmp_path)
    assert said.code == 2
    assert said.err == (f"harness: '{tmp_path}/mine.yaml' is there already; nothing was written\n")
    assert (tmp_path / "mine.yaml").read_text() == "my work"


def test_a_folder_that_cannot_be_written_is_told(harness, write):
    file = write("file", "")
    said = harness("new", "task", "mine", "--out", file / "sub")
    assert said.code == 1
    assert said.err == f"harness: cannot write '{file}/sub/mine.yaml' (Not a directory)\n"


@pytest.mark.parametrize(
    ("kind", "name", "owner"),
    [("metric", "toy-gap", "'toy' (toy 1.0)"), ("task", "toy-places", "toy-places.yaml")],
)
def test_a_name_that_is_taken_is_told_with_its_owner(harness, toy, tmp_path, kind, name, owner):
    said = harness("new", kind, name, "--out", tmp_path / "out")
    assert said.code == 2
    assert said.err.startswith(f"harness: the {kind} '{name}' exists already, in ")
    assert owner in said.err
    assert not (tmp_path / "out").exists()
