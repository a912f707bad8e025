"""`harness validate-metric`: what it prints, records and refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness.commands.main import run
from harness.task.schema import TaskFile

WORDS = {name: [f"{name}{i}" for i in range(8)] for name in ("math", "arts", "male", "female")}
TASK = """\
name: sums
version: 3
title: Sums and songs
description: Words of sums and songs, male and female terms.
source: made up
licence: CC0-1.0
measures: bias
category: gender
kinds: [word]
sets: {sets}
inputs:
  targets_1: {{set: math}}
  targets_2: {{set: arts}}
  attributes_1: {{set: male}}
  attributes_2: {{set: female}}
metrics: {{weat: {{}}}}
primary: {{metric: weat, score: {score}}}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with a task and a file of vectors that have the bias of the stereotype."""
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    lines = []
    for name, words in WORDS.items():
        side = 1.0 if name in ("math", "male") else -1.0
        for word in words:
            vector = rng.standard_normal(20)
            vector[0] += side * (2 if name in ("male", "female") else 1)
            lines.append(" ".join([word, *(f"{x:.4f}" for x in vector)]))
    (tmp_path / "tiny.txt").write_text("\n".join(lines) + "\n")
    tasks = tmp_path / "tasks"
    tasks.mkdir()
    (tasks / "sums.yaml").write_text(TASK.format(sets=json.dumps(WORDS), score="effect_size"))
    return tmp_path


def validate(*arguments):
    return run(["validate-metric", *arguments, "--include", "tasks"])


MEASURE = ("weat", "--task", "sums", "--model", "tiny.txt")


def test_a_metric_is_validated_recorded_and_shown_with_its_task(folder, capsys):
    assert validate(*MEASURE, "--json") == 0
    printed = capsys.readouterr().out
    (row,) = json.loads(printed)
    (folder / "tasks" / "validity.json").write_text(printed)
    assert (row["task"], row["version"], row["metric"]) == ("sums", 3, "weat")
    assert row["model"] == "tiny"
    assert row["value"] > 0.5
    assert row["own"] > 0.2
    values = [row["planted"][a] for a in ("-1", "-0.5", "-0.25", "0", "0.25", "0.5", "1")]
    assert values == sorted(values)
    assert row["rejected"] < 0.1
    assert row["failures"] == []
    assert run(["show", "task", "sums", "--include", "tasks", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)["validity"]["tiny"]
    shown = (row["reliability"], row["floor"], "valid")
    assert (facts["reliability"], facts["floor"], facts["result"]) == shown
    path = folder / "tasks" / "sums.yaml"
    path.write_text(path.read_text().replace("version: 3", "version: 4"))
    run(["show", "task", "sums", "--include", "tasks"])
    assert "measured on: version 3" in capsys.readouterr().out


def test_a_damaged_file_of_rows_is_one_line(folder, capsys):
    (folder / "tasks" / "validity.json").write_text("{")
    assert run(["show", "task", "sums", "--include", "tasks"]) != 0
    (line,) = capsys.readouterr().err.splitlines()
    assert "validity.json" in line


def test_a_mistake_is_one_line(folder, capsys):
    for arguments, word in (
        (("weet",), "weet"),
        (("weat", "--task", "sum"), "sum"),
        (("weat", "--model", "no-such-model"), "no-such-model"),
        (("similarity-correlation",), "--task"),
    ):
        assert validate(*arguments) == 2, arguments
        (line,) = capsys.readouterr().err.splitlines()
        assert word in line


def test_a_task_without_the_inputs_is_not_measured(folder, capsys):
    assert validate("direct-bias", *MEASURE[1:]) == 1
    assert "not measured: sums" in capsys.readouterr().err


def test_a_task_in_another_language_is_said_if_it_is_named(folder, capsys, monkeypatch):
    reason = "in the language de, the model is for en"
    monkeypatch.setattr(TaskFile, "foreign_to", lambda file, languages: reason)
    for task, said in (("sums", "sums: "), ("sum?", "no task is made for such a model")):
        assert validate("weat", "--task", task, "--model", "tiny.txt") == 1
        (line,) = [line for line in capsys.readouterr().err.splitlines() if "not measured" in line]
        assert said in line
