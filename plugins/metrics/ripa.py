"""RIPA: projections of attributes on the directions that pairs of words span."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from harness.arrays import Floats, Reals
from harness.metrics import Scale, Score, metric
from harness.plugins.metrics.statistics import bootstrap, word_sets

INPUTS = ("targets_1", "targets_2", "attributes")


@metric(
    "ripa",
    scores={
        "association": Scale(
            ideal=0, help="mean projection of attributes on the pairs' differences of length 1"
        )
    },
)
def ripa(
    targets_1: Reals,
    targets_2: Reals,
    attributes: Reals,
    *,
    unit_length: bool = False,
    confidence: float = bootstrap.CONFIDENCE,
    resamples: int = bootstrap.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, bootstrap.Codes] | None = None,
) -> Score:
    """Relational inner product association.

    RIPA = mean over pairs (x, y) and attributes a of ⟨a, (x − y) / ‖x − y‖⟩. Fair is 0; positive:
    the attributes go with the first words of the pairs. At unit length it stays in [−1, 1]; of
    vectors as they are it grows with the attributes' lengths.

    Row i of `targets_1` and row i of `targets_2` are one pair. A task takes both from the columns
    of one table, so that a word that a vocabulary lacks takes its pair with it; from two sets the
    rest would shift and words be paired that are none, which goes unnoticed where each side lacks
    one. A pair of equal vectors, as after equalising has left nothing between them, spans no
    direction and is left out.

    Parameters
    ----------
    targets_1, targets_2
        (n, d) vectors of the first and the second words of the pairs; words may occur in several.
    attributes
        (a, d) vectors of A.
    unit_length
        Whether vectors are set to length 1 first. Published: False.
    confidence, resamples
        Level and number of draws of the bootstrap interval over pairs and attributes.
    rng
        Source of the draws.
    clusters
        By input, the (n,) codes of items made of one word or template; pairs have those of
        `targets_1`.

    Returns
    -------
    Score
        RIPA, in the unit of the vectors; `n` is the number of pairs. Details: `sd_pairs`, the
        deviation (ddof 1) over pairs of the mean over attributes, None for a single pair;
        `pairs_without_direction`; `unit_length`.

    References
    ----------
    Ethayarajh, Duvenaud and Hirst (2019), Understanding undesirable word embedding associations.
    """
    details: dict[str, object] = {"unit_length": unit_length}
    arrays = (targets_1, targets_2, attributes)
    reason = word_sets.empty(dict(zip(INPUTS, arrays, strict=True)))
    if reason is None and len(targets_1) != len(targets_2):
        reason = (
            f"{len(targets_1)} first and {len(targets_2)} second words are no pairs; "
            "take both from one table"
        )
    if reason:
        return Score(float("nan"), n=len(targets_1), reason=reason, details=details)
    x, y, a = (word_sets.rows(array, unit_length=unit_length) for array in arrays)
    between = x - y
    squares = np.einsum("nd,nd->n", between, between)
    # Equal but for rounding: the difference of float32 vectors.
    spans = squares > 1e-12 * (np.einsum("nd,nd->n", x, x) + np.einsum("nd,nd->n", y, y))
    details["pairs_without_direction"] = len(spans) - int(np.count_nonzero(spans))
    if not spans.any():
        reason = "the words of each pair have equal vectors"
        return Score(float("nan"), n=0, reason=reason, details=details)
    directions = between[spans] / np.sqrt(squares[spans, None])

    def associations(pairs: Floats, attributes: Floats) -> Floats:
        mean = word_sets.means(pairs, directions)
        found: Floats = np.einsum("bd,bd->b", mean, word_sets.means(attributes, a))
        return found

    codes = bootstrap.codes_of(clusters, ("targets_1", "attributes"))
    if codes is not None and codes[0] is not None:
        codes[0] = codes[0][spans]
    interval = bootstrap.percentile_interval(
        associations,
        [len(directions), len(a)],
        rng=rng,
        clusters=codes,
        resamples=resamples,
        confidence=confidence,
    )
    by_pair = directions @ a.mean(axis=0)
    value = by_pair.mean()
    apart = by_pair - value
    details["sd_pairs"] = math.sqrt(apart @ apart / (len(apart) - 1)) if len(apart) > 1 else None
    return Score(float(value), interval=interval, n=len(by_pair), details=details)
