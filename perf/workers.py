"""Scoring with one process and with several: wall-clock and CPU seconds, and equal records.

    python perf/workers.py --model glove-6b-50d --mitigator none --mitigator hard-debias
    python perf/workers.py --model all-MiniLM-L6-v2 --tasks all --workers 1 2 --turns 3

Runs `harness eval` in turns, each time into a new results folder. The first run, which is not
counted, fills the cache folder. `scoring` is the stage of that name, as progress reports it; `wall`
and `CPU` are of the whole command, with its workers. Records must be equal to the last digit and in
the same order.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import harness

OF_THE_RUN = {"run", "created", "seconds", "environment", "check"}
STAGE = re.compile(r": scoring: \d+/\d+ tasks in ([\d.]+) s")


@dataclass(frozen=True)
class Ran:
    """Seconds of a run, and its records as JSON without what differs between runs."""

    scoring: float
    wall: float
    cpu: float
    records: list[str]


def run(options: list[str], workers: int) -> Ran:
    """Evaluate in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(Path(sys.executable).with_name("harness")), "eval", *options]
        command += ["--workers", str(workers), "--results", folder]
        started, before = time.perf_counter(), os.times()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wall, after = time.perf_counter() - started, os.times()
        stage = STAGE.search(done.stderr)
        if stage is None:
            sys.exit(done.stderr)
        records = [
            record.model_dump_json(exclude=OF_THE_RUN) for record in harness.read_results(folder)
        ]
    cpu = sum(after[2:4]) - sum(before[2:4])
    return Ran(float(stage[1]), wall, cpu, records)


def main() -> None:
    """Print a table, and exit with 1 if records differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True)
    parser.add_argument("--mitigator", action="append", default=[])
    parser.add_argument("--tasks", default="all")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--turns", type=int, default=3)
    arguments = parser.parse_args()
    options = ["--model", arguments.model, "--tasks", arguments.tasks]
    for mitigator in arguments.mitigator:
        options += ["--mitigator", mitigator]
    first = run(options, max(arguments.workers))
    runs: dict[int, list[Ran]] = {workers: [] for workers in arguments.workers}
    for _ in range(arguments.turns):
        for workers in arguments.workers:
            runs[workers].append(run(options, workers))
    base = median(ran.scoring for ran in runs[arguments.workers[0]])
    print(f"{'workers':>8} {'scoring s':>10} {'ratio':>6} {'wall s':>8} {'CPU s':>8}  records")
    differ = False
    for workers, several in runs.items():
        scoring = median(ran.scoring for ran in several)
        equal = all(ran.records == first.records for ran in several)
        differ |= not equal
        print(
            f"{workers:8} {scoring:10.1f} {scoring / base:6.2f} "
            f"{median(ran.wall for ran in several):8.1f} "
            f"{median(ran.cpu for ran in several):8.1f}  "
            f"{len(first.records)} {'equal' if equal else 'DIFFER'}"
        )
    sys.exit(int(differ))


if __name__ == "__main__":
    main()
