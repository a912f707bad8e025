"""Paired effects of mitigators, leaks, and mitigators ranked over models."""

import numpy as np
import polars as pl
import pytest

from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.reading import frame_of
from harness.task.reference import Reference

FAMILIES = tuple("abcdefgh")


def only(records):
    (board,) = compile_boards(frame_of(records))
    return board


def rows(make_record, mitigator: str, values: dict[str, float], model: str = "m", **changes):
    """Return a record of each task; a task is a family of its own."""
    return [
        make_record(
            model__name=model, model__fingerprint=model, mitigator__name=mitigator,
            mitigator__fingerprint=mitigator, task__name=task, task__digest=task,
            task__family=task, value=value, **changes,
        )
        for task, value in values.items()
    ]  # fmt: skip


def effect(board, mitigator: str, baseline: str = "none", model: str = "m") -> dict:
    (line,) = board.effects.filter(mitigator=mitigator, baseline=baseline, model=model).to_dicts()
    return line


def around(mean: float, seed: int = 0, spread: float = 0.02) -> dict[str, float]:
    noise = np.random.default_rng(seed).normal(scale=spread, size=len(FAMILIES))
    return {family: float(mean + e) for family, e in zip(FAMILIES, noise, strict=True)}


def test_a_mitigated_row_shows_its_change_against_none_and_normalize(make_record) -> None:
    records = [
        make_record(mitigator__name=name, mitigator__fingerprint=name, value=value)
        for name, value in (("none", 1.0), ("normalize", -0.8), ("hard-debias", 0.2))
    ]
    board = only(records)
    assert effect(board, "hard-debias")["bias"] == pytest.approx(-0.4)
    assert effect(board, "hard-debias", "normalize")["bias"] == pytest.approx(-0.3)
    assert effect(board, "normalize")["bias"] == pytest.approx(-0.1)
    assert board.effects.height == 3


def test_a_change_is_over_the_tasks_that_both_rows_have(make_rows) -> None:
    records = make_rows({"m": {"x": 1.0, "y": 2.0}}) + make_rows(
        {"m": {"x": 0.5}}, mitigator__name="hard-debias", mitigator__fingerprint="h"
    )
    line = effect(only(records), "hard-debias")
    assert (line["bias"], line["bias_tasks"]) == (pytest.approx(-0.25), 1)


def test_a_clear_change_has_evidence_and_noise_has_none(make_record) -> None:
    board = only(
        rows(make_record, "none", around(1.0))
        + rows(make_record, "remover", around(0.4, seed=1))
        + rows(make_record, "shuffler", around(1.0, seed=2))
        + rows(make_record, "nothing", around(1.0))
    )
    removed, shuffled, same = (effect(board, n) for n in ("remover", "shuffler", "nothing"))
    assert removed["bias_low"] < removed["bias"] < removed["bias_high"] < 0
    assert removed["bias_p"] < removed["bias_holm"] < 0.001
    assert removed["bias_evidence"]
    assert not shuffled["bias_evidence"]
    assert (same["bias"], same["bias_p"], same["bias_evidence"]) == (0.0, 1.0, False)


def test_few_families_give_no_interval_and_no_evidence(make_record) -> None:
    few = FAMILIES[:5]
    board = only(
        rows(make_record, "none", dict.fromkeys(few, 1.0))
        + rows(make_record, "remover", dict.fromkeys(few, 0.1))
    )
    line = effect(board, "remover")
    assert line["bias"] == pytest.approx(-0.45)
    assert (line["bias_low"], line["bias_p"], line["bias_evidence"]) == (None, None, False)


def test_leaks_enter_neither_means_nor_effects(make_record) -> None:
    """13 of 23 bias tasks of the first row of a demonstration were leaks."""
    clean, leaky = FAMILIES[:4], FAMILIES[4:]
    board = only(
        rows(make_record, "none", dict.fromkeys(FAMILIES, 1.0))
        + rows(make_record, "fitted", dict.fromkeys(clean, 1.0))
        + rows(make_record, "fitted", dict.fromkeys(leaky, 0.0), overlap=("she", "he"))
    )
    line = effect(board, "fitted")
    assert (line["bias"], line["bias_tasks"], line["bias_leaks"]) == (0.0, 4, 4)
    (row,) = board.rows.filter(mitigator="fitted").to_dicts()
    assert (row["bias"], row["bias_tasks"], row["complete"]) == (0.5, 4, True)
    assert row["task:e"] == 0.0, "the value is shown"
    assert board.lacks.filter("leak").height == 4


def test_mitigators_are_ranked_by_their_mean_effect_over_models(make_record) -> None:
    records = []
    for i, model in enumerate(("m1", "m2")):
        records += rows(make_record, "none", around(1.0 + i / 4, i), model)
        records += rows(make_record, "remover", around(0.2 + i / 4, 10 + i), model)
        records += rows(make_record, "half", around(0.6 + i / 4, 20 + i), model)
        records += rows(make_record, "adder", around(1.5 + i / 4, 30 + i), model)
    frame = only(records).mitigators
    assert frame["mitigator"].to_list() == ["remover", "half", "adder"]
    assert frame.select("rank", "rank_low", "rank_high").rows() == [(i, i, i) for i in (1, 2, 3)]
    assert frame["models"].to_list() == [2, 2, 2]
    assert frame["bias"].to_list() == pytest.approx([-0.4, -0.2, 0.25], abs=0.02)
    assert frame["bias_high"][0] < 0 < frame["bias_low"][2]
    assert frame["unranked"].null_count() == 3


