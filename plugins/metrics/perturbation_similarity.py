"""Name bias by perturbation: how alike a model finds texts that differ in their names alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals, cosines, unit_rows
from harness.metrics import Scale, Score, metric
from harness.plugins.metrics.drawings.similarity_heatmap import similarity_heatmap
from harness.plugins.metrics.statistics import bootstrap

MAX_CELLS = 8_000_000  # numbers of gathered vectors held at once: 64 MB
MOST_SHOWN = 60  # rows of a figure: more cannot be read


@metric(
    "perturbation-similarity",
    scores={
        "cosine": Scale(
            ideal=1, bounds=(-1, 1), help="mean cosine of two perturbations of one text"
        ),
        "distance": Scale(
            ideal=0, bounds=(0, None), help="mean Euclidean distance of two perturbations"
        ),
    },
)
def perturbation_similarity(
    perturbed: Reals,
    texts_of: Floats,
    *,
    confidence: float = bootstrap.CONFIDENCE,
    resamples: int = bootstrap.RESAMPLES,
    rng: np.random.Generator,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Score]:
    """Mean similarity and distance of perturbations of one text, then of all texts.

    For each text s the mean over its pairs i < j of Sim(e_si, e_sj); then the mean over texts.
    With K perturbations of every text that is the mean over all pairs, as in the paper's tables.
    (Its formula sums i ≠ j over K(K − 1)/2, which is twice the mean.) Cosines are of the vectors'
    directions, distances of the vectors as the model gives them.

    Perturbations of one text are no independent evidence, so the standard error and the interval
    are those of a sample of texts. The paper counts pairs as independent:
    `standard_error_of_pairs` in the details repeats that.

    Parameters
    ----------
    perturbed
        (n, d) vectors of perturbed texts.
    texts_of
        (n,) which text each is a perturbation of: any number, the same for the same text.
    confidence, resamples
        Level and number of draws of the bootstrap intervals over texts.
    rng
        Source of the draws.
    texts
        By input, the texts of the rows: the names that tell them apart label the figure.

    Returns
    -------
    dict of Score
        `cosine` in [-1, 1], fair is 1; `distance` from 0 without bound, fair is 0. `n` counts
        texts. Details: `standard_error`, texts as clusters; `standard_error_of_pairs`; `pairs`;
        `left_out`, the texts of which fewer than two perturbations are there. Table `texts`: the
        mean of each text. Figure `similarities`: the cosines within the first text.

    References
    ----------
    What is in a name? Mitigating name bias in text embeddings via anonymization, section 3.1,
    tables 3, 4, 10, 11, 13-15 (cosine) and 19 (distance), figures 1-4.
    """
    e = np.asarray(perturbed, dtype=np.float64)
    codes, members, sizes = np.unique(texts_of, return_inverse=True, return_counts=True)
    if not np.any(sizes > 1):
        reason = "no text has two perturbations"
        nothing = Score(float("nan"), n=0, reason=reason)
        return {"cosine": nothing, "distance": nothing}
    rows = np.argsort(members, kind="stable")
    starts = np.cumsum(sizes) - sizes
    pairs = _pairs(e, rows, starts, sizes)
    tables = {
        "texts": [
            {"text": float(code), "perturbations": int(k), "cosine": c, "distance": d}
            for code, k, c, d in zip(
                codes[pairs.texts],
                sizes[pairs.texts],
                pairs.cosine.means.tolist(),
                pairs.distance.means.tolist(),
                strict=True,
            )
        ]
    }
    first = np.sort(rows[starts[pairs.texts[0]] :][: sizes[pairs.texts[0]]])[:MOST_SHOWN]
    labels = own_words([texts["perturbed"][row] for row in first]) if texts else map(str, first)
    figures = {"similarities": similarity_heatmap(cosines(e[first], e[first]), *[list(labels)] * 2)}
    left_out = int(len(codes) - len(pairs.texts))

    def score(found: _Found) -> Score:
        interval = bootstrap.percentile_interval(
            lambda counts: counts @ found.means / counts.sum(axis=1),
            [len(found.means)],
            rng=rng,
            resamples=resamples,
            confidence=confidence,
        )
        if interval is not None:
            interval = dataclasses.replace(interval, method="percentile bootstrap of texts")
        details = {
            "standard_error": found.standard_error,
            "standard_error_of_pairs": found.standard_error_of_pairs,
            "pairs": found.pairs,
            "left_out": left_out,
        }
        return Score(
            float(found.means.mean()), interval=interval, n=len(found.means), details=details
        )

    return {
        "cosine": dataclasses.replace(score(pairs.cosine), tables=tables, figures=figures),
        "distance": score(pairs.distance),
    }


def own_words(texts: Sequence[str]) -> list[str]:
    """Return for each text the words that not all of them have, such as the names put into it.

    A text without such words gets its number, from 1.
    """
    split = [text.split() for text in texts]
    shared = set(split[0]).intersection(*split) if split else set()
    return [
        " ".join(dict.fromkeys(word.strip(",.;:!?\"'()") for word in words if word not in shared))
        or str(number)
        for number, words in enumerate(split, start=1)
    ]


@dataclass(frozen=True)
class _Found:
    """What is known of one similarity: the mean of each text, and sums over all pairs."""

    means: Floats
    pairs: int
    squares: float

    @property
    def standard_error(self) -> float | None:
        n = len(self.means)
        return float(self.means.std(ddof=1) / np.sqrt(n)) if n > 1 else None

    @property
    def standard_error_of_pairs(self) -> float | None:
        if self.pairs < 2:
            return None
        return float(np.sqrt(self.squares / (self.pairs - 1) / self.pairs))


@dataclass(frozen=True)
class _Pairs:
    """Both similarities, by text in ascending order; `texts` are those with pairs."""

    texts: npt.NDArray[np.intp]
    cosine: _Found
    distance: _Found


def _pairs(
    e: Floats, rows: npt.NDArray[np.intp], starts: npt.NDArray[np.intp], sizes: npt.NDArray[np.intp]
) -> _Pairs:
    texts, cosines, distances, counts = [], [], [], []
    spread = np.zeros((2, len(sizes)))  # of the pairs about their text's mean
    for block, k in _blocks(sizes, e.shape[1]):
        v = e[rows[starts[block][:, None] + np.arange(k)]]
        upper = np.triu_indices(k, 1)
        u = unit_rows(v)
        cosine = np.clip(u @ u.transpose(0, 2, 1), -1, 1)[:, *upper]
        # About the text's mean, for what is far from the origin and close together.
        v = v - v.mean(axis=1, keepdims=True)
        gram = v @ v.transpose(0, 2, 1)
        squares = np.diagonal(gram, axis1=1, axis2=2)
        distance = np.sqrt(
            np.maximum(squares[:, :, None] + squares[:, None, :] - 2 * gram, 0)[:, *upper]
        )
        texts.append(block)
        cosines.append(cosine.mean(axis=1))
        distances.append(distance.mean(axis=1))
        counts.append(np.full(len(block), len(upper[0])))
        spread[0, block] = ((cosine - cosines[-1][:, None]) ** 2).sum(axis=1)
        spread[1, block] = ((distance - distances[-1][:, None]) ** 2).sum(axis=1)
    chosen = np.concatenate(texts)
    order = np.argsort(chosen)
    n_pairs = np.concatenate(counts)[order]

    def found(means: list[Floats], within: Floats) -> _Found:
        m = np.concatenate(means)[order]
        mean = np.average(m, weights=n_pairs)
        squares = float(within.sum() + n_pairs @ (m - mean) ** 2)
        return _Found(m, int(n_pairs.sum()), squares)

    return _Pairs(chosen[order], found(cosines, spread[0]), found(distances, spread[1]))


def _blocks(sizes: npt.NDArray[np.intp], d: int) -> Iterator[tuple[npt.NDArray[np.intp], int]]:
    """Yield texts that have the same number of perturbations, as many as fit, and that number."""
    for k in np.unique(sizes[sizes > 1]).tolist():
        alike = np.flatnonzero(sizes == k)
        step = max(1, MAX_CELLS // (k * max(d, k)))
        for start in range(0, len(alike), step):
            yield alike[start : start + step], k
