"""`last-token:MODEL`: language models of transformers as encoders.

A causal model reads a text from left to right, so the state of its last token depends on the whole
text. The model gets the plain text, behind the prompt if there is one; no chat template is applied.
Models made for sentence-transformers, with their own pooling and layers, are run by
`sentence_transformer.py`.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from harness.embedder import Card, Role
from harness.errors import InvalidOption, ModelError, Unavailable

from .. import quiet_loading
from . import encoder, gguf_file, sentence_transformer, tokens
from .encoder import (
    EncoderOptions,
    Precision,
    TransformerEncoder,
)
from .model_folder import Module
from .model_settings import Routes

if TYPE_CHECKING:
    from harness.arrays import Vectors
    from harness.embedder import TokenStates

Pooling: TypeAlias = Literal["lasttoken", "mean", "weightedmean"]
POOLINGS: tuple[str, ...] = get_args(Pooling)


class LastTokenEmbedder(TransformerEncoder):
    """A language model of transformers, read at its last layer.

    Parameters
    ----------
    reference
        A folder, a GGUF file such as `./model.gguf`, or `owner/name` on the Hugging Face hub. A hub
        model is downloaded on first use; from then on the copy in the hub's cache is used, online
        or offline. The quantised weights of a GGUF file are computed with as floats of `precision`.
    pooling
        `lasttoken`: the last token's state. `mean`: the mean over the tokens. `weightedmean`: a
        mean in which later tokens count more.
    eos
        Whether the model's end-of-sequence token is put behind a text, unless its tokenizer already
        does so. For models tuned to be read at that token (e5-mistral, Uriot's language models).
    prompt
        Text put before each text, whatever its role. A single word (letters, digits, `_`, `-`) is
        the name of one of the model's prompts, such as `query`; anything else, such as `query: `,
        is the prompt itself. An empty prompt switches all of the model's prompts off. None for the
        model's own: one for queries, one for documents, and its default for other texts.
    query_prompt, document_prompt
        The same for texts that a task calls queries, and for its documents.
    precision
        `float32`, `float16` or `bfloat16`, of weights and arithmetic; pooling and vectors are
        float32 in any case.
    max_length
        Number of tokens after which a text is cut, the end-of-sequence token included: at least 3,
        at most what the model can read. None for the model's own limit.
    normalize
        Whether vectors are scaled to length 1.
    dimensions
        How many of the first dimensions are kept, from 1 to the model's own number, for models
        trained for it (Matryoshka). A shortened vector is scaled to length 1 if `normalize` is
        true. None for all.
    revision
        Branch, tag or commit on the hub; None for the cached copy, else the main branch.
    trust_remote_code
        What to do with a model that has its own Python code. None: refuse it. True: run the code,
        which can do anything on this machine that you can; read it first, and pin the `revision`
        that you read. False: use the library's own code for the model instead.
    device
        A torch device such as `cuda:1`; None for the best one available.
    device_map
        How the package `accelerate` spreads the weights over devices, memory and disk, such as
        `auto`; `device` is then ignored. None to put them on one device.
    name, card
        What the model is reported as.

    Raises
    ------
    InvalidOption
        If the model has no such prompt, or `max_length` or `dimensions` does not fit it. When the
        first text is encoded, if `eos` is true and the model has no such token.
    ModelError
        If the folder is not a model, its weights are missing or damaged, or it has an encoder and a
        decoder.
    Unavailable
        If the hub has no such model, it cannot be downloaded, or `accelerate` is not installed.

    Notes
    -----
    The fingerprint covers the SHA-256 of every file that matters (weights, tokenizer,
    configuration, own code if it is run), the prompts' texts, pooling, `eos`, precision,
    `max_length`, `normalize` and kept dimensions. Folder, name, revision and devices do not change
    it.
    """

    def __init__(
        self,
        reference: str,
        *,
        pooling: Pooling = "lasttoken",
        eos: bool = False,
        prompt: str | None = None,
        query_prompt: str | None = None,
        document_prompt: str | None = None,
        precision: Precision = "float32",
        max_length: int | None = None,
        normalize: bool = False,
        dimensions: int | None = None,
        revision: str | None = None,
        trust_remote_code: bool | None = None,
        device: str | None = None,
        device_map: str | None = None,
        name: str | None = None,
        card: Card | None = None,
    ) -> None:
        options = EncoderOptions.of(locals())
        if device_map is not None and importlib.util.find_spec("accelerate") is None:
            raise Unavailable(
                f"device_map={device_map} needs the package 'accelerate': "
                'pip install "embedding-bias-harness[accelerate]"'
            )
        folder, commit = gguf_file.locate(reference, revision)
        if folder.config.get("is_encoder_decoder"):
            raise ModelError(
                f"'{reference}' has an encoder and a decoder; to use its encoder, write "
                f"'sentence-transformers:{reference}'"
            )
        if len(folder.input_modules) > 1:
            raise ModelError(
                f"'{reference}' has routes for queries and documents; to use them, write "
                f"'sentence-transformers:{reference}'"
            )
        super().__init__(folder, options, added=int(eos))
        self._routes = Routes()  # settings by role are for sentence-transformers
        self._dimensions = options.kept_dimensions(folder.hidden_size, folder)
        self._pooling, self._eos, self._device_map = pooling, eos, device_map
        is_gguf = isinstance(folder, gguf_file.GgufFile)
        self._loading = quiet_loading.loading_gguf if is_gguf else quiet_loading.loading
        self.info = self._described(
            provider="last-token",
            revision=commit,
            own_dimensions=folder.hidden_size,
            pooling=pooling,
            eos=eos,
        )

    @property
    def poolings(self) -> tuple[str, ...]:
        """How the tokens' states become one vector."""
        return (self._pooling,)

    def encode(self, texts: Sequence[str], *, role: Role = "text") -> Vectors:
        """Return (n, d) float32 vectors of `n` texts of one role, encoded as one batch.

        A text without any token gives a row of NaN; to some models an empty text has none.
        """
        if not texts:
            return np.empty((0, self.info.dimensions or 0), dtype=np.float32)
        states, mask = self._states(self._ids(texts, self._prompt(role)))
        vectors = pool(states, mask, self._pooling).cpu().numpy()
        if self._options.normalize:
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return encoder.cut(vectors, self._dimensions, unit=self._options.normalize)

    def lacks(self, texts: Sequence[str], *, role: Role = "text") -> list[bool]:
        """Return whether each text has no token."""
        return [not ids for ids in self._ids(texts, self._prompt(role))]

    def token_states(self, texts: Sequence[str]) -> list[TokenStates]:
        """Return the states of each text's tokens before pooling, encoded as one batch.

        Raises
        ------
        ModelError
            If the tokenizer does not give token positions.
        """
        if not texts:
            return []
        ids = self._ids(texts, self._prompt())
        states, _ = self._states(ids)
        return [
            tokens.token_states(
                text,
                rows[: len(text_ids)].float().cpu().numpy(),
                text_ids,
                tokenizer=self._tokenizer,
                prompt=self._prompt(),
                max_length=self._cut_at,
                name=self._folder.name,
            )
            for text, text_ids, rows in zip(texts, ids, states, strict=True)
        ]

    @property
    def _cut_at(self) -> int | None:
        """Tokens after which the tokenizer cuts: it leaves room for the end-of-sequence token."""
        return None if self._max_length is None else self._max_length - self._eos

    def _ids(self, texts: Sequence[str], prompt: str) -> list[list[int]]:
        tokenizer = self._tokenizer
        encoding = tokenizer(
            [f"{prompt}{text}" for text in texts],
            truncation=self._cut_at is not None,
            max_length=self._cut_at,
        )
        return [list(self._ended(ids, tokenizer.eos_token_id)) for ids in encoding["input_ids"]]

    def _ended(self, ids: list[int], end: int | None) -> Iterator[int]:
        yield from ids
        if self._eos and ids[-1:] != [end]:
            if end is None:
                raise InvalidOption(f"eos=true: '{self._folder.name}' has no end-of-sequence token")
            yield end

    def _states(self, ids: Sequence[Sequence[int]]) -> tuple[Any, Any]:
        """Return (n, T, d) states of n texts' tokens, and the (n, T) mask: 1 for tokens.

        Texts are padded at their ends, whatever side the tokenizer pads: at the end no token of a
        causal model sees the padding, and it shifts no position.
        """
        import torch

        model = self._model
        longest = max(1, *map(len, ids))
        device = model.get_input_embeddings().weight.device
        if device.type == "meta":  # accelerate loads these weights on demand
            device = model.device
        padded = torch.zeros((len(ids), longest), dtype=torch.long)
        mask = torch.zeros((len(ids), longest), dtype=torch.long)
        for i, text_ids in enumerate(ids):
            padded[i, : len(text_ids)] = torch.tensor(text_ids, dtype=torch.long)
            mask[i, : len(text_ids)] = 1
        with torch.inference_mode(), self._options.arithmetic():
            outputs = model(
                input_ids=padded.to(device), attention_mask=mask.to(device), use_cache=False
            )
        states = outputs.last_hidden_state
        return states, mask.to(states.device)

    def _tokenizer_of(self, module: Module) -> Any:
        return self._tokenizer

    @functools.cached_property
    def _tokenizer(self) -> Any:
        from transformers import AutoTokenizer

        with self._loading(self._folder.name), sentence_transformer.checked(self._folder):
            tokenizer = AutoTokenizer.from_pretrained(
                str(self._folder.transformer),
                **self._folder.loading,
                trust_remote_code=self._runs_own_code,
                local_files_only=not self._runs_own_code,
            )
        tokenizer.truncation_side = "right"
        return tokenizer

    @functools.cached_property
    def _model(self) -> Any:
        import torch
        from transformers import AutoModel

        with self._loading(self._folder.name), sentence_transformer.checked(self._folder):
            model = AutoModel.from_pretrained(
                str(self._folder.transformer),
                **self._folder.loading,
                dtype=getattr(torch, self._options.dtype),
                device_map=self._device_map,
                trust_remote_code=self._runs_own_code,
                local_files_only=not self._runs_own_code,
            )
            rows = getattr(model.get_input_embeddings(), "num_embeddings", None)
            if rows is not None:
                sentence_transformer.check_tokens(self._folder.name, self._tokenizer, rows)
            if self._device_map is None:
                model = model.to(self._options.device or _best_device())
        return model.eval()


def _best_device() -> str:
    # This import takes seconds, so it is done only if no device is set.
    from sentence_transformers.util import get_device_name

    return get_device_name()


def pool(states: Any, mask: Any, pooling: Pooling) -> Any:
    """Return (n, d) vectors of (n, T, d) states of tokens, computed in float32.

    Parameters
    ----------
    states
        (n, T, d) tensor: a state for each token of each text, padding included.
    mask
        (n, T) tensor: 1 for tokens of the text, 0 for padding.
    pooling
        `lasttoken`: the state of the last token. `mean`: the mean over the tokens. `weightedmean`:
        a weighted mean in which token i of T, counted from 1, has the weight i / (1 + … + T), since
        later tokens of a causal model have read more of the text (Muennighoff 2022, SGPT).

    Notes
    -----
    A text without tokens gives a row of NaN.
    """
    import torch

    states, mask = states.float(), mask.to(torch.float32)
    position = mask.cumsum(dim=1)
    if pooling == "mean":
        weights = mask
    elif pooling == "weightedmean":
        weights = mask * position
    else:
        weights = mask * (position == position[:, -1:])
    pooled = torch.einsum("nt,ntd->nd", weights, states.masked_fill(mask[..., None] == 0, 0))
    return pooled / weights.sum(dim=1, keepdim=True)
