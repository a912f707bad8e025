"""Makes records of scores, with all that is needed to trust and repeat a score.

The notices of a run about its records are here, too.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import math
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from statistics import fmean
from typing import Any

import numpy as np

import harness
from harness import names
from harness.arrays import ROUNDING, Mask
from harness.digest import json_like
from harness.embedder import ModelInfo, reads_texts
from harness.encode.stored_embedder import StoredEmbedder
from harness.errors import HarnessError, listed
from harness.metrics import Gap, Ideal, Metric, Samples, Score
from harness.results import ratios
from harness.results.record import (
    Coverage,
    Environment,
    FloorPart,
    Frequency,
    IntervalPart,
    ModelPart,
    Record,
    TaskPart,
    UnseenPart,
    WordOverlap,
    finite,
)
from harness.run.plan import Forms, Job
from harness.run.unseen import Judged
from harness.task.inputs import Input
from harness.task.reference import Reference
from harness.task.task import Measurement, Scenario

PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "transformers", "sentence-transformers")
"""Packages whose version can change a score."""


# The rows of `--samples`: the texts of each item of a score, and its contribution.


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
        (n,) mask of the rows that the metric got, by group of inputs.
    """

    def __init__(
        self, job: Job, metric: Metric, inputs: Mapping[str, Input], kept: Mapping[str, Mask]
    ) -> None:
        self.job, self.metric, self.inputs, self.kept = job, metric, inputs, kept

    def of(self, score: Score) -> list[SampleRow]:
        """Return the rows of a score.

        A row has the text of the item as `text`, its input as `input`, and the name of its word
        set, if any, as `set`; an item of several inputs, such as a pair, has each text under the
        name of its input. `embedded` is the text as the mitigator rewrote it.

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
            set_ = {"set": [input_.sets] * len(texts)} if input_.sets else {}
            columns = {"input": [name] * len(texts), **set_, "text": texts}
        return columns | (rewritten if embedded != texts else {})

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


@dataclass(frozen=True, eq=False)
class Ratio:
    """The gap of a task, and that of its yardstick on the same vectors.

    Parameters
    ----------
    gap, yardstick
        The gaps.
    of
        Name of the yardstick; `items` if it is made of the same items.
    contrasts
        Gap of each contrast of the yardstick, by name.
    is_evidence
        Whether only a usable model shows the yardstick.
    """

    gap: Gap
    yardstick: Gap
    of: str = ratios.ITEMS
    contrasts: Mapping[str, float] = field(default_factory=dict)
    is_evidence: bool = True

    def fields(self, reference: Reference | None) -> dict[str, Any]:
        """Return the fields of a record; `reference` is what the reference encoder shows."""
        own = self.of == ratios.ITEMS
        known = None
        if reference is not None:
            known = (
                *(reference.gap, reference.yardstick, reference.error, reference.yardstick_error),
            )
        ratio = ratios.ratio_of(
            self.gap, self.yardstick, self.of, is_evidence=self.is_evidence, reference=known
        )
        return {
            "ratio": ratio,
            "contrasts": dict(self.contrasts),
            "deviations": ratios.deviations_of(self.gap, self.yardstick, own=own),
        }


@dataclass(frozen=True)
class MetricScores:
    """The scores of a metric on a scenario.

    Parameters
    ----------
    scenario, measurement
        The scenario, and the metric with its inputs.
    options
        Options of the metric, defaults included.
    scores
        Scores by name.
    judged, unseen
        How the metric is judged, and the scores that are, by name; None for a task that does not
        measure bias.
    coverage
        How many distinct texts had a usable vector; `ModelFacts` adds the model's facts about them.
    clusters
        Number of distinct items that the texts were made of.
    word_overlap
        How many texts of each input hold words that the mitigator was fitted on.
    seconds
        Time that the metric took.
    samples
        What each item contributes, by score; None if it was not asked for.
    ratio
        The gap over that of the yardstick; None for a metric that does not stand for its task.
    """

    scenario: Scenario
    measurement: Measurement
    options: Mapping[str, Any]
    scores: Mapping[str, Score]
    coverage: Coverage
    clusters: int
    word_overlap: tuple[WordOverlap, ...]
    seconds: float
    samples: Mapping[str, Sequence[SampleRow]] | None = None
    judged: Judged | None = None
    unseen: Mapping[str, Score] = field(default_factory=dict)
    ratio: Ratio | None = None

    @property
    def lacks_samples(self) -> bool:
        """Whether samples were requested, and a defined value has none."""
        samples, scores = self.samples, self.scores
        if samples is None or any(samples.values()):
            return False
        return any(math.isfinite(score.value) for score in scores.values())


@dataclass(frozen=True)
class Provenance:
    """The origin of the records of one model in one run.

    Parameters
    ----------
    run
        Identifies the run.
    model
        The description of the model in records.
    seed
        Seed of the run.
    environment
        Versions and devices that it ran on.
    """

    run: str
    model: ModelPart
    seed: int
    environment: Environment


def make_records(job: Job, result: MetricScores, provenance: Provenance) -> Iterator[Record]:
    """Yield a record for each score of a metric on a scenario of a job."""
    file, metric = job.task.file, result.measurement.metric
    primary = (file.primary.scenario, file.primary.metric, file.primary.score)
    reference = job.task.references.get("text" if reads_texts(provenance.model.kind) else "word")
    for name, returned in result.scores.items():
        scale = metric.scores[name]
        is_primary = (result.scenario.name, metric.name, name) == primary
        score = without_rounding(returned, scale.ideal)
        value = finite(score.value)
        record = Record(
            run=provenance.run,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            model=provenance.model,
            mitigator=job.part,
            task=TaskPart(
                name=file.name,
                version=file.version,
                digest=job.task.digest_of(result.measurement),
                title=file.title,
                measures=file.measures,
                family=file.family or file.primary.metric,
                unranked=file.not_ranked,
            ),
            concept=file.concept,
            category=file.category,
            language=file.language,
            scenario=result.scenario.name,
            metric=metric.name,
            options=names.public_value(json_like(result.options)),
            score=name,
            primary=is_primary,
            value=value,
            reason=None if value is not None else score.reason,
            ideal=scale.ideal,
            bounds=score.bounds or scale.bounds,
            p_value=finite(score.p_value),
            interval=_interval(score) if value is not None else None,
            floor=floor_of(score, scale.ideal) if value is not None else None,
            unit=finite(score.unit),
            **_unseen(result, name, scale.ideal),
            **(result.ratio.fields(reference) if is_primary and result.ratio else {}),
            n=None if score.n is None else int(score.n),
            clusters=result.clusters,
            details=json_like(score.details),
            coverage=result.coverage,
            withheld=result.judged.withheld if result.judged else (),
            word_overlap=result.word_overlap,
            seed=provenance.seed,
            limit=job.task.limit,
            seconds=result.seconds,
            environment=provenance.environment,
        )
        samples = None if result.samples is None else result.samples[name]
        yield record.keeping(score.tables, samples)


def _unseen(result: MetricScores, name: str, ideal: Ideal) -> dict[str, Any]:
    """Return the fields of a record with the score that is judged."""
    if result.judged is None:
        return {}
    score = without_rounding(result.unseen[name], ideal)
    value, details = finite(score.value), json_like(score.details)
    return {
        "unseen": UnseenPart(
            kind=result.judged.kind,
            value=value,
            reason=None if value is not None else score.reason,
            p_value=finite(score.p_value),
            n=None if score.n is None else int(score.n),
            reversed=details.get("reversed"),
            undone=details.get("undone"),
        ),
        "unseen_interval": _interval(score) if value is not None else None,
        "unseen_floor": floor_of(score, ideal) if value is not None else None,
    }


@functools.cache
def environment(device: str) -> Environment:
    """Return the versions that this process runs on; `device` names the devices that encoded."""
    packages = {}
    for package in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            packages[package] = metadata.version(package)
    return Environment(
        harness=harness.__version__,
        python=platform.python_version(),
        platform=f"{sys.platform}-{platform.machine()}",
        device=device,
        packages=packages,
    )


def model_part(info: ModelInfo) -> ModelPart:
    """Return the part of a record that describes a model."""
    return ModelPart(
        name=info.name,
        aliases=info.aliases,
        revision=info.revision,
        fingerprint=info.fingerprint,
        kind=info.kind,
        dimensions=info.dimensions,
        parameters=info.n_parameters,
        max_tokens=info.max_tokens,
        licence=info.licence,
        open_weights=info.open_weights,
        released=info.released,
        superseded_by=info.superseded_by,
        languages=info.languages,
        prompts={str(role): prompt for role, prompt in info.role_prompts.items()},
        routes={str(role): route for role, route in info.routes.items()},
        base=info.base,
        base_fingerprint=info.base_fingerprint,
        url=info.url,
        published=dict(info.scores),
    )


def without_rounding(score: Score, ideal: Ideal) -> Score:
    """Return a score with its ideal as its value if it differs from it by rounding only.

    What is left is noise: its p-value is 1, and it has no side. This holds for scores with a unit;
    a metric without one knows itself what it divides by.
    """
    if isinstance(ideal, str) or not score.unit or score.value == ideal:
        return score
    if not abs(score.value - ideal) <= ROUNDING * max(1.0, score.unit):
        return score
    details = {**score.details, "rounding": score.value}
    if "reversed" in details:
        details["reversed"] = False
    p_value = None if score.p_value is None else 1.0
    return dataclasses.replace(score, value=float(ideal), p_value=p_value, details=details)


def floor_of(score: Score, ideal: Ideal) -> FloorPart | None:
    """Return the floor of a score; None if it has none, or if its ideal is not a number."""
    if score.null is None or isinstance(ideal, str):
        return None
    values = np.asarray(score.null.values, dtype=np.float64)
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return None
    distances = np.abs(values - ideal)
    return FloorPart(
        mean=float(distances.mean()),
        sd=float(distances.std()),
        centre=float(values.mean()),
        spread=float(values.std()),
        draws=len(values),
        shuffled=score.null.shuffled,
    )


def _interval(score: Score) -> IntervalPart | None:
    interval = score.interval
    if interval is None or finite(interval.low) is None or finite(interval.high) is None:
        return None
    return IntervalPart(
        low=interval.low, high=interval.high, level=interval.level, method=interval.method
    )


# The frequency of the words of a score, from their ranks in the vocabulary of a word embedder.
#
# Vectors depend on frequency, and so do bias scores, even if there is no bias: Valentini, Rosati,
# Fernandez Slezak and Altszyler (2022), The undesirable dependence on frequency of gender bias
# metrics based on word embeddings. They show the effect but give no threshold; the two thresholds
# below are the harness's own.


Ranks = Callable[[Sequence[str]], Sequence[int] | None]
"""Returns the rank of each word, 1 for the most frequent one and 0 if it is unknown, or None."""
FREQUENT = 50_000
"""Words of greater rank are rare. Bolukbasi et al. (2016) study the 50,000 most frequent words."""
UNLIKE = 3.0
"""Contrasted sets are unlike if their typical ranks differ by this factor, half an order of
magnitude."""
SHOWN = 4
"""Most tasks that a notice names."""


def frequency_of(measurement: Measurement, ranks: Ranks) -> Frequency | None:
    """Return the typical rank of each input; None if the order of the vocabulary is unknown."""
    typical: dict[str, float] = {}
    rare: dict[str, int] = {}
    for parameter, input_ in measurement.inputs.items():
        if input_.texts is None or input_.vocabulary:
            continue
        words = list(dict.fromkeys(input_.texts))
        of_words = ranks(words)
        if of_words is None:
            return None
        known = {word: rank for word, rank in zip(words, of_words, strict=True) if rank}
        if known:
            typical[parameter] = math.exp(fmean(map(math.log, known.values())))
        rare |= {word: rank for word, rank in known.items() if rank > FREQUENT}
    contrast = measurement.metric.contrast
    pairs = [] if contrast is None else [contrast.sides, contrast.towards]
    return Frequency(
        ranks={parameter: round(rank) for parameter, rank in typical.items()},
        unlike={
            " and ".join(pair): round(ratio, 1)
            for pair in pairs
            if len(pair) == 2 and set(pair) <= set(typical)
            if (ratio := _ratio(*(typical[name] for name in pair))) >= UNLIKE
        },
        rare=tuple(rare),
    )


def frequency_notices(records: Iterable[Record], model: str) -> list[str]:
    """Return notices about the frequency of the words of bias tasks."""
    unlike: dict[str, str] = {}
    rare: dict[str, str] = {}
    for record in records:
        frequency = record.coverage.frequency
        if frequency is None or record.task.measures != "bias":
            continue
        if frequency.unlike:
            unlike[record.task.name] = f"{max(frequency.unlike.values()):g} ×"
        if frequency.rare:
            rare[record.task.name] = f"{len(frequency.rare)}"
    lines = []
    if unlike:
        lines.append(
            f"{model}: contrasted words differ in frequency in {_listed(unlike)}: "
            "part of the association may be frequency (coverage.frequency)"
        )
    if rare:
        lines.append(
            f"{model}: words that are not among the {FREQUENT:,} most frequent ones in "
            f"{_listed(rare)}: their vectors are less certain (coverage.frequency)"
        )
    return lines


def fitted_word_notices(records: Iterable[Record], model: str) -> list[str]:
    """Return which bias tasks have words inside their texts that a mitigator was fitted on.

    Each task is named with the number of such texts of its main score. Words that are texts of
    their own are withheld, and not named here.
    """
    by_label: dict[str, dict[str, str]] = {}
    for record in records:
        holding = sum(part.holding for part in record.word_overlap)
        is_inside = record.unseen is not None and not record.withheld
        if record.primary and is_inside and holding:
            texts = sum(part.texts for part in record.word_overlap)
            by_task = by_label.setdefault(record.mitigator.label, {})
            by_task[record.task.name] = f"{holding} of {texts} texts"
    return [
        f"{model}: '{label}' was fitted on words inside the texts of {_listed(by_task)}; these "
        "values count (word_overlap)"
        for label, by_task in by_label.items()
    ]


def _ratio(first: float, second: float) -> float:
    return max(first, second) / min(first, second)


def _listed(by_task: dict[str, str]) -> str:
    return listed((f"{task} ({value})" for task, value in by_task.items()), SHOWN)


# Facts that only the model knows about the texts of a score: truncation and word frequency.
#
# The main process adds them to records, also to those of other processes.


@dataclasses.dataclass(frozen=True)
class _Facts:
    """Facts as in a record's coverage."""

    truncated: int | None
    frequency: Frequency | None


