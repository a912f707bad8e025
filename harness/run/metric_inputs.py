"""What a metric gets of a task: the arrays, clusters and texts of its inputs, without missing rows.

Made from the vectors of the task's texts, whoever looked them up.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.arrays import Mask, Reals, Vectors, has_direction
from harness.task.inputs import Input

SAME = 1e-5
"""Largest relative difference of equal vectors: the batch of a text changes its vector as much."""


@dataclass(frozen=True, eq=False)
class MetricInputs:
    """The inputs of a metric, each by the name of its parameter; row i of all is the same item.

    Parameters
    ----------
    arrays
        (n, d) vectors or (n,) numbers.
    clusters
        (n,) cluster codes.
    texts
        The n texts; none for numbers.
    """

    arrays: Mapping[str, Reals]
    clusters: Mapping[str, Any]
    texts: Mapping[str, Sequence[str]]

    @classmethod
    def of(
        cls,
        inputs: Mapping[str, Input],
        vectors: Mapping[str, Vectors],
        kept: Mapping[str, Mask],
    ) -> MetricInputs:
        """Return the rows that are kept of a metric's inputs.

        Parameters
        ----------
        inputs
            Inputs by parameter of the metric.
        vectors
            (n, d) vectors by the name of the input.
        kept
            (n,) which rows are kept, by group.
        """
        arrays: dict[str, Reals] = {}
        clusters, texts = {}, {}
        for parameter, input_ in inputs.items():
            mask = kept[input_.group]
            numbers = input_.numbers
            arrays[parameter] = (vectors[input_.name] if numbers is None else numbers)[mask]
            clusters[parameter] = input_.clusters[mask]
            texts[parameter] = tuple(itertools.compress(input_.texts or (), mask))
        return cls(arrays, clusters, texts)


def usable_rows(inputs: Mapping[str, Input], vectors: Mapping[str, Vectors]) -> dict[str, Mask]:
    """Return by group which rows have a vector in every aligned input."""
    kept = {input_.group: np.ones(len(input_), dtype=bool) for input_ in inputs.values()}
    for input_ in inputs.values():
        if input_.texts is not None:
            kept[input_.group] &= has_direction(vectors[input_.name])
    return kept


def too_few(
    inputs: Mapping[str, Input], kept: Mapping[str, Mask], max_missing: float
) -> str | None:
    """Return the reason why the inputs cannot be scored, or None if they can."""
    for input_ in inputs.values():
        lost = 1 - float(kept[input_.group].mean())
        if lost > max_missing or lost == 1:
            return (
                f"{lost:.0%} of '{input_.name}' has no vector, "
                f"more than the {max_missing:.0%} that the task allows"
            )
    return None


def all_equal(
    inputs: Mapping[str, Input],
    kept: Mapping[str, Mask],
    vectors: Mapping[str, Vectors],
    embedded: Callable[[Input], Sequence[str]],
) -> str | None:
    """Return a reason if different texts all have one vector, or None.

    No difference is not fairness: such a model reads nothing.

    Parameters
    ----------
    inputs, vectors, kept
        As in `MetricInputs.of`.
    embedded
        Returns the texts of an input as they are embedded, rewritten by the mitigator.
    """
    texts: set[str] = set()
    first = None
    for input_ in inputs.values():
        if input_.texts is None:
            continue
        mask = kept[input_.group]
        usable = vectors[input_.name][mask]
        first = usable[0] if first is None else first
        if np.abs(usable - first).max() > SAME * np.abs(first).max():
            return None
        texts.update(itertools.compress(embedded(input_), mask))
    return "all texts have the same vector" if len(texts) > 1 else None
