"""Entries of a corpus of any size, one at a time: sentences, or pairs of sentences with a label.

The only reader of corpora: the bias score, fairer corpora and training use it. Holds one line in
memory. An entry's row has the keys of the corpus files that the harness writes: `premise`,
`hypothesis` and `label`, or `sentence1`, `sentence2` and `score`, or `text`; further keys are kept.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from harness.errors import InvalidFile, InvalidOption, suggestion
from harness.plugins.corpora import hub, rows
from harness.plugins.corpora.lines import STDIN, count_lines, lines
from harness.plugins.corpora.rows import Row

Kind: TypeAlias = Literal["jsonl", "tsv", "text", "snli", "multinli", "stsb"]
KINDS: Sequence[Kind] = get_args(Kind)
LABELS = ("entailment", "neutral", "contradiction")
"""Labels of SNLI and MultiNLI; a number stands for its place here."""
NO_LABEL, BLANK = "no label", "blank text"
"""Reasons to drop an entry: its annotators did not agree; one of its texts is blank."""

_BY_EXTENSION: Mapping[str, Kind] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".tsv": "tsv",
    ".txt": "text",
    "": "text",
}
_INFERENCE: Sequence[Kind] = ("snli", "multinli")
GRADED_KEYS = ("sentence1", "sentence2")
TEXT_KEYS = (("premise", "hypothesis"), GRADED_KEYS, ("text",))
_DEFAULT_KEYS: Mapping[Kind, tuple[str, ...]] = {
    "snli": TEXT_KEYS[0],
    "multinli": TEXT_KEYS[0],
    "stsb": GRADED_KEYS,
}
_LABEL_KEYS = ("label", "score")
# SNLI and MultiNLI as published: their keys, and those of the harness. Parses are left out: they
# are long, and wrong as soon as a sentence changes.
_PUBLISHED = {"gold_label": "label", "sentence1": "premise", "sentence2": "hypothesis"}
_PARSES = tuple(
    f"sentence{i}_{kind}" for i in (1, 2) for kind in ("parse", "binary_parse", "tokens")
)


@dataclass(frozen=True)
class Entry:
    """A sentence, or sentences that belong together.

    Parameters
    ----------
    line
        Line number from 1.
    texts
        The sentences, with single spaces; never blank.
    label
        A name, such as `entailment`; a number for graded pairs; None if there is none.
    row
        The whole row, with the sentences under `keys`.
    keys
        The keys of the sentences in the row.
    """

    line: int
    texts: tuple[str, ...]
    label: str | float | None
    row: Mapping[str, Any]
    keys: tuple[str, ...]


def entries(
    source: str,
    kind: Kind | None = None,
    keys: Sequence[str] = (),
    *,
    label_key: str | None = None,
    split: str = "train",
    dropped: Counter[str] | None = None,
) -> Iterator[Entry]:
    """Yield the entries of a corpus.

    Dropped are entries with a blank text, and those whose label is `-` (SNLI's annotators did not
    agree).

    Parameters
    ----------
    source
        File in UTF-8; `-` for standard input; or `hf://owner/name`, with `@revision` at the end for
        a revision, for a data set of the Hugging Face hub.
    kind
        `jsonl`: one object per line; `tsv`: columns between tabs, without quotes, with names in the
        first line; `text`: one sentence per line; `snli` and `multinli`: their published JSON lines
        or tables, or the columns of the hub; `stsb`: the tables of the STS Benchmark. None: by the
        file extension.
    keys
        Keys or columns of the sentences. If all are numbers, from 1, a table has no header. By
        default `premise` and `hypothesis`, `sentence1` and `sentence2`, or `text`: what the first
        row has.
    label_key
        Key or column of the label; by default `label` or `score`, if the row has it.
    split
        Split of a data set of the hub; several are joined by `+`.
    dropped
        Counts the dropped entries by reason: `NO_LABEL`, `BLANK`.

    Raises
    ------
    InvalidFile
        If the file cannot be read, or a row has no such key or a wrong value; names the line.
    InvalidOption
        If the format is unknown, or keys do not fit it.
    Unavailable
        If a data set of the hub cannot be had.
    """
    counts = Counter[str]() if dropped is None else dropped
    kind = kind or format_of(source)
    text_keys = tuple(keys) or _DEFAULT_KEYS.get(kind, ())
    for row in _rows(source, kind, keys, split):
        values = _harness_keys(row.values)
        text_keys = text_keys or _text_keys(source, row.line, values)
        texts = tuple(_text(source, row.line, values, key, kind) for key in text_keys)
        key = label_key or next((k for k in _LABEL_KEYS if k in values), None)
        label = _label(source, row.line, values, key, kind)
        if not all(texts):
            if len(texts) > 1 or kind not in ("text", "tsv"):  # blank lines are no entries
                counts[BLANK] += 1
        elif label == "-":
            counts[NO_LABEL] += 1
        else:
            tidy = dict(values) | dict(zip(text_keys, texts, strict=True))
            if key is not None and label is not None:
                tidy[key] = label
            yield Entry(row.line, texts, label, tidy, text_keys)


def count(source: str, split: str = "train") -> int | None:
    """Return the number of rows of a corpus at most; None if it is unknown."""
    return hub.count(source, split) if hub.is_hub(source) else count_lines(source)


def format_of(source: str) -> Kind:
    """Return the format that belongs to a file extension; `text` for standard input.

    Raises
    ------
    InvalidOption
        If the extension is unknown.
    """
    if source == STDIN:
        return "text"
    if hub.is_hub(source):
        return "jsonl"
    kind = _BY_EXTENSION.get(Path(source).suffix.lower())
    if kind is None:
        known = ", ".join(KINDS[:-1])
        raise InvalidOption(
            f"'{source}': unknown format of the corpus; set --format to {known} or {KINDS[-1]}"
        )
    return kind


def _rows(source: str, kind: Kind, keys: Sequence[str], split: str) -> Iterator[Row]:
    if kind == "text" and keys:
        raise InvalidOption("--text-key needs jsonl or tsv; in plain text each line is a sentence")
    if hub.is_hub(source):
        return hub.rows(source, split)
    if kind == "text":
        return rows.of_text(lines(source))
    if kind == "jsonl":
        return rows.of_objects(source, lines(source))
    if kind == "stsb":
        return rows.of_objects_or_table(source, lines(source), rows.STSB_COLUMNS)
    if kind in _INFERENCE:
        return rows.of_objects_or_table(source, lines(source))
    if keys and all(key.isdecimal() for key in keys):
        if any(int(key) == 0 for key in keys):
            raise InvalidOption("--text-key 0: column numbers start at 1")
        return rows.of_numbered_table(lines(source))
    return rows.of_table(source, lines(source))


def _harness_keys(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row with the keys of the harness, if it has those of SNLI as published."""
    if "gold_label" not in values or "label" in values:
        return values
    return {_PUBLISHED.get(k, k): value for k, value in values.items() if k not in _PARSES}


