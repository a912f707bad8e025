"""The mitigators of a run: names and Python objects become chains, with the concept of each fit."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, cast

from harness import labels, names
from harness.chain import Chain
from harness.concept import Concept
from harness.digest import digest, json_like
from harness.embedder import ModelInfo
from harness.encode import identity
from harness.errors import HarnessError, NotApplicable, UsageError, one_line
from harness.mitigator import Mitigator, check_needs, clone
from harness.registry.registry import Registry
from harness.results.record_parts import MitigatorPart
from harness.task.task import Task

Row: TypeAlias = str | Mitigator | Sequence[str | Mitigator]
"""A mitigator as users give it: a name, an object, or a chain of these."""
Translation: TypeAlias = Callable[[Concept, str], Concept | None]
"""Returns a concept in another language, or None if there is none."""


def rows(mitigators: Row | Iterable[Row]) -> list[Row]:
    """Return the rows that a user gives, one or several; a chain of names becomes one name.

    Raises
    ------
    UsageError
        If there is none.
    """
    if isinstance(mitigators, str | Mitigator):
        return [mitigators]
    if not isinstance(mitigators, Iterable):
        raise UsageError(f"mitigators: {_expected(mitigators)}")
    listed = list(cast("Iterable[Row]", mitigators))
    if not listed:
        raise UsageError("no mitigator is given; 'none' stands for the unmitigated model")
    return [_joined(row) for row in listed]


def chains(rows: Iterable[Row], registry: Registry) -> dict[str, Chain]:
    """Return the unfitted chain of each row by its label, each label once.

    Parameters
    ----------
    rows
        Each is a name, an object, or a tuple or list of these, which is a chain.
    registry
        Where names are looked up.

    Raises
    ------
    UsageError
        If a name is wrong, an object is no mitigator, or two different rows have one label.
    """
    by_label: dict[str, Chain] = {}
    for row in rows:
        label, unfitted = chain(row, registry)
        other = by_label.setdefault(label, unfitted)
        parts = [mitigator_part(label, same, None).fingerprint for same in (other, unfitted)]
        if parts[0] != parts[1]:
            raise UsageError(
                f"mitigators: two different rows are both called '{label}'; give one class "
                "another name, or the objects arguments that differ"
            )
    return by_label


def chain(row: Row, registry: Registry) -> tuple[str, Chain]:
    """Return the label of a row, and its unfitted chain.

    An object of a registered class is the same mitigator as its name with these options. The code
    of any other class is part of what identifies it.

    Raises
    ------
    UsageError
        If a name is wrong, or an object is no mitigator.
    """
    if isinstance(row, str):
        named = registry.mitigator(row)
        return labels.of_mitigator(row, named.mitigators), cast("Chain", named)
    stage_names: list[str] = []
    stages: list[Mitigator] = []
    sources: list[str] = []
    if not isinstance(row, Mitigator | Sequence):
        raise UsageError(f"mitigators: {_expected(row)}")
    for part in [row] if isinstance(row, Mitigator) else row:
        if isinstance(part, str):
            stage_names += [stage.name for stage in names.mitigators(part)]
            stages += cast("Chain", registry.mitigator(part)).mitigators
            continue
        for mitigator in part.mitigators if isinstance(part, Chain) else [part]:
            stage = _copy(mitigator)
            name = _registered_name(stage, registry)
            sources += _sources(stage, is_registered=name is not None)
            stage_names.append(name or _own_name(stage, registry))
            stages.append(stage)
    label = labels.of_mitigator("+".join(stage_names) or names.NONE, stages)
    return label, Chain(stages, sources=tuple(sources))


def concept_for(
    mitigator: Chain,
    name: str,
    task: Task,
    info: ModelInfo,
    fallback: Concept | None,
    translation: Translation = lambda concept, language: None,
) -> Concept | None:
    """Return the concept to fit a mitigator on for a task: the task's own, else the fallback.

    Either is taken in the language of the task, if it exists in that language. A mitigator that
    changes the words of texts is fitted on no concept in another language.

    Raises
    ------
    NotApplicable
        If neither has what it needs, or it does not work on the kind of embedder.
    """
    if info.kind not in mitigator.all_kinds:
        raise NotApplicable(f"'{name}' does not work on {info.kind} embedders")
    needs, language = mitigator.all_needs, task.file.language
    if not needs:
        return None
    foreign: list[str] = []
    for concept in (task.concept, fallback):
        own = concept and translation(concept, language)
        for candidate in filter(None, (own, concept)):
            if mitigator.monolingual and candidate.language != language:
                foreign.append(f"{candidate.name}-{language}")
            elif candidate.has(needs):
                return candidate
    if foreign:
        files = " or ".join(f"'{missing}'" for missing in dict.fromkeys(foreign))
        raise NotApplicable(
            f"'{name}' changes the words of texts, and those of the task are in '{language}': "
            f"it needs a concept {files} with {' and '.join(needs)}"
        )
    lacks = f"its concept '{task.concept.name}' lacks them" if task.concept else "it has no concept"
    other = f", and '{fallback.name}' lacks them" if fallback else ""
    raise NotApplicable(f"'{name}' needs {' and '.join(needs)} of a concept; {lacks}{other}")


def mitigator_part(
    name: str, mitigator: Chain, concept: Concept | None, *, localized: Chain | None = None
) -> MitigatorPart:
    """Return a mitigator as records name it.

    Parameters
    ----------
    name
        The name that users type.
    mitigator
        The mitigator of that name, unfitted.
    concept
        Concept that it is fitted on; None if it needs none.
    localized
        What stands for it in texts of another language; None if it is the same in all. Label and
        parameters stay as typed. The fingerprint is its own, and `method`, by which the rows of one
        label are compared, is left empty.
    """
    params: dict[str, Any] = {}
    for stage_name, stage in zip(names.mitigators(name), mitigator.mitigators, strict=True):
        key = stage_name.name
        while key in params:
            key += "'"
        params[key] = json_like(stage.settings)
    plain = names.plain(name)
    content = digest(concept.content()) if concept else None
    depends_on = (localized or mitigator).depends_on
    fingerprint = digest([plain, params, content, *depends_on])
    method = "" if localized else digest([plain, params, *depends_on])
    params = labels.public(params)
    return MitigatorPart(
        name=plain,
        label=labels.of_mitigator(name, mitigator.mitigators),
        params=params[plain] if list(params) == [plain] else params,
        concept=concept.name if concept else None,
        fingerprint=fingerprint,
        method=method,
    )


def _joined(row: Row) -> Row:
    if isinstance(row, list | tuple) and row and all(isinstance(part, str) for part in row):
        return "+".join(cast("Sequence[str]", row))
    return row


def _registered_name(stage: Mitigator, registry: Registry) -> str | None:
    """Return the name under which a plugin registers the class of a mitigator, or None."""
    for name, spec in registry.mitigators.items():
        module, _, attribute = spec.target.partition(":")
        if getattr(sys.modules.get(module), attribute, None) is type(stage):
            return name
    return None


def _own_name(stage: Mitigator, registry: Registry) -> str:
    """Return the name of a class that no plugin registers.

    Raises
    ------
    UsageError
        If a plugin registers another mitigator under this name.
    """
    name = type(stage).__name__
    if name in registry.mitigators:
        raise UsageError(f"mitigators: '{name}' is registered already; rename this class")
    return name


def _sources(stage: Mitigator, *, is_registered: bool) -> list[str]:
    """Return what identifies the code of a mitigator: its own class, and functions it is given."""
    functions = {
        name: identity.of_function(value)
        for name, value in sorted(stage.get_params(deep=False).items())
        if callable(value) and not isinstance(value, type)
    }
    own = [] if is_registered else [identity.of_class(type(stage))]
    return [digest([*own, functions])] if own or functions else []


def _copy(stage: Mitigator) -> Mitigator:
    """Return an unfitted copy of a mitigator, so that the user's object stays as it is.

    Raises
    ------
    UsageError
        If it is no mitigator, or cannot be copied.
    """
    if not isinstance(stage, Mitigator):
        raise UsageError(f"mitigators: {_expected(stage)}")
    try:
        copy = clone(stage)
    except Exception as error:  # scikit-learn's rules for estimators are broken
        raise UsageError(
            f"mitigators: {type(stage).__name__} cannot be copied: its arguments must be stored "
            f"untouched under their own names ({one_line(error)})"
        ) from error
    try:
        check_needs(copy, f"mitigator '{type(stage).__name__}'")
    except HarnessError as error:
        raise UsageError(str(error)) from None
    return copy


def _expected(value: Any) -> str:
    problem = f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
    return f"expected a name, a harness.Mitigator, or a chain of these, not {problem}"
