"""`harness results card`: the scores of a model for its page on a hub."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from huggingface_hub import ModelCard
from submission_records import changed, good_records, write

from harness.commands.main import run
from harness.results.record import Record


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """The records of two models."""
    write(tmp_path, good_records("model-a", run="r1"))
    write(tmp_path, good_records("model-b", run="r1", tasks=3))
    return tmp_path


def card(capsys, *arguments: str) -> str:
    assert run(["results", "card", *arguments]) == 0
    return capsys.readouterr().out


def test_the_hub_reads_the_scores_back(board, capsys):
    text = card(capsys, str(board), "--model", "model-a", "--url", "https://board.example")
    results = ModelCard(text, ignore_metadata_errors=False).data.eval_results
    expected = {
        record.task.name: record.value
        for record in good_records("model-a")
        if record.primary and record.value is not None
    }
    assert {result.dataset_type: result.metric_value for result in results} == pytest.approx(
        expected, abs=1e-4
    )
    assert {result.source_url for result in results} == {"https://board.example"}
    assert all(result.metric_name and result.task_name for result in results)


def test_the_table_has_a_line_a_task(board, capsys):
    text = card(capsys, str(board), "--model", "model-a")
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    tasks = [r for r in good_records() if r.primary and r.value is not None]
    assert len(lines) == len(tasks) + 2
    assert len({line.count(" | ") for line in lines}) == 1


def other_task(record: Record, name: str) -> Record:
    content = record.model_dump(mode="json", by_alias=True)
    return changed(content, task__name=name, task__digest=name, task__title=name)


def test_scores_of_tasks_that_are_not_registered_are_left_out(tmp_path, capsys):
    records = good_records("model-a")
    primary = next(record for record in records if record.primary and record.value is not None)
    write(tmp_path, [*records, other_task(primary, "| <script> |")])
    assert run(["results", "card", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert "script" not in out
    assert "not registered" in err


def test_a_hostile_name_stays_a_text(tmp_path, capsys):
    name = "a: [b] #| --- 'x"
    write(tmp_path, good_records(name, tasks=40))
    text = card(capsys, str(tmp_path))
    (entry,) = yaml.safe_load(text.split("\n---\n\nBias")[0].removeprefix("---\n"))["model-index"]
    assert entry["name"] == name
