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


def ranks(part) -> list[tuple]:
    return [(row.split('"')[1], rank) for row, rank in part.ranks.select("row", "rank").rows()]


def test_a_benchmark_ranks_on_its_own_tasks(rows) -> None:
    records = rows("m", {"a": 0.2, "b": 1.8}) + rows("n", {"a": 0.4, "b": 0.4})
    board = board_of(records, benchmark("first", "a"), benchmark("other", "z"))
    parts = by_name(board)
    assert set(parts) == {"all", "first"}
    assert ranks(parts["all"]) == [("n", 1), ("m", 2)]
    assert ranks(parts["first"]) == [("m", 1), ("n", 2)]
    first = parts["first"]
    assert (first.tasks, first.version, first.citation) == (("a",), 3, "Somebody (2020)")
    assert (parts["all"].tasks, parts["all"].version) == (("a", "b"), None)


def test_all_has_the_ranks_and_mitigators_of_the_board(rows) -> None:
    records = rows("m", around(1.0, 0)) + rows("n", around(0.5, 1))
    records += rows("m", around(0.4, 2), "x") + rows("m", around(0.7, 3), "y")
    board = board_of(records, benchmark("same", FAMILIES))
    everything, same = by_name(board)["all"], by_name(board)["same"]
    ends = ["row", "rank", "rank_low", "rank_high"]
    assert everything.ranks.select(ends).rows() == board.rows.drop_nulls("rank")[ends].rows()
    assert same.ranks.equals(everything.ranks)
    assert same.mitigators.equals(board.mitigators)


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


def test_a_benchmark_made_for_the_other_kind_of_embedder_is_left_out(rows) -> None:
    records = rows("m", {"a": 1.0, "b": 1.0}) + rows("n", {"a": 0.5, "b": 0.5})
    both, words = benchmark("both", "abwxyz"), benchmark("words", "abstuvwxyz")
    kinds = dict.fromkeys("stuvwxyz", ("word",))
    assert set(by_name(board_of(records, both, words, kinds=kinds))) == {"all", "both"}


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
        "gap_error": 0.1, "yardstick": 0.1, "yardstick_error": 0.1,
    }  # fmt: skip
    records = rows("m", dict.fromkeys("abc", 1.0)) + rows("n", dict.fromkeys("abc", 0.5))
    records += rows("noise", {"a": 0.0})
    for task in "bc":
        records += rows("noise", {task: 0.0}, ratio=blurred | {"of": task})
    parts = by_name(board_of(records, benchmark("only", "a")))
    assert ranks(parts["only"]) == [("n", 1), ("m", 2)]


def findings(records) -> tuple[str, ...]:
    return board_of(records).benchmarks[0].findings


def test_findings_name_the_model_with_least_bias_only_if_its_set_excludes_the_others(rows) -> None:
    clear = rows("m", around(1.0, 0)) + rows("n", around(0.2, 1)) + rows("o", around(1.0, 2))
    assert findings(clear)[0] == (
        "n is the least biased of 3 ranked models: it is 1st, with 95 % confidence."
    )
    close = rows("m", around(0.5, 0)) + rows("n", around(0.5, 1)) + rows("o", around(1.5, 2))
    first = findings(close)[0]
    assert first.startswith(("n is the least biased of 3 ranked models", "m is"))
    assert first.endswith("but could be anywhere from 1st to 2nd.")


def test_findings_of_few_families_claim_nothing_about_the_order(rows) -> None:
    few = dict.fromkeys("abc", 1.0)
    first = findings(rows("m", few) + rows("n", dict.fromkeys("abc", 0.1)))[0]
    assert first == (
        "n is the least biased of 2 ranked models; 3 methods are too few to tell how sure this is."
    )


def test_the_least_biased_model_is_one_of_good_usefulness(rows) -> None:
    useful = {"task__measures": "usefulness", "ideal": "higher", "bounds": (-1.0, 1.0)}
    records = rows("m", around(0.6, 0)) + rows("n", around(0.2, 1)) + rows("o", around(1.0, 2))
    for model, value in (("m", 0.5), ("n", 0.2), ("o", 0.49)):
        records += rows(model, {"s": value}, **useful)
    (first, _, _) = findings(records)
    assert first == (
        "m is the least biased of 2 models with good usefulness; "
        "among all 3 ranked ones it is 2nd, with 95 % confidence."
    )


