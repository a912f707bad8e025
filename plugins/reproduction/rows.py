"""Reads the files of rows: what a paper prints, and what answers it.

tasks/reproduction/README.md says what each key means.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StringConstraints,
    TypeAdapter,
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

Text = Annotated[str, StringConstraints(strict=True, min_length=1)]
Number = StrictInt | Annotated[StrictFloat, Field(allow_inf_nan=False)]
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
ANSWERS = ("score", "study", "here", "holds", "needs")
"""Keys of a row of which each row has exactly one."""
NOT_PRINTED = "not printed"
"""Stands for what a paper prints of a model that it does not have."""


class ScoreAnswer(Strict):
    """A score of an evaluation, found by running its task on the row's model."""

    task: Name
    scenario: str = ""
    metric: str = ""
    score: str = ""
    mitigator: Text = "none"
    field: Annotated[str, StringConstraints(pattern=FIELD)] = "value"
    absolute: StrictBool = False

    def value(self, record: Record) -> float | None:
        """Return what a record says; `UsageError` if it has no such detail."""
        name, *keys = self.field.split(".")
        value: Any = getattr(record, name)
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if keys and not isinstance(value, int | float):
            known = ", ".join(record.details)
            raise UsageError(f"'{self.metric}' has no number '{self.field}'; its details: {known}")
        return abs(value) if self.absolute and value is not None else value  # type: ignore[no-any-return]


class StudyAnswer(Strict):
    """A cell of a study's table, or a hyper-parameter that the study chose."""

    study: Name
    row: Text
    criterion: Text
    measure: Text | None = None
    field: Literal["mean", "sd", "verdict"] = "mean"
    parameter: Text | None = None

    @model_validator(mode="after")
    def _has_one_subject(self) -> Self:
        if (self.measure is None) == (self.parameter is None):
            raise ValueError("expected either 'measure' or 'parameter'")
        return self

    def value(self, summary: Summary) -> float | str | None:
        """Return what a study's summary says; `UsageError` if it has no such cell."""
        found: float | str | None
        if self.parameter is not None:
            choices = summary.chosen.get((self.row, self.criterion), ())
            if not choices or self.parameter not in choices[0].params:
                raise UsageError(f"{self.study} chose no '{self.parameter}' of {self.row}")
            found = choices[0].params[self.parameter]
            return found
        cell = summary.cells.get((self.criterion, self.row, self.measure or ""))
        if cell is None:
            raise UsageError(f"{self.study} has no cell {self.row} / {self.measure}")
        found = getattr(cell, self.field)
        return found


class Row(Strict):
    """One table, figure, cell or claim of a paper."""

    id: Name
    item: Item | tuple[Item, ...]
    claim: Text
    printed: Number | Text
    source: Text | None = None
    unit: str = ""
    digits: Annotated[StrictInt, Field(ge=0, le=9)] | None = None
    model: Text | None = None
    elsewhere: dict[Text, Number] = Field(default_factory=dict)
    score: ScoreAnswer | None = None
    study: StudyAnswer | None = None
    here: Number | Text | None = None
    holds: StrictBool | None = None
    needs: Text | None = None
    evidence: Text | None = None
    command: Text | None = None
    tolerance: Annotated[Number, Field(ge=0)] | None = None
    reason: Text | None = None
    note: Text | None = None

    @property
    def items(self) -> tuple[str, ...]:
        """The places in the paper."""
        return (self.item,) if isinstance(self.item, str) else self.item

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        answers = [name for name in ANSWERS if getattr(self, name) is not None]
        in_words = isinstance(self.printed, str)
        is_run = self.score is not None or self.study is not None
        rules = {
            f"expected exactly one of {', '.join(ANSWERS)}": len(answers) != 1,
            "a score or study requires a 'model'": is_run and self.model is None,
            "'here' requires the 'command' that gave it": self.here is not None
            and self.command is None,
            "'holds' requires 'evidence', and 'holds: false' a 'reason'": self.holds is not None
            and (self.evidence is None or not (self.holds or self.reason)),
            "words are compared with words, numbers with numbers": (
                in_words and self.score is not None
            )
            or (self.here is not None and isinstance(self.here, str) != in_words),
            "a number requires a 'tolerance'": not in_words
            and (is_run or self.here is not None)
            and self.tolerance is None,
        }
        for problem, broken in rules.items():
            if broken:
                raise ValueError(f"row '{self.id}': {problem}")
        return self


