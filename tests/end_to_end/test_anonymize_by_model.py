"""`harness eval` with a language model that marks names, and a local server that fails."""

from __future__ import annotations

import contextlib
import csv
import io
import re
from pathlib import Path

import pytest
from loopback import Loopback

from harness import tasks
from harness.commands.main import run
from harness.plugins.texts import edits, marks
from harness.plugins.texts.prompted_edits import REMOVE
from harness.results.folder import read
from harness.results.records import Records

SECRET = "sk-1234-never-to-be-seen"
COLUMNS = ("query", "positive", "negative")


def marked() -> dict[str, str]:
    """Return the texts of the ten printed triplets, each with its marks."""
    text = (Path(tasks.__file__).parent / "names" / "name_triplets.tsv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return {marks.read(row[c]).text: row[c] for row in rows for c in COLUMNS}


MARKED = marked()
TAGGED = {
    text: re.sub(r"\[([^|]+)\|(\w+)[^\]]*\]", r"<\2>\1</\2>", with_marks)
    for text, with_marks in MARKED.items()
}


class Workspace:
    """A cache, a results folder, and the command that uses them with the models of the server."""

    def __init__(self, folder: Path, server: Loopback) -> None:
        self.folder, self.server = folder, server

    def eval(self, options: str = "") -> tuple[int, str, str]:
        """Run the command with options of `anonymize`; return exit code, output and messages."""
        out, err = io.StringIO(), io.StringIO()
        endpoint = f"base_url={self.server.url}&key=LOOPBACK_KEY"
        command = ["eval", "--model", f"openai:toy?{endpoint}", "--tasks", "name-triplets"]
        command += ["--mitigator", f"anonymize?engine=llm&model=toy&{endpoint}{options}"]
        command += ["--cache", str(self.folder / "cache"), "--overwrite"]
        command += ["--results", str(self.folder / "results")]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(command)
        return code, out.getvalue(), err.getvalue()

    @property
    def chats(self) -> list[str]:
        """The texts that were sent to the language model."""
        return [r["messages"][-1]["content"] for r in self.server.requests if "messages" in r]


@pytest.fixture
def workspace(tmp_path: Path, loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    loopback.key = SECRET
    loopback.reply = lambda system, text: TAGGED.get(text, text)
    monkeypatch.setenv("LOOPBACK_KEY", SECRET)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    return Workspace(tmp_path, loopback)


def test_the_embedded_texts_equal_those_without_the_hand_marked_names(workspace: Workspace) -> None:
    code, _, messages = workspace.eval()
    assert code == 0, messages
    by_hand = {marks.read(text) for text in MARKED.values()}
    assert {edits.without(text.text, text.mentions) for text in by_hand} <= set(
        workspace.server.texts
    )
    assert not set(MARKED) & set(workspace.server.texts)
    assert "no name was found in" in messages


def test_the_key_appears_in_no_file_and_no_message(workspace: Workspace) -> None:
    code, out, messages = workspace.eval()
    assert code == 0
    assert SECRET not in out + messages
    for path in workspace.folder.rglob("*"):
        assert path.is_dir() or SECRET.encode() not in path.read_bytes(), path
    assert read([workspace.folder / "results"]).records


def test_two_runs_of_the_papers_prompt_are_a_mean_with_its_standard_error(
    workspace: Workspace,
) -> None:
    """In the second run the model misses a name, so that the runs differ."""

    seeds: list[int] = []

    def answer(system: str, message: str) -> str:
        text = message.split("::::\n")[1]
        missed = seeds == [1, 2] and "Kashvi" in text
        return text if missed else edits.without(text, marks.read(MARKED.get(text, text)).mentions)

    workspace.server.reply = answer
    for seed in (1, 2):
        seeds.append(seed)
        code, _, messages = workspace.eval(f"&prompt=paper&seed={seed}&temperature=1")
        assert code == 0, messages
    sent = workspace.chats
    assert len(sent) == 2 * len(set(sent)) >= 2 * len(MARKED)
    assert all(REMOVE in message for message in sent)
    records = [r for r in read([workspace.folder / "results"]).records if r.primary]
    assert len(records) == 2
    (mean,) = Records(records).over_seeds()
    assert mean.details["runs"] == [record.value for record in records]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        run(["results", "show", str(workspace.folder / "results"), "--over-seeds"])
    assert f"{mean.value:.3f}" in out.getvalue()
    assert f"± {mean.details['standard_error']:.3f}" in out.getvalue()
