"""Objects of other libraries that turn texts into vectors by methods of other names than `encode`.

Each is known by its methods, so that an object of the user with the same ones is a model, too.
Objects that cannot be models are refused with a line that says what to write instead.

=============  ==========================================================================
LangChain      `embed_documents(texts)`, `embed_query(text)`
LlamaIndex     `get_text_embedding_batch(texts)`, `get_query_embedding(text)`
fastembed      `embed(texts)`, `query_embed(texts)`, `passage_embed(texts)`: generators
scikit-learn   `transform(texts)`, which may return a sparse matrix
FlagEmbedding  `encode(texts)`, `encode_queries(texts)`, `encode_corpus(texts)`
others         `encode(texts)`, `encode_query(texts)`, `encode_document(texts)`
mteb           `encode(texts, task_name=…)` of mteb 1, `encode(batches, task_metadata=…)` of mteb 2
=============  ==========================================================================
"""

from __future__ import annotations

import enum
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from harness.embedder import Embedder, Role
from harness.encode.adapters import ObjectEmbedder
from harness.encode.identity import is_of_user
from harness.errors import UsageError

REFUSED = {
    "fastembed.LateInteractionTextEmbedding": "a multi-vector model, which gives several vectors "
    "for a text; give a TextEmbedding",
    "fastembed.SparseTextEmbedding": "a sparse encoder, whose vectors are not compared by cosine; "
    "give a TextEmbedding",
    "gensim.Doc2Vec": "a model of documents; give its word vectors (model.wv), or a function such "
    "as lambda texts: [model.infer_vector(text.split()) for text in texts]",
    "transformers.Pipeline": "a pipeline, which gives a vector for each token; give a "
    "SentenceTransformer of its model, or a function from texts to one vector for each",
    "transformers.PreTrainedTokenizerBase": "a tokenizer, which gives no vectors; give a "
    "SentenceTransformer",
    "tokenizers.Tokenizer": "a tokenizer, which gives no vectors; give a SentenceTransformer",
}
"""What objects of a class are and what to write instead, by package and class."""


OTHER_METHODS = (
    *("embed_documents", "embed_texts", "embed_batch", "embed", "get_text_embeddings"),
    *("get_embeddings", "encode_text", "encode_texts", "transform"),
)
"""Methods by which objects may give vectors, of which too little is known to call them."""
TASK_TYPE, SEARCH = "STS", "Retrieval"
"""The type of mteb's tasks as which texts are read by default, and queries and documents always."""


def of_torch_module(model: Any) -> None:
    """Refuse a torch module of a library that takes no texts; leave any other as it is.

    Raises
    ------
    UsageError
        If it has no `encode` and takes tokens or numbers.
    """
    _refuse(model)
    is_users = any(map(is_of_user, type(model).__mro__)) or is_of_user(type(model).forward)
    if callable(getattr(model, "encode", None)) or is_users:
        return
    raise UsageError(
        f"this {type(model).__name__} is a torch module without encode(texts): it takes numbers, "
        "and no texts; save it with its tokenizer in a folder and give the folder's path, or give "
        "a SentenceTransformer"
    )


def of_interface(model: Any) -> Embedder | None:
    """Return an object with the methods of a known library as an embedder; None for another.

    Raises
    ------
    UsageError
        If it is not ready, or has only a part of the methods.
    """
    _refuse(model)
    if isinstance(model, type):
        return None
    if callable(getattr(model, "encode", None)):
        return of_mteb(model) or _of_encode(model)
    for interface in (_of_langchain, _of_llama_index, _of_fastembed, _of_scikit_learn):
        embedder = interface(model)
        if embedder is not None:
            return embedder
    method = next((name for name in OTHER_METHODS if _has(model, name)), None)
    if method is not None and not callable(model):
        raise UsageError(
            f"this {type(model).__name__} has no encode(texts); give a function such as "
            f"lambda texts: model.{method}(texts), if that returns a vector for each text"
        )
    return None


def _of_encode(model: Any) -> Embedder | None:
    """Return an object with methods for queries and documents as sentence-transformers has them."""
    for query, document in (
        ("encode_query", "encode_document"),
        ("encode_queries", "encode_corpus"),
    ):
        if _has(model, "encode", query, document):
            routes: dict[Role, str] = {"text": "encode", "query": query, "document": document}
            encoders = {name: getattr(model, name) for name in routes.values()}
            if document == "encode_corpus":
                encoders[document] = _corpus_encoder(model)
            return ObjectEmbedder(model, routes=routes, encoders=encoders)
    return None


def _corpus_encoder(model: Any) -> Callable[[list[str]], Any]:
    """Return a function of texts, for an `encode_corpus` that may want documents with titles."""

    def encode(texts: list[str]) -> Any:
        try:
            return model.encode_corpus(texts)
        except TypeError:  # the form of BEIR
            return model.encode_corpus([{"title": "", "text": text} for text in texts])

    return encode


def _refuse(model: Any) -> None:
    """Raise UsageError for an object that is no model, with what to write instead."""
    if isinstance(model, np.ndarray) and model.dtype.kind not in "OUS":  # an array of names is none
        raise UsageError("this array has no words; give a pair: (words, array)")
    for class_ in type(model).__mro__:
        what = REFUSED.get(f"{class_.__module__.partition('.')[0]}.{class_.__name__}")
        if what is not None:
            raise UsageError(f"this {type(model).__name__} is {what}")


def _of_langchain(model: Any) -> Embedder | None:
    if not _has(model, "embed_documents", "embed_query"):
        return None
    return ObjectEmbedder(
        model,
        routes={"text": "embed_documents", "query": "embed_query", "document": "embed_documents"},
        encoders={
            "embed_documents": model.embed_documents,
            "embed_query": lambda texts: [model.embed_query(text) for text in texts],
        },
    )


