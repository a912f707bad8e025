"""A results folder with the items of a score, for the tests of evidence."""

from __future__ import annotations

from pathlib import Path

from submission_records import changed, good_records

from harness.leaderboard.claims.evidence import Catalogue
from harness.registry.registry import Registry
from harness.results.folder import ResultsFile
from harness.results.record import Record

TASK = "weat-6"


def results_with_items(folder: Path, name: str = "good-words", shift: float = 0.2) -> Record:
    """Write the records of a made-up model, those of `TASK` with items; return the record of it.

    The items of one half are above the score by `shift` and more, those of the other half below.
    """
    records = good_records(name, run="aaaaaaaaaaaa")
    record = next(r for r in records if r.task.name == TASK and r.primary)
    task = Catalogue(Registry()).task(TASK)
    texts = [
        (of, text) for of, own in task.of(record.scenario, record.metric).items() for text in own
    ]
    assert record.value is not None
    rows = []
    for i, (of, text) in enumerate(texts):
        far = shift + (i // 2) / 100
        contribution = record.value + (far if i % 2 == 0 else -far)
        rows.append({"input": of, "text": text, "contribution": contribution})
    having = changed(record.model_dump(mode="json", by_alias=True)).keeping({}, rows)
    ResultsFile(folder, name).add([having if r.id == record.id else r for r in records])
    return having
