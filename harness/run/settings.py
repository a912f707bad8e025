"""How an evaluation runs: the settings that `harness.evaluate` and the commands share."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, cast

from pydantic import Field, StrictBool, StrictInt, field_validator

import harness
from harness import folders, limits, names
from harness.embedder import MOST_PROMPTS
from harness.errors import InvalidOption
from harness.folders import Place
from harness.limits import INTEGER
from harness.progress import Progress, Silent, shown
from harness.registry.registry import Registry
from harness.registry.trust import Gate
from harness.task import yaml_files
from harness.task.schema import Strict

FALLBACK_CONCEPT = "gender"
"""Concept that mitigators are fitted on if a task's own lacks a field that they need."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How an evaluation runs.

    Parameters
    ----------
    results
        Folder to write records to; scores recorded there are not computed again. None writes
        nothing.
    cache
        Folder of the store; by default `embeddings` in the cache folder.
    devices
        Devices to encode on, such as `("cuda:0", "cuda:1")`; by default the GPUs of
        this process, else the device that the model chooses.
    engine
        Name of the engine; by default `local` for one device and `devices` for several.
    seed
        Seed of every random choice.
    overwrite
        Whether to compute recorded scores again.
    samples
        Whether to write the contribution of each item to a score. Scores that were recorded without
        it are computed again.
    concept
        Concept to fit a mitigator on if the task's own lacks a field that it needs; None for none.
    include
        Further folders of tasks, concepts, studies and benchmarks.
    exclude
        Tasks to leave out, as users type them.
    limit
        Largest number of items of each set or table of a task, for a smoke run; None for all.
    any_language
        Whether to run tasks even in languages that a model's card lacks.
    workers
        Number of processes that score; by default one for each core, if there is enough work.
    prompts
        Number of neutral instructions that each model is run under, 1 for its own alone; None for
        what the benchmarks among the tasks ask for.
    progress
        Where to show progress.
    debug
        Whether an unexpected error in a task is raised; by default it is reported.
    """

    results: Place | None = None
    cache: Place | None = None
    devices: Sequence[str] = ()
    engine: str | None = None
    seed: int = 0
    overwrite: bool = False
    samples: bool = False
    concept: str | None = FALLBACK_CONCEPT
    include: Sequence[Path] = ()
    exclude: Sequence[str] = ()
    limit: int | None = None
    any_language: bool = False
    workers: int | None = None
    prompts: int | None = None
    progress: Progress = field(default_factory=Silent)
    debug: bool = False

    @classmethod
    def of(
        cls, *, devices: str | Iterable[str] = (), progress: bool | Progress = False, **values: Any
    ) -> Self:
        """Return settings from the arguments of users, converted to the types of the fields.

        A path may be text, and `include` may be one path. `devices` may be text with commas.
        `progress` may be True or False.

        Raises
        ------
        InvalidOption
            If a value is invalid.
        """
        for name in ("results", "cache"):  # before `convert_options`, which reads `none` as None
            if isinstance(values.get(name), str):
                values[name] = folders.place(values[name])
        if "include" in values:
            values["include"] = paths(values["include"])
        for name, least in (("seed", 0), ("limit", 1), ("workers", 1), ("prompts", 1)):
            if isinstance(values.get(name), bool):  # pydantic would read True as 1
                raise _not_whole(name, values[name], least)
        if isinstance(values.get("exclude"), Path | Iterable):
            values["exclude"] = names.split(values["exclude"])
        values["devices"] = names.split(devices) if isinstance(devices, str) else devices
        settings = cls(progress=shown(progress), **names.convert_options(cls, values, what=""))
        if not 0 <= settings.seed <= INTEGER:
            raise _not_whole("seed", settings.seed, 0)
        for name, value in (("limit", settings.limit), ("workers", settings.workers)):
            if value is not None and not 1 <= value <= INTEGER:
                raise _not_whole(name, value, 1)
        if settings.prompts is not None and not 1 <= settings.prompts <= MOST_PROMPTS:
            raise InvalidOption(
                f"prompts={settings.prompts}: expected a whole number from 1 to {MOST_PROMPTS}"
            )
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


# A run as a YAML file: models, mitigators, tasks and options, as users type them.
#
# `harness eval -c FILE` runs it. A run that computes something writes the file that repeats it. The
# file does not name the folders of records and vectors. Like a file of somebody else it is not
# trusted without `--trust`.


FOLDER = "runs"
"""Folder of run files in a results folder."""
_ID = re.compile(r"[0-9a-f]{12}")
_PASSWORD = re.compile(r"(?<=://)[^/@\s]+@")
_OPTION = re.compile(r"(?<=[?&])([^?&=]+)=([^&+]*)")
NO_CONCEPT = "none"
"""The word by which users limit mitigators to the task's own concept."""


