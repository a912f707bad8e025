"""`sentence-transformers:MODEL`: encoders run by the sentence-transformers library.

`model_folder.py` reads the model's files, `hub.py` finds and downloads them. torch is imported when
the first text is encoded.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from harness.digest import digest, remembered_sha256
from harness.embedder import Card, Role
from harness.errors import (
    HarnessError,
    InvalidOption,
    ModelError,
    NotApplicable,
    Unavailable,
    one_line,
)
from harness.mitigator import Affine, Map, Step

from .. import quiet_loading, weight_files
from ..weight_files import Backend, BackendChoice
from . import encoder, exported_backend, hub, mapped_model, model2vec, model_settings, tokens
from .encoder import (
    EncoderOptions,
    Precision,
    TransformerEncoder,
)
from .model_folder import ModelFolder, Module
from .tokens import TextLengths, TokenReader

if TYPE_CHECKING:
    from harness.arrays import Vectors
    from harness.embedder import TokenStates


# Checks that each weight of a model was read from its files when the model is loaded.
#
# transformers gives a weight that the files lack a random value, and passes over those that the
# model has no place for; both are a warning at most, but the vectors of such a model mean nothing.
# sentence-transformers does not pass the report of transformers on, so it is taken where it is
# made.


_NAMED = 3
"""How many weights a message names."""
_POOLERS = re.compile(r"(.*\.)?pooler\..*")
_NO_WEIGHTS = re.compile(
    r".*(position_ids|token_type_ids|inv_freq|(cos|sin)_cached|masked_bias|attn\.bias|attention\.bias"
    r"|[kv]_scale|num_batches_tracked)"
)
"""Arrays that older versions saved and that models compute, and those of caches."""
_lock = threading.RLock()


@contextlib.contextmanager
def checked(folder: ModelFolder) -> Iterator[None]:
    """Check each transformer that is loaded inside the context.

    Parameters
    ----------
    folder
        The model.

    Raises
    ------
    ModelError
        If a weight is missing, has another shape than the configuration says, or belongs to a part
        of the model that the configuration lacks; or if there is no tokenizer.
    """
    from transformers import PreTrainedModel

    folders = (
        []
        if folder.is_one_file
        else [module.folder for module in folder.all_modules if module.kind == "Transformer"]
    )
    for transformer in folders:
        model_settings.check_tokenizer(transformer, folder.name)
        if (transformer / "config.json").is_file():
            config = weight_files.read_object(transformer / "config.json", folder.name)
            model_settings.check_activation(config, folder.name)
    with _lock:
        library: Any = PreTrainedModel
        original = library.__dict__["from_pretrained"]

        def from_pretrained(class_: Any, *arguments: Any, **options: Any) -> Any:
            asked = options.pop("output_loading_info", False)
            # Without this a mismatch is an error that does not say of which weights.
            options["ignore_mismatched_sizes"] = True
            model, report = original.__func__(
                class_, *arguments, **options, output_loading_info=True
            )
            _check(folder.name, model, report, needs_pooler=folder.reads_pooler)
            return (model, report) if asked else model

        library.from_pretrained = classmethod(from_pretrained)
        try:
            yield
        except HarnessError:
            raise
        except (OSError, ValueError, TypeError, AttributeError):
            for transformer in folders:
                model_settings.explain_tokenizer(transformer, folder.name)
            raise
        finally:
            library.from_pretrained = original


def check_tokens(name: str, tokenizer: Any, rows: int) -> None:
    """Check that each token of a vocabulary has a row in the matrix of a model.

    Tokens that were added to the vocabulary do not count: some models never use theirs.

    Raises
    ------
    ModelError
        If there are more tokens than rows.
    """
    size = getattr(tokenizer, "vocab_size", None)
    if callable(getattr(tokenizer, "get_vocab_size", None)):  # of the package tokenizers
        size = tokenizer.get_vocab_size()
    if isinstance(size, int) and size > rows:
        raise ModelError(
            f"'{name}': its tokenizer has {size:,} tokens, but the weights have rows for {rows:,}; "
            "tokenizer and weights are not of one model"
        )


def check_loaded_steps(name: str, model: Any) -> None:
    """Check the tokens of each step of a SentenceTransformer; see `check_tokens`."""
    for step in model.modules():
        tokenizer = getattr(step, "tokenizer", None)
        transformer: Any = getattr(step, "auto_model", None)
        rows = getattr(getattr(step, "embedding", None), "num_embeddings", None)
        if callable(getattr(transformer, "get_input_embeddings", None)):
            with contextlib.suppress(NotImplementedError):
                rows = getattr(transformer.get_input_embeddings(), "num_embeddings", None)
        if tokenizer is not None and isinstance(rows, int):
            check_tokens(name, tokenizer, rows)


def _check(name: str, model: Any, report: Any, *, needs_pooler: bool) -> None:
    missing = sorted(
        key
        for key in report["missing_keys"]
        if not _NO_WEIGHTS.fullmatch(key) and (needs_pooler or not _POOLERS.fullmatch(key))
    )
    if missing:
        raise ModelError(
            f"'{name}': {_weights(missing)} missing from its files and would be random; the files "
            f"are not those of a {type(model).__name__} as config.json describes it"
        )
    mismatched = sorted(
        item
        for item in report["mismatched_keys"]
        if needs_pooler or not _POOLERS.fullmatch(item[0])
    )
    if mismatched:
        key, found, expected = mismatched[0]
        raise ModelError(
            f"'{name}': {_weights([item[0] for item in mismatched])} of another shape than "
            f"config.json says: '{key}' is {_shape(found)}, expected {_shape(expected)}"
        )
    parts = {key for key, _ in model.named_children()}
    prefix = f"{getattr(model, 'base_model_prefix', '')}."
    left_over = sorted(
        key
        for key in report["unexpected_keys"]
        if key.removeprefix(prefix).partition(".")[0] in parts
        and not _NO_WEIGHTS.fullmatch(key)
        and not _POOLERS.fullmatch(key)
    )
    if left_over:
        raise ModelError(
            f"'{name}': {_weights(left_over)} in its files, but not part of a "
            f"{type(model).__name__} as config.json describes it; configuration and weights are "
            "not of one model"
        )


def _weights(keys: list[str]) -> str:
    """Return the names of some weights, as the subject of a sentence."""
    named = ", ".join(f"'{key}'" for key in keys[:_NAMED])
    if len(keys) == 1:
        return f"the weight {named} is"
    more = "" if len(keys) <= _NAMED else ", …"
    return f"{len(keys)} weights ({named}{more}) are"


def _shape(shape: Any) -> str:
    return "x".join(map(str, shape))


Pooling: TypeAlias = Literal[
    "mean", "cls", "max", "lasttoken", "mean_sqrt_len_tokens", "weightedmean"
]


Attention: TypeAlias = Literal["flash"]

_FLASH = "flash_attention_2"
"""What transformers calls attention by the kernels of the package flash-attn."""


def _check_flash(options: EncoderOptions, backend: BackendChoice) -> None:
    """Check that attention without padding can be tried.

    Raises
    ------
    InvalidOption
        If another option excludes it.
    Unavailable
        If no package has its kernels.
    """
    if backend != "torch":
        raise InvalidOption(f"attention=flash is for backend=torch, not {backend}")
    if options.precision not in ("bfloat16", "float16"):
        raise InvalidOption(
            f"attention=flash has no kernels for {options.precision}; add precision=bfloat16 or "
            "float16"
        )
    if options.device is not None and not options.device.startswith("cuda"):
        raise InvalidOption(f"attention=flash runs on cuda, not on {options.device}")
    if not any(map(importlib.util.find_spec, ("flash_attn", "kernels"))):
        raise Unavailable(
            "attention=flash needs the package 'flash-attn' (pip install flash-attn) or 'kernels'"
        )


class SentenceTransformersEmbedder(TransformerEncoder):
    """A text encoder of the sentence-transformers library.

    Parameters
    ----------
    reference
        A folder, or a model of the Hugging Face hub: `owner/name`, or just the name if the owner is
        `sentence-transformers`. A hub model is downloaded on first use; from then on the copy in
        the hub's cache is used, online or offline. The library applies the chat template of a
        language model that has one; `last-token:` reads the plain text.
    pooling
        How the tokens' vectors become one: `mean`, `cls`, `max`, `lasttoken`,
        `mean_sqrt_len_tokens` or `weightedmean`. None for the model's own pooling.
    prompt
        Text put before each text, whatever its role. A single word (letters, digits, `_`, `-`) is
        the name of one of the model's prompts, such as `query`; anything else, such as `query: `,
        is the prompt itself. An empty prompt switches all of the model's prompts off. None for the
        model's own: one for queries, one for documents, and its default for other texts.
    query_prompt, document_prompt
        The same for texts that a task calls queries, and for its documents.
    precision
        `float32`, `float16` or `bfloat16`, of weights and arithmetic; vectors are float32 in any
        case. `tf32` keeps the weights, and lets a GPU multiply with 10 bits of them.
    max_length
        Number of tokens after which a text is cut: at least 3, at most what the model can read.
        None for the model's own limit.
    normalize
        Whether vectors are scaled to length 1; some models do so by themselves.
    dimensions
        How many of the first dimensions are kept, from 1 to the model's own number, for models
        trained for it (Matryoshka). A shortened vector is scaled to length 1 again if the whole
        vector had that length. None for all.
    backend
        What runs the transformer: `torch`; or `onnx` or `openvino`, with the weights that the model
        has in that format (`onnx/model.onnx`, `openvino/openvino_model.xml`), in the precision of
        the export. `auto` runs OpenVINO in float32, where it is installed and there is no GPU, on
        a graph that is made of the weights once and kept; else torch. Pooling and later steps run
        in torch in any case.
    attention
        `flash`: the texts of a batch are joined and not padded, and FlashAttention-2 keeps them
        apart. It needs a GPU, half precision, the package `flash-attn` or `kernels`, and a
        transformer that the library runs so. None for the library's own choice, with padding.
    revision
        Branch, tag or commit on the hub; None for the cached copy, else the main branch.
    trust_remote_code
        What to do with a model that has its own Python code. None: refuse it. True: run the code,
        which can do anything on this machine that you can; read it first, and pin the `revision`
        that you read. False: load the weights with the library's own code instead, which may give
        other vectors than the authors' code.
    device
        A torch device such as `cuda:1`; None for the best one available.
    name, card
        What the model is reported as.

    Raises
    ------
    InvalidOption
        If the model has no such prompt, or `max_length`, `dimensions` or `pooling` does not fit it,
        or `attention` the other options.
    ModelError
        If the folder is not a model, or its weights are missing or damaged.
    Unavailable
        If the hub has no such model, it cannot be downloaded, or the backend or the kernels of
        `attention` are not installed.

    Notes
    -----
    The fingerprint covers the SHA-256 of every file that matters (weights, tokenizer,
    configuration, own code if it is run), the prompts' texts, pooling, precision, `max_length`,
    `normalize`, kept dimensions, backend and `attention`. Folder, name, revision and device do not
    change it.
    """

    def __init__(
        self,
        reference: str,
        *,
        pooling: Pooling | None = None,
        prompt: str | None = None,
        query_prompt: str | None = None,
        document_prompt: str | None = None,
        precision: Precision = "float32",
        max_length: int | None = None,
        normalize: bool = False,
        dimensions: int | None = None,
        backend: BackendChoice = "torch",
        attention: Attention | None = None,
        revision: str | None = None,
        trust_remote_code: bool | None = None,
        device: str | None = None,
        name: str | None = None,
        card: Card | None = None,
    ) -> None:
        options = EncoderOptions.of(locals())
        own: Backend = "torch" if backend == "auto" else backend
        if own != "torch":
            exported_backend.check(own, precision)
        if attention is not None:
            _check_flash(options, backend)
        self._attention = attention
        path, commit = self._locate(reference, revision, own)
        folder = ModelFolder(path, reference, own, is_pooled=pooling is not None)
        super().__init__(folder, options)
        if pooling is not None and not folder.poolings:
            raise InvalidOption(f"pooling={pooling}: '{reference}' has no pooling step")
        if pooling is not None and len(folder.input_modules) > 1:
            raise InvalidOption(f"pooling={pooling}: '{reference}' pools in each of its routes")
        if own != "torch" and folder.routes.names:
            raise ModelError(
                f"'{reference}' has routes for queries and documents; only backend=torch has them"
            )
        self._poolings = folder.poolings if pooling is None else (pooling,)
        self._runs_graph = backend == "auto" and self._may_run_graph()
        own_dimensions = folder.dimensions(len(self._poolings))
        self._dimensions = options.kept_dimensions(own_dimensions, folder)
        of_backend: dict[str, Any] = {"backend": own} if own != "torch" else {}
        if self._runs_graph:
            of_backend |= {"backend": "openvino", "exported": True}
        if attention is not None:
            of_backend["attention"] = _FLASH
        self.info = self._described(
            provider="sentence-transformers",
            revision=commit,
            own_dimensions=own_dimensions,
            pooling=self._poolings,
            **of_backend,
        )

    def encode(self, texts: Sequence[str], *, role: Role = "text") -> Vectors:
        """Return (n, d) float32 vectors of `n` texts of one role, encoded as one batch.

        A text without a word that an encoder of word vectors knows gives a row of NaN.
        """
        if not texts:
            return np.empty((0, self.info.dimensions or 0), dtype=np.float32)
        rows = self._rows(texts, role, normalize=self._options.normalize)
        if np.isneginf(rows[:, 0]).any():  # the maximum over no words of an encoder of word vectors
            rows = np.where(np.isneginf(rows[:, :1]), np.float32(np.nan), rows)
        unit = self._options.normalize or self._folder.normalizes
        return encoder.cut(rows, self._dimensions, unit=unit)

    def token_ids(self, texts: Sequence[str], *, role: Role = "text") -> list[list[int]] | None:
        """Return the tokens of each text of a role; None if only the library splits its texts."""
        with self._splitting:
            reader = self._reader(role)
            return None if reader is None else reader.ids(texts)

    def begin(self, ids: Sequence[Sequence[int]], *, role: Role = "text") -> Callable[[], Vectors]:
        """Begin to encode texts by their tokens as one batch; return what returns (n, d) vectors.

        A GPU works on in the meantime: nothing waits for it but the function that is returned.
        """
        reader = self._reader(role)
        assert reader is not None  # noqa: S101  # `token_ids` returned the tokens
        normalize = self._options.normalize
        with self._options.arithmetic():
            rows = forward(self._model, reader.features(ids), self._device, normalize=normalize)
        unit = self._options.normalize or self._folder.normalizes
        return lambda: encoder.cut(rows(), self._dimensions, unit=unit)

    @functools.cached_property
    def _device(self) -> Any:
        """The device of the weights; the library looks through all of them for it."""
        return self._model.device

    @functools.cached_property
    def _readers(self) -> dict[str, TokenReader | None]:
        """What splits texts, by prompt."""
        return {}

    @functools.cached_property
    def _splitting(self) -> threading.RLock:
        """Held while the tokenizer is used, which fails if two threads use it."""
        return threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        """Return what is sent to another process."""
        return {k: v for k, v in self.__dict__.items() if k not in ("_readers", "_splitting")}

    def close(self) -> None:
        """Free the weights; they are loaded again when needed."""
        super().close()
        for name in ("_readers", "_device"):
            self.__dict__.pop(name, None)

    def _reader(self, role: Role) -> TokenReader | None:
        """Return what splits texts of a role at once; None if the library must."""
        prompt = self._prompt(role)
        if prompt not in self._readers:
            is_plain = not self._routes.names and not self._task(role)
            kinds = ("Transformer", "ExportedTransformer")
            direct = is_plain and type(self._model[0]).__name__ in kinds
            self._readers[prompt] = TokenReader.of(self._model, prompt) if direct else None
        return self._readers[prompt]

    def lacks(self, texts: Sequence[str], *, role: Role = "text") -> list[bool]:
        """Return whether each text has no word, or no token, that the model knows."""
        if self._folder.input_module(role).kind != "WordEmbeddings":
            return super().lacks(texts, role=role)
        maxima = self._rows(texts, role, normalize=False)[:, 0]
        return [bool(lacking) for lacking in np.isneginf(maxima)]

    def _rows(self, texts: Sequence[str], role: Role, *, normalize: bool) -> Vectors:
        with self._splitting, self._options.arithmetic():  # the library uses the tokenizer, too
            vectors = self._model.encode(
                list(texts),
                prompt=self._prompt(role),
                batch_size=len(texts),
                show_progress_bar=False,
                normalize_embeddings=normalize,
                **self._task(role),
            )
        return np.asarray(vectors, dtype=np.float32)

    def _counter(self, module: Module, role: Role, **_: bool) -> TextLengths:
        folder, limit = self._folder, self._limit(role)
        if module.kind == "WordEmbeddings":
            settings = folder.words_settings(module)
            own = functools.partial(tokens.by_words, module.folder, settings)
            return TextLengths(None, limit=limit, own=own)
        if module.kind == "StaticEmbedding":
            return TextLengths(module.folder / "tokenizer.json", limit=limit, special=False)
        if template := folder.chat_template(module):
            own = functools.partial(
                tokens.by_chat_template,
                module.folder,
                is_plain=folder.is_plain,
                trusted=self._runs_own_code,
            )
            return TextLengths(None, limit=limit, around=len(template), own=own)
        return super()._counter(module, role, lowercase=folder.lowercases(module))

    def _limit(self, role: Role) -> int | None:
        if self._options.max_length is not None:
            return self._options.max_length
        return self._folder.longest_input(role)

    def _task(self, role: Role) -> dict[str, str]:
        """Return what the library is told of a role: a model with routes needs it.

        Raises
        ------
        ModelError
            If the model has no route for the role.
        """
        return self._routes.arguments(role, self._folder.name)

    @property
    def model(self) -> Any:
        """The `SentenceTransformer` itself, loaded when it is first asked for; for training."""
        return self._model

    def export(
        self, change: Map, folder: Path, *, onnx: bool = False
    ) -> SentenceTransformersEmbedder:
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
        Unavailable
            If a package is missing.
        """
        name = self._folder.name
        is_torch = self._folder.backend == "torch" and not self._runs_graph
        if not is_torch or self._options.precision != "float32":
            raise NotApplicable(f"'{name}': write the model of backend=torch in float32")
        if self._runs_own_code or self._folder.is_model2vec:
            own = "its own Python code" if self._runs_own_code else "a file of model2vec"
            raise NotApplicable(f"'{name}' has {own}, which the library alone does not load")
        mapped_model.write(
            self._model,
            self._own_map.then(change),
            folder,
            prompts=self._prompts,
            onnx=onnx,
            name=name,
        )
        return SentenceTransformersEmbedder(str(folder), device="cpu")

    @property
    def _own_map(self) -> Map:
        """What `encode` does to the vectors of the last module."""
        with self._model.truncate_embeddings(None):
            width = self._model.get_embedding_dimension()
        cut, kept = self._folder.truncate_dim, self._dimensions
        steps: list[Step] = [Affine(np.eye(min(cut, width), width))] if cut else []
        if self._options.normalize:
            steps.append("unit")
        if kept is not None:
            steps.append(Affine(np.eye(kept, min(cut or width, width))))
            if self._options.normalize or self._folder.normalizes:
                steps.append("unit")
        return Map(tuple(steps))

    @property
    def poolings(self) -> tuple[str, ...]:
        """How the tokens' states become one vector; empty for a model without a pooling step."""
        return self._poolings

    @property
    def batch_fault(self) -> str:
        """What lets a text's vector depend on its batch, with what would be right; or nothing."""
        if getattr(self._model.tokenizer, "padding_side", "right") != "left":
            return ""
        pooled = " and the first token, which is then padding, is pooled"
        return (
            "its tokenizer pads on the left, which shifts the tokens of short texts"
            f"{pooled if 'cls' in self._poolings else ''}: 'padding_side' in "
            "tokenizer_config.json must be 'right'"
        )

    def token_states(self, texts: Sequence[str]) -> list[TokenStates]:
        """Return the states of each text's tokens before pooling, encoded as one batch.

        Raises
        ------
        ModelError
            If the model does not pool, or its tokenizer does not give token positions.
        """
        if not self._poolings:
            raise ModelError(f"'{self._folder.name}' has no pooling step, so no token states")
        model = self._model
        pools_prompt = all(getattr(step, "include_prompt", True) for step in model)
        outputs = model.encode(
            list(texts),
            prompt=self._prompt(),
            batch_size=max(1, len(texts)),
            show_progress_bar=False,
            output_value=None,
            **self._task("text"),
        )
        all_states = []
        for text, output in zip(texts, outputs, strict=True):
            is_token = output["attention_mask"].bool()
            states = tokens.token_states(
                text,
                output["token_embeddings"][is_token].float().cpu().numpy(),
                output["input_ids"][is_token].tolist(),
                tokenizer=getattr(model.tokenizer, "tokenizer", model.tokenizer),  # of word vectors
                prompt=self._prompt(),
                max_length=model.max_seq_length,
                name=self._folder.name,
            )
            if not pools_prompt:
                states = states.behind(output.get("prompt_length", 0))
            all_states.append(states)
        return all_states

    def _locate(
        self, reference: str, revision: str | None, backend: Backend
    ) -> tuple[Path, str | None]:
        """Return the folder of a model, and its commit if it comes from the hub."""
        return hub.folder(reference, revision, owner=hub.OWNER, backend=backend)

    def _may_run_graph(self) -> bool:
        """Return whether `backend=auto` runs a graph, which needs a plain transformer."""
        kinds = [module.kind for module in self._folder.all_modules]
        return (
            self._options.precision == "float32"
            and kinds[:1] == ["Transformer"]
            and kinds.count("Transformer") == 1
            and not self._folder.routes.names
            and not self._folder.is_model2vec
            and not self._folder.is_one_file
            and not self._runs_own_code
            and exported_backend.has_fast_runtime(self._options.device)
        )

    @functools.cached_property
    def _model(self) -> Any:
        if not self._runs_graph:
            return self._loaded(self._options.device)
        files = self._folder.files(code=False)
        hashes = {path: remembered_sha256(file) for path, file in files.items()}
        graph = exported_backend.graph_of(
            lambda: self._loaded("cpu"), digest(hashes), self._folder.name
        )
        return exported_backend.load(
            self._folder,
            self._poolings,
            max_length=self._max_length,
            device="cpu",
            graph=graph,
        )

    def _loaded(self, device: str | None) -> Any:
        """Load the model as its files are, without a graph of `backend=auto`."""
        import torch
        from sentence_transformers import SentenceTransformer

        if self._folder.is_model2vec:
            if self._attention:
                raise self._no_flash("it has no attention")
            return model2vec.load(
                self._folder.path,
                self._folder.name,
                normalize=self._folder.normalizes,
                max_length=self._max_length,
            )
        if self._folder.backend != "torch":
            return exported_backend.load(
                self._folder,
                self._poolings,
                max_length=self._max_length,
                device=device,
            )
        flash = {"attn_implementation": _FLASH} if self._attention else {}
        with quiet_loading.loading(self._folder.name), checked(self._folder):
            try:
                model = SentenceTransformer(
                    str(self._folder.path),
                    device=device,
                    trust_remote_code=self._runs_own_code,
                    local_files_only=not self._runs_own_code,  # code may be in another repository
                    model_kwargs={"torch_dtype": getattr(torch, self._options.dtype), **flash},
                )
            except (ImportError, ValueError) as error:  # no GPU, or a model without such attention
                if not flash:
                    raise
                raise self._no_flash(one_line(error)) from error
            check_loaded_steps(self._folder.name, model)
        if flash and not getattr(model[0], "can_flatten_inputs", False):
            raise self._no_flash("the library pads its texts")
        if self._poolings != self._folder.poolings or self._folder.is_plain:
            _set_pooling(model, self._poolings[0], self._folder.name)
        own = len(self._folder.input_modules) > 1  # each route has its own limit
        if self._max_length is not None and not (own and self._options.max_length is None):
            model.max_seq_length = self._max_length
        tokens.settle_padding_of(model)
        return model.eval()

    def _no_flash(self, reason: str) -> ModelError:
        return ModelError(f"'{self._folder.name}' cannot be run with attention=flash ({reason})")


