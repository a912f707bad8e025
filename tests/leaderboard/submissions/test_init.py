"""`harness leaderboard init`: the files of a results repository, and what its workflows may do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import harness
from harness.commands.main import run

WORKFLOWS = ("check", "comment", "publish")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "board"
    assert run(["leaderboard", "init", str(folder), "--title", "Bias: all # 'models'"]) == 0
    return folder


def workflow(repository: Path, name: str) -> dict[str, Any]:
    path = repository / ".github" / "workflows" / f"{name}.yml"
    content = yaml.safe_load(path.read_text("utf-8"))
    assert isinstance(content, dict)
    return content


def steps(content: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in content["jobs"].values() for step in job["steps"]]


def test_the_repository_is_whole_and_pins_this_version(repository: Path) -> None:
    names = {p.relative_to(repository).as_posix() for p in repository.rglob("*") if p.is_file()}
    assert names == {
        *("README.md", "CONTRIBUTING.md", "LICENCE.md", "requirements.txt", "withdrawn.yaml"),
        ".github/pull_request_template.md",
        *(f".github/workflows/{name}.yml" for name in WORKFLOWS),
    }
    pinned = f"embedding-bias-harness=={harness.__version__}"
    assert pinned in (repository / "requirements.txt").read_text()
    for file in names:
        text = (repository / file).read_text("utf-8")
        assert not re.search(r"<(title|version)", text), file


def test_files_that_exist_stay_as_they_are(tmp_path, capsys) -> None:
    (tmp_path / "README.md").write_text("mine")
    for _ in range(2):
        assert run(["leaderboard", "init", str(tmp_path)]) == 0
    assert (tmp_path / "README.md").read_text() == "mine"
    assert "README.md', which exists" in capsys.readouterr().err


@pytest.mark.parametrize("title", ["two\nlines", " "])
def test_a_title_is_one_line(tmp_path, title, capsys) -> None:
    assert run(["leaderboard", "init", str(tmp_path / "board"), "--title", title]) == 2
    assert not (tmp_path / "board").exists()
    assert "one line" in capsys.readouterr().err


def test_a_file_in_the_place_of_the_folder_is_one_line(tmp_path, capsys) -> None:
    (tmp_path / "file").touch()
    assert run(["leaderboard", "init", str(tmp_path / "file")]) == 2
    assert "is a file" in capsys.readouterr().err


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
