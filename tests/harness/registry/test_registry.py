"""The registry: names become objects; unknown and unavailable ones are errors."""

from __future__ import annotations

import pytest

from harness.errors import (
    HarnessError,
    InvalidFile,
    InvalidOption,
    NameClash,
    Unavailable,
    UnknownName,
)
from harness.registry.discovery import Plugins
from harness.registry.registry import Registry

METRIC = """
    from harness import MetricSpec, hookimpl

    @hookimpl
    def harness_metrics():
        return [MetricSpec(name="mine", target="TARGET")]
"""


def message_of(error, call, *arguments):
    """Return the message of the error that a call raises."""
    with pytest.raises(error) as caught:
        call(*arguments)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("toy-letters?scale=abc", ["model 'toy-letters'", "scale=abc"]),
        ("toy-letters?skale=1", ["model 'toy-letters'", "'skale'", "did you mean 'scale'"]),
        ("toy-letters?nam=x", ["model 'toy-letters'", "'nam'", "did you mean 'name'"]),
        ("toy-letters?card=1", ["model 'toy-letters'", "'card'"]),
        ("toy-words?k=1", ["model 'toy-words'", "'k'"]),
        ("toy:1?reference=x", ["model 'toy'", "'reference'"]),
    ],
)
def test_an_unknown_option_or_invalid_value_for_a_model_is_an_error(registry, name, facts):
    message = message_of(InvalidOption, registry.embedder, name)
    for fact in facts:
        assert fact in message


def test_a_name_of_mitigators_is_a_chain(registry):
    chain = registry.mitigator("toy-shift?k=2+toy-polite?word=now")
    assert [stage.get_params() for stage in chain.mitigators] == [{"k": 2}, {"word": "now"}]
    assert registry.mitigator("none").mitigators == []


@pytest.mark.parametrize(
    ("name", "error", "facts"),
    [
        ("toy-shift?k=abc", InvalidOption, ["'toy-shift'", "k=abc", "integer"]),
        ("toy-shift?j=1", InvalidOption, ["'toy-shift'", "'j'", ": k"]),
        ("toy-shft", UnknownName, ["'toy-shft'", "did you mean 'toy-shift'"]),
        ("toy-shift+toy-shft", UnknownName, ["'toy-shft'"]),
        ("nome", UnknownName, ["'nome'", "did you mean 'none'"]),
    ],
)
def test_an_unknown_mitigator_or_option_is_an_error(registry, name, error, facts):
    message = message_of(error, registry.mitigator, name)
    for fact in facts:
        assert fact in message


def test_an_option_without_a_default_must_be_set(plugin):
    source = """
        from harness import EmbedderSpec, Mitigator, MitigatorSpec, ModelInfo, hookimpl

        @hookimpl
        def harness_mitigators():
            return [MitigatorSpec(name="mine", target="THIS:Mine")]

        @hookimpl
        def harness_embedders():
            return [EmbedderSpec(name="model", target="THIS:Model")]

        class Mine(Mitigator):
            def __init__(self, share: float):
                self.share = share

        class Model:
            def __init__(self, size: int, name: str):
                self.info = ModelInfo(name=name, kind="text", fingerprint=str(size))

            def encode(self, texts):
                return [[1.0] for _ in texts]
    """
    registry = Registry(Plugins([plugin(source)]))
    for look, name, option in (
        (registry.mitigator, "mine", "share"),
        (registry.embedder, "model", "size"),
    ):
        message = message_of(InvalidOption, look, name)
        assert f"'{name}' requires the option '{option}'" in message
    assert registry.mitigator("mine?share=1").mitigators[0].share == 1.0
    assert registry.embedder("model?size=2").info.name == "model?size=2"


def test_an_unknown_engine_metric_task_or_concept_is_an_error(registry):
    assert "did you mean 'local'" in message_of(UnknownName, registry.engine, "lokal", ())
    assert "did you mean 'toy-gap'" in message_of(UnknownName, registry.metric, "toy-gab")
    assert "did you mean 'toy-places'" in message_of(UnknownName, registry.task, "toy-place")
    assert "did you mean 'toy-place'" in message_of(UnknownName, registry.concept, "toy-plays")


def test_a_metric_whose_package_is_missing_is_unavailable(plugin):
    registry = Registry(Plugins([plugin(METRIC.replace("TARGET", "no_such_package:x"))]))
    message = message_of(Unavailable, registry.metric, "mine")
    assert "metric 'mine'" in message
    assert "pip install no_such_package" in message


def test_a_function_that_is_not_decorated_is_no_metric(plugin):
    source = METRIC.replace("TARGET", "THIS:mine") + "\n    def mine(x):\n        return 1\n"
    registry = Registry(Plugins([plugin(source)]))
    assert '@metric("mine", …)' in message_of(HarnessError, registry.metric, "mine")


def test_tasks_and_concepts_come_from_folders_and_files(registry, write):
    path = write("more/mine.yaml", "name: mine")
    write("more/_part.yaml", "not even a name: 1")
    write("more/concepts/own.yaml", "name: own")
    more = Registry(registry.plugins, include=[path.parent])
    assert set(more.task_files) == {*registry.task_files, "mine"}
    assert more.concept("own").name == "own"
    single = Registry(registry.plugins, include=[path])
    assert "mine" in single.task_files


def test_a_name_in_two_files_is_an_error_only_for_who_uses_it(registry, write):
    write("more/one/mine.yaml", "name: mine")
    path = write("more/two/mine.yaml", "name: mine")
    more = Registry(registry.plugins, include=[path.parents[1]])
    assert set(more.task_files) == set(registry.task_files)
    with pytest.raises(NameClash) as caught:
        more.task("mine")
    for fact in ("task 'mine'", str(path), str(path.parents[1] / "one")):
        assert fact in str(caught.value)
    assert more.notices == [f"left out: {caught.value}"]


def test_a_task_without_a_name_is_left_out_and_a_missing_folder_is_an_error(registry, write):
    path = write("more/mine.yaml", "title: x")
    more = Registry(registry.plugins, include=[path])
    assert set(more.task_files) == set(registry.task_files)
    (notice,) = more.notices
    assert f"{path}:1: name: " in notice
    with pytest.raises(InvalidFile, match="absent"):
        _ = Registry(registry.plugins, include=[path.parent / "absent"]).task_files
