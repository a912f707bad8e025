"""`harness results merge`: what joins a repository, and that it decides and loses nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from submission_records import changed, good_records, write

from harness.commands.main import run
from harness.leaderboard.submissions.check import check
from harness.results.record import Record


def merge(*paths: Path, into: Path) -> int:
    return run(["results", "merge", *map(str, paths), "--into", str(into)])


def files(folder: Path) -> dict[str, bytes]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def other_value(record: Record, run: str) -> Record:
    value = 0.5 if record.value is None else record.value / 2 + 0.01
    content = record.model_dump(mode="json", by_alias=True)
    return changed(content, value=value, interval=None, run=run)


@pytest.fixture
def board(tmp_path: Path) -> Path:
    folder = tmp_path / "board"
    write(folder, good_records(tasks=3))
    return folder


@pytest.fixture
def rival(tmp_path: Path) -> Path:
    """A submission with another value of the first record of the board."""
    folder = tmp_path / "rival"
    first = next(record for record in good_records(tasks=3) if record.value is not None)
    write(folder, [other_value(first, "r2")], submitted_by="Bob Example")
    return folder


def test_a_new_model_is_added_and_the_rest_stays(board, tmp_path, capsys):
    write(tmp_path / "new", good_records("model-b", tasks=4))
    before = files(board)
    assert merge(tmp_path / "new", into=board) == 0
    assert "4 new records" in capsys.readouterr().out
    after = files(board)
    assert {name: after[name] for name in before} == before
    assert check([board]).problems == ()


def test_what_is_there_is_not_added_again(board, tmp_path, capsys):
    shutil.copytree(board, tmp_path / "again")
    write(tmp_path / "same", good_records(run="r7", tasks=3))
    before = files(board)
    assert merge(tmp_path / "again", tmp_path / "same", into=board) == 0
    assert "0 new records, 6 records there already" in capsys.readouterr().out
    assert files(board) == before


def test_another_value_is_kept_and_told_with_both_files(board, rival, capsys):
    before = files(board)
    assert merge(rival, into=board) == 1
    err = capsys.readouterr().err
    assert "another value" in err
    assert "r1.jsonl" in err
    assert "r2.jsonl" in err
    assert "withdrawn.yaml" in err
    after = files(board)
    assert merge(rival, into=board) == 1, "it is told until it is decided"
    assert files(board) == after
    assert {name for name in after if name.endswith("r2.jsonl")}
    assert all(after[name] == before[name] for name in before if name.endswith(".jsonl"))


def test_a_conflict_that_the_maintainers_decided_is_none(board, rival, tmp_path, capsys):
    (first,) = (file for file in board.rglob("*.jsonl"))
    id_ = Record.model_validate_json(next(rival.rglob("*.jsonl")).read_text()).id
    entry = f"records: [{{id: {id_}, file: {first.relative_to(board)}, reason: old}}]"
    (board / "withdrawn.yaml").write_text(entry)
    assert merge(rival, into=board) == 0
    assert "another value" not in capsys.readouterr().err


def test_another_value_in_the_same_run_is_not_merged(board, tmp_path, capsys):
    first = next(record for record in good_records(tasks=3) if record.value is not None)
    write(tmp_path / "edited", [other_value(first, "r1")])
    before = files(board)
    assert merge(tmp_path / "edited", into=board) == 1
    assert "another value of this record" in capsys.readouterr().err
    assert files(board) == before


def test_an_entry_of_somebody_else_for_the_same_run_is_not_merged(board, tmp_path, capsys):
    write(tmp_path / "claimed", good_records(tasks=5), submitted_by="Eve Example")
    before = files(board)
    assert merge(tmp_path / "claimed", into=board) == 1
    assert "another entry" in capsys.readouterr().err
    assert files(board) == before


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("r1.jsonl", "{}\n", "not a record"),
        ("submission.json", "{}", "pack"),
    ],
)
def test_what_is_wrong_is_told_and_the_rest_is_merged(board, tmp_path, capsys, name, text, words):
    bad = write(tmp_path / "both", good_records("model-b", tasks=2))
    write(tmp_path / "both", good_records("model-c", tasks=2))
    (bad.parent / name).write_text(text)
    assert merge(tmp_path / "both", into=board) == 1
    assert words in capsys.readouterr().err
    assert (board / "results" / "model-c").is_dir()
    assert not list(board.rglob("*.html"))


def test_a_forged_id_is_not_merged(board, tmp_path, capsys):
    file = write(tmp_path / "forged", good_records("model-b", tasks=1))
    record = Record.model_validate_json(file.read_text())
    victim = good_records(tasks=1)[0].id
    file.write_text(record.model_copy(update={"id": victim}).line())
    before = files(board)
    assert merge(tmp_path / "forged", into=board) == 1
    assert "id" in capsys.readouterr().err
    assert files(board) == before
