"""The vectors of a model as the store has them, without the model; itself an embedder.

It is what other processes get of a model. What needs the model itself is for the main process.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from harness import folders
from harness.arrays import Vectors
from harness.embedder import ModelInfo, Role
from harness.encode import roles
from harness.encode.mapped_vocabulary import MappedVocabulary
from harness.errors import HarnessError
from harness.shared import OnlyInMain
from harness.store.store import Store
from harness.vocabulary import Vocabulary


class StoredVectors:
    """The vectors of a model in its store.

    Parameters
    ----------
    info
        Facts about the model.
    store
        Where its vectors are.
    failed
        Keys of texts that could not be encoded.
    words
        Its vocabulary; None if it has none, or if that cannot be sent.

    Attributes
    ----------
    asked_for_model
        Whether something was asked for that needs the model, and OnlyInMain was raised.
    """

    def __init__(
        self,
        info: ModelInfo,
        store: Store,
        *,
        failed: Iterable[str] = (),
        words: MappedVocabulary | None = None,
    ) -> None:
        self._info, self.store = info, store
        self.failed = set(failed)
        self.words = words
        self.asked_for_model = False
        self._role: Role = roles.PLAIN

    def __getstate__(self) -> dict[str, Any]:
        """Return what is sent: where the store is, and not what is open of it."""
        knows = None if self.info.kind == "word" else dict(self.store.nan_is_right)
        folder = folders.absolute(self.store.folder.parent)
        return self.__dict__ | {"store": (folder, self.store.fingerprint, knows)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Open the store anew."""
        folder, fingerprint, knows = state["store"]
        without_vector = None if knows is None else functools.partial(_known, knows)
        store = Store(folder, fingerprint, without_vector=without_vector)
        self.__dict__.update(state, store=store)

    @property
    def info(self) -> ModelInfo:
        """Facts about the model."""
        return self._info

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The model's vocabulary, always the same object.

        Raises
        ------
        OnlyInMain
            If it was not sent.
        """
        if self.words is None:
            raise self._only_in_main("the vocabulary was not sent")
        try:
            return self.words.open()
        except OSError as error:  # on another machine
            raise self._only_in_main(str(error)) from None

    @contextlib.contextmanager
    def reading(self, role: Role) -> Iterator[None]:
        """Take all texts that are asked for in this context as texts of a role.

        That holds for what a mitigator encodes to change these texts, too.
        """
        before, self._role = self._role, role
        try:
            yield
        finally:
            self._role = before

    def ensure(self, keys: Sequence[str]) -> None:
        """Check that the store has the texts of those `keys` that have not failed.

        Raises
        ------
        OnlyInMain
            If it has not.
        """
        missing = self.store.missing(keys)
        if not self.failed.issuperset(missing):
            self.store.refresh()  # another process may have encoded them meanwhile
            missing = self.store.missing(keys)
        if not self.failed.issuperset(missing):
            raise self._only_in_main(f"{len(missing)} texts are not in the store")

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the (n, d) vectors of `texts`.

        Raises
        ------
        HarnessError
            If some of them cannot be encoded.
        """
        keys = roles.keys(texts, self._role, self.info.readings)
        for _ in range(2):  # reading may find damaged vectors, which are then encoded again
            self.ensure(keys)
            with contextlib.suppress(KeyError):
                return self.store.get(keys)
        failed = [roles.text_of(key) for key in self.store.missing(keys)]
        raise HarnessError(
            f"{len(failed)} of its texts could not be encoded; the first is {failed[0][:60]!r}"
        )

    def _only_in_main(self, reason: str) -> OnlyInMain:
        self.asked_for_model = True
        return OnlyInMain(reason)


def _known(answers: Mapping[str, bool], texts: Sequence[str]) -> list[bool]:
    """Return whether the model has no vector for each text, as the main process knows it."""
    if not answers.keys() >= set(texts):
        raise OnlyInMain("only the model knows whether it has no vector for a text")
    return [answers[text] for text in texts]
