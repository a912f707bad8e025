"""In CI, a run of pytest fails if more tests are skipped than `tests/conftest.py` allows."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
SKIPPED = "import pytest\n\n\n@pytest.mark.skip\ndef test_{}():\n    pass\n\n"
PASSED = "def test_that_passes():\n    pass\n"


@pytest.fixture
def run_pytest(tmp_path: Path):
    """Return a function that runs pytest on one folder of tests with a number of skipped ones."""

    def run(folder: str, skipped: int, **variables: str) -> subprocess.CompletedProcess[str]:
        file = tmp_path / "tests" / folder / "test_made.py"
        file.parent.mkdir(parents=True)
        file.write_text("".join(SKIPPED.format(i) for i in range(skipped)) + PASSED)
        shutil.copy(CONFTEST, tmp_path / "tests")
        (tmp_path / "constraints.txt").touch()
        inherited = {k: v for k, v in os.environ.items() if k not in ("CI", "HARNESS_DATA")}
        inherited["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # their imports take seconds
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=."],
            cwd=tmp_path,
            env=inherited | variables,
            capture_output=True,
            text=True,
        )

    return run


# Without data four skipped tests are allowed in `plugins` and none in `leaderboard`.
@pytest.mark.parametrize(("folder", "skipped"), [("plugins", 4), ("leaderboard", 0)])
def test_as_many_skipped_tests_as_allowed_pass_in_ci(run_pytest, folder, skipped):
    done = run_pytest(folder, skipped, CI="true")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(("folder", "skipped"), [("plugins", 5), ("leaderboard", 1)])
def test_one_more_skipped_test_fails_in_ci_and_names_the_folder(run_pytest, folder, skipped):
    done = run_pytest(folder, skipped, CI="true")
    assert done.returncode == 1
    assert f"tests/{folder}: {skipped} skipped tests" in done.stdout


def test_with_data_no_test_may_be_skipped_in_ci(run_pytest, tmp_path):
    done = run_pytest("leaderboard", 1, CI="true", HARNESS_DATA=str(tmp_path))
    assert done.returncode == 1


def test_skipped_tests_are_not_limited_outside_ci(run_pytest):
    assert run_pytest("plugins", 1).returncode == 0
