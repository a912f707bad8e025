"""Writes a text encoder under a mitigator as a model of its own: a folder, its card, and the hub.

The encoder saves itself with the mitigator's map behind it, in a format that needs no harness. What
it saved is read again and compared before the folder gets its name, so a folder is complete or
absent. The card states scores of records that the user names, and never others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness import folders, names
from harness.arrays import ROUNDING as FLOAT32
from harness.chain import Chain
from harness.concept import Concept
from harness.embedder import Embedder, ModelInfo, Role
from harness.encode.stored_embedder import LocalEngine, StoredEmbedder, store_folder, store_of
from harness.errors import (
    PLUGIN_ERRORS,
    DiskError,
    HarnessError,
    NotApplicable,
    Unavailable,
    UsageError,
    one_line,
)
from harness.mitigator import Map
from harness.names import NONE
from harness.progress import Progress
from harness.results import comparison
from harness.results.comparison import Comparison, Pair
from harness.results.folder import read_results
from harness.results.formats import markdown_grid, markdown_text
from harness.results.record import MitigatorPart, Record
from harness.results.records import set_aside
from harness.run import plan, unseen

if TYPE_CHECKING:
    from harness.arrays import Floats, Reals

CARD = "README.md"
ROUNDING = 1e-5
"""Largest difference from the encoder's own vectors, of length 1, that is rounding of float32."""
RECOVERABILITY = "recoverability"
"""The score that says how well a classifier still finds the group."""
_SENTENCES = (
    "The nurse asked the doctor a question.",
    "Prices rose by two per cent last year!",
    "a short text",
    "They said that the weather would be fine (it was not).",
)
"""Texts that every export is compared on, besides those that the mitigator was fitted on."""
_MOST_FITTED = 16
"""Most texts of the fit that an export is compared on."""
_TIMES_ROUNDING = 16
"""How many roundings of float32 a difference may have, after what the map makes of one."""
_MODEL_FILES = ("modules.json", "config.json")
"""A folder with one of these is a model, which may be replaced."""
_LICENCE = re.compile(r"[A-Za-z0-9.-]+")
_HUB = re.compile(r"https://huggingface\.co/([\w.-]+/[\w.-]+)/?")


@dataclass(frozen=True)
class Exported:
    """A model that was written.

    Parameters
    ----------
    path
        Its folder.
    model, mitigator, concept
        Labels of the base and the mitigator, and the concept that it was fitted on; the concept is
        None if the mitigator needs none.
    dimensions, bytes
        Length of a vector, and size on disk.
    fingerprint
        Fingerprint of the model as `harness eval --model PATH` reads it.
    difference
        Largest difference of a vector of the folder from the encoder's under the map.
    scores
        Number of tasks whose scores are on the card.
    omits
        What the mitigator does that the model does not do, a line each.
    onnx
        The graph of the whole model; None if none was asked for.
    url
        Page of the commit on the hub; None if it was not pushed.
    """

    path: Path
    model: str
    mitigator: str
    concept: str | None
    dimensions: int
    bytes: int
    fingerprint: str
    difference: float
    scores: int
    omits: tuple[str, ...] = ()
    onnx: Path | None = None
    url: str | None = None


@dataclass(frozen=True)
class Source:
    """What is exported.

    Parameters
    ----------
    embedder
        The text encoder.
    typed
        The name that the user typed; None for an object.
    label
        Label of the mitigator.
    chain
        The mitigator, not fitted yet.
    concept
        The concept to fit it on; None if it needs none.
    """

    embedder: Embedder
    typed: str | None
    label: str
    chain: Chain
    concept: Concept | None

    @property
    def info(self) -> ModelInfo:
        """Facts about the encoder."""
        return self.embedder.info

    @property
    def part(self) -> MitigatorPart:
        """The mitigator as records name it."""
        return plan.mitigator_part(self.label, self.chain, self.concept)