def _of_llama_index(model: Any) -> Embedder | None:
    text, query = "get_text_embedding_batch", "get_query_embedding"
    if not _has(model, text, query):
        return None
    return ObjectEmbedder(
        model,
        routes={"text": text, "query": query, "document": text},
        encoders={
            text: model.get_text_embedding_batch,
            query: lambda texts: [model.get_query_embedding(each) for each in texts],
        },
    )


def _of_fastembed(model: Any) -> Embedder | None:
    names = ("embed", "query_embed", "passage_embed")
    if not _has(model, *names):
        return None
    text, query, document = names
    return ObjectEmbedder(
        model,
        routes={"text": text, "query": query, "document": document},
        encoders={name: getattr(model, name) for name in names},
    )


def _of_scikit_learn(model: Any) -> Embedder | None:
    """Return a fitted vectoriser or pipeline."""
    sklearn = sys.modules.get("sklearn.base")
    if isinstance(model, type) or sklearn is None or not isinstance(model, sklearn.BaseEstimator):
        return None
    from sklearn.utils.validation import check_is_fitted

    if not _has(model, "transform"):
        raise UsageError(
            f"this {type(model).__name__} has no transform(texts), so it gives no vectors; give a "
            "vectoriser or a pipeline that ends in a transformer"
        )
    try:
        check_is_fitted(model)
    except ValueError:  # scikit-learn's NotFittedError
        raise UsageError(
            f"this {type(model).__name__} is not fitted; call its fit(texts) before"
        ) from None
    return ObjectEmbedder(
        model, routes={"text": "transform"}, encoders={"transform": model.transform}
    )


class PromptType(enum.StrEnum):
    """What a text is, by the words of mteb."""

    query = "query"
    passage = "passage"
    document = "document"


def of_mteb(model: Any, *, task_type: str = TASK_TYPE) -> ObjectEmbedder | None:
    """Return a model with the interface of mteb; None if its `encode` has another.

    Queries and documents are read as those of a retrieval task, other texts as those of a task of
    `task_type`: that decides which of its prompts a model of mteb 2 uses.
    """
    try:
        parameters = inspect.signature(model.encode).parameters
    except (TypeError, ValueError):  # a function of an extension
        return None
    reading: Mapping[str, str] = {}
    if "task_metadata" in parameters:
        takes_options = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
        call: Callable[..., Any] = _call_of_mteb_2(model, task_type, takes_options=takes_options)
        document, reading = "document", mteb_instructions(task_type)
    elif "task_name" in parameters:
        call, document = _call_of_mteb_1(model), "passage"
    else:
        return None
    return ObjectEmbedder(
        model,
        routes={"text": "encode", "query": "query", "document": document},
        encoders={
            "encode": lambda texts: call(texts, None),
            "query": lambda texts: call(texts, "query"),
            document: lambda texts: call(texts, document),
        },
        reading=reading,
    )


def mteb_instructions(task_type: str = TASK_TYPE) -> dict[str, str]:
    """Return mteb's instruction for texts, and for queries; empty if mteb is not loaded.

    A model that is told what to do gets them, unless it has a prompt of its own for such tasks.
    """
    classes = sys.modules.get("mteb.abstasks")
    if classes is None:
        return {}
    return {
        type_: str(getattr(getattr(classes, f"AbsTask{type_}", None), "abstask_prompt", ""))
        for type_ in (task_type, SEARCH)
    }


def _call_of_mteb_1(model: Any) -> Callable[[Sequence[str], str | None], Any]:
    def call(texts: Sequence[str], kind: str | None) -> Any:
        return model.encode(texts, task_name="harness", prompt_type=_prompt_type(kind))

    return call


def _call_of_mteb_2(
    model: Any, task_type: str, *, takes_options: bool
) -> Callable[[Sequence[str], str | None], Any]:
    def call(texts: Sequence[str], kind: str | None) -> Any:
        from torch.utils.data import DataLoader

        size = max(1, len(texts))
        options = {"batch_size": size, "show_progress_bar": False} if takes_options else {}
        batches: Any = DataLoader(cast("Any", _Texts(texts)), batch_size=size)
        return model.encode(
            batches,
            task_metadata=_metadata(SEARCH if kind else task_type),
            hf_split="test",
            hf_subset="default",
            prompt_type=_prompt_type(kind),
            **options,
        )

    return call


def _metadata(task_type: str) -> Any:
    """Return the metadata of a task of a type: mteb's own object if mteb is loaded."""
    facts: dict[str, Any] = {"name": "harness", "type": task_type, "modalities": ["text"]}
    instruction = mteb_instructions(task_type).get(task_type)
    module = sys.modules.get("mteb.abstasks.task_metadata")
    if module is None:
        return SimpleNamespace(**facts, prompt=instruction or None, languages=[])
    return module.TaskMetadata(
        **facts,
        prompt=instruction or None,
        dataset={"path": "harness", "revision": "1"},
        description="",
        eval_langs=["eng-Latn"],
        main_score="",
    )


def _prompt_type(kind: str | None) -> Any:
    """Return mteb's own word for queries or documents; None for other texts."""
    if kind is None:
        return None
    for module in ("mteb.types", "mteb.encoder_interface"):
        own = getattr(sys.modules.get(module), "PromptType", None)
        if own is not None and kind in own.__members__:
            return own[kind]
    return PromptType[kind]


class _Texts:
    """Texts as a data set of mteb: each is a dictionary with the key `text`."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self.features = {"text": "string"}

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, row: int) -> dict[str, str]:
        return {"text": self._texts[row]}


def _has(model: Any, *names: str) -> bool:
    return not isinstance(model, type) and all(callable(getattr(model, n, None)) for n in names)
