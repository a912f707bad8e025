"""The schema of a task file, as a person writes it. `harness.task.task` resolves it."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, Self
from urllib.parse import unquote, urlsplit

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

from harness import limits
from harness.concept import Name, Word
from harness.embedder import MOST_PROMPTS, Kind, Role, fits
from harness.errors import suggestion
from harness.folders import safe_name
from harness.task.yaml_files import Collector, Document, KeyPath

# The schema of a table: its rows, or the file that has them and how to read it.
#
# `data_files.py` finds the file, fetches it if it has an address, and parses it.


Cell = StrictStr | StrictInt | StrictFloat
"""Strict: YAML reads an unquoted `no` as a boolean, which must not become the text `0`."""
Sha256 = Annotated[str, StringConstraints(to_lower=True, pattern=r"^[0-9a-fA-F]{64}$")]
"""Hexadecimal digits only, since it names a folder in the cache."""

_NO_ENCODINGS = ("idna", "punycode", "undefined")
"""Encodings of host names; they take hours for a long text."""
_NAME, _STEP = r"\w[\w.-]*", r"/(?!\.\.?(/|$))[^/]+"
_URL = re.compile(rf"https://[^/\s]\S*|hf://datasets/{_NAME}/{_NAME}(@{_NAME})?({_STEP})+")


class Strict(BaseModel):
    """Base of the schema: no unknown keys, and immutable after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Table(Strict):
    """Rows with named columns: written here, read from a file, or made from another table."""

    made_from: str | None = None
    """Another table of the task, from which `made_by` makes this one."""
    made_by: str | None = None
    """Name of a table maker that a plugin registers."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the table maker."""
    columns: tuple[str, ...] = ()
    """Column names; for a file, only if it has no header line. A `.jsonl` file with columns is
    read as a text table."""
    rows: tuple[tuple[Cell, ...], ...] | None = None
    """The rows."""
    file: str | None = None
    """A file in the folder of this YAML file, or below it; with `package`, inside that package. A
    file `NAME.gz` is decompressed and read like NAME."""
    package: str | None = None
    """An installed package that contains `file`."""
    url: str | None = None
    """`https://…`, or `hf://datasets/owner/name@revision/path`. A file that ends in `.gz` is
    decompressed when it is fetched."""
    member: str | None = None
    """Path of the file inside the zip or tar archive at `url`."""
    size: int | None = Field(default=None, ge=1)
    """Bytes at `url`."""
    terms: str = ""
    """One line that names the licence or terms of use of the file."""
    local: str | None = None
    """Path of a copy under HARNESS_DATA, which is used instead of a download. A download is kept
    under this path in the cache."""
    sha256: Sha256 | None = None
    """SHA-256 of the file that is read, after decompression; required for a download."""
    optional: tuple[str, ...] = ()
    """Further columns of a text table, after the others; a row may end before them. A row with
    another number of cells is a mistake."""
    delimiter: str | None = None
    """Delimiter of a text table: by default a tab, or a comma for `.csv`; `.jsonl` needs none. Of
    several characters, each separates cells."""
    quoted: bool | None = None
    """Whether double quotes enclose cells: by default yes for `.csv`, as in RFC 4180. In other
    files quotes are text. A cell in quotes may contain delimiters and line breaks."""
    comment: str | None = None
    """Lines that begin with this are skipped, except inside a cell in quotes."""
    section: str | None = None
    """A further column. A line `: NAME` sets its cell to NAME in the rows below that line."""
    encoding: str = "utf-8"
    """Encoding of the file. A byte order mark is no part of the first column's name."""

    @property
    def place(self) -> str | None:
        """Path of a copy under HARNESS_DATA and in the cache: `local`, or one from its SHA-256."""
        if self.local or not self.url:
            return self.local
        name = PurePosixPath(self.member or unquote(urlsplit(self.url).path)).name
        return f"{(self.sha256 or '')[:16]}/{safe_name(name.removesuffix('.gz'))}"

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, url: str | None) -> str | None:
        if url is None:
            return None
        try:
            is_valid = bool(_URL.fullmatch(url)) and urlsplit(url).port != 0  # may raise
        except ValueError:
            is_valid = False
        if not is_valid:
            forms = "'https://…' or 'hf://datasets/owner/name@revision/path'"
            raise ValueError(f"invalid url '{url}'; expected {forms}")
        return url

    @field_validator("file", "local")
    @classmethod
    def _stays_inside(cls, path: str | None) -> str | None:
        if path is None:
            return None
        parts = PurePosixPath(path).parts
        if not parts or parts[0] == "/" or ".." in parts or re.search(r"[\\:\0-\x1f\x7f]", path):
            raise ValueError(
                f"invalid path '{path}'; expected a path inside the folder, without .."
            )
        longest = max(len(os.fsencode(part)) for part in parts)
        if longest > limits.FILE_NAME_BYTES:
            raise ValueError(f"a name of {limits.too_many(longest, limits.FILE_NAME_BYTES)}")
        return path

    @field_validator("encoding")
    @classmethod
    def _is_an_encoding(cls, encoding: str) -> str:
        try:
            is_known = codecs.lookup(encoding).name not in _NO_ENCODINGS
        except (LookupError, ValueError):
            is_known = False
        if not is_known:
            raise ValueError(f"unknown encoding '{encoding}'; expected one such as 'utf-8'")
        return encoding

    @field_validator("delimiter")
    @classmethod
    def _is_inside_a_line(cls, delimiter: str | None) -> str | None:
        if delimiter is not None and not {"\r", "\n"}.isdisjoint(delimiter):
            raise ValueError("a line break cannot be a delimiter: it ends the row")
        return delimiter

    @field_validator("package")
    @classmethod
    def _is_a_package(cls, package: str | None) -> str | None:
        if package is not None and not all(map(str.isidentifier, package.split("."))):
            raise ValueError(
                f"invalid package '{package}'; expected a name such as 'some_data.sets'"
            )
        return package

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        if self.package and not self.file:
            raise ValueError("'package' requires 'file', a file in the package")
        in_file = not (self.file is None and self.url is None and self.local is None)
        if [self.rows is not None, in_file, self.made_from is not None].count(True) != 1:
            raise ValueError(
                "expected either 'rows', or one of 'file', 'url' and 'local', or 'made_from'"
            )
        if self.file and self.url:
            raise ValueError("'file' takes no 'url': it is there already")
        if (self.made_from is None) != (self.made_by is None) or (
            self.options and not self.made_by
        ):
            raise ValueError("'made_from' and 'made_by' need each other; 'options' needs both")
        if self.url and not self.sha256:
            raise ValueError("'url' requires 'sha256', the checksum of the file")
        if self.url and self.local and self.local.endswith(".gz"):
            raise ValueError("'local' of a 'url' is kept decompressed: leave '.gz' out of it")
        if not self.url and (self.member or self.size):
            raise ValueError("'member' and 'size' require 'url'")
        columns = [*self.columns, *self.optional, *filter(None, [self.section])]
        repeated = [name for i, name in enumerate(columns) if name in columns[:i]]
        if repeated:
            raise ValueError(f"two columns have the name '{repeated[0]}'")
        for row in self.rows or ():
            if len(row) != len(self.columns):
                raise ValueError(
                    f"the row {list(row)} has {len(row)} cells for {len(self.columns)} columns"
                )
        return self


