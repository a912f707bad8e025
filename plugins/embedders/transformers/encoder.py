"""Base class of the encoders of transformers' models: token lengths, fingerprint, facts.

It runs no model; `sentence_transformer.py` and `last_token.py` do.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

from harness import labels
from harness.digest import digest
from harness.embedder import ModelInfo, Role
from harness.plugins.embedders import file_hashes, model_info, quiet_loading
from harness.plugins.embedders.transformers import text_lengths
from harness.plugins.embedders.transformers.encoder_options import EncoderOptions
from harness.plugins.embedders.transformers.model_folder import ModelFolder, Module
from harness.plugins.embedders.transformers.text_lengths import TextLengths


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

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user may not expect of the model's reading of texts, a line for each."""
        lines = [
            *self._routes.notices(),
            *self._options.prompt_notices(self._folder, self._prompts),
        ]
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

    def _own_count(self, module: Module, *, lowercase: bool) -> text_lengths.Count:
        return text_lengths.by_tokenizer(self._tokenizer_of(module), lowercase=lowercase)

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

    def _described(
        self, *, provider: str, revision: str | None, own_dimensions: int | None, **settings: Any
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
            "files": {path: file_hashes.sha256(file) for path, file in files.items()},
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
        return model_info.describe(
            options.card,
            name=options.name or f"{provider}:{labels.of_reference(self._folder.name)}",
            kind="text",
            fingerprint=f"{provider}-{digest(identity)}",
            dimensions=self._dimensions or own_dimensions,
            max_tokens=self._longest_input,
            n_parameters=self._folder.n_parameters,
            revision=revision,
            prompts=options.prompts(self._folder) or None,
            role_prompts=self._prompts,
            routes=self._routes.names,
        )
