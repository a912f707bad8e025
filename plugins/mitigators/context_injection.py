"""Debiasing by context injection (Uriot 2024, section 2.2): a sentence is added to the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from harness.concept import Concept
from harness.embedder import Embedder, Kind
from harness.errors import NotApplicable, suggestion
from harness.mitigator import Mitigator
from harness.plugins.mitigators.fitting.needed import needed

SENTENCE_ENDS = (".", "!", "?", "…")
CLOSERS = "\"'”’)]»"


class ContextInjection(Mitigator):
    """Add one of the concept's context sentences after each text.

    The paper's templates are whole sentences, with the context as the next one. So a text that
    ends as a sentence does gets a space and the context; one that does not, such as a single
    word, gets a full stop first. A text that already ends with the context is left as it is.

    Parameters
    ----------
    context
        Which of the concept's contexts: `debiasing`, which says that the concept is unknown, or
        `positive` and `negative`, which name one group.

    Attributes
    ----------
    sentence_
        The sentence that is added.

    References
    ----------
    Uriot (2024), On debiasing text embeddings through context injection, tables 2, 7 and 8.
    """

    kinds: ClassVar[tuple[Kind, ...]] = ("text",)
    needs: ClassVar[tuple[str, ...]] = ("contexts",)

    def __init__(self, context: str = "debiasing") -> None:
        self.context = context

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Take the sentence from the concept; return self.

        Raises
        ------
        NotApplicable
            If the concept has no such context.
        """
        told = "context-injection needs a concept with contexts"
        concept = needed(concept, lambda given: given.contexts, told)
        if self.context not in concept.contexts:
            raise NotApplicable(
                f"context-injection: concept '{concept.name}' has no context '{self.context}'"
                f"{suggestion(self.context, concept.contexts)}"
            )
        self.sentence_ = concept.contexts[self.context]
        return self

    def rewrite(self, texts: Sequence[str]) -> list[str]:
        """Return the `n` texts, each followed by the sentence."""
        return [self._rewritten(text) for text in texts]

    def _rewritten(self, text: str) -> str:
        text = text.rstrip()
        if text.endswith(self.sentence_):
            return text
        if not text:
            return self.sentence_
        stop = "" if text.rstrip(CLOSERS).endswith(SENTENCE_ENDS) else "."
        return f"{text}{stop} {self.sentence_}"
