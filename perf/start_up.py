"""CPU seconds of commands that only list or print help, compared with `mteb --help`.

    python perf/start_up.py [--mteb MTEB-COMMAND] [--repeat 5]

MTEB is optional and needs its own environment:

    python -m venv mteb-env && mteb-env/bin/pip install mteb
    python perf/start_up.py --mteb mteb-env/bin/mteb
"""

from __future__ import annotations

import argparse
import subprocess
import sys

import timing

HARNESS = [sys.executable, "-c", "from harness.commands.main import main; main()"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mteb", help="the command mteb of an environment that has it")
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "harness --help": [*HARNESS, "--help"],
        "harness list tasks": [*HARNESS, "list", "tasks"],
        "harness list models": [*HARNESS, "list", "models"],
    }
    if arguments.mteb:
        commands["mteb --help"] = [arguments.mteb, "--help"]
    measured: dict[str, list[timing.Seconds]] = {name: [] for name in commands}
    for command in commands.values():
        run(command)  # compiles the byte code
    for _ in range(arguments.repeat):
        for name, command in commands.items():
            measured[name].append(timing.timed(lambda command=command: run(command)))
    print(f"medians of {arguments.repeat} runs in turns")
    print(timing.HEAD)
    for name, times in measured.items():
        print(timing.row(name, times))


def run(command: list[str]) -> None:
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main()
