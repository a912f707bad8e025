"""The records of the reference models: which a board gets, and what the shipped file has.

tests/tasks/test_tasks.py shows that it has the shipped tasks as they are.
"""

import gzip
import json

import click
import pytest
from click.testing import CliRunner

import harness.leaderboard
from harness.leaderboard.boards import references
from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.reading import frame_of
from harness.registry.registry import Registry


@pytest.fixture(scope="module")
def shipped():
    return references.shipped()


def test_there_is_a_record_for_each_reference_and_task(shipped) -> None:
    keys = [(record.model.name, record.task.name) for record in shipped]
    assert len(keys) == len(set(keys)) > 200
    assert {record.primary for record in shipped} == {True}
    assert {name for name, _ in keys} == set(references.REFERENCES)
    assert references.FILE.stat().st_size < 200_000


def test_constant_vectors_have_no_value_and_random_vectors_nearly_always_have(shipped) -> None:
    constant = [record for record in shipped if record.model.name.startswith("constant-")]
    assert {record.value for record in constant} == {None}
    assert {record.reason for record in constant} == {"all texts have the same vector"}
    random = [record for record in shipped if record.model.name.startswith("random-")]
    assert sum(record.value is None for record in random) < 0.05 * len(random)


@pytest.fixture
def weat(shipped, make_record):
    """Make a record of a model on the shipped task weat-6, with changes."""
    (reference,) = [r for r in shipped if (r.model.name, r.task.name) == ("random-words", "weat-6")]

    def make(**changes):
        return make_record(
            model__kind="word", metric=reference.metric, score=reference.score,
            scenario=reference.scenario, value=0.5, category=reference.category,
            ideal=reference.ideal, bounds=reference.bounds, unit=1.0,
            **{f"task__{k}": v for k, v in reference.task.model_dump().items()} | changes,
        )  # fmt: skip

    return make


def names(claims) -> set[str]:
    return set(claims["model"])


def test_a_board_has_the_references_on_its_tasks(weat) -> None:
    claims, notices = references.added(frame_of([weat()]))
    assert names(claims) == {"m", "random-words", "constant-words"}
    assert set(claims["task"]) == {"weat-6"}
    assert notices == []
    (board,) = compile_boards(claims)
    roles = dict(board.rows.select("model", "role").rows())
    assert roles == {"m": "model", "random-words": "reference", "constant-words": "reference"}


def test_a_task_of_other_content_gets_no_reference(weat) -> None:
    assert names(references.added(frame_of([weat(task__digest="mine")]))[0]) == {"m"}


def test_references_never_decide_which_content_is_ranked(weat) -> None:
    own = [weat(task__digest="mine", model__fingerprint=letter) for letter in "ab"]
    own.append(weat(model__fingerprint="c"))
    (board,) = compile_boards(references.added(frame_of(own))[0])
    assert board.tasks["digest"].to_list() == ["mine"]


def test_a_reference_that_was_evaluated_is_not_added_again(shipped, weat) -> None:
    own = [r for r in shipped if (r.model.name, r.task.name) == ("random-words", "weat-6")]
    claims, _ = references.added(frame_of([weat(), *own]))
    assert claims.height == 3


def test_the_command_adds_the_references_of_the_board(tmp_path, weat) -> None:
    (tmp_path / "r.jsonl").write_text(weat().line())
    group = click.Group()
    harness.leaderboard.harness_commands(group)
    arguments = ["leaderboard", "build", tmp_path, "--out", tmp_path / "site"]
    CliRunner().invoke(group, list(map(str, arguments)))
    (board,) = json.loads((tmp_path / "site" / "leaderboard.json").read_text("utf-8"))["boards"]
    assert {row["model"] for row in board["rows"] if row["role"] == "reference"} == {
        "random-words",
        "constant-words",
    }


def test_computing_a_task_replaces_its_records_and_keeps_the_others(tmp_path, shipped) -> None:
    file = tmp_path / "r.jsonl.gz"
    old = [r for r in shipped if r.task.name in ("weat-1", "weat-2")]
    stale = [r.model_copy(update={"value": 9.0, "reason": None}) for r in old]
    gone = stale[0].model_copy(
        update={"id": "gone", "task": stale[0].task.model_copy(update={"name": "no-such-task"})}
    )
    file.write_bytes(gzip.compress("".join(r.line() for r in (*stale, gone)).encode()))
    references.compute(["weat-1"], Registry(), file)
    values = {(r.model.name, r.task.name): r.value for r in references.shipped(file)}
    assert set(values) == {(r.model.name, r.task.name) for r in old}
    assert {value for (_, task), value in values.items() if task == "weat-2"} == {9.0}
    assert 9.0 not in {value for (_, task), value in values.items() if task == "weat-1"}
