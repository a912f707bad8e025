"""The base class of mitigators.

Knows no method: mitigators are plugins (`harness.plugins.mitigators` has the built-in ones).
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeAlias, TypeVar, cast

import numpy as np

from harness.arrays import Floats, Reals, Vectors, unit_rows
from harness.concept import Concept
from harness.embedder import Embedder, Kind
from harness.errors import HarnessError, NotApplicable, suggestion


@dataclass(frozen=True)
class Affine:
    """The step x ↦ Wx + b.

    Parameters
    ----------
    matrix
        (m, d) W.
    offset
        (m,) b; None for 0.
    """

    matrix: Floats
    offset: Floats | None = None


Step: TypeAlias = "Affine | Literal['unit']"
"""What is done to each vector: an affine step, or its length is set to 1 (0 stays 0)."""


@dataclass(frozen=True)
class Map:
    """What a fitted mitigator does to any text, in steps that need neither it nor the harness.

    Parameters
    ----------
    steps
        What is done to a vector, in order.
    sentences
        Sentences that are added after each text before it is embedded, in order.
    omits
        What the mitigator does beyond these steps, a line each, such as to single words.
    """

    steps: tuple[Step, ...] = ()
    sentences: tuple[str, ...] = ()
    omits: tuple[str, ...] = ()

    def then(self, other: Map) -> Map:
        """Return this map, then the other one, in as few steps as possible.

        Affine steps after each other become one, and a length that is 1 already is not set again.
        """
        steps: list[Step] = list(self.steps)
        for step in other.steps:
            before = steps[-1] if steps else None
            if isinstance(step, Affine) and isinstance(before, Affine):
                steps[-1] = _product(step, before)
            elif step != "unit" or before != "unit":
                steps.append(step)
        sentences = (*self.sentences, *other.sentences)
        return Map(tuple(steps), sentences, (*self.omits, *other.omits))

    def apply(self, vectors: Reals) -> Floats:
        """Return the (n, m) vectors that the steps make of (n, d) vectors, in float64."""
        rows = np.asarray(vectors, dtype=np.float64)
        for step in self.steps:
            if isinstance(step, Affine):
                rows = rows @ step.matrix.T + (0.0 if step.offset is None else step.offset)
            else:
                rows = unit_rows(rows)
        return rows


def _product(second: Affine, first: Affine) -> Affine:
    offset = None if first.offset is None else second.matrix @ first.offset
    if second.offset is not None:
        offset = second.offset if offset is None else offset + second.offset
    return Affine(second.matrix @ first.matrix, offset)


class Mitigator:
    """Turns an embedder into one with less of a concept in it.

    It has the interface of a scikit-learn estimator: hyper-parameters are keyword arguments of
    `__init__`, stored untouched; what `fit` learns ends in an underscore; `get_params`,
    `set_params`, scikit-learn's `clone` and `ParameterGrid` work. Its base class is not
    scikit-learn's, whose import takes a second in each process. Override `rewrite` to change the
    texts before they are embedded, `transform` to change the vectors, or both.

    Attributes
    ----------
    kinds
        Kinds of embedder that it works on.
    needs
        Names of the concept's fields that `fit` reads, such as `definitional_pairs`, or
        `definitional_pairs or specific_words` where either is enough. Empty if the mitigator does
        not depend on the concept.
    later_parameters
        Parameters that were added after records of the mitigator existed. At their defaults they
        are not part of a record's id, so that those records stay valid.
    monolingual
        Whether it adds or swaps words of its concept in texts. The concept must then be in the
        language of the task, since words of another language would make its texts meaningless.
    control
        Whether it is a control of measures that mitigates nothing, such as noise or planted bias.
        Records say so, and boards never rank it.
    """

    kinds: ClassVar[tuple[Kind, ...]] = ("word", "text")
    needs: ClassVar[tuple[str, ...]] = ()
    later_parameters: ClassVar[tuple[str, ...]] = ()
    monolingual: ClassVar[bool] = False
    control: ClassVar[bool] = False

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the hyper-parameters by name; `deep` has no effect (scikit-learn passes it)."""
        parameters = inspect.signature(type(self)).parameters.values()
        if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
            raise TypeError(f"{named(self)}: `__init__` must name its arguments, without `*args`")
        names = (p.name for p in parameters if p.kind is not p.VAR_KEYWORD)
        return {name: getattr(self, name) for name in sorted(names)}

    def set_params(self, **params: Any) -> Self:
        """Set hyper-parameters by name; return self."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{named(self)} has no parameter {name!r}, only {sorted(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        parameters = inspect.signature(type(self)).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if repr(value) != repr(parameters[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters that identify the mitigator, by name."""
        settings: dict[str, Any] = self.get_params(deep=False)
        for name in self.later_parameters:
            if settings[name] == inspect.signature(type(self)).parameters[name].default:
                del settings[name]
        return settings

    def check_options(self) -> None:
        """Raise InvalidOption if an option is out of its range.

        It is called when the name is resolved, before anything is encoded. `fit` should call it,
        too, for a mitigator that is created in Python.
        """

    def in_language(self, language: str) -> Mitigator:
        """Return the unfitted mitigator for texts in a language, by its ISO 639-1 code: itself.

        Override it in a mitigator that needs no concept and works in one language at a time.

        Raises
        ------
        NotApplicable
            If it does not work in this language.
        """
        return self

    def fitting_texts(self, concept: Concept | None) -> list[str]:
        """Return the texts that `fit` learns from.

        The plan encodes them with all other texts. A record lists the texts of its task that are
        among them, since that is a leak from evaluation into fitting, and counts the texts that
        hold one of them as a word. For sentences, the words of the concept's lists are counted.
        """
        return []

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Learn from `embedder` and `concept` what to change; return self.

        A mitigator that overrides `rewrite` is fitted before anything is encoded. It learns from
        the concept alone: the embedder that it gets has only `info`.

        Raises
        ------
        NotApplicable
            If the concept lacks a field that is needed, or the fit is singular.
        """
        return self

    def rewrite(self, texts: Sequence[str]) -> list[str]:
        """Return the `n` texts to embed in place of `texts`.

        The result for a text must depend on that text alone: each text is rewritten once.
        """
        return list(texts)

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return (n, d) float32 vectors to use in place of `vectors`, (n, d), of `texts`.

        `texts` are as in the task, before `rewrite`. Rows of NaN stay NaN. The result for a row
        must depend on that row and its text alone: each text is transformed once, even if several
        tasks use it.
        """
        return np.asarray(vectors, dtype=np.float32)

    def as_map(self) -> Map:
        """Return what the fitted mitigator does to any text, as a map.

        With this method a mitigator can be exported into a model, and used in scikit-learn.

        Raises
        ------
        NotApplicable
            If it is no such map, with the reason.
        """
        if self.rewrites or self.transforms:
            what = "rewrites texts" if self.rewrites else "is no map of a vector alone"
            raise NotApplicable(f"{named(self)} {what}, so it cannot become part of a model")
        return Map()

    def reads(self, texts: Sequence[str], concept: Concept | None) -> list[str]:
        """Return the further texts whose vectors `transform` needs to change `texts`.

        The plan calls this before anything is encoded, and encodes these texts with all others. At
        that time only mitigators that rewrite texts are fitted. Texts that are not listed here are
        encoded when `transform` asks for them, which is slower.
        """
        return []

    @property
    def depends_on(self) -> Any:
        """What the outcome depends on besides hyper-parameters, concept and embedder.

        JSON-like, such as the hash of a file or the version of a tool. It is part of the
        fingerprint in records. Read from an unfitted mitigator, once a run.
        """
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """Facts about its work so far that the user should know, a line each.

        They are printed when a run ends.
        """
        return ()

    @property
    def missing_words(self) -> tuple[str, ...]:
        """The words that it was to be fitted on and that the embedder lacks: its `missing_`."""
        return tuple(getattr(self, "missing_", ()))

    @property
    def rewrites(self) -> bool:
        """Whether it changes texts. Such a mitigator is fitted when the plan is made."""
        return type(self).rewrite is not Mitigator.rewrite

    @property
    def transforms(self) -> bool:
        """Whether it changes vectors."""
        return type(self).transform is not Mitigator.transform


