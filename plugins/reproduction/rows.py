"""Reads the files of rows, and checks them against each other and against what is installed."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeAlias

from pydantic import (
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StringConstraints,
    ValidationError,
    model_validator,
)

from harness import folders
from harness.concept import Name
from harness.errors import InvalidFile, UnknownName, UsageError, one_line, unreadable
from harness.registry import trust
from harness.registry.discovery import files_of, load_file
from harness.task.schema import DEFAULT_SCENARIO, Strict
from harness.task.yaml_files import Collector

if TYPE_CHECKING:
    from harness.registry.registry import Registry
    from harness.results.record import Record
    from harness.study.summary import Summary


# The schema of a file of rows, as a person writes it: what a paper prints, and what answers it.
#
# A row is answered in one of five ways, and its status follows from the answer: it is never typed.
# `status` computes it, and `rows` reads the files.


Text = Annotated[str, StringConstraints(strict=True, min_length=1)]
Finite = Annotated[StrictFloat, Field(allow_inf_nan=False)]
Number = StrictInt | Finite
Numbers = Annotated[int, Field(ge=0, le=1000)] | tuple[int, ...]
Item = Annotated[
    str,
    StringConstraints(
        pattern=r"^(Table|Figure|Section|Equation|Algorithm|Appendix) [A-Z0-9][A-Za-z0-9.]*$"
        r"|^Abstract$|^Conclusion$"
    ),
]
"""Place in a paper, such as `Table 4`, `Section 3.2.3` or `Abstract`."""
FIELD = r"^(value|p_value|n|details(\.[\w-]+)+)$"
"""What of a record a row may select."""
ANSWERS = ("score", "study", "here", "holds", "needs")
"""Keys of a row of which each row has exactly one."""


class ScoreAnswer(Strict):
    """A score of an evaluation, found by running its task on the row's model."""

    task: Name
    """Name of the task."""
    scenario: str | None = None
    """One of the task's scenarios; by default that of its primary score."""
    metric: str | None = None
    """One of the task's metrics; by default that of its primary score."""
    score: str | None = None
    """One of the metric's scores; by default the task's primary score, or the metric's only one."""
    mitigator: Text = "none"
    """Mitigator as one types it, such as `hard-debias?k=2`."""
    field: Annotated[str, StringConstraints(pattern=FIELD)] = "value"
    """What of the record: `value`, `p_value`, `n` or `details.NAME`, and `details.NAME.KEY`."""
    absolute: StrictBool = False
    """Whether the sign is dropped, where a paper prints |x|."""


class StudyAnswer(Strict):
    """A cell of a study's table, or a hyper-parameter that the study chose."""

    study: Name
    """Name of the study."""
    row: Text
    """Label of the mitigator's row."""
    criterion: Text
    """Measure by which hyper-parameters were chosen."""
    measure: Text | None = None
    """Column of the table of changes."""
    field: Literal["mean", "sd", "p_value", "p_holm", "verdict", "verdict_holm"] = "mean"
    """What of the cell; a verdict is `better`, `worse` or `equal`."""
    parameter: Text | None = None
    """In place of `measure`: the hyper-parameter whose most frequent choice is meant."""

    @model_validator(mode="after")
    def _has_one_subject(self) -> Self:
        if (self.measure is None) == (self.parameter is None):
            raise ValueError("expected either 'measure' or 'parameter'")
        return self


