"""`mteb:NAME`: a model of the registry of mteb, which says how it is loaded and prompted.

mteb's registry has the loader, the prompts and the revision of some hundreds of models. Queries and
documents are read as those of its retrieval tasks, other texts as those of a task of one type. A
model that the registry lacks is no model here: mteb would fetch it from the hub and guess.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import logging
import math
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from harness.digest import digest
from harness.embedder import ModelInfo, Role
from harness.encode import adapters, identity
from harness.encode.adapters import ObjectEmbedder
from harness.encode.identity import Unidentified
from harness.errors import InvalidOption, ModelError, Unavailable, UnknownName

from . import quiet_loading, wrapped_objects

if TYPE_CHECKING:
    from harness.arrays import Vectors

_UNKNOWN_REVISIONS = (None, "", "no_revision_available")
_OTHER_TYPES = ("cross-encoder", "late-interaction", "sparse", "router", "hybrid")
"""Types of models in mteb's registry that do not give one vector for a text."""


class MtebEmbedder:
    """A text encoder of mteb's registry, loaded by mteb.

    Parameters
    ----------
    reference
        Its name there, such as `intfloat/e5-small-v2`.
    task_type
        The type of mteb's tasks as which texts are read that are neither queries nor documents. It
        decides which prompt they get, if the model has several.
    revision
        Commit or version, for a model whose revision the registry leaves open. For any other it
        must be the registry's.
    trust_remote_code
        Whether the model's own Python code may run, which can do anything that you can.
    device
        A torch device such as `cuda:1`; None for mteb's own choice.

    Raises
    ------
    Unavailable
        If mteb is not installed, or not in a version that is supported.
    UnknownName
        If the registry has no such model.
    ModelError
        If it gives no single vector for a text, has its own code, or mteb cannot load it.
    InvalidOption
        If the revision is not the registry's, or nobody states one.

    Notes
    -----
    The fingerprint covers the name, the revision, the loader with the text of its module, its
    arguments (prompts among them), the task type and mteb's instructions for it. A hosted model is
    identified by its answers, too.
    """

    def __init__(
        self,
        reference: str,
        *,
        task_type: Literal[
            "STS", "Classification", "Clustering", "PairClassification", "BitextMining"
        ] = "STS",
        revision: str | None = None,
        trust_remote_code: bool = False,
        device: str | None = None,
    ) -> None:
        from harness import mteb as tasks_of_mteb

        self._task_type, self._device = task_type, device
        self._runs_own_code = trust_remote_code
        self._meta = meta = _stated(tasks_of_mteb.library(), reference, revision)
        if meta.loader_kwargs.get("trust_remote_code") and not trust_remote_code:
            raise ModelError(_own_code(reference))
        sizes = [meta.embed_dim] if isinstance(meta.embed_dim, int) else meta.embed_dim or [None]
        self.info = ModelInfo(
            name=f"mteb:{meta.name}",
            kind="text",
            dimensions=max(sizes),
            max_tokens=_number(meta.max_tokens),
            n_parameters=meta.n_parameters,
            licence=meta.license,
            open_weights=meta.open_weights,
            released=meta.release_date,
            superseded_by=meta.superseded_by,
            languages=tasks_of_mteb.short_languages(meta.languages or ()),
            url=meta.reference,
            revision=meta.revision,
            prompts=_prompts(meta.loader_kwargs),
            routes={"text": task_type, "query": "query", "document": "document"},
            fingerprint=_fingerprint(meta, task_type),
            hosted="API" in meta.framework,
        )

    def encode(self, texts: Sequence[str], *, role: Role = "text") -> Vectors:
        """Return (n, d) float32 vectors of `n` texts of one role."""
        return self._loaded.encode(texts, role=role)

    @property
    def notes(self) -> tuple[str, ...]:
        """That nothing identifies the model, if so."""
        return adapters.notes(self.info)

    @property
    def similarity_fn_name(self) -> Any:
        """The similarity that the registry states."""
        return self._meta.similarity_fn_name

    def close(self) -> None:
        """Free the weights; they are loaded again when needed."""
        self.__dict__.pop("_loaded", None)

    @functools.cached_property
    def _loaded(self) -> ObjectEmbedder:
        name = self._meta.name
        with _quiet(), quiet_loading.loading(name), self._guard(name):
            try:
                model = self._meta.load_model(device=self._device)
            except ImportError as error:  # further lines say how to install it without being asked
                needed = " ".join(str(error).partition("Alternatively")[0].split())
                raise Unavailable(f"mteb cannot load '{name}': {needed}") from None
            # Stated, so that its weights are not hashed.
            with contextlib.suppress(AttributeError):
                model.fingerprint = self.info.fingerprint
            embedder = wrapped_objects.of_mteb(model, task_type=self._task_type)
        if embedder is None:
            raise ModelError(
                f"'{name}' is loaded as a {type(model).__name__}, whose encode() is not that of an "
                "encoder of mteb"
            )
        return embedder

    def _guard(self, name: str) -> contextlib.AbstractContextManager[None]:
        """Refuse a model's own code, unless it is trusted: a loader may ask for it unseen."""
        return contextlib.nullcontext() if self._runs_own_code else _without_own_code(name)


