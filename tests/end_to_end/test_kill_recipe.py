"""A recipe killed in training and in evaluation ends with the tables of an undisturbed one.

The runs are processes. They are forked from a server that has imported everything.
"""

from __future__ import annotations

import multiprocessing
import signal
from pathlib import Path

import pytest
import tiny_recipe
from killed_recipe import Moment, work

from harness.results import jsonl

pytestmark = pytest.mark.posix
HEAVY = ["torch", "sentence_transformers", "harness.plugins.train.running", "sklearn.linear_model"]
BATCHES = 11  # in an epoch of 90 pairs


def exit_code(folder: Path, out: str, moment: Moment | None = None) -> int | None:
    process = multiprocessing.get_context("forkserver").Process(
        target=work, args=(folder, out, moment)
    )
    process.start()
    process.join()
    return process.exitcode


def finished(folder: Path) -> set[str]:
    from harness.plugins.train.recipes.recipe import StepRecord

    return {record.step for record in jsonl.read(folder / "steps.jsonl", StepRecord, [])}


@pytest.mark.long
def test_a_recipe_killed_in_training_and_in_evaluation_ends_with_the_same_tables(tmp_path):
    multiprocessing.get_context("forkserver").set_forkserver_preload(HEAVY)
    rows = {name: tiny_recipe.ROWS[name] for name in ("original", "sub80", "hd")}
    tiny_recipe.write(tmp_path, pairs=100, rows=rows)
    assert exit_code(tmp_path, "undisturbed") == 0
    out = tmp_path / "killed"

    in_training = Moment("train sub80-seed1", BATCHES + 6)  # in the second epoch
    assert exit_code(tmp_path, "killed", in_training) == -signal.SIGKILL
    assert list((out / "models" / "sub80-seed1" / "checkpoints").iterdir())
    assert {"evaluate original-seed1", "corpus sub80"} <= finished(out)
    assert in_training.step not in finished(out)

    in_evaluation = Moment("evaluate original-seed2", 1)
    assert exit_code(tmp_path, "killed", in_evaluation) == -signal.SIGKILL
    assert "train original-seed2" in finished(out)
    assert in_evaluation.step not in finished(out)

    assert exit_code(tmp_path, "killed") == 0
    for name in ("summary.json", "tables.csv", "tables.md", "tables.txt"):
        killed, undisturbed = (
            (tmp_path / o / name).read_text("utf-8") for o in ("killed", "undisturbed")
        )
        assert killed == undisturbed, name
