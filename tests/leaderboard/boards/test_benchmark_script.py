"""The made-up results of `perf/board.py`: correct records, and a board of all its models."""

import importlib.util
from pathlib import Path

import pytest

from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.reading import frame_of
from harness.results.record import Record

SCRIPT = Path(__file__).parents[3] / "perf" / "board.py"


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("board_script", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_made_up_results_are_records_that_rank(script, tmp_path) -> None:
    n_tasks = 60
    assert script.make(tmp_path, models=3, mitigators=3, tasks=n_tasks) == 3 * 3 * n_tasks
    files = sorted(tmp_path.glob("*.jsonl"))
    lines = [line for file in files for line in file.read_text().splitlines()]
    records = [Record.model_validate_json(line) for line in lines]
    assert len(files) == 3
    assert len({record.id for record in records}) == 3 * 3 * n_tasks
    assert all(record.id == record.identity() for record in records)
    (board,) = compile_boards(frame_of(records))
    assert board.summary().startswith("3 models ranked on ")
    assert board.tasks.height == n_tasks
    assert board.cells["leak"].any()
    assert set(board.mitigators["mitigator"]) == {"normalize", "hard-debias"}
