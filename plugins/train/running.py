"""Runs a training: the model, the library's trainer, and the scores at the end.

A checkpoint has the weights that are trained, with the classifier, and no others: word vectors are
large and frozen. Batches have pairs of similar length. The order of pairs depends on the seed and
the epoch alone, so that a continued training sees what an undisturbed one would see.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import math
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import datasets
import numpy as np
import torch
import transformers
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.base.evaluation import BaseEvaluator
from sentence_transformers.base.sampler import DefaultBatchSampler
from sentence_transformers.sentence_transformer import losses
from sentence_transformers.sentence_transformer.data_collator import SentenceTransformerDataCollator
from transformers import PrinterCallback, TrainerCallback

from harness.embedder import Embedder
from harness.errors import ModelError, NotApplicable
from harness.progress import Advance, Progress

from . import bilstm, training_folder
from .bias_evaluator import USEFULNESS, BiasEvaluator, BoundStoppingCallback
from .pairs import Corpus, Split
from .settings import SGD_MINIMUM, Kind, TrainSettings

if TYPE_CHECKING:
    from harness.registry.registry import Registry

WARM_UP = 0.1  # Reimers and Gurevych 2019, section 3.1
HEAD_RATE = 500.0
"""Learning rate of the new classifier over that of the text encoder below it."""
MAX_NORM = {"bilstm": 5.0, "transformer": 1.0}
"""Largest norm of a gradient: InferSent's code, and the usual one of transformers."""


@dataclass(frozen=True)
class Outcome:
    """A trained model with the facts of its training.

    Parameters
    ----------
    model
        The `SentenceTransformer`, with the weights of the best epoch.
    head
        The classifier; None for graded pairs.
    names
        The labels; empty for graded pairs.
    facts
        What `training.json` says of it.
    """

    model: Any
    head: Any | None
    names: tuple[str, ...]
    facts: dict[str, Any]

    def save(self, out: Path) -> None:
        """Save the model and the classifier."""
        with quiet():
            self.model.save_pretrained(str(out), create_model_card=False)
        if self.head is not None:
            weights = {
                key: w.detach().cpu().contiguous() for key, w in self.head.named_parameters()
            }
            # One entry only: the library writes several in random order.
            save_file(
                weights, out / training_folder.HEAD, metadata={"labels": json.dumps(self.names)}
            )
        for file in out.rglob("*.safetensors"):
            file.chmod(0o644)  # the library makes them readable by their owner only


def run(
    settings: TrainSettings,
    kind: Kind,
    base: Embedder,
    corpus: Corpus,
    out: Path,
    progress: Progress,
    bias: Bias | None = None,
) -> Outcome:
    """Train a model, from the last checkpoint if there is one.

    Raises
    ------
    NotApplicable
        If the word vectors lack most words of the corpus.
    ModelError
        If the memory is too small for a batch, or the loss is no number.
    """
    try:
        with quiet():
            return _run(settings, kind, base, corpus, out, progress, bias)
    except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
        if not isinstance(error, torch.OutOfMemoryError | MemoryError) and (
            "out of memory" not in str(error) and "can't allocate memory" not in str(error)
        ):
            raise
        size = f", hidden {settings.hidden}" if settings.hidden else ""
        raise ModelError(
            f"out of memory with batch size {settings.batch_size}{size}: choose a smaller "
            "--batch-size, and --overwrite"
        ) from error


def _run(
    settings: TrainSettings,
    kind: Kind,
    base: Embedder,
    corpus: Corpus,
    out: Path,
    progress: Progress,
    bias: Bias | None = None,
) -> Outcome:
    transformers.set_seed(settings.seed)
    facts: dict[str, Any] = {}
    if kind == "bilstm":
        vocabulary = bilstm.words_of(base, settings.words)
        texts = corpus.train.firsts + corpus.train.seconds
        facts["coverage"] = bilstm.check_coverage(vocabulary, texts, base.info.name)
        model = bilstm.model(vocabulary, settings.hidden or 0)
    else:
        model = _encoder(base)
    splits = corpus.splits
    tokens = Tokens(model, [t for s in splits.values() for t in s.firsts + s.seconds])
    known = {name: _known(split, tokens) for name, split in splits.items()}
    facts["pairs"] = {name: len(split) for name, split in known.items()}
    facts["without_words"] = {name: len(s) - len(known[name]) for name, s in splits.items()}
    loss, head = _loss(model, corpus.names)
    scorers = {
        name: Scorer(split, tokens, None if head is None else loss)
        for name, split in known.items()
        if name != "train"
    }
    if kind == "transformer" and head is None:
        facts["before"] = {name: scorer(model) for name, scorer in scorers.items()}
    trainer = _trainer(settings, kind, model, loss, head, known["train"], tokens, scorers, out)
    if kind == "bilstm":
        bilstm.speed_up(model[1])
    report = Report(progress, scorers["dev"].metric if "dev" in scorers else "")
    trainer.add_callback(report)
    measured = None
    if bias is not None:
        measured = BiasDuringTraining(bias, settings, progress)
        trainer.add_callback(measured)
    _train(trainer, report, out)
    facts["scores"] = {name: scorer(model) for name, scorer in scorers.items()}
    if kind == "bilstm":
        del model[1].forward
    facts |= _history(trainer.state)
    if measured is not None:
        facts |= measured.facts(trainer.state)
    return Outcome(model, head, corpus.names, facts)


