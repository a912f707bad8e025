"""The schema of a file of rows, as a person writes it: what a paper prints, and what answers it.

A row is answered in one of five ways, and its status follows from the answer: it is never typed.
`status` computes it, and `rows` reads the files.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StrictBool, StrictFloat, StrictInt, StringConstraints, model_validator

from harness.concept import Name
from harness.task.table_schema import Strict

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
