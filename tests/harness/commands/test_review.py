"""`harness review`: the sheet of a task, and the review that a filled one becomes."""

from __future__ import annotations

import re

import pytest
import yaml

from harness.registry.registry import Registry
from harness.task.schema import NOT_REVIEWED

TASK = """\
# Kept as it is.
name: plaatsen
version: 3
title: Places in Dutch
category: places
language: nl
reviewed: false
sets: {farms: [dorp, Verein]}
originals: {table: english, key: id}
tables:
  english: {columns: [id, text], rows: [["1", city], ["2", street]]}
  dutch: {columns: [id, text], rows: [["1", stad], ["2", "nee"]]}
templates: {is: "Dit is {text}."}
inputs:
  targets_1: {set: farms, template: is}
  targets_2: {table: dutch, where: {id: ["1", "2"]}}
metrics: {toy-gap: {}}
primary: {metric: toy-gap, score: gap}
"""


@pytest.fixture
def task(write, toy):
    return write("plaatsen.yaml", TASK)


@pytest.fixture
def filled(harness, task, tmp_path):
    """Write a sheet whose texts are all accepted but those that `mended` names."""

    def of(**mended: str):
        path = tmp_path / "sheet.txt"
        path.unlink(missing_ok=True)
        assert harness("review", task, "--out", path).code == 0
        blocks = path.read_text("utf-8").replace("verdict:", "verdict: accept")
        for old, new in mended.items():
            what = "verdict: drop\nmend:" if new == "" else f"verdict: mend\nmend: {new}"
            blocks = blocks.replace(f"text: {old}\n", f"text: {old}\n§")
            blocks = re.sub(r"§((?:original.*\n)?)verdict: accept\nmend:", rf"\1{what}", blocks)
        path.write_text(blocks, "utf-8")
        return path

    return of


def texts_of(task) -> set[str]:
    inputs = Registry().task_file(task).texts()
    return {text for input_ in inputs for text in input_.texts or ()}


def sign(harness, task, sheet, *more):
    return harness("review", task, "--sheet", sheet, "--reviewer", "A. Lezer", *more)


def test_a_sheet_has_each_text_once_with_its_original_and_its_templates(harness, task):
    sheet = harness("review", task).out
    texts = re.findall(r"^text: (.*)$", sheet, re.MULTILINE)
    assert texts == ["dorp", "Verein", "stad", "nee", "Dit is {text}."]
    assert re.findall(r"text: nee\noriginal: (.*)", sheet) == ["street"]
    assert "[4] table dutch, text (id 2)" in sheet
    assert sheet.count("verdict:") == 5


def test_a_task_ranks_once_a_reader_has_signed_and_keeps_its_digest(harness, task, filled):
    before = Registry().task_file(task)
    assert before.file.not_ranked == NOT_REVIEWED
    said = sign(harness, task, filled(), "--about", "native speaker")
    after = Registry().task_file(task)
    assert said.code == 0, said.err
    assert (after.file.not_ranked, after.file.version, after.digest) == ("", 3, before.digest)
    (review,) = after.file.own_reviews
    assert (review.by, review.about, review.texts, review.mended) == (
        "A. Lezer", "native speaker", 5, {},
    )  # fmt: skip
    assert task.read_text("utf-8").startswith("# Kept as it is.\ninclude: [_reviews.yaml]\n")


def test_mended_texts_raise_the_version_and_change_the_task(harness, task, filled):
    words = {"Verein": "'no': #1", "nee": "", "Dit is {text}.": "Dat is {text}."}
    said = sign(harness, task, filled(**words))
    assert said.code == 0, said.err
    assert "plaatsen has version 4 now" in said.out
    file = Registry().task_file(task).file
    assert (file.version, file.not_ranked) == (4, "")
    assert texts_of(task) == {"Dat is dorp.", "Dat is 'no': #1.", "stad"}


def test_a_review_is_of_the_version_that_was_read(harness, task, filled):
    sign(harness, task, filled())
    task.write_text(task.read_text("utf-8").replace("version: 3", "version: 4"), "utf-8")
    assert Registry().task_file(task).file.not_ranked == "reviewed in version 3, and changed since"


def test_a_second_reader_sees_and_mends_what_the_first_one_wrote(harness, task, filled):
    sign(harness, task, filled(Verein="gehucht"))
    said = harness("review", task, "--sheet", filled(gehucht="boerderij"), "--reviewer", "B.")
    assert said.code == 0, said.err
    assert "Dit is boerderij." in texts_of(task)
    assert [review.version for review in Registry().task_file(task).file.own_reviews] == [4, 5]


