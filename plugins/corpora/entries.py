"""Entries of a corpus of any size, one at a time: sentences, or pairs of sentences with a label.

The only reader of corpora: the bias score, fairer corpora and training use it. Holds one line in
memory. An entry's row has the keys of the corpus files that the harness writes: `premise`,
`hypothesis` and `label`, or `sentence1`, `sentence2` and `score`, or `text`; further keys are kept.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, TypeAlias, get_args

from harness.errors import (
    HarnessError,
    InvalidFile,
    InvalidOption,
    Unavailable,
    one_line,
    suggestion,
    unreadable,
)
from harness.task.data_files import without_repeated_keys

# Lines of a text file or of standard input, one at a time, with their numbers.


STDIN = "-"


class Line(NamedTuple):
    """A line without its end, and its number from 1."""

    number: int
    text: str


def lines(name: str) -> Iterator[Line]:
    """Yield the lines of a file in UTF-8, or of standard input for `-`.

    Raises
    ------
    InvalidFile
        If the file cannot be read, or a line is not UTF-8; names the line.
    """
    try:
        if name == STDIN:
            yield from _decoded(name, sys.stdin.buffer)
        else:
            with Path(name).open("rb") as file:
                yield from _decoded(name, file)
    except OSError as error:
        raise unreadable(name, error) from None


def count_lines(name: str) -> int | None:
    """Return the number of lines of a file; None for standard input, which is read only once."""
    path = Path(name)
    if name == STDIN or not path.is_file():
        return None
    number, last = 0, b""
    with path.open("rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            number, last = number + block.count(b"\n"), block
    return number + (last != b"" and not last.endswith(b"\n"))


def _decoded(name: str, file: IO[bytes]) -> Iterator[Line]:
    for i, line in enumerate(file, start=1):
        try:
            text = line.decode("utf-8-sig" if i == 1 else "utf-8")
        except UnicodeDecodeError:
            raise InvalidFile("not UTF-8", path=name, line=i) from None
        yield Line(i, text.rstrip("\r\n"))


# Rows of a corpus as its file has them: JSON lines, tables with tabs, plain lines.
#
# A row is a line number and a mapping of names to values. What the names mean is in `entries`. Does
# not read CSV, because a CSV field may span several lines.


STSB_COLUMNS = ("genre", "filename", "year", "id", "score", "sentence1", "sentence2")
"""Columns of the STS Benchmark's files, which have no header; further ones name licences."""


class Row(NamedTuple):
    """A line number from 1, and the values of the row by key or column."""

    line: int
    values: Mapping[str, Any]


def of_text(lines: Iterator[Line]) -> Iterator[Row]:
    """Yield plain lines: each is a `text`."""
    return (Row(i, {"text": line}) for i, line in lines)


def of_objects(name: str, lines: Iterator[Line]) -> Iterator[Row]:
    """Yield the objects of JSON lines; blank lines are skipped.

    Raises
    ------
    InvalidFile
        If a line is not a JSON object.
    """
    for i, line in lines:
        if not line.strip():
            continue
        try:
            item = json.loads(line, object_pairs_hook=without_repeated_keys)
        except (ValueError, RecursionError) as error:
            raise InvalidFile(f"invalid JSON ({error})", path=name, line=i) from None
        if not isinstance(item, Mapping):
            raise InvalidFile("expected a JSON object", path=name, line=i)
        yield Row(i, item)


def of_table(
    name: str, lines: Iterator[Line], header: Sequence[str] = (), *, may_have_more: bool = False
) -> Iterator[Row]:
    """Yield the rows of a table: cells between tabs, without quotes.

    Parameters
    ----------
    name
        Name of the file, for messages.
    lines
        Its lines.
    header
        Names of the columns if the first line is a row; else the first line names them. A row may
        have fewer cells.
    may_have_more
        Whether cells without a name are left out, as the STS Benchmark has them.

    Raises
    ------
    InvalidFile
        If two columns have one name, or a row has a cell without one: a text that has a tab in it
        would end there.
    """
    columns = list(header)
    for i, line in lines:
        cells = line.split("\t")
        if not columns:
            columns = cells
            if len(set(columns)) < len(columns):
                raise InvalidFile("two columns have one name", path=name, line=i)
        elif line.strip():
            if len(cells) > len(columns) and not may_have_more:
                problem = f"expected {len(columns)} cells ({', '.join(columns)}), but found"
                problem += f" {len(cells)}: {cells[len(columns)][:40]!r} has no column"
                raise InvalidFile(problem, path=name, line=i)
            yield Row(i, dict(zip(columns, cells, strict=False)))


def of_numbered_table(lines: Iterator[Line]) -> Iterator[Row]:
    """Yield the rows of a table without a header; each column is named by its number."""
    for i, line in lines:
        if line.strip():
            yield Row(i, {str(n): cell for n, cell in enumerate(line.split("\t"), start=1)})


