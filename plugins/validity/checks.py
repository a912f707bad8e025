"""The checks of an instrument: noise, planted bias, shuffled sides, halves of words."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Mask, Reals, unit_rows
from harness.errors import HarnessError, NotApplicable
from harness.metrics import Contrast, Metric, Scale
from harness.results.record import loss
from harness.run.recording import floor_of
from harness.run.scoring import MetricInputs, random_generator

from ..metrics.statistics import nulls

# The direction along which a bias is planted: between groups, to rows, between versions.


@dataclasses.dataclass(frozen=True, eq=False)
class Direction:
    """The direction between two groups, or from all rows to each of them.

    Parameters
    ----------
    vector
        (d,) of length 1, from the second group to the first; or (n, d), a direction for each row.
    gap
        What amplitude 1 moves a text by, in cosines with `vector`.
    """

    vector: Floats
    gap: float = 0.0

    def cosines(self, vectors: Reals) -> Floats:
        """Return the (n,) cosines of (n, d) vectors with the direction, or each with its own."""
        products: Floats = (unit_rows(vectors) * self.vector).sum(axis=1)
        return products


def direction_of(arrays: Mapping[str, Reals], contrast: Contrast) -> Direction:
    """Return the direction along which a contrast moves its sides, of unit vectors.

    Of two groups it is the difference of their means, and the gap half its length. Of rows it is
    the difference of each from their mean, and the gap the mean length; of a text's two versions
    the difference of these, and the gap the standard deviation of the texts' cosines. What is
    ranked for a row is moved towards that row, and the gap is that in a ranking.

    Raises
    ------
    HarnessError
        If the gap is 0, such as that of groups with the same mean.
    """
    towards = [unit_rows(arrays[name]) for name in contrast.towards]
    side = arrays[contrast.sides[0]]
    if contrast.rankings is not None:
        of_row = Direction(towards[0]).cosines(side)
        spread = of_row - means_of_groups(of_row, arrays[contrast.rankings])
        found = Direction(towards[0], float(spread.std()))
        why = "all items of a ranking are as near to its row"
    elif contrast.paired:
        differences = towards[0] - towards[1]
        lengths = np.linalg.norm(differences, axis=1, keepdims=True)
        vectors = differences / np.maximum(lengths, 1e-9)  # equal versions have no direction
        found = Direction(vectors, float(Direction(vectors).cosines(side).std()))
        why = "no text is nearer to one of its versions"
    elif len(towards) == 1:
        differences = towards[0] - towards[0].mean(axis=0)
        gap = float(np.linalg.norm(differences, axis=1).mean())
        found = Direction(unit_rows(differences), gap)
        why = "all rows have the same vector"
    else:
        difference = towards[0].mean(axis=0) - towards[1].mean(axis=0)
        length = float(np.linalg.norm(difference))
        found = Direction(difference / max(length, 1e-300), length / 2)
        why = "both groups have the same mean vector"
    if found.gap < 1e-9:
        raise HarnessError(f"no bias can be planted: {why}")
    return found


def means_of_groups(values: Floats, groups: Reals) -> Floats:
    """Return for each of (n,) values the mean of its group."""
    codes = np.unique(groups, return_inverse=True)[1]
    means: Floats = (np.bincount(codes, values) / np.bincount(codes))[codes]
    return means


# A metric on the inputs of one task and model, to be read again on changed vectors.


CHEAPER = {"resamples": 20, "permutations": 199, "null_draws": 99}
"""Options of metrics that cost time here and change no value; intervals are not read."""
WITHOUT_FLOOR = CHEAPER | {"null_draws": 0}
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Reading:
    """What a score shows.

    Parameters
    ----------
    value
        The value; NaN if it is undefined.
    distance
        Its distance from the ideal.
    p_value
        Its p-value; None if it has none.
    above_floor
        Distance above its own floor, in standard deviations of the floor; None without a floor.
    """

    value: float
    distance: float
    p_value: float | None
    above_floor: float | None


@dataclass(frozen=True, eq=False)
class Instrument:
    """A score of a metric, with the inputs that a task gives it and the vectors of a model.

    Parameters
    ----------
    metric, score
        The metric, and the name of its score.
    options
        Options that the task sets.
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
        return self.read_floor(self.inputs, np.random.default_rng(0)).p_value is not None

    def read(self, inputs: MetricInputs, rng: np.random.Generator) -> Reading:
        """Return what the score shows on inputs, without its own floor where that is for free."""
        return self.read_floor(inputs, rng, CHEAPER if self.has_p_values else WITHOUT_FLOOR)

    def read_floor(
        self,
        inputs: MetricInputs,
        rng: np.random.Generator,
        options: Mapping[str, Any] = CHEAPER,
    ) -> Reading:
        """Return what the score shows on inputs, also above its own floor."""
        metric = self.metric
        cheaper = {name: value for name, value in options.items() if name in metric.options}
        try:
            score = metric.measure(
                inputs.arrays,
                dict(self.options) | cheaper,
                rng=rng,
                clusters=inputs.clusters,
                texts=inputs.texts,
            )[self.score]
        except HarnessError:  # such as sets that are too small to be scored
            return Reading(math.nan, math.nan, None, None)
        scale = metric.scores[self.score]
        value = float(score.value) if math.isfinite(score.value) else math.nan
        distance = loss(value, scale.ideal, score.bounds or scale.bounds)
        floor, above = floor_of(score, scale.ideal), None
        if floor is not None and floor.sd > 0:
            above = (distance - floor.mean) / floor.sd
        return Reading(value, distance, score.p_value, above)


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
    return MetricInputs(inputs.arrays, clusters, inputs.texts)


