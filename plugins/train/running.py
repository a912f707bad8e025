"""Runs a training: the model, the library's trainer, and the scores at the end."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
import torch
import transformers
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformerTrainingArguments
from sentence_transformers.sentence_transformer import losses
from sentence_transformers.sentence_transformer.data_collator import SentenceTransformerDataCollator

from harness.embedder import Embedder
from harness.errors import ModelError, NotApplicable
from harness.progress import Progress

from . import bilstm, folder, words
from .batches import Tokens
from .pairs import Corpus, Split
from .quiet import quiet
from .scoring import Scorer
from .settings import Kind, TrainSettings
from .trainer import (
    Checkpoints,
    InferSentSchedule,
    PairTrainer,
    Report,
    SharedHead,
)

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
            save_file(weights, out / folder.HEAD, metadata={"labels": json.dumps(self.names)})
        for file in out.rglob("*.safetensors"):
            file.chmod(0o644)  # the library makes them readable by their owner only


def run(
    settings: TrainSettings,
    kind: Kind,
    base: Embedder,
    corpus: Corpus,
    out: Path,
    progress: Progress,
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
            return _run(settings, kind, base, corpus, out, progress)
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
) -> Outcome:
    transformers.set_seed(settings.seed)
    facts: dict[str, Any] = {}
    if kind == "bilstm":
        vocabulary = words.of(base, settings.words)
        texts = corpus.train.firsts + corpus.train.seconds
        facts["coverage"] = words.check_coverage(vocabulary, texts, base.info.name)
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
    _train(trainer, report, out)
    facts["scores"] = {name: scorer(model) for name, scorer in scorers.items()}
    if kind == "bilstm":
        del model[1].forward
    facts |= _history(trainer.state)
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
        output_dir=str(out / folder.CHECKPOINTS),
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
    checkpoint = folder.last_checkpoint(out)
    state = folder.checkpoint_state(checkpoint) if checkpoint else None
    if state and state["stateful_callbacks"]["TrainerControl"]["args"]["should_training_stop"]:
        trainer.args.num_train_epochs = round(state["epoch"])  # it was at its end when it stopped
    batches = len(trainer.get_train_dataloader()) * int(trainer.args.num_train_epochs)
    with report.stage(batches, state["global_step"] if state else 0):
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)


def _history(state: Any) -> dict[str, Any]:
    """Return the epochs of a training, and the number of the best one."""
    epochs: dict[int, dict[str, Any]] = {}
    for entry in state.log_history:
        facts = epochs.setdefault(round(entry["epoch"]), {"epoch": round(entry["epoch"])})
        facts |= {key: entry[key] for key in ("loss", "learning_rate") if key in entry}
        facts |= {
            f"dev_{key.removeprefix('eval_')}": value
            for key, value in entry.items()
            if key in ("eval_accuracy", "eval_spearman", "eval_pearson")
        }
    done = [facts for facts in epochs.values() if "loss" in facts]
    best = max(done, key=lambda f: f.get("dev_accuracy", f.get("dev_spearman", f["epoch"])))
    return {"epochs": done, "best_epoch": best["epoch"]}
