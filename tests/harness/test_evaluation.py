"""The main job from Python: what is run, encoded, recorded, and what a failure costs."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from harness import results as results_files
from harness.embedder import MockEmbedder, ModelInfo
from harness.errors import ModelError, Unavailable, UsageError

TIMES = {"run", "created", "seconds"}


@pytest.fixture
def evaluate(registry):
    def run(model="toy-letters", tasks="all", mitigators="none", **more):
        given = {"registry": registry, "concept": "toy-place"} | more
        return harness.evaluate(model, tasks, mitigators, **given)

    return run


def lasting(records):
    """Return what of records must not depend on when they were made."""
    return {record.id: record.model_dump(exclude=TIMES) for record in records}


def test_every_text_is_encoded_once(evaluate, toy):
    mitigators = ["none", "toy-shift", "toy-polite", "toy-polite+toy-shift"]
    records = evaluate(tasks=["places"], mitigators=mitigators)
    assert not records.failed
    assert len(toy) == len(set(toy)) == records.encoded
    assert "calm please" not in toy  # a probe
    assert evaluate(tasks=["similarity"], mitigators=mitigators).encoded == 2  # calm, loud, please


def test_a_second_run_on_the_results_does_nothing(evaluate, toy, tmp_path):
    first = evaluate(results=tmp_path / "results")
    lines = (tmp_path / "results" / "toy-letters.jsonl").read_bytes()
    toy.clear()
    second = evaluate(results=tmp_path / "results")
    assert (second.encoded, toy) == (0, [])
    assert list(second) == list(first)
    assert (tmp_path / "results" / "toy-letters.jsonl").read_bytes() == lines


def test_a_run_with_other_results_takes_vectors_from_the_store(evaluate, toy, tmp_path):
    first = evaluate(results=tmp_path / "one")
    toy.clear()
    second = evaluate(results=tmp_path / "two")
    assert (second.encoded, toy) == (0, [])
    assert lasting(first) == lasting(second)
    assert {r.run for r in first} != {r.run for r in second}


def test_overwriting_replaces_and_never_doubles(evaluate, tmp_path):
    first = evaluate(results=tmp_path)
    second = evaluate(results=tmp_path, overwrite=True)
    assert {r.run for r in first} != {r.run for r in second}
    on_disk = results_files.read([tmp_path]).records
    assert {r.id: r for r in on_disk} == {r.id: r for r in second}
    assert len((tmp_path / "toy-letters.jsonl").read_bytes().splitlines()) == len(second)
    assert lasting(first) == lasting(second)


def test_a_run_goes_on_with_what_is_missing(evaluate, tmp_path):
    whole = evaluate(results=tmp_path / "whole")
    some = evaluate(tasks="toy-places", results=tmp_path / "torn")
    rest = evaluate(results=tmp_path / "torn")
    assert lasting(rest) == lasting(whole)
    kept = {r.id: r.created for r in some}
    assert {r.id: r.created for r in rest if r.task.name == "toy-places"} == kept


def test_ids_differ_by_seed_model_options_and_mitigator_parameters(evaluate, tmp_path):
    variants = [
        evaluate(tasks="toy-places"),
        evaluate(tasks="toy-places", seed=1),
        evaluate("toy-letters?scale=2", tasks="toy-places"),
        evaluate("toy-words", tasks="toy-places"),
        evaluate(tasks="toy-places", mitigators="toy-shift"),
        evaluate(tasks="toy-places", mitigators="toy-shift?k=2"),
    ]
    assert len({r.id for records in variants for r in records}) == 6 * 3


def test_two_names_of_one_fingerprint_are_one_model(evaluate):
    one = evaluate("toy:2", tasks="toy-places")
    two = evaluate("toy-letters?scale=2", tasks="toy-places")
    assert (one.encoded, two.encoded) == (6, 0)
    assert [r.id for r in one] == [r.id for r in two]
    both = evaluate(["toy:2", "toy-letters?scale=2"], tasks="toy-places")
    assert [r.id for r in both] == [r.id for r in one]


def test_the_records_stand_in_the_order_that_was_asked_for(evaluate):
    records = evaluate(
        ["toy-words", "toy-letters"], ["toy-places", "toy-ratings"], ["toy-shift", "none"]
    )
    order = [(r.model.name, r.task.name, r.mitigator.name) for r in records if r.primary]
    assert order == [
        (model, task, mitigator)
        for model in ("toy-words", "toy-letters")
        for task in ("toy-places", "toy-ratings")
        for mitigator in ("toy-shift", "none")
    ]


def test_words_that_a_vocabulary_lacks_are_in_the_record(evaluate, write):
    task = """
        name: mine
        version: 1
        title: Mine
        category: places
        max_missing: 0.5
        inputs:
          targets_1: {words: [village, farm, hamlet]}
          targets_2: {words: [city, street]}
        metrics: {toy-gap: {}}
        primary: {metric: toy-gap, score: gap}
    """
    path = write("mine.yaml", task)
    gap, items = evaluate("toy-words", str(path))
    assert (gap.coverage.asked, gap.coverage.found, gap.coverage.missing) == (5, 4, ("hamlet",))
    assert items.value == 4
    strict = write("strict.yaml", task.replace("0.5", "0.3").replace("mine", "strict"))
    gap, _ = evaluate("toy-words", str(strict))
    assert gap.value is None
    assert gap.reason == (
        "33% of 'targets_1' has no vector, more than the 30% that the task allows"
    )


@pytest.mark.parametrize("mitigator", ["none", "toy-shift", "toy-polite"])
def test_a_mitigated_model_is_scored_as_its_mitigation_leaves_it(evaluate, registry, mitigator):
    gap, _, _ = evaluate(tasks="toy-places", mitigators=mitigator)
    letters, made = registry.embedder("toy-letters"), registry.mitigator(mitigator)
    made.fit(letters, registry.concept("toy-place"))
    sides = [["village", "farm", "barn"], ["city", "street", "tower"]]
    one, two = (made.transform(letters.encode(made.rewrite(s)), s).mean(axis=0) for s in sides)
    assert gap.value == pytest.approx(float(np.linalg.norm(one - two)), rel=1e-5)


def test_any_object_with_encode_is_a_model(evaluate, tmp_path):
    class Lengths:
        def encode(self, texts):
            return np.array([[len(text), 1] for text in texts], dtype=np.float64)

    records = evaluate(Lengths(), "toy-places", results=tmp_path)
    assert {r.model.name for r in records} == {"Lengths"}
    assert records.encoded == 6
    assert evaluate(Lengths(), "toy-places", results=tmp_path).encoded == 6  # shares nothing
    assert not list((tmp_path / "cache").rglob("*.safetensors"))


def test_several_models_may_be_names_and_objects(evaluate):
    records = evaluate(["toy-letters", MockEmbedder()], "toy-places")
    assert [r.model.name for r in records if r.primary] == ["toy-letters", "mock-text"]


def test_no_name_is_run_before_all_are_known(evaluate, toy, tmp_path):
    for wrong in (
        {"model": ["toy-letters", "toy-leters"]},
        {"model": ["toy-letters", "toy-letters?scale=abc"]},
        {"mitigators": ["none", "toy-shft"]},
        {"mitigators": ["none", "toy-shift?k=abc"]},
        {"tasks": ["toy-places", "toy-plaices"]},
        {"concept": "toy-plaice"},
        {"model": ["toy-letters", 3]},
    ):
        with pytest.raises(UsageError):
            evaluate(**wrong, results=tmp_path / "results")
    assert toy == []
    assert not (tmp_path / "results").exists()


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
    assert (lost.model, lost.reason) == (
        "mine", "model 'mine' needs the package 'no_such_package': pip install no_such_package",
    )  # fmt: skip
    with pytest.raises(Unavailable):
        evaluate("mine", "toy-places", registry=registry)


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        (lambda n: np.ones((n, 3)), "returned an array of shape (6, 3) for 6 texts; it should be"),
        (lambda n: np.ones((n + 1, 4)), "returned an array of shape (7, 4) for 6 texts"),
        (lambda n: np.ones(n), "returned an array of shape (6,) for 6 texts"),
        (lambda n: np.ones((n, 4), dtype=int), "returned int64 where vectors of floats belong"),
        (lambda n: None, "where vectors of floats belong"),
        (lambda n: 1 / 0, "failed on 6 texts, the first of them '"),
    ],
)
def test_a_model_that_returns_something_else_is_told_and_the_others_go_on(evaluate, returned, told):
    class Wrong:
        info = ModelInfo(name="wrong", kind="text", dimensions=4, fingerprint="wrong")

        def encode(self, texts):
            return returned(len(texts))

    with pytest.raises(ModelError) as caught:
        evaluate(Wrong(), "toy-places")
    assert told in str(caught.value)
    assert "'wrong'" in str(caught.value)
    records = evaluate([Wrong(), "toy-letters"], "toy-places")
    assert len(records) == 3
    assert told in records.failed[0].reason


def test_vectors_with_nan_in_some_dimensions_fail_the_tasks_that_need_them(evaluate):
    class Holes(MockEmbedder):
        def encode(self, texts):
            vectors = super().encode(texts)
            vectors[[i for i, text in enumerate(texts) if text == "barn"], 0] = np.nan
            return vectors

    records = evaluate(Holes(), ["toy-places", "toy-places-10"])
    assert {r.task.name for r in records} == {"toy-places-10"}
    (failed,) = records.failed
    assert failed.reason == "1 of its texts could not be encoded, the first is 'barn'"
    assert records.notices == (
        "not encoded: 'barn': its vector has NaN or infinity in some dimensions",
    )


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
    from harness import MetricSpec, Scale, metric, hookimpl

    @hookimpl
    def harness_metrics():
        return [MetricSpec(name="mine", target="THIS:mine")]

    @metric("mine", scores={"a": Scale(ideal=0), "b": Scale(ideal=0)})
    def mine(targets_1, targets_2):
        BODY
"""
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
    ("body", "told"),
    [
        ("return 1 / 0", "ZeroDivisionError: division by zero"),
        ("raise ValueError('first\\nsecond')", "ValueError: first"),
        ("return {'a': 1}", "TypeError: metric 'mine' declares the scores ['a', 'b'] but returned "
         "['a']"),
        ("return 1", "TypeError: metric 'mine' declares the scores ['a', 'b'] but returned ['a']"),
        ("return {'a': 1, 'b': 'high'}", "ValueError: could not convert string to float: 'high'"),
        ("return {'a': 1, 'b': targets_1}", "TypeError: only "),
        ("return None", "TypeError: "),
    ],
)  # fmt: skip
def test_a_metric_that_fails_costs_its_own_task_only(
    evaluate, registry_with, plugin, write, tmp_path, body, told
):
    registry = registry_with(plugin(METRIC.replace("BODY", body)))
    path = write("mine.yaml", TASK)
    records = evaluate(
        tasks=[str(path), "toy-places"], registry=registry, results=tmp_path / "results"
    )
    assert {r.task.name for r in records} == {"toy-places"}
    (failed,) = records.failed
    assert (failed.task, failed.mitigator) == ("mine", "none")
    assert failed.reason.startswith(told)
    assert results_files.read([tmp_path / "results"]).records == tuple(records)


