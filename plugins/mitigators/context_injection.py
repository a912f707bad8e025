"""Debiasing by context injection (Uriot 2024, section 2.2): a sentence is added to each text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from harness.concept import Concept
from harness.embedder import Embedder, Kind
from harness.errors import NotApplicable, suggestion
from harness.mitigator import Map, Mitigator

from .fitting.words import require

SENTENCE_ENDS = (".", "!", "?", "…")
CLOSERS = "\"'”’)]»"


class ContextInjection(Mitigator):
    """Add one of the concept's context sentences after each text.

    Removes the concept as far as the encoder takes the sentence into account; keeps the text
    itself. The paper's templates are whole sentences, and the context is the next one. A text that
    ends like a sentence is followed by a space and the context. Other texts, such as single words,
    get a full stop first. A text that already ends with the context is unchanged.

    The concept needs `contexts`, in the language of the texts: French ones get those of
    `gender-fr`.

    Parameters
    ----------
    context
        Name of one of the concept's contexts: `debiasing` says that the group is unknown;
        `positive` and `negative` name a group. The default is the one of the paper.

    Attributes
    ----------
    sentence_
        The sentence that is added.

    Raises
    ------
    NotApplicable
        See `fit`.

    References
    ----------
    Uriot (2024), On debiasing text embeddings through context injection, section 2.2 and tables 2,
    7 and 8.
    """

    kinds: ClassVar[tuple[Kind, ...]] = ("text",)
    needs: ClassVar[tuple[str, ...]] = ("contexts",)
    monolingual: ClassVar[bool] = True

    def __init__(self, context: str = "debiasing") -> None:
        self.context = context

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Read the sentence from the concept; return self.

        Raises
        ------
        NotApplicable
            If there is no concept, or it has no such context.
        """
        requirement = "context-injection needs a concept with contexts"
        concept = require(concept, lambda concept: concept.contexts, requirement)
        if self.context not in concept.contexts:
            raise NotApplicable(
                f"context-injection: concept '{concept.name}' has no context '{self.context}'"
                f"{suggestion(self.context, concept.contexts)}"
            )
        self.sentence_ = concept.contexts[self.context]
        return self

    def rewrite(self, texts: Sequence[str]) -> list[str]:
        """Return the `n` texts, each followed by the sentence."""
        return [self._with_sentence(text) for text in texts]

    def as_map(self) -> Map:
        """Return the sentence as a map that adds it after each text."""
        omits = (
            "context-injection leaves the texts that define a concept as they are where a task "
            "compares with them, and embeds the sentence alone for an empty text; the model adds "
            "the sentence to every text that is not empty"
        )
        return Map(sentences=(self.sentence_,), omits=(omits,))

    def _with_sentence(self, text: str) -> str:
        text = text.rstrip()
        if text.endswith(self.sentence_):
            return text
        if not text:
            return self.sentence_
        stop = "" if text.rstrip(CLOSERS).endswith(SENTENCE_ENDS) else "."
        return f"{text}{stop} {self.sentence_}"
