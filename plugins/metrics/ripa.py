"""RIPA: projections of attributes on the directions of word pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import numpy as np

from harness.arrays import Floats, Reals
from harness.metrics import Contrast, Samples, Scale, Score, metric

from .statistics import association, intervals, nulls

TARGETS = ("targets_1", "targets_2")
SAME = 1e-6
"""Relative distance of two vectors that is rounding."""
Sides = Literal["both", "attributes"]


@metric(
    "ripa",
    scores={
        "association": Scale(
            ideal=0,
            help="mean projection of the attributes on the unit directions of the pairs; of two "
            "attribute sets, their difference",
        )
    },
    contrast=Contrast(sides=("attributes", "attributes_2"), towards=TARGETS),
    later_options=("null_draws",),
)
def ripa(
    targets_1: Reals,
    targets_2: Reals,
    attributes: Reals,
    attributes_2: Reals | None = None,
    *,
    unit_length: bool = False,
    sides: Sides = "both",
    null_draws: int = nulls.DRAWS,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, intervals.Codes] | None = None,
) -> Score:
    """Relational inner product association (RIPA).

    RIPA = mean over pairs (x, y) and attributes a of ⟨a, (x − y) / ‖x − y‖⟩. A positive value
    associates the attributes with the first words of the pairs.

    One set of attributes has an offset: what most words have in common may lie to one side, which
    is no bias. With `attributes_2`, the score is RIPA of the first set less that of the second.
    Then the offset is gone, and fair is where both sets lie alike.

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
    attributes_2
        (b, d) vectors of the set that A is contrasted with; None for A alone, as published.
    unit_length
        Whether vectors are set to length 1 first. Published: False.
    sides
        What the floor and the p-value of two sets assign at random: `both` the members of the
        attribute sets and the sides of the pairs, or the `attributes` alone.
    null_draws
        Number of random assignments for the floor; 0 for no floor and no p-value.
    confidence, resamples
        Level of the interval over pairs and attributes, and the most of these to leave out.
    rng
        Random number generator of the resamples and of the shuffles.
    clusters
        Cluster codes by input name, (n,): items made from one word or template share a code.
        Those of `targets_1` are the codes of the pairs.

    Returns
    -------
    Score
        RIPA, in the unit of the vectors; fair is 0. For one set in [−1, 1] at unit length;
        otherwise it grows with the lengths of the attributes. Its unit is the standard deviation
        of the attributes' projections on the unit directions between any two of the words of the
        pairs, the mean over directions of the variance. Like the value, it does not change if
        the same vector is added to all words. `n` is the number of pairs. The two-sided p-value of
        two sets is the larger of two, with the members of the attribute sets shuffled, and with the
        sides of pairs swapped: with the first alone, random sides are significant in 19 to 41 % of
        draws at 5 %. Fewer than six pairs are tested by Student's t instead of swaps. The floor is
        the larger of both, too. Of one set, there is no p-value, and the floor swaps the sides of
        pairs. Details: of two sets `p_targets` and `p_attributes`, the two p-values; `sd_pairs`,
        the standard deviation over pairs (ddof 1) of the value of a pair, None for one pair;
        `pairs_without_direction`, the number of pairs of equal vectors; `unit_length`. Samples:
        each pair and each attribute, with the mean over the other ones.

    Raises
    ------
    InvalidOption
        If `confidence` is not between 0 and 1.

    References
    ----------
    Ethayarajh, Duvenaud and Hirst (2019), Understanding undesirable word embedding associations.
    """
    details: dict[str, object] = {"unit_length": unit_length}
    attribute_sets = {"attributes": attributes}
    if attributes_2 is not None:
        attribute_sets["attributes_2"] = attributes_2
    arrays = {"targets_1": targets_1, "targets_2": targets_2} | attribute_sets
    reason = association.empty(arrays)
    if reason is None and len(targets_1) != len(targets_2):
        reason = (
            f"{len(targets_1)} first words and {len(targets_2)} second words do not form pairs; "
            "take both from the columns of one table"
        )
    if reason:
        return Score(float("nan"), n=len(targets_1), reason=reason, details=details)
    x, y, *sets = (association.rows(array, unit_length=unit_length) for array in arrays.values())
    between = x - y
    squares = np.einsum("nd,nd->n", between, between)
    # The difference of equal float32 vectors may be rounding.
    spans = squares > SAME**2 * (np.einsum("nd,nd->n", x, x) + np.einsum("nd,nd->n", y, y))
    details["pairs_without_direction"] = len(spans) - int(np.count_nonzero(spans))
    if not spans.any():
        reason = "the words of each pair have equal vectors"
        return Score(float("nan"), n=0, reason=reason, details=details)
    directions = between[spans] / np.sqrt(squares[spans, None])

    def associations(pairs: Floats, *of_sets: Floats) -> Floats:
        mean = association.means(pairs, directions)
        sides = zip(of_sets, sets, strict=True)
        middles = [association.means(counts, rows) for counts, rows in sides]
        between = middles[0] - middles[1] if len(middles) > 1 else middles[0]
        products: Floats = np.einsum("bd,bd->b", mean, between)
        return products

    codes = intervals.codes_of(clusters, ("targets_1", *attribute_sets))
    if codes is not None and codes[0] is not None:
        codes[0] = codes[0][spans]
    interval = intervals.jackknife_interval(
        associations,
        [len(directions), *map(len, sets)],
        rng=rng,
        clusters=codes,
        resamples=resamples,
        confidence=confidence,
    )
    middles = [rows.mean(axis=0) for rows in sets]
    by_pair = directions @ (middles[0] - middles[1] if len(sets) > 1 else middles[0])
    value = float(by_pair.mean())
    deviations = by_pair - value
    variance = deviations @ deviations / (len(by_pair) - 1) if len(by_pair) > 1 else None
    details["sd_pairs"] = None if variance is None else math.sqrt(variance)
    by_attribute = [rows @ directions.mean(axis=0) for rows in sets]
    of_sides: dict[str, nulls.Shuffled] = {}
    if null_draws and len(sets) > 1:
        of_sides["attributes"] = nulls.shuffled_sets(
            *by_attribute,
            shuffled=nulls.ATTRIBUTES,
            units=(None, None) if codes is None else (codes[1], codes[2]),
            draws=null_draws,
            rng=rng,
        )
    if null_draws and (len(sets) == 1 or sides == "both"):
        of_sides["targets"] = nulls.shuffled_pairs(
            by_pair,
            np.zeros_like(by_pair),
            units=None if codes is None else codes[0],
            draws=null_draws,
            few_by_t=True,
            rng=rng,
        )
    chance = nulls.Chance(of_sides)
    if len(sets) > 1:
        details |= chance.p_values
    everything = sum(map(len, sets))
    spread = _spread(np.vstack(sets), np.vstack([x[spans], y[spans]]))
    samples = [Samples(TARGETS, by_pair, rows=np.flatnonzero(spans))]
    for name, sign, values in zip(attribute_sets, (1, -1), by_attribute, strict=False):
        samples.append(Samples(name, sign * values * everything / len(values)))
    return Score(
        value,
        p_value=chance.p_value if len(sets) > 1 else None,
        interval=interval,
        n=len(by_pair),
        details=details,
        samples=samples,
        null=chance.null,
        unit=spread or None,
    )


def _spread(attributes: Floats, words: Floats) -> float:
    """Return the standard deviation of (m, d) attributes along the directions between words.

    The variance over attributes is taken along each direction, so that what all attributes have
    in common does not count; then the mean over the directions between two different words.
    """
    first, second = np.triu_indices(len(words), 1)
    between = words[first] - words[second]
    lengths = np.linalg.norm(between, axis=1)
    apart = lengths > SAME * np.linalg.norm(words, axis=1).max()
    if not apart.any():
        return 0.0
    directions = between[apart] / lengths[apart, None]
    return float(np.sqrt((attributes @ directions.T).var(axis=0).mean()))
