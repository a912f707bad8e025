"""Records of the reference models, which every board shows for comparison.

They are shipped with the package. `python -m harness.leaderboard.boards.references` computes the
records of changed tasks; with the argument `all`, all records.
"""

from __future__ import annotations

import gzip
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from harness import folders
from harness.errors import NotApplicable, Unavailable, listed
from harness.results.record import Record

from .cells import REFERENCES, contents

if TYPE_CHECKING:
    from harness.registry.registry import Registry

FILE = Path(__file__).parent / "references.jsonl.gz"
_LISTED = 5
"""Most tasks that a notice names."""
_DETAILS = ("alternative", "reversed")
"""Details that a board shows."""
_LEFT_OUT = ("deviations", "contrasts", "tables")
"""Fields of a record that are large, and that no board reads of a reference: it has no rank."""
_LONG_AGO = "1970-01-01T00:00:00+00:00"
_Key: TypeAlias = tuple[str, str, str]
"""Kind, task and digest."""


def shipped(file: Path = FILE) -> list[Record]:
    """Return the primary records of the reference models, one a model and task."""
    return [Record.model_validate_json(line) for line in _content(file).splitlines()]


def shipped_claims(file: Path = FILE) -> pl.DataFrame:
    """Return these records as a frame of claims."""
    from ..claims.reading import frame_of

    return frame_of(shipped(file))


def _content(file: Path) -> bytes:
    return gzip.decompress(file.read_bytes()) if file.exists() else b""


def added(claims: pl.DataFrame, file: Path = FILE) -> tuple[pl.DataFrame, list[str]]:
    """Return the claims, with those of the references on the same tasks, and notices.

    A reference is added to a task if it was computed for the content that the board ranks. Records
    that are in `claims` already are not added.

    Returns
    -------
    tuple
        The claims; and, for each kind of embedder with references on some tasks and not on
        others, a line that names the command that computes these.
    """
    chosen = contents(claims).rename({"chosen": "digest"})
    key = ["kind", "task", "digest"]
    is_reference = pl.col("model").cast(pl.String).is_in(REFERENCES)
    own = claims.filter(is_reference, pl.col("primary"))
    new = (
        shipped_claims(file)
        .join(chosen.cast(dict.fromkeys(key, claims.schema["kind"])), on=key, how="semi")
        .join(claims.select("id"), on="id", how="anti")
    )
    has = {
        (name, task)
        for frame in (new, own)
        for name, task in frame.select("model", "task").iter_rows()
    }
    lacking: defaultdict[str, set[str]] = defaultdict(set)
    for kind, task in chosen.select("kind", "task").iter_rows():
        if any((name, task) not in has for name in of_kind(kind)):
            lacking[kind].add(task)
    some = {*new["kind"], *own["kind"]}
    lines = [_notice(kind, sorted(tasks)) for kind, tasks in lacking.items() if kind in some]
    return pl.concat([claims, new]), lines


def of_kind(kind: str) -> list[str]:
    """Return the names of the references of a kind of embedder."""
    return [name for name in REFERENCES if name.endswith(f"-{kind}s")]


def outdated(registry: Registry, file: Path = FILE) -> list[str]:
    """Return the shipped tasks whose current content is not in the file.

    Large tasks, and tasks whose data are missing, are left out.
    """
    has = {_key(record) for record in shipped(file)}
    return sorted({key[1] for key in _tasks(registry) if key not in has})


def compute(tasks: Iterable[str], registry: Registry, file: Path = FILE) -> list[Record]:
    """Evaluate the reference models on tasks, write the file, and return its records.

    Records of other tasks are kept, if the tasks still exist.
    """
    import tempfile

    from harness.run.evaluation import evaluate
    from harness.run.tasks import list_tasks

    tasks = list(tasks)
    with tempfile.TemporaryDirectory() as cache:
        new = evaluate(REFERENCES, tasks, cache=cache, registry=registry, progress=True)
    computed = {(_name(record), record.task.name): record for record in new if record.primary}
    kept = {(_name(record), record.task.name): record for record in shipped(file)}
    names = {entry.file.name for entry in list_tasks(registry)}
    records = [
        _small(record) for (_, task), record in sorted((kept | computed).items()) if task in names
    ]
    content = "".join(record.line() for record in records).encode()
    folders.write_atomically(file, gzip.compress(content, 9, mtime=0))
    return records


def _tasks(registry: Registry) -> Iterator[_Key]:
    """Yield the kind, name and digest of each task that is not large."""
    from harness.run.tasks import ALL, select

    for entry in select(registry, [ALL]):
        try:
            task = registry.task(entry.file.name)
        except (NotApplicable, Unavailable):
            continue  # its data are missing
        primary = task.file.primary
        (digest,) = {
            task.digest_of(measurement)
            for scenario in task.scenarios
            for measurement in scenario.measurements
            if (scenario.name, measurement.metric.name) == (primary.scenario, primary.metric)
        }
        for kind in task.file.kinds:
            yield kind, task.file.name, digest


def _key(record: Record) -> _Key:
    return record.model.kind, record.task.name, record.task.digest


def _name(record: Record) -> str:
    return record.model.name


def _small(record: Record) -> Record:
    """Return a record with only the fields that a board reads, dated before all others.

    It keeps the gap over the yardstick, without the part of each unit and contrast. The facts of a
    task come from its latest record, so a reference never decides them.
    """
    details = {key: record.details[key] for key in _DETAILS if key in record.details}
    update = {"run": "references", "created": _LONG_AGO, "details": details}
    empty: dict[str, Any] = {name: {} for name in _LEFT_OUT}
    return record.model_copy(update=update | empty)


def _notice(kind: str, tasks: list[str]) -> str:
    models = " ".join(f"--model {name}" for name in of_kind(kind))
    names = listed((f"'{task}'" for task in tasks), _LISTED)
    return (
        f"{kind} embeddings: no reference lines for {names}; to have them, add the results "
        f"of `harness eval {models} --tasks {','.join(tasks)}`"
    )


def main(tasks: Sequence[str]) -> None:
    """Compute the records of `tasks`, by default of those that are not as in the file."""
    from harness.registry.registry import Registry

    registry = Registry()
    chosen = list(tasks) or outdated(registry)
    if chosen:
        records = compute(chosen, registry)
        print(f"wrote {FILE}: {len(records)} records, {FILE.stat().st_size / 1000:.0f} kB")
    else:
        print(f"{FILE} has all tasks")


if __name__ == "__main__":
    main(sys.argv[1:])
