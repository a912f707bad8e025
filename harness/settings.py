"""How an evaluation runs: the settings that `harness.evaluate` and the commands share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.progress import Progress, Silent

FALLBACK_CONCEPT = "gender"
"""Concept that mitigators are fitted on where a task's own lacks what they need."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How an evaluation runs.

    Parameters
    ----------
    results
        Folder to write records to, and to take up again; None writes none.
    cache
        Folder of the store; by default `embeddings` in the cache folder.
    devices
        Devices to encode on, such as `("cuda:0", "cuda:1")`; by default one, the model's choice.
    engine
        Name of the engine; by default `local` for one device and `devices` for several.
    seed
        Seed of every random choice.
    overwrite
        Whether to run again what is recorded.
    concept
        Concept to fit a mitigator on where the task's own lacks what it needs; None for none.
    include
        Further folders of tasks.
    progress
        Where to show progress.
    debug
        Whether an unforeseen error in a task is raised, rather than reported.
    """

    results: Path | None = None
    cache: Path | None = None
    devices: Sequence[str] = ()
    engine: str | None = None
    seed: int = 0
    overwrite: bool = False
    concept: str | None = FALLBACK_CONCEPT
    include: Sequence[Path] = ()
    progress: Progress = field(default_factory=Silent)
    debug: bool = False
