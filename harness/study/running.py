"""Runs a study: model by model, what is not recorded yet, in parallel; records it as it comes."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import folders
from harness.embedder import Embedder
from harness.errors import (
    DiskError,
    HarnessError,
    InvalidOption,
    UnknownName,
    UsageError,
    suggestion,
)
from harness.progress import Progress, Silent
from harness.registry.registry import Registry
from harness.results import jsonl
from harness.results.folder import STUDY
from harness.study import judging
from harness.study.judging import Place, Unit
from harness.study.on_model import OnModel
from harness.study.study import resolve
from harness.study.study_record import StudyPart, StudyRecord
from harness.task import yaml_files


@dataclass(frozen=True)
class Ran:
    """What a run of a study gave.

    Parameters
    ----------
    records
        All its records, made now or before.
    made
        How many were made now.
    failed
        Why a model has none, a line each.
    notices
        What else the user should know, a line each.
    path
        The file that they are in.
    """

    records: tuple[StudyRecord, ...]
    made: int
    failed: tuple[str, ...]
    notices: tuple[str, ...]
    path: Path


def run(
    study: str | Path,
    *,
    results: Path | str = "results",
    cache: Path | str | None = None,
    workers: int = 1,
    include: Sequence[Path] = (),
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Ran:
    """Run a study, or what is left of it.

    Parameters
    ----------
    study
        Name of an installed study, or path of a study file.
    results
        Folder of the records; those that are there are not made again.
    cache
        Folder of the stored embeddings of text encoders.
    workers
        Processes that share the work; the numbers are the same for any number of them.
    include
        Further folders of concepts and studies.
    overwrite
        Whether to make again what is there.
    progress
        Where to show progress.

    Raises
    ------
    UsageError
        If the study has a mistake in it, or judges what it fits on.
    HarnessError
        If its only model cannot be had or lacks too much, or a folder cannot be written.
    """
    if workers < 1:
        raise InvalidOption(f"workers={workers}: at least 1")
    registry = Registry(include=tuple(include))
    document = find(registry, study)
    resolved = resolve(document, registry)
    path = Path(results) / f"{folders.safe_name(resolved.file.name)}{STUDY}"
    file = jsonl.RecordsFile(path, StudyRecord)
    store = Path(cache) if cache else folders.embeddings()
    run = uuid.uuid4().hex[:12]
    wanted: dict[str, StudyPart] = {}
    made, failed = 0, []
    for model, embedder in _embedders(document, registry, resolved.file.models):
        try:
            if isinstance(embedder, HarnessError):
                raise embedder
            place = Place(model, embedder.info.fingerprint, tuple(include), store)
            one = OnModel(resolved, embedder, run)
            wanted |= dict.fromkeys(one.units, one.part)
            known = {} if overwrite else file.records
            todo = {id_: unit for id_, unit in one.units.items() if id_ not in known}
            made += _made(one, embedder, todo, place, file, workers, progress or Silent())
        except (UsageError, DiskError):
            raise
        except HarnessError as error:  # the other models go on
            if len(resolved.file.models) == 1:
                raise
            failed.append(f"{model}: {error}")
        finally:
            getattr(embedder, "close", lambda: None)()
    _refresh(file, wanted)
    return Ran(
        records=tuple(file.records[one] for one in wanted if one in file.records),
        made=made,
        failed=tuple(failed),
        notices=(*registry.notices, *file.notices),
        path=path,
    )


def find(registry: Registry, study: str | Path) -> yaml_files.Document:
    """Return the parsed file of a study: an installed one by its name, or any by its path.

    Raises
    ------
    UnknownName
        If it is neither.
    InvalidFile
        If the file cannot be read.
    """
    if str(study) in registry.study_files:
        return registry.study_files[str(study)]
    path = Path(study)
    if path.suffix in (".yaml", ".yml") or path.is_file():
        return yaml_files.load(path)
    near = suggestion(str(study), registry.study_files)
    hint = "" if "mean" in near else "; a file's name ends in .yaml"
    raise UnknownName("study", str(study), registry.study_files, hint=hint)


def _embedders(
    document: yaml_files.Document, registry: Registry, models: Sequence[str]
) -> list[tuple[str, Embedder | HarnessError]]:
    """Return each model, or why it cannot be had; every name is looked up before one runs."""
    found: list[tuple[str, Embedder | HarnessError]] = []
    for i, model in enumerate(models):
        try:
            with document.pointing_at(("models", i)):
                found.append((model, registry.embedder(model)))
        except UsageError:
            raise
        except HarnessError as error:
            found.append((model, error))
    return found


def _made(
    one: OnModel,
    embedder: Embedder,
    todo: dict[str, Unit],
    place: Place,
    file: jsonl.RecordsFile[StudyRecord],
    workers: int,
    progress: Progress,
) -> int:
    """Judge what is to do, record each as it comes, and return how many were made."""
    if not todo:
        return 0
    if embedder.info.kind == "text":  # workers only read
        judging.stored(embedder, place, progress).ensure(one.texts())
    units = list(todo.values())
    label = f"{one.study.file.name} on {place.model}"
    with progress.stage(label, len(units), "rows in folds") as advance:
        for i, result in judging.in_parallel(one.bench, place, units, workers):
            file.add([one.record(units[i], result)])
            advance(1)
    return len(units)


def _refresh(file: jsonl.RecordsFile[StudyRecord], wanted: dict[str, StudyPart]) -> None:
    """Bring what records say of the study up to date, such as a level of tests or a title."""
    old = [
        file.records[one].model_copy(update={"study": part})
        for one, part in wanted.items()
        if one in file.records and file.records[one].study != part
    ]
    if old:
        file.add(old)