def check(embedder: Embedder, typed: str | None, path: Path, *, overwrite: bool) -> None:
    """Check what can be known before a model is loaded.

    Parameters
    ----------
    embedder, typed
        The text encoder, and the name that the user typed; None for an object.
    path
        The folder to write.
    overwrite
        Whether an older model there is replaced.

    Raises
    ------
    NotApplicable
        If the model is no text encoder that can be saved.
    UsageError
        If the folder exists, or is the model's own.
    """
    name = embedder.info.name
    if not callable(getattr(embedder, "export", None)):
        raise NotApplicable(
            f"'{name}' is a text encoder without a model of sentence-transformers that could be "
            "written; 'harness eval' can still mitigate its vectors"
        )
    if path.suffix in (".bin", ".kv", ".safetensors", ".txt", ".vec"):
        raise UsageError(f"'{name}' is a text encoder: --out is a folder, not the file '{path}'")
    if not path.exists():
        return
    if not overwrite:
        raise UsageError(f"'{path}' exists already; overwrite replaces it")
    base = names.model(typed) if typed else None
    if base and Path(base.reference or base.name).resolve() == path.resolve():
        raise UsageError(f"'{path}' is the model itself; write its debiased one to another folder")
    is_model = any((path / file).is_file() for file in _MODEL_FILES)
    if not path.is_dir() or (any(path.iterdir()) and not is_model):
        raise UsageError(f"'{path}' is no folder of a model, so it is not replaced")


def export(
    source: Source,
    path: Path,
    *,
    results: Path | None = None,
    onnx: bool = False,
    push: str | None = None,
    progress: Progress,
) -> Exported:
    """Write a text encoder under a mitigator as a model.

    Parameters
    ----------
    source
        The encoder and the mitigator.
    path
        The folder; an existing one is replaced.
    results
        Results folder with the scores for its card; None for a card without scores.
    onnx
        Whether to write the whole model as a graph, too.
    push
        Repository on the hub to upload it to, `owner/name`.
    progress
        Where progress is shown.

    Raises
    ------
    NotApplicable
        If the mitigator cannot be fitted or is no map, or the model cannot be saved.
    UsageError
        If the results have no such scores, or the name of the repository is wrong.
    DiskError
        If the folder cannot be written. Nothing is left of it.
    Unavailable
        If a package is missing, or the hub refuses the model.
    """
    if push is not None:
        _check_repository(push)
    path = path.resolve()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with folders.temporary_beside(path) as temporary:
            folder = temporary / path.name
            folder.mkdir()
            exported = _written(source, folder, path, results, onnx=onnx, progress=progress)
            folders.put_in_place(folder, path)
    except OSError as error:
        raise DiskError(f"cannot write '{path}' ({error.strerror or error})") from None
    url = None if push is None else _push(path, push, f"{source.info.name} under {source.label}")
    return replace(exported, url=url)


def _written(
    source: Source,
    folder: Path,
    path: Path,
    results: Path | None,
    *,
    onnx: bool,
    progress: Progress,
) -> Exported:
    """Write model and card into an empty folder that will be at `path`."""
    info, chain, concept = source.info, source.chain, source.concept
    store_at = folders.embeddings()
    with store_folder(info, store_at) as place:
        store = store_of(source.embedder, place)
        stored = StoredEmbedder(source.embedder, source.typed, LocalEngine(), store, progress)
        chain.fit_rewriters(info, concept)
        # As in an evaluation: the same stored vectors give the same fit.
        stored.ensure(chain.fitting_texts(concept))
        chain.fit(stored, concept)
        change = chain.as_map()
        saved = source.embedder.export(change, folder, onnx=onnx)  # type: ignore[attr-defined]  # `check` found it
        difference = _difference(source, change, stored, saved)
    scores = None if results is None else _scores(results, source, change, saved.info)
    (folder / CARD).write_text(card(source, change, path.name, scores), encoding="utf-8")
    return Exported(
        path=path,
        model=info.name,
        mitigator=source.label,
        concept=concept.name if concept else None,
        dimensions=saved.info.dimensions or 0,
        bytes=sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()),
        fingerprint=saved.info.fingerprint,
        difference=difference,
        scores=len(_primary(scores)) if scores else 0,
        omits=change.omits,
        onnx=path / "onnx" / "model.onnx" if onnx else None,
    )


