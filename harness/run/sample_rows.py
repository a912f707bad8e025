"""The rows of `--samples`: the texts of each item of a score, and what the item contributes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from harness.arrays import Mask
from harness.digest import json_like
from harness.errors import HarnessError
from harness.metrics import Metric
from harness.results.record import finite
from harness.run.plan import Job
from harness.scores import Samples, Score
from harness.task.inputs import Input

SampleRow = dict[str, Any]


class SampleRows:
    """The rows of the scores of one metric on one scenario.

    Parameters
    ----------
    job
        The task under its mitigator, which may rewrite texts.
    metric
        The metric.
    inputs
        Input by parameter of the metric.
    kept
        By group of inputs, which rows the metric got.
    """

    def __init__(
        self, job: Job, metric: Metric, inputs: Mapping[str, Input], kept: Mapping[str, Mask]
    ) -> None:
        self.job, self.metric, self.inputs, self.kept = job, metric, inputs, kept

    def of(self, score: Score) -> list[SampleRow]:
        """Return the rows of a score.

        A row has the text of the item as `text` and its input as `input`; an item of several
        inputs, such as a pair, has each text under the name of its input. `embedded` is the text
        as the mitigator rewrote it, and `cluster` the number that items of one word share.

        Raises
        ------
        HarnessError
            If the metric's samples do not fit its inputs.
        """
        samples = score.samples() if callable(score.samples) else score.samples
        return list(itertools.chain.from_iterable(map(self._part, samples)))

    def _part(self, part: Samples) -> Iterator[SampleRow]:
        names = (part.inputs,) if isinstance(part.inputs, str) else tuple(part.inputs)
        columns: dict[str, Sequence[Any]] = {}
        for name in names:
            columns |= self._texts(name, part, single=len(names) == 1)
        if names:
            columns |= self._clusters(names[0], part)
        columns |= {name: _values(values) for name, values in part.columns.items()}
        if part.contribution is not None:
            columns["contribution"] = _values(part.contribution)
        lengths = {name: len(values) for name, values in columns.items()}
        if len(set(lengths.values())) > 1:
            sizes = ", ".join(f"{name} {length}" for name, length in lengths.items())
            raise HarnessError(f"{self.metric}: columns of its samples differ in length: {sizes}")
        for values in zip(*columns.values(), strict=True):
            yield dict(zip(columns, values, strict=True))

    def _texts(self, name: str, part: Samples, *, single: bool) -> dict[str, Sequence[Any]]:
        """Return the columns of the texts of an input."""
        input_ = self.inputs.get(name)
        if input_ is None or input_.texts is None:
            raise HarnessError(f"{self.metric}: its samples are of '{name}', no input with texts")
        texts = self._chosen(input_, input_.texts, part)
        embedded = self._chosen(input_, self.job.texts(input_), part)
        rewritten = {"embedded" if single else f"{name}_embedded": embedded}
        columns: dict[str, Sequence[Any]] = {name: texts}
        if single:
            columns = {"input": [name] * len(texts), "text": texts}
        return columns | (rewritten if embedded != texts else {})

    def _clusters(self, name: str, part: Samples) -> dict[str, Sequence[int]]:
        """Return the column of the clusters of an input, if items share one."""
        input_ = self.inputs[name]
        codes = self._chosen(input_, input_.clusters.tolist(), part)
        return {"cluster": codes} if len(set(codes)) < len(codes) else {}

    def _chosen(self, input_: Input, values: Sequence[Any], part: Samples) -> list[Any]:
        """Return the values of the items of a part, from those of all rows of the input."""
        kept = list(itertools.compress(values, self.kept[input_.group]))
        if part.rows is None:
            return kept
        try:
            return [kept[row] for row in np.asarray(part.rows).tolist()]
        except (IndexError, TypeError):
            raise HarnessError(
                f"{self.metric}: its samples have rows that '{input_.name}' does not have"
            ) from None


def _values(values: Any) -> list[Any]:
    """Return the values of a column as JSON values; NaN and infinity become None."""
    return [_finite(value) for value in map(json_like, values)]


def _finite(value: Any) -> Any:
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return finite(value) if isinstance(value, float) else value
