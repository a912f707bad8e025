"""From the jobs of a plan to scores, in this process and in worker processes.

This process has the model. It fits mitigators, looks vectors up, transforms them, and makes
records. With several workers, other processes call the metrics. A metric knows no models, files or
tasks, so only its arrays and options are sent. A metric that cannot be sent is called here.

If the number of workers is not stated, the smallest jobs run here first. Workers take a second or
two to start, so they are started only if enough work remains.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import math
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from harness import parallel
from harness.arrays import (
    Coordinates,
    Mask,
    Reals,
    Vectors,
    both_sides,
    coordinates,
    cosines,
    has_direction,
    one_thread,
    own_coordinates,
    paired_cosines,
)
from harness.digest import digest
from harness.embedder import PAIRS, Compare, Role, one_width
from harness.encode.stored_embedder import StoredEmbedder
from harness.errors import PLUGIN_ERRORS, DiskError, HarnessError, NotApplicable, one_line
from harness.metrics import Compares, Gap, Gaps, Metric, Score
from harness.results.folder import ResultsFile
from harness.results.record import Coverage, Record
from harness.results.records import Kind, NotRun
from harness.run import recording
from harness.run.plan import Forms, Job
from harness.run.recording import MetricScores, ModelFacts, Provenance, Ratio, SampleRows
from harness.run.settings import Settings
from harness.run.unread import SAME, Unread
from harness.run.unseen import Fitted, HeldOutFits, Judged
from harness.task.inputs import Input
from harness.task.schema import NO_YARDSTICK
from harness.task.task import Measurement, Scenario, Task

# The vectors of the texts of one job, under its mitigator.
#
# Each text is encoded and transformed once a job, in the order of the task's inputs. The last
# digits of a product depend on the texts that are transformed together. With one transform a job,
# they do not depend on earlier jobs or on the process, and the vectors of all tasks are never in
# memory at once.


Encode = Callable[[Sequence[str]], Vectors]
Reading = Callable[[Role], contextlib.AbstractContextManager[None]]


class JobVectors:
    """The vectors of a job.

    Parameters
    ----------
    job
        The job; its mitigator must be fitted.
    encode
        Returns the (n, d) vectors of texts, unmitigated.
    reading
        Returns a context in which `encode` takes texts as texts of a role.

    Notes
    -----
    Of a model that compares texts itself, the vectors are packed rows, which may have another
    width for each input.
    """

    def __init__(self, job: Job, encode: Encode, reading: Reading) -> None:
        self._job, self._encode, self._reading = job, encode, reading
        self._transformed: dict[tuple[int, Role], _Transformed] = {}  # by chain and role
        self._own: dict[int, Vectors] = {}  # by id of the input, which scenarios share

    def unmitigated(self, input_: Input) -> Vectors:
        """Return the (n, d) vectors of an input as the model gives them."""
        if id(input_) not in self._own:
            with self._reading(input_.role):
                self._own[id(input_)] = self._encode(input_.texts or ())
        return self._own[id(input_)]

    def read(self, input_: Input) -> Vectors:
        """Return the (n, d) vectors of an input as the model reads it, rewritten or not."""
        texts = self._job.texts(input_)
        if tuple(texts) == input_.texts:
            return self.unmitigated(input_)
        with self._reading(input_.role):
            return self._encode(texts)

    def mitigated(self, input_: Input) -> Vectors:
        """Return the (n, d) vectors of an input under the mitigator.

        Raises
        ------
        HarnessError
            If the mitigator does not return one text or vector for each.
        """
        chain, texts = self._job.chain(input_), input_.texts or ()
        if input_.original or not chain.mitigators:
            return self.unmitigated(input_)
        transformed = self._transformed.setdefault((id(chain), input_.role), _Transformed())
        new = [text for text in dict.fromkeys(texts) if text not in transformed.index]
        if new:
            with self._reading(input_.role):
                transformed.add(new, chain.transform(self._encode(chain.rewrite(new)), new))
        return transformed.of(texts)


class _Transformed:
    """The vectors of distinct texts under a mitigator; `index` has the row of each text."""

    def __init__(self) -> None:
        self.index: dict[str, int] = {}
        self._blocks: list[Vectors] = []

    def add(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Add the (n, d) vectors of texts that are not in the index."""
        rows = range(len(self.index), len(self.index) + len(vectors))
        self.index.update(zip(texts, rows, strict=True))
        self._blocks.append(vectors)

    def of(self, texts: Sequence[str]) -> Vectors:
        """Return the (n, d) vectors of texts, each of which may occur several times."""
        if len(self._blocks) > 1:
            self._blocks = [np.concatenate(one_width(self._blocks))]
        return self._blocks[0][[self.index[text] for text in texts]]


