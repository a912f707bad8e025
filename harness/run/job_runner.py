"""Runs the jobs of one model: fits the mitigator, scores the task, makes the records."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from harness.encode.stored_embedder import StoredEmbedder
from harness.errors import PLUGIN_ERRORS, DiskError, HarnessError, NotApplicable, one_line
from harness.results.not_run import Kind, NotRun
from harness.results.record import Record
from harness.run import frequency, recording, scoring
from harness.run.plan import Job
from harness.run.settings import Settings


class JobRunner:
    """Runs the jobs of one model, one by one.

    Parameters
    ----------
    vectors
        The model; reads the vectors of texts from the store.
    settings
        The settings of the run.
    run
        Identifies the run.
    """

    def __init__(self, vectors: StoredEmbedder, settings: Settings, run: str) -> None:
        self.vectors, self.settings, self.run_id = vectors, settings, run
        self.without_samples: dict[str, None] = {}  # metrics, in order
        self.records: list[Record] = []

    @property
    def notices(self) -> list[str]:
        """What the user should know of the jobs that were run, a line each."""
        return [
            *(f"{metric} gives no samples" for metric in self.without_samples),
            *frequency.notices(self.records, self.vectors.info.name),
        ]

    def run(self, job: Job) -> list[Record] | NotRun:
        """Return the records of a job, or why there are none.

        Raises
        ------
        DiskError
            If the disk is full or cannot be read.
        """
        try:
            return self._records(job)
        except DiskError:
            raise
        except NotApplicable as error:
            return self._not_run(job, str(error), "mitigator")
        except PLUGIN_ERRORS as error:
            if self.settings.debug and not isinstance(error, HarnessError):
                raise
            return self._not_run(job, one_line(error), "failed")

    def _with_frequency(self, result: scoring.MetricScores) -> scoring.MetricScores:
        words = frequency.frequency_of(result.measurement, self.vectors.ranks)
        coverage = result.coverage.model_copy(update={"frequency": words})
        return dataclasses.replace(result, coverage=coverage)

    def _not_run(self, job: Job, reason: str, kind: Kind) -> NotRun:
        return NotRun(self.vectors.info.name, job.part.label, job.task.name, reason, kind)

    def _records(self, job: Job) -> list[Record]:
        for chain in job.chains:
            chain.fit_once(self.vectors, job.concept)
        results = scoring.measure(
            job,
            self.vectors.encode,
            seed=self.settings.seed,
            truncated=self.vectors.truncated,
            reading=self.vectors.reading,
            samples=self.settings.samples,
        )
        results = [self._with_frequency(result) for result in results]
        self.without_samples |= {
            str(result.measurement.metric): None for result in results if result.lacks_samples
        }
        provenance = recording.Provenance(
            run=self.run_id,
            model=recording.model_part(self.vectors.info),
            seed=self.settings.seed,
            environment=recording.environment(",".join(self.vectors.engine.devices) or "default"),
        )
        records = [
            record
            for result in results
            for record in recording.make_records(job, result, provenance)
        ]
        self.records += records
        return records


def notices_of(jobs: Sequence[Job], model: str) -> list[str]:
    """Return what the user should know of the mitigators of jobs that were run, a line each."""
    return [
        *_missing_words(jobs, model),
        *(
            f"'{job.part.label}': {note}"
            for job in jobs
            for chain in job.chains
            for note in chain.notes
        ),
    ]


def _missing_words(jobs: Iterable[Job], model: str) -> list[str]:
    """Return a line for each list of words of a fit that the model does not have."""
    mitigators: dict[tuple[str, ...], list[str]] = {}
    for job in jobs:
        for stage in job.mitigator.mitigators:
            if stage.missing_words:
                on = f" on {job.concept.name}" if job.concept else ""
                mitigators.setdefault(stage.missing_words, []).append(f"'{job.part.label}'{on}")
    lines = []
    for words, names in mitigators.items():
        more = f" and {len(words) - 5} more" if len(words) > 5 else ""
        under = ", ".join(dict.fromkeys(names))
        lines.append(f"{under}: fitted without {', '.join(words[:5])}{more}, which {model} lacks")
    return lines
