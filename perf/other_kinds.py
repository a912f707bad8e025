"""Trains a small model that compares texts itself, on pairs of SNLI, from a sentence encoder.

    python perf/other_kinds.py multi-vector BASE train.jsonl OUT [--layers 3] [--most 4000]

`multi-vector` learns to find the hypothesis that a premise entails among those of its batch, by
MaxSim. `cross-encoder` learns to tell such a pair from one at random. Both start from the first
layers of BASE, a folder, and are saved by sentence-transformers. They are no good models: they show
what the harness makes of their kind where none can be downloaded.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import torch

RATES = {"multi-vector": 5e-5, "cross-encoder": 4e-4}
BATCH = 16


def main() -> None:
    """Train and save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=RATES)
    parser.add_argument("base", type=Path, help="folder of an encoder")
    parser.add_argument("pairs", type=Path, help="JSON lines of premise, hypothesis and label")
    parser.add_argument("out", type=Path, help="folder of the new model")
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--most", type=int, default=4000, help="number of pairs")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    rows = [json.loads(line) for line in arguments.pairs.read_text().splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        first_layers(arguments.base, arguments.layers, Path(folder))
        train = multi_vector if arguments.kind == "multi-vector" else cross_encoder
        train(folder, rows, arguments.most).save_pretrained(str(arguments.out))


def first_layers(base: Path, layers: int, out: Path) -> None:
    """Save the first layers of a transformer as a model of its own."""
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(base)
    model.encoder.layer = model.encoder.layer[:layers]
    model.config.num_hidden_layers = layers
    model.save_pretrained(out)
    AutoTokenizer.from_pretrained(base).save_pretrained(out)


def multi_vector(folder: str, rows: list[dict[str, str]], most: int) -> Any:
    """Return a multi-vector model that was trained on entailed pairs."""
    from sentence_transformers import MultiVectorEncoder

    model = MultiVectorEncoder(folder, device="cpu")
    pairs = entailed(rows)[:most]

    def loss(batch: list[tuple[str, str]]) -> torch.Tensor:
        sides = []
        for texts in zip(*batch, strict=True):
            out = model(model.preprocess(list(texts)))
            sides.append((out["token_embeddings"], out["attention_mask"].bool()))
        (queries, real), (documents, counted) = sides
        products = torch.einsum("qie,dje->qdij", queries, documents)
        best = products.masked_fill(~counted[None, :, None], -1).amax(dim=-1)
        scores = (best * real[:, None]).sum(dim=-1) / real.sum(dim=1)[:, None]
        return torch.nn.functional.cross_entropy(20 * scores, torch.arange(len(batch)))

    return fit(model, pairs, loss, RATES["multi-vector"])


def cross_encoder(folder: str, rows: list[dict[str, str]], most: int) -> Any:
    """Return a cross-encoder that was trained to tell entailed pairs from pairs at random."""
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(folder, device="cpu", num_labels=1)
    pairs = entailed(rows)[:most]

    def loss(batch: list[tuple[str, str]]) -> torch.Tensor:
        others = [(batch[i - 1][0], hypothesis) for i, (_, hypothesis) in enumerate(batch)]
        scores = model(model.preprocess([*batch, *others]))["scores"].squeeze(-1)
        right = torch.cat([torch.ones(len(batch)), torch.zeros(len(batch))])
        return torch.nn.functional.binary_cross_entropy_with_logits(scores, right)

    return fit(model, pairs, loss, RATES["cross-encoder"])


def entailed(rows: list[dict[str, str]]) -> list[tuple[str, str]]:
    """Return the premises and hypotheses of the pairs that are entailed."""
    return [(r["premise"], r["hypothesis"]) for r in rows if r["label"] == "entailment"]


def fit(model: Any, items: list[Any], loss: Any, rate: float) -> Any:
    """Train a model on items in one pass, with a rate that falls to 0."""
    steps = len(items) // BATCH
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, total_iters=steps)
    order = torch.randperm(len(items)).tolist()
    model.train()
    for step in range(steps):
        value = loss([items[i] for i in order[step * BATCH : (step + 1) * BATCH]])
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        schedule.step()
        if step % 20 == 0:
            print(f"{step}/{steps}: loss {value.item():.3f}", flush=True)
    return model.eval()


if __name__ == "__main__":
    main()
