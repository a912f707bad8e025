"""What a board of a thousand models would take: measured on one model, and multiplied.

    OMP_NUM_THREADS=1 python perf/at_scale.py [--models 1000] [--tasks 100]

One made-up text model (a random vector for each text) is evaluated on the tasks of a benchmark
(`--measure`) under ten mitigators. Texts, tokens, records, bytes and CPU seconds of this run are
measured; tokens are those of all-MiniLM-L6-v2. They are multiplied by the number of models and
tasks. GPU time and cost are not measured: they follow from the sizes of models in `MIX`, 2
operations a parameter and token, and the speeds and prices below. float32 is the default.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import timing

import harness
from harness.arrays import Vectors
from harness.digest import text_keys
from harness.embedder import ModelInfo
from harness.registry.registry import Registry

MITIGATORS = (
    "none",
    "normalize",
    "whitening",
    "hard-debias",
    "sent-debias",
    "inlp",
    "leace",
    "swap-average",
    "context-injection",
    "anonymize",
)
TOKENIZER = "all-MiniLM-L6-v2"
OPERATIONS = {"float32": 3e13, "tf32": 1e14, "bfloat16": 1.5e14}
"""Operations a second that a GPU of the H100's size is assumed to reach, by precision: about half
of what its maker states for float32, and less for the others. None of them was measured."""
GPU_HOUR, TOKENS_PRICE, GIGABYTE_MONTH = 2.5, 0.02e-6, 0.023
"""Prices in dollars: an hour of a GPU, a token of a hosted model, a GB and month in a bucket."""
BOARD_BYTES = 2.7e3
"""Memory of `harness leaderboard build` for a record (`perf/board.py`)."""


@dataclass(frozen=True)
class Size:
    """A size of models: their share of all, parameters (without embeddings), and dimensions."""

    name: str
    share: float
    parameters: float
    dimensions: int


MIX = (
    Size("small", 0.40, 2.2e7, 384),
    Size("base", 0.35, 8.6e7, 768),
    Size("large", 0.15, 3.0e8, 1024),
    Size("7B", 0.10, 6.6e9, 4096),
)
"""Sizes of models as boards of embedders have them."""


class RandomModel:
    """A text encoder that returns a random unit vector for each text, always the same."""

    info = ModelInfo(
        name="random-vectors", fingerprint="random-vectors@1", kind="text", dimensions=384
    )

    def __init__(self) -> None:
        self.texts: list[str] = []

    def encode(self, texts: list[str]) -> Vectors:
        """Return the (n, 384) vectors of `texts`."""
        self.texts += texts
        keys = np.frombuffer(text_keys(texts), dtype=np.uint64).reshape(-1, 2)
        rows = [np.random.default_rng(key).standard_normal(384, dtype=np.float32) for key in keys]
        vectors = np.stack(rows)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--measure", default="social-bias-encoders", help="tasks that are run")
    arguments = parser.parse_args()
    model, n_models = RandomModel(), arguments.models
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)

        def evaluate() -> harness.Records:
            return harness.evaluate(
                model,
                tasks=arguments.measure,
                workers=1,
                mitigators=list(MITIGATORS),
                results=folder / "results",
                cache=folder / "vectors",
                progress=True,
            )

        records: list[harness.Records] = []
        first = timing.timed(lambda: records.append(evaluate()))
        second = timing.timed(lambda: records.append(evaluate()))
        n_records, n_tasks = len(records[0]), len({r.task.name for r in records[0]})
        line_bytes = sum(file.stat().st_size for file in (folder / "results").rglob("*.jsonl"))
    tokens = sum(Registry().embedder(TOKENIZER).lengths(model.texts))
    scale = arguments.tasks / n_tasks
    print(f"measured: one model, {n_tasks} tasks, {len(MITIGATORS)} mitigators")
    print(f"  texts {len(model.texts):,}, tokens {tokens:,}, records {n_records:,}")
    print(f"  records of {line_bytes / n_records:,.0f} bytes")
    print(f"  CPU {first.cpu:.0f} s, wall {first.wall:.0f} s; again {second.cpu:.0f} s of CPU")
    print(f"for {n_models:,} models, {arguments.tasks} tasks and {len(MITIGATORS)} mitigators")
    texts, tokens = len(model.texts) * scale, tokens * scale
    operations = 2 * tokens * n_models * sum(size.parameters * size.share for size in MIX)
    hours = {precision: operations / rate / 3600 for precision, rate in OPERATIONS.items()}
    vectors = sum(size.share * n_models * texts * (16 + 4 * size.dimensions) for size in MIX) / 1e9
    total = n_models * n_records * scale
    rows = {
        "texts a model": f"{texts:,.0f}",
        "texts encoded": f"{texts * n_models:,.0f}",
        **{
            f"GPU-hours, modelled, {precision}": f"{n:,.0f}, {n * GPU_HOUR:,.0f} dollars"
            for precision, n in hours.items()
        },
        "one hosted model": f"{tokens:,.0f} tokens, {tokens * TOKENS_PRICE:.2f} dollars",
        "vectors": f"{vectors:,.0f} GB, {vectors * GIGABYTE_MONTH:,.0f} dollars a month",
        "core-hours of planning and scoring": f"{first.cpu * scale * n_models / 3600:,.0f}",
        "core-hours to find that all is done": f"{second.cpu * scale * n_models / 3600:,.0f}",
        "records": f"{total:,.0f}, {total * line_bytes / n_records / 1e9:,.0f} GB",
        "memory of `leaderboard build`": f"{total * BOARD_BYTES / 1e9:,.0f} GB",
    }
    for name, value in rows.items():
        print(f"  {name:38} {value}")


if __name__ == "__main__":
    main()
