"""Models under several neutral prompts: draws of their rows, in intervals and sets of ranks."""

from datetime import UTC, datetime

import numpy as np
import polars as pl
import pytest

from harness.embedder import NEUTRAL
from harness.leaderboard import building
from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.boards.ranking import rank, widened
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


def test_the_value_is_that_under_the_own_prompt_with_the_spread_beside_it(under):
    records = [
        *under("a", [0.2] * FAMILIES),
        *under("a", [0.3] * FAMILIES, ""),
        *under("a", [0.16] * FAMILIES, "query: "),
        *under("b", [0.5] * FAMILIES),
    ]
    rows = by_model(board_of(records), "bias", "prompts", "prompt_low", "prompt_high")
    assert rows == {
        "a": pytest.approx((0.2, 3, 0.16, 0.3)),
        "b": (pytest.approx(0.5), 1, None, None),
    }


def test_what_prompts_change_is_part_of_the_interval_and_the_median_where_it_is_not_known(under):
    own = [*under("a", [0.2] * FAMILIES), *under("b", [0.2] * FAMILIES)]
    alone = by_model(board_of(own), "bias_low", "bias_high", "prompt_error")
    assert alone["a"] == alone["b"], "no row has other prompts, so nothing is known"
    assert alone["a"][2] is None
    records = [*own, *under("a", [0.3] * FAMILIES, ""), *under("a", [0.2] * FAMILIES, "query: ")]
    error = 0.1 / 2**0.5  # root mean square of the changes .1 and 0
    half = float(np.hypot(alone["a"][1] - 0.2, NORMAL * error))
    wide = by_model(board_of(records), "bias_low", "bias_high", "prompt_error")
    assert wide["a"] == wide["b"] == pytest.approx((0.2 - half, 0.2 + half, error))


def test_a_set_of_ranks_holds_the_set_under_each_shared_prompt(under):
    low = [0.20, 0.21, 0.22, 0.20, 0.21, 0.22]
    high = [bias + 0.1 for bias in low]
    own = [*under("a", low), *under("b", high)]
    sets = ("rank", "rank_low", "rank_high")
    assert by_model(board_of(own), *sets) == {"a": (1, 1, 1), "b": (2, 2, 2)}
    same = [*own, *under("a", low, ""), *under("b", high, "query: ")]
    turned = [*own, *under("a", high, ""), *under("b", low, "")]
    assert by_model(board_of(turned), *sets) == {"a": (1, 1, 2), "b": (2, 1, 2)}
    assert by_model(board_of(same), *sets) == {"a": (1, 1, 1), "b": (2, 2, 2)}


def test_variants_are_no_rows_and_count_only_on_the_same_content(under):
    records = [
        *under("a", [0.2] * FAMILIES),
        *under("b", [0.3] * FAMILIES),
        *(record.model_copy(update={"task": record.task.model_copy(update={"digest": "old"})})
          for record in under("a", [0.9] * FAMILIES, "")),
    ]  # fmt: skip
    assert by_model(board_of(records), "prompts") == {"a": (1,), "b": (1,)}


def test_ranks_with_any_family_left_out_stand_beside_the_rank(under):
    board = board_of([
        *under("a", [0.2] * FAMILIES),
        *under("b", [1.0, *[0.1] * (FAMILIES - 1)]),  # the last only by its first family
        *under("c", [0.22] * FAMILIES),
    ])  # fmt: skip
    rows = by_model(board, "rank", "left_out_low", "left_out_high")
    assert rows == {"a": (1, 1, 2), "b": (3, 1, 3), "c": (2, 2, 3)}


def test_a_task_says_whether_prompts_decide(under):
    board = board_of([
        *under("a", [0.1, 0.3]), *under("a", [0.1, 0.1], ""),
        *under("b", [0.5, 0.31]), *under("b", [0.5, 0.31], ""),
        *under("c", [0.9, 0.2]), *under("c", [0.9, 0.5], ""),
    ])  # fmt: skip
    lines = board.benchmarks[0].decided
    assert lines["task"].to_list() == ["t0", "t1"]
    assert lines["turned"].to_list() == [0.0, pytest.approx(2 / 3)]
    assert lines["decides"].to_list() == [False, True]
    assert any("'t1'" in line and "prompt" in line for line in board.benchmarks[0].notices)


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


def simulated(rng, *, rows: int, families: int, prompts: int, sd: float):
    """Return the families of rows of equal bias under each prompt, the own one first."""
    ways = rng.normal(size=(rows, families)) * 0.2
    draws = []
    for _ in range(prompts):
        values = 1 + ways + rng.normal(size=(rows, 1)) * sd
        lines = [(f"r{i}", f"f{j}", v) for i, row in enumerate(values) for j, v in enumerate(row)]
        draws.append(pl.DataFrame(lines, schema=["row", "family", "measure"], orient="row"))
    return draws


def errors_of(own, others):
    """Return what other prompts change in the mean of each row, as `prompt_spreads` does."""
    means = [
        frame.group_by("row", maintain_order=True).agg(pl.col("measure").mean())
        for frame in (own, *others)
    ]
    changes = np.array([part["measure"] - means[0]["measure"] for part in means[1:]])
    errors = np.sqrt((changes**2).mean(axis=0))
    if len(others) == 1:  # as on a board
        errors = np.maximum(errors, np.median(errors))
    return means[0].select("row", prompt_error=pl.Series(errors))


def share_of_true_sets(boards: int, *, prompts: int, shared: bool) -> float:
    """Return in how many boards of equal rows no two are told apart."""
    rng = np.random.default_rng(0)
    hold = 0
    for _ in range(boards):
        own, *others = simulated(rng, rows=6, families=11, prompts=prompts, sd=0.15)
        found = rank(own, others=others, errors=errors_of(own, others)) if shared else rank(own)
        hold += bool(((found["rank_low"] == 1) & (found["rank_high"] == 6)).all())
    return hold / boards


def test_sets_over_prompts_hold_where_those_under_one_prompt_do_not():
    assert share_of_true_sets(40, prompts=5, shared=True) >= 0.95
    assert share_of_true_sets(40, prompts=5, shared=False) < 0.9


@pytest.mark.long
@pytest.mark.parametrize(("prompts", "least"), [(2, 0.84), (3, 0.93), (5, 0.95)])
def test_sets_over_prompts_hold(prompts, least):
    assert share_of_true_sets(400, prompts=prompts, shared=True) >= least


@pytest.mark.parametrize("prompts", [3, 5])
def test_the_interval_over_prompts_holds_the_mean_over_all_prompts(prompts):
    values = np.random.default_rng(0).normal(size=(4000, prompts)) * 0.15  # the mean is 0
    error = np.sqrt(((values[:, 1:] - values[:, :1]) ** 2).mean(axis=1))
    bias = pl.DataFrame({"bias": values[:, 0], "bias_low": values[:, 0], "bias_high": values[:, 0],
                         "error": error})  # fmt: skip
    wide = widened(bias, "bias", "error")
    share = ((wide["bias_low"] <= 0) & (wide["bias_high"] >= 0)).mean()
    assert share >= 0.93