def test_a_metric_whose_module_fails_costs_its_own_task_only(
    evaluate, registry_with, plugin, write
):
    registry = registry_with(plugin(METRIC.replace("THIS:mine", "THIS:absent")))
    records = evaluate(tasks=[str(write("mine.yaml", TASK)), "toy-places"], registry=registry)
    assert {r.task.name for r in records} == {"toy-places"}
    assert [(one.task, one.failed) for one in records.ruled_out] == [("mine", True)]
    assert "cannot be imported" in records.failed[0].reason


def test_nan_of_a_metric_is_null_with_a_reason(evaluate, registry_with, plugin, write, tmp_path):
    body = "return {'a': float('nan'), 'b': float('inf')}"
    registry = registry_with(plugin(METRIC.replace("BODY", body)))
    path = str(write("mine.yaml", TASK))
    records = evaluate(tasks=path, registry=registry, results=tmp_path / "results")
    assert [(r.value, r.reason) for r in records] == [(None, "the metric is undefined here")] * 2
    assert "NaN" not in (tmp_path / "results" / "toy-letters.jsonl").read_text()


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("def transform(self, vectors, texts): return vectors[1:]", "'mine' returned an array of "),
        ("def fit(self, embedder, concept=None): return 1 / 0", "ZeroDivisionError: division by"),
        ("def rewrite(self, texts): return texts[1:]", "a mitigator (Mine) rewrote 3 texts as 2"),
    ],
)
def test_a_mitigator_that_fails_costs_its_own_column_only(
    evaluate, registry_with, plugin, body, told
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
    assert (failed.mitigator, failed.task) == ("mine", "toy-places")
    assert failed.reason.startswith(told)


@pytest.mark.parametrize(
    ("fit", "rewrite", "told"),
    [
        ("embedder.encode(['x'])", "texts", "a mitigator that rewrites texts is fitted before"),
        ("1 / 0", "texts", "ZeroDivisionError: division by zero"),
        ("0", "texts[9:][0]", "IndexError: list index out of range"),
    ],
)
def test_a_mitigator_of_texts_that_fails_costs_its_own_column_only(
    evaluate, registry_with, plugin, fit, rewrite, told
):
    source = f"""
        from harness import Mitigator, MitigatorSpec, hookimpl

        @hookimpl
        def harness_mitigators():
            return [MitigatorSpec(name="mine", target="THIS:Mine")]

        class Mine(Mitigator):
            def fit(self, embedder, concept=None):
                {fit}
                return self
            def rewrite(self, texts):
                return list({rewrite})
    """
    records = evaluate(
        tasks="toy-places", mitigators=["mine", "none"], registry=registry_with(plugin(source))
    )
    assert {r.mitigator.name for r in records} == {"none"}
    assert records.failed[0].reason.startswith(told)


def test_what_was_recorded_stays_when_a_run_is_interrupted(
    evaluate, registry_with, plugin, write, tmp_path
):
    registry = registry_with(plugin(METRIC.replace("BODY", "raise KeyboardInterrupt")))
    last = write("mine.yaml", TASK.replace("name: mine", "name: z-last"))
    with pytest.raises(KeyboardInterrupt):
        evaluate(tasks=["toy-places", str(last)], registry=registry, results=tmp_path / "results")
    kept = results_files.read([tmp_path / "results"])
    assert {r.task.name for r in kept.records} == {"toy-places"}
    assert kept.notices == ()
    assert evaluate(tasks="toy-places", results=tmp_path / "results").encoded == 0


def test_a_task_whose_data_is_not_here_is_told_and_the_rest_goes_on(evaluate, write, monkeypatch):
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    task = TASK.replace("metrics: {mine: {}}", "metrics: {toy-gap: {}}")
    task = task.replace("metric: mine, score: a", "metric: toy-gap, score: gap")
    task += "    tables: {t: {local: absent.csv, how_to_get: Ask.}}\n"
    task = task.replace("{words: [village, farm]}", "{table: t, column: x}")
    records = evaluate(tasks=[str(write("mine.yaml", task)), "toy-places"])
    assert {r.task.name for r in records} == {"toy-places"}
    (one,) = records.ruled_out
    assert (one.task, one.mitigator, one.failed) == ("mine", "none", False)
    assert one.reason == (
        "its data is not here: put 'absent.csv' in the folder that HARNESS_DATA names. Ask."
    )


def test_without_a_results_folder_nothing_is_written_but_vectors(evaluate, tmp_path):
    evaluate(tasks="toy-places")
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} <= {"cache", "site-toy"}


@pytest.mark.parametrize("nothing", [object(), 3, []])
def test_what_is_no_model_is_told(evaluate, nothing):
    with pytest.raises(UsageError, match=r"expected a model's name|no model is asked for"):
        evaluate(nothing, tasks="toy-places")


def test_no_mitigator_and_no_such_device_are_told(evaluate):
    with pytest.raises(UsageError, match="'none' means the model as it is"):
        evaluate(tasks="toy-places", mitigators=[])
    with pytest.raises(UsageError, match="there is no device 'foo'"):
        evaluate(tasks="toy-places", devices="foo")


def test_a_frame_of_no_records_has_the_columns(evaluate):
    whole = evaluate(tasks="toy-places")
    assert whole[:0].to_polars().columns == whole.to_polars().columns