# The arguments of a metric: the arrays, clusters and texts of its inputs, without missing rows.


@dataclass(frozen=True, eq=False)
class MetricInputs:
    """The inputs of a metric, by parameter; row i of aligned inputs is the same item.

    Parameters
    ----------
    arrays
        (n, d) vectors or (n,) numbers; `Coordinates` of a model that compares texts itself.
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
        compares: Compares | None = None,
        compare: Compare | None = None,
    ) -> MetricInputs:
        """Return the kept rows of a metric's inputs.

        Parameters
        ----------
        inputs
            Inputs by parameter of the metric.
        compares, compare
            What the metric compares, and the model's own similarity, if it has one.
        vectors
            (n, d) vectors by the name of the input.
        kept
            (n,) mask of the kept rows, by group.
        """
        arrays: dict[str, Reals] = {}
        clusters, texts = {}, {}
        for parameter, input_ in inputs.items():
            mask = kept[input_.group]
            numbers = input_.numbers
            arrays[parameter] = (vectors[input_.name] if numbers is None else numbers)[mask]
            clusters[parameter] = input_.clusters[mask]
            texts[parameter] = tuple(itertools.compress(input_.texts or (), mask))
        if compares is not None and compare is not None:
            arrays |= _coordinates(arrays, compares, compare)
        return cls(arrays, clusters, texts)


def _coordinates(
    arrays: Mapping[str, Reals], compares: Compares, compare: Compare
) -> dict[str, Coordinates]:
    """Return coordinates whose products are a model's own similarities, by input."""
    names = [
        [name for name in side if name in arrays] for side in (compares.queries, compares.documents)
    ]
    if compares.paired:
        (query,), documents = names
        similarities = [
            compare(*_one_width(arrays[query], arrays[name]), paired=True) for name in documents
        ]
        rows = np.stack(similarities, axis=1).view(Coordinates)
        own = np.eye(len(documents)).view(Coordinates)
        others = {name: np.tile(own[i], (len(rows), 1)) for i, name in enumerate(documents)}
        return {query: rows} | {name: part.view(Coordinates) for name, part in others.items()}
    if compares.within is not None:
        (query,), (document,) = names
        first, second = (np.asarray(arrays[name]) for name in compares.within)
        i, j = np.nonzero(first[:, None] == second)
        rows_1, rows_2 = _one_width(arrays[query], arrays[document])
        matrix = np.zeros((len(first), len(second)))
        if len(i):
            matrix[i, j] = compare(rows_1[i], rows_2[j], paired=True)
        return dict(zip((query, document), coordinates(matrix), strict=True))
    if compares.queries == compares.documents:
        ((name,), _) = names
        (own_rows,) = _one_width(arrays[name])
        firsts, codes = _distinct(own_rows)
        matrix = compare(own_rows[firsts], own_rows[firsts])
        return {name: own_coordinates(matrix[np.ix_(codes, codes)])}
    sides = [np.concatenate(_one_width(*(arrays[name] for name in side))) for side in names]
    distinct = [_distinct(rows) for rows in sides]  # equal rows are compared once
    queries, documents_ = (rows[firsts] for rows, (firsts, _) in zip(sides, distinct, strict=True))
    both = coordinates(compare(queries, documents_))
    found: dict[str, Coordinates] = {}
    for side, rows, (_, codes) in zip(names, both, distinct, strict=True):
        ends = np.cumsum([len(arrays[name]) for name in side])
        parts = np.split(rows[codes], ends[:-1])
        found |= {name: part.view(Coordinates) for name, part in zip(side, parts, strict=True)}
    return found


def _one_width(*arrays: Reals) -> list[Vectors]:
    return one_width([np.asarray(array, dtype=np.float32) for array in arrays])


