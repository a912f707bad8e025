"""The grammar of names that users type.

::

    model       NAME[?OPTIONS]  or  PROVIDER:REFERENCE[?OPTIONS]; a NAME that is not registered may
                be a folder, a file or an id of a hub; a path that exists is one, whatever is in it
    engine      NAME[?OPTIONS]
    mitigator   NAME[?OPTIONS][+NAME[?OPTIONS]]…, or `none`
    OPTIONS     KEY=VALUE[&KEY=VALUE]…     as in a URL: %26 stands for &, %2B for +

A name is parsed into `Name`. Its options are checked and converted by the signature that has them:
`?k=2&normalize=true` becomes `{"k": 2, "normalize": True}` if that annotates `int` and `bool`. A
list is written with commas, `?words=a,b`, or as JSON. A label is the way back: the name as one
would type it, with the options that differ from their defaults.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import re
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote, unquote

from harness import limits
from harness.digest import digest, json_like
from harness.errors import HarnessError, InvalidOption, UsageError, suggestion

NONE = "none"
"""The mitigator that changes nothing."""
LABEL = "name"
"""Option of every model: the label to report it under."""
QUANTIZE = "quantize"
"""Option of every text encoder: the precision of its vectors."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Name:
    """A parsed name of a model, an engine, or one mitigator of a chain.

    Parameters
    ----------
    name
        The registered name; of a model with a reference, its provider.
    options
        The options as text, not converted yet.
    reference
        The text after `provider:`; None if the name has no provider.
    """

    name: str
    options: Mapping[str, str]
    reference: str | None = None


def model(text: str) -> Name:
    """Parse a model name.

    Raises
    ------
    InvalidOption
        If the reference is missing, or the options are not `key=value` pairs.
    """
    head = without_options(text)
    query = text[len(head) + 1 :]
    provider, colon, reference = (head, "", "") if path_exists(head) else head.partition(":")
    if colon and not reference:
        raise InvalidOption(f"'{text}': the model's reference is missing after '{provider}:'")
    return Name(provider, _options(query, text), reference if colon else None)


def without_options(text: str) -> str:
    """Return the name of a model without the options after it; a path may have a `?` in it."""
    return text if "?" in text and path_exists(text) else text.partition("?")[0]


def chain_stages(text: str) -> list[Name]:
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
            stages.append(Name(name, _options(query, text)))
    return stages


def engine(text: str) -> Name:
    """Parse the name of an engine.

    Raises
    ------
    InvalidOption
        If the options are not `key=value` pairs.
    """
    name, _, query = text.partition("?")
    return Name(name, _options(query, text))


def plain(text: str) -> str:
    """Return the name of a chain of mitigators without options: `anonymize+hard-debias`."""
    return "+".join(stage.name for stage in chain_stages(text)) or NONE


def split(values: str | Path | Iterable[str | Path]) -> list[str]:
    """Return names or paths as a list; a text may hold several with commas between them."""
    values = [values] if isinstance(values, str | Path) else values
    parts = (part.strip() for value in values for part in str(value).split(","))
    return [part for part in parts if part]


def quoted(value: str) -> str:
    """Return the value of an option as it stands in a name: `%26` for `&`.

    A space at its end, as prompts have it, is `%20`, since a name has none at its ends.
    """
    return re.sub(r"[%&+\x00-\x1f\x7f]| (?=\Z)", lambda match: quote(match[0], safe=""), value)


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


# Options: checked and converted by the signature that has them.


def parameters_of(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a callable that can be passed by name."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {
        name: parameter
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind in kinds
    }


def check_required(function: Callable[..., Any], values: Iterable[str], *, what: str) -> None:
    """Raise InvalidOption if an option that has no default is not among `values`.

    Parameters
    ----------
    function
        The callable that has the options.
    values
        Names of all arguments that it gets.
    what
        Owner of the options, for the message: `mitigator 'hard-debias'`.
    """
    set_ = set(values)
    for name, parameter in parameters_of(function).items():
        if parameter.default is inspect.Parameter.empty and name not in set_:
            raise InvalidOption(f"{what} requires the option '{name}': add '?{name}=…' to its name")


