"""Submissions for the tests: records of shipped tasks, which a board trusts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness.leaderboard.boards import references
from harness.leaderboard.submissions import submission
from harness.leaderboard.submissions.submission import Submission
from harness.results.record import Record

CREATED = "2026-01-02T03:04:05+00:00"
CLEAR = {"yardstick": 0.4, "yardstick_error": 0.02, "t": 20.0}
ENTRY = {
    "submitted_by": "Ada Example",
    "created": CREATED,
    "command": "harness eval --model good-words --tasks all",
    "harness": "0.1.0",
    "licence": "CC-BY-4.0",
}


def good_records(
    name: str = "good-words", run: str = "r1", kind: str = "word", tasks: int | None = None
) -> list[Record]:
    """Return records of a made-up model with the values of a reference model.

    Its yardsticks are clear, those of the reference are not.
    """
    fingerprint = f"vectors-{hashlib.sha256(name.encode()).hexdigest()[:32]}"
    shipped = [r for r in references.shipped() if r.model.name == f"random-{kind}s"]
    return [
        changed(
            record.model_dump(mode="json", by_alias=True),
            ratio=record.ratio and record.ratio.model_dump() | CLEAR,
            model__name=name,
            model__fingerprint=fingerprint,
            model__aliases=[],
            model__url=f"https://models.example/{name}",
            run=run,
            created=CREATED,
        )
        for record in shipped[:tasks]
    ]


def changed(content: dict[str, Any], **changes: Any) -> Record:
    """Return a record with other fields, `a__b` those of its parts, and the id that fits."""
    return Record.model_validate(json.loads(json.dumps(edited(content, **changes) | {"id": ""})))


def edited(content: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return a record as JSON types with other fields, also of its judged score.

    Its id stays as it is.
    """
    content = json.loads(json.dumps(content))
    for key, value in changes.items():
        *parts, field = key.split("__")
        target = content
        for part in parts:
            target = target[part]
        target[field] = value
        if key == "value" and content["unseen"]:
            content["unseen"]["value"] = value
        if key == "interval" and content["unseen"]:
            content["unseen_interval"] = value
    return content


def write(root: Path, records: Iterable[Record], **entry: Any) -> Path:
    """Write records in their places under `root`, with `submission.json`; return the last file."""
    by_place: dict[Path, list[Record]] = {}
    for record in records:
        place = submission.place(
            model=record.model.name, fingerprint=record.model.fingerprint, run=record.run
        )
        by_place.setdefault(root / place, []).append(record)
    path = root
    for path, own in by_place.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(record.line() for record in own), encoding="utf-8")
    for folder in {path.parent for path in by_place}:
        known = submission.read(folder) if (folder / submission.NAME).exists() else {}
        runs = {file.stem: Submission(**(ENTRY | entry)) for file in folder.glob("*.jsonl")}
        submission.write(folder, runs | known)
    return path
