"""Tiny mitigators and metrics."""

import numpy as np

from harness import Mitigator, Samples, Scale, Score, metric


class Shift(Mitigator):
    """Subtracts the mean of the definitional pairs, `k` times."""

    needs = ("definitional_pairs",)

    def __init__(self, k: int = 1):
        self.k = k

    def fitting_texts(self, concept):
        return [word for pair in concept.definitional_pairs for word in pair]

    def fit(self, embedder, concept=None):
        self.mean_ = np.nanmean(embedder.encode(self.fitting_texts(concept)), axis=0)
        return self

    def transform(self, vectors, texts):
        return np.asarray(vectors - self.k * self.mean_, dtype=np.float32)


class Polite(Mitigator):
    """Appends a word to every text."""

    kinds = ("text",)

    def __init__(self, word: str = "please"):
        self.word = word

    def rewrite(self, texts):
        return [f"{text} {self.word}" for text in texts]


@metric(
    "toy-gap",
    scores={"gap": Scale(ideal=0, bounds=(0, None)), "items": Scale(ideal="higher")},
    disjoint=[("targets_1", "targets_2")],
)
def gap(targets_1, targets_2, *, centre: bool = False, power: float = 1.0):
    """Return the distance between the means of two sets."""
    distance = np.linalg.norm(np.mean(targets_1, axis=0) - np.mean(targets_2, axis=0))
    n = len(targets_1) + len(targets_2)
    return {"gap": Score(float(distance) ** power, n=n), "items": n}


@metric("toy-draw", scores={"draw": Scale(ideal=0.5, bounds=(0, 1))})
def draw(targets_1, *, rng):
    """Return a random number."""
    return rng.random()


@metric("toy-fit", scores={"correlation": Scale(ideal="higher", bounds=(-1, 1))})
def fit(pairs_1, pairs_2, labels, *, clusters):
    """Return the correlation of distances with labels."""
    assert {len(codes) for codes in clusters.values()} == {len(labels)}
    distances = np.linalg.norm(pairs_1 - pairs_2, axis=1)
    if np.ptp(distances) == 0:
        return Score(float("nan"), reason="all distances are equal")
    part = Samples(("pairs_1", "pairs_2"), None, {"distance": distances, "label": labels})
    return Score(-float(np.corrcoef(distances, labels)[0, 1]), samples=[part])