def _distinct(rows: Vectors) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the positions of the first of equal rows, and the place of each row among them."""
    places: dict[bytes, int] = {}
    codes = np.array([places.setdefault(row.tobytes(), len(places)) for row in rows])
    return np.unique(codes, return_index=True)[1], codes


def all_similar(inputs: MetricInputs, compares: Compares) -> str | None:
    """Return a reason if all similarities of a model that compares texts itself are equal."""
    first, second = (
        [inputs.arrays[name] for name in side if name in inputs.arrays]
        for side in (compares.queries, compares.documents)
    )
    if compares.paired:
        found = np.concatenate([paired_cosines(first[0], rows) for rows in second])
    elif compares.within is not None:
        own, others = (np.asarray(inputs.arrays[name]) for name in compares.within)
        found = cosines(first[0], second[0])[own[:, None] == others]
    elif compares.queries == compares.documents:
        rows, columns = both_sides(first[0])
        found = (rows @ columns.T)[np.triu_indices(len(rows), 1)]
    else:
        found = cosines(np.concatenate(first), np.concatenate(second))
    if found.size < 2 or np.ptp(found) > SAME * np.abs(found).max():
        return None
    return "all texts have the same similarity"


def usable_rows(inputs: Mapping[str, Input], vectors: Mapping[str, Vectors]) -> dict[str, Mask]:
    """Return by group the mask of the rows that have a vector in every aligned input."""
    kept = {input_.group: np.ones(len(input_), dtype=bool) for input_ in inputs.values()}
    for input_ in inputs.values():
        if input_.texts is not None:
            kept[input_.group] &= has_direction(vectors[input_.name])
    return kept


def too_few(
    inputs: Mapping[str, Input],
    kept: Mapping[str, Mask],
    max_missing: float,
    unread: Mapping[str, Mask] | None = None,
    rows: Mapping[str, Mask] | None = None,
) -> str | None:
    """Return the reason why the inputs cannot be scored, or None if they can.

    `rows` has the rows by group that count, where these are not all.
    """
    for input_ in inputs.values():
        of = (rows or {}).get(input_.group)
        missing = 1 - float(
            kept[input_.group].mean() if of is None else kept[input_.group][of].mean()
        )
        if missing > max_missing or missing == 1:
            why = "is not read by the model or has no vector" if unread else "has no vector"
            return (
                f"{missing:.0%} of '{input_.name}' {why}, "
                f"more than the {max_missing:.0%} that the task allows"
            )
    return None


def all_equal(
    inputs: Mapping[str, Input],
    kept: Mapping[str, Mask],
    vectors: Mapping[str, Vectors],
    embedded: Callable[[Input], Sequence[str]],
) -> str | None:
    """Return a reason if different texts all have the same vector, or None.

    Equal vectors are no sign of fairness: such a model ignores its input.

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


# The gap of a task over that of its yardstick.


def units_of(inputs: Mapping[str, Input], kept: Mapping[str, Mask]) -> dict[str, list[str]]:
    """Return the name of the unit of each row that is kept, by parameter of the metric.

    A unit is what its texts are made of, a word or a row of a table. Inputs of one table have the
    units in common. The name is that of its first text, so that two tasks name a word alike.
    """
    by_group: dict[str, dict[int, str]] = {}
    for input_ in inputs.values():
        names = by_group.setdefault(input_.group, {})
        for code, text in zip(input_.clusters.tolist(), input_.texts or (), strict=False):
            names.setdefault(code, text)
    units = {}
    for parameter, input_ in inputs.items():
        names = by_group[input_.group]
        codes = input_.clusters[kept[input_.group]].tolist()
        units[parameter] = [names.get(code, str(code)) for code in codes]
    return units


