"""Anonymisation: names are taken out of the text before it is embedded, or replaced."""

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
    """What finds names in texts."""

    def find(self, texts: Sequence[str]) -> list[list[Mention]]:
        """Return the mentions in each text, in order, none overlapping another."""
        ...

    @property
    def identity(self) -> object:
        """What an answer depends on besides the text, as JSON-like values."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of its work so far."""
        ...


class Anonymize(Mitigator):
    """Take names out of texts, or put placeholders in their place.

    A name that is found once in a text goes everywhere in it, and so do the parts of a person's
    name. What is no name stays as it is, titles and pronouns too. Nothing is left of a text that
    is a name and nothing else.

    Parameters
    ----------
    mode
        `remove`, with the possessive ending; or `replace` by `CHAR_A`, `LOC_A`, `ORG_A` and so on,
        beginning anew in each text, so that who is who stays known. A name that is not found does
        more harm among placeholders than among gaps.
    entities
        Kinds of names, with commas: `person`, `place`, `organisation`, `group` (nationalities and
        religions), `product`, `facility`, `other` (proper nouns of no known kind); or `all`. A
        recogniser often takes one kind for another, so that fewer kinds leave more of every kind.
    engine
        What finds names: `spacy`, or `llm`, a language model behind an OpenAI-compatible endpoint.
        Either is asked once for each text; its answers are kept on disk.
    model
        The spaCy pipeline, by default `en_core_web_md`; or the language model's name.
    proper_nouns
        Whether spaCy's tagger is asked too, and what it takes for a proper noun is a name of the
        kind `other`. It finds more, and takes about half as long again. Language models have their
        own way with other names.
    identifiers
        Of placeholders: `letters` or `numbers`.
    base_url, key
        Of the endpoint, and the environment variable that has its key.

    References
    ----------
    What is in a name? Mitigating name bias in text embeddings via anonymization, section 4 and
    appendix F. Its names are found by language models that return the edited text; here they
    mark the names, and the edit is ours.
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
        """Make ready what finds names; return self. Nothing is learnt.

        Raises
        ------
        InvalidOption
            If a kind of names is unknown, or the options do not go together.
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
            If the endpoint cannot be had; the answers that it gave are kept.
        ModelError
            If no answer of the language model is of use, or the pipeline cannot be loaded.
        """
        new: list[str] = []
        for text, mentions in zip(texts, self.finder_.find(texts), strict=True):
            if self.mode == "replace":
                edited = edits.replaced(text, mentions, self.identifiers)
            else:
                edited = edits.without(text, mentions)
            self.n_texts_ += 1
            self.n_without_names_ += not mentions
            self.n_emptied_ += bool(mentions) and not edited
            new.append(edited)
        return new

    @property
    def depends_on(self) -> object:
        """What finds the names: the pipeline and its version, or the prompt."""
        return self._finder().identity

    @property
    def notes(self) -> tuple[str, ...]:
        """In how many texts no name was found, of how many nothing is left, and the finder's."""
        if not getattr(self, "n_texts_", 0):
            return ()
        lines = [f"no name was found in {self.n_without_names_} of {self.n_texts_} texts"]
        if self.n_emptied_:
            were = "text that was" if self.n_emptied_ == 1 else "texts that were"
            lines.append(f"nothing is left of {self.n_emptied_} {were} names alone")
        return (*lines, *self.finder_.notes)

    def _finder(self) -> Finder:
        kinds = chosen(self.entities)
        if self.engine == "llm":
            from harness.plugins.texts.language_model import LanguageModelMentions

            if self.model is None:
                raise InvalidOption("anonymize?engine=llm needs the language model's name: &model=")
            return LanguageModelMentions(
                self.model, kinds=kinds, base_url=self.base_url, key=self.key
            )
        from harness.plugins.texts.spacy_mentions import MODEL, SpacyMentions

        if self.base_url is not None or self.key is not None:
            raise InvalidOption("base_url and key are options of engine=llm")
        tagger = self.proper_nouns and "other" in kinds
        return SpacyMentions(self.model or MODEL, kinds=kinds, proper_nouns=tagger)


def chosen(entities: str) -> tuple[str, ...]:
    """Return the kinds of names in `person,place`; all for `all`.

    Raises
    ------
    InvalidOption
        If there is none, or no such kind.
    """
    if entities == ALL:
        return KINDS
    kinds = tuple(dict.fromkeys(filter(None, (kind.strip() for kind in entities.split(",")))))
    for kind in kinds:
        if kind not in KINDS:
            hint = suggestion(kind, (*KINDS, ALL))
            raise InvalidOption(f"there is no kind of names called '{kind}'{hint}")
    if not kinds:
        raise InvalidOption(f"entities={entities}: name a kind of names, such as person")
    return kinds
