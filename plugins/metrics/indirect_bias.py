"""Indirect bias (Bolukbasi et al. 2016): share of a similarity that is due to the concept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals, unit_rows
from harness.errors import InvalidOption
from harness.metrics import Null, Samples, Scale, Score, metric

from .statistics.concept_scores import (
    DIRECTIONS,
    EQUAL_SIDES,
    Subspace,
    pair_components,
    random_directions,
)
from .statistics.nulls import DRAWS


@metric(
    "indirect-bias",
    scores={
        "magnitude": Scale(ideal=0, bounds=(0, None), help="mean of |β| over the extreme words"),
        "beta": Scale(
            ideal=0, help="mean of β, the share of a similarity that is due to the concept"
        ),
    },
    later_options=("subspace", "null_draws"),
)
def indirect_bias(
    pairs_1: Reals,
    pairs_2: Reals,
    words: Reals,
    poles_1: Reals,
    poles_2: Reals,
    *,
    extremes: int = 5,
    least_similarity: float = 0.05,
    subspace: Subspace = "unit-differences",
    null_draws: int = DRAWS,
    rng: np.random.Generator | None = None,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Score]:
    """Indirect bias β of the most extreme words on axes that should be neutral.

    An axis connects two neutral words (poles), such as softball and football. The `extremes`
    words that project furthest towards either pole are found. β of a word and its pole
    (`gender_share`) is the share of their similarity that is due to the concept. Positive and
    negative β may cancel, so both the mean of |β| and the mean of β are scores.

    β divides by the similarity w·v and grows without bounds where that is near 0. Words with
    |w·v| below `least_similarity` are left out and counted.

    Any direction that a word and its pole share has a part in their similarity. So the floor of
    both scores is what the same words show along directions between two random words.

    Parameters
    ----------
    pairs_1, pairs_2
        (n, d) vectors of the definitional pairs, which define the direction g.
    words
        (m, d) vectors of words that should be neutral, such as occupations.
    poles_1, poles_2
        (k, d) vectors of the two poles of k axes.
    extremes
        Number of words at either end of an axis.
    least_similarity
        Smallest |w·v| for which β is computed.
    subspace
        Definition of g: `unit-differences` or `centred-pairs` (`pair_components`).
    null_draws
        Number of random directions; 0 for no floor.
    rng
        Random number generator of these directions; without it there is no floor.
    texts
        Words by input name, for the table.

    Returns
    -------
    dict of Score
        `magnitude`, the mean of |β|, at least 0, and `beta`, the mean of β, without bounds. Fair
        is 0; β = 1 if word and pole are similar only through the concept. `n` is the number of
        words with a β. Details: `left_out`, the number without; `least_similarity`. Table `words`
        of `magnitude`: pole, word, projection on the axis, similarity and β (None if left out).
        Samples: the rows of this table.
        There is no p-value and no interval.

    Raises
    ------
    InvalidOption
        If `extremes` is less than 1 or `subspace` is unknown.

    References
    ----------
    Bolukbasi et al. (2016), Man is to computer programmer as woman is to homemaker? Debiasing
    word embeddings, section 5.3 and figure 3.
    """
    if extremes < 1:
        raise InvalidOption(f"indirect-bias: extremes={extremes}: must be at least 1")
    components = pair_components(pairs_1, pairs_2, subspace=subspace)
    if components is None:
        return _undefined(EQUAL_SIDES)
    if len(words) == 0 or len(poles_1) == 0:
        return _undefined("there are no words or no axes")
    g = components.vectors[0]
    w, ends = unit_rows(words), (unit_rows(poles_1), unit_rows(poles_2))
    rows: list[dict[str, Any]] = []
    extreme: list[int] = []
    poles: list[Floats] = []
    for axis in range(len(ends[0])):
        projections = w @ unit_rows((ends[1][axis] - ends[0][axis])[None])[0]
        order = np.argsort(projections, kind="stable")
        for end, most in ((0, order[:extremes]), (1, order[::-1][:extremes])):
            pole = ends[end][axis]
            similarity = w[most] @ pole
            beta = gender_share(w[most], pole, g)
            extreme += most.tolist()
            poles += [pole] * len(most)
            rows += [
                {
                    "pole": texts[f"poles_{end + 1}"][axis] if texts else axis,
                    "word": texts["words"][i] if texts else int(i),
                    "projection": float(projections[i]),
                    "similarity": float(similarity[j]),
                    "beta": float(beta[j]) if abs(similarity[j]) >= least_similarity else None,
                }
                for j, i in enumerate(most)
            ]
    kept = np.array([row["beta"] for row in rows if row["beta"] is not None])
    if len(kept) == 0:
        return _undefined("no extreme word is similar enough to its pole", {"words": rows})
    details = {"left_out": len(rows) - len(kept), "least_similarity": least_similarity}
    magnitude = float(np.abs(kept).mean())
    beta = np.array([row["beta"] for row in rows], dtype=np.float64)  # NaN for None
    null = _null(w, extreme, poles, ~np.isnan(beta), null_draws, rng)
    names = ("pole", "projection", "similarity", "beta")
    columns = {name: [row[name] for row in rows] for name in names}
    parts = [Samples("words", values, columns, extreme) for values in (np.abs(beta), beta)]
    of_magnitude, of_beta = (
        (None, None) if null is None else (np.abs(null).mean(axis=1), null.mean(axis=1))
    )
    return {
        "magnitude": Score(
            magnitude,
            n=len(kept),
            details=details,
            tables={"words": rows},
            samples=parts[:1],
            null=None if of_magnitude is None else Null(of_magnitude, DIRECTIONS),
            unit=None if of_magnitude is None else float(of_magnitude.mean()) or None,
        ),
        "beta": Score(
            float(kept.mean()),
            n=len(kept),
            details=details,
            samples=parts[1:],
            null=None if of_beta is None else Null(of_beta, DIRECTIONS),
            unit=None if of_beta is None else float(np.abs(of_beta).mean()) or None,
        ),
    }


def _null(
    words: Floats,
    extreme: Sequence[int],
    poles: Sequence[Floats],
    kept: npt.NDArray[np.bool_],
    draws: int,
    rng: np.random.Generator | None,
) -> Floats | None:
    """Return the (draws, n) β of the kept extreme words along directions between random words."""
    directions = random_directions(words, rng=rng, draws=draws) if rng and draws else None
    if directions is None:
        return None
    w, v = words[np.array(extreme)[kept]], np.array(poles)[kept]
    along_w, along_v = directions.vectors @ w.T, directions.vectors @ v.T
    similarity = np.einsum("ij,ij->i", w, v)
    # The formula of `gender_share` for all directions at once, with w⊥·v⊥ = w·v − (w·g)(v·g).
    lengths = np.sqrt(np.maximum((1 - along_w**2) * (1 - along_v**2), 1e-12))
    shares: Floats = 1 - (similarity - along_w * along_v) / lengths / similarity
    return shares


def gender_share(w: Reals, v: Reals, g: Floats) -> Floats:
    """Return β(w, v) = (w·v − w⊥·v⊥/(‖w⊥‖‖v⊥‖)) / (w·v), with w⊥ = w − (w·g) g.

    Parameters
    ----------
    w
        (n, d) vectors; they are set to length 1.
    v
        (d,) one vector, or (n, d) one per w; set to length 1.
    g
        (d,) direction of the concept, of length 1.

    Returns
    -------
    (n,) float64
        0 if g contributes nothing to the similarity, 1 if it is the only contribution. Without
        bounds as w·v approaches 0; NaN where w·v is 0.

    References
    ----------
    Bolukbasi et al. (2016), section 5.3.
    """
    w, v = unit_rows(w), unit_rows(np.broadcast_to(v, np.shape(w)))
    similarity = np.einsum("ij,ij->i", w, v)
    outside = [unit_rows(x - np.outer(x @ g, g)) for x in (w, v)]
    without = np.einsum("ij,ij->i", *outside)
    defined = similarity != 0
    share: Floats = np.where(
        defined, (similarity - without) / np.where(defined, similarity, 1.0), np.nan
    )
    return share


def _undefined(
    reason: str, tables: Mapping[str, list[dict[str, Any]]] | None = None
) -> dict[str, Score]:
    return {
        "magnitude": Score(float("nan"), reason=reason, tables=tables or {}),
        "beta": Score(float("nan"), reason=reason),
    }
