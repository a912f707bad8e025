"""What an embedder is: the protocol, and the facts that it states about itself.

Knows no model. Embedders are plugins; the built-in ones are in `harness.plugins.embedders`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypeGuard,
    get_args,
    runtime_checkable,
)

import regex

from harness.digest import digest
from harness.errors import ModelError, NotApplicable
from harness.letters import RUN, lower

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from harness.arrays import Floats, Vectors


Kind: TypeAlias = Literal["word", "text", "sparse", "multi-vector", "cross-encoder"]
"""`word`: a vocabulary with vectors. `text`: an encoder. The others are encoders, too, that compare
texts by a function of their own: see `Comparer` and `PairScorer`."""
PACKED: tuple[Kind, ...] = ("sparse", "multi-vector")
"""The kinds whose texts are encoded to packed rows: a `sparse` encoder has a weight for each token
of its vocabulary, a `multi-vector` model a vector for each token of the text."""
PAIRS: Kind = "cross-encoder"
"""The kind that reads two texts at once, and encodes none."""
COMPARING: tuple[Kind, ...] = (*PACKED, PAIRS)
"""The kinds that compare texts by their own function."""
Role: TypeAlias = Literal["text", "query", "document"]
"""What a text is in a search: a `query`, a `document`, or neither (`text`)."""
NEUTRAL = (
    "Represent this sentence: ",  # the form of INSTRUCTOR, Su et al. 2023
    "Instruct: Retrieve semantically similar text.\nQuery: ",  # for STS: E5, Wang et al. 2024
    "task: sentence similarity | query: ",  # EmbeddingGemma, 2025
    "query: ",  # for texts that are neither queries nor documents: E5, Wang et al. 2022
    "Represent this sentence for searching relevant passages: ",  # BGE, Xiao et al. 2023
    "Text: ",
)
"""Instructions that name no group, concept or judgement, in the words of well-known encoders.

