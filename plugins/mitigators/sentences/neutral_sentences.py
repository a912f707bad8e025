"""640 plain sentences that mention no person: a sample for fitting the covariance of an encoder.

Ten fields with eight subjects and eight predicates each, all our own. The sample is much smaller
and simpler than a corpus: a covariance fitted on it is that of simple sentences.
"""

from __future__ import annotations

from collections.abc import Sequence

FIELDS: Sequence[tuple[str, str]] = (
    (
        "The river; The old forest; A small lake; The coast; The valley; A mountain path; "
        "The desert; The island",
        "was covered in fog; attracts many birds; lies far to the north; dried out last summer; "
        "is protected by law; froze over in January; looks different in autumn; was hit by a storm",
    ),
    (
        "The night train; The new bridge; A city bus; The airport; The main road; The tram line; "
        "A ferry; The car park",
        "was closed for repairs; is often crowded; opened two years ago; costs more than before; "
        "stops near the market; had to wait for an hour; needs new signs; connects both districts",
    ),
    (
        "The soup; Fresh bread; The apple cake; A bowl of rice; The cheese; Black coffee; "
        "The salad; The stew",
        "tastes better with salt; was served cold; is ready in ten minutes; sells well on Sundays; "
        "smells of herbs; goes bad within a week; contains a lot of sugar; was too hot to eat",
    ),
    (
        "The software; A new phone; The printer; The database; The website; A search engine; "
        "The battery; The robot",
        "stopped working on Monday; has been updated twice; runs faster than the old one; "
        "uses less energy; comes with a short manual; lost some of the files; "
        "was tested for six months; is hard to repair",
    ),
    (
        "The final match; The marathon; A game of chess; The home team; The tournament; "
        "The stadium; The second half; The race",
        "ended in a draw; drew a large crowd; was delayed by rain; surprised the experts; "
        "is shown on television; began with a mistake; takes place every spring; "
        "was lost by a point",
    ),
    (
        "The novel; The exhibition; A short film; The symphony; The painting; The concert; "
        "The old song; The poem",
        "was praised by the critics; is about a long journey; lasts almost three hours; "
        "became famous abroad; was written in winter; sounds sad to many; was sold at an auction; "
        "is hard to understand",
    ),
    (
        "The experiment; A new theory; The telescope; The vaccine; The study; The sample; "
        "A rare disease; The laboratory",
        "confirmed the earlier result; raises new questions; was described in a journal; "
        "depends on the temperature; could not be repeated; took ten years to develop; "
        "is funded by a foundation; was presented at a conference",
    ),
    (
        "The tax; The election; The budget; A trade agreement; The central bank; The new law; "
        "Inflation; The strike",
        "will change next year; was discussed in parliament; affects small firms; "
        "rose to a record level; ended without a result; is opposed by the unions; "
        "was announced on Friday; surprised the markets",
    ),
    (
        "The cat; A grey horse; The dog; The owl; A swarm of bees; The fish; The elephant; A snake",
        "slept in the shade; ran away from the noise; was found near the barn; "
        "eats twice a day; moved slowly; was seen at night; lives for many years; "
        "hid under the leaves",
    ),
    (
        "The kitchen table; The roof; An old lamp; The garden; The front door; The sofa; "
        "The staircase; The blue carpet",
        "needs to be cleaned; was painted last week; is made of wood; came from a flea market; "
        "was damaged by water; looks better than before; takes up too much space; will be replaced",
    ),
)
"""Subjects and predicates of each field; every subject fits every predicate of its field."""


def neutral_sentences() -> list[str]:
    """Return all sentences."""
    return [
        f"{subject} {predicate}."
        for subjects, predicates in FIELDS
        for subject in subjects.split("; ")
        for predicate in predicates.split("; ")
    ]
