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
import tempfile
import time
from collections import OrderedDict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias, overload

from harness import parallel
from harness.chain import Chain, RewrittenElsewhere
from harness.concept import Concept
from harness.encode.stored_embedder import MappedVocabulary, StoredEmbedder, StoredVectors, mapped
from harness.errors import PLUGIN_ERRORS, DiskError, HarnessError, NotApplicable, one_line
from harness.mitigator import Mitigator
from harness.parallel import OnlyInMain, Shared, one_thread
from harness.results.folder import ResultsFile
from harness.results.record import MitigatorPart, Record
from harness.results.records import Kind, NotRun
from harness.run import recording, scoring
from harness.run.plan import Job, fitting_texts
from harness.run.recording import ModelFacts, Provenance
from harness.run.settings import Settings
from harness.task.task import Task

# Runs one job: fits the mitigator, scores the task, makes the records. In any process.


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


# What a process that scores gets and does: it fits a mitigator or runs a job without the model.
#
# It reads vectors from the store. Where the model itself is needed it raises OnlyInMain, and the
# main process does that piece (`job_pool`).


@dataclass(frozen=True)
class Chains:
    """The mitigator of a job, and the one that its probes go through; they may share stages."""

    mitigator: Chain
    probing: Chain

    def apart(self, vectors: StoredVectors) -> dict[str, object]:
        """Return what is not sent with them: the model, and stages that only rewrite."""
        return {"vectors": vectors, **self.mitigator.only_rewriting}


@dataclass(frozen=True)
class SentChains:
    """Chains on the way to another process.

    Parameters
    ----------
    shared
        The chains.
    apart
        Names of the stages that are not sent with them.
    """

    shared: Shared[Chains]
    apart: tuple[str, ...]

    @classmethod
    def of(cls, chains: Chains, vectors: StoredVectors) -> SentChains:
        """Return chains to send; any exception says that they cannot be pickled."""
        apart = chains.apart(vectors)
        return cls(Shared(chains, apart=apart), tuple(apart))

    def open(self, vectors: StoredVectors) -> Chains:
        """Return the chains, the same each time, with the vectors that were not sent."""
        return self.shared.open(apart=self._apart({"vectors": vectors}))

    def copy(
        self, vectors: StoredVectors, stages: Mapping[str, Mitigator] = MappingProxyType({})
    ) -> Chains:
        """Return the chains anew, with the vectors and the stages that were not sent.

        A stage that is not among `stages` is not needed here.
        """
        return self.shared.copy(apart=self._apart({"vectors": vectors, **stages}))

    def _apart(self, known: Mapping[str, object]) -> dict[str, object]:
        return {name: known.get(name) or RewrittenElsewhere() for name in self.apart}


@dataclass(frozen=True)
class Fit:
    """Chains to fit.

    Parameters
    ----------
    runner
        Has the model's vectors.
    chains
        The chains.
    with_probing
        Whether both are fitted, or the mitigator alone.
    rewritten
        The texts that they are fitted on, as they are rewritten.
    concept
        The concept.
    """

    runner: Shared[JobRunner]
    chains: SentChains
    with_probing: bool
    rewritten: Mapping[str, str]
    concept: Concept | None


@dataclass(frozen=True)
class Call:
    """A job to run; its chains are fitted.

    Parameters
    ----------
    runner
        Runs it.
    task, chains
        The task, and the mitigator.
    rewritten
        The texts of the task, as the mitigator rewrites them.
    concept, part
        As in the job.
    """

    runner: Shared[JobRunner]
    task: Shared[Task]
    chains: SentChains
    rewritten: Mapping[str, str]
    concept: Concept | None
    part: MitigatorPart


@dataclass(frozen=True)
class Reply:
    """The result of a job.

    Parameters
    ----------
    outcome
        As in this process.
    notes
        The notes of its mitigators.
    notices
        What the store has to say since the last reply.
    """

    outcome: Scored | NotRun
    notes: tuple[str, ...]
    notices: tuple[str, ...]


def fit(call: Fit) -> SentChains:
    """Return fitted chains; one whose fit failed raises the same error when it is used.

    Raises
    ------
    DiskError
        If the store cannot be read.
    OnlyInMain
        If the main process must fit them.
    """
    vectors = call.runner.open().vectors
    chains = call.chains.copy(vectors)
    vectors.asked_for_model = False
    try:
        for chain in (chains.mitigator, chains.probing):
            chain.know(call.rewritten)
            if chain is chains.mitigator or call.with_probing:
                _fit(chain, vectors, call.concept)
        if not vectors.asked_for_model:
            return SentChains(Shared(chains, apart=chains.apart(vectors)), call.chains.apart)
    except DiskError:
        raise
    except PLUGIN_ERRORS as error:  # of a fit, or of pickling what it left
        raise OnlyInMain(one_line(error)) from None
    raise OnlyInMain("a fit asked for the model")


def run(call: Call | None) -> Reply:
    """Return the result of a job; None stands for a job that could not be sent.

    Raises
    ------
    DiskError
        If the store cannot be read.
    OnlyInMain
        If the main process must run it.
    """
    if call is None:
        raise OnlyInMain("it could not be sent")
    runner = call.runner.open()
    vectors = runner.vectors
    chains = call.chains.open(vectors)
    vectors.asked_for_model = False
    for chain in (chains.mitigator, chains.probing):
        chain.know(call.rewritten)
    job = Job(
        call.task.open(),
        chains.mitigator,
        chains.probing,
        call.concept,
        call.part,
        readings=vectors.info.readings,
    )
    outcome = runner.run(job)
    if vectors.asked_for_model:
        raise OnlyInMain("a plugin asked for the model")
    notices, vectors.store.notices = tuple(vectors.store.notices), []
    notes = tuple(note for chain in job.chains for note in chain.notes)
    return Reply(outcome, notes, notices)