The first ones differ most in form. A model under one of them is known by its text: one that is
changed here makes other records, so add new ones at the end.
"""
MOST_PROMPTS = len(NEUTRAL) + 1
"""Most neutral instructions that any model can be run under: its own, none, and stated ones, of
which one may be its own."""


@dataclass(frozen=True, kw_only=True)
class Card:
    """Published facts about a model; an unknown fact stays None or empty.

    Parameters
    ----------
    name
        The name that the model is registered and reported under: its label.
    kind
        `word` for a vocabulary with vectors, `text` for an encoder with one vector for each text;
        `sparse`, `multi-vector` or `cross-encoder` for encoders that compare texts themselves.
    dimensions
        Number of dimensions of a vector.
    max_tokens
        Longest input in tokens; the model truncates longer texts.
    n_parameters
        Number of weights.
    licence
        SPDX identifier, or the licence's own name.
    open_weights
        Whether anybody can download the weights.
    released
        Date of the first release: `2021-08-30`, `2021-08` or `2021`.
    superseded_by
        Name of the model that its authors recommend instead.
    price
        Price of a hosted model in US$ per million tokens.
    languages
        ISO 639-1 codes, or `multilingual`.
    url
        Web page of the model.
    revision
        Commit or version of the weights.
    prompts
        Prompts of the model's authors, by name.
    scores
        Published scores by name, such as `MTEB`.
    sources
        Pages and papers that these facts come from.
    aliases
        Other names that users may type for a registered model, such as its id on a hub.
    """

    name: str
    kind: Kind
    dimensions: int | None = None
    max_tokens: int | None = None
    n_parameters: int | None = None
    licence: str | None = None
    open_weights: bool | None = None
    released: str | None = None
    superseded_by: str | None = None
    price: float | None = None
    languages: tuple[str, ...] = ()
    url: str | None = None
    revision: str | None = None
    prompts: Mapping[str, str] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ModelInfo(Card):
    """The card of a model in use, with its fingerprint.

    Parameters
    ----------
    fingerprint
        Identifies the exact weights and every setting that changes a vector: revision or hash of
        the weights, pooling, prompt, precision, maximal length, backend. Embedders with the same
        fingerprint share stored vectors, so it must differ wherever a vector may differ.
    role_prompts
        Prompts in use by role: the text put before each text of that role. Records state them.
        A model that treats `query` or `document` differently from `text` states all three, and
        its methods on texts, and `begin`, take the keyword `role`.
    routes
        The part of the model that texts of each role go through, of an asymmetric model; empty for
        any other. It takes the keyword `role`, too. A role that is not listed has no route: tasks
        with such texts are not run.
    base
        Name of the model that this one is under another neutral instruction; empty for any other.
        `harness eval --prompts` sets it, and records state it.
    base_fingerprint
        Fingerprint of that model.
    hosted
        Whether the model is known only by an address and a name, so that its provider may replace
        it unnoticed: see `harness.encode.admission`. Its vectors cost money, so they are stored as
        soon as they arrive.
    fitted_on
        Texts that a mitigator in the model was fitted on, as its card lists them: it is not judged
        on them. None if a card says that there was a fit, and does not list its texts.

    Raises
    ------
    ModelError
        If the kind is unknown, the fingerprint is empty, or a role lacks its prompt.
    """

    fingerprint: str
    role_prompts: Mapping[Role, str] = field(default_factory=dict)
    routes: Mapping[Role, str] = field(default_factory=dict)
    base: str = ""
    base_fingerprint: str = ""
    hosted: bool = False
    fitted_on: tuple[str, ...] | None = ()

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ModelError(
                f"model '{self.name}' has the kind '{self.kind}'; expected one of "
                f"{', '.join(get_args(Kind))}"
            )
        if not self.fingerprint.strip():
            raise ModelError(
                f"model '{self.name}' has an empty fingerprint; it must identify the weights and "
                "settings, because embedders with the same fingerprint share vectors"
            )
        if set(self.role_prompts) not in (set(), {"text"}, set(get_args(Role))):
            raise ModelError(
                f"model '{self.name}' has role_prompts for {', '.join(self.role_prompts)}; "
                "expected text, query and document, or text alone (an empty text for no prompt)"
            )

    @property
    def readings(self) -> Mapping[Role, tuple[str, ...] | None]:
        """How texts of each role are read: the prompt, and the route if there are several.

        Roles that are read alike share vectors. A role that is not listed is read as `text`. One
        that the model cannot read, since it has no route, is None.
        """
        prompts = self.role_prompts
        if not self.routes:
            return {role: (prompt,) for role, prompt in prompts.items()}
        return {
            role: (prompts.get(role, prompts.get("text", "")), self.routes[role])
            if role in self.routes
            else None
            for role in get_args(Role)
        }


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors.

    An embedder may also have these members:

    - `close()` is called when a run no longer needs it;
    - `notes` are lines that are printed when a run ends;
    - `lengths(texts)` returns the number of tokens of each text, for even batches;
    - `batch_tokens` is its token budget of a batch, which replaces the device's, and `batch_texts`
      the most texts of a batch;
    - `token_ids(texts)` returns the tokens of each text as integers, or None if it cannot; it
      is called in a thread, ahead of the device. `begin(ids)` begins to encode such lists as one
      batch, and returns a function that returns their vectors. With both, `lengths` and `encode`
      are called for other purposes only;
    - `truncated(texts)` returns whether each text is longer than the model's longest input;
      records count these texts;
    - `lacks(texts)` of a text encoder returns for each text whether the model knows no word of it.
      A row of NaN for any other text is an error, which may be temporary. In a task of bias, texts
      whose word that differs is lacking count as missing;
    - `ranks(words)` returns the frequency rank of each word, 1 for the most frequent word and 0 for
      an unknown one; or None if the vocabulary is not sorted by frequency;
    - `unlike(words)` of a word embedder returns the likely reason why it lacks most of these words;
    - `similarity_fn_name` of a text encoder: documents are ranked by it if it is `dot`, `euclidean`
      or `manhattan`;
    - `precision` is the number format of weights and arithmetic, such as `float32`. `batch_fault`
      names the setting that makes a vector depend on its batch, and the right setting. Both are for
      the check before the first vector is stored (`harness.encode.admission`);
    - `token_states(texts)`: see `TokenStatesEmbedder`.

    An embedder with prompts or routes by role (`info.role_prompts`, `info.routes`) is a
    `RoleEmbedder`.
    """

    @property
    def info(self) -> ModelInfo:
        """Facts about the model. Reading it must not load weights: it comes before any work."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the float32 vectors, (n, d), of `n` texts, in their order.

        The harness passes batches within a token budget, so an embedder need not split them. A
        word embedder returns a row of NaN for a word that is not in its vocabulary, and a text
        encoder for a text that it `lacks`.
        """
        ...


class RoleEmbedder(Protocol):
    """An embedder that encodes queries and documents differently, as `info.readings` says."""

    def encode(self, texts: Sequence[str], *, role: Role = "text") -> Vectors:
        """Return the float32 vectors, (n, d), of `n` texts of one role."""
        ...


