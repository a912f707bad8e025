"""What a study asks of metrics: every call, with the places of its texts among all texts.

Laid out once for a model; a fold picks its held-out pairs out of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats
from harness.errors import NotApplicable
from harness.study.study import Study
from harness.task.inputs import Input

Way = Literal["mitigated", "probe", "original"]
"""What texts go through: the mitigator; the mitigator, but as they are written; nothing."""
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """What a metric is given for one of its inputs.

    Parameters
    ----------
    way
        What the texts go through.
    positions
        (n,) places of the texts among all of that way; of numbers, empty.
    codes
        (n,) code of the item that each is made of.
    held_out
        Whether the items are the pairs that are dealt out.
    numbers
        (n,) numbers in place of texts.
    """

    way: Way
    positions: npt.NDArray[np.intp]
    codes: Codes
    held_out: bool
    numbers: Floats | None

    def of(self, items: Codes) -> Part:
        """Return the part with the items held out, if it is made of them."""
        if not self.held_out:
            return self
        kept = np.isin(self.codes, items)
        numbers = None if self.numbers is None else self.numbers[kept]
        return dataclasses.replace(
            self,
            positions=self.positions[kept] if self.numbers is None else self.positions,
            codes=self.codes[kept],
            numbers=numbers,
        )


@dataclass(frozen=True)
class Call:
    """A metric on the inputs of one scenario."""

    measure: int
    scenario: str
    options: Mapping[str, Any]
    parts: Mapping[str, Part]


def laid_out(
    study: Study, model: str, items: tuple[int, ...], lacking: frozenset[str]
) -> tuple[dict[Way, tuple[str, ...]], tuple[Call, ...]]:
    """Return all texts by what they go through, each once, and all calls.

    Parameters
    ----------
    study
        The study.
    model
        Name of the model, for errors.
    items
        Which of the study's pairs the model has.
    lacking
        Texts that it has no vector of.

    Raises
    ------
    NotApplicable
        If the model lacks more of an input than the study allows.
    """
    known: dict[Way, dict[str, int]] = {"mitigated": {}, "probe": {}, "original": {}}
    calls = []
    for number, measure in enumerate(study.measures):
        for scenario in measure.task.scenarios:
            held_out = measure.held_out[scenario.name]
            for one in scenario.measurements:
                kept = _kept(one.inputs, held_out, lacking, items)
                for given in one.inputs.values():
                    lost = 1 - float(kept[given.group].mean())
                    if given.name not in held_out and (lost > study.file.max_missing or lost == 1):
                        raise NotApplicable(
                            f"'{model}' lacks {lost:.0%} of '{given.name}' of scenario "
                            f"'{scenario.name}', more than the {study.file.max_missing:.0%} that "
                            "the study allows (max_missing)"
                        )
                parts = {
                    name: _part(given, kept[given.group], given.name in held_out, known)
                    for name, given in one.inputs.items()
                }
                options = one.metric.options | dict(one.options)
                calls.append(Call(number, scenario.name, options, parts))
    return {way: tuple(texts) for way, texts in known.items()}, tuple(calls)


def _kept(
    inputs: Mapping[str, Input],
    held_out: frozenset[str],
    lacking: frozenset[str],
    items: tuple[int, ...],
) -> dict[str, npt.NDArray[np.bool_]]:
    """Return by group which rows there are: aligned inputs lose a row together."""
    kept = {given.group: np.ones(len(given), dtype=bool) for given in inputs.values()}
    for given in inputs.values():
        if given.name in held_out:
            kept[given.group] &= np.isin(given.clusters, items)
        elif given.texts is not None and lacking:
            kept[given.group] &= np.array([text not in lacking for text in given.texts])
    return kept


def _part(
    given: Input,
    kept: npt.NDArray[np.bool_],
    held_out: bool,
    known_texts: Mapping[Way, dict[str, int]],
) -> Part:
    way: Way = "original" if given.original else "probe" if given.probe else "mitigated"
    known = known_texts[way]
    texts = [text for text, has in zip(given.texts or (), kept.tolist(), strict=False) if has]
    positions = np.array([known.setdefault(text, len(known)) for text in texts], dtype=np.intp)
    numbers = None if given.numbers is None else given.numbers[kept]
    return Part(way, positions, given.clusters[kept], held_out, numbers)
