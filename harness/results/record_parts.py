"""The parts of a record: the model, mitigator, task, interval, floor, coverage and environment."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from harness import limits
from harness.results.lines import with_check


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

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Line(Part):
    """Base of what a line of a results file holds."""

    schema_version: Literal[1] = Field(default=1, alias="schema")
    """Version of this schema."""
    id: str = ""
    """Digest of what identifies the record; a record replaces the one with the same id."""
    check: Annotated[str, AfterValidator(lambda _: "")] = Field(default="", exclude=True)
    """Last key of a line: hash of the bytes before it, compared when the line is read. It is no
    part of the record: lines without it are valid."""

    model_config = ConfigDict(populate_by_name=True)

    def identity(self) -> str:
        """Return the id that the content has; by default the one that the record states."""
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
    kind: Literal["word", "text"]
    """`word` or `text`."""
    dimensions: Count | None = None
    """Length of a vector."""
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
    url: str | None = None
    """Page of the model."""
    published: dict[str, Finite] = Field(default_factory=dict)
    """Published scores by name, such as MTEB's."""

    @model_serializer(mode="wrap")
    def _without_empty_routes(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # Few models have routes; the lines of all others stay as they were.
        part: dict[str, Any] = written(self)
        return part if self.routes else {k: v for k, v in part.items() if k != "routes"}


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
    """Whether every usable model passes this control."""


class FloorPart(Part):
    """What the score is on the same vectors with its sides shuffled."""

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
