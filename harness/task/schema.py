"""The schema of a task file: what a person writes. `harness.task.task` makes a task of it."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    StringConstraints,
    field_validator,
    model_validator,
)

from harness.concept import Name, Word
from harness.embedder import Kind

Cell = StrictStr | StrictInt | StrictFloat
"""Strict, since a `no` without quotes is a boolean to YAML and must not become the text `0`."""
Sha256 = Annotated[str, StringConstraints(to_lower=True, pattern=r"^[0-9a-fA-F]{64}$")]
"""It names a folder in the cache, so nothing else may stand there."""
DEFAULT_SCENARIO = "default"
"""Name of the only scenario of a task that lists none."""

_NAME, _STEP = r"\w[\w.-]*", r"/(?!\.\.?(/|$))[^/]+"
_URL = re.compile(rf"https://[^/\s]\S*|hf://datasets/{_NAME}/{_NAME}(@{_NAME})?({_STEP})+")


class Strict(BaseModel):
    """Base of the schema: no unknown keys, nothing changes after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Table(Strict):
    """Rows with named columns: written here, in a file of one of four places, or made of others."""

    made_from: str | None = None
    """Another table of the task that this one is made from, by `made_by`."""
    made_by: str | None = None
    """Name of what makes it, as plugins register them."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of what makes it."""
    columns: tuple[str, ...] = ()
    """Column names; for a file, they stand in for a missing header line."""
    rows: tuple[tuple[Cell, ...], ...] | None = None
    """The rows themselves."""
    file: str | None = None
    """A file beside the task file or, with `package`, inside that package."""
    package: str | None = None
    """An installed package that has `file`."""
    url: str | None = None
    """`https://…`, or `hf://datasets/owner/name@revision/path`."""
    local: str | None = None
    """Where a copy may lie under HARNESS_DATA; it is preferred to a download."""
    sha256: Sha256 | None = None
    """Of the file; a download must have it."""
    delimiter: str | None = None
    """Of a text table; by default a tab, or a comma for `.csv`; `.jsonl` needs none. Of several
    characters each parts cells, unless cells are quoted."""
    quoted: bool = False
    """Whether double quotes enclose cells."""
    comment: str | None = None
    """Lines that begin with this are skipped."""
    section: str | None = None
    """A further column: a line `: NAME` gives it the cell NAME in the rows below that line."""
    encoding: str = "utf-8"
    """Of the file."""
    how_to_get: str = ""
    """What to tell a person who lacks the file."""

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, url: str | None) -> str | None:
        if url is not None and not _URL.fullmatch(url):
            forms = "'https://…' nor 'hf://datasets/owner/name@revision/path'"
            raise ValueError(f"'{url}' is neither {forms}")
        return url

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        if self.package and not self.file:
            raise ValueError("a 'package' needs the 'file' in it")
        in_file = not (self.file is None and self.url is None and self.local is None)
        if [self.rows is not None, in_file, self.made_from is not None].count(True) != 1:
            raise ValueError(
                "a table has either 'rows', or one of 'file', 'url' and 'local', or 'made_from'"
            )
        if (self.made_from is None) != (self.made_by is None) or (
            self.options and not self.made_by
        ):
            raise ValueError("'made_from', 'made_by' and 'options' go together")
        if self.url and not self.sha256:
            raise ValueError("a 'url' needs the 'sha256' of what it must give")
        for row in self.rows or ():
            if len(row) != len(self.columns):
                raise ValueError(
                    f"the row {list(row)} has {len(row)} cells for {len(self.columns)} columns"
                )
        return self


class VocabularyPart(Strict):
    """The first words of a word embedder's vocabulary."""

    size: int = Field(ge=1)
    """How many words; all that there are, where there are fewer."""
    pattern: str = ".+"
    """Regular expression that a whole word must match to be among them."""

    @field_validator("pattern")
    @classmethod
    def _is_an_expression(cls, pattern: str) -> str:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"'{pattern}' is no regular expression ({error})") from None
        return pattern


