"""A training that was killed goes on and ends with the weights of an undisturbed one."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import signal
from pathlib import Path

import killed_training
import pytest
import tiny_corpus as tiny

from harness.plugins.train.settings import TrainSettings

pytestmark = pytest.mark.posix
HEAVY = ["torch", "sentence_transformers", "harness.plugins.train.running"]
BATCHES = 12  # in an epoch


def exit_code(settings: TrainSettings, batch: int | None = None) -> int | None:
    process = multiprocessing.get_context("forkserver").Process(
        target=killed_training.work, args=(settings, batch)
    )
    process.start()
    process.join()
    return process.exitcode


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*.safetensors")
    }


def test_a_training_killed_three_times_ends_with_the_weights_of_an_undisturbed_one(tmp_path):
    multiprocessing.get_context("forkserver").set_forkserver_preload(HEAVY)
    tiny.corpus(tmp_path / "corpus", 8 * BATCHES)
    base = tiny.vectors(tmp_path)

    def settings(out: str) -> TrainSettings:
        options = {"hidden": 8, "epochs": 4, "batch_size": 8, "lr": 1.0, "device": "cpu"}
        return TrainSettings(
            base=base, corpus=str(tmp_path / "corpus"), out=tmp_path / out, **options
        )

    assert exit_code(settings("undisturbed")) == 0
    killed = settings("killed")
    assert exit_code(killed, batch=BATCHES + 8) == -signal.SIGKILL
    first = sorted(path.name for path in (killed.out / "checkpoints").iterdir())
    assert f"checkpoint-{BATCHES + 3}" in first  # in the middle of the second epoch
    # What a kill may leave of a checkpoint that it interrupts.
    (killed.out / "checkpoints" / "checkpoint-999").mkdir()
    assert exit_code(killed, batch=9) == -signal.SIGKILL
    assert json.loads((killed.out / "training.json").read_text("utf-8"))["complete"] is False
    assert exit_code(killed, batch=10 * BATCHES) == -signal.SIGKILL
    assert exit_code(killed) == 0
    assert digests(killed.out) == digests(tmp_path / "undisturbed")
    killed_state, undisturbed_state = (
        json.loads((tmp_path / name / "training.json").read_text("utf-8"))
        for name in ("killed", "undisturbed")
    )
    assert killed_state["scores"] == undisturbed_state["scores"]
    assert killed_state["best_epoch"] == undisturbed_state["best_epoch"]
