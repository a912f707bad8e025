"""Finds the model that a name means, creates it, and gives it its label.

A name is tried in this order:

1. a registered model, by its name or by an alias on its card;
2. `provider:reference`;
3. a folder, a file or an id of a hub without a provider, if a provider recognises it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from harness import labels, names, options
from harness.embedder import Embedder, ModelInfo, renamed
from harness.errors import (
    PLUGIN_ERRORS,
    HarnessError,
    InvalidOption,
    ModelError,
    UnknownName,
    UsageError,
    one_line,
    unreadable,
)
from harness.registry.catalogue import Catalogue
from harness.specs import EmbedderSpec, Spec

NAME = "name"
"""Option of every model: the label to report it under."""
QUANTIZE = "quantize"
"""Option of every text encoder: the precision of its vectors."""
_OWN = {"reference", "card", "device", NAME}
"""Parameters of an embedder that are not its options."""


@dataclass(frozen=True)
class Model:
    """What a model name means.

    Parameters
    ----------
    spec
        The registered model, or the provider.
    reference
        What the provider is asked for; None for a registered model.
    options
        Options as the user typed them.
    chosen
        The label that the user chose with the option `name`; None for the derived one.
    precision
        The precision that the user chose with the option `quantize`; None for the model's own.
    """

    spec: EmbedderSpec
    reference: str | None
    options: Mapping[str, str]
    chosen: str | None
    precision: str | None


class Models:
    """The models and providers of a registry.

    Parameters
    ----------
    specs
        Models and providers by name.
    load
        Imports the object of a spec; the second argument is what messages call it.
    """

    def __init__(
        self, specs: Catalogue[EmbedderSpec], load: Callable[[Spec, str], Callable[..., Any]]
    ) -> None:
        self.specs, self._load = specs, load

    def find(self, name: str) -> Model:
        """Return what a name means.

        Raises
        ------
        UnknownName, InvalidOption, UsageError
            If it means no model.
        NameClash
            If two plugins claim it.
        """
        parsed = names.model(name)
        typed = dict(parsed.options)
        chosen, precision = typed.pop(NAME, None), typed.pop(QUANTIZE, None)
        if parsed.provider in self.specs.clashes:
            raise self.specs.clashes[parsed.provider]
        spec, reference = self.specs.get(parsed.provider), parsed.reference
        if reference is None and spec is None:
            reference = parsed.provider
            spec = self._aliases.get(reference) or self._recognised(reference)
        elif spec is None:
            providers = [n for n, s in self.specs.items() if s.provider]
            raise UnknownName("model provider", parsed.provider, providers)
        elif reference is None and spec.provider:
            raise InvalidOption(f"'{name}' is a provider: name a model as '{spec.name}:REFERENCE'")
        elif reference is not None and not spec.provider:
            raise InvalidOption(f"'{spec.name}' is a model, not a provider: write just its name")
        elif reference is not None and self._recognises(spec, reference):
            spec = self._aliases.get(reference, spec)
        model = Model(spec, reference if spec.provider else None, typed, chosen, precision)
        self._check(model)
        return model

    def embedder(self, name: str, *, device: str | None = None) -> Embedder:
        """Return the embedder of a name; see `Registry.embedder`."""
        model = self.find(name)
        spec, target = model.spec, self._target(model)
        parameters, chosen = options.parameters(target), self._options(model, target)
        label = self._label(model, target, chosen)
        arguments = dict(spec.options) | chosen
        if "device" in parameters and device is not None:
            arguments["device"] = device
        if "card" in parameters and spec.card is not None:
            arguments.setdefault("card", spec.card)
        if NAME in parameters:
            arguments[NAME] = label
        first = list(parameters)[: model.reference is not None]  # it gets the reference
        options.check_required(target, [*arguments, *first], what=f"model '{spec.name}'")
        try:
            embedder = target(*([] if model.reference is None else [model.reference]), **arguments)
            is_embedder = isinstance(embedder.info, ModelInfo) and callable(embedder.encode)
        except HarnessError:
            raise
        except PLUGIN_ERRORS as error:
            raise ModelError(f"model '{name}' cannot be created ({one_line(error)})") from error
        if not is_embedder:
            raise ModelError(f"model '{name}' is no embedder: its info is no harness.ModelInfo")
        if model.precision is not None:
            from harness.registry.quantized import Quantized

            embedder = Quantized(embedder, model.precision)
        return renamed(cast("Embedder", embedder), label)

    def alias(self, name: str) -> EmbedderSpec | None:
        """Return the registered model that has an alias."""
        return self._aliases.get(name)

    @property
    def recognising(self) -> list[EmbedderSpec]:
        """The providers that may recognise a name without a provider."""
        return [spec for spec in self.specs.values() if spec.recognises is not None]

    def label(self, name: str) -> str:
        """Return the label of a model name, without creating the model."""
        model = self.find(name)
        target = self._target(model)
        return self._label(model, target, self._options(model, target))

    @functools.cached_property
    def _aliases(self) -> dict[str, EmbedderSpec]:
        cards = [spec for spec in self.specs.values() if spec.card and not spec.provider]
        pairs = [(alias, spec) for spec in cards if spec.card for alias in spec.card.aliases]
        return {alias: spec for alias, spec in reversed(pairs) if not labels.exists(alias)}

    def _target(self, model: Model) -> Callable[..., Any]:
        return self._load(model.spec, f"model '{model.spec.name}'")

    def _options(self, model: Model, target: Callable[..., Any]) -> dict[str, Any]:
        card = model.spec.card
        general = {NAME} if card is not None and card.kind == "word" else {NAME, QUANTIZE}
        known = (options.parameters(target).keys() - _OWN) | general
        return options.convert(
            target, model.options, known=known, what=f"model '{model.spec.name}'"
        )

    def _recognised(self, reference: str) -> EmbedderSpec:
        """Return the provider that recognises a text without a provider."""
        reasons = []
        for spec in self.specs.values():
            if spec.recognises is not None:
                look = Spec(name=spec.name, target=spec.recognises)
                try:
                    if self._load(look, f"provider '{spec.name}'")(reference):
                        return spec
                except HarnessError as error:
                    reasons.append(str(error))
        why = f" ({'; '.join(reasons)})" if reasons else ""
        if labels.is_local(reference) or "/" in reference or labels.exists(reference):
            if not labels.exists(reference):
                raise unreadable(reference)
            providers = ", ".join(name for name, spec in self.specs.items() if spec.provider)
            raise UsageError(
                f"'{reference}' is not recognised as a model{why}; write 'PROVIDER:{reference}' "
                f"with its provider, one of {providers}"
            )
        raise UnknownName("model", reference, self.specs, hint=why)

    def _recognises(self, spec: EmbedderSpec, reference: str) -> bool:
        """Return whether a reference of a provider may be typed without the provider.

        A plain name is not looked up, because a hub would be asked.
        """
        if spec.recognises is None:
            return False
        if "/" not in reference and not labels.exists(reference):
            return True
        look = Spec(name=spec.name, target=spec.recognises)
        try:
            return bool(self._load(look, f"provider '{spec.name}'")(reference))
        except HarnessError:
            return True

    def _check(self, model: Model) -> None:
        """Raise InvalidOption if the label that the user chose is invalid."""
        label = model.chosen
        if label is None:
            return
        problem = ""
        if not label.strip() or not label.isprintable() or len(label) > 100:
            problem = "a name has 1 to 100 printable characters"
        elif labels.is_local(label):
            problem = "a name of its own is expected, not a path"
        elif label in self.specs and self.specs[label] is not model.spec:
            problem = f"'{label}' is a registered name; choose another one"
        if problem:
            raise InvalidOption(f"option name={label}: {problem}")

    def _label(self, model: Model, target: Callable[..., Any], chosen: Mapping[str, Any]) -> str:
        if model.chosen is not None:
            return model.chosen
        spec = model.spec
        shown = {
            option: value
            for option, value in labels.differing(target, chosen, spec.options).items()
            if option not in spec.neutral
        }
        if model.precision is not None:
            shown[QUANTIZE] = model.precision
        name = spec.name if model.reference is None else self._referred(spec, model.reference)
        return labels.with_options(name, shown)

    def _referred(self, spec: EmbedderSpec, reference: str) -> str:
        """Return the label of a provider's model, without options."""
        is_recognised = self._recognises(spec, reference)
        inner = self.specs.get(reference.partition(":")[0])
        if inner is not None and inner.provider and ":" in reference:
            reference = self.label(reference)
        else:
            reference = labels.of_reference(reference)
        can_be_typed = is_recognised and reference not in self.specs
        return reference if can_be_typed else f"{spec.name}:{reference}"
