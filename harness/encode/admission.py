"""The admission check, which finds out whether the vectors of a text encoder may be stored.

Scores compare vectors of texts that were encoded in different batches. So the vector of a text must
depend on nothing but the text. Before the first vector of a fingerprint is stored, the process that
has the model encodes a few fixed texts as one batch, each alone, and one of them again: at most
`MOST_TEXTS` texts. `harness.encode.batches` looks at the number type and shape of what is
returned. A model that cannot take the fixed texts is checked with texts of the run.

A pass is noted in `model.json` of the store, with the versions of the check and of the libraries
that run models. A refusal is not noted, since a library may be the cause.

Word embedders are not checked: they look their vectors up. For hosted models the canaries below are
checked, so that no text is sent twice.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import functools
import importlib.metadata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from harness.arrays import Vectors
from harness.digest import digest
from harness.embedder import (
    PACKED,
    PAIRS,
    Embedder,
    reads_texts,
    role_keys,
    similarity_of,
    text_of_key,
    with_info,
)
from harness.encode.batches import Failure, attempt, pair_scores, without_vector
from harness.errors import DiskError, HarnessError, ModelError, one_line
from harness.folders import Place
from harness.store import folder
from harness.store.folder import read_model_file, update_model_file
from harness.store.store import Store

if TYPE_CHECKING:
    from harness.embedder import Role


VERSION = 1
"""Version of the texts and of the checks. A new version means that models are checked again."""
TEXTS = (
    "the doctor",
    "My neighbour reads the newspaper in the garden every morning before she goes to work.",
    "She is a nurse.",
    "An old teacher who had lived abroad for many years came back to the town where both of them "
    "went to school, and he was surprised by how few of the houses were still there.",
    "seven and five",
)
"""The fixed texts, of unequal lengths: in one batch the short ones are padded."""
MOST_TEXTS = 12
"""Most texts that a check encodes."""
PADDING_TOLERANCES = {"float32": 0.01}
"""Largest distance of a text's vectors alone and in a batch, relative to their length, by the
stated precision of a model. Measured on CPUs: 1e-6. The TF32 of a GPU rounds as float16 does."""
PADDING_TOLERANCE = 0.1
"""The same for models in half precision, in eight bits, or of unknown precision. Measured: 1e-3 in
float16 and 9e-3 in bfloat16 (6 layers), 2.4e-2 in bfloat16 (18 layers). It is a cosine of .995.
"""
REPEAT_TOLERANCE = 0.045
"""The same for two calls with one text: a cosine of .999, since an object may use a server."""
CONSTANT = 1e-6
"""Largest relative distance of vectors that count as equal."""

_ADMITTED = "admitted"
_LIBRARIES = ("sentence-transformers", "torch", "transformers")
_ORDERS = ((0,), (1, 0), (1, 2, 0), (1, 3, 0, 2), (2, 1, 4, 3, 0))
"""The order in a batch of 1 to 5 texts. From 3 texts on, sorting by length or alphabet gives
another."""


def admit(embedder: Embedder, store: Store, keys: Sequence[str]) -> None:
    """Check a text encoder, unless its store says that it passed.

    Parameters
    ----------
    embedder
        The embedder, in the process that encodes.
    store
        Its store.
    keys
        What will be encoded: texts, or keys of texts in their roles.

    Raises
    ------
    ModelError
        If its vectors may not be stored: the message says why.
    HarnessError
        If the embedder raises one.
    """
    info = embedder.info
    if not reads_texts(info.kind) or info.hosted:
        return
    stated = folder.read_model_file(store.files).get(_ADMITTED)
    passed = [str(version) for version in stated] if isinstance(stated, list) else []
    if _version() in passed:
        return
    # Quantised vectors hide small differences, and have large ones where a level ends.
    checked = getattr(embedder, "unquantized", embedder)
    if info.kind == PAIRS:
        checked, keys = _PairProfiles(embedder), ()
    elif info.kind in PACKED:
        checked = _Profiles(embedder)
    if _is_sound(checked, keys):
        facts = {"fingerprint": store.fingerprint, "name": info.name, "kind": info.kind}
        with contextlib.suppress(DiskError):  # writing vectors reports it
            folder.update_model_file(store.files, {**facts, _ADMITTED: [*passed, _version()]})


class _Profiles:
    """An encoder whose vectors are another's similarities with fixed texts, each encoded alone.

    Its checks are those of encoded texts that are no vectors.
    """

    def __init__(self, embedder: Any) -> None:
        self.info = dataclasses.replace(embedder.info, kind="text", dimensions=None)
        self._embedder, self._compare = embedder, similarity_of(embedder)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    @functools.cached_property
    def _anchors(self) -> list[Vectors]:
        """The fixed texts, encoded as documents."""
        is_read = self._embedder.info.readings.get("document")
        role: dict[str, Role] = {"role": "document"} if is_read else {}
        return [self._embedder.encode([text], **role) for text in TEXTS]

    def encode(self, texts: Sequence[str], **role: Role) -> Vectors:
        """Return the (n, k) similarities of `n` texts with the k fixed ones."""
        encoded = self._embedder.encode(texts, **role)
        columns = [self._compare(encoded, anchor) for anchor in self._anchors]
        return np.concatenate(columns, axis=1).astype(np.float32)


class _PairProfiles:
    """An encoder whose vectors are a cross-encoder's scores of a text with fixed texts."""

    def __init__(self, embedder: Any) -> None:
        self.info = dataclasses.replace(embedder.info, kind="text", dimensions=None)
        self._embedder = embedder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the (n, k) scores of `n` texts with the k fixed ones."""
        columns = [pair_scores(self._embedder, texts, [anchor] * len(texts)) for anchor in TEXTS]
        return np.hstack(columns).astype(np.float32)


def check_numbers(name: str, vectors: Vectors) -> None:
    """Check the (n, d) finite vectors of n different texts.

    Raises
    ------
    ModelError
        If they are whole numbers that fill a byte.
    """
    if len(vectors) < 2:
        return
    least, most = float(vectors.min()), float(vectors.max())
    is_of_bytes = least >= -128 and most <= 255 and bool((vectors == np.round(vectors)).all())
    # Counts of words or letters are whole, too, but most of them are small.
    if is_of_bytes and vectors.shape[1] >= 8 and float(np.median(np.abs(vectors))) >= 16:
        raise ModelError(
            f"model '{name}' returned whole numbers from {least:.0f} to {most:.0f}: bytes, such as "
            "packed bits or quantised vectors; expected floats (unpack the bits; divide quantised "
            "numbers by their scale)"
        )


def _is_sound(embedder: Embedder, keys: Sequence[str]) -> bool:
    """Return whether the check could be done; ModelError if its vectors may not be stored."""
    n_left = MOST_TEXTS
    seen: list[Vectors] = []  # of texts that have a vector
    n_invalid = 0
    for is_fixed in (True, False):
        texts = _fixed(embedder, keys) if is_fixed else _spread(keys, (n_left - 1) // 2)
        n_left -= len(texts)
        batch = _in_one_batch(embedder, texts) if texts else None  # pairs are no texts
        if batch is None:
            continue
        is_finite = np.isfinite(batch).all(axis=1)
        usable, rest = np.flatnonzero(is_finite), np.flatnonzero(~is_finite)
        n_invalid += without_vector(embedder, [texts[i] for i in rest]).count(False)
        seen += list(batch[usable])
        if len(usable) > 1 and _differ(batch[usable], batch[usable[:1]]).max() > CONSTANT:
            check_numbers(embedder.info.name, batch[usable])
            return _is_same_alone(embedder, [texts[i] for i in usable], batch[usable])
    if len(seen) > 1 and len({row.shape for row in seen}) == 1:
        check_numbers(embedder.info.name, np.stack(seen))
    if n_invalid > 1 and not seen:
        raise ModelError(
            f"model '{embedder.info.name}' returned NaN or infinity for each of {n_invalid} texts; "
            "likely its weights are damaged, or its precision is too low (try float32)"
        )
    # Either the model fails on these texts, and the loop over batches reports why. Or all have one
    # vector, so there is nothing to compare, and scores report it.
    return False


def _in_one_batch(embedder: Embedder, texts: Sequence[str]) -> Vectors | None:
    """Return the (n, d) vectors of texts that are encoded together, or None if it fails.

    An embedder may limit the number of texts of a batch.
    """
    order = list(_ORDERS[len(texts) - 1])
    most = getattr(embedder, "batch_texts", None) or len(texts)
    parts = []
    for start in range(0, len(texts), most):
        result = attempt(embedder, [texts[i] for i in order[start : start + most]])
        if isinstance(result, Failure):
            return None
        parts.append(result.vectors)
    _check_widths(embedder, parts)
    vectors = np.concatenate(parts)
    batch = np.empty_like(vectors)
    batch[order] = vectors
    return batch


def _is_same_alone(embedder: Embedder, texts: Sequence[str], batch: Vectors) -> bool:
    """Compare the vectors of texts in a batch with those of each text alone.

    Returns whether there was anything to compare; ModelError if they differ.
    """
    rows = []
    for text in [*texts, texts[0]]:
        result = attempt(embedder, [text])
        if isinstance(result, Failure) or not np.isfinite(result.vectors).all():
            return False
        rows.append(result.vectors)
    _check_widths(embedder, [batch, *rows])
    name, alone, again = embedder.info.name, np.concatenate(rows[:-1]), rows[-1][0]
    if _differ(again[None], alone[:1]).max() > REPEAT_TOLERANCE:
        training = "it is in training mode, so call its eval()"
        cause = training if _is_training(embedder) else "likely dropout is on or weights are random"
        raise ModelError(
            f"model '{name}' is not deterministic: two calls with the text {_shown(texts[0])} gave "
            f"vectors with a cosine of {_cosine(again, alone[0])}; {cause}"
        )
    precision = str(getattr(embedder, "precision", None))
    tolerance = PADDING_TOLERANCES.get(precision, PADDING_TOLERANCE)
    distances = _differ(batch, alone)
    if distances.max() <= tolerance:
        return True
    if source := _permutation(batch, alone, tolerance):
        raise ModelError(
            f"model '{name}' returned the vectors of a batch in another order than its texts: "
            f"that of text {source[0] + 1} as that of text {source[1] + 1}; row i must be the "
            "vector of text i (likely it sorts the texts by length and does not sort back)"
        )
    i = int(distances.argmax())
    cause = getattr(embedder, "batch_fault", "") or (
        "likely padding is not masked, the tokenizer pads on the left where the first token is "
        "pooled, or a step such as normalisation is over the batch and not over each vector"
    )
    raise ModelError(
        f"model '{name}' gives a text another vector in a batch with other texts than alone: the "
        f"two of {_shown(texts[i])} have a cosine of {_cosine(batch[i], alone[i])} and lengths of "
        f"{np.linalg.norm(batch[i]):.3g} and {np.linalg.norm(alone[i]):.3g}; {cause}"
    )


def _check_widths(embedder: Embedder, batches: Sequence[Vectors]) -> None:
    widths = list(dict.fromkeys(batch.shape[1] for batch in batches))
    if len(widths) > 1:
        raise ModelError(
            f"model '{embedder.info.name}' returned vectors of {widths[0]} dimensions for one "
            f"batch and of {widths[1]} for another; expected the same number for all texts"
        )


def _permutation(batch: Vectors, alone: Vectors, tolerance: float) -> tuple[int, int] | None:
    """Return a text and the text at whose position its vector is, if all rows are moved."""
    places = [int(_differ(batch, row[None]).argmin()) for row in alone]
    near = [_differ(batch[j][None], alone[i][None])[0] for i, j in enumerate(places)]
    if max(near) > tolerance or len(set(places)) < len(places):
        return None
    return next((i, j) for i, j in enumerate(places) if i != j)


def _fixed(embedder: Embedder, keys: Sequence[str]) -> list[str]:
    """Return the keys of the fixed texts, in each role that the model can read.

    Some models cannot encode plain texts, so plain keys are included only if the run has some.
    """
    readings = embedder.info.readings
    stated: tuple[Role, ...] = ("query", "document")
    named = [role for role in stated if readings.get(role) is not None]
    if not named:
        return list(TEXTS)
    n_plain = int(any(text_of_key(key) == key for key in keys))
    of_roles = TEXTS[: len(TEXTS) - n_plain]
    fixed: list[str] = []
    for role, start in zip(named, (0, 2), strict=False):
        stop = 2 if role != named[-1] else None
        fixed += role_keys(of_roles[start:stop], role, readings)
    return [*fixed, *TEXTS[len(of_roles) :]]


def _spread(keys: Sequence[str], most: int) -> list[str]:
    """Return at most `most` keys, of texts of all lengths."""
    distinct = sorted(dict.fromkeys(keys), key=len)
    positions = np.linspace(0, len(distinct) - 1, min(most, len(distinct))).round().astype(int)
    return [distinct[i] for i in positions.tolist()]


def _differ(a: Vectors, b: Vectors) -> npt.NDArray[np.float64]:
    """Return the (n,) distances of pairs of vectors, relative to the longer one."""
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    longer = np.maximum(np.linalg.norm(x, axis=1), np.linalg.norm(y, axis=1))
    distances: npt.NDArray[np.float64] = np.linalg.norm(x - y, axis=1)
    return distances / np.where(longer > 0, longer, 1)


def _is_training(embedder: Embedder) -> bool:
    held: Any = getattr(embedder, "model", embedder)
    return getattr(held, "training", False) is True


def _cosine(a: Vectors, b: Vectors) -> str:

    return f"{cosine(a, b):.3f}"


def _shown(key: str) -> str:
    return f"{text_of_key(key)[:30]!r}"


@functools.cache
def _version() -> str:
    """Return the version of the check and of the libraries that run most models."""
    versions = [f"check {VERSION}"]
    for library in _LIBRARIES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions.append(f"{library} {importlib.metadata.version(library)}")
    return ", ".join(versions)


# Detects which model answers under a hosted name, by its vectors of two fixed texts, the canaries.
#
# A hosted model is known only by its address and name, and its provider may replace it. So a run
# first encodes the canaries, in one request, and compares them with those of earlier runs, which
# `model.json` of the model's store holds. A model with other vectors is a variant with a
# fingerprint, a store and records of its own, and is found again by its canaries. If the model
# cannot be reached, the last variant is assumed: a run whose texts are stored needs no network.


CANARY_TEXTS = ("the nurse asked the engineer for a key", "医生在厨房里唱歌。")
"""The fixed texts, which are compared once a run."""
SAME = 0.999
"""Least cosine of two vectors of one text by one model. Answers of a hosted model differ by 1e-4
from call to call."""
VARIANT = "-variant-"
"""Separates, in the fingerprint of a variant, the model's own fingerprint from a digest."""
_KNOWN = "canaries"
_LAST = "last_variant"


