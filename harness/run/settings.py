"""How an evaluation runs: the settings that `harness.evaluate` and the commands share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from harness.errors import InvalidOption, suggestion
from harness.options import convert
from harness.progress import Progress, Silent

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
    seed
        Seed of every random choice.
    overwrite
        Whether to run again what is recorded.
    concept
        Concept to fit a mitigator on if the task's own lacks a field that it needs; None for none.
    include
        Further folders of tasks.
    progress
        Where to show progress.
    debug
        Whether an unexpected error in a task is raised; by default it is reported.
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

    @classmethod
    def of(cls, **options: Any) -> Self:
        """Return settings from options, converted to the types of the fields.

        A path may be text. `include` may be one folder, and `devices` text with commas.

        Raises
        ------
        InvalidOption
            If an option is unknown, or its value is invalid.
        """
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                near = suggestion(name, [*known, "model", "tasks", "mitigators", "registry"])
                raise InvalidOption(f"unknown option '{name}' of an evaluation{near}")
        for name in ("results", "cache"):  # before `convert`, which reads `none` as None
            if isinstance(options.get(name), str):
                options[name] = Path(options[name])
        if isinstance(options.get("include"), str | Path):
            options["include"] = [options["include"]]
        if isinstance(options.get("devices"), str):
            devices = (device.strip() for device in options["devices"].split(","))
            options["devices"] = [device for device in devices if device]
        progress = {"progress": options.pop("progress")} if "progress" in options else {}
        settings = cls(**progress, **convert(cls, options, what="an evaluation"))
        if isinstance(options.get("seed"), bool) or settings.seed < 0:
            raise InvalidOption(
                f"an evaluation: option seed={options['seed']}: expected a whole number from 0"
            )
        for device in settings.devices:
            if not re.fullmatch(r"(cpu|cuda|mps|xpu|hpu|npu)(:\d+)?", device):
                raise InvalidOption(
                    f"unknown device '{device}'; devices have names such as cpu, mps, cuda or "
                    "cuda:1"
                )
        return settings
