"""`harness leaderboard init`: the files of a results repository, and what its workflows may do."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.commands.main import run
from harness.leaderboard.submissions.init import _made_again

COMMIT = "git+https://models.example/harness@0123abcd"
WORKFLOWS = ("check", "comment", "publish")


def init(folder: Path, *options: str, pinned: str = COMMIT) -> int:
    return run(["leaderboard", "init", str(folder), "--harness", pinned, *options])


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "board"
    assert init(folder, "--title", "Bias: all # 'models'") == 0
    return folder


def workflow(repository: Path, name: str) -> dict[str, Any]:
    path = repository / ".github" / "workflows" / f"{name}.yml"
    content = yaml.safe_load(path.read_text("utf-8"))
    assert isinstance(content, dict)
    return content


def steps(content: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in content["jobs"].values() for step in job["steps"]]


def test_the_repository_is_whole_and_pins_what_it_was_given(repository: Path) -> None:
    names = {p.relative_to(repository).as_posix() for p in repository.rglob("*") if p.is_file()}
    assert names == {
        *("README.md", "CONTRIBUTING.md", "LICENCE.md", "requirements.txt", "withdrawn.yaml"),
        "board.yaml",
        ".github/pull_request_template.md",
        *(f".github/workflows/{name}.yml" for name in WORKFLOWS),
    }
    requirements = (repository / "requirements.txt").read_text().splitlines()
    assert f"embedding-bias-harness @ {COMMIT}" in requirements
    for file in names:
        text = (repository / file).read_text("utf-8")
        assert not re.search(r"<(title|requirement)", text), file


def test_files_that_exist_stay_as_they_are(tmp_path, capsys) -> None:
    (tmp_path / "README.md").write_text("mine")
    for _ in range(2):
        assert init(tmp_path) == 0
    assert (tmp_path / "README.md").read_text() == "mine"
    assert "README.md', which exists" in capsys.readouterr().err


def test_a_wheel_is_copied_into_the_repository(tmp_path) -> None:
    wheel = tmp_path / "embedding_bias_harness-9.9.9-py3-none-any.whl"
    wheel.write_bytes(b"a wheel")
    assert init(tmp_path / "board", pinned=str(wheel)) == 0
    requirements = (tmp_path / "board" / "requirements.txt").read_text().splitlines()
    assert f"./wheels/{wheel.name}" in requirements
    assert (tmp_path / "board" / "wheels" / wheel.name).read_bytes() == b"a wheel"


def test_a_harness_from_a_folder_is_made_a_wheel_again(tmp_path) -> None:
    """The README installs it from the clone."""
    wheel = _made_again()
    assert re.fullmatch(r"embedding_bias_harness-[\d.]+-py3-none-any\.whl", wheel.name)
    (tmp_path / wheel.name).write_bytes(wheel.content)
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target"]
    subprocess.run([*command, tmp_path / "site", tmp_path / wheel.name], check=True)
    assert (tmp_path / "site/harness/plugins/metrics/weat.py").is_file()
    assert (tmp_path / "site/bin/harness").is_file()


@pytest.mark.parametrize("name", WORKFLOWS)
def test_no_workflow_runs_what_a_stranger_wrote(repository: Path, name: str) -> None:
    content = workflow(repository, name)
    assert "pull_request_target" not in content[True]  # `on` is a boolean in YAML 1.1
    for step in steps(content):
        assert "${{" not in step.get("run", ""), "a text of a stranger would enter the shell"
        if "checkout" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False
        if "uses" in step:
            assert re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"])


def test_rights_are_those_that_a_workflow_needs(repository: Path) -> None:
    assert workflow(repository, "check")["permissions"] == {"contents": "read"}
    comment = workflow(repository, "comment")
    assert comment["permissions"] == {}
    (job,) = comment["jobs"].values()
    assert job["permissions"] == {"actions": "read", "pull-requests": "write"}
    assert not any("uses" in step for step in job["steps"]), "no code but that of the workflow"
    publish = workflow(repository, "publish")
    assert publish["permissions"] == {"contents": "read"}
    assert "permissions" not in publish["jobs"]["build"]
    assert set(publish["jobs"]["publish"]["permissions"]) == {"pages", "id-token"}


def test_the_comment_follows_the_check_by_its_name(repository: Path) -> None:
    check, comment = workflow(repository, "check"), workflow(repository, "comment")
    assert comment[True]["workflow_run"]["workflows"] == [check["name"]]
