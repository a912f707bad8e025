"""Queries in three variants from a JSON object."""

from __future__ import annotations

import json

import pytest

from harness.plugins.tables.query_variants import query_variants

TOPICS = {
    "0_F": {"0": ["nurses", "female nurses", "male nurses"]},
    "4_M": {"0": ["ceos", "male ceos", "female ceos"], "7": ["bosses", "male bosses", "her boss"]},
}


def lines(content: str) -> list[dict[str, str]]:
    return [{"line": line} for line in content.splitlines()]


@pytest.mark.parametrize("indent", [None, 4])
def test_each_query_becomes_a_row_with_the_gender_of_its_topic(indent):
    rows = query_variants(lines(json.dumps(TOPICS, indent=indent)))
    assert [row["neutral"] for row in rows] == ["nurses", "ceos", "bosses"]
    assert rows[1] == {"topic": 4, "stereotype": "male", "neutral": "ceos", "own": "male ceos",
                       "other": "female ceos"}  # fmt: skip
