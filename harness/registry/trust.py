"""What a file asks for, and whether it may have it.

A study, recipe, run file or task of somebody else is data. It may run code, or name a key, an
address, or a path outside of its folder, only if the user trusts the file (`--trust FILE`) or types
that value. Models of the hub and installed packages are listed, and allowed. Nothing here opens a
file, sends a request or creates a model.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias
from urllib.parse import urlsplit

from harness import folders, names
from harness.bucket import HUB
from harness.errors import HarnessError, InvalidFile
from harness.registry.discovery import Catalogue
from harness.specs import EmbedderSpec, MetricSpec, MitigatorSpec, Sensitive, Spec, TableSpec
from harness.task import data_files
from harness.task.data_files import DataFile
from harness.task.schema import Table, TaskFile
from harness.task.yaml_files import Collector, Document, KeyPath, dotted

Kind: TypeAlias = Literal["code", "key", "address", "path", "download", "package"]
PROBLEMS: dict[Kind, str] = {
    "code": "runs code",
    "key": "uses a key",
    "address": "is an address to send requests to",
    "path": "is not in the folder",
    "download": "is downloaded, if it is not here",
    "package": "may be read from an installed package",
}
"""The message of a request, after its option, model or path."""
ALLOWED: frozenset[Kind] = frozenset({"download", "package"})
"""What any file may ask for."""
# Words in an option's name that reveal its kind, for options that no spec describes.
_HINTS: dict[Sensitive, str] = {
    "code": "callable|cmd|code|command|eval|exec|function|hook|import|module|pickle|plugin|script|"
    "shell|target|trust|unsafe",
    "key": "auth|credentials?",
    "address": "address|endpoint|host|hostname|proxy|server|uri|url",
    "path": "dir|directory|filename|files?|folder|paths?",
}
_IMPORT_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?(e[+-]?\d+)?", re.IGNORECASE)
_TRUE = frozenset({"true", "t", "yes", "y", "on", "1"})
_FALSE = frozenset({"false", "f", "no", "n", "off", "0", "none", ""})
_HUB = "huggingface.co"


@dataclass(frozen=True)
class Request:
    """Something that a file asks for.

    Parameters
    ----------
    kind
        What it is about.
    what
        The option with its value, the model or the path; without a secret.
    """

    kind: Kind
    what: str

    @property
    def needs_trust(self) -> bool:
        """Whether the user must have typed it, or trust the file."""
        return self.kind not in ALLOWED

    def __str__(self) -> str:
        """Return it in words."""
        return f"{self.what} {PROBLEMS[self.kind]}"


class Models(Protocol):
    """The members of a registry's models that this module uses."""

    @property
    def specs(self) -> Catalogue[EmbedderSpec]:
        """Models and providers by name."""

    @property
    def recognising(self) -> list[EmbedderSpec]:
        """The providers that may recognise a name without a provider."""

    def alias(self, name: str) -> EmbedderSpec | None:
        """Return the registered model that has an alias."""


class Named(Protocol):
    """The members of a registry that this module uses; the registry imports this module."""

    @property
    def models(self) -> Models:
        """What model names mean."""

    @property
    def mitigators(self) -> Catalogue[MitigatorSpec]:
        """Mitigators by name."""

    @property
    def metrics(self) -> Catalogue[MetricSpec]:
        """Metrics by name."""

    @property
    def table_makers(self) -> Catalogue[TableSpec]:
        """Table makers by name."""

    def load(self, spec: Spec, what: str) -> Callable[..., Any]:
        """Import the object of a spec."""

    def trusts(self, path: Path) -> bool:
        """Return whether the user trusts a file."""