class Row(Strict):
    """One table, figure, cell or claim of a paper."""

    id: Name
    """Unique in all files."""
    item: Item | tuple[Item, ...]
    """Where it stands in the paper, such as `Table 4`; several as a list."""
    claim: Text
    """What it says, in one line."""
    printed: Number | Text
    """The expected value: a number as printed, or what is said in words."""
    source: Literal["printed", "peer", "own"] = "printed"
    """Whose the expected value is: the paper's, another implementation's, or an earlier measurement
    of our own where the paper's text lost the number."""
    peer: Text | None = None
    """For `source: peer`, the implementation and its version."""
    unit: str = ""
    """What follows the number, such as `%`."""
    digits: Annotated[StrictInt, Field(ge=0, le=9)] | None = None
    """Digits after the decimal point; by default as many as `printed` has."""
    model: Text | None = None
    """Model that the value is of, as one types it; for words in a claim none is needed."""
    elsewhere: dict[Text, Number] = Field(default_factory=dict)
    """Printed values of the same cell for other models, by name; `--model` compares with these."""
    score: ScoreAnswer | None = None
    """Answer: a score, found by running its task."""
    study: StudyAnswer | None = None
    """Answer: a cell of a study."""
    here: Number | Text | None = None
    """Answer: a value that `command` gave."""
    holds: StrictBool | None = None
    """Answer to a claim in words: whether it holds here; `evidence` says why."""
    needs: Text | None = None
    """Answer: what is not here, such as a model or a data set."""
    evidence: Text | None = None
    """For `holds`: what shows it, with numbers."""
    command: Text | None = None
    """Command that gives the answer; computed for `score` and `study`."""
    tolerance: Annotated[StrictInt | Finite, Field(ge=0)] | None = None
    """Largest difference that counts as reproduced; required between numbers."""
    reason: Text | None = None
    """Why it differs; required where it does, and refused where it does not."""
    note: Text | None = None
    """A remark on a row of any status."""

    @property
    def items(self) -> tuple[str, ...]:
        """The places in the paper."""
        return (self.item,) if isinstance(self.item, str) else self.item

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        for problem in self._problems():
            raise ValueError(f"row '{self.id}': {problem}")
        return self

    def _problems(self) -> list[str]:
        answers = [name for name in ANSWERS if getattr(self, name) is not None]
        is_number = not isinstance(self.printed, str)
        rules = {
            "has no status: expected exactly one of 'score', 'study', 'here', 'holds' and 'needs'"
            + (f", but this has {' and '.join(answers)}" if answers else ""): len(answers) != 1,
            "a value 'here' requires the 'command' that gave it": self.here is not None
            and self.command is None,
            "'holds' requires 'evidence'": self.holds is not None and self.evidence is None,
            "'evidence' belongs to 'holds'": self.holds is None and self.evidence is not None,
            "'holds: false' requires a 'reason'": self.holds is False and self.reason is None,
            "'reason' says why a row differs, and this row does not: use 'note'": bool(
                self.reason and (self.holds or self.needs)
            ),
            "the command of a score or study is computed: remove 'command'": bool(
                (self.score or self.study) and self.command
            ),
            "a score or study requires a 'model'": bool(self.score or self.study)
            and self.model is None,
            "'printed' in words can be answered only by 'holds', 'needs', a verdict or a text": (
                not is_number and (self.score is not None or isinstance(self.here, int | float))
            ),
            "a number is compared with a number: 'here' is a text": is_number
            and isinstance(self.here, str),
            "a number requires a 'tolerance'": is_number
            and self.tolerance is None
            and self.holds is None
            and self.needs is None,
            "'source: peer' requires 'peer', and only this": (self.source == "peer")
            != (self.peer is not None),
            "'elsewhere' belongs to a 'score'": bool(self.elsewhere) and self.score is None,
        }
        return [problem for problem, broken in rules.items() if broken]


class Paper(Strict):
    """A file of rows: one paper."""

    name: Name
    """Name that users type: `harness reproduce NAME`."""
    title: Text
    """One line for listings."""
    citation: Text
    """The paper."""
    tables: Numbers
    """Number of its tables, or their numbers as a list; each needs a row."""
    figures: Numbers
    """Number of its figures, or their numbers as a list; each needs a row."""
    rows: tuple[Row, ...]
    """What it prints."""

    def without_a_row(self) -> list[str]:
        """Return the tables and figures that no row answers."""
        numbered = [
            f"{kind} {i}"
            for kind, numbers in (("Table", self.tables), ("Figure", self.figures))
            for i in (range(1, numbers + 1) if isinstance(numbers, int) else numbers)
        ]
        answered = {item for row in self.rows for item in row.items}
        return [item for item in numbered if item not in answered]


