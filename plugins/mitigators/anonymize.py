"""Anonymisation: names are removed from texts before they are embedded, or replaced."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, Self, cast

from harness.concept import Concept
from harness.embedder import Embedder
from harness.embedder import Kind as EmbedderKind
from harness.errors import InvalidOption, NotApplicable, suggestion
from harness.mitigator import Mitigator, clone

from ..texts import edits
from ..texts.mentions import KINDS, Kind, Mention

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


class Editor(Protocol):
    """Returns texts without their names."""

    def edit(self, texts: Sequence[str]) -> list[str]:
        """Return the `n` edited texts."""
        ...

    @property
    def identity(self) -> object:
        """Everything besides the text that the edit depends on, as JSON-like values."""
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
        The spaCy pipeline; by default `en_core_web_md`, and in a task in another language its own,
        such as `fr_core_news_md` for French. Or the name of the language model.
    proper_nouns
        Whether words that spaCy tags as proper nouns are names of the kind `other`. It finds more
        names and takes 1.5 times as long. Language models ignore it.
    identifiers
        Identifiers in placeholders: `letters` or `numbers`.
    base_url, key
        Address of the endpoint, and name of the environment variable with its key.
    prompt
        What a language model is asked for. `marks`: a copy of the text with marked names; the
        names are then removed here, so nothing else changes. `paper`: the edited text, by the
        prompts that the paper prints in tables 5 and 17; for `mode=remove` they take
        `entities=all` (people, places and organisations) or `person`, for `mode=replace` `all`.
    seed, temperature
        Sent to the endpoint with each request. Runs with other seeds, and a temperature above 0,
        show how much a score depends on the model's answers. `none` sends nothing.

    Raises
    ------
    InvalidOption, Unavailable
        See `fit`.
    ModelError
        See `rewrite`.

    References
    ----------
    What is in a name? Mitigating name bias in text embeddings via anonymization, section 4 and
    appendix F. There, language models return the edited text, as with `prompt=paper`. By default
    they mark the names here, and the edit is the same for all engines.
    """

    kinds: ClassVar[tuple[EmbedderKind, ...]] = ("text",)
    later_parameters: ClassVar[tuple[str, ...]] = ("prompt", "seed", "temperature")

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
        prompt: Literal["marks", "paper"] = "marks",
        seed: int | None = 0,
        temperature: float | None = 0.0,
    ) -> None:
        self.mode: Literal["remove", "replace"] = mode
        self.entities = entities
        self.engine: Literal["spacy", "llm"] = engine
        self.model = model
        self.proper_nouns = proper_nouns
        self.identifiers: edits.Identifiers = identifiers
        self.base_url = base_url
        self.key = key
        self.prompt: Literal["marks", "paper"] = prompt
        self.seed = seed
        self.temperature = temperature

    def in_language(self, language: str) -> Mitigator:
        """Return the mitigator with the spaCy pipeline of a language, if no model is named."""
        if self.model is not None or self.engine != "spacy" or language == "en":
            return self
        from ..texts.spacy_mentions import PIPELINES

        if language not in PIPELINES:
            raise NotApplicable(
                f"anonymize: no spaCy pipeline that finds names in '{language}' is known; "
                "name one by anonymize?model=NAME, or use anonymize?engine=llm"
            )
        return clone(self).set_params(model=PIPELINES[language])

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Set up the finder of names; return self. Nothing is learnt.

        Raises
        ------
        InvalidOption
            If a kind of name is unknown, or options contradict each other.
        Unavailable
            If spaCy or its pipeline is not installed, or the endpoint's key is not set.
        """
        self.editor_ = self._editor()
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
        edited_texts = self.editor_.edit(texts)
        self.n_texts_ += len(texts)
        for text, edited in zip(texts, edited_texts, strict=True):
            self.n_without_names_ += edited == text
            self.n_emptied_ += edited != text and not edited
        return edited_texts

    @property
    def depends_on(self) -> object:
        """The finder of names: the pipeline and its version, or the prompt."""
        return self._editor().identity

    @property
    def notes(self) -> tuple[str, ...]:
        """Counts of texts without names and of texts that became empty; notes of the editor."""
        if not getattr(self, "n_texts_", 0):
            return ()
        lines = [f"no name was found in {self.n_without_names_} of {self.n_texts_} texts"]
        if self.n_emptied_:
            texts = "text" if self.n_emptied_ == 1 else "texts"
            lines.append(f"{self.n_emptied_} {texts} became empty, without any word but names")
        return (*lines, *self.editor_.notes)

    def _editor(self) -> Editor:
        kinds = parse_entities(self.entities)
        if self.engine == "llm":
            return self._of_language_model(kinds)
        from ..texts.spacy_mentions import MODEL, SpacyMentions

        defaults = inspect.signature(Anonymize).parameters
        options = ("base_url", "key", "prompt", "seed", "temperature")
        if any(getattr(self, name) != defaults[name].default for name in options):
            raise InvalidOption(
                f"anonymize: {', '.join(options[:-1])} and {options[-1]} need engine=llm"
            )
        tagger = self.proper_nouns and "other" in kinds
        finder = SpacyMentions(self.model or MODEL, kinds=kinds, proper_nouns=tagger)
        return _FoundNames(finder, self.mode, self.identifiers)

    def _of_language_model(self, kinds: tuple[Kind, ...]) -> Editor:
        from ..embedders.hosted.chat import Chat
        from ..texts.language_model import LanguageModelMentions
        from ..texts.prompted_edits import PromptedEdits

        if self.model is None:
            raise InvalidOption(
                "anonymize?engine=llm needs the name of the language model: &model="
            )
        prompt = self._paper_prompt(kinds) if self.prompt == "paper" else None
        chat = Chat(
            self.model, self.base_url, self.key, seed=self.seed, temperature=self.temperature
        )
        if prompt is not None:
            return PromptedEdits(chat, prompt)
        return _FoundNames(LanguageModelMentions(chat, kinds=kinds), self.mode, self.identifiers)

    def _paper_prompt(self, kinds: tuple[Kind, ...]) -> str:
        from ..texts import prompted_edits

        if self.identifiers != "letters":
            raise InvalidOption("anonymize?prompt=paper: the prompt asks for identifiers=letters")
        prompts = {
            ("remove", KINDS): prompted_edits.REMOVE,
            ("remove", ("person",)): prompted_edits.REMOVE_PEOPLE,
            ("replace", KINDS): prompted_edits.REPLACE,
        }
        prompt = prompts.get((self.mode, kinds))
        if prompt is None:
            other = " or person" if self.mode == "remove" else ""
            raise InvalidOption(
                f"anonymize?prompt=paper: with mode={self.mode}, entities must be all{other}"
            )
        return prompt


@dataclass(frozen=True)
class _FoundNames:
    """Removes or replaces the names that a finder finds."""

    finder: Finder
    mode: Literal["remove", "replace"]
    identifiers: edits.Identifiers

    @property
    def identity(self) -> object:
        return self.finder.identity

    @property
    def notes(self) -> tuple[str, ...]:
        return self.finder.notes

    def edit(self, texts: Sequence[str]) -> list[str]:
        found = zip(texts, self.finder.find(texts), strict=True)
        if self.mode == "replace":
            return [edits.replaced(text, mentions, self.identifiers) for text, mentions in found]
        return [edits.without(text, mentions) for text, mentions in found]


def parse_entities(entities: str) -> tuple[Kind, ...]:
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
    return cast("tuple[Kind, ...]", kinds)
