"""CPU seconds and peak memory of `harness leaderboard build` on a made-up results folder.

    OMP_NUM_THREADS=1 python perf/board.py [--models 1000] [--mitigators 3] [--tasks 100]
        [--keep FOLDER]

The records are of made-up models on copies of shipped text tasks: ids, scales and digests are as
they would be. A new process builds the site; its CPU seconds are user and system time of all
threads, and its peak memory is the system's `ru_maxrss`. `--keep` leaves the results and the site
in FOLDER: `python perf/board_browser.py FOLDER/site` measures the site in a browser.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from harness.arrays import Reals
from harness.digest import digest
from harness.leaderboard.boards import references
from harness.results.record import Record, greatest_loss, identity

BUDGETS = {"CPU s": 10.0, "peak MB": 1000.0, "site MB, gzip": 15.0}
"""For 1,000 models × 3 mitigators × 100 tasks."""
MITIGATORS = ("none", "normalize", "hard-debias", "context-injection")
FITTED = "hard-debias"
"""Mitigator that was fitted on texts of some tasks."""
KEPT = {"bias": (1.0, 0.98, 0.6, 0.8), "usefulness": (1.0, 0.99, 0.96, 0.93)}
"""Share of a model's bias and usefulness that each mitigator leaves, on average."""
MARKS = (
    *("id", "created", "model", "mitigator", "value", "p_value", "interval", "unseen", "ratio"),
    "withheld",
)
"""Fields of a record that differ between models, in their order."""
SIZE, MARKED = 2300, 700
"""Bytes of a record, and of these fields; so many have those of `harness eval`."""
FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
TASKS = "made-up-tasks.json"
"""File with the shipped task that each made-up one copies, and its digest."""
BUILD = """
import json, resource, sys
from pathlib import Path
from harness.leaderboard.claims import facts
renamed = json.loads(Path(sys.argv[1]).read_text())
has = facts.shipped()
made_up = {
    copy: has[name].model_copy(update={"name": copy, "digest": digest})
    for copy, (name, digest) in renamed.items()
}
facts.shipped = lambda: {**has, **made_up}
from harness.commands.main import main
try:
    main(["leaderboard", "build", sys.argv[2], "--out", sys.argv[3]])
except SystemExit as stop:
    if stop.code:
        raise
print(json.dumps([*resource.getrusage(resource.RUSAGE_SELF)[:3]]), file=sys.stderr)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--mitigators", type=int, default=3, choices=range(1, len(MITIGATORS) + 1))
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--keep", type=Path, help="folder for the results and the site")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        n = make(folder / "results", arguments.models, arguments.mitigators, arguments.tasks)
        size = sum(file.stat().st_size for file in (folder / "results").rglob("*.jsonl"))
        print(f"{n:,} records, {size / 1e6:,.0f} MB")
        measured = build(folder)
        print(f"{'':16} {'measured':>9} {'budget':>9}")
        for name, value in measured.items():
            print(f"{name:16} {value:9.1f} {BUDGETS[name]:9.1f}")


def build(folder: Path) -> dict[str, float]:
    """Build the site of `folder/results` in a new process, and return what it took."""
    command = [sys.executable, "-c", BUILD]
    command += map(str, (folder / "results" / TASKS, folder / "results", folder / "site"))
    process = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if process.returncode:
        raise SystemExit(process.stderr)
    user, system, peak = json.loads(process.stderr.splitlines()[-1])
    site = sum(
        len(gzip.compress(file.read_bytes(), 6))
        for file in (folder / "site").rglob("*")
        if file.is_file()
    )
    unit = 1 if sys.platform == "darwin" else 1024
    return dict(zip(BUDGETS, (user + system, peak * unit / 1e6, site / 1e6), strict=True))


def make(folder: Path, models: int, mitigators: int, tasks: int) -> int:
    """Write the records of made-up models, one file a model; return their number."""
    folder.mkdir(parents=True, exist_ok=True)
    copied = list(itertools.islice(copies(), tasks))
    facts = {record.task.name: [name, record.task.digest] for name, record in copied}
    (folder / TASKS).write_text(json.dumps(facts))
    records = [record for _, record in copied]
    parts = [cut(record) for record in records]
    rng = np.random.default_rng(0)
    for i in range(models):
        model = f"model-{i:05}"
        values = draw(records, mitigators, rng)
        p_values = rng.uniform(size=values.shape)
        with (folder / f"{model}.jsonl").open("w") as file:
            for m, mitigator in enumerate(MITIGATORS[:mitigators]):
                for t, (record, (first, *others)) in enumerate(zip(records, parts, strict=True)):
                    marked = values_of(
                        record,
                        model,
                        mitigator,
                        i * tasks + t,
                        float(values[m, t]),
                        float(p_values[m, t]),
                    )
                    texts = (json.dumps(marked[mark]) for mark in MARKS)
                    rest = (text + other for text, other in zip(texts, others, strict=True))
                    file.write(first + "".join(rest))
    return models * mitigators * tasks


def copies() -> Iterator[tuple[str, Record]]:
    """Yield shipped tasks and a record of each, then copies of them under other names.

    Two bias tasks come for each usefulness task.
    """
    shipped = [
        record
        for record in references.shipped()
        if record.model.name == "random-texts" and not record.task.unranked and record.value
    ]
    kinds = {
        measures: [record for record in shipped if record.task.measures == measures]
        for measures in ("bias", "usefulness")
    }
    for i in itertools.count():
        group = kinds["usefulness" if i % 3 == 2 else "bias"]
        turn, place = divmod(i // 3 if i % 3 == 2 else i - i // 3, len(group))
        record = group[place]
        if turn:
            suffix = f"-copy-{turn}"
            task = record.task.model_copy(
                update={
                    "name": record.task.name + suffix,
                    "digest": digest([record.task.digest, turn]),
                }
            )
            yield record.task.name, record.model_copy(update={"task": task})
        else:
            yield record.task.name, record


def draw(records: Sequence[Record], mitigators: int, rng: np.random.Generator) -> Reals:
    """Return values of a model (mitigators × tasks), within the bounds of the scores."""
    model = {"bias": rng.uniform(0.1, 0.5), "usefulness": rng.uniform(0.65, 0.85), "control": 0.8}
    values = np.empty((mitigators, len(records)))
    for t, record in enumerate(records):
        measures, (low, high) = record.task.measures, record.bounds
        kept = np.array(KEPT.get(measures, (1.0,) * len(MITIGATORS)))[:mitigators]
        size = model[measures] * kept + rng.normal(scale=0.05, size=mitigators)
        greatest = greatest_loss(record.ideal, record.bounds) or 1.0
        if measures == "usefulness":
            loss = (1 - size) * greatest
        else:
            floor = record.floor.mean if record.floor else 0.0
            loss = floor + size * (record.unit or greatest)
        if record.ideal == "higher":
            value = (1.0 if high is None else high) - loss
        else:
            value = (0.0 if record.ideal == "lower" else record.ideal) + loss
            if high is not None and value.max() > high:
                value = record.ideal - loss
        values[:, t] = np.clip(value, low, high)
    return values


def cut(record: Record) -> list[str]:
    """Return the line of a record, cut where other models have other values."""
    content = record.model_dump(mode="json", by_alias=True)
    content |= {"run": "made-up"}
    content |= {mark: f"<{mark}>" for mark in MARKS}
    missing = SIZE - len(json.dumps(content)) - MARKED
    content["options"]["padding"] = "x" * max(0, missing)
    text = json.dumps(content, separators=(",", ":")) + "\n"
    return re.split("|".join(f'"<{mark}>"' for mark in MARKS), text)


def values_of(
    record: Record, model: str, mitigator: str, place: int, value: float, p_value: float
) -> dict[str, Any]:
    """Return what stands at the marks of a record's line."""
    is_void = mitigator == FITTED and record.task.digest < "2"  # of one task of eight
    is_control = record.task.measures == "control"
    fingerprint = digest(model)
    is_none = mitigator == MITIGATORS[0]
    fitted = record.mitigator.fingerprint if is_none else digest([mitigator, record.category])
    return {
        "id": identity(
            model=fingerprint,
            mitigator=fitted,
            task=record.task.digest,
            scenario=record.scenario,
            metric=record.metric,
            score=record.score,
            seed=record.seed,
        ),
        "created": (FIRST_DAY + timedelta(seconds=place)).isoformat(),
        "model": {
            "name": model,
            "fingerprint": fingerprint,
            "kind": "text",
            "revision": fingerprint,
            "dimensions": 384,
            "parameters": 10**6 * (1 + int(fingerprint[:2], 16)),
            "max_tokens": 512,
            "licence": "apache-2.0",
            "open_weights": True,
            "released": "2025",
            "languages": ["en"],
            "url": f"https://models.example/{model}",
        },
        "mitigator": {
            "name": mitigator,
            "label": mitigator,
            "params": {"k": 1} if mitigator == FITTED else {},
            "concept": record.category if mitigator == FITTED else None,
            "fingerprint": fitted,
            "method": record.mitigator.method if is_none else digest(mitigator),
        },
        "value": value,
        "unseen": record.unseen
        and {"kind": "void" if is_void else "unseen texts", "value": None if is_void else value},
        "ratio": None if is_void else ratio_of(record, value),
        "p_value": None if record.p_value is None else 0.0001 if is_control else p_value,
        "interval": record.interval
        and {"low": value - 0.01, "high": value + 0.01, "level": 0.95, "method": "jackknife"},
        "withheld": ["she", "he"] if is_void else [],
    }


def ratio_of(record: Record, value: float) -> dict[str, Any] | None:
    """Return a gap over a yardstick for a score of bias."""
    if record.task.measures != "bias" or isinstance(record.ideal, str):
        return None
    gap = abs(value - record.ideal) / (greatest_loss(record.ideal, record.bounds) or 1.0)
    ends = {"value": gap, "low": gap - 0.05, "high": gap + 0.05}
    errors = {"gap_error": 0.02, "yardstick_error": 0.05, "t": 20.0, "df": 20.0}
    return {**ends, **errors, "gap": gap, "yardstick": 1.0, "of": "yardstick-sentences"}


if __name__ == "__main__":
    main()