def test_mitigators_are_ranked_on_the_methods_that_all_have_without_a_leak(make_record) -> None:
    leaky, clean = dict.fromkeys("ab", 0.0), dict.fromkeys("cd", 0.5)
    board = only(
        rows(make_record, "none", dict.fromkeys("abcd", 1.0))
        + rows(make_record, "fitted", leaky, overlap=("she",))
        + rows(make_record, "fitted", clean)
        + rows(make_record, "other", dict.fromkeys("ab", 0.0) | dict.fromkeys("cd", 0.6))
        + rows(make_record, "cheat", dict.fromkeys("abcd", 0.0), overlap=("he",))
    )
    frame = board.mitigators
    assert frame["mitigator"].to_list() == ["fitted", "other", "cheat"]
    assert frame["bias"].to_list()[:2] == pytest.approx([-0.25, -0.35]), "over its own methods"
    assert frame["bias_tasks"].to_list() == [2, 4, None]
    assert frame["unranked"].null_count() == 2
    assert "leak" in frame["unranked"][2]


def over(make_record, by_mitigator: dict[str, dict[str, float]]) -> pl.DataFrame:
    """Return mitigators with the mean that each leaves of the bias of 1.0 of some models."""
    models = sorted({model for values in by_mitigator.values() for model in values})
    records = [r for model in models for r in rows(make_record, "none", around(1.0), model)]
    for name, values in by_mitigator.items():
        for model, mean in values.items():
            records += rows(make_record, name, around(mean), model)
    return only(records).mitigators


def test_mitigators_without_a_model_in_common_are_not_ranked(make_record) -> None:
    frame = over(make_record, {"x": {"m1": 0.5, "m2": 0.5}, "z": {"m3": 0.1}})
    reason = "the mitigators have no model in common"
    lines = frame.select("mitigator", "rank", "models", "not_usable", "over", "unranked").rows()
    assert lines == [("x", None, 2, 0, "m1, m2", reason), ("z", None, 1, 0, "m3", reason)]
    assert frame["bias"].null_count() == 0, "the changes are shown"


def test_mitigators_are_ranked_on_the_models_that_all_have(make_record) -> None:
    """On its own models x lowers bias more than y, and on those of both less."""
    frame = over(
        make_record,
        {"x": {"m1": 0.8, "m2": 0.8, "m3": 0.0, "m4": 0.0}, "y": {"m1": 0.6, "m2": 0.6}},
    )
    assert frame["bias"].to_list() == pytest.approx([-0.2, -0.3], abs=0.02)
    lines = frame.select("mitigator", "rank", "over", "ranked_on").rows()
    assert lines == [("y", 1, "m1, m2", "m1, m2"), ("x", 2, "m1, m2, m3 and 1 more", "m1, m2")]


def test_a_mitigator_of_one_model_shrinks_no_comparison_of_the_others(make_record) -> None:
    wide = {"m1": 0.5, "m2": 0.5, "m3": 0.5}
    frame = over(make_record, {"x": wide, "y": dict.fromkeys(wide, 0.7), "z": {"m3": 0.1}})
    lines = frame.select("mitigator", "rank", "ranked_on", "unranked").rows()
    few = "too few models in common with the other mitigators"
    assert lines == [
        ("x", 1, "m1, m2, m3", None), ("y", 2, "m1, m2, m3", None), ("z", None, None, few)
    ]  # fmt: skip


def gaps(make_record, mitigator: str, gap: float, yardstick: float, **changes):
    """Return records of eight methods with a gap over a yardstick, the second one fair."""
    return [
        record
        for i, family in enumerate(FAMILIES)
        for record in rows(
            make_record, mitigator, {family: 1.0},
            ratio={
                "value": None, "low": None, "high": None, "t": None, "df": 9.0, "of": "y",
                "gap": gap * (i != 1), "gap_error": 0.01, "yardstick": yardstick,
                "yardstick_error": 0.01,
            },
            **changes,
        )
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("gap", "yardstick", "change"),
    [
        (0.2, 0.5, 0.0),  # noise halves both
        (0.4, 2.0, 0.0),  # the yardstick was boosted
        (0.8, 2.0, 0.4),  # both are larger: twice as strong on the model's own scale
        (0.1, 1.0, -0.3),  # bias was removed
        (0.05, 0.5, -0.3),  # bias was removed, and noise was added
        (-0.1, 1.0, -0.3),  # less is left, the other way round
        (-0.6, 1.0, 0.2),  # and more
        (0.4, 0.5, 0.4),  # the yardstick was damaged
    ],
)
def test_a_reduction_holds_by_the_yardsticks_of_both_rows(
    make_record, gap, yardstick, change
) -> None:
    board = only(gaps(make_record, "none", 0.4, 1.0) + gaps(make_record, "x", gap, yardstick))
    line = effect(board, "x")
    assert line["bias"] == pytest.approx(change * 7 / 8, abs=1e-5)
    (row,) = board.rows.filter(mitigator="x").to_dicts()
    assert row["bias"] == pytest.approx(0.4 * 7 / 8 + change * 7 / 8, abs=1e-5)


