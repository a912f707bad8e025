"""What users read on a terminal: a golden file a command, made with the toy plugin."""

from __future__ import annotations

import json
import re

import pytest

from harness.commands.main import COMMANDS


@pytest.mark.parametrize("name", [*COMMANDS, "leaderboard", "reproduce", "validate-metric"])
def test_help_of_a_command(transcript, golden, name):
    lines = [f"{name} --help"]
    if name == "list":
        lines += [f"list {kind} --help" for kind in ("models", "tasks")]
    if name == "results":
        lines += [
            f"results {action} --help"
            for action in (
                *("show", "export", "items", "figures", "verify"),
                *("pack", "merge", "card"),
            )
        ]
    if name == "cache":
        lines += [f"cache {action} --help" for action in ("info", "prune")]
    if name == "leaderboard":
        lines += [f"leaderboard {action} --help" for action in ("build", "init")]
    golden(f"help/{name}", transcript(*lines))


def test_help_of_the_program(transcript, golden, toy):
    golden("help/harness", transcript("--help"))


def test_list(transcript, golden, toy):
    kinds = ("models", "mitigators", "metrics", "tasks", "concepts", "studies", "benchmarks")
    lines = [*(f"list {kind} toy-" for kind in kinds), "list tags toy"]
    golden("list", transcript(*lines, "list tasks --tag sentenses", "list animals"))


def test_show(transcript, golden, toy):
    lines = (
        "show model toy-letters",
        "show model toy",
        "show mitigator toy-shift?k=3",
        "show mitigator none",
        "show metric toy-gap",
        "show task toy-sentences",
        "show task toy-ratings --scenario default",
        "show concept toy-place",
        "show benchmark toy-board",
        "show benchmark toy-bord",
        "show task toy-plces",
        "show task sentences",
    )
    text = transcript(*lines)
    golden("show", re.sub(r"source: .*/(\w+\.py):\d+", r"source: …/\1:LINE", text))


def test_plugins(transcript, golden, install, toy):
    install("broken", {"broken": "broken_module"}, broken_module="raise RuntimeError('no luck')")
    lines = transcript("plugins").splitlines()
    shown = re.compile(r"plugin|toy|broken|FAILED|\[")
    kept = [lines[0], *(line for line in lines if shown.match(line.lstrip()))]
    golden("plugins", "\n".join(re.sub(" +", " ", line).strip() for line in kept) + "\n")


def test_cache(transcript, golden, harness, toy, tmp_path):
    harness("eval", "-m", "toy-letters", "-t", "toy-places", "-r", tmp_path / "results",
            "--concept", "none")  # fmt: skip
    text = transcript(
        "cache info --cache empty",
        "cache info",
        "cache prune --model toy-leters",
        "cache prune --model toy-letters",
        "cache info",
    )
    golden("cache", re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "DATE AND TIME   ", text))


def test_new(transcript, golden, toy):
    lines = [f"new {kind} my-{kind}" for kind in ("model", "metric", "mitigator", "task")]
    golden("new", transcript(*lines, "new metric toy-gap", "new task my-task", "new metric My"))


def test_schema(harness, golden):
    """The keys of each schema; their descriptions are the docstrings of the models."""
    lines = []
    for kind in ("task", "concept", "study", "benchmark", "run", "record", "study-record"):
        schema = json.loads(harness("schema", kind).out)
        for name, part in {kind: schema, **schema.get("$defs", {})}.items():
            keys = ", ".join(part.get("properties", ())) or f"one of {part.get('enum')}"
            lines.append(f"{'' if name == kind else '  '}{name}: {keys}\n")
    golden("schema", "".join(lines))