class Yardsticks:
    """The gaps of the yardsticks of one model, each measured once under a fitted mitigator."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], dict[str, Gap]] = {}

    def of(
        self, job: Job, encode: Encode, reading: Reading, compare: Compare | None = None
    ) -> dict[str, Gap]:
        """Return the gap of each contrast of the yardstick of a job's task, by scenario.

        A contrast of which the model lacks too many words is left out.
        """
        yardstick = job.task.yardstick
        if yardstick is None:
            return {}
        key = id(job.mitigator), yardstick.digest
        if key not in self._known:
            vectors = JobVectors(job, encode, reading).mitigated
            self._known[key] = {
                scenario.name: gaps.gap
                for scenario in yardstick.scenarios
                if (gaps := gaps_of(yardstick, scenario, vectors, compare)) is not None
            }
        return self._known[key]


def gaps_of(
    task: Task,
    scenario: Scenario,
    vectors: Callable[[Input], Vectors],
    compare: Compare | None = None,
) -> Gaps | None:
    """Return the gap of the primary metric on a scenario; None if there is none."""
    measurement = next(
        (m for m in scenario.measurements if m.metric.name == task.file.primary.metric), None
    )
    if measurement is None or measurement.metric.gap is None:
        return None
    inputs, by_name = measurement.inputs, _of_texts(scenario, vectors)
    kept = usable_rows(inputs, by_name)
    if too_few(inputs, kept, task.file.max_missing):
        return None
    compares = measurement.metric.compares
    arrays = MetricInputs.of(inputs, by_name, kept, compares, compare).arrays
    return measurement.metric.gaps(arrays, units_of(inputs, kept), measurement.options)


# Calls of metrics, in any process.


@dataclass(frozen=True, eq=False)
class MetricCall:
    """A call of a metric, with all that it needs.

    Parameters
    ----------
    metric, inputs, options, rng
        The metric and its arguments.
    void
        Why it must not be called, so that its scores are undefined; None if it is called.
    samples
        Whether to return what each item contributes.
    unseen
        The call with the texts that are judged, if these are others.
    """

    metric: Metric
    inputs: MetricInputs
    options: Mapping[str, Any]
    rng: np.random.Generator
    void: str | None
    samples: bool
    unseen: MetricCall | None = None


@dataclass(frozen=True)
class Measured:
    """What a metric returned.

    Parameters
    ----------
    scores
        Scores by name.
    seconds
        Time that it took.
    rng
        The generator in its state after the call.
    unseen
        What it returned for the texts that are judged, if these are others.
    """

    scores: Mapping[str, Score]
    seconds: float
    rng: np.random.Generator
    unseen: Measured | None = None


@dataclass(frozen=True)
class Failure:
    """Why a job has no records, as in `NotRun`."""

    reason: str
    kind: Kind = "failed"


def measured(call: MetricCall) -> Measured:
    """Return the scores of a metric."""
    metric, inputs = call.metric, call.inputs
    started = time.perf_counter()
    if call.void:
        scores = {name: Score(float("nan"), reason=call.void) for name in metric.scores}
    else:
        scores = metric.measure(
            inputs.arrays,
            call.options,
            rng=call.rng,
            clusters=inputs.clusters,
            texts=inputs.texts,
        )
    seconds = time.perf_counter() - started
    for name, score in scores.items():
        samples = score.samples if call.samples else ()
        samples = samples() if callable(samples) else samples
        scores[name] = dataclasses.replace(score, samples=tuple(samples))
    unseen = None if call.unseen is None else _of_unseen(call.unseen)
    return Measured(scores, seconds, call.rng, unseen)


def _of_unseen(call: MetricCall) -> Measured:
    """Return the scores on the texts that are judged; too few for the metric are no error."""
    try:
        return measured(call)
    except PLUGIN_ERRORS as error:
        return measured(dataclasses.replace(call, void=f"on unseen words: {one_line(error)}"))


def attempted(call: MetricCall, *, debug: bool) -> Measured | Failure:
    """Return the scores of a metric, or why there are none.

    Raises
    ------
    DiskError
        If the disk is full or cannot be read.
    Exception
        Of any class, if the metric has a mistake, and the run is debugged.
    """
    try:
        return measured(call)
    except PLUGIN_ERRORS as error:
        return _failure(error, debug=debug)


def _failure(error: BaseException, *, debug: bool) -> Failure:
    """Return the failure of a job for an error; raise the error if it ends the run."""
    if isinstance(error, DiskError) or (debug and not isinstance(error, HarnessError)):
        raise error
    if isinstance(error, NotApplicable):
        return Failure(str(error), "mitigator")
    return Failure(one_line(error))


# The scores of one job.


@dataclass(frozen=True, eq=False)
class Step:
    """A metric on a scenario of a job.

    Parameters
    ----------
    scenario, measurement
        The scenario, and the metric with its inputs.
    kept
        (n,) mask of the rows that the metric gets, by group of inputs.
    coverage
        How many distinct texts have a usable vector.
    call
        The call of the metric.
    judged
        How the metric is judged; None for a task that does not measure bias.
    unseen
        The step with the texts and the fit that are judged, if these are others.
    """

    scenario: Scenario
    measurement: Measurement
    kept: Mapping[str, Mask]
    coverage: Coverage
    call: MetricCall
    judged: Judged | None = None
    unseen: Step | None = None

    @property
    def place(self) -> tuple[str, str]:
        """The scenario and the metric."""
        return self.scenario.name, self.measurement.metric.name


class JobScorer:
    """Scores one job, step by step; parameters as those of `measure`."""

    def __init__(
        self,
        job: Job,
        encode: Encode,
        *,
        seed: int,
        reading: Reading,
        samples: bool,
        yardsticks: Yardsticks | None = None,
        compare: Compare | None = None,
        unread: Unread | None = None,
        forms: Forms | None = None,
        fits: HeldOutFits | None = None,
    ) -> None:
        self.job, self.seed, self.samples = job, seed, samples
        self._encode, self._reading = encode, reading
        self._compare, self._unread, self._fits = compare, unread, fits
        self._yardsticks = yardsticks or Yardsticks()
        self._vectors = {id(job.mitigator): JobVectors(job, encode, reading)}
        self._fitted = Fitted(job)
        self._alike = (forms or Forms(encode)).of(job.task)

    def steps(self) -> Iterator[Step]:
        """Yield each metric of each scenario with the call that it needs."""
        for scenario in self.job.task.scenarios:
            for measurement in scenario.measurements:
                judged = None
                if self._fits and self.job.task.file.measures == "bias":
                    judged = self._fits.of(self.job, measurement)
                step = self._step(scenario, measurement, self.job)
                if judged is not None and not judged.is_whole(self.job):
                    unseen = self._step(scenario, measurement, judged.job, judged)
                    call = dataclasses.replace(step.call, unseen=unseen.call)
                    step = dataclasses.replace(step, call=call, unseen=unseen)
                yield dataclasses.replace(step, judged=judged)

    def scores(self, step: Step, returned: Measured) -> MetricScores:
        """Return the scores of a step, from what its metric returned."""
        scores = self._defined(step, returned)
        unseen = scores if step.judged else {}
        if step.judged and step.unseen and returned.unseen:
            unseen = self._defined(step.unseen, returned.unseen, step.judged)
        inputs, kept = step.measurement.inputs, step.kept
        samples = None
        if self.samples:
            rows = SampleRows(self.job, step.measurement.metric, inputs, kept)
            samples = {name: rows.of(score) for name, score in scores.items()}
        ratio = self._ratio(step) if self.job.task.primary == step.place else None
        one_of_each_group = {input_.group: input_ for input_ in inputs.values()}.values()
        return MetricScores(
            scenario=step.scenario,
            measurement=step.measurement,
            options=step.call.options,
            scores=scores,
            judged=step.judged,
            unseen=unseen,
            coverage=step.coverage,
            clusters=sum(
                len(np.unique(input_.clusters[kept[input_.group]])) for input_ in one_of_each_group
            ),
            word_overlap=self._fitted.word_overlap(inputs.values()),
            seconds=returned.seconds,
            samples=samples,
            ratio=ratio,
        )

    def _of(self, job: Job) -> JobVectors:
        """Return the vectors of the job, or of one with a held-out fit."""
        key = id(job.mitigator)
        if key not in self._vectors:
            self._vectors[key] = JobVectors(job, self._encode, self._reading)
        return self._vectors[key]

    def _defined(
        self, step: Step, returned: Measured, judged: Judged | None = None
    ) -> Mapping[str, Score]:
        """Return the scores of a step; where the mitigator left no difference, with a value."""
        scores, job = returned.scores, judged.job if judged else self.job
        if not (job.mitigator.mitigators and any(map(_has_no_difference, scores.values()))):
            return scores
        before = self._step(
            step.scenario, step.measurement, job, judged, returned.rng, mitigated=False
        )
        return _without_difference(scores, measured(before.call).scores)

    def _ratio(self, step: Step) -> Ratio | None:
        """Return the gap of a step over that of the task's yardstick; None without one."""
        job, judged = (step.judged.job if step.judged else self.job), step.unseen or step
        metric, inputs = step.measurement.metric, step.measurement.inputs
        none = job.task.file.yardstick == NO_YARDSTICK
        if judged.call.void or metric.gap is None or none:
            return None
        units, options = units_of(inputs, judged.kept), step.measurement.options
        gaps = metric.gaps(judged.call.inputs.arrays, units, options)
        if gaps is None:
            return None
        yardstick = job.task.yardstick
        if yardstick is None:
            if gaps.yardstick is None:
                return None
            return Ratio(gaps.gap, gaps.yardstick, is_evidence=gaps.is_evidence)
        contrasts = self._yardsticks.of(job, self._encode, self._reading, self._compare)
        if not contrasts:
            return None
        mean = Gap.mean(list(contrasts.values()))
        values = {name: gap.value for name, gap in contrasts.items()}
        return Ratio(gaps.gap, mean, yardstick.name, values)

    def _shared(self, metric: Metric, inputs: Mapping[str, Input]) -> str | None:
        """Return a reason if sets share a word by its vector, and the metric needs others."""
        spellings = self._alike.spellings
        for names in metric.disjoint:
            first, second = ({*(inputs[n].texts or ())} if n in inputs else set() for n in names)
            if shared := (spellings.like(first) if spellings else first) & second:
                return f"'{names[0]}' and '{names[1]}' share '{min(shared)}' as the model reads it"
        return None

    def _step(
        self,
        scenario: Scenario,
        measurement: Measurement,
        job: Job,
        judged: Judged | None = None,
        rng: np.random.Generator | None = None,
        *,
        mitigated: bool = True,
    ) -> Step:
        """Return a step of a job, with the rows that are judged or with all of them."""
        metric, inputs = measurement.metric, measurement.inputs
        of_job = self._of(job)
        vectors = _of_texts(scenario, of_job.mitigated if mitigated else of_job.unmitigated)
        if rng is None:
            draws = job.task.draws_of(measurement)
            rng = random_generator(self.seed, draws, scenario.name, metric.name)
        kept = usable_rows(inputs, vectors)
        unread: Mapping[str, Mask] = {}
        if self._unread and job.task.file.measures == "bias":
            unread = self._unread.rows(metric, inputs, job.texts, of_job.read)
        for input_ in inputs.values():
            if input_.name in unread:
                kept[input_.group] &= ~unread[input_.name]
        coverage = _coverage(inputs, vectors, unread)
        rows = judged.rows if judged else {}
        for group in rows:
            kept[group] &= rows[group]
        void = (judged.reason or None) if judged else None
        void = void or too_few(inputs, kept, job.task.file.max_missing, unread, rows)
        void = void or all_equal(inputs, kept, vectors, job.texts)
        void = void or self._shared(metric, inputs)
        for input_ in inputs.values():
            if (firsts := self._alike.firsts.get(id(input_))) is not None:
                kept[input_.group] &= firsts  # a word counts once by its vector
        own = MetricInputs({}, {}, {})
        if not void:
            own = MetricInputs.of(inputs, vectors, kept, metric.compares, self._compare)
            if metric.compares is not None and self._compare is not None:
                void = all_similar(own, metric.compares)
        options = metric.options | dict(measurement.options)
        call = MetricCall(metric, own, options, rng, void, self.samples and judged is None)
        return Step(scenario, measurement, kept, coverage, call, judged)