def _difference(source: Source, change: Map, stored: StoredEmbedder, saved: Embedder) -> float:
    """Return the largest difference of vectors from those of an evaluation, over their length.

    Raises
    ------
    HarnessError
        If it is more than rounding: of the map from the mitigator, or of the folder from the map.
    """
    chain, texts = source.chain, list(_SENTENCES)
    under = chain.transform(stored.encode(chain.rewrite(texts)), texts)
    by_map = change.apply(stored.encode(chain.rewrite(texts)))
    if _relative(by_map, under) > ROUNDING:
        raise HarnessError(
            f"the map of '{source.label}' gives other vectors than the mitigator itself: an error "
            "of its method as_map"
        )
    texts += chain.fitting_texts(source.concept)[:_MOST_FITTED]
    largest, allowed = 0.0, ROUNDING
    roles: Iterable[Role] = source.info.readings or ("text",)
    for role in roles:
        if source.info.readings and source.info.readings.get(role) is None:
            continue  # a role without a route
        with stored.reading(role):
            vectors = stored.encode(chain.rewrite(texts))
        expected = change.apply(vectors)
        # Whitening enlarges the rounding of an encoder whose vectors hardly differ.
        rounded = change.apply(vectors * _alternating(vectors.shape[1]))
        allowed = max(allowed, _TIMES_ROUNDING * _relative(rounded, expected))
        arguments = {"role": role} if source.info.readings else {}
        found = saved.encode(texts, **arguments)
        largest = max(largest, _relative(found, expected))
    if largest > allowed:
        raise HarnessError(
            f"'{source.info.name}': the saved model gives other vectors than 'harness eval' under "
            f"'{source.label}', by {largest:.1e}; it was not written"
        )
    return largest


def _alternating(dimensions: int) -> Floats:
    """Return factors that change the last digit of float32, up and down by turns."""
    return 1 + FLOAT32 * np.where(np.arange(dimensions) % 2, 1.0, -1.0)


def _relative(found: Reals, expected: Reals) -> float:
    if found.shape != expected.shape:
        return math.inf
    lengths = np.linalg.norm(expected, axis=1, keepdims=True)
    difference = np.abs(found.astype(np.float64) - expected) / np.maximum(lengths, 1.0)
    return float(difference.max(initial=0.0))


# The scores of a card.


def _scores(results: Path, source: Source, change: Map, saved: ModelInfo) -> Comparison:
    """Return the scores before and after, of tasks with the concept of the fit.

    After are those of the mitigator, which knows what it was fitted on. Where the mitigator does
    more than the model, the values are those of the folder itself.

    Raises
    ------
    UsageError
        If there is none.
    """
    info, part = source.info, source.part
    records, _ = set_aside(read_results(results))
    of_base = [record for record in records if record.model.fingerprint == info.fingerprint]
    before = [record for record in of_base if record.mitigator.name == NONE]
    after = [record for record in of_base if record.mitigator.fingerprint == part.fingerprint]
    commands = [_eval(source, ["none", source.label], results)]
    if change.omits:
        commands.append(f"harness eval --model FOLDER --results {results}")
        own = {
            (*_key(record), record.seed): record
            for record in records
            if record.model.fingerprint == saved.fingerprint and record.mitigator.name == NONE
        }
        after = [
            _replaced(record, own[key])
            for record in after
            if (key := (*_key(record), record.seed)) in own
        ]
    compared = comparison.compare(before, after, folder=results)
    if not _primary(compared):
        on = f" fitted on '{part.concept}'" if part.concept else ""
        of_folder = ", and of the folder itself," if change.omits else ""
        raise UsageError(
            f"'{results}' has no scores of '{info.name}' without and under '{part.label}'{on}"
            f"{of_folder} of one task; run {' and '.join(repr(line) for line in commands)}"
        )
    return compared


def _key(record: Record) -> tuple[str, str, str, str, str]:
    task = record.task
    return task.name, task.digest, record.scenario, record.metric, record.score


def _replaced(record: Record, own: Record) -> Record:
    """Return a record of a mitigator with the values of the model that was exported.

    Its fit cannot be made anew without the words of a task.
    """
    same = ("model", "mitigator", "word_overlap")
    return own.model_copy(update={name: getattr(record, name) for name in same})


def _primary(compared: Comparison) -> list[Pair]:
    return [pair for pair in compared.pairs if pair.a.primary]


# The card.


def card(source: Source, change: Map, name: str, scores: Comparison | None) -> str:
    """Return the card of an exported model, as Markdown with its metadata.

    Parameters
    ----------
    source, change
        What is exported; its mitigator is fitted.
    name
        Name of the model.
    scores
        Its scores, beside those of the base; None for a card without scores.
    """
    info = source.info
    base = f"[{markdown_text(info.name)}]({info.url})" if info.url else markdown_text(info.name)
    sections = [
        metadata(source, _facts_of_library(source)),
        f"# {markdown_text(name)}",
        f"{base} under the mitigator `{source.label}` of the Embedding Bias Harness. It loads as "
        "any model of sentence-transformers:",
        "```python\nfrom sentence_transformers import SentenceTransformer\n\n"
        f'model = SentenceTransformer("{name}")\n```',
        _facts(source, change),
        "## What it does not remove",
        _bullets(_not_removed(source, change, scores)),
        "## Scores",
        _score_lines(source, change, scores),
    ]
    return "\n\n".join(sections).rstrip() + "\n"


