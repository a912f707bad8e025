"""Data sets of the Hugging Face hub, `hf://owner/name[@revision]`, row by row.

The library `datasets` does the work (extra `train`). Nothing is executed: it reads data files only.
As always with that library, a local folder `owner/name` comes before the hub.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from harness.errors import HarnessError, InvalidOption, Unavailable, one_line, suggestion
from harness.plugins.corpora.rows import Row

PREFIX = "hf://"
SECONDS = 30.0
"""How long the hub may take to say that it is there."""
_NAME = r"\w[\w.-]*"
_SOURCE = re.compile(rf"{PREFIX}(?P<name>{_NAME}/{_NAME})(@(?P<revision>{_NAME}))?")


def is_hub(source: str) -> bool:
    """Return whether a source is a data set of the hub."""
    return source.startswith(PREFIX)


def rows(source: str, split: str) -> Iterator[Row]:
    """Yield the rows of a data set as they arrive; names stand for the numbers of its labels.

    Parameters
    ----------
    source
        `hf://owner/name`, with `@revision` at the end for a revision.
    split
        A split; several are joined by `+`.

    Raises
    ------
    InvalidOption
        If the source has another form, or the split is unknown.
    Unavailable
        If the library is not installed, or the data set cannot be loaded.
    """
    i = 0
    for part in split.split("+"):
        dataset = _load(source, part)
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


def count(source: str, split: str) -> int | None:
    """Return the number of rows of a data set; None if the hub does not say."""
    total = 0
    for part in split.split("+"):
        about = _load(source, part).info.splits
        if not about or part not in about or about[part].num_examples is None:
            return None
        total += int(about[part].num_examples)
    return total


def _load(source: str, split: str) -> Any:
    match = _SOURCE.fullmatch(source)
    if match is None:
        raise InvalidOption(f"'{source}': expected hf://owner/name or hf://owner/name@revision")
    try:
        import datasets
    except ImportError:
        raise Unavailable(
            f"'{source}' needs the library datasets: pip install 'embedding-bias-harness[train]'"
        ) from None
    _reach(source, match["name"], match["revision"])
    try:
        parts = datasets.load_dataset(match["name"], revision=match["revision"], streaming=True)
    except Exception as error:  # the hub, the network and the files raise many kinds
        raise Unavailable(f"'{source}' cannot be loaded: {one_line(error)}") from error
    if split not in parts:
        raise InvalidOption(f"--split {split}: '{source}' has no such split"
                            f"{suggestion(split, map(str, parts))}")  # fmt: skip
    return parts[split]


def _reach(source: str, name: str, revision: str | None) -> None:
    """Ask the hub for the data set once: the library asks six times, in 24 s, with a line each."""
    import huggingface_hub
    from huggingface_hub import constants, errors

    if constants.HF_HUB_OFFLINE or Path(name).is_dir():
        return
    try:
        huggingface_hub.HfApi().dataset_info(name, revision=revision, timeout=SECONDS)
    except errors.HfHubHTTPError:
        return  # an answer: the library says what it means
    except Exception as error:  # versions differ in what they raise without a network
        host = urlsplit(constants.ENDPOINT).netloc
        raise Unavailable(
            f"'{source}' cannot be loaded: {host} cannot be reached: {one_line(error)}"
        ) from error


def _with_names(values: Mapping[str, Any], names: Mapping[str, list[str]]) -> Mapping[str, Any]:
    """Return a row with the names of its labels; −1, which stands for no label, becomes `-`."""
    named = {
        key: known[values[key]] if 0 <= values[key] < len(known) else "-"
        for key, known in names.items()
        if isinstance(values.get(key), int)
    }
    return {**values, **named}
