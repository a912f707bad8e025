"""Texts with other names in them: the same text K times, each time about other people or places.

What is left of a text when its names change is its meaning, so a model that reads for meaning
finds all K alike. Gender is not minded: Mike may become Anna and stay a brother.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from harness.concept import Concept
from harness.digest import digest
from harness.errors import InvalidOption, suggestion
from harness.plugins.tables.named_texts import column_of
from harness.plugins.tables.slots import slots
from harness.plugins.texts.spacy_mentions import MODEL, SpacyMentions

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
    """Return `k` perturbations of each text that names somebody or somewhere.

    In one perturbation every person named in a text gets a name of the list, drawn without
    replacement, wherever the text names that person, in full or in part; countries likewise. All
    names are put in at once: if Mike becomes Donald and Donald becomes Shawn, Mike is not Shawn.
    Draws are made by a hash of the seed and the text: they do not depend on the other rows, nor on
    the version of any library.

    Texts are left out in which nothing is found to replace, and those that name more people or
    countries than the list has.

    Parameters
    ----------
    rows
        Rows of a table.
    column
        The column that has the texts.
    what
        Names of `people`, of `countries`, or `both`: of those that there are.
    people, countries
        Which of the concept's groups of names to draw from: `people_france` for names of France.
    concept
        The task's, which has the names.
    k
        Number of perturbations of each text.
    seed
        Another seed draws other names.
    model
        The spaCy pipeline that finds names.

    Returns
    -------
    list of dict
        `text_id`, a number that is the same for all perturbations of a text; `row`, its row;
        `perturbation`, from 0; `text`.

    Raises
    ------
    InvalidOption
        If there is no such column or group of names, or `k` is not positive.
    Unavailable
        If spaCy or its pipeline is not installed.

    References
    ----------
    What is in a name? Mitigating name bias in text embeddings via anonymization, algorithm 1.
    """
    if k < 1:
        raise InvalidOption(f"name-perturbations: k={k}: 1 perturbation or more")
    texts = column_of(rows, column, "name-perturbations")
    lists = (_names(concept, people), _names(concept, countries))
    perturbed = []
    for row, (text, found) in enumerate(zip(texts, SpacyMentions(model).find(texts), strict=True)):
        there = slots(text, found)
        if what != "both":
            there = replace(there, **{"countries" if what == "people" else "people": ()})
        needed = (len(there.people), len(there.countries))
        if not any(needed) or needed[0] > len(lists[0]) or needed[1] > len(lists[1]):
            continue
        for i in range(k):
            chosen = (
                _drawn(names, n, f"{kind} {seed} {i} {text}")
                for kind, names, n in zip(("person", "country"), lists, needed, strict=True)
            )
            perturbed.append(
                {
                    "text_id": number(text),
                    "row": row,
                    "perturbation": i,
                    "text": there.filled(text, *chosen),
                }
            )
    return perturbed


def number(text: str) -> int:
    """Return a number that stands for a text, small enough to be exact in float64."""
    return int(digest(text)[:12], 16)


def _names(concept: Concept | None, group: str) -> tuple[str, ...]:
    if concept is None:
        raise InvalidOption("name-perturbations needs a task with a concept that has names")
    if group not in concept.names:
        raise InvalidOption(
            f"name-perturbations: the concept '{concept.name}' has no names '{group}'"
            f"{suggestion(group, concept.names)}"
        )
    return concept.names[group]


def _drawn(names: Sequence[str], n: int, lot: str) -> list[str]:
    """Return `n` of the names without replacement, by a hash of `lot` (Fisher and Yates)."""
    pool = list(names)
    for j in range(n):
        hashed = hashlib.blake2b(f"{j} {lot}".encode(), digest_size=8).digest()
        other = j + int.from_bytes(hashed) % (len(pool) - j)
        pool[j], pool[other] = pool[other], pool[j]
    return pool[:n]