def with_arrays(inputs: MetricInputs, arrays: Mapping[str, Any]) -> MetricInputs:
    """Return inputs with other arrays of the same rows."""
    return MetricInputs({**inputs.arrays, **arrays}, inputs.clusters, inputs.texts)


def with_rows(inputs: MetricInputs, rows: Mapping[str, Rows]) -> MetricInputs:
    """Return some rows of inputs; an input that is not named keeps all."""
    chosen = {name: rows.get(name, np.arange(len(array))) for name, array in inputs.arrays.items()}
    return MetricInputs(
        arrays={name: inputs.arrays[name][chosen[name]] for name in chosen},
        clusters={name: inputs.clusters[name][chosen[name]] for name in chosen},
        texts={
            name: tuple(texts[row] for row in chosen[name]) if texts else ()
            for name, texts in inputs.texts.items()
        },
    )


def mean_distance(readings: Sequence[Reading]) -> tuple[float, float] | None:
    """Return the mean and the standard deviation of the distances; None if all are undefined."""
    distances: Floats = np.array([reading.distance for reading in readings])
    distances = distances[np.isfinite(distances)]
    return (float(distances.mean()), float(distances.std())) if len(distances) else None


# Plants a known bias. The bias of the texts themselves is taken out first, so that amplitude 0 has
# none. Then each text of a side is moved along the direction::
#
#     cos(x, g) ← cos(x, g) − (bias of its side) + amplitude · gap · side,  side = ±1
#
# so that at amplitude 1 two sides are, on average, as far apart along g as the groups themselves.
# The differences between the texts of a side stay, as do all lengths. Where a contrast has parts,
# such as several tests, each is a contrast of its own.


AMPLITUDES = (0.0, 0.25, 0.5, 1.0)
"""Amplitudes that every metric is tried on, in units of the gap between the groups."""
LARGEST = 0.999
"""Largest cosine with the direction that a text is moved to."""


def moved(vectors: Reals, along: Direction, cosines: Floats) -> Floats:
    """Return vectors of the same length, (n, d), with other cosines, (n,), with a direction."""
    units = unit_rows(vectors)
    rest = unit_rows(units - along.cosines(vectors)[:, None] * along.vector)
    cosines = np.clip(cosines, -LARGEST, LARGEST)
    turned = cosines[:, None] * along.vector + np.sqrt(1 - cosines**2)[:, None] * rest
    lengths: Floats = np.linalg.norm(np.asarray(vectors, dtype=np.float64), axis=1, keepdims=True)
    return turned * lengths


def planted(arrays: Mapping[str, Reals], contrast: Contrast, amplitude: float) -> dict[str, Reals]:
    """Return the arrays of a metric with a bias of a chosen amplitude in its sides, and no other.

    Parameters
    ----------
    arrays
        Array of each input, by name; no row of NaN.
    contrast
        Which inputs are moved, and along what.
    amplitude
        In units of the gap between the groups; 0 for no bias, negative for the other way round.
    """
    return shifted(unbiased(arrays, contrast), contrast, amplitude)


