"""What a YAML file of somebody else may not ask for: an address, a key, or code.

What the user types, passes in Python or has installed is trusted. Any other YAML, named by its path
or found in a folder of `--include`, is data, unless the user adds `--trust`. Nothing here opens a
file, sends a request or creates a model.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from harness import names
from harness.bucket import HUB
from harness.errors import HarnessError, InvalidFile
from harness.specs import Sensitive, Spec
from harness.task import data_files
from harness.task.data_files import DataFile
from harness.task.schema import Table, TaskFile
from harness.task.yaml_files import Collector, Document, KeyPath

if TYPE_CHECKING:
    from harness.registry.registry import Registry

_WORDS: dict[Sensitive, str] = {
    "code": "runs code",
    "key": "uses a key",
    "address": "is an address to send requests to",
}
# Names of options that no spec describes.
_CODE = re.compile(r"(^|_)(callable|code|command|eval|exec|function|import|module|plugin|script)")
_ADDRESS = re.compile(r"(^|_)(address|endpoint|host|proxy|server|uri|url)s?(_|$)")
_IMPORT_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_OFF = frozenset({"false", "f", "no", "n", "off", "0", "none", ""})
_KNOWN_HOSTS = (HUB, "https://huggingface.co/")


def of_model(name: str, registry: Registry) -> Iterator[str]:
    """Yield what a model's name asks for, in words; `UsageError` if it cannot be parsed."""
    parsed, models = names.model(name), registry.models
    spec = models.specs.get(parsed.name) or models.alias(parsed.reference or parsed.name)
    if spec is not None and _is_hosted(spec, registry):
        yield f"the hosted model '{names.without_options(name)}' uses a key"
    if parsed.reference is not None:
        yield from _of_inner_model(parsed.reference, registry)
    yield from of_options(spec, parsed.options, registry)


def of_mitigator(name: str, registry: Registry) -> Iterator[str]:
    """Yield what a mitigator's name asks for, in words; `UsageError` if it cannot be parsed."""
    for stage in names.chain_stages(name):
        yield from of_options(registry.mitigators.get(stage.name), stage.options, registry)


def of_options(spec: Spec | None, values: Mapping[str, Any], registry: Registry) -> Iterator[str]:
    """Yield what the options of a model, mitigator, metric, table maker or engine ask for."""
    sensitive = spec.sensitive if spec else {}
    for option, value in values.items():
        for text in _texts(value):
            stated = sensitive.get(f"{option}={text}") or sensitive.get(option)
            kind = stated or _by_name(option, text)
            if kind in _WORDS and text.lower() not in _OFF:
                yield f"{_shown(option, text)} {_WORDS[kind]}"
            yield from _of_inner_model(text, registry)


class Gate:
    """What a parsed file asks for that needs trust, by the key that asks."""

    def __init__(self, document: Document, registry: Registry) -> None:
        self.document, self.registry = document, registry
        self.asked: list[tuple[KeyPath, str]] = []

    def model(self, name: str, key: KeyPath) -> None:
        """Add what the name of a model asks for."""
        self._add(key, of_model(name, self.registry))

    def mitigator(
        self, name: str, key: KeyPath, grids: Iterable[Mapping[str, Iterable[Any]]] = ()
    ) -> None:
        """Add what a mitigator asks for, with the values of its grids by `STAGE.NAME` or `NAME`."""
        self._add(key, of_mitigator(name, self.registry))
        values = [{o.rpartition(".")[2]: v for o, v in grid.items()} for grid in grids]
        for stage, of_grid in itertools.product(names.chain_stages(name), values):
            self.options(self.registry.mitigators.get(stage.name), of_grid, key)

    def options(self, spec: Spec | None, values: Mapping[str, Any], key: KeyPath) -> None:
        """Add what options ask for."""
        self._add(key, of_options(spec, values, self.registry))

    def tables(self, tables: Mapping[str, Table]) -> None:
        """Add addresses of files that are to be fetched, but of the hub's, and makers' options."""
        files: dict[str, DataFile] = {}
        with contextlib.suppress(InvalidFile):  # raised again when they are read
            files = data_files.of_tables(tables, self.document)
        for name, table in tables.items():
            key: KeyPath = ("tables", name)
            is_fetched = name in files and files[name].state == "to fetch"
            if table.url and is_fetched and not table.url.startswith(_KNOWN_HOSTS):
                self._add((*key, "url"), [f"{_shown('url', table.url)} {_WORDS['address']}"])
            if table.made_by:
                maker = self.registry.table_makers.get(table.made_by)
                self.options(maker, table.options, (*key, "options"))

    def check(self) -> None:
        """Raise `InvalidFile` for what a file that is not trusted may not ask for."""
        mistakes = Collector()
        for key in dict.fromkeys(key for key, _ in self.asked):
            # A mapping from Python has no places: it is no file.
            if self.document.places and not self.registry.trusts(self.document.file_of(key)):
                wishes = dict.fromkeys(wish for at, wish in self.asked if at == key)
                with mistakes.collecting():
                    raise self.document.error(f"{', '.join(wishes)}; --trust allows it", key)
        mistakes.check()

    def _add(self, key: KeyPath, wishes: Iterable[str]) -> None:
        with self.document.pointing_at(key):
            self.asked += [(key, wish) for wish in wishes]


def of_task(document: Document, registry: Registry) -> Gate:
    """Return what a task asks for; `InvalidFile` if it has a mistake in it."""
    file = document.validate(TaskFile)
    gate = Gate(document, registry)
    asked: list[tuple[KeyPath, str, Mapping[str, Any]]] = [
        (("metrics", name, "options"), name, use.options) for name, use in file.metrics.items()
    ]
    for label, scenario in file.scenarios.items():
        options = scenario.options.items()
        asked += [(("scenarios", label, "options", name), name, values) for name, values in options]
    for key, name, values in asked:
        gate.options(registry.metrics.get(name), values, key)
    gate.tables(file.tables)
    return gate


def _of_inner_model(text: str, registry: Registry) -> Iterator[str]:
    """Yield what a text asks for if it names a model, such as in `bag-of-words:openai:x`."""
    provider, colon, _ = names.without_options(text).partition(":")
    spec = registry.models.specs.get(provider)
    if spec is not None and spec.provider == bool(colon):
        yield from of_model(text, registry)


def _is_hosted(spec: Spec, registry: Registry) -> bool:
    """Return whether a model has an option for a key."""
    try:
        target = registry.load(spec, f"model '{spec.name}'")
    except HarnessError:  # raised again when the model is created
        return False
    return any(map(names.is_secret, names.parameters_of(target)))


def _texts(value: Any) -> list[str]:
    """Return all texts in the value of an option."""
    if isinstance(value, Mapping | list | tuple):
        items = value.values() if isinstance(value, Mapping) else value
        return [text for item in items for text in _texts(item)]
    return [value if isinstance(value, str) else names.option_text(value)]


def _by_name(option: str, text: str) -> Sensitive | None:
    """Return what an option that no spec describes asks for."""
    option = option.lower()
    if option == "trust_remote_code" or _CODE.search(option) or _IMPORT_PATH.fullmatch(text):
        return "code"
    if names.is_secret(option):
        return "key"
    return "address" if _ADDRESS.search(option) or "://" in text else None


def _shown(option: str, text: str) -> str:
    is_key = names.is_secret(option) and not names.is_variable(text)
    return f"'{option}=***'" if is_key else f"'{option}={names.without_secrets(text)}'"
