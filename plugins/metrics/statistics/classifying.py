"""What metrics that classify texts share: features of pairs, copies of texts, the accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals
from harness.plugins.metrics.statistics import intervals
from harness.scores import Samples, Score

Codes: TypeAlias = npt.NDArray[np.int64]
Texts: TypeAlias = Mapping[str, Sequence[str]]


def accuracy(
    truth: Floats,
    answers: Floats,
    *,
    part: str,
    texts: Texts,
    details: Mapping[str, Any],
    rng: np.random.Generator,
    resamples: int,
    confidence: float,
) -> Score:
    """Return the accuracy of answers, with its interval and samples.

    Parameters
    ----------
    truth, answers
        (n,) labels of the tested texts.
    part
        The tested inputs: `texts` for `texts_1` and, of pairs, `texts_2`; or `test`.
    texts
        Texts by input name. Copies of a text are one cluster of the interval.
    details
        Further details; `majority`, the share of the most frequent label, is added.
    rng
        Random number generator of the resamples.
    resamples, confidence
        Number of resamples and level of the interval.
    """
    hits = np.asarray(answers == truth, dtype=np.float64)
    counts = np.unique(truth, return_counts=True)[1]
    interval = intervals.jackknife_interval(
        lambda drawn: drawn @ hits / drawn.sum(axis=1),
        [len(hits)],
        rng=rng,
        clusters=[codes(texts, part)],
        resamples=resamples,
        confidence=confidence,
        bounds=(0, 1),
    )
    inputs = (f"{part}_1", f"{part}_2") if texts.get(f"{part}_2") else f"{part}_1"
    samples = [Samples(inputs, hits, {"label": truth, "predicted": answers})]
    majority = {"majority": float(counts.max() / len(truth))}
    return Score(
        float(hits.mean()),
        interval=interval,
        n=len(hits),
        details={**details, **majority},
        samples=samples,
    )


def too_few_texts(counts: Sequence[int] | Codes, needed: int) -> str:
    """Return why labels with these numbers of texts cannot be learnt; empty if they can."""
    if len(counts) >= 2 and min(counts) >= needed:
        return ""
    problem = "all labels are equal" if len(counts) < 2 else f"a label has {min(counts)} texts"
    return f"{problem}: two or more labels are needed, each with at least {needed} texts"


def pair_features(first: Reals, second: Reals) -> Floats:
    """Return the (n, 2d) features of pairs of (n, d) vectors: |u − v| and u·v, entry by entry."""
    u, v = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    return np.hstack([np.abs(u - v), u * v])


def items(texts: Texts, part: str) -> list[tuple[str, str]]:
    """Return the text, or pair of texts, of each row of the inputs of a part."""
    column = texts[f"{part}_1"]
    return list(zip(column, texts.get(f"{part}_2") or [""] * len(column), strict=True))


def codes(texts: Texts, part: str) -> Codes:
    """Return the (n,) codes of the texts, or pairs of texts, of a part: equal for copies."""
    known: dict[tuple[str, str], int] = {}
    return np.array([known.setdefault(item, len(known)) for item in items(texts, part)])


def seen(texts: Texts) -> int:
    """Return how many tested texts, or pairs, are also trained on."""
    trained = set(items(texts, "texts"))
    return sum(item in trained for item in items(texts, "test"))