class Requests:
    """Finds what names and options ask for.

    Parameters
    ----------
    registry
        Where names are looked up.
    roots
        Folders that paths may be in.
    """

    def __init__(self, registry: Named, roots: Iterable[Path] = ()) -> None:
        self.registry, self.roots = registry, tuple(roots)

    def of_model(self, name: str) -> Iterator[Request]:
        """Yield what the name of a model asks for.

        Raises
        ------
        UsageError
            If it cannot be parsed.
        """
        parsed = names.model(name)
        models = self.registry.models
        spec, reference = models.specs.get(parsed.name), parsed.reference
        specs: list[Spec] = [spec] if spec else []
        if spec is not None and not spec.provider and spec.sensitive.get("reference") == "hub":
            yield Request("download", f"the model '{spec.name}' of the hub")
        if reference is None and spec is None:
            reference = parsed.name
            alias = models.alias(reference)
            specs = [alias] if alias else [*models.recognising]
            if alias is None:
                yield from self._of_value("hub", "", reference)
        elif reference is not None and spec is not None and spec.provider:
            alias = models.alias(reference)
            specs = [alias or spec]
            yield from self._of_value(spec.sensitive.get("reference"), "", reference)
        if len(specs) == 1 and self._is_hosted(specs[0]):
            yield Request("key", f"the hosted model '{names.without_options(name)}'")
        for option, value in parsed.options.items():
            if option not in (names.LABEL, names.QUANTIZE):
                stated = (candidate.sensitive.get(option) for candidate in specs)
                yield from self._of_value(next(filter(None, stated), None), option, value)

    def of_mitigator(
        self, name: str, grids: Iterable[Mapping[str, Iterable[Any]]] = ()
    ) -> Iterator[Request]:
        """Yield what a mitigator asks for, with the values of its grid by `STAGE.NAME` or `NAME`.

        Raises
        ------
        UsageError
            If the name cannot be parsed.
        """
        stages = names.chain_stages(name)
        if not stages:
            return
        specs = self.registry.mitigators
        for stage in stages:
            yield from self.of_options(specs.get(stage.name), stage.options)
        for option, values in ((o, v) for grid in grids for o, v in grid.items()):
            named, _, parameter = option.rpartition(".")
            for stage in stages:
                if named in ("", stage.name):
                    for value in values:
                        yield from self.of_options(specs.get(stage.name), {parameter: value})

    def of_options(self, spec: Spec | None, values: Mapping[str, Any]) -> Iterator[Request]:
        """Yield what the options of a mitigator, metric, table maker or engine ask for."""
        sensitive = spec.sensitive if spec else {}
        for option, value in values.items():
            for item in _items(value):
                kind = sensitive.get(f"{option}={item}") or sensitive.get(option)
                yield from self._of_value(kind, option, item)

    def of_hub(self, name: str, what: str) -> Iterator[Request]:
        """Yield what an id of a hub asks for; it may also name a local folder."""
        if names.is_local(name) or names.path_exists(name.partition("@")[0]):
            yield from self.of_weights(name)
        else:
            yield Request("download", what)

    def of_path(self, path: str) -> Iterator[Request]:
        """Yield what a path asks for: nothing, if it is in the roots once links are followed."""
        place = folders.typed(path)
        if not self._is_inside(place):
            yield Request("path", f"'{names.without_secrets(path)}'")

    def of_weights(self, path: str) -> Iterator[Request]:
        """Yield what the path of a model asks for, with the links in its folder."""
        yield from self.of_path(path)
        place = folders.typed(path)
        if self._is_inside(place) and folders.is_folder(place):
            for link in filter(Path.is_symlink, place.rglob("*")):
                if not self._is_inside(link):
                    yield Request("path", f"the target of the link '{link}'")
                    return

    def _of_value(self, kind: Sensitive | None, option: str, value: Any) -> Iterator[Request]:
        text = value if isinstance(value, str) else names.option_text(value)
        if value is None or (option and text in ("none", "None", "")):
            return
        kind = kind or _by_name(option, text) or self._by_value(text)
        if kind == "code":
            if text.strip().lower() not in _FALSE:
                yield Request("code", _shown(option, text))
        elif kind in ("key", "address"):
            yield Request("key" if kind == "key" else "address", _shown(option, text))
        elif kind == "path":
            yield from self.of_weights(text)
        elif kind == "model":
            yield from self.of_model(text)
        elif kind == "package":
            # The parent of `a.b` is imported to find `a.b`.
            is_plain = re.fullmatch(r"[\w-]+", text) is not None
            yield Request("package" if is_plain else "code", f"'{text}'")
        elif kind == "download":
            yield Request("download", f"'{text}'")
        elif kind == "hub":
            yield from self.of_hub(text, f"the model '{text}' of the hub")
        elif names.path_exists(text) or (not option and names.is_local(text)):
            yield from self.of_weights(text)

    def _by_value(self, text: str) -> Sensitive | None:
        """Return `model` for the name of a model that is registered, or has a provider."""
        specs = self.registry.models.specs
        provider, colon, _ = names.without_options(text).partition(":")
        return "model" if provider in specs and (not colon or specs[provider].provider) else None

    def _is_inside(self, path: Path) -> bool:
        return any(folders.is_inside(path, root) for root in self.roots)

    def _is_hosted(self, spec: Spec) -> bool:
        try:
            target = self.registry.load(spec, f"model '{spec.name}'")
        except HarnessError:  # raised again when the model is created
            return False
        return any(map(names.is_secret, names.parameters_of(target)))


