"""Runs of the real command in processes that can be killed, and what they leave behind.

They are forked from a server that has imported everything, so that kills hit work rather than
seconds of imports.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path

import soak_model
from joblib.externals.loky import reusable_executor

from harness.results.folder import read
from harness.results.jsonl import RecordsFile, verify
from harness.results.record import Record
from harness.store.pruning import store_of, stores

PRELOADED = ("scipy.stats", "sklearn.base", "joblib", "harness.run.evaluation")
OF_THE_RUN = {"run", "created", "seconds"}
"""Fields that may differ between two runs of the same command."""


def install(site: Path) -> None:
    """Install the plugin with the slow encoder into a folder of packages."""
    metadata = site / "soak-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Name: soak\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[harness]\nsoak = soak_model\n")
    shutil.copy(soak_model.__file__, site)


@dataclass
class Place:
    """A cache and a results folder for a sequence of runs of one command.

    Parameters
    ----------
    folder
        Holds them, with a log of the encoded texts and the output of each run.
    site
        Where the plugin is installed.
    options
        Options of `harness eval`.
    """

    folder: Path
    site: Path
    options: Sequence[str]
    runs: int = field(default=0)

    @property
    def file(self) -> Path:
        return self.folder / "results" / "slow.jsonl"

    def start(self) -> BaseProcess:
        """Start the next run."""
        self.folder.mkdir(parents=True, exist_ok=True)
        places = ["--cache", str(self.folder / "cache"), "--results", str(self.file.parent)]
        arguments = ["eval", "--model", "slow", *self.options, *places]
        environment = {
            soak_model.LOG: str(self._log(self.runs)),
            "PYTHONPATH": os.pathsep.join(map(str, [self.site, Path(__file__).parent])),
            "HARNESS_CACHE": str(self.folder / "home"),
        }
        output = str(self.folder / f"output-{self.runs}.txt")
        process = _context().Process(target=_run, args=(arguments, environment, output))
        self.runs += 1
        process.start()
        return process

    def calls(self, run: int) -> list[list[str]]:
        """Return the texts of each call of the model in a run."""
        log = self._log(run)
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def output(self, run: int) -> str:
        """Return what a run printed."""
        path = self.folder / f"output-{run}.txt"
        return path.read_text() if path.exists() else ""

    def faults(self) -> list[str]:
        """Return what is wrong with the results file and the stored vectors."""
        kept = list(map(store_of, stores(self.folder / "cache")))
        for store in kept:
            store.missing(["a text"])  # opens each segment
        lines = [str(fault) for fault in verify(self.file, Record).faults]
        return [*lines, *(notice for store in kept for notice in store.notices)]

    def contents(self) -> dict[str, Mapping[str, object]]:
        """Return the records by id, in the order of the file, without what differs between runs."""
        records = read([self.file]).records
        return {record.id: record.model_dump(exclude=OF_THE_RUN) for record in records}

    def _log(self, run: int) -> Path:
        return self.folder / f"texts-{run}.jsonl"


def warm() -> None:
    """Wait until the server of processes has imported everything, which is not to be timed."""
    process = _context().Process(target=int)
    process.start()
    process.join()


def writer(file: Path, records: Sequence[Record]) -> BaseProcess:
    """Start a process that adds records to a file, one by one, without those that are there."""
    process = _context().Process(target=_write, args=(file, records))
    process.start()
    return process


def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*PRELOADED])
    return context


def _write(path: Path, records: Sequence[Record]) -> None:
    file = RecordsFile(path, Record)
    for record in records:
        if record.id not in file.records or record.seed % 2:  # some replace what is there
            file.add([record])


def _run(arguments: list[str], environment: Mapping[str, str], output: str) -> None:
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.environ.update(environment)
    from harness.commands.main import main

    try:
        main(arguments)
    finally:  # as at the end of an interpreter, which a process of multiprocessing does not reach
        executor = reusable_executor._executor
        if executor is not None:
            executor.shutdown(wait=True, kill_workers=True)
