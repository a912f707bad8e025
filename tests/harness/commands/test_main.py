"""The command itself: help, exit codes, what is imported, and plugins that were left out."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from harness import __version__
from harness.commands.main import COMMANDS

BROKEN = "raise RuntimeError('out of order')"


def modules_after(*arguments):
    """Return the modules that are loaded after a command, in a process of its own."""
    script = f"""
import sys
from harness.commands import main
code = main.run({list(arguments)!r})
print("\\nMODULES", *sorted(sys.modules))
sys.exit(code)
"""
    command = [sys.executable, "-c", script]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return set(said.rsplit("MODULES", 1)[1].split())


def test_the_help_names_every_command(harness):
    said = harness("--help")
    assert said.code == 0
    for name, (_, line) in COMMANDS.items():
        assert name in said.out
        assert line[:40] in said.out


def test_the_help_imports_nothing_heavy():
    heavy = {"numpy", "pydantic", "torch", "scipy", "sklearn", "yaml", "rich", "polars"}
    assert heavy & modules_after("--help") == set()


@pytest.mark.parametrize("kind", ["tasks", "models", "mitigators", "metrics", "concepts"])
def test_lists_import_no_mathematics(kind):
    heavy = {"numpy", "torch", "scipy", "sklearn", "polars", "transformers", "gensim"}
    assert heavy & modules_after("list", kind) == set()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(harness, name):
    said = harness(name, "--help")
    assert said.code == 0
    assert f"Usage: harness {name}" in said.out


@pytest.mark.parametrize(
    ("name", "examples"),
    [
        (
            "eval",
            [
                "harness eval --model all-MiniLM-L6-v2 --mitigator none --mitigator hard-debias "
                "--tasks all",
                "harness eval -m vectors:./my-vectors.txt -t 'weat-*' -t similarity",
            ],
        ),
        (
            "new",
            [
                "harness new metric my-metric && pip install -e ./harness-my-metric",
                "harness new task my-task && harness validate my-task.yaml",
            ],
        ),
        ("completion", ["harness completion bash >> ~/.bashrc"]),
    ],
)
def test_examples_stand_on_lines_of_their_own(harness, name, examples):
    said = harness(name, "--help").out
    assert set(examples) <= {line.strip() for line in said.splitlines()}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_help_shows_marks_that_are_for_click(harness, name):
    said = harness(name, "--help").out
    assert "\\b" not in said
    assert "\b" not in said


def test_the_version_is_told(harness):
    assert harness("--version").out == f"harness, version {__version__}\n"


def test_an_unknown_command_is_told_with_the_nearest(harness):
    said = harness("evla")
    assert said.code == 2
    assert said.err == (
        "harness: there is no command 'evla'; did you mean 'eval'? (harness --help tells more)\n"
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["eval"], "missing option '--model' / '-m' (harness eval --help tells more)"),
        (["eval", "--modle", "x"], "no such option '--modle'; did you mean '--model'?"),
        (["cache", "prun"], "no such command 'prun'; did you mean 'prune'?"),
        (["show"], "Choose from: model, mitigator, metric, task, concept"),
        (["eval", "-m", "x", "--seed", "-1"], "-1 is not in the range x>=0"),
        (["list", "animals"], "no such command 'animals'"),
        (["show", "animal", "x"], "'animal' is not one of 'model', "),
        (["completion", "basic"], "'basic' is not one of 'bash', 'zsh', 'fish'"),
    ],
)
def test_a_line_that_cannot_be_understood_is_told_and_leaves_with_2(harness, arguments, told):
    said = harness(*arguments)
    assert said.code == 2
    assert said.err.startswith("harness: ")
    assert told in said.err
    assert said.err.count("\n") == 1


def test_a_group_without_a_command_shows_its_help(harness):
    said = harness("list")
    assert said.code == 2
    assert "Usage: harness list" in said.err
    assert "  tasks" in said.err


def test_completion_scripts_are_for_our_command(harness):
    for shell in ("bash", "zsh", "fish"):
        said = harness("completion", shell)
        assert said.code == 0
        assert "_HARNESS_COMPLETE" in said.out


def test_names_are_completed(toy):
    from click.shell_completion import ShellComplete

    from harness.commands.main import group

    complete = ShellComplete(group, {}, "harness", "_HARNESS_COMPLETE")

    def completed(arguments, incomplete):
        return {item.value for item in complete.get_completions(arguments, incomplete)}

    assert completed(["eval", "--model"], "toy-l") == {"toy-letters"}
    assert completed(["eval", "--tasks"], "toy-p") == {"toy-places", "toy-places-10"}
    assert completed(["eval", "--mitigator"], "no") >= {"none"}
    assert completed(["plan", "--concept"], "toy-b") == {"toy-bare"}
    assert "eval" in completed([], "ev")


def test_a_broken_plugin_is_told_and_the_others_go_on(harness, install, toy):
    install("broken", {"broken-plugin": "broken_module"}, broken_module=BROKEN)
    said = harness("list", "models", "toy-*", "--json")
    assert said.code == 0
    assert len(json.loads(said.out)) >= 2
    assert said.err == (
        "harness: the plugin 'broken-plugin' (broken 1.0) was left out: "
        "RuntimeError: out of order\n"
    )


def test_plugins_shows_the_broken_one_and_leaves_with_1(harness, install, toy):
    install("broken", {"broken-plugin": "broken_module"}, broken_module=BROKEN)
    said = harness("plugins")
    assert said.code == 1
    line = next(line for line in said.out.splitlines() if "broken-plugin" in line)
    assert line.split()[:3] == ["broken-plugin", "broken", "1.0"]
    assert "FAILED RuntimeError: out of order" in line
    assert said.err == ""
    rows = {row["plugin"]: row for row in json.loads(harness("plugins", "--json").out)}
    assert rows["broken-plugin"]["error"] == "RuntimeError: out of order"
    assert rows["toy"]["adds"]["mitigators"] == ["toy-shift", "toy-polite"]
    assert rows["toy"]["version"] == "1.0"
    assert rows["toy"]["error"] is None


def test_plugins_without_a_broken_one_leaves_with_0(harness, toy):
    said = harness("plugins")
    assert said.code == 0
    assert "2 mitigators: toy-shift, toy-polite" in said.out
    assert "builtin-engines" in said.out


def test_a_plugin_adds_commands_and_one_that_fails_to_is_told(harness, install):
    source = """
        from harness import hookimpl

        @hookimpl
        def harness_commands(group):
            import click
            @group.command("greet")
            def greet():
                "Say hello."
                click.echo("hello")
    """
    install("polite", {"polite": "polite_module"}, polite_module=source)
    broken = "from harness import hookimpl\n@hookimpl\ndef harness_commands(group):\n    1 / 0"
    install("rude", {"rude": "rude_module"}, rude_module=broken)
    assert harness("greet").out == "hello\n"
    said = harness("--help")
    assert "greet" in said.out
    assert "Say hello." in said.out
    assert "'rude' (rude 1.0) was left out: harness_commands: ZeroDivisionError" in said.err
    said = harness("plugins")
    assert said.code == 1
    assert "FAILED harness_commands: ZeroDivisionError: division by zero" in said.out


def test_two_plugins_with_one_name_are_both_named(harness, install, toy):
    source = """
        from harness import MitigatorSpec, hookimpl

        @hookimpl
        def harness_mitigators():
            return [MitigatorSpec(name="toy-shift", target="a:b")]
    """
    install("rival", {"rival": "rival_module"}, rival_module=source)
    said = harness("list", "mitigators")
    assert said.code == 1
    assert said.err == (
        "harness: two plugins claim the mitigator 'toy-shift': 'rival' (rival 1.0) and "
        "'toy' (toy 1.0); uninstall one of them\n"
    )


def test_an_unforeseen_error_is_one_line_unless_asked_for(harness, install):
    source = """
        from harness import hookimpl

        @hookimpl
        def harness_commands(group):
            @group.command("stumble")
            def stumble():
                raise KeyError("first\\nsecond")
    """
    install("clumsy", {"clumsy": "clumsy_module"}, clumsy_module=source)
    said = harness("stumble")
    assert said.code == 1
    assert said.err.startswith("harness: unforeseen KeyError: ")
    assert said.err.endswith(" (--debug shows where)\n")
    assert said.err.count("\n") == 1
    with pytest.raises(KeyError):
        harness("stumble", "--debug")
