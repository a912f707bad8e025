"""Things of one kind by name. A name that two plugins or files claim belongs to neither."""

from __future__ import annotations

from typing import TypeVar

from harness.errors import NameClash, UnknownName

T = TypeVar("T")


class Catalogue(dict[str, T]):
    """Things of one kind by name.

    Parameters
    ----------
    kind
        What the names stand for, for messages: `model`, `task`, `metric` …

    Attributes
    ----------
    owners
        The plugin or file of each name.
    clashes
        Error for each name that two plugins or files claim. Such a name is not in the mapping, so
        that a clash concerns only who uses the name.
    """

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self.owners: dict[str, str] = {}
        self.clashes: dict[str, NameClash] = {}

    def claim(self, name: str, value: T, owner: str, *, advice: str = "") -> None:
        """Add a name; if another owner has it already, withdraw it from both."""
        if name not in self.owners:
            self[name], self.owners[name] = value, owner
            return
        self.pop(name, None)
        self.owners[name] += f" and {owner}"
        self.clashes[name] = NameClash(
            f"the {self.kind} '{name}' is claimed by {self.owners[name]}{advice}"
        )

    def find(self, name: str, *further: str) -> T:
        """Return what a name stands for.

        Parameters
        ----------
        name
            The name.
        further
            Names that have a meaning elsewhere, which the message for an unknown name may suggest.

        Raises
        ------
        NameClash
            If two plugins or files claim it.
        UnknownName
            If it is unknown.
        """
        if name in self.clashes:
            raise self.clashes[name]
        if name not in self:
            raise UnknownName(self.kind, name, {*self, *further})
        return self[name]
