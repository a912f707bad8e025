"""Plugins: found by entry points; a plugin that fails is left out."""

from __future__ import annotations

import pytest

from harness.errors import NameClash
from harness.registry.discovery import HOOKS, Plugins
from harness.registry.registry import Registry

GOOD = """
    from harness import MetricSpec, hookimpl

    @hookimpl
    def harness_metrics():
        return [MetricSpec(name="fine", target="THIS:fine")]
"""


def names_of(plugins, hook="harness_metrics"):
    return [spec.name for _, spec in plugins.results(hook)]


def test_a_plugin_that_raises_on_import_is_left_out_and_the_others_load(plugin):
    plugins = Plugins([plugin(GOOD, "good"), plugin("raise RuntimeError('broken\\nbadly')", "bad")])
    assert [(p.name, p.error) for p in plugins.plugins] == [
        ("bad", "RuntimeError: broken; badly"),
        ("good", None),
    ]
    assert names_of(plugins) == ["fine"]


def test_an_unknown_hook_is_reported_with_the_known_ones(plugin):
    point = plugin("from harness import hookimpl\n@hookimpl\ndef harness_metrix():\n    return []")
    (failed,) = Plugins([point]).failed
    for fact in ("'harness_metrix'", *HOOKS):
        assert fact in failed.error


@pytest.mark.parametrize(
    ("body", "facts"),
    [
        ("return 1 / 0", ["ZeroDivisionError: division by zero"]),
        ("return None", ["TypeError", "'NoneType'"]),
        ("return ['fine']", ["'fine'", "MetricSpec"]),
        (
            "from harness import EngineSpec; return [EngineSpec(name='a', target='b:c')]",
            ["EngineSpec(name='a', target='b:c'", "MetricSpec"],
        ),
        ("yield 1", ["it returned 1", "MetricSpec"]),
    ],
)
def test_a_plugin_whose_hook_fails_or_returns_something_else_is_left_out(plugin, body, facts):
    bad = plugin(
        f"from harness import hookimpl\n@hookimpl\ndef harness_metrics():\n    {body}", "b"
    )
    plugins = Plugins([bad, plugin(GOOD, "good")])
    assert names_of(plugins) == ["fine"]
    (failed,) = plugins.failed
    assert failed.name == "b"
    assert failed.error.startswith("harness_metrics: ")
    for fact in facts:
        assert fact in failed.error
    assert set(Registry(plugins).metrics) == {"fine"}


def test_a_name_that_two_plugins_claim_is_an_error_only_for_who_uses_it(plugin):
    other = GOOD.replace('"fine"', '"other"')
    plugins = Plugins([plugin(GOOD, "one"), plugin(GOOD, "two"), plugin(other, "three")])
    registry = Registry(plugins)
    assert list(registry.metrics) == ["other"]
    with pytest.raises(NameClash) as caught:
        registry.metric("fine")
    for fact in ("metric 'fine'", "'one' (? ?)", "'two' (? ?)", "uninstall"):
        assert fact in str(caught.value)
    assert registry.name_errors == [str(caught.value)]


def test_an_invalid_name_is_reported_with_its_plugin_and_the_others_stay(plugin):
    bad = GOOD.replace('"fine"', '"a/b"')
    registry = Registry(Plugins([plugin(bad, "mine"), plugin(GOOD, "good")]))
    assert list(registry.metrics) == ["fine"]
    (line,) = registry.name_errors
    assert "'mine'" in line
    assert "'a/b'" in line


def test_the_built_in_plugins_come_first_and_load():
    plugins = Plugins()
    assert [p for p in plugins.failed if p.module.startswith("harness.")] == []
    own = [plugin.module.startswith("harness.") for plugin in plugins.plugins]
    assert own == sorted(own, reverse=True)
    assert sum(own) >= 5