class Source(Strict):
    """Where an input's items come from: one of `words`, `set`, `table` and `vocabulary`."""

    words: tuple[Word, ...] | None = None
    """Words or texts, written here."""
    set: str | None = None
    """A set of the task, or `concept.NAME` for one of the concept's."""
    table: str | None = None
    """A table of the task; `concept.definitional_pairs` has the columns `first` and `second`, and
    `concept.definitional_sets` as many as a set has words: `third`, `fourth` …"""
    vocabulary: VocabularyPart | None = None
    """Words of the embedder's own vocabulary, most frequent first."""
    column: str = "text"
    """Which column of the table."""
    where: dict[str, Cell | tuple[Cell, ...]] = Field(default_factory=dict)
    """Keep the rows whose cells equal these, or one of these."""
    template: str | None = None
    """Name of the template, or list of templates, that each item is put into."""
    number: bool = False
    """Whether the items are numbers (labels), not texts."""
    probe: bool = False
    """Whether the texts define the concept itself: a mitigator that rewrites texts leaves them."""
    original: bool = False
    """Whether vectors are taken as the model gives them, whatever the mitigator."""

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        kinds = ("words", "set", "table", "vocabulary")
        given = [name for name in kinds if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                "an input has exactly one of 'words', 'set', 'table' and 'vocabulary'"
                + (f", but this has {' and '.join(given)}" if given else "")
            )
        if self.words is not None and not self.words:
            raise ValueError("this set is empty; an input needs at least one text")
        if self.vocabulary is not None and (self.template or self.number):
            raise ValueError("words of a vocabulary stand for themselves: no template, no number")
        return self


InputFile = Source | tuple[Source, ...]
"""An input is one source, or several put one after the other."""


class MetricUse(Strict):
    """How a task uses a metric."""

    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the metric."""
    inputs: dict[str, str] = Field(default_factory=dict)
    """Input of the task by parameter of the metric, where the names differ."""


class ScenarioFile(Strict):
    """One reading of a task's texts: what differs from the task."""

    title: str = ""
    """One line for listings."""
    templates: dict[str, Word | tuple[Word, ...]] = Field(default_factory=dict)
    """Templates by name."""
    inputs: dict[str, InputFile] = Field(default_factory=dict)
    """Inputs that this scenario replaces."""
    options: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Options by metric."""


class Primary(Strict):
    """The score that stands for the task in rankings."""

    metric: str
    """One of the task's metrics."""
    score: str
    """One of that metric's scores."""
    scenario: str = DEFAULT_SCENARIO
    """One of the task's scenarios."""


class TaskFile(Strict):
    """A task: which texts, under which concept, scored by which metrics."""

    name: Name
    """Name that users type."""
    version: int = Field(ge=1)
    """To be raised with every change that changes scores."""
    title: str
    """One line for listings."""
    description: str = ""
    """What is asked and how to read the answer."""
    source: str = ""
    """Paper, table and data set that this was taken from."""
    licence: str = ""
    """Licence of the task's texts."""
    measures: Literal["bias", "usefulness", "control"] = "bias"
    """What its scores say. Bias and usefulness are ranked apart; a control is an association that
    everybody shares, such as flowers and pleasantness, and is shown but not ranked."""
    category: Name
    """Column group of the leaderboard, such as `gender` or `similarity`."""
    concept: Name | None = None
    """Concept that mitigators are fitted on for this task."""
    language: str = "en"
    """ISO 639-1 code."""
    kinds: tuple[Kind, ...] = ("word", "text")
    """Kinds of embedder that it is made for."""
    tags: tuple[str, ...] = ()
    """For `--tasks`."""
    sets: dict[str, tuple[Word, ...]] = Field(default_factory=dict)
    """Word sets by name."""
    tables: dict[str, Table] = Field(default_factory=dict)
    """Tables by name."""
    templates: dict[str, Word | tuple[Word, ...]] = Field(default_factory=dict)
    """Templates by name: `{text}` or `{column}` is replaced, `{Text}` with a capital letter, and
    `{context.debiasing}` by a context of the concept."""
    inputs: dict[str, InputFile]
    """Inputs of the metrics by name."""
    scenarios: dict[str, ScenarioFile] = Field(default_factory=dict)
    """Readings of the texts by name; without any there is one, `default`."""
    metrics: dict[str, MetricUse] = Field(min_length=1)
    """Metrics by name."""
    primary: Primary
    """The score that stands for the task in rankings."""
    max_missing: float = Field(default=0.2, ge=0, le=1)
    """Largest share of an input's words that a vocabulary may lack before the score is void."""

    def unfit_for(self, kind: Kind) -> str | None:
        """Return why the task is not for a kind of embedder; None if it is."""
        if kind in self.kinds:
            return None
        return f"made for {' and '.join(self.kinds)} embedders"
