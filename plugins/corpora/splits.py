"""The three parts of a corpus: to train, to develop, and to test.

Drawn at random by the seed, as in Dolci et al. (2023), section 4.2.1; or the last two are files of
the user, and all entries are for training.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.digest import file_sha256
from harness.errors import InvalidOption, unreadable
from harness.run.scoring import random_generator

TRAIN, DEV, TEST = PARTS = ("train", "dev", "test")


@dataclass(frozen=True, kw_only=True)
class Splits:
    """How a corpus is split.

    Parameters
    ----------
    holdout
        Size of the parts to develop and to test, each: a number of entries, or a fraction below
        one half. The paper: 10,000.
    dev, test
        Files of these parts; None to draw them.
    seed
        Seed of the order and of the draw.

    Raises
    ------
    InvalidOption
        If the holdout is no such number, or one file is missing.
    InvalidFile
        If a file does not exist.
    """

    holdout: Fraction
    dev: Path | None = None
    test: Path | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if (self.dev is None) != (self.test is None):
            raise InvalidOption("--dev and --test belong together; without them, both are drawn")
        for path in self.files().values():
            if not path.is_file():
                raise unreadable(path)
        whole = self.holdout >= 1 and self.holdout.denominator == 1
        if not (0 < self.holdout < Fraction(1, 2) or whole):
            raise InvalidOption(
                f"--holdout {float(self.holdout):g}: expected a number of entries, 1 or more, or a "
                "fraction below 0.5"
            )

    def files(self) -> Mapping[str, Path]:
        """Return the files of the user, by part."""
        parts = {DEV: self.dev, TEST: self.test}
        return {part: path for part, path in parts.items() if path is not None}

    def draw(self, n: int, name: str) -> Mapping[str, npt.NDArray[np.int64]]:
        """Return the places of the entries of each part that is drawn, in random order.

        Parameters
        ----------
        n
            Number of entries.
        name
            Name of the corpus, for the message.

        Raises
        ------
        InvalidOption
            If nothing would be left to train.
        """
        order = random_generator(self.seed, "corpus", "order").permutation(n)
        if self.files():
            return {TRAIN: order}
        held = int(self.holdout) if self.holdout >= 1 else round(n * self.holdout)
        if not 0 < held < n / 2:
            raise InvalidOption(
                f"--holdout {float(self.holdout):g}: {name} has {n:,} entries, too few for "
                "two parts of that size and one to train; set a fraction such as 0.1, or --dev "
                "and --test"
            )
        return {TRAIN: order[2 * held :], DEV: order[:held], TEST: order[held : 2 * held]}

    def about(self) -> dict[str, Any]:
        """Return what determines the parts; files by name and content."""
        if not self.files():
            return {"holdout": float(self.holdout), "seed": self.seed}
        return {"seed": self.seed} | {
            part: {"name": path.name, "sha256": file_sha256(path)}
            for part, path in self.files().items()
        }