class RunFile(Strict):
    """A run: what to evaluate, and how. Omitted keys have the defaults of the command line."""

    models: tuple[str, ...] = Field(default=(), min_length=1)
    """Names of models, as after `--model`."""
    mitigators: tuple[str, ...] = Field(default=(), min_length=1)
    """Names of mitigators, as after `--mitigator`; by default `none`."""
    tasks: tuple[str, ...] = Field(default=(), min_length=1)
    """Names, globs, benchmarks, tags, categories or files, as after `--tasks`; by default `all`."""
    exclude: tuple[str, ...] = ()
    """Tasks to leave out, as after `--exclude`."""
    metrics: tuple[str, ...] = ()
    """Further metrics, as after `--metric`."""
    concept: str | None = None
    """Concept for mitigators if the task's concept lacks a field that they need; or `none`."""
    seed: StrictInt | None = Field(default=None, ge=0, le=limits.INTEGER)
    """Seed of all random numbers."""
    limit: StrictInt | None = Field(default=None, ge=1, le=limits.INTEGER)
    """For a smoke run: number of items that each set or table is cut to."""
    any_language: StrictBool | None = None
    """Whether to run tasks even in languages that a model's card lacks."""
    prompts: StrictInt | None = Field(default=None, ge=1, le=MOST_PROMPTS)
    """Number of neutral instructions that each model is run under."""
    samples: StrictBool | None = None
    """Whether to write the contribution of each word, pair or text to a score."""
    folders: tuple[str, ...] = ()
    """Further folders of tasks, as after `--include`. (In every YAML file of the harness,
    `include` names files to merge.)"""
    devices: tuple[str, ...] = ()
    """Devices to encode on."""
    engine: str | None = None
    """Name of the engine that encodes."""
    workers: StrictInt | None = Field(default=None, ge=1)
    """Number of processes that score."""

    @field_validator("*", mode="before")
    @classmethod
    def _is_a_value(cls, value: object) -> object:
        if value is None:
            raise ValueError("expected a value; omit the key for the default")
        return value

    @classmethod
    def of(
        cls,
        models: Sequence[object],
        mitigators: Sequence[object],
        tasks: Sequence[object],
        settings: Settings,
        metrics: Sequence[object] = (),
    ) -> Self | None:
        """Return the file of a run; None if a model, mitigator, task or metric has no name."""
        if not all(isinstance(name, str) for name in (*models, *mitigators, *tasks, *metrics)):
            return None
        values: dict[str, Any] = {
            "models": [_masked(str(model)) for model in models],
            "mitigators": [_masked(str(mitigator)) for mitigator in mitigators],
            "tasks": list(map(str, tasks)),
            "exclude": settings.exclude,
            "metrics": list(map(str, metrics)),
            "concept": settings.concept or NO_CONCEPT,
            "seed": settings.seed,
            "limit": settings.limit,
            "any_language": settings.any_language or None,
            "prompts": settings.prompts,
            "samples": settings.samples or None,
            "folders": [str(path) for path in settings.include],
            "devices": settings.devices,
            "engine": settings.engine,
            "workers": settings.workers,
        }
        is_default: tuple[Any, ...] = (None, (), [])
        return cls.model_validate(
            {key: value for key, value in values.items() if value not in is_default}
        )

    def write(self, results: Path, run: str, registry: Registry | None = None) -> Path:
        """Write the file into a results folder and return its path.

        A comment lists the values that need trust.

        Parameters
        ----------
        results
            The results folder.
        run
            Identifies the run.
        registry
            Where names are looked up; by default the installed plugins.

        Raises
        ------
        DiskError
            If it cannot be written.
        """
        import yaml

        path = results / FOLDER / f"{run}.yaml"
        values = self.model_dump(mode="json", exclude_unset=True)
        head = [f"Run {run} of harness {harness.__version__}; harness eval -c repeats it."]
        gate = asked_in_file(yaml_files.Document(path, values, {}), registry or Registry())
        if gate.asked:
            wishes = dict.fromkeys(wish for _, wish in gate.asked)
            head.append(f"Add --trust: {', '.join(wishes)}.")
        content = yaml.safe_dump(values, sort_keys=False, allow_unicode=True)
        lines = "".join(f"# {' '.join(line.splitlines())}\n" for line in head)
        folders.write_atomically(path, (lines + content).encode())
        return path


def read_run_file(path: Path) -> dict[str, Any]:
    """Return the options in a run file, by their names on the command line.

    For a file that a run wrote into `runs` of a results folder, this includes that folder.

    Raises
    ------
    InvalidFile
        If it has a mistake in it.
    """
    file = yaml_files.load(path).validate(RunFile)
    options: dict[str, Any] = file.model_dump(exclude_unset=True)
    if "folders" in options:
        options["include"] = options.pop("folders")
    if "devices" in options:
        options["devices"] = ",".join(options["devices"])
    if (results := _results_of(path)) is not None:
        options["results"] = results
    return options


def asked_in_file(
    document: yaml_files.Document, registry: Registry, overridden: Container[str] = ()
) -> Gate:
    """Return what a run file asks for that needs trust.

    Parameters
    ----------
    document
        The parsed file.
    registry
        Where names are looked up.
    overridden
        Keys whose values the user has typed in place of the file's.
    """
    file = document.validate(RunFile)
    gate = Gate(document, registry)
    if "models" not in overridden:
        for i, model in enumerate(file.models):
            gate.model(model, ("models", i))
    if "mitigators" not in overridden:
        for i, mitigator in enumerate(file.mitigators):
            gate.mitigator(mitigator, ("mitigators", i))
    if file.engine and "engine" not in overridden:
        engine = names.engine(file.engine)
        gate.options(registry.engines.get(engine.name), engine.options, ("engine",))
    return gate


def _results_of(path: Path) -> Path | None:
    """Return the results folder that a run wrote a file into; None for the user's own file."""
    if not _ID.fullmatch(path.stem) or path.absolute().parent.name != FOLDER:
        return None
    is_named = path.parent.name == FOLDER  # keep the path as short as it was typed
    return path.parent.parent if is_named else path.absolute().parent.parent


def _masked(name: str) -> str:
    """Return a name without a password in an address, and without a key in an option."""

    def masked(option: re.Match[str]) -> str:
        is_secret = names.is_secret(option[1]) and not names.is_variable(option[2])
        return f"{option[1]}=***" if is_secret else option[0]

    return _OPTION.sub(masked, _PASSWORD.sub("***@", name))