# What a row selects: one score of a task, or one cell of a study, with its defaults filled in.


@dataclass(frozen=True)
class ScoreSelection:
    """One score of a task."""

    model: str
    mitigator: str
    task: str
    version: int
    scenario: str
    metric: str
    score: str
    field: str = "value"
    absolute: bool = False

    @property
    def command(self) -> str:
        """The command that gives it."""
        mitigator = f" --mitigator {shlex.quote(self.mitigator)}"
        return f"harness eval --model {shlex.quote(self.model)}{mitigator} --tasks {self.task}"

    @property
    def address(self) -> str:
        """What identifies it: a recorded value counts only for its address."""
        parts = (
            self.model,
            self.mitigator,
            f"{self.task}@{self.version}",
            self.scenario,
            self.metric,
            self.score,
            "absolute " * self.absolute + self.field,
        )
        return " / ".join(parts)

    def matches(self, record: Record) -> bool:
        """Return whether a record of this model and mitigator is the one."""
        place = (record.task.name, record.scenario, record.metric, record.score)
        return place == (self.task, self.scenario, self.metric, self.score)

    def value(self, record: Record) -> float | None:
        """Return the selected value of a record.

        Raises
        ------
        UsageError
            If the record has no such detail.
        """
        name, *keys = self.field.split(".")
        value: Any = getattr(record, name)
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if keys and not isinstance(value, int | float):
            raise UsageError(
                f"a record of '{self.metric}' has no number '{self.field}'; its details are "
                f"{', '.join(record.details)}"
            )
        number: float | None = value
        return abs(number) if self.absolute and number is not None else number


@dataclass(frozen=True)
class StudySelection:
    """One cell of a study's tables."""

    model: str
    study: str
    version: int
    answer: StudyAnswer

    @property
    def command(self) -> str:
        """The command that gives it."""
        return f"harness study run {self.study}"

    @property
    def address(self) -> str:
        """What identifies it: a recorded value counts only for its address."""
        answer = self.answer
        column = f"parameter {answer.parameter}" if answer.parameter else answer.measure
        field = "" if answer.parameter else f" / {answer.field}"
        study = f"{self.model} / {self.study}@{self.version}"
        return f"{study} / {answer.criterion} / {answer.row} / {column}{field}"

    def value(self, summary: Summary) -> float | str | None:
        """Return the selected value of a study's summary on this model.

        Raises
        ------
        UsageError
            If the study has no such row, measure or parameter.
        """
        answer = self.answer
        if answer.parameter is not None:
            choices = summary.chosen.get((answer.row, answer.criterion), ())
            if not choices or answer.parameter not in choices[0].params:
                raise UsageError(f"{self.study} chose no '{answer.parameter}' of {answer.row}")
            value: float | str = choices[0].params[answer.parameter]
            return value
        cell = summary.cells.get((answer.criterion, answer.row, answer.measure or ""))
        if cell is None:
            raise UsageError(f"{self.study} has no cell '{self.address}'")
        if answer.field in ("mean", "sd", "p_holm", "verdict", "verdict_holm"):
            of_cell: float | str | None = getattr(cell, answer.field)
            return of_cell
        return cell.comparison.p_value if cell.comparison else None


Selection: TypeAlias = ScoreSelection | StudySelection


def selected_of(row: Row, registry: Registry) -> Selection | None:
    """Return what a row selects; None for a row that states its answer.

    Raises
    ------
    UsageError
        If it selects what is not installed.
    """
    if row.score is not None and row.model is not None:
        return _of_score(row.score, row.model, registry)
    if row.study is not None and row.model is not None:
        file = registry.study_files.find(row.study.study)
        return StudySelection(row.model, row.study.study, file.data["version"], row.study)
    return None


