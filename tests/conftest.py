"""What all tests share: data that cannot be shipped, markers by folder, and a limit on skips.

Data is looked for in HARNESS_DATA, else in `shared/data` beside the checkout.
"""

import os
from pathlib import Path

import pytest
from hypothesis import settings

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    # Read when numpy is imported, which happens later. Workers of pytest-xdist that have as many
    # threads as there are cores wait for each other.
    os.environ.setdefault(variable, "1")

SKIPPED_WITHOUT_DATA = 999
BESIDE = Path(__file__).parents[2] / "shared" / "data"
if "HARNESS_DATA" not in os.environ and BESIDE.is_dir():
    os.environ["HARNESS_DATA"] = str(BESIDE)

FOLDERS = ("reference", "end_to_end")
"""Folders of tests that are a marker, too."""
MOST_SKIPPED = 0 if "HARNESS_DATA" in os.environ else SKIPPED_WITHOUT_DATA
"""CI fails when more tests are skipped: a test that never runs protects nothing."""

settings.register_profile("harness", deadline=None)
settings.load_profile("harness")


@pytest.fixture
def loopback(monkeypatch):
    """An endpoint on 127.0.0.1 that embeds and chats; no proxy stands before it."""
    from loopback import Loopback

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with Loopback() as server:
        yield server


def pytest_collection_modifyitems(items):
    """Mark tests by their folder."""
    for item in items:
        for folder in FOLDERS:
            if folder in item.path.parts:
                item.add_marker(folder)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """Fail in CI if more tests were skipped than the number that is written down."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") and reporter is not None and not hasattr(session.config, "workerinput"):
        skipped = len(reporter.stats.get("skipped", []))
        if skipped > MOST_SKIPPED:
            line = f"{skipped} tests were skipped, {MOST_SKIPPED} are allowed"
            reporter.write_line(line, red=True)
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