def settle(embedder: Embedder, folder: Place) -> list[str]:
    """Give a hosted model the fingerprint of the variant that answers; return lines for the user.

    `folder` has all stores. Other models are left as they are. `ModelError` if the canaries have
    vectors of bytes.
    """
    info = embedder.info
    if not info.hosted:
        return []
    own = _own(info.fingerprint)
    known, last = _known(folder, own)
    seen = _encoded(embedder)
    if isinstance(seen, str):
        _become(embedder, last)
        return [f"{info.name}: not compared with earlier runs ({seen}); those vectors are used"]
    check_numbers(info.name, seen)
    same = [name for name, rows in known.items() if min(map(cosine, rows, seen)) >= SAME]
    notices = []
    if last in same or not known:
        fingerprint = last
    else:
        fingerprint = same[0] if same else own + VARIANT + digest(_written(seen))
        notices.append(
            f"{info.name}: another model answers than in the last run, with "
            f"{'the vectors of an earlier run' if same else 'other vectors of fixed texts'}; its "
            f"vectors and records have the fingerprint {fingerprint}"
        )
    facts = {"fingerprint": own, "name": info.name, "kind": info.kind}
    content = {name: _written(rows) for name, rows in ({fingerprint: seen} | known).items()}
    with contextlib.suppress(DiskError):  # a read-only store can still be read
        update_model_file(Store(folder, own).files, {**facts, _KNOWN: content, _LAST: fingerprint})
    _become(embedder, fingerprint)
    return notices