def of_objects_or_table(
    name: str, lines: Iterator[Line], columns: Sequence[str] = ()
) -> Iterator[Row]:
    """Yield the rows of JSON lines or of a table, whichever the first line is.

    Parameters
    ----------
    name, lines
        The file and its lines.
    columns
        Names of the columns of a table whose first line names none of them.
    """
    first = next(lines, None)
    if first is None:
        return iter(())
    every = itertools.chain([first], lines)
    if first.text.lstrip().startswith("{"):
        return of_objects(name, every)
    has_header = not set(columns).isdisjoint(first.text.split("\t"))
    header = () if has_header or not columns else columns
    return of_table(name, every, header, may_have_more=True)


# Data sets of the Hugging Face hub, `hf://owner/name[@revision]`, row by row.
#
# The library `datasets` does the work (extra `train`). Nothing is executed: it reads data files
# only. As always with that library, a local folder `owner/name` comes before the hub.


PREFIX = "hf://"
_NAME = r"\w[\w.-]*"
_SOURCE = re.compile(rf"{PREFIX}(?P<name>{_NAME}/{_NAME})(@(?P<revision>{_NAME}))?")


def is_hub(source: str) -> bool:
    """Return whether a source is a data set of the hub."""
    return source.startswith(PREFIX)


def rows_on_hub(source: str, split: str, *, config: str = "") -> Iterator[Row]:
    """Yield the rows of a data set as they arrive; names stand for the numbers of its labels.

    Parameters
    ----------
    source
        `hf://owner/name`, with `@revision` at the end for a revision.
    split
        A split; several are joined by `+`.
    config
        A configuration, of a data set that has several.

    Raises
    ------
    InvalidOption
        If the source has another form, or the split is unknown.
    Unavailable
        If the library is not installed, or the data set cannot be loaded.
    """
    i = 0
    for part in split.split("+"):
        dataset = _load(source, part, config)
        names = {
            key: feature.names
            for key, feature in (dataset.features or {}).items()
            if hasattr(feature, "names")
        }
        try:
            for i, values in enumerate(dataset, start=i + 1):  # noqa: B020 -- numbers go on
                yield Row(i, _with_names(values, names))
        except HarnessError:
            raise
        except Exception as error:
            raise Unavailable(f"'{source}' broke off after row {i}: {one_line(error)}") from error


def count_on_hub(source: str, split: str) -> int | None:
    """Return the number of rows of a data set; None if the hub does not say."""
    total = 0
    for part in split.split("+"):
        about = _load(source, part).info.splits
        if not about or part not in about or about[part].num_examples is None:
            return None
        total += int(about[part].num_examples)
    return total


def _load(source: str, split: str, config: str = "") -> Any:
    match = _SOURCE.fullmatch(source)
    if match is None:
        raise InvalidOption(f"'{source}': expected hf://owner/name or hf://owner/name@revision")
    try:
        import datasets
    except ImportError:
        raise Unavailable(
            f"'{source}' needs the library datasets: pip install 'embedding-bias-harness[train]'"
        ) from None
    try:
        parts = datasets.load_dataset(
            match["name"], config or None, revision=match["revision"], streaming=True
        )
    except Exception as error:  # the hub, the network and the files raise many kinds
        raise Unavailable(f"'{source}' cannot be loaded: {one_line(error)}") from error
    if split not in parts:
        raise InvalidOption(f"--split {split}: '{source}' has no such split"
                            f"{suggestion(split, map(str, parts))}")  # fmt: skip
    return parts[split]


def _with_names(values: Mapping[str, Any], names: Mapping[str, list[str]]) -> Mapping[str, Any]:
    """Return a row with the names of its labels; −1, which stands for no label, becomes `-`."""
    named = {
        key: known[values[key]] if 0 <= values[key] < len(known) else "-"
        for key, known in names.items()
        if isinstance(values.get(key), int)
    }
    return {**values, **named}


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
        key = next((k for k in _LABEL_KEYS if k in values), None)
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
    return count_on_hub(source, split) if is_hub(source) else count_lines(source)


def format_of(source: str) -> Kind:
    """Return the format that belongs to a file extension; `text` for standard input.

    Raises
    ------
    InvalidOption
        If the extension is unknown.
    """
    if source == STDIN:
        return "text"
    if is_hub(source):
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
    if is_hub(source):
        return rows_on_hub(source, split)
    if kind == "text":
        return of_text(lines(source))
    if kind == "jsonl":
        return of_objects(source, lines(source))
    if kind == "stsb":
        return of_objects_or_table(source, lines(source), STSB_COLUMNS)
    if kind in _INFERENCE:
        return of_objects_or_table(source, lines(source))
    if keys and all(key.isdecimal() for key in keys):
        if any(int(key) == 0 for key in keys):
            raise InvalidOption("--text-key 0: column numbers start at 1")
        return of_numbered_table(lines(source))
    return of_table(source, lines(source))


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
