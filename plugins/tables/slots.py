"""Slots of a text: the positions of each person's and country's name, to fill with other names.

The mentions of names come from elsewhere. People are distinguished only by their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..texts.mentions import Mention

Span: TypeAlias = tuple[int, int]
_ARTICLE = re.compile(r"\b[Tt]he $")

# A mention is a country if its text is one of these names: members and observers of the United
# Nations, and other countries in English texts, such as the parts of the United Kingdom.
# fmt: off
COUNTRIES = frozenset("""
Afghanistan|Albania|Algeria|Andorra|Angola|Antigua and Barbuda|Argentina|Armenia|Australia|Austria
|Azerbaijan|Bahamas|Bahrain|Bangladesh|Barbados|Belarus|Belgium|Belize|Benin|Bhutan|Bolivia
|Bosnia|Bosnia and Herzegovina|Botswana|Brazil|Brunei|Bulgaria|Burkina Faso|Burundi|Cabo Verde
|Cambodia|Cameroon|Canada|Cape Verde|Central African Republic|Chad|Chile|China|Colombia|Comoros
|Congo|Costa Rica|Croatia|Cuba|Cyprus|Czech Republic|Czechia|Côte d'Ivoire|Denmark|Djibouti
|Dominica|Dominican Republic|East Timor|Ecuador|Egypt|El Salvador|Equatorial Guinea|Eritrea
|Estonia|Eswatini|Ethiopia|Fiji|Finland|France|Gabon|Gambia|Georgia|Germany|Ghana|Greece|Grenada
|Guatemala|Guinea|Guinea-Bissau|Guyana|Haiti|Honduras|Hungary|Iceland|India|Indonesia|Iran|Iraq
|Ireland|Israel|Italy|Ivory Coast|Jamaica|Japan|Jordan|Kazakhstan|Kenya|Kiribati|Kosovo|Kuwait
|Kyrgyzstan|Laos|Latvia|Lebanon|Lesotho|Liberia|Libya|Liechtenstein|Lithuania|Luxembourg
|Macedonia|Madagascar|Malawi|Malaysia|Maldives|Mali|Malta|Marshall Islands|Mauritania|Mauritius
|Mexico|Micronesia|Moldova|Monaco|Mongolia|Montenegro|Morocco|Mozambique|Myanmar|Namibia|Nauru
|Nepal|Netherlands|New Zealand|Nicaragua|Niger|Nigeria|North Korea|North Macedonia|Norway|Oman
|Pakistan|Palau|Palestine|Panama|Papua New Guinea|Paraguay|Peru|Philippines|Poland|Portugal|Qatar
|Romania|Russia|Rwanda|Saint Kitts and Nevis|Saint Lucia|Saint Vincent and the Grenadines|Samoa
|San Marino|Saudi Arabia|Senegal|Serbia|Seychelles|Sierra Leone|Singapore|Slovakia|Slovenia
|Solomon Islands|Somalia|South Africa|South Korea|South Sudan|Spain|Sri Lanka|Sudan|Suriname
|Sweden|Switzerland|Syria|São Tomé and Príncipe|Taiwan|Tajikistan|Tanzania|Thailand|Timor-Leste
|Togo|Tonga|Trinidad and Tobago|Tunisia|Turkey|Turkmenistan|Tuvalu|Türkiye|Uganda|Ukraine
|United Arab Emirates|United Kingdom|United States|United States of America|Uruguay|Uzbekistan
|Vanuatu|Vatican City|Venezuela|Vietnam|Yemen|Zambia|Zimbabwe
|America|Britain|Burma|Ceylon|Czechoslovakia|East Germany|England|Great Britain|Holland|Korea
|Northern Ireland|Persia|Prussia|Rhodesia|Scotland|Siam|Soviet Union|U.K|U.K.|U.S|U.S.|U.S.A|U.S.A.
|UK|US|USA|USSR|Wales|West Germany|Yugoslavia|Zaire
""".replace("\n", "").split("|"))
# fmt: on


@dataclass(frozen=True)
class Slots:
    """Positions of the names in a text.

    Parameters
    ----------
    people
        For each person, in order of appearance, the spans of their mentions.
    countries
        For each country likewise; a span includes the article before the name.
    """

    people: tuple[tuple[Span, ...], ...]
    countries: tuple[tuple[Span, ...], ...]

    def filled(self, text: str, people: Sequence[str], countries: Sequence[str]) -> str:
        """Return the text with other names in all slots, replaced at once.

        Parameters
        ----------
        text
            The text that the slots belong to.
        people, countries
            One name per person and one per country, in the order of the slots.
        """
        fillings = sorted(
            (*span, name)
            for spans, name in zip(
                (*self.people, *self.countries), (*people, *countries), strict=True
            )
            for span in spans
        )
        pieces, last = [], 0
        for start, end, name in fillings:
            pieces += [text[last:start], name]
            last = end
        return "".join(pieces) + text[last:]


def slots(text: str, mentions: Iterable[Mention]) -> Slots:
    """Return the slots of a text from its mentions, which must not overlap.

    All mentions of a name belong to one person, and so do mentions of a part of it: `Kate` is Kate
    Powell if the text names no other Kate. A part that two people share, such as the surname of
    Kate and Ben Powell, counts as a separate person. Countries are identified by their names. An
    article before a country belongs to its name (`in the Gambia` becomes `in France`).
    """
    people: dict[str, list[Span]] = {}
    countries: dict[str, list[Span]] = {}
    mentions = sorted(mentions)
    full = _full_names({m.text for m in mentions if m.kind == "person"})
    for mention in mentions:
        if mention.kind == "person":
            people.setdefault(full[mention.text], []).append((mention.start, mention.end))
        elif country(mention):
            article = _ARTICLE.search(text, max(0, mention.start - 4), mention.start)
            start = article.start() if article else mention.start
            countries.setdefault(mention.text, []).append((start, mention.end))
    return Slots(tuple(map(tuple, people.values())), tuple(map(tuple, countries.values())))


def country(mention: Mention) -> bool:
    """Return whether a mention is the name of a country."""
    return mention.kind == "place" and mention.text in COUNTRIES


def _full_names(names: Iterable[str]) -> dict[str, str]:
    """Return for each name the only longest name that it is a part of, or itself."""
    words = {name: frozenset(name.split()) for name in names}
    full = {}
    for name, parts in words.items():
        longer = [other for other in words if parts < words[other]]
        # Of `Kate Powell` and `Kate Anne Powell`, only the second is a longest name.
        longest = [a for a in longer if not any(words[a] < words[b] for b in longer)]
        full[name] = longest[0] if len(longest) == 1 else name
    return full
