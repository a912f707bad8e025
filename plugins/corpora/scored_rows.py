"""Rows of a file of scores: an entry of a corpus with the scores of its sentences.

A row of one sentence is flat: `line`, `key`, `text`, `bias_f`, `bias_m`, `abs`. A row of a pair has
`line`, `abs` (the larger one of its sentences, Dolci et al. 2023, section 4.2.1) and
`sentences`, each with the scores. `more` holds the other keys of the entry, such as its label.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.errors import InvalidFile
from harness.plugins.bias_score.scorer import SentenceScore
from harness.plugins.corpora.entries import GRADED_KEYS, TEXT_KEYS, Entry

_DIGITS = 6  # the seventh digit depends on the batch that a sentence is in


def of_entry(entry: Entry, scores: Sequence[SentenceScore], *, with_words: bool) -> dict[str, Any]:
    """Return the row of an entry; scores are None if the model knows no word."""
    sentences = [
        _sentence(key, text, score, with_words=with_words)
        for key, text, score in zip(entry.keys, entry.texts, scores, strict=True)
    ]
    if len(sentences) == 1:
        row = {"line": entry.line, **sentences[0]}
    else:
        largest = max((s["abs"] for s in sentences if s["abs"] is not None), default=None)
        row = {"line": entry.line, "abs": largest, "sentences": sentences}
    more = {key: value for key, value in entry.row.items() if key not in entry.keys}
    return row | ({"more": more} if more else {})


def sentences(row: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the sentences of a row with their scores."""
    return row.get("sentences") or [row]


def entry_of(
    row: Mapping[str, Any], replacements: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the entry of a row, as it stands in a corpus file.

    Parameters
    ----------
    row
        The row of a file of scores.
    replacements
        The text that stands in place of another one.
    """
    new = replacements or {}
    texts = {s.get("key", "text"): new.get(s["text"], s["text"]) for s in sentences(row)}
    more = dict(row.get("more", {}))
    if len(texts) == 2 and tuple(texts) not in TEXT_KEYS:  # columns that only the user knows
        graded = isinstance(more.get("score"), int | float)
        texts = dict(zip(GRADED_KEYS if graded else TEXT_KEYS[0], texts.values(), strict=True))
    return texts | more


def parsed(line: bytes, path: Path, number: int) -> dict[str, Any]:
    """Return the row of a line of a file of scores.

    Raises
    ------
    InvalidFile
        If it is none.
    """
    try:
        row = json.loads(line)
        texts = [sentence["text"] for sentence in sentences(row)]
        score = row["abs"]
    except (ValueError, KeyError, TypeError, AttributeError):
        texts, score = [None], ""
    if all(isinstance(text, str) for text in texts) and isinstance(score, int | float | None):
        return dict(row)
    raise InvalidFile(
        "no row of scores, as harness corpus score writes them; with --model, this command scores "
        "a corpus itself",
        path=path,
        line=number,
    )


def _sentence(key: str, text: str, result: SentenceScore, *, with_words: bool) -> dict[str, Any]:
    score = result.score
    sentence: dict[str, Any] = {
        "key": key,
        "text": text,
        "bias_f": round(score.female, _DIGITS) if score else None,
        "bias_m": round(score.male, _DIGITS) if score else None,
        "abs": round(score.absolute, _DIGITS) if score else None,
    }
    if result.cut:
        sentence["cut"] = True
    if with_words and score:
        sentence["words"] = [
            {
                "word": word,
                "importance": round(float(score.importance[i]), _DIGITS),
                "cosine": round(float(score.cosines[i]), _DIGITS),
                "bias": round(float(score.biases[i]), _DIGITS),
                "gendered": bool(result.gendered[i]),
            }
            for i, word in enumerate(result.words)
        ]
    return sentence
