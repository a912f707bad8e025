"""Rewrites the texts of many jobs in one call, in which a mitigator may use all cores."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from harness.errors import PLUGIN_ERRORS

if TYPE_CHECKING:
    from harness.run.plan import Job

AT_ONCE = 1_000_000
"""Characters of texts that are rewritten in one call, after which progress is shown."""


def parts(jobs: Mapping[int, Job]) -> Iterator[list[int]]:
    """Yield the keys of jobs, those of some texts together."""
    part: list[int] = []
    size = 0
    for i, job in jobs.items():
        part.append(i)
        if not job.mitigator.rewrites:
            continue
        size += sum(len(text) for text in _to_rewrite(job))
        if size > AT_ONCE:
            yield part
            part, size = [], 0
    if part:
        yield part


def rewrite_ahead(jobs: Sequence[Job]) -> None:
    """Rewrite the texts of jobs under one mitigator, which remembers them.

    If that fails, it fails again for the job whose text it is, which reports it.
    """
    if jobs[0].mitigator.rewrites:
        with contextlib.suppress(*PLUGIN_ERRORS):
            jobs[0].mitigator.rewrite([text for job in jobs for text in _to_rewrite(job)])


def _to_rewrite(job: Job) -> Iterator[str]:
    for input_ in job.task.texts():
        if not (input_.original or input_.probe):
            yield from input_.texts or ()
