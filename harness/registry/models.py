"""Finds the model that a name means, creates it, and gives it its label.

A name is tried in this order:

1. a registered model, by its name or by an alias on its card;
2. `provider:reference`;
3. a folder, a file or an id of a hub without a provider, if a provider recognises it.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

from harness import names, options
from harness.digest import digest
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
from harness.registry.files import Catalogue
from harness.specs import EmbedderSpec, Spec

if TYPE_CHECKING:
    from harness.arrays import Vectors


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
        return {alias: spec for alias, spec in reversed(pairs) if not names.path_exists(alias)}

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
        if names.is_local(reference) or "/" in reference or names.path_exists(reference):
            if not names.path_exists(reference):
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
        if "/" not in reference and not names.path_exists(reference):
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
        elif names.is_local(label):
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
            for option, value in names.differing(target, chosen, spec.options).items()
            if option not in spec.neutral
        }
        if model.precision is not None:
            shown[QUANTIZE] = model.precision
        name = spec.name if model.reference is None else self._referred(spec, model.reference)
        return names.with_options(name, shown)

    def _referred(self, spec: EmbedderSpec, reference: str) -> str:
        """Return the label of a provider's model, without options."""
        is_recognised = self._recognises(spec, reference)
        inner = self.specs.get(reference.partition(":")[0])
        if inner is not None and inner.provider and ":" in reference:
            reference = self.label(reference)
        else:
            reference = names.reference_label(reference)
        can_be_typed = is_recognised and reference not in self.specs
        return reference if can_be_typed else f"{spec.name}:{reference}"


# `?quantize=`: an encoder whose vectors are stored with less precision, as vector databases do.
#
# Written for `sentence_transformers.quantize_embeddings`, which gives the same codes. A code is
# returned as the number that it stands for, so that metrics and mitigators work on it as on any
# vector.
#
# The file `calibration.txt` has the texts that ranges of `int8` come from: 117 search queries,
# their 117 documents about no gender, and the words of the queries. They are from Grep-BiasIR
# (Krieg et al. 2023, KlaraKrieg/GrepBiasIR, CC0 1.0).


Precision: TypeAlias = Literal["int8", "binary"]

LEVELS = 256
"""Number of values of a dimension with `int8`."""
_CALIBRATION = Path(__file__).with_name("calibration.txt")
_BATCH = 32  # calibration texts that are encoded together
_FORWARDED = (
    *("batch_texts", "batch_tokens", "close", "lacks", "lengths", "notes", "truncated"),
    *("share", "tell", "watch"),
)


class Quantized:
    """A text encoder whose vectors are quantised; itself an embedder.

    Parameters
    ----------
    embedder
        The encoder.
    precision
        `int8`: each dimension has 256 levels between the least and the greatest value that it has
        in the vectors of the calibration texts; values outside are set to the nearest level. A
        level is returned as its middle. `binary`: a dimension is 1 if it is above 0, else -1, so
        that the cosine of two vectors is 1 - 2h/d for the Hamming distance h.

    Raises
    ------
    InvalidOption
        If the precision is unknown, or the embedder is no text encoder.

    Notes
    -----
    The calibration texts are the same for all models and tasks: ranges that came from the texts of
    a run would make a vector depend on what else is run. They are encoded when the first text is.
    """

    def __init__(self, embedder: Embedder, precision: str) -> None:
        if precision not in get_args(Precision):
            raise InvalidOption(f"quantize={precision}: expected one of int8, binary")
        info = embedder.info
        if info.kind != "text":
            raise InvalidOption(f"quantize={precision}: '{info.name}' is no text encoder")
        self.embedder, self.precision = embedder, precision
        stated = {"int8": [precision, *calibration_texts()], "binary": [precision]}[precision]
        fingerprint = f"{info.fingerprint}-{digest(stated)}"
        # Published scores are those of the whole vectors.
        self.info = dataclasses.replace(info, fingerprint=fingerprint, scores={})

    def __getattr__(self, name: str) -> Any:
        """Return a member that quantisation does not change; there are no token states."""
        if name in _FORWARDED:
            return getattr(self.embedder, name)
        raise AttributeError(name)

    def encode(self, texts: Sequence[str], **role: Any) -> Vectors:
        """Return the (n, d) float32 quantised vectors of `n` texts; rows of NaN stay NaN."""
        import numpy as np

        vectors = np.asarray(self.embedder.encode(texts, **role), dtype=np.float32)
        if self.precision == "binary":
            signs = np.where(vectors > 0, np.float32(1), np.float32(-1))
            return np.where(np.isnan(vectors), vectors, signs)
        return of_codes(codes(vectors, self._ranges), self._ranges) if len(texts) else vectors

    @property
    def unquantized(self) -> Embedder:
        """The encoder, whose whole vectors tell models apart."""
        return self.embedder

    @functools.cached_property
    def _ranges(self) -> Vectors:
        """The (2, d) least and greatest values of each dimension."""
        import numpy as np

        texts = calibration_texts()
        batches = [texts[i : i + _BATCH] for i in range(0, len(texts), _BATCH)]
        vectors = np.concatenate([self.embedder.encode(batch) for batch in batches])
        return np.stack([np.nanmin(vectors, axis=0), np.nanmax(vectors, axis=0)]).astype(np.float32)


def codes(vectors: Vectors, ranges: Vectors) -> Vectors:
    """Return the (n, d) levels of vectors, from 0 to 255 as floats, for (2, d) ranges."""
    import numpy as np

    start, step = ranges[0], _steps(ranges)
    levels: Vectors = np.clip(np.floor((vectors - start) / step), 0, LEVELS - 1)
    return levels


def of_codes(levels: Vectors, ranges: Vectors) -> Vectors:
    """Return the (n, d) float32 values in the middle of levels."""
    import numpy as np

    middles = ranges[0] + (levels + np.float32(0.5)) * _steps(ranges)
    constant = ranges[0] == ranges[1]
    return np.asarray(np.where(constant & ~np.isnan(levels), ranges[0], middles), dtype=np.float32)


def _steps(ranges: Vectors) -> Vectors:
    import numpy as np

    steps = (ranges[1] - ranges[0]) / np.float32(LEVELS - 1)
    return np.where(steps == 0, np.float32(1), steps)


@functools.cache
def calibration_texts() -> tuple[str, ...]:
    """Return the texts that the ranges of `int8` come from."""
    return tuple(_CALIBRATION.read_text(encoding="utf-8").splitlines())
