"""Benchmarks of a board: ranks on named sets of tasks, the default, and findings."""

import numpy as np
import pytest

from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.reading import frame_of
from harness.task.schema import BenchmarkFile

FAMILIES = tuple("abcdefgh")


def board_of(records, *files, kinds=None):
    (board,) = compile_boards(frame_of(records), files, kinds or {})
    return board


def benchmark(name: str, tasks, version: int = 1) -> BenchmarkFile:
    return BenchmarkFile(
        name=name, version=3, title=name.title(), citation="Somebody (2020)",
        tasks=dict.fromkeys(tasks, version),
    )  # fmt: skip


def by_name(board) -> dict:
    return {part.name: part for part in board.benchmarks}


@pytest.fixture
def rows(make_record):
    """Make the records of a row; a task is a family of its own."""

    def make(model: str, values, mitigator: str = "none", **changes):
        return [
            make_record(
                model__name=model, model__fingerprint=model, mitigator__name=mitigator,
                mitigator__fingerprint=mitigator, task__name=task, task__digest=task,
                task__family=task, value=float(value), **changes,
            )
            for task, value in values.items()
        ]  # fmt: skip

    return make


def around(mean: float, seed: int, spread: float = 0.02) -> dict[str, float]:
    noise = np.random.default_rng(seed).normal(scale=spread, size=len(FAMILIES))
    return dict(zip(FAMILIES, mean + noise, strict=True))


def ranks(board, name: str) -> list[tuple]:
    lines = board.view(name).rows.drop_nulls("rank").sort("rank")
    return [(row.split('"')[1], rank) for row, rank in lines.select("row", "rank").rows()]


def test_a_benchmark_ranks_on_its_own_tasks(rows) -> None:
    records = rows("m", {"a": 0.2, "b": 1.8}) + rows("n", {"a": 0.4, "b": 0.4})
    board = board_of(records, benchmark("first", "a"), benchmark("other", "z"))
    parts = by_name(board)
    assert set(parts) == {"all", "first"}
    assert ranks(board, "all") == [("n", 1), ("m", 2)]
    assert ranks(board, "first") == [("m", 1), ("n", 2)]
    first = parts["first"]
    assert (first.tasks, first.version, first.citation) == (("a",), 3, "Somebody (2020)")
    assert (parts["all"].tasks, parts["all"].version) == (("a", "b"), None)


def test_the_default_has_most_ranked_models_then_most_tasks(rows) -> None:
    full = dict.fromkeys("abcdefgh", 1.0)
    most = dict.fromkeys("abcdefg", 1.0)
    records = rows("m", full) + rows("n", full) + rows("o", most) + rows("p", most)
    files = benchmark("seven", "abcdefg"), benchmark("six", "abcdef")
    order = [part.name for part in board_of(records, *files).benchmarks]
    assert order == ["seven", "six", "all"]
    assert [p.name for p in board_of(records[:16], *files).benchmarks] == ["all", "seven", "six"]


def test_a_benchmark_that_lacks_tasks_is_no_default_and_says_so(rows) -> None:
    full = dict.fromkeys("abcdefgh", 1.0)
    records = rows("m", full) + rows("n", full) + rows("o", dict.fromkeys("abcdefg", 1.0))
    lacking = benchmark("larger", "abcdefgyz")
    board = board_of(records, lacking)
    assert [part.name for part in board.benchmarks] == ["all", "larger"]
    part = by_name(board)["larger"]
    assert part.lacking == ("y", "z")
    assert "2 of its 9 tasks: 'y', 'z'" in part.notices[0]
    kinds = {"y": ("word",), "z": ("word",)}
    board = board_of(records, lacking, kinds=kinds)
    assert board.benchmarks[0].name == "larger", "tasks of words are not lacking on a board of text"
    assert board.benchmarks[0].lacking == ()


def test_records_of_another_version_are_not_on_the_benchmark(rows) -> None:
    records = rows("m", {"a": 1.0, "b": 1.0}) + rows("n", {"a": 0.5, "b": 0.5})
    old = benchmark("old", "ab", version=7)
    mixed = BenchmarkFile(name="mixed", version=1, title="t", tasks={"a": 1, "b": 2})
    parts = by_name(board_of(records, old, mixed))
    assert "old" not in parts
    assert (parts["mixed"].tasks, parts["mixed"].lacking) == (("a",), ("b",))


