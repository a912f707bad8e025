"""A language model that marks names, from the command line, with a real server that misbehaves."""

from __future__ import annotations

import contextlib
import csv
import io
import re
from pathlib import Path

import pytest
from loopback import BUSY, Fault, Loopback

from harness import tasks
from harness.commands.main import run
from harness.plugins.texts import edits, marks
from harness.results.folder import read

SECRET = "sk-1234-never-to-be-seen"
COLUMNS = ("query", "positive", "negative")


def marked() -> dict[str, str]:
    """Return the ten printed triplets' texts, each with its marks."""
    text = (Path(tasks.__file__).parent / "names" / "name_triplets.tsv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return {marks.read(row[c]).text: row[c] for row in rows for c in COLUMNS}


MARKED = marked()
TAGGED = {
    text: re.sub(r"\[([^|]+)\|(\w+)[^\]]*\]", r"<\2>\1</\2>", with_marks)
    for text, with_marks in MARKED.items()
}


class Place:
    """A cache and a results folder, and the command that uses them with the server's models."""

    def __init__(self, folder: Path, server: Loopback) -> None:
        self.folder, self.server = folder, server

    def eval(self) -> tuple[int, str, str]:
        """Run the command; return its exit code and what it printed."""
        out, err = io.StringIO(), io.StringIO()
        where = f"base_url={self.server.url}&key=LOOPBACK_KEY"
        command = ["eval", "--model", f"openai:toy?{where}", "--tasks", "name-triplets"]
        command += ["--mitigator", f"anonymize?engine=llm&model=toy&{where}"]
        command += ["--cache", str(self.folder / "cache"), "--overwrite"]
        command += ["--results", str(self.folder / "results")]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(command)
        return code, out.getvalue(), err.getvalue()

    @property
    def chats(self) -> list[str]:
        """The texts that the language model was asked about."""
        return [r["messages"][1]["content"] for r in self.server.requests if "messages" in r]


@pytest.fixture
def place(tmp_path: Path, loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> Place:
    loopback.key = SECRET
    loopback.reply = lambda system, text: TAGGED.get(text, text)
    monkeypatch.setenv("LOOPBACK_KEY", SECRET)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    return Place(tmp_path, loopback)


def test_what_is_embedded_is_what_was_taken_out_by_hand(place: Place) -> None:
    code, _, told = place.eval()
    assert code == 0, told
    by_hand = {marks.read(text) for text in MARKED.values()}
    assert {edits.without(one.text, one.mentions) for one in by_hand} <= set(place.server.texts)
    assert not set(MARKED) & set(place.server.texts)
    assert "no name was found in" in told


def test_a_second_run_asks_the_language_model_for_nothing(place: Place) -> None:
    _, first, _ = place.eval()
    asked = len(place.chats)
    assert asked == len(set(place.chats))
    _, second, _ = place.eval()
    assert len(place.chats) == asked
    assert second.splitlines()[:-1] == first.splitlines()[:-1]


def test_an_answer_that_is_no_marked_copy_is_told_and_its_text_stays(place: Place) -> None:
    bad = next(iter(MARKED))
    place.server.reply = lambda system, text: (
        "I'm sorry, I can't." if text == bad else TAGGED.get(text, text)
    )
    code, _, told = place.eval()
    assert code == 0
    assert "1 text keeps its names" in told
    assert bad in place.server.texts


def test_a_language_model_that_answers_nothing_of_use_fails_the_task(place: Place) -> None:
    place.server.reply = lambda system, text: "Done."
    code, _, told = place.eval()
    assert code == 1
    assert "marked names in none of" in told


def test_an_endpoint_that_goes_leaves_what_it_answered(place: Place) -> None:
    left = list(MARKED)[-5:]
    place.server.always = lambda body: (
        Fault(status=401) if body.get("messages", [{}])[-1].get("content") in left else None
    )
    code, _, told = place.eval()
    assert code == 1
    assert "FAILED" in told
    answered = set(place.chats) - set(left)
    before = len(place.chats)
    place.server.always = lambda body: None
    place.server.faults = [BUSY]
    code, _, told = place.eval()
    assert code == 0, told
    assert answered
    assert not answered & set(place.chats[before:])


def test_the_key_is_in_no_file_and_no_message(place: Place) -> None:
    code, out, told = place.eval()
    assert code == 0
    assert SECRET not in out + told
    for path in place.folder.rglob("*"):
        assert path.is_dir() or SECRET.encode() not in path.read_bytes(), path
    assert read([place.folder / "results"]).records