def _of_score(answer: ScoreAnswer, model: str, registry: Registry) -> ScoreSelection:
    registry.mitigator(answer.mitigator)
    data = registry.task_files.find(answer.task).data
    primary = data["primary"]
    scenario = answer.scenario or primary.get("scenario", DEFAULT_SCENARIO)
    _check("scenario", scenario, data.get("scenarios") or [DEFAULT_SCENARIO])
    metric = answer.metric or primary["metric"]
    _check(f"metric of '{answer.task}'", metric, data["metrics"])
    scores = list(registry.metric(metric).scores)
    default = primary["score"] if metric == primary["metric"] else scores[0]
    score = answer.score or default
    _check(f"score of '{metric}'", score, scores)
    return ScoreSelection(
        model=model,
        mitigator=answer.mitigator,
        task=answer.task,
        version=data["version"],
        scenario=scenario,
        metric=metric,
        score=score,
        field=answer.field,
        absolute=answer.absolute,
    )


def _check(kind: str, name: str, known: Iterable[str]) -> None:
    known = list(known)
    if name not in known:
        raise UnknownName(kind, name, known)


# Whether a row's value stands on a valid score. The one list of published scores that do not.
#
# A number may reproduce and still say nothing about bias. What makes a score valid is measured by
# `harness validate-metric`; the file of a task that fails says `unranked` with the reason.


VALID = "yes"
NOT_KNOWN = ""
NOT_VALID = {
    "association-test/proportion": "an offset of all attributes changes the count",
    "concept-direction/auc": "the best of many components, without its floor",
    "ect/coherence": "does not move with the bias",
    "mac/distance": "does not move with the bias",
    "reference-correlation/pooled_pearson": "pools the levels of whole articles",
    "reference-correlation/pooled_spearman": "pools the levels of whole articles",
    "ripa/association": "a single set of attributes has an offset",
    "rnd/difference": "a single set of attributes has an offset",
    "rnsb/divergence": "does not move with the bias",
    "weat/effect_size": "standardised: no magnitude of bias",
}
"""Why a published score is not valid, by `metric/score`; docs/claims.md has the measurements.

It counts where no ranked task has the score for its primary one: RND of two contrasted attribute
sets is valid, that of a study's single sets is not.
"""


def standing(selected: Selection, registry: Registry) -> str:
    """Return `yes`, or `no: ` with the reason, or nothing where no score is judged.

    A score is valid if tasks rank by it: it is the primary score of a task that is ranked, and
    not a control.
    """
    if isinstance(selected, ScoreSelection):
        if selected.field != "value":
            return NOT_KNOWN
        data = registry.task_files.find(selected.task).data
        return _of_task(data, selected.metric, selected.score)
    measures = registry.study_files.find(selected.study).data["measures"]
    measure = measures.get(selected.answer.measure)
    if measure is None:
        return NOT_KNOWN
    metric = measure["metric"]
    score = measure.get("score") or next(iter(registry.metric(metric).scores))
    return _no(NOT_VALID.get(f"{metric}/{score}"))


def _of_task(data: Mapping[str, Any], metric: str, score: str) -> str:
    is_primary = (metric, score) == (data["primary"]["metric"], data["primary"]["score"])
    if is_primary and "unranked" not in data:
        return NOT_KNOWN if data.get("measures") == "control" else VALID
    return _no(NOT_VALID.get(f"{metric}/{score}") or data.get("unranked"))


def _no(reason: str | None) -> str:
    return f"no: {reason}" if reason else NOT_KNOWN


KIND = "reproduction"
"""Kind of file, and the subfolder of a folder of tasks."""


@dataclass(frozen=True)
class PaperFile:
    """A checked file of rows.

    Parameters
    ----------
    path
        The file.
    paper
        What it says.
    selections
        What each row with a score or study selects, by the row's id.
    standings
        Whether that is a valid score, by the row's id; as from `standing`.
    """

    path: Path
    paper: Paper
    selections: Mapping[str, Selection]
    standings: Mapping[str, str]

    def rows(self) -> Iterable[tuple[Row, Selection | None]]:
        """Yield each row with what it selects; None for a row that states its answer."""
        for row in self.paper.rows:
            yield row, self.selections.get(row.id)


