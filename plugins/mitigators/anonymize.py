"""Anonymisation: names are removed from texts before they are embedded, or replaced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, Protocol, Self

from harness.concept import Concept
from harness.embedder import Embedder, Kind
from harness.errors import InvalidOption, suggestion
from harness.mitigator import Mitigator
from harness.plugins.texts import edits
from harness.plugins.texts.mentions import KINDS, Mention

ALL = "all"


class Finder(Protocol):
    """Finds names in texts."""

    def find(self, texts: Sequence[str]) -> list[list[Mention]]:
        """Return the mentions of each text, in order, without overlaps."""
        ...

    @property
    def identity(self) -> object:
        """Everything besides the text that the mentions depend on, as JSON-like values."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """Warnings for the user."""
        ...


class Anonymize(Mitigator):
    """Remove names from texts, or replace them by placeholders.

    Removes a name in all places of a text if it was found in one of them, with the parts of a
    person's name. Keeps everything else, including titles and pronouns. A text that is only a name
    becomes empty.

    It needs no concept.

    Parameters
    ----------
    mode
        `remove`: remove names with their possessive endings. `replace`: replace them by `CHAR_A`,
        `LOC_A`, `ORG_A` and so on, which start at A in each text; the same name always has the same
        placeholder. The two modes of the paper; a name that is not found does more harm with
        `replace`.
    entities
        Kinds of names, separated by commas: `person`, `place`, `organisation`, `group`
        (nationalities and religions), `product`, `facility`, `other` (other proper nouns); or
        `all`. Recognisers confuse kinds, so fewer kinds leave more names of every kind.
    engine
        `spacy`, or `llm` for a language model behind an OpenAI-compatible endpoint. Either reads
        each text once; mentions are cached on disk.
    model
        The spaCy pipeline, by default `en_core_web_md`; or the name of the language model.
    proper_nouns
        Whether words that spaCy tags as proper nouns are names of the kind `other`. It finds more
        names and takes 1.5 times as long. Language models ignore it.
    identifiers
        Identifiers in placeholders: `letters` or `numbers`.
    base_url, key
        Address of the endpoint, and name of the environment variable with its key.

    Raises
    ------
    InvalidOption, Unavailable
        See `fit`.
    ModelError
        See `rewrite`.

    References
    ----------
    What is in a name? Mitigating name bias in text embeddings via anonymization, section 4 and
    appendix F. There, language models return the edited text. Here they mark the names, and the
    edit is the same for all engines.
    """

    kinds: ClassVar[tuple[Kind, ...]] = ("text",)

    def __init__(
        self,
        mode: Literal["remove", "replace"] = "remove",
        entities: str = ALL,
        engine: Literal["spacy", "llm"] = "spacy",
        model: str | None = None,
        proper_nouns: bool = True,
        identifiers: edits.Identifiers = "letters",
        base_url: str | None = None,
        key: str | None = None,
    ) -> None:
        self.mode: Literal["remove", "replace"] = mode
        self.entities = entities
        self.engine: Literal["spacy", "llm"] = engine
        self.model = model
        self.proper_nouns = proper_nouns
        self.identifiers: edits.Identifiers = identifiers
        self.base_url = base_url
        self.key = key

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Set up the finder of names; return self. Nothing is learnt.

        Raises
        ------
        InvalidOption
            If a kind of name is unknown, or options contradict each other.
        Unavailable
            If spaCy or its pipeline is not installed, or the endpoint's key is not set.
        """
        self.finder_ = self._finder()
        self.n_texts_ = self.n_without_names_ = self.n_emptied_ = 0
        return self

    def rewrite(self, texts: Sequence[str]) -> list[str]:
        """Return the `n` texts without their names, or with placeholders.

        Raises
        ------
        Unavailable
            If the endpoint is unavailable; the answers so far are kept.
        ModelError
            If every answer of the language model is invalid, or the pipeline cannot be loaded.
        """
        edited_texts: list[str] = []
        for text, mentions in zip(texts, self.finder_.find(texts), strict=True):
            if self.mode == "replace":
                edited = edits.replaced(text, mentions, self.identifiers)
            else:
                edited = edits.without(text, mentions)
            self.n_texts_ += 1
            self.n_without_names_ += not mentions
            self.n_emptied_ += bool(mentions) and not edited
            edited_texts.append(edited)
        return edited_texts

    @property
    def depends_on(self) -> object:
        """The finder of names: the pipeline and its version, or the prompt."""
        return self._finder().identity

    @property
    def notes(self) -> tuple[str, ...]:
        """Counts of texts without names and of texts that became empty; notes of the finder."""
        if not getattr(self, "n_texts_", 0):
            return ()
        lines = [f"no name was found in {self.n_without_names_} of {self.n_texts_} texts"]
        if self.n_emptied_:
            texts = "text" if self.n_emptied_ == 1 else "texts"
            lines.append(f"{self.n_emptied_} {texts} became empty, without any word but names")
        return (*lines, *self.finder_.notes)

    def _finder(self) -> Finder:
        kinds = parse_entities(self.entities)
        if self.engine == "llm":
            from harness.plugins.texts.language_model import LanguageModelMentions

            if self.model is None:
                raise InvalidOption(
                    "anonymize?engine=llm needs the name of the language model: &model="
                )
            return LanguageModelMentions(
                self.model, kinds=kinds, base_url=self.base_url, key=self.key
            )
        from harness.plugins.texts.spacy_mentions import MODEL, SpacyMentions

        if self.base_url is not None or self.key is not None:
            raise InvalidOption("anonymize: base_url and key need engine=llm")
        tagger = self.proper_nouns and "other" in kinds
        return SpacyMentions(self.model or MODEL, kinds=kinds, proper_nouns=tagger)


def parse_entities(entities: str) -> tuple[str, ...]:
    """Return the kinds of names in a list such as `person,place`; all kinds for `all`.

    Raises
    ------
    InvalidOption
        If the list is empty, or a kind is unknown.
    """
    if entities == ALL:
        return KINDS
    kinds = tuple(dict.fromkeys(filter(None, (kind.strip() for kind in entities.split(",")))))
    for kind in kinds:
        if kind not in KINDS:
            hint = suggestion(kind, (*KINDS, ALL))
            raise InvalidOption(f"anonymize: unknown kind of name '{kind}'{hint}")
    if not kinds:
        raise InvalidOption(
            f"anonymize: entities={entities}: expected at least one kind of name, such as person"
        )
    return kinds
