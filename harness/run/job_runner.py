"""Runs one job: fits the mitigator, scores the task, makes the records. In any process."""

from __future__ import annotations

from dataclasses import dataclass

from harness.encode.stored_vectors import StoredVectors
from harness.errors import PLUGIN_ERRORS, DiskError, HarnessError, NotApplicable, one_line
from harness.results.not_run import Kind, NotRun
from harness.results.record import Record
from harness.run import recording, scoring
from harness.run.plan import Job
from harness.run.recording import Provenance


@dataclass(frozen=True)
class Scored:
    """The result of a job.

    Parameters
    ----------
    records
        Its records, without what only the model knows (`model_facts`).
    without_samples
        The metrics that give no samples, although they were asked for.
    """

    records: tuple[Record, ...]
    without_samples: tuple[str, ...] = ()


class JobRunner:
    """Runs jobs of one model.

    Parameters
    ----------
    vectors
        The model, or its vectors in the store.
    provenance
        What the records state of the run.
    samples
        Whether to keep what each item contributes to a score.
    debug
        Whether an unexpected error is raised.
    """

    def __init__(
        self, vectors: StoredVectors, provenance: Provenance, *, samples: bool, debug: bool
    ) -> None:
        self.vectors, self.provenance = vectors, provenance
        self.samples, self.debug = samples, debug

    def run(self, job: Job) -> Scored | NotRun:
        """Return the records of a job, or why there are none.

        Raises
        ------
        DiskError
            If the disk is full or cannot be read.
        """
        try:
            return self._scored(job)
        except DiskError:
            raise
        except NotApplicable as error:
            return self.not_run(job, str(error), "mitigator")
        except PLUGIN_ERRORS as error:
            if self.debug and not isinstance(error, HarnessError):
                raise
            return self.not_run(job, one_line(error))

    def not_run(self, job: Job, reason: str, kind: Kind = "failed") -> NotRun:
        """Return that a job was not run, and why."""
        return NotRun(self.provenance.model.name, job.part.label, job.task.name, reason, kind)

    def _scored(self, job: Job) -> Scored:
        for chain in job.chains:
            chain.fit_once(self.vectors, job.concept)
        results = scoring.measure(
            job,
            self.vectors.encode,
            seed=self.provenance.seed,
            reading=self.vectors.reading,
            samples=self.samples,
        )
        return Scored(
            records=tuple(
                record
                for result in results
                for record in recording.make_records(job, result, self.provenance)
            ),
            without_samples=tuple(
                str(result.measurement.metric) for result in results if result.lacks_samples
            ),
        )