def read(registry: Registry, include: Iterable[Path] = ()) -> dict[str, PaperFile]:
    """Return the files of rows by the name of their paper.

    Parameters
    ----------
    registry
        Names its plugins' folders of tasks, and knows what rows may select.
    include
        Further folders of tasks, with rows in their subfolder `reproduction`.

    Raises
    ------
    InvalidFile
        If a folder does not exist, a file has a mistake in it, or a row selects what does not
        exist. It holds all mistakes.
    """
    roots = [Path(folder) for _, folder in registry.plugins.results("harness_task_folders")]
    include = tuple(include)
    for place in include:
        folders.check(place)
    papers: dict[str, PaperFile] = {}
    owners: dict[str, Path] = {}
    mistakes = Collector()
    for path in (path for folder in (*roots, *include) for path in files_of(folder, KIND)):
        with mistakes.collecting():
            document = load_file(path)
            paper = document.validate(Paper)
            if paper.name in papers:
                problem = f"the paper '{paper.name}' has another file, {papers[paper.name].path}"
                raise document.error(problem, ("name",))
            trust.of_rows(document, registry).check()
            selections: dict[str, Selection] = {}
            for i, row in enumerate(paper.rows):
                with mistakes.collecting():
                    if row.id in owners:
                        problem = f"duplicate id '{row.id}', also in {owners[row.id]}"
                        raise document.error(problem, ("rows", i, "id"))
                    owners[row.id] = path
                    with document.pointing_at(("rows", i)):
                        selected = selected_of(row, registry)
                    if selected is not None:
                        selections[row.id] = selected
            standings = {id_: standing(of_row, registry) for id_, of_row in selections.items()}
            papers[paper.name] = PaperFile(path, paper, selections, standings)
    mistakes.check()
    return papers


def chosen(papers: Mapping[str, PaperFile], names: Sequence[str]) -> list[PaperFile]:
    """Return the papers of these names; without names, all.

    Raises
    ------
    UnknownName
        If a name is not that of a paper.
    """
    for name in names:
        if name not in papers:
            raise UnknownName("paper", name, papers)
    return [papers[name] for name in dict.fromkeys(names or papers)]


# The values that were found for rows, and the file that keeps them beside the rows.
#
# The page is made from the rows and this file alone, so that nobody has to run hours of studies to
# print it. A value counts only for the selection, and the version of the task, that it was found
# for.


NAME = "values.json"
"""Name of the file, in the folder of the rows."""


class Value(Strict):
    """A value that was found for a row."""

    value: float | str
    """The number, or a verdict."""
    selection: str
    """What it is the value of; see `Selection.address`."""
    model: str
    """Label of the model."""
    fingerprint: str
    """Identifies the exact weights and settings."""
    harness: str
    """Version of the harness that computed it."""


def read_values(folder: Path) -> dict[str, Value]:
    """Return the values by the id of their row; none if the folder has no such file.

    Raises
    ------
    InvalidFile
        If the file is damaged.
    """
    path = folder / NAME
    if not path.exists():
        return {}
    try:
        lines: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return {id_: Value.model_validate(value) for id_, value in lines.items()}
    except OSError as error:
        raise unreadable(path, error) from None
    except (ValueError, ValidationError, AttributeError) as error:
        problem = (
            f"not a file of values ({one_line(error)}); `harness reproduce --record` writes it"
        )
        raise InvalidFile(problem, path=path) from None


def write_values(folder: Path, values: Mapping[str, Value]) -> None:
    """Write values to the file of a folder, sorted by id."""
    lines = {id_: values[id_].model_dump() for id_ in sorted(values)}
    text = json.dumps(lines, ensure_ascii=False, indent=1) + "\n"
    folders.write_atomically(folder / NAME, text.encode())


def current(values: Mapping[str, Value], id_: str, selection: Selection) -> Value | None:
    """Return the value of a row; None if there is none for what the row selects now."""
    value = values.get(id_)
    return value if value is not None and value.selection == selection.address else None
