"""Compares two folders of records: after a change that must not change any number.

    python benchmarks/same_records.py BEFORE AFTER [--by-name]

Prints each record that only one folder has, and each field that differs; exits with 1 if there are
any. Left out are the fields that differ between any two runs (created, run, seconds, environment,
check) and the title of the task, which is prose.

Records are matched by their ids. After a change of what identifies a model or a task, match them
with `--by-name`: by the names of model, mitigator, task, scenario, metric and score. Ids, digests
and fingerprints are then left out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonlines

DIFFERS_BETWEEN_RUNS = {"created", "run", "seconds", "environment", "check"}
IDENTITIES = {
    "model": ("fingerprint", "aliases"),
    "mitigator": ("fingerprint", "method"),
    "task": ("digest", "version"),
}
"""Keys of the parts of a record that identify what was measured."""


def main() -> int:
    """Compare, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path, help="folder of records, or a file")
    parser.add_argument("after", type=Path, help="folder of records, or a file")
    parser.add_argument("--by-name", action="store_true", help="match by names, not by ids")
    arguments = parser.parse_args()
    before, after = records(arguments.before), records(arguments.after)
    if arguments.by_name:
        before, after = by_name(before), by_name(after)
    found = list(differences(before, after))
    for line in found:
        print(line)
    print(f"{len(before)} and {len(after)} records, {len(found)} differences")
    return 1 if found or not before else 0


def records(path: Path) -> dict[str, dict[str, Any]]:
    """Return the records of a file, or of the files in a folder, by id."""
    if not path.exists():
        sys.exit(f"{path}: no such file or folder")
    by_id: dict[str, dict[str, Any]] = {}
    for file in sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]:
        with jsonlines.open(file) as reader:
            by_id |= {record["id"]: record for record in reader.iter(type=dict, skip_empty=True)}
    for record in by_id.values():
        record["task"].pop("title", None)
    return by_id


def by_name(records: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return records by the names of what was measured, without their identities."""
    named: dict[str, dict[str, Any]] = {}
    for record in records.values():
        for part, keys in IDENTITIES.items():
            for key in keys:
                record[part].pop(key, None)
        record["id"] = ""
        key = label(record).lstrip()
        if key in named:
            sys.exit(f"two records of one name: {key}")
        named[key] = record
    return named


def differences(
    before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    """Yield a line for each record and each field that is not the same."""
    for id_ in [*before, *(id_ for id_ in after if id_ not in before)]:
        if id_ not in after:
            yield f"only before: {label(before[id_])}"
        elif id_ not in before:
            yield f"only after: {label(after[id_])}"
        else:
            old, new = before[id_], after[id_]
            for field in dict.fromkeys([*old, *new]):
                if field not in DIFFERS_BETWEEN_RUNS and old.get(field) != new.get(field):
                    values = f"{old.get(field)!r} became {new.get(field)!r}"
                    yield f"{label(old)}: {field}: {values[:300]}"


def label(record: Mapping[str, Any]) -> str:
    """Return what a person needs to find a record."""
    parts = [record["model"]["name"], record["mitigator"]["label"], record["task"]["name"]]
    scored = [str(record[key]) for key in ("scenario", "metric", "score")]
    return " ".join([record["id"], *parts, *scored])


if __name__ == "__main__":
    sys.exit(main())
