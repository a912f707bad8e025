"""Languages on a board: each stands apart, and nobody is left out of the ranks of the main one."""

import gzip
import re
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from harness.leaderboard import building
from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.boards.ranking import DIGITS
from harness.leaderboard.claims.reading import frame_of
from harness.registry.registry import Registry
from harness.results.folder import read_results
from harness.results.resampling import task_means
from harness.task.schema import BenchmarkFile

KEPT = Path(__file__).parents[3] / "docs" / "figures" / "board.jsonl.gz"
ENGLISH = {f"m{i}": {"x": i / 8, "y": i / 10} for i in range(5)}
FRENCH = {"m3": {"f": 0.9}, "m4": {"f": 0.1}}
COMPARED = re.compile(
    rb'"name":"(glove-6b-50d|en-core-web-md|all-MiniLM-L6-v2|gemma-3-270m)",.*'
    rb'"name":"(none|hard-debias)"'
)
"""Records of two models of each kind; gemma and MiniLM were run in other languages, too."""
SAME = ("rank", "rank_low", "rank_high", "bias", "bias_low", "bias_high", "bias_tasks", "complete",
        "unusable", "usefulness")  # fmt: skip


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
    ranks = {names[row]: rank for row, rank in french.ranks.select("row", "rank").rows()}
    assert ranks == {"m4": 1, "m3": 2}
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


def test_boards_and_results_have_one_mean_of_the_same_records(tmp_path) -> None:
    file = tmp_path / "board.jsonl"
    every = gzip.decompress(KEPT.read_bytes()).splitlines(keepends=True)
    file.write_bytes(b"".join(line for line in every if COMPARED.search(line)))
    lines: dict[tuple[str, str], dict[tuple, dict]] = {}
    for record in read_results(file):
        key = record.task.name, record.scenario, record.metric, record.score
        of_model = lines.setdefault((record.model.kind, record.model.name), {})
        of_model.setdefault(key, {})[record.mitigator.label] = record
    compared = Counter()
    for board in building.rank([file], Registry()).boards:
        for row, measures in product(board.rows.to_dicts(), ("bias", "usefulness")):
            if row["role"] == "reference":  # the shipped ones, which a build adds
                continue
            label, ranked = row["mitigator"], board.names(measures)
            of_model = lines[board.kind, row["model"]]
            own = [line for (task, *_), line in of_model.items() if task in ranked]
            parts = [task_means(own, ["none"]).mean("none")]
            if label != "none":
                parts.append(task_means(own, ["none", label]).change("none", label))
            mean = None if None in parts else pytest.approx(sum(parts), abs=10**-DIGITS)
            assert row[measures] == mean, (row["model"], label)
            compared[board.kind, measures] += mean is not None
    kinds = {("word", "bias"): 4, ("word", "usefulness"): 4}
    assert compared == kinds | {("text", "bias"): 4, ("text", "usefulness"): 3}
