"""What is told of a board before its ranks, and the choice of its tasks."""

import pytest

from harness.errors import UnknownName
from harness.leaderboard.board import compile_boards
from harness.leaderboard.cells import of_tasks


def told(records) -> tuple[str, ...]:
    (board,) = compile_boards(records)
    return board.notices


def eight(tasks: str = "xy") -> dict[str, dict[str, float]]:
    return {f"m{i}": dict.fromkeys(tasks, i / 8) for i in range(8)}


def test_a_task_that_one_row_has_is_told_with_what_it_costs(make_rows) -> None:
    records = make_rows(eight()) + make_rows({"m3": {"mine": 1.0}})
    assert told(records) == (
        "task 'mine' has values of 1 of 8 rows; without it 8 rows would be ranked",
    )
    assert told(of_tasks(records, ["x", "y"])) == ()


def test_several_such_tasks_are_told_together(make_rows) -> None:
    records = make_rows(eight("xyz")) + make_rows({"m3": {"mine": 1.0}, "m4": {"yours": 1.0}})
    assert told(records) == (
        "task 'mine' has values of 1 of 8 rows; without these 2 tasks 8 rows would be ranked",
        "task 'yours' has values of 1 of 8 rows; without these 2 tasks 8 rows would be ranked",
    )


def test_a_row_that_lacks_most_tasks_is_no_fault_of_the_tasks(make_rows) -> None:
    assert told(make_rows({**eight("vwxyz"), "m0": {"v": 1.0}})) == ()


def test_tasks_that_no_two_rows_share_are_not_told(make_rows) -> None:
    assert told(make_rows({"a": {"x": 1.0}, "b": {"y": 1.0}})) == ()


def test_usefulness_is_looked_at_apart(make_rows) -> None:
    useful = {"task__measures": "usefulness"}
    records = make_rows(eight()) + make_rows(eight("s"), **useful)
    records += make_rows({"m1": {"mine": 1.0}}, **useful)
    assert told(records) == (
        "task 'mine' has values of 1 of 8 rows; without it 8 rows would be ranked on usefulness",
    )


def test_a_control_keeps_no_row_from_being_ranked(make_rows) -> None:
    control = make_rows({"m3": {"mine": 1.0}}, task__measures="control", category="universal")
    assert told(make_rows(eight()) + control) == ()


def test_two_contents_of_one_version_are_told(make_record) -> None:
    records = [make_record(model__name=name, task__digest="1") for name in "abc"]
    other = [make_record(model__name=name, task__digest="0") for name in "cde"]
    assert told(records + other[:1]) == (
        "task 't' version 1 has records of two contents; "
        "every row of the other has the ranked one too",
    )
    assert told(records + other[:2]) == (
        "task 't' version 1 has records of two contents; 1 row of the other is not ranked",
    )


def test_an_older_version_is_no_second_content(make_record) -> None:
    old = [make_record(model__name=name, task__digest="1") for name in "ab"]
    new = [make_record(model__name=name, task__digest="2", task__version=2) for name in "ab"]
    assert told(old + new) == ()


def test_tasks_are_chosen_by_name_and_glob(make_rows) -> None:
    records = make_rows({"a": {"weat-6": 1.0, "weat-7": 1.0, "mine": 1.0}})
    chosen = {record.task.name for record in of_tasks(records, ["weat-*"])}
    assert chosen == {"weat-6", "weat-7"}
    assert len(of_tasks(records, ["mine", "weat-6"])) == 2


def test_a_task_that_no_record_has_is_refused_with_the_nearest(make_rows) -> None:
    with pytest.raises(UnknownName, match="did you mean 'weat-6'"):
        of_tasks(make_rows({"a": {"weat-6": 1.0}}), ["waet-6"])
