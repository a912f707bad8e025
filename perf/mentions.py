"""Precision and recall of names found by spaCy's pipelines, in texts with annotated names.

    python perf/mentions.py [--model en_core_web_md --model en_core_web_sm]

The texts are those of the tasks name-triplets (30, as printed in the paper) and name-triplets-world
(315). A mention is correct if it begins and ends at the right positions; its kind does not matter.
In the columns of the kinds, the share that was found as this kind is in brackets. The rows: names
only where the recogniser found them; the same names everywhere in the text; and also the tagger's
proper nouns, which is the default of `anonymize`.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import tasks
from harness.plugins.texts import marks
from harness.plugins.texts.mentions import Kind, Mention
from harness.plugins.texts.spacy_mentions import PACKAGES, SpacyMentions

FILES = ("name_triplets.tsv", "name_triplets_world.tsv")
COLUMNS = ("query", "positive", "negative")
SETTINGS = {
    "where found": {"everywhere": False},
    "everywhere": {},
    "proper nouns too": {"proper_nouns": True},
}
KINDS: tuple[Kind, ...] = ("person", "place", "organisation")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", action="append", help="a spaCy pipeline that is installed")
    parser.add_argument("--errors", action="store_true", help="list missed and spurious mentions")
    arguments = parser.parse_args()
    print("| texts | pipeline | names | precision | recall |", *(f"{k} |" for k in KINDS))
    print("| --- " * (5 + len(KINDS)) + "|")
    for file in FILES:
        texts = list(annotated(file))
        for model in arguments.model or PACKAGES:
            for setting, options in SETTINGS.items():
                found = SpacyMentions(model, **options).find([marked.text for marked in texts])
                gold = [marked.mentions for marked in texts]
                total = agreement(gold, found)
                row = [file, model, setting, f"{total.precision:.3f}", f"{total.recall:.3f}"]
                for kind in KINDS:
                    part = agreement(gold, found, kind)
                    row.append(f"{part.recall:.3f} ({part.same_kind / max(part.matched, 1):.2f})")
                print("|", " | ".join(row), "|")
                if arguments.errors:
                    print("missed:", *total.missed, sep=" ")
                    print("spurious:", *total.spurious, sep=" ")


@dataclass(frozen=True)
class Agreement:
    """Counts of mentions over texts. Two mentions match if start and end are equal.

    Parameters
    ----------
    marked
        Number of marked mentions.
    found
        Number of found mentions.
    matched
        Number of marked mentions that were found, with any kind.
    same_kind
        Number of marked mentions that were found with the same kind.
    missed
        Names of marked mentions that were not found, in order.
    spurious
        Names of found mentions that were not marked, in order.
    """

    marked: int
    found: int
    matched: int
    same_kind: int
    missed: tuple[str, ...]
    spurious: tuple[str, ...]

    @property
    def precision(self) -> float:
        """Share of found mentions that are marked, in [0, 1]; NaN if none was found."""
        return 1 - len(self.spurious) / self.found if self.found else float("nan")

    @property
    def recall(self) -> float:
        """Share of marked mentions that were found, in [0, 1]; NaN if none is marked."""
        return self.matched / self.marked if self.marked else float("nan")


def agreement(
    marked: Sequence[Sequence[Mention]],
    found: Sequence[Sequence[Mention]],
    kind: Kind | None = None,
) -> Agreement:
    """Return the agreement of found mentions with the marked mentions of the same texts.

    Parameters
    ----------
    marked, found
        The mentions of each text, without overlaps.
    kind
        Count only marked and found mentions of this kind. A marked mention that was found with
        another kind is still matched. By default all kinds are counted.
    """
    n_marked = n_found = matched = same_kind = 0
    missed: list[str] = []
    spurious: list[str] = []
    for marked_mentions, found_mentions in zip(marked, found, strict=True):
        marked_spans = {(mention.start, mention.end) for mention in marked_mentions}
        kinds = {(mention.start, mention.end): mention.kind for mention in found_mentions}
        for mention in marked_mentions:
            if kind in (None, mention.kind):
                n_marked += 1
                found_kind = kinds.get((mention.start, mention.end))
                matched += found_kind is not None
                same_kind += found_kind == mention.kind
                missed += [] if found_kind else [mention.text]
        for mention in found_mentions:
            if kind in (None, mention.kind):
                n_found += 1
                spurious += [] if (mention.start, mention.end) in marked_spans else [mention.text]
    return Agreement(n_marked, n_found, matched, same_kind, tuple(missed), tuple(spurious))


def annotated(file: str) -> Iterator[marks.MarkedText]:
    """Yield the annotated texts of a task's table."""
    path = Path(tasks.__file__).parent / "names" / file
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            for column in COLUMNS:
                yield marks.read(row[column])


if __name__ == "__main__":
    main()
