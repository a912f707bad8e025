"""A task that was not run. Light to import: `harness list` needs no schema of records."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NotRun:
    """A task that was not run for a model and mitigator, and why.

    Parameters
    ----------
    model, mitigator, task
        Their names.
    reason
        Why it was not run.
    failed
        Whether something went wrong. If not, the task was skipped: it does not apply, or its data
        is not available.
    """

    model: str
    mitigator: str
    task: str
    reason: str
    failed: bool = False
