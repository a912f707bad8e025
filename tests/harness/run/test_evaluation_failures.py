"""A failure in a run stops only its own part and is reported: models, metrics, mitigators, data."""

from __future__ import annotations

import numpy as np
import pytest

from harness.embedder import MockEmbedder, ModelInfo
from harness.errors import ModelError, Unavailable
from harness.results.folder import read


def test_a_model_that_cannot_be_had_does_not_stop_the_others(evaluate, registry_with, plugin):
    point = plugin("""
        from harness import EmbedderSpec, hookimpl

        @hookimpl
        def harness_embedders():
            return [EmbedderSpec(name="mine", target="no_such_package:x")]
    """)
    registry = registry_with(point)
    records = evaluate(["mine", "toy-letters"], "toy-places", registry=registry)
    assert len(records) == 3
    (lost,) = records.failed
    assert lost.model == "mine"
    assert "pip install no_such_package" in lost.reason
    with pytest.raises(Unavailable):
        evaluate("mine", "toy-places", registry=registry)


@pytest.mark.parametrize(
    ("returned", "fact"),
    [
        (lambda n: np.ones((n, 3)), "(5, 3) for 5 texts"),
        (lambda n: np.ones((n + 1, 4)), "(6, 4) for 5 texts"),
        (lambda n: np.ones(n), "(5,) for 5 texts"),
        (lambda n: np.ones((n, 4), dtype=int), "int64"),
        (lambda n: None, "floats"),
        (lambda n: 1 / 0, "6 texts"),
    ],
)
def test_a_model_that_returns_no_vectors_fails_and_the_others_go_on(evaluate, returned, fact):
    class Wrong:
        info = ModelInfo(name="wrong", kind="text", dimensions=4, fingerprint="wrong")

        def encode(self, texts):
            return returned(len(texts))

    with pytest.raises(ModelError) as caught:
        evaluate(Wrong(), "toy-places")
    assert fact in str(caught.value)
    assert "'wrong'" in str(caught.value)
    records = evaluate([Wrong(), "toy-letters"], "toy-places")
    assert len(records) == 3
    assert fact in records.failed[0].reason


def test_vectors_with_nan_in_some_dimensions_fail_the_tasks_that_need_them(evaluate):
    class Holes(MockEmbedder):
        def encode(self, texts):
            vectors = super().encode(texts)
            vectors[[i for i, text in enumerate(texts) if text == "barn"], 0] = np.nan
            return vectors

    records = evaluate(Holes(), ["toy-places", "toy-places-10"])
    assert {r.task.name for r in records} == {"toy-places-10"}
    (failed,) = records.failed
    assert "'barn'" in failed.reason
    (notice,) = records.notices
    assert "'barn'" in notice
    assert "NaN" in notice


def test_a_zero_vector_counts_as_missing(evaluate):
    class Zeros(MockEmbedder):
        def encode(self, texts):
            return super().encode(texts) * np.array([[t != "barn"] for t in texts])

    class Named(Zeros):
        def __init__(self):
            super().__init__()
            self.info = ModelInfo(name="zeros", kind="text", dimensions=16, fingerprint="zeros")

        def encode(self, texts):
            return super().encode(texts).astype(np.float32)

    gap, _, _ = evaluate(Named(), "toy-places")
    assert gap.coverage.missing == ("barn",)
    assert (gap.value, gap.reason[:3]) == (None, "33%")


METRIC = """
    from harness import MetricSpec, Scale, Score, metric, hookimpl

    @hookimpl
    def harness_metrics():
        return [MetricSpec(name="mine", target="THIS:mine")]

    @metric("mine", scores={"a": Scale(ideal=0), "b": Scale(ideal=0, bounds=(-1, 1))})
    def mine(targets_1, targets_2):
        BODY
"""
MINE = "metric 'mine' of the plugin 'mine' (? ?)"
TASK = """
    name: mine
    version: 1
    title: Mine
    category: places
    inputs:
      targets_1: {words: [village, farm]}
      targets_2: {words: [city, street]}
    metrics: {mine: {}}
    primary: {metric: mine, score: a}
"""


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return 1 / 0", f"ZeroDivisionError: division by zero (in {MINE})"),
        ("raise ValueError('first\\nsecond')", "ValueError: first"),
        ("raise SystemExit(7)", f"SystemExit: 7 (in {MINE})"),
        ("return {'a': float('nan'), 'b': 1}", f"{MINE}: the score 'a' is nan without a reason"),
        ("return {'a': 1, 'b': 1.01}", f"{MINE}: the score 'b' is 1.01, outside its bounds"),
    ],
)  # fmt: skip
def test_a_metric_that_fails_costs_its_own_task_only(
    evaluate, registry_with, plugin, write, tmp_path, body, reason
):
    registry = registry_with(plugin(METRIC.replace("BODY", body)))
    path = write("mine.yaml", TASK)
    records = evaluate(
        tasks=[str(path), "toy-places"], registry=registry, results=tmp_path / "results"
    )
    assert {r.task.name for r in records} == {"toy-places"}
    (failed,) = records.failed
    assert (failed.task, failed.mitigator) == ("mine", "none")
    assert failed.reason.startswith(reason)
    assert read([tmp_path / "results"]).records == tuple(records)


