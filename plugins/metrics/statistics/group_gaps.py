"""Gaps between groups: the variance of what groups show, without what chance adds to it.

A variance is a square of cosines, so that a ratio is the root of two of them. It is estimated from
products of independent parts, or less the variance within groups: on average it is 0 where groups
do not differ.

Numbers in, numbers out. Knows no metrics, tasks or models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from harness.arrays import Floats, Mask, Reals, paired_cosines, unit_rows
from harness.metrics import Gap, Gaps

from .exposure import UnitMeans
from .gaps import Units, WithoutOne, at_least, jackknifed
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
    means = UnitMeans.of_numbers(of_group, units, kin)
    x = means.apart(paired_cosines(resumes, queries), of_screening)
    sums, counts = replace(means, unit=np.arange(len(x))).by_kin(x)
    if means.label.max() == 0 or (counts > 0).sum(axis=0).min() < FEWEST:
        return Gaps(Gap(float("nan"), {}, 1, power=2))
    yardstick = own_less_others(
        unit_rows(resumes), unit_rows(queries), of_job, of_job, "job", power=2
    )
    return Gaps(_between(sums, counts, means.names), yardstick)


def _between(of_kin: Floats, counts: Floats, names: Sequence[str]) -> Gap:
    """Return the variance between groups of what no two units of one kin share.

    Where groups hardly differ, no kin moves the variance, though it is as uncertain as chance: it
    has at least the variance 2 tr(AΣAΣ) of a quadratic form with the matrix A of a variance, for
    means of groups that do not differ and have the covariances Σ.

    Parameters
    ----------
    of_kin, counts
        (k, g) sums of the values of the units of each kin and group, and how many they are.
    names
        The names of the kins.
    """
    g = of_kin.shape[1]
    form = (np.eye(g) - 1 / g) / (g - 1)

    def products(sums: Floats) -> Floats:
        of_pairs: Floats = sums[..., :, None] * sums[..., None, :]
        return of_pairs

    def variance(left: Floats, number: Floats, own: Floats, own_number: Floats) -> Floats:
        of_pairs = form * (products(left) - own) / (products(number) - own_number)
        values: Floats = of_pairs.sum(axis=(-2, -1))
        return values

    sums, number = of_kin.sum(axis=0), counts.sum(axis=0)
    own, own_number = products(of_kin), products(counts)
    of_all = own.sum(axis=0), own_number.sum(axis=0)
    value = variance(sums, number, *of_all)
    without = variance(sums - of_kin, number - counts, of_all[0] - own, of_all[1] - own_number)
    gap = jackknifed(float(value), [WithoutOne(names, without)], power=2)
    kins = (counts > 0).sum(axis=0)
    deviation = (of_kin - counts * (sums / number)) / number * np.sqrt(kins / (kins - 1))
    covariance = form @ (deviation.T @ deviation)
    return at_least(gap, 2 * float((covariance * covariance.T).sum()))


def fit_gap(resumes: Reals, queries: Reals, jobs: Codes) -> float | None:
    """Return the mean cosine of résumés with queries for their own job less that for other jobs.

    None for one job.
    """
    table = _cosines_of_kinds(unit_rows(resumes), unit_rows(queries), jobs, jobs)
    k, own = len(table), np.trace(table)
    return None if k < 2 else float(own / k - (table.sum() - own) / (k * (k - 1)))


def content_gap(
    queries: Reals,
    documents: Reals,
    counts_1: Floats,
    counts_2: Floats,
    query_topics: Floats | None = None,
    document_topics: Floats | None = None,
    versions: Floats | None = None,
    *,
    units: Units,
) -> Gaps:
    """Return how much nearer queries are to the documents on the second group than on the first.

    With the content b of a document, (n₂ − n₁) / (n₂ + n₁) of its words of either group, and the
    mean cosine c with the queries of its topic, both less their means over the topic::

        N = Σ b c / Σ b²
        D = mean cosine of queries with documents of their own topic − of other topics

    Documents vary in N, or texts with all their versions, and topics in D. Without topics all
    documents are of one, and there is no yardstick.

    Parameters
    ----------
    queries, documents
        (q, d) and (n, d) vectors.
    counts_1, counts_2
        (n,) numbers of words of either group.
    query_topics, document_topics
        (q,) and (n,) topic numbers.
    versions
        (n,) number of the text that a document is a version of.
    units
        The unit of each row, by input.
    """
    both = np.asarray(counts_1, dtype=np.float64) + counts_2
    content = (np.asarray(counts_2) - counts_1) / np.maximum(both, 1)
    q, d = unit_rows(queries), unit_rows(documents)
    if query_topics is None or document_topics is None:
        query_topics, document_topics = np.zeros(len(q)), np.zeros(len(d))
    topics = np.intersect1d(query_topics, document_topics)
    of_query, of_document = (
        np.where(np.isin(t, topics), np.searchsorted(topics, t), -1)
        for t in (query_topics, document_topics)
    )
    kept = of_document >= 0
    if len(topics) == 0 or kept.sum() < FEWEST:
        return Gaps(Gap(float("nan"), {}, 1))
    topic, b = of_document[kept], content[kept]
    means = (of_query == np.arange(len(topics))[:, None]) @ q
    means = means / np.bincount(of_query[of_query >= 0])[:, None]
    c = np.asarray((d[kept] * means[topic]).sum(axis=1))
    sizes = np.bincount(topic)
    b, c = (x - (np.bincount(topic, x) / sizes)[topic] for x in (b, c))
    names = units["documents"] if versions is None else [f"text {v:g}" for v in versions]
    found, unit = np.unique(np.asarray(names)[kept], return_inverse=True)
    products, squares = np.bincount(unit, b * c), np.bincount(unit, b * b)
    left = squares.sum() - squares
    if len(found) < FEWEST or left.min() <= 0:
        return Gaps(Gap(float("nan"), {}, 1))
    gap = jackknifed(
        float(products.sum() / squares.sum()),
        [WithoutOne(found.tolist(), (products.sum() - products) / left)],
    )
    asked = of_query >= 0
    return Gaps(gap, own_less_others(d[kept], q[asked], topic, of_query[asked], "topic"))


def _cosines_of_kinds(first: Floats, second: Floats, of_first: Codes, of_second: Codes) -> Floats:
    """Return the (k, k) mean cosines of the rows of each kind of `first` with those of `second`."""
    kinds = np.arange(int(of_first.max()) + 1)[:, None]
    sides = []
    for rows, codes in ((first, of_first), (second, of_second)):
        member = (codes == kinds).astype(np.float64)
        sides.append((member / member.sum(axis=1, keepdims=True)) @ rows)
    table: Floats = sides[0] @ sides[1].T
    return table


def own_less_others(
    first: Floats, second: Floats, of_first: Codes, of_second: Codes, kind: str, *, power: int = 1
) -> Gap | None:
    """Return how much nearer texts are to those of their own kind than of others.

    Parameters
    ----------
    first, second
        (n, d) and (m, d) vectors of length 1.
    of_first, of_second
        (n,) and (m,) codes of their kinds, from 0; each code occurs in both.
    kind
        What the codes count, for the names of the units, such as `job`.
    power
        Power of the difference that is the gap.

    Returns
    -------
    Gap or None
        The mean over kinds, which vary. None for fewer than three.
    """
    table = _cosines_of_kinds(first, second, of_first, of_second)
    k = len(table)
    if k < 3:
        return None
    own, total = np.diag(table), table.sum()
    value = own.mean() - (total - own.sum()) / (k * (k - 1))
    crossed = table.sum(axis=0) + table.sum(axis=1)
    of_others = total - crossed + own - (own.sum() - own)
    without = (own.sum() - own) / (k - 1) - of_others / ((k - 1) * (k - 2))
    names = [f"{kind} {code}" for code in range(k)]
    return jackknifed(float(value) ** power, [WithoutOne(names, without**power)], power=power)


def shift_gap(
    z: Floats,
    without_block: Floats,
    labels: Floats,
    groups: Floats,
    frames: Floats,
    *,
    names: Sequence[str],
) -> Gaps:
    """Return the variance between groups of a classifier's logits in the same frames.

    With the logit z_gf of group g in frame f, in standard deviations of all, less its mean over
    groups, r_gf::

        N = Σ_g mean over f ≠ f' of r_gf · r_gf' / (G − 1),  G groups
        D = (mean over frames of z in the positive sentence − in the negative one)²

    A frame has a positive and a negative sentence; r_gf is the mean of both. What a group adds in
    one frame alone cancels in N. Groups, frames and blocks of training texts vary.

    Parameters
    ----------
    z
        (n,) logits of the sentences; of each group one of each label in each frame. Frames that
        lack one are left out.
    without_block
        (b, n) logits of classifiers that were trained without a block of texts.
    labels, groups, frames
        (n,) label, 1 or 0, and numbers of the group and of the frame of each sentence.
    names
        The unit of each sentence; of a group, that of its first one.
    """
    of_group, of_frame = (np.unique(codes, return_inverse=True)[1] for codes in (groups, frames))
    firsts = np.unique(of_group, return_index=True)[1]
    place = np.full((2, len(firsts), int(of_frame.max()) + 1), -1, dtype=np.int64)
    place[(np.asarray(labels) == 1).astype(int), of_group, of_frame] = np.arange(len(of_group))
    place = place[:, :, (place >= 0).all(axis=(0, 1))]
    _, g, f = place.shape
    if g < FEWEST or f < FEWEST:
        return Gaps(Gap(float("nan"), {}, 1, power=2))
    scale = float(np.std(z[place])) or 1.0  # a square of logits has no bound
    z, without_block = z / scale, without_block / scale
    every = np.arange(f)
    frame_names = [f"frame {frame:g}" for frame in np.asarray(frames)[place[0, 0]]]
    blocks = [f"training block {block}" for block in range(len(without_block))]
    negative, positive = z[place]
    shifts, told = (negative + positive) / 2, (positive - negative).mean(axis=0)
    of_blocks = [rows[place] for rows in without_block]
    q = _shifts(shifts)
    without_frame = [_shifts(shifts[:, every != frame]).sum() for frame in every]
    without = [_shifts(table.mean(axis=0)).sum() for table in of_blocks]
    gap = jackknifed(
        float(q.sum() / (g - 1)),
        [
            WithoutOne([names[row] for row in firsts], (q.sum() - q * g / (g - 1)) / (g - 2)),
            WithoutOne(frame_names, np.array(without_frame) / (g - 1)),
            WithoutOne(blocks, np.array(without) / (g - 1)),
        ],
        power=2,
    )
    sets = [
        WithoutOne(frame_names, ((told.sum() - told) / (f - 1)) ** 2),
        WithoutOne(blocks, np.array([(t[1] - t[0]).mean() ** 2 for t in of_blocks])),
    ]
    return Gaps(gap, jackknifed(float(told.mean()) ** 2, sets, power=2))


def _shifts(table: Floats) -> Floats:
    """Return for each of g groups the mean product of its shifts in two different frames."""
    r = table - table.mean(axis=0)
    f = r.shape[1]
    products: Floats = (r.sum(axis=1) ** 2 - (r**2).sum(axis=1)) / (f * (f - 1))
    return products


# Documents that are equal but for the name: how near names of a group, and texts of a topic, are.


class NameKernel(NamedTuple):
    """Mean cosines of documents of one original, by two units of names; and what the units are.

    Documents of one unit, or of two units of one kin, count nowhere: their cosine is 0.
    """

    cosines: Floats
    label: Codes
    kin: Codes
    names: Sequence[str]
    """Of the kins."""
    originals: Floats
    """(t, t) mean cosines of the documents of two originals, of different units if it is one."""
    topics: Codes


def name_kernel(
    documents: Reals,
    topics: Floats,
    groups: Floats,
    units: Floats,
    originals: Floats,
    kin: Floats | None = None,
) -> NameKernel:
    """Return the mean cosines between names and between originals.

    Parameters
    ----------
    documents
        (n, d) vectors.
    topics, groups, units, originals, kin
        (n,) numbers, as of the metric `group-clusters`.
    """
    of_names = UnitMeans.of_numbers(groups, units, kin)
    of_unit, of_kin = of_names.unit, of_names.of_kin
    of_original = np.unique(originals, return_inverse=True)[1]
    t, u = int(of_original.max()) + 1, len(of_names.label)
    x = unit_rows(documents)
    means = np.zeros((t, u, x.shape[1]))
    np.add.at(means, (of_original, of_unit), x)
    sizes = np.zeros((t, u))
    np.add.at(sizes, (of_original, of_unit), 1)
    means /= np.maximum(sizes, 1)[:, :, None]
    both = (sizes > 0).astype(np.float64)
    cosines = np.einsum("tud,tvd->uv", means, means, optimize=True) / np.maximum(both.T @ both, 1)
    cosines[np.equal.outer(of_kin, of_kin)] = 0
    sums = means.sum(axis=1)
    present = both.sum(axis=1)
    products = sums @ sums.T
    own = products.diagonal() - (means**2).sum(axis=(1, 2))
    of_originals = products / np.outer(present, present)
    np.fill_diagonal(of_originals, own / (present * (present - 1)))
    first = np.unique(of_original, return_index=True)[1]
    return NameKernel(
        cosines,
        of_names.label,
        of_kin,
        of_names.names,
        of_originals,
        np.unique(topics, return_inverse=True)[1][first],
    )


def nearness_gap(
    documents: Reals,
    topics: Floats,
    groups: Floats,
    units: Floats,
    originals: Floats,
    kin: Floats | None = None,
) -> Gaps:
    """Return how much nearer documents are that share a group, over those that share a topic.

    With cosines of documents of one original, which differ in the name, and of other originals::

        N = mean over groups of (mean cosine of two names of the group)
            − mean cosine of two names of different groups
        D = the same of originals: of one topic, and of different topics

    k-means divides documents by their distances, so by N and D. Names vary in N, topics in D.

    Parameters
    ----------
    documents, topics, groups, units, originals, kin
        As of the metric `group-clusters`: its units, or kins, are those of the gap.
    """
    kernel = name_kernel(documents, topics, groups, units, originals, kin)
    topic, gap = kernel.topics, _of_names(kernel)
    of_topics = np.arange(int(topic.max()) + 1)
    if len(of_topics) < FEWEST or np.bincount(topic).min() < 2:
        return Gaps(gap)
    between = kernel.originals.copy()
    np.fill_diagonal(between, 0)
    without = [_nearness(between, topic, topic != left) for left in of_topics]
    names = [f"topic {number}" for number in of_topics]
    yardstick = jackknifed(
        _nearness(between, topic, topic >= 0), [WithoutOne(names, np.array(without))]
    )
    return Gaps(gap, yardstick)


def _nearness(kernel: Floats, label: Codes, kept: Mask, kin: Codes | None = None) -> float:
    """Return the mean of (n, n) values of equal labels, less that of different labels.

    Each label counts once, and so do each two labels. Values of one kin, by default those of the
    diagonal, are 0 and count nowhere.
    """
    labels, kin = np.unique(label[kept]), np.arange(len(label)) if kin is None else kin
    member = ((label == labels[:, None]) & kept).astype(np.float64)
    of_kin = (member[:, None] * (kin == np.arange(int(kin.max()) + 1)[:, None])).sum(axis=2)
    n, k = member.sum(axis=1), len(labels)
    means = (member @ kernel @ member.T) / (np.outer(n, n) - of_kin @ of_kin.T)
    own = float(means.trace())
    return own / k - (float(means.sum()) - own) / (k * (k - 1))


def merge_gap(
    documents: Reals,
    topics: Floats,
    groups: Floats,
    units: Floats,
    originals: Floats,
    kin: Floats | None = None,
) -> Gaps:
    """Return how much nearer documents are that share a group, over those that share a text.

    N is that of `nearness_gap`. What a program that merges duplicates has to tell is::

        D = mean cosine of one original with two names − mean cosine of two originals

    Names vary in N, and originals in D.

    Parameters
    ----------
    documents, topics, groups, units, originals, kin
        As of the metric `merge-rates`: its units, or kins, are those of the gap.
    """
    kernel = name_kernel(documents, topics, groups, units, originals, kin)
    t = len(kernel.originals)
    if t < FEWEST:
        return Gaps(_of_names(kernel))
    own, rows = kernel.originals.diagonal(), kernel.originals.sum(axis=1)
    others, total, sum_own = rows - own, rows.sum() - own.sum(), own.sum()
    value = sum_own / t - total / (t * (t - 1))
    without = (sum_own - own) / (t - 1) - (total - 2 * others) / ((t - 1) * (t - 2))
    names = [f"original {number}" for number in range(t)]
    return Gaps(_of_names(kernel), jackknifed(float(value), [WithoutOne(names, without)]))


def _of_names(kernel: NameKernel) -> Gap:
    """Return how much nearer two names of a group are than two of different groups."""
    label, kin = kernel.label, kernel.kin
    kins = np.zeros((len(kernel.names), int(label.max()) + 1))
    kins[kin, label] = 1
    if kins.shape[1] < 2 or kins.sum(axis=0).min() < FEWEST:
        return Gap(float("nan"), {}, 1)
    without = [
        _nearness(kernel.cosines, label, kin != left, kin) for left in range(len(kernel.names))
    ]
    value = _nearness(kernel.cosines, label, kin >= 0, kin)
    return jackknifed(value, [WithoutOne(kernel.names, np.array(without))])
