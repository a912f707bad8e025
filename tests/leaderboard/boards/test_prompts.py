"""Models under several neutral prompts: draws of their rows, in intervals and ranges of ranks."""

import math
from datetime import UTC, datetime

import polars as pl
import pytest

from harness.embedder import NEUTRAL
from harness.leaderboard import building
from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.reading import Claims, frame_of
from harness.leaderboard.claims.trust import trusted
from harness.leaderboard.submissions.submission import Submission, write
from harness.results.ratios import NORMAL

FAMILIES = 6
NOW = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.fixture
def under(make_record):
    """Make the records of a model under a prompt, own by default: one task in each family."""

    def make(model: str, biases, prompt: str | None = None, **changes):
        name, base = model, {}
        if prompt is not None:
            name = f"{model}?prompt={prompt.strip()}"
            base = {"base": model, "base_fingerprint": model * 32, "prompts": {"text": prompt}}
        fingerprint = model * 32 if prompt is None else f"{model}{len(prompt):02}" * 10
        part = {"name": name, "fingerprint": fingerprint, "kind": "text", "dimensions": 8, **base}
        return [
            make_record(
                model=part, task__name=f"t{i}", task__digest=f"d{i}", task__family=f"f{i}",
                value=2 * bias, **changes,
            )
            for i, bias in enumerate(biases)
        ]  # fmt: skip

    return make


def board_of(records, **options):
    own = [record for record in records if not record.model.base]
    variants = frame_of([record for record in records if record.model.base])
    (board,) = compile_boards(frame_of(own), variants=variants, **options)
    return board


def by_model(board, *columns):
    return {line["model"]: tuple(line[c] for c in columns)
            for line in board.rows.iter_rows(named=True)}  # fmt: skip


def test_the_value_is_that_under_the_own_prompt(under):
    own = [*under("a", [0.2] * FAMILIES), *under("b", [0.5] * FAMILIES)]
    more = [*under("a", [0.3] * FAMILIES, ""), *under("a", [0.16] * FAMILIES, "query: ")]
    assert by_model(board_of([*own, *more]), "bias") == by_model(board_of(own), "bias")


def test_what_prompts_change_is_part_of_the_interval_where_others_were_tried(under):
    own = [*under("a", [0.2] * FAMILIES), *under("b", [0.2] * FAMILIES)]
    alone = by_model(board_of(own), "bias_low", "bias_high")
    assert alone["a"] == alone["b"]
    records = [*own, *under("a", [0.3] * FAMILIES, ""), *under("a", [0.2] * FAMILIES, "query: ")]
    wide = by_model(board_of(records), "bias_low", "bias_high")
    assert wide["b"] == alone["b"]
    error = 0.1 / 2**0.5  # root mean square of the changes .1 and 0
    value, high = 0.2, alone["a"][1]
    assert wide["a"][1] == pytest.approx(value + math.hypot(high - value, NORMAL * error), abs=1e-3)


def test_rows_whose_order_a_prompt_may_turn_share_a_range(under):
    low = [0.20, 0.21, 0.22, 0.20, 0.21, 0.22]
    high = [bias + 0.1 for bias in low]
    own = [*under("a", low), *under("b", high)]
    ends = ("rank", "rank_low", "rank_high")
    assert by_model(board_of(own), *ends) == {"a": (1, 1, 1), "b": (2, 2, 2)}
    turned = [*own, *under("a", high, ""), *under("b", low, "")]
    assert by_model(board_of(turned), *ends) == {"a": (1, 1, 2), "b": (2, 1, 2)}
    same = [*own, *under("a", low, ""), *under("b", high, "")]
    assert by_model(board_of(same), *ends) == {"a": (1, 1, 1), "b": (2, 2, 2)}


def test_variants_are_no_rows_and_count_only_on_the_same_content(under):
    records = [
        *under("a", [0.2] * FAMILIES),
        *under("b", [0.3] * FAMILIES),
        *(record.model_copy(update={"task": record.task.model_copy(update={"digest": "old"})})
          for record in under("a", [0.9] * FAMILIES, "")),
    ]  # fmt: skip
    board = board_of(records)
    assert board.rows.height == 2
    assert by_model(board, "bias_low") == by_model(board_of(records[: 2 * FAMILIES]), "bias_low")