def test_a_metric_whose_module_fails_costs_its_own_task_only(
    evaluate, registry_with, plugin, write
):
    registry = registry_with(plugin(METRIC.replace("THIS:mine", "THIS:absent")))
    records = evaluate(tasks=[str(write("mine.yaml", TASK)), "toy-places"], registry=registry)
    assert {r.task.name for r in records} == {"toy-places"}
    assert [(entry.task, entry.failed) for entry in records.not_run] == [("mine", True)]
    assert "cannot be imported" in records.failed[0].reason


def test_nan_of_a_metric_is_null_with_a_reason(evaluate, registry_with, plugin, write, tmp_path):
    body = "x = Score(float('nan'), reason='few'); return {'a': x, 'b': x}"
    registry = registry_with(plugin(METRIC.replace("BODY", body)))
    path = str(write("mine.yaml", TASK))
    records = evaluate(tasks=path, registry=registry, results=tmp_path / "results")
    assert [(r.value, r.reason) for r in records] == [(None, "few")] * 2
    assert "NaN" not in (tmp_path / "results" / "toy-letters.jsonl").read_text()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            "def transform(self, vectors, texts): return vectors[1:]",
            "returned an array of shape (2, ",
        ),
        (
            "def transform(self, vectors, texts): return vectors * float('nan')",
            "returned NaN or infinity for 3 of 3 vectors",
        ),
        ("def fit(self, embedder, concept=None): return 1 / 0", "ZeroDivisionError: division by"),
        ("def rewrite(self, texts): return texts[1:]", "rewrote 3 texts as 2"),
    ],
)
def test_a_mitigator_that_fails_costs_its_own_column_only(
    evaluate, registry_with, plugin, body, reason
):
    source = f"""
        from harness import Mitigator, MitigatorSpec, hookimpl

        @hookimpl
        def harness_mitigators():
            return [MitigatorSpec(name="mine", target="THIS:Mine")]

        class Mine(Mitigator):
            {body}
    """
    records = evaluate(
        tasks="toy-places", mitigators=["mine", "none"], registry=registry_with(plugin(source))
    )
    assert {r.mitigator.name for r in records} == {"none"}
    (failed,) = records.failed
    assert "of these failed: 1" in repr(records)
    assert (failed.mitigator, failed.task) == ("mine", "toy-places")
    assert reason in failed.reason


def test_records_are_kept_when_a_run_is_interrupted(
    evaluate, registry_with, plugin, write, tmp_path
):
    registry = registry_with(plugin(METRIC.replace("BODY", "raise KeyboardInterrupt")))
    last = write("mine.yaml", TASK.replace("name: mine", "name: z-last"))
    with pytest.raises(KeyboardInterrupt):
        evaluate(
            tasks=["toy-places", str(last)],
            registry=registry,
            results=tmp_path / "results",
            workers=1,
        )
    kept = read([tmp_path / "results"])
    assert {r.task.name for r in kept.records} == {"toy-places"}
    assert kept.notices == ()
    assert evaluate(tasks="toy-places", results=tmp_path / "results").encoded == 0


def test_a_task_without_its_data_is_skipped_and_the_others_go_on(evaluate, write, monkeypatch):
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    task = TASK.replace("metrics: {mine: {}}", "metrics: {toy-gap: {}}")
    task = task.replace("metric: mine, score: a", "metric: toy-gap, score: gap")
    task += "    tables: {t: {local: absent.csv}}\n"
    task = task.replace("{words: [village, farm]}", "{table: t, column: x}")
    records = evaluate(tasks=[str(write("mine.yaml", task)), "toy-places"])
    assert {r.task.name for r in records} == {"toy-places"}
    (skipped,) = records.skipped
    assert (skipped.task, skipped.mitigator) == ("mine", "none")
    assert "absent.csv" in skipped.reason
    (notice,) = records.notices
    for fact in ("absent.csv", "HARNESS_DATA"):
        assert fact in notice
