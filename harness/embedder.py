"""What an embedder is: the protocol, and the facts that it states about itself.

Knows no model. Embedders are plugins; the built-in ones are in `harness.plugins.embedders`.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, get_args, runtime_checkable

from harness.digest import digest
from harness.errors import ModelError

if TYPE_CHECKING:
    from harness.arrays import Floats, Vectors

Kind: TypeAlias = Literal["word", "text"]
"""`word`: a vocabulary with vectors. `text`: an encoder."""
Role: TypeAlias = Literal["text", "query", "document"]
"""What a text is in a search: a `query`, a `document`, or neither (`text`)."""


@dataclass(frozen=True, kw_only=True)
class Card:
    """Published facts about a model; an unknown fact stays None or empty.

    Parameters
    ----------
    name
        The name that the model is registered and reported under: its label.
    kind
        `word` for a vocabulary with vectors, `text` for an encoder.
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
        Day of the first release, as `2021-08-30` or a part of it from the left, such as `2021`.
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
        Other names of the model: one that is registered can be typed as any of these, such as its
        id on a hub.
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
        its methods `encode`, `lengths` and `truncated` take the keyword `role`.
    routes
        The part of the model that texts of each role go through, of an asymmetric model; empty for
        any other. It takes the keyword `role`, too. A role that is not listed has no route: tasks
        with such texts are not run.
    hosted
        Whether the model is known by its address and name only, so that its provider may put
        another one behind them: see `harness.encode.canary`. Its vectors are stored as soon as
        they arrive, because they are paid for.

    Raises
    ------
    ModelError
        If the kind is unknown, the fingerprint is empty, or a role lacks its prompt.
    """

    fingerprint: str
    role_prompts: Mapping[Role, str] = field(default_factory=dict)
    routes: Mapping[Role, str] = field(default_factory=dict)
    hosted: bool = False

    def __post_init__(self) -> None:
        if self.kind not in ("word", "text"):
            raise ModelError(
                f"model '{self.name}' has the kind '{self.kind}'; expected 'word' or 'text'"
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
    - `truncated(texts)` returns whether each text is longer than the model's longest input;
      records count these texts;
    - `lacks(texts)` of a text encoder returns whether it has no vector for each text, such as one
      without a known word. It is asked for texts that got a row of NaN: that of any other text is a
      fault, which may pass;
    - `ranks(words)` returns the place of each word in a vocabulary in order of frequency, 1 for the
      most frequent word and 0 for an unknown one; or None if the order is another;
    - `unlike(words)` of a word embedder returns the likely reason why it lacks most of these words;
    - `watch(text, vector)`, `tell(say)` and `share(processes)` are for hosted models: a text whose
      vector is known, for a check of every answer; where a line is shown while requests wait; and
      the number of processes that share its limits;
    - `precision` is that of weights and arithmetic, such as `float32`, and `batch_fault` says which
      setting lets a text's vector depend on its batch, and what would be right: for the check
      before the first vector is stored (`harness.encode.admission`);
    - `token_states(texts)` is described in `harness.token_states`.

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
        Names that its aliases are extended by.
    """

    def changed(info: ModelInfo) -> ModelInfo:
        others = dict.fromkeys([*info.aliases, *aliases])
        others.pop(name, None)
        return dataclasses.replace(info, name=name, aliases=tuple(others))

    return with_info(embedder, changed)


def with_info(embedder: Embedder, changed: Callable[[ModelInfo], ModelInfo]) -> Embedder:
    """Return an embedder, which is changed, with what `changed` returns of its info."""
    if changed(embedder.info) == embedder.info:
        return embedder
    try:
        embedder.info = changed(embedder.info)  # type: ignore[misc]  # read-only in the protocol
    except AttributeError:  # a property; its class is extended, so that all else stays as it is
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
