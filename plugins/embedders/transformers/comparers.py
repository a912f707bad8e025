"""`sparse:`, `multi-vector:` and `cross-encoder:MODEL`: encoders that compare texts themselves.

The library sentence-transformers encodes and compares: by the products of weights of tokens, or by
MaxSim; a cross-encoder scores pairs. What a text is encoded to is a packed row
(`harness.embedder.packed`).
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from harness import folders
from harness.embedder import Card, Kind, Role, packed, pair_of_key, unpacked
from harness.errors import ModelError

from .. import quiet_loading
from . import hub, tokens
from .encoder import EncoderOptions, Precision, TransformerEncoder
from .model_folder import ModelFolder, is_model, kind_of
from .sentence_transformer import check_loaded_steps, checked

if TYPE_CHECKING:
    from harness.arrays import Floats, Vectors


class ComparingModel(TransformerEncoder):
    """A model of sentence-transformers that is no `SentenceTransformer`.

    Parameters
    ----------
    reference
        A folder, or a model of the Hugging Face hub: `owner/name`.
    prompt
        Text put before each text, whatever its role, or the name of one of the model's prompts.
        None for the model's own.
    query_prompt, document_prompt
        The same for texts that a task calls queries, and for its documents.
    precision
        As of `SentenceTransformersEmbedder`.
    max_length
        Number of tokens after which a text is cut. None for the model's own limit.
    revision
        Branch, tag or commit on the hub; None for the cached copy, else the main branch.
    trust_remote_code
        What to do with a model that has its own Python code; see `SentenceTransformersEmbedder`.
    device
        A torch device such as `cuda:1`; None for the best one available.
    name, card
        What the model is reported as.

    Raises
    ------
    ModelError
        If the folder has no model of this kind, or its weights are missing or damaged.
    Unavailable
        If the hub has no such model, or it cannot be downloaded.

    Notes
    -----
    The fingerprint covers what that of `sentence-transformers:` covers, and how texts are compared.
    """

    kind: ClassVar[Kind]
    library_class: ClassVar[str]
    compared_by: ClassVar[str]
    """The name of the similarity of a model that states none."""

    def __init__(
        self,
        reference: str,
        *,
        prompt: str | None = None,
        query_prompt: str | None = None,
        document_prompt: str | None = None,
        precision: Precision = "float32",
        max_length: int | None = None,
        revision: str | None = None,
        trust_remote_code: bool | None = None,
        device: str | None = None,
        name: str | None = None,
        card: Card | None = None,
    ) -> None:
        options = EncoderOptions.of({**locals(), "normalize": False, "dimensions": None})
        path, commit = hub.folder(reference, revision, owner=hub.OWNER, backend="torch")
        folder = ModelFolder(path, reference, kind=self.kind)
        super().__init__(folder, options)
        self._dimensions = None
        self.similarity_name = folder.similarity or self.compared_by
        self.info = self._described(
            provider=self.kind,
            kind=self.kind,
            revision=commit,
            own_dimensions=self._own_dimensions(folder),
            similarity=self.similarity_name,
        )

    @property
    def model(self) -> Any:
        """The model of the library, loaded when it is first asked for."""
        return self._model

    def _own_dimensions(self, folder: ModelFolder) -> int | None:
        # A checkpoint of ColBERT's authors has its last layer among the transformer's weights.
        return None if folder.is_plain else folder.dimensions(1)

    @functools.cached_property
    def _model(self) -> Any:
        import sentence_transformers
        import torch

        with quiet_loading.loading(self._folder.name), checked(self._folder):
            model = getattr(sentence_transformers, self.library_class)(
                str(self._folder.path),
                device=self._options.device,
                trust_remote_code=self._runs_own_code,
                local_files_only=not self._runs_own_code,
                model_kwargs={"torch_dtype": getattr(torch, self._options.dtype)},
            )
            check_loaded_steps(self._folder.name, model)
        if self._options.max_length is not None:
            model.max_seq_length = self._max_length
        tokens.settle_padding_of(model)
        return model.eval()


class PackedEncoder(ComparingModel):
    """A model of which each text is encoded to a packed row."""

    def encode(self, texts: Sequence[str], *, role: Role = "text") -> Vectors:
        """Return a packed row for each of `n` texts of one role, encoded as one batch."""
        return packed(self._rows(texts, role) if texts else [])

    def similarity(self, queries: Vectors, documents: Vectors) -> Floats:
        """Return the (n, m) similarities of encoded texts, as the library computes them."""
        from sentence_transformers.util import SimilarityFunction

        compare = SimilarityFunction.to_similarity_fn(self.similarity_name)
        similarities = compare(self._opened(queries), self._opened(documents))
        dense = similarities.to_dense() if similarities.is_sparse else similarities
        return np.asarray(dense.cpu().numpy(), dtype=np.float64)

    def _rows(self, texts: Sequence[str], role: Role) -> list[Vectors]:
        """Return the numbers of each text."""
        raise NotImplementedError

    def _opened(self, rows: Vectors) -> Any:
        """Return packed rows as the library compares them."""
        raise NotImplementedError

    def _arguments(self, texts: Sequence[str], role: Role) -> dict[str, Any]:
        return {
            "prompt": self._prompt(role),
            "batch_size": len(texts),
            "show_progress_bar": False,
            **self._routes.arguments(role, self._folder.name),
        }


class SparseEncoder(PackedEncoder):
    """A sparse encoder, such as SPLADE; its options are those of `ComparingModel`."""

    kind = "sparse"
    library_class = "SparseEncoder"
    compared_by = "dot"

    def _rows(self, texts: Sequence[str], role: Role) -> list[Vectors]:
        arguments = self._arguments(texts, role)
        with self._options.arithmetic():
            found = self._model.encode(list(texts), convert_to_sparse_tensor=False, **arguments)
        weights = np.asarray(found.float().cpu().numpy(), dtype=np.float32)
        active = [np.flatnonzero(row) for row in weights]
        return [
            np.concatenate([at.astype(np.float32), row[at]])
            for at, row in zip(active, weights, strict=True)
        ]

    def _opened(self, rows: Vectors) -> Any:
        import torch

        parts = [np.split(row, 2) for row in unpacked(rows)]
        size = self.info.dimensions or 1 + int(max((at.max(initial=0) for at, _ in parts)))
        row_of = np.repeat(np.arange(len(parts)), [len(at) for at, _ in parts])
        at = np.concatenate([at for at, _ in parts]).astype(np.int64)
        return torch.sparse_coo_tensor(
            torch.from_numpy(np.stack([row_of, at])),
            torch.from_numpy(np.concatenate([weights for _, weights in parts])),
            (len(parts), size),
            check_invariants=True,
        ).coalesce()

    def _own_dimensions(self, folder: ModelFolder) -> int | None:
        return folder.sparse_dimensions


class MultiVectorEncoder(PackedEncoder):
    """A multi-vector model, such as ColBERT; its options are those of `ComparingModel`."""

    kind = "multi-vector"
    library_class = "MultiVectorEncoder"
    compared_by = "maxsim"

    def _rows(self, texts: Sequence[str], role: Role) -> list[Vectors]:
        arguments = self._arguments(texts, role)
        with self._options.arithmetic():
            found = self._model.encode(list(texts), convert_to_numpy=True, **arguments)
        # The length of a token's vector, and then all of them.
        return [
            np.concatenate([[states.shape[1]], states.ravel()]).astype(np.float32)
            for states in found
        ]

    def _opened(self, rows: Vectors) -> Any:
        return [np.array(row[1:]).reshape(-1, int(row[0])) for row in unpacked(rows)]


class CrossEncoder(ComparingModel):
    """A cross-encoder, or reranker; its options are those of `ComparingModel`, without prompts.

    Raises
    ------
    ModelError
        If it has several labels: none of them says how well two texts fit.
    """

    kind = "cross-encoder"
    library_class = "CrossEncoder"
    compared_by = "predict"

    def __init__(
        self,
        reference: str,
        *,
        precision: Precision = "float32",
        max_length: int | None = None,
        revision: str | None = None,
        trust_remote_code: bool | None = None,
        device: str | None = None,
        name: str | None = None,
        card: Card | None = None,
    ) -> None:
        super().__init__(
            reference,
            precision=precision,
            max_length=max_length,
            revision=revision,
            trust_remote_code=trust_remote_code,
            device=device,
            name=name,
            card=card,
        )
        labels = self._folder.config.get("id2label") or ()
        if len(labels) > 1:
            raise ModelError(
                f"'{reference}' is a cross-encoder with {len(labels)} labels; expected one, the "
                "score of a pair of texts"
            )

    def score(self, queries: Sequence[str], documents: Sequence[str]) -> Vectors:
        """Return the (n,) scores of n pairs of texts, as the library predicts them."""
        pairs = list(zip(queries, documents, strict=True))
        with self._options.arithmetic():
            found = self._model.predict(pairs, batch_size=len(pairs), show_progress_bar=False)
        return np.asarray(found, dtype=np.float32)

    def lengths(self, texts: Sequence[str], *, role: Role = "text") -> Sequence[int]:
        """Return the number of tokens of each text or, for its key, of each pair of texts.

        Each text is counted once, however many pairs it stands in.
        """
        read = [pair_of_key(text) or (text,) for text in texts]
        different = list(dict.fromkeys(text for pair in read for text in pair))
        length_of = dict(zip(different, super().lengths(different), strict=True))
        limit = self._longest_input or sys.maxsize
        # A special token begins both texts, and the pair once.
        return [min(sum(map(length_of.__getitem__, pair)) + 1 - len(pair), limit) for pair in read]

    def _own_dimensions(self, folder: ModelFolder) -> int | None:
        return None


CLASSES: tuple[type[ComparingModel], ...] = (SparseEncoder, MultiVectorEncoder, CrossEncoder)
"""The classes of each kind."""


def _recognises(reference: str, kind: Kind) -> bool:
    path = folders.typed(reference)
    return folders.is_folder(path) and is_model(path) and kind_of(Path(path)) == kind


def recognises_sparse(reference: str) -> bool:
    """Return whether a text is the folder of a sparse encoder."""
    return _recognises(reference, "sparse")


def recognises_multi_vector(reference: str) -> bool:
    """Return whether a text is the folder of a multi-vector model."""
    return _recognises(reference, "multi-vector")


def recognises_cross_encoder(reference: str) -> bool:
    """Return whether a text is the folder of a cross-encoder."""
    return _recognises(reference, "cross-encoder")
