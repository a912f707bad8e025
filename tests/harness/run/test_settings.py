"""Settings: the values that callers may give, and the errors for others."""

from __future__ import annotations

import inspect
import re

import pytest

import harness
from harness.embedder import MockEmbedder
from harness.errors import InvalidOption
from harness.run.settings import Settings


@pytest.mark.parametrize("seed", [-1, 1.5, "x", None, True, [1]])
def test_another_seed_is_an_invalid_option(seed):
    with pytest.raises(InvalidOption, match="seed="):
        Settings.of(seed=seed)


@pytest.mark.parametrize(
    ("options", "facts"),
    [
        ({"devices": [0]}, ["devices=[0]", "valid string"]),
        ({"devices": None}, ["devices=None"]),
        ({"include": 3}, ["include=3"]),
        ({"results": 3}, ["results=3", "valid path"]),
        ({"overwrite": "perhaps"}, ["overwrite=perhaps"]),
    ],
)
def test_a_value_of_another_type_is_an_invalid_option(options, facts):
    with pytest.raises(InvalidOption) as caught:
        Settings.of(**options)
    for fact in facts:
        assert fact in str(caught.value)


def test_evaluate_converts_settings(registry, tmp_path):
    def run(**settings):
        return harness.evaluate(MockEmbedder(), "toy-places", registry=registry, **settings)

    folder = str(tmp_path)
    assert len(run(results=folder, include=folder, devices="cpu", engine="local", concept="none"))
    assert len(run(results=folder, devices="cpu,cpu", concept="none"))


@pytest.mark.parametrize("function", [harness.evaluate, harness.debias, harness.run_study])
def test_every_argument_has_its_own_name_default_and_documentation(function):
    parameters = inspect.signature(function).parameters
    documented = re.findall(
        r"^(\w+)$", re.split("Returns|Raises", inspect.getdoc(function))[0], re.MULTILINE
    )
    assert list(parameters) == [name for name in documented if name != "Parameters"]
    for parameter in parameters.values():
        assert parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)


@pytest.mark.parametrize("function", [harness.evaluate, harness.debias, harness.run_study])
def test_a_misspelt_argument_is_a_type_error_that_names_it(function):
    with pytest.raises(TypeError, match="sead"):
        function(sead=1)


@pytest.mark.parametrize(
    ("call", "fact"),
    [
        (lambda: harness.evaluate("x", seed=True), r"^seed=True"),
        (lambda: harness.evaluate("x", devices="foo"), r"'foo'"),
        (lambda: harness.evaluate("x", overwrite="perhaps"), r"^overwrite=perhaps"),
        (lambda: harness.evaluate("x", progress="yes"), r"^progress=yes"),
        (lambda: harness.evaluate("x", exclude=3), r"^exclude=3"),
        (lambda: harness.run_study("gender-hard-soft", workers=0), r"^workers=0"),
        (lambda: harness.run_study("gender-hard-soft", workers="4"), r"^workers=4"),
        (lambda: harness.run_study("gender-hard-soft", include=3), r"^include=3"),
        (lambda: harness.debias("x", "none", "y.txt", include=3), r"^include=3"),
    ],
)
def test_an_invalid_value_is_told_by_the_name_of_its_argument(call, fact):
    with pytest.raises(InvalidOption, match=fact):
        call()