def measure(
    job: Job,
    encode: Encode,
    *,
    seed: int,
    reading: Reading = lambda _: contextlib.nullcontext(),
    samples: bool = False,
    compare: Compare | None = None,
) -> list[MetricScores]:
    """Return the scores of all metrics of a job; its mitigator must be fitted.

    Parameters
    ----------
    job
        The task under its mitigator.
    encode
        Returns the (n, d) vectors of texts, unmitigated.
    seed
        Seed of the run.
    reading
        Returns a context in which `encode` takes texts as texts of a role.
    samples
        Whether to return what each item contributes.
    compare
        The model's own similarity, if it has one.
    """
    scorer = JobScorer(job, encode, seed=seed, reading=reading, samples=samples, compare=compare)
    return [scorer.scores(step, measured(step.call)) for step in scorer.steps()]


def random_generator(seed: int, *purpose: str) -> np.random.Generator:
    """Return the generator for random choices: a function of the seed and their purpose.

    The purpose does not include the model, so that all models are scored with the same draws.
    """
    return np.random.default_rng([seed, int(digest(list(purpose)), 16)])


def _of_texts(scenario: Scenario, vectors: Callable[[Input], Vectors]) -> dict[str, Vectors]:
    """Return the vectors of each input of a scenario that has texts, all of one width."""
    of_texts = {n: vectors(i) for n, i in scenario.inputs.items() if i.texts is not None}
    return dict(zip(of_texts, one_width(list(of_texts.values())), strict=True))


