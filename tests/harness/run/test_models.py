"""The models of a run: names, embedders, objects, functions, and what plugins adapt."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from harness.errors import ModelError, UsageError
from harness.run import evaluation


class Plain:
    def encode(self, texts):
        return [[1, len(text)] for text in texts]


class Iterable(Plain):
    def __iter__(self):
        return iter([1, 2])


ADAPTER = """
    from harness import AdapterSpec, hookimpl
    from harness.embedder import MockEmbedder

    @hookimpl
    def harness_adapters():
        return [AdapterSpec(name="builtins.frozenset", target="THIS:adapt")]

    def adapt(model):
        if "broken" in model:
            raise ValueError("no such thing")
        return MockEmbedder(dimensions=len(model)) if model else None
"""


@pytest.mark.parametrize("value", [3, None, object(), {"encode": 1}, Plain])
def test_what_is_no_model_is_refused(value, registry):
    with pytest.raises(UsageError, match=r"encode\(texts\)") as caught:
        evaluation.embedder_of(value, registry)
    name = value.__name__ if isinstance(value, type) else type(value).__name__
    assert name in str(caught.value)


def test_a_plugin_adapts_objects_of_a_class(registry_with, plugin):
    registry = registry_with(plugin(ADAPTER))
    assert evaluation.embedder_of(frozenset("abc"), registry).info.dimensions == 3
    (adapted,) = evaluation.as_list(frozenset("ab"), registry)
    assert adapted.info.dimensions == 2
    with pytest.raises(UsageError):
        evaluation.embedder_of(frozenset(), registry)
    with pytest.raises(ModelError, match="no such thing"):
        evaluation.embedder_of(frozenset(["broken"]), registry)


def test_results_of_two_objects_of_one_name_are_never_mixed_up(evaluate, tmp_path):
    class Fixed:
        name = "mine"

        def __init__(self, column):
            self.column = np.asarray(column, dtype=float)

        def encode(self, texts):
            return np.array([[len(text), *self.column] for text in texts])

    options = {"tasks": "toy-places", "results": tmp_path / "results"}
    first = evaluate(Fixed([1]), **options)
    second = evaluate(Fixed([2]), **options)
    again = evaluate(Fixed([1]), **options)
    assert [records.encoded for records in (first, second, again)] == [6, 6, 6]
    assert {record.id for record in first} & {record.id for record in second} == set()
    assert len(harness.read_results(tmp_path / "results")) == 3 * len(first)


def test_the_user_is_told_once_that_results_of_an_object_cannot_be_used_again(evaluate):
    options = {"tasks": ["toy-places", "toy-places-10"], "concept": None}
    (notice,) = evaluate(Plain(), **options).notices
    assert "fingerprint" in notice
    known = Plain()
    known.fingerprint = "version 1"
    assert evaluate(known, **options).notices == ()
    assert evaluate(known, "toy-places").encoded == 0


def test_a_function_from_texts_to_vectors_is_evaluated(evaluate):
    def lengths(texts):
        return np.array([[len(text), 1] for text in texts])

    records = evaluate(lengths, "toy-places")
    assert {record.model.name for record in records} == {"lengths"}
    assert records.encoded == 6
