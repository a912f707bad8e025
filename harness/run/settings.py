"""How an evaluation runs: the settings that `harness.evaluate` and the commands share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, cast

from harness import folders, names
from harness.errors import InvalidOption
from harness.folders import Place
from harness.limits import INTEGER
from harness.options import convert
from harness.progress import Progress, Silent, shown

FALLBACK_CONCEPT = "gender"
"""Concept that mitigators are fitted on if a task's own lacks a field that they need."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How an evaluation runs.

    Parameters
    ----------
    results
        Folder to write records to; what is recorded there is not run again. None writes nothing.
    cache
        Folder of the store; by default `embeddings` in the cache folder.
    devices
        Devices to encode on, such as `("cuda:0", "cuda:1")`; by default one, which the model
        chooses.
    engine
        Name of the engine; by default `local` for one device and `devices` for several.
    timeout
        Seconds for a batch; a process that takes longer is ended. None waits.
    seed
        Seed of every random choice.
    overwrite
        Whether to run again what is recorded.
    samples
        Whether to write what each item contributes to a score. What is recorded without is run
        again.
    concept
        Concept to fit a mitigator on if the task's own lacks a field that it needs; None for none.
    include
        Further folders of tasks, concepts, studies and benchmarks.
    exclude
        Tasks to leave out, as users type them.
    limit
        Largest number of items of each set or table of a task, for a smoke run; None for all.
    any_language
        Whether to run tasks in languages that a model's card lacks, too.
    workers
        Number of processes that score; by default one for each core, if there is enough to do.
    progress
        Where to show progress.
    debug
        Whether an unexpected error in a task is raised; by default it is reported.
    """

    results: Place | None = None
    cache: Place | None = None
    devices: Sequence[str] = ()
    engine: str | None = None
    timeout: float | None = None
    seed: int = 0
    overwrite: bool = False
    samples: bool = False
    concept: str | None = FALLBACK_CONCEPT
    include: Sequence[Path] = ()
    exclude: Sequence[str] = ()
    limit: int | None = None
    any_language: bool = False
    workers: int | None = None
    progress: Progress = field(default_factory=Silent)
    debug: bool = False

    @classmethod
    def of(
        cls, *, devices: str | Iterable[str] = (), progress: bool | Progress = False, **values: Any
    ) -> Self:
        """Return settings from arguments as users write them, converted to the types of the fields.

        A path may be text, and `include` may be one path. `devices` may be text with commas.
        `progress` may be whether to show it.

        Raises
        ------
        InvalidOption
            If a value is invalid.
        """
        for name in ("results", "cache"):  # before `convert`, which reads `none` as None
            if isinstance(values.get(name), str):
                values[name] = folders.place(values[name])
        if "include" in values:
            values["include"] = paths(values["include"])
        for name, least in (("seed", 0), ("limit", 1), ("workers", 1)):
            if isinstance(values.get(name), bool):  # pydantic takes True for 1
                raise _not_whole(name, values[name], least)
        if isinstance(values.get("exclude"), Path | Iterable):
            values["exclude"] = names.split(values["exclude"])
        values["devices"] = names.split(devices) if isinstance(devices, str) else devices
        settings = cls(progress=shown(progress), **convert(cls, values, what=""))
        if not 0 <= settings.seed <= INTEGER:
            raise _not_whole("seed", settings.seed, 0)
        for name, value in (("limit", settings.limit), ("workers", settings.workers)):
            if value is not None and not 1 <= value <= INTEGER:
                raise _not_whole(name, value, 1)
        if settings.timeout is not None and not settings.timeout > 0:
            raise InvalidOption(f"timeout={settings.timeout:g}: expected seconds, more than 0")
        for device in settings.devices:
            if not re.fullmatch(r"(cpu|cuda|mps|xpu|hpu|npu)(:\d+)?", device):
                raise InvalidOption(
                    f"unknown device '{device}'; devices have names such as cpu, mps, cuda or "
                    "cuda:1"
                )
        return settings


def _not_whole(name: str, value: object, least: int) -> InvalidOption:
    return InvalidOption(f"{name}={value}: expected a whole number from {least}, below 2^63")


def paths(
    include: Path | str | Iterable[Path | str], argument: str = "include"
) -> tuple[Path, ...]:
    """Return the paths of `include`, or of another argument, which may be one path.

    Raises
    ------
    InvalidOption
        If it is something else.
    """
    is_single = isinstance(include, str | Path) or not isinstance(include, Iterable)
    several = [include] if is_single else list(cast("Iterable[Path | str]", include))
    for path in several:
        if not isinstance(path, str | Path):
            raise InvalidOption(f"{argument}={include}: expected a path, or a list of paths")
    return tuple(Path(cast("Path | str", path)) for path in several)