def _has_no_difference(score: Score) -> bool:
    """Return whether a score is undefined for lack of a difference to measure."""
    return score.without_difference is not None and not math.isfinite(score.value)


def _without_difference(
    scores: Mapping[str, Score], before: Mapping[str, Score]
) -> dict[str, Score]:
    """Return the scores, with a value for those that are undefined only because of the mitigator.

    Parameters
    ----------
    scores, before
        Scores by name of the mitigated vectors, and of the model's own.
    """
    defined = dict(scores)
    for name, score in scores.items():
        value = score.without_difference if _has_no_difference(score) else None
        if value is not None and math.isfinite(before[name].value):
            details = {**score.details, "undone": score.reason, "before": before[name].value}
            defined[name] = dataclasses.replace(score, value=value, reason=None, details=details)
    return defined


def _coverage(
    inputs: Mapping[str, Input], vectors: Mapping[str, Vectors], unread: Mapping[str, Mask]
) -> Coverage:
    has_vector: dict[str, bool] = {}
    for input_ in inputs.values():
        if input_.texts is not None:
            usable = has_direction(vectors[input_.name])
            has_vector |= dict(zip(input_.texts, usable.tolist(), strict=True))
    for input_ in inputs.values():
        rows = unread.get(input_.name, ())
        has_vector |= dict.fromkeys(itertools.compress(input_.texts or (), rows), False)
    missing = tuple(text for text, has in has_vector.items() if not has)
    return Coverage(asked=len(has_vector), found=len(has_vector) - len(missing), missing=missing)


