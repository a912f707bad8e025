"""The plan of a run: the jobs for a model, and the texts that they need, each once.

It covers all tasks, scenarios and mitigators, and is made before anything is encoded.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np

from harness import names
from harness.arrays import Mask, Vectors
from harness.chain import Chain
from harness.concept import Concept
from harness.digest import digest, json_like
from harness.embedder import (
    COMPARING,
    PAIRS,
    Embedder,
    ModelInfo,
    Role,
    pair_keys,
    ranks_by,
    role_keys,
    vocabulary_of,
)
from harness.encode import identity
from harness.encode.spellings import Spellings
from harness.errors import PLUGIN_ERRORS, HarnessError, NotApplicable, UsageError, one_line
from harness.letters import variants
from harness.metrics import Compares
from harness.mitigator import Mitigator, check_needs, clone
from harness.registry.registry import Registry
from harness.results import record
from harness.results.record import MitigatorPart
from harness.results.records import NotRun
from harness.task.inputs import Input
from harness.task.task import Task

# The mitigators of a run: names and Python objects become chains, each with its concept.


Row: TypeAlias = str | Mitigator | Sequence[str | Mitigator]
"""A mitigator as users pass it: a name, an object, or a chain of these."""
Translation: TypeAlias = Callable[[Concept, str], Concept | None]
"""Returns a concept in another language, or None if there is none."""


def rows(mitigators: Row | Iterable[Row]) -> list[Row]:
    """Return the rows of a user as a list; a chain of names becomes one name.

    Raises
    ------
    UsageError
        If there is none.
    """
    if isinstance(mitigators, str | Mitigator):
        return [mitigators]
    if not isinstance(mitigators, Iterable):
        raise UsageError(f"mitigators: {_expected(mitigators)}")
    listed = list(mitigators)
    if not listed:
        raise UsageError("no mitigator is given; 'none' stands for the unmitigated model")
    return [_joined(row) for row in listed]


def chains(rows: Iterable[Row], registry: Registry) -> dict[str, Chain]:
    """Return the unfitted chain of each row by its label, each label once.

    Parameters
    ----------
    rows
        Each is a name, an object, or a tuple or list of these, which is a chain.
    registry
        Where names are looked up.

    Raises
    ------
    UsageError
        If a name is wrong, an object is no mitigator, or two different rows have one label.
    """
    by_label: dict[str, Chain] = {}
    identities: dict[int, str] = {}  # a class that two rows have is one class
    for row in rows:
        label, unfitted = chain_of(row, registry, identities)
        other = by_label.setdefault(label, unfitted)
        parts = [mitigator_part(label, same, None).fingerprint for same in (other, unfitted)]
        if parts[0] != parts[1]:
            raise UsageError(
                f"mitigators: two different rows are both called '{label}'; give one class "
                "another name, or the objects arguments that differ"
            )
    return by_label


def chain_of(
    row: Row, registry: Registry, identities: dict[int, str] | None = None
) -> tuple[str, Chain]:
    """Return the label of a row, and its unfitted chain.

    `identities` has, and gets, those of classes and functions that state none, by their `id`.

    An object of a registered class is the same mitigator as its name with these options. Any
    other class is known by the `fingerprint` that it states, or lasts for one run.

    Raises
    ------
    UsageError
        If a name is wrong, or an object is no mitigator.
    """
    if isinstance(row, str):
        named = registry.mitigator(row)
        return names.mitigator_label(row, named.mitigators), named
    identities = {} if identities is None else identities
    stage_names: list[str] = []
    stages: list[Mitigator] = []
    sources: list[str] = []
    if not isinstance(row, Mitigator | Sequence):
        raise UsageError(f"mitigators: {_expected(row)}")
    for part in [row] if isinstance(row, Mitigator) else row:
        if isinstance(part, str):
            stage_names += [stage.name for stage in names.chain_stages(part)]
            stages += registry.mitigator(part).mitigators
            continue
        for mitigator in part.mitigators if isinstance(part, Chain) else [part]:
            stage = _copy(mitigator)
            name = _registered_name(stage, registry)
            sources += _sources(stage, identities, is_registered=name is not None)
            stage_names.append(name or _own_name(stage, registry))
            stages.append(stage)
    label = names.mitigator_label("+".join(stage_names) or names.NONE, stages)
    return label, Chain(stages, sources=tuple(sources))


def concept_for(
    mitigator: Chain,
    name: str,
    task: Task,
    info: ModelInfo,
    fallback: Concept | None,
    translation: Translation = lambda concept, language: None,
) -> Concept | None:
    """Return the concept to fit a mitigator on for a task: the task's own, else the fallback.

    The concept in the task's language is used, if there is one. A mitigator that changes the words
    of texts is never fitted on a concept in another language.

    Raises
    ------
    NotApplicable
        If neither has what it needs, or it does not work on the kind of embedder.
    """
    if info.kind not in mitigator.all_kinds:
        why = "; it changes vectors" if info.kind in COMPARING else ""
        raise NotApplicable(f"'{name}' does not work on {info.kind} embedders{why}")
    needs, language = mitigator.all_needs, task.file.language
    if not needs:
        return None
    foreign: list[str] = []
    for concept in (task.concept, fallback):
        own = concept and translation(concept, language)
        for candidate in filter(None, (own, concept)):
            if mitigator.monolingual and candidate.language != language:
                foreign.append(f"{candidate.name}-{language}")
            elif candidate.has(needs):
                return candidate
    if foreign:
        files = " or ".join(f"'{missing}'" for missing in dict.fromkeys(foreign))
        raise NotApplicable(
            f"'{name}' changes the words of texts, and those of the task are in '{language}': "
            f"it needs a concept {files} with {' and '.join(needs)}"
        )
    lacks = f"its concept '{task.concept.name}' lacks them" if task.concept else "it has no concept"
    other = f", and '{fallback.name}' lacks them" if fallback else ""
    raise NotApplicable(f"'{name}' needs {' and '.join(needs)} of a concept; {lacks}{other}")


def mitigator_part(
    name: str, mitigator: Chain, concept: Concept | None, *, localized: Chain | None = None
) -> MitigatorPart:
    """Return the part of a record that describes a mitigator.

    Parameters
    ----------
    name
        The name that users type.
    mitigator
        The mitigator of that name, unfitted.
    concept
        Concept that it is fitted on; None if it needs none.
    localized
        The mitigator that replaces it for the language of the texts; None if it is the same in all
        languages. Label and parameters stay as typed. The fingerprint is that of the replacement,
        and `method`, by which the rows of one label are compared, is empty.
    """
    params: dict[str, Any] = {}
    for stage_name, stage in zip(names.chain_stages(name), mitigator.mitigators, strict=True):
        key = stage_name.name
        while key in params:
            key += "'"
        params[key] = json_like(stage.settings)
    plain = names.plain(name)
    content = digest(concept.content()) if concept else None
    depends_on = (localized or mitigator).depends_on
    fingerprint = digest([plain, params, content, *depends_on])
    method = "" if localized else digest([plain, params, *depends_on])
    params = names.public_value(params)
    return MitigatorPart(
        name=plain,
        label=names.mitigator_label(name, mitigator.mitigators),
        params=params[plain] if list(params) == [plain] else params,
        concept=concept.name if concept else None,
        fingerprint=fingerprint,
        method=method,
        control=mitigator.control,
    )


def _joined(row: Row) -> Row:
    if isinstance(row, list | tuple) and row and all(isinstance(part, str) for part in row):
        return "+".join(cast("Sequence[str]", row))
    return row


def _registered_name(stage: Mitigator, registry: Registry) -> str | None:
    """Return the name under which a plugin registers the class of a mitigator, or None."""
    for name, spec in registry.mitigators.items():
        module, _, attribute = spec.target.partition(":")
        if getattr(sys.modules.get(module), attribute, None) is type(stage):
            return name
    return None


def _own_name(stage: Mitigator, registry: Registry) -> str:
    """Return the name of a class that no plugin registers.

    Raises
    ------
    UsageError
        If a plugin registers another mitigator under this name.
    """
    name = type(stage).__name__
    if name in registry.mitigators:
        raise UsageError(f"mitigators: '{name}' is registered already; rename this class")
    return name


def _sources(stage: Mitigator, identities: dict[int, str], *, is_registered: bool) -> list[str]:
    """Return what identifies a mitigator's own class, and the functions in its arguments."""

    def identified(value: object) -> str:
        return identities.setdefault(id(value), identity.of_code(value))

    functions = {
        name: identified(value)
        for name, value in sorted(stage.get_params(deep=False).items())
        if callable(value) and not isinstance(value, type)
    }
    own = [] if is_registered else [identified(type(stage))]
    return [digest([*own, functions])] if own or functions else []


