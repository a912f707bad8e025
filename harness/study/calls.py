"""The metric calls of a study, with the positions of their texts among all texts.

The calls are laid out once for a model. Each fold then selects its held-out pairs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats
from harness.embedder import Role
from harness.errors import NotApplicable
from harness.metrics import Metric
from harness.study.study import Study
from harness.task.inputs import Input

Way: TypeAlias = Literal["mitigated", "probe", "original"]
"""How texts become vectors: through the mitigator; through it, but without rewriting; or not
through it."""
NULL_DRAWS = "null_draws"
"""Option of metrics: the number of draws of the floor of a score."""
Codes = npt.NDArray[np.int64]


class Route(NamedTuple):
    """How texts become vectors, and their role in a search."""

    way: Way
    role: Role


@dataclass(frozen=True)
class Part:
    """One input of a metric.

    Parameters
    ----------
    route
        How its texts become vectors.
    positions
        (n,) positions of the texts among all texts of that route; empty for numbers.
    codes
        (n,) code of the item that each text is made from.
    held_out
        Whether the items are the pairs that are divided into folds.
    numbers
        (n,) numbers in place of texts.
    """

    route: Route
    positions: npt.NDArray[np.intp]
    codes: Codes
    held_out: bool
    numbers: Floats | None

    def of(self, items: Codes) -> Part:
        """Return the part with the rows of `items` only, if its items are divided into folds."""
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
    """A metric on the inputs of one scenario.

    Parameters
    ----------
    measure
        Position of the measure in the study.
    scenario
        Name of the scenario.
    options
        Options of the metric.
    parts
        Its inputs by name.
    """

    measure: int
    scenario: str
    options: Mapping[str, Any]
    parts: Mapping[str, Part]


@dataclass(frozen=True)
class Layout:
    """All texts and calls of a study on one model.

    Parameters
    ----------
    texts
        The texts by route, each once.
    calls
        The calls, by measure and scenario.
    """

    texts: Mapping[Route, tuple[str, ...]]
    calls: tuple[Call, ...]


def lay_out(study: Study, model: str, items: tuple[int, ...], missing: frozenset[str]) -> Layout:
    """Return all texts and calls of a study on a model.

    Parameters
    ----------
    study
        The study.
    model
        Name of the model, for errors.
    items
        Positions of the study's pairs that the model has.
    missing
        Texts that have no vector.

    Raises
    ------
    NotApplicable
        If more of an input is missing than the study allows.
    """
    positions: dict[Route, dict[str, int]] = {}
    calls = []
    for number, measure in enumerate(study.measures):
        for scenario in measure.task.scenarios:
            held_out = measure.held_out[scenario.name]
            for measurement in scenario.measurements:
                inputs = measurement.inputs
                kept = _kept(inputs, held_out, missing, items)
                for input_ in inputs.values():
                    share = 1 - float(kept[input_.group].mean())
                    too_much = share > study.file.max_missing or share == 1
                    if too_much and input_.name not in held_out:
                        raise NotApplicable(
                            f"'{model}' lacks {share:.0%} of '{input_.name}' of scenario "
                            f"'{scenario.name}'; the study allows {study.file.max_missing:.0%} "
                            "(max_missing)"
                        )
                parts = {
                    name: _part(input_, kept[input_.group], input_.name in held_out, positions)
                    for name, input_ in inputs.items()
                }
                options = _without_nulls(measurement.metric) | dict(measurement.options)
                calls.append(Call(number, scenario.name, options, parts))
    texts = {route: tuple(of_route) for route, of_route in positions.items()}
    return Layout(texts, tuple(calls))


def _without_nulls(metric: Metric) -> dict[str, Any]:
    """Return the default options of a metric, without draws for its own floor: a study has one."""
    options = dict(metric.options)
    return options | {NULL_DRAWS: 0} if NULL_DRAWS in options else options


def _kept(
    inputs: Mapping[str, Input],
    held_out: frozenset[str],
    missing: frozenset[str],
    items: tuple[int, ...],
) -> dict[str, npt.NDArray[np.bool_]]:
    """Return by group which rows are kept: aligned inputs lose a row together."""
    kept = {input_.group: np.ones(len(input_), dtype=bool) for input_ in inputs.values()}
    for input_ in inputs.values():
        if input_.name in held_out:
            kept[input_.group] &= np.isin(input_.clusters, items)
        elif input_.texts is not None and missing:
            kept[input_.group] &= np.array([text not in missing for text in input_.texts])
    return kept


def _part(
    input_: Input,
    kept: npt.NDArray[np.bool_],
    held_out: bool,
    positions: dict[Route, dict[str, int]],
) -> Part:
    """Return an input's part; texts that are new are added to `positions`."""
    way: Way = "original" if input_.original else "probe" if input_.probe else "mitigated"
    route = Route(way, input_.role)
    known = positions.setdefault(route, {})
    texts = [text for text, keep in zip(input_.texts or (), kept.tolist(), strict=False) if keep]
    numbers = None if input_.numbers is None else input_.numbers[kept]
    return Part(
        route=route,
        positions=np.array([known.setdefault(text, len(known)) for text in texts], dtype=np.intp),
        codes=input_.clusters[kept],
        held_out=held_out,
        numbers=numbers,
    )
