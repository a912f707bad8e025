"""The pytest plugin and the shell lines of the GitHub Action, as a project would run them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TEST = """
def test_nothing_could_be_measured(verdict):
    verdict("random-words", mitigator="hard-debias", tasks=["weat-6"])

def test_no_verdict_fails(verdict):
    found = verdict("random-words", mitigator="hard-debias", tasks=["weat-6"], fail_on="never")
    assert found.names[0] == "random-words under none"
"""


@pytest.fixture
def environment(tmp_path):
    """The environment of a step of a job."""
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HARNESS_CACHE": str(tmp_path / "cache"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }


def test_the_fixture_fails_a_test_with_the_report(environment, tmp_path):
    (tmp_path / "test_bias.py").write_text(TEST)
    plugin = ["-p", "harness.plugins.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", *plugin, "-q", "--rootdir", tmp_path, "test_bias.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "bias was not measured" in done.stdout
    assert "random-words under hard-debias beside random-words under none" in done.stdout


def action():
    return yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


def step(environment, tmp_path, **inputs):
    """Run the shell lines of the Action with inputs; others have their defaults."""
    (compare,) = [part for part in action()["runs"]["steps"] if part.get("id") == "compare"]
    defaults = {name: str(of.get("default", "")) for name, of in action()["inputs"].items()}
    values = defaults | {name.replace("_", "-"): value for name, value in inputs.items()}
    variables = {
        name: values[expression.removeprefix("${{ inputs.").removesuffix(" }}")]
        for name, expression in compare["env"].items()
    }
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", compare["run"]]
    return subprocess.run(
        shell, cwd=tmp_path, env=environment | variables, capture_output=True, text=True
    )


def test_the_shell_lines_of_the_action_write_the_summary_and_fail(environment, tmp_path):
    inputs = {"model": "random-words", "mitigator": "hard-debias", "tasks": "weat-6"}
    done = step(environment, tmp_path, **inputs)
    assert done.returncode == 4, done.stderr
    assert (tmp_path / "summary.md").read_text().startswith("## random-words under hard-debias")
    output = (tmp_path / "output").read_text().splitlines()
    assert output == ["report=bias-results/verdict.md", "code=4"]
    assert step(environment, tmp_path, fail_on="never", **inputs).returncode == 0


def test_the_action_takes_seeds_and_margins(environment, tmp_path):
    done = step(
        environment, tmp_path, model="random-words\nrandom-words", tasks="weat-6",
        margin="0.1", usefulness_margin="0.1",
    )  # fmt: skip
    assert done.returncode == 2
    assert "name a base" in done.stderr or "is compared with a base" in done.stderr
