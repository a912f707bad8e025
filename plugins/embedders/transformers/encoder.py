"""Base class of the encoders of transformers' models: token lengths, fingerprint, facts.

It runs no model; `sentence_transformer.py` and `last_token.py` do.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import numpy as np

from harness import names
from harness.arrays import unit_rows
from harness.digest import digest, remembered_sha256
from harness.embedder import Card, Kind, ModelInfo, Role
from harness.errors import InvalidOption, ModelError

from .. import cards, prompts, quiet_loading
from . import tokens
from .model_folder import ModelFolder, Module
from .tokens import TextLengths

if TYPE_CHECKING:
    from harness.arrays import Vectors


# The options that all encoders of transformers' models share, checked against a model.


Precision: TypeAlias = Literal["float32", "tf32", "float16", "bfloat16"]

SHORTEST = 3
"""Fewest tokens of `max_length`: one of the text between the two that many models add."""


@dataclass(frozen=True, kw_only=True)
class EncoderOptions:
    """The shared options of an encoder, as the user gave them.

    The constructors of the encoders list these options one by one, because users read them in the
    signature and `harness.names` checks them against it. After that they are one object, which
    `of` makes of all arguments.

    Parameters
    ----------
    prompt, query_prompt, document_prompt, precision, max_length, normalize, dimensions
    trust_remote_code, device
        See `SentenceTransformersEmbedder`.
    name, card
        What the model is reported as.
    """

    prompt: str | None
    query_prompt: str | None
    document_prompt: str | None
    precision: Precision
    max_length: int | None
    normalize: bool
    dimensions: int | None
    trust_remote_code: bool | None
    device: str | None
    name: str | None
    card: Card | None

    @property
    def dtype(self) -> str:
        """Type of the weights, as torch calls it: TF32 is a way to multiply float32."""
        return "float32" if self.precision == "tf32" else self.precision

    @contextlib.contextmanager
    def arithmetic(self) -> Iterator[None]:
        """Let torch multiply as the precision says while the context is open."""
        import torch

        matmul = torch.backends.cuda.matmul
        before = matmul.allow_tf32
        matmul.allow_tf32 = self.precision == "tf32"
        try:
            yield
        finally:
            matmul.allow_tf32 = before

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Self:
        """Return the shared options among the arguments of a constructor."""
        return cls(**{field.name: arguments[field.name] for field in fields(cls)})

    def runs_own_code(self, folder: ModelFolder) -> bool:
        """Return whether the model's own Python code is run.

        Raises
        ------
        ModelError
            If the model has such code and `trust_remote_code` is not set.
        """
        if not folder.runs_own_code:
            return False
        if self.trust_remote_code is None:
            raise ModelError(
                f"'{folder.name}' comes with its own Python code: read the code, then set "
                "trust_remote_code=true to run it, or false to use the library's code instead"
            )
        return self.trust_remote_code

    def prompts(self, folder: ModelFolder) -> dict[str, str]:
        """Return the prompts of the card and of the files by name; the files take precedence."""
        return {**(self.card.prompts if self.card else {}), **folder.prompts}

    def role_prompts(self, folder: ModelFolder) -> dict[Role, str]:
        """Return the prompts in use by role; see `prompts.by_role`."""
        stated = self.card.prompts if self.card else {}
        return prompts.by_role(
            self.prompts(folder),
            model=folder.name,
            default=stated.get("text", ""),
            plain=folder.default_prompt or None,
            **self._of_prompts,
        )

    def prompt_notices(self, folder: ModelFolder, used: Mapping[Role, str]) -> list[str]:
        """Return what a user may not expect of the prompts in use; see `prompts.notices`."""
        return list(prompts.notices(self.prompts(folder), used, **self._of_prompts))

    @property
    def _of_prompts(self) -> dict[str, str | None]:
        names = ("prompt", "query_prompt", "document_prompt")
        return {name: getattr(self, name) for name in names}

    def token_limit(self, folder: ModelFolder) -> int | None:
        """Return the number of tokens after which a text is cut; None for no limit.

        Raises
        ------
        InvalidOption
            If `max_length` is below `SHORTEST` or above what the model can read.
        """
        if self.max_length is None:
            return folder.max_tokens
        if self.max_length < SHORTEST:
            raise InvalidOption(f"max_length={self.max_length}: must be at least {SHORTEST} tokens")
        if folder.max_positions is not None and self.max_length > folder.max_positions:
            raise InvalidOption(
                f"max_length={self.max_length}: '{folder.name}' reads at most "
                f"{folder.max_positions} tokens"
            )
        return self.max_length

    def kept_dimensions(self, own: int | None, folder: ModelFolder) -> int | None:
        """Return how many dimensions are kept; None for all of the model's own.

        Parameters
        ----------
        own
            The model's number of dimensions; None if its files do not say.
        folder
            The model, for the message.

        Raises
        ------
        InvalidOption
            If `dimensions` is below 1 or above the model's own number.
        """
        if self.dimensions is None or self.dimensions == own:
            return None
        if self.dimensions < 1 or (own is not None and self.dimensions > own):
            limit = "1 or more" if own is None else f"from 1 to {own}"
            raise InvalidOption(
                f"dimensions={self.dimensions}: must be {limit}, the dimensions of '{folder.name}'"
            )
        return self.dimensions


class TransformerEncoder:
    """A model in a folder, with the shared options checked against it.

    Parameters
    ----------
    folder
        The model's folder; errors name it as the user did.
    options
        The shared options.
    added
        Number of tokens put behind each text, besides those that the tokenizer adds itself.

    Raises
    ------
    InvalidOption
        If the model has no such prompt, or `max_length` is out of range.
    ModelError
        If the model has its own Python code and `trust_remote_code` is not set.
    """

    info: ModelInfo
    _dimensions: int | None
    """How many of the first dimensions are kept; None for all."""

    def __init__(self, folder: ModelFolder, options: EncoderOptions, *, added: int = 0) -> None:
        self._folder, self._options = folder, options
        self._runs_own_code = options.runs_own_code(folder)
        self._prompts = options.role_prompts(folder)
        self._routes = folder.routes
        self._max_length = options.token_limit(folder)
        self._added = added
        self._counters: dict[Role, TextLengths] = {}

    @property
    def precision(self) -> str | None:
        """Precision of weights and arithmetic; None for an export, which has its own."""
        return self._options.precision if self._folder.backend == "torch" else None

    def lengths(self, texts: Sequence[str], *, role: Role = "text") -> Sequence[int]:
        """Return the number of tokens of each text, for batches of even cost.

        It needs no weights. If the tokenizer cannot be read, the lengths are estimated from the
        number of characters.
        """
        return self._lengths_of(role).lengths(texts, self._prompt(role))

    def truncated(self, texts: Sequence[str], *, role: Role = "text") -> Sequence[bool]:
        """Return whether each text is longer than the model reads, so that its end is cut off."""
        return self._lengths_of(role).truncated(texts, self._prompt(role))

    def lacks(self, texts: Sequence[str], *, role: Role = "text") -> list[bool]:
        """Return whether the tokenizer knows no part of each text."""
        return self._lengths_of(role).unknown(texts)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user may not expect of the model's reading of texts, a line for each."""
        lines = [
            *self._routes.notices(),
            *self._options.prompt_notices(self._folder, self._prompts),
        ]
        if (self._folder.path / "training.json").is_file():
            lines.append(
                "it was trained, on words that the harness does not know: scores may be on them"
            )
        return tuple(f"{self.info.name}: {line}" for line in lines)

    def close(self) -> None:
        """Free the weights; they are loaded again when needed."""
        self.__dict__.pop("_model", None)

    def _lengths_of(self, role: Role) -> TextLengths:
        """Return what counts the tokens of texts of a role."""
        if role not in self._counters:
            self._counters[role] = self._counter(self._folder.input_module(role), role)
        return self._counters[role]

    def _counter(self, module: Module, role: Role, *, lowercase: bool = False) -> TextLengths:
        counts_by_file = self._folder.counts_by_file(module)
        return TextLengths(
            module.folder / "tokenizer.json" if counts_by_file else None,
            limit=self._limit(role),
            added=self._added,
            lowercase=lowercase,
            own=functools.partial(self._own_count, module, lowercase=lowercase),
        )

    def _own_count(self, module: Module, *, lowercase: bool) -> tokens.Count:
        return tokens.by_tokenizer(self._tokenizer_of(module), lowercase=lowercase)

    def _limit(self, role: Role) -> int | None:
        """Return the number of tokens after which texts of a role are cut; None for no limit."""
        return self._max_length

    def _tokenizer_of(self, module: Module) -> Any:
        """Return a module's tokenizer of transformers."""
        from transformers import AutoTokenizer

        with quiet_loading.loading(self._folder.name):
            return AutoTokenizer.from_pretrained(
                str(module.folder),
                trust_remote_code=self._runs_own_code,
                local_files_only=not self._runs_own_code,
            )

    def _prompt(self, role: Role = "text") -> str:
        """Return the prompt put before each text of a role; empty for none."""
        return self._prompts.get(role, self._prompts.get("text", ""))

    @property
    def _longest_input(self) -> int | None:
        roles: Iterable[Role] = self._routes.names or ("text",)
        limits = [self._limit(role) for role in roles]
        return None if None in limits else max(filter(None, limits), default=None)

    @property
    def similarity_fn_name(self) -> str | None:
        """The similarity that the model states."""
        return self._folder.similarity

    def _described(
        self,
        *,
        provider: str,
        revision: str | None,
        own_dimensions: int | None,
        kind: Kind = "text",
        **settings: Any,
    ) -> ModelInfo:
        """Return the facts of the model, with its fingerprint.

        The fingerprint covers the hashes of all files that matter, the prompts' texts, precision,
        token limit, normalisation, whether the model's own code is run, the kept dimensions, and
        `settings`. An option that states what the model does anyway does not change it; neither
        does the place of the files or the device.
        """
        options = self._options
        files = self._folder.files(code=self._runs_own_code)
        identity = {
            "files": {path: remembered_sha256(file) for path, file in files.items()},
            "prompt": self._prompt(),
            "precision": options.precision,
            "max_length": self._max_length,
            "normalize": options.normalize,
            "own_code": self._runs_own_code,
            **settings,
        }
        if len(self._prompts) > 1:
            identity["role_prompts"] = self._prompts
        if self._routes.names:
            identity["routes"] = self._routes.names
        if self._folder.is_padded_anew:
            identity["padding"] = "right"
        if self._dimensions is not None:
            identity["dimensions"] = self._dimensions
        return cards.describe(
            options.card,
            name=options.name or f"{provider}:{names.reference_label(self._folder.name)}",
            kind=kind,
            fingerprint=f"{provider}-{digest(identity)}",
            fitted_on=cards.fitted_on(self._folder.path / "README.md"),
            dimensions=self._dimensions or own_dimensions,
            max_tokens=self._longest_input,
            n_parameters=self._folder.n_parameters,
            revision=revision,
            prompts=options.prompts(self._folder) or None,
            role_prompts=self._prompts,
            routes=self._routes.names,
        )


# Keeps the first dimensions of vectors, for models trained to put most information there.
#
# Kusupati et al. 2022, Matryoshka representation learning.


def cut(vectors: Vectors, dimensions: int | None, *, unit: bool) -> Vectors:
    """Return (n, dimensions) float32, the first dimensions of (n, d) vectors.

    Parameters
    ----------
    vectors
        (n, d) vectors.
    dimensions
        How many to keep; None for all, unchanged.
    unit
        Whether the shortened vectors are scaled to length 1.

    Raises
    ------
    ModelError
        If the vectors have fewer dimensions.
    """
    if dimensions is None:
        return vectors
    if dimensions > vectors.shape[1]:
        raise ModelError(f"dimensions={dimensions}: the model's vectors have {vectors.shape[1]}")
    kept = vectors[:, :dimensions]
    return np.asarray(unit_rows(kept) if unit else kept, dtype=np.float32)
