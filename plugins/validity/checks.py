"""The checks of an instrument: noise, planted bias, shuffled sides, constants, halves of words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.arrays import Floats
from harness.errors import HarnessError
from harness.metrics import Contrast
from harness.plugins.validity import changes, planting
from harness.plugins.validity.instrument import Instrument, Reading, mean_distance, with_arrays
from harness.run.metric_inputs import MetricInputs
from harness.run.scoring import random_generator

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
    templates
        Random halves of the templates.
    words
        Largest number of words that are left out, each alone.
    """

    noise: int = 30
    shuffled: int = 150
    power: int = 40
    halves: int = 40
    templates: int = 20
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
                self.instrument.read_floor(changes.noise(self.inputs, d, rng), rng)
                for _ in range(self.draws.noise)
            ]
            above = [r.above_floor for r in readings if r.above_floor is not None]
            noise[str(d)] = float(np.mean(above)) if above else None
        numbers = changes.templates(self.inputs)
        redrawn = [
            read(changes.redrawn_templates(self.instrument, numbers, rng), rng)
            for _ in range(self.draws.templates if numbers else 0)
        ]
        return {
            "value": _finite(read(self.inputs, rng).value),
            "noise": noise,
            "constant": _finite(read(changes.constant(self.inputs, rng), rng).value),
            "templates": _range(redrawn),
        }

    def of_contrast(self, contrast: Contrast) -> dict[str, Any]:
        """Return the figures of planted bias and of shuffled sides."""
        instrument, read = self.instrument, self.instrument.read
        rng = self._rng("contrast")
        fair = with_arrays(self.inputs, planting.unbiased(self.inputs.arrays, contrast))
        if contrast.within is not None:
            fair = changes.shuffled(instrument, fair, contrast, rng)
        figures: dict[str, Any] = {
            "own": planting.amplitude_of(self.inputs.arrays, contrast),
            "planted": {
                f"{amplitude:g}": _finite(read(_shifted(fair, contrast, amplitude), rng).value)
                for amplitude in (-a for a in reversed(planting.AMPLITUDES[1:]))
            }
            | {
                f"{amplitude:g}": _finite(read(_shifted(fair, contrast, amplitude), rng).value)
                for amplitude in planting.AMPLITUDES
            },
        }
        words = changes.words(instrument, contrast)
        if len(words) > self.draws.words:
            words = [words[i] for i in rng.choice(len(words), self.draws.words, replace=False)]
        figures["without_one"] = _range(
            [read(changes.without_one(instrument, word), rng) for word in words]
        )

        def drawn(amplitude: float) -> MetricInputs:
            shuffled = changes.shuffled(instrument, fair, contrast, rng)
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
            both = changes.halves(self.instrument, inputs, self._rng(f"cut {split}"))
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
    return with_arrays(inputs, planting.shifted(inputs.arrays, contrast, amplitude))


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