class Gate:
    """What a parsed file asks for, by the key that asks.

    Parameters
    ----------
    document
        The file.
    registry
        Where names are looked up; it knows which files the user trusts.
    typed_as
        Option of the command line by key, where there is one.
    """

    def __init__(
        self, document: Document, registry: Named, typed_as: Mapping[str, str] = {}
    ) -> None:
        self.document, self.registry, self.typed_as = document, registry, typed_as
        self.requests: list[tuple[KeyPath, Request]] = []
        self._of = Requests(registry, document.roots or (document.path.parent,))

    def model(self, name: str, key: KeyPath) -> None:
        """Add what the name of a model asks for; an empty one asks for nothing."""
        self._add(key, self._of.of_model(name) if name else ())

    def mitigator(
        self, name: str, key: KeyPath, grids: Iterable[Mapping[str, Iterable[Any]]] = ()
    ) -> None:
        """Add what a mitigator asks for; an empty name asks for nothing."""
        self._add(key, self._of.of_mitigator(name, grids) if name else ())

    def options(self, spec: Spec | None, values: Mapping[str, Any], key: KeyPath) -> None:
        """Add what options ask for."""
        self._add(key, self._of.of_options(spec, values))

    def path(self, path: str, key: KeyPath) -> None:
        """Add what a path asks for."""
        self._add(key, self._of.of_path(path))

    def hub(self, name: str, key: KeyPath) -> None:
        """Add a data set of the hub by its name; a local folder of that name takes precedence."""
        self._add(key, self._of.of_hub(name, f"the data set '{name}' of the hub"))

    def tables(self, tables: Mapping[str, Table]) -> None:
        """Add what tables ask for: addresses of files that are not here, packages, makers."""
        files: dict[str, DataFile] = {}
        with contextlib.suppress(InvalidFile):  # raised again when they are read
            files = data_files.of_tables(tables, self.document)
        for name, table in tables.items():
            key: KeyPath = ("tables", name)
            if table.url and name in files and files[name].state == "to fetch":
                is_known = urlsplit(table.url).hostname == _HUB or table.url.startswith(HUB)
                kind: Kind = "download" if is_known else "address"
                self._add((*key, "url"), [Request(kind, f"'{names.without_secrets(table.url)}'")])
            if table.package:
                self._add((*key, "package"), [Request("package", f"'{table.package}'")])
            if table.made_by:
                maker = self.registry.table_makers.get(table.made_by)
                self.options(maker, table.options, (*key, "options"))

    def lines(self) -> list[str]:
        """Return what is asked for, a line each, with its key."""
        return [f"{dotted(key)}: {self._in_words(request)}" for key, request in self.requests]

    def check(self) -> None:
        """Raise `InvalidFile` for what a file that is not trusted may not ask for."""
        refused: dict[KeyPath, list[str]] = {}
        for key, request in self.requests:
            if request.needs_trust and not self._is_trusted(key):
                refused.setdefault(key, []).append(self._in_words(request))
        mistakes = Collector()
        for key, wishes in refused.items():
            option = self.typed_as.get(str(key[0]))
            with mistakes.collecting():
                raise self.document.error(
                    f"{', '.join(dict.fromkeys(wishes))}; a file may ask for that only if you "
                    f"trust it: add --trust {self.document.file_of(key)}"
                    f"{f', or type {option} yourself' if option else ''}",
                    key,
                )
        mistakes.check()

    def _in_words(self, request: Request) -> str:
        return f"{request} '{self._of.roots[0]}'" if request.kind == "path" else str(request)

    def _is_trusted(self, key: KeyPath) -> bool:
        is_typed = not self.document.places  # a mapping from Python, not a file
        return is_typed or self.registry.trusts(self.document.file_of(key))

    def _add(self, key: KeyPath, requests: Iterable[Request]) -> None:
        with self.document.pointing_at(key):
            self.requests += [(key, request) for request in requests]


