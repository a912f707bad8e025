"""The role of a text (query, document or plain text) on its way to the embedder and the store.

Only a model with prompts or routes by role sees roles. A text of such a model has a key: the text
itself, or the role and the text. Plans, the store, engines and their processes handle keys as they
handle texts, so that the same text in two roles has two vectors. The loop over batches gives the
embedder the text and its role. A role is no prompt put before the text: some models exclude the
prompt from pooling, some endpoints add it themselves, and asymmetric models have a route for each
role.
"""

from __future__ import annotations

import contextlib
import itertools
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from harness.arrays import Vectors, has_direction
from harness.embedder import Embedder, Role
from harness.errors import PLUGIN_ERRORS, HarnessError, NotApplicable

PLAIN: Role = "text"
"""The role of a text that is neither a query nor a document."""
_MARK = "\x1f"  # ASCII's unit separator, which no text has
_PREFIXES: dict[str, Role] = {
    f"{_MARK}{role}{_MARK}": role for role in get_args(Role) if role != PLAIN
}


@dataclass(frozen=True)
class Group:
    """Texts of one role.

    Parameters
    ----------
    positions
        Positions of their keys.
    texts
        The texts.
    arguments
        Keyword arguments of the embedder's method: the role, unless it is plain.
    """

    positions: list[int]
    texts: list[str]
    arguments: dict[str, Any]

    def keys(self, keys: Sequence[str]) -> list[str]:
        """Return the group's keys among all keys."""
        return [keys[position] for position in self.positions]


def keys(texts: Sequence[str], role: Role, readings: Mapping[Role, object]) -> list[str]:
    """Return the keys of texts for a model that reads roles as `ModelInfo.readings` says.

    A role that is read as plain texts are is plain: these texts share vectors.

    Raises
    ------
    NotApplicable
        If the model has no route for the role.
    """
    if role in readings and readings[role] is None:
        texts_of_role = {"query": "queries", "document": "documents"}.get(role, "plain texts")
        raise NotApplicable(
            f"the model has no route for {texts_of_role}; name one under 'route_mappings' in its "
            "router_config.json"
        )
    if role == PLAIN or readings.get(role) in (None, readings.get(PLAIN)):
        return list(texts)
    return [f"{_MARK}{role}{_MARK}{text}" for text in texts]


def text_of(key: str) -> str:
    """Return the text of a key."""
    return _split(key)[1]


def grouped(keys: Sequence[str], readings: Mapping[Role, object]) -> list[Group]:
    """Return the texts of keys, a group for each role.

    A model that reads all roles alike gets one group, its keys as they are.
    """
    if len(readings) < 2:
        return [Group(list(range(len(keys))), list(keys), {})]
    groups: dict[Role, Group] = {}
    for position, key in enumerate(keys):
        role, text = _split(key)
        arguments = {} if role == PLAIN else {"role": role}
        group = groups.setdefault(role, Group([], [], arguments))
        group.positions.append(position)
        group.texts.append(text)
    return list(groups.values())


def reading(embedder: object, role: Role) -> contextlib.AbstractContextManager[None]:
    """Return a context in which an embedder takes the texts that it encodes as texts of a role."""
    read_as = getattr(embedder, "reading", None)
    return contextlib.nullcontext() if read_as is None else read_as(role)


def _split(key: str) -> tuple[Role, str]:
    for prefix, role in _PREFIXES.items():
        if key.startswith(prefix):
            return role, key[len(prefix) :]
    return PLAIN, key


# Which texts a model reads alike, such as a word in upper and in lower case.
#
# A word embedder looks a word up as it is, then lower-cased, then with `_` for spaces, then with
# composed and decomposed accents; an uncased encoder lower-cases every text. Other models read the
# same texts as different ones. The leak checks of runs and of studies compare texts by this.


SAME = 1e-2
"""Largest relative difference of two vectors of the same text: in half precision, or from an
endpoint, they differ by about 1e-3. In a cased model `us` and `US` differ by far more."""


@dataclass(frozen=True)
class Spellings:
    """Which of some texts a model reads alike.

    Parameters
    ----------
    alike
        By text, all texts that the model reads like it. A text that is not listed has no other
        spelling.
    """

    alike: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, texts: Iterable[str], encode: Callable[[Sequence[str]], Vectors]) -> Spellings:
        """Return which of `texts` a model reads alike.

        Only texts that differ in nothing but case, `_` for a space, or how accents are encoded, are
        compared, by their vectors. Where these cannot be computed the texts count as alike.

        Parameters
        ----------
        texts
            Any number of texts.
        encode
            Returns the (n, d) vectors of texts.
        """
        groups: dict[str, list[str]] = {}
        for text in dict.fromkeys(texts):
            form = unicodedata.normalize("NFC", text.casefold().replace("_", " "))
            groups.setdefault(form, []).append(text)
        suspected = [group for group in groups.values() if len(group) > 1]
        if not suspected:
            return cls({})
        try:
            vectors = encode([text for group in suspected for text in group])
        except HarnessError:
            vectors = None
        alike: dict[str, frozenset[str]] = {}
        start = 0
        for group in suspected:
            rows = None if vectors is None else vectors[start : start + len(group)]
            alike |= _alike(group, rows)
            start += len(group)
        return cls(alike)

    def like(self, texts: Iterable[str]) -> set[str]:
        """Return `texts` in every spelling that the model reads alike."""
        return {spelling for text in texts for spelling in self.alike.get(text, (text,))}


def _alike(group: Sequence[str], vectors: Vectors | None) -> dict[str, frozenset[str]]:
    """Return for each text of a group those with the same vector; without vectors, all of them."""
    if vectors is None:
        return dict.fromkeys(group, frozenset(group))
    known = has_direction(vectors)
    rows = np.where(known[:, None], vectors, 0.0).astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1)
    apart = np.linalg.norm(rows[:, None] - rows[None], axis=2)
    same = (apart <= SAME * np.maximum(lengths[:, None], lengths[None])) & known[:, None] & known
    return {
        text: frozenset({text, *itertools.compress(group, row.tolist())})
        for text, row in zip(group, same, strict=True)
    }


# Which texts a model has no vector for, so that a row of NaN is right and is stored.


def without_vector(embedder: Embedder, keys: Sequence[str]) -> list[bool]:
    """Return whether an embedder has no vector for the text of each key.

    A word embedder has none for a word that it gives a row of NaN. A text encoder says it with its
    method `lacks`. Without that, each text has a vector, and a row of NaN is a fault that may pass.
    """
    if embedder.info.kind == "word":
        return [True] * len(keys)
    lacks = getattr(embedder, "lacks", None)
    if not callable(lacks) or not keys:
        return [False] * len(keys)
    answers = [False] * len(keys)
    try:
        for group in grouped(keys, embedder.info.readings):
            for i, lacking in zip(
                group.positions, lacks(group.texts, **group.arguments), strict=True
            ):
                answers[i] = bool(lacking)
    except PLUGIN_ERRORS:
        return [False] * len(keys)
    return answers
