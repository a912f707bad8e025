"""Measures anew what is kept beside the tasks, and writes it there.

`python perf/recorded.py validity [METRIC]...` writes rows into `tasks/validity.json`, and
`python perf/recorded.py values [PAPER]...` values into `tasks/reproduction/values.json`. Cells of
studies are read from `results/`: run the studies first.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from harness import folders
from harness.plugins.reproduction import reproduce, rows
from harness.plugins.validity import measuring
from harness.registry.registry import Registry
from harness.task import validity
from harness.task.reference import rows_of

TASKS = Path(__file__).parents[1] / "tasks"


def of_metrics(*metrics: str) -> None:
    """Write the rows of validity of metrics, in place of older ones; by default of all."""
    path = TASKS / validity.NAME
    new, skipped = measuring.measure(Registry(), metrics)
    by_key = {
        (row.task, row.metric, row.model): measuring.as_json(row)
        for row in [*rows_of(path, validity.NAME, validity.Validity), *new]
    }
    lines = [json.dumps(by_key[key], ensure_ascii=False) for key in sorted(by_key)]
    folders.write_atomically(path, ("[\n" + ",\n".join(lines) + "\n]\n").encode())
    print(f"wrote {path}: {len(new)} rows", *skipped, sep="\n")


def of_papers(*papers: str) -> None:
    """Write the values of the rows of papers; by default of all."""
    known, results = rows.read(Registry()), Path("results")
    entries = [entry for name in papers or known for entry in known[name].entries]
    found = reproduce.scores(entries, results=results)
    reproduce.studies(found, entries, results)
    values = rows.recorded(known.values()) | found.values
    selected = {entry.address for file in known.values() for entry in file.entries}
    kept = {address: values[address] for address in sorted(selected & values.keys())}
    text = json.dumps(kept, ensure_ascii=False, indent=1) + "\n"
    folders.write_atomically(TASKS / "reproduction" / rows.VALUES, text.encode())
    print(f"{len(found.values)} values", *found.failed, *found.missing.values(), sep="\n")


if __name__ == "__main__":
    {"validity": of_metrics, "values": of_papers}[sys.argv[1]](*sys.argv[2:])
