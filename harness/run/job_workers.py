"""What a process that scores gets and does: it fits a mitigator or runs a job without the model.

It reads vectors from the store. Where the model itself is needed it raises OnlyInMain, and the main
process does that piece (`job_pool`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from harness.chain import Chain, RewrittenElsewhere
from harness.concept import Concept
from harness.encode.stored_vectors import StoredVectors
from harness.errors import PLUGIN_ERRORS, DiskError, HarnessError, one_line
from harness.mitigator import Mitigator
from harness.results.not_run import NotRun
from harness.results.record_parts import MitigatorPart
from harness.run.job_runner import JobRunner, Scored
from harness.run.plan import Job
from harness.shared import OnlyInMain, Shared
from harness.task.task import Task


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
