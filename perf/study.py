"""The time of a study by row: all folds, all points of the grids.

    python perf/study.py [STUDY] [WORKERS]

Runs the study (by default `gender-hard-soft`) into a temporary folder. Prints for each row the sum
of the seconds in its records, and the number of fits.
"""

from __future__ import annotations

import sys
import tempfile
import time

from harness.progress import for_terminal
from harness.study import running


def main(study: str = "gender-hard-soft", workers: str = "2") -> None:
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        ran = running.run_study(
            study, results=folder, workers=int(workers), progress=for_terminal()
        )
    wall = time.perf_counter() - started
    total = 0.0
    for row in dict.fromkeys(record.row for record in ran.records):
        records = [record for record in ran.records if record.row == row]
        chosen = sum(len({str(cell.params) for cell in r.judged.values()}) for r in records)
        fits = sum(len(r.inner) for r in records) + chosen
        seconds = sum(record.seconds for record in records)
        total += seconds
        print(f"{row:28} {fits:6} fits {seconds:8.1f} s {1000 * seconds / fits:8.1f} ms a fit")
    print(f"{'all':28} {'':11} {total:8.1f} s, {wall:.1f} s wall-clock, {workers} workers")


if __name__ == "__main__":
    main(*sys.argv[1:])
