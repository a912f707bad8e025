"""`submission.json`: what is valid, and that a mistake names the key."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from harness import limits
from harness.errors import InvalidFile
from harness.leaderboard.submissions import submission
from harness.leaderboard.submissions.submission import Submission

ENTRY = {
    "submitted_by": "Ada Example",
    "created": "2026-01-31T12:00:00+00:00",
    "command": "harness eval --model all-MiniLM-L6-v2",
    "harness": "0.1.0",
    "licence": "CC-BY-4.0",
}


def write(folder: Path, **changes: Any) -> None:
    entry = {key: value for key, value in (ENTRY | changes).items() if value is not ...}
    content = json.dumps({"schema": 1, "runs": {"r1": entry}})
    (folder / submission.NAME).write_text(content, encoding="utf-8")


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    entry = Submission(**ENTRY, contact="ada@example.org")
    submission.write(tmp_path, {"r2": entry, "r1": entry})
    assert submission.read(tmp_path) == {"r1": entry, "r2": entry}
    assert list(json.loads((tmp_path / submission.NAME).read_text())["runs"]) == ["r1", "r2"]


def test_a_licence_gets_its_usual_spelling(tmp_path: Path) -> None:
    write(tmp_path, licence="cc-by-4.0 or mit")
    assert submission.read(tmp_path)["r1"].licence == "CC-BY-4.0 OR MIT"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("submitted_by", ""),
        ("submitted_by", "Ada\u202eexe"),
        ("submitted_by", ...),
        ("created", "yesterday"),
        ("command", "harness eval\x1b[2J"),
        ("harness", "<b>1</b>"),
        ("licence", "free as in beer"),
        ("homepage", "https://example.org"),
    ],
)
def test_a_wrong_value_is_told_with_its_key(tmp_path: Path, key: str, value: Any) -> None:
    write(tmp_path, **{key: value})
    with pytest.raises(InvalidFile, match=rf"submission\.json: runs\.r1\.{key}: "):
        submission.read(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe{\x00}\x00",
        b"[" * 30_000,
        b'{"schema": 1, "schema": 1, "runs": {}}',
        b'{"schema": 2, "runs": {}}',
        b'{"schema": 1, "runs": {}}',
        json.dumps({"schema": 1, "runs": {"../../up": ENTRY}}).encode(),
        b" " * (limits.SUBMISSION_BYTES + 1),
    ],
    ids=["empty", "torn", "list", "utf-16", "brackets", "repeated key", "schema", "no run",
         "path", "large"],
)  # fmt: skip
def test_a_broken_file_is_told_in_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / submission.NAME).write_bytes(content)
    with pytest.raises(InvalidFile) as error:
        submission.read(tmp_path)
    assert submission.NAME in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 500


def test_no_name_leaves_its_folder() -> None:
    place = submission.place(model="../../etc", fingerprint="/root", run=".hidden")
    assert place.as_posix() == "results/etc/root/hidden.jsonl"


def test_a_pipe_or_a_link_is_refused_and_not_opened(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text("{}", encoding="utf-8")
    for name, problem in (("pipe", "no regular file"), ("link", "links are not followed")):
        folder = tmp_path / name
        folder.mkdir()
        path = folder / submission.NAME
        os.mkfifo(path) if name == "pipe" else path.symlink_to(secret)
        with pytest.raises(InvalidFile, match=problem):
            submission.read(folder)
