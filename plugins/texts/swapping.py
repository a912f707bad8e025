"""Swaps gendered words: `She lost her hat` becomes `He lost his hat`.

Swaps words and names of people by pairs, and keeps capitals. The result may make no sense (`his
pregnancy`). Pronouns are English only.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

import regex

from harness.errors import InvalidOption
from harness.letters import LETTER, upper

from .taggers import Places, Tag, by_rule, by_spacy

Pair: TypeAlias = tuple[str, str]
Tagger: TypeAlias = Literal["rule", "spacy"]

PRONOUNS: Sequence[Pair] = (("she", "he"), ("herself", "himself"))
"""Pronouns with one counterpart; `Swapper` handles `her`, `hers`, `him` and `his`."""

PEOPLE: Sequence[Pair] = (
    *(("woman", "man"), ("women", "men"), ("girl", "boy"), ("girls", "boys")),
    *(("female", "male"), ("females", "males"), ("lady", "gentleman"), ("ladies", "gentlemen")),
    *(("gal", "guy"), ("gals", "guys"), ("chick", "dude"), ("chicks", "dudes")),
    *(("lass", "lad"), ("lasses", "lads"), ("ma'am", "sir"), ("womanhood", "manhood")),
    *(("mrs", "mr"), ("ms", "mr"), ("girlhood", "boyhood"), ("feminine", "masculine")),
    *(("mother", "father"), ("mothers", "fathers"), ("mom", "dad"), ("moms", "dads")),
    *(("mommy", "daddy"), ("mommies", "daddies"), ("mum", "dad"), ("mums", "dads")),
    *(("mama", "papa"), ("mamas", "papas"), ("motherhood", "fatherhood")),
    *(("motherly", "fatherly"), ("maternal", "paternal"), ("maternity", "paternity")),
    *(("grandmother", "grandfather"), ("grandmothers", "grandfathers")),
    *(("grandma", "grandpa"), ("grandmas", "grandpas"), ("stepmother", "stepfather")),
    *(("stepmothers", "stepfathers"), ("godmother", "godfather")),
    *(("godmothers", "godfathers"), ("daughter", "son"), ("daughters", "sons")),
    *(("granddaughter", "grandson"), ("granddaughters", "grandsons")),
    *(("stepdaughter", "stepson"), ("stepdaughters", "stepsons"), ("sister", "brother")),
    *(("sisters", "brothers"), ("sisterhood", "brotherhood"), ("stepsister", "stepbrother")),
    *(("stepsisters", "stepbrothers"), ("sorority", "fraternity"), ("aunt", "uncle")),
    *(("aunts", "uncles"), ("niece", "nephew"), ("nieces", "nephews"), ("wife", "husband")),
    *(("wives", "husbands"), ("bride", "groom"), ("brides", "grooms")),
    *(("bridesmaid", "groomsman"), ("bridesmaids", "groomsmen"), ("widow", "widower")),
    *(("widows", "widowers"), ("girlfriend", "boyfriend"), ("girlfriends", "boyfriends")),
    *(("fiancée", "fiancé"), ("fiancee", "fiance"), ("schoolgirl", "schoolboy")),
    *(("schoolgirls", "schoolboys"), ("cowgirl", "cowboy"), ("cowgirls", "cowboys")),
    *(("actress", "actor"), ("actresses", "actors"), ("waitress", "waiter")),
    *(("waitresses", "waiters"), ("hostess", "host"), ("hostesses", "hosts")),
    *(("stewardess", "steward"), ("stewardesses", "stewards"), ("heroine", "hero")),
    *(("heroines", "heroes"), ("heiress", "heir"), ("heiresses", "heirs"), ("queen", "king")),
    *(("queens", "kings"), ("princess", "prince"), ("princesses", "princes")),
    *(("duchess", "duke"), ("duchesses", "dukes"), ("empress", "emperor")),
    *(("empresses", "emperors"), ("baroness", "baron"), ("baronesses", "barons")),
    *(("countess", "count"), ("goddess", "god"), ("goddesses", "gods")),
    *(("priestess", "priest"), ("priestesses", "priests"), ("nun", "monk"), ("nuns", "monks")),
    *(("witch", "wizard"), ("witches", "wizards"), ("sorceress", "sorcerer")),
    *(("landlady", "landlord"), ("landladies", "landlords"), ("headmistress", "headmaster")),
    *(("headmistresses", "headmasters"), ("masseuse", "masseur"), ("masseuses", "masseurs")),
    *(("matriarch", "patriarch"), ("matriarchs", "patriarchs"), ("chairwoman", "chairman")),
    *(("chairwomen", "chairmen"), ("spokeswoman", "spokesman"), ("spokeswomen", "spokesmen")),
    *(("businesswoman", "businessman"), ("businesswomen", "businessmen")),
    *(("policewoman", "policeman"), ("policewomen", "policemen"), ("congresswoman", "congressman")),
    *(("congresswomen", "congressmen"), ("councilwoman", "councilman")),
    *(("councilwomen", "councilmen"), ("saleswoman", "salesman"), ("saleswomen", "salesmen")),
    *(("sportswoman", "sportsman"), ("sportswomen", "sportsmen"), ("horsewoman", "horseman")),
    *(("horsewomen", "horsemen"), ("camerawoman", "cameraman"), ("camerawomen", "cameramen")),
    *(("airwoman", "airman"), ("airwomen", "airmen"), ("servicewoman", "serviceman")),
    *(("servicewomen", "servicemen"), ("gentlewoman", "gentleman"), ("firewoman", "fireman")),
)
"""Female first. If a word has two counterparts, the first is used: `dad` becomes `mom`.
`ma'am` and `sir`, `count` and `host`, `god` and `guy` are swapped in all their senses.
Words after Bolukbasi et al. (2016), appendix B, and Zhao et al. (2018), Gender bias in coreference
resolution (WinoBias, MIT), with plurals, without pairs that differ in more than gender."""

_WORD = regex.compile(rf"(?:(?!\d){LETTER})+(?:['’](?:am|AM))?")


class Swapper:
    """Swaps the words of a text with their counterparts.

    Before a noun or adjective, `her` becomes `his`, and `his` becomes `her`. Elsewhere, `her`
    becomes `him`, and `his` becomes `hers`. `hers` becomes `his`, and `him` becomes `her`.

    Parameters
    ----------
    pairs
        Words to swap, in lower case; None for the English words of `PRONOUNS` and `PEOPLE`.
    tagger
        How to tell the object `her` (him) from the possessive `her` (his). `rule`: by the next
        word, with a closed list of words that cannot follow a possessive; this agrees with spaCy's
        tags on 98 % of `her` and 99.8 % of `his` in CrowS-Pairs and 6,000 pairs of SNLI. `spacy`:
        by the tags of an English spaCy model. The default does not depend on what is installed,
        so that results can be repeated elsewhere.
    names
        Pairs of first names, swapped where they are written with a capital. A name right after
        another one is a surname, and stays: Joe Montana.
    ambiguous
        Those of the names that are common words or places, too (Will, Paris). They are swapped
        where the tagger takes them for people: `rule` does so except at the beginning of a
        sentence; `spacy` if it is a proper noun in the name of a person.

    Raises
    ------
    InvalidOption
        If `tagger` is neither `rule` nor `spacy`.
    Unavailable
        If spaCy or its model is not installed, when a text is swapped.
    """

    def __init__(
        self,
        pairs: Iterable[Pair] | None = None,
        tagger: Tagger = "rule",
        *,
        names: Iterable[Pair] = (),
        ambiguous: Collection[str] = (),
    ) -> None:
        if tagger not in ("rule", "spacy"):
            raise InvalidOption(f"tagger={tagger}: expected rule or spacy")
        self._counterparts = counterparts([*PRONOUNS, *PEOPLE] if pairs is None else pairs)
        self._names = counterparts(names)
        self._ambiguous = frozenset(name.lower() for name in ambiguous)
        self._tag: Tag = by_rule if tagger == "rule" else by_spacy

    def swap(self, text: str) -> str:
        """Return `text` with its words swapped; the same text if it has none."""
        return self.swap_all([text])[0]

    def swap_all(self, texts: Sequence[str]) -> list[str]:
        """Return texts with their words swapped; spaCy tags them faster together."""
        places = [self._places(text) for text in texts]
        doubtful = [(text, found) for text, found in zip(texts, places, strict=True) if any(found)]
        tagged = self._tag(doubtful) if doubtful else iter(())
        return [
            self._swapped(text, next(tagged) if any(found) else frozenset())
            for text, found in zip(texts, places, strict=True)
        ]

    def _places(self, text: str) -> Places:
        """Return the places of a text at which the tagger has to decide."""
        pronouns, names = [], []
        for match in _WORD.finditer(text):
            word = match[0].lower()
            if word in ("her", "his"):
                pronouns.append(match.start())
            elif word in self._ambiguous and _is_capitalised(match[0]):
                names.append(match.start())
        return Places(pronouns, names)

    def _swapped(self, text: str, tagged: Collection[int]) -> str:
        surname = -1  # where a surname begins, if one follows the last name

        def counterpart(match: re.Match[str]) -> str:
            nonlocal surname
            word = match[0].lower().replace("’", "'")
            if word == "her":
                return with_case_of(match[0], "his" if match.start() in tagged else "him")
            if word == "his":
                return with_case_of(match[0], "her" if match.start() in tagged else "hers")
            if word in _OTHERS:
                return with_case_of(match[0], _OTHERS[word])
            new = self._counterparts.get(word)
            if new is None and word in self._names and _is_capitalised(match[0]):
                sure = word not in self._ambiguous or match.start() in tagged
                if sure and match.start() != surname:
                    new, surname = self._names[word], match.end() + 1
            return match[0] if new is None else with_case_of(match[0], new)

        return str(_WORD.sub(counterpart, text))


def swap(text: str) -> str:
    """Return `text` with the English words of `PRONOUNS` and `PEOPLE` swapped, by rule."""
    return _english().swap(text)


def counterparts(pairs: Iterable[Pair]) -> Mapping[str, str]:
    """Return the counterpart of each word, in lower case; if it has several, the first."""
    result: dict[str, str] = {}
    for first, second in ((a.lower(), b.lower()) for a, b in pairs):
        result.setdefault(first, second)
        result.setdefault(second, first)
    return result


def one_to_one(pairs: Iterable[Pair]) -> list[Pair]:
    """Return the pairs whose words are in no earlier pair, so that swapping twice changes nothing.

    `mum` has no counterpart then, because `dad` is that of `mom`.
    """
    used: set[str] = set()
    kept = []
    for pair in pairs:
        if used.isdisjoint(pair):
            used.update(pair)
            kept.append(pair)
    return kept


def with_case_of(old: str, new: str, language: str = "en") -> str:
    """Return `new` with the capitals of `old`: all letters, the first letter, or none."""
    if len(old) > 1 and old.isupper():
        return upper(new, language)
    return upper(new[:1], language) + new[1:] if old[:1].isupper() else new


_OTHERS = {"hers": "his", "him": "her"}


@functools.cache
def _english() -> Swapper:
    return Swapper()


def _is_capitalised(word: str) -> bool:
    """Return whether a word is written as a name: Mary or MARY, but not mary, DeShawn or mcKay."""
    return word[0].isupper() and with_case_of(word, word.lower()) == word