# The jobs of one model, scored here or with worker processes that call the metrics.


ALONE = 3.0
"""Seconds for which jobs run in this process before workers are started."""
WORTH = 5.0
"""Estimated remaining seconds of scoring above which workers are started."""


@dataclass(frozen=True)
class Scored:
    """The result of a job.

    Parameters
    ----------
    records
        Its records, without the facts that only the model knows (`ModelFacts`).
    without_samples
        The metrics that give no samples, although they were asked for.
    """

    records: tuple[Record, ...]
    without_samples: tuple[str, ...] = ()


Outcome: TypeAlias = Scored | NotRun


@dataclass(frozen=True)
class JobRun:
    """The settings that all jobs of a model share.

    Parameters
    ----------
    vectors
        The model.
    provenance
        The facts about the run in the records.
    samples
        Whether to keep what each item contributes to a score.
    debug
        Whether an unexpected error is raised.
    yardsticks
        The gaps of yardsticks that were measured.
    unread
        The texts that an encoder cannot read.
    forms
        The words that the model reads alike.
    fits
        The fits without words of a task.
    """

    vectors: StoredEmbedder
    provenance: Provenance
    samples: bool
    debug: bool
    yardsticks: Yardsticks
    unread: Unread | None
    forms: Forms
    fits: HeldOutFits


class OpenJob:
    """A job that is being scored.

    Parameters
    ----------
    job
        The job.
    run
        The settings that it shares with other jobs.
    """

    def __init__(self, job: Job, run: JobRun) -> None:
        self.job, self.run = job, run
        self._scored: list[Scored | Failure | None] = []  # by step; None: no result yet
        self._all_steps = False

    def steps(self) -> Iterator[tuple[int, Step]]:
        """Fit the mitigator, and yield each step with its number.

        An error ends the steps; `outcome` returns it.
        """
        vectors = self.run.vectors
        try:
            for chain in self.job.chains:
                chain.fit_once(vectors, self.job.concept)
            self._scorer = JobScorer(
                self.job,
                vectors.encode,
                seed=self.run.provenance.seed,
                reading=vectors.reading,
                samples=self.run.samples,
                yardsticks=self.run.yardsticks,
                compare=vectors.compare,
                unread=self.run.unread,
                forms=self.run.forms,
                fits=self.run.fits,
            )
            for step in self._scorer.steps():
                self._scored.append(None)
                yield len(self._scored) - 1, step
        except PLUGIN_ERRORS as error:
            self._scored.append(_failure(error, debug=self.run.debug))
        self._all_steps = True

    def add(self, number: int, step: Step, returned: Measured | Failure) -> None:
        """Add the result of the metric of a step."""
        if isinstance(returned, Failure):
            self._scored[number] = returned
            return
        try:
            scores = self._scorer.scores(step, returned)
            records = tuple(recording.make_records(self.job, scores, self.run.provenance))
        except PLUGIN_ERRORS as error:
            self._scored[number] = _failure(error, debug=self.run.debug)
        else:
            lacks = (str(scores.measurement.metric),) if scores.lacks_samples else ()
            self._scored[number] = Scored(records, lacks)

    @property
    def is_complete(self) -> bool:
        """Whether all results have arrived."""
        return self._all_steps and None not in self._scored

    def outcome(self) -> Outcome:
        """Return the records of the job so far, or its first failure."""
        parts: list[Scored] = []
        for part in self._scored:
            if isinstance(part, Failure):
                model = self.run.provenance.model.name
                label, task = self.job.part.label, self.job.task.name
                return NotRun(model, label, task, part.reason, part.kind)
            if part is not None:
                parts.append(part)
        return Scored(
            records=tuple(record for part in parts for record in part.records),
            without_samples=tuple(name for part in parts for name in part.without_samples),
        )