@runtime_checkable
class Comparer(Embedder, Protocol):
    """An embedder that compares texts by its own function; its kind is one of `PACKED`.

    What it encodes a text to is a row of numbers of any length: `encode` returns `packed` rows.
    """

    def similarity(self, queries: Vectors, documents: Vectors) -> Floats:
        """Return the (n, m) similarities of n encoded queries with m encoded documents."""
        ...


class PairScorer(Protocol):
    """A cross-encoder. It has `info`, and `score` in place of `encode`."""

    def score(self, queries: Sequence[str], documents: Sequence[str]) -> Vectors:
        """Return the (n,) scores of n queries, each with the document of the same position."""
        ...


def is_embedder(model: object) -> TypeGuard[Embedder]:
    """Return whether an object is an embedder, or a cross-encoder, with facts about it."""
    info = getattr(model, "info", None)
    if not isinstance(info, ModelInfo):
        return False
    return callable(getattr(model, "score" if info.kind == PAIRS else "encode", None))


def pair_keys(queries: Sequence[str], documents: Sequence[str]) -> list[str]:
    """Return the text that stands for each pair of a cross-encoder: a JSON array of the two."""
    quoted = json.encoder.encode_basestring  # `json.dumps` takes ten times as long for millions
    return [f"[{quoted(q)}, {quoted(d)}]" for q, d in zip(queries, documents, strict=True)]


def pair_of_key(key: str) -> tuple[str, str] | None:
    """Return the pair that a text stands for; None if it stands for itself."""
    if not key.startswith("["):
        return None
    try:
        query, document = json.loads(key)
    except ValueError:
        return None
    return (query, document) if isinstance(query, str) and isinstance(document, str) else None


class Compare(Protocol):
    """A model's own similarity of encoded texts; the harness makes it of what the model offers."""

    def __call__(self, queries: Vectors, documents: Vectors, *, paired: bool = False) -> Floats:
        """Return (n, m) similarities; or if `paired` the (n,) ones of rows at one position."""
        ...


_BLOCK = 256
"""Rows of which all pairs are compared, to get the similarities of pairs."""


def similarity_of(embedder: Embedder) -> Compare:
    """Return an embedder's own similarity of packed rows, or of vectors by what it `ranks_by`.

    Raises
    ------
    ModelError
        If it has none.
    """
    by = ranks_by(embedder)
    own = functools.partial(_stated_similarity, by) if by else None
    similarity = own or getattr(embedder, "similarity", None)
    if similarity is None:
        name, kind = embedder.info.name, embedder.info.kind
        raise ModelError(f"model '{name}' of the kind '{kind}' has no method 'similarity'")

    def compare(queries: Vectors, documents: Vectors, *, paired: bool = False) -> Floats:
        import numpy as np

        if not paired:
            return np.asarray(similarity(queries, documents), dtype=np.float64)
        parts = [
            np.diagonal(similarity(queries[i : i + _BLOCK], documents[i : i + _BLOCK]))
            for i in range(0, len(queries), _BLOCK)
        ]
        return np.concatenate(parts).astype(np.float64)

    return compare


def ranks_by(embedder: Embedder) -> str | None:
    """Return the similarity by which a text encoder ranks documents; None if it is the cosine."""
    stated = getattr(embedder, "similarity_fn_name", None)
    stated = getattr(stated, "value", stated)  # mteb has an enumeration
    is_other = embedder.info.kind == "text" and stated in ("dot", "euclidean", "manhattan")
    return stated if is_other else None


def _stated_similarity(name: str, queries: Vectors, documents: Vectors) -> Floats:
    from scipy.spatial.distance import cdist

    a, b = queries.astype("float64"), documents.astype("float64")
    return a @ b.T if name == "dot" else -cdist(a, b, name.replace("manhattan", "cityblock"))  # type: ignore[no-any-return]


def packed(rows: Sequence[Vectors]) -> Vectors:
    """Return rows of different lengths, (k,) each, as one (n, 1 + longest) array.

    The first number of a row is its length; zeros fill it up. Zeros at the end of all rows may be
    cut off or added, so that a row is the same in every batch.
    """
    import numpy as np

    array = np.zeros((len(rows), 1 + max(map(len, rows), default=0)), dtype=np.float32)
    for row, values in zip(array, rows, strict=True):
        row[0] = len(values)
        row[1 : 1 + len(values)] = values
    return array