DEFAULT_SCENARIO = "default"
"""Name of the only scenario of a task that lists none."""


NOT_REVIEWED = "no reader of the language has reviewed its texts"
"""Why the scores of such a task are not ranked."""


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
        # (a+)+ may try every way to split a word, which takes exponential time.
        if re.search(r"\)[*+{]", re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", "", pattern)):
            raise ValueError(f"regular expression '{pattern}': a group may not be repeated")
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
    """Column of the table."""
    where: dict[str, Cell | tuple[Cell, ...]] = Field(default_factory=dict)
    """Only rows whose cells equal these values are used; a list allows any of its values."""
    template: str | None = None
    """Name of the template, or list of templates, into which each item is put."""
    number: bool = False
    """Whether the items are numbers, such as labels, not texts. With a template that is a list, a
    number counts for each of the texts that the template makes of its row."""
    probe: bool = False
    """Whether the texts define the concept, so that mitigators do not rewrite them."""
    original: bool = False
    """Whether the vectors are the model's own, without any mitigator."""
    role: Role = "text"
    """`query` or `document` if the texts are those of a search: a model with prompts for these puts
    the prompt before each text. `text`, the default, is neither. The task's digest does not cover
    this, so raise the version when you change it."""

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
        if self.number and self.role != "text":
            raise ValueError(f"numbers have no role; remove 'role: {self.role}'")
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


class Review(Strict):
    """What a person who reads the language found in the texts of a task.

    It stands in the file `_reviews.yaml` of a folder of tasks, which the task includes. Reviews
    that the authors of a data set published stand there, too, with their source.
    """

    by: str = Field(min_length=1)
    """Who read the texts."""
    about: str = ""
    """What to know of the reader: where the language was learnt, profession."""
    date: str = Field(default="", pattern=r"^(\d{4}(-\d\d){0,2})?$")
    """When: a year, or a day such as `2026-11-26`."""
    version: int = Field(ge=1, le=limits.INTEGER)
    """Version of the task that has the texts as they were accepted. With another version of the
    task, the review does not count; its `mended` still do."""
    source: str = ""
    """Of a published review, where it stands."""
    how: str = ""
    """How the texts were read, as the source says."""
    texts: int | None = Field(default=None, ge=1)
    """Number of texts that were read."""
    mended: dict[str, str] = Field(default_factory=dict)
    """The new text by the old one. It replaces words of sets, cells of tables and templates that
    equal the old text. An empty text leaves out the word, the row or the template."""
    remarks: dict[str, str] = Field(default_factory=dict)
    """What the reader says of a text, by text."""


NO_YARDSTICK = "none"
"""In place of a yardstick: nothing in the task's items is of the size of its gap."""


class TaskFile(Strict):
    """A task: which texts, under which concept, scored by which metrics."""

    name: Name
    """Name that users type."""
    version: int = Field(ge=1, le=limits.INTEGER)
    """Raise it with every change that affects scores."""
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
    not ranked: an association that everybody shares, such as flowers and pleasantness, or
    another form of a test that is ranked."""
    category: Name
    """Column group of the leaderboard, such as `gender` or `similarity`."""
    family: Name | None = None
    """Family of methods, such as `association`. A leaderboard gives one vote to each category and
    family, however many tasks they have. By default the name of the primary metric."""
    unranked: str = ""
    """Why the score is shown but not ranked, for example because it does not react to planted
    bias."""
    superseded_by: Name | None = None
    """Name of the task that replaces this one. Its scores are shown and no longer ranked."""
    reviewed: bool = True
    """False if a reader of the language has to read the texts: scores are shown, and not ranked
    until `reviews` has a review of this version."""
    reviews: dict[Name, tuple[Review, ...]] = Field(default_factory=dict)
    """Reviews by task. The tasks of a folder may include one file with the reviews of all; each
    keeps its own."""
    concept: Name | None = None
    """Concept that mitigators are fitted on."""
    language: str = Field(default="en", pattern="^[a-z]{2,3}$")
    """ISO 639-1 code, such as `de`; the three-letter code if there is no two-letter one. The task
    is not run on a model whose card lacks the language."""
    kinds: tuple[Literal["word", "text"], ...] = ("word", "text")
    """Kinds of embedder that the task is made for."""
    tags: tuple[str, ...] = ()
    """Tags, which `--tasks` can select. Leaderboards do not quote texts of a task with the tag
    `stereotyped-texts`."""
    large: bool = False
    """Whether it takes hours or a large download. It is then selected only by its own name and by
    benchmarks, not by `all`, globs, tags and categories."""
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
    yardstick: Name | None = None
    """The task whose scenarios are contrasts of the same form that have nothing to do with the
    concept, such as flowers with pleasant and insects with unpleasant words. The gap of this task
    over their mean gap is what ranks. A task without one ranks only if its metric finds a
    yardstick in the same items; `none` says that these are no yardstick."""
    max_missing: float = Field(default=0.2, ge=0, le=1)
    """Largest share of an input's words that a vocabulary may lack; above it there is no score."""

    @model_validator(mode="before")
    @classmethod
    def _with_own_reviews(cls, data: Any) -> Any:
        # Else a review of one task would change what is kept of the others.
        if not isinstance(data, Mapping) or not isinstance(data.get("reviews"), Mapping):
            return data
        own = {name: of for name, of in data["reviews"].items() if name == data.get("name")}
        return {**data, "reviews": own}

    @property
    def not_ranked(self) -> str:
        """Why the scores are shown and not ranked; empty if they are ranked."""
        if self.unranked:
            return self.unranked
        if self.superseded_by is not None:
            return f"superseded by {self.superseded_by}"
        if self.is_reviewed:
            return ""
        older = [review.version for review in self.own_reviews]
        return f"reviewed in version {max(older)}, and changed since" if older else NOT_REVIEWED

    @property
    def own_reviews(self) -> tuple[Review, ...]:
        """The reviews of this task, of any version."""
        return self.reviews.get(self.name, ())

    @property
    def is_reviewed(self) -> bool:
        """Whether a reader of the language has read the texts of this version, or none has to."""
        return self.reviewed or any(review.version == self.version for review in self.own_reviews)

    @property
    def mended(self) -> Mapping[str, str]:
        """What reviews put in the place of texts."""
        mended: dict[str, str] = {}
        for review in self.own_reviews:  # a later one has read what an earlier one mended
            later = {old: review.mended.get(new, new) for old, new in mended.items()}
            mended = {**later, **review.mended}
        return mended

    def inputs_by_key(self) -> dict[KeyPath, InputFile]:
        """Return the inputs of the task and of its scenarios by key."""
        by_key: dict[KeyPath, InputFile] = {
            ("inputs", name): input_ for name, input_ in self.inputs.items()
        }
        for scenario, part in self.scenarios.items():
            for name, input_ in part.inputs.items():
                by_key["scenarios", scenario, "inputs", name] = input_
        return by_key

    def sources(self) -> Iterator[tuple[KeyPath, Source]]:
        """Yield the sources of all inputs, with their keys."""
        for key, input_ in self.inputs_by_key().items():
            if isinstance(input_, Source):
                yield key, input_
            else:
                yield from (((*key, i), source) for i, source in enumerate(input_))

    def unfit_for(self, kind: Kind) -> str | None:
        """Return why the task does not fit a kind of embedder; None if it does."""
        if fits(kind, self.kinds):
            return None
        return f"made for {' and '.join(self.kinds)} embedders"

    def foreign_to(self, languages: Collection[str]) -> str | None:
        """Return why the task does not fit the languages of a model's card; None if it does.

        A card without languages, or with `multilingual`, fits every task.
        """
        if not languages or self.language in languages or "multilingual" in languages:
            return None
        return f"in the language {self.language}, the model is for {' and '.join(languages)}"


# Benchmarks: named, versioned lists of tasks. A board ranks models that ran all its tasks.
#
# A benchmark lists its tasks with their versions, so that its numbers keep their meaning. It knows
# no model and runs nothing.


class BenchmarkFile(Strict):
    """A benchmark: which tasks belong together, in which versions."""

    name: Name
    """Name that users type after `--tasks`. No task or tag may have the same name. A category may,
    if it has all bias tasks of the benchmark: the name then selects the benchmark."""
    version: int = Field(ge=1, le=limits.INTEGER)
    """Raise it with every change of the tasks or their versions."""
    title: str
    """One line for listings."""
    description: str = ""
    """What the tasks measure together, and why they were chosen."""
    citation: str = ""
    """Paper to cite with its scores."""
    aggregation: Literal["families"] = "families"
    """How a board combines scores into a rank: the mean over families of the mean over their tasks,
    separately for bias and usefulness."""
    prompts: StrictInt | None = Field(default=None, ge=2, le=MOST_PROMPTS)
    """Number of neutral instructions that a run has each model under on the tasks that measure
    bias, if the user names no number: its own, none, and stated ones."""
    tasks: dict[Name, StrictInt] = Field(min_length=1)
    """Version by task. Globs are not allowed."""


def check_benchmark(document: Document, versions: Mapping[str, int]) -> BenchmarkFile:
    """Return the benchmark that a parsed file describes.

    Parameters
    ----------
    document
        The parsed file.
    versions
        Version of each known task.

    Raises
    ------
    InvalidFile
        If it has a mistake in it, or lists a task that is unknown or of another version.
    """
    file = document.validate(BenchmarkFile)
    mistakes = Collector()
    for name, version in file.tasks.items():
        with mistakes.collecting():
            if name not in versions:
                problem = f"unknown task '{name}'{suggestion(name, versions)}"
                raise document.error(problem, ("tasks", name))
            if version != versions[name]:
                raise document.error(
                    f"version {version} of the task is listed, version {versions[name]} is "
                    "installed: install the version that the benchmark was made for, or update "
                    "this line and raise the version of the benchmark",
                    ("tasks", name),
                )
    mistakes.check()
    return file
