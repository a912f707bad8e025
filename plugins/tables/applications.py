"""Résumés that are equal but for a name or a line, each with a query for its job, from JSON."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from harness.errors import InvalidOption, suggestion

SLOT = "{name}"
COLUMNS = ("race", "gender")
NAME = "name"  # the section of names
NOBODY = "Applicant"  # stands for the name in a résumé that differs in something else
FILE = 3  # résumés in a row that make a long document
Place: TypeAlias = Literal["own", "beginning", "middle", "end", "beyond"]


class Name(NamedTuple):
    """A full name with the groups of its bearer, and how many people bear its parts."""

    full: str
    race: str
    gender: str
    births: float = 0
    bearers: float = 0

    @property
    def first(self) -> str:
        """The words before the surname."""
        return self.full.rsplit(maxsplit=1)[0]

    @property
    def surname(self) -> str:
        """The last word of the name."""
        return self.full.rsplit(maxsplit=1)[-1]


class Content(NamedTuple):
    """Names, and the words of the résumés of each occupation, with one word that is the slot."""

    names: list[Name]
    resumes: dict[str, list[list[str]]]


class Variant(NamedTuple):
    """What résumés differ in: a text, its group, what shares something with it, and its section."""

    text: str
    group: int
    unit: str
    kin: str
    section: str = NAME


def applications(
    rows: Sequence[Mapping[str, Any]],
    *,
    queries: tuple[tuple[str, tuple[str, ...]], ...],
    groups: tuple[str, ...] = (),
    sections: tuple[tuple[str, str, tuple[tuple[str, ...], ...]], ...] = (),
    surnames: int | None = None,
    names: int = 1,
    resumes: int | None = None,
    words: int | None = None,
    places: tuple[Place, ...] = ("own",),
    line: str = "{text}",
) -> list[dict[str, Any]]:
    """Return a row for each name or line in each résumé with each query for its occupation.

    Parameters
    ----------
    rows
        Lines of the JSON file, in the column `line`: an object with `names`, an object of genders,
        each an object of races with lists of full names; `births`, by gender the number of
        children with a first name; `bearers`, the number of people with a surname; and `resumes`,
        an object of occupations with lists of texts that have `{name}` once.
    queries
        Occupations, each with the queries for it.
    groups
        What names are grouped by: `race`, `gender`, or both; none for no names.
    sections
        Lines that résumés differ in, too: the name of a section, the line with `{text}`, and the
        texts in tuples that belong together. The first texts of all tuples are one group, the
        second ones another.
    surnames
        Number of surnames of each race that women and men share; None for all that have enough
        names. Those are taken whose length and frequency are on average near to those of the
        other races.
    names
        Number of first names of each gender with each surname, chosen by the same rule, none of
        them twice.
    resumes
        Number of résumés of each occupation, the first ones. None for all.
    words
        Number of words of a résumé, the first ones. None for all.
    places
        Where the name stands: in its `own` place, or in a line at the `beginning`, in the `middle`
        or at the `end`. `beyond` is the end of a document of three résumés of the occupation.
    line
        The line with `{text}` that a name stands in, unless in its own place.

    Returns
    -------
    list of dict
        `text`, the résumé in one line, and `query`; `name`, the name or the text of a line;
        `occupation`, `section` (`name` for names), `place`; and numbers that count from 0: `group`,
        in the order of the file or of the tuple; `job`, the occupation; `screening`, a résumé with
        a query: what differs there is the name or the text; `unit`, a name, or all names with one
        surname where names are grouped by race; `kin`, the surname, or the tuple of a text.

    Raises
    ------
    InvalidOption
        If the lines are no such JSON object, a group is neither of both, an occupation is unknown,
        there are too few names, or a number is below 1.
    """
    if not {*groups} <= {*COLUMNS} or not (groups or sections):
        raise InvalidOption(f"applications: groups={list(groups)}: choose of {', '.join(COLUMNS)}")
    numbers = {"surnames": surnames, "names": names, "resumes": resumes, "words": words}
    for option, number in numbers.items():
        if number is not None and number < 1:
            raise InvalidOption(f"applications: {option}={number}: must be at least 1")
    content = _content(rows)
    variants = _lines(sections)
    if groups:
        chosen = matched_names(content.names, surnames=surnames, names=names)
        of_names = _numbered([tuple(getattr(name, key) for key in groups) for name in chosen])
        variants += [
            Variant(
                name.full.title(),
                group,
                f"{name.race} {name.surname}" if groups == ("race",) else name.full,
                f"{name.race} {name.surname}",
            )
            for name, group in zip(chosen, of_names, strict=True)
        ]
    templates = {NAME: line} | {section: template for section, template, _ in sections}
    units = _numbered([(variant.group, variant.unit) for variant in variants])
    kins = _numbered([variant.kin for variant in variants])
    coded = list(zip(variants, units, kins, strict=True))
    made: list[dict[str, Any]] = []
    for job, (occupation, asked) in enumerate(queries):
        if occupation not in content.resumes:
            near = suggestion(occupation, content.resumes)
            raise InvalidOption(f"applications: unknown occupation '{occupation}'{near}")
        bodies = [body[:words] for body in content.resumes[occupation]]
        for number in range(len(bodies[:resumes])):
            for query, place, (variant, unit, kin) in itertools.product(asked, places, coded):
                in_slot = variant.section == NAME and place == "own"
                template = "{text}" if in_slot else templates[variant.section]
                written = template.replace("{text}", variant.text)
                made.append(
                    {
                        "text": _document(bodies, number, place, written, in_slot=in_slot),
                        "query": query,
                        "name": variant.text,
                        "occupation": occupation,
                        "section": variant.section,
                        "place": place,
                        "group": variant.group,
                        "job": job,
                        "screening": (occupation, number, query, place, variant.section),
                        "unit": unit,
                        "kin": kin,
                    }
                )
    of_rows = _numbered([row["screening"] for row in made])
    return [row | {"screening": number} for row, number in zip(made, of_rows, strict=True)]


def matched_names(
    listed: Sequence[Name], *, surnames: int | None = None, names: int = 1
) -> list[Name]:
    """Return names of each race and gender whose length and frequency are alike on average.

    Women and men of a race have the same surnames, equally many of each, and no first name comes
    twice. First surnames are chosen by their length and the logarithm of their bearers, then first
    names by their length and that of their births.

    Raises
    ------
    InvalidOption
        If a race has too few surnames with enough first names.
    """
    of_surname: dict[tuple[str, str], list[Name]] = defaultdict(list)
    for name in sorted(listed, key=lambda name: sha256(name.full.encode()).digest()):
        of_surname[name.race, name.surname].append(name)
    races = list(dict.fromkeys(name.race for name in listed))
    genders = list(dict.fromkeys(name.gender for name in listed))
    enough = [
        [
            of[0]
            for (race, _), of in of_surname.items()
            if race == r and min(sum(name.gender == g for name in of) for g in genders) >= names
        ]
        for r in races
    ]
    number = min(map(len, enough)) if surnames is None else surnames
    if not 0 < number <= min(map(len, enough)):
        raise InvalidOption(
            f"applications: too few names: {min(map(len, enough))} surnames of a race have {names} "
            f"of each gender, not {number}"
        )
    shared = _matched(enough, number, lambda name: (name.surname, name.bearers))
    cells = [
        [name for one in of for name in of_surname[race, one.surname] if name.gender == gender]
        for race, of in zip(races, shared, strict=True)
        for gender in genders
    ]

    def at_most(name: Name) -> dict[tuple[str, ...], int]:
        """Return how many names may have this first name, and this surname in its cell."""
        return {(name.first,): 1, (name.surname, name.race, name.gender): names}

    of_cells = _matched(cells, number * names, lambda name: (name.first, name.births), at_most)
    return [name for cell in of_cells for name in cell]


def _matched(
    cells: Sequence[Sequence[Name]],
    number: int,
    traits: Callable[[Name], tuple[str, float]],
    at_most: Callable[[Name], Mapping[tuple[str, ...], int]] = lambda name: {},
) -> list[list[Name]]:
    """Return a number of names of each cell with means of length and log frequency that are alike.

    In turn each cell takes the name that brings its mean nearest to the mean over all cells, in
    standard deviations; of equal ones the first. `at_most` says of keys of a name how many of all
    cells may have them.
    """
    points = [
        np.array([(len(text), math.log1p(count)) for text, count in map(traits, cell)])
        for cell in cells
    ]
    common = np.mean([of.mean(axis=0) for of in points], axis=0)
    spread = np.maximum(np.concatenate(points).std(axis=0), 1e-9)
    places: list[list[int]] = [[] for _ in cells]
    limits = [[at_most(name) for name in cell] for cell in cells]
    taken: Counter[tuple[str, ...]] = Counter()
    for count in range(1, number + 1):
        for of, of_cell, chosen in zip(points, limits, places, strict=True):
            free = [
                i
                for i, allowed in enumerate(of_cell)
                if i not in chosen and all(taken[key] < n for key, n in allowed.items())
            ]
            if not free:
                raise InvalidOption(
                    "applications: too few names, since no first name may come twice: lower "
                    "'surnames' or 'names'"
                )
            means = (of[chosen].sum(axis=0) + of[free]) / count
            best = free[int((((means - common) / spread) ** 2).sum(axis=1).argmin())]
            chosen.append(best)
            taken.update(of_cell[best].keys())
    return [[cell[i] for i in chosen] for cell, chosen in zip(cells, places, strict=True)]


def _lines(sections: Sequence[tuple[str, str, tuple[tuple[str, ...], ...]]]) -> list[Variant]:
    """Return the texts of the lines of all sections; texts of one tuple are kin."""
    variants = []
    for section, template, tuples in sections:
        if "{text}" not in template or len({*map(len, tuples)}) != 1:
            raise InvalidOption(
                f"applications: section '{section}': the line must have {{text}}, and all tuples "
                "equally many texts"
            )
        variants += [
            Variant(text, group, f"{section} {text}", f"{section} {number}", section)
            for number, texts in enumerate(tuples)
            for group, text in enumerate(texts)
        ]
    return variants


def _document(
    bodies: Sequence[Sequence[str]], number: int, place: Place, written: str, *, in_slot: bool
) -> str:
    """Return a résumé, or several in a row, with a name in its slot or with a line at a place."""
    last = number + (FILE if place == "beyond" else 1)
    text = " ".join(word for i in range(number, last) for word in bodies[i % len(bodies)])
    if in_slot:
        return text.replace(SLOT, written)
    words = text.replace(SLOT, NOBODY).split()
    at = {"own": 0, "beginning": 0, "middle": len(words) // 2}.get(place, len(words))
    return " ".join([*words[:at], written, *words[at:]])


def _content(rows: Sequence[Mapping[str, Any]]) -> Content:
    """Return the names, by race and then by gender, and the résumés by occupation."""
    try:
        content = json.loads("\n".join(row["line"] for row in rows))
        cells: dict[str, list[Name]] = defaultdict(list)
        for gender, races in content["names"].items():
            for race, listed in races.items():
                for full in map(str, listed):
                    first, surname = full.rsplit(maxsplit=1)
                    births = float(content["births"][gender].get(first, 0))
                    bearers = float(content["bearers"].get(surname, 0))
                    cells[race].append(Name(full, race, gender, births, bearers))
        resumes = {
            key: [str(text).split() for text in of] for key, of in content["resumes"].items()
        }
        if any(" ".join(body).count(SLOT) != 1 for of in resumes.values() for body in of):
            raise ValueError(f"a résumé lacks {SLOT}, or has it twice")
    except (KeyError, AttributeError, TypeError, ValueError) as error:
        raise InvalidOption(
            "applications: the column 'line' must hold a JSON object with 'names', 'births', "
            f"'bearers' and 'resumes' ({type(error).__name__}: {error})"
        ) from None
    return Content([name for cell in cells.values() for name in cell], resumes)


def _numbered(keys: Sequence[Any]) -> list[int]:
    """Return the number of each key, in the order in which they come."""
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return [numbers[key] for key in keys]
