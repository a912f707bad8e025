"""Whitening (Su et al. 2021): vectors that are spread alike in all directions.

Not about any concept: encoders crowd texts into a narrow cone, which makes all cosines high and
may hide or feign an association. What remains of a bias after it was not due to that.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np

from harness.arrays import Floats, Reals, Vectors, has_direction, unit_rows
from harness.concept import Concept
from harness.digest import digest
from harness.embedder import Embedder
from harness.errors import InvalidOption, NotApplicable
from harness.mitigator import Mitigator
from harness.plugins.mitigators.sentences.neutral_sentences import neutral_sentences
from harness.vocabulary import vocabulary_of

RANK = 1e-10  # variances below this share of the largest are rounded zeros


class Whitening(Mitigator):
    """Centre vectors and rescale them, so that over a sample all directions vary alike.

    x̃ = (x − μ) U Λ^(−½) Uᵀ with μ the sample's mean and U Λ Uᵀ its covariance. Su et al. leave the
    last Uᵀ out, which turns the space as a whole and changes no cosine. With `k` only the k
    directions of largest variance are kept, and the rest becomes 0.

    **The sample.** Of a word embedder it is the head of its vocabulary. A text encoder has none:
    the sample is 640 plain sentences of the harness's own, or a file of yours. That is few for
    hundreds of dimensions, of which many hardly vary in them; divided by such variances, a text of
    another sort flies apart. Therefore the covariance is shrunk towards a multiple of the identity,
    by default with the weight of Ledoit and Wolf. An encoder that was trained to spread its vectors
    has nothing to gain: all-MiniLM-L6-v2 loses .03 of .82 on STS-B. Su et al. fit on the texts that
    are then judged, which a mitigator here never does.

    Parameters
    ----------
    k
        Directions to keep; by default all.
    shrinkage
        Weight in [0, 1] of a multiple of the identity in the covariance: at 1 vectors are centred
        and nothing else. By default that of Ledoit and Wolf.
    texts
        Path of a text file, one text a line, to fit text encoders on.
    vocabulary_size
        Most frequent words to fit word embedders on.
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

    References
    ----------
    Su, Cao, Liu and Ou (2021), Whitening sentence representations for better semantics and faster
    retrieval.
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
        """The hash of the file of texts, if one is given."""
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
            If a number is out of its range, or `texts` cannot be read.
        NotApplicable
            If the sample varies in fewer directions than are to be kept.
        """
        from sklearn.covariance import ledoit_wolf_shrinkage

        self._check_options()
        if embedder.info.kind == "word":
            found = vocabulary_of(embedder).head(self.vocabulary_size)[1]
        else:
            found = embedder.encode(self.fitting_texts(concept))
        x = self._prepared(found)
        x = x[has_direction(x)]
        n, d = x.shape
        k = d if self.k is None else self.k
        self.mean_ = x.mean(axis=0) if n else np.zeros(d)
        centred = x - self.mean_
        if n < 2 or not centred.any() or k > d:
            raise NotApplicable(
                f"whitening: '{embedder.info.name}' gives {n} vectors of {d} dimensions to fit on, "
                f"from which {k} directions cannot be had"
            )
        self.shrinkage_ = (
            float(ledoit_wolf_shrinkage(centred, assume_centered=True))
            if self.shrinkage is None
            else float(self.shrinkage)
        )
        covariance = centred.T @ centred / n
        spread = np.trace(covariance) / d
        values, axes = np.linalg.eigh((1 - self.shrinkage_) * covariance)
        values, axes = (values + self.shrinkage_ * spread)[::-1][:k], axes[:, ::-1][:, :k]
        if values[-1] <= RANK * values[0]:
            most = int((values > RANK * values[0]).sum())
            raise NotApplicable(
                f"whitening: the {n} texts that it is fitted on vary in {most} directions in "
                f"'{embedder.info.name}': set k={most} or less, or some shrinkage"
            )
        self.matrix_ = (axes / np.sqrt(values)) @ axes.T
        return self

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return (n, d) vectors x̃, at length 1 if `normalize`."""
        white = (self._prepared(vectors) - self.mean_) @ self.matrix_
        return (unit_rows(white) if self.normalize else white).astype(np.float32)

    def _prepared(self, vectors: Reals) -> Floats:
        return unit_rows(vectors) if self.normalize else np.asarray(vectors, dtype=np.float64)

    def _check_options(self) -> None:
        if self.k is not None and self.k < 1:
            raise InvalidOption(f"whitening: k={self.k}: 1 direction or more are needed")
        if self.shrinkage is not None and not 0 <= self.shrinkage <= 1:
            raise InvalidOption(f"whitening: shrinkage={self.shrinkage}: it lies in [0, 1]")
        if self.vocabulary_size < 2:
            raise InvalidOption(f"whitening: vocabulary_size={self.vocabulary_size}: 2 or more")


def _lines(path: str) -> list[str]:
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise InvalidOption(f"whitening: texts={path}: cannot be read ({error})") from None
    return list(dict.fromkeys(line.strip() for line in lines if line.strip()))
