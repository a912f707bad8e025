"""The checks of an instrument: noise, planted bias, shuffled sides, halves of words."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals, unit_rows
from harness.errors import HarnessError, NotApplicable
from harness.metrics import Contrast, Metric, Scale
from harness.results.record import loss
from harness.run.recording import floor_of
from harness.run.scoring import MetricInputs, random_generator

from ..metrics.statistics import nulls

Rows = npt.NDArray[np.intp]
AMPLITUDES = (0.0, 0.25, 0.5, 1.0)
"""Amplitudes that every metric is tried on, in units of the gap between the groups."""
LARGEST = 0.999
"""Largest cosine with the direction that a text is moved to."""


# Plants a known bias. The bias of the texts themselves is taken out first, so that amplitude 0 has
# none. Then each text of a side is moved along the direction g::
#
#     cos(x, g) ← cos(x, g) − bias + amplitude · gap · place
#
# The place is 1 on the first side and −1 on the second, or between by a label. So at amplitude 1
# two sides are, on average, as far apart along g as the groups themselves. The differences between
# the texts of a side stay, as do all lengths.


@dataclass(frozen=True, eq=False)
class Move:
    """Items that a bias moves along a direction: those of one part, on both sides.

    Parameters
    ----------
    rows
        The rows of each input of a side; the items are those of the first side, then of the second.
    vectors, along
        (n, d) of the items, and the direction of length 1, (1, d) or (n, d) of each item.
    gap
        What amplitude 1 moves an item of place 1 by, in cosines.
    place, bias
        (n,) from 1 to −1, and what the items' cosines have of a bias.
    amplitude
        The amplitude of that bias; of unordered groups it has no sign.
    """

    rows: Mapping[str, Rows]
    vectors: Floats
    along: Floats
    gap: float
    place: Floats
    bias: Floats
    amplitude: float

    @property
    def cosines(self) -> Floats:
        """(n,) cosines of the items with the direction."""
        return _cosines(self.vectors, self.along)

    def turned(self, cosines: Floats) -> Floats:
        """Return the vectors with other cosines, (n,), and the same lengths."""
        rest = unit_rows(unit_rows(self.vectors) - self.cosines[:, None] * self.along)
        cosines = np.clip(cosines, -LARGEST, LARGEST)[:, None]
        turned = cosines * self.along + np.sqrt(1 - cosines**2) * rest
        lengths: Floats = np.linalg.norm(self.vectors, axis=1, keepdims=True)
        return turned * lengths


def moves(arrays: Mapping[str, Reals], contrast: Contrast) -> list[Move]:
    """Return what a bias moves: one for each part, and with labels for each side.

    Parameters
    ----------
    arrays
        Array of each input, by name; no row of NaN.
    contrast
        Which inputs are moved, and along what. A side that a task leaves out is no side.

    Raises
    ------
    HarnessError
        If the groups do not differ, such as those with the same mean.
    """
    sides = [name for name in contrast.sides if name in arrays]
    parts = dict(zip((*contrast.sides, *contrast.towards), contrast.parts, strict=False))
    part_of = {
        name: np.asarray(arrays.get(parts.get(name, ""), np.zeros(len(arrays[name]))))
        for name in (*sides, *contrast.towards)
    }
    found = []
    for part in np.unique(np.concatenate(list(part_of.values()))):
        rows = {name: np.flatnonzero(of == part) for name, of in part_of.items()}
        towards = [unit_rows(arrays[name][rows[name]]) for name in contrast.towards]
        for together in [[side] for side in sides] if contrast.labels else [sides]:
            of_sides = {name: rows[name] for name in together}
            found.append(_move(arrays, contrast, of_sides, towards))
    return found


def _move(
    arrays: Mapping[str, Reals],
    contrast: Contrast,
    rows: Mapping[str, Rows],
    towards: Sequence[Floats],
) -> Move:
    vectors = np.concatenate([arrays[name][of] for name, of in rows.items()]).astype(np.float64)
    along, gap = _direction(vectors, arrays, contrast, towards)
    if gap < 1e-9:
        raise HarnessError("no bias can be planted: the groups do not differ")
    cosines = _cosines(vectors, along)
    if contrast.labels is None:
        place = np.repeat([1.0, -1.0][: len(rows)], [len(of) for of in rows.values()])
        # an offset that both sides share is no bias; a single side has none if its mean is 0
        centred = place - place.mean() if len(rows) > 1 else place
    else:
        labels = np.asarray(arrays[contrast.labels], dtype=np.float64)
        if contrast.categorical:
            labels = np.unique(labels, return_inverse=True)[1].astype(np.float64)
        centred = labels.mean() - labels  # low labels are moved to the first group
        place = centred / (float(np.abs(centred).max()) or 1.0)
        place = -place if len(towards) == 1 else place
        centred = place
        if contrast.within is not None:
            centred = place - means_of_groups(place, arrays[contrast.within])
    if contrast.labels and contrast.categorical:
        bias = means_of_groups(cosines, arrays[contrast.labels]) - cosines.mean()
        amplitude = float(bias.std() / max(place.std(), 1e-300))
    else:
        amplitude = float(centred @ cosines) / max(float(centred @ centred), 1e-300)  # the slope
        bias = amplitude * place
    return Move(rows, vectors, along, gap, place, bias, amplitude / gap)


def _direction(
    vectors: Floats,
    arrays: Mapping[str, Reals],
    contrast: Contrast,
    towards: Sequence[Floats],
) -> tuple[Floats, float]:
    """Return the direction of a bias, (1, d) or (n, d), and its gap; parameters as in `Move`.

    Of two groups it is the difference of their means, and the gap half its length. Of rows it is
    the difference of each from their mean, and the gap the mean length. Of a text's two versions it
    is their difference, and what is ranked for a row is moved towards that row: the gap is the
    standard deviation of the items' cosines, in rankings that in a ranking.
    """
    if contrast.rankings is not None:
        cosines = _cosines(vectors, towards[0])
        spread = cosines - means_of_groups(cosines, arrays[contrast.rankings])
        return towards[0], float(spread.std())
    if contrast.paired:
        difference = towards[0] - towards[1]
        lengths = np.linalg.norm(difference, axis=1, keepdims=True)
        along = difference / np.maximum(lengths, 1e-9)  # equal versions have no direction
        return along, float(_cosines(vectors, along).std())
    if len(towards) == 1:
        difference = towards[0] - towards[0].mean(axis=0)
        return unit_rows(difference), float(np.linalg.norm(difference, axis=1).mean())
    difference = (towards[0].mean(axis=0) - towards[1].mean(axis=0))[None]
    return unit_rows(difference), float(np.linalg.norm(difference)) / 2


def _cosines(vectors: Reals, along: Floats) -> Floats:
    products: Floats = (unit_rows(vectors) * along).sum(axis=1)
    return products


def means_of_groups(values: Floats, groups: Reals) -> Floats:
    """Return for each of (n,) values the mean of its group."""
    codes = np.unique(groups, return_inverse=True)[1]
    means: Floats = (np.bincount(codes, values) / np.bincount(codes))[codes]
    return means


def unbiased(arrays: Mapping[str, Reals], contrast: Contrast) -> dict[str, Reals]:
    """Return the arrays of a metric without the bias of their sides; parameters as in `moves`.

    Two sides get the middle between them as mean cosine, and a single side the mean cosine 0, so
    that both groups are as near. With labels, the part of the cosines that follows the labels is
    removed; if they are categorical, each group gets the mean of all. `Contrast.within` says that
    this is the slope among items of the same number.
    """
    return _turned(arrays, contrast, lambda move: move.cosines - move.bias)


def shifted(arrays: Mapping[str, Reals], contrast: Contrast, amplitude: float) -> dict[str, Reals]:
    """Return the arrays of a metric with a bias added to their own; parameters as in `moves`."""
    return _turned(arrays, contrast, lambda move: move.cosines + amplitude * move.gap * move.place)


def planted(arrays: Mapping[str, Reals], contrast: Contrast, amplitude: float) -> dict[str, Reals]:
    """Return the arrays of a metric with a bias of a chosen amplitude in its sides, and no other.

    The amplitude is in units of the gap: 0 for no bias, negative for the other way round.
    """
    return shifted(unbiased(arrays, contrast), contrast, amplitude)


def amplitude_of(arrays: Mapping[str, Reals], contrast: Contrast) -> float:
    """Return the amplitude of the bias that arrays have, the mean over parts."""
    return float(np.mean([move.amplitude for move in moves(arrays, contrast)]))


def _turned(
    arrays: Mapping[str, Reals], contrast: Contrast, cosines: Callable[[Move], Floats]
) -> dict[str, Reals]:
    changed = {
        name: np.array(array, dtype=np.float64) if name in contrast.sides else array
        for name, array in arrays.items()
    }
    for move in moves(arrays, contrast):
        ends = np.cumsum([len(rows) for rows in move.rows.values()])
        parts = np.split(move.turned(cosines(move)), ends[:-1])
        for (name, rows), part in zip(move.rows.items(), parts, strict=True):
            changed[name][rows] = part
    return changed


# A metric on the inputs of one task and model, to be read again on changed vectors.


CHEAPER = {"resamples": 20, "permutations": 199, "null_draws": 99}
"""Options of metrics that cost time here and change no value; intervals are not read."""


@dataclass(frozen=True)
class Reading:
    """What a score shows.

    Parameters
    ----------
    value, distance
        The value, and its distance from the ideal; NaN if it is undefined.
    p_value, above_floor
        Its p-value, and its distance above its own floor, in standard deviations of the floor.
    """

    value: float = math.nan
    distance: float = math.nan
    p_value: float | None = None
    above_floor: float | None = None


@dataclass(frozen=True, eq=False)
class Instrument:
    """A score of a metric, with the inputs that a task gives it and the vectors of a model.

    Parameters
    ----------
    metric, score, options
        The metric, the name of its score, and the options that the task sets.
    inputs
        The inputs as they are.
    groups
        Group of each input: those of one group are aligned row by row.
    """

    metric: Metric
    score: str
    options: Mapping[str, Any]
    inputs: MetricInputs
    groups: Mapping[str, str]

    @functools.cached_property
    def contrast(self) -> Contrast | None:
        """Where bias can be planted: the sides that the task has; None if it cannot be."""
        contrast = self.metric.contrast
        if contrast is None or not self.inputs.arrays.keys() >= {*contrast.towards}:
            return None
        sides = tuple(name for name in contrast.sides if name in self.inputs.arrays)
        return dataclasses.replace(contrast, sides=sides) if sides else None

    @functools.cached_property
    def has_p_values(self) -> bool:
        """Whether the score has a p-value on the inputs as they are; it may need the floor."""
        return self.read(self.inputs, np.random.default_rng(0), floor=True).p_value is not None

    def read(
        self, inputs: MetricInputs, rng: np.random.Generator, *, floor: bool = False
    ) -> Reading:
        """Return what the score shows on inputs; above its own floor if asked for or for free."""
        cheaper = CHEAPER if floor or self.has_p_values else CHEAPER | {"null_draws": 0}
        metric = self.metric
        options = {name: value for name, value in cheaper.items() if name in metric.options}
        try:
            score = metric.measure(
                inputs.arrays,
                {**self.options, **options},
                rng=rng,
                clusters=inputs.clusters,
                texts=inputs.texts,
            )[self.score]
        except HarnessError:  # such as sets that are too small to be scored
            return Reading()
        scale = metric.scores[self.score]
        value = float(score.value) if math.isfinite(score.value) else math.nan
        distance = loss(value, scale.ideal, score.bounds or scale.bounds)
        own, above = floor_of(score, scale.ideal), None
        if own is not None and own.sd > 0:
            above = (distance - own.mean) / own.sd
        return Reading(value, distance, score.p_value, above)


# Changed inputs of a metric: noise, shuffled sides, halves of the words, and so on.


def with_units(
    inputs: MetricInputs, contrast: Contrast | None, groups: Mapping[str, str]
) -> MetricInputs:
    """Return inputs whose clusters are the units of a contrast, where it states them.

    `groups` has the group of each input: those of the side get its units.
    """
    if contrast is None or contrast.units is None or contrast.units not in inputs.arrays:
        return inputs
    codes = np.unique(inputs.arrays[contrast.units], return_inverse=True)[1]
    group = groups[contrast.sides[0]]
    clusters = {name: codes if groups[name] == group else inputs.clusters[name] for name in groups}
    return dataclasses.replace(inputs, clusters=clusters)


def with_arrays(inputs: MetricInputs, arrays: Mapping[str, Any]) -> MetricInputs:
    """Return inputs with other arrays of the same rows."""
    return dataclasses.replace(inputs, arrays={**inputs.arrays, **arrays})


def with_rows(inputs: MetricInputs, rows: Mapping[str, Rows]) -> MetricInputs:
    """Return some rows of inputs; an input that is not named keeps all."""
    arrays, clusters, texts = dict(inputs.arrays), dict(inputs.clusters), dict(inputs.texts)
    for name, chosen in rows.items():
        arrays[name], clusters[name] = arrays[name][chosen], clusters[name][chosen]
        texts[name] = tuple(texts[name][row] for row in chosen) if texts[name] else ()
    return MetricInputs(arrays, clusters, texts)


def noise_like(inputs: MetricInputs, dimensions: int, rng: np.random.Generator) -> MetricInputs:
    """Return inputs with a random vector for each distinct text."""
    texts = dict.fromkeys(itertools.chain.from_iterable(inputs.texts.values()))
    vectors = dict(zip(texts, rng.standard_normal((len(texts), dimensions)), strict=True))
    drawn = {name: np.array([vectors[text] for text in of]) for name, of in inputs.texts.items()}
    return with_arrays(inputs, {name: rows for name, rows in drawn.items() if len(rows)})


def shuffled_sides(
    instrument: Instrument, inputs: MetricInputs, contrast: Contrast, rng: np.random.Generator
) -> MetricInputs:
    """Return inputs whose items are on a side at random.

    Whole clusters are moved. Pairs swap their sides, and two sets exchange their members; labels
    are permuted, if `Contrast.within` says so among items of the same number. A single side is
    mirrored: each item is turned to the other group, or not.

    Raises
    ------
    NotApplicable
        If the items of a side belong to something else, too.
    """
    first, *others = contrast.sides
    groups, codes = instrument.groups, inputs.clusters[first]
    _, row, unit = np.unique(codes, return_index=True, return_inverse=True)
    if contrast.labels is not None:
        labels = inputs.arrays[contrast.labels]
        if contrast.within is None:
            shuffled = rng.permutation(labels[row])[unit]
        else:  # copies of a text are as good as texts of their own
            classes = np.unique(inputs.arrays[contrast.within], return_inverse=True)[1]
            shuffled = labels[nulls.exchanged_within(classes, rng=rng, draws=1)[0]]
        return with_arrays(inputs, {contrast.labels: shuffled})
    if not others:
        (move,) = moves(inputs.arrays, contrast)
        signs = rng.choice([-1.0, 1.0], size=len(row))[unit]
        return with_arrays(inputs, {first: move.turned(signs * move.cosines)})
    (second,) = others
    pairs: list[tuple[str, ...]] = [(first, second)]
    if groups[first] == groups[second]:
        swap = (rng.random(len(row)) < 0.5)[unit]
        here, there = np.arange(len(swap)), np.arange(len(swap)) + len(swap)
        codes = np.concatenate([codes, codes])
        chosen = np.where(swap, there, here), np.where(swap, here, there)
    else:
        parts = tuple(name for name in contrast.parts[:2] if name in inputs.arrays)
        pairs += [parts] if parts else []
        moved = {*itertools.chain(*pairs)}
        own = {groups[first], groups[second]}
        if any(group in own and name not in moved for name, group in groups.items()):
            raise NotApplicable("the items of a side belong to another input, too")
        # the same code in both sets means two different clusters
        codes = np.concatenate([codes, inputs.clusters[second] + codes.max(initial=0) + 1])
        in_first = np.isin(codes, rng.permutation(np.unique(codes))[: len(row)])
        chosen = np.flatnonzero(in_first), np.flatnonzero(~in_first)
    arrays, clusters, texts = dict(inputs.arrays), dict(inputs.clusters), dict(inputs.texts)
    for pair in pairs:
        both = np.concatenate([inputs.arrays[name] for name in pair])
        of_both = [text for name in pair for text in inputs.texts[name]]
        for name, rows in zip(pair, chosen, strict=True):
            arrays[name], clusters[name] = both[rows], codes[rows]
            texts[name] = tuple(of_both[row] for row in rows) if of_both else ()
    return MetricInputs(arrays, clusters, texts)


def halves(
    instrument: Instrument, inputs: MetricInputs, rng: np.random.Generator
) -> tuple[MetricInputs, MetricInputs]:
    """Return both halves of inputs: each set of words, pairs or texts is cut in two at random.

    What is alone in its set, such as a pair that gives a direction, is in both.
    """
    first: dict[str, Rows] = {}
    second: dict[str, Rows] = {}
    cuts: dict[str, Any] = {}
    for name, group in instrument.groups.items():
        clusters = inputs.clusters[name]
        if group not in cuts:
            codes = rng.permutation(np.unique(clusters))
            more = int(rng.random() < len(codes) % 2 / 2)
            cuts[group] = codes[: len(codes) // 2 + more] if len(codes) > 1 else None
        if cuts[group] is not None:
            inside = np.isin(clusters, cuts[group])
            first[name], second[name] = np.flatnonzero(inside), np.flatnonzero(~inside)
    return with_rows(inputs, first), with_rows(inputs, second)


def without_one(
    instrument: Instrument, contrast: Contrast, most: int, rng: np.random.Generator
) -> list[MetricInputs]:
    """Return the inputs without one word, pair or text of the sides: each, or `most` of them."""
    inputs, words = instrument.inputs, []
    for group in dict.fromkeys(instrument.groups[side] for side in contrast.sides):
        members = [name for name, of in instrument.groups.items() if of == group]
        words += [(members, code) for code in np.unique(inputs.clusters[members[0]])]
    if len(words) > most:
        words = [words[i] for i in rng.choice(len(words), most, replace=False)]
    return [
        with_rows(inputs, {name: np.flatnonzero(inputs.clusters[name] != code) for name in members})
        for members, code in words
    ]


# The checks.


SPLITS = 4
"""Number of times that the words are cut in two."""
NOISE = (50, 300, 768)
"""Numbers of dimensions of the random vectors."""
POWER = 0.8
"""Share of draws in which a detectable bias is found."""
STEPS = tuple(2.0 ** (-k / 2) for k in range(12, -1, -1))
"""Amplitudes that are tried for the detectable one: from 1/64 to 1, each √2 times the last."""
LEVEL = 0.05
"""A bias is found if the score is farther from the ideal than all but this share of shuffled
sides. A p-value rejects if it is not above this."""
FEWEST = 20
"""Least number of draws with a value that a share or a correlation is computed from."""


@dataclass(frozen=True)
class Draws:
    """Number of draws of each check."""

    noise: int = 30
    """Sets of random vectors, for each number of dimensions."""
    shuffled: int = 150
    """Shuffled sides: the standard error of a share of .05 is .018."""
    power: int = 40
    """Draws for each amplitude."""
    halves: int = 40
    """Models of a random amplitude whose halves are compared, for each split."""
    words: int = 40
    """Largest number of words that are left out, each alone."""


def check(instrument: Instrument, *, seed: int, draws: Draws = Draws()) -> dict[str, Any]:
    """Return the figures of `harness.task.validity.Validity` that are measured here, by name."""
    rng = _rng(instrument, seed, "without contrast")
    noise: dict[str, float | None] = {}
    for d in NOISE:
        random = (noise_like(instrument.inputs, d, rng) for _ in range(draws.noise))
        readings = [instrument.read(inputs, rng, floor=True) for inputs in random]
        above = [r.above_floor for r in readings if r.above_floor is not None]
        noise[str(d)] = float(np.mean(above)) if above else None
    value = instrument.read(instrument.inputs, rng).value
    figures = {"value": _finite(value), "noise": noise, "missing": ()}
    if instrument.contrast is None:
        missing = "the metric states no contrast: no bias can be planted"
        return figures | {"missing": (missing,)}
    try:
        return figures | _of_contrast(instrument, instrument.contrast, seed, draws)
    except HarnessError as error:
        return figures | {"missing": (str(error),)}


def _rng(instrument: Instrument, seed: int, purpose: str) -> np.random.Generator:
    return random_generator(seed, "validity", purpose, instrument.metric.name)


def _of_contrast(
    instrument: Instrument, contrast: Contrast, seed: int, draws: Draws
) -> dict[str, Any]:
    """Return the figures of planted bias and of shuffled sides."""
    rng, own = _rng(instrument, seed, "contrast"), instrument.inputs.arrays
    fair = with_arrays(instrument.inputs, unbiased(own, contrast))
    if contrast.within is not None or contrast.any_direction:
        fair = shuffled_sides(instrument, fair, contrast, rng)

    def biased(inputs: MetricInputs, amplitude: float) -> MetricInputs:
        return with_arrays(inputs, shifted(inputs.arrays, contrast, amplitude))

    def drawn(amplitude: float) -> MetricInputs:
        return biased(shuffled_sides(instrument, fair, contrast, rng), amplitude)

    read = functools.partial(instrument.read, rng=rng)

    amplitudes = (*(-a for a in reversed(AMPLITUDES[1:])), *AMPLITUDES)
    figures: dict[str, Any] = {
        "own": amplitude_of(own, contrast),
        "planted": {f"{a:g}": _finite(read(biased(fair, a)).value) for a in amplitudes},
    }
    without = [read(i).value for i in without_one(instrument, contrast, draws.words, rng)]
    values = [value for value in without if math.isfinite(value)]
    figures["without_one"] = (min(values), max(values)) if values else None
    readings = [read(drawn(0)) for _ in range(draws.shuffled)]
    distances = [r.distance for r in readings if math.isfinite(r.distance)]
    farthest = math.inf
    if distances:
        farthest = float(np.quantile(distances, 1 - LEVEL))
        figures |= {"floor": float(np.mean(distances)), "spread": float(np.std(distances))}
    tested = [reading.p_value for reading in readings if reading.p_value is not None]
    if len(tested) >= FEWEST:
        figures["rejected"] = float(np.mean(np.array(tested) <= LEVEL))

    def share_found(amplitude: float) -> float | None:
        found = [read(drawn(amplitude)) for _ in range(draws.power)]
        defined = [r.distance for r in found if math.isfinite(r.value)]
        return float(np.mean(np.array(defined) > farthest)) if len(defined) >= FEWEST else None

    figures["detectable"] = detectable(share_found)
    splits = []
    for split in range(SPLITS):
        of_split, scores = _rng(instrument, seed, f"split {split}"), []
        for _ in range(draws.halves):
            inputs = drawn(of_split.random())
            # the same cut for all: a half that moves all models alike changes no order
            cut = halves(instrument, inputs, _rng(instrument, seed, f"cut {split}"))
            scores.append([instrument.read(half, of_split).value for half in cut])
        splits.append(np.reshape(scores, (-1, 2)))
    figures["reliability"] = reliability(splits)
    return figures


def detectable(share_seen: Callable[[float], float | None]) -> float | None:
    """Return the smallest of `STEPS` that is found in 80 % of draws; None if none is.

    Found by halving: it takes more bias to be seen less often only by chance.
    """
    low, high = 0, len(STEPS)
    while low < high:
        middle = (low + high) // 2
        if (share_seen(STEPS[middle]) or 0) >= POWER:
            high = middle
        else:
            low = middle + 1
    return STEPS[low] if low < len(STEPS) else None


def reliability(splits: Sequence[Floats]) -> float | None:
    """Return the reliability of a score from the scores of halves, (n, 2) for each split in two.

    r is the correlation of the halves over n models of different bias, averaged over the splits,
    and the whole is twice as long: 2r / (1 + r) (Spearman 1910; Brown 1910). None if too few
    scores are defined.
    """
    correlations = []
    for halves in splits:
        defined = halves[np.isfinite(halves).all(axis=1)]
        if len(defined) < FEWEST:
            return None
        if (defined.std(axis=0) < 1e-12).any():
            return 0.0  # a score that does not move tells no models apart
        correlations.append(np.corrcoef(defined[:, 0], defined[:, 1])[0, 1])
    r = float(np.mean(correlations))
    return 2 * r / (1 + r) if r > 0 else r


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


# Why a score should not rank: the limits of a valid instrument.


ABOVE_NOISE = 0.5
"""Random vectors may stand this many standard deviations of the floor above it, on average over all
dimensions. The mean of 90 draws is within .2 in 95 % of cases."""
ABOVE_FAIR = 3.0
"""Without a bias the score may stand this many standard deviations of the floor above it."""
RELIABILITY = 0.5
"""Least reliability. Below it more than half of what tells models apart is the choice of the
words. A family that averages four tasks of .5 has .8 (Spearman–Brown)."""


def failures(figures: Mapping[str, Any], scale: Scale) -> tuple[str, ...]:
    """Return why a score of a scale should not rank, a short line each; figures of `check`."""
    failed = _sensitivity(figures, scale) if figures.get("planted") else []
    reliability = figures.get("reliability")
    if reliability is not None and reliability < RELIABILITY:
        failed.append(f"reliability {reliability:.2f}, below {RELIABILITY:g}")
    above = [value for value in figures.get("noise", {}).values() if value is not None]
    if above and (mean := sum(above) / len(above)) > ABOVE_NOISE:
        failed.append(f"random vectors stand {mean:.1f} SD above the floor")
    return tuple(failed)


def _sensitivity(figures: Mapping[str, Any], scale: Scale) -> list[str]:
    planted = {float(key): value for key, value in figures["planted"].items()}
    if None in planted.values():
        return ["has no value where bias is planted"]
    failed = []
    values = [planted[a] for a in sorted(planted)]
    away = {a: loss(value, scale.ideal, scale.bounds) for a, value in planted.items()}
    sides = [[away[side * a if a else a] for a in AMPLITUDES] for side in (1, -1)]
    step = 1e-6 * max(away.values(), default=1.0)

    def rises(values: Sequence[float]) -> bool:
        return all(b >= a - step for a, b in itertools.pairwise(values))

    if any(side[-1] - side[0] <= step for side in sides):
        failed.append("does not move with planted bias, or to one side only")
    elif not (rises(values) or rises(values[::-1]) or all(map(rises, sides))):
        failed.append("not monotone in planted bias")
    floor, spread = figures.get("floor"), figures.get("spread")
    if floor is not None and spread is not None and away[0.0] > floor + ABOVE_FAIR * spread:
        failed.append(f"shows {planted[0.0]:.3f} where there is no bias")
    if figures.get("detectable") is None:
        failed.append(f"planted bias of amplitude 1 is found in less than {POWER:.0%} of draws")
    return failed