def convert_options(
    function: Callable[..., Any],
    values: Mapping[str, Any],
    *,
    what: str,
    known: Iterable[str] | None = None,
) -> dict[str, Any]:
    """Return `values` with each value converted to the type that `function` annotates.

    Parameters
    ----------
    function
        The callable whose signature is used.
    values
        Values by option name; text is converted.
    what
        Owner of the options, for error messages: `metric 'weat'`; empty for arguments of a
        function that the user calls.
    known
        Allowed option names; by default all parameters of the signature.

    Raises
    ------
    InvalidOption
        If a name is unknown or a value does not have the annotated type.
    """
    names = set(parameters_of(function) if known is None else known)
    if not values:
        return {}
    from pydantic import ConfigDict, TypeAdapter, ValidationError

    hints = _hints(function)
    converted = {}
    for name, value in values.items():
        if name not in names:
            hint = suggestion(name, names) if names else "; it takes no options"
            raise InvalidOption(f"{what} has no option '{name}'{hint}")
        annotation = hints.get(name, Any)
        try:
            config = ConfigDict(arbitrary_types_allowed=True)
            adapter: Any = (
                TypeAdapter(annotation)
                if _is_plain(annotation)
                else TypeAdapter(annotation, config=config)
            )
            converted[name] = adapter.validate_python(_parsed_value(value, annotation))
            _check_integers(converted[name])
        except OverflowError:
            owner = f"{what}: option " if what else ""
            raise InvalidOption(f"{owner}{name}: an integer beyond 64 bits") from None
        except ValidationError as error:
            problem = error.errors()[0]["msg"]
            problem = problem[0].lower() + problem[1:]
            owner = f"{what}: option " if what else ""
            raise InvalidOption(f"{owner}{name}={value}: {problem}") from None
    return converted


def option_text(value: Any) -> str:
    """Return the text of a JSON-like value as one would type it as an option."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value).removesuffix(".0").replace("e+", "e")
    if isinstance(value, list) and value and all(map(_is_plain_item, value)):
        return ",".join(option_text(item) for item in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _check_integers(value: Any) -> None:
    """Raise OverflowError for an integer that arrays and records cannot hold."""
    if isinstance(value, int) and abs(value) > limits.INTEGER:
        raise OverflowError
    if isinstance(value, list | tuple):
        for item in value:
            _check_integers(item)


def _is_plain_item(item: Any) -> bool:
    if isinstance(item, str):
        return bool(item) and not re.search(r"[,\[{]", item)
    return isinstance(item, int | float)


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    target = function.__init__ if inspect.isclass(function) else function
    try:
        return typing.get_type_hints(target)
    except (NameError, TypeError):  # annotations that only a type checker can resolve
        return {}


def _is_plain(annotation: Any) -> bool:
    return inspect.isclass(annotation) and hasattr(annotation, "__pydantic_config__")


def _parsed_value(value: Any, annotation: Any) -> Any:
    """Return a text as None, a list or a mapping if the annotation has such a type."""
    if not isinstance(value, str):
        return value
    members = {annotation, *_members(annotation)}
    if value in ("none", "None") and type(None) in members:
        return None
    kinds = {kind for kind in (typing.get_origin(t) or t for t in members) if inspect.isclass(kind)}
    if kinds & {str, bytes} or not any(issubclass(kind, Collection) for kind in kinds):
        return value
    if value.startswith(("[", "{")):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value.split(",") if value else []


def _members(annotation: Any) -> tuple[Any, ...]:
    """Return the types of a union; none for another type."""
    is_union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    return typing.get_args(annotation) if is_union else ()


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
    own = {name: p.default for name, p in parameters_of(function).items() if name in values}
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
    pairs = [f"{key}={quoted(option_text(value))}" for key, value in shown.items()]
    return name + ("?" + "&".join(pairs) if pairs else "")


def with_fingerprint(name: str, fingerprint: str) -> str:
    """Return the name of a model with the end of its fingerprint, for weights that share a name."""
    return f"{name} [{fingerprint[-8:]}]"


def _short(value: Any) -> Any:
    """Return a value as JSON types; a long array, which nobody types, as the start of its hash."""
    content = json_like(value)
    is_array = hasattr(value, "tolist") and isinstance(content, list)
    return f"#{digest(content)[:8]}" if is_array and value.size > LONGEST else content


def public_value(value: Any) -> Any:
    """Return a JSON-like value without folders and keys, as records hold it.

    A path is shortened to its last part, also after a provider: `vectors:/home/me/w2v.bin` becomes
    `vectors:w2v.bin`. The value of a secret option becomes `***`.
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
    """Return whether the value of a secret option is the name of a variable, not a key.

    Keys may be in capitals, too, so the name of a variable must have an underscore.
    """
    return _VARIABLE.fullmatch(value) is not None


def without_secrets(line: str) -> str:
    """Return a line for the user without the keys and passwords in its addresses."""
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
    with contextlib.suppress(RuntimeError):  # an unknown user after `~`
        place = place.expanduser()
    return PurePath(os.path.normpath(place.absolute())).name  # of the link, not the target


def reference_label(reference: str) -> str:
    """Return the text after `provider:`; a path loses its folder and suffix."""
    return stem(reference) if is_local(reference) or path_exists(reference) else reference


def stem(path: str) -> str:
    """Return the name of a folder, or that of a file without its suffix."""
    name = last_part(path)
    is_folder = path_exists(path) and Path(path).expanduser().is_dir()
    return name if is_folder else _SUFFIX.sub("", name) or name
