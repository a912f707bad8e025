"""Runs the jobs of one model, in this process and in others; the results are the same.

With several workers, each mitigator is fitted once, by one of them. Then the jobs run, those with
the most texts first. Of a model a worker has only the stored vectors, which it maps from disk. What
it cannot do is done here: to encode a text that no plan lists, to rewrite one, to run what cannot
be pickled.

If the number of workers is not stated, the smallest jobs run here until it is clear that others are
worth while: to start them takes a second or two.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import TypeAlias

from harness import parallel
from harness.encode.stored_embedder import StoredEmbedder
from harness.errors import PLUGIN_ERRORS, DiskError, HarnessError
from harness.mitigator import Mitigator
from harness.results.not_run import NotRun
from harness.run import job_workers
from harness.run.job_runner import JobRunner, Scored
from harness.run.job_workers import Reply, SentChains
from harness.run.plan import Job
from harness.run.sent_jobs import SentJobs, sent_runner
from harness.shared import OnlyInMain
from harness.threads import one_thread

Outcome: TypeAlias = Scored | NotRun
ALONE = 3.0
"""Seconds for which jobs run in this process before others are started."""
WORTH = 5.0
"""Seconds of scoring that must seem to be left then."""


class JobPool:
    """Runs the jobs of one model.

    Parameters
    ----------
    jobs
        The jobs.
    vectors
        The model.
    runner
        Runs one of them in this process.
    workers
        Number of processes; None for the cores, if that is worth while.
    cluster
        Where they run instead.

    Attributes
    ----------
    notes
        By position of a job that another process ran, the notes of its mitigators.
    notices
        What the store had to say in other processes.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        vectors: StoredEmbedder,
        runner: JobRunner,
        *,
        workers: int | None,
        cluster: parallel.Cluster | None = None,
    ) -> None:
        self.jobs, self.vectors, self.runner = jobs, vectors, runner
        self.workers, self.cluster = workers, cluster
        self.notes: dict[int, tuple[str, ...]] = {}
        self.notices: list[str] = []

    def outcomes(self) -> Generator[tuple[int, Outcome], None, None]:
        """Yield the position and the outcome of each job, as they are ready.

        Raises
        ------
        DiskError
            If the disk is full or cannot be read.
        """
        left: Sequence[int] = range(len(self.jobs))
        cores = parallel.cores() if self.cluster is None else 2  # a cluster has others, too
        workers = cores if self.workers is None else self.workers
        if self.workers is None and workers > 1:
            left = yield from self._while_alone(sorted(left, key=self._size))
        if min(workers, len(left)) > 1:
            yield from self._by_workers(sorted(left, key=self._size, reverse=True), workers)
        else:
            yield from self._here(left)

    def _size(self, position: int) -> int:
        """Return the number of texts of a job, by which its time is estimated."""
        return sum(len(input_.texts or ()) for input_ in self.jobs[position].task.texts())

    def _here(self, positions: Iterable[int]) -> Iterator[tuple[int, Outcome]]:
        for position in positions:
            with one_thread():
                outcome = self.runner.run(self.jobs[position])
            yield position, outcome

    def _while_alone(
        self, positions: Sequence[int]
    ) -> Generator[tuple[int, Outcome], None, Sequence[int]]:
        """Run jobs here until workers are worth while; return the positions of the others."""
        sizes = [self._size(position) for position in positions]
        started = time.monotonic()
        for done, ready in enumerate(self._here(positions), start=1):
            yield ready
            seconds = time.monotonic() - started
            left = seconds * sum(sizes[done:]) / max(1, sum(sizes[:done]))
            if seconds > ALONE and left > WORTH:
                return positions[done:]
        return ()

    def _by_workers(self, positions: Sequence[int], workers: int) -> Iterator[tuple[int, Outcome]]:
        jobs = [self.jobs[position] for position in positions]
        is_mitigated = any(job.mitigator.mitigators for job in jobs)
        with sent_runner(self.runner, self.vectors, with_words=is_mitigated) as runner:
            sent = SentJobs(runner, self.vectors)
            self._fit(jobs, sent, workers)
            replies = parallel.results(
                job_workers.run, sent.calls(jobs), workers=workers, cluster=self.cluster
            )
            with contextlib.closing(replies):
                for i, reply in replies:
                    yield from self._answered(positions[i], reply)

    def _answered(
        self, position: int, reply: Reply | parallel.Lost
    ) -> Iterator[tuple[int, Outcome]]:
        """Yield the outcome of a job that was sent; run it here, if the main process must."""
        if isinstance(reply, Reply):
            self.notes[position] = reply.notes
            self.notices += reply.notices
            yield position, reply.outcome
        elif reply.killed:
            yield position, self.runner.not_run(self.jobs[position], reply.reason)
        else:
            self.vectors.store.refresh()  # another process may have set a segment aside
            yield from self._here([position])

    def _fit(self, jobs: Sequence[Job], sent: SentJobs, workers: int) -> None:
        """Fit the mitigators of jobs, each once: those that learn something, by workers."""
        by_mitigator: dict[int, Job] = {}
        for job in jobs:
            other = by_mitigator.setdefault(id(job.mitigator), job)
            if len(job.chains) > len(other.chains):  # its probes need another fit
                by_mitigator[id(job.mitigator)] = job
        here: list[Job] = []
        calls = []
        for job in by_mitigator.values():
            call = sent.fit(job) if _learns(job) else None
            if call is None:
                here.append(job)
            else:
                calls.append((job, call))
        if len(calls) == 1:  # nothing else could be done meanwhile
            here, calls = [*here, calls[0][0]], []
        for job in here:
            self._fit_here(job, sent)
        fits = parallel.results(
            job_workers.fit, [call for _, call in calls], workers=workers, cluster=self.cluster
        )
        with contextlib.closing(fits):
            for i, fitted in fits:
                self._fitted(calls[i][0], fitted, sent)

    def _fitted(self, job: Job, fitted: SentChains | parallel.Lost, sent: SentJobs) -> None:
        if isinstance(fitted, parallel.Lost) and fitted.killed:
            job.mitigator.fail(HarnessError(fitted.reason))
            sent.fitted_here(job)
            return
        if not isinstance(fitted, parallel.Lost):
            with contextlib.suppress(OnlyInMain):  # what was fitted cannot be read here
                sent.fitted_elsewhere(job, fitted)
                return
        self._fit_here(job, sent)

    def _fit_here(self, job: Job, sent: SentJobs) -> None:
        try:
            with one_thread():
                for chain in job.chains:
                    chain.fit_once(self.vectors, job.concept)
        except DiskError:
            raise
        except PLUGIN_ERRORS:
            pass  # the jobs raise it again
        sent.fitted_here(job)


def _learns(job: Job) -> bool:
    """Return whether a mitigator is to be fitted, and learns something from vectors."""
    stages = job.mitigator.mitigators
    return not job.mitigator.is_fitted and any(
        not stage.rewrites and type(stage).fit is not Mitigator.fit for stage in stages
    )
