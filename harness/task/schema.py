"""The schema of a task file, as a person writes it. `harness.task.task` resolves it."""

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
"""Strict: YAML reads an unquoted `no` as a boolean, which must not become the text `0`."""
Sha256 = Annotated[str, StringConstraints(to_lower=True, pattern=r"^[0-9a-fA-F]{64}$")]
"""Checked strictly, since it names a folder in the cache."""
DEFAULT_SCENARIO = "default"
"""Name of the only scenario of a task that lists none."""

_NAME, _STEP = r"\w[\w.-]*", r"/(?!\.\.?(/|$))[^/]+"
_URL = re.compile(rf"https://[^/\s]\S*|hf://datasets/{_NAME}/{_NAME}(@{_NAME})?({_STEP})+")


class Strict(BaseModel):
    """Base of the schema: no unknown keys, and immutable after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Table(Strict):
    """Rows with named columns: written here, read from a file, or made from another table."""

    made_from: str | None = None
    """Another table of the task, from which `made_by` makes this one."""
    made_by: str | None = None
    """Name of a table maker that a plugin registers."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the table maker."""
    columns: tuple[str, ...] = ()
    """Column names; for a file, only if it has no header line."""
    rows: tuple[tuple[Cell, ...], ...] | None = None
    """The rows."""
    file: str | None = None
    """A file beside the task file or, with `package`, inside that package."""
    package: str | None = None
    """An installed package that contains `file`."""
    url: str | None = None
    """`https://…`, or `hf://datasets/owner/name@revision/path`."""
    local: str | None = None
    """Path of a copy under HARNESS_DATA, which is preferred to a download."""
    sha256: Sha256 | None = None
    """SHA-256 of the file; required for a download."""
    delimiter: str | None = None
    """Delimiter of a text table: by default a tab, or a comma for `.csv`; `.jsonl` needs none. If
    there are several characters, each of them separates cells, unless cells are quoted."""
    quoted: bool = False
    """Whether double quotes enclose cells."""
    comment: str | None = None
    """Lines that begin with this are skipped."""
    section: str | None = None
    """A further column. A line `: NAME` sets its cell to NAME in the rows below that line."""
    encoding: str = "utf-8"
    """Encoding of the file."""
    how_to_get: str = ""
    """Where to get the file: shown if it is missing."""

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, url: str | None) -> str | None:
        if url is not None and not _URL.fullmatch(url):
            forms = "'https://…' or 'hf://datasets/owner/name@revision/path'"
            raise ValueError(f"invalid url '{url}'; expected {forms}")
        return url

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        if self.package and not self.file:
            raise ValueError("'package' requires 'file', a file in the package")
        in_file = not (self.file is None and self.url is None and self.local is None)
        if [self.rows is not None, in_file, self.made_from is not None].count(True) != 1:
            raise ValueError(
                "expected either 'rows', or one of 'file', 'url' and 'local', or 'made_from'"
            )
        if (self.made_from is None) != (self.made_by is None) or (
            self.options and not self.made_by
        ):
            raise ValueError("'made_from' and 'made_by' need each other; 'options' needs both")
        if self.url and not self.sha256:
            raise ValueError("'url' requires 'sha256', the checksum of the file")
        for row in self.rows or ():
            if len(row) != len(self.columns):
                raise ValueError(
                    f"the row {list(row)} has {len(row)} cells for {len(self.columns)} columns"
                )
        return self


class VocabularyPart(Strict):
    """The first words of a word embedder's vocabulary."""

    size: int = Field(ge=1)
    """Number of words; a smaller vocabulary gives all of its words."""
    pattern: str = ".+"
    """Regular expression that a word must match as a whole."""

    @field_validator("pattern")
    @classmethod
    def _is_an_expression(cls, pattern: str) -> str:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"invalid regular expression '{pattern}' ({error})") from None
        return pattern


