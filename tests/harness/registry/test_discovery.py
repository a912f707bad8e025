"""Plugins: found by entry points, failures set aside by name."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from harness.errors import HarnessError, NameClash, UnknownName
from harness.registry.discovery import HOOKS, Plugins
from harness.registry.registry import Registry

GOOD = """
    from harness import MetricSpec, hookimpl

    @hookimpl
    def harness_metrics():
        return [MetricSpec(name="fine", target="THIS:fine")]
"""


def names_of(plugins, hook="harness_metrics"):
    return [thing.name for _, thing in plugins.results(hook)]


def test_a_plugin_that_raises_on_import_is_set_aside_and_the_others_go_on(plugin):
    plugins = Plugins([plugin(GOOD, "good"), plugin("raise RuntimeError('broken\\nbadly')", "bad")])
    assert [(p.name, p.error) for p in plugins.plugins] == [
        ("bad", "RuntimeError: broken"),
        ("good", None),
    ]
    assert names_of(plugins) == ["fine"]


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import no_such_package", "ModuleNotFoundError: No module named 'no_such_package'"),
        ("def", "SyntaxError: invalid syntax"),
        ("raise SystemExit(3)", "SystemExit: 3"),
    ],
)
def test_whatever_a_plugin_raises_is_told(plugin, source, told):
    plugins = Plugins([plugin(source, "bad"), plugin(GOOD, "good")])
    (failed,) = plugins.failed
    assert failed.error.startswith(told)
    assert names_of(plugins) == ["fine"]


def test_a_module_that_is_not_there_is_set_aside(plugin):
    plugins = Plugins([EntryPoint("bad", "no_such_module_at_all", "harness"), plugin(GOOD, "good")])
    assert plugins.failed[0].error.startswith("ModuleNotFoundError")
    assert names_of(plugins) == ["fine"]


def test_an_unknown_hook_is_told_with_those_there_are(plugin):
    point = plugin("from harness import hookimpl\n@hookimpl\ndef harness_metrix():\n    return []")
    (failed,) = Plugins([point]).failed
    assert failed.error == (
        f"it implements the unknown hook 'harness_metrix'; hooks: {', '.join(HOOKS)}"
    )


def test_an_unmarked_function_is_no_hook(plugin):
    point = plugin("def harness_metrics():\n    return 1/0")
    plugins = Plugins([point])
    assert names_of(plugins) == []
    assert not plugins.failed


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("return 1 / 0", "harness_metrics: ZeroDivisionError: division by zero"),
        ("return None", "harness_metrics: TypeError: 'NoneType' object is not iterable"),
        ("return ['fine']", "harness_metrics: it returned 'fine' where MetricSpec is expected"),
        (
            "from harness import EngineSpec; return [EngineSpec(name='a', target='b:c')]",
            "harness_metrics: it returned EngineSpec(name='a', target='b:c', summary='') where "
            "MetricSpec is expected",
        ),
        ("yield 1", "harness_metrics: it returned 1 where MetricSpec is expected"),
    ],
)
def test_a_hook_that_fails_or_returns_something_else_is_set_aside(plugin, body, told):
    bad = plugin(
        f"from harness import hookimpl\n@hookimpl\ndef harness_metrics():\n    {body}", "b"
    )
    plugins = Plugins([bad, plugin(GOOD, "good")])
    assert names_of(plugins) == ["fine"]
    assert [(p.name, p.error) for p in plugins.failed] == [("b", told)]
    assert set(Registry(plugins).metrics) == {"fine"}


def test_a_hook_that_takes_arguments_is_set_aside(plugin):
    bad = plugin("from harness import hookimpl\n@hookimpl\ndef harness_metrics(x):\n    return []")
    plugins = Plugins([bad, plugin(GOOD, "good")])
    assert names_of(plugins) == ["fine"]
    assert plugins.failed


def test_two_plugins_that_claim_one_name_are_both_named(plugin):
    plugins = Plugins([plugin(GOOD, "one"), plugin(GOOD, "two")])
    with pytest.raises(NameClash) as caught:
        _ = Registry(plugins).metrics
    assert str(caught.value) == (
        "two plugins claim the metric 'fine': 'one' (? ?) and 'two' (? ?); uninstall one of them"
    )


def test_two_distributions_may_give_their_entry_points_one_name(plugin):
    plugins = Plugins([plugin(GOOD, "same"), plugin(GOOD.replace("fine", "other"), "same")])
    assert names_of(plugins) == ["fine", "other"]
    assert not plugins.failed


def test_a_plugin_that_is_named_twice_is_used_once(plugin):
    one = plugin(GOOD, "one")
    plugins = Plugins([one, EntryPoint("two", one.value, one.group)])
    assert names_of(plugins) == ["fine"]
    assert [p.name for p in plugins.failed] == ["two"]


def test_a_name_that_cannot_be_typed_is_told_with_its_plugin(plugin):
    plugins = Plugins([plugin(GOOD.replace('"fine"', '"a/b"'), "mine")])
    with pytest.raises(HarnessError, match="plugin 'mine' registers the metric 'a/b'"):
        _ = Registry(plugins).metrics


def test_a_plugin_may_use_a_namespace_of_its_own(plugin):
    source = "harness_version = 3\nclass harness_thing: pass\ndef harness_help(): pass\n"
    assert not Plugins([plugin(source)]).failed


def test_without_any_plugin_there_is_nothing():
    registry = Registry(Plugins([]))
    assert registry.embedders == registry.metrics == registry.task_files == {}
    with pytest.raises(UnknownName, match=r"^unknown metric 'weat'$"):
        registry.metric("weat")


def test_the_built_in_plugins_come_first_and_load():
    plugins = Plugins()
    assert [p for p in plugins.failed if p.module.startswith("harness.")] == []
    own = [plugin.module.startswith("harness.") for plugin in plugins.plugins]
    assert own == sorted(own, reverse=True)
    assert sum(own) >= 5
