"""Names become things; what cannot be had is told."""

from __future__ import annotations

import subprocess
import sys

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


def told(error, call, *arguments):
    with pytest.raises(error) as caught:
        call(*arguments)
    return str(caught.value)


def test_a_model_is_made_with_its_options_converted(registry):
    assert registry.embedder("toy-letters").scale == 1.0
    assert registry.embedder("toy-letters?scale=2").info.fingerprint == "letters 2.0"


def test_a_provider_gets_the_reference_and_the_whole_name(registry):
    made = registry.embedder("toy:3")
    assert made.info.name == "toy:3"
    assert made.scale == 3.0


def test_an_unknown_model_is_told_with_the_nearest(registry):
    assert told(UnknownName, registry.embedder, "toy-leters").startswith(
        "unknown model 'toy-leters'; did you mean 'toy-letters'"
    )


def test_a_hub_id_or_a_file_is_told_how_to_write_it(registry, write):
    assert told(UnknownName, registry.embedder, "owner/model").endswith(
        "; for a hub id or a folder write 'sentence-transformers:owner/model'"
    )
    path = write("words.txt", "a 1 2")
    assert told(UnknownName, registry.embedder, str(path)).endswith(
        f"; for a file of word vectors write 'vectors:{path}'"
    )


def test_an_unknown_provider_is_told_with_those_there_are(registry):
    assert told(UnknownName, registry.embedder, "gensin:x") == (
        "unknown model provider 'gensin'; available: toy"
    )


def test_a_provider_without_a_reference_and_a_model_with_one_are_told(registry):
    assert told(InvalidOption, registry.embedder, "toy") == (
        "'toy' is a provider: name a model as 'toy:REFERENCE'"
    )
    assert told(InvalidOption, registry.embedder, "toy-words:x") == (
        "'toy-words' is a model, not a provider: write just its name"
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("toy-letters?scale=abc", "model 'toy-letters': option scale=abc: input should be a valid"),
        ("toy-letters?skale=1", "model 'toy-letters' has no option 'skale'; did you mean 'scale'?"),
        ("toy-letters?card=1", "model 'toy-letters' has no option 'card'"),
        ("toy-words?k=1", "model 'toy-words' has no option 'k'; it takes no options"),
        ("toy:1?name=x", "model 'toy' has no option 'name'; it takes no options"),
        ("toy:1?reference=x", "model 'toy' has no option 'reference'; it takes no options"),
    ],
)
def test_options_that_a_model_does_not_take_are_told(registry, name, said):
    assert told(InvalidOption, registry.embedder, name).startswith(said)


def test_mitigators_come_as_chains(registry):
    chain = registry.mitigator("toy-shift?k=2+toy-polite?word=now")
    assert [stage.get_params() for stage in chain.mitigators] == [{"k": 2}, {"word": "now"}]
    assert registry.mitigator("none").mitigators == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("toy-shift?k=abc", "mitigator 'toy-shift': option k=abc: input should be a valid integer"),
        ("toy-shift?j=1", "mitigator 'toy-shift' has no option 'j'; available: k"),
        ("toy-shft", "unknown mitigator 'toy-shft'; did you mean 'toy-shift'"),
        ("toy-shift+toy-shft", "unknown mitigator 'toy-shft'"),
        ("nome", "unknown mitigator 'nome'; did you mean 'none'?"),
    ],
)
def test_unknown_mitigators_and_options_are_told(registry, name, said):
    assert told((UnknownName, InvalidOption), registry.mitigator, name).startswith(said)


def test_an_unknown_engine_metric_task_and_concept_are_told(registry):
    assert told(UnknownName, registry.engine, "lokal", ()) == (
        "unknown engine 'lokal'; did you mean 'local'?"
    )
    assert "did you mean 'toy-gap'" in told(UnknownName, registry.metric, "toy-gab")
    assert "did you mean 'toy-places'" in told(UnknownName, registry.task, "toy-place")
    assert "did you mean 'toy-place'" in told(UnknownName, registry.concept, "toy-plays")