def test_what_is_not_known_names_languages(rows) -> None:
    records = rows("m", around(1.0, 0)) + rows("n", around(0.2, 1))
    assert findings(records)[-1] == (
        "Not known: bias in languages other than English; implicit bias that no task asks about."
    )
    assert findings(records)[1] == "No mitigator was run, so what mitigation does is not known."


def test_findings_say_which_mitigator_removes_most_and_what_it_costs(rows) -> None:
    useful = {"task__measures": "usefulness", "ideal": "higher", "bounds": (-1.0, 1.0)}
    records = rows("m", around(1.0, 0)) + rows("n", around(0.9, 1))
    records += rows("m", around(0.4, 2), "x") + rows("m", around(0.9, 3), "y")
    for mitigator, value in (("none", 0.5), ("x", 0.4), ("y", 0.5)):
        records += rows("m", {"s": value}, mitigator, **useful)
    third = findings(records)[1]
    assert third.startswith("x removes most bias: −0.3")
    assert "usefulness changes by −0.050" in third
    same = rows("m", around(1.0, 0)) + rows("m", around(1.0, 5), "x") + rows("n", around(0.9, 1))
    assert findings(same)[1].startswith("No mitigator is shown to remove bias")


def test_findings_count_the_families_of_mitigators_apart_from_those_of_models(rows) -> None:
    leaks = {"overlap": ("he",)}
    records = rows("m", around(1.0, 0)) + rows("n", around(0.9, 1))
    records += rows("m", dict.fromkeys("abcd", 0.4), "x", **leaks)
    records += rows("m", dict.fromkeys("efgh", 0.4), "x")
    assert "4 methods are too few to tell how sure this is" in findings(records)[1]


def test_findings_name_a_mitigator_that_is_shown_to_remove_bias_behind_a_noisy_one(rows) -> None:
    records = rows("m", dict.fromkeys(FAMILIES, 1.0)) + rows("n", dict.fromkeys(FAMILIES, 0.9))
    records += rows("m", around(0.9, 1, spread=0.01), "small")
    noisy = [-3.0, 1.2, 1.2, 1.2, 1.2, -2.0, 1.2, 1.2]
    records += rows("m", dict(zip(FAMILIES, 0.9 + 0.3 * np.array(noisy), strict=True)), "noisy")
    line = findings(records)[1]
    assert line.startswith("small removes bias: −0.0")
    assert "1 other mitigator may remove as much" in line


def test_an_interval_without_0_is_no_evidence_once_it_is_one_of_many(rows) -> None:
    records = rows("m", dict.fromkeys(FAMILIES, 1.0)) + rows("n", dict.fromkeys(FAMILIES, 0.9))
    alone = rows(
        "m", dict(zip(FAMILIES, [0.5, 0.9, 0.7, 0.7, 1.0, 0.8, 1.1, 0.7], strict=True)), "x"
    )
    assert findings(records + alone)[1].startswith("x removes bias")
    others = [rows("m", around(1.0, seed, spread=0.2), f"other-{seed}") for seed in range(6)]
    line = findings([*records, *alone, *(record for other in others for record in other)])[1]
    assert line.startswith("No mitigator is shown to remove bias, after correction for 7")


def test_findings_say_which_mitigator_is_left_out(rows) -> None:
    records = rows("m", around(1.0, 0)) + rows("n", around(0.9, 1)) + rows("m", around(0.5, 2), "x")
    records += rows("m", around(0.1, 3), "y", overlap=("he",))
    assert findings(records)[1].endswith(
        "y is not ranked: no bias task without a leak to compare on."
    )


def test_a_board_without_a_ranked_model_says_so(make_rows) -> None:
    first = findings(make_rows({"m": {"x": 1.0}}))[0]
    assert first.startswith("No model is ranked: a rank needs two usable models")
    assert first.endswith("1 usable model here.")
