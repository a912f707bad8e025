"""A record: one score of one embedder under one mitigator on one task and scenario.

One JSON line with everything that is needed to trust and repeat the score. It never holds NaN or
infinity: the value is null then, with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from harness import folders
from harness.digest import digest
from harness.errors import UsageError
from harness.results import samples as sample_files
from harness.scores import Ideal

SCHEMA = 1
"""Version of the schema of a record: its field `schema`."""
STARS = "* p < .05, ** p < .01, *** p < .001"
"""Legend of `stars`."""

Finite = Annotated[float, Field(allow_inf_nan=False)]


class Part(BaseModel):
    """Base of a record and its parts: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Line(Part):
    """Base of what a line of a results file holds."""

    schema_version: Literal[1] = Field(default=1, alias="schema")
    """Version of this schema."""
    id: str = ""
    """Digest of what identifies the record; a record replaces the one with the same id."""

    model_config = ConfigDict(populate_by_name=True)

    def line(self) -> str:
        """Return the record as one line of JSON, with its newline."""
        return self.model_dump_json(by_alias=True) + "\n"


class ModelPart(Part):
    """The embedder."""

    name: str
    """Label: the registered name or that of a folder, file or hub id, with options."""
    aliases: tuple[str, ...] = ()
    """Other names of the same weights and settings."""
    revision: str | None = None
    """Commit or version of the weights."""
    fingerprint: str
    """Identifies the exact weights and settings."""
    kind: Literal["word", "text"]
    """`word` or `text`."""
    dimensions: int | None = None
    """Length of a vector."""
    parameters: int | None = None
    """Number of weights."""
    prompts: dict[str, str] = Field(default_factory=dict)
    """Prompt put before each text, by the role that the task gives the text: `query`, `document`,
    or `text`, which also stands for roles that are not listed."""
    url: str | None = None
    """Page of the model."""
    published: dict[str, Finite] = Field(default_factory=dict)
    """Published scores by name, such as MTEB's."""


class MitigatorPart(Part):
    """The mitigator."""

    name: str
    """As users type it, without options: `none`, `hard-debias`, `anonymize+hard-debias`."""
    label: str = ""
    """The name with the options that differ from their defaults: `hard-debias?k=2`."""
    params: dict[str, Any] = Field(default_factory=dict)
    """Hyper-parameters, by stage for a chain."""
    concept: str | None = None
    """Concept that it was fitted on."""
    fingerprint: str
    """Identifies the mitigator, its hyper-parameters and the content of the concept."""
    method: str = ""
    """Identifies the mitigator and its hyper-parameters, whatever the concept."""

    def model_post_init(self, context: Any) -> None:
        """Take the name as the label of a record that was written without one."""
        if not self.label:
            object.__setattr__(self, "label", self.name)


class TaskPart(Part):
    """The task."""

    name: str
    """Name of the task."""
    version: int
    """Version in its file."""
    digest: str
    """Identifies the resolved task with its data."""
    title: str = ""
    """Title in one line."""
    measures: Literal["bias", "usefulness", "control"]
    """What its scores measure."""


class IntervalPart(Part):
    """A confidence interval."""

    low: Finite
    """Lower end."""
    high: Finite
    """Upper end."""
    level: float
    """Confidence."""
    method: str
    """How it was computed."""


class Coverage(Part):
    """How many of the distinct texts of the score had a usable vector."""

    asked: int
    """Number of distinct texts."""
    found: int
    """Number of texts with a usable vector."""
    missing: tuple[str, ...] = ()
    """Texts without a usable vector."""
    truncated: int | None = None
    """Number of texts that the model truncated; null if the model does not say."""


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


