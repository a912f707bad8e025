"""`last-token:MODEL`: language models of transformers as encoders.

A causal model reads a text from left to right, so that the state of its last token has seen all of
it. The text is given to the model as it is, behind a prompt if one is asked for: no chat template
is applied. Models made for sentence-transformers, with pooling and layers of their own, are run by
`sentence_transformer.py`.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.embedder import Card
from harness.errors import InvalidOption, ModelError, Unavailable
from harness.plugins.embedders import quiet_loading
from harness.plugins.embedders.transformers import encoder_options, hub, matryoshka, token_ids
from harness.plugins.embedders.transformers.encoder import Precision, TransformerEncoder
from harness.plugins.embedders.transformers.model_folder import ModelFolder
from harness.plugins.embedders.transformers.pooling import Pooling, pool

if TYPE_CHECKING:
    from harness.arrays import Vectors
    from harness.token_states import TokenStates


class LastTokenEmbedder(TransformerEncoder):
    """A language model of transformers, read by its last layer.

    Parameters
    ----------
    reference
        A folder, or `owner/name` on the Hugging Face hub, downloaded when it is first asked for.
    pooling
        `lasttoken`; `mean` of the tokens; or `weightedmean`, in which later tokens count more.
    eos
        Whether the model's end-of-sequence token is put behind a text, unless its tokenizer does
        so anyway: models tuned to be read at that token (e5-mistral, Uriot's language models).
    prompt
        Text put before each text. A single word (letters, digits, `_`, `-`) is the name of one of
        the model's prompts; anything else, such as `Instruct: …`, is the prompt itself, and an
        empty one switches the model's default prompt off. None for the model's default.
    precision
        Of weights and arithmetic; pooling and vectors are float32 in any case.
    max_length
        Tokens after which a text is cut, the end-of-sequence token included; None for the model's
        own limit.
    normalize
        Whether vectors are brought to length 1.
    dimensions
        How many of the first dimensions are kept, for models trained so that these say the most
        (Matryoshka); what is left is brought to length 1 if `normalize` is.
    revision
        Branch, tag or commit on the hub.
    trust_remote_code
        What to do with a model that brings its own Python code. None: refuse it. True: run that
        code, which may do anything on this machine that you may; read it first, and name the
        `revision` that you read. False: use the library's own code for such a model instead.
    device
        As torch names it, `cuda:1`; None for the best there is.
    device_map
        How the package `accelerate` is to spread the weights over devices, memory and disk, such
        as `auto`; `device` is then of no matter. None to put them on one device.
    name, card
        What the model is reported as.

    Raises
    ------
    InvalidOption
        If the model has no such prompt, not so many dimensions, or cannot take so many tokens.
    ModelError
        If the folder holds no model, lacks weights, or holds damaged ones.
    Unavailable
        If a model of the hub is not there or cannot be downloaded, or `accelerate` is missing.
    """

    def __init__(
        self,
        reference: str,
        *,
        pooling: Pooling = "lasttoken",
        eos: bool = False,
        prompt: str | None = None,
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
        if device_map is not None and importlib.util.find_spec("accelerate") is None:
            raise Unavailable(
                f"device_map={device_map} needs the package 'accelerate': "
                'pip install "embedding-bias-harness[accelerate]"'
            )
        path, commit = hub.folder(reference, revision)
        folder = ModelFolder(path, reference)
        if folder.config.get("is_encoder_decoder"):
            raise ModelError(
                f"'{reference}' has an encoder and a decoder; for its encoder alone write "
                f"'sentence-transformers:{reference}'"
            )
        super().__init__(
            folder,
            card,
            prompt=prompt,
            precision=precision,
            max_length=max_length,
            normalize=normalize,
            trust_remote_code=trust_remote_code,
            added=int(eos),
        )
        self._dimensions = encoder_options.dimensions(dimensions, folder.hidden_size, reference)
        self._pooling, self._eos = pooling, eos
        self._device, self._device_map = device, device_map
        self.info = self._described(
            card,
            provider="last-token",
            name=name,
            revision=commit,
            own_dimensions=folder.hidden_size,
            pooling=pooling,
            eos=eos,
        )

    @property
    def poolings(self) -> tuple[str, ...]:
        """How the tokens' states become one vector."""
        return (self._pooling,)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return (n, d) float32 vectors of `n` texts, encoded as one batch.

        A text without any token, as an empty one is to some models, gives a row of NaN.
        """
        if not texts:
            return np.empty((0, self.info.dimensions or 0), dtype=np.float32)
        states, mask = self._states(self._ids(texts))
        vectors = pool(states, mask, self._pooling).cpu().numpy()
        if self._normalize:
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return matryoshka.cut(vectors, self._dimensions, unit=self._normalize)

    def token_states(self, texts: Sequence[str]) -> list[TokenStates]:
        """Return the states of each text's tokens before pooling, encoded as one batch.

        Raises
        ------
        ModelError
            If the tokenizer does not say where its tokens stand in a text.
        """
        if not texts:
            return []
        ids = self._ids(texts)
        states, _ = self._states(ids)
        return [
            token_ids.joined(
                text,
                rows[: len(tokens)].float().cpu().numpy(),
                tokens,
                tokenizer=self._tokenizer,
                prompt=self._prompt or "",
                max_length=self._cut_at,
                name=self._folder.name,
            )
            for text, tokens, rows in zip(texts, ids, states, strict=True)
        ]

    @property
    def _cut_at(self) -> int | None:
        """Tokens after which the tokenizer cuts, so that the end of sequence has its place."""
        return None if self._max_length is None else self._max_length - self._eos

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        tokenizer = self._tokenizer
        made = tokenizer(
            [f"{self._prompt or ''}{text}" for text in texts],
            truncation=self._cut_at is not None,
            max_length=self._cut_at,
        )
        return [list(self._ended(ids, tokenizer.eos_token_id)) for ids in made["input_ids"]]

    def _ended(self, ids: list[int], end: int | None) -> Iterator[int]:
        yield from ids
        if self._eos and ids[-1:] != [end]:
            if end is None:
                raise InvalidOption(f"eos=true: '{self._folder.name}' has no such token")
            yield end

    def _states(self, ids: Sequence[Sequence[int]]) -> tuple[Any, Any]:
        """Return (n, T, d) states of n texts' tokens, and the (n, T) mask of what is no padding.

        Texts are padded at their ends, whatever the tokenizer would do: there no token of a causal
        model can see the padding, and positions are as without it.
        """
        import torch

        model = self._model
        longest = max(1, *map(len, ids))
        device = model.get_input_embeddings().weight.device
        if device.type == "meta":  # accelerate loads these weights only when they are needed
            device = model.device
        padded = torch.zeros((len(ids), longest), dtype=torch.long)
        mask = torch.zeros((len(ids), longest), dtype=torch.long)
        for i, tokens in enumerate(ids):
            padded[i, : len(tokens)] = torch.tensor(tokens, dtype=torch.long)
            mask[i, : len(tokens)] = 1
        with torch.inference_mode():
            read = model(
                input_ids=padded.to(device), attention_mask=mask.to(device), use_cache=False
            )
        states = read.last_hidden_state
        return states, mask.to(states.device)

    @functools.cached_property
    def _tokenizer(self) -> Any:
        from transformers import AutoTokenizer

        with quiet_loading.loading(self._folder.name):
            tokenizer = AutoTokenizer.from_pretrained(
                str(self._folder.transformer),
                trust_remote_code=self._runs_own_code,
                local_files_only=not self._runs_own_code,
            )
        tokenizer.truncation_side = "right"
        return tokenizer

    @functools.cached_property
    def _model(self) -> Any:
        import torch
        from sentence_transformers.util import get_device_name
        from transformers import AutoModel

        with quiet_loading.loading(self._folder.name):
            model, found = AutoModel.from_pretrained(
                str(self._folder.transformer),
                dtype=getattr(torch, self._precision),
                device_map=self._device_map,
                trust_remote_code=self._runs_own_code,
                local_files_only=not self._runs_own_code,
                output_loading_info=True,
            )
            lacking = sorted(key for key in found["missing_keys"] if not key.startswith("pooler."))
            if lacking:
                raise ModelError(
                    f"'{self._folder.name}' lacks {len(lacking)} of its weights, the first is "
                    f"'{lacking[0]}'"
                )
            if self._device_map is None:
                model = model.to(self._device or get_device_name())
        return model.eval()
