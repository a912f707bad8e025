"""Languages on a board: each stands apart, and nobody is left out of the ranks of the main one."""

from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.reading import frame_of
from harness.task.schema import BenchmarkFile

ENGLISH = {f"m{i}": {"x": i / 8, "y": i / 10} for i in range(5)}
FRENCH = {"m3": {"f": 0.9}, "m4": {"f": 0.1}}
SAME = ("rank", "rank_low", "rank_high", "bias", "bias_low", "bias_high", "bias_tasks", "unusable",
        "usefulness")  # fmt: skip


def board_of(records, *files):
    (board,) = compile_boards(frame_of(records), files)
    return board


def test_nobody_is_left_out_since_others_were_run_in_another_language(make_rows) -> None:
    english = make_rows(ENGLISH)
    french = make_rows(FRENCH, language="fr", task__family="stereotype-choice")
    mitigated = make_rows({"m4": {"f": 0.5}}, language="fr", mitigator__name="hard-debias",
                          mitigator__fingerprint="h")  # fmt: skip
    alone, both = board_of(english), board_of([*english, *french, *mitigated])
    assert (alone.language, both.language) == ("en", "en")
    models = both.rows.filter(role="model")
    assert models.select("model", *SAME).equals(alone.rows.select("model", *SAME))
    assert alone.rows["rank"].to_list() == [1, 2, 3, 4, 5]
    assert not [line for line in both.notices if "would be ranked" in line]
    (everything,) = both.benchmarks
    assert (everything.title, everything.tasks) == ("All tasks in English", ("x", "y"))
    assert alone.benchmarks[0].title == "All tasks"


def test_another_language_ranks_on_a_benchmark_that_names_it(make_rows) -> None:
    records = make_rows(ENGLISH) + make_rows(FRENCH, language="fr")
    file = BenchmarkFile(name="languages-fr", version=1, title="French", tasks={"f": 1})
    board = board_of(records, file)
    everything, french = board.benchmarks
    assert (everything.name, french.languages) == ("all", ("fr",))
    names = dict(board.rows.select("row", "model").rows())
    lines = board.view("languages-fr").rows.drop_nulls("rank")
    ranks = {names[row]: rank for row, rank in lines.select("row", "rank").rows()}
    assert ranks == {"m4": 1, "m3": 2}
    assert ("all", "fr") in {(view.benchmark, view.language) for view in board.views}
    assert board.tasks.filter(task="f")["not_ranked"].to_list() == [None]
    assert board.rows.filter(model="m3")["task:f"].to_list() == [0.9]


def test_the_language_is_that_of_most_models_then_of_most_tasks(make_rows) -> None:
    french = make_rows({"a": {"f": 0.1}, "b": {"f": 0.2}}, language="fr")
    assert board_of(french + make_rows({"a": {"x": 0.1, "y": 0.1}})).language == "fr"
    english = make_rows({name: {"x": 0.1, "y": 0.1} for name in "ab"})
    assert board_of(french + english).language == "en"


def test_a_yardstick_in_a_language_that_a_model_does_not_know_makes_it_not_unusable(
    make_rows, make_record
) -> None:
    ratio = make_record(value=0.5).ratio.model_dump() | {
        "value": None, "low": None, "high": None, "yardstick": -0.1, "t": -1.0, "of": "items",
    }  # fmt: skip
    records = make_rows(ENGLISH) + make_rows({"m3": {"j": 0.5}}, language="ja", ratio=ratio)
    assert board_of(records).rows["unusable"].null_count() == 5
