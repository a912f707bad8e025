"""A record: one score of one embedder under one mitigator on one task and scenario.

One JSON line with everything that is needed to trust and repeat the score. It never holds NaN or
infinity: the value is null then, with the reason.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    Self,
)

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from harness import folders, limits
from harness.digest import digest
from harness.embedder import Kind
from harness.errors import DiskError, InvalidFile, UsageError
from harness.metrics import Bounds, Ideal, is_within

if TYPE_CHECKING:
    pass

# The check of a line.
#
# A line ends with `"check":"…"`, a hash of the bytes before it. It reveals every changed byte, even
# if the line is still valid JSON. Lines without a check are accepted: older files, files that
# people write, and files that another program rewrote.


_SIZE = 8
"""Bytes of a check: of 1.8e19 damaged lines, one is not found."""
_KEY = b',"check":"'
_END = b'"}'
_LENGTH = len(_KEY) + 2 * _SIZE + len(_END)


def with_check(content: str) -> str:
    """Return a JSON object on one line, with its check as the last key."""
    return f'{content[:-1]},"check":"{_hash(content.encode())}"}}'


def check_of(line: bytes) -> bytes | None:
    """Return the check at the end of a line; None if there is none."""
    text = line.strip()
    key, end = len(text) - _LENGTH, len(text) - len(_END)
    if text[key : key + len(_KEY)] != _KEY or not text.endswith(_END):
        return None
    return text[key + len(_KEY) : end]


def is_as_written(line: bytes) -> bool:
    """Return whether a line agrees with its check; a line without one does."""
    return without_check(line) is not None


def without_check(line: bytes) -> bytes | None:
    """Return a line without its check and the space around it; None if the check differs."""
    content = line.strip()
    check = check_of(content)
    if check is None:
        return content
    content = content[:-_LENGTH] + b"}"
    return content if check == _hash(content).encode() else None


def _hash(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=_SIZE).hexdigest()


# The parts of a record: the model, mitigator, task, interval, floor, coverage and environment.


def _is_a_time(text: str) -> str:
    datetime.fromisoformat(text)
    return text


Finite = Annotated[float, Field(allow_inf_nan=False)]
Probability = Annotated[float, Field(ge=0, le=1)]
Spread = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=limits.INTEGER)]
Label = Annotated[str, Field(max_length=limits.NAME_CHARACTERS)]
Time = Annotated[str, Field(max_length=40), AfterValidator(_is_a_time)]
"""ISO 8601."""


class Part(BaseModel):
    """Base of a record and its parts: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Line(Part):
    """Base of what a line of a results file holds."""

    schema_version: Literal[1] = Field(default=1, alias="schema")
    """Version of this schema."""
    id: str = ""
    """Digest of what identifies the record; a record replaces the one with the same id."""
    check: Annotated[str, AfterValidator(lambda _: "")] = Field(default="", exclude=True)
    """Last key of a line: hash of the bytes before it, compared when the line is read. It does not
    belong to the record: lines without it are valid."""

    model_config = ConfigDict(populate_by_name=True)

    def identity(self) -> str:
        """Return the id of the content; by default the stated id."""
        return self.id

    def line(self) -> str:
        """Return the record as one line of JSON, with its check and its newline."""
        return with_check(self.model_dump_json(by_alias=True)) + "\n"