def _copy(stage: Mitigator) -> Mitigator:
    """Return an unfitted copy of a mitigator, so that the user's object does not change.

    Raises
    ------
    UsageError
        If it is no mitigator, or cannot be copied.
    """
    if not isinstance(stage, Mitigator):
        raise UsageError(f"mitigators: {_expected(stage)}")
    try:
        copy = clone(stage)
    except Exception as error:  # it violates scikit-learn's rules for estimators
        raise UsageError(
            f"mitigators: {type(stage).__name__} cannot be copied: its arguments must be stored "
            f"untouched under their own names ({one_line(error)})"
        ) from error
    try:
        check_needs(copy, f"mitigator '{type(stage).__name__}'")
    except HarnessError as error:
        raise UsageError(str(error)) from None
    return copy


def _expected(value: Any) -> str:
    problem = f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
    return f"expected a name, a harness.Mitigator, or a chain of these, not {problem}"


# Rewrites the texts of many jobs in one call, so that a mitigator can use all cores.


AT_ONCE = 1_000_000
"""Characters of texts that are rewritten in one call; progress is shown after each call."""


def parts(jobs: Mapping[int, Job]) -> Iterator[list[int]]:
    """Yield the keys of jobs, in groups of limited text."""
    part: list[int] = []
    size = 0
    for i, job in jobs.items():
        part.append(i)
        if not job.mitigator.rewrites:
            continue
        size += sum(len(text) for text in _to_rewrite(job))
        if size > AT_ONCE:
            yield part
            part, size = [], 0
    if part:
        yield part


