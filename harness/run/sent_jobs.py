"""What the main process sends of its jobs to the processes that score (`job_workers`).

Each object is pickled once, when it is first sent: the model's vectors, a mitigator, a task. What
cannot be pickled stays here.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import overload

from harness.chain import Chain
from harness.encode.mapped_vocabulary import MappedVocabulary, mapped
from harness.encode.stored_embedder import StoredEmbedder
from harness.encode.stored_vectors import StoredVectors
from harness.errors import PLUGIN_ERRORS
from harness.mitigator import Mitigator
from harness.run.job_runner import JobRunner
from harness.run.job_workers import Call, Chains, Fit, SentChains
from harness.run.leaks import fitting_texts
from harness.run.plan import Job
from harness.shared import Shared
from harness.task.task import Task

TASKS = 4
"""Pickled tasks that are kept: the jobs of one task follow each other."""


@contextlib.contextmanager
def sent_runner(
    runner: JobRunner, vectors: StoredEmbedder, *, with_words: bool
) -> Iterator[Shared[JobRunner]]:
    """Yield what runs jobs in other processes: the same, with stored vectors for the model.

    Parameters
    ----------
    runner, vectors
        What runs jobs here, and the model.
    with_words
        Whether a word embedder's vocabulary may be needed. Other processes can read it in this
        context.
    """
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        words: MappedVocabulary | None = None
        if with_words and vectors.info.kind == "word":
            with contextlib.suppress(*PLUGIN_ERRORS):  # then it is read here only
                words = mapped(vectors.embedder, Path(folder))
        stored = StoredVectors(vectors.info, vectors.store, failed=vectors.failed, words=words)
        provenance, samples, debug = runner.provenance, runner.samples, runner.debug
        yield Shared(JobRunner(stored, provenance, samples=samples, debug=debug))


class SentJobs:
    """Makes the calls of other processes.

    Parameters
    ----------
    runner
        Runs jobs there.
    vectors
        The model, which is not sent.
    """

    def __init__(self, runner: Shared[JobRunner], vectors: StoredEmbedder) -> None:
        self._runner, self._vectors = runner, vectors
        self._chains: dict[int, SentChains] = {}  # by id of the mitigator, which jobs keep
        self._tasks: OrderedDict[int, tuple[Task, Shared[Task]]] = OrderedDict()

    def fit(self, job: Job) -> Fit | None:
        """Return the call that fits the mitigator of a job; None if it cannot be sent."""
        try:
            return Fit(
                self._runner,
                SentChains.of(Chains(job.mitigator, job.probing), self._vectors),
                len(job.chains) > 1,
                _rewritten(job.mitigator, fitting_texts(job.mitigator, job.concept)),
                job.concept,
            )
        except PLUGIN_ERRORS:
            return None

    def fitted_here(self, job: Job) -> None:
        """Send the mitigator of a job as it is now fitted; not, if it cannot be pickled."""
        with contextlib.suppress(*PLUGIN_ERRORS):
            chains = Chains(job.mitigator, job.probing)
            self._chains[id(job.mitigator)] = SentChains.of(chains, self._vectors)

    def fitted_elsewhere(self, job: Job, sent: SentChains) -> None:
        """Take the mitigator of a job as another process fitted it, and send it on."""
        fitted = sent.copy(self._vectors, job.mitigator.only_rewriting)
        job.mitigator.adopt(fitted.mitigator)
        if job.probing is not job.mitigator:
            job.probing.adopt(fitted.probing)
        self._chains[id(job.mitigator)] = sent

    def calls(self, jobs: Sequence[Job]) -> Sequence[Call | None]:
        """Return the call of each job, made when it is looked up; None if it cannot be sent."""
        return _Calls(self, jobs)

    def call(self, job: Job) -> Call | None:
        """Return the call that runs a job; None if it cannot be sent."""
        chains = self._chains.get(id(job.mitigator))
        if chains is None:
            return None
        try:
            return Call(
                self._runner,
                self._task(job.task),
                chains,
                _rewritten(job.mitigator, _texts(job)),
                job.concept,
                job.part,
            )
        except PLUGIN_ERRORS:
            return None

    def _task(self, task: Task) -> Shared[Task]:
        if id(task) not in self._tasks:
            self._tasks[id(task)] = task, Shared(task)
            if len(self._tasks) > TASKS:
                self._tasks.popitem(last=False)
        return self._tasks[id(task)][1]


class _Calls(Sequence["Call | None"]):
    """The calls of jobs, each made when it is looked up."""

    def __init__(self, sent: SentJobs, jobs: Sequence[Job]) -> None:
        self._sent, self._jobs = sent, jobs

    def __len__(self) -> int:
        return len(self._jobs)

    @overload
    def __getitem__(self, position: int) -> Call | None: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[Call | None]: ...
    def __getitem__(self, position: int | slice) -> Call | Sequence[Call | None] | None:
        if isinstance(position, slice):
            return _Calls(self._sent, self._jobs[position])
        return self._sent.call(self._jobs[position])


def _rewritten(chain: Chain, texts: Iterable[str]) -> Mapping[str, str]:
    """Return texts as a chain rewrites them; none if it leaves all texts as they are."""
    written = list(dict.fromkeys(texts)) if chain.rewrites else []
    return dict(zip(written, chain.rewrite(written), strict=True))


def _texts(job: Job) -> Iterator[str]:
    """Yield the texts that the mitigator of a job rewrites when it is scored."""
    for input_ in job.task.texts():
        if input_.original or input_.probe:
            continue
        yield from input_.texts or ()
        for stage in job.mitigator.mitigators:
            if type(stage).reads is not Mitigator.reads:
                yield from stage.reads(input_.texts or (), job.concept)