class Record(Line):
    """One score."""

    run: str
    """Identifies the run."""
    created: str
    """UTC time, ISO 8601."""
    model: ModelPart
    mitigator: MitigatorPart
    task: TaskPart
    concept: str | None = None
    """Concept of the task."""
    category: str
    """Column group of the leaderboard."""
    language: str
    """ISO 639-1 code of the texts."""
    scenario: str
    """Variant of the task's texts."""
    metric: str
    """Name of the metric."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the metric, defaults included."""
    score: str
    """Name of the score."""
    primary: bool
    """Whether this score stands for the task in rankings."""
    value: Finite | None
    """The number."""
    reason: str | None = None
    """Why there is no number."""
    ideal: Ideal
    """The fair value: a number, or `higher` or `lower` is better."""
    bounds: tuple[Finite | None, Finite | None]
    """Lowest and highest possible value."""
    p_value: Finite | None = None
    """Probability under the null hypothesis of a value at least as extreme."""
    interval: IntervalPart | None = None
    """Confidence interval of the value."""
    n: int | None = None
    """Number of items that the score is computed from."""
    clusters: int | None = None
    """Number of words, templates or texts that items share; intervals resample these."""
    details: dict[str, Any] = Field(default_factory=dict)
    """Further values of the metric."""
    tables: dict[str, str] = Field(default_factory=dict)
    """Path of each table beside the record, by name, relative to the results folder."""
    figures: dict[str, str] = Field(default_factory=dict)
    """Path of each figure's page beside the record, by name, relative to the results folder."""
    samples: str | None = None
    """Path of the file with what each item contributes, relative to the results folder; null
    unless `--samples` asked for it."""
    coverage: Coverage
    overlap: tuple[str, ...] = ()
    """The task's texts that the mitigator was fitted on."""
    seed: int
    """Seed of the run."""
    limit: int | None = None
    """In a smoke run, the number of items that each set or table was cut to. Such a record is never
    ranked."""
    seconds: Finite
    """Time that the metric took."""
    environment: Environment
    _rows: Mapping[str, Sequence[Mapping[str, Any]]] = PrivateAttr(default_factory=dict)
    _drawings: Mapping[str, Mapping[str, Any]] = PrivateAttr(default_factory=dict)
    _sample_rows: Sequence[Mapping[str, Any]] | None = PrivateAttr(default=None)

    def model_post_init(self, context: Any) -> None:
        """Fill in the id."""
        if not self.id:
            object.__setattr__(self, "id", self.identity())

    def keeping(
        self,
        rows: Mapping[str, Sequence[Mapping[str, Any]]],
        drawings: Mapping[str, Mapping[str, Any]],
        samples: Sequence[Mapping[str, Any]] | None,
    ) -> Record:
        """Return the record with tables, figures and samples, to be written when it is written."""
        tables = {name: f"tables/{self.id}-{folders.safe_name(name)}.tsv" for name in rows}
        figures = {name: f"figures/{self.id}-{folders.safe_name(name)}.html" for name in drawings}
        path = None if samples is None else sample_files.path_of(self.id)
        update = {"tables": tables, "figures": figures, "samples": path}
        record = self.model_copy(update=update)
        record._rows, record._drawings, record._sample_rows = dict(rows), dict(drawings), samples
        return record

    @property
    def rows(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The rows of each table by name; empty in a record that was read from a file."""
        return self._rows

    @property
    def drawings(self) -> Mapping[str, Mapping[str, Any]]:
        """Plotly's description of each figure by name; empty in a record that was read."""
        return self._drawings

    def read_samples(self, folder: Path | str | None = None) -> Sequence[Mapping[str, Any]]:
        """Return what each item contributes to the score, a row each; none without `--samples`.

        `folder` is the results folder; a record that was just computed and not written needs none.
        """
        if self.samples is None or self._sample_rows is not None:
            return self._sample_rows or ()
        if folder is None:
            raise UsageError("the samples of this record are in a file: name its results folder")
        return sample_files.read(Path(folder), self)

    def write_samples(self, folder: Path) -> None:
        """Write the samples to a results folder, and drop them from memory: they may be many."""
        if self._sample_rows is not None:
            sample_files.write(folder, self, self._sample_rows)
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


def finite(value: float | None) -> float | None:
    """Return `value`, or None if it is NaN or infinite."""
    return None if value is None or not math.isfinite(value) else float(value)


def stars(p: float | None) -> str:
    """Return the stars of a p-value, as most papers of the field print them."""
    return "" if p is None else "*" * sum(p < level for level in (0.05, 0.01, 0.001))
