"""Texts whose names a person has marked: `[Kashvi|person] met [Ravi|person 2] in [Leeds|place]`.

The number says who is meant, so that other texts can be given the same names; 1 may be left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

from harness.errors import HarnessError
from harness.plugins.texts.mentions import KINDS, Kind, Mention

Role: TypeAlias = tuple[Kind, int]
"""Who or what is meant: a kind of name and a number."""

_MARK = re.compile(rf"\[([^\[\]|]+)\|({'|'.join(KINDS)})(?: (\d+))?\]")


@dataclass(frozen=True)
class MarkedText:
    """A text and the names that are marked in it, in order; `roles` has one for each mention."""

    text: str
    mentions: tuple[Mention, ...]
    roles: tuple[Role, ...]

    @property
    def names(self) -> dict[Role, str]:
        """The names by who is meant; where there are several, the first."""
        found = zip(self.roles, self.mentions, strict=True)
        return {role: mention.text for role, mention in reversed(list(found))}


def read(marked: str) -> MarkedText:
    """Return the text of `marked` without its marks, and what they mark.

    Raises
    ------
    HarnessError
        If a bracket is no mark.
    """
    mentions: list[Mention] = []
    roles: list[Role] = []
    text = ""
    done = 0
    for match in _MARK.finditer(marked):
        text += marked[done : match.start()]
        name, kind = match.group(1), cast(Kind, match.group(2))
        mentions.append(Mention(len(text), len(text) + len(name), name, kind))
        roles.append((kind, int(match.group(3) or 1)))
        text += name
        done = match.end()
    text += marked[done:]
    if stray := re.search(r"[\[\]|]", text):
        around = text[max(0, stray.start() - 20) : stray.end() + 20]
        raise HarnessError(
            f"'…{around}…': a name is marked as [name|kind] or [name|kind 2], "
            f"with a kind among {', '.join(KINDS)}"
        )
    return MarkedText(text, tuple(mentions), tuple(roles))


def renamed(marked: str, names: Mapping[Role, str]) -> str:
    """Return the text of `marked` with other names for those that `names` has."""

    def new(match: re.Match[str]) -> str:
        role = cast(Kind, match.group(2)), int(match.group(3) or 1)
        return names.get(role, match.group(1))

    read(marked)  # its errors
    return _MARK.sub(new, marked)
