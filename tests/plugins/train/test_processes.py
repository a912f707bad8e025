"""Several processes train one model; torchrun starts one for each GPU, here they share a CPU."""

from __future__ import annotations

import json
import multiprocessing
import socket

import one_of_two
import pytest
import tiny_corpus as tiny

from harness.plugins.train.settings import TrainSettings

pytestmark = pytest.mark.posix
HEAVY = ["torch", "sentence_transformers", "harness.plugins.train.running"]


def test_two_processes_write_one_model_and_average_the_gradients_of_the_classifier(tmp_path):
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(HEAVY)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = TrainSettings(
        base=tiny.vectors(tmp_path),
        corpus=str(tiny.corpus(tmp_path / "corpus")),
        out=tmp_path / "out",
        hidden=8,
        epochs=2,
        batch_size=8,
        lr=1.0,
        device="cpu",
    )
    processes = [
        context.Process(target=one_of_two.work, args=(rank, port, settings, tmp_path))
        for rank in (0, 1)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    facts = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in (0, 1)]
    assert facts[0] == facts[1]
    assert facts[0]["gradient"] == 0.5
    assert json.loads((tmp_path / "out" / "training.json").read_text())["complete"] is True
