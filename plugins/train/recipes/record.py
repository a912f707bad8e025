"""The record of a finished step of a recipe: one JSON line."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, model_validator

from harness.results.record import Environment, Finite, Line


class StepRecord(Line):
    """A finished step. Its id is the name of the step."""

    step: str
    """Name of the step."""
    kind: str
    """What was done."""
    key: str
    """Digest of everything that its result depends on."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """What its result depends on, beside the steps that it needs."""
    created: str
    """UTC time, ISO 8601."""
    seconds: Finite
    """Seconds that it took, without what an earlier run of it took before it was stopped."""
    facts: dict[str, Any] = Field(default_factory=dict)
    """What it reports: numbers of pairs, scores of training, tasks that did not run."""
    environment: Environment
    """Software and machine that it ran on."""

    @model_validator(mode="after")
    def _named_by_its_step(self) -> Self:
        object.__setattr__(self, "id", self.step)
        return self
