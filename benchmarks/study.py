"""What a study costs: all rows in all folds of the published grids, by row.

    python benchmarks/study.py [STUDY] [WORKERS]

Runs the study (by default `gender-hard-soft`) into a temporary folder and prints the seconds that
its records tell, summed by row, with the fits that they were for.
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
        ran = running.run(study, results=folder, workers=int(workers), progress=for_terminal())
    wall = time.perf_counter() - started
    total = 0.0
    for row in dict.fromkeys(record.row for record in ran.records):
        own = [record for record in ran.records if record.row == row]
        chosen = sum(len({str(one.params) for one in r.judged.values()}) for r in own)
        fits = sum(len(r.inner) for r in own) + chosen
        seconds = sum(record.seconds for record in own)
        total += seconds
        print(f"{row:28} {fits:6} fits {seconds:8.1f} s {1000 * seconds / fits:8.1f} ms a fit")
    print(f"{'all':28} {'':11} {total:8.1f} s, {wall:.1f} s by the clock, {workers} workers")


if __name__ == "__main__":
    main(*sys.argv[1:])
