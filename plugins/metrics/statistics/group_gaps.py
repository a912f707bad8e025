"""Gaps between groups: the variance of what groups show, without what chance adds to it.

A variance is a square of cosines, so that a ratio is the root of two of them. It is estimated from
products of independent parts, or less the variance within groups: on average it is 0 where groups
do not differ.

Numbers in, numbers out. Knows no metrics, tasks or models.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from harness.arrays import Floats, Reals, paired_cosines, unit_rows
from harness.metrics import Gap, Gaps

from .gaps import Units, WithoutOne, jackknifed
from .intervals import Codes

FEWEST = 3
"""Groups, words or names whose variance is found by leaving one out."""


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

    With the cosine of group g in frame f and word a, less its mean over groups, r_gf(a), and the
    pleasant words A and the unpleasant words B::

        c_g(a, a') = mean over f ≠ f' of r_gf(a) · r_gf'(a')
        q_g = mean over a ≠ a' in A of c_g + mean over b ≠ b' in B of c_g
              − 2 mean over a in A and b in B of c_g
        N = Σ_g q_g / (G − 1),  G groups

    It is the covariance over groups of the pleasantness in two halves of the frames and of the
    words, averaged over all splits into halves. What a sentence or a word adds by chance is in one
    half alone, so it cancels. Groups and words vary.

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
    place = np.full((len(firsts), int(of_frame.max()) + 1), -1, dtype=np.int64)
    place[of_group, of_frame] = np.arange(len(of_group))
    place = place[:, (place >= 0).all(axis=0)]
    g, f = place.shape
    if g < FEWEST or f < 2 or min(len(pleasant), len(unpleasant)) < FEWEST:
        return Gaps(Gap(float("nan"), {}, 1, power=2))
    x = unit_rows(sentences)[place]
    x = x - x.mean(axis=0)
    a, b = (x @ unit_rows(words).T for words in (pleasant, unpleasant))
    of_groups = _Kernels(*(_frame_products(*pair) for pair in ((a, a), (b, b), (a, b))))
    q = of_groups.value()
    total = _Kernels(*(kernel.sum(axis=0) / (g - 1) for kernel in of_groups))
    sets = [
        WithoutOne(
            [units["sentences"][row] for row in firsts], (q.sum() - q * g / (g - 1)) / (g - 2)
        ),
        WithoutOne(units["pleasant"], total.without_pleasant()),
        WithoutOne(units["unpleasant"], total.without_unpleasant()),
    ]
    return Gaps(jackknifed(float(total.value()), sets, power=2))


def _frame_products(first: Floats, second: Floats) -> Floats:
    """Return the (g, a, b) means of products of (g, f, a) and (g, f, b) values of different f."""
    f = first.shape[1]
    sums = first.sum(axis=1)[:, :, None] * second.sum(axis=1)[:, None, :]
    products: Floats = (sums - first.transpose(0, 2, 1) @ second) / (f * (f - 1))
    return products


class _Kernels(NamedTuple):
    """(..., p, p), (..., u, u) and (..., p, u) products of what words say of a group."""

    pleasant: Floats
    unpleasant: Floats
    across: Floats

    def value(self) -> Floats:
        """Return the (...) squares of the difference between pleasant and unpleasant words."""
        alike = _off_diagonal(self.pleasant) + _off_diagonal(self.unpleasant)
        value: Floats = alike - 2 * self.across.mean(axis=(-2, -1))
        return value

    def without_pleasant(self) -> Floats:
        """Return the (p,) values without each pleasant word."""
        p, u = self.across.shape
        rows = self.across.sum(axis=1)
        across = (rows.sum() - rows) / ((p - 1) * u)
        values: Floats = _without(self.pleasant) + _off_diagonal(self.unpleasant) - 2 * across
        return values

    def without_unpleasant(self) -> Floats:
        """Return the (u,) values without each unpleasant word."""
        return _Kernels(self.unpleasant, self.pleasant, self.across.T).without_pleasant()


def _off_diagonal(kernel: Floats) -> Floats:
    """Return the (...) means of (..., k, k) products of different words."""
    k = kernel.shape[-1]
    mean: Floats = (kernel.sum(axis=(-2, -1)) - kernel.trace(axis1=-2, axis2=-1)) / (k * (k - 1))
    return mean


def _without(kernel: Floats) -> Floats:
    """Return the (k,) means of (k, k) products of different words without each word."""
    k = len(kernel)
    different = kernel - np.diag(np.diag(kernel))
    rest = different.sum() - different.sum(axis=0) - different.sum(axis=1)
    means: Floats = rest / ((k - 1) * (k - 2))
    return means


def screening_gap(
    resumes: Reals,
    queries: Reals,
    groups: Floats,
    units: Floats,
    screenings: Floats,
    jobs: Floats,
    kin: Floats | None = None,
) -> Gaps:
    """Return the variance between groups of the cosines of résumés that differ in the name.

    With the cosine c of a résumé and its query, less the mean of the screening, and its mean x_u
    over the rows of a unit u::

        m_gh = mean of x_u · x_v over units u of group g and v of group h of different kins
        N = mean of m_gg over groups − mean of m_gh over g ≠ h, the variance between groups
        D = (mean of résumés with queries for their own job − for other jobs)²

    What units add by chance, and what those of a kin share, such as a surname, is in no product of
    two kins: N is 0 on average where groups do not differ. Kins vary in N, and jobs in D. A unit
    without a kin is its own.

    Parameters
    ----------
    resumes, queries
        (n, d) vectors.
    groups, units, screenings, jobs, kin
        (n,) numbers, as of the metric `screening`: its units are those of the gap.
    """
    of_group, of_screening, of_job = (
        np.unique(codes, return_inverse=True)[1] for codes in (groups, screenings, jobs)
    )
    keys, of_unit = np.unique(np.stack([of_group, units]), axis=1, return_inverse=True)
    of_unit, label = of_unit.reshape(-1), keys[0].astype(np.int64)
    cosine = paired_cosines(resumes, queries)
    cosine = cosine - (np.bincount(of_screening, cosine) / np.bincount(of_screening))[of_screening]
    x = np.bincount(of_unit, cosine) / np.bincount(of_unit)
    if kin is None:
        names, of_kin = [f"name {unit:g} of group {group:g}" for group, unit in keys.T], None
    else:
        first = np.unique(of_unit, return_index=True)[1]
        numbers, of_kin = np.unique(np.asarray(kin)[first], return_inverse=True)
        names = [f"kin {number:g}" for number in numbers]
    table = _ByKin.of(x, label, np.arange(len(x)) if of_kin is None else of_kin)
    if label.max() == 0 or (table.counts > 0).sum(axis=0).min() < FEWEST:
        return Gaps(Gap(float("nan"), {}, 1, power=2))
    yardstick = _own_job(unit_rows(resumes), unit_rows(queries), of_job)
    return Gaps(_between(table, names), yardstick)


class _ByKin(NamedTuple):
    """(k, g) sums of the values of the units of each kin and group, and how many they are."""

    sums: Floats
    counts: Floats

    @classmethod
    def of(cls, x: Floats, label: Codes, kin: Codes) -> _ByKin:
        shape = (int(kin.max()) + 1, int(label.max()) + 1)
        sums, counts = np.zeros(shape), np.zeros(shape)
        np.add.at(sums, (kin, label), x)
        np.add.at(counts, (kin, label), 1.0)
        return cls(sums, counts)

    def products(self) -> tuple[Floats, Floats]:
        """Return the (k, g, g) products of the sums of each kin, and those of the counts."""
        return (
            self.sums[:, :, None] * self.sums[:, None, :],
            self.counts[:, :, None] * self.counts[:, None, :],
        )


def _between(table: _ByKin, names: list[str]) -> Gap:
    """Return the variance between groups of what no two units of one kin share.

    Where groups hardly differ, no kin moves the variance, though it is as uncertain as chance. So
    the unit `chance` has what the others lack of 2 tr(AΣAΣ), the variance of a quadratic form with
    the matrix A of a variance, for means of groups that do not differ and have the covariances Σ.
    """
    g = table.sums.shape[1]
    sums, counts = table.sums.sum(axis=0), table.counts.sum(axis=0)
    of_sums, of_counts = table.products()
    form = (np.eye(g) - 1 / g) / (g - 1)

    def variance(
        sums: Floats, counts: Floats, within_sums: Floats, within_counts: Floats
    ) -> Floats:
        across = sums[..., :, None] * sums[..., None, :] - within_sums
        pairs = counts[..., :, None] * counts[..., None, :] - within_counts
        value: Floats = (form * across / pairs).sum(axis=(-2, -1))
        return value

    within_sums, within_counts = of_sums.sum(axis=0), of_counts.sum(axis=0)
    value = variance(sums, counts, within_sums, within_counts)
    without = variance(
        sums - table.sums, counts - table.counts, within_sums - of_sums, within_counts - of_counts
    )
    gap = jackknifed(float(value), [WithoutOne(names, without)], power=2)
    kins = (table.counts > 0).sum(axis=0)
    deviation = (table.sums - table.counts * (sums / counts)) / counts * np.sqrt(kins / (kins - 1))
    covariance = form @ (deviation.T @ deviation)
    of_chance = 2 * float((covariance * covariance.T).sum())
    lacking = math.sqrt(max(0.0, of_chance - gap.variance))
    return replace(gap, deviations={**gap.deviations, "chance": lacking})


def fit_gap(resumes: Reals, queries: Reals, jobs: Codes) -> float | None:
    """Return the mean cosine of résumés with queries for their own job less that for other jobs.

    None for one job.
    """
    table = _cosines_of_jobs(unit_rows(resumes), unit_rows(queries), jobs)
    k, own = len(table), np.trace(table)
    return None if k < 2 else float(own / k - (table.sum() - own) / (k * (k - 1)))


def _cosines_of_jobs(resumes: Floats, queries: Floats, of_job: Codes) -> Floats:
    """Return the (k, k) mean cosines of the résumés for each job with the queries for each."""
    member = (of_job == np.arange(int(of_job.max()) + 1)[:, None]).astype(np.float64)
    member /= member.sum(axis=1, keepdims=True)
    table: Floats = (member @ resumes) @ (member @ queries).T
    return table


def _own_job(resumes: Floats, queries: Floats, of_job: Codes) -> Gap | None:
    """Return the squared gap of résumés' cosines with queries for their own and for other jobs."""
    table = _cosines_of_jobs(resumes, queries, of_job)
    k = len(table)
    if k < 3:
        return None
    own, total = np.diag(table), table.sum()
    value = own.mean() - (total - own.sum()) / (k * (k - 1))
    crossed = table.sum(axis=0) + table.sum(axis=1)
    of_others = total - crossed + own - (own.sum() - own)
    without = (own.sum() - own) / (k - 1) - of_others / ((k - 1) * (k - 2))
    names = [f"job {job}" for job in range(k)]
    return jackknifed(float(value) ** 2, [WithoutOne(names, without**2)], power=2)
