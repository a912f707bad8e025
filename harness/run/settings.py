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

    @classmethod
    def of(cls, **given: Any) -> Self:
        """Return the settings that a caller gave, converted to the types of the fields.

        A path may be text, and devices and folders may be a single one; commas part devices.

        Raises
        ------
        InvalidOption
            If there is no such setting, or a value does not fit.
        """
        known = [one.name for one in fields(cls)]
        for name in given:
            if name not in known:
                near = suggestion(name, [*known, "model", "tasks", "mitigators", "registry"])
                raise InvalidOption(f"an evaluation has no option '{name}'{near}")
        for name in ("results", "cache"):  # before `convert`, to which `none` is None
            if isinstance(given.get(name), str):
                given[name] = Path(given[name])
        if isinstance(given.get("include"), str | Path):
            given["include"] = [given["include"]]
        if isinstance(given.get("devices"), str):
            given["devices"] = [one.strip() for one in given["devices"].split(",") if one.strip()]
        progress = {"progress": given.pop("progress")} if "progress" in given else {}
        chosen = cls(**progress, **convert(cls, given, what="an evaluation"))
        if isinstance(given.get("seed"), bool) or chosen.seed < 0:
            problem = "expected a whole number that is not negative"
            raise InvalidOption(f"an evaluation: option seed={given['seed']}: {problem}")
        for device in chosen.devices:
            if not re.fullmatch(r"(cpu|cuda|mps|xpu|hpu|npu)(:\d+)?", device):
                raise InvalidOption(
                    f"there is no device '{device}'; devices are called cpu, mps, cuda or cuda:1"
                )
        return chosen