def test_a_thing_whose_package_is_missing_is_unavailable(plugin):
    registry = Registry(Plugins([plugin(METRIC.replace("TARGET", "no_such_package:x"))]))
    assert told(Unavailable, registry.metric, "mine") == (
        "metric 'mine' needs the package 'no_such_package': pip install no_such_package"
    )


def test_a_thing_that_is_not_in_its_module_is_told(plugin):
    registry = Registry(Plugins([plugin(METRIC.replace("TARGET", "THIS:absent"))]))
    assert told(HarnessError, registry.metric, "mine").startswith("metric 'mine': 'written_plugin_")


def test_a_module_that_raises_when_its_thing_is_used_is_told(plugin):
    broken = plugin("x = 1 / 0", "broken").value
    registry = Registry(Plugins([plugin(METRIC.replace("TARGET", f"{broken}:x"))]))
    assert told(HarnessError, registry.metric, "mine") == (
        f"metric 'mine': '{broken}:x' cannot be imported (ZeroDivisionError: division by zero)"
    )


def test_a_function_that_is_not_decorated_is_no_metric(plugin):
    source = METRIC.replace("TARGET", "THIS:mine") + "\n    def mine(x):\n        return 1\n"
    registry = Registry(Plugins([plugin(source)]))
    assert 'is not decorated with @metric("mine", …)' in told(HarnessError, registry.metric, "mine")


def test_a_class_that_is_no_mitigator_is_told(plugin):
    source = """
        from harness import MitigatorSpec, hookimpl

        @hookimpl
        def harness_mitigators():
            return [MitigatorSpec(name="mine", target="THIS:Mine")]

        class Mine:
            pass
    """
    registry = Registry(Plugins([plugin(source)]))
    assert told(HarnessError, registry.mitigator, "mine") == (
        "mitigator 'mine' is not a subclass of harness.Mitigator"
    )


def test_tasks_and_concepts_come_from_folders_and_files(registry, write):
    path = write("more/mine.yaml", "name: mine")
    write("more/_part.yaml", "not even a name: 1")
    write("more/concepts/own.yaml", "name: own")
    more = Registry(registry.plugins, include=[path.parent])
    assert set(more.task_files) == {*registry.task_files, "mine"}
    assert more.concept("own").name == "own"
    single = Registry(registry.plugins, include=[path])
    assert "mine" in single.task_files


def test_two_files_of_one_name_are_both_named(registry, write):
    path = write("more/mine.yaml", "name: toy-places")
    with pytest.raises(NameClash) as caught:
        _ = Registry(registry.plugins, include=[path]).task_files
    assert "two files claim the task 'toy-places': " in str(caught.value)
    assert str(path) in str(caught.value)


def test_one_folder_given_twice_is_no_clash(registry, write):
    path = write("more/mine.yaml", "name: mine")
    again = path.parent / ".." / "more"
    assert "mine" in Registry(registry.plugins, include=[path.parent, again]).task_files


def test_a_task_without_a_name_and_a_missing_folder_are_told(registry, write):
    path = write("more/mine.yaml", "title: x")
    more = Registry(registry.plugins, include=[path])
    assert set(more.task_files) == set(registry.task_files)
    assert more.notices == [f"left out: {path}:1: name: a task needs a 'name'"]
    with pytest.raises(InvalidFile, match="there is no such file or folder"):
        _ = Registry(registry.plugins, include=[path.parent / "absent"]).task_files


def test_listing_loads_nothing_that_is_listed():
    script = """
import sys
from harness.registry.registry import Registry
registry = Registry()
len(registry.metrics), len(registry.mitigators), len(registry.embedders), len(registry.task_files)
heavy = {"numpy", "torch", "scipy", "sklearn", "polars", "transformers", "gensim"}
print(sorted(heavy & set(sys.modules)))
"""
    said = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert said.stdout == "[]\n"
