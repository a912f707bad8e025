"""A model of sentence-transformers in memory as an embedder, such as one that was just trained.

If it is what loading its folder gives, it has the name, fingerprint and stored vectors of that
folder: the two are compared, weight by weight. Else its fingerprint is a hash of its weights and
settings. It cannot be that of a folder then, which covers the bytes of the files. An
encoder that compares texts itself is saved to a temporary folder, and is the model of that folder.
"""

from __future__ import annotations

import functools
import math
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from harness.digest import digest
from harness.embedder import Embedder, ModelInfo, Role
from harness.encode import adapters, identity
from harness.encode.identity import Unidentified
from harness.errors import HarnessError, NotApplicable
from harness.mitigator import Map

from .. import cards, prompts, quiet_loading
from . import comparers, hub, mapped_model, model_settings, tokens
from .model_settings import TASK_SETTINGS, Router, Routes
from .sentence_transformer import SentenceTransformersEmbedder

if TYPE_CHECKING:
    from harness.arrays import Vectors

    from .encoder import Precision

LARGEST_COPY = 1_000_000_000
"""Number of weights up to which a second copy is loaded to compare with."""
_CACHED = re.compile(r"models--(.+?)--(.+)")  # a model's folder in the cache of the hub


class LoadedSentenceTransformer:
    """A `SentenceTransformer` that differs from the files that it was loaded from, or has none.

    Parameters
    ----------
    model
        The object.
    name
        What it is reported as.
    fingerprint
        Its fingerprint; by default a hash of its content.

    Raises
    ------
    Unidentified
        If its content is unknown, and no fingerprint is stated.
    """

    def __init__(self, model: Any, name: str, *, fingerprint: str | None = None) -> None:
        self._model, self._prompts = model, _role_prompts(model, name)
        self._routes = _routes(model)
        self._counter = tokens.TextLengths(
            None,
            limit=_limit(model),
            own=functools.partial(
                tokens.by_tokenizer,
                getattr(model, "tokenizer", None),
                lowercase=bool(getattr(model[0], "do_lower_case", False)),
            ),
        )
        weights = sum(weight.numel() for weight in model.parameters())
        source = _source(model)
        if fingerprint is None:
            content = [_identity(model), self._prompts]
            if self._routes.names:
                content.append(self._routes.names)
            fingerprint = f"sentence-transformer-object-{digest(content)}"
        self.info = ModelInfo(
            name=name,
            kind="text",
            max_tokens=_limit(model),
            n_parameters=weights or None,
            prompts=_stated_prompts(model),
            role_prompts=self._prompts,
            routes=self._routes.names,
            fingerprint=fingerprint,
            fitted_on=cards.fitted_on(Path(source, "README.md")) if source else (),
        )

    @property
    def precision(self) -> str | None:
        """`float32` if all weights are, and no layer is quantised; else None."""
        from torch import float32
        from torch.nn import Parameter

        is_plain = all(
            type(weight) is Parameter and weight.dtype == float32
            for weight in self._model.parameters()
        ) and not any("quant" in type(part).__module__ for part in self._model.modules())
        return "float32" if is_plain else None

    @property
    def similarity_fn_name(self) -> str | None:
        """The similarity that the model states."""
        return getattr(self._model, "similarity_fn_name", None)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user may not expect: of its reading of texts, and that nothing identifies it."""
        lines = [
            *self._routes.notices(),
            *prompts.notices(_stated_prompts(self._model), self._prompts),
        ]
        return (*adapters.notes(self.info), *(f"{self.info.name}: {line}" for line in lines))

    def encode(self, texts: Sequence[str], *, role: Role = "text") -> Vectors:
        """Return (n, d) float32 vectors of `n` texts of one role, encoded as one batch."""
        with tokens.settled_padding(self._model):
            vectors = self._model.encode(
                list(texts),
                prompt=self._prompt(role),
                batch_size=max(1, len(texts)),
                show_progress_bar=False,
                **self._routes.arguments(role, self.info.name),
            )
        return np.asarray(vectors, dtype=np.float32)

    def lengths(self, texts: Sequence[str], *, role: Role = "text") -> Sequence[int]:
        """Return the number of tokens of each text, so that batches are those of a saved folder."""
        return self._counter.lengths(texts, self._prompt(role))

    def lacks(self, texts: Sequence[str], *, role: Role = "text") -> list[bool]:
        """Return whether the tokenizer knows no part of each text."""
        from tokenizers import Tokenizer

        own = getattr(self._model, "tokenizer", None)
        tokenizer = getattr(own, "backend_tokenizer", own)
        if not isinstance(tokenizer, Tokenizer):
            return [False] * len(texts)
        return tokens.unknown(tokenizer, texts)

    def _prompt(self, role: Role) -> str:
        return self._prompts.get(role, self._prompts.get("text", ""))

    def export(self, change: Map, folder: Path, *, onnx: bool = False) -> Embedder:
        """Save the model with a map behind it, for the library alone; return what is saved.

        Parameters
        ----------
        change
            The map, of the vectors that `encode` returns.
        folder
            An empty folder.
        onnx
            Whether to write the whole model as a graph, too.

        Raises
        ------
        NotApplicable
            If the model cannot be saved as it is run here.
        """
        name = self.info.name
        if self.precision != "float32" or self._model.truncate_dim is not None:
            raise NotApplicable(f"'{name}': only whole vectors of float32 weights can be exported")
        prompts = self._prompts
        mapped_model.write(self._model, change, folder, prompts=prompts, onnx=onnx, name=name)
        return SentenceTransformersEmbedder(str(folder), device="cpu")


def adapt(model: Any) -> Embedder:
    """Return a `SentenceTransformer` as an embedder, under its `name` if it has one."""
    model_settings.check_steps(model)
    source, name = _source(model), _reported(model)
    model.eval()  # as its `encode` does; a model in training has other vectors
    try:
        return _of_folder(model, source, name) or LoadedSentenceTransformer(model, name)
    except Unidentified:  # parts that are known to nobody: nothing can be used again
        return LoadedSentenceTransformer(model, name, fingerprint=adapters.unnamed())


def adapt_comparing(model: Any) -> Embedder:
    """Return an encoder that compares texts as an embedder, under its `name` if it has one.

    Raises
    ------
    ModelError
        If it is no such model, or cannot be saved.
    """
    known = {class_.library_class: class_ for class_ in comparers.CLASSES}
    class_ = next((known[c.__name__] for c in type(model).__mro__ if c.__name__ in known), None)
    if class_ is None:
        model_settings.refuse_object(model)
    kept = tempfile.TemporaryDirectory(prefix="harness-model-")
    name = _reported(model)
    with quiet_loading.loading(name):
        model.save_pretrained(kept.name)
    embedder = class_(
        kept.name,
        precision=cast("Precision", str(model.dtype).removeprefix("torch.")),
        device=str(model.device),
        name=name,
    )
    tokens.settle_padding_of(model)
    embedder.__dict__["_model"] = model.eval()
    embedder.__dict__["_kept"] = kept  # removed with the embedder
    return cast("Embedder", embedder)  # a cross-encoder has `score` in place of `encode`


def in_training(model: Any, *, is_kept: bool) -> Embedder:
    """Return a `SentenceTransformer` that is being trained as an embedder.

    Parameters
    ----------
    model
        The object.
    is_kept
        Whether its vectors are stored under a hash of its weights. If not, nothing identifies it:
        its vectors are removed after a run, and no file of its base is read to compare them with.
    """
    if is_kept:
        return adapt(model)
    model_settings.check_steps(model)
    model.eval()
    return LoadedSentenceTransformer(model, _name(_source(model)), fingerprint=adapters.unnamed())


def _of_folder(model: Any, source: str, name: str) -> Embedder | None:
    """Return the embedder of the model's folder if it gives the same model, else None."""
    if not source or sum(weight.numel() for weight in model.parameters()) > LARGEST_COPY:
        return None
    try:
        path, _ = hub.folder(source)
        options: dict[str, Any] = {
            "max_length": _limit(model),
            "precision": str(getattr(model, "dtype", "float32")).removeprefix("torch."),
            "name": name,
        }
        roles = _role_prompts(model, name)
        if roles != SentenceTransformersEmbedder(str(path), **options).info.role_prompts:
            text = roles.get("text", "")
            options |= {
                "prompt": text,
                "query_prompt": roles.get("query", text),
                "document_prompt": roles.get("document", text),
            }
        copy = SentenceTransformersEmbedder(str(path), device="cpu", **options)
        if _identity(copy._model.eval()) != _identity(model):
            return None
        same = SentenceTransformersEmbedder(str(path), **options)
    except (HarnessError, OSError, ValueError):  # no such folder, or one that is read otherwise
        return None
    tokens.settle_padding_of(model)
    same.__dict__["_model"] = model
    return same


