"""`gensim:NAME`: the word vectors that gensim's downloader offers (glove-wiki-gigaword-300 …).

gensim downloads the file and checks its hash; its own loader is not used, because it runs a
Python file from the network. The file is word2vec's text or binary format and is read by
`vectors.py`.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from harness.embedder import Card
from harness.errors import InvalidFile, InvalidOption, Unavailable, UnknownName
from harness.plugins.embedders.vectors.vectors_file import vectors_file
from harness.plugins.embedders.vectors.word_vectors import WordVectors


def gensim_data(
    reference: str, *, name: str | None = None, card: Card | None = None
) -> WordVectors:
    """Return word vectors of gensim's collection, downloaded once to GENSIM_DATA_DIR.

    Parameters
    ----------
    reference
        A name of https://github.com/piskvorky/gensim-data.
    name, card
        What the model is reported as.

    Raises
    ------
    UnknownName
        If the collection has no such vectors.
    Unavailable
        If they are not here yet and cannot be downloaded.
    """
    if Path(reference).name != reference or reference.startswith("."):
        raise InvalidOption(f"'{reference}' is no name of gensim's collection, but a path")
    path = _cached(reference) or _downloaded(reference)
    try:
        return vectors_file(str(path), name=name or f"gensim:{reference}", card=card)
    except InvalidFile as error:
        raise Unavailable(f"'gensim:{reference}' holds no word vectors ({error})") from None


def _folder() -> Path:
    return Path(os.environ.get("GENSIM_DATA_DIR", "~/gensim-data")).expanduser()


def _cached(reference: str) -> Path | None:
    path = _folder() / reference / f"{reference}.gz"
    return path if path.is_file() else None


def _downloaded(reference: str) -> Path:
    from gensim import downloader

    try:
        with contextlib.redirect_stdout(sys.stderr):  # gensim prints its progress
            models = downloader.info()["models"]
            if reference not in models:
                raise UnknownName("gensim model", reference, models)
            return Path(downloader.load(reference, return_path=True))
    except UnknownName:
        raise
    except Exception as error:  # no network, a full disk, and gensim's bare one on a wrong hash
        raise Unavailable(
            f"'gensim:{reference}' is not in '{_folder()}' and cannot be downloaded ({error}); "
            "download it where there is a network and copy that folder"
        ) from None