def unbiased(arrays: Mapping[str, Reals], contrast: Contrast) -> dict[str, Reals]:
    """Return the arrays of a metric without the bias of their sides; parameters as in `planted`.

    Two sides get the middle between them as mean cosine: an offset that both share is no bias. A
    single side gets the mean cosine 0, so that both groups are as near. With labels, the part of
    the cosines that follows the labels is removed; if they are categorical, each group gets the
    mean of all. `Contrast.within` says that this is the slope among items of the same number.
    """
    if contrast.parts:
        return _by_part(arrays, contrast, unbiased)
    sides = _cosines(arrays, contrast)
    if contrast.labels is None:
        middle = float(np.mean([c.mean() for c in sides.values()])) if len(sides) > 1 else 0.0
        return _with_cosines(
            arrays, contrast, {name: c - c.mean() + middle for name, c in sides.items()}
        )
    without: dict[str, Floats] = {}
    for name, cosines in sides.items():
        if contrast.categorical:
            of_groups = means_of_groups(cosines, arrays[contrast.labels])
            without[name] = cosines - of_groups + cosines.mean()
        else:
            labels = _placed(arrays, contrast)
            slope = _slope(cosines, labels, arrays, contrast)
            without[name] = cosines - slope * labels
    return _with_cosines(arrays, contrast, without)


def shifted(arrays: Mapping[str, Reals], contrast: Contrast, amplitude: float) -> dict[str, Reals]:
    """Return the arrays of a metric with a bias added to their own; parameters as in `planted`."""
    if contrast.parts:
        return _by_part(arrays, contrast, lambda own, whole: shifted(own, whole, amplitude))
    sides = _cosines(arrays, contrast)
    shift = amplitude * direction_of(arrays, contrast).gap
    if contrast.labels is not None:
        amounts = [shift * _placed(arrays, contrast)] * len(sides)
    else:
        amounts = [np.array(side * shift) for side in (1, -1)[: len(sides)]]
    new = {name: c + amount for (name, c), amount in zip(sides.items(), amounts, strict=True)}
    return _with_cosines(arrays, contrast, new)


def amplitude_of(arrays: Mapping[str, Reals], contrast: Contrast) -> float:
    """Return the amplitude of the bias that arrays have of their own; parameters as in `planted`.

    With labels, it is the slope of the cosines over labels from 1 to −1; if they are categorical,
    the standard deviation of the groups in units of what amplitude 1 gives, without a sign. Of
    several parts it is the mean.
    """
    if contrast.parts:
        whole = dataclasses.replace(contrast, parts=())
        amplitudes = [amplitude_of(of_part, whole) for of_part, _ in _parts(arrays, contrast)]
        return float(np.mean(amplitudes))
    gap = direction_of(arrays, contrast).gap
    sides = list(_cosines(arrays, contrast).values())
    if contrast.labels is not None:
        labels = _placed(arrays, contrast)
        if contrast.categorical:
            spread = means_of_groups(sides[0], arrays[contrast.labels]).std()
            return float(spread / max(labels.std(), 1e-300) / gap)
        return _slope(np.mean(sides, axis=0), labels, arrays, contrast) / gap
    if len(sides) == 1:
        return float(sides[0].mean()) / gap
    return float(sides[0].mean() - sides[1].mean()) / 2 / gap


def _by_part(
    arrays: Mapping[str, Reals],
    contrast: Contrast,
    change: Callable[[Mapping[str, Reals], Contrast], Mapping[str, Reals]],
) -> dict[str, Reals]:
    """Return the arrays with the sides of each part changed by themselves."""
    changed = dict(arrays) | {
        name: np.array(arrays[name], dtype=np.float64) for name in contrast.sides
    }
    whole = dataclasses.replace(contrast, parts=())
    for of_part, rows in _parts(arrays, contrast):
        result = change(of_part, whole)
        for name in contrast.sides:
            changed[name][rows[name]] = result[name]
    return changed


