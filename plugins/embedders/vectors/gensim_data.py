"""`gensim:NAME`: word vectors from gensim's downloader, such as glove-wiki-gigaword-300.

gensim downloads the file and checks its hash. Its own loader is not used, because it runs a Python
file from the network; `vectors_file.py` reads the file, which has word2vec's text or binary format.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from harness.embedder import Card
from harness.errors import InvalidFile, InvalidOption, Unavailable, UnknownName

from .vectors_file import vectors_file
from .word_vectors import WordVectors


def gensim_data(
    reference: str, *, name: str | None = None, card: Card | None = None
) -> WordVectors:
    """Return word vectors of the gensim-data collection, downloaded once to GENSIM_DATA_DIR.

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
    InvalidOption
        If the reference is a path.
    Unavailable
        If the vectors are not on disk and cannot be downloaded.

    Notes
    -----
    The fingerprint covers the SHA-256 and the format of the file, as for `vectors:`.
    """
    if Path(reference).name != reference or reference.startswith("."):
        raise InvalidOption(f"gensim:{reference}: expected a name of gensim-data, not a path")
    path = _cached(reference) or _downloaded(reference)
    try:
        return vectors_file(str(path), name=name or f"gensim:{reference}", card=card)
    except InvalidFile as error:
        raise Unavailable(f"'gensim:{reference}' has no word vectors ({error})") from None


def _folder() -> Path:
    return Path(os.environ.get("GENSIM_DATA_DIR", "~/gensim-data")).expanduser()


def _cached(reference: str) -> Path | None:
    path = _folder() / reference / f"{reference}.gz"
    return path if path.is_file() else None


def _downloaded(reference: str) -> Path:
    try:
        from gensim import downloader
    except ModuleNotFoundError:
        raise Unavailable(
            f"'gensim:{reference}' is not in '{_folder()}', and its download needs the package "
            "'gensim', which has no wheels for Python 3.14: pip install gensim"
        ) from None
    try:
        with contextlib.redirect_stdout(sys.stderr):  # gensim prints its progress
            models = downloader.info()["models"]
            if reference not in models:
                raise UnknownName("gensim model", reference, models)
            return Path(downloader.load(reference, return_path=True))
    except UnknownName:
        raise
    except Exception as error:  # no network, a full disk, or a wrong hash
        raise Unavailable(
            f"'gensim:{reference}' is not in '{_folder()}' and cannot be downloaded ({error}); "
            "download it on a machine with a network connection and copy that folder"
        ) from None
