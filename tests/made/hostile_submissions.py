"""Hostile and broken submissions: a name, what makes it, and what a board makes of it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from submission_records import changed, edited, good_records, write

from harness import limits
from harness.leaderboard.boards import references
from harness.results.record import Record, identity

SCRIPT = "<script>alert(1)</script>"
VICTIM = "model-a"
"""A model of the good results."""
NOISE = {
    "model__name": "random-words",
    "model__fingerprint": next(
        r.model.fingerprint for r in references.shipped() if r.model.name == "random-words"
    ),
}
"""A reference model, which all rows are compared with."""


@dataclass(frozen=True)
class Hostile:
    """A submission that must be refused.

    Parameters
    ----------
    name
        What is wrong, in a few words.
    make
        Writes it under a folder, and returns the file that a problem must name.
    board
        What a board makes of it if nobody checked: `aside`, nothing of it counts; `row`, it is one
        more row, read as the registered task says, with its texts escaped; `conflict`, the record
        that it contradicts counts for nothing either, until a maintainer decides.
    """

    name: str
    make: Callable[[Path], Path]
    board: str = "aside"


def one(**changes: Any) -> Record:
    """Return one record of the hostile model, valid but for the changes; the id fits."""
    record = next(r for r in good_records("evil") if r.task.name == "sem-bias")
    return changed(as_json(record), **changes)


def as_json(record: Record) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(record.line())
    return content


def lines(make: Callable[[bytes], bytes]) -> Callable[[Path], Path]:
    """Return what writes one valid record, with the bytes of its file changed."""

    def written(root: Path) -> Path:
        file = write(root, [one()])
        file.write_bytes(make(file.read_bytes()))
        return file

    return written


def field(**changes: Any) -> Callable[[Path], Path]:
    """Return what writes a record with other fields; its id fits these."""

    def written(root: Path) -> Path:
        content = edited(as_json(one()), **changes)
        identity = {"model__fingerprint", "mitigator__fingerprint", "task__digest", "seed"}
        if identity & changes.keys() or {"scenario", "metric", "score"} & changes.keys():
            content["id"] = _identity(content)
        return _write_as(root, content)

    return written


def forged(**changes: Any) -> Callable[[Path], Path]:
    """Return what writes a record with other fields, and the id of the record without them."""
    return lambda root: _write_as(root, edited(as_json(one()), **changes))


def text(old: str, new: str) -> Callable[[Path], Path]:
    """Return what writes a record in whose line, without its check, a text is replaced."""

    def replaced(content: bytes) -> bytes:
        assert old.encode() in content, old
        bare = re.sub(b',"check":"[0-9a-f]+"', b"", content)
        return bare.replace(old.encode(), new.encode(), 1)

    return lines(replaced)


def entry(**changes: Any) -> Callable[[Path], Path]:
    """Return what writes a valid record beside a `submission.json` with other fields."""

    def written(root: Path) -> Path:
        path = write(root, [one()]).parent / "submission.json"
        content = json.loads(path.read_text())
        content["runs"]["r1"].update(changes)
        path.write_text(json.dumps(content))
        return path

    return written


def link(name: str, target: str) -> Callable[[Path], Path]:
    """Return what writes a link into a submission."""

    def written(root: Path) -> Path:
        path = write(root, [one()]).parent / name
        path.unlink(missing_ok=True)
        path.symlink_to(target)
        return path

    return written


def of_victim(**changes: Any) -> Callable[[Path], Path]:
    """Return what writes a record with the id of a record of the good results."""

    def written(root: Path) -> Path:
        record = next(r for r in good_records(VICTIM, run="r9") if r.task.name == "sem-bias")
        return _write_as(root, edited(as_json(record), **changes))

    return written


def _identity(content: dict[str, Any]) -> str:
    """Return the id that fits, also of what is no record."""
    return identity(
        model=content["model"]["fingerprint"],
        mitigator=content["mitigator"]["fingerprint"],
        task=content["task"]["digest"],
        **{name: content[name] for name in ("scenario", "metric", "score", "seed")},
    )


def _write_as(root: Path, content: dict[str, Any]) -> Path:
    """Write a record as JSON, in the place that its names have."""
    from harness.leaderboard.submissions import submission

    model, run = content["model"], content["run"]
    place = submission.place(
        model=str(model["name"]), fingerprint=str(model["fingerprint"]), run=str(run)
    )
    file = write(root, [one()])
    own = root / place
    if own != file:
        own.parent.mkdir(parents=True, exist_ok=True)
        for old in (file, file.parent / "submission.json"):
            new = own if old == file else own.parent / old.name
            old.rename(new)
        _remove_empty(root / "results")
        entries = own.parent / "submission.json"
        entries.write_text(entries.read_text().replace('"r1"', json.dumps(own.stem)))
    own.write_text(json.dumps(content) + "\n", encoding="utf-8")
    return own


def _remove_empty(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def _sparse(size: int) -> Callable[[Path], Path]:
    def written(root: Path) -> Path:
        file = write(root, [one()])
        os.truncate(file, size)
        return file

    return written


def _duplicates(root: Path) -> Path:
    file = write(root, [one()])
    other = edited(as_json(one()), value=0.9)
    file.write_text(one().line() + json.dumps(other) + "\n")
    return file


def _many_runs(root: Path) -> Path:
    record = as_json(one())
    write(root, [changed(record, run=f"r{i:03}") for i in range(limits.SUBMITTED_RUNS + 1)])
    return next(root.rglob("r000.jsonl")).with_name(f"r{limits.SUBMITTED_RUNS:03}.jsonl")


def _nested(root: Path) -> Path:
    file = write(root, [one()])
    file.write_bytes(b'{"options": ' + b"[" * 30_000 + b"]" * 30_000 + b"}\n")
    return file


def _elsewhere(root: Path) -> Path:
    file = write(root, [one()])
    other = root / "results" / "another" / "place"
    other.parent.mkdir()
    file.parent.rename(other)
    return other / file.name


def _study(root: Path) -> Path:
    path = write(root, [one()]).with_name("mine.study.jsonl")
    path.write_text('{"schema": 1, "study": "<script>", "judged": {"WEAT": 1e400}}\n')
    return path


def _no_submission_file(root: Path) -> Path:
    path = write(root, [one()]).parent / "submission.json"
    path.unlink()
    return path


SUBMISSIONS = (
    # Scripts and other texts in names.
    Hostile("script in a model's name", field(model__name=f"evil{SCRIPT}"), "row"),
    Hostile("script in a mitigator's label", field(mitigator__label=f"none{SCRIPT}")),
    Hostile("script in a run", field(run=f"r{SCRIPT}"), "row"),
    Hostile("script as an address", field(model__url="javascript:alert(1)")),
    Hostile("name that is a formula", field(model__name="=cmd|'/c calc'!A1"), "row"),
    Hostile("name from right to left", field(model__name="evil\u202egpj")),
    # Paths.
    Hostile("name that climbs", field(model__name="../../../etc/cron.d/x"), "row"),
    Hostile("path of a machine", field(environment__device="/home/ada/.ssh/id_rsa"), "row"),
    Hostile("link to a file", link("r2.jsonl", "/etc/passwd"), "row"),
    Hostile("records in the place of others", _elsewhere, "row"),
    # Who it is.
    Hostile("forged id", forged(id="0" * 32)),
    Hostile("id of somebody else's record", forged(id=good_records(VICTIM)[0].id)),
    Hostile("another value for somebody else's id", of_victim(value=0.9), "conflict"),
    Hostile("another name for somebody else's model", of_victim(model__name="mine")),
    Hostile("model without identity", field(model__fingerprint="unnamed-" + "0" * 32), "row"),
    # What it says about tasks.
    Hostile("version 999", field(task__version=999)),
    Hostile("unregistered task", field(task__name="my-task")),
    Hostile("another content of the task", field(task__digest="0" * 32)),
    Hostile("another ideal", field(ideal=0.9), "row"),
    Hostile("other bounds", field(bounds=[-1000.0, 1000.0]), "row"),
    Hostile("unranked", field(task__unranked="because"), "row"),
    Hostile("unknown scenario", field(scenario="mine")),
    Hostile("smoke run", field(limit=5)),
    # Numbers.
    Hostile("NaN", text('"value":', '"value": NaN, "n":')),
    Hostile("integer of 10,000 digits", text('"seed":0', f'"seed":{"9" * 10_000}')),
    Hostile("text as a number", field(value="0.1"), "row"),
    Hostile("value outside the bounds", field(value=7.0)),
    Hostile("interval reversed",
            field(interval={"low": 0.2, "high": 0.1, "level": 0.95, "method": "x"})),
    Hostile("unit that makes a bias enormous", field(unit=1e-300)),
    Hostile("another seed of a reference", field(**NOISE, seed=7)),
    # Dates.
    Hostile("date in the future", field(created="2999-01-01T00:00:00+00:00")),
    # The file.
    Hostile("two values for one id", _duplicates),
    Hostile("unknown field", field(colour="red"), "row"),
    Hostile("missing field", text('"metric":', '"metrik":')),
    Hostile("another schema", field(schema=2)),
    Hostile("torn last line", lines(lambda content: content[:-100])),
    Hostile("empty file", lines(lambda content: b"")),
    Hostile("200 MB", _sparse(200_000_000)),
    Hostile("30,000 brackets", _nested),
    Hostile("more runs than allowed", _many_runs, "row"),
    Hostile("study", _study, "row"),
    # submission.json.
    Hostile("no submission.json", _no_submission_file, "row"),
    Hostile("script as the submitter", entry(submitted_by=SCRIPT), "row"),
    Hostile("path in the command", entry(command="harness eval -m /home/ada/model"), "row"),
    Hostile("no known licence", entry(licence="all mine"), "row"),
)  # fmt: skip
