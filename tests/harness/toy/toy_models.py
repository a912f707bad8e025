"""Tiny models; `ENCODED` lists the texts that they encoded."""

from string import ascii_lowercase

import numpy as np

from harness import Card, ModelInfo

ENCODED = []
VOCABULARY = ["village", "farm", "barn", "city", "street", "tower", "calm", "loud"]


class Letters:
    """Counts letters.

    Parameters
    ----------
    scale
        Factor of the counts.
    """

    def __init__(self, scale: float = 1.0, card: Card | None = None):
        self.scale = scale

    @property
    def info(self):
        return ModelInfo(
            name="toy-letters", kind="text", dimensions=26, fingerprint=f"letters {self.scale}"
        )

    def encode(self, texts):
        ENCODED.extend(texts)
        counts = [[text.lower().count(letter) for letter in ascii_lowercase] for text in texts]
        return self.scale * np.asarray(counts, dtype=np.float32).reshape(len(texts), 26)


class Words:
    """Knows eight words."""

    info = ModelInfo(name="toy-words", kind="word", dimensions=8, fingerprint="words 1")

    def encode(self, texts):
        ENCODED.extend(texts)
        table = dict(zip(VOCABULARY, np.eye(8, dtype=np.float32) + 0.1, strict=True))
        missing = np.full(8, np.nan, dtype=np.float32)
        return np.stack([table.get(text, missing) for text in texts])


class Reference(Letters):
    """Counts letters and multiplies by the reference."""

    def __init__(self, reference: str, *, name: str = ""):
        super().__init__(float(reference))
        self.name = name

    @property
    def info(self):
        return ModelInfo(
            name=self.name, kind="text", dimensions=26, fingerprint=f"letters {self.scale}"
        )
