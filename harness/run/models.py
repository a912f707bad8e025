"""The models of a run: names and Python objects become embedders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import cast

from harness.embedder import Embedder, ModelInfo
from harness.encode.adapters import ObjectEmbedder
from harness.errors import PLUGIN_ERRORS, HarnessError, ModelError, UsageError, one_line
from harness.registry.registry import Registry

EXPECTED = (
    "expected a model's name, an Embedder, an object with encode(texts), or a function from texts "
    "to vectors"
)


def as_list(model: object, registry: Registry) -> list[str | object]:
    """Return the models that a user gives: one, or several in an iterable.

    An object that encodes or that a plugin knows is one model, even if it is iterable, as a
    SentenceTransformer and gensim's vectors are.

    Raises
    ------
    UsageError
        If there is none.
    """
    if isinstance(model, str) or callable(getattr(model, "encode", None)) or callable(model):
        return [model]
    adapted = _adapted(model, registry)
    if adapted is not None:
        return [adapted]
    if not isinstance(model, Iterable) or isinstance(model, Mapping):
        return [model]
    models = list(cast("Iterable[str | object]", model))
    if not models:
        raise UsageError("no model is given")
    return models


def embedder(model: str | object, registry: Registry, *, device: str | None = None) -> Embedder:
    """Return the embedder of a name or object.

    Raises
    ------
    UsageError
        If the name is unknown, or the object is no model.
    HarnessError
        If the model is not available, or is broken.
    """
    if isinstance(model, str):
        return registry.embedder(model, device=device)
    if isinstance(model, type):
        raise UsageError(f"{EXPECTED}, not the class {model.__name__} itself")
    if isinstance(model, Embedder) and isinstance(model.info, ModelInfo):
        return model
    adapted = _adapted(model, registry)
    if adapted is not None:
        return adapted
    if not callable(getattr(model, "encode", None)) and not callable(model):
        raise UsageError(f"{EXPECTED}, not {type(model).__name__}")
    return ObjectEmbedder(model)


def _adapted(model: object, registry: Registry) -> Embedder | None:
    """Return the embedder that a plugin makes of an object; None if no plugin knows it."""
    for class_ in type(model).__mro__:
        name = f"{class_.__module__.partition('.')[0]}.{class_.__name__}"
        if name not in registry.adapters:
            continue
        adapter = registry.load(registry.adapters[name], f"adapter '{name}'")
        try:
            embedder = cast("Callable[[object], Embedder | None]", adapter)(model)
        except HarnessError:
            raise
        except PLUGIN_ERRORS as error:
            raise ModelError(
                f"this {name} cannot be used as a model ({one_line(error)})"
            ) from error
        if embedder is not None:
            return embedder
    return None