def _parts(
    arrays: Mapping[str, Reals], contrast: Contrast
) -> Iterator[tuple[dict[str, Reals], dict[str, Mask]]]:
    """Yield the sides and groups of each part, and their rows; without numbers all are one."""
    names = (*contrast.sides, *contrast.towards)
    numbers = {
        name: np.asarray(arrays.get(part, np.zeros(len(arrays[name]))))
        for name, part in zip(names, contrast.parts, strict=True)
    }
    for number in np.unique(np.concatenate(list(numbers.values()))):
        rows = {name: of == number for name, of in numbers.items()}
        yield {name: arrays[name][rows[name]] for name in names}, rows


def _cosines(arrays: Mapping[str, Reals], contrast: Contrast) -> dict[str, Floats]:
    """Return the cosines of each side with the direction between the groups.

    A side that a task leaves out, which a metric may allow, is no side.
    """
    along = direction_of(arrays, contrast)
    return {name: along.cosines(arrays[name]) for name in contrast.sides if name in arrays}


def _with_cosines(
    arrays: Mapping[str, Reals], contrast: Contrast, cosines: Mapping[str, Floats]
) -> dict[str, Reals]:
    along = direction_of(arrays, contrast)
    return dict(arrays) | {name: moved(arrays[name], along, c) for name, c in cosines.items()}


def _placed(arrays: Mapping[str, Reals], contrast: Contrast) -> Floats:
    """Return how far each item is moved by its label, from 1 to −1."""
    numbers = arrays[contrast.labels or ""]
    if contrast.categorical:
        numbers = np.unique(numbers, return_inverse=True)[1].astype(np.float64)
    placed = _from_1_to_minus_1(numbers)
    return -placed if len(contrast.towards) == 1 else placed


def _slope(
    cosines: Floats, labels: Floats, arrays: Mapping[str, Reals], contrast: Contrast
) -> float:
    """Return the slope of cosines over labels, among items of the same number if there are any."""
    if contrast.within is not None:
        labels = labels - means_of_groups(labels, arrays[contrast.within])
    return float(labels @ cosines) / max(float(labels @ labels), 1e-300)


def _from_1_to_minus_1(numbers: Reals) -> Floats:
    """Return labels turned round and centred, the largest with |1|; zeros if all are equal."""
    labels: Floats = np.asarray(numbers, dtype=np.float64)
    centred: Floats = labels.mean() - labels
    largest = float(np.abs(centred).max())
    return centred / largest if largest > 0 else centred


# Changed inputs of a metric: noise, shuffled sides, halves of the words, and so on.


def noise_like(inputs: MetricInputs, dimensions: int, rng: np.random.Generator) -> MetricInputs:
    """Return inputs with a random vector for each distinct text."""
    texts = dict.fromkeys(itertools.chain.from_iterable(inputs.texts.values()))
    vectors = rng.standard_normal((len(texts), dimensions))
    row = {text: i for i, text in enumerate(texts)}
    return with_arrays(
        inputs,
        {name: vectors[[row[text] for text in of]] for name, of in inputs.texts.items() if of},
    )


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
    groups = instrument.groups
    if contrast.labels is not None:
        return _permuted_labels(inputs, contrast.sides[0], contrast.labels, contrast.within, rng)
    if len(contrast.sides) == 1:
        return _mirrored(inputs, contrast, rng)
    first, second = contrast.sides
    if groups[first] == groups[second]:
        return _swapped(inputs, first, second, rng)
    if any(
        groups[name] in (groups[first], groups[second])
        and name not in (*contrast.sides, *contrast.parts)
        for name in groups
    ):
        raise NotApplicable("the items of a side belong to another input, too")
    numbers = tuple(name for name in contrast.parts[:2] if name in inputs.arrays)
    return _exchanged(inputs, first, second, numbers, rng)


