"""The program: help, exit codes, imports, and plugins that failed to load."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

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
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return set(output.rsplit("MODULES", 1)[1].split())


def test_the_help_imports_nothing_heavy():
    heavy = {"numpy", "pydantic", "torch", "scipy", "sklearn", "yaml", "rich", "polars"}
    assert heavy & modules_after("--help") == set()


@pytest.mark.parametrize("kind", ["tasks", "models", "mitigators", "metrics", "concepts"])
def test_lists_import_no_mathematics(kind):
    heavy = {"numpy", "torch", "scipy", "sklearn", "polars", "transformers", "gensim"}
    assert heavy & modules_after("list", kind) == set()


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        (["evla"], ["'evla'", "did you mean 'eval'", "harness --help"]),
        (["eval"], ["--model", "harness eval --help"]),
        (["eval", "--modle", "x"], ["'--modle'", "id you mean", "'--model'"]),
        (["list", "task"], ["'task'; did you mean 'tags' or 'tasks'?"]),
        (["show", "weat"], ["harness show metric weat", "harness list tasks --tag weat"]),
        (["eval", "-m", "x", "--seed", "-1"], ["--seed", "-1"]),
    ],
)
def test_a_wrong_command_line_is_one_line_and_exit_code_2(harness, arguments, facts):
    result = harness(*arguments)
    assert result.code == 2
    assert result.err.startswith("harness: ")
    assert [fact for fact in facts if fact not in result.err] == [], result.err
    assert result.err.count("\n") == 1


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


def test_what_others_print_goes_to_standard_error(harness, install, toy, monkeypatch, tmp_path):
    models = sys.modules["toy_models"]
    encode = models.Letters.encode
    monkeypatch.setattr(models.Letters, "encode", lambda *a: (print("loud"), encode(*a))[1])
    install("loud", {"loud-plugin": "loud_module"}, loud_module="print('loud: imported')")
    run = ["eval", "-m", "toy-letters", "-t", "toy-places", "-M", "none", "--results", tmp_path]
    for arguments in (["list", "metrics"], run):
        result = harness(*arguments, "--json")
        assert json.loads(result.out)
        assert "loud" in result.err


@pytest.mark.posix
def test_an_output_without_some_characters_or_without_a_reader_ends_well():
    command = [
        sys.executable,
        "-c",
        "from harness.commands.main import main; main()",
        "list",
        "tasks",
    ]
    environment = os.environ | {"PYTHONIOENCODING": "cp1252"}
    said = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert (said.returncode, said.stderr) == (0, b"")
    assert b"?" in said.stdout
    reading, writing = os.pipe()
    os.close(reading)
    said = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    assert (said.returncode, said.stderr) == (0, b"")


def test_a_broken_plugin_is_reported_and_the_others_work(harness, install, toy):
    install("broken", {"broken-plugin": "broken_module"}, broken_module=BROKEN)
    result = harness("list", "models", "toy-*", "--json")
    assert result.code == 0
    assert len(json.loads(result.out)) >= 2
    assert result.err.startswith("harness: ")
    assert "'broken-plugin' (broken 1.0)" in result.err
    assert "RuntimeError: out of order" in result.err
    assert result.err.count("\n") == 1


def test_plugins_shows_a_broken_plugin_with_exit_code_1(harness, install, toy):
    install("broken", {"broken-plugin": "broken_module"}, broken_module=BROKEN)
    result = harness("plugins")
    assert result.code == 1
    line = next(line for line in result.out.splitlines() if "broken-plugin" in line)
    assert line.split()[:3] == ["broken-plugin", "broken", "1.0"]
    assert "RuntimeError: out of order" in line
    assert result.err == ""
    rows = {row["plugin"]: row for row in json.loads(harness("plugins", "--json").out)["plugins"]}
    assert rows["broken-plugin"]["error"] == "RuntimeError: out of order"
    assert rows["toy"]["adds"]["mitigators"] == ["toy-shift", "toy-polite"]
    assert rows["toy"]["version"] == "1.0"
    assert rows["toy"]["error"] is None


def test_a_plugin_adds_commands_and_one_that_fails_to_is_reported(harness, install):
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
    result = harness("--help")
    assert "greet" in result.out
    assert "Say hello." in result.out
    assert "'rude' (rude 1.0)" in result.err
    assert "harness_commands: ZeroDivisionError" in result.err
    result = harness("plugins")
    assert result.code == 1
    assert "harness_commands: ZeroDivisionError: division by zero" in result.out


def test_a_name_that_two_plugins_claim_is_an_error_only_where_it_is_used(harness, install, toy):
    source = """
        from harness import MitigatorSpec, hookimpl

        @hookimpl
        def harness_mitigators():
            return [MitigatorSpec(name="toy-shift", target="a:b")]
    """
    install("rival", {"rival": "rival_module"}, rival_module=source)
    facts = ("mitigator 'toy-shift'", "'rival' (rival 1.0)", "'toy' (toy 1.0)")
    listing = harness("list", "mitigators")
    assert listing.code == 0
    assert "toy-polite" in listing.out
    assert listing.err.count("\n") == 1
    used = harness("show", "mitigator", "toy-shift")
    assert used.code == 1
    plugins = harness("plugins")
    assert plugins.code == 1
    for text in (listing.err, used.err, plugins.out):
        assert all(fact in text for fact in facts)


def test_plugins_check_imports_everything(harness, install, toy):
    source = """
        from harness import MetricSpec, hookimpl

        @hookimpl
        def harness_metrics():
            return [MetricSpec(name="gone", target="no_such_module:gone")]
    """
    install("lazy", {"lazy": "lazy_module"}, lazy_module=source)
    assert harness("plugins").code == 0
    result = harness("plugins", "--check")
    assert result.code == 1
    (line,) = [line for line in result.out.splitlines() if line.startswith("FAILED")]
    for fact in ("metric 'gone'", "'no_such_module'", "'lazy' (lazy 1.0)"):
        assert fact in line


def test_an_unexpected_error_is_one_line_and_a_traceback_with_debug(harness, install):
    source = """
        from harness import hookimpl

        @hookimpl
        def harness_commands(group):
            @group.command("stumble")
            def stumble():
                raise KeyError("first\\nsecond")
    """
    install("clumsy", {"clumsy": "clumsy_module"}, clumsy_module=source)
    result = harness("stumble")
    assert result.code == 1
    assert result.err.startswith("harness: ")
    assert "KeyError" in result.err
    assert "--debug" in result.err
    assert result.err.count("\n") == 1
    with pytest.raises(KeyError):
        harness("stumble", "--debug")


def test_a_plugin_cannot_replace_a_command(harness, install):
    source = """
        from harness import hookimpl

        @hookimpl
        def harness_commands(group):
            import click
            group.add_command(click.Command("list", callback=lambda: click.echo("mine")))
            group.add_command(click.Command("greet", callback=lambda: click.echo("hello")))
    """
    install("rival", {"rival": "rival_module"}, rival_module=source)
    assert "mine" not in harness("list", "studies").out
    assert harness("greet").code == 2
    result = harness("plugins")
    assert result.code == 1
    (line,) = [line for line in result.out.splitlines() if line.startswith("FAILED: rival")]
    assert "'list'" in line