class ModelPart(Part):
    """The embedder."""

    name: Label
    """Label: the registered name or that of a folder, file or hub id, with options."""
    aliases: tuple[str, ...] = ()
    """Other names of the same weights and settings."""
    revision: str | None = None
    """Commit or version of the weights."""
    fingerprint: Label
    """Identifies the exact weights and settings."""
    kind: Kind
    """`word`, `text`, `sparse`, `multi-vector` or `cross-encoder`."""
    dimensions: Count | None = None
    """Length of a vector; of a sparse encoder the size of its vocabulary."""
    parameters: Count | None = None
    """Number of weights."""
    max_tokens: Count | None = None
    """Longest input in tokens."""
    licence: str | None = None
    """SPDX identifier, or the licence's own name."""
    open_weights: bool | None = None
    """Whether anybody can download the weights."""
    released: str | None = None
    """Day of the first release, or its year or month."""
    superseded_by: str | None = None
    """Name of the model that its authors recommend instead."""
    languages: tuple[str, ...] = ()
    """ISO 639-1 codes, or `multilingual`."""
    prompts: dict[str, str] = Field(default_factory=dict)
    """Prompt put before each text, by the role that the task gives the text: `query`, `document`,
    or `text`, which also stands for roles that are not listed."""
    routes: dict[str, str] = Field(default_factory=dict)
    """Part of an asymmetric model that texts of each role go through; empty for other models."""
    base: str = ""
    """Name of the model that this one is under another neutral instruction (`--prompts`)."""
    base_fingerprint: str = ""
    """Fingerprint of that model."""
    url: str | None = None
    """Page of the model."""
    published: dict[str, Finite] = Field(default_factory=dict)
    """Published scores by name, such as MTEB's."""

    @model_serializer(mode="wrap")
    def _without_empty_fields(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # Few models have routes or a base; the lines of all others stay as they were.
        part: dict[str, Any] = written(self)
        rare = ("routes", "base", "base_fingerprint")
        return {k: v for k, v in part.items() if v or k not in rare}


class MitigatorPart(Part):
    """The mitigator."""

    name: Label
    """As users type it, without options: `none`, `hard-debias`, `anonymize+hard-debias`."""
    label: Label = ""
    """The name with the options that differ from their defaults: `hard-debias?k=2`."""
    params: dict[str, Any] = Field(default_factory=dict)
    """Hyper-parameters, by stage for a chain."""
    concept: str | None = None
    """Concept that it was fitted on."""
    fingerprint: Label
    """Identifies the mitigator, its hyper-parameters and the content of the concept."""
    method: Label = ""
    """Identifies the mitigator and its hyper-parameters, whatever the concept."""
    control: bool = False
    """Whether it is a control that mitigates nothing, such as noise or planted bias."""

    @model_serializer(mode="wrap")
    def _without_control(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # Few mitigators are controls; the lines of all others stay as they were.
        part: dict[str, Any] = written(self)
        if not self.control:
            part.pop("control", None)
        return part

    def model_post_init(self, context: Any) -> None:
        """Take the name as the label of a record that was written without one."""
        if not self.label:
            object.__setattr__(self, "label", self.name)


class TaskPart(Part):
    """The task."""

    name: Label
    """Name of the task."""
    version: Count
    """Version in its file."""
    digest: Label
    """Identifies the resolved task with its data."""
    title: str = ""
    """Title in one line."""
    measures: Literal["bias", "usefulness", "control"]
    """What its scores measure."""
    family: Label = ""
    """Family of methods: a leaderboard gives one vote to each category and family."""
    unranked: str = ""
    """Why the score is shown but not ranked."""
    required: bool = False
    """Set by older versions: whether the score was a control that every usable model passes."""


class FloorPart(Part):
    """The score on the same vectors with its sides shuffled."""

    mean: Finite
    """Mean distance from the ideal: the floor."""
    sd: Spread
    """Standard deviation of this distance."""
    centre: Finite
    """Mean of the shuffled values."""
    spread: Spread
    """Standard deviation of the shuffled values."""
    draws: Count
    """Number of shuffled values."""
    shuffled: str
    """What was drawn at random."""


class RatioPart(Part):
    """The gap of the task over that of its yardstick, on the same vectors: what ranks.

    1 is a bias as strong as the association that the yardstick holds, and fair is 0.
    """

    value: Finite | None
    """The ratio, signed towards the stereotype; null if the yardstick is not above 0."""
    low: Finite | None
    """Lower end of its interval; null if the yardstick is too uncertain for one."""
    high: Finite | None
    """Upper end of its interval."""
    gap: Finite
    """The gap of the task, in cosines."""
    gap_error: Finite
    """Standard error of the gap over its words, items or frames."""
    yardstick: Finite
    """The gap of the yardstick, in cosines."""
    yardstick_error: Finite
    """Standard error of the yardstick."""
    t: Finite | None
    """The gap of the yardstick over its standard error; null if it has none, and for a yardstick
    that random vectors show, too."""
    df: Finite
    """Degrees of freedom of the interval."""
    power: Annotated[int, Field(ge=1, le=2)] = 1
    """2 if both gaps are squares, and the ratio is the root of their ratio."""
    of: Label
    """The task that is the yardstick; `items` if it is made of the same items."""
    reference_gap: Finite | None = None
    """The gap of the reference encoder on the task; null if it is not known."""
    reference_yardstick: Finite | None = None
    """The yardstick of the reference encoder."""
    reference_error: Finite | None = None
    """Standard error of the gap of the reference encoder."""
    reference_yardstick_error: Finite | None = None
    """Standard error of the yardstick of the reference encoder."""


class IntervalPart(Part):
    """A confidence interval."""

    low: Finite
    """Lower end."""
    high: Finite
    """Upper end."""
    level: Annotated[float, Field(gt=0, lt=1)]
    """Confidence."""
    method: str
    """How it was computed."""

    @model_validator(mode="after")
    def _is_ordered(self) -> Self:
        if self.low > self.high:
            raise ValueError(f"the lower end {self.low} is above the upper end {self.high}")
        return self


Judging = Literal["unseen texts", "held-out fit", "void", "fit not stated"]
"""How a score of bias is judged; `harness.run.unseen` has the rule."""


class UnseenPart(Part):
    """A score on words that the mitigator never saw; without one, on the same texts."""

    kind: Judging
    """On unseen texts, by a fit without the task's words, or not at all; or the mitigator does not
    state what it was fitted on."""
    value: Finite | None
    """The number."""
    reason: str | None = None
    """Why there is no number."""
    p_value: Probability | None = None
    """Probability under the null hypothesis of a value at least as extreme."""
    n: Count | None = None
    """Number of items that it is computed from."""
    reversed: bool | None = None
    """Whether the association points the other way, where the metric says it."""
    undone: str | None = None
    """Why the mitigated vectors have no difference to measure."""


class Frequency(Part):
    """How frequent the words of a score are, by their places in the model's vocabulary."""

    ranks: dict[str, Count] = Field(default_factory=dict)
    """Typical rank (geometric mean) of the words of each input; 1 is the most frequent word."""
    unlike: dict[str, float] = Field(default_factory=dict)
    """Contrasted inputs whose typical ranks differ by a factor of 3 or more, with that factor."""
    rare: tuple[str, ...] = ()
    """Words that are not among the 50,000 most frequent ones."""


class Coverage(Part):
    """How many of the distinct texts of the score had a usable vector."""

    asked: Count
    """Number of distinct texts."""
    found: Count
    """Number of texts with a usable vector."""
    missing: tuple[str, ...] = ()
    """Texts without a usable vector."""
    truncated: Count | None = None
    """Number of texts that the model truncated; null if the model does not say."""
    frequency: Frequency | None = None
    """How frequent the words are; null if the model has no vocabulary in order of frequency."""

    @model_validator(mode="after")
    def _has_at_most_all(self) -> Self:
        if self.found > self.asked:
            raise ValueError(f"{self.found} texts of {self.asked} cannot have a vector")
        return self


class WordOverlap(Part):
    """How many texts of an input hold words that the mitigator was fitted on.

    A word counts as a whole word, in any case.
    """

    input: Label
    """Name of the input."""
    texts: Count
    """Number of distinct texts of the input."""
    holding: Count
    """Number of texts that are such a word, or hold one."""
    versions: Count
    """Number of texts that differ from another text of the score in such words alone."""
    words: tuple[str, ...] = ()
    """The most frequent of these words, at most ten."""

    @model_validator(mode="after")
    def _has_at_most_all(self) -> Self:
        if not self.versions <= self.holding <= self.texts:
            raise ValueError(
                f"{self.versions} versions of {self.holding} texts with such words, of "
                f"{self.texts} texts, cannot be"
            )
        return self


def word_share(inputs: Sequence[WordOverlap]) -> float | None:
    """Return the share of the texts of inputs that hold words of the fit; None without texts."""
    texts = sum(part.texts for part in inputs)
    return sum(part.holding for part in inputs) / texts if texts else None


class Environment(Part):
    """Versions and devices that it ran on."""

    harness: str
    """Version of the harness."""
    python: str
    """Version of Python."""
    platform: str
    """Operating system and processor."""
    device: str
    """Devices that encoded."""
    packages: dict[str, str] = Field(default_factory=dict)
    """Version of each package that can change a score."""


# Samples: what each item contributes to a score, in a file of JSON lines for each record.
#
# The files are in the folder `samples` of the results folder; their names are the ids of the
# records.


SUFFIX = ".samples.jsonl"
"""End of the name of a file of samples. A results folder has records in its other JSONL files."""


def samples_path(id_: str) -> str:
    """Return the path of the samples of the record with an id, relative to the results folder."""
    return f"samples/{folders.safe_name(id_)}{SUFFIX}"


def samples_exist(folder: Path, record: Record) -> bool:
    """Return whether a record of a results folder has samples there."""
    return record.samples is not None and (folder / samples_path(record.id)).is_file()


def write_samples(folder: Path, record: Record, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the samples of a record to a results folder.

    Raises
    ------
    DiskError
        If the disk is full or the file cannot be written.
    """
    lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
    # A lone surrogate cannot be encoded; with a backslash it is JSON's escape.
    content = "".join(lines).encode(errors="backslashreplace")
    folders.write_atomically(folder / samples_path(record.id), content)


def read_samples(folder: Path, record: Record) -> list[dict[str, Any]]:
    """Return the samples of a record from a results folder; none if it has no samples.

    Raises
    ------
    DiskError
        If the file cannot be read.
    InvalidFile
        If a line is not a JSON object.
    """
    return [] if record.samples is None else read_rows(folder / samples_path(record.id))


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file of samples.

    Raises
    ------
    DiskError
        If the file cannot be read.
    InvalidFile
        If a line is not a JSON object.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise DiskError(f"cannot read '{path}' ({error.strerror})") from None
    rows = []
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line or "{}")
        except ValueError:
            row = None
        if not isinstance(row, dict):
            raise InvalidFile("not a JSON object", path=path, line=number)
        rows += [row] if row else []
    return rows


# The distance of a value from its ideal, so that scores with different scales can be averaged.


def loss(value: float, ideal: Ideal, bounds: Bounds) -> float:
    """Return how far a value is from its ideal, in the unit of the score; lower is better.

    If `ideal` is `higher` or `lower`, the distance is from the bound on that side, or from 0
    where the score has none: it orders values, but may be negative.
    """
    low, high = bounds
    if ideal == "higher":
        return (0.0 if high is None else high) - value
    if ideal == "lower":
        return value - (0.0 if low is None else low)
    return abs(value - float(ideal))


def distance(value: float, ideal: Ideal, bounds: Bounds) -> float | None:
    """Return the distance to the ideal: 0 at the ideal, 1 as far from it as the score can be.

    None for a score that lacks a bound: it has no greatest distance.
    """
    greatest = greatest_loss(ideal, bounds)
    return None if greatest is None else min(max(loss(value, ideal, bounds) / greatest, 0.0), 1.0)


def greatest_loss(ideal: Ideal, bounds: Bounds) -> float | None:
    """Return the greatest possible loss of a score; None if it lacks a bound."""
    low, high = bounds
    if low is None or high is None:
        return None
    ends = (low, high)
    greatest = high - low if isinstance(ideal, str) else max(abs(ideal - end) for end in ends)
    return greatest if greatest > 0 else None


def above_floor(
    value: float,
    ideal: Ideal,
    bounds: Bounds,
    *,
    floor: float | None = None,
    unit: float | None = None,
) -> float | None:
    """Return the distance of a value from its ideal above the floor, in units that can be averaged.

    0 is the mean distance on the same vectors with shuffled sides. A value may be below 0, since a
    chance distance may be below its mean. It is not cut at 0: otherwise its mean would be above 0
    without bias.

    Parameters
    ----------
    value, ideal, bounds
        The score and its scale.
    floor
        Mean distance from the ideal with shuffled sides; None counts as 0.
    unit
        Distance that counts as 1; by default the greatest possible one.

    Returns
    -------
    float or None
        None for a score that has neither a unit nor bounds.
    """
    unit = greatest_loss(ideal, bounds) if unit is None else unit
    if unit is None or unit <= 0:
        return None
    return (loss(value, ideal, bounds) - (floor or 0.0)) / unit


# Which scores do not count in means over tasks, and why.


CONTROL, VOID, UNRANKED = "control", "void", "not ranked"
NOT_STATED = "its fit is not stated"
OUTSIDE, NO_SCALE = "outside its bounds", "without bounds"
NO_YARDSTICK = "without a gap over a yardstick"
NO_REFERENCE = "without a value of the reference encoder"


def family_of(measures: str, category: str, method: str) -> str:
    """Return the family of a score: of bias the method, of usefulness the category and the method.

    Tasks of one method are correlated, whatever the concept.

    Parameters
    ----------
    measures, category
        Of the task.
    method
        Its family of methods, or the metric of a task that states none.
    """
    return method if measures == "bias" else f"{category}/{method}"


SCHEMA = 1
"""Version of the schema of a record: its field `schema`."""
STARS = "* p < .05, ** p < .01, *** p < .001"
"""Legend of `stars`."""


class Record(Line):
    """One score."""

    run: Label
    """Identifies the run."""
    created: Time
    """UTC time, ISO 8601."""
    model: ModelPart
    mitigator: MitigatorPart
    task: TaskPart
    concept: Label | None = None
    """Concept of the task."""
    category: Label
    """Column group of the leaderboard."""
    language: Label
    """ISO 639-1 code of the texts."""
    scenario: Label
    """Variant of the task's texts."""
    metric: Label
    """Name of the metric."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the metric, defaults included."""
    score: Label
    """Name of the score."""
    primary: bool
    """Whether this score stands for the task in rankings."""
    value: Finite | None
    """The number."""
    reason: str | None = None
    """Why there is no number."""
    ideal: Finite | Literal["higher", "lower"]
    """The fair value: a number, or `higher` or `lower` is better."""
    bounds: tuple[Finite | None, Finite | None]
    """Lowest and highest possible value."""
    p_value: Probability | None = None
    """Probability under the null hypothesis of a value at least as extreme."""
    interval: IntervalPart | None = None
    """Confidence interval of the value."""
    floor: FloorPart | None = None
    """The score by chance; null if its metric has no such value."""
    unit: Finite | None = None
    """What counts as 1 on a board; null for the greatest distance within the bounds."""
    unseen: UnseenPart | None = None
    """The score on words that the mitigator never saw; null unless the task measures bias."""
    unseen_interval: IntervalPart | None = None
    """Confidence interval of that score."""
    unseen_floor: FloorPart | None = None
    """That score by chance."""
    ratio: RatioPart | None = None
    """On unseen words the gap over that of the yardstick; null for a score that does not stand for
    its task, and for one without a yardstick."""
    contrasts: dict[str, Finite] = Field(default_factory=dict)
    """The gap of each contrast of the yardstick, by scenario."""
    deviations: dict[str, tuple[Finite, Finite]] = Field(default_factory=dict)
    """By unit (a digest of its text, or a number of several): how the gap and that of the yardstick
    change without it. The sums of squares are their variances."""
    n: Count | None = None
    """Number of items that the score is computed from."""
    clusters: Count | None = None
    """Number of words, templates or texts that items share; intervals resample these."""
    details: dict[str, Any] = Field(default_factory=dict)
    """Further values of the metric."""
    tables: dict[str, str] = Field(default_factory=dict)
    """Path of each table beside the record, by name, relative to the results folder."""
    samples: str | None = None
    """Path of the file with what each item contributes, relative to the results folder; null
    unless `--samples` asked for it."""
    coverage: Coverage
    withheld: tuple[str, ...] = ()
    """What the judged score leaves out: units of the task, or words of the concept from the fit.
    Of a void score the words of the task that the mitigator was fitted on."""
    word_overlap: tuple[WordOverlap, ...] = ()
    """How many texts of each input hold words that the mitigator was fitted on; empty if it was
    fitted on nothing, and in records of versions that did not count words."""
    seed: Count
    """Seed of the run."""
    limit: Count | None = None
    """In a smoke run, the number of items that each set or table was cut to. Such a record is never
    ranked."""
    seconds: Finite
    """Time that the metric took."""
    environment: Environment
    _rows: Mapping[str, Sequence[Mapping[str, Any]]] = PrivateAttr(default_factory=dict)
    _sample_rows: Sequence[Mapping[str, Any]] | None = PrivateAttr(default=None)

    @field_validator("bounds")
    @classmethod
    def _are_ordered(cls, bounds: Bounds) -> Bounds:
        low, high = bounds
        if low is not None and high is not None and low > high:
            raise ValueError(f"the lower bound {low} is above the upper bound {high}")
        return bounds

    def model_post_init(self, context: Any) -> None:
        """Set the id."""
        if not self.id:
            object.__setattr__(self, "id", self.identity())

    def keeping(
        self,
        rows: Mapping[str, Sequence[Mapping[str, Any]]],
        samples: Sequence[Mapping[str, Any]] | None,
    ) -> Record:
        """Return the record with tables and samples, which are written with it."""
        tables = {name: f"tables/{self.id}-{folders.safe_name(name)}.tsv" for name in rows}
        path = None if samples is None else samples_path(self.id)
        update = {"tables": tables, "samples": path}
        record = self.model_copy(update=update)
        record._rows, record._sample_rows = dict(rows), samples
        return record

    @property
    def family(self) -> str:
        """Return the family of the score, as of `family_of`."""
        return family_of(self.task.measures, self.category, self.task.family or self.metric)

    def judged(self) -> Record:
        """Return the record with the score that is judged, on words that the mitigator never saw.

        Tables show it wherever the score of a mitigator stands beside that of `none`.
        """
        unseen = self.unseen
        if unseen is None:
            return self
        marks = {"reversed": unseen.reversed, "undone": unseen.undone}
        details = {k: v for k, v in self.details.items() if k not in marks}
        numbers = {name: getattr(unseen, name) for name in ("value", "reason", "p_value", "n")}
        update = {
            **numbers,
            "interval": self.unseen_interval,
            "floor": self.unseen_floor,
            "details": details | {k: v for k, v in marks.items() if v is not None},
        }
        return self.model_copy(update=update)

    @property
    def left_out(self) -> str | None:
        """Return why the judged score does not count in means over tasks; None if it does."""
        if self.task.measures == "control":
            return CONTROL
        value = self.value if self.unseen is None else self.unseen.value
        if value is None:
            return VOID
        if self.unseen is not None and self.unseen.kind == "fit not stated":
            return NOT_STATED
        if self.task.unranked:
            return UNRANKED
        if not is_within(value, self.bounds):
            return OUTSIDE
        if self.task.measures == "bias":
            if self.ratio is None:
                return NO_YARDSTICK
            return NO_REFERENCE if self.ratio.reference_gap is None else None
        return NO_SCALE if self.distance is None else None

    @property
    def above_floor(self) -> float | None:
        """Return how far the value is from its ideal, in units that add up; lower is better.

        For bias 0 is what chance shows; for usefulness 0 is the ideal. None if there is no value,
        or the score has neither bounds nor a unit.
        """
        if self.value is None:
            return None
        if self.task.measures == "usefulness":
            return self.distance
        floor = None if self.floor is None else self.floor.mean
        return above_floor(self.value, self.ideal, self.bounds, floor=floor, unit=self.unit)

    @property
    def distance(self) -> float | None:
        """Return the distance to the ideal in [0, 1]; None without a value or without bounds."""
        return None if self.value is None else distance(self.value, self.ideal, self.bounds)

    @property
    def word_share(self) -> float | None:
        """Share of the texts that hold words that the mitigator was fitted on; None if unknown."""
        return word_share(self.word_overlap)

    @property
    def undone(self) -> bool:
        """Whether the mitigator removed every difference, so that there is nothing to shuffle."""
        return "undone" in self.details

    @property
    def rows(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The rows of each table by name; empty in a record that was read from a file."""
        return self._rows

    def read_samples(self, folder: Path | str | None = None) -> Sequence[Mapping[str, Any]]:
        """Return what each item contributes to the score, a row each; none without `--samples`.

        `folder` is the results folder; a record that was just computed and not written needs none.
        """
        if self.samples is None or self._sample_rows is not None:
            return self._sample_rows or ()
        if folder is None:
            raise UsageError("the samples of this record are in a file: name its results folder")
        return read_samples(Path(folder), self)

    def write_samples(self, folder: Path) -> None:
        """Write the samples to a results folder, and drop them from memory: they may be many."""
        if self._sample_rows is not None:
            write_samples(folder, self, self._sample_rows)
            self._sample_rows = None

    def identity(self) -> str:
        """Return the id."""
        return identity(
            model=self.model.fingerprint,
            mitigator=self.mitigator.fingerprint,
            task=self.task.digest,
            scenario=self.scenario,
            metric=self.metric,
            score=self.score,
            seed=self.seed,
        )


def identity(
    *, model: str, mitigator: str, task: str, scenario: str, metric: str, score: str, seed: int
) -> str:
    """Return the id of a record: a digest of what was measured, not of when or where.

    `model` and `mitigator` are fingerprints, so that the spelling of a name does not matter.
    """
    return digest([SCHEMA, model, mitigator, task, scenario, metric, score, seed])


OWN = ("schema_version", "value", "p_value", "seconds")
"""First fields of the parts of a record that differ in each record."""
SHARED = (
    *("model", "mitigator", "task", "ideal", "contrasts", "n", "coverage", "withheld"),
    "environment",
)
"""First fields of the parts that many records share."""


def fields_by_part() -> dict[str, tuple[str, ...]]:
    """Return the fields of each part by its first one: those up to the next part.

    The check belongs to no part.
    """
    fields: dict[str, tuple[str, ...]] = {}
    part = ""
    for name in Record.model_fields:
        part = name if name in OWN + SHARED else part
        if name != "check":
            fields[part] = (*fields.get(part, ()), name)
    return fields


def finite(value: float | None) -> float | None:
    """Return `value`, or None if it is NaN or infinite."""
    return None if value is None or not math.isfinite(value) else float(value)


def stars(p: float | None) -> str:
    """Return the stars of a p-value, as most papers of the field print them."""
    return "" if p is None else "*" * sum(p < level for level in (0.05, 0.01, 0.001))
