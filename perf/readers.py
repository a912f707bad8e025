"""CPU seconds and peak memory of the commands that read many records.

    python perf/readers.py FOLDER [--records 1000000] [--python BEFORE --python AFTER]
        [--only show]

If FOLDER is not there, it is made of the records in docs/figures/board.jsonl.gz: copies of their
models under other names, with the ids and checks that follow, one file a model. It is kept, so that
two versions of the harness can read the same records. `--python` is the interpreter of an
environment with a harness; all are measured in turns. CPU seconds are user and system time of all
threads, and peak memory is the system's `ru_maxrss`.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness import folders
from harness.digest import digest
from harness.results.record import identity, with_check

SOURCE = Path(__file__).parents[1] / "docs/figures/board.jsonl.gz"
HARNESS = "from harness.commands.main import main; main()"
COMMANDS = {
    "show": ["results", "show", "FOLDER"],
    "export": ["results", "export", "FOLDER", "--format", "csv"],
    "average": ["results", "show", "FOLDER", "--average"],
    "build": ["leaderboard", "build", "FOLDER", "--out", "SITE"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="results folder; made if it is not there")
    parser.add_argument("--records", type=int, default=1_000_000, help="in a folder that is made")
    parser.add_argument("--source", type=Path, default=SOURCE, help="records that are copied")
    parser.add_argument("--python", action="append", help="interpreter with a harness; repeatable")
    parser.add_argument("--only", action="append", choices=COMMANDS, help="repeatable")
    arguments = parser.parse_args()
    if not arguments.folder.exists():
        make(arguments.folder, arguments.source, arguments.records)
    size = sum(file.stat().st_size for file in arguments.folder.glob("*.jsonl"))
    print(f"{arguments.folder}: {size / 1e6:,.0f} MB")
    print(f"{'':10} {'CPU s':>9} {'wall s':>9} {'peak MB':>9}")
    for name in arguments.only or COMMANDS:
        for python in arguments.python or [sys.executable]:
            cpu, wall, peak = measure(python, COMMANDS[name], arguments.folder)
            print(f"{name:10} {cpu:9.1f} {wall:9.1f} {peak:9,.0f}  {python}", flush=True)


def make(folder: Path, source: Path, count: int) -> None:
    """Write `count` records of copied models, a file a model; one record is in memory at a time."""
    with gzip.open(source, "rt", encoding="utf-8") as file:
        records = sorted((json.loads(line) for line in file), key=lambda r: r["model"]["name"])
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    unfinished.mkdir(parents=True)
    copied = itertools.islice(copies(records), count)
    for model, group in itertools.groupby(copied, key=lambda record: record["model"]["name"]):
        file = unfinished / f"{folders.safe_name(model)}.jsonl"
        with file.open("w", encoding="utf-8") as out:
            for record in group:
                content = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
                out.write(with_check(content) + "\n")
    unfinished.rename(folder)


def copies(records: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the records under other models, again and again."""
    for turn in itertools.count():
        for record in records:
            model = record["model"]
            name, fingerprint = f"{model['name']}-{turn:05}", digest([model["fingerprint"], turn])
            model = {**model, "name": name, "aliases": [], "fingerprint": fingerprint}
            id_ = identity(
                model=fingerprint,
                mitigator=record["mitigator"]["fingerprint"],
                task=record["task"]["digest"],
                **{key: record[key] for key in ("scenario", "metric", "score", "seed")},
            )
            copy = {**record, "id": id_, "model": model}
            copy.pop("check", None)
            yield copy


def measure(python: str, command: list[str], folder: Path) -> tuple[float, float, float]:
    """Run a command of a harness; return its CPU and wall-clock seconds and its peak MB."""
    with tempfile.TemporaryDirectory() as site:
        paths = {"FOLDER": str(folder), "SITE": site}
        line = [python, "-c", HARNESS, *(paths.get(word, word) for word in command)]
        started = time.perf_counter()
        with subprocess.Popen(line, stdout=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)  # its own usage, not that of all children
            process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - started
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    unit = 1 if sys.platform == "darwin" else 1024
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * unit / 1e6


if __name__ == "__main__":
    main()
