"""The result of a run of a study: its records, as a sequence and as data frames."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, overload

from harness.results.records import Framed
from harness.study.study_record import StudyRecord

if TYPE_CHECKING:
    from harness.study.summary import Summary


class StudyRun(Framed[StudyRecord]):
    """The records of a study: one for each row in each fold on each model.

    Parameters
    ----------
    records
        All records of the study, old and new.
    new
        Number of new records.
    failed
        The models that failed and why, a line each.
    notices
        What else the user should know, a line each.
    path
        File of the records.

    Attributes
    ----------
    columns
        Columns of the data frames, with their types.
    """

    columns: ClassVar = {
        **dict.fromkeys(("study", "model", "row", "mitigator", "criterion", "params"), str),
        **dict.fromkeys(("repeat", "fold", "train", "held_out"), int),
        "measure": str,
        "value": float,
        "reason": str,
        "seconds": float,
        "id": str,
    }

    def __init__(
        self,
        records: Iterable[StudyRecord],
        *,
        new: int,
        failed: Iterable[str] = (),
        notices: Iterable[str] = (),
        path: Path,
    ) -> None:
        self._records = tuple(records)
        self.new, self.path = new, path
        self.failed, self.notices = tuple(failed), tuple(notices)

    @overload
    def __getitem__(self, index: int) -> StudyRecord: ...
    @overload
    def __getitem__(self, index: slice) -> StudyRun: ...
    def __getitem__(self, index: int | slice) -> StudyRecord | StudyRun:
        if isinstance(index, int):
            return self._records[index]
        return StudyRun(
            self._records[index],
            new=self.new,
            failed=self.failed,
            notices=self.notices,
            path=self.path,
        )

    def __repr__(self) -> str:
        return f"<{len(self)} records of {len({r.model.name for r in self})} models>"

    @property
    def records(self) -> tuple[StudyRecord, ...]:
        """All records of the study."""
        return tuple(self._records)

    @property
    def summaries(self) -> tuple[Summary, ...]:
        """The results on each model: changes, tests, chosen hyper-parameters and caveats."""
        from harness.study.summary import summarize

        return summarize(self._records)

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat mapping per record, criterion and measure.

        `value` is the distance from fair on the pairs of the outer fold, with the hyper-parameters
        that `criterion` chose: `params`, a JSON object. `held_out` is the number of these pairs.
        """
        return [
            {
                "study": record.study.name,
                "model": record.model.name,
                "row": record.row,
                "mitigator": record.mitigator,
                "criterion": criterion,
                "params": json.dumps(judged.params, ensure_ascii=False),
                "repeat": record.repeat,
                "fold": record.fold,
                "train": record.train,
                "held_out": len(record.held_out),
                "measure": measure,
                "value": value,
                "reason": record.reasons.get(measure),
                "seconds": record.seconds,
                "id": record.id,
            }
            for record in self
            for criterion, judged in record.judged.items()
            for measure, value in judged.values.items()
        ]

    def _repr_html_(self) -> str:
        from harness.results.tables import html_lines, html_of_texts
        from harness.study import tables

        parts = []
        for summary in self.summaries:
            title = f"{summary.study.title} ({summary.study.name}, on {summary.model.name})"
            parts.append(html_lines([title]))
            parts += [
                html_of_texts(t.title, t.columns, (*t.rows, *t.foot))
                for t in tables.changes(summary)
            ]
            parts.append(html_lines([*tables.legend(summary), *summary.statement, *summary.notes]))
        return "".join([*parts, html_lines([*self.failed, *self.notices])])