def remember(embedder: Embedder, folder: Place) -> None:
    """Give a hosted model the fingerprint of the variant of the last run, without a request."""
    if embedder.info.hosted:
        _become(embedder, _known(folder, _own(embedder.info.fingerprint))[1])


def follow(embedder: Embedder, fingerprint: str) -> None:
    """Give a hosted model the fingerprint from the main process, if it is one of its variants."""
    own = _own(embedder.info.fingerprint)
    if embedder.info.hosted and _own(fingerprint) == own:
        _become(embedder, fingerprint)


def cosine(a: Any, b: Any) -> float:
    """Return the cosine of two vectors; 0 if their lengths differ, or one has no direction."""
    if np.shape(a) != np.shape(b):
        return 0.0
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    norms = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / norms if norms > 0 else 0.0


def _known(folder: Place, own: str) -> tuple[dict[str, Vectors], str]:
    """Return the (2, d) canaries of each known variant by fingerprint, and the last variant.

    What is damaged in the file is left out.
    """
    facts = read_model_file(Store(folder, own).files)
    stated, last = facts.get(_KNOWN), facts.get(_LAST)
    known: dict[str, Vectors] = {}
    for fingerprint, written in stated.items() if isinstance(stated, dict) else ():
        with contextlib.suppress(TypeError, ValueError):
            content = base64.b64decode(written, validate=True)
            rows = np.frombuffer(content, dtype="<f4").reshape(len(CANARY_TEXTS), -1)
            if _own(fingerprint) == own and rows.size and np.isfinite(rows).all():
                known[fingerprint] = rows
    return known, last if isinstance(last, str) and last in known else own


def _encoded(embedder: Embedder) -> Vectors | str:
    """Return the (2, d) canaries of a model; or why there are none."""
    plain: Embedder = getattr(embedder, "unquantized", embedder)
    try:
        result = attempt(plain, CANARY_TEXTS)
    except HarnessError as error:
        return one_line(error)
    if isinstance(result, Failure):
        return result.reason
    return next(iter(result.reasons.values())) if result.reasons else result.vectors


def _own(fingerprint: str) -> str:
    """Return the fingerprint of a model without that of its variant."""
    return fingerprint.partition(VARIANT)[0]


def _become(embedder: Embedder, fingerprint: str) -> None:
    if embedder.info.fingerprint != fingerprint:
        with_info(embedder, lambda info: dataclasses.replace(info, fingerprint=fingerprint))


def _written(canaries: Vectors) -> str:
    return base64.b64encode(canaries.astype("<f4").tobytes()).decode()
