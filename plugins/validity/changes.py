"""Changed inputs of a metric: noise, shuffled sides, halves of the words, and so on."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from harness.arrays import Reals
from harness.errors import NotApplicable
from harness.metrics import Contrast
from harness.plugins.metrics.statistics import nulls
from harness.plugins.validity import directions, planting
from harness.plugins.validity.instrument import Instrument, Rows, with_arrays, with_rows
from harness.run.metric_inputs import MetricInputs


def noise(inputs: MetricInputs, dimensions: int, rng: np.random.Generator) -> MetricInputs:
    """Return inputs with a random vector for each distinct text."""
    texts = dict.fromkeys(itertools.chain.from_iterable(inputs.texts.values()))
    vectors = rng.standard_normal((len(texts), dimensions))
    row = {text: i for i, text in enumerate(texts)}
    return with_arrays(
        inputs,
        {name: vectors[[row[text] for text in of]] for name, of in inputs.texts.items() if of},
    )


def constant(inputs: MetricInputs, rng: np.random.Generator) -> MetricInputs:
    """Return inputs with one vector for all texts."""
    vectors = {name: inputs.arrays[name] for name, of in inputs.texts.items() if of}
    vector = rng.standard_normal(next(iter(vectors.values())).shape[1])
    return with_arrays(
        inputs, {name: np.tile(vector, (len(array), 1)) for name, array in vectors.items()}
    )


def shuffled(
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


def words(instrument: Instrument, contrast: Contrast) -> list[tuple[str, int]]:
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


def templates(inputs: MetricInputs) -> dict[str, int]:
    """Return the number of rows that each input makes of a word, where it is the same for all."""
    numbers = {}
    for name, clusters in inputs.clusters.items():
        sizes = np.unique(clusters, return_counts=True)[1]
        if len(sizes) and sizes.min() == sizes.max() > 1:
            numbers[name] = int(sizes[0])
    return numbers


def redrawn_templates(
    instrument: Instrument, numbers: Mapping[str, int], rng: np.random.Generator
) -> MetricInputs:
    """Return inputs with a random half of the templates of each word set."""
    inputs = instrument.inputs
    rows: dict[str, Rows] = {}
    of_group: dict[str, Any] = {}
    for name, number in numbers.items():
        group = instrument.groups[name]
        if group not in of_group:
            of_group[group] = rng.permutation(number)[: (number + 1) // 2]
        clusters = inputs.clusters[name]
        order = np.argsort(clusters, kind="stable")  # the texts of a word, in order of template
        place = np.empty(len(clusters), dtype=np.intp)
        place[order] = np.tile(np.arange(number), len(clusters) // number)
        rows[name] = np.flatnonzero(np.isin(place, of_group[group]))
    return with_rows(inputs, rows)


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
    along = directions.direction_of(inputs.arrays, contrast)
    _, unit = np.unique(inputs.clusters[side], return_inverse=True)
    signs = rng.choice([-1.0, 1.0], size=int(unit.max()) + 1)[unit]
    cosines = along.cosines(inputs.arrays[side])
    vectors: Reals = planting.moved(inputs.arrays[side], along, signs * cosines)
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
