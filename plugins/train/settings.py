"""The settings of a training, and what it leaves behind. Imports neither torch nor datasets."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from harness.errors import InvalidOption

if TYPE_CHECKING:
    from ..corpora.entries import Kind as Format

Precision: TypeAlias = Literal["float32", "float16", "bfloat16"]
Kind: TypeAlias = Literal["bilstm", "transformer"]

SGD_MINIMUM = 1e-5
"""Learning rate under which the training of a BiLSTM stops (Conneau et al. 2017)."""


@dataclass(frozen=True, kw_only=True)
class TrainSettings:
    """What is trained, on what, and how.

    A value of None is replaced by the default of the kind of model, which `base` decides: word
    vectors give a BiLSTM with max pooling, a text encoder is fine-tuned.

    Parameters
    ----------
    base
        Name of a model, as after `harness eval --model`. Word vectors, such as `glove-6b-50d` or
        `vectors:debiased.bin`: a BiLSTM is trained over them, and they stay frozen. A text encoder,
        such as `all-MiniLM-L6-v2`: it is fine-tuned.
    corpus
        Training pairs: a folder with `train.jsonl`, and maybe `dev.jsonl`, `test.jsonl` and
        `corpus.json`; a file; or `hf://owner/name`.
    out
        Folder of the trained model, which `sentence-transformers:OUT` loads.
    dev, test
        The same for the pairs that choose the best epoch, and for those that are only scored at the
        end. None for the splits of the corpus, if it is a folder or from the hub. A BiLSTM needs a
        dev split.
    format
        Format of files of pairs, as `harness corpus` reads them: `jsonl`, `tsv`, `snli`, `multinli`
        or `stsb`. None: by the file extension.
    hidden
        Units of the LSTM in each direction; vectors have twice as many dimensions. BiLSTM only.
        None for 2,048 (Conneau et al. 2017).
    words
        Only the first so many words of the vocabulary are kept, which are the most frequent ones in
        most files; None for all. BiLSTM only.
    epochs
        At most so many. None for 8 (BiLSTM, Dolci et al. 2023) or 1 (text encoder).
    batch_size
        Pairs in a batch. None for 64 (BiLSTM) or 32 (text encoder).
    lr
        Learning rate of the first epoch. None for .1 (BiLSTM) or 2e-5 (text encoder).
    limit
        Only the first so many training pairs are read; None for all.
    seed
        Seed of the first weights, the order of pairs and dropout.
    device
        `cpu`, `cuda` or `mps`; None for the best one available.
    precision
        `float32`; or `float16` or `bfloat16` for mixed precision: arithmetic in it, weights in
        float32.
    overwrite
        Whether a training that stands in `out` is replaced.
    bias
        Tasks, as after `--tasks`, that the model is measured on before the training, during it and
        at its end, by a `BiasEvaluator`; empty for none.
    bias_steps
        Number of batches from one measurement to the next; None for those of an epoch.
    stop_above, stop_below
        By the name of a metric of the measurement, such as `bias_overall`, the bound beyond which
        the training stops.
    """

    base: str
    corpus: str
    out: Path
    dev: str | None = None
    test: str | None = None
    format: Format | None = None
    hidden: int | None = None
    words: int | None = None
    epochs: int | None = None
    batch_size: int | None = None
    lr: float | None = None
    limit: int | None = None
    seed: int = 0
    device: str | None = None
    precision: Precision = "float32"
    overwrite: bool = False
    bias: str = ""
    bias_steps: int | None = None
    stop_above: Mapping[str, float] = dataclasses.field(default_factory=dict)
    stop_below: Mapping[str, float] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("hidden", "words", "epochs", "batch_size", "limit", "bias_steps"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InvalidOption(f"{name}={value}: expected at least 1")
        if self.lr is not None and not 0 < self.lr < float("inf"):
            raise InvalidOption(f"lr={self.lr}: expected a positive number")
        if not self.bias and (self.bias_steps or self.stop_above or self.stop_below):
            raise InvalidOption("bias is not measured: name its tasks (--bias)")
        if self.seed < 0:
            raise InvalidOption(f"seed={self.seed}: expected at least 0")

    def resolved(self, kind: Kind) -> TrainSettings:
        """Return the settings with the defaults of a kind of model in place of None.

        Raises
        ------
        InvalidOption
            If an option is for BiLSTMs only, and the model is a text encoder.
        """
        if kind == "transformer":
            for name in ("hidden", "words"):
                if getattr(self, name) is not None:
                    raise InvalidOption(
                        f"{name}={getattr(self, name)}: is for a BiLSTM over word vectors; "
                        f"'{self.base}' is a text encoder, which is fine-tuned"
                    )
        defaults: Mapping[str, Any] = {
            # Conneau et al. 2017; the number of epochs: Dolci et al. 2023, section 4.3
            "bilstm": {"hidden": 2048, "epochs": 8, "batch_size": 64, "lr": 0.1},
            "transformer": {"epochs": 1, "batch_size": 32, "lr": 2e-5},
        }[kind]
        missing = {name: v for name, v in defaults.items() if getattr(self, name) is None}
        return dataclasses.replace(self, **missing)


@dataclass(frozen=True, kw_only=True)
class Trained:
    """A trained model.

    Parameters
    ----------
    folder
        Its folder; `sentence-transformers:FOLDER` is its name.
    kind
        `bilstm` or `transformer`.
    scores
        Scores by split, of the best epoch: `{"dev": {"accuracy": .66}, "test": {"accuracy": .65}}`
        for labels; `spearman` and `pearson` of the cosine for graded pairs.
    before
        The same of a text encoder before it was fine-tuned on graded pairs; else empty.
    pairs
        Number of pairs of each split that were used.
    epochs, best_epoch
        Number of epochs done, and the one whose weights are kept, from 1.
    bias
        The measurements of bias: `epoch`, `step`, and the values by the name of a metric.
    stopped
        Why a bound stopped the training; empty if none did.
    seconds
        Seconds of the training, without those before an interruption.
    is_new
        False if the folder held this very model before, so that nothing was done.
    """

    folder: Path
    kind: Kind
    scores: Mapping[str, Mapping[str, float]]
    before: Mapping[str, Mapping[str, float]]
    pairs: Mapping[str, int]
    epochs: int
    best_epoch: int
    seconds: float
    is_new: bool
    bias: tuple[Mapping[str, float | None], ...] = ()
    stopped: str = ""
