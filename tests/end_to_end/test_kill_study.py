"""A study that is killed again and again ends with the records of an undisturbed one."""

import os
import signal
import subprocess
import sys
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
RUN = "import sys; from harness.study import running; running.run(sys.argv[1], results=sys.argv[2])"


@pytest.fixture
def study(tmp_path):
    """A study of 240 rows in folds, some seconds of work, on pairs of a shipped concept."""
    rng = np.random.default_rng(1)
    pairs = Registry().concept("gender-45").definitional_pairs[:12]
    words = [word for pair in pairs for word in pair] + list("abcdefgh")
    lines = [" ".join([word, *map(str, rng.normal(size=8).round(4))]) for word in words]
    (tmp_path / "vectors.txt").write_text("\n".join(lines) + "\n")
    said = {
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
    path.write_text(yaml.safe_dump(said))
    return path


def contents(path):
    records = read(path, StudyRecord, [])
    return {record.id: record.model_dump(exclude=OF_THE_RUN) for record in records}


def test_a_study_killed_again_and_again_ends_with_the_same_records(study, tmp_path):
    whole = running.run(study, results=tmp_path / "undisturbed")
    killed = tmp_path / "disturbed" / whole.path.name
    wanted, deaths = len(whole.records), 0
    for kill in range(KILLS):
        process = subprocess.Popen([sys.executable, "-c", RUN, str(study), str(killed.parent)])
        enough = wanted * (kill + 1) // (KILLS + 1)
        while process.poll() is None:
            if killed.exists() and killed.read_bytes().count(b"\n") >= enough:
                os.kill(process.pid, signal.SIGKILL)
                break
            time.sleep(0.01)
        deaths += process.wait() == -signal.SIGKILL
    last = running.run(study, results=killed.parent)
    assert deaths == KILLS
    assert 0 < last.new < wanted
    assert contents(killed) == contents(whole.path)
    assert killed.read_bytes().count(b"\n") == wanted  # each once