def forward(
    model: Any, features: dict[str, Any], device: Any, *, normalize: bool
) -> Callable[[], Vectors]:
    """Begin what `SentenceTransformer.encode` does to a batch that is split into tokens.

    On a GPU the copies to and from it are asynchronous, from and to memory that is not paged out.

    Parameters
    ----------
    model
        The `SentenceTransformer`.
    features
        Its input, on the CPU.
    device
        The device of the model, of torch.
    normalize
        Whether vectors are scaled to length 1.

    Returns
    -------
    A function that waits for the (n, d) float32 vectors.
    """
    import torch

    is_cuda = device.type == "cuda"
    with torch.inference_mode():
        for key, value in features.items():
            if isinstance(value, torch.Tensor) and device.type != "cpu":
                value = value.pin_memory() if is_cuda else value
                features[key] = value.to(device, non_blocking=is_cuda)
        rows = model(features)["sentence_embedding"]
        if model.truncate_dim is not None:
            rows = rows[..., : model.truncate_dim]
        if normalize:
            rows = torch.nn.functional.normalize(rows, p=2, dim=1)
        rows = rows.float()
        if not is_cuda:
            host = rows.cpu().numpy()
            return lambda: host
        waiting = torch.empty(rows.shape, dtype=rows.dtype, pin_memory=True)
        waiting.copy_(rows, non_blocking=True)
        copied: Any = torch.cuda.Event()  # type: ignore[no-untyped-call]  # torch's own
        copied.record(torch.cuda.current_stream(device))

    def read() -> Vectors:
        copied.synchronize()
        vectors: Vectors = waiting.numpy()
        return vectors

    return read


def _set_pooling(model: Any, pooling: str, name: str) -> None:
    """Replace the model's pooling step by one that pools as `pooling` says."""
    for key, old in model.named_children():
        if type(old).__name__ == "Pooling":
            # The name in version 6 of the library, and the one before it.
            size = getattr(old, "embedding_dimension", None) or old.word_embedding_dimension
            new = type(old)(size, pooling_mode=pooling, include_prompt=old.include_prompt)
            setattr(model, key, new)
            return
    raise ModelError(f"'{name}' has no pooling step that could be replaced")
