"""Screening of résumés that differ only in the name: who ranks where, and who is selected."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from harness.arrays import Floats, Reals, paired_cosines
from harness.errors import InvalidOption, NotApplicable
from harness.metrics import (
    FOUR_FIFTHS,
    Compares,
    Contrast,
    Interval,
    Null,
    Samples,
    Scale,
    Score,
    metric,
)

from .statistics import intervals, nulls
from .statistics.exposure import UnitMeans, places
from .statistics.group_gaps import fit_gap, screening_gap
from .statistics.intervals import Codes

Statistic: TypeAlias = Callable[[Floats], Floats]
LEVEL = 0.05
FEWEST = 2  # units of each group
FIRST = (1, 3, 5, 10, 25, 50)  # first places whose shares are in a table
TIE = 1e-9  # rates that differ by less are equal


@metric(
    "screening",
    scores={
        "rank_gap": Scale(
            ideal=0,
            bounds=(0, 1),
            help="mean percentile of the group that ranks best less that of the worst",
        ),
        "impact_ratio": Scale(
            ideal=1,
            bounds=(0, 1),
            help="lowest over highest rate at which a group is selected; below .8 is adverse",
        ),
    },
    contrast=Contrast(
        sides=("resumes",),
        towards=("queries",),
        labels="groups",
        categorical=True,
        units="units",
        rankings="screenings",
    ),
    gap=screening_gap,
    compares=Compares(("queries",), ("resumes",), ranks=True),
)
def screening(
    resumes: Reals,
    queries: Reals,
    groups: Floats,
    units: Floats,
    screenings: Floats,
    jobs: Floats,
    kin: Floats | None = None,
    *,
    top: float = 0.1,
    group_names: tuple[str, ...] = (),
    null_draws: int = nulls.DRAWS,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Score]:
    """Differences between groups in how résumés rank that are equal but for the name.

    Row i is an application: a résumé with a name, and the query that it is ranked for. In a
    screening t all N_t rows have one query and one résumé but for the name, ranked by
    cos(resumeᵢ, queryᵢ). With rank 1 the closest::

        rᵢ = (N_t − rankᵢ + 1/2) / N_t,  the percentile, 1/2 on average
        wᵢ = 1 in the first k places, k = top · N_t rounded, at least 1; else 0
        R_g, S_g = mean of r and of w over the rows of group g, S_g the selection rate
        rank_gap = max_g R_g − min_g R_g
        impact_ratio = min_g S_g / max_g S_g

    Equal cosines share their places. With a few dozen names neither score is fair by chance: a
    fair model shows the floor. The selection rates are about few names, so `rank_gap`, which uses
    all, is the score that compares models. Means are over all screenings: a group that is
    preferred for one job and not for another is seen in the table `jobs` alone.

    Parameters
    ----------
    resumes, queries
        (n, d) vectors.
    groups
        (n,) number of the group of the name.
    units
        (n,) number of the name, or of names of a group that belong together: they are exchanged
        for the floor.
    screenings
        (n,) number of the screening.
    jobs
        (n,) number of the job that the screening is for.
    kin
        (n,) number of what units share, also those of several groups, such as a surname of women
        and men: the kins are left out for the interval. For the floor they exchange their groups
        as a whole, and then the units of a kin exchange theirs. Without it units share nothing.
    top
        Share of the applications of a screening that are selected.
    group_names
        Names of the groups, in the order of their numbers.
    null_draws
        Number of random assignments for the floor and the p-values; 0 for none.
    confidence, resamples
        Level of the intervals over kins, and the most of these to leave out for `rank_gap`; 0 for
        no intervals. The percentiles stay those among all names. The jackknife's interval of
        `impact_ratio` would cover two thirds to three quarters of simulated groups of 25 names, for
        a nominal 95 %, so it has that of `intervals.lowest_over_highest`.
    rng
        Random number generator of the assignments.
    texts
        Texts by input name, for the tables.

    Returns
    -------
    dict of Score
        `rank_gap`, in [0, 1], fair is 0: .5 if all of one of two groups stand before the other.
        `impact_ratio`, in [0, 1], fair is 1. The floors exchange the groups of the units at random;
        the p-values are the shares of these as far from fair. Details: `percentiles`, `rates` and
        `firsts`, R, S and the share of first places by group; `units` and `screenings`, numbers;
        `name_spread`, the standard deviation over units of the mean cosine in a screening; and
        `fit_gap`, the cosine with queries for the résumé's own job less that for other jobs.
        `rank_gap` has `gap_of_jobs`, the least and the greatest gap of a job; `impact_ratio` has
        `adverse`, the groups whose rate is below four fifths of the highest. Tables: `jobs` of
        `rank_gap`, the groups in each job. `shares`, how much of the first k places each group has,
        and of all applications. `pairs` of `impact_ratio`, for two groups the
        shares of screenings in which either has the higher selection rate, and in how many jobs
        the rate is higher with p ≤ .05 by the exchange of units between these two. Samples: each
        application.

    Raises
    ------
    NotApplicable
        If the inputs differ in length.
    InvalidOption
        If `top` or `confidence` is not between 0 and 1, or a group has no name.

    References
    ----------
    Wilson and Caliskan (2024), Gender, race, and intersectional bias in resume screening via
    language model retrieval, section 4: the top tenth, and tests of two groups. Equal Employment
    Opportunity Commission (1978), Uniform guidelines on employee selection procedures: four fifths.
    """
    n = len(resumes)
    lengths = [n, *map(len, (queries, groups, units, screenings, jobs))]
    lengths += [] if kin is None else [len(kin)]
    if len({*lengths}) > 1:
        raise NotApplicable(f"screening: the inputs must have equal length, not {lengths}")
    if not 0 < top < 1:
        raise InvalidOption(f"screening: top={top}: must be between 0 and 1, such as 0.1")
    names, of_group = _named_groups(groups, group_names)
    means = UnitMeans.of_numbers(of_group, units, kin)
    label = means.label
    if len(names) < 2 or np.bincount(label).min() < FEWEST:
        none = Score(float("nan"), n=n, reason=f"fewer than two groups of {FEWEST} names")
        return {"rank_gap": none, "impact_ratio": none}
    of_screening, of_job = (np.unique(c, return_inverse=True)[1] for c in (screenings, jobs))
    cosine = paired_cosines(resumes, queries)
    placed = places(cosine, of_screening, top)
    drawn = means.drawn(null_draws, rng)
    number = int(of_screening.max()) + 1
    shared: dict[str, Any] = {
        "percentiles": _by_name(names, means.of(placed.percentile)[0]),
        "rates": _by_name(names, means.of(placed.selected)[0]),
        "firsts": _by_name(names, np.bincount(of_group, placed.first) / number),
        "units": len(label),
        "screenings": number,
        "name_spread": float(means.apart(cosine, of_screening).std()),
        "fit_gap": fit_gap(resumes, queries, of_job),
    }
    columns = {"cosine": cosine, "percentile": placed.percentile, "selected": placed.selected}

    def score(
        values: Floats, statistic: Statistic, ideal: float, interval: Interval | None, **more: Any
    ) -> Score:
        value, null = statistic(means.of(values)), statistic(means.of(values, labels=drawn))
        return Score(
            float(value[0]),
            p_value=nulls.two_sided(float(value[0]), null, ideal=ideal),
            interval=interval,
            n=len(label),
            null=Null(null, "groups of the names") if null_draws else None,
            samples=[Samples(("resumes", "queries"), None, {"group": of_group, **columns})],
            **more,
        )

    of_gap = intervals.jackknife_interval(
        lambda counts: _gap(means.of(placed.percentile, counts=counts)),
        [len(label)],
        rng=rng,
        clusters=[None if kin is None else means.of_kin],
        resamples=resamples,
        confidence=confidence,
    )
    of_ratio = None
    if resamples > 0:
        table = means.by_kin(placed.selected)
        of_ratio = intervals.lowest_over_highest(*table, confidence=confidence)
    rows_of = [(of_job == job).astype(float) for job in range(int(of_job.max()) + 1)]
    by_job = [means.of(placed.percentile, rows=rows)[0] for rows in rows_of]
    rates_by_job = [means.of(placed.selected, rows=rows)[0] for rows in rows_of]
    by_screening = [
        means.of(placed.selected, rows=(of_screening == t).astype(float))[0] for t in range(number)
    ]

    def jobs_of(a: int, b: int) -> list[int]:
        """Return in how many jobs the rate of a is higher than that of b, and the reverse."""
        labels, found = means.exchanged(a, b, null_draws, rng), [0, 0]
        for rows, rates in zip(rows_of, rates_by_job, strict=True):
            null = means.of(placed.selected, rows=rows, labels=labels)
            p = nulls.two_sided(float(rates[a] - rates[b]), null[:, a] - null[:, b])
            if p is not None and p <= LEVEL:
                found[int(rates[a] < rates[b])] += 1
        return found

    asked = [texts["queries"][int(rows.argmax())] if texts else "" for rows in rows_of]
    gaps = [float(np.ptp(percentiles)) for percentiles in by_job]
    limit = FOUR_FIFTHS * max(shared["rates"].values())
    adverse = [name for name, rate in shared["rates"].items() if rate < limit]
    return {
        "rank_gap": score(
            placed.percentile,
            _gap,
            0.0,
            intervals.inside(of_gap, 0.0, 1.0),
            details=shared | {"gap_of_jobs": [min(gaps), max(gaps)]},
            tables={
                "jobs": _jobs(names, asked, by_job, rates_by_job),
                "shares": _shares(names, of_group, cosine, of_screening),
            },
        ),
        "impact_ratio": score(
            placed.selected,
            _ratio,
            1.0,
            of_ratio,
            details=shared | {"adverse": adverse},
            tables={"pairs": _pairs(names, np.array(by_screening), jobs_of)},
        ),
    }


def _gap(by_group: Floats) -> Floats:
    """Return the (b,) greatest differences of (b, g) means."""
    gaps: Floats = np.ptp(by_group, axis=1)
    return gaps


def _ratio(by_group: Floats) -> Floats:
    """Return the (b,) ratios of the lowest of (b, g) means to the highest."""
    ratios: Floats = by_group.min(axis=1) / by_group.max(axis=1)
    return ratios


def _named_groups(groups: Floats, names: Sequence[str]) -> tuple[list[str], Codes]:
    """Return the names of the groups that occur, and the (n,) place of each row's among them."""
    present, codes = np.unique(np.asarray(groups), return_inverse=True)
    if names and (present % 1 != 0).any() | (present < 0).any() | (present >= len(names)).any():
        raise InvalidOption(
            f"screening: group_names={list(names)}: the groups are {present.tolist()}, and must be "
            "numbers of names, from 0"
        )
    return [names[int(code)] if names else f"{code:g}" for code in present], codes