def metadata(source: Source, facts: Mapping[str, Any]) -> str:
    """Return the metadata of a card: some facts, and what the model was fitted on."""
    import yaml

    texts = unseen.stated_fit(source.info, source.chain, source.concept)
    facts = {
        **facts,
        "mitigator": source.label,
        **({"concept": source.concept.name} if source.concept else {}),
        "fitted_on": "not stated" if texts is None else list(texts),
    }
    return f"---\n{yaml.safe_dump(facts, sort_keys=False, default_flow_style=None)}---"


def _facts_of_library(source: Source) -> dict[str, Any]:
    info = source.info
    base = _HUB.fullmatch(info.url or "")
    languages = [code for code in info.languages or () if len(code) in (2, 3)]
    licence = info.licence if info.licence and _LICENCE.fullmatch(info.licence) else None
    return {
        "library_name": "sentence-transformers",
        "pipeline_tag": "sentence-similarity",
        "tags": [
            *("sentence-transformers", "feature-extraction"),
            *(() if source.chain.control else ("debiased",)),
        ],
        **({"base_model": base[1]} if base else {}),
        **({"language": languages} if languages else {}),
        **({"license": licence.lower()} if licence else {}),
    }


def _facts(source: Source, change: Map) -> str:
    info, chain, concept = source.info, source.chain, source.concept
    stages = ["unit length" if step == "unit" else "an affine map" for step in change.steps]
    texts = chain.fitting_texts(concept)
    missing = list(dict.fromkeys(word for part in chain.mitigators for word in part.missing_words))
    fitted = f"{len(texts)} texts" + (f": {_some(texts)}" if texts else "")
    if concept:
        fitted = f"the concept `{concept.name}`, {fitted}"
    rows = {
        "Base": markdown_text(info.name)
        + (f", revision `{info.revision}`" if info.revision else "")
        + f", fingerprint `{info.fingerprint}`",
        "Mitigator": f"`{source.label}`, fingerprint `{source.part.fingerprint}`",
        "Concept": markdown_text(concept.name) if concept else "none is needed",
        "Fitted on": fitted,
        **({"Not known to the base": markdown_text(_some(missing))} if missing else {}),
        "Added behind the base": ", then ".join(stages) or "nothing",
        **(
            {"Added after each text": " ".join(f"`{line}`" for line in change.sentences)}
            if change.sentences
            else {}
        ),
        "Saved by": f"sentence-transformers {version('sentence-transformers')}, loads from 6.0 on",
        "Licence": markdown_text(info.licence)
        if info.licence
        else "unknown: the harness knows none of the base; that of the base applies",
    }
    return markdown_grid(["", ""], [[key, value] for key, value in rows.items()])


def _some(texts: Sequence[str], most: int = 12) -> str:
    listed = ", ".join(markdown_text(text) for text in texts[:most])
    return listed + (f" and {len(texts) - most} more" if len(texts) > most else "")


def _not_removed(source: Source, change: Map, scores: Comparison | None) -> list[str]:
    """Return what the model leaves, a line each."""
    lines = [f"{line}." for line in change.omits]
    if source.chain.control:
        lines.append(f"`{source.label}` is a control, such as planted bias: it mitigates nothing.")
    about = f" of `{source.concept.name}`" if source.concept else ""
    lines.append(
        f"A lower score of bias does not say that the concept{about} is gone: what tests of "
        "association no longer show, a classifier may still find in the vectors."
    )
    found = [
        pair
        for pair in (scores.pairs if scores else ())
        if pair.a.score == RECOVERABILITY and pair.a.primary
    ]
    lines += [
        f"`{pair.a.task.name}`: a classifier finds the group of {_number(pair.b.value)} of the "
        f"texts, of {_number(pair.a.value)} before; chance is {_number(pair.a.ideal)}."
        for pair in found
    ]
    if not found:
        lines.append(
            "How well one does was not measured; the tasks `winogender-recoverability` and "
            "`residual-bias-sentences` measure it for gender."
        )
    lines.append(
        "Other concepts than the one of the fit, and what other texts would show, were not aimed "
        "at."
    )
    return lines


