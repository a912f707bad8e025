"""A results repository is followed to the letter: as its guides, and as its workflows say.

Each `run:` step of a workflow and each command of a guide is run as it stands, in a shell as a
workflow has it. Only what needs the network is replaced: the installation of the harness, which is
installed, and `gh`, which is a script that answers as the host would.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from submission_records import good_records

from harness.leaderboard.submissions.init import init
from harness.results.folder import ResultsFile

pytestmark = [pytest.mark.end_to_end, pytest.mark.posix]

COMMIT = "git+https://models.example/harness@0123abcd"
TITLE = "Bias: \"all\" 'models' ${{ secrets.KEY }} # \\ é"
INSTALLED = "python -m pip install", "python3 -m pip install"
"""Commands that need the network; the harness is installed."""
GH = """#!/bin/bash
echo "gh $*" >> "$HOST/calls"
case "$*" in
  "api repos/o/board/actions/runs/77/artifacts"*) cat "$HOST/size" ;;
  "run download 77 --name report --dir report") cp -r "$HOST/report" report ;;
  "api repos/o/board/pulls/1 --jq .head.sha") echo 0123abcd ;;
  "api repos/o/board/pulls/1 --jq .changed_files") wc -l < "$HOST/files" ;;
  "api --paginate repos/o/board/pulls/1/files"*) cat "$HOST/files" ;;
  "pr comment 1 --edit-last --create-if-none --body-file comment.md") cp comment.md "$HOST/" ;;
  *) echo "unexpected: gh $*"; exit 64 ;;
esac
"""


def shell(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a workflow does: each line must succeed."""
    known = {
        "PATH": f"{Path(sys.executable).parent}:{folder / 'bin'}:{os.environ['PATH']}",
        "GIT_AUTHOR_NAME": "Ada Example",
        "GIT_AUTHOR_EMAIL": "ada@models.example",
        "GIT_COMMITTER_NAME": "Ada Example",
        "GIT_COMMITTER_EMAIL": "ada@models.example",
    }
    return subprocess.run(
        ["bash", "-e", "-c", command],
        cwd=folder, env=os.environ | known | environment, capture_output=True, text=True,
    )  # fmt: skip


def succeeds(command: str, folder: Path, **environment: str) -> str:
    done = shell(command, folder, **environment)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def steps(repository: Path, workflow: str, job: str) -> dict[str, str]:
    """Return the commands of a job by the name of their steps, without installations."""
    path = repository / ".github" / "workflows" / f"{workflow}.yml"
    content = yaml.safe_load(path.read_text("utf-8"))
    runs = {s["name"]: s["run"] for s in content["jobs"][job]["steps"] if "run" in s}
    return {name: run for name, run in runs.items() if not run.startswith(INSTALLED)}


