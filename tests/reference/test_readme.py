"""The tables on the first screen of the README are what a user gets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import harness
from harness.commands import result_tables

README = Path(__file__).parents[2] / "README.md"
MODEL = "all-MiniLM-L6-v2"
MITIGATORS = ["none", "normalize", "hard-debias"]
NUMBER = re.compile(r"[+-]?\d+\.\d+")


def lines_of(text: str) -> list[str]:
    """Return the titles, headers and rows of tables, with single spaces and without rules."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return [line for line in lines if line and not set(line) <= set("─…")]


def test_the_tables_are_those_of_the_command(registry, tmp_path):
    block = re.search(rf"^```\n({MODEL}: .*?)^```$", README.read_text("utf-8"), re.M | re.S)
    assert block, "the README shows a table"
    printed = lines_of(block[1])
    tasks = [line.split()[0] for line in printed if NUMBER.search(line)]
    records = harness.evaluate(
        MODEL, tasks, MITIGATORS, registry=registry, cache=tmp_path, concept="gender"
    )
    # Values differ by rounding between machines, and whitespace with the longest task.
    text = result_tables.text(records.select(), intervals=False)
    shown = {NUMBER.sub("", line): line for line in lines_of(text)}
    for line in printed:
        assert NUMBER.sub("", line) in shown, line
        expected, found = (
            [float(number) for number in NUMBER.findall(row)]
            for row in (line, shown[NUMBER.sub("", line)])
        )
        assert found == pytest.approx(expected, abs=0.002), line
