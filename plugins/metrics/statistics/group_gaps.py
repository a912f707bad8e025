"""Gaps between groups: the variance of what groups show, without what chance adds to it.

A variance is a square of cosines, so that a ratio is the root of two of them. It is estimated from
products of independent parts, or less the variance within groups: on average it is 0 where groups
do not differ.

Numbers in, numbers out. Knows no metrics, tasks or models.
"""

from __future__ import annotations

import numpy as np

from harness.arrays import Floats, Reals, paired_cosines, unit_rows
from harness.metrics import Gap, Gaps

from .gaps import Units, jackknifed
from .intervals import Codes


def dispersion_gap(
    sentences: Reals,
    groups: Floats,
    frames: Floats,
    pleasant: Reals,
    unpleasant: Reals,
    *,
    units: Units,
) -> Gaps:
    """Return the variance over groups of the pleasantness of sentences that name a group.

    With the pleasantness of group g in frame f by the attribute words a of one half, less its mean
    over groups, r_gf(a)::

        q_g = mean of r_gf(a) · r_gf'(a') over f ≠ f' and over halves without a common word
        N = Σ_g q_g / (G − 1),  G groups

    It is the mean over all splits of frames and of attribute words into two halves, of the
    covariance of what both halves say of the groups. What a frame or a word adds by chance is in
    one half alone, so it cancels. Groups vary; the jackknife leaves out whole groups.

    Parameters
    ----------
    sentences
        (n, d) vectors; of each group one in each frame. Frames that lack a group are left out.
    groups, frames
        (n,) number of the group and of the frame of each sentence.
    pleasant, unpleasant
        (p, d) and (u, d) vectors of words.
    units
        The unit of each row, by input.
    """
    of_group, of_frame = (np.unique(codes, return_inverse=True)[1] for codes in (groups, frames))
    firsts = np.unique(of_group, return_index=True)[1]
    g, f = len(firsts), int(of_frame.max()) + 1
    sizes = len(pleasant), len(unpleasant)
    place = np.full((g, f), -1, dtype=np.int64)
    place[of_group, of_frame] = np.arange(len(of_group))
    place = place[:, (place >= 0).all(axis=0)]
    if g < 4 or place.shape[1] < 2 or min(sizes) < 2:
        return Gaps(Gap(float("nan"), {}, 1, power=2))
    x = unit_rows(sentences)[place]
    x = x - x.mean(axis=0)
    a, b = (x @ unit_rows(words).T for words in (pleasant, unpleasant))
    q = _distinct(a) + _distinct(b) - 2 * _across(a, b)
    value = float(q.sum()) / (g - 1)
    names = [units["sentences"][row] for row in firsts]
    return Gaps(jackknifed(value, _without_one(q), names, power=2))


def _distinct(values: Floats) -> Floats:
    """Return the (g,) means of products of (g, f, a) values of different f and different a."""
    _, f, a = values.shape
    whole = values.sum(axis=(1, 2)) ** 2 + (values**2).sum(axis=(1, 2))
    alike = (values.sum(axis=2) ** 2).sum(axis=1) + (values.sum(axis=1) ** 2).sum(axis=1)
    means: Floats = (whole - alike) / (f * (f - 1) * a * (a - 1))
    return means


def _across(first: Floats, second: Floats) -> Floats:
    """Return the (g,) means of products of (g, f, a) and (g, f, b) values of different f."""
    a, b = first.mean(axis=2), second.mean(axis=2)
    f = a.shape[1]
    means: Floats = (a.sum(axis=1) * b.sum(axis=1) - (a * b).sum(axis=1)) / (f * (f - 1))
    return means


def _without_one(products: Floats) -> Floats:
    """Return the (g,) covariances without each group, from the groups' products of deviations."""
    g = len(products)
    values: Floats = (products.sum() - products * g / (g - 1)) / (g - 2)
    return values


def screening_gap(
    resumes: Reals,
    queries: Reals,
    groups: Floats,
    units: Floats,
    screenings: Floats,
    jobs: Floats,
) -> Gaps:
    """Return the variance between groups of the cosines of résumés that differ in the name.

    With the cosine c of a résumé and its query, less the mean of the screening, and its mean x_u
    over the rows of a name u::

        N = variance over groups of the means of x − mean over groups of (variance of x) / n_g
        D = (mean of résumés with queries for their own job − for other jobs)²

    N is less what names add by chance. Names vary in N, and jobs in D.

    Parameters
    ----------
    resumes, queries
        (n, d) vectors.
    groups, units, screenings, jobs
        (n,) numbers, as of the metric `screening`: its units are those of the gap.
    """
    of_group, of_screening, of_job = (
        np.unique(codes, return_inverse=True)[1] for codes in (groups, screenings, jobs)
    )
    keys, of_name = np.unique(np.stack([of_group, units]), axis=1, return_inverse=True)
    of_name, label = of_name.reshape(-1), keys[0].astype(np.int64)
    cosine = paired_cosines(resumes, queries)
    cosine = cosine - (np.bincount(of_screening, cosine) / np.bincount(of_screening))[of_screening]
    x = np.bincount(of_name, cosine) / np.bincount(of_name)
    if np.bincount(label).min() < 3 or label.max() == 0:
        return Gaps(Gap(float("nan"), {}, 1, power=2))
    names = [f"name {unit:g} of group {group:g}" for group, unit in keys.T]
    yardstick = _own_job(unit_rows(resumes), unit_rows(queries), of_job)
    return Gaps(_between(x, label, names), yardstick)


def _between(x: Floats, label: Codes, names: list[str]) -> Gap:
    """Return the variance between groups of (u,) values, less what their units add by chance."""
    n = np.bincount(label).astype(np.float64)
    mean = np.bincount(label, x) / n
    squares = np.bincount(label, (x - mean[label]) ** 2)
    value = mean.var(ddof=1) - (squares / (n - 1) / n).mean()
    own = np.arange(len(x))
    means, rests = np.tile(mean, (len(x), 1)), np.tile(squares / (n - 1) / n, (len(x), 1))
    m, deviation = n[label], x - mean[label]
    means[own, label] = mean[label] - deviation / (m - 1)
    left = squares[label] - deviation**2 * m / (m - 1)
    rests[own, label] = left / (m - 2) / (m - 1)
    without = means.var(axis=1, ddof=1) - rests.mean(axis=1)
    return jackknifed(float(value), without, names, power=2)


def _own_job(resumes: Floats, queries: Floats, of_job: Codes) -> Gap | None:
    """Return the squared gap of résumés' cosines with queries for their own and for other jobs."""
    k = int(of_job.max()) + 1
    if k < 3:
        return None
    member = (of_job == np.arange(k)[:, None]) / np.bincount(of_job)[:, None]
    table = (member @ resumes) @ (member @ queries).T
    own, total = np.diag(table), table.sum()
    value = own.mean() - (total - own.sum()) / (k * (k - 1))
    crossed = table.sum(axis=0) + table.sum(axis=1)
    of_others = total - crossed + own - (own.sum() - own)
    without = (own.sum() - own) / (k - 1) - of_others / ((k - 1) * (k - 2))
    names = [f"job {job}" for job in range(k)]
    return jackknifed(float(value) ** 2, without**2, names, power=2)