def commands(page: Path) -> list[str]:
    """Return the commands of a guide, in order, without installations."""
    blocks = re.findall(r"^ *```console\n(.*?)^ *```$", page.read_text("utf-8"), re.M | re.S)
    lines = [line.strip().removeprefix("$ ") for block in blocks for line in block.splitlines()]
    return [line for line in lines if not line.startswith(INSTALLED)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a board of one model, and a submitter who followed CONTRIBUTING.md."""
    folder = tmp_path_factory.mktemp("made")
    board, submitter = folder / "board", folder / "submitter"
    init(board, title=TITLE, pinned=COMMIT)
    (folder / "first").mkdir()
    evaluate(folder / "first", "first-words")
    succeeds(f"harness results pack results --out '{board}' --by 'Bob Example'", folder / "first")
    git = "git init -q -b main && git config receive.denyCurrentBranch ignore"
    succeeds(f"{git} && git add . && git commit -qm 'A board'", board)
    submitter.mkdir()
    followed = commands(board / "CONTRIBUTING.md")
    verbs = [" ".join(re.findall(r"(?<=harness )results \w+|\w+", line)[:2]) for line in followed]
    assert verbs == ["harness eval", "harness results pack", "git clone", *(
        f"harness {command}" for command in ("results check", "results merge", "leaderboard")
    )]  # fmt: skip
    for command in followed:
        if command.startswith("harness eval"):  # the model is made up
            evaluate(submitter, "new-words")
        else:
            succeeds(command.replace("REPOSITORY", str(board)), submitter)
    git = "git checkout -qb new && git add results && git commit -qm 'A model'"
    succeeds(f"{git} && git push -q origin HEAD:refs/pull/1/head", submitter / "board")
    return folder


def evaluate(folder: Path, model: str) -> None:
    ResultsFile(folder / "results", model).add(good_records(model, run="aaaaaaaaaaaa"))


@pytest.fixture
def board(made: Path, tmp_path: Path) -> Path:
    """The board's repository, with the submitter's pull request."""
    return Path(shutil.copytree(made / "board", tmp_path / "board"))


@pytest.fixture
def submitter(made: Path, tmp_path: Path) -> Path:
    """The submitter's folder."""
    return Path(shutil.copytree(made / "submitter", tmp_path / "submitter"))


def test_a_submitter_who_follows_the_guide_adds_a_model_and_sees_the_board(submitter: Path) -> None:
    assert (submitter / "site" / "index.html").is_file()
    shown = succeeds("git diff --stat main HEAD", submitter / "board")
    assert "2 files changed" in shown, "the records and submission.json"


def test_the_check_of_a_pull_request_reports_and_has_no_say(board, submitter, tmp_path) -> None:
    runner = tmp_path / "runner"
    runner.mkdir()
    succeeds(f"git clone -q '{submitter / 'board'}' submission", runner)
    succeeds(f"git clone -q '{board}' base", runner)
    run = steps(board, "check", "check")
    succeeds(run["Number of the pull request"], runner, NUMBER="1")
    succeeds(run["Check"], runner)
    assert (runner / "report" / "number").read_text() == "1\n"
    assert "valid" in (runner / "report" / "report.md").read_text("utf-8")


def test_a_pull_request_that_removes_results_fails_with_a_report(board, tmp_path) -> None:
    runner = tmp_path / "runner"
    runner.mkdir()
    for name in ("submission", "base"):
        succeeds(f"git clone -q '{board}' {name}", runner)
    succeeds("mkdir report && rm -r submission/results/first-words", runner)
    assert shell(steps(board, "check", "check")["Check"], runner).returncode == 1
    assert "gone" in (runner / "report" / "report.md").read_text("utf-8")


def test_a_maintainer_who_follows_the_readme_checks_merges_and_builds(
    board: Path, submitter: Path
) -> None:
    succeeds(f"git remote add origin '{board}'", board)
    followed = [c.replace("NUMBER", "1") for c in commands(board / "README.md")]
    assert [c for c in followed if "check" in c], "the README says how to check"
    for command in followed:
        if "again" not in command:  # the model is made up
            succeeds(command, board)
    assert (board / "site" / "index.html").is_file()
    assert "first-words" in (board / "site" / "leaderboard.csv").read_text("utf-8")


def test_the_daily_build_publishes_the_board(board) -> None:
    (build,) = steps(board, "publish", "build").values()
    succeeds(build, board)
    assert json.loads((board / "site" / "leaderboard.json").read_text())["title"] == TITLE


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """A folder with `gh` and the report of a run, in which the comment is written."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gh").write_text(GH)
    (tmp_path / "bin" / "gh").chmod(0o755)
    (tmp_path / "size").write_text("2000")
    (tmp_path / "files").write_text("results/mine.jsonl\nresults/.github/mine.jsonl\n")
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "number").write_text("1\n")
    (tmp_path / "report" / "report.md").write_text("valid, says @ada\n")
    return tmp_path


def comment(host: Path) -> subprocess.CompletedProcess[str]:
    init(host / "repository", title="Board", pinned=COMMIT)
    (host / "runner").mkdir()
    run = "\n".join(steps(host / "repository", "comment", "comment").values())
    environment = {"HOST": str(host), "GH_REPO": "o/board", "RUN": "77", "HEAD": "0123abcd"}
    return shell(f"cd runner\n{run}", host, **environment)


def test_the_comment_is_the_text_of_the_report_and_calls_nobody(host) -> None:
    done = comment(host)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (host / "comment.md").read_text("utf-8") == "valid, says @\u200bada\n"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("echo 5000000 > size", "5000000 bytes"),
        ("echo '1; touch owned' > report/number && echo x > report/x", ""),
        ("echo '$(touch owned)' > report/number", "no pull request"),
        ("echo 2 > report/number", "not the head"),
        ("rm report/number", "no file"),
        ("rm report/report.md && ln -s /etc/passwd report/report.md", "no file"),
    ],
)
def test_a_forged_report_runs_nothing(host, change, said) -> None:
    succeeds(change, host)
    done = comment(host)
    if said:
        assert done.returncode != 0
        assert said in done.stdout
        assert not (host / "comment.md").exists()
    assert not list(host.rglob("owned"))


@pytest.mark.parametrize(
    "files", [["results/mine.jsonl", ".github/workflows/check.yml"], ["results/a.jsonl"] * 3_001]
)
def test_a_pull_request_that_could_write_its_report_gets_none(host, files) -> None:
    (host / "files").write_text("".join(f"{file}\n" for file in files))
    assert comment(host).returncode == 0
    text = (host / "comment.md").read_text("utf-8")
    assert text.startswith("No report is shown: this pull request changes .github")
    assert "ada" not in text
