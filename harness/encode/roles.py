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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from harness.embedder import Role
from harness.errors import NotApplicable

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