def _identity(model: Any) -> str:
    """Return a digest of what determines the vectors of a model, but for its prompts.

    Raises
    ------
    Unidentified
        If its weights are not in memory.
    """
    with tokens.settled_padding(model):  # as it encodes
        content = identity.content(model, without=("prompts", "default_prompt_name"))
    return digest(
        {
            "content": content,
            "max_length": model.max_seq_length,
            "dimensions": model.truncate_dim,
        }
    )


def _stated_prompts(model: Any) -> dict[str, str]:
    return {name: text for name, text in (model.prompts or {}).items() if text}


def _role_prompts(model: Any, name: str) -> dict[Role, str]:
    """Return the prompts of a model by role, as those of a folder are read."""
    stated = _stated_prompts(model)
    return prompts.by_role(stated, model=name, plain=stated.get(model.default_prompt_name))


def _routes(model: Any) -> Routes:
    """Return the routes of a model by role, as those of a folder are read."""
    from sentence_transformers.base.modules import Router as Module

    modules: list[Any] = list(model)
    routers: list[Any] = [module for module in modules if isinstance(module, Module)]
    inputs = [steps[0] for router in routers for steps in router.sub_modules.values()]
    return Routes.of(
        [
            Router(
                {route: list(map(str, steps)) for route, steps in router.sub_modules.items()},
                router.default_route,
                router.route_mappings,
            )
            for router in routers
        ],
        differs=any(
            getattr(step, setting, None) is not None
            for step in [*modules[:1], *inputs]
            for setting in TASK_SETTINGS
        ),
    )


def _limit(model: Any) -> int | None:
    """Return the longest input of a model in tokens; None if it reads all of a text."""
    limit = model.max_seq_length
    return None if limit is None or math.isinf(limit) else int(limit)


def _transformer(part: Any) -> Any:
    return getattr(part, "auto_model", None) or getattr(part, "model", None)


def _source(model: Any) -> str:
    """Return the folder or hub id that a model was loaded from; empty if it does not say."""
    parts = [part for _, part in model.named_children()]
    config = getattr(_transformer(parts[0]), "config", None) if parts else None
    return str(getattr(config, "_name_or_path", None) or "")


def _reported(model: Any) -> str:
    """Return the name of a model: its `name` if it has one, or by where it was loaded from."""
    is_named = isinstance(getattr(model, "name", None), str)
    return adapters.name_of(model) if is_named else _name(_source(model))


def _name(source: str) -> str:
    """Return the name of a model by where it was loaded from, without the path of a machine."""
    path = Path(source)
    for part in path.parts:
        if cached := _CACHED.fullmatch(part):
            return "/".join(cached.groups())
    if source and not path.is_absolute() and not path.exists() and source.count("/") < 2:
        return source  # an id of the hub
    return path.name or "sentence-transformer"