class Source(Strict):
    """Where the items of an input come from: `words`, `set`, `table` or `vocabulary`."""

    words: tuple[Word, ...] | None = None
    """The words or texts themselves."""
    set: str | None = None
    """A set of the task, or `concept.NAME` for one of the concept's."""
    table: str | None = None
    """A table of the task, or of its concept: `concept.definitional_pairs` has the columns `first`
    and `second`; `concept.definitional_sets` has one column a word, up to `eighth`."""
    vocabulary: VocabularyPart | None = None
    """Words of the embedder's own vocabulary, most frequent first."""
    column: str = "text"
    """Which column of the table."""
    where: dict[str, Cell | tuple[Cell, ...]] = Field(default_factory=dict)
    """Keep only rows whose cells equal these values; a list allows any of its values."""
    template: str | None = None
    """Name of the template, or list of templates, into which each item is put."""
    number: bool = False
    """Whether the items are numbers, such as labels, not texts."""
    probe: bool = False
    """Whether the texts define the concept, so that mitigators do not rewrite them."""
    original: bool = False
    """Whether the vectors are those of the model without any mitigator."""

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        kinds = ("words", "set", "table", "vocabulary")
        present = [name for name in kinds if getattr(self, name) is not None]
        if len(present) != 1:
            raise ValueError(
                "expected exactly one of 'words', 'set', 'table' and 'vocabulary'"
                + (f", but this has {' and '.join(present)}" if present else "")
            )
        if self.words is not None and not self.words:
            raise ValueError("empty set; an input needs at least one text")
        if self.vocabulary is not None and (self.template or self.number):
            raise ValueError("'vocabulary' takes no 'template' and no 'number'")
        return self


InputFile = Source | tuple[Source, ...]
"""An input is one source, or several, concatenated."""


class MetricUse(Strict):
    """How a task uses a metric."""

    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the metric."""
    inputs: dict[str, str] = Field(default_factory=dict)
    """Input of the task by parameter of the metric, if the names differ."""


class ScenarioFile(Strict):
    """A variant of a task: only what differs from the task."""

    title: str = ""
    """One line for listings."""
    templates: dict[str, Word | tuple[Word, ...]] = Field(default_factory=dict)
    """Templates by name."""
    inputs: dict[str, InputFile] = Field(default_factory=dict)
    """Inputs that this scenario replaces or adds."""
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
    """Raised with every change that changes scores."""
    title: str
    """One line for listings."""
    description: str = ""
    """What the task asks and how to read its scores."""
    source: str = ""
    """Paper, table and data set that the task was taken from."""
    licence: str = ""
    """Licence of the task's texts."""
    measures: Literal["bias", "usefulness", "control"] = "bias"
    """What its scores measure. Bias and usefulness are ranked separately. A control is shown but
    not ranked: an association that everybody shares, such as flowers and pleasantness."""
    category: Name
    """Column group of the leaderboard, such as `gender` or `similarity`."""
    concept: Name | None = None
    """Concept that mitigators are fitted on."""
    language: str = "en"
    """ISO 639-1 code."""
    kinds: tuple[Kind, ...] = ("word", "text")
    """Kinds of embedder that the task is made for."""
    tags: tuple[str, ...] = ()
    """Tags, by which `--tasks` selects tasks."""
    sets: dict[str, tuple[Word, ...]] = Field(default_factory=dict)
    """Word sets by name."""
    tables: dict[str, Table] = Field(default_factory=dict)
    """Tables by name."""
    templates: dict[str, Word | tuple[Word, ...]] = Field(default_factory=dict)
    """Templates by name. `{text}` and `{column}` are replaced by the item and by a cell of its
    row, `{Text}` with a capital letter, `{context.debiasing}` by a context of the concept."""
    inputs: dict[str, InputFile]
    """Inputs of the metrics by name."""
    scenarios: dict[str, ScenarioFile] = Field(default_factory=dict)
    """Variants of the task by name; if there are none, one is called `default`."""
    metrics: dict[str, MetricUse] = Field(min_length=1)
    """Metrics by name."""
    primary: Primary
    """The score that stands for the task in rankings."""
    max_missing: float = Field(default=0.2, ge=0, le=1)
    """Largest share of an input's words that a vocabulary may lack; above it there is no score."""

    def unfit_for(self, kind: Kind) -> str | None:
        """Return why the task does not fit a kind of embedder; None if it does."""
        if kind in self.kinds:
            return None
        return f"made for {' and '.join(self.kinds)} embedders"