def test_a_file_with_several_tasks_has_the_reviews_of_each(harness, write, toy, tmp_path):
    each = "each:\n  - {of: nl}\n  - {of: de}\n"
    text = TASK.replace("name: plaatsen", "name: places-${of}")
    task = write("many.yaml", each + text.replace("language: nl", "language: '${of}'"))
    sheet = tmp_path / "sheet.txt"
    assert "add --language, such as de" in harness("review", task).err
    harness("review", task, "--language", "de", "--out", sheet)
    sheet.write_text(sheet.read_text("utf-8").replace("verdict:", "verdict: accept"), "utf-8")
    said = sign(harness, task, sheet, "--language", "de")
    assert said.code == 0, said.err
    reviewed = harness("show", "task", task, "--json")
    assert NOT_REVIEWED in reviewed.out, "the first task is the one in Dutch"
    assert [*yaml.safe_load((tmp_path / "_reviews.yaml").read_text("utf-8"))["reviews"]] == [
        "places-de"
    ]


def test_the_version_of_an_included_file_is_not_raised_for_others(harness, write, toy, filled):
    shared = write("_shared.yaml", "version: 3\n")
    task = write("plaatsen.yaml", "include: _shared.yaml\n" + TASK.replace("version: 3\n", ""))
    said = sign(harness, task, filled(Verein="gehucht"))
    assert said.code == 0, said.err
    assert shared.read_text("utf-8") == "version: 3\n"
    assert Registry().task_file(task).file.version == 4
    assert "include: [_shared.yaml, _reviews.yaml]" in task.read_text("utf-8")


def test_the_task_of_an_installed_package_is_copied(harness, task, filled, tmp_path, monkeypatch):
    folder = tmp_path / "site-packages" / "family"
    folder.mkdir(parents=True)
    installed = task.rename(folder / task.name)
    sheet = tmp_path / "sheet.txt"
    harness("review", installed, "--out", sheet)
    sheet.write_text(sheet.read_text("utf-8").replace("verdict:", "verdict: accept"), "utf-8")
    monkeypatch.chdir(tmp_path)
    said = sign(harness, installed, sheet)
    assert said.code == 0, said.err
    assert "an installed package or read-only: this is a copy" in said.out
    assert installed.read_text("utf-8") == TASK
    assert Registry().task_file(tmp_path / "family" / task.name).file.is_reviewed


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("verdict: accept", "verdict:"), "5 of 5 texts have no verdict, the first is [1]"),
        (("verdict: accept", "verdict: ok"), "'ok' is no verdict; write accept or mend or drop"),
        (("verdict: accept", "verdict: mend"), "to be mended, but 'mend:' is empty"),
        (("mend:", "mend: x"), "the verdict is 'accept', and 'mend:' has a text"),
        (("text: dorp", "text: Dorp"), "'text' was changed; write the new text after 'mend:'"),
        (("[2] ", "[7] "), "expected the texts [1] to [5], each once and in order"),
        (("version: 3", "version: 2"), "a sheet of version 2; here is plaatsen, version 3"),
        (("digest: ", "digest: 0"), "a sheet of other texts"),
        (("text: dorp\n", "text: dorp\nand more\n"), "expected one of text:, original:, verdict:"),
        (
            ("{text}.\nverdict: accept\nmend:", "{text}.\nverdict:\nmend: Dat is het."),
            "the new text needs {text}",
        ),
    ],
)
def test_a_mistake_in_a_sheet_is_one_line_and_writes_nothing(
    harness, task, filled, change, problem
):
    sheet = filled()
    sheet.write_text(sheet.read_text("utf-8").replace(*change), "utf-8")
    said = sign(harness, task, sheet)
    assert said.code == 2
    assert problem in said.err
    assert said.err.count("\n") == 1
    assert task.read_text("utf-8") == TASK
    assert not (task.parent / "_reviews.yaml").exists()


def test_a_review_is_signed(harness, task, filled):
    assert "add --reviewer" in harness("review", task, "--sheet", filled()).err


def test_a_mend_that_breaks_the_task_writes_nothing(harness, task, filled):
    said = sign(harness, task, filled(stad="", nee=""))
    assert said.code == 2
    assert task.read_text("utf-8") == TASK
