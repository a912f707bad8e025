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
from collections.abc import Iterator
from pathlib import Path

from harness import tasks
from harness.plugins.texts import marks
from harness.plugins.texts.agreement import agreement
from harness.plugins.texts.mentions import Kind
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


def annotated(file: str) -> Iterator[marks.MarkedText]:
    """Yield the annotated texts of a task's table."""
    path = Path(tasks.__file__).parent / "names" / file
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            for column in COLUMNS:
                yield marks.read(row[column])


if __name__ == "__main__":
    main()