def _encoder(base: Embedder) -> Any:
    """Return the `SentenceTransformer` of a text encoder, if it can be trained."""
    model: Any = base.model  # type: ignore[attr-defined]  # its class was checked
    first = type(model[0]).__name__
    if first not in ("Transformer", "WordEmbeddings"):
        raise NotApplicable(
            f"'{base.info.name}' begins with {first}: only transformers, and encoders of word "
            "vectors, can be trained"
        )
    return model


def _known(split: Split, tokens: Tokens) -> Split:
    """Return the pairs of a split whose sentences both have a token."""
    columns = zip(split.firsts, split.seconds, split.labels, strict=True)
    kept = [pair for pair in columns if tokens.length(pair[0]) and tokens.length(pair[1])]
    firsts, seconds, labels = zip(*kept, strict=True) if kept else ((), (), ())
    if not kept:
        raise NotApplicable(f"{split.source}: no pair has words with vectors in both sentences")
    return dataclasses.replace(split, firsts=firsts, seconds=seconds, labels=labels)


def _loss(model: Any, names: tuple[str, ...]) -> tuple[Any, Any | None]:
    """Return the loss, and the classifier in it; None for graded pairs."""
    if not names:
        return losses.CosineSimilarityLoss(model), None
    loss = losses.SoftmaxLoss(
        model,
        model.get_embedding_dimension(),
        num_labels=len(names),
        concatenation_sent_multiplication=True,
    )
    return loss, loss.classifier


def _trainer(
    settings: TrainSettings,
    kind: Kind,
    model: Any,
    loss: Any,
    head: Any | None,
    train: Split,
    tokens: Tokens,
    scorers: dict[str, Scorer],
    out: Path,
) -> PairTrainer:
    scorer = scorers.get("dev")
    labels = [int(label) for label in train.labels] if head is not None else list(train.labels)
    trainer = PairTrainer(
        head=head,
        lengths=[
            (tokens.length(first), tokens.length(second))
            for first, second in zip(train.firsts, train.seconds, strict=True)
        ],
        model=model,
        args=_arguments(settings, kind, head, scorer, out),
        train_dataset=datasets.Dataset.from_dict(
            {"sentence1": train.firsts, "sentence2": train.seconds, "label": labels}
        ),
        loss=loss,
        evaluator=scorer,
        data_collator=SentenceTransformerDataCollator(preprocess_fn=tokens),
    )
    trainer.add_callback(Checkpoints())
    if kind == "bilstm" and scorer is not None:
        trainer.add_callback(InferSentSchedule(scorer.metric))
    if head is not None:
        trainer.add_callback(SharedHead(head))
    return trainer


