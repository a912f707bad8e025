"""Perturbed texts: K copies of each text, each with other people or countries.

The names change and the meaning does not, so a model without name bias finds all copies similar.
Gender is ignored: Mike may become Anna and remain a brother.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from harness.concept import Concept
from harness.digest import digest
from harness.errors import InvalidOption, suggestion

from ..texts.spacy_mentions import MODEL, SpacyMentions
from .named_texts import column_of
from .slots import slots

What: TypeAlias = Literal["people", "countries", "both"]
K = 20  # section 3.1


def name_perturbations(
    rows: Sequence[Mapping[str, Any]],
    *,
    column: str = "text",
    what: What = "both",
    people: str = "people",
    countries: str = "countries",
    concept: Concept | None,
    k: int = K,
    seed: int = 0,
    model: str = MODEL,
) -> list[dict[str, Any]]:
    """Return `k` perturbations of each text that names a person or a country.

    In one perturbation, each person in a text gets a name from the list, drawn without
    replacement. It replaces all mentions of that person, full or partial. Countries are replaced
    in the same way. All replacements happen at once: if Mike becomes Donald and Donald becomes
    Shawn, Mike does not become Shawn. The draws depend only on a hash of the seed and the text,
    not on other rows or library versions.

    Texts without names to replace are left out, and so are texts with more people or countries
    than the list has.

    Parameters
    ----------
    rows
        Rows of a table.
    column
        Column with the texts.
    what
        Names to replace: `people`, `countries` or `both`.
    people, countries
        Groups of names of the concept to draw from, such as `people_france` for French names.
    concept
        Concept of the task, which has the names.
    k
        Number of perturbations of each text.
    seed
        Seed of the draws.
    model
        Name of the spaCy pipeline that finds the names.

    Returns
    -------
    list of dict
        `text_id`, a number shared by all perturbations of a text; `row`, the index of the text's
        row; `perturbation`, from 0; `text`.

    Raises
    ------
    InvalidOption
        If the column, the concept or the group of names is missing, or `k` is below 1.
    Unavailable
        If spaCy or its pipeline is not installed.

    References
    ----------
    What is in a name? Mitigating name bias in text embeddings via anonymization, algorithm 1.
    """
    if k < 1:
        raise InvalidOption(f"name-perturbations: k={k}: must be at least 1")
    texts = column_of(rows, column, "name-perturbations")
    lists = (_names(concept, people), _names(concept, countries))
    perturbed = []
    for row, (text, mentions) in enumerate(
        zip(texts, SpacyMentions(model).find(texts), strict=True)
    ):
        name_slots = slots(text, mentions)
        if what != "both":
            name_slots = replace(name_slots, **{"countries" if what == "people" else "people": ()})
        needed = (len(name_slots.people), len(name_slots.countries))
        if not any(needed) or needed[0] > len(lists[0]) or needed[1] > len(lists[1]):
            continue
        for i in range(k):
            drawn = (
                _drawn(names, n, f"{kind} {seed} {i} {text}")
                for kind, names, n in zip(("person", "country"), lists, needed, strict=True)
            )
            perturbed.append(
                {
                    "text_id": number(text),
                    "row": row,
                    "perturbation": i,
                    "text": name_slots.filled(text, *drawn),
                }
            )
    return perturbed


def number(text: str) -> int:
    """Return a number that identifies a text and is exact in float64."""
    return int(digest(text)[:12], 16)


def _names(concept: Concept | None, group: str) -> tuple[str, ...]:
    if concept is None:
        raise InvalidOption("name-perturbations: the task needs a concept with names")
    if group not in concept.names:
        raise InvalidOption(
            f"name-perturbations: concept '{concept.name}' has no group of names '{group}'"
            f"{suggestion(group, concept.names)}"
        )
    return concept.names[group]


def _drawn(names: Sequence[str], n: int, lot: str) -> list[str]:
    """Draw `n` names without replacement: a Fisher-Yates shuffle by hashes of `lot`."""
    pool = list(names)
    for j in range(n):
        hashed = hashlib.blake2b(f"{j} {lot}".encode(), digest_size=8).digest()
        other = j + int.from_bytes(hashed) % (len(pool) - j)
        pool[j], pool[other] = pool[other], pool[j]
    return pool[:n]
