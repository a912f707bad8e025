"""Time of recognising names with one and several processes, on texts of the shipped tasks.

    OMP_NUM_THREADS=1 python perf/names.py --workers 1 2

Each number of processes has a process and an empty cache of its own. Needs spaCy with its pipeline,
and the data of the tasks. The mentions are compared by a digest.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time

N = 6_000


def texts() -> list[str]:
    """Return some texts of the shipped tasks, drawn with a fixed seed."""
    from harness.progress import Silent
    from harness.registry.registry import Registry
    from harness.run.tasks import TaskReader, select
    from harness.task.task import Task

    registry = Registry()
    tasks = TaskReader(registry, select(registry, ["all"], ()), Silent()).for_kind("text")
    read = [task for task in tasks if isinstance(task, Task)]
    found = [text for task in read for input_ in task.texts() for text in input_.texts or ()]
    distinct = list(dict.fromkeys(found))
    random.Random(0).shuffle(distinct)
    return distinct[:N]


def find(workers: int) -> None:
    """Print the wall time of recognising the names, and a digest of the mentions."""
    from harness import parallel
    from harness.digest import digest
    from harness.plugins.texts.spacy_mentions import SpacyMentions

    some = texts()
    os.environ["HARNESS_CACHE"] = tempfile.mkdtemp()  # reading the tasks kept some mentions
    began = time.perf_counter()
    with parallel.at_most(workers):
        mentions = SpacyMentions(proper_nouns=True).find(some)
    wall = time.perf_counter() - began
    print(f"{len(some)} texts, {sum(map(len, some))} characters")
    print(f"{workers} processes: {wall:.1f} s, mentions {digest(repr(mentions))[:8]}", flush=True)


def main() -> None:
    """Run each number of processes in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--one", type=int)
    arguments = parser.parse_args()
    if arguments.one:
        find(arguments.one)
        return
    before = 0.0
    for workers in arguments.workers:
        command = [sys.executable, __file__, "--one", str(workers)]
        subprocess.run(command, check=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"CPU, with reading the tasks: {used.ru_utime + used.ru_stime - before:.1f} s\n")
        before = used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
