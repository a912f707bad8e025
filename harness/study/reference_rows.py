"""The rows that changes are counted from: vectors as they come, and vectors at length 1.

The first is `none`. The second is a mitigator whose spec says that it sets vectors to length 1 and
does nothing else. It is found in the registry, because the core knows no plugin by name.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.names import NONE
from harness.registry.registry import Registry
from harness.study.study_record import StudyPart

RAW = NONE
"""Row of vectors as they come; every study has it."""


def unit_length_mitigator(registry: Registry) -> str | None:
    """Return the name of the first mitigator of unit length, or None if no plugin has one."""
    return next((name for name, spec in registry.mitigators.items() if spec.unit_length), None)


@dataclass(frozen=True)
class ReferenceRows:
    """The rows of one study that changes are counted from.

    Parameters
    ----------
    study
        The study, as its records state it.
    unit
        Its row of vectors at length 1; None if it has none.
    """

    study: StudyPart
    unit: str | None

    @classmethod
    def of(cls, study: StudyPart, registry: Registry) -> ReferenceRows:
        """Return the reference rows of a study."""
        unit = unit_length_mitigator(registry)
        return cls(study, unit if unit in study.rows else None)

    @property
    def start(self) -> str:
        """The row that most changes are counted from."""
        return self.unit if self.unit and self.study.normalize else RAW

    @property
    def contenders(self) -> tuple[str, ...]:
        """The rows that are compared with the baseline."""
        others = {self.study.baseline, RAW, self.start}
        return tuple(row for row in self.study.rows if row not in others)

    def before(self, row: str) -> str | None:
        """Return the row that a row's change is counted from; None for vectors as they come."""
        if row == RAW:
            return None
        return RAW if row == self.unit else self.start