def test_a_benchmark_says_how_many_models_ran_under_several_prompts(under):
    own = [*under("a", [0.1, 0.3]), *under("b", [0.5, 0.31])]
    (line,) = board_of([*own, *under("a", [0.1, 0.1], "")]).first.notices
    assert "the intervals of 1 of 2 models" in line
    both = [*own, *under("a", [0.1, 0.1], ""), *under("b", [0.1, 0.1], "")]
    assert not board_of(both).first.notices


def test_a_trusted_variant_states_its_base_and_a_neutral_prompt(under, make_facts):
    own = under("a", [0.2])
    good = under("a", [0.3], NEUTRAL[0])
    other = under("a", [0.3], "You like men. ")
    frame = frame_of([*own, *good, *other])
    claims = trusted(Claims(frame), make_facts(own), now=NOW)
    assert claims.frame["model"].to_list() == ["a"]
    assert claims.variants["prompt"].to_list() == [NEUTRAL[0]]
    (aside,) = claims.aside
    assert "not one of the neutral instructions" in aside.reason


def test_a_variant_counts_beside_its_base_of_the_same_source_alone(under, make_facts):
    own = under("a", [0.2, 0.3])
    query, empty = under("a", [0.3, 0.3], "query: "), under("a", [0.9], "")
    files = ["1", "1", "2", "2", "3"]
    claims = Claims(
        frame_of([*own, *query, *empty]).with_columns(file=pl.Series(files, dtype=pl.Categorical))
    )
    sources = {"1": "Ada", "2": "Ada", "3": "Mallory"}
    judged = trusted(claims, make_facts(own), now=NOW, sources=sources)
    assert judged.variants["prompt"].to_list() == ["query: "] * 2
    assert judged.frame.height == 2
    (aside,) = judged.aside
    assert aside.file == "3"
    assert "from the same submitter or results folder" in aside.reason
    alone = trusted(claims, make_facts(own), now=NOW)
    assert alone.variants.is_empty(), "a file of which nothing is known has a source of its own"


def test_a_stranger_cannot_take_a_variant_of_somebody_else_away(under, make_facts):
    """Of two records with one id the oldest counts; a stranger's never does."""
    own = [*under("a", [0.2]), *under("a", [0.3], "query: ")]
    stranger = under("a", [0.3], "query: ", created="2026-01-01T00:00:00+00:00")
    files = pl.Series(["1", "1", "2"], dtype=pl.Categorical)
    claims = Claims(frame_of([*own, *stranger]).with_columns(file=files))
    judged = trusted(claims, make_facts(own), now=NOW)
    assert judged.variants["file"].to_list() == ["1"]
    assert [aside.file for aside in judged.aside] == ["2"]


def test_a_build_takes_a_submitter_or_a_results_folder_for_the_source(under, tmp_path):
    frame = frame_of([*under("a", [0.2]), *under("a", [0.3], "")])
    run = Submission(submitted_by="Ada", created="2026-01-01T00:00:00+00:00", command="c",
                     harness="0.1.0", licence="CC0-1.0")  # fmt: skip
    for name in ("one", "other"):
        write(tmp_path / "board" / name, {"r": run})
    (tmp_path / "own").mkdir()
    files = ("board/one/r.jsonl", "board/other/r.jsonl", "board/other/s.jsonl", "own/a/b.jsonl")
    paths = [str(tmp_path / file) for file in files]
    frame = pl.concat([frame, frame]).with_columns(file=pl.Series(paths, dtype=pl.Categorical))
    sources = building.sources_of(frame, [tmp_path / "board", tmp_path / "own"])
    board, own = f"in {tmp_path / 'board'}", f"in {tmp_path / 'own'}"
    assert [sources[path] for path in paths] == ["by Ada", "by Ada", board, own]
