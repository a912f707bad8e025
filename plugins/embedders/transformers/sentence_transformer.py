"""`sentence-transformers:MODEL`: encoders run by the sentence-transformers library.

Knows how a model is found, named and run. What its folder says is read by `model_folder.py`, the
hub is asked by `hub.py`. torch is imported when the first text is encoded.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from harness.embedder import Card
from harness.errors import InvalidOption, ModelError
from harness.plugins.embedders import quiet_loading
from harness.plugins.embedders.transformers import (
    encoder_options,
    exported_backend,
    hub,
    matryoshka,
    token_ids,
)
from harness.plugins.embedders.transformers.encoder import Precision, TransformerEncoder
from harness.plugins.embedders.transformers.model_folder import ModelFolder
from harness.plugins.embedders.weight_files import Backend

if TYPE_CHECKING:
    from harness.arrays import Vectors
    from harness.token_states import TokenStates

Pooling: TypeAlias = Literal[
    "mean", "cls", "max", "lasttoken", "mean_sqrt_len_tokens", "weightedmean"
]


class SentenceTransformersEmbedder(TransformerEncoder):
    """A text encoder of the sentence-transformers library.

    Parameters
    ----------
    reference
        A folder, or a model of the Hugging Face hub: `owner/name`, or just the name for those of
        `sentence-transformers`. A model of the hub is downloaded when it is first asked for; after
        that the copy in the hub's cache is used, online or not. The library reads texts through
        the chat template of a language model that has one; `last-token:` reads them as they are.
    pooling
        How the tokens' vectors become one; None for the model's own way.
    prompt
        Text put before each text. A single word (letters, digits, `_`, `-`) is the name of one of
        the model's prompts, `query`; anything else, such as `query: `, is the prompt itself, and
        an empty one switches the model's default prompt off. None for the model's default.
    precision
        Of weights and arithmetic; vectors are returned as float32 in any case.
    max_length
        Tokens after which a text is cut; None for the model's own limit.
    normalize
        Whether vectors are brought to length 1, for models that do not do so by themselves.
    dimensions
        How many of the first dimensions are kept, for models trained so that these say the most
        (Matryoshka). What is left is brought to length 1 again if the vectors had that length.
    backend
        What runs the transformer: `torch`; or `onnx` or `openvino`, from weights that the model
        brings in that format (`onnx/model.onnx`, `openvino/openvino_model.xml`), in float32 or
        whatever they were exported in. Pooling and later steps are torch's in any case.
    revision
        Branch, tag or commit on the hub.
    trust_remote_code
        What to do with a model that brings its own Python code. None: refuse it. True: run that
        code, which may do anything on this machine that you may; read it first, and name the
        `revision` that you read. False: read the weights with the library's own code instead,
        which may give other vectors than its authors'.
    device
        As torch names it, `cuda:1`; None for the best there is.
    name, card
        What the model is reported as.

    Raises
    ------
    InvalidOption
        If the model has no such prompt, not so many dimensions, or cannot take so many tokens.
    ModelError
        If the folder holds no model, lacks weights, or holds damaged ones.
    Unavailable
        If a model of the hub is not there or cannot be downloaded, or the backend is not installed.
    """

    def __init__(
        self,
        reference: str,
        *,
        pooling: Pooling | None = None,
        prompt: str | None = None,
        precision: Precision = "float32",
        max_length: int | None = None,
        normalize: bool = False,
        dimensions: int | None = None,
        backend: Backend = "torch",
        revision: str | None = None,
        trust_remote_code: bool | None = None,
        device: str | None = None,
        name: str | None = None,
        card: Card | None = None,
    ) -> None:
        self._backend = exported_backend.checked(backend, precision)
        path, commit = self._locate(reference, revision)
        folder = ModelFolder(path, reference, backend)
        super().__init__(
            folder,
            card,
            prompt=prompt,
            precision=precision,
            max_length=max_length,
            normalize=normalize,
            trust_remote_code=trust_remote_code,
        )
        own_poolings = folder.poolings
        if pooling is not None and not own_poolings:
            raise InvalidOption(
                f"'{reference}' does not pool, so that pooling={pooling} is nothing"
            )
        self._poolings = own_poolings if pooling is None else (pooling,)
        own_dimensions = folder.dimensions(len(self._poolings))
        self._dimensions = encoder_options.dimensions(dimensions, own_dimensions, reference)
        self._device = device
        self.info = self._described(
            card,
            provider="sentence-transformers",
            name=name,
            revision=commit,
            own_dimensions=own_dimensions,
            pooling=self._poolings,
            **({"backend": backend} if backend != "torch" else {}),
        )

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return (n, d) float32 vectors of `n` texts, encoded as one batch."""
        if not texts:
            return np.empty((0, self.info.dimensions or 0), dtype=np.float32)
        vectors = self._model.encode(
            list(texts),
            prompt=self._prompt,
            batch_size=len(texts),
            show_progress_bar=False,
            normalize_embeddings=self._normalize,
        )
        unit = self._normalize or self._folder.normalizes
        return matryoshka.cut(np.asarray(vectors, dtype=np.float32), self._dimensions, unit=unit)

    @property
    def poolings(self) -> tuple[str, ...]:
        """How the tokens' states become one vector; empty for a model that does not pool."""
        return self._poolings

    def token_states(self, texts: Sequence[str]) -> list[TokenStates]:
        """Return the states of each text's tokens before pooling, encoded as one batch.

        Raises
        ------
        ModelError
            If the model does not pool, or does not say where its tokens stand in a text.
        """
        if not self._poolings:
            raise ModelError(
                f"'{self._folder.name}' does not pool tokens, so that it has no states"
            )
        model = self._model
        prompt_counts = all(getattr(step, "include_prompt", True) for step in model)
        encoded = model.encode(
            list(texts),
            prompt=self._prompt,
            batch_size=max(1, len(texts)),
            show_progress_bar=False,
            output_value=None,
        )
        found = []
        for text, made in zip(texts, encoded, strict=True):
            there = made["attention_mask"].bool()
            states = token_ids.joined(
                text,
                made["token_embeddings"][there].float().cpu().numpy(),
                made["input_ids"][there].tolist(),
                tokenizer=model.tokenizer,
                prompt=self._prompt or "",
                max_length=model.max_seq_length,
                name=self._folder.name,
            )
            found.append(states if prompt_counts else states.behind(made.get("prompt_length", 0)))
        return found

    def _locate(self, reference: str, revision: str | None) -> tuple[Path, str | None]:
        """Return the folder of a model, and its commit if it is of the hub."""
        return hub.folder(reference, revision, owner="sentence-transformers", backend=self._backend)

    @functools.cached_property
    def _model(self) -> Any:
        import torch
        from sentence_transformers import SentenceTransformer

        if self._backend != "torch":
            return exported_backend.load(
                self._folder, self._poolings, max_length=self._max_length, device=self._device
            )
        with quiet_loading.loading(self._folder.name):
            model = SentenceTransformer(
                str(self._folder.path),
                device=self._device,
                trust_remote_code=self._runs_own_code,
                local_files_only=not self._runs_own_code,  # the code may lie in another repository
                model_kwargs={"torch_dtype": getattr(torch, self._precision)},
            )
        if self._poolings != self._folder.poolings or self._folder.is_plain:
            _set_pooling(model, self._poolings[0], self._folder.name)
        if self._max_length is not None:
            model.max_seq_length = self._max_length
        return model.eval()


def _set_pooling(model: Any, pooling: str, name: str) -> None:
    """Replace the model's pooling step."""
    for key, old in model.named_children():
        if type(old).__name__ == "Pooling":
            # Called so in version 6 of the library, and before it.
            size = getattr(old, "embedding_dimension", None) or old.word_embedding_dimension
            new = type(old)(size, pooling_mode=pooling, include_prompt=old.include_prompt)
            setattr(model, key, new)
            return
    raise ModelError(f"'{name}' has no pooling step that could be replaced")