def _text_keys(source: str, line: int, values: Mapping[str, Any]) -> tuple[str, ...]:
    for keys in TEXT_KEYS:
        if all(key in values for key in keys):
            return keys
    expected = ", or ".join(" and ".join(keys) for keys in TEXT_KEYS)
    raise InvalidFile(
        f"expected the keys {expected}; available: {', '.join(list(values)[:8]) or 'none'} "
        "(harness corpus reads other keys with --text-key)",
        path=source,
        line=line,
    )


def _text(source: str, line: int, values: Mapping[str, Any], key: str, kind: Kind) -> str:
    text = values.get(key)
    if isinstance(text, str):
        return " ".join(text.split())
    if kind == "tsv" and key.isdecimal():
        problem = f"expected at least {key} columns, got {len(values)}"
        raise InvalidFile(problem, path=source, line=line)
    names = [str(k) for k, value in values.items() if isinstance(value, str)]
    problem = "the value is not a string" if key in values else "missing key"
    hint = suggestion(key, names) or f"; keys with text: {', '.join(names[:8]) or 'none'}"
    raise InvalidFile(f"{problem}{hint}", path=source, line=line, key=key)


def _label(
    source: str, line: int, values: Mapping[str, Any], key: str | None, kind: Kind
) -> str | float | None:
    """Return the label of a row; `-` for none of SNLI's.

    Raises
    ------
    InvalidFile
        If it is missing, or wrong for the format.
    """
    value = values.get(key) if key is not None else None

    def wrong(problem: str) -> InvalidFile:
        return InvalidFile(problem, path=source, line=line, key=key or "label")

    if kind in _INFERENCE:
        if value in (-1, "-1", "-", ""):
            return "-"
        if value in LABELS:
            return str(value)
        if str(value) in ("0", "1", "2"):
            return LABELS[int(str(value))]
        names = ", ".join(LABELS)
        raise wrong(f"unknown label '{value}'{suggestion(str(value), LABELS)}; expected {names}")
    if kind == "stsb":
        try:
            score = float(str(value))
        except ValueError:
            score = math.nan
        if not 0 <= score <= 5:
            raise wrong(f"'{value}' is not a score from 0 to 5")
        return score
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    raise wrong("expected a label or a finite number")