def _stated(library: Any, name: str, revision: str | None) -> Any:
    """Return what mteb's registry states of a model, with its revision settled."""
    from mteb.models.model_implementations import MODEL_REGISTRY

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that were changed
        try:
            meta = library.get_model_meta(name)
        except KeyError:
            hint = f" (for one of the hub write sentence-transformers:{name})"
            raise UnknownName("model of mteb", name, MODEL_REGISTRY, hint=hint) from None
    others = [type_ for type_ in meta.model_type if type_ in _OTHER_TYPES]
    if others or "text" not in meta.modalities:
        what = f"of the type {others[0]}" if others else f"for {' and '.join(meta.modalities)}"
        raise ModelError(f"'{name}' is {what} in mteb's registry; expected a dense text encoder")
    if meta.loader is None:
        raise ModelError(f"mteb knows '{name}', but not how to load it: its registry has no loader")
    if meta.revision in _UNKNOWN_REVISIONS:
        if revision is None:
            raise InvalidOption(
                f"mteb's registry states no revision of '{name}', so nothing identifies its "
                f"weights; write mteb:{name}?revision=COMMIT"
            )
        return meta.model_copy(update={"revision": revision})
    if revision not in (None, meta.revision):
        raise InvalidOption(
            f"revision={revision}: mteb loads '{name}' in the revision {meta.revision}; for "
            f"another write sentence-transformers:{name}?revision={revision}"
        )
    return meta


def _fingerprint(meta: Any, task_type: str) -> str:
    """Return what identifies the vectors of a model of the registry."""
    loader = getattr(meta.loader, "func", meta.loader)  # of a partial function
    arguments = [meta.loader_kwargs, meta.experiment_kwargs]
    if loader is not meta.loader:
        arguments += [meta.loader.args, meta.loader.keywords]
    try:
        content = identity.content(arguments)
    except Unidentified:
        return adapters.unnamed()
    return "mteb-" + digest(
        {
            "name": meta.name,
            "revision": meta.revision,
            "loader": f"{loader.__module__}.{loader.__qualname__}",
            "code": _code(loader),
            "arguments": content,
            "task_type": task_type,
            "instructions": wrapped_objects.mteb_instructions(task_type),
        }
    )


def _code(loader: Any) -> str:
    """Return a digest of the module of a loader, whose constants may be prompts."""
    try:
        return digest(inspect.getsource(sys.modules[loader.__module__]))
    except (OSError, TypeError, KeyError):  # of a notebook
        return identity.of_code(loader)


def _prompts(arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return the prompts among the arguments of a loader, by the names that mteb gives them."""
    found: dict[str, str] = {}
    for option in ("model_prompts", "prompts_dict"):
        stated = arguments.get(option)
        if isinstance(stated, Mapping):
            found |= {str(key): text for key, text in stated.items() if isinstance(text, str)}
    return found


def _number(stated: float | None) -> int | None:
    """Return a number of tokens; None if it is unknown or without limit."""
    return None if stated is None or math.isinf(stated) else int(stated)


def _own_code(name: str) -> str:
    return (
        f"'{name}' comes with its own Python code, which mteb would run: read the code, then write "
        f"mteb:{name}?trust_remote_code=true"
    )


@contextlib.contextmanager
def _without_own_code(name: str) -> Iterator[None]:
    """Refuse to import the Python code of a model: some loaders of mteb trust it by themselves."""
    from transformers import dynamic_module_utils

    def refuse(*_: Any, **__: Any) -> Any:
        raise ModelError(_own_code(name))

    # transformers and sentence-transformers both get each file of code by this function.
    own = dynamic_module_utils.get_cached_module_file
    dynamic_module_utils.get_cached_module_file = refuse
    try:
        yield
    finally:
        dynamic_module_utils.get_cached_module_file = own


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence mteb's remarks about prompts, which are for its own tasks."""
    logger = logging.getLogger("mteb")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
