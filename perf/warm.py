"""CPU seconds of commands whose vectors are stored already, before and after a change.

    OMP_NUM_THREADS=1 python perf/warm.py [--python BEFORE --python AFTER] [--repeat 3]
        [--model all-MiniLM-L6-v2] [--tasks all] [--mitigator none --mitigator hard-debias]
        [--exclude TASKS] [--only eval] [--keep warm] [@perf/warm-tasks.txt]

`--python` is the interpreter of an environment with a harness; for a version in git:

    git worktree add ../before COMMIT && python -m venv ../before/.venv
    ../before/.venv/bin/python -m pip install -e ../before

All interpreters run each command in turns, so that they have the same load. Each of several has its
own copy of the cache folder, `HARNESS_CACHE`, since what is kept there depends on the code. The
first run of each, which encodes what is missing, compiles the byte code and fills the caches, is
not counted. A run is repeated, and the smallest number counts: other work of the machine can only
add time. CPU seconds are user and system time of all threads; the peak of the memory is
`ru_maxrss`. `--keep NAME` writes the figures to `perf/NAME.json`, for the page of speed.

`@FILE` is a file of arguments, one a line. `warm-tasks.txt` has the 83 tasks that a text encoder
could run without HARNESS_DATA when speed was first measured: with them, versions that have more
tasks do the same work.
"""

from __future__ import annotations

import argparse
import functools
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import timing

HARNESS = "from harness.commands.main import main; main()"
TINY = "seat-c6"
WORKS = {
    "eval": "warm eval",
    "again": "the same with nothing to do",
    "tiny": "one small warm task",
    "plan": "plan",
    "list": "list tasks",
    "show": "show task",
    "validate": "validate one file",
}
_START = ("harness/commands", "harness/registry", "harness/task")
_EVAL = ("harness", "plugins/embedders", "plugins/metrics", "plugins/mitigators")
CODE = {
    **{WORKS[work]: _EVAL for work in ("eval", "again", "tiny", "plan", "validate")},
    **{WORKS[work]: _START for work in ("list", "show")},
}
"""What each work measures."""


@dataclass(frozen=True)
class Usage:
    """What a command took."""

    cpu: float
    megabytes: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], fromfile_prefix_chars="@")
    parser.add_argument("--python", action="append", help="interpreter with a harness; repeatable")
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--tasks", default="all")
    parser.add_argument("--exclude", action="append", default=[], help="tasks; repeatable")
    parser.add_argument("--mitigator", action="append")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", action="append", choices=WORKS, help="repeatable")
    parser.add_argument("--keep", metavar="NAME", help="write perf/NAME.json")
    arguments = parser.parse_args()
    pythons = arguments.python or [sys.executable]
    run_on = ["--model", arguments.model, "--tasks", arguments.tasks]
    for name in arguments.mitigator or ["none", "hard-debias"]:
        run_on += ["--mitigator", name]
    for pattern in arguments.exclude:
        run_on += ["--exclude", pattern]
    rows: list[dict[str, object]] = []
    print(f"{'':30} {'CPU s':>9} {'/ first':>8} {'peak MB':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for i in range(len(pythons) if len(pythons) > 1 and "HARNESS_CACHE" in os.environ else 0):
            shutil.copytree(os.environ["HARNESS_CACHE"], Path(folder) / str(i) / "cache")
        for work in arguments.only or WORKS:
            by_python: dict[int, list[Usage]] = {}
            for turn in range(arguments.repeat + 1):
                for i, python in enumerate(pythons):
                    usage = measure(python, work, run_on, Path(folder) / str(i))
                    if turn:
                        by_python.setdefault(i, []).append(usage)
            for i, usages in by_python.items():
                cpu = min(usage.cpu for usage in usages)
                peak = min(usage.megabytes for usage in usages)
                ratio = cpu / min(usage.cpu for usage in by_python[0])
                row = f"{WORKS[work]:30} {cpu:9.2f} {ratio:8.2f} {peak:9.0f}"
                print(f"{row}  {pythons[i]}", flush=True)
            row_: dict[str, object] = {"command": WORKS[work]}
            for i, usages in by_python.items():
                of = f", {('before', 'after')[i]}" if len(pythons) == 2 else ""
                row_[f"CPU s{of}"] = round(min(usage.cpu for usage in usages), 2)
                row_[f"peak MB{of}"] = round(min(usage.megabytes for usage in usages))
            rows.append(row_)
    if arguments.keep:
        mitigators = " and ".join(arguments.mitigator or ["none", "hard-debias"])
        timing.keep(
            Path(__file__).with_name(f"{arguments.keep}.json"),
            title=f"Commands whose vectors are stored: {arguments.model}, {mitigators}",
            command=f"OMP_NUM_THREADS=1 python perf/warm.py {_as_typed(sys.argv[1:])}",
            rows=rows,
            code={str(row["command"]): CODE[str(row["command"])] for row in rows},
        )


def _as_typed(arguments: list[str]) -> str:
    """Return the arguments of the command, with BEFORE and AFTER for two interpreters."""
    names = iter(("BEFORE", "AFTER") if arguments.count("--python") == 2 else ())
    is_path = [before == "--python" for before in ["", *arguments]]
    return shlex.join(
        next(names, argument) if path else argument
        for argument, path in zip(arguments, is_path, strict=False)
    )


@functools.cache
def tasks_of(python: str) -> str:
    """Return the folder of a harness' own tasks: an older one cannot read those of a newer one."""
    where = "import harness.tasks; print(harness.tasks.__path__[0])"
    # In another folder, since Python would find the harness of the current one first.
    return subprocess.check_output([python, "-c", where], text=True, cwd=os.sep).strip()


def measure(python: str, work: str, run_on: list[str], folder: Path) -> Usage:
    """Run a work with a harness, and return what it took."""
    folder.mkdir(exist_ok=True)
    environment = {key: os.environ[key] for key in os.environ if key != "PYTHONDONTWRITEBYTECODE"}
    if (folder / "cache").is_dir():
        environment["HARNESS_CACHE"] = str(folder / "cache")
    with tempfile.TemporaryDirectory(dir=folder) as new:
        results = str(folder / "results") if work == "again" else new
        on_one = ["--model", run_on[1], "--tasks", TINY, "--workers", "1"]
        command = {
            "eval": ["eval", *run_on, "--workers", "1", "--quiet", "--results", results],
            "again": ["eval", *run_on, "--workers", "1", "--quiet", "--results", results],
            "tiny": ["eval", *on_one, "--quiet", "--results", results],
            "plan": ["plan", *run_on, "--results", results],
            "list": ["list", "tasks"],
            "show": ["show", "task", "weat-6"],
            "validate": ["validate", f"{tasks_of(python)}/weat/weat.yaml"],
        }[work]
        line = [python, "-c", HARNESS, *command]
        with subprocess.Popen(
            line, stdout=subprocess.DEVNULL, cwd=folder, env=environment
        ) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Usage(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6)


if __name__ == "__main__":
    main()