def rewrite_ahead(jobs: Sequence[Job]) -> None:
    """Rewrite the texts of jobs under one mitigator, which remembers them.

    An error is ignored here: it occurs again in the job of the text, which reports it.
    """
    if jobs[0].mitigator.rewrites:
        with contextlib.suppress(*PLUGIN_ERRORS):
            jobs[0].mitigator.rewrite([text for job in jobs for text in _to_rewrite(job)])


def _to_rewrite(job: Job) -> Iterator[str]:
    for input_ in job.task.needed_texts():
        if not (input_.original or input_.probe):
            yield from input_.texts or ()


@dataclass(frozen=True)
class Job:
    """A task under a mitigator.

    Parameters
    ----------
    task
        The task.
    mitigator
        The mitigator; its stages that rewrite texts are fitted.
    probing
        The mitigator that probes go through: the same or, where it rewrites texts, the chain
        without rewriting.
    concept
        Concept that it is fitted on; None if it needs none.
    part
        The description of the mitigator in records.
    readings
        How the model reads texts of each role.
    in_pairs
        Whether the model is a cross-encoder, which reads two texts at once.
    about
        The task's concept, or the usual one, in the language of its texts.
    """

    task: Task
    mitigator: Chain
    probing: Chain
    concept: Concept | None
    part: MitigatorPart
    readings: Mapping[Role, object] = field(default_factory=dict)
    in_pairs: bool = False
    about: Concept | None = None

    def chain(self, input_: Input) -> Chain:
        """Return the mitigator that an input goes through."""
        return self.probing if input_.probe else self.mitigator

    def texts(self, input_: Input) -> list[str]:
        """Return the texts to embed for an input, rewritten unless its chain does not rewrite.

        Raises
        ------
        HarnessError
            If the mitigator does not return one text for each.
        """
        texts = input_.texts or ()
        return list(texts) if input_.original else self.chain(input_).rewrite(texts)

    @cached_property
    def chains(self) -> tuple[Chain, ...]:
        """The mitigators that the task's inputs go through, each once."""
        has_probes = any(input_.probe for input_ in self.task.needed_texts())
        if has_probes and self.probing is not self.mitigator:
            return (self.mitigator, self.probing)
        return (self.mitigator,)

    @cached_property
    def needed(self) -> tuple[str, ...]:
        """The keys of the distinct texts to embed for the task and for fitting, in order.

        Of a cross-encoder they are those of the pairs to score.
        """
        if self.in_pairs:
            tasks = filter(None, (self.task, self.task.yardstick))
            return tuple(dict.fromkeys(key for task in tasks for key in self._pairs(task)))
        keys: list[str] = []
        for input_ in self.task.needed_texts():
            keys += role_keys(self.texts(input_), input_.role, self.readings)
        for input_ in self.task.needed_texts():
            if not input_.original:
                read = self.chain(input_).reads(input_.texts or (), self.concept)
                keys += role_keys(read, input_.role, self.readings)
        for chain in self.chains:
            keys += chain.fitting_texts(self.concept)
        return tuple(dict.fromkeys(keys))

    def _pairs(self, task: Task) -> Iterator[str]:
        """Yield the keys of the pairs of texts that the metrics of a task compare."""
        for inputs, compares in task.comparisons():
            texts = {n: self.texts(i) for n, i in inputs.items() if i.texts is not None}
            for queries, documents in compared_texts(inputs, texts, compares):
                yield from pair_keys(queries, documents)

    def ids(self, info: ModelInfo, seed: int) -> dict[tuple[str, str, str], str]:
        """Return the id of every record of the job, by scenario, metric and score."""
        return {
            (scenario.name, measurement.metric.name, score): record.identity(
                model=info.fingerprint,
                mitigator=self.part.fingerprint,
                task=self.task.digest_of(measurement),
                scenario=scenario.name,
                metric=measurement.metric.name,
                score=score,
                seed=seed,
            )
            for scenario in self.task.scenarios
            for measurement in scenario.measurements
            for score in measurement.metric.scores
        }

    def is_recorded(self, ids: Container[str], info: ModelInfo, seed: int) -> bool:
        """Return whether `ids` has the id of every record of the job."""
        return all(id_ in ids for id_ in self.ids(info, seed).values())


