"""No change that removes no bias makes a model, or a mitigator, look less biased."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import harness
from harness.arrays import unit_rows
from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.reading import frame_of

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests import gaming  # the tests are no package that is installed

pytestmark = pytest.mark.reference

SMALL = (
    *("seat-c3", "seat-c6", "seat-c7", "seat-c8", "gender-occupations", "age-traits"),
    *("stereoset-gender", "holistic-bias-age", "name-triplets-world"),
)
"""A task or several of each method; `make test-all` has all tasks."""
MODELS = {
    "glove-6b-50d": (),
    "en-core-web-md": (),
    "all-MiniLM-L6-v2": SMALL,
}
ALL = "all-MiniLM-L6-v2, all tasks"


@cache
def bench(model: str) -> gaming.Bench:
    if model == ALL:
        return gaming.Bench.of("all-MiniLM-L6-v2")
    return gaming.Bench.of(model, MODELS[model])


@cache
def judged(model: str) -> dict[str, dict]:
    return {row["row"]: row for row in gaming.judged(bench(model)).iter_rows(named=True)}


every_model = pytest.mark.parametrize(
    "model",
    [
        "glove-6b-50d",
        "en-core-web-md",
        "all-MiniLM-L6-v2",
        pytest.param(ALL, marks=pytest.mark.long),
    ],
)


@every_model
def test_a_nuisance_is_never_better_with_evidence(model):
    rows = judged(model)
    own = rows["as it is"]
    for name in gaming.NUISANCES:
        row = rows[name]
        assert not row["arrow"], f"as a mitigator, {name} gets an arrow"
        if row["high"] is None:  # blurred beyond an interval: behind all others
            continue
        error = (row["high"] - row["low"]) / 2 / 1.96
        assert row["mean"] - own["mean"] > -2.3 * error, f"{name} is better than the model"
        if name.startswith(("noise", "coin")):
            assert row["high"] >= own["high"] - 0.15, f"{name} shows that its bias is low"


@every_model
def test_scale_and_a_constant_change_nothing(model):
    rows = judged(model)
    for name in ("times 7", "a constant of 3"):
        for column in ("mean", "low", "high"):
            assert rows[name][column] == pytest.approx(rows["as it is"][column], rel=1e-3)


@every_model
def test_planted_bias_is_in_its_order_without_and_with_noise(model):
    rows = judged(model)
    for row_of in ("planted {} of its bias", "planted {}, and noise 1"):
        means = [rows[row_of.format(share)]["mean"] for share in ("0", "0.25", "0.5", "1")]
        assert means == sorted(means), row_of


@every_model
def test_random_vectors_show_no_yardstick(model):
    row = judged(model)["random vectors"]
    assert row["clear"] < 0.5 * row["yardsticks"]


def directions(model: gaming.Bench) -> np.ndarray:
    """Return the (k, d) directions of the attributes of the yardsticks of associations."""
    rows = []
    for task in model.tasks:
        for scenario in task.yardstick.scenarios if task.yardstick is not None else ():
            if {"attributes_1", "attributes_2"} <= scenario.inputs.keys():
                first, second = (
                    np.nanmean([model.vectors[t] for t in scenario.inputs[name].texts], axis=0)
                    for name in ("attributes_1", "attributes_2")
                )
                rows.append(first - second)
    return np.unique(np.round(rows, 6), axis=0)


def boosted(along: np.ndarray, times: float) -> gaming.Change:
    """Return a change that makes vectors longer along some directions."""
    basis = np.linalg.qr(along.T)[0]
    return lambda vectors, texts: vectors + (times - 1) * (vectors @ basis) @ basis.T


@pytest.mark.parametrize("model", ["glove-6b-50d", "all-MiniLM-L6-v2"])
@pytest.mark.parametrize("times", [1.5, 2, 3])
def test_a_boosted_yardstick_gets_no_arrow_as_a_mitigator(model, times):
    own = bench(model)
    along = directions(own)
    rows = {"as it is": own.cells(), "boosted": own.cells(boosted(along, times))}
    assert not gaming.summary(rows)["arrow"][1]


@pytest.mark.parametrize("model", ["glove-6b-50d", "all-MiniLM-L6-v2"])
def test_centring_and_components_change_less_than_the_interval(model):
    own = bench(model)
    texts = np.array([row for row in own.vectors.values() if np.isfinite(row).all()])
    mean = texts.mean(axis=0)
    axes = np.linalg.svd(texts[:: max(1, len(texts) // 4000)] - mean, full_matrices=False)[2]

    def without(k):
        return lambda vectors, _: (vectors - mean) - (vectors - mean) @ axes[:k].T @ axes[:k]

    rows = {"as it is": own.cells()} | {f"{k}": own.cells(without(k)) for k in (0, 1, 3)}
    table = gaming.summary(rows)
    first = table.row(0, named=True)
    for row in table.slice(1).iter_rows(named=True):
        assert not row["arrow"]
        half = (row["high"] - row["low"]) / 2 + (first["high"] - first["low"]) / 2
        assert abs(row["mean"] - first["mean"]) < half, f"without {row['row']} components"


def test_words_of_one_gender_at_one_point_lose_their_meaning():
    """Collapsed words have no bias, and a mother is no woman any more."""
    from harness.leaderboard.boards.board import RETAINED
    from harness.run.scoring import gaps_of

    task = harness.Registry().task("meaning-gender-sentences")
    encode = harness.Registry().embedder("all-MiniLM-L6-v2").encode
    texts = list({text: None for i in task.texts() for text in i.texts})
    vectors = dict(zip(texts, unit_rows(encode(texts)), strict=True))
    middle = np.mean(list(vectors.values()), axis=0)
    rng = np.random.default_rng(0)
    point = {t: middle + 0.02 * unit_rows(rng.normal(size=(1, 384)))[0] for t in texts}

    def gap(of):
        rows = gaps_of(task, task.scenarios[0], lambda i: np.array([of[t] for t in i.texts]))
        return rows.gap.value

    assert abs(gap(point)) < RETAINED * gap(vectors)


READ = ("seat-c3", "seat-c6", "stereoset-gender", "name-triplets-world", "bec-pro-en", "ws-353")


@pytest.mark.long
@pytest.mark.parametrize("name", gaming.UNREADING)
def test_a_model_that_cannot_read_is_void_not_fair(name):
    """MiniLM whose tokenizer read each name as unknown had a mean bias of .277."""
    model = gaming.Unreading("all-MiniLM-L6-v2", name)
    own = harness.evaluate("all-MiniLM-L6-v2", READ)
    records = harness.evaluate(model, READ)
    void = {r.task.name for r in records if r.primary and r.value is None}
    assert {"seat-c3", "seat-c6", "name-triplets-world", "bec-pro-en"} <= void
    mean = {row["measures"]: row for row in records.means()}["bias"]
    assert mean["n"] <= 1
    verdict = harness.compare_models(model, "all-MiniLM-L6-v2", tasks=READ)
    judged = {(d.measures, d.name): d.verdict for d in verdict.differences}
    assert judged.get(("bias", "overall")) != "less"
    assert judged["usefulness", "overall"] == "less"
    (board,) = compile_boards(frame_of([*own, *records]))
    complete = dict(board.rows.select("model", "complete").rows())
    assert complete == {"all-MiniLM-L6-v2": True, name: False}  # only complete rows rank
    assert board.rows.filter(model=name)["rank"].item() is None