def test_usability_is_decided_over_all_tasks_of_the_board(rows) -> None:
    blurred = {
        "value": None, "low": None, "high": None, "t": 1.0, "df": 9.0, "gap": 0.0,
        "gap_error": 0.1, "yardstick": 0.1, "yardstick_error": 0.1, "reference_gap": 1.0,
        "reference_yardstick": 1.0, "reference_error": 0.0,
    }  # fmt: skip
    records = rows("m", dict.fromkeys("abc", 1.0)) + rows("n", dict.fromkeys("abc", 0.5))
    records += rows("noise", {"a": 0.0})
    for task in "bc":
        records += rows("noise", {task: 0.0}, ratio=blurred | {"of": task})
    assert ranks(board_of(records, benchmark("only", "a")), "only") == [("n", 1), ("m", 2)]


def finding(records) -> str:
    return board_of(records).first.finding


def test_the_finding_names_a_model_as_first_only_if_its_range_excludes_the_others(rows) -> None:
    clear = rows("m", around(1.0, 0)) + rows("n", around(0.2, 1)) + rows("o", around(1.0, 2))
    assert finding(clear) == (
        "n is the least biased of 3 ranked models on these 8 tests; they tell it apart from all "
        "others."
    )
    close = rows("m", around(0.5, 0)) + rows("n", around(0.5, 1)) + rows("o", around(1.5, 2))
    first = finding(close)
    assert first.startswith(("n is the least biased of 3 ranked models", "m is"))
    assert first.endswith("on these 8 tests; it could be anywhere from 1st to 2nd.")


def test_a_model_that_is_not_usable_is_not_counted(rows) -> None:
    blurred = {
        "value": None, "low": None, "high": None, "t": 1.0, "df": 9.0, "gap": 0.0,
        "gap_error": 0.1, "yardstick": 0.1, "yardstick_error": 0.1, "of": "y",
        "reference_gap": 1.0, "reference_yardstick": 1.0, "reference_error": 0.0,
    }  # fmt: skip
    records = rows("m", around(1.0, 0)) + rows("n", around(0.2, 1))
    assert " of 2 ranked models" in finding(records + rows("noise", around(0, 2), ratio=blurred))


def test_the_least_biased_model_is_one_of_good_usefulness(rows) -> None:
    useful = {"task__measures": "usefulness", "ideal": "higher", "bounds": (-1.0, 1.0)}
    records = rows("m", around(0.6, 0)) + rows("n", around(0.2, 1)) + rows("o", around(1.0, 2))
    for model, value in (("m", 0.5), ("n", 0.2), ("o", 0.49)):
        records += rows(model, {"s": value}, **useful)
    assert finding(records) == (
        "m is the least biased of 2 models with good usefulness; on these 8 tests it is 2nd of all "
        "3 ranked ones: they tell it apart from all others."
    )


def test_a_benchmark_of_usefulness_alone_speaks_of_usefulness(rows) -> None:
    useful = {"task__measures": "usefulness", "ideal": "higher", "bounds": (-1.0, 1.0)}
    records = rows("m", around(1.0, 0)) + rows("n", around(0.2, 1)) + rows("m", around(0.5, 2), "x")
    for model, mitigator, value in (("m", "none", 0.5), ("n", "none", 0.2), ("m", "x", 0.4)):
        records += rows(model, {"s": value}, mitigator, **useful)
    view = board_of(records, benchmark("only", "s")).view("only")
    assert view.finding.startswith("m is the most useful of 2 ranked models on these 1 test")
    assert view.mitigators["usefulness"].to_list() == [None], "no bias to compare"
    ranked = view.rows.drop_nulls("usefulness_rank")
    assert sorted(ranked["usefulness"]) == pytest.approx([0.6, 0.75])


def test_a_board_without_a_ranked_model_says_so(make_rows) -> None:
    first = finding(make_rows({"m": {"x": 1.0}}))
    assert first.startswith("No model is ranked: a rank needs two")
    assert "1 usable model" in first