@dataclass(frozen=True)
class Plan:
    """All jobs of a model.

    Parameters
    ----------
    jobs
        Jobs to run.
    done
        Jobs whose records exist already.
    not_run
        Tasks that are not run, with reasons.
    in_order
        `jobs` and `done` together: by task and then by mitigator, in the user's order.
    """

    jobs: tuple[Job, ...]
    done: tuple[Job, ...]
    not_run: tuple[NotRun, ...]
    in_order: tuple[Job, ...]

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The keys of the distinct texts that the jobs need, in order."""
        return tuple(dict.fromkeys(key for job in self.jobs for key in job.needed))


def make_plan(
    embedder: Embedder,
    tasks: Sequence[Task],
    mitigators: Mapping[str, Chain],
    *,
    fallback: Concept | None = None,
    usual: Concept | None = None,
    translation: Translation = lambda concept, language: None,
    is_done: Callable[[Job], bool] = lambda _: False,
    advance: Callable[[int], None] = lambda _: None,
) -> Plan:
    """Return the plan for a model. Stages that rewrite texts are fitted here, once.

    Parameters
    ----------
    embedder
        The model. It encodes nothing here. Its vocabulary is read only for tasks with texts from
        the vocabulary.
    tasks
        The tasks to run.
    mitigators
        Unfitted mitigators by label.
    fallback
        Concept to fit a mitigator on if the task's own lacks a field that it needs.
    usual
        The concept whose words a task without one is not judged on; no option changes it, so that
        a task has one set of unseen texts.
    translation
        Returns a concept in another language, or None.
    is_done
        Whether all records of a job exist already.
    advance
        Called with 1 after each task under each mitigator, since rewriting texts may be slow.
    """
    planner = _Planner(embedder, fallback, usual, translation)
    outcomes: list[Job | NotRun] = []
    waiting: dict[str, list[int]] = {}  # positions of the jobs to run, by mitigator
    done: set[int] = set()
    for task in tasks:
        fingerprints: set[str] = set()
        unfit = task.file.unfit_for(embedder.info.kind)
        if not unfit and embedder.info.kind in COMPARING:
            unfit = task.needs_vectors
            if not unfit and embedder.info.kind == PAIRS:
                unfit = too_many_pairs(task.compared())
            task = task if unfit else task.compared()  # the same task
        elif not unfit and ranks_by(embedder):
            task = task.compared(ranks_only=True)
        for name, unfitted in mitigators.items():
            if unfit:
                outcomes.append(NotRun(embedder.info.name, name, task.name, unfit, "embedder"))
                advance(1)
                continue
            try:
                chain, concept, part = planner.part(task, name, unfitted)
                if part.fingerprint in fingerprints:
                    advance(1)
                    continue  # the same mitigator in another spelling
                fingerprints.add(part.fingerprint)
                job = planner.job(task, chain, concept, part)
                if is_done(job):
                    done.add(len(outcomes))
                    advance(1)
                else:
                    waiting.setdefault(part.fingerprint, []).append(len(outcomes))
                outcomes.append(job)
            except PLUGIN_ERRORS as error:
                outcomes.append(_not_run(embedder, name, task, error))
                advance(1)
    for position, outcome in planner.with_texts(outcomes, waiting.values()):
        outcomes[position] = outcome
        advance(1)
    jobs = {i: outcome for i, outcome in enumerate(outcomes) if isinstance(outcome, Job)}
    return Plan(
        tuple(job for i, job in jobs.items() if i not in done),
        tuple(job for i, job in jobs.items() if i in done),
        tuple(outcome for outcome in outcomes if isinstance(outcome, NotRun)),
        tuple(jobs.values()),
    )


MOST_PAIRS = 400_000
"""Most pairs of a task and its yardstick that a cross-encoder scores without a stated limit: an
hour of a small model on a CPU."""
MOST_CHARACTERS = 40_000_000
"""Most characters of these pairs: the plan of a run holds both texts of each pair."""


def compared_texts(
    inputs: Mapping[str, Input], texts: Mapping[str, Sequence[str]], compares: Compares
) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield pairs of texts that a metric compares, as lists of queries and of their documents.

    Parameters
    ----------
    inputs
        The metric's inputs.
    texts
        The texts of each input, as they are embedded.
    compares
        What it compares.
    """
    first, second = (
        [texts[name] for name in side if name in texts]
        for side in (compares.queries, compares.documents)
    )
    if compares.paired:
        yield from ((first[0], documents) for documents in second)
    elif compares.within is not None:
        members: dict[float, list[str]] = {}
        own, others = (inputs[name].numbers for name in compares.within)
        for number, document in zip([] if others is None else others, second[0], strict=True):
            members.setdefault(float(number), []).append(document)
        for number, query in zip([] if own is None else own, first[0], strict=True):
            documents = members.get(float(number), [])
            yield [query] * len(documents), documents
    else:
        queries, documents = (list(dict.fromkeys(itertools.chain(*s))) for s in (first, second))
        yield from (([query] * len(documents), documents) for query in queries)


