"""What an embedder is: the protocol, what it says of itself, and the views the core makes of one.

Knows no model. Embedders live in plugins (`harness.plugins.embedders` for the built-in ones).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from harness.errors import ModelError

if TYPE_CHECKING:
    from harness.arrays import Vectors

Kind: TypeAlias = Literal["word", "text"]
"""`word`: a vocabulary with vectors. `text`: an encoder."""


@dataclass(frozen=True, kw_only=True)
class Card:
    """Published facts about a model; what is not known stays None or empty.

    Parameters
    ----------
    name
        The name that the model is registered and reported under.
    kind
        `word` or `text`.
    dimensions
        Length of a vector.
    max_tokens
        Longest input in tokens; what is longer is cut by the model.
    n_parameters
        Number of weights.
    licence
        SPDX identifier, or the licence's own name.
    price
        US$ per million tokens, of a hosted model.
    languages
        ISO 639-1 codes, `multilingual` for very many.
    url
        Page of the model.
    revision
        Commit or version of the weights.
    prompts
        Prompt by its name, as the model's authors give them.
    scores
        Published scores by name, such as `MTEB`.
    sources
        Where these facts were taken from.
    """

    name: str
    kind: Kind
    dimensions: int | None = None
    max_tokens: int | None = None
    n_parameters: int | None = None
    licence: str | None = None
    price: float | None = None
    languages: tuple[str, ...] = ()
    url: str | None = None
    revision: str | None = None
    prompts: Mapping[str, str] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ModelInfo(Card):
    """A card of a model at hand.

    Parameters
    ----------
    fingerprint
        Names the exact weights and every setting that changes a vector: revision or weight hash,
        pooling, prompt, precision, maximal length, backend. Two embedders with one fingerprint
        share the store, so it must differ wherever a vector may.
    """

    fingerprint: str

    def __post_init__(self) -> None:
        if not self.fingerprint.strip():
            raise ModelError(
                f"model '{self.name}' has an empty fingerprint; it must name the exact weights and "
                "settings, since what shares it shares vectors"
            )


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors.

    An embedder may also offer `close()`, called when a run is done with it; `notes`, lines told to
    the user when a run ends; `lengths(texts)`, see `harness.encode.batches.token_lengths`;
    `batch_tokens`, the budget of a batch that suits it, where the device does not tell;
    `truncated(texts)`, whether each text is longer than the model reads, so that its end is cut
    off, which records count; and `token_states(texts)`, see `harness.token_states`.
    """

    @property
    def info(self) -> ModelInfo:
        """What the model is. Must not load weights into memory: it is asked before any work."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return float32 vectors, (n, d), of `n` texts, in their order.

        The harness hands over batches that fit its token budget; an embedder need not batch.
        A word embedder returns a row of NaN for a word it lacks.
        """
        ...


@runtime_checkable
class WordEmbedder(Embedder, Protocol):
    """An embedder of kind `word`: a vocabulary with its vectors."""

    @property
    def words(self) -> Sequence[str]:
        """The vocabulary, most frequent first where the source says so."""
        ...

    @property
    def vectors(self) -> Vectors:
        """(len(words), d) float32, row i for `words[i]`."""
        ...


class MockEmbedder:
    """Random unit vectors drawn from the text itself: for `harness validate` and for tests.

    Parameters
    ----------
    kind
        Which kind to pose as; as `word` it knows every word.
    dimensions
        Length of a vector.
    """

    def __init__(self, kind: Kind = "text", dimensions: int = 16) -> None:
        self.info = ModelInfo(
            name=f"mock-{kind}",
            kind=kind,
            dimensions=dimensions,
            fingerprint=f"mock-{kind}-{dimensions}",
        )

    @property
    def words(self) -> Sequence[str]:
        """A small vocabulary, for tasks that ask for one."""
        return [a + b for a in "bcdfghjklmnprstvwz" for b in ("a", "e", "i", "o", "u", "al", "en")]

    @property
    def vectors(self) -> Vectors:
        """(len(words), d) float32, row i for `words[i]`."""
        return self.encode(self.words)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return (n, d) unit vectors; the same text gives the same vector, always."""
        import numpy as np

        from harness.arrays import unit_rows
        from harness.digest import SIZE, text_keys

        keys = text_keys(texts)
        rows = [
            np.random.default_rng(int.from_bytes(keys[i : i + SIZE], "little")).standard_normal(
                self.info.dimensions or 0
            )
            for i in range(0, len(keys), SIZE)
        ]
        return unit_rows(np.reshape(rows, (len(rows), self.info.dimensions or 0))).astype(
            np.float32
        )
