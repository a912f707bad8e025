"""Whitening (Su et al. 2021): vectors that vary equally in all directions.

It is not about any concept. Encoders place texts in a narrow cone, which makes all cosines high and
can hide or imitate an association. Bias that remains after whitening is not due to that.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np

from harness import folders, limits
from harness.arrays import Floats, Reals, Vectors, has_direction, unit_rows
from harness.concept import Concept
from harness.digest import digest
from harness.embedder import Embedder, vocabulary_of
from harness.errors import InvalidFile, InvalidOption, NotApplicable
from harness.mitigator import Affine, Map, Mitigator, Step

from .fitting.sentences import neutral_sentences

RANK = 1e-10  # share of the largest variance that is rounding error


class Whitening(Mitigator):
    """Centre and rescale vectors so that they vary equally in all directions over a sample.

    Removes the mean and the differences in variance between directions; keeps no length, and with
    `k` only some directions. x̃ = (x − μ) U Λ^(−½) Uᵀ, with μ the mean of the sample and U Λ Uᵀ its
    covariance. Su et al. omit the last Uᵀ, which is a rotation and changes no cosine. With `k`, the
    k directions of largest variance are kept, and the others become 0.

    **The sample.** For a word embedder, it is the most frequent words. A text encoder has no
    vocabulary: the sample is 640 plain sentences of our own, or a file of the user. That is little
    for hundreds of dimensions, many of which hardly vary in it; division by such variances would
    move other texts far away. Therefore the covariance is shrunk towards a multiple of the
    identity, by default with the weight of Ledoit and Wolf. An encoder that was trained to spread
    its vectors gains nothing: all-MiniLM-L6-v2 loses .03 of .82 on STS-B. Su et al. fit on the
    texts of the evaluation; mitigators of the harness never do that.

    It needs no concept.

    Parameters
    ----------
    k
        Number of directions to keep, at least 1; by default all.
    shrinkage
        Weight in [0, 1] of a multiple of the identity in the covariance; 1 only centres. By default
        that of Ledoit and Wolf.
    texts
        Path of a text file, one text per line, for text encoders.
    vocabulary_size
        Number of most frequent words, at least 2, for word embedders.
    normalize
        Whether to set all vectors to length 1 first and again at the end.

    Attributes
    ----------
    mean_
        (d,) μ.
    matrix_
        (d, d) U Λ^(−½) Uᵀ.
    shrinkage_
        Weight that was used.

    Raises
    ------
    InvalidOption, NotApplicable
        See `fit`.

    References
    ----------
    Su, Cao, Liu and Ou (2021), Whitening sentence representations for better semantics and faster
    retrieval, algorithm 1.
    Ledoit and Wolf (2004), A well-conditioned estimator for large-dimensional covariance matrices.
    """

    def __init__(
        self,
        k: int | None = None,
        shrinkage: float | None = None,
        texts: str = "",
        vocabulary_size: int = 50_000,
        normalize: bool = True,
    ) -> None:
        self.k = k
        self.shrinkage = shrinkage
        self.texts = texts
        self.vocabulary_size = vocabulary_size
        self.normalize = normalize

    @property
    def depends_on(self) -> str | None:
        """The hash of the file of texts, if there is one."""
        return digest(_lines(self.texts)) if self.texts else None

    def fitting_texts(self, concept: Concept | None) -> list[str]:
        """Return the sentences of the sample; a word embedder is fitted on its vocabulary instead.

        Raises
        ------
        InvalidOption
            If `texts` cannot be read.
        """
        return _lines(self.texts) if self.texts else neutral_sentences()

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Find μ and U Λ^(−½) Uᵀ; return self.

        Raises
        ------
        InvalidOption
            If an option is out of its range, or `texts` cannot be read.
        NotApplicable
            If the sample varies in fewer directions than `k`.
        """
        self.check_options()
        x = self._sample(embedder, concept)
        n, d = x.shape
        k = d if self.k is None else self.k
        self.mean_ = x.mean(axis=0) if n else np.zeros(d)
        centred = x - self.mean_
        if n < 2 or not centred.any() or k > d:
            raise NotApplicable(
                f"whitening: k={k} directions cannot be fitted on {n} vectors of {d} dimensions "
                f"from '{embedder.info.name}'"
            )
        self.shrinkage_ = _ledoit_wolf(centred) if self.shrinkage is None else float(self.shrinkage)
        covariance = centred.T @ centred / n
        spread = np.trace(covariance) / d
        lambda_, u = np.linalg.eigh((1 - self.shrinkage_) * covariance)
        lambda_, u = (lambda_ + self.shrinkage_ * spread)[::-1][:k], u[:, ::-1][:, :k]
        if lambda_[-1] <= RANK * lambda_[0]:
            rank = int((lambda_ > RANK * lambda_[0]).sum())
            raise NotApplicable(
                f"whitening: the {n} texts of the sample vary in only {rank} directions in "
                f"'{embedder.info.name}'; set k={rank} or less, or a higher shrinkage"
            )
        self.matrix_ = (u / np.sqrt(lambda_)) @ u.T
        return self

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return (n, d) vectors x̃, at length 1 if `normalize`."""
        white = (self._prepared(vectors) - self.mean_) @ self.matrix_
        return (unit_rows(white) if self.normalize else white).astype(np.float32)

    def as_map(self) -> Map:
        """Return x̃ as a map."""
        unit: tuple[Step, ...] = ("unit",) if self.normalize else ()
        return Map((*unit, Affine(self.matrix_.T, -self.mean_ @ self.matrix_), *unit))

    def _sample(self, embedder: Embedder, concept: Concept | None) -> Floats:
        """Return the (n, d) vectors to fit on."""
        if embedder.info.kind == "word":
            vectors = vocabulary_of(embedder).head(self.vocabulary_size)[1]
        else:
            vectors = embedder.encode(self.fitting_texts(concept))
        x = self._prepared(vectors)
        return x[has_direction(x)]

    def _prepared(self, vectors: Reals) -> Floats:
        return unit_rows(vectors) if self.normalize else np.asarray(vectors, dtype=np.float64)

    def check_options(self) -> None:
        """Raise InvalidOption if an option is out of its range."""
        if self.k is not None and self.k < 1:
            raise InvalidOption(f"whitening: k={self.k}; expected 1 or more")
        if self.shrinkage is not None and not 0 <= self.shrinkage <= 1:
            raise InvalidOption(f"whitening: shrinkage={self.shrinkage}; expected 0 to 1")
        if self.vocabulary_size < 2:
            raise InvalidOption(
                f"whitening: vocabulary_size={self.vocabulary_size}; expected 2 or more"
            )


def _ledoit_wolf(centred: Floats) -> float:
    from sklearn.covariance import ledoit_wolf_shrinkage

    return float(ledoit_wolf_shrinkage(centred, assume_centered=True))


def _lines(path: str) -> list[str]:
    try:
        lines = folders.read_text(Path(path), limits.TABLE_BYTES).splitlines()
    except InvalidFile as error:
        raise InvalidOption(f"whitening: texts={path}: cannot be read ({error.problem})") from None
    return list(dict.fromkeys(line.strip() for line in lines if line.strip()))
