"""Texts whose names a person has marked: `[Kashvi|person] met [Ravi|person 2] in [Leeds|place]`.

The number tells the people (places …) of a text apart, so that they can be renamed; its default
is 1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

from harness.errors import HarnessError

from .mentions import KINDS, Kind, Mention

Role: TypeAlias = tuple[Kind, int]
"""A person, place … of a text: the kind of name and the number."""

_MARK = re.compile(rf"\[([^\[\]|]+)\|({'|'.join(KINDS)})(?: (\d+))?\]")


@dataclass(frozen=True)
class MarkedText:
    """A text, its marked names in order, and the role of each of them."""

    text: str
    mentions: tuple[Mention, ...]
    roles: tuple[Role, ...]

    @property
    def names(self) -> dict[Role, str]:
        """The name of each role; if a role has several, the first."""
        pairs = list(zip(self.roles, self.mentions, strict=True))
        return {role: mention.text for role, mention in reversed(pairs)}


def read(marked: str) -> MarkedText:
    """Return the text of `marked` without its marks, and its mentions.

    Raises
    ------
    HarnessError
        If a bracket does not belong to a valid mark.
    """
    mentions: list[Mention] = []
    roles: list[Role] = []
    text = ""
    end = 0
    for match in _MARK.finditer(marked):
        text += marked[end : match.start()]
        name, kind = match.group(1), cast(Kind, match.group(2))
        mentions.append(Mention(len(text), len(text) + len(name), name, kind))
        roles.append((kind, int(match.group(3) or 1)))
        text += name
        end = match.end()
    text += marked[end:]
    if stray := re.search(r"[\[\]|]", text):
        around = text[max(0, stray.start() - 20) : stray.end() + 20]
        raise HarnessError(
            f"'…{around}…': invalid mark; expected [name|kind] or [name|kind 2], "
            f"with one of the kinds {', '.join(KINDS)}"
        )
    return MarkedText(text, tuple(mentions), tuple(roles))


def renamed(marked: str, names: Mapping[Role, str]) -> str:
    """Return the text of `marked`, in which the roles in `names` have those names.

    Raises
    ------
    HarnessError
        If a bracket does not belong to a valid mark.
    """

    def name(match: re.Match[str]) -> str:
        role = cast(Kind, match.group(2)), int(match.group(3) or 1)
        return names.get(role, match.group(1))

    read(marked)  # raises if a mark is invalid
    return _MARK.sub(name, marked)