class ModelFacts:
    """Adds the model's facts about texts to records.

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
        """Return how many distinct texts the model truncates; None if it does not state it."""
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
            self._frequency[key] = frequency_of(measurement, self._vectors.ranks)
        return self._frequency[key]


# Notices of a run, a line each.


def notes(jobs: Iterable[Job]) -> list[str]:
    """Return the notes of the mitigators of jobs, a line each."""
    return [
        f"'{job.part.label}': {note}"
        for job in jobs
        for chain in job.chains
        for note in chain.notes
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
    return [
        f"{vectors.info.name}: half of the words of {listed(tasks, SHOWN)} or more have no vector; "
        f"{reason}"
    ]


def other_forms(jobs: Iterable[Job], forms: Forms, model: str) -> list[str]:
    """Return a line for each task that has a word in several forms that the model reads alike."""
    lines = []
    for task in {id(job.task): job.task for job in jobs}.values():
        firsts = forms.of(task).firsts
        inputs = [input_ for scenario in task.scenarios for input_ in scenario.inputs.values()]
        others = {
            f"'{text}'": None
            for input_ in inputs
            for text, is_first in zip(input_.texts or (), firsts.get(id(input_), ()), strict=False)
            if not is_first
        }
        if others:
            line = f"{model} reads {listed(others, 5)} of {task.name} as other words"
            lines.append(f"{line} of the same set; a word counts once")
    return lines


def cut_texts(records: Iterable[Record], model: str) -> list[str]:
    """Return a line on the tasks of which a model cuts a tenth of the texts or more."""
    coverage = {record.task.name: record.coverage for record in records if record.primary}
    cut = [name for name, c in coverage.items() if c.truncated and 10 * c.truncated >= c.asked]
    return [f"{model} cuts texts of {listed(cut, 5)}, which are too long for it"] if cut else []


def missing_words(jobs: Iterable[Job], model: str) -> list[str]:
    """Return a line for each list of fitting words that the model lacks."""
    mitigators: dict[tuple[str, ...], list[str]] = {}
    for job in jobs:
        for stage in job.mitigator.mitigators:
            if stage.missing_words:
                on = f" on {job.concept.name}" if job.concept else ""
                mitigators.setdefault(stage.missing_words, []).append(f"'{job.part.label}'{on}")
    lines = []
    for words, labels in mitigators.items():
        under = ", ".join(dict.fromkeys(labels))
        lines.append(f"{under}: fitted without {listed(words, 5)}, which {model} lacks")
    return lines