def _score_lines(source: Source, change: Map, scores: Comparison | None) -> str:
    if scores is None:
        return (
            "None are given. To measure the model beside its base, and write a card with scores:\n"
            f"\n```\n{_eval(source, ['none', source.label], None)}\n```"
        )
    of_folder = (
        "The scores after are those of this model itself."
        if change.omits
        else "The scores after are those of the base under the mitigator; the model has the same "
        "vectors up to rounding."
    )
    verdict = scores.verdict
    parts = [
        of_folder,
        _bullets([markdown_text(line) for line in verdict.sentences()]),
        _grid(_primary(scores)),
        _bullets(
            [
                "Floor: the mean distance from the ideal on the same vectors with shuffled sides.",
                "Ratio: the gap of the task over that of its yardstick, a contrast that has "
                "nothing to do with the concept, with its interval; 0 is fair, and 1 is a bias as "
                "strong as the yardstick. Bias ranks by it.",
                "Intervals hold the value in 95 % of samples of the task's words and items; they "
                "do not say what other texts would show.",
                "Scores of bias are on words that no fit has: texts with words of the concept are "
                "left out, or the fit is made without the words of the task.",
            ]
        ),
    ]
    return "\n\n".join(parts)


def _grid(pairs: Iterable[Pair]) -> str:
    order = {"bias": 0, "usefulness": 1, "control": 2}
    rows = []
    for pair in sorted(pairs, key=lambda pair: (order[pair.a.task.measures], pair.a.task.name)):
        a, b = pair.a, pair.b
        rows.append(
            [
                f"`{a.task.name}` v{a.task.version}",
                f"{a.task.measures}, {markdown_text(a.category)}",
                markdown_text(a.score),
                a.ideal if isinstance(a.ideal, str) else f"{a.ideal:g}",
                _value(a),
                _value(b),
                " → ".join(_number(r.floor.mean if r.floor else None) for r in (a, b)),
                _ratio(a),
                _ratio(b),
                f"`{a.ratio.of}`" if a.ratio else "",
            ]
        )
    columns = ["Task", "Measures", "Score", "Ideal", "Before", "After", "Floor"]
    return markdown_grid([*columns, "Ratio before", "Ratio after", "Yardstick"], rows)


def _value(record: Record) -> str:
    return _number(record.value) + _interval(record.interval)


def _ratio(record: Record) -> str:
    return "" if record.ratio is None else _number(record.ratio.value) + _interval(record.ratio)


def _interval(ends: Any) -> str:
    if ends is None or ends.low is None or ends.high is None:
        return ""
    return f" \\[{_number(ends.low)}, {_number(ends.high)}\\]"


def _number(value: Any) -> str:
    return f"{value:z.3f}" if isinstance(value, int | float) else "–"


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _eval(source: Source, mitigators: Sequence[str], results: Path | None) -> str:
    """Return the command that measures the base without and under a mitigator.

    Without results it is for a card, which has no path of this machine.
    """
    rows = " ".join(f"--mitigator {row}" for row in mitigators)
    folder = f" --results {results}" if results else ""
    model = (source.typed if results else None) or source.info.name
    return f"harness eval --model {model} {rows}{folder}"


# The hub.


def _check_repository(name: str) -> None:
    from huggingface_hub import constants
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]  # lazy there

    try:
        validate_repo_id(name)
    except HFValidationError as error:
        raise UsageError(f"push: {one_line(error)}") from None
    if constants.HF_HUB_OFFLINE:
        raise UsageError("push: HF_HUB_OFFLINE is set, so nothing can be uploaded")


def _push(folder: Path, repository: str, title: str) -> str:
    """Upload a folder to the hub, and return the address of the commit.

    The library finds the token, in HF_TOKEN or where `hf auth login` put it.
    """
    from huggingface_hub import HfApi

    try:
        api = HfApi()
        api.create_repo(repository, exist_ok=True)
        commit = api.upload_folder(
            repo_id=repository, folder_path=folder, commit_message=f"Add {title}"
        )
    except PLUGIN_ERRORS as error:
        response = getattr(error, "response", None)
        is_login = response is not None and response.status_code in (401, 403)
        advice = "; log in with 'hf auth login' or set HF_TOKEN" if is_login else ""
        raise Unavailable(
            f"'{folder}' is written, but the hub did not take it as '{repository}': "
            f"{one_line(error)}{advice}"
        ) from None
    return str(commit.commit_url)
