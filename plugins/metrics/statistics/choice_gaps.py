"""Gaps between paired texts: a context and its stereotype, a query and its versions, two names.

Row i of all inputs belongs together. What ranks is a mean difference of cosines over the rows, and
its yardstick is made of the same rows: how much nearer a text is to its own than to an unrelated
one, or to those of other rows. Units of rows, such as all contexts of a term, vary; the variances
are those of the jackknife over them.

Numbers in, numbers out. Knows no metrics, tasks or models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness.arrays import Floats, Reals, both_sides, unit_rows
from harness.metrics import Gap, Gaps

from .gaps import Units, WithoutOne, at_least, jackknifed
from .intervals import Codes

FEWEST = 3
"""Units whose variance is found by leaving one out, so that two are left to compare."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows in units that are left out together.

    Parameters
    ----------
    names
        The k names of the units.
    codes
        (n,) unit of each row.
    """

    names: Sequence[str]
    codes: Codes

    @classmethod
    def of(cls, names: Sequence[str], numbers: Floats | None = None) -> Rows:
        """Return the rows with the units of their names, or of (n,) numbers.

        The unit of a number has the name of its first row.
        """
        labels = list(names) if numbers is None else np.asarray(numbers).tolist()
        firsts: dict[str | float, int] = {}
        for row, label in enumerate(labels):
            firsts.setdefault(label, row)
        places = {label: code for code, label in enumerate(firsts)}
        codes = np.array([places[label] for label in labels], dtype=np.int64)
        return cls([names[row] for row in firsts.values()], codes)

    @property
    def sizes(self) -> Floats:
        """(k,) number of rows of each unit."""
        sizes: Floats = np.bincount(self.codes, minlength=len(self.names)).astype(np.float64)
        return sizes

    def sums(self, values: Floats) -> Floats:
        """Return the (k, ...) sums of the (n, ...) values of each unit."""
        sums = np.zeros((len(self.names), *values.shape[1:]))
        np.add.at(sums, self.codes, values)
        return sums

    def mean(self, values: Floats) -> Gap:
        """Return the mean of (n,) values as a gap."""
        sums, sizes, n = self.sums(values), self.sizes, len(self.codes)
        total = float(values.sum())
        return self.jackknife(total / n, lambda: (total - sums) / (n - sizes))

    def own_less_others(self, first: Floats, second: Floats) -> Gap:
        """Return how much nearer texts are to their own than to those of other units, as a gap.

        With the (n, d) vectors a and b, of length 1 or means of such::

            mean over i of aᵢ · bᵢ − mean over i and j of different units of aᵢ · bⱼ

        NaN if all rows are of one unit.
        """
        own, a, b = self.sums(_paired(first, second)), self.sums(first), self.sums(second)
        within, sizes, n = _paired(a, b), self.sizes, len(self.codes)
        total_a, total_b = a.sum(axis=0), b.sum(axis=0)
        across = float(total_a @ total_b - within.sum())
        pairs = n**2 - float(sizes @ sizes)
        if pairs == 0:
            return Gap(float("nan"), {}, 1)

        def without() -> Floats:
            rows = n - sizes
            of_others = across - a @ total_b - b @ total_a + 2 * within
            values: Floats = (own.sum() - own) / rows - of_others / (pairs - 2 * sizes * rows)
            return values

        return self.jackknife(own.sum() / n - across / pairs, without)

    def squared_mean(self, values: Floats) -> Gap:
        """Return the square of the mean of (n,) values as a gap, without what noise adds to it.

        It is the mean product of two values of different units, whose expectation is the square of
        that of the mean. Its variance is at least twice the squared variance of the mean. NaN if
        all values are of one unit.
        """
        sums, sizes, n = self.sums(values), self.sizes, len(self.codes)
        total, squares, pairs = float(values.sum()), float(sums @ sums), float(n**2 - sizes @ sizes)
        if pairs == 0:
            return Gap(float("nan"), {}, 1, power=2)

        def without() -> Floats:
            products = (total - sums) ** 2 - (squares - sums**2)
            found: Floats = products / ((n - sizes) ** 2 - (sizes @ sizes - sizes**2))
            return found

        gap = replace(self.jackknife((total**2 - squares) / pairs, without), power=2)
        return at_least(gap, 2 * self.mean(values).variance ** 2)

    def centred(self, contexts: Floats, directions: Floats) -> Gap:
        """Return the mean of (cᵢ − mean of c) · tᵢ as a gap, for (n, d) contexts c and t."""
        own, c, t = (
            self.sums(_paired(contexts, directions)),
            self.sums(contexts),
            self.sums(directions),
        )
        n, sizes = len(self.codes), self.sizes
        total_c, total_t = c.sum(axis=0), t.sum(axis=0)

        def without() -> Floats:
            rows = n - sizes
            values: Floats = (own.sum() - own) / rows - _paired(total_c - c, total_t - t) / rows**2
            return values

        return self.jackknife(own.sum() / n - float(total_c @ total_t) / n**2, without)

    def jackknife(self, value: float, without: Callable[[], Floats]) -> Gap:
        """Return a gap with its deviations; without any if the units are too few."""
        if len(self.names) < FEWEST:
            return Gap(value, {}, 1)
        return jackknifed(value, [WithoutOne(self.names, without())])


def choice_gap(
    contexts: Reals,
    stereotyped: Reals,
    anti_stereotyped: Reals,
    terms: Floats | None = None,
    background: Reals | None = None,
    unrelated: Reals | None = None,
    background_texts: Reals | None = None,
    *,
    units: Units,
) -> Gaps:
    """Return how much nearer contexts are to stereotypes than to their opposites.

    With the contexts c, the stereotyped texts s and the others a, of length 1, the mean b of the
    background, by default of the contexts, and the mean t of the background's texts::

        N = mean over i of (cᵢ − b) · (sᵢ − aᵢ)
        D = mean over i of (cᵢ − b) · ((sᵢ + aᵢ)/2 − t)

    D says how much nearer a context is to its own texts, whichever, than to those of others. With
    an unrelated text u of each context, nothing is centred::

        N = mean over i of cᵢ · (sᵢ − aᵢ),  D = mean over i of cᵢ · ((sᵢ + aᵢ)/2 − uᵢ)

    Without any of these texts there is no yardstick in the items. The background is fixed.

    Parameters
    ----------
    contexts, stereotyped, anti_stereotyped
        (n, d) vectors.
    terms
        (n,) numbers of the target terms, which are the units; by default the contexts are.
    background
        (m, d) vectors of contexts.
    unrelated
        (n, d) vectors of texts that have nothing to do with their context.
    background_texts
        (k, d) vectors of the texts of the background's contexts.
    units
        The unit of each row, by input.

    References
    ----------
    Nadeem, Bethke and Reddy (2021), StereoSet: related and unrelated texts.
    """
    rows = Rows.of(units["contexts"], terms)
    c, s, a = (unit_rows(array) for array in (contexts, stereotyped, anti_stereotyped))
    related = (s + a) / 2
    if unrelated is not None:
        yardstick = rows.mean(_paired(c, related - unit_rows(unrelated)))
        return Gaps(rows.mean(_paired(c, s - a)), usable(yardstick))
    if background is None:
        return Gaps(rows.centred(c, s - a))
    c = c - unit_rows(background).mean(axis=0)
    gap = rows.mean(_paired(c, s - a))
    if background_texts is None:
        return Gaps(gap)
    t = unit_rows(background_texts).mean(axis=0)
    return Gaps(gap, usable(rows.mean(_paired(c, related - t))))


def preference_gap(
    queries: Reals,
    versions_1: Reals,
    versions_2: Reals,
    topics: Floats | None = None,
    *,
    two_sided: bool = False,
    units: Units,
) -> Gaps:
    """Return how much nearer queries are to the first versions of their text than to the second.

    With the queries q and the versions v and w, of length 1::

        N = mean over i of qᵢ · (vᵢ − wᵢ)
        D = mean over i of qᵢ · (vᵢ + wᵢ)/2 − mean over i and j of qᵢ · (vⱼ + wⱼ)/2

    where j is of another topic: how much nearer they are to their own text than to others.

    Parameters
    ----------
    queries, versions_1, versions_2
        (n, d) vectors.
    topics
        (n,) numbers of the topics, which are the units; by default the queries are.
    two_sided
        Whether the gap and the yardstick are the squares of N and D, so that a leaning to either
        version counts alike.
    units
        The unit of each row, by input.
    """
    rows = Rows.of(units["queries"], topics)
    q, v, w = (unit_rows(array) for array in (queries, versions_1, versions_2))
    yardstick = usable(rows.own_less_others(q, (v + w) / 2))
    nearer = _paired(q, v - w)
    if not two_sided:
        return Gaps(rows.mean(nearer), yardstick)
    return Gaps(rows.squared_mean(nearer), None if yardstick is None else _squared(yardstick))


def _squared(gap: Gap) -> Gap:
    """Return the square of a gap that is far from 0."""
    deviations = {unit: 2 * gap.value * deviation for unit, deviation in gap.deviations.items()}
    doubled = 4 * gap.value**2 * gap.doubled
    return replace(gap, value=gap.value**2, deviations=deviations, doubled=doubled, power=2)


def name_gap(queries: Reals, positives: Reals, negatives: Reals, *, units: Units) -> Gaps:
    """Return how much names count, over how much meaning counts.

    N is the mean cosine of a text and one with the same names and another meaning, less that with
    the texts of other rows; D is the same of texts with the same meaning and other names.

    Parameters
    ----------
    queries
        (n, d) vectors.
    positives
        (n, d) vectors of texts with the query's meaning and different names.
    negatives
        (n, d) vectors of texts with a different meaning and the query's names.
    units
        The unit of each row, by input.

    References
    ----------
    What is in a name? Mitigating name bias in text embeddings via anonymization, table 1.
    """
    rows = Rows.of(units["queries"])
    q, p, n = (unit_rows(array) for array in (queries, positives, negatives))
    names, meaning = rows.own_less_others(q, n), rows.own_less_others(q, p)
    return Gaps(names, usable(meaning))


def perturbation_gap(perturbed: Reals, texts_of: Floats, *, units: Units) -> Gaps:
    """Return how much other names change a text, over how much another text differs.

    N is 1 less the mean cosine of two perturbations of one text, averaged over texts; D is 1 less
    that of perturbations of different texts. Noise that depends on the text changes N more than D:
    it is a sensitivity to names, and counts.

    Parameters
    ----------
    perturbed
        (n, d) vectors of perturbed texts.
    texts_of
        (n,) number of the text that each row is a perturbation of: the units.
    units
        The unit of each row, by input.

    References
    ----------
    What is in a name? Mitigating name bias in text embeddings via anonymization, section 3.1.
    """
    rows = Rows.of(units["perturbed"], texts_of)
    sums, others = (rows.sums(side) for side in both_sides(perturbed))
    sizes, n = rows.sizes, len(perturbed)
    squares, total = _paired(sums, others), others.sum(axis=0)
    several = sizes > 1
    cosines = np.where(several, (squares - sizes) / np.maximum(sizes * (sizes - 1), 1), 0.0)
    texts = int(several.sum())
    across, pairs = float((sums @ total - squares).sum()), n**2 - float(sizes @ sizes)
    if texts == 0 or pairs == 0:
        return Gaps(Gap(1 - float(cosines.sum()) / texts if texts else float("nan"), {}, 1))

    def within() -> Floats:
        values: Floats = 1 - (cosines.sum() - cosines) / np.maximum(texts - several, 1)
        return values

    def between() -> Floats:
        of_others = across - 2 * (sums @ total - squares)
        values: Floats = 1 - of_others / (pairs - 2 * sizes * (n - sizes))
        return values

    return Gaps(
        rows.jackknife(1 - float(cosines.sum()) / texts, within),
        usable(rows.jackknife(1 - across / pairs, between)),
        is_evidence=False,
    )


def usable(yardstick: Gap) -> Gap | None:
    """Return a yardstick; None if its variance is not known."""
    return yardstick if yardstick.deviations else None


def _paired(first: Floats, second: Floats) -> Floats:
    """Return the (n,) products of the rows of two (n, d) arrays."""
    products: Floats = np.einsum("ij,ij->i", first, second)
    return products