def _arguments(
    settings: TrainSettings, kind: Kind, head: Any | None, scorer: Scorer | None, out: Path
) -> SentenceTransformerTrainingArguments:
    lr = settings.lr or 0.0
    options: dict[str, Any] = {"optim": "sgd", "lr_scheduler_type": "constant"}
    if kind == "transformer":
        options = {"optim": "adamw_torch", "warmup_steps": WARM_UP}
        if head is not None:
            options["learning_rate_mapping"] = {"^classifier": lr * HEAD_RATE}
    if scorer is not None:
        options |= {
            "eval_strategy": "epoch",
            "metric_for_best_model": scorer.metric,
            "greater_is_better": True,
            "load_best_model_at_end": True,
        }
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(out / training_folder.CHECKPOINTS),
        num_train_epochs=settings.epochs or 1,
        per_device_train_batch_size=settings.batch_size or 1,
        learning_rate=lr,
        max_grad_norm=MAX_NORM[kind],
        seed=settings.seed,
        use_cpu=settings.device == "cpu",
        bf16=settings.precision == "bfloat16",
        fp16=settings.precision == "float16",
        save_strategy="epoch",
        save_total_limit=2,
        logging_strategy="epoch",
        logging_nan_inf_filter=False,
        disable_tqdm=True,
        report_to="none",
        ddp_find_unused_parameters=False,
        dataloader_pin_memory=torch.cuda.is_available() and settings.device != "cpu",
        **options,
    )
    if arguments.n_gpu > 1:  # several GPUs are for several processes; threads are slower
        arguments._n_gpu = 1
    return arguments


def _train(trainer: PairTrainer, report: Report, out: Path) -> None:
    """Train from the last checkpoint, or load the best one if the training was at its end."""
    checkpoint = training_folder.last_checkpoint(out)
    state = training_folder.checkpoint_state(checkpoint) if checkpoint else None
    if state and state["stateful_callbacks"]["TrainerControl"]["args"]["should_training_stop"]:
        trainer.args.max_steps = state["global_step"]  # it was at its end when it stopped
    batches = len(trainer.get_train_dataloader()) * int(trainer.args.num_train_epochs)
    with report.stage(batches, state["global_step"] if state else 0):
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)


def _history(state: Any) -> dict[str, Any]:
    """Return the epochs of a training, and the number of the best one."""
    epochs: dict[int, dict[str, Any]] = {}
    for entry in state.log_history:
        number = _epoch(entry["epoch"])
        facts = epochs.setdefault(number, {"epoch": number})
        facts |= {key: entry[key] for key in ("loss", "learning_rate") if key in entry}
        facts |= {
            f"dev_{key.removeprefix('eval_')}": value
            for key, value in entry.items()
            if key in ("eval_accuracy", "eval_spearman", "eval_pearson")
        }
    done = [facts for facts in epochs.values() if "loss" in facts]
    best = max(done, key=lambda f: f.get("dev_accuracy", f.get("dev_spearman", f["epoch"])))
    return {"epochs": done, "best_epoch": best["epoch"]}


def _epoch(done: float) -> int:
    """Return the number of an epoch; one that a bound stopped counts as a whole."""
    return math.ceil(done - 1e-6)


CHECKPOINT_STEPS = 500
"""Batches between checkpoints, besides those at the end of an epoch."""
DECAY, SHRINK = 0.99, 5.0  # Conneau et al. 2017, section 3.3
_WEIGHTS = "trained.safetensors"


class PairTrainer(SentenceTransformerTrainer):
    """A trainer on pairs of sentences.

    Parameters
    ----------
    head
        The classifier on top of the two vectors of a pair; None for graded pairs.
    lengths
        Lengths of both sentences of each training pair.
    options
        The library's options.
    """

    def __init__(
        self, *, head: Any | None, lengths: Sequence[tuple[int, int]], **options: Any
    ) -> None:
        super().__init__(**options)
        self._head, self._lengths = head, lengths
        self.remove_callback(PrinterCallback)

    def add_model_card_callback(self, default_args_dict: dict[str, Any]) -> None:
        """Do nothing: the harness writes its own card."""

    # The library's signature has its arguments one by one, and none of them is needed here.
    def get_batch_sampler(self, dataset: Any, **options: Any) -> Any:  # type: ignore[override]
        """Return batches of pairs of similar length."""
        return SimilarLengths(dataset, lengths=self._lengths, **options)

    def trained(self) -> dict[str, Any]:
        """Return the weights that are trained by name."""
        modules = {"model": self.model, "head": self._head}
        return {
            f"{name}.{key}": weight
            for name, module in modules.items()
            if module is not None
            for key, weight in module.named_parameters()
            if weight.requires_grad
        }

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        folder = Path(output_dir or self.args.output_dir or ".")
        folder.mkdir(parents=True, exist_ok=True)
        weights = {key: w.detach().cpu().contiguous() for key, w in self.trained().items()}
        save_file(weights, folder / _WEIGHTS)

    def _load_from_checkpoint(self, checkpoint_path: str, model: Any = None) -> None:
        stored = load_file(Path(checkpoint_path) / _WEIGHTS)
        with torch.no_grad():
            for key, weight in self.trained().items():
                weight.copy_(stored[key])