def unpacked(array: Vectors) -> list[Vectors]:
    """Return the rows of different lengths of a packed array."""
    return [row[1 : 1 + int(row[0])] for row in array]


def one_width(arrays: Sequence[Vectors]) -> list[Vectors]:
    """Return packed arrays with zeros behind the rows, so that all have the width of the widest."""
    import numpy as np

    width = max((array.shape[-1] for array in arrays), default=0)
    return [
        array
        if array.shape[-1] == width
        else np.pad(array, [*[(0, 0)] * (array.ndim - 1), (0, width - array.shape[-1])])
        for array in arrays
    ]


def fits(kind: str, kinds: Collection[str]) -> bool:
    """Return whether a kind of embedder is one of `kinds`, or an encoder where `text` is."""
    return kind in kinds or (kind in COMPARING and "text" in kinds)


def reads_texts(kind: Kind) -> bool:
    """Return whether a kind of embedder is an encoder of texts."""
    return kind != "word"


@runtime_checkable
class WordEmbedder(Embedder, Protocol):
    """An embedder of kind `word`: a vocabulary with its vectors."""

    @property
    def words(self) -> Sequence[str]:
        """The vocabulary in the order of the source: usually the most frequent word first."""
        ...

    @property
    def vectors(self) -> Vectors:
        """(len(words), d) float32; row i is the vector of `words[i]`."""
        ...


def renamed(embedder: Embedder, name: str, aliases: Iterable[str] = ()) -> Embedder:
    """Return an embedder with another name and further aliases in its info.

    Parameters
    ----------
    embedder
        The embedder, which is changed.
    name
        The name that it is reported under.
    aliases
        Further aliases.
    """

    def changed(info: ModelInfo) -> ModelInfo:
        others = dict.fromkeys([*info.aliases, *aliases])
        others.pop(name, None)
        return dataclasses.replace(info, name=name, aliases=tuple(others))

    return with_info(embedder, changed)


def with_info(embedder: Embedder, changed: Callable[[ModelInfo], ModelInfo]) -> Embedder:
    """Set an embedder's info to `changed(info)`, and return the embedder."""
    if changed(embedder.info) == embedder.info:
        return embedder
    try:
        embedder.info = changed(embedder.info)  # type: ignore[misc]  # read-only in the protocol
    except AttributeError:  # a property: a subclass overrides only that
        kind = type(embedder)
        info = property(lambda self: changed(super(extended, self).info))
        extended: Any = type(kind.__name__, (kind,), {"info": info, "__module__": kind.__module__})
        embedder.__class__ = extended
    return embedder


