"""The recorded validity: reads and writes the files of `harness.task.validity`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import folders
from harness.run.tasks import list_tasks
from harness.task import validity
from harness.task.validity import Validity

if TYPE_CHECKING:
    from harness.registry.registry import Registry

DIGITS = 4
"""Significant digits that are kept: more would change with the machine."""


def recorded(registry: Registry) -> list[Validity]:
    """Return what is recorded of the known tasks, in the order of their names."""
    rows = []
    for entry in list_tasks(registry):
        rows += validity.of_task(entry.document.path, entry.file.name)
    return rows


def write(registry: Registry, rows: Iterable[Validity]) -> list[Path]:
    """Record rows in the files of their tasks, in place of older ones; return the files.

    The file is the one that the folder of the task or the folder above it has, else a new one
    beside the task.
    """
    places = {entry.file.name: entry.document.path for entry in list_tasks(registry)}
    by_file: dict[Path, list[Validity]] = {}
    for row in rows:
        folder = places[row.task].parent
        path = folder / validity.NAME
        if not path.exists() and (folder.parent / validity.NAME).exists():
            path = folder.parent / validity.NAME
        by_file.setdefault(path, []).append(row)
    for path, new in by_file.items():
        kept = {_key(row): row for row in (validity.read(path) if path.exists() else [])}
        kept |= {_key(row): row for row in new}
        lines = [json.dumps(as_json(kept[key]), ensure_ascii=False) for key in sorted(kept)]
        text = "[\n" + ",\n".join(lines) + "\n]\n"
        folders.write_atomically(path, text.encode())
    return list(by_file)


def as_json(row: Validity) -> dict[str, Any]:
    """Return a row as JSON-like values, with few digits and without what is empty."""
    return {key: _rounded(value) for key, value in row.model_dump(mode="json").items()}


def _key(row: Validity) -> tuple[str, str, str]:
    return row.task, row.metric, row.model


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