class JobPool:
    """Scores the jobs of one model.

    Parameters
    ----------
    jobs
        The jobs.
    run
        The settings that they share.
    workers
        Number of processes that call metrics; None for the number of cores, if enough work remains.
    cluster
        The cluster that calls metrics, instead of processes of this machine.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        run: JobRun,
        *,
        workers: int | None,
        cluster: parallel.Cluster | None = None,
    ) -> None:
        self.jobs, self.run = jobs, run
        self.workers, self.cluster = workers, cluster

    def outcomes(self) -> Generator[tuple[int, Outcome], None, None]:
        """Yield the position and the outcome of each job, as they are ready.

        Raises
        ------
        DiskError
            If the disk is full or cannot be read.
        """
        remaining: Sequence[int] = range(len(self.jobs))
        workers = self.workers
        if workers is None:
            remaining = yield from self._while_alone(sorted(remaining, key=self._size))
            workers = parallel.cores() if remaining and self.cluster is None else 2
        if min(workers, len(remaining)) > 1:
            yield from self._by_workers(sorted(remaining, key=self._size, reverse=True), workers)
        else:
            yield from self._here(remaining)

    def _size(self, position: int) -> int:
        """Return the number of texts of a job, from which its time is estimated."""
        return sum(len(input_.texts or ()) for input_ in self.jobs[position].task.texts())

    def _here(self, positions: Iterable[int]) -> Iterator[tuple[int, Outcome]]:
        for position in positions:
            job = OpenJob(self.jobs[position], self.run)
            for number, step in job.steps():
                job.add(number, step, attempted(step.call, debug=self.run.debug))
            yield position, job.outcome()

    def _while_alone(
        self, positions: Sequence[int]
    ) -> Generator[tuple[int, Outcome], None, Sequence[int]]:
        """Run jobs here until it pays to start workers; return the positions of the other jobs."""
        sizes = [self._size(position) for position in positions]
        started = time.monotonic()
        for done, ready in enumerate(self._here(positions), start=1):
            yield ready
            seconds = time.monotonic() - started
            seconds_left = seconds * sum(sizes[done:]) / max(1, sum(sizes[:done]))
            if seconds > ALONE and seconds_left > WORTH:
                return positions[done:]
        return ()

    def _by_workers(self, positions: Sequence[int], workers: int) -> Iterator[tuple[int, Outcome]]:
        called: dict[int, tuple[int, OpenJob, int, Step]] = {}  # by number of the call
        complete: list[tuple[int, OpenJob]] = []

        def calls() -> Iterator[MetricCall]:
            numbers = itertools.count()
            for position in positions:
                job = OpenJob(self.jobs[position], self.run)
                for number, step in job.steps():
                    called[next(numbers)] = position, job, number, step
                    yield step.call
                if job.is_complete:
                    complete.append((position, job))

        function = functools.partial(attempted, debug=self.run.debug)
        replies = parallel.results(function, calls(), workers=workers, cluster=self.cluster)
        with contextlib.closing(replies):
            for call, reply in replies:
                position, job, number, step = called.pop(call)
                if isinstance(reply, parallel.NoResult):
                    job.add(number, step, self._replaced(reply, step))
                else:
                    job.add(number, step, reply)
                if job.is_complete:
                    complete.append((position, job))
                while complete:
                    position, job = complete.pop()
                    yield position, job.outcome()
        for position, job in complete:  # jobs without a call of a metric
            yield position, job.outcome()

    def _replaced(self, no_result: parallel.NoResult, step: Step) -> Measured | Failure:
        """Return what replaces a missing result: a call here, or a failure if the process died."""
        if no_result.killed:
            return Failure(no_result.reason)
        return attempted(step.call, debug=self.run.debug)


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
        Notices for the user, a line each.
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
    forms = Forms(vectors.encode)
    run_ = JobRun(
        vectors,
        provenance,
        settings.samples,
        settings.debug,
        yardsticks=Yardsticks(),
        unread=None if info.kind in ("word", PAIRS) else Unread(vectors),
        forms=forms,
        fits=HeldOutFits(vectors),
    )
    workers = 1 if settings.debug and settings.workers is None else settings.workers
    cluster = engine if isinstance(engine, parallel.Cluster) else None
    pool = JobPool(jobs, run_, workers=workers, cluster=cluster)
    facts = ModelFacts(vectors)
    records: dict[int, list[Record]] = {}
    scored: dict[int, Scored] = {}
    not_run: dict[int, NotRun] = {}
    stage = settings.progress.stage(f"{info.name}: scoring", len(jobs), "tasks")
    with stage as advance, one_thread(), contextlib.closing(pool.outcomes()) as outcomes:
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
            *(f"{metric} gives no samples" for metric in without_samples),
            *recording.frequency_notices(ordered, info.name),
            *recording.fitted_word_notices(ordered, info.name),
            *recording.missing_words(jobs, info.name),
            *recording.other_forms(jobs, forms, info.name),
            *recording.cut_texts(ordered, info.name),
            *recording.unlike(ordered, vectors),
            *recording.notes(jobs),
        ),
    )
