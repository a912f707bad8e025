"""The folder of a training: its state, its checkpoints, its model card and other files.

::

    training.json      settings, corpus, scores by epoch; whether the training is complete
    head.safetensors   the classifier, with the names of the labels
    README.md          the model card
    curves.svg         the figure of loss and score by epoch, if Matplotlib is installed
    checkpoints/       while the training runs
    …                  the model, as sentence-transformers saves it

A folder belongs to one training. Another one in it is refused; what is no training is never
deleted.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import folders
from harness.errors import InvalidFile, UsageError, unreadable
from harness.results.figures import write_if_installed
from harness.results.formats import markdown_grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from harness.results.figures import Panel

STATE, HEAD, CARD, CHECKPOINTS = "training.json", "head.safetensors", "README.md", "checkpoints"
CURVES = "curves.svg"
_TRAINER_STATE = "trainer_state.json"


def open_training(folder: Path, identity: Mapping[str, Any], *, overwrite: bool) -> dict[str, Any]:
    """Return the state of the training in a folder; empty for a new one.

    Parameters
    ----------
    folder
        The folder; it is created if it does not exist.
    identity
        What determines the trained weights, by name.
    overwrite
        Whether a training in the folder is deleted.

    Raises
    ------
    UsageError
        If the folder holds another training, or other files.
    InvalidFile
        If its state cannot be read.
    DiskError
        If it is not writable.
    """
    state = read_state(folder)
    if state is None or not isinstance(state.get("identity"), dict):  # another program's file
        if folder.is_file() or (folder.is_dir() and any(folder.glob("[!.]*"))):
            raise UsageError(f"'{folder}' has other files; choose a new folder")
        folders.make(folder)
        return {}
    if overwrite:
        folders.empty(folder)  # it is a folder, since its state could be read
        return {}
    before = state["identity"]
    keys = dict.fromkeys([*identity, *before])
    differing = [key for key in keys if before.get(key) != identity.get(key)]
    if differing:
        changes = "; ".join(
            f"another {key}"
            if key in ("base", "corpus")
            else f"{key}: {_shown(before.get(key))} there, {_shown(identity.get(key))} here"
            for key in differing
        )
        raise UsageError(
            f"'{folder}' holds another training ({changes}); choose another folder, or --overwrite"
        )
    return state


def _shown(value: Any) -> str:
    return "unlimited" if value is None else str(value)


def write_state(folder: Path, state: Mapping[str, Any]) -> None:
    """Write the state of a training atomically."""
    folders.write_json(folder / STATE, state)


def finish(folder: Path, state: Mapping[str, Any]) -> None:
    """Write card, figure and state of a complete training, and delete its checkpoints."""
    folders.write_atomically(folder / CARD, card(state, folder.name).encode())
    write_if_installed(folder / CURVES, *curves(state, folder.name))
    write_state(folder, state)
    remove_checkpoints(folder)


def remove_checkpoints(folder: Path) -> None:
    """Delete the checkpoints of a complete training, and what a kill left of them."""
    shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)


def last_checkpoint(folder: Path) -> Path | None:
    """Return the newest whole checkpoint; what a kill left of one is deleted."""
    whole: list[tuple[int, Path]] = []
    for path in (folder / CHECKPOINTS).glob("checkpoint-*"):
        if checkpoint_state(path) is None:
            shutil.rmtree(path, ignore_errors=True)
        else:
            whole.append((int(path.name.rpartition("-")[2]), path))
    return max(whole, default=(0, None))[1]


def checkpoint_state(checkpoint: Path) -> dict[str, Any] | None:
    """Return the trainer's state in a checkpoint, which it writes last; None if it is missing."""
    try:
        state = json.loads((checkpoint / _TRAINER_STATE).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return state if isinstance(state, dict) else None


def read_state(folder: Path) -> dict[str, Any] | None:
    """Return the state of the training in a folder; None if there is none."""
    path = folder / STATE
    try:
        state = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise unreadable(path, error) from None
    except ValueError as error:
        raise InvalidFile(f"invalid JSON ({error})", path=path) from None
    if not isinstance(state, dict):
        raise InvalidFile("expected a JSON object", path=path)
    return state


def curves(state: Mapping[str, Any], name: str) -> tuple[str, list[Panel]]:
    """Return the title and the panels of a training's figure: loss and score on dev by epoch.

    Parameters
    ----------
    state
        What `training.json` says.
    name
        Name of the model's folder.
    """
    epochs = state["epochs"]
    titles = {"loss": "mean loss of the epoch"}
    titles |= {
        key: f"{key.removeprefix('dev_')} on dev"
        for key in dict.fromkeys(key for facts in epochs for key in facts)
        if key.startswith("dev_")
    }

    def draw(ax: Axes, key: str) -> None:
        values = [math.nan if facts.get(key) is None else facts[key] for facts in epochs]
        ax.plot([facts["epoch"] for facts in epochs], values, "o-")
        ax.axvline(state["best_epoch"], color="#6b7280", linestyle=":")
        ax.set(xlabel="epoch", ylabel=titles[key], xticks=[facts["epoch"] for facts in epochs])

    panels: list[Panel] = [partial(draw, key=key) for key in titles]
    return f"{name}: the line is at the epoch that is kept", panels


def card(state: Mapping[str, Any], name: str) -> str:
    """Return the card of a complete training.

    Parameters
    ----------
    state
        What `training.json` says.
    name
        Name of the model's folder.
    """
    kind, settings = state["kind"], state["identity"]
    description = {
        "bilstm": "A BiLSTM with max pooling over frozen word vectors, after InferSent "
        "(Conneau et al. 2017).",
        "transformer": "A fine-tuned text encoder.",
    }[kind]
    rows = [
        ("base", state["base"]),
        ("corpus", state["corpus"]["name"]),
        *((f"corpus: {key}", value) for key, value in _leaves(state["corpus"]["origin"])),
        *((f"SHA-256 of {split}", digest) for split, digest in state["corpus"]["sha256"].items()),
        *((f"{split} pairs", n) for split, n in state["pairs"].items()),
        *((key, settings[key]) for key in ("hidden", "epochs", "batch_size", "lr", "precision")),
        ("seed", settings["seed"]),
        ("best epoch", f"{state['best_epoch']} of {len(state['epochs'])}"),
        *(
            (f"{split} {metric}", f"{score:.4f}")
            for split, scores in state["scores"].items()
            for metric, score in scores.items()
        ),
        ("harness", state["harness"]),
    ]
    cells = [[_cell(key), _cell(value)] for key, value in rows if value is not None]
    return f"""---
library_name: sentence-transformers
pipeline_tag: sentence-similarity
tags: [sentence-transformers, embedding-bias-harness]
---

# {name}

{description} Trained by `harness train`. The harness does not know which
words the pairs have: scores may be on words that the model was trained on.

{markdown_grid(("", ""), cells)}
{_measured(state)}
`harness eval --model sentence-transformers:./{name} --tasks all` evaluates it. `training.json` has
the scores of each epoch. {_HEAD if state["labels"] else ""}
"""


def _measured(state: Mapping[str, Any]) -> str:
    """Return the measurements of bias as a paragraph; empty if there are none."""
    rows = state.get("bias", [])
    if not rows:
        return ""
    means = [name for name in rows[0] if name.endswith(("_overall", "_usefulness"))]
    columns = ["epoch", "step", *(means or list(rows[0])[2:3])]
    cells = [[_number(row[name]) for name in columns] for row in rows]
    stopped = f"\n{state['stopped'].capitalize()}.\n" if state["stopped"] else ""
    return f"\nBias while it was trained:\n\n{markdown_grid(columns, cells)}\n{stopped}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:g}" if value == round(value) else f"{value:.3f}"


_HEAD = "`head.safetensors` is the classifier on u, v, |u − v| and u · v."


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the plain values of `corpus.json`, such as `made_from.percentile`, by dotted key."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, f"{key}.{name}" if key else str(name))
    elif isinstance(value, str | int | float):
        yield key, value


def _cell(value: Any) -> str:
    return " ".join(str(value).split()).replace("|", "\\|")
