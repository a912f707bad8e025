"""Runs random cells of a submission again, if their models are available.

A cell is a model under a mitigator on a task. Records are not trusted. By default only registered
models are run, without options, under registered mitigators with numeric options, on registered
tasks, without a download, a model's own code, or a key.

Two machines may differ by what a conflict of two records may (`conflicts.TOLERANCE`, 1e-4 of a unit
or range). Vectors are float32, and processors add in different orders. Measured on all-MiniLM-L6-v2
under none and hard-debias on eight tasks, AVX-512 with one thread against SSE with two and without
oneDNN: 110 scores differed by at most 7e-7. Graphics cards and half precision need more. Other
weights, prompts or versions of a task differ by 1e-2 and more. If a mitigator was fitted on the
texts of a task, only rounding errors may remain, and their correlation is noise (four more scores
differed by .02 to .3). So leaks are not compared.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from harness import names
from harness.errors import HarnessError, UsageError
from harness.folders import Place
from harness.registry import trust
from harness.registry.registry import Registry
from harness.results.record import Record, greatest_loss
from harness.run.evaluation import evaluate

from ..claims.trust import TOLERANCE
from . import submission
from .submission import Base, tree

SAME, DIFFERS, NOT_RUN = "same", "differs", "cannot be run"
_SAFE_VALUE = re.compile(r"[+-]?\d+(\.\d*)?(e[+-]?\d+)?|true|false|none", re.IGNORECASE)
_OFFLINE = "HF_HUB_OFFLINE"

_Key: TypeAlias = tuple[str, str, str, str, int]


@dataclass(frozen=True)
class Cell:
    """The records of a model under a mitigator on a task, with one seed."""

    model: str
    fingerprint: str
    mitigator: str
    task: str
    seed: int
    records: tuple[Record, ...] = field(repr=False)


@dataclass(frozen=True)
class Verdict:
    """The result of running a cell again.

    Parameters
    ----------
    model, mitigator, task
        Labels of the cell. Cells that cannot be run for the same reason share a verdict:
        `mitigator` is then empty, and `task` is their number.
    outcome
        `same`, `differs` or `cannot be run`.
    reason
        The score with the greatest difference, with both values; or why it cannot be run.
    """

    model: str
    mitigator: str
    task: str
    outcome: str
    reason: str = ""


def rerun(
    paths: Iterable[Path],
    n: int,
    *,
    base: Path | None = None,
    seed: int = 0,
    cache: Place | None = None,
    trusting: bool = False,
    registry: Registry | None = None,
) -> list[Verdict]:
    """Run `n` random cells again and compare their values.

    Parameters
    ----------
    paths
        Results repositories, parts of one, or files.
    n
        Number of cells.
    base
        The repository that they join; its cells are not run.
    seed
        Seed of the choice.
    cache
        Folder of the stored embeddings.
    trusting
        Whether to trust the records: to run unregistered models, downloads, models' own code, and
        hosted models with your keys.
    registry
        Where names are looked up.

    Returns
    -------
    list
        A verdict for each chosen cell, and one for each model and each reason why its cells cannot
        be run.

    Raises
    ------
    UsageError
        If there are no records.
    """
    registry = registry or Registry()
    cells = _cells(paths, Base.of(base))
    if not cells:
        new = "" if base is None else "new and "
        raise UsageError(
            f"no {new}valid records of whole tasks in these paths; see harness results check"
        )
    obstacles: Counter[tuple[str, str]] = Counter()
    possible = []
    for cell in cells:
        if reason := _obstacle(cell, registry, trusting):
            obstacles[cell.model, reason] += 1
        else:
            possible.append(cell)
    chosen = random.Random(seed).sample(possible, min(n, len(possible)))  # noqa: S311  # no secret
    with contextlib.nullcontext() if trusting else _offline():
        ran = [_verdict(cell, cache, registry) for cell in chosen]
    left_out = (
        Verdict(model, "", f"{number} cell{'s'[: number != 1]}", NOT_RUN, reason)
        for (model, reason), number in obstacles.items()
    )
    return [*ran, *left_out]


def _cells(paths: Iterable[Path], base: Base) -> list[Cell]:
    """Return the cells of valid records that the base lacks, sorted."""
    groups: defaultdict[_Key, list[Record]] = defaultdict(list)
    runs = [run for path in paths for run in tree(path).runs if not base.has(run)]
    for record in (
        record for run in runs for record in submission.read_record_lines(run).records.values()
    ):
        model = record.model
        key = (model.name, model.fingerprint, record.mitigator.label, record.task.name)
        if record.limit is None and record.id not in base.ids:
            groups[*key, record.seed].append(record)
    return [Cell(*key, tuple(groups[key])) for key in sorted(groups)]


def _obstacle(cell: Cell, registry: Registry, trusting: bool) -> str:
    """Return why a cell must not or cannot be run; empty if it may be."""
    if cell.task not in registry.task_files.owners:
        return f"the task '{cell.task[:80]}' is not registered here"
    if all(record.overlap for record in cell.records):
        return "leaks: the mitigators were fitted on the texts, so that only rounding may be left"
    if trusting:
        return ""
    spec = registry.embedders.get(cell.model)
    if spec is None or spec.provider:
        return "not a registered model; --trust-models runs what the records name"
    try:
        stages = names.chain_stages(cell.mitigator)
        wishes = [
            *trust.of_model(cell.model, registry),
            *trust.of_mitigator(cell.mitigator, registry),
        ]
        if wishes:
            return f"{wishes[0]}; --trust-models allows it"
    except HarnessError as error:
        return str(error)
    for stage in stages:
        if stage.name not in registry.mitigators:
            return f"the mitigator '{stage.name[:80]}' is not registered here"
        for key, value in stage.options.items():
            if not _SAFE_VALUE.fullmatch(value):
                return f"the mitigator's option {key} is no number; --trust-models allows it"
    return ""


def _verdict(cell: Cell, cache: Place | None, registry: Registry) -> Verdict:
    labels = (cell.model, cell.mitigator, cell.task)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # reasons are reported below
            computed = evaluate(
                cell.model,
                [cell.task],
                [cell.mitigator],
                seed=cell.seed,
                cache=cache,
                registry=registry,
            )
    except HarnessError as error:
        return Verdict(*labels, NOT_RUN, str(error))
    if not computed:
        reason = next((entry.reason for entry in computed.not_run), "nothing was computed")
        return Verdict(*labels, NOT_RUN, reason)
    return Verdict(*labels, *_compared(cell, list(computed)))


def _compared(cell: Cell, computed: Sequence[Record]) -> tuple[str, str]:
    """Return the outcome, and the score with the greatest difference."""
    here = {record.id: record for record in computed}
    pairs = [(record, here[record.id]) for record in cell.records if record.id in here]
    if len(pairs) < len(cell.records):
        return _other_identity(cell, computed)
    pairs = [pair for pair in pairs if not pair[1].overlap]
    if not pairs:
        return DIFFERS, "here the mitigator was fitted on the texts: a leak that is not told"
    record, other = max(pairs, key=lambda pair: _difference(*pair))
    difference = _difference(record, other)
    name = f"{record.metric} {record.score} ({record.scenario})"
    reason = f"{name}: {_shown(record.value)} submitted, {_shown(other.value)} here"
    return (SAME if difference <= TOLERANCE else DIFFERS), reason


def _other_identity(cell: Cell, computed: Sequence[Record]) -> tuple[str, str]:
    """Return why the records of a cell have other ids than those computed here."""
    model = computed[0].model
    if model.fingerprint != cell.fingerprint:
        return NOT_RUN, f"the model here has other weights or settings ({model.fingerprint})"
    digests = {record.task.digest for record in computed}
    if not {record.task.digest for record in cell.records} <= digests:
        return NOT_RUN, "the task here has other data or another version"
    fingerprints = {record.mitigator.fingerprint for record in computed}
    if not {record.mitigator.fingerprint for record in cell.records} <= fingerprints:
        return NOT_RUN, "the mitigator here has other settings, or was fitted on another concept"
    return DIFFERS, "it has scores that are not computed here"


def _difference(a: Record, b: Record) -> float:
    """Return the difference of two values, in units of the score or as a share of its range."""
    if a.value is None or b.value is None:
        return 0.0 if a.value is b.value else float("inf")
    unit = b.unit or greatest_loss(b.ideal, b.bounds) or max(1.0, abs(b.value))
    return abs(a.value - b.value) / unit


def _shown(value: float | None) -> str:
    return "no value" if value is None else f"{value:.6g}"


@contextlib.contextmanager
def _offline() -> Iterator[None]:
    """Keep the hub's library offline, even if it is imported already."""
    from huggingface_hub import constants

    before, environment = constants.HF_HUB_OFFLINE, os.environ.get(_OFFLINE)
    constants.HF_HUB_OFFLINE = True
    os.environ[_OFFLINE] = "1"
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before
        os.environ.pop(_OFFLINE)
        if environment is not None:
            os.environ[_OFFLINE] = environment
