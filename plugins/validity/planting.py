"""Plants a known bias in vectors, so that a metric can be asked whether it sees it.

The bias of the texts themselves is taken out first, so that amplitude 0 has none. Then each text
of a side is moved along the direction between the two groups::

    g = (m₁ − m₂) / ‖m₁ − m₂‖,  with the mean unit vectors m₁, m₂ of the groups
    cos(x, g) ← cos(x, g) − (bias of its side) + amplitude · gap · side,  side = ±1
    gap = ‖m₁ − m₂‖ / 2

so that at amplitude 1 the two sides are, on average, as far apart along g as the groups
themselves. The differences between the texts of a side stay, as do all lengths.

Where each text is moved towards a row y of its own, g = (y − mean of all y) / ‖y − mean of all y‖
of unit vectors, and the gap is the mean of these distances.

Where each text has two versions of its own (`Contrast.paired`), it is moved along the direction
between them, and the gap is the standard deviation of cos(x, g) over the texts: what tells their
choices apart. What is ranked for a row of its own (`Contrast.rankings`) is moved towards that row,
and the gap is the standard deviation of cos(x, g) in a ranking.

Where a contrast has parts, such as several tests, each is a contrast of its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from harness.arrays import Floats, Mask, Reals, Vectors, has_direction, unit_rows
from harness.digest import digest
from harness.embedder import Embedder, ModelInfo
from harness.metrics import Contrast
from harness.plugins.validity import directions

AMPLITUDES = (0.0, 0.25, 0.5, 1.0)
"""Amplitudes that every metric is tried on, in units of the gap between the groups."""
LARGEST = 0.999
"""Largest cosine with the direction that a text is moved to."""


def moved(vectors: Reals, along: directions.Direction, cosines: Floats) -> Floats:
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
            of_groups = directions.means_of_groups(cosines, arrays[contrast.labels])
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
    shift = amplitude * directions.direction_of(arrays, contrast).gap
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
    gap = directions.direction_of(arrays, contrast).gap
    sides = list(_cosines(arrays, contrast).values())
    if contrast.labels is not None:
        labels = _placed(arrays, contrast)
        if contrast.categorical:
            spread = directions.means_of_groups(sides[0], arrays[contrast.labels]).std()
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
    along = directions.direction_of(arrays, contrast)
    return {name: along.cosines(arrays[name]) for name in contrast.sides if name in arrays}


def _with_cosines(
    arrays: Mapping[str, Reals], contrast: Contrast, cosines: Mapping[str, Floats]
) -> dict[str, Reals]:
    along = directions.direction_of(arrays, contrast)
    return dict(arrays) | {name: moved(arrays[name], along, c) for name, c in cosines.items()}


class PlantedModel:
    """A model whose vectors of some texts are replaced, such as by planted ones.

    Parameters
    ----------
    embedder
        The model.
    vectors
        Vector of each replaced text.
    name
        Its name in records.
    """

    def __init__(self, embedder: Embedder, vectors: Mapping[str, Reals], name: str) -> None:
        self.embedder = embedder
        self.replaced = {text: np.asarray(row, np.float32) for text, row in vectors.items()}
        content = [[text, row.tobytes().hex()] for text, row in sorted(self.replaced.items())]
        fingerprint = digest(["planted", embedder.info.fingerprint, content])
        kind, dimensions = embedder.info.kind, embedder.info.dimensions
        self.info = ModelInfo(name=name, kind=kind, dimensions=dimensions, fingerprint=fingerprint)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the (n, d) vectors of texts: the replaced ones, and else the model's own."""
        vectors = np.array(self.embedder.encode(texts), dtype=np.float32)
        for row, text in enumerate(texts):
            if text in self.replaced:
                vectors[row] = self.replaced[text]
        return vectors


def planted_model(
    embedder: Embedder,
    *,
    groups: tuple[Sequence[str], Sequence[str]],
    sides: tuple[Sequence[str], Sequence[str]],
    amplitude: float,
    name: str = "",
) -> PlantedModel:
    """Return a model with a bias of a chosen amplitude in the texts of two sides.

    Parameters
    ----------
    embedder
        The model.
    groups
        Texts of the two groups. They keep their vectors.
    sides
        Texts that are moved towards the first group, and towards the second. Texts without a
        vector are left out.
    amplitude
        In units of the gap between the groups.
    name
        Name of the model in records; by default the amplitude after the model's own name.
    """
    inputs = ("side_1", "side_2", "group_1", "group_2")
    texts = dict(zip(inputs, map(_distinct, (*sides, *groups)), strict=True))
    arrays: dict[str, Reals] = {}
    for key in inputs:
        vectors = embedder.encode(texts[key])
        usable = has_direction(vectors)
        texts[key] = [text for text, known in zip(texts[key], usable, strict=True) if known]
        arrays[key] = vectors[usable]
    contrast = Contrast(sides=("side_1", "side_2"), towards=("group_1", "group_2"))
    moved_arrays = planted(arrays, contrast, amplitude)
    vectors_of = {
        text: row
        for key in contrast.sides
        for text, row in zip(texts[key], moved_arrays[key], strict=True)
    }
    return PlantedModel(embedder, vectors_of, name or f"{embedder.info.name}-{amplitude:g}")


def _distinct(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(texts))


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
        labels = labels - directions.means_of_groups(labels, arrays[contrast.within])
    return float(labels @ cosines) / max(float(labels @ labels), 1e-300)


def _from_1_to_minus_1(numbers: Reals) -> Floats:
    """Return labels turned round and centred, the largest with |1|; zeros if all are equal."""
    labels: Floats = np.asarray(numbers, dtype=np.float64)
    centred: Floats = labels.mean() - labels
    largest = float(np.abs(centred).max())
    return centred / largest if largest > 0 else centred