def _fit(chain: Chain, vectors: StoredVectors, concept: Concept | None) -> None:
    try:
        chain.fit_once(vectors, concept)
    except DiskError:
        raise
    except HarnessError:
        pass  # the chain raises it again when it is used


# What the main process sends of its jobs to the processes that score (`job_workers`).
#
# Each object is pickled once, when it is first sent: the model's vectors, a mitigator, a task. What
# cannot be pickled stays here.


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
            replies = parallel.results(run, sent.calls(jobs), workers=workers, cluster=self.cluster)
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
            fit, [call for _, call in calls], workers=workers, cluster=self.cluster
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


# Scores the jobs of a plan: records are written as they are ready, and returned in plan order.


@dataclass(frozen=True)
class PlanScores:
    """The scores of a plan, in its order.

    Parameters
    ----------
    records
        Records by id.
    not_run
        Jobs without records, and why.
    notices
        What the user should know, a line each.
    """

    records: Mapping[str, Record]
    not_run: tuple[NotRun, ...]
    notices: tuple[str, ...]


def score(
    jobs: Sequence[Job],
    vectors: StoredEmbedder,
    settings: Settings,
    *,
    run: str,
    file: ResultsFile | None,
) -> PlanScores:
    """Return the scores of the jobs of one model.

    Parameters
    ----------
    jobs
        The jobs in the order of the plan.
    vectors
        The model; the vectors of the plan's texts are in its store.
    settings
        The settings of the run.
    run
        Identifies the run.
    file
        Where records are written, in the order in which they are ready.

    Raises
    ------
    DiskError
        If the disk is full or cannot be read. What was scored before is written.
    """
    info, engine = vectors.info, vectors.engine
    provenance = recording.Provenance(
        run=run,
        model=recording.model_part(info),
        seed=settings.seed,
        environment=recording.environment(",".join(engine.devices) or "default"),
    )
    runner = JobRunner(vectors, provenance, samples=settings.samples, debug=settings.debug)
    workers = 1 if settings.debug and settings.workers is None else settings.workers
    # Other machines cannot map the words of a vocabulary, which are written for this one.
    cluster = engine if info.kind == "text" and isinstance(engine, parallel.Cluster) else None
    pool = JobPool(jobs, vectors, runner, workers=workers, cluster=cluster)
    facts = ModelFacts(vectors)
    records: dict[int, list[Record]] = {}
    scored: dict[int, Scored] = {}
    not_run: dict[int, NotRun] = {}
    stage = settings.progress.stage(f"{info.name}: scoring", len(jobs), "tasks")
    with stage as advance, contextlib.closing(pool.outcomes()) as outcomes:
        for position, outcome in outcomes:
            if isinstance(outcome, NotRun):
                not_run[position] = outcome
            else:
                scored[position] = outcome
                records[position] = facts.added(jobs[position], outcome.records)
                if file:
                    file.add(records[position])
            advance(1)
    ordered = [record for i in sorted(records) for record in records[i]]
    without_samples = dict.fromkeys(
        metric for i in sorted(scored) for metric in scored[i].without_samples
    )
    return PlanScores(
        records={record.id: record for record in ordered},
        not_run=tuple(not_run[i] for i in sorted(not_run)),
        notices=(
            *pool.notices,
            *(f"{metric} gives no samples" for metric in without_samples),
            *recording.frequency_notices(ordered, info.name),
            *missing_words(jobs, info.name),
            *unlike(ordered, vectors),
            *notes(jobs, pool.notes),
        ),
    )


def notes(jobs: Sequence[Job], elsewhere: Mapping[int, tuple[str, ...]]) -> list[str]:
    """Return the notes of the mitigators of jobs, a line each.

    Parameters
    ----------
    jobs
        The jobs.
    elsewhere
        By position of a job, the notes of its mitigators in the process that ran it.
    """
    return [
        f"'{job.part.label}': {note}"
        for i, job in enumerate(jobs)
        for note in (
            *elsewhere.get(i, ()),
            *(note for chain in job.chains for note in chain.notes),
        )
    ]


def unlike(records: Iterable[Record], vectors: StoredEmbedder) -> list[str]:
    """Return the likely reason why a model lacks half of the words of some tasks, in one line."""
    missing: dict[str, None] = {}
    tasks: dict[str, None] = {}
    for record in records:
        coverage = record.coverage
        if coverage.asked and coverage.asked >= 2 * coverage.found:
            missing |= dict.fromkeys(coverage.missing)
            tasks[record.task.name] = None
    reason = vectors.unlike(list(missing)) if missing else None
    if reason is None:
        return []
    listed = ", ".join(list(tasks)[: recording.SHOWN])
    more = f" and {len(tasks) - recording.SHOWN} more" if len(tasks) > recording.SHOWN else ""
    return [
        f"{vectors.info.name}: half of the words of {listed}{more} or more have no vector; {reason}"
    ]


def missing_words(jobs: Iterable[Job], model: str) -> list[str]:
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
