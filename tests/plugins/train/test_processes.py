"""Several processes train one model; torchrun starts one for each GPU, here they share a CPU."""

from __future__ import annotations

import json
import multiprocessing
import os
import socket
from pathlib import Path

import pytest
import tiny_corpus as tiny

from harness.plugins.train.settings import TrainSettings

pytestmark = pytest.mark.posix
HEAVY = ["torch", "sentence_transformers", "harness.plugins.train.running"]


def work(rank: int, port: int, settings: TrainSettings, notes: Path) -> None:
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    os.environ.update(place | {"RANK": str(rank), "LOCAL_RANK": str(rank)})
    import torch

    from harness.plugins.train.trainer import SharedHead
    from harness.plugins.train.training import train

    trained = train(settings)
    head = torch.nn.Linear(1, 1, bias=False)
    head.weight.grad = torch.full((1, 1), float(rank))
    SharedHead(head).on_pre_optimizer_step(None, None, None)
    facts = {"test": trained.scores["test"], "gradient": head.weight.grad.item()}
    (notes / f"{rank}.json").write_text(json.dumps(facts))


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
        context.Process(target=work, args=(rank, port, settings, tmp_path)) for rank in (0, 1)
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
