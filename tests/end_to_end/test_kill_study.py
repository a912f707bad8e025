"""A study that was killed repeatedly ends with the records of an undisturbed study."""

import multiprocessing
import signal
import time

import numpy as np
import pytest
import yaml

from harness.registry.registry import Registry
from harness.results.jsonl import read
from harness.study import running
from harness.study.study_record import StudyRecord

KILLS = 4
OF_THE_RUN = {"run", "created", "seconds"}


@pytest.fixture
def study(tmp_path):
    """Return the file of a study of 240 records, about a second of work."""
    rng = np.random.default_rng(1)
    pairs = Registry().concept("gender-45").definitional_pairs[:12]
    words = [word for pair in pairs for word in pair] + list("abcdefgh")
    lines = [" ".join([word, *map(str, rng.normal(size=8).round(4))]) for word in words]
    (tmp_path / "vectors.txt").write_text("\n".join(lines) + "\n")
    content = {
        "name": "killed",
        "version": 1,
        "title": "Killed again and again",
        "models": [f"vectors:{tmp_path / 'vectors.txt'}"],
        "concept": "gender-45",
        "folds": 4,
        "inner_folds": 3,
        "repeats": 15,
        "mitigators": {"hard-debias": {"grid": {"k": [1, 2]}}, "leace": {}},
        "inputs": {
            "targets_1": {"table": "concept.definitional_pairs", "column": "second"},
            "targets_2": {"table": "concept.definitional_pairs", "column": "first"},
            "attributes_1": {"words": list("abcd")},
            "attributes_2": {"words": list("efgh")},
        },
        "measures": {"WEAT": {"metric": "weat-association"}},
    }
    path = tmp_path / "killed.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


def contents(path):
    records = read(path, StudyRecord, [])
    return {record.id: record.model_dump(exclude=OF_THE_RUN) for record in records}


@pytest.fixture
def start():
    """Return a function that starts a process; modules are imported once for all processes."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["harness.study.running", "sklearn.model_selection", "joblib"])

    def make(function, *args, **options):
        process = context.Process(target=function, args=args, kwargs=options)
        process.start()
        return process

    return make


def test_a_study_killed_four_times_ends_with_the_records_of_an_undisturbed_study(
    study, start, tmp_path
):
    undisturbed = running.run_study(study, results=tmp_path / "undisturbed")
    path = tmp_path / "disturbed" / undisturbed.path.name
    expected, deaths = len(undisturbed.records), 0
    for kill in range(KILLS):
        process = start(running.run_study, study, results=path.parent)
        enough = expected * (kill + 1) // (KILLS + 1)
        while process.is_alive():
            if path.exists() and path.read_bytes().count(b"\n") >= enough:
                process.kill()
                break
            time.sleep(0.01)
        process.join()
        deaths += process.exitcode == -signal.SIGKILL
    last = running.run_study(study, results=path.parent)
    assert deaths == KILLS
    assert 0 < last.new < expected
    assert contents(path) == contents(undisturbed.path)
    assert path.read_bytes().count(b"\n") == expected, "a record is written twice"
