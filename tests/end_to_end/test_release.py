"""What a release is made of: an installation without a clone, the image, and the workflows.

No host of workflows and no Docker daemon is at hand. So their files are linted (`make lint`, and
those of a new board here), and the lines of the release run here in a copy of the repository, with
scripts in place of `pipx` and `gh`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import harness
from harness.leaderboard.submissions.init import init

pytestmark = [pytest.mark.end_to_end, pytest.mark.posix]

ROOT = Path(__file__).parents[2]
IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Ada Example"), ("EMAIL", "ada@models.example"))
}
WEAT = ("--model", "glove-6b-50d", "--mitigator", "none", "--tasks", "weat-6")


def shell(command: str, folder: Path, **environment: str) -> str:
    """Run lines as a workflow does, and return what they print; each must succeed."""
    done = subprocess.run(
        ["bash", "-e", "-c", command],
        cwd=folder, env=os.environ | environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def lines_of(workflow: Path) -> dict[str, str]:
    """Return the `run:` lines of a workflow by the name of their step, or its number."""
    content = yaml.safe_load(workflow.read_text("utf-8"))
    steps = [step for job in content["jobs"].values() for step in job.get("steps", ())]
    return {step.get("name", str(i)): step["run"] for i, step in enumerate(steps) if "run" in step}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The files of the repository, as in a fresh clone."""
    listed = shell("git ls-files -z --cached --others --exclude-standard", ROOT).split("\0")
    for name in filter(None, listed):
        if (ROOT / name).is_file():
            (tmp_path / "copy" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / "copy" / name)
    return tmp_path / "copy"


def script(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/bash\n{text}\n")
    (folder / name).chmod(0o755)


def test_the_lines_of_the_release_build_a_wheel_that_prints_a_score(
    copy: Path, tmp_path: Path, installed: Any
) -> None:
    lines = lines_of(ROOT / ".github" / "workflows" / "release.yml")
    tag = f"v{harness.__version__}"
    (copy / "CHANGELOG.md").write_text(
        re.sub(
            "– unreleased$", "– 2026-01-31", (copy / "CHANGELOG.md").read_text("utf-8"), flags=re.M
        ),
        "utf-8",
    )
    bin_ = tmp_path / "bin"
    script(bin_, "pipx", f'test -f "${{3%\\[models\\]}}" && exec {installed.folder}/bin/"${{@:4}}"')
    script(bin_, "gh", 'printf "%s\\n" "$@"')
    environment = {
        "PATH": f"{bin_}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "GITHUB_REF_NAME": tag,
        "GITHUB_SERVER_URL": "https://models.example",
        "GITHUB_REPOSITORY": "ada/harness",
    }
    del lines["Install what builds"], lines["So does the image"]
    del lines["A list of the parts that it was tested with"]  # it installs them anew
    lines["Build"] += " --no-isolation"
    printed = {name: shell(line, copy, **environment) for name, line in lines.items()}
    assert "weat-6" in printed["The wheel prints a score with one command"]
    assert f"dist/embedding_bias_harness-{harness.__version__}.tar.gz" in printed["Release"]
    (wheel,) = (copy / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = archive.read(name).decode()
    assert "Project-URL: Repository, https://models.example/ada/harness\n" in metadata


def test_the_workflows_of_a_new_board_are_clean(tmp_path: Path) -> None:
    init(tmp_path, title="Bias, and what it costs", pinned="git+https://models.example/h@v1.0")
    workflows = sorted((tmp_path / ".github" / "workflows").glob("*.yml"))
    assert len(workflows) == 3
    options = ["-oneline", "-shellcheck", linter("shellcheck")]
    done = subprocess.run(
        [linter("actionlint"), *options, *workflows], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_the_lines_of_the_action_are_clean_shell() -> None:
    """`make lint` checks the workflows of this repository, and the schema of the Action."""
    steps = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]
    runs = [step for step in steps if "run" in step]
    assert runs
    for step in runs:
        text = "\n".join([f"export {name}=value" for name in step["env"]] + [step["run"]])
        command = [linter("shellcheck"), "--shell=bash", "-"]
        done = subprocess.run(command, input=text, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


def linter(name: str) -> str:
    """Return the path of a linter of the extra `dev`."""
    path = shutil.which(name, path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    assert path, f"{name} is in the extra `dev`"
    return path


def test_the_image_has_files_extras_and_a_command_that_exist_and_no_root() -> None:
    text = (ROOT / "Dockerfile").read_text("utf-8")
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    kept = {line[1:] for line in ignored if line.startswith("!")}
    assert {"constraints.txt", "harness", "plugins", "tasks", "leaderboard"} <= kept
    assert all((ROOT / name).exists() for name in kept)
    assert re.findall(r"/source\[(\w+)\]", text) == ["models"]
    assert re.findall("^USER (.*)$", text, re.M) == ["1000"]
    assert re.findall(r'^ENTRYPOINT \["(.*)"\]$', text, re.M)[0] in project["scripts"]


def test_another_project_called_harness_is_one_line_at_start(
    make_environment: Callable[[str], Any], wheel: Path
) -> None:
    environment = make_environment("two_projects")
    environment.install(wheel)
    other = environment.site_packages / "harness-0.1.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: harness\nVersion: 0.1.0\n")
    done = subprocess.run(
        [environment.folder / "bin" / "embedding-bias", "--version"],
        cwd=environment.folder, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert "another project, 'harness' 0.1.0, is installed" in line
    (environment.site_packages / "harness" / "__init__.py").write_text("")  # installed later
    done = subprocess.run(
        [environment.folder / "bin" / "embedding-bias", "list", "models"],
        cwd=environment.folder, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1
    assert "its files replaced ours" in done.stderr.splitlines()[1]
    assert len(done.stderr.splitlines()) == 2


def test_the_readme_of_a_new_board_is_followed_to_the_letter_in_a_fresh_environment(
    make_environment: Callable[[str], Any], installed: Any, tmp_path: Path
) -> None:
    """The board pins the wheel that the harness was installed from."""
    board, submission = tmp_path / "board", tmp_path / "submission"
    run = f"{installed.folder}/bin/harness"
    shell(f"{run} leaderboard init board && {run} eval {' '.join(WEAT)}", tmp_path)
    shell(f"{run} results pack results --out board --by 'Ada Example'", tmp_path)
    commit = "git add -A && git commit -qm 'A board'"
    shell(f"git init -q -b main && {commit}", board, **IDENTITY)
    shell("git clone -q board submission", tmp_path)
    model = (*WEAT[:3], "hard-debias", *WEAT[4:])
    shell(f"{run} eval {' '.join(model)} --results more", tmp_path)
    shell(f"{run} results pack more --out {submission} --by 'Ada Example'", tmp_path)
    push = "git push -q origin HEAD:refs/pull/1/head"
    shell(f"{commit} && {push}", submission, **IDENTITY)
    shell(f"git remote add origin {board}", board)
    shutil.rmtree(submission)

    fresh = make_environment("fresh")
    page = (board / "README.md").read_text("utf-8")
    console = re.findall(r"^```console\n(.*?)^```$", page, re.M | re.S)
    commands = [line.removeprefix("$ ") for block in console for line in block.splitlines()]
    assert commands[0] == "python3 -m pip install -r requirements.txt"
    for command in commands:
        shell(
            command.replace("NUMBER", "1"),
            board,
            PATH=f"{fresh.folder / 'bin'}:{os.environ['PATH']}",
            PIP_NO_INDEX="1",
            **IDENTITY,
        )
    assert (fresh.site_packages / "harness").is_dir(), "installed from the wheel in the board"
    assert (board / "site" / "index.html").is_file()