class MockEmbedder:
    """Random unit vectors, seeded by the text: for `harness validate` and for tests.

    Parameters
    ----------
    kind
        `word` or `text`; a mock of kind `word` has a vector for every word.
    dimensions
        Number of dimensions of a vector.
    words
        Words of its vocabulary; invented ones follow, up to 1,500 in all.
    """

    def __init__(
        self, kind: Kind = "text", dimensions: int = 16, words: Iterable[str] = ()
    ) -> None:
        own = tuple(words)
        self.info = ModelInfo(
            name=f"mock-{kind}",
            kind=kind,
            dimensions=dimensions,
            fingerprint=f"mock-{kind}-{dimensions}" + (f"-{digest(own)}" if own else ""),
        )
        self._words = own

    @property
    def words(self) -> Sequence[str]:
        """The vocabulary, as large as the tasks that read one need."""
        syllables = [a + b for a in "bcdfghjklmnprstvwz" for b in ("a", "e", "i", "o", "u", "al")]
        invented = (a + b for a in syllables for b in ("", *syllables))
        n = max(0, 1500 - len(self._words))
        return list(dict.fromkeys([*self._words, *itertools.islice(invented, n)]))

    @property
    def vectors(self) -> Vectors:
        """(len(words), d) float32; row i is the vector of `words[i]`."""
        return self.encode(self.words)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return (n, d) unit vectors; the same text always gives the same vector."""
        from harness.arrays import unit_rows

        vectors = unit_rows(gaussian_vectors(texts, self.info.dimensions or 0))
        return vectors.astype("float32")


def gaussian_vectors(texts: Sequence[str], dimensions: int) -> Floats:
    """Return (n, d) independent Gaussian numbers for `n` texts; a row depends on its text alone."""
    import numpy as np

    from harness.digest import SIZE, text_keys

    keys = text_keys(texts)
    rows = np.empty((len(texts), dimensions))
    for i in range(len(texts)):
        seed = int.from_bytes(keys[i * SIZE : (i + 1) * SIZE], "little")
        rows[i] = np.random.default_rng(seed).standard_normal(dimensions)
    return rows


# The vocabulary of a word embedder, read in blocks, so that it need not fit into memory.
#
# For mitigators that learn from many words, and for commands that change all words. Knows no file
# format.


BLOCK = 65_536
"""Number of words in a block: 13 MB of float32 with 50 dimensions, 79 MB with 300."""


class Vocabulary:
    """Words and their vectors, in the order of the source: usually the most frequent word first.

    Parameters
    ----------
    words
        The words.
    rows
        Returns the (stop − start, d) float32 vectors of `words[start:stop]`.
    """

    def __init__(self, words: Sequence[str], rows: Callable[[int, int], Vectors]) -> None:
        self.words, self.rows = words, rows

    def __len__(self) -> int:
        return len(self.words)

    def head(self, n: int) -> tuple[list[str], Vectors]:
        """Return the first `n` words, or all if there are fewer, and their (n, d) vectors."""
        n = min(n, len(self))
        return list(self.words[:n]), self.rows(0, n)

    def blocks(self, size: int = BLOCK) -> Iterator[tuple[list[str], Vectors]]:
        """Yield all words in order, in blocks of `size`, with their (size, d) vectors."""
        for start in range(0, len(self), size):
            stop = min(start + size, len(self))
            yield list(self.words[start:stop]), self.rows(start, stop)


def vocabulary_of(embedder: Embedder) -> Vocabulary:
    """Return the vocabulary of a word embedder, with the vectors that the embedder returns.

    Raises
    ------
    NotApplicable
        If the embedder has no vocabulary: it is a text encoder.
    """
    view = getattr(embedder, "vocabulary", None)
    if isinstance(view, Vocabulary):
        return view
    if embedder.info.kind == "word" and isinstance(embedder, WordEmbedder):
        vectors = embedder.vectors
        return Vocabulary(embedder.words, lambda start, stop: vectors[start:stop])
    raise NotApplicable(f"'{embedder.info.name}' has no vocabulary; a word embedder is required")


# The states of a text's tokens before pooling, and the word that each token belongs to.
#
# With an embedder that offers `token_states`, a measure can compute how much each word contributes
# to the vector of a text. All embedders split a text into words in the same way, so that words can
# be compared and looked up in lists; the tokens of a word depend on the model. This module computes
# no weights of words.


NO_WORD = -1
"""The word index of a token that belongs to no word: a special token, or one of a prompt."""
# A possessive 's is a separate word, so that "woman's" is found as "woman". A punctuation mark is
# a word too, because it takes part in pooling.
_WORD = regex.compile(rf"['’]s\b|{RUN}(?:(?:[-׳״]|['’](?!s\b)){RUN})*|\S")


class Word(NamedTuple):
    """A word in lower case, and its position in the text: characters `start` to `end` − 1."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class TokenStates:
    """The tokens of one text that take part in its pooling.

    Parameters
    ----------
    words
        The words of the text in their order, in lower case, punctuation marks included. A word
        after the model's longest input has no token.
    word_of
        (T,) index in `words` of each token's word, -1 for special tokens and those of a prompt.
    states
        (T, d) float32 state of each token before pooling. If the model excludes its prompt from
        pooling, the prompt's tokens are excluded here.
    """

    words: tuple[str, ...]
    word_of: npt.NDArray[np.int64]
    states: Vectors

    def behind(self, n: int) -> TokenStates:
        """Return the states without the first `n` tokens."""
        return TokenStates(self.words, self.word_of[n:], self.states[n:])


@runtime_checkable
class TokenStatesEmbedder(Protocol):
    """An embedder that gives access to the states of its tokens."""

    @property
    def poolings(self) -> tuple[str, ...]:
        """How the states become one vector: `mean`, `max`, `cls`, `lasttoken`, and so on.

        The vectors of several poolings are concatenated. An empty tuple: the model does not pool.
        """
        ...

    def token_states(self, texts: Sequence[str]) -> list[TokenStates]:
        """Return the states of each text's tokens, encoded as one batch."""
        ...


def words(text: str) -> list[Word]:
    """Return the words of a text.

    A word consists of letters and digits; it may have hyphens and apostrophes inside
    (mother-in-law, don't). A possessive ('s) and any other mark are separate words.
    """
    return [Word(lower(m.group()), m.start(), m.end()) for m in _WORD.finditer(text)]


