"""Words and names with a counterpart of the other gender, for counterfactual sentences.

One to one: each word is the counterpart of its counterpart, so that swapping a sentence twice gives
the sentence back. The names are shipped in `data/`; `data/README.md` has their source.
"""

from __future__ import annotations

import functools
import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.plugins.texts.swapping import PEOPLE, PRONOUNS, Pair, one_to_one

NAMES = 2_500  # names of each gender, Dolci et al. 2023, section 4.2.2
FURTHER: Sequence[Pair] = (
    *(("ma", "pa"), ("housewife", "househusband")),
    *(("housewives", "househusbands"), ("barwoman", "barman"), ("barwomen", "barmen")),
    *(("busgirl", "busboy"), ("busgirls", "busboys"), ("bellgirl", "bellboy")),
    *(("bellgirls", "bellboys"), ("countrywoman", "countryman"), ("stateswoman", "statesman")),
    *(("countrywomen", "countrymen"), ("strongwoman", "strongman"), ("handywoman", "handyman")),
    *(("bachelorette", "bachelor"), ("fiancees", "fiances"), ("fiancées", "fiancés")),
    *(("granny", "grandad"), ("nana", "gramps"), ("sorceresses", "sorcerers")),
    *(("firewomen", "firemen"), ("fisherwoman", "fisherman"), ("fisherwomen", "fishermen")),
    *(("anchorwoman", "anchorman"), ("craftswoman", "craftsman"), ("craftswomen", "craftsmen")),
    *(("workwoman", "workman"), ("workwomen", "workmen"), ("repairwoman", "repairman")),
    *(("repairwomen", "repairmen"), ("frontwoman", "frontman"), ("mailwoman", "mailman")),
    *(("ballerina", "danseur"), ("ballerinas", "danseurs"), ("abbess", "abbot")),
)
"""Female first. After the lists of GN-GloVe (Zhao et al. 2018, Apache-2.0) and WinoBias (MIT), and
of our own by the same patterns."""
OTHER_SENSES = frozenset({"count", "host", "hosts", "god", "gods"})
"""Words that are more often something else: `count the birds`, `hosts a party`, `oh my God`."""


@dataclass(frozen=True)
class Names:
    """Pairs of equally popular names, female first, and those that are words or places, too."""

    pairs: Sequence[Pair]
    ambiguous: frozenset[str]


@functools.cache
def words() -> Sequence[Pair]:
    """Return the pairs of gender words without the personal pronouns her, hers, him and his."""
    every = one_to_one([*PRONOUNS, *PEOPLE, *FURTHER])
    return [pair for pair in every if OTHER_SENSES.isdisjoint(pair)]


@functools.cache
def names() -> Names:
    """Return the most popular names; those of one rank are a pair."""
    with gzip.open(
        Path(__file__).parent / "data" / "first_names.tsv.gz", "rt", encoding="utf-8"
    ) as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return Names(
        pairs=[(female.rstrip("*"), male.rstrip("*")) for female, male in rows],
        ambiguous=frozenset(name[:-1] for row in rows for name in row if name.endswith("*")),
    )
