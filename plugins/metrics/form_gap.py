"""Bias of the feminine and masculine forms of occupations, in languages with grammatical gender."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.errors import InvalidOption
from harness.metrics import Contrast, Samples, Scale, Score, metric

from .statistics import intervals, nulls
from .statistics.concept_scores import (
    DIRECTIONS,
    EQUAL_SIDES,
    NO_OVERLAP,
    correlations_along,
    pair_components,
)
from .statistics.intervals import (
    correlation_p_value,
    midranks,
    spearman,
    to_spearman,
)

Grammar: TypeAlias = Literal["lda", "means", "none"]
Sides: TypeAlias = Literal["both", "labels"]
FEWEST = 3  # occupations whose ranks say something
NO_REST = "the direction of the definers is that of grammatical gender"
ZERO = 1e-9


@metric(
    "form-gap",
    scores={
        "stereotype": Scale(
            ideal=0,
            bounds=(-1, 1),
            help="rank correlation of the forms' semantic gender and people's stereotypes",
        ),
        "gap": Scale(
            ideal=0,
            bounds=(0, 2),
            help="inBias: mean difference of the forms' distances from the definers of their side",
        ),
        "semantic_gap": Scale(
            ideal=0,
            bounds=(0, 1),
            help="mean difference of the forms' |cosines| with the semantic direction of gender",
        ),
    },
    contrast=Contrast(
        sides=("feminine", "masculine"),
        towards=("definers_feminine", "definers_masculine"),
        labels="ratings",
    ),
)
def form_gap(
    feminine: Reals,
    masculine: Reals,
    definers_feminine: Reals,
    definers_masculine: Reals,
    ratings: Floats,
    nouns_feminine: Reals | None = None,
    nouns_masculine: Reals | None = None,
    *,
    grammar: Grammar = "lda",
    sides: Sides = "both",
    null_draws: int = nulls.DRAWS,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Score]:
    """Bias of occupations that have a feminine and a masculine form.

    A feminine form must lie nearer to women; that is its meaning. Bias is that an occupation's two
    forms do so unequally. With O_F, O_M the forms of an occupation, S_F, S_M the definers and
    dis = 1 − cos::

        gap = 1/N Σ_i |dis(O_Mi, S_M) − dis(O_Fi, S_F)|,   dis(O, S) the mean over S

    which is inBias of Zhao et al. Nouns for things have grammatical gender without a meaning of
    gender. The direction d_g between them is found by linear discriminant analysis, as by Zhou et
    al., with the shrinkage of Ledoit and Wolf, because there are fewer nouns than dimensions. The
    semantic direction is what is left of the direction d of the definers (`pair_components`)::

        d_s = d − ⟨d, d_g⟩ d_g,   at length 1
        semantic_gap = 1/N Σ_i | |cos(O_Mi, d_s)| − |cos(O_Fi, d_s)| |
        x_i = cos(O_Fi, d_s) + cos(O_Mi, d_s);   stereotype = Spearman's ρ of x and the ratings

    The sum x_i is where the occupation lies, whatever the distance between its forms. Being
    orthogonal to the discriminant, d_s may still tell the means of the nouns apart (detail
    `nouns`); `grammar=means` takes the difference of these for d_g, and then it does not.

    Parameters
    ----------
    feminine, masculine
        (N, d) vectors of the forms; row i is one occupation.
    definers_feminine, definers_masculine
        (k, d) vectors of the definitional pairs.
    ratings
        (N,) how much people link the occupations with men, in any unit.
    nouns_feminine, nouns_masculine
        (p, d) and (q, d) vectors of nouns for things.
    grammar
        What d_g is: `lda`; `means`, the difference of the nouns' means; or `none`, for d_s = d, as
        without nouns.
    sides
        What the p-value and the floor replace by chance: `both` the ratings and the semantic
        direction, or the `labels`, the ratings, alone.
    null_draws
        Number of times that the ratings are shuffled, and of random directions; 0 for no floor, and
        the p-value of shuffled ratings alone.
    confidence, resamples
        Level of the intervals over occupations, and the most of these to leave out; directions
        are fixed, so that an interval may exclude 0 where random directions do as well.
    rng
        Random number generator of the shuffles.
    texts
        Texts by input name, for the table.

    Returns
    -------
    dict of Score
        `stereotype`, in [−1, 1], fair is 0; positive if occupations that people link with men lie
        towards them in both forms. Its p-value is the larger of two, as is its floor: that of the
        two-sided t test, and the share of directions between two random occupations with a
        correlation as far from 0 (details `p_labels` and `p_direction`). `gap`, in [0, 2],
        and `semantic_gap`, in [0, 1]; fair is 0. They have no floor: with noise alone they are
        above 0, so they compare models of like dimensions, and mitigators of one. Details:
        `lean`, the mean of dis(O_F, S_F) − dis(O_M, S_M) without bars, positive where masculine
        forms are nearer to theirs; `by_pair`, the gap with the bars around each pair of definers,
        as in the code of the paper's authors; `grammatical`, cos(d, d_g); `nouns`, the share of
        nouns on the side of their gender along d_s, .5 if d_s knows nothing of grammar; `forms`,
        the mean cos(O_M, d_s) − cos(O_F, d_s). Table `occupations`: forms, difference of
        distances, place and rating. Samples: the same.

    Raises
    ------
    InvalidOption
        If `grammar` is unknown, or `confidence` is not between 0 and 1.

    References
    ----------
    Zhao, Mukherjee, Hosseini, Chang and Hassan Awadallah (2020), Gender bias in multilingual
    embeddings and cross-lingual transfer, section 3 (inBias). Zhou, Shi, Zhao, Huang, Chen,
    Cotterell and Chang (2019), Examining gender bias in languages with grammatical gender,
    sections 3 and 4 (directions; the difference of the forms' associations).
    """
    if grammar not in get_args(Grammar):
        raise InvalidOption(f"form-gap: grammar={grammar}: use lda, means or none")
    f, m, s_f, s_m = map(unit_rows, (feminine, masculine, definers_feminine, definers_masculine))
    y, n = np.asarray(ratings, dtype=np.float64), len(f)
    components = pair_components(s_f, s_m, subspace="centred-pairs")
    if components is None or n < FEWEST:
        reason = EQUAL_SIDES if components is None else f"fewer than {FEWEST} occupations"
        undefined = Score(float("nan"), n=n, reason=reason)
        return dict.fromkeys(("stereotype", "gap", "semantic_gap"), undefined)
    d = components.vectors[0]
    nouns = None if nouns_feminine is None or nouns_masculine is None else (
        unit_rows(nouns_feminine), unit_rows(nouns_masculine)
    )  # fmt: skip
    d_g = None if nouns is None else grammatical_direction(*nouns, grammar=grammar)
    d_s = d if d_g is None else d - (d @ d_g) * d_g
    interval = partial(
        intervals.jackknife_interval,
        sizes=[n],
        rng=rng,
        resamples=resamples,
        confidence=confidence,
    )
    by_pair = (1 - m @ s_m.T) - (1 - f @ s_f.T)  # (N, k), if row i of the definers is a pair
    difference = by_pair.mean(axis=1)
    details: dict[str, Any] = {
        "lean": float(-difference.mean()),
        "by_pair": float(np.abs(by_pair).mean()),
        "grammatical": None if d_g is None else float(d @ d_g),
    }
    scores = {"gap": _mean(np.abs(difference), 2.0, interval, details, difference)}
    length = float(np.linalg.norm(d_s))
    if length < ZERO:
        undefined = Score(float("nan"), n=n, reason=NO_REST, details=details)
        return {"stereotype": undefined, **scores, "semantic_gap": undefined}
    d_s /= length
    c_f, c_m = (np.where(np.abs(c) <= NO_OVERLAP, 0.0, c) for c in (f @ d_s, m @ d_s))
    details |= {
        "nouns": None if nouns is None else _told_apart(*(side @ d_s for side in nouns)),
        "forms": float((c_m - c_f).mean()),
    }
    scores["semantic_gap"] = _mean(
        np.abs(np.abs(c_m) - np.abs(c_f)), 1.0, interval, details, c_m - c_f
    )
    x = c_f + c_m
    value = float(spearman(x, y)[0]) if x.any() else 0.0
    if np.isnan(value):
        reason = "all ratings, or all places along the direction, are equal"
        return {"stereotype": Score(value, n=n, reason=reason, details=details), **scores}
    once = np.ones((1, n))
    ranks = [midranks(numbers, once)[0] for numbers in (x, y)]
    shuffled = nulls.shuffled_correlations(*ranks, rng=rng, draws=null_draws)
    p_value = correlation_p_value(value, n)
    of_sides = {"labels": nulls.by_draws(value, shuffled, nulls.LABELS, p_value=p_value)}
    if sides == "both" and null_draws:
        along = correlations_along(f + m, y, ranks=True, rng=rng, draws=null_draws)
        of_sides["direction"] = nulls.by_draws(value, along, DIRECTIONS)
    chance = nulls.Chance(of_sides)
    columns = {"place": x, "rating": y, "difference": difference}
    stereotype = Score(
        value,
        p_value=chance.p_value,
        interval=interval(partial(spearman, x, y), bounds=(-1, 1)),
        n=n,
        details=details | chance.p_values,
        tables={"occupations": _table(texts or {}, columns)},
        samples=[Samples(("feminine", "masculine"), to_spearman(x, y), columns)],
        null=chance.null,
    )
    return {"stereotype": stereotype, **scores}


def grammatical_direction(
    feminine: Floats, masculine: Floats, *, grammar: Grammar = "lda"
) -> Floats | None:
    """Return the (d,) direction that tells nouns by grammatical gender, towards the masculine ones.

    Of unit vectors, (p, d) and (q, d), with the means m_F and m_M: m_M − m_F, or Fisher's
    Σ⁻¹ (m_M − m_F), with the covariance Σ within genders, shrunk as by Ledoit and Wolf. At length
    1; None if both have one mean, or for `none`.
    """
    from sklearn.covariance import ledoit_wolf

    within = np.concatenate([side - side.mean(axis=0) for side in (feminine, masculine)])
    direction: Floats = masculine.mean(axis=0) - feminine.mean(axis=0)
    if grammar == "none" or float(np.linalg.norm(direction)) < ZERO:
        return None
    if grammar == "lda" and within.any():
        covariance, _ = ledoit_wolf(within, assume_centered=True)
        direction = np.linalg.solve(covariance, direction)
    return direction / float(np.linalg.norm(direction))


def _mean(
    values: Floats, largest: float, interval: Any, details: dict[str, Any], signed: Floats
) -> Score:
    """Return the mean of (N,) values as a score, with the signed differences as samples."""

    def mean(counts: Floats) -> Floats:
        means: Floats = counts @ values / counts.sum(axis=1)
        return means

    return Score(
        float(values.mean()),
        interval=interval(mean, bounds=(0, largest)),
        n=len(values),
        details=details,
        samples=[Samples(("feminine", "masculine"), values, {"difference": signed})],
    )


def _told_apart(feminine: Floats, masculine: Floats) -> float:
    """Return the area under the curve: how often a masculine noun lies beyond a feminine one."""
    ahead = masculine[:, None] - feminine
    return float(np.mean((ahead > 0) + (ahead == 0) / 2))


def _table(
    texts: Mapping[str, Sequence[str]], columns: Mapping[str, Floats]
) -> list[dict[str, Any]]:
    """Return a row for each occupation, from women to men along the semantic direction."""
    n = len(columns["place"])
    forms = {name: texts.get(name) or [""] * n for name in ("feminine", "masculine")}
    return [
        {name: of[i] for name, of in forms.items()}
        | {name: float(values[i]) for name, values in columns.items()}
        for i in np.argsort(columns["place"], kind="stable")
    ]