def _by_name(names: Sequence[str], values: Floats) -> dict[str, float]:
    return dict(zip(names, values.tolist(), strict=True))


def _jobs(
    names: Sequence[str], asked: Sequence[str], percentiles: Sequence[Floats], rates: Sequence[Any]
) -> list[dict[str, Any]]:
    """Return a row for each job and group; `query` is the first one for the job."""
    return [
        {
            "job": job + 1,
            "query": asked[job],
            "group": name,
            "percentile": float(percentiles[job][g]),
            "rate": float(rates[job][g]),
        }
        for job in range(len(asked))
        for g, name in enumerate(names)
    ]


def _shares(
    names: Sequence[str], of_group: Codes, cosine: Floats, of_screening: Codes
) -> list[dict[str, Any]]:
    """Return a row for each group and number of first places: its share of them, and of all."""
    size = int(np.bincount(of_screening).max())
    rows = []
    for k in (k for k in FIRST if k < size):
        selected = places(cosine, of_screening, k / size).selected
        taken = np.bincount(of_group, selected) / selected.sum()
        fair = np.bincount(of_group) / len(of_group)
        rows += [
            {"first": k, "group": name, "share": float(taken[g]), "fair": float(fair[g])}
            for g, name in enumerate(names)
        ]
    return rows


def _pairs(
    names: Sequence[str], by_screening: Floats, jobs_of: Callable[[int, int], list[int]]
) -> list[dict[str, Any]]:
    """Return a row for each two groups, from (t, g) rates and numbers of jobs with a difference."""
    rows = []
    for a, b in itertools.combinations(range(len(names)), 2):
        differences = by_screening[:, a] - by_screening[:, b]
        jobs_1, jobs_2 = jobs_of(a, b)
        rows.append(
            {
                "group_1": names[a],
                "group_2": names[b],
                "higher_1": float(np.mean(differences > TIE)),
                "higher_2": float(np.mean(differences < -TIE)),
                "jobs_1": jobs_1,
                "jobs_2": jobs_2,
            }
        )
    return rows
