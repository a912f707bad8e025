"""RIPA: projections of attributes on the directions of word pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from harness.arrays import Floats, Reals
from harness.metrics import metric
from harness.plugins.metrics.statistics import bootstrap, word_sets
from harness.scores import Samples, Scale, Score

INPUTS = ("targets_1", "targets_2", "attributes")


@metric(
    "ripa",
    scores={
        "association": Scale(
            ideal=0, help="mean projection of the attributes on the unit directions of the pairs"
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
    """Relational inner product association (RIPA).

    RIPA = mean over pairs (x, y) and attributes a of ⟨a, (x − y) / ‖x − y‖⟩. A positive value
    associates the attributes with the first words of the pairs.

    Row i of `targets_1` and row i of `targets_2` are one pair. A task must take both from the
    columns of one table: then a word missing from the vocabulary removes its pair. With two
    separate sets, a missing word would shift the rows of one side and break the pairs. A pair of
    equal vectors, such as an equalised pair, has no direction and is left out.

    Parameters
    ----------
    targets_1, targets_2
        (n, d) vectors of the first and the second words of the pairs; a word may be in several.
    attributes
        (a, d) vectors of A.
    unit_length
        Whether vectors are set to length 1 first. Published: False.
    confidence, resamples
        Level and number of resamples of the percentile bootstrap interval over pairs and
        attributes.
    rng
        Random number generator of the resamples.
    clusters
        Cluster codes by input name, (n,): items made from one word or template share a code.
        Those of `targets_1` are the codes of the pairs.

    Returns
    -------
    Score
        RIPA, in the unit of the vectors; fair is 0. In [−1, 1] at unit length; otherwise it grows
        with the lengths of the attributes. `n` is the number of pairs. Details: `sd_pairs`, the
        standard deviation over pairs (ddof 1) of the mean over attributes, None for one pair;
        `pairs_without_direction`, the number of pairs of equal vectors; `unit_length`. Samples:
        each pair and each attribute, with the mean over the other ones. There is no p-value.

    Raises
    ------
    InvalidOption
        If `confidence` is not between 0 and 1.

    References
    ----------
    Ethayarajh, Duvenaud and Hirst (2019), Understanding undesirable word embedding associations.
    """
    details: dict[str, object] = {"unit_length": unit_length}
    arrays = (targets_1, targets_2, attributes)
    reason = word_sets.empty(dict(zip(INPUTS, arrays, strict=True)))
    if reason is None and len(targets_1) != len(targets_2):
        reason = (
            f"{len(targets_1)} first words and {len(targets_2)} second words do not form pairs; "
            "take both from the columns of one table"
        )
    if reason:
        return Score(float("nan"), n=len(targets_1), reason=reason, details=details)
    x, y, a = (word_sets.rows(array, unit_length=unit_length) for array in arrays)
    between = x - y
    squares = np.einsum("nd,nd->n", between, between)
    # The difference of equal float32 vectors may be rounding.
    spans = squares > 1e-12 * (np.einsum("nd,nd->n", x, x) + np.einsum("nd,nd->n", y, y))
    details["pairs_without_direction"] = len(spans) - int(np.count_nonzero(spans))
    if not spans.any():
        reason = "the words of each pair have equal vectors"
        return Score(float("nan"), n=0, reason=reason, details=details)
    directions = between[spans] / np.sqrt(squares[spans, None])

    def associations(pairs: Floats, attributes: Floats) -> Floats:
        mean = word_sets.means(pairs, directions)
        products: Floats = np.einsum("bd,bd->b", mean, word_sets.means(attributes, a))
        return products

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
    deviations = by_pair - value
    variance = deviations @ deviations / (len(by_pair) - 1) if len(by_pair) > 1 else None
    details["sd_pairs"] = None if variance is None else math.sqrt(variance)
    samples = [
        Samples(INPUTS[:2], by_pair, rows=np.flatnonzero(spans)),
        Samples("attributes", a @ directions.mean(axis=0)),
    ]
    return Score(float(value), interval=interval, n=len(by_pair), details=details, samples=samples)
