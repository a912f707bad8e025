"""`harness.evaluate`: which jobs are run, encoded and recorded."""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np
import pytest

from harness.embedder import ModelInfo
from harness.encode import admission
from harness.errors import UsageError
from harness.results.folder import read
from harness.results.records import NotRunWarning

TIMES = {"run", "created", "seconds"}


def lasting(records):
    """Return records without the fields that differ between runs."""
    return {record.id: record.model_dump(exclude=TIMES) for record in records}


def test_every_text_is_encoded_once(evaluate, toy):
    mitigators = ["none", "toy-shift", "toy-polite", "toy-polite+toy-shift"]
    records = evaluate(tasks=["places"], mitigators=mitigators)
    assert not records.failed
    encoded = [text for text in toy if text not in admission.TEXTS]  # those of the run
    assert len(encoded) == len(set(encoded)) == records.encoded
    assert "calm please" not in toy  # a probe
    assert evaluate(tasks=["similarity"], mitigators=mitigators).encoded == 2  # calm, loud, please


def test_a_second_run_with_the_same_results_does_nothing(evaluate, toy, tmp_path):
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
    on_disk = read([tmp_path]).records
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


def test_a_run_that_ends_leaves_the_file_in_its_order_whatever_was_before(evaluate, tmp_path):
    file = tmp_path / "toy-letters.jsonl"
    whole = evaluate(results=tmp_path)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(reversed(lines[1:])))  # as workers of a killed run may leave it
    for _ in range(2):
        evaluate(results=tmp_path)
        assert [r.id for r in read([file]).records] == [r.id for r in whole]


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
    first = evaluate("toy:2", tasks="toy-places")
    second = evaluate("toy-letters?scale=2", tasks="toy-places")
    assert (first.encoded, second.encoded) == (6, 0)
    assert [r.id for r in first] == [r.id for r in second]
    both = evaluate(["toy:2", "toy-letters?scale=2"], tasks="toy-places")
    assert [r.id for r in both] == [r.id for r in first]


def test_missing_words_are_in_the_record(evaluate, write):
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
    for fact in ("33%", "'targets_1'", "30%"):
        assert fact in gap.reason


@pytest.mark.parametrize("mitigator", ["none", "toy-shift", "toy-polite"])
def test_a_mitigated_model_is_scored_on_its_mitigated_vectors(evaluate, registry, mitigator):
    gap, _, _ = evaluate(tasks="toy-places", mitigators=mitigator)
    letters, chain = registry.embedder("toy-letters"), registry.mitigator(mitigator)
    chain.fit(letters, registry.concept("toy-place"))
    sets = [["village", "farm", "barn"], ["city", "street", "tower"]]
    means = [chain.transform(letters.encode(chain.rewrite(s)), s).mean(axis=0) for s in sets]
    assert gap.value == pytest.approx(float(np.linalg.norm(means[0] - means[1])), rel=1e-5)


def test_any_object_with_encode_is_a_model(evaluate, tmp_path):
    class Lengths:
        def encode(self, texts):
            return np.array([[len(text), 1] for text in texts], dtype=np.float64)

    records = evaluate(Lengths(), "toy-places", results=tmp_path)
    assert {r.model.name for r in records} == {"Lengths"}
    assert records.encoded == 6
    assert evaluate(Lengths(), "toy-places", results=tmp_path).encoded == 6  # shares nothing
    assert not list((tmp_path / "cache").rglob("*.safetensors"))


def test_nothing_is_run_before_every_name_is_looked_up(evaluate, toy, tmp_path):
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


def test_without_a_results_folder_nothing_is_written_but_vectors(evaluate, tmp_path):
    evaluate(tasks="toy-places")
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} <= {"cache", "site-toy"}


def test_a_mitigator_of_texts_is_fitted_once_for_all_tasks_and_probes(
    evaluate, registry_with, plugin
):
    source = """
        from harness import Mitigator, MitigatorSpec, hookimpl

        FITS = []

        @hookimpl
        def harness_mitigators():
            return [MitigatorSpec(name="counted", target="THIS:Counted")]

        class Counted(Mitigator):
            kinds = ("text",)

            def fit(self, embedder, concept=None):
                FITS.append(self)
                self.n_ = 0
                return self

            def rewrite(self, texts):
                self.n_ += len(texts)
                return [text.upper() for text in texts]

            @property
            def notes(self):
                return (f"{self.n_} texts were rewritten",)
    """
    registry = registry_with(plugin(source))
    tasks = ["toy-places", "toy-sentences"]  # toy-sentences has probes
    records = evaluate(tasks=tasks, mitigators="counted+toy-shift", registry=registry)
    assert {r.task.name for r in records} == set(tasks)
    (mitigator,) = import_module(registry.mitigators["counted"].target.split(":")[0]).FITS
    assert mitigator.n_ > 0
    assert records.notices == (f"'counted+toy-shift': {mitigator.n_} texts were rewritten",)


def test_tasks_are_excluded_and_cut_and_named_ones_that_did_not_run_are_told(evaluate):
    records = evaluate("toy-words", "toy,toy-sentences", exclude="toy-ratings", limit=1)
    assert {record.task.name for record in records} == {"toy-places", "toy-places-10"}
    assert {record.limit for record in records} == {1}
    assert records.missed == ("toy-sentences",)
    assert set(records.to_polars()["limit"]) == {1}
    assert "--limit 1" in records._repr_html_()
    assert evaluate("toy-words", "toy*").missed == ()


def test_a_named_task_that_did_not_run_is_a_warning(evaluate):
    with pytest.warns(NotRunWarning, match="toy-sentences: made for text") as caught:
        records = evaluate("toy-words", "toy-places,toy-sentences")
    assert caught[0].filename == evaluate.__code__.co_filename  # where evaluate was called
    assert "not run: 1" in repr(records)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate("toy-words", "toy*")  # a task that only matched a glob


@pytest.mark.parametrize(
    ("languages", "any_language", "runs"),
    [
        (("fr",), False, False),
        (("fr",), True, True),
        (("en", "fr"), False, True),
        (("multilingual",), False, True),
        ((), False, True),
    ],
)
def test_a_task_in_a_language_that_the_card_lacks_is_not_run(
    evaluate, languages, any_language, runs
):
    class Model:
        info = ModelInfo(
            name="model", kind="word", dimensions=3, fingerprint="f", languages=languages
        )

        def encode(self, texts):
            return np.random.default_rng(0).normal(size=(len(texts), 3)).astype(np.float32)

    records = evaluate(Model(), "toy*", any_language=any_language)
    foreign = [entry for entry in records.not_run if entry.kind == "language"]
    assert bool(records) == runs
    assert {entry.task for entry in foreign} == (
        set() if runs else {"toy-places", "toy-places-10", "toy-ratings"}
    )
    assert {entry.reason for entry in foreign} <= {
        "in the language en, the model is for fr; --any-language runs it"
    }


def test_texts_that_mitigators_need_beyond_the_plan_are_counted(evaluate, registry_with, plugin):
    source = """
        from harness import Mitigator, MitigatorSpec, hookimpl

        @hookimpl
        def harness_mitigators():
            return [MitigatorSpec(name="wide", target="THIS:Wide")]

        class Wide(Mitigator):
            def fit(self, embedder, concept=None):
                embedder.encode([f"text {i}" for i in range(50)])
                return self
    """
    registry = registry_with(plugin(source))
    records = evaluate(tasks="toy-places", mitigators=["none", "wide"], registry=registry)
    assert records.encoded == records.texts == 56
