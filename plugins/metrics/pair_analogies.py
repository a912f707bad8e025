"""The analogies that a word embedding generates for a pair of seeds (Bolukbasi et al. 2016).

Scores how many of them people rated as stereotypes; the search stands in `analogy_search`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.errors import InvalidOption
from harness.metrics import Scale, Score, metric
from harness.plugins.metrics.statistics.analogy_search import Repeats, find_pairs

Rating = Literal["stereotyped", "appropriate", "both", "neither", "unrated"]


@metric(
    "pair-analogies",
    scores={
        "stereotyped": Scale(
            ideal=0, bounds=(0, 1), help="share of the generated pairs rated as stereotypes"
        ),
        "appropriate": Scale(
            ideal="higher", bounds=(0, 1), help="share of the pairs rated as appropriate analogies"
        ),
        "unrated": Scale(
            ideal="lower", bounds=(0, 1), help="share of the pairs that nobody has rated"
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

    All pairs x, y of the vocabulary are scored by equation 1, cos(a − b, x − y) if ‖x − y‖ ≤ δ,
    all words at length 1, and the `top` ones are listed. The paper's workers rated the 150 pairs of
    its own embedding, before and after debiasing: another embedding's list holds many pairs that
    nobody has rated, and both shares, which are of all listed pairs, are lower bounds. Compare them
    between mitigators of one embedding, beside `unrated`.

    Parameters
    ----------
    seed_1, seed_2
        (1, d) vectors a and b, such as she and he.
    vocabulary
        (n, d) vectors of the words to choose from, most frequent first. Of words with one and the
        same vector, as pruned tables have them, the first stands for all.
    rated_1, rated_2
        (m, d) vectors of rated pairs; what counts is their `texts`.
    appropriate, biased
        (m,) how many people found a pair an appropriate analogy, and how many a stereotype.
    delta
        δ, largest distance of x and y. At 1 the angle is at most 60°, which lets loose pairs in
        where there are few dimensions, such as 50.
    top
        Length of the list.
    unique
        Whether a word stands on the list once as x (`first`, as published) or once as x and once as
        y (`both`): else a word such as `he` comes back with many x.
    majority
        How many people it takes for a rating. 6 of 10, a majority, gives the paper's 29 stereotypes
        of 150 before hard debiasing and 9 after it (section 8); "five or more", as its section 4
        has it, would be 38 and 13 of the pairs in its appendix G.
    texts
        By input, the words of the rows.

    Returns
    -------
    dict of Score
        Shares in [0, 1]; a pair may be rated both. Details of `stereotyped`: `delta`, `unique`,
        `within_delta`, the number of unordered pairs no further apart than δ; `same_vector`, the
        words left out for having an earlier word's. Table `pairs`: first, second, score and rating
        (stereotyped, appropriate, both, neither or unrated).

    Raises
    ------
    InvalidOption
        If `delta`, `top` or `unique` is none.

    References
    ----------
    Bolukbasi et al. (2016), Man is to computer programmer as woman is to homemaker? Debiasing
    word embeddings, section 4, equation 1, and appendix G.
    """
    if not 0 < delta <= 2 or top < 1:
        raise InvalidOption(f"pair-analogies: delta={delta}, top={top}: 0 < delta ≤ 2 and top ≥ 1")
    if unique not in ("first", "both"):
        raise InvalidOption(f"pair-analogies: unique={unique}: there are first, both")
    if len(seed_1) != 1 or len(seed_2) != 1:
        return _undefined("one of the two seeds is missing")
    direction = unit_rows(unit_rows(seed_1) - unit_rows(seed_2))[0]
    if not direction.any():
        return _undefined("the two seeds are equal")
    own = _first_of_equals(vocabulary)
    found = find_pairs(vocabulary[own], direction, delta=delta, top=top, repeats=unique)
    if len(found.scores) == 0:
        return _undefined("no two words are within δ of each other")
    words = [texts["vocabulary"][i] for i in own]
    votes = zip(texts["rated_1"], texts["rated_2"], appropriate, biased, strict=True)
    ratings = _ratings(votes, majority)
    rows = [
        {"first": words[x], "second": words[y], "score": float(score)}
        for x, y, score in zip(found.first, found.second, found.scores, strict=True)
    ]
    for row in rows:
        key = (str(row["first"]).lower(), str(row["second"]).lower())
        row["rating"] = ratings.get(key, "unrated")
    details = {
        "delta": delta,
        "unique": unique,
        "within_delta": found.within_delta,
        "same_vector": len(vocabulary) - len(own),
    }

    def share(*ratings: Rating) -> float:
        return sum(row["rating"] in ratings for row in rows) / len(rows)

    n = len(rows)
    return {
        "stereotyped": Score(
            share("stereotyped", "both"), n=n, details=details, tables={"pairs": rows}
        ),
        "appropriate": Score(share("appropriate", "both"), n=n),
        "unrated": Score(share("unrated"), n=n),
    }


def _ratings(
    votes: Iterable[tuple[str, str, float, float]], majority: float
) -> dict[tuple[str, str], Rating]:
    """Return the rating of each pair, lower-cased."""
    names: dict[tuple[bool, bool], Rating] = {
        (True, True): "both",
        (True, False): "appropriate",
        (False, True): "stereotyped",
        (False, False): "neither",
    }
    return {
        (first.lower(), second.lower()): names[bool(fits >= majority), bool(bias >= majority)]
        for first, second, fits, bias in votes
    }


def _first_of_equals(vectors: Reals) -> list[int]:
    """Return the rows that no earlier row equals and that are not zero, ascending."""
    seen: dict[bytes, int] = {}
    for i, row in enumerate(np.ascontiguousarray(vectors)):
        seen.setdefault(row.tobytes(), i)
    return [i for i in seen.values() if vectors[i].any()]


def _undefined(reason: str) -> dict[str, Score]:
    names = ("stereotyped", "appropriate", "unrated")
    return {name: Score(float("nan"), reason=reason) for name in names}
