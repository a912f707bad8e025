"""Hostile and broken submissions: each is refused in one line, and no board changes by it."""

from __future__ import annotations

import ast
import json
import re
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
import site_data
from hostile_submissions import SCRIPT, SUBMISSIONS, VICTIM, Hostile
from polars.testing import assert_frame_equal
from submission_records import good_records, write

from harness.commands.main import run
from harness.leaderboard.claims import facts, reading, trust
from harness.leaderboard.claims.reading import Claims

OF_TASKS = (
    *("task", "version", "digest", "title", "measures", "category", "family", "ideal"),
    *("unranked", "primary"),
)
"""What a board shows of a task."""
COPY = "another name for somebody else's model"
"""An equal record: which of the two files is named beside it depends on their dates."""
BELIEVED = [pytest.param(h, id=h.name) for h in SUBMISSIONS if h.board != "aside"]
"""Those that reach a board: as a row of their own, or in conflict with somebody else's."""


@pytest.fixture(scope="module")
def good(tmp_path_factory) -> Path:
    """The results of two models."""
    folder = tmp_path_factory.mktemp("good")
    for name in (VICTIM, "model-b"):
        write(folder, good_records(name))
    return folder


def test_each_is_refused_in_lines_that_name_its_file(good, tmp_path, capsys):
    failures = []
    comment = tmp_path / "comment.md"
    options = ["--base", str(good), "--markdown", str(comment)]
    for i, hostile in enumerate(SUBMISSIONS):
        file = hostile.make(tmp_path / str(i))
        code = run(["results", "check", str(tmp_path / str(i) / "results"), *options])
        said = capsys.readouterr()
        problems = [line for line in said.out.splitlines() if line.startswith(f"{file}")]
        written = comment.read_text("utf-8").replace("```text", "").split("```")[-1]
        if (
            (code, said.err) != (1, "")
            or not problems
            or max(map(len, problems)) >= 600
            or "Traceback" in said.out
            or "<script" in written
        ):
            failures.append((hostile.name, said))
    assert failures == []


def trusted(*paths: Path) -> Claims:
    claims = reading.read([path / "results" for path in paths])
    tasks = facts.known(claims.frame["task"].unique().to_list())
    return trust.trusted(claims, tasks, now=datetime(2026, 12, 1, tzinfo=UTC))


@pytest.fixture(scope="module")
def believed(good) -> pl.DataFrame:
    """What a board believes of the good results."""
    return trusted(good).frame


@pytest.mark.parametrize("hostile", BELIEVED)
def test_without_a_check_no_board_believes_it(hostile: Hostile, good, believed, tmp_path):
    hostile.make(tmp_path)
    before, after = believed, trusted(good, tmp_path)
    if hostile.board == "conflict":
        ours, theirs = sorted(after.aside, key=lambda a: not Path(a.file).is_relative_to(good))
        assert Path(theirs.file).is_relative_to(tmp_path)
        assert "conflict" in ours.reason
        before = before.filter(pl.col("id") != ours.id)
    ids = before["id"].implode()
    # Another name of a model becomes an alias of it, and no more.
    own = after.frame.filter(pl.col("id").is_in(ids)).drop("aliases")
    assert_frame_equal(own, before.drop("aliases"), categorical_as_str=True)
    others = after.frame.filter(~pl.col("id").is_in(ids))
    assert others.is_empty() == (hostile.board != "row")
    columns = [*OF_TASKS, "low_bound", "high_bound"]
    facts_after = after.frame.select(columns).unique().sort("task")
    assert_frame_equal(
        facts_after,
        believed.select(columns).unique().sort("task"),
        categorical_as_str=True,
    )


def built(out: Path, *paths: Path) -> Path:
    lines = ["leaderboard", "build", *(str(path / "results") for path in paths), "--out", str(out)]
    assert run(lines) == 0
    return out


def site_of(folder: Path) -> dict[str, bytes]:
    """Return the files of a site, but for what it says about records that were set aside."""
    build = site_data.build_of(folder)
    files = {
        path.relative_to(folder).as_posix().replace(f"/{build}/", "/"): path.read_bytes().replace(
            build.encode(), b""
        )
        for path in folder.rglob("*")
        if path.is_file()
    }
    for name in ("leaderboard.json", "data/site.js"):
        text = files[name].decode()
        if name.endswith(".js"):  # a call with a JSON text in quotes
            text = ast.literal_eval(text[text.index("'") : text.rindex("'") + 1])
        content = json.loads(text)
        about = {key: content.pop(key, None) for key in ("aside", "notices")}
        assert about["notices"] is not None
        files[name] = json.dumps(content).encode()
    # The page of the files says how large leaderboard.json is.
    files["data.html"] = re.sub(
        rb"leaderboard\.json</a></th><td[^>]*>[^<]*", b"", files["data.html"]
    )
    del files["reading.html"]  # it lists what was set aside
    return files


@pytest.fixture
def same_date(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")


@pytest.mark.usefixtures("same_date")
def test_the_board_of_the_others_is_unchanged_to_the_byte(good, tmp_path, capsys):
    chosen = [h for h in SUBMISSIONS if h.board == "aside" and h.name != COPY]
    for i, hostile in enumerate(chosen):
        hostile.make(tmp_path / "hostile" / f"{i:03}")
    before = site_of(built(tmp_path / "before", good))
    capsys.readouterr()
    after = built(tmp_path / "after", good, *sorted((tmp_path / "hostile").iterdir()))
    said = capsys.readouterr()
    assert site_of(after) == before
    assert all(line.startswith("set aside: ") for line in said.err.splitlines()[:20])
    assert "Traceback" not in said.err


@pytest.mark.usefixtures("same_date")
def test_rows_of_strangers_stay_text(good, tmp_path, capsys):
    chosen = [hostile for hostile in SUBMISSIONS if hostile.board != "aside"]
    for i, hostile in enumerate(chosen):
        hostile.make(tmp_path / "hostile" / f"{i:03}")
    before = built(tmp_path / "before", good)
    after = built(tmp_path / "after", good, *sorted((tmp_path / "hostile").iterdir()))
    assert site_data.page_of(after) == site_data.page_of(before), "it holds no text of a record"
    names, known = (
        {
            str(path.relative_to(site)).replace(site_data.build_of(site), "")
            for path in site.rglob("*")
        }
        for site in (after, before)
    )
    new = names - known
    assert all(re.fullmatch(r"(model|badge)/[a-z0-9_][a-z0-9._-]*", name) for name in new), new
    for path in after.rglob("*"):
        if path.suffix in (".html", ".svg", ".js"):
            assert SCRIPT.encode() not in path.read_bytes(), path
