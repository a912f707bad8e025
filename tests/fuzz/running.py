"""Runs a kind: the inputs of its corpus, then mutations of them."""

from __future__ import annotations

import hashlib
import os
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .judging import finding
from .kinds import Kind
from .mutating import Mutator

CORPUS = Path(__file__).parent / "corpus"


@dataclass(frozen=True)
class Finding:
    """An input that was not taken as it should be."""

    kind: str
    content: bytes
    problem: str

    @property
    def place(self) -> str:
        """The problem without what differs from input to input."""
        return re.sub(r": .*", "", self.problem, flags=re.DOTALL)

    def keep(self) -> Path:
        """Write the input into the corpus and return its path."""
        name = hashlib.sha256(self.content).hexdigest()[:12]
        path = CORPUS / self.kind / f"found-{name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.content)
        return path


class Sandbox:
    """A folder with what inputs may name, and beside it one that they may not."""

    def __init__(self, folder: Path) -> None:
        folder = folder.resolve()
        self.folder, self.outside = folder / "inside", folder / "outside"
        for place in (self.folder, self.outside):
            place.mkdir()
        (self.outside / "secret.yaml").write_text("sets: {secret: [word]}\n")
        (self.outside / "secret.tsv").write_text("text\tlabel\nsecret\t1\n")
        (self.folder / "a.tsv").write_text("text\tlabel\nnurse\t1\ndoctor\t0\n")
        (self.folder / "a.jsonl").write_text('{"text": "nurse", "label": 1}\n')
        (self.folder / "a.yaml").write_text("sets: {one: [word]}\n")
        for name in ("yaml", "tsv"):
            (self.folder / f"link.{name}").symlink_to(self.outside / f"secret.{name}")
        os.mkfifo(self.folder / "pipe.yaml")
        self._n = 0

    def judged(self, kind: Kind, content: bytes) -> str | None:
        """Return what is wrong with how an input is read; None if nothing is."""
        self._n += 1
        path = self.folder / f"input-{self._n}{kind.suffix}"  # no cache takes it for another
        path.write_bytes(content)
        try:
            return finding(kind.read, path, None if kind.is_own_word else self.outside)
        finally:
            path.unlink(missing_ok=True)


def seeds(kind: Kind) -> list[bytes]:
    """Return the inputs of a kind in the corpus, and those that it makes itself."""
    paths = sorted((CORPUS / kind.name).glob("*"))
    return [*(path.read_bytes() for path in paths), *kind.seeds()]


def findings(kind: Kind, folder: Path, inputs: int, seed: int = 0) -> Iterator[Finding]:
    """Yield what is found with so many inputs, the corpus first.

    Parameters
    ----------
    kind
        What to read.
    folder
        An empty folder.
    inputs
        The number of inputs.
    seed
        Seed of the mutations.
    """
    sandbox, known = Sandbox(folder), seeds(kind)
    mutator = Mutator(known, random.Random(f"{kind.name} {seed}"))
    for i in range(inputs):
        content = known[i] if i < len(known) else mutator.next()
        problem = sandbox.judged(kind, content)
        if problem is not None:
            yield Finding(kind.name, content, problem)
