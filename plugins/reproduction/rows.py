"""The rows of papers: what a paper prints, what answers it, and whether both agree.

Rows are in the subfolder `reproduction` of a package's folder of tasks, one file a paper;
tasks/reproduction/README.md says what each key means. A status is computed, never typed.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeAlias

from pydantic import (
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StringConstraints,
    model_validator,
)

from harness.concept import Name
from harness.errors import UnknownName, UsageError
from harness.registry.discovery import files_of, load_file
from harness.task.schema import DEFAULT_SCENARIO, Strict

if TYPE_CHECKING:
    from harness.registry.registry import Registry
    from harness.results.record import Record
    from harness.study.summary import Summary

Text = Annotated[str, StringConstraints(strict=True, min_length=1)]
Number = StrictInt | Annotated[StrictFloat, Field(allow_inf_nan=False)]
FIELD = r"^(value|p_value|n|details(\.[\w-]+)+)$"
ANSWERS = ("score", "study", "here", "holds", "needs")
"""Keys of a row of which each row has exactly one."""
SLACK = 1e-9
"""For the arithmetic of decimal numbers: |0.49 − 0.48| is more than 0.01 in binary."""
Status: TypeAlias = Literal["reproduced", "differs", "needs", "no value"]
"""`no value`: not run here, for lack of data for example."""
SHOWN: tuple[Status, ...] = ("reproduced", "differs", "needs")
"""What a row of the page may have."""


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
    item: Text | tuple[Text, ...]
    """Place in the paper, such as `Table 4`, `Section 3.2.3` or `Abstract`."""
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
        is_number = not in_words and (is_run or self.here is not None)
        rules = {
            f"expected exactly one of {', '.join(ANSWERS)}": len(answers) != 1,
            "a score or study requires a 'model'": is_run and self.model is None,
            "'here' requires the 'command' that gave it": self.here is not None
            and self.command is None,
            "'holds' requires 'evidence', and 'holds: false' a 'reason'": self.holds is not None
            and (self.evidence is None or not (self.holds or self.reason)),
            "a number requires a 'tolerance'": is_number and self.tolerance is None,
        }
        for problem, broken in rules.items():
            if broken:
                raise ValueError(f"row '{self.id}': {problem}")
        return self


class Paper(Strict):
    """A file of rows: one paper, and how many tables and figures it has, or their numbers."""

    name: Name
    title: Text
    citation: Text
    tables: int | tuple[int, ...]
    figures: int | tuple[int, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Entry:
    """A row with what it selects, all defaults filled in.

    Parameters
    ----------
    row, paper
        The row, and the name of its paper.
    answer, source
        The score or cell that it selects, and the content of the file of its task or study; None if
        it selects nothing.
    """

    row: Row
    paper: str
    answer: ScoreAnswer | StudyAnswer | None = None
    source: Mapping[str, Any] = field(default_factory=dict)

    @property
    def model(self) -> str:
        """The model of the row; empty if it has none."""
        return self.row.model or ""

    @property
    def command(self) -> str:
        """The command that gives it; empty if none does."""
        answer = self.answer
        if answer is None:
            return self.row.command or ""
        if isinstance(answer, StudyAnswer):
            return f"harness study run {answer.study}"
        model, mitigator = shlex.quote(self.model), shlex.quote(answer.mitigator)
        return f"harness eval --model {model} --mitigator {mitigator} --tasks {answer.task}"

    @property
    def address(self) -> str:
        """What identifies it: a recorded value counts for this task, version and model."""
        answer = self.answer
        if answer is None:
            return ""
        if isinstance(answer, StudyAnswer):
            column = f"{answer.measure} / {answer.field}"
            if answer.parameter:
                column = f"parameter {answer.parameter}"
            study = f"{answer.study}@{self.source['version']}"
            return " / ".join((self.model, study, answer.criterion, answer.row, column))
        task = f"{answer.task}@{self.source['version']}"
        place = (answer.scenario, answer.metric, answer.score)
        number = "absolute " * answer.absolute + answer.field
        return " / ".join((self.model, answer.mitigator, task, *place, number))


@dataclass(frozen=True)
class PaperFile:
    """A checked file of rows: its path, what it says, and its rows with what they select."""

    path: Path
    paper: Paper
    entries: Sequence[Entry]


def read(registry: Registry) -> dict[str, PaperFile]:
    """Return the files of rows of installed packages by the name of their paper.

    Raises
    ------
    InvalidFile
        If a file has a mistake in it, or a row selects what does not exist.
    """
    papers: dict[str, PaperFile] = {}
    roots = [Path(folder) for _, folder in registry.plugins.results("harness_task_folders")]
    for path in (path for root in roots for path in files_of(root, "reproduction")):
        document = load_file(path)
        paper = document.validate(Paper)
        entries = []
        for i, row in enumerate(paper.rows):
            with document.pointing_at(("rows", i)):
                entries.append(_entry(row, paper.name, registry))
        papers[paper.name] = PaperFile(path, paper, entries)
    return papers


def _entry(row: Row, paper: str, registry: Registry) -> Entry:
    """Return a row with what it selects; `UsageError` if that is not installed."""
    if row.study is not None:
        return Entry(row, paper, row.study, registry.study_files.find(row.study.study).data)
    if row.score is None:
        return Entry(row, paper)
    answer = row.score
    registry.mitigator(answer.mitigator)
    data = registry.task_files.find(answer.task).data
    primary = data["primary"]
    scenario = answer.scenario or primary.get("scenario", DEFAULT_SCENARIO)
    check("scenario", scenario, data.get("scenarios") or [DEFAULT_SCENARIO])
    metric = answer.metric or primary["metric"]
    check(f"metric of '{answer.task}'", metric, data["metrics"])
    scores = list(registry.metric(metric).scores)
    score = answer.score or (primary["score"] if metric == primary["metric"] else scores[0])
    check(f"score of '{metric}'", score, scores)
    filled = answer.model_copy(update={"scenario": scenario, "metric": metric, "score": score})
    return Entry(row, paper, filled, data)


def check(kind: str, name: str, known: Iterable[str]) -> None:
    """Raise `UnknownName` if a name is not known."""
    if name not in (known := list(known)):
        raise UnknownName(kind, name, known)


# The recorded values, so that nobody has to run hours of studies to print the page.

VALUES = "values.json"
"""File in the folder of the rows: the values by the address of what they are of."""


def recorded(files: Iterable[PaperFile]) -> dict[str, float | str]:
    """Return the recorded values beside files of rows."""
    values: dict[str, float | str] = {}
    for path in sorted({file.path.parent / VALUES for file in files}):
        if path.exists():
            values |= json.loads(path.read_bytes())
    return values


@dataclass(frozen=True)
class Result:
    """A row and what came out.

    Parameters
    ----------
    entry, here
        The row, and what came out; None if nothing did.
    status, why
        Whether it agrees with what is printed, and why not or what is missing.
    """

    entry: Entry
    here: float | str | None
    status: Status
    why: str

    @property
    def row(self) -> Row:
        """The row."""
        return self.entry.row

    @property
    def problem(self) -> str:
        """What is wrong with the row, for its author; empty if nothing is."""
        if self.status == "differs" and not self.why:
            return f"differs (here {self.found}, printed {self.printed}) and states no 'reason'"
        if self.status == "reproduced" and self.row.reason:
            return "reproduces, so its 'reason' is out of date: remove it, or make it a 'note'"
        return ""

    @property
    def printed(self) -> str:
        """The expected value as text, with its own digits."""
        value = self.row.printed
        mark = f" ({self.row.source})" if self.row.source else ""
        return _text(value, max(_decimals(value), isinstance(value, float)), self.row.unit) + mark

    @property
    def found(self) -> str:
        """What came out as text, with as many digits as are printed.

        A printed 1.0 stands for 1.00 where the tolerance is in hundredths.
        """
        row, digits = self.row, self.row.digits
        if digits is None:
            digits = max(map(_decimals, [row.printed, *row.elsewhere.values()]))
            if isinstance(row.printed, float) and row.printed.is_integer():
                digits = max(digits, min(_decimals(row.tolerance), 2))
        return _text(self.here, digits, row.unit)

    @property
    def verdict(self) -> str:
        """The status, with its tolerance, the reason and the remark."""
        is_close = self.status == "reproduced" and not isinstance(self.here, str)
        within = f" within {self.row.tolerance:g}" if is_close and self.row.tolerance else ""
        parts = [f"{self.status}: {self.why}" if self.why else self.status + within]
        return ". ".join(part.rstrip(".") for part in [*parts, *filter(None, [self.row.note])])


def results(
    entries: Iterable[Entry],
    values: Mapping[str, float | str],
    missing: Mapping[str, str] | None = None,
) -> list[Result]:
    """Return the result of every row of a paper, tables and figures first.

    Parameters
    ----------
    entries
        The rows.
    values, missing
        Values of what rows select, or why there are none, by the address of the selection.
    """
    found = []
    for entry in entries:
        row, address = entry.row, entry.address
        here: float | str | None = values.get(address) if address else row.here
        status: Status
        why = row.reason or ""
        if row.needs is not None:
            status, why = "needs", row.needs
        elif row.holds is not None:
            status, here = "reproduced" if row.holds else "differs", row.evidence
        elif here is None:
            status, why = "no value", (missing or {}).get(address, "not run")
        elif isinstance(row.printed, str) or isinstance(here, str):
            status = "reproduced" if row.printed == here else "differs"
        else:
            is_close = abs(here - row.printed) <= (row.tolerance or 0) + SLACK
            status = "reproduced" if is_close else "differs"
        if status == "reproduced":
            why = ""
        found.append(Result(entry, here, status, why))
    return sorted(found, key=_place)


def of_recorded(files: Iterable[PaperFile]) -> list[Result]:
    """Return the result of every row by the recorded values: nothing is run."""
    files = list(files)
    values = recorded(files)
    return [result for file in files for result in results(file.entries, values)]


def _place(result: Result) -> tuple[int, list[int | str]]:
    """Return the place of a row's first item: tables and figures by number, then the rest."""
    kind, _, number = result.row.items[0].partition(" ")
    parts = [int(part) if part.isdigit() else 0 for part in number.split(".")]
    return {"Table": 0, "Figure": 1}.get(kind, 2), [kind, *parts]


def _text(value: Number | str | None, digits: int, unit: str) -> str:
    if value is None or isinstance(value, str):
        return value or "–"
    return f"{value:z.{digits}f}{f' {unit}' if unit else ''}".replace("-", "−")


def _decimals(number: Number | str | None) -> int:
    """Return the decimals that a number is written with; 0 for words."""
    exponent = Decimal(str(number)).as_tuple().exponent if isinstance(number, float) else 0
    return max(0, -exponent) if isinstance(exponent, int) else 0