def words_of_tokens(
    text_words: Sequence[Word], offsets: npt.ArrayLike, *, shift: int = 0
) -> npt.NDArray[np.int64]:
    """Return (T,) the index of the word that each token belongs to, -1 for no word.

    Parameters
    ----------
    text_words
        Words of the text.
    offsets
        (T, 2) start and end of each token, in characters; equal for special tokens.
    shift
        Number of characters of a prompt before the text; the prompt's tokens belong to no word.

    Notes
    -----
    A token that overlaps two words belongs to the first. A token that overlaps no word (some models
    have tokens of spaces) belongs to the next word, or to the last word if no other follows.
    """
    import numpy as np

    spans: npt.NDArray[Any] = np.asarray(offsets, dtype=np.int64).reshape(-1, 2) - shift
    if not text_words:
        return np.full(len(spans), NO_WORD, dtype=np.int64)
    ends = np.array([word.end for word in text_words])
    first_after = np.searchsorted(ends, np.maximum(spans[:, 0], 0), side="right")
    word_of = np.minimum(first_after, len(text_words) - 1)
    empty = (spans[:, 0] == spans[:, 1]) | (spans[:, 1] <= 0)
    return np.where(empty, NO_WORD, word_of)


# The role of a text on its way to the embedder and the store.
#
# Only a model with prompts or routes by role sees roles. A text of such a model has a key: the text
# itself, or the role and the text. Plans, the store, engines and their processes handle keys as
# they handle texts, so that the same text in two roles has two vectors. The loop over batches gives
# the embedder the text and its role. A role is more than a prompt before the text: some models
# exclude the prompt from pooling, some endpoints add it themselves, and asymmetric models have a
# route for each role.


PLAIN: Role = "text"
"""The role of a text that is neither a query nor a document."""
_MARK = "\x1f"  # ASCII's unit separator, which no text has
_PREFIXES: dict[str, Role] = {
    f"{_MARK}{role}{_MARK}": role for role in get_args(Role) if role != PLAIN
}


@dataclass(frozen=True)
class RoleGroup:
    """Texts of one role.

    Parameters
    ----------
    positions
        Positions of their keys.
    texts
        The texts.
    arguments
        Keyword arguments of the embedder's method: the role, unless it is plain.
    """

    positions: list[int]
    texts: list[str]
    arguments: dict[str, Any]

    def keys(self, keys: Sequence[str]) -> list[str]:
        """Return the group's keys among all keys."""
        return [keys[position] for position in self.positions]


def role_keys(texts: Sequence[str], role: Role, readings: Mapping[Role, object]) -> list[str]:
    """Return the keys of texts for a model that reads roles as `ModelInfo.readings` says.

    If the model reads a role as it reads plain text, the keys are the texts: they share vectors.

    Raises
    ------
    NotApplicable
        If the model has no route for the role.
    """
    if role in readings and readings[role] is None:
        texts_of_role = {"query": "queries", "document": "documents"}.get(role, "plain texts")
        raise NotApplicable(
            f"the model has no route for {texts_of_role}; name one under 'route_mappings' in its "
            "router_config.json"
        )
    if role == PLAIN or readings.get(role) in (None, readings.get(PLAIN)):
        return list(texts)
    return [f"{_MARK}{role}{_MARK}{text}" for text in texts]


def text_of_key(key: str) -> str:
    """Return the text of a key."""
    return _split_key(key)[1]


def by_role(keys: Sequence[str], readings: Mapping[Role, object]) -> list[RoleGroup]:
    """Return the texts of keys, a group for each role.

    A model that reads all roles alike gets one group, its keys as they are.
    """
    if len(readings) < 2:
        return [RoleGroup(list(range(len(keys))), list(keys), {})]
    groups: dict[Role, RoleGroup] = {}
    for position, key in enumerate(keys):
        role, text = _split_key(key)
        arguments = {} if role == PLAIN else {"role": role}
        group = groups.setdefault(role, RoleGroup([], [], arguments))
        group.positions.append(position)
        group.texts.append(text)
    return list(groups.values())


def read_as(embedder: object, role: Role) -> contextlib.AbstractContextManager[None]:
    """Return a context in which an embedder encodes all texts as texts of one role."""
    reading = getattr(embedder, "reading", None)
    return contextlib.nullcontext() if reading is None else reading(role)


def _split_key(key: str) -> tuple[Role, str]:
    for prefix, role in _PREFIXES.items():
        if key.startswith(prefix):
            return role, key[len(prefix) :]
    return PLAIN, key
