"""What only the model knows about the texts of a score: which it cuts, and how frequent words are.

The main process adds it to records, wherever they were computed.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Sequence

from harness.encode.stored_embedder import StoredEmbedder
from harness.results.record import Record
from harness.results.record_parts import Frequency
from harness.run import frequency
from harness.run.plan import Job
from harness.task.inputs import Input
from harness.task.task import Measurement


@dataclasses.dataclass(frozen=True)
class _Facts:
    """Facts as in a record's coverage."""

    truncated: int | None
    frequency: Frequency | None


class ModelFacts:
    """Adds to records what the model knows about their texts.

    Parameters
    ----------
    vectors
        The model.
    """

    def __init__(self, vectors: StoredEmbedder) -> None:
        self._vectors = vectors
        # By task, scenario and metric, since the words are the same under every mitigator.
        self._frequency: dict[tuple[str, str, str], Frequency | None] = {}

    def added(self, job: Job, records: Sequence[Record]) -> list[Record]:
        """Return the records of a job with these facts in their coverage."""
        facts = {
            (scenario.name, measurement.metric.name): _Facts(
                self._truncated(job, measurement.inputs.values()),
                self._frequency_of(job, scenario.name, measurement),
            )
            for scenario in job.task.scenarios
            for measurement in scenario.measurements
        }
        updated = []
        for record in records:
            of_record = facts[record.scenario, record.metric]
            update = {"truncated": of_record.truncated, "frequency": of_record.frequency}
            coverage = record.coverage.model_copy(update=update)
            updated.append(record.model_copy(update={"coverage": coverage}))
        return updated

    def _truncated(self, job: Job, inputs: Iterable[Input]) -> int | None:
        """Return how many distinct texts the model cuts; None if it cannot say."""
        too_long: set[str] = set()
        for input_ in inputs:
            if input_.texts is None:
                continue
            with self._vectors.reading(input_.role):
                cut = self._vectors.truncated(job.texts(input_))
            if cut is None:
                return None
            too_long.update(itertools.compress(input_.texts, cut))
        return len(too_long)

    def _frequency_of(self, job: Job, scenario: str, measurement: Measurement) -> Frequency | None:
        key = job.task.name, scenario, measurement.metric.name
        if key not in self._frequency:
            self._frequency[key] = frequency.frequency_of(measurement, self._vectors.ranks)
        return self._frequency[key]