def test_a_ratio_that_may_be_anything_gives_no_evidence(make_record) -> None:
    """A method whose yardstick is within its error has no interval."""
    sure = gaps(make_record, "none", 0.4, 1.0) + gaps(make_record, "x", 0.1, 1.0)
    line = effect(only(sure), "x")
    assert line["bias_evidence"]
    blurred = [
        record.model_copy(
            update={"ratio": record.ratio.model_copy(update={"yardstick_error": 0.8})}
        )
        if record.mitigator.name == "x" and record.family == "c"
        else record
        for record in sure
    ]
    line = effect(only(blurred), "x")
    assert line["bias"] < 0
    assert (line["bias_low"], line["bias_p"], line["bias_evidence"]) == (None, None, False)


def test_a_change_is_in_the_unit_of_the_reference_encoder(make_record) -> None:
    held = {
        name: Reference(task=name, version=1, kind="text", model="r", gap=0.5, error=0.01,
                        yardstick=1.0, contrasts={})
        for name in FAMILIES
    }  # fmt: skip
    records = gaps(make_record, "none", 0.4, 1.0) + gaps(make_record, "x", 0.1, 1.0)
    (board,) = compile_boards(frame_of(records), references={"text": held})
    assert effect(board, "x")["bias"] == pytest.approx(-0.3 / 0.5 * 7 / 8, abs=1e-5)


def test_a_mitigated_row_is_its_model_plus_the_change(make_record) -> None:
    """Over its own tasks, without leaks, 5 of 34 signs contradicted the change."""
    values = dict(zip(FAMILIES, (0.2, 0.2, 0.2, 0.2, 1.8, 1.8, 1.8, 1.8), strict=True))
    better = {family: 0.9 * value for family, value in values.items()}
    low, high = FAMILIES[:4], FAMILIES[4:]
    board = only(
        rows(make_record, "none", values)
        + rows(make_record, "fitted", {f: better[f] for f in low}, overlap=("she",))
        + rows(make_record, "fitted", {f: better[f] for f in high})
    )
    line = effect(board, "fitted")
    by_label = {row["mitigator"]: row for row in board.rows.to_dicts()}
    model, fitted = by_label["none"], by_label["fitted"]
    assert line["bias"] == pytest.approx(-0.09)
    assert fitted["bias"] == pytest.approx(model["bias"] + line["bias"])
    assert fitted["bias"] < model["bias"] < 0.9, "over its own tasks it would be .81"
    width = fitted["bias_high"] - fitted["bias_low"]
    assert fitted["bias_high"] == pytest.approx(fitted["bias"] + width / 2)


def test_no_sign_of_a_mitigated_row_contradicts_its_change(make_many) -> None:
    board = only(make_many())
    model = board.rows.filter(role="model").select("model", base="bias")
    both = board.rows.filter(role="mitigated").join(model, on="model").join(
        board.effects.filter(baseline="none").select("row", change="bias"), on="row"
    )  # fmt: skip
    assert both.height == 9
    for row in both.to_dicts():
        assert row["bias"] - row["base"] == pytest.approx(row["change"], abs=1e-6)


def test_another_model_changes_no_evidence_of_a_model(make_record) -> None:
    """Holm's correction over the whole board took arrows away when a model joined."""
    records = rows(make_record, "none", around(1.0)) + rows(make_record, "x", around(0.9, 4, 0.1))
    alone = only(records)
    for i in range(6):
        records += rows(make_record, "none", around(1.0, i), f"n{i}")
        for j in range(5):
            records += rows(make_record, f"y{j}", around(1.0, 10 * i + j), f"n{i}")
    more = only(records)
    assert effect(more, "x") == effect(alone, "x")
    assert more.effects.height == 31


def test_a_control_is_shown_and_never_ranked_among_mitigators(make_record) -> None:
    """Noise and planted bias mitigate nothing, whatever they do to a score."""
    own = rows(make_record, "none", around(1.0)) + rows(make_record, "remover", around(0.4, 1))
    control = rows(make_record, "noisy", around(0.1, 2), mitigator__control=True)
    alone, both = only(own), only(own + control)
    noisy, remover = (both.mitigators.row(i, named=True) for i in (0, 1))
    assert (noisy["rank"], noisy["bias"]) == (None, None)
    assert noisy["unranked"] == "a control, no mitigation"
    before = alone.mitigators.row(0, named=True)
    assert remover == before, "nothing changes for the mitigators"
    assert effect(both, "noisy")["bias"] < effect(both, "remover")["bias"], "its change is shown"
