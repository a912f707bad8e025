"""Does a mitigation of nothing have an effect: `python -m tests.random_concepts MODEL`.

Each mitigator is fitted on pairs of random words in place of those of gender, and judged on the
tasks of gender, as `harness compare` does. What it then changes is chance, or harm.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

import harness
from harness.concept import Concept
from harness.mitigator import Mitigator
from harness.registry.registry import Registry
from harness.results import comparison
from harness.run.unseen import folded, units

TASKS = {
    "word": ("weat-6", "weat-7", "weat-8"),
    "text": (
        *("seat-c6", "seat-c6b", "seat-c7", "seat-c7b", "seat-c8", "seat-c8b", "bec-pro-en"),
        *("nli-bias-occupations", "sts-bias-winobias", "sts-bias-winogender"),
        "winogender-similarity",
    ),
}
"""Ranked tasks of gender by kind of model; of encoders those that are quick."""
METHODS = ("hard-debias", "sent-debias", "leace", "inlp")
PAIRS = 10
FREQUENT = slice(1_000, 10_000)
"""Ranks of the words that pairs are drawn from."""


def random_concept(words: Sequence[str], seed: int) -> Concept:
    """Return a concept of pairs of random words."""
    chosen = np.random.default_rng(seed).choice(len(words), 2 * PAIRS, replace=False)
    pairs = tuple((words[i], words[j]) for i, j in chosen.reshape(PAIRS, 2))
    return Concept(name=f"random-{seed}", definitional_pairs=pairs)


class OnRandomWords(Mitigator):
    """A mitigator that is fitted on random words.

    Parameters
    ----------
    method
        Name of the mitigator.
    seed
        Of the words.
    """

    needs = ("definitional_pairs",)
    words: Sequence[str] = ()

    def __init__(self, method: str = METHODS[0], seed: int = 0) -> None:
        self.method, self.seed = method, seed

    @property
    def fingerprint(self) -> str:
        return f"{self.method} on {self.seed}"

    def _inner(self) -> Mitigator:
        (inner,) = Registry().mitigator(self.method).mitigators
        return inner

    def fitting_texts(self, concept: Concept | None) -> list[str]:
        return self._inner().fitting_texts(random_concept(self.words, self.seed))

    def fit(self, embedder: Any, concept: Concept | None = None) -> OnRandomWords:
        self._fitted = self._inner().fit(embedder, random_concept(self.words, self.seed))
        return self

    def transform(self, vectors: Any, texts: Sequence[str]) -> Any:
        return self._fitted.transform(vectors, texts)


def effects(model: str, method: str, draws: int) -> dict[str, int]:
    """Return how many of `draws` fits on random words have an effect on bias.

    `clear` counts those whose interval of the difference, at 95 %, is beyond 0; `less` and `more`
    those that are called less or more biased.
    """
    registry = Registry()
    tasks = TASKS[registry.embedder(model).info.kind]
    words = [w for w in registry.embedder("glove-6b-50d").words[FREQUENT] if w.isalpha()]
    of_tasks = {folded(text) for task in tasks for text in units(registry.task(task).texts())}
    OnRandomWords.words = [word for word in words if folded(word) not in of_tasks]
    rows = [OnRandomWords(method, seed) for seed in range(draws)]
    records = harness.evaluate(model, tasks, mitigators=["none", *rows], workers=1)
    found = {"clear": 0, "less": 0, "more": 0}
    base = records.select(mitigator="none")
    labels = [r for r in dict.fromkeys(record.mitigator.label for record in records) if r != "none"]
    assert len(labels) == draws
    for label in labels:
        of_label = [record for record in records if record.mitigator.label == label]
        difference = comparison.compare(base, of_label).verdict.differences[0]
        found["clear"] += difference.low is not None and not difference.low <= 0 <= difference.high
        found["less"] += difference.words.startswith("less")
        found["more"] += difference.words.startswith("more")
    return found


def main() -> None:
    """Print the table of a model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--draws", type=int, default=200)
    arguments = parser.parse_args()
    for method in METHODS:
        print(method, effects(arguments.model, method, arguments.draws), flush=True)


if __name__ == "__main__":
    main()
