"""Generated analogies (Bolukbasi et al. 2016): share of those that people rated stereotyped.

The search for the analogies is in `statistics.analogy_search`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals, unit_rows
from harness.errors import InvalidOption
from harness.metrics import Samples, Scale, Score, metric

from .statistics.analogy_search import (
    Repeats,
    distinct_rows,
    find_pairs,
)

Rating = Literal["stereotyped", "appropriate", "both", "neither", "unrated"]
Flags: TypeAlias = npt.NDArray[np.bool_]


@metric(
    "pair-analogies",
    scores={
        "stereotyped": Scale(
            ideal=0,
            bounds=(0, 1),
            help="share of the generated pairs that people rated as stereotypes",
        ),
        "appropriate": Scale(
            ideal="higher", bounds=(0, 1), help="share of the generated pairs rated as appropriate"
        ),
        "unrated": Scale(
            ideal="lower", bounds=(0, 1), help="share of the generated pairs without a rating"
        ),
    },
)
def pair_analogies(
    seed_1: Reals,
    seed_2: Reals,
    vocabulary: Reals,
    rated_1: Reals,
    rated_2: Reals,
    appropriate: Floats,
    biased: Floats,
    *,
    delta: float = 1.0,
    top: int = 150,
    unique: Repeats = "both",
    majority: float = 6.0,
    texts: Mapping[str, Sequence[str]],
) -> dict[str, Score]:
    """Shares of the best analogies a : x :: b : y that people rated stereotyped or appropriate.

    All pairs x, y of the vocabulary are scored by equation 1: cos(a − b, x − y) if ‖x − y‖ ≤ δ,
    with all words at length 1. The `top` pairs are listed.

    The paper's workers rated the 150 pairs of one embedding, before and after debiasing. The list
    of another embedding has many pairs without a rating, and the shares, which are of all listed
    pairs, are lower bounds. Compare them between mitigators of one embedding, with `unrated`.

    Parameters
    ----------
    seed_1, seed_2
        (1, d) vectors a and b, such as she and he.
    vocabulary
        (n, d) vectors of the candidate words, most frequent first. Of words with equal vectors,
        as in pruned tables, only the first is a candidate.
    rated_1, rated_2
        (m, d) vectors of the rated pairs; only their `texts` are used.
    appropriate, biased
        (m,) number of people who rated a pair as an appropriate analogy, and as a stereotype.
    delta
        δ, largest distance of x and y, in (0, 2]. At 1 the angle is at most 60°, which admits
        unrelated pairs if there are few dimensions, such as 50.
    top
        Length of the list.
    unique
        `first`, as published: a word is x at most once; `both`: at most once as x and at most once
        as y. With `first`, a word such as `he` may be y many times.
    majority
        Number of people required for a rating. With 6 of 10, a majority, the paper's list has 29
        stereotypes of 150 before hard debiasing and 9 after it (section 8). With "five or more"
        (section 4), the pairs in appendix G would give 38 and 13.
    texts
        Words by input name.

    Returns
    -------
    dict of Score
        `stereotyped`, fair is 0; `appropriate`, higher is better; `unrated`, lower is better. Each
        is a share in [0, 1]; a pair may be both stereotyped and appropriate. `n` is the number of
        listed pairs. Details of `stereotyped`: `delta`; `unique`; `within_delta`, the number of
        unordered pairs at a distance of at most δ; `same_vector`, the number of words left out
        because an earlier word has the same vector. Table `pairs`: first, second, score and
        rating (stereotyped, appropriate, both, neither or unrated). Samples: the rows of this
        table; a pair contributes 1 if the score counts it. There is no p-value and no interval.

    Raises
    ------
    InvalidOption
        If `delta` is not in (0, 2], `top` is below 1 or `unique` is unknown.

    References
    ----------
    Bolukbasi et al. (2016), Man is to computer programmer as woman is to homemaker? Debiasing
    word embeddings, section 4, equation 1, appendix G.
    """
    if not 0 < delta <= 2 or top < 1:
        raise InvalidOption(
            f"pair-analogies: delta={delta}, top={top}: "
            "delta must be above 0 and at most 2, top at least 1"
        )
    if unique not in ("first", "both"):
        raise InvalidOption(f"pair-analogies: unique={unique}: use 'first' or 'both'")
    if len(seed_1) != 1 or len(seed_2) != 1:
        return _undefined("a seed word is missing")
    direction = unit_rows(unit_rows(seed_1) - unit_rows(seed_2))[0]
    if not direction.any():
        return _undefined("the two seed words have equal vectors")
    distinct = distinct_rows(vocabulary)
    pairs = find_pairs(vocabulary[distinct], direction, delta=delta, top=top, repeats=unique)
    if len(pairs.scores) == 0:
        return _undefined("no two words are at a distance of at most δ")
    words = [texts["vocabulary"][i] for i in distinct]
    ratings = _ratings(texts, appropriate >= majority, biased >= majority)
    rows = [
        {"first": words[x], "second": words[y], "score": float(score)}
        for x, y, score in zip(pairs.first, pairs.second, pairs.scores, strict=True)
    ]
    for row in rows:
        key = (str(row["first"]).lower(), str(row["second"]).lower())
        row["rating"] = ratings.get(key, "unrated")
    details = {
        "delta": delta,
        "unique": unique,
        "within_delta": pairs.within_delta,
        "same_vector": len(vocabulary) - len(distinct),
    }

    columns = {name: [row[name] for row in rows] for name in rows[0]}

    def share(*ratings: Rating) -> Score:
        counted = [float(row["rating"] in ratings) for row in rows]
        samples = [Samples((), counted, columns)]
        return Score(sum(counted) / len(rows), n=len(rows), samples=samples)

    stereotyped = share("stereotyped", "both")
    stereotyped = dataclasses.replace(
        stereotyped,
        details=details,
        tables={"pairs": rows},
    )
    return {
        "stereotyped": stereotyped,
        "appropriate": share("appropriate", "both"),
        "unrated": share("unrated"),
    }


def _ratings(
    texts: Mapping[str, Sequence[str]], appropriate: Flags, biased: Flags
) -> dict[tuple[str, str], Rating]:
    """Return the rating of each pair of lower-case words."""
    names: dict[tuple[bool, bool], Rating] = {
        (True, True): "both",
        (True, False): "appropriate",
        (False, True): "stereotyped",
        (False, False): "neither",
    }
    pairs = zip(texts["rated_1"], texts["rated_2"], appropriate, biased, strict=True)
    return {
        (first.lower(), second.lower()): names[bool(fits), bool(bias)]
        for first, second, fits, bias in pairs
    }


def _undefined(reason: str) -> dict[str, Score]:
    names = ("stereotyped", "appropriate", "unrated")
    return {name: Score(float("nan"), reason=reason) for name in names}