def of_task(document: Document, registry: Named) -> Gate:
    """Return what a task asks for: addresses, and options of its metrics and table makers.

    Raises
    ------
    InvalidFile
        If it has a mistake in it.
    """
    file = document.validate(TaskFile)
    gate = Gate(document, registry)
    for name, use in file.metrics.items():
        gate.options(registry.metrics.get(name), use.options, ("metrics", name, "options"))
    for label, scenario in file.scenarios.items():
        for name, values in scenario.options.items():
            key: KeyPath = ("scenarios", label, "options", name)
            gate.options(registry.metrics.get(name), values, key)
    gate.tables(file.tables)
    return gate


def of_recipe(document: Document, registry: Named, typed: Mapping[str, object] = {}) -> Gate:
    """Return what a recipe of training asks for.

    Parameters
    ----------
    document
        The parsed file. Its mistakes are reported by its reader.
    registry
        Where names are looked up.
    typed
        Values that the user typed, which replace those of the file, by key; None if not typed.
    """
    gate = Gate(document, registry, {"base": "--base", "corpus": "--corpus"})
    data, rows = document.data, _mapping(document.data.get("rows"))
    if typed.get("base") is None:
        gate.model(_text(data.get("base")), ("base",))
    if data.get("scored_by") not in rows:
        gate.model(_text(data.get("scored_by")), ("scored_by",))
    for label, row in rows.items():
        gate.model(_text(_mapping(row).get("base")), ("rows", label, "base"))
        gate.mitigator(_text(_mapping(row).get("mitigator")), ("rows", label, "mitigator"))
    corpus = data.get("corpus") if typed.get("corpus") is None else ()
    for i, source in enumerate(corpus if isinstance(corpus, list) else ()):
        if _text(source).startswith("hf://"):
            gate.hub(source.removeprefix("hf://"), ("corpus", i))
    return gate


def of_rows(document: Document, registry: Named) -> Gate:
    """Return what the rows of a paper ask for; their reader reports mistakes."""
    gate = Gate(document, registry)
    rows = document.data.get("rows")
    for i, row in enumerate(rows if isinstance(rows, list) else ()):
        gate.model(_text(_mapping(row).get("model")), ("rows", i, "model"))
        score = _mapping(_mapping(row).get("score"))
        gate.mitigator(_text(score.get("mitigator")), ("rows", i, "score", "mitigator"))
    return gate


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _items(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _items(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _items(item)
    else:
        yield value


def _by_name(option: str, text: str) -> Sensitive | None:
    """Return what an option that no spec describes asks for."""
    words = option.lower().split("_")
    hints = {
        kind for kind, pattern in _HINTS.items() if any(map(re.compile(pattern).fullmatch, words))
    }
    if text.lower() in _TRUE | _FALSE:
        return "code" if "code" in hints else None
    if _NUMBER.fullmatch(text):
        return None
    if names.is_secret(option):
        return "key"
    if hints:
        return next(kind for kind in _HINTS if kind in hints)
    if "://" in text:
        return "address"
    return "code" if _IMPORT_PATH.fullmatch(text) else None


def _shown(option: str, value: str) -> str:
    is_key = names.is_secret(option) and not names.is_variable(value)
    return f"'{option}=***'" if is_key else f"'{option}={names.without_secrets(value)}'"
