"""The grammar of names that users type.

::

    model       NAME[?OPTIONS]  or  PROVIDER:REFERENCE[?OPTIONS]; a NAME that is not registered may
                be a folder, a file or an id of a hub
    engine      NAME[?OPTIONS]
    mitigator   NAME[?OPTIONS][+NAME[?OPTIONS]]…, or `none`
    OPTIONS     KEY=VALUE[&KEY=VALUE]…     as in a URL: %26 stands for &, %2B for +
"""

from __future__ import annotations

import contextlib
import inspect
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote, unquote

from harness import options
from harness.digest import digest, json_like
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


def chain_stages(text: str) -> list[NameWithOptions]:
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
    return "+".join(stage.name for stage in chain_stages(text)) or NONE


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


# Labels: how tables, records and file names call a model or mitigator.
#
# A label is the name as one would type it, with the options that differ from their defaults, in the
# order of the signature: `hard-debias?k=2+normalize`. So two settings of a method have two labels,
# and two spellings of one setting have one label. A label has no folder of this machine and no key
# in it.


_LOCAL = re.compile(r"~$|~[^/\\]*[/\\]|\.{0,2}[/\\](?![/\\])|[A-Za-z]:[/\\]")
"""The beginning of a path that is absolute or starts at the home or current folder."""
_SECRETS = "(?i:(?:api|auth)?key|token|secret|password|passwd)"
"""Ends of the names of options that hold a key or password."""
_SECRET = re.compile(rf"(^|_){_SECRETS}$")
_IN_ADDRESS = re.compile(r"(://)[^/\s'@]+@")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_IN_OPTION = re.compile(
    rf"([?&](?:\w*_)?{_SECRETS}=)"
    rf"(?!{_VARIABLE.pattern}(?:[&\s']|$))[^&\s']+"
)
LONGEST = 8
"""Numbers of an array that a label shows."""
_SUFFIX = re.compile(r"(\.[A-Za-z]{2,12})?(\.(?:gz|bz2|xz))?$")
"""Suffix of a file, as in `vectors.txt.gz`; the `.50d` of `glove.50d` is none."""


def mitigator_label(name: str, mitigators: Sequence[Any]) -> str:
    """Return the label of a chain of mitigators.

    Parameters
    ----------
    name
        The name that users type, with or without options.
    mitigators
        The mitigator of each stage; their parameters are shown, whatever `name` says.
    """
    stages = zip(chain_stages(name), mitigators, strict=True)
    labels = [
        with_options(stage.name, differing(type(mitigator), mitigator.get_params(deep=False)))
        for stage, mitigator in stages
    ]
    return "+".join(labels) or NONE


def differing(
    function: Callable[..., Any], values: Mapping[str, Any], defaults: Mapping[str, Any] = {}
) -> dict[str, Any]:
    """Return the options that differ from their defaults, in the order of the signature.

    Parameters
    ----------
    function
        The callable that has the options.
    values
        Values of options by name.
    defaults
        Defaults that replace those of the signature.
    """
    own = {name: p.default for name, p in options.parameters(function).items() if name in values}
    return {
        name: values[name]
        for name, default in (own | {key: defaults[key] for key in own if key in defaults}).items()
        if default is inspect.Parameter.empty or json_like(values[name]) != json_like(default)
    }


def with_options(name: str, values: Mapping[str, Any]) -> str:
    """Return a name with options as one would type them: `hard-debias?k=2`."""
    shown = {
        key: public_value(_short(value)) for key, value in values.items() if not is_secret(key)
    }
    pairs = [f"{key}={quoted(options.as_text(value))}" for key, value in shown.items()]
    return name + ("?" + "&".join(pairs) if pairs else "")


def with_fingerprint(name: str, fingerprint: str) -> str:
    """Return the name of a model with the end of its fingerprint, for weights that share a name."""
    return f"{name} [{fingerprint[-8:]}]"


def _short(value: Any) -> Any:
    """Return a value as JSON types; of a long array, which nobody types, the begin of its hash."""
    content = json_like(value)
    is_array = hasattr(value, "tolist") and isinstance(content, list)
    return f"#{digest(content)[:8]}" if is_array and value.size > LONGEST else content


def public_value(value: Any) -> Any:
    """Return a JSON-like value without folders and keys, as records hold it.

    A text that is a path becomes its last part, also after a provider: `vectors:/home/me/w2v.bin`
    becomes `vectors:w2v.bin`. A text under the name of a secret becomes `***`.
    """
    if isinstance(value, dict):
        return {
            key: "***" if is_secret(key) and isinstance(item, str) else public_value(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [public_value(item) for item in value]
    if not isinstance(value, str):
        return value
    if is_local(value):
        return last_part(value) or value
    provider, colon, reference = value.partition(":")
    return f"{provider}:{public_value(reference)}" if colon else value


def is_secret(option: str) -> bool:
    """Return whether an option holds a key or password, by its name."""
    return _SECRET.search(option) is not None


def is_variable(value: str) -> bool:
    """Return whether the value of such an option is no key, but the variable that holds it.

    Keys may be in capitals, too, so that a variable must have an underscore.
    """
    return _VARIABLE.fullmatch(value) is not None


def without_secrets(line: str) -> str:
    """Return a line for the user without the keys and passwords that its addresses have."""
    return _IN_OPTION.sub(r"\1***", _IN_ADDRESS.sub(r"\1***@", line))


def is_local(text: str) -> bool:
    """Return whether a text is a path: by its beginning, or because such a file exists."""
    return bool(_LOCAL.match(text)) or (len(PurePath(text).parts) > 1 and path_exists(text))


def path_exists(text: str) -> bool:
    """Return whether a text is the path of a file or folder."""
    try:
        return Path(text).expanduser().exists()
    except (OSError, RuntimeError, ValueError):  # too long, an unknown user, or with a null byte
        return False


def last_part(path: str) -> str:
    """Return the name of a file or folder."""
    place = Path(path.replace("\\", "/"))
    with contextlib.suppress(RuntimeError):  # no such user
        place = place.expanduser()
    return PurePath(os.path.normpath(place.absolute())).name  # of a link, not of its target


def reference_label(reference: str) -> str:
    """Return what a provider is asked for without folder and suffix, if it is a path."""
    return stem(reference) if is_local(reference) or path_exists(reference) else reference


def stem(path: str) -> str:
    """Return the name of a folder, or that of a file without its suffix."""
    name = last_part(path)
    is_folder = path_exists(path) and Path(path).expanduser().is_dir()
    return name if is_folder else _SUFFIX.sub("", name) or name