class Paper(Strict):
    """A file of rows: one paper."""

    name: Name
    title: Text
    citation: Text
    tables: Numbers
    figures: Numbers
    rows: tuple[Row, ...]

    @model_validator(mode="after")
    def _has_a_row_for_each_item(self) -> Self:
        answered = {item for row in self.rows for item in row.items}
        for kind, numbers in (("Table", self.tables), ("Figure", self.figures)):
            for i in range(1, numbers + 1) if isinstance(numbers, int) else numbers:
                if f"{kind} {i}" not in answered:
                    raise ValueError(f"{kind} {i} has no row")
        return self


@dataclass(frozen=True)
class Selection:
    """What a row selects, with all defaults filled in.

    Parameters
    ----------
    model
        The model.
    answer
        The score or the cell.
    version
        Version of its task or study.
    valid
        Whether tasks rank by it: `yes`, `no: ` with the reason, or empty where nothing is judged.
    """

    model: str
    answer: ScoreAnswer | StudyAnswer
    version: int
    valid: str

    @property
    def command(self) -> str:
        """The command that gives it."""
        answer = self.answer
        if isinstance(answer, StudyAnswer):
            return f"harness study run {answer.study}"
        model, mitigator = shlex.quote(self.model), shlex.quote(answer.mitigator)
        return f"harness eval --model {model} --mitigator {mitigator} --tasks {answer.task}"

    @property
    def address(self) -> str:
        """What identifies it: a recorded value counts for this task, version and model."""
        answer = self.answer
        if isinstance(answer, StudyAnswer):
            column = f"{answer.measure} / {answer.field}"
            if answer.parameter:
                column = f"parameter {answer.parameter}"
            study = f"{answer.study}@{self.version}"
            return " / ".join((self.model, study, answer.criterion, answer.row, column))
        task = f"{answer.task}@{self.version}"
        place = (answer.scenario, answer.metric, answer.score)
        field = "absolute " * answer.absolute + answer.field
        return " / ".join((self.model, answer.mitigator, task, *place, field))


@dataclass(frozen=True)
class PaperFile:
    """A checked file of rows: its path, what it says, and what rows select, by their ids."""

    path: Path
    paper: Paper
    selections: Mapping[str, Selection]


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
    include = tuple(include)
    for place in include:
        folders.check(place)
    roots = [Path(folder) for _, folder in registry.plugins.results("harness_task_folders")]
    papers: dict[str, PaperFile] = {}
    owners: dict[str, Path] = {}
    mistakes = Collector()
    for path in (path for root in (*roots, *include) for path in files_of(root, "reproduction")):
        with mistakes.collecting():
            document = load_file(path)
            paper = document.validate(Paper)
            if paper.name in papers:
                problem = f"the paper '{paper.name}' has another file, {papers[paper.name].path}"
                raise document.error(problem, ("name",))
            gate = trust.Gate(document, registry)
            for i, row in enumerate(paper.rows):
                if row.model:
                    gate.model(row.model, ("rows", i, "model"))
                if row.score and row.score.mitigator:
                    gate.mitigator(row.score.mitigator, ("rows", i, "score", "mitigator"))
            gate.check()
            selections: dict[str, Selection] = {}
            for i, row in enumerate(paper.rows):
                with mistakes.collecting(), document.pointing_at(("rows", i)):
                    if row.id in owners:
                        raise UsageError(f"duplicate id '{row.id}', also in {owners[row.id]}")
                    owners[row.id] = path
                    if (selected := _selected(row, registry)) is not None:
                        selections[row.id] = selected
            papers[paper.name] = PaperFile(path, paper, selections)
    mistakes.check()
    return papers


