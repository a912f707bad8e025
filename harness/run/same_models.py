"""Models of one run: each is run once, and no two different ones have one name."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple, TypeAlias

from harness.embedder import Embedder, renamed
from harness.errors import HarnessError, UsageError

Entry: TypeAlias = tuple[str | object, Embedder | HarnessError]
"""What the user gave for a model, and the embedder, or why there is none."""


class Distinct(NamedTuple):
    """The models of a run, each once, and a line for each that has several names."""

    entries: list[Entry]
    notices: list[str]


def distinct(entries: Iterable[Entry], registered: Collection[str]) -> Distinct:
    """Return each model once.

    Of the names of one model (equal fingerprints), a registered one is kept, else the first. The
    others become its aliases.

    Parameters
    ----------
    entries
        The models as the user gave them.
    registered
        Names of registered models.

    Raises
    ------
    UsageError
        If two different models have one name.
    """
    lost: list[Entry] = []
    groups: dict[str, list[tuple[str | object, Embedder]]] = {}
    for source, embedder in entries:
        if isinstance(embedder, HarnessError):
            lost.append((source, embedder))
        else:
            groups.setdefault(embedder.info.fingerprint, []).append((source, embedder))
    kept: dict[str, str | object] = {}
    merged: list[Entry] = []
    notices = []
    for group in groups.values():
        names = [embedder.info.name for _, embedder in group]
        best = next((i for i, name in enumerate(names) if name in registered), 0)
        source, embedder = group[best]
        name = names[best]
        if name in kept:
            raise UsageError(_clash(name, kept[name], source))
        kept[name] = source
        others = [other for other in dict.fromkeys(names) if other != name]
        notices += [
            f"{other} is the same model as {name}; results are shown under {name}"
            for other in others
        ]
        for _, other_embedder in group:
            if other_embedder is not embedder:
                getattr(other_embedder, "close", lambda: None)()
        merged.append((source, renamed(embedder, name, others)))
    return Distinct([*merged, *lost], notices)


def _clash(name: str, first: str | object, second: str | object) -> str:
    """Return the message for two different models of one name."""
    message = f"two different models have the name '{name}'"
    if not (isinstance(first, str) and isinstance(second, str)):
        return f"{message}: give one of the objects another `name`"
    separator = "&" if "?" in second else "?"
    return f"{message}, '{first}' and '{second}': name one of them, '{second}{separator}name=…'"
