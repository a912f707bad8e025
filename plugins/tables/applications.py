"""Résumés that are equal but for the name, each with a query for its occupation, from JSON."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from harness.errors import InvalidOption, suggestion

SLOT = "{name}"
COLUMNS = ("race", "gender")


class Name(NamedTuple):
    """A full name with the groups of its bearer."""

    full: str
    race: str
    gender: str

    @property
    def surname(self) -> str:
        """The last word of the name."""
        return self.full.rsplit(maxsplit=1)[-1]


def applications(
    rows: Sequence[Mapping[str, Any]],
    *,
    queries: tuple[tuple[str, tuple[str, ...]], ...],
    groups: tuple[str, ...],
    names: int | None = None,
    resumes: int | None = None,
) -> list[dict[str, Any]]:
    """Return a row for each name in each résumé with each query for its occupation.

    Parameters
    ----------
    rows
        Lines of the JSON file, in the column `line`: an object with `names`, an object of genders,
        each an object of races with lists of full names, and `resumes`, an object of occupations
        with lists of texts that have `{name}` once.
    queries
        Occupations, each with the queries for it.
    groups
        What the names are grouped by: `race`, `gender`, or both.
    names
        Number of names of each race and gender. In the order of a hash, those whose surname is
        there the least often come first, so that as many surnames as possible are there. None for
        all.
    resumes
        Number of résumés of each occupation, the first ones. None for all.

    Returns
    -------
    list of dict
        `text`, the résumé in one line, and `query`; `name`, in title case, `occupation`, `race`,
        `gender`; and numbers that count from 0: `group`, in the order of the file; `job`, the
        occupation; `screening`, a résumé with a query: what differs there is the name; `unit`, the
        names of a group that share a surname.

    Raises
    ------
    InvalidOption
        If the lines are no such JSON object, a group is neither of both, an occupation is unknown,
        or a number is below 1.
    """
    if not groups or not {*groups} <= {*COLUMNS}:
        raise InvalidOption(f"applications: groups={list(groups)}: choose of {', '.join(COLUMNS)}")
    for option, number in (("names", names), ("resumes", resumes)):
        if number is not None and number < 1:
            raise InvalidOption(f"applications: {option}={number}: must be at least 1")
    cells, texts = _content(rows)
    chosen = [name for cell in cells for name in _spread(cell)[:names]]
    group_of = _numbered([tuple(getattr(name, key) for key in groups) for name in chosen])
    unit_of = _numbered([(g, name.surname) for g, name in zip(group_of, chosen, strict=True)])
    made: list[dict[str, Any]] = []
    screenings = 0
    for job, (occupation, asked) in enumerate(queries):
        if occupation not in texts:
            raise InvalidOption(
                f"applications: unknown occupation '{occupation}'{suggestion(occupation, texts)}"
            )
        for text in texts[occupation][:resumes]:
            for query in asked:
                made += [
                    {
                        "text": text.replace(SLOT, name.full.title()),
                        "query": query,
                        "name": name.full.title(),
                        "occupation": occupation,
                        "race": name.race,
                        "gender": name.gender,
                        "group": group,
                        "job": job,
                        "screening": screenings,
                        "unit": unit,
                    }
                    for name, group, unit in zip(chosen, group_of, unit_of, strict=True)
                ]
                screenings += 1
    return made


def _content(
    rows: Sequence[Mapping[str, Any]],
) -> tuple[list[list[Name]], dict[str, list[str]]]:
    """Return the names of each race and gender, races first, and the résumés by occupation."""
    try:
        content = json.loads("\n".join(row["line"] for row in rows))
        cells: dict[str, list[list[Name]]] = defaultdict(list)
        for gender, races in content["names"].items():
            for race, full in races.items():
                cells[race].append([Name(str(name), race, gender) for name in full])
        texts = {key: list(map(_in_a_line, of)) for key, of in content["resumes"].items()}
        if any(text.count(SLOT) != 1 for of in texts.values() for text in of):
            raise ValueError(f"a résumé lacks {SLOT}, or has it twice")
    except (KeyError, AttributeError, TypeError, ValueError) as error:
        raise InvalidOption(
            "applications: the column 'line' must hold a JSON object with 'names' and 'resumes' "
            f"({type(error).__name__}: {error})"
        ) from None
    return [cell for of_race in cells.values() for cell in of_race], texts


def _in_a_line(text: object) -> str:
    """Return a text with one blank for each line break and for several blanks."""
    return " ".join(str(text).split())


def _spread(cell: Sequence[Name]) -> list[Name]:
    """Return names in the order of a hash, first one of each surname, then a second one."""
    before: dict[str, int] = defaultdict(int)
    rounds: list[tuple[int, int, Name]] = []
    for name in sorted(cell, key=lambda name: sha256(name.full.encode()).digest()):
        rounds.append((before[name.surname], len(rounds), name))
        before[name.surname] += 1
    return [name for *_, name in sorted(rounds)]


def _numbered(keys: Sequence[Any]) -> list[int]:
    """Return the number of each key, in the order in which they come."""
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return [numbers[key] for key in keys]