def chosen(papers: Mapping[str, PaperFile], names: Sequence[str]) -> list[PaperFile]:
    """Return the papers of these names; without names, all. `UnknownName` if one is unknown."""
    for name in names:
        _check("paper", name, papers)
    return [papers[name] for name in dict.fromkeys(names or papers)]


def _selected(row: Row, registry: Registry) -> Selection | None:
    """Return what a row selects; `UsageError` if that is not installed."""
    if row.study is not None and row.model is not None:
        data = registry.study_files.find(row.study.study).data
        measure = data["measures"].get(row.study.measure)
        valid = ""
        if measure is not None:
            metric = measure["metric"]
            score = measure.get("score") or next(iter(registry.metric(metric).scores))
            valid = _no(NOT_VALID.get(f"{metric}/{score}"))
        return Selection(row.model, row.study, data["version"], valid)
    if row.score is None or row.model is None:
        return None
    answer = row.score
    registry.mitigator(answer.mitigator)
    data = registry.task_files.find(answer.task).data
    primary = data["primary"]
    scenario = answer.scenario or primary.get("scenario", DEFAULT_SCENARIO)
    _check("scenario", scenario, data.get("scenarios") or [DEFAULT_SCENARIO])
    metric = answer.metric or primary["metric"]
    _check(f"metric of '{answer.task}'", metric, data["metrics"])
    scores = list(registry.metric(metric).scores)
    score = answer.score or (primary["score"] if metric == primary["metric"] else scores[0])
    _check(f"score of '{metric}'", score, scores)
    answer = answer.model_copy(update={"scenario": scenario, "metric": metric, "score": score})
    return Selection(row.model, answer, data["version"], _valid(answer, data))


def _check(kind: str, name: str, known: Iterable[str]) -> None:
    if name not in (known := list(known)):
        raise UnknownName(kind, name, known)


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

A number may reproduce and still say nothing about bias. It counts where no ranked task has the
score for its primary one: RND of two contrasted attribute sets is valid, that of single sets not.
"""


def _valid(answer: ScoreAnswer, task: Mapping[str, Any]) -> str:
    """Return `yes` if the score is the primary one of a task that is ranked and no control."""
    if answer.field != "value":
        return ""
    primary = task["primary"]
    is_primary = (answer.metric, answer.score) == (primary["metric"], primary["score"])
    if is_primary and "unranked" not in task:
        return "" if task.get("measures") == "control" else "yes"
    return _no(NOT_VALID.get(f"{answer.metric}/{answer.score}") or task.get("unranked"))


def _no(reason: str | None) -> str:
    return f"no: {reason}" if reason else ""


# The recorded values, so that nobody has to run hours of studies to print the page.

VALUES = "values.json"
"""File in the folder of the rows: the values by the address of what they are of."""
_VALUES = TypeAdapter(dict[str, float | str])


def recorded(files: Iterable[PaperFile]) -> dict[str, float | str]:
    """Return the recorded values beside files of rows; `InvalidFile` if one is damaged."""
    values: dict[str, float | str] = {}
    for path in sorted({file.path.parent / VALUES for file in files}):
        if path.exists():
            try:
                values |= _VALUES.validate_json(path.read_bytes())
            except OSError as error:
                raise unreadable(path, error) from None
            except ValueError as error:
                raise InvalidFile(f"not a file of values ({one_line(error)})", path=path) from None
    return values


def record(files: Iterable[PaperFile], values: Mapping[str, float | str]) -> None:
    """Write the values of what the rows of all files select, in the files' folders."""
    by_folder: dict[Path, set[str]] = {}
    for file in files:
        selected = {selection.address for selection in file.selections.values()}
        by_folder.setdefault(file.path.parent, set()).update(selected & values.keys())
    for folder, addresses in by_folder.items():
        lines = {address: values[address] for address in sorted(addresses)}
        text = json.dumps(lines, ensure_ascii=False, indent=1) + "\n"
        folders.write_atomically(folder / VALUES, text.encode())