def too_many_pairs(task: Task) -> str | None:
    """Return a reason if a cross-encoder should not score all pairs of a task unasked."""
    if task.limit is not None:
        return None
    pairs = characters = 0
    for part in filter(None, (task, task.yardstick)):
        for inputs, compares in part.comparisons():
            texts = {name: i.texts for name, i in inputs.items() if i.texts is not None}
            for queries, documents in compared_texts(inputs, texts, compares):
                pairs += len(queries)
                characters += sum(map(len, queries)) + sum(map(len, documents))
    if pairs <= MOST_PAIRS and characters <= MOST_CHARACTERS:
        return None
    return (
        f"a cross-encoder would score {pairs:,} pairs of its texts with {characters:,} characters; "
        f"at most {MOST_PAIRS:,} with {MOST_CHARACTERS:,}; --limit N cuts each set of texts to N"
    )


def _not_run(embedder: Embedder, mitigator: str, task: Task, error: BaseException) -> NotRun:
    if isinstance(error, NotApplicable):
        return NotRun(embedder.info.name, mitigator, task.name, str(error), "mitigator")
    return NotRun(embedder.info.name, mitigator, task.name, one_line(error), "failed")


class _Planner:
    """Makes the jobs of one model; fits each rewriting mitigator, and fills each task, once."""

    def __init__(
        self,
        embedder: Embedder,
        fallback: Concept | None,
        usual: Concept | None,
        translation: Translation,
    ) -> None:
        self.embedder, self.translation = embedder, translation
        self.fallback, self.usual = fallback, usual
        self._localized: dict[tuple[str, str], Chain] = {}  # by label and language
        self._chains: dict[str, tuple[Chain, Chain]] = {}  # by fingerprint
        self._filled: dict[str, Task] = {}  # by name

    def part(
        self, task: Task, name: str, unfitted: Chain
    ) -> tuple[Chain, Concept | None, MitigatorPart]:
        """Return a mitigator in a task's language, its concept, and its description in records.

        Raises
        ------
        NotApplicable
            If the mitigator does not apply to the task or the model.
        """
        key = name, task.file.language
        if key not in self._localized:
            self._localized[key] = unfitted.in_language(task.file.language)
        chain, info = self._localized[key], self.embedder.info
        concept = concept_for(chain, name, task, info, self.fallback, self.translation)
        localized = None if chain is unfitted else chain
        return chain, concept, mitigator_part(name, unfitted, concept, localized=localized)

    def job(self, task: Task, unfitted: Chain, concept: Concept | None, part: MitigatorPart) -> Job:
        """Return the job of a task under a mitigator; its stages that rewrite are fitted."""
        if part.fingerprint not in self._chains:
            chain = unfitted.unfitted().fit_rewriters(self.embedder.info, concept)
            self._chains[part.fingerprint] = chain, chain.without_rewriting()
        chains = self._chains[part.fingerprint]
        info = self.embedder.info
        in_pairs = info.kind == PAIRS
        own = task.concept or self.usual
        about = own and (self.translation(own, task.file.language) or own)
        return Job(
            *(task, *chains, concept, part), readings=info.readings, in_pairs=in_pairs, about=about
        )

    def with_texts(
        self, outcomes: Sequence[Job | NotRun], groups: Iterable[Sequence[int]]
    ) -> Iterator[tuple[int, Job | NotRun]]:
        """Yield each job with its texts, or why there are none, by its position in `outcomes`.

        The texts of many jobs are rewritten in one call, so that a mitigator can use all cores.
        """
        for group in groups:
            jobs = {i: job for i in group if isinstance(job := outcomes[i], Job)}
            for part in parts(jobs):
                rewrite_ahead([jobs[i] for i in part])
                for i in part:
                    try:
                        yield i, self._with_texts(jobs[i])
                    except PLUGIN_ERRORS as error:
                        task, name = jobs[i].task, jobs[i].part.label
                        yield i, _not_run(self.embedder, name, task, error)

    def _with_texts(self, job: Job) -> Job:
        """Return a job with its texts: rewritten, and filled in from the vocabulary.

        Raises
        ------
        NotApplicable
            If the model has no such vocabulary.
        HarnessError
            If the mitigator does not return one text for each text.
        """
        if job.task.needs_vocabulary:
            if job.task.name not in self._filled:
                words = vocabulary_of(self.embedder).words
                self._filled[job.task.name] = job.task.of_words(words)
            job = dataclasses.replace(job, task=self._filled[job.task.name])
        _ = job.needed  # rewrites the texts, which may fail
        return job


