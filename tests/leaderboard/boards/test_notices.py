"""Warnings about the ranks of a board, and the choice of its tasks."""

import pytest

from harness.errors import UnknownName
from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.boards.cells import of_tasks
from harness.leaderboard.claims.reading import frame_of


def notices(records) -> tuple[str, ...]:
    """Return the notices on tasks, without the advice to evaluate further rows."""
    return notices_of(frame_of(records))


def notices_of(claims) -> tuple[str, ...]:
    (board,) = compile_boards(claims)
    return tuple(notice for notice in board.notices if ": add --" not in notice)


def advice(records) -> str:
    (board,) = compile_boards(frame_of(records))
    return "\n".join(notice for notice in board.notices if ": add --" in notice)


def has(notice: str, *facts: str) -> bool:
    return all(fact in notice for fact in facts)


def eight(tasks: str = "xy") -> dict[str, dict[str, float]]:
    return {f"m{i}": dict.fromkeys(tasks, i / 8) for i in range(8)}


def test_a_task_that_one_row_has_is_reported_with_the_rows_that_it_costs(make_rows) -> None:
    records = make_rows(eight()) + make_rows({"m3": {"mine": 1.0}})
    (notice,) = notices(records)
    assert has(notice, "'mine'", "1 of 8 models", "without it 8 models")
    assert notices_of(of_tasks(frame_of(records), ["x", "y"])) == ()


def test_a_board_without_reference_rows_says_how_to_get_them(make_rows) -> None:
    said = advice(make_rows(eight()))
    assert has(said, "--model random-texts", "--model constant-texts")
    assert "--model random-words" in advice(make_rows(eight(), model__kind="word"))
    assert advice(make_rows({**eight(), "random-texts": {"x": 0.0, "y": 0.0}})) == ""


def test_tasks_without_a_yardstick_are_named(make_rows) -> None:
    (said,) = notices(make_rows(eight()) + make_rows(eight("uv"), ratio=None))
    assert has(said, "'u', 'v' have no gap over a yardstick", "not ranked")
    assert "evaluate again" not in said, "a task may have no yardstick"


def test_a_board_without_unmitigated_rows_says_so(make_rows) -> None:
    records = make_rows(eight(), mitigator__name="hard-debias", mitigator__fingerprint="h")
    assert "--mitigator none" in advice(records)


def test_a_model_without_its_unmitigated_row_is_named(make_record) -> None:
    names = (("a", "none"), ("a", "h"), ("b", "h"))
    records = [
        make_record(model__name=model, model__fingerprint=model, mitigator__name=mitigator,
                    mitigator__fingerprint=mitigator)
        for model, mitigator in names
    ]  # fmt: skip
    assert "no changes of 'b'" in advice(records)


def test_two_contents_of_one_version_are_reported(make_record) -> None:
    records = [make_record(model__name=name, task__digest="1") for name in "abc"]
    other = [make_record(model__name=name, task__digest="0") for name in "cde"]
    (notice,) = notices(records + other[:1])
    assert has(notice, "task 't' version 1", "2 different contents", "every row")
    (notice,) = notices(records + other[:2])
    assert has(notice, "task 't' version 1", "2 different contents", "1 row has no record")
    (notice,) = notices(records + other)
    assert has(notice, "task 't' version 1", "2 different contents", "2 rows have no record")


def test_tasks_are_chosen_by_name_and_glob(make_rows) -> None:
    claims = frame_of(make_rows({"a": {"weat-6": 1.0, "weat-7": 1.0, "mine": 1.0}}))
    assert set(of_tasks(claims, ["weat-*"])["task"]) == {"weat-6", "weat-7"}
    assert of_tasks(claims, ["mine", "weat-6"]).height == 2


def test_an_unknown_task_is_an_error_with_a_suggestion(make_rows) -> None:
    with pytest.raises(UnknownName, match="did you mean 'weat-6'"):
        of_tasks(frame_of(make_rows({"a": {"weat-6": 1.0}})), ["waet-6"])
