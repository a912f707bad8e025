"""Choices between a group that raters connect with an attribute and one that they do not."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal

from harness.errors import InvalidOption, suggestion

Others = Literal["rejected", "unlisted"]


def rated_choices(
    rows: Sequence[Mapping[str, Any]],
    *,
    group: str,
    attribute: str,
    yes: str,
    no: tuple[str, ...],
    least: float = 0.66,
    others: Others = "rejected",
    words: int | None = None,
    most: int | None = None,
    without: tuple[str, ...] = (),
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Return a row for each choice: an attribute, a stereotyped group and another group.

    Each row of the table is a pair of a group and an attribute, with numbers of raters. A group is
    stereotyped if at least the share `least` of its raters call the pair a stereotype. The other
    group is one for which no rater does: `rejected`, with the same attribute and asked about, or
    `unlisted`, of the table and never listed with the attribute. Of the rejected groups of an
    attribute each is taken once; who stands against whom is drawn by a hash, and so is the
    unlisted group. The result is the same with all library versions.

    Parameters
    ----------
    rows
        Rows of a table.
    group, attribute
        Columns with the texts of the pair. Of pairs that are listed twice, the first counts.
    yes, no
        Column with the number of raters who call the pair a stereotype, and columns with the
        numbers of the other raters.
    least
        Lowest share of raters that makes a stereotype.
    others
        Which groups a stereotyped one is set against.
    words
        Most words of a group and of an attribute: word models know single words. None for all.
    most
        Most choices. Attributes with many of them come first, so that few texts make many.
    without
        Attributes to leave out.
    seed
        Seed of the draws.

    Returns
    -------
    list of dict
        `attribute`, `stereotyped` and `other`, texts; `term`, the number of the attribute.

    Raises
    ------
    InvalidOption
        If a column is missing, a cell is no number of raters, or no choice is left.
    """
    for i, row in enumerate(rows, start=1):
        for column in (group, attribute, yes, *no):
            if column not in row:
                hint = suggestion(column, row)
                raise InvalidOption(f"rated-choices: row {i} has no column '{column}'{hint}")
    shares: dict[str, dict[str, float]] = {}  # of an attribute: its groups and their shares
    for i, row in enumerate(rows, start=1):
        of = shares.setdefault(str(row[attribute]).strip(), {})
        of.setdefault(str(row[group]).strip(), _share(row, yes, no, i))
    groups = sorted({name for of in shares.values() for name in of if _is_short(name, words)})
    choices: dict[str, list[tuple[str, str]]] = {}
    for text, of in shares.items():
        if text in without or not _is_short(text, words):
            continue
        called = [name for name in groups if of.get(name, -1.0) >= least]
        if others == "rejected":
            rejected = [name for name in groups if of.get(name) == 0]
            a, b = (_shuffled(names, text, seed) for names in (called, rejected))
            choices[text] = list(zip(a, b, strict=False))
        else:
            unlisted = [name for name in groups if name not in of]
            choices[text] = [
                (name, unlisted[_number(seed, text, name) % len(unlisted)])
                for name in called
                if unlisted
            ]
    largest = sorted(choices, key=lambda text: -len(choices[text]))  # ties: as they come
    made = [
        {"attribute": text, "stereotyped": called, "other": other, "term": term}
        for term, text in enumerate(largest)
        for called, other in choices[text]
    ]
    if not made:
        raise InvalidOption("rated-choices: no attribute has a stereotyped and another group")
    return made[:most]


def _share(row: Mapping[str, Any], yes: str, no: Sequence[str], i: int) -> float:
    """Return the share of the raters of a row who call its pair a stereotype."""
    try:
        called, *rest = (int(row[column]) for column in (yes, *no))
    except (TypeError, ValueError) as error:
        raise InvalidOption(f"rated-choices: row {i}: no number of raters ({error})") from None
    total = called + sum(rest)
    if called < 0 or min(rest, default=0) < 0 or total == 0:
        raise InvalidOption(f"rated-choices: row {i}: {called} of {total} raters")
    return called / total


def _is_short(text: str, words: int | None) -> bool:
    return bool(text) and (words is None or len(text.split()) <= words)


def _shuffled(names: Sequence[str], text: str, seed: int) -> list[str]:
    return sorted(names, key=lambda name: _number(seed, text, name))


def _number(seed: int, text: str, name: str) -> int:
    """Return a number that is random and depends on nothing else."""
    return int.from_bytes(sha256(json.dumps([seed, text, name]).encode()).digest()[:8])