# Words of one set that the model reads alike: such a word counts once.


@dataclass(frozen=True)
class Alike:
    """The words of the sets of a task that a model reads alike.

    Parameters
    ----------
    task
        The task.
    spellings
        The words with their other forms; None where no word has any.
    firsts
        By id of a set, (n,) mask of the words that are no other form of one before them.
    """

    task: Task
    spellings: Spellings | None = None
    firsts: Mapping[int, Mask] = field(default_factory=dict)


class Forms:
    """Which words of the sets of tasks a model reads alike; each task's are looked for once.

    Parameters
    ----------
    encode
        Returns the (n, d) vectors of texts, unmitigated.
    """

    def __init__(self, encode: Callable[[Sequence[str]], Vectors]) -> None:
        self._encode = encode
        self._known: dict[int, Alike] = {}  # by the id of the task, which is kept with them

    def of(self, task: Task) -> Alike:
        """Return which words of the sets of a task the model reads alike."""
        if id(task) not in self._known:
            self._known[id(task)] = self._alike(task)
        return self._known[id(task)]

    def _alike(self, task: Task) -> Alike:
        sets = [
            input_
            for scenario in task.scenarios
            for input_ in scenario.inputs.values()
            if input_.texts and input_.group == input_.name  # no column of a table
        ]
        words = [text for part in sets for text in part.texts or ()]
        if not variants(words):
            return Alike(task)
        spellings = Spellings.of(words, self._encode)
        firsts = {id(part): np.array(spellings.firsts(part.texts or ())) for part in sets}
        return Alike(task, spellings, firsts)
