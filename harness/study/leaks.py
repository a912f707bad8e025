"""Refuses a study that judges words on which a mitigator was fitted, as the model reads them."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.embedder import Embedder
from harness.encode.spellings import Spellings
from harness.errors import HarnessError, UsageError
from harness.run.plan import fitting_texts, judged_texts
from harness.study.folds import Split
from harness.study.study import Study

if TYPE_CHECKING:
    from harness.study.bench import Bench

LISTED = 5
"""Number of overlapping texts that an error lists."""


def spellings(study: Study, embedder: Embedder) -> Spellings:
    """Return which of the texts that are judged, or fitted on, a model reads alike."""
    texts = [word for words in study.items for word in words]
    texts += study.concept.specific_words
    for measure in study.measures:
        texts += judged_texts(measure.task.texts())
    for candidate in study.candidates:
        for chain in candidate.chains:
            with contextlib.suppress(HarnessError):  # the fit will fail too, and report the error
                texts += fitting_texts(chain, study.concept)
    return Spellings.of(texts, embedder.encode)


def refuse_overlap(bench: Bench, splits: Sequence[Split]) -> None:
    """Refuse a study that judges words on which a mitigator was fitted.

    Raises
    ------
    UsageError
        With the row and the words.
    """
    for candidate in bench.study.candidates:
        for chain in candidate.chains:
            for split in splits:
                try:
                    overlap = bench.overlap(chain, split)
                except HarnessError:
                    continue  # the fit will fail too, and report the error
                if overlap:
                    listed = ", ".join(f"'{text}'" for text in overlap[:LISTED])
                    more = f" and {len(overlap) - LISTED} more" if len(overlap) > LISTED else ""
                    raise UsageError(
                        f"study '{bench.study.file.name}': '{candidate.label}' would be judged on "
                        f"texts that it is fitted on: {listed}{more}; remove them from the sets, "
                        "or set 'allow_overlap: true' in the study"
                    )
