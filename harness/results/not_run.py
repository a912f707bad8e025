"""A task that was not run. Light to import: `harness list` needs no schema of records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["embedder", "language", "data", "mitigator", "failed"]
"""Why a task was not run.

`embedder`: the task is made for another kind of embedder. `language`: it is in a language that the
model's card lacks. `data`: its data or a package that it needs is not on this machine. `mitigator`:
the mitigator or a metric does not apply to it. `failed`: something went wrong.
"""
EVERY_TASK = "every task"
"""Stands for the tasks of a model that is not available."""


class NotRunWarning(UserWarning):
    """A task failed, or one that was asked for by its own name did not run."""


@dataclass(frozen=True)
class NotRun:
    """A task that was not run for a model and mitigator, and why.

    Parameters
    ----------
    model, mitigator, task
        Their names.
    reason
        Why it was not run, for people.
    kind
        Why it was not run, for programs.
    """

    model: str
    mitigator: str
    task: str
    reason: str
    kind: Kind

    @property
    def failed(self) -> bool:
        """Whether something went wrong; if not, the task was skipped."""
        return self.kind == "failed"
