"""Precision and recall of names found by spaCy's pipelines, in texts whose names were marked.

    python benchmarks/mentions.py [--model en_core_web_md --model en_core_web_sm]

The texts are those of the tasks name-triplets (30, as printed in the paper) and name-triplets-world
(315). A mention counts as found where it begins and ends at the right places, as whatever kind; by
kind, the share of those found as that kind stands in brackets. The columns: each name only where
the recogniser found it; everywhere in the text; and with the tagger's proper nouns, as `anonymize`
has it unless told.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path

from harness import tasks
from harness.plugins.texts import marks
from harness.plugins.texts.agreement import agreement
from harness.plugins.texts.mentions import Kind
from harness.plugins.texts.spacy_mentions import PACKAGES, SpacyMentions

FILES = ("name_triplets.tsv", "name_triplets_world.tsv")
COLUMNS = ("query", "positive", "negative")
WAYS = {
    "where found": {"everywhere": False},
    "everywhere": {},
    "proper nouns too": {"proper_nouns": True},
}
KINDS: tuple[Kind, ...] = ("person", "place", "organisation")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", action="append", help="a spaCy pipeline that is installed")
    parser.add_argument("--errors", action="store_true", help="list what is missed and wrong")
    asked = parser.parse_args()
    print("| texts | pipeline | names | precision | recall |", *(f"{k} |" for k in KINDS))
    print("| --- " * (5 + len(KINDS)) + "|")
    for file in FILES:
        texts = list(marked(file))
        for model in asked.model or PACKAGES:
            for way, options in WAYS.items():
                found = SpacyMentions(model, **options).find([one.text for one in texts])
                gold = [one.mentions for one in texts]
                all_kinds = agreement(gold, found)
                row = [file, model, way, f"{all_kinds.precision:.3f}", f"{all_kinds.recall:.3f}"]
                for kind in KINDS:
                    one = agreement(gold, found, kind)
                    row.append(f"{one.recall:.3f} ({one.same_kind / max(one.matched, 1):.2f})")
                print("|", " | ".join(row), "|")
                if asked.errors:
                    print("missed:", *all_kinds.missed, sep=" ")
                    print("spurious:", *all_kinds.spurious, sep=" ")


def marked(file: str) -> Iterator[marks.MarkedText]:
    """Yield the marked texts of a task's table."""
    path = Path(tasks.__file__).parent / "names" / file
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            for column in COLUMNS:
                yield marks.read(row[column])


if __name__ == "__main__":
    main()
