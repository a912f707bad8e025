"""The command: fuzzes some kinds, or all, and says what was found."""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
from pathlib import Path

from .kinds import KINDS
from .running import findings, keep, place_of

MEMORY = 8_000_000_000
"""Bytes of address space; what needs more is a finding."""


def main() -> int:
    """Run the command and return its exit code: 1 if there are findings."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("kinds", nargs="*", choices=[[], *KINDS], help="default: all")
    parser.add_argument("--inputs", type=int, default=10_000, help="inputs of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", action="store_true", help="write findings into the corpus")
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    found = 0
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["HARNESS_CACHE"] = f"{temporary}/cache"
        os.environ.pop("HARNESS_DATA", None)
        for variable in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
            os.environ[variable] = "http://127.0.0.1:9"  # nothing listens there
        for name in arguments.kinds or KINDS:
            places = set()
            folder = Path(temporary) / name
            folder.mkdir()
            for problem, content in findings(name, folder, arguments.inputs, arguments.seed):
                if place_of(problem) not in places:
                    places.add(place_of(problem))
                    kept = f" -> {keep(name, content)}" if arguments.keep else ""
                    print(f"  {problem}\n    {content[:100]!r}{kept}", flush=True)
            print(f"{name}: {arguments.inputs:,} inputs, {len(places)} findings", flush=True)
            found += len(places)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