class InferSentSchedule(TrainerCallback):
    """The learning rate of InferSent: × .99 each epoch, / 5 after one without a better dev score.

    The paper that this reproduces calls the first a weight decay; it is none. Training stops if the
    rate is under 1e-5. The optimizer and the scheduler hold the rate, and checkpoints keep both.

    Parameters
    ----------
    metric
        Name of the dev score.
    """

    def __init__(self, metric: str) -> None:
        self._metric = metric

    def on_evaluate(self, args: Any, state: Any, control: Any, **objects: Any) -> None:
        """Set the rate of the next epoch; `state.best_metric` is that of the epochs before."""
        scheduler, optimizer = objects["lr_scheduler"], objects["optimizer"]
        rate = scheduler.base_lrs[0]
        score = objects["metrics"][f"eval_{self._metric}"]
        if state.best_metric is not None and score <= state.best_metric:
            rate /= SHRINK
        if rate < SGD_MINIMUM:
            control.should_training_stop = True
        scheduler.base_lrs = [rate * DECAY] * len(scheduler.base_lrs)
        for group in optimizer.param_groups:
            group["lr"] = rate * DECAY


class Checkpoints(TrainerCallback):
    """Asks for a checkpoint every `CHECKPOINT_STEPS` batches."""

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Ask for a checkpoint if it is time; the end of an epoch has one after its evaluation."""
        steps_of_epoch = state.max_steps // int(state.num_train_epochs)
        if state.global_step % CHECKPOINT_STEPS == 0 and state.global_step % steps_of_epoch:
            control.should_save = True


class SharedHead(TrainerCallback):
    """Averages the gradients of the classifier over processes, which the library leaves out."""

    def __init__(self, head: Any) -> None:
        self._head = head

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Average the gradients; does nothing in a single process."""
        distributed = torch.distributed
        if distributed.is_available() and distributed.is_initialized():
            for weight in self._head.parameters():
                distributed.all_reduce(weight.grad)
                weight.grad /= distributed.get_world_size()