Cloned = TypeVar("Cloned")
_COLLECTIONS = (list, tuple, set, frozenset)


def clone(value: Cloned) -> Cloned:
    """Return an unfitted mitigator with the hyper-parameters of a mitigator.

    As scikit-learn's `clone`: mitigators and estimators among the hyper-parameters are cloned,
    alone or in a list, and other values are copied.

    Raises
    ------
    RuntimeError
        If a constructor changes a hyper-parameter.
    """
    copied: Any = value
    if isinstance(value, Mitigator):
        parameters = {name: clone(part) for name, part in value.get_params(deep=False).items()}
        copied = type(value)(**parameters)
        for name, stored in copied.get_params(deep=False).items():
            if stored is not parameters[name]:
                raise RuntimeError(f"the constructor of {named(value)} changes {name!r}")
    elif isinstance(value, dict) and type(value) is dict:
        copied = {key: clone(part) for key, part in value.items()}
    elif isinstance(value, list | tuple | set | frozenset) and type(value) in _COLLECTIONS:
        copied = type(value)(clone(part) for part in value)
    elif hasattr(value, "__sklearn_clone__") and not isinstance(value, type):
        copied = value.__sklearn_clone__()
    else:
        copied = copy.deepcopy(value)
    return cast("Cloned", copied)


def named(mitigator: Mitigator) -> str:
    """Return the name of a mitigator in messages: its class and its module."""
    return f"the mitigator {type(mitigator).__name__} ({type(mitigator).__module__})"


def checked(mitigator: Mitigator, before: Reals, after: Reals) -> Reals:
    """Return what `transform` returned for `before`, (n, d).

    Raises
    ------
    HarnessError
        If it is not a finite vector for each finite vector before it.
    """
    if np.ndim(after) != 2 or len(after) != len(before):
        raise HarnessError(
            f"{named(mitigator)} returned an array of shape {np.shape(after)} "
            f"for {len(before)} texts"
        )
    with np.errstate(invalid="ignore", over="ignore"):
        # The sum of a row is finite only if the row is; it takes no second array of that size.
        not_finite = np.isfinite(np.sum(before, axis=1)) & ~np.isfinite(np.sum(after, axis=1))
    if not_finite.any():
        raise HarnessError(
            f"{named(mitigator)} returned NaN or infinity for {not_finite.sum()} of "
            f"{len(before)} vectors"
        )
    return after


def check_needs(mitigator: Mitigator, what: str) -> None:
    """Raise HarnessError if `needs` names an unknown field of a concept; `what` is its owner."""
    needs = mitigator.needs
    if not isinstance(needs, tuple | list) or not all(isinstance(need, str) for need in needs):
        raise HarnessError(
            f"{what}: `needs` must be a tuple of names of a concept's fields, not {needs!r}; "
            "() if it needs none"
        )
    for need in (name for either in needs for name in either.split(" or ")):
        if need not in Concept.model_fields:
            near = suggestion(need, Concept.model_fields)
            raise HarnessError(
                f"{what} needs '{need}', which is no field of a concept{near}; "
                "`needs` must be a tuple of names of a concept's fields"
            )