def halves(
    instrument: Instrument, inputs: MetricInputs, rng: np.random.Generator
) -> tuple[MetricInputs, MetricInputs]:
    """Return both halves of inputs: each set of words, pairs or texts is cut in two at random.

    What is alone in its set, such as a pair that gives a direction, is in both.
    """
    first: dict[str, Rows] = {}
    second: dict[str, Rows] = {}
    of_group: dict[str, Any] = {}
    for name, group in instrument.groups.items():
        clusters = inputs.clusters[name]
        if group not in of_group:
            codes = rng.permutation(np.unique(clusters))
            more = int(rng.random() < len(codes) % 2 / 2)
            of_group[group] = codes[: len(codes) // 2 + more] if len(codes) > 1 else None
        if of_group[group] is None:
            continue
        inside = np.isin(clusters, of_group[group])
        first[name], second[name] = np.flatnonzero(inside), np.flatnonzero(~inside)
    return with_rows(inputs, first), with_rows(inputs, second)


def contrast_words(instrument: Instrument, contrast: Contrast) -> list[tuple[str, int]]:
    """Return the words, pairs or texts of the sides: the group of inputs and the cluster code."""
    inputs, groups = instrument.inputs, instrument.groups
    of_sides: list[tuple[str, int]] = []
    for group in dict.fromkeys(groups[side] for side in contrast.sides):
        first = next(name for name in groups if groups[name] == group)
        of_sides += [(group, int(code)) for code in np.unique(inputs.clusters[first])]
    return of_sides


def without_one(instrument: Instrument, word: tuple[str, int]) -> MetricInputs:
    """Return the inputs without one of `words`."""
    inputs, (group, code) = instrument.inputs, word
    members = [name for name, of_name in instrument.groups.items() if of_name == group]
    kept = {name: np.flatnonzero(inputs.clusters[name] != code) for name in members}
    return with_rows(inputs, kept)


def _permuted_labels(
    inputs: MetricInputs, side: str, labels: str, within: str | None, rng: np.random.Generator
) -> MetricInputs:
    numbers, clusters = inputs.arrays[labels], inputs.clusters[side]
    if within is not None:  # copies of a text are as good as texts of their own
        classes = np.unique(inputs.arrays[within], return_inverse=True)[1]
        (order,) = nulls.exchanged_within(classes, rng=rng, draws=1)
        return with_arrays(inputs, {labels: numbers[order]})
    _, first, unit = np.unique(clusters, return_index=True, return_inverse=True)
    if len(first) == len(numbers):
        return with_arrays(inputs, {labels: rng.permutation(numbers)})
    return with_arrays(inputs, {labels: rng.permutation(numbers[first])[unit]})


def _mirrored(inputs: MetricInputs, contrast: Contrast, rng: np.random.Generator) -> MetricInputs:
    (side,) = contrast.sides
    along = direction_of(inputs.arrays, contrast)
    _, unit = np.unique(inputs.clusters[side], return_inverse=True)
    signs = rng.choice([-1.0, 1.0], size=int(unit.max()) + 1)[unit]
    cosines = along.cosines(inputs.arrays[side])
    vectors: Reals = moved(inputs.arrays[side], along, signs * cosines)
    return with_arrays(inputs, {side: vectors})


def _swapped(
    inputs: MetricInputs, first: str, second: str, rng: np.random.Generator
) -> MetricInputs:
    _, unit = np.unique(inputs.clusters[first], return_inverse=True)
    swap = (rng.random(int(unit.max()) + 1) < 0.5)[unit]
    arrays, texts = dict(inputs.arrays), dict(inputs.texts)
    for name, other in ((first, second), (second, first)):
        arrays[name] = np.where(swap[:, None], inputs.arrays[other], inputs.arrays[name])
        texts[name] = tuple(
            (inputs.texts[other] if swap[row] else inputs.texts[name])[row]
            for row in range(len(swap))
        )
    return MetricInputs(arrays, inputs.clusters, texts)


def _exchanged(
    inputs: MetricInputs,
    first: str,
    second: str,
    numbers: tuple[str, ...],
    rng: np.random.Generator,
) -> MetricInputs:
    codes_1, codes_2 = inputs.clusters[first], inputs.clusters[second]
    # the same code in both sets means two different clusters
    codes = np.concatenate([codes_1, codes_2 + int(codes_1.max(initial=0)) + 1])
    units = rng.permutation(np.unique(codes))
    in_first = np.isin(codes, units[: len(np.unique(codes_1))])
    arrays, clusters = dict(inputs.arrays), dict(inputs.clusters)
    texts = dict(inputs.texts)
    pooled = np.concatenate([inputs.arrays[first], inputs.arrays[second]])
    pooled_texts = (*inputs.texts[first], *inputs.texts[second])
    for name, mask in ((first, in_first), (second, ~in_first)):
        arrays[name], clusters[name] = pooled[mask], codes[mask]
        texts[name] = tuple(itertools.compress(pooled_texts, mask))
    if numbers:
        of_items = np.concatenate([inputs.arrays[name] for name in numbers])
        for name, mask in zip(numbers, (in_first, ~in_first), strict=True):
            arrays[name], clusters[name] = of_items[mask], codes[mask]
    return MetricInputs(arrays, clusters, texts)


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
    """Number of draws of each check.

    Parameters
    ----------
    noise
        Sets of random vectors, for each number of dimensions.
    shuffled
        Shuffled sides: the standard error of a share of .05 is .018 with 150.
    power
        Draws for each amplitude.
    halves
        Models of a random amplitude whose halves are compared, for each split.
    words
        Largest number of words that are left out, each alone.
    """

    noise: int = 30
    shuffled: int = 150
    power: int = 40
    halves: int = 40
    words: int = 40


def check(instrument: Instrument, *, seed: int, draws: Draws | None = None) -> dict[str, Any]:
    """Return the figures of `harness.task.validity.Validity` that are measured here, by name."""
    checks = _Checks(instrument, seed, draws or Draws())
    figures = checks.without_contrast()
    contrast = instrument.contrast
    reason = "" if contrast else "the metric states no contrast: no bias can be planted"
    if contrast:
        try:
            figures |= checks.of_contrast(contrast)
        except HarnessError as error:
            reason = str(error)
    return figures | {"missing": (reason,) if reason else ()}


class _Checks:
    """The checks of one instrument; parameters as those of `check`."""

    def __init__(self, instrument: Instrument, seed: int, draws: Draws) -> None:
        self.instrument, self.seed, self.draws = instrument, seed, draws
        self.inputs = instrument.inputs

    def without_contrast(self) -> dict[str, Any]:
        """Return the figures that need no planted bias."""
        read, rng = self.instrument.read, self._rng("without contrast")
        noise: dict[str, float | None] = {}
        for d in NOISE:
            readings = [
                self.instrument.read_floor(noise_like(self.inputs, d, rng), rng)
                for _ in range(self.draws.noise)
            ]
            above = [r.above_floor for r in readings if r.above_floor is not None]
            noise[str(d)] = float(np.mean(above)) if above else None
        return {"value": _finite(read(self.inputs, rng).value), "noise": noise}

    def of_contrast(self, contrast: Contrast) -> dict[str, Any]:
        """Return the figures of planted bias and of shuffled sides."""
        instrument, read = self.instrument, self.instrument.read
        rng = self._rng("contrast")
        fair = with_arrays(self.inputs, unbiased(self.inputs.arrays, contrast))
        if contrast.within is not None or contrast.any_direction:
            fair = shuffled_sides(instrument, fair, contrast, rng)
        figures: dict[str, Any] = {
            "own": amplitude_of(self.inputs.arrays, contrast),
            "planted": {
                f"{amplitude:g}": _finite(read(_shifted(fair, contrast, amplitude), rng).value)
                for amplitude in (*(-a for a in reversed(AMPLITUDES[1:])), *AMPLITUDES)
            },
        }
        words = contrast_words(instrument, contrast)
        if len(words) > self.draws.words:
            words = [words[i] for i in rng.choice(len(words), self.draws.words, replace=False)]
        figures["without_one"] = _range(
            [read(without_one(instrument, word), rng) for word in words]
        )

        def drawn(amplitude: float) -> MetricInputs:
            shuffled = shuffled_sides(instrument, fair, contrast, rng)
            return _shifted(shuffled, contrast, amplitude)

        readings = [read(drawn(0), rng) for _ in range(self.draws.shuffled)]
        floor = mean_distance(readings)
        figures["floor"], figures["spread"] = floor or (None, None)
        tested = [reading.p_value for reading in readings if reading.p_value is not None]
        if len(tested) >= FEWEST:
            figures["rejected"] = float(np.mean(np.array(tested) <= LEVEL))
        farthest = _quantile([reading.distance for reading in readings])
        figures["detectable"] = detectable(
            lambda amplitude: _share_found(
                [read(drawn(amplitude), rng) for _ in range(self.draws.power)], farthest
            )
        )
        figures["reliability"] = reliability([self._halves(drawn, i) for i in range(SPLITS)])
        return figures

    def _halves(self, drawn: Callable[[float], MetricInputs], split: int) -> Floats:
        """Return the scores of both halves of the words, (n, 2), for n models of different bias.

        What is not shuffled is cut in the same way for all: the choice of a half that moves all
        models alike changes no order.
        """
        rng, scores = self._rng(f"split {split}"), []
        for _ in range(self.draws.halves):
            inputs = drawn(rng.random())
            both = halves(self.instrument, inputs, self._rng(f"cut {split}"))
            scores.append([self.instrument.read(half, rng).value for half in both])
        return np.reshape(scores, (-1, 2))

    def _rng(self, purpose: str) -> np.random.Generator:
        return random_generator(self.seed, "validity", purpose, self.instrument.metric.name)


def detectable(share_seen: Callable[[float], float | None]) -> float | None:
    """Return the smallest of `STEPS` that is found in 80 % of draws; None if none is.

    Found by halving: it takes more bias to be seen less often only by chance.
    """
    low, high = 0, len(STEPS)
    while low < high:
        middle = (low + high) // 2
        share = share_seen(STEPS[middle])
        if share is not None and share >= POWER:
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


def _shifted(inputs: MetricInputs, contrast: Contrast, amplitude: float) -> MetricInputs:
    return with_arrays(inputs, shifted(inputs.arrays, contrast, amplitude))


def _share_found(readings: Sequence[Reading], farthest: float) -> float | None:
    """Return in what share of readings a bias is found; None if too few have a value."""
    defined = [reading.distance for reading in readings if math.isfinite(reading.value)]
    if len(defined) < FEWEST:
        return None
    return float(np.mean(np.array(defined) > farthest))


def _quantile(distances: Sequence[float]) -> float:
    defined = [distance for distance in distances if math.isfinite(distance)]
    return float(np.quantile(defined, 1 - LEVEL)) if defined else math.inf


def _range(readings: Sequence[Reading]) -> tuple[float, float] | None:
    values = [reading.value for reading in readings if math.isfinite(reading.value)]
    return (min(values), max(values)) if values else None


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
    """Return why a score should not rank, a short line each.

    Parameters
    ----------
    figures
        The figures of `harness.task.validity.Validity`, by name.
    scale
        Scale of the score.
    """
    failed = []
    if figures.get("planted"):
        failed += _sensitivity(figures, scale)
    reliability = figures.get("reliability")
    if reliability is not None and reliability < RELIABILITY:
        failed.append(f"reliability {reliability:.2f}, below {RELIABILITY:g}")
    above = [value for value in figures.get("noise", {}).values() if value is not None]
    if above and sum(above) / len(above) > ABOVE_NOISE:
        mean = sum(above) / len(above)
        failed.append(f"random vectors stand {mean:.1f} SD above the floor")
    return tuple(failed)


def _sensitivity(figures: Mapping[str, Any], scale: Scale) -> list[str]:
    planted = {float(key): value for key, value in figures["planted"].items()}
    if any(value is None for value in planted.values()):
        return ["has no value where bias is planted"]
    failed = []
    values = [planted[a] for a in sorted(planted)]
    away = {a: loss(value, scale.ideal, scale.bounds) for a, value in planted.items()}
    sides = [[away[side * a if a else a] for a in AMPLITUDES] for side in (1, -1)]
    step = 1e-6 * max(away.values(), default=1.0)
    if any(side[-1] - side[0] <= step for side in sides):
        failed.append("does not move with planted bias, or to one side only")
    elif not (_is_monotone(values, step) or all(_rises(side, step) for side in sides)):
        failed.append("not monotone in planted bias")
    floor, spread = figures.get("floor"), figures.get("spread")
    if floor is not None and spread is not None and away[0.0] > floor + ABOVE_FAIR * spread:
        failed.append(f"shows {planted[0.0]:.3f} where there is no bias")
    if figures.get("detectable") is None:
        failed.append(f"planted bias of amplitude 1 is found in less than {POWER:.0%} of draws")
    return failed


def _rises(values: Sequence[float], step: float) -> bool:
    return all(b >= a - step for a, b in itertools.pairwise(values))


def _is_monotone(values: Sequence[float], step: float) -> bool:
    return _rises(values, step) or _rises(values[::-1], step)
