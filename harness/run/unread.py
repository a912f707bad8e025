"""Which texts a model cannot read: no difference between texts that it reads alike is no fairness.

In a task of bias, a text counts as missing where the model does not know the word that differs,
such as a name that its tokenizer has no token for: no word of the item, or a word that the other
texts of the row lack. So it does where it gets the vector of another text: the words that differ
were cut off, say, or their order is not read. Where documents are ranked, equal vectors are ties,
unless the model says that it did not read the text whole.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from harness.arrays import Mask, Vectors, has_direction
from harness.embedder import one_width
from harness.encode.stored_embedder import StoredEmbedder
from harness.letters import words
from harness.metrics import Metric
from harness.task.inputs import Input

SAME = 1e-5
"""Largest relative difference of vectors that count as equal: rounding in batches is as large."""


class Unread:
    """The rows of tasks that one encoder cannot read; those as written are looked for once.

    Parameters
    ----------
    embedder
        The model.
    """

    def __init__(self, embedder: StoredEmbedder) -> None:
        self._embedder = embedder
        # By metric and inputs, which are kept so that no others have their ids.
        self._known: dict[tuple[object, ...], tuple[dict[str, Input], dict[str, Mask]]] = {}

    def rows(
        self,
        metric: Metric,
        inputs: Mapping[str, Input],
        texts_of: Callable[[Input], Sequence[str]],
        vectors_of: Callable[[Input], Vectors],
    ) -> dict[str, Mask]:
        """Return the (n,) mask of the unread rows of inputs of texts, by their name.

        Parameters
        ----------
        metric, inputs
            The metric and its inputs; if it says which a bias moves apart, only these count.
        texts_of, vectors_of
            Return the texts of an input as the model gets them, and their (n, d) vectors before
            any mitigator changes them.
        """
        moved = metric.contrast and (*metric.contrast.sides, *metric.contrast.towards)
        of_texts = {n: i for n, i in inputs.items() if i.texts and n in (moved or inputs)}
        texts = {input_.name: texts_of(input_) for input_ in of_texts.values()}
        is_rewritten = any(tuple(texts[i.name]) != i.texts for i in of_texts.values())
        key = (metric.name, *map(id, of_texts.values()))
        if not is_rewritten and key in self._known:
            return self._known[key][1]
        vectors = {input_.name: vectors_of(input_) for input_ in of_texts.values()}
        sets = _sets(metric, of_texts)
        masks = read_alike(sets, texts, vectors)
        for input_ in of_texts.values():
            rows = masks[input_.name]
            if metric.compares and metric.compares.ranks and rows.any():
                rows &= _misread(self._embedder, input_, texts[input_.name])
        for name, rows in unknown(sets, texts, self._embedder.lacks).items():
            masks[name] |= rows
        if not is_rewritten:  # the same texts come again, under the next mitigator
            self._known[key] = of_texts, masks
        return masks


def _sets(metric: Metric, inputs: Mapping[str, Input]) -> list[list[Input]]:
    """Return the inputs that are compared: of one role, and of one table if it has several."""
    documents = metric.compares.documents if metric.compares and metric.compares.ranks else ()
    second = metric.contrast.towards if metric.contrast else documents
    roles = {name: (input_.group, name in second) for name, input_ in inputs.items()}
    n = Counter(roles.values())
    sets: dict[tuple[str, bool], list[Input]] = {}
    for name, role in roles.items():
        sets.setdefault(role if n[role] > 1 else ("", role[1]), []).append(inputs[name])
    return list(sets.values())


def _is_parallel(inputs: Sequence[Input]) -> bool:
    return len(inputs) > 1 and len({input_.group for input_ in inputs}) == 1


def _misread(embedder: StoredEmbedder, input_: Input, texts: Sequence[str]) -> Mask:
    """Return which texts a model cuts, or has words of that it does not know.

    In a ranking, other texts with one vector are ties: who is blind to a name is fair to it.
    """
    with embedder.reading(input_.role):
        cut = embedder.truncated(texts) or [False] * len(texts)
    of_texts = [_words(text) for text in texts]
    lacking = _lacking(of_texts, embedder.lacks)
    return np.array(cut) | [not lacking.isdisjoint(own) for own in of_texts]


def _lacking(
    of_texts: Iterable[frozenset[str]], lacks: Callable[[Sequence[str]], Sequence[bool]]
) -> frozenset[str]:
    """Return the words that the model does not know."""
    every = sorted(frozenset[str]().union(*of_texts))
    return frozenset(itertools.compress(every, lacks(every)))


def unknown(
    sets: Sequence[Sequence[Input]],
    texts: Mapping[str, Sequence[str]],
    lacks: Callable[[Sequence[str]], Sequence[bool]],
) -> dict[str, Mask]:
    """Return by input the (n,) mask of the rows whose word that differs the model does not know.

    Parameters
    ----------
    sets, texts, lacks
        As in `read_alike`; `lacks` returns of each word whether the model does not know it.
    """
    inputs = list(itertools.chain(*sets))
    items = {i.name: [_words(item) for item in i.items] for i in inputs}
    parallel = [[input_.name for input_ in part] for part in sets if _is_parallel(part)]
    rows = {name: [_words(text) for text in texts[name]] for name in itertools.chain(*parallel)}
    lacking = _lacking(itertools.chain(*items.values(), *rows.values()), lacks)
    if not lacking:
        return {}
    masks = {}
    for input_ in inputs:
        of_items = np.array([bool(own) and own <= lacking for own in items[input_.name]])
        masks[input_.name] = of_items[input_.clusters]
    for names in parallel:
        for row, of_row in enumerate(zip(*(rows[name] for name in names), strict=True)):
            shared = frozenset.intersection(*of_row)
            for name, own in zip(names, of_row, strict=True):
                masks[name][row] |= bool((own - shared) & lacking)
    return masks


def read_alike(
    sets: Sequence[Sequence[Input]],
    texts: Mapping[str, Sequence[str]],
    vectors: Mapping[str, Vectors],
) -> dict[str, Mask]:
    """Return by input the (n,) mask of the rows with the vector of another text.

    In inputs of one table that is another text of the row, in other sets one of another input. In
    a single input it is one of another item: a bag of words reads two frames of one word alike.
    Texts that differ in case, punctuation or accents of Latin letters do not count as others.

    Parameters
    ----------
    sets
        The inputs that are compared, in sets.
    texts, vectors
        The n texts and (n, d) vectors of each input, by its name.
    """
    inputs = list(itertools.chain(*sets))
    if not inputs:
        return {}
    codes = _codes(np.concatenate(one_width([vectors[input_.name] for input_ in inputs])))
    repeated = np.bincount(codes[codes >= 0], minlength=1) > 1
    rows = np.flatnonzero((codes >= 0) & repeated[codes])
    places: list[tuple[int, int]] = []
    among: list[tuple[int, int]] = []  # texts are others of each other only if this is equal
    forms: list[str] = []
    for k, part in enumerate(sets):
        is_parallel = _is_parallel(part)
        for input_ in part:
            items = input_.clusters if len(part) == 1 else np.zeros(len(input_), dtype=np.int64)
            places += [(len(forms), item) for item in items.tolist()]
            among += [(k, row if is_parallel else -1) for row in range(len(input_))]
            forms += texts[input_.name]
    of_rows = [((codes[r], among[r]), _form(forms[r]), places[r]) for r in rows.tolist()]
    # Rows of one vector, less those of the row's form, less those of its place in other forms.
    n = Counter(code for code, _, _ in of_rows)
    n_form = Counter((code, form) for code, form, _ in of_rows)
    n_place = Counter((code, place) for code, _, place in of_rows)
    n_same = Counter(of_rows)
    unread = np.zeros(len(codes), dtype=bool)
    unread[rows] = [
        n[code] - n_form[code, form] > n_place[code, place] - n_same[code, form, place]
        for code, form, place in of_rows
    ]
    ends = itertools.accumulate(len(input_) for input_ in inputs)
    parts = np.split(unread, list(ends)[:-1])
    return {input_.name: part for input_, part in zip(inputs, parts, strict=True)}


def _words(text: str) -> frozenset[str]:
    """Return the words of a text, without the single letters that contractions leave."""
    return frozenset(word for word in words(text) if len(word) > 1 or not word.isascii())


def _form(text: str) -> str:
    """Return a text without case, punctuation, spaces and the accents of Latin letters."""
    apart = unicodedata.normalize("NFD", text.casefold())
    kept = (c for c in apart if not "\u0300" <= c <= "\u036f")
    return "".join(c for c in kept if unicodedata.category(c)[0] not in "PZC")


def _codes(vectors: Vectors) -> npt.NDArray[np.int64]:
    """Return a code of each row of (n, d) vectors, equal for equal rows; -1 without a vector.

    Rows are sorted along a random direction, in which equal rows are neighbours.
    """
    codes = np.full(len(vectors), -1)
    usable = np.flatnonzero(has_direction(vectors))
    rows = vectors[usable]
    if not len(rows):
        return codes
    direction = np.random.default_rng(0).standard_normal(rows.shape[1], dtype=np.float32)
    along = rows @ direction
    order = np.argsort(along, kind="stable")
    largest = np.abs(rows).max(axis=1)[order]
    near = np.abs(np.diff(along[order])) <= 100 * SAME * largest[1:]
    alike = np.flatnonzero(near)
    apart = np.abs(rows[order[alike]] - rows[order[alike + 1]]).max(axis=1)
    same = np.zeros(len(rows), dtype=bool)
    same[alike + 1] = apart <= SAME * largest[alike + 1]
    codes[usable[order]] = np.cumsum(~same)
    return codes
