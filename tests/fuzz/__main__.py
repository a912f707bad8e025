"""The command: fuzzes some kinds, or all, and says what was found."""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from .kinds import KINDS
from .running import findings

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
        for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
            os.environ[name] = "http://127.0.0.1:9"  # nothing listens there
        for name in arguments.kinds or KINDS:
            start, places = time.process_time(), set()
            folder = Path(temporary) / name
            folder.mkdir()
            for finding in findings(KINDS[name], folder, arguments.inputs, arguments.seed):
                if finding.place not in places:
                    places.add(finding.place)
                    kept = f" -> {finding.keep()}" if arguments.keep else ""
                    print(f"  {finding.problem}\n    {finding.content[:100]!r}{kept}", flush=True)
            seconds = time.process_time() - start
            megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1_000
            print(
                f"{name}: {arguments.inputs:,} inputs, {len(places)} findings, "
                f"{seconds:.0f} s of CPU, {megabytes:,} MB at most",
                flush=True,
            )
            found += len(places)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
