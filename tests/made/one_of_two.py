"""One of two processes that train a model. Here, because a new process imports it by its name."""

from __future__ import annotations

import json
import os
from pathlib import Path

from harness.plugins.train.settings import TrainSettings


def work(rank: int, port: int, settings: TrainSettings, notes: Path) -> None:
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    os.environ.update(place | {"RANK": str(rank), "LOCAL_RANK": str(rank)})
    import torch

    from harness.plugins.train.running import SharedHead
    from harness.plugins.train.training import train

    trained = train(settings)
    head = torch.nn.Linear(1, 1, bias=False)
    head.weight.grad = torch.full((1, 1), float(rank))
    SharedHead(head).on_pre_optimizer_step(None, None, None)
    facts = {"test": trained.scores["test"], "gradient": head.weight.grad.item()}
    (notes / f"{rank}.json").write_text(json.dumps(facts))