class Report(TrainerCallback):
    """Shows the progress of a training, and one line for each epoch.

    Parameters
    ----------
    progress
        Where it is shown.
    metric
        Name of the dev score; empty if there is no dev split.
    """

    def __init__(self, progress: Progress, metric: str) -> None:
        self._progress, self._metric = progress, metric
        self._advance: Advance | None = None
        self._loss = self._rate = math.nan

    @contextlib.contextmanager
    def stage(self, batches: int, done: int) -> Iterator[None]:
        """Show the batches of a training, some of which may be done."""
        label = f"training, going on at batch {done}" if done else "training"
        with self._progress.stage(label, batches - done, "batches") as self._advance:
            yield

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Count a batch."""
        if self._advance is not None:
            self._advance(1)

    def on_log(self, args: Any, state: Any, control: Any, **objects: Any) -> None:
        """Keep the mean loss of the epoch.

        Raises
        ------
        ModelError
            If it is not a number.
        """
        self._loss = objects["logs"].get("loss", self._loss)
        if "loss" in objects["logs"] and not math.isfinite(self._loss):
            raise ModelError(
                f"the loss is {self._loss} in epoch {_epoch(state.epoch)}: choose a smaller "
                "learning rate, or precision float32"
            )

    def on_epoch_end(self, args: Any, state: Any, control: Any, **objects: Any) -> None:
        """Keep the learning rate of the epoch."""
        self._rate = objects["lr_scheduler"].get_last_lr()[0]

    def on_evaluate(self, args: Any, state: Any, control: Any, **objects: Any) -> None:
        """Print the line of an epoch."""
        score = objects["metrics"][f"eval_{self._metric}"]
        self._progress.say(
            f"epoch {_epoch(state.epoch)}/{int(state.num_train_epochs)}: loss {self._loss:.4f}, "
            f"dev {self._metric} {score:.4f}, learning rate {self._rate:.2g}"
        )


Bias: TypeAlias = tuple[BiasEvaluator, BoundStoppingCallback | None]


def bias_of(settings: TrainSettings, registry: Registry) -> Bias | None:
    """Return what measures bias during a training, and what stops it at a bound.

    Raises
    ------
    UsageError
        If a task is unknown, or is not for text encoders.
    UnknownName
        If a bound is on no metric of these tasks.
    NotApplicable
        If several processes train.
    """
    if not settings.bias:
        return None
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise NotApplicable("bias is measured while one process trains, not several")
    evaluator = BiasEvaluator(settings.bias, seed=settings.seed, registry=registry, write_csv=False)
    if not settings.stop_above and not settings.stop_below:
        return evaluator, None
    return evaluator, BoundStoppingCallback(
        evaluator, above=settings.stop_above, below=settings.stop_below
    )


class BiasDuringTraining(TrainerCallback):
    """Measures the bias of the model while it is trained, and stops at a bound.

    The measurements are in the log of the trainer, so that a continued training has all of them.

    Parameters
    ----------
    bias
        What measures, and what stops the training at a bound; None without bounds.
    settings
        How often.
    progress
        Where the values are shown.
    """

    def __init__(self, bias: Bias, settings: TrainSettings, progress: Progress) -> None:
        self._evaluator, self._bounds = bias
        self._every, self._progress = settings.bias_steps, progress

    def facts(self, state: Any) -> dict[str, Any]:
        """Return the measurements, and why the training was stopped."""
        return {
            "bias": [entry["bias"] for entry in state.log_history if "bias" in entry],
            "stopped": next((e["stopped"] for e in state.log_history if e.get("stopped")), ""),
        }

    def on_train_begin(self, args: Any, state: Any, control: Any, **objects: Any) -> None:
        """Measure the model before it is trained."""
        if state.global_step == 0:
            self._measure(state, control, objects["model"])

    def on_step_end(self, args: Any, state: Any, control: Any, **objects: Any) -> None:
        """Measure the model if it is time."""
        if self._every and state.global_step % self._every == 0:
            self._measure(state, control, objects["model"])

    def on_epoch_end(self, args: Any, state: Any, control: Any, **objects: Any) -> None:
        """Measure the model, unless this was done after its last batch."""
        measured = [entry["bias"]["step"] for entry in state.log_history if "bias" in entry]
        if state.global_step not in measured:
            self._measure(state, control, objects["model"])

    def _measure(self, state: Any, control: Any, model: Any) -> None:
        values = self._evaluator(model, epoch=state.epoch or 0.0, steps=state.global_step)
        numbers = {name: None if math.isnan(v) else v for name, v in values.items()}
        row = {"epoch": state.epoch or 0.0, "step": state.global_step, **numbers}
        if self._bounds is not None:
            self._bounds.check(values, state, control)
        reason = self._bounds.reason if self._bounds is not None else ""
        state.log_history.append({"epoch": row["epoch"], "bias": row, "stopped": reason})
        names = (self._evaluator.primary_metric, self._evaluator.named(USEFULNESS))
        line = ", ".join(f"{n} {values[n]:.3f}" for n in dict.fromkeys(names) if n in values)
        self._progress.say(f"step {state.global_step}: {line}")
        if reason:
            self._progress.say(reason)


_BATCH = 128


class Scorer(BaseEvaluator):
    """Scores a model on a split, also for the library's trainer.

    Parameters
    ----------
    split
        The pairs.
    tokens
        Gives the features of their sentences.
    loss
        The loss with the classifier; None for graded pairs, whose cosines are compared with their
        scores.
    """

    def __init__(self, split: Split, tokens: Tokens, loss: Any | None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # the library's has no types
        self._split, self._tokens, self._loss = split, tokens, loss
        self.metric = "spearman" if loss is None else "accuracy"
        self.primary_metric = self.metric

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: float = -1, steps: int = -1
    ) -> dict[str, float]:
        """Return the scores by name."""
        was_training = model.training
        model.eval()
        try:
            with torch.no_grad():
                return self._scores(model)
        finally:
            model.train(was_training)

    def _scores(self, model: Any) -> dict[str, float]:
        labels = np.asarray(self._split.labels)
        first, second = self._vectors(model, self._split.firsts, self._split.seconds)
        if self._loss is not None:
            predicted = np.concatenate(
                [
                    _logits(self._loss, u, v).argmax(dim=1).cpu().numpy()
                    for u, v in zip(first.split(_BATCH), second.split(_BATCH), strict=True)
                ]
            )
            return {"accuracy": float((predicted == labels).mean())}
        from scipy import stats

        cosines = torch.nn.functional.cosine_similarity(first, second).float().cpu().numpy()
        return {
            "spearman": float(stats.spearmanr(cosines, labels).statistic),
            "pearson": float(stats.pearsonr(cosines, labels).statistic),
        }

    def _vectors(self, model: Any, *columns: tuple[str, ...]) -> list[Any]:
        """Return the vectors of each column; a sentence that occurs twice is encoded once."""
        texts = sorted({text for column in columns for text in column}, key=self._tokens.length)
        parts = []
        for start in range(0, len(texts), _BATCH):
            features = self._tokens(texts[start : start + _BATCH])
            on_device = {key: value.to(model.device) for key, value in features.items()}
            parts.append(model(on_device)["sentence_embedding"])
        vectors, row = torch.cat(parts), {text: i for i, text in enumerate(texts)}
        return [vectors[[row[text] for text in column]] for column in columns]


def _logits(loss: Any, first: Any, second: Any) -> Any:
    """Return what the classifier of a `SoftmaxLoss` says of pairs of vectors."""
    features = torch.cat([first, second, (first - second).abs(), first * second], dim=1)
    return loss.classifier(features.to(loss.classifier.weight.dtype))


GROUP = 50
"""Number of batches whose pairs are sorted by length together."""


class SimilarLengths(DefaultBatchSampler):
    """Random batches of pairs of similar length.

    All pairs are shuffled and cut into groups of `GROUP` batches; a group is sorted by length and
    cut into batches; the batches are shuffled.

    Parameters
    ----------
    dataset
        The pairs.
    lengths
        Lengths of the first and the second sentence of each pair.
    options
        `batch_size`, `drop_last` and `seed`, as the library passes them.
    """

    def __init__(self, dataset: Any, *, lengths: Sequence[tuple[int, int]], **options: Any) -> None:
        super().__init__(dataset, **options)
        self._lengths = lengths

    def __iter__(self) -> Iterator[list[int]]:
        generator = torch.Generator().manual_seed(self.seed + 1_000_003 * self.epoch)
        order = torch.randperm(len(self._lengths), generator=generator).tolist()
        size = GROUP * self.batch_size
        batches = []
        for start in range(0, len(order), size):
            group = sorted(order[start : start + size], key=self._lengths.__getitem__)
            cuts = range(0, len(group), self.batch_size)
            batches += [group[cut : cut + self.batch_size] for cut in cuts]
        for i in torch.randperm(len(batches), generator=generator).tolist():
            yield batches[i]

    def __len__(self) -> int:
        return -(-len(self._lengths) // self.batch_size)


class Tokens:
    """The tokens of sentences, found once for a whole corpus, and padded batch by batch.

    Parameters
    ----------
    model
        The `SentenceTransformer` that reads them.
    texts
        All sentences.
    """

    def __init__(self, model: Any, texts: Sequence[str]) -> None:
        first = model[0]
        self._is_words = type(first).__name__ == "WordEmbeddings"
        self._tokenizer = first.tokenizer.tokenizer if self._is_words else first.tokenizer
        distinct = list(dict.fromkeys(texts))
        limit = None if self._is_words else model.max_seq_length
        ids = self._tokenizer(
            distinct, truncation=limit is not None, max_length=limit, return_attention_mask=False
        )["input_ids"]
        self._ids = dict(zip(distinct, ids, strict=True))

    def length(self, text: str) -> int:
        """Return the number of tokens of a sentence."""
        return len(self._ids[text])

    def __call__(self, inputs: Sequence[str], **_: Any) -> dict[str, Any]:
        """Return the features of a batch of sentences, as the model's own `preprocess` does."""
        ids = [self._ids[text] for text in inputs]
        features = self._tokenizer.pad({"input_ids": ids}, return_tensors="pt")
        if self._is_words:
            features["sentence_lengths"] = torch.tensor([len(row) for row in ids])
        return dict(features)


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the libraries while a model is trained; errors are raised as ever."""
    logging_of: Any = transformers.utils.logging
    bars, verbosity = logging_of.is_progress_bar_enabled(), logging_of.get_verbosity()
    data_bars = datasets.utils.logging.is_progress_bar_enabled()
    logging_of.disable_progress_bar()
    logging_of.set_verbosity(logging.CRITICAL)
    datasets.disable_progress_bars()
    loggers = [logging.getLogger(name) for name in ("sentence_transformers", "accelerate")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
        logging_of.set_verbosity(verbosity)
        if bars:
            logging_of.enable_progress_bar()
        if data_bars:
            datasets.enable_progress_bars()
