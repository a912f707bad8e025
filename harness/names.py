"""The grammar of names that users type.

::

    model       NAME[?OPTIONS]  or  PROVIDER:REFERENCE[?OPTIONS]; a NAME that is not registered may
                be a folder, a file or an id of a hub
    engine      NAME[?OPTIONS]
    mitigator   NAME[?OPTIONS][+NAME[?OPTIONS]]…, or `none`
    OPTIONS     KEY=VALUE[&KEY=VALUE]…     as in a URL: %26 stands for &, %2B for +
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from harness.errors import HarnessError, InvalidOption, UsageError

NONE = "none"
"""The mitigator that changes nothing."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class NameWithOptions:
    """The name of a mitigator or an engine with its options, which are not converted yet."""

    name: str
    options: Mapping[str, str]


@dataclass(frozen=True)
class ModelName:
    """A parsed model name; `reference` is None for a registered model.

    For a registered model, `provider` is the model's name.
    """

    provider: str
    reference: str | None
    options: Mapping[str, str]


def model(text: str) -> ModelName:
    """Parse a model name.

    Raises
    ------
    InvalidOption
        If the reference is missing, or the options are not `key=value` pairs.
    """
    head, _, query = text.partition("?")
    provider, colon, reference = head.partition(":")
    if colon and not reference:
        raise InvalidOption(f"'{text}': the model's reference is missing after '{provider}:'")
    return ModelName(provider, reference if colon else None, _options(query, text))


def without_options(text: str) -> str:
    """Return the name of a model without the options after it."""
    return text.partition("?")[0]


def mitigators(text: str) -> list[NameWithOptions]:
    """Parse the name of a mitigator or of a chain of mitigators; `none` is the empty chain.

    Raises
    ------
    UsageError
        If a name in the chain is empty.
    InvalidOption
        If the options are not `key=value` pairs.
    """
    stages = []
    for part in text.split("+"):
        name, _, query = part.partition("?")
        if not name:
            raise UsageError(f"'{text}': a mitigator's name is missing next to '+'")
        if name != NONE:
            stages.append(NameWithOptions(name, _options(query, text)))
    return stages


def engine(text: str) -> NameWithOptions:
    """Parse the name of an engine.

    Raises
    ------
    InvalidOption
        If the options are not `key=value` pairs.
    """
    name, _, query = text.partition("?")
    return NameWithOptions(name, _options(query, text))


def plain(text: str) -> str:
    """Return the name of a chain of mitigators without options: `anonymize+hard-debias`."""
    return "+".join(stage.name for stage in mitigators(text)) or NONE


def split(values: str | Path | Iterable[str | Path]) -> list[str]:
    """Return names or paths as a list; a text may hold several with commas between them."""
    values = [values] if isinstance(values, str | Path) else values
    parts = (part.strip() for value in values for part in str(value).split(","))
    return [part for part in parts if part]


def quoted(value: str) -> str:
    """Return the value of an option as it stands in a name: `%26` for `&`."""
    return re.sub(r"[%&+\x00-\x1f\x7f]", lambda match: quote(match[0], safe=""), value)


def with_option(name: str, option: str, value: str) -> str:
    """Return a name with a further option: `vectors:w2v.bin?name=mine`."""
    return f"{name}{'&' if '?' in name else '?'}{option}={quoted(value)}"


def check(name: str, what: str, plugin: str) -> None:
    """Raise HarnessError if a plugin registers a name that the grammar does not allow."""
    if not _NAME.fullmatch(name) or name == NONE:
        raise HarnessError(
            f"plugin '{plugin}' registers the {what} '{name}', an invalid name; "
            "use letters, digits, '.', '_' and '-', and not the name 'none'"
        )


def _options(query: str, text: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for pair in filter(None, query.split("&")):
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise InvalidOption(f"'{text}': option '{pair}' must have the form KEY=VALUE")
        if key in options:
            raise InvalidOption(f"'{text}': option '{key}' occurs twice")
        options[key] = unquote(value)
    return options
