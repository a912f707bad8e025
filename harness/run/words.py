"""Own word lists: sets of words become a task, which `evaluate` scores by every metric they allow.

A list comes from a CSV or JSON file, from options or from Python. There is no second way to score:
the task is the one that `--write-task` writes, and its values are those of `harness eval` on it.
"""

from __future__ import annotations

import csv
import io
import json
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from harness import folders, limits
from harness.digest import digest
from harness.embedder import Embedder, Kind, is_embedder, reads_texts
from harness.encode.spellings import Spellings
from harness.errors import HarnessError, InvalidFile, InvalidOption, UsageError, listed, suggestion
from harness.folders import Place
from harness.letters import composed
from harness.names import NONE
from harness.progress import Progress
from harness.registry.registry import Registry, with_concepts_beside
from harness.results.records import NotRunWarning, Records
from harness.run import evaluation
from harness.run.plan import Row
from harness.run.settings import paths
from harness.run.tasks import Added

NAME = "own-words"
"""Name of the task if the lists come from no file."""
SENTENCES = "-sentences"
"""Ends the name of the task for text encoders, which reads the words in sentences."""
TEMPLATES = ("This is {text}.", "That is {text}.", "It is {text}.")
"""Plain sentences, after May et al. (2019), that take an English word of any class."""
YARDSTICKS: Mapping[Kind, str] = {"word": "yardstick-words", "text": "yardstick-sentences"}
"""Yardstick of the association of four sets, in English."""
ENGLISH = "en"
TARGETS, ATTRIBUTES = "targets", "attributes"
MOST = {TARGETS: 4, ATTRIBUTES: 3}
"""Largest number of sets of a role that a metric takes."""
_ROLE = re.compile(r"(targets?|attributes?)[_ -]?([1-9])?")
_UNIT: dict[str, Any] = {"unit_length": True}
"""Vectors of length 1: otherwise models cannot be compared, as in the tasks of WEFE's queries."""


@dataclass(frozen=True)
class WordSets:
    """Sets of words by role and name.

    Parameters
    ----------
    targets
        The sets of groups, such as names of men and of women.
    attributes
        The sets of what they are associated with, such as career and family.
    name
        Name of the task.
    source
        Where the lists come from, for people.
    is_named
        Whether the user chose the name; if not, the digest of the content becomes its end, since
        two lists may be called alike.
    """

    targets: Mapping[str, Sequence[str]]
    attributes: Mapping[str, Sequence[str]]
    name: str = NAME
    source: str = "own word lists"
    is_named: bool = False

    @property
    def sets(self) -> dict[str, tuple[str, ...]]:
        """All sets by name, each word once."""
        both = {**self.targets, **self.attributes}
        return {name: tuple(dict.fromkeys(words)) for name, words in both.items()}

    @property
    def pairs(self) -> list[list[str]]:
        """Word i of the first and of the second target set; none if their numbers differ."""
        first, second = [*map(list, self.targets.values()), [], []][:2]
        if len(first) != len(second):
            return []
        return [[one, other] for one, other in zip(first, second, strict=True) if one != other]

    def as_read(self, embedders: Sequence[Embedder]) -> tuple[WordSets, list[str]]:
        """Return the sets with one form of words that all models read alike, and a line on it."""
        every = [word for words in self.sets.values() for word in words]
        read = [Spellings.of(every, embedder.encode) for embedder in embedders]
        form: dict[str, str] = {}
        for word in every:
            alike = set.intersection(*(s.like([word]) for s in read)) if read else set[str]()
            form.setdefault(word, min((form[w] for w in alike & form.keys()), default=word))
        others = {word: first for word, first in form.items() if word != first}
        sets = (
            {name: [form[word] for word in words] for name, words in sets.items()}
            for sets in (self.targets, self.attributes)
        )
        targets, attributes = sets
        first = _listed(dict.fromkeys(others.values()))
        lines = [f"{_listed(others)}: read as {first}, whose vector is the same"] if others else []
        return replace(self, targets=targets, attributes=attributes), lines

    def warnings(self) -> Iterator[str]:
        """Yield what is seldom meant: repeated words, words in two sets, unequal sizes."""
        for name, words in {**self.targets, **self.attributes}.items():
            repeated = [word for word, times in Counter(words).items() if times > 1]
            if repeated:
                yield f"set '{name}' repeats {_listed(repeated)}; a word counts once"
        for (first, words), (second, others) in combinations(self.sets.items(), 2):
            if shared := [word for word in words if word in others]:
                yield f"{_listed(shared)} stands in two sets, '{first}' and '{second}'"
        for role, sets in ((TARGETS, self.targets), (ATTRIBUTES, self.attributes)):
            sizes = {name: len(self.sets[name]) for name in sets}
            if len(set(sizes.values())) > 1:
                counts = ", ".join(f"'{name}' {n}" for name, n in sizes.items())
                pairs = ""
                if role == TARGETS and not self.pairs:
                    pairs = "; so they are no pairs, which RIPA and direct bias need"
                yield f"the {role} are of unequal size: {counts}{pairs}"


def _listed(words: Iterable[str]) -> str:
    return listed((f"'{word}'" for word in words), 5)


# Reads lists: a CSV or JSON file, or sets by name.


def read_file(path: Path) -> WordSets | dict[str, list[str]]:
    """Return the sets in a CSV or JSON file: with their roles, if the file states them.

    Raises
    ------
    InvalidFile
        If it cannot be read, or has a mistake in it.
    UsageError
        If it is neither a CSV nor a JSON file.
    """
    if path.suffix.lower() == ".json":
        return _of_json(path)
    if path.suffix.lower() in (".csv", ".tsv"):
        return _of_csv(path)
    raise UsageError(f"'{path}': expected a .csv, .tsv or .json file of word sets")


def _of_csv(path: Path) -> dict[str, list[str]]:
    """Return the columns of a file, or the words by set of a file with the columns set and word."""
    text = folders.read_text(path, limits.YAML_BYTES)
    first = text.split("\n", 1)[0]
    excel = re.fullmatch("sep=(.)\r?", first, re.IGNORECASE)  # Excel reads this line itself
    delimiter = excel[1] if excel else max("\t,;", key=first.count)
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise InvalidFile(f"not CSV: {error}", path=path) from None
    rows = rows[1:] if excel else rows
    header = [cell.strip() for cell in rows[0]] if rows else []
    while header and not header[-1]:
        header.pop()
    if not header:
        raise InvalidFile("empty; the first line names the sets", path=path, line=1)
    for i, name in enumerate(header):
        if not name or name in header[:i]:
            problem = f"a second column '{name}'" if name else f"column {i + 1} has no name"
            raise InvalidFile(f"{problem}; each column is a set", path=path, line=1)
    sets: dict[str, list[str]] = {}
    is_long = [name.lower() for name in header] == ["set", "word"]
    if not is_long:
        sets = {name: [] for name in header}
    for line, row in enumerate(rows[1:], start=3 if excel else 2):
        cells = [cell.strip() for cell in row]
        if any(cells[len(header) :]):
            problem = f"{len(cells)} cells for {len(header)} columns"
            raise InvalidFile(problem, path=path, line=line)
        if is_long:
            if any(cells):
                if len(cells) < 2 or not all(cells[:2]):
                    raise InvalidFile("expected a set and a word", path=path, line=line)
                sets.setdefault(cells[0], []).append(cells[1])
        else:
            for name, cell in zip(header, cells, strict=False):
                if cell:
                    sets[name].append(cell)
    for name, words in sets.items():
        if not words:
            raise InvalidFile(f"column '{name}' has no words", path=path, line=1)
    if not sets:
        raise InvalidFile("no words below the first line", path=path, line=1)
    return sets


def _of_json(path: Path) -> WordSets | dict[str, list[str]]:
    """Return sets by role, also of a query of WEFE, or sets by name."""
    text = folders.read_text(path, limits.YAML_BYTES)
    try:
        data = json.loads(text, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        raise InvalidFile(f"not JSON: {error.msg}", path=path, line=error.lineno) from None
    except RecursionError:
        raise InvalidFile("not JSON: nested too deeply", path=path) from None
    except ValueError as error:  # a repeated key, or a number of thousands of digits
        raise InvalidFile(f"not JSON: {error}", path=path) from None
    if not isinstance(data, dict) or not data:
        raise InvalidFile(
            'expected {"targets": {"name": ["word", …], …}, "attributes": {…}}', path=path
        )
    roles: dict[str, dict[str, list[str]]] = {}
    for role in (TARGETS, ATTRIBUTES):
        wefe = f"{role[:-1]}_sets"
        key = wefe if wefe in data else role
        if key in data:
            roles[role] = _sets_in(data[key], data.get(f"{wefe}_names"), key, path)
    if not roles:
        return _sets_in(data, None, "", path)
    if len(roles) < 2:
        missing = ATTRIBUTES if TARGETS in roles else TARGETS
        raise InvalidFile(f"missing key '{missing}'", path=path)
    if shared := set(roles[TARGETS]) & set(roles[ATTRIBUTES]):
        problem = f"'{min(shared)}' is a set of targets and of attributes; names must differ"
        raise InvalidFile(problem, path=path)
    return WordSets(roles[TARGETS], roles[ATTRIBUTES])


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    repeated = [key for key, times in Counter(key for key, _ in pairs).items() if times > 1]
    if repeated:
        raise ValueError(f"a second '{repeated[0]}'")
    return dict(pairs)


def _sets_in(value: Any, labels: Any, key: str, path: Path) -> dict[str, list[str]]:
    """Return the sets of a mapping, or of a list of sets with or without names beside it."""
    if isinstance(value, list):
        if not isinstance(labels, list) or len(labels) != len(value):
            labels = [
                f"{key.removesuffix('_sets').rstrip('s')}s_{i + 1}" for i in range(len(value))
            ]
        value = dict(zip(map(str, labels), value, strict=True))
    if not isinstance(value, dict) or not value:
        raise InvalidFile('expected sets by name, {"name": ["word", …]}', path=path, key=key)
    sets = {}
    for name, words in value.items():
        place = f"{key}.{name}" if key else name
        if not isinstance(words, list) or not words:
            raise InvalidFile('expected a list of words, ["word", …]', path=path, key=place)
        for word in words:
            if not _is_word(word):
                raise InvalidFile(f"expected a word, not {word!r}", path=path, key=place)
        sets[name] = [word.strip() for word in words]
    return sets


def with_roles(
    sets: Mapping[str, Sequence[str]],
    *,
    targets: Sequence[str] = (),
    attributes: Sequence[str] = (),
    name: str = NAME,
    source: str = "own word lists",
) -> WordSets:
    """Return sets with their roles: as stated, by names such as `targets_1`, or by their order.

    By order, the first two sets are the targets.

    Parameters
    ----------
    sets
        The words by name of the set.
    targets, attributes
        The names of the sets of each role; those that are in neither are not used.
    name, source
        As in `WordSets`.

    Raises
    ------
    UsageError
        If there are too few or too many sets, or a name is unknown.
    """
    for set_name in (*targets, *attributes):
        if set_name not in sets:
            raise UsageError(f"there is no set '{set_name}'{suggestion(set_name, sets)}")
    if targets or attributes:
        rest = [other for other in sets if other not in (*targets, *attributes)]
        chosen = targets or rest, attributes or rest
    else:
        roles = {other: match[1] for other in sets if (match := _ROLE.fullmatch(other.lower()))}
        if roles and len(roles) == len(sets):
            ordered = sorted(sets, key=str.lower)
            chosen = (
                [other for other in ordered if roles[other].startswith("target")],
                [other for other in ordered if roles[other].startswith("attribute")],
            )
        else:
            if len(sets) > 4:
                raise UsageError(
                    f"{len(sets)} sets: say which are compared, with --targets NAME,NAME and "
                    "--attributes NAME,NAME"
                )
            chosen = list(sets)[:2], list(sets)[2:]
    for role, members in zip((TARGETS, ATTRIBUTES), chosen, strict=True):
        if not members:
            known = "1 set" if len(sets) == 1 else f"{len(sets)} sets"
            raise UsageError(
                f"{known}, and none of {role}: expected two sets of targets, and one or two of "
                "attributes, such as male, female, career, family"
            )
        if len(members) > MOST[role]:
            raise UsageError(f"{len(members)} sets of {role}: metrics take up to {MOST[role]}")
    if both := set(chosen[0]) & set(chosen[1]):
        raise UsageError(f"set '{min(both)}' cannot be of the targets and of the attributes")
    return WordSets(
        {other: tuple(sets[other]) for other in chosen[0]},
        {other: tuple(sets[other]) for other in chosen[1]},
        name,
        source,
    )


# Makes the task.


@dataclass(frozen=True)
class Reading:
    """How the words are read.

    Parameters
    ----------
    language
        ISO 639 code of their language.
    concept
        The concept that they are about; mitigators are fitted on it.
    templates
        Sentences that a text encoder reads the words in; by default `TEMPLATES` in English, and
        the bare words in other languages.
    """

    language: str = ENGLISH
    concept: str | None = None
    templates: Sequence[str] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """The templates, or their default."""
        return tuple(self.templates) or (TEMPLATES if self.language == ENGLISH else ())


@dataclass(frozen=True)
class OwnTask:
    """A task of own word lists.

    Parameters
    ----------
    content
        The task, as in a task file.
    warnings
        What was left out of it, and why.
    """

    content: dict[str, Any]
    warnings: list[str] = field(default_factory=list)

    @property
    def yaml(self) -> str:
        """The text of its task file."""
        import yaml

        text: str = yaml.safe_dump(
            self.content, sort_keys=False, allow_unicode=True, width=96, default_flow_style=None
        )
        return text


def task_of(sets: WordSets, kind: Kind, reading: Reading, registry: Registry) -> OwnTask:
    """Return the task of word sets for one kind of embedder.

    Metrics that need sets without a word in common are left out where they share one.

    Raises
    ------
    UsageError
        If no metric fits the sets.
    """
    targets = {f"targets_{i}": name for i, name in enumerate(sets.targets, start=1)}
    attributes = {f"attributes_{i}": name for i, name in enumerate(sets.attributes, start=1)}
    members = {role: sets.sets[name] for role, name in (targets | attributes).items()}
    uses = _uses(len(targets), len(attributes), has_pairs=bool(sets.pairs))
    left_out: dict[str, list[str]] = {}
    for name in list(uses):
        metric, its = registry.metric(name), uses[name].get("inputs", {})
        for pair in metric.disjoint:
            first, second = (members.get(its.get(key, key), ()) for key in pair)
            if shared := [word for word in first if word in second]:
                left_out.setdefault(_listed(shared), []).append(name)
                del uses[name]
                break
    lines = [
        f"{', '.join(those)}: left out, since their sets must not share {shared}"
        for shared, those in left_out.items()
    ]
    if not uses:
        raise UsageError(
            "no metric fits these sets: expected two sets of targets with no word in common, and "
            "one or two of attributes"
        )
    template = {"template": "sentence"} if kind == "text" and reading.sentences else {}
    inputs: dict[str, Any] = {
        role: {"set": name} | template for role, name in (targets | attributes).items()
    }
    needed = {source for use in uses.values() for source in use.get("inputs", {}).values()}
    if ATTRIBUTES in needed:
        inputs[ATTRIBUTES] = [{"set": name} | template for name in attributes.values()]
    tables = {}
    if "pairs_1" in needed or "direct-bias" in uses:
        tables["pairs"] = {"columns": ["first", "second"], "rows": sets.pairs}
        for i, column in enumerate(("first", "second"), start=1):
            inputs[f"pairs_{i}"] = {"table": "pairs", "column": column} | template
    primary = next(iter(uses))
    content: dict[str, Any] = {
        "name": sets.name if kind == "word" else sets.name + SENTENCES,
        "version": 1,
        "title": f"{' and '.join(sets.targets)}, {' and '.join(sets.attributes)}",
        "source": sets.source,
        "category": reading.concept or NAME,
        "concept": reading.concept,
        "language": reading.language,
        "kinds": [kind],
        "tags": [NAME],
        "unranked": "own word lists, of which no validity is known",
        "sets": {name: list(sets.sets[name]) for name in (targets | attributes).values()},
        "tables": tables,
        "templates": {"sentence": list(reading.sentences)} if template else {},
        "inputs": inputs,
        "metrics": uses,
        "primary": {"metric": primary, "score": _first_score(primary, registry)},
        "family": "association" if primary == "weat" else None,
        "yardstick": _yardstick(primary, kind, reading, registry),
    }
    if not sets.is_named:
        content["name"] += f"-{digest(content)[:8]}"
    return OwnTask({key: value for key, value in content.items() if value not in (None, {})}, lines)


def _uses(n_targets: int, n_attributes: int, *, has_pairs: bool) -> dict[str, dict[str, Any]]:
    """Return the metrics that so many sets allow, with their options and inputs, the first first.

    The targets are the groups. `attributes` are all attributes in one input.
    """
    uses: dict[str, dict[str, Any]] = {}
    two = n_attributes >= 2
    first = {ATTRIBUTES: "attributes_1"}  # merged below: YAML would write a second use as an alias
    pairs = {"targets_1": "pairs_1", "targets_2": "pairs_2"}
    if n_targets >= 2:
        if two:
            uses["weat"] = {}
            uses["association-test"] = {}
        uses["rnd"] = {"options": dict(_UNIT), "inputs": {**first}}
        if has_pairs:
            uses["ripa"] = {"options": dict(_UNIT), "inputs": pairs | first}
        if n_attributes == 2:  # SAME calls the groups attributes, and the neutral words targets
            groups = {f"attributes_{i}": f"targets_{i}" for i in range(1, n_targets + 1)}
            uses["same"] = {"inputs": groups | {f"targets_{i}": f"attributes_{i}" for i in (1, 2)}}
    if n_targets >= 2 and two:
        uses["rnsb"] = {"options": dict(_UNIT)}
    if n_targets <= 3:
        uses["mac"] = {}
    if n_targets >= 2:
        uses["ect"] = {"options": dict(_UNIT), "inputs": {ATTRIBUTES: ATTRIBUTES}}
        if has_pairs:
            uses["direct-bias"] = {"inputs": {"neutral": ATTRIBUTES}}
    return uses


def _first_score(metric: str, registry: Registry) -> str:
    """Return the score of a metric that stands for the task."""
    return next(iter(registry.metric(metric).scores))


def _yardstick(primary: str, kind: Kind, reading: Reading, registry: Registry) -> str | None:
    """Return the yardstick of the sets; None if there is none of their form and language."""
    name = YARDSTICKS[kind]
    is_of_form = kind == "word" or bool(reading.sentences)
    is_known = reading.language == ENGLISH and name in registry.task_files
    return name if primary == "weat" and is_of_form and is_known else None


def reading_warnings(reading: Reading, kinds: Iterable[Kind]) -> Iterator[str]:
    """Yield what the language and the templates leave out for these kinds of embedders."""
    if reading.language == ENGLISH:
        return
    yield (
        f"there is no yardstick in the language '{reading.language}': read a score beside its floor"
    )
    if "text" in kinds and not reading.sentences:
        yield (
            "encoders read the bare words: a template, '… {text} …', gives them sentences in "
            f"'{reading.language}'"
        )


def concept_warnings(records: Records, reading: Reading, registry: Registry) -> Iterator[str]:
    """Yield whether mitigators were fitted on a concept unasked, or on one of another language."""
    fitted = [name for record in records if (name := record.mitigator.concept)]
    if fitted and reading.concept is None:
        yield f"mitigators were fitted on the concept '{fitted[0]}', since no concept was named"
    for name in dict.fromkeys([reading.concept or "", *fitted]):
        concept = registry.concept(name) if name else None
        if concept is None or concept.language == reading.language:
            continue
        if registry.concept_in(concept, reading.language) is None:
            yield (
                f"the concept '{name}' is in the language '{concept.language}', and the words are "
                f"in '{reading.language}': 'harness new concept {name}-{reading.language}' "
                "writes one"
            )


# Scores the task.


def words(
    model: str | object | Iterable[str | object],
    lists: Path | str | Mapping[str, Any] | WordSets | None = None,
    *,
    mitigators: Row | Iterable[Row] = NONE,
    name: str | None = None,
    language: str = ENGLISH,
    concept: str | None = None,
    templates: str | Iterable[str] = (),
    metrics: Added | Iterable[Added] = (),
    results: Place | str | None = None,
    cache: Place | str | None = None,
    seed: int = 0,
    overwrite: bool = False,
    samples: bool = False,
    include: Path | str | Iterable[Path | str] = (),
    registry: Registry | None = None,
    progress: bool | Progress = False,
    debug: bool = False,
    **sets: Iterable[str],
) -> Records:
    """Score own word lists by every metric that they allow.

    >>> harness.words(
    ...     "glove-6b-50d",
    ...     targets_1=["he", "man"], targets_2=["she", "woman"],
    ...     attributes_1=["office", "salary"], attributes_2=["home", "wedding"],
    ... )  # doctest: +SKIP

    Parameters
    ----------
    model
        A model, or several, as for `evaluate`: a name, gensim's vectors, a mapping from word to
        vector, a SentenceTransformer …
    lists
        A CSV or JSON file of sets; or a mapping: sets by name, or `targets` and `attributes` with
        sets by name each.
    mitigators
        As for `evaluate`.
    name
        Name of the task in records; by default that of the file, or `own-words`, and a digest.
    language
        ISO 639 code of the language of the words.
    concept
        The concept that the words are about, on which mitigators are fitted.
    templates
        Sentences with `{text}` in them, in which text encoders read the words.
    metrics
        Further metrics, as for `evaluate`; their inputs are `targets_1`, `attributes_1` and so on,
        `attributes` (all of them), `pairs_1` and `pairs_2`.
    results, cache, seed, overwrite, samples, include, registry, progress, debug
        As for `evaluate`.
    sets
        The words of each set, in place of `lists`: `targets_1`, `targets_2`, `attributes_1`,
        `attributes_2`; or sets of any name, of which the first two are the targets.

    Returns
    -------
    Records
        One record a score, as `evaluate` returns them. `notices` has the warnings.

    Warns
    -----
    UserWarning
        Of words that a model lacks, repeated words, words in two sets, sets of unequal size, and a
        concept in another language than the words.

    Raises
    ------
    UsageError
        If the sets fit no metric, or a name, argument or file is wrong.
    """
    registry = registry or Registry(include=paths(include))
    beside = with_concepts_beside(registry, Path(NAME))  # as for a task file in this folder
    own = word_sets(lists, sets, name=name)
    reading = reading_of(language, concept, templates)
    check_name(own.name, registry)
    if concept is not None:
        beside.concept(concept)  # an unknown one is an error of the argument, not of a file
    models = evaluation.as_list(model, registry)
    embedders = [_embedder(each, registry) for each in models]
    own, lines = own.as_read(
        [e for e in embedders if is_embedder(e) and e.info.kind in ("word", "text")]
    )
    kinds: set[Kind] = {
        "text" if reads_texts(e.info.kind) else "word" for e in embedders if is_embedder(e)
    } or {"word"}
    tasks = [task_of(own, kind, reading, beside) for kind in sorted(kinds, reverse=True)]
    lines += [
        *own.warnings(),
        *(line for task in tasks for line in task.warnings),
        *reading_warnings(reading, kinds),
        *(line for e in embedders if is_embedder(e) for line in _foreign(e, reading)),
    ]
    with warnings.catch_warnings():
        if len(tasks) > 1:  # each model runs the task of its kind
            warnings.simplefilter("ignore", NotRunWarning)
        records = evaluation.evaluate(
            embedders,
            [task.content for task in tasks],
            mitigators,
            metrics=metrics,
            results=results,
            cache=cache,
            seed=seed,
            overwrite=overwrite,
            samples=samples,
            any_language=True,  # who brings the words knows whether they fit the model
            registry=beside,
            progress=progress,
            debug=debug,
        )
    lines = list(
        dict.fromkeys([*lines, *concept_warnings(records, reading, beside), *_missing(records)])
    )
    for line in lines:
        warnings.warn(line, UserWarning, stacklevel=2)
    return Records(
        list(records),
        missed=records.missed,
        not_run=[entry for entry in records.not_run if entry.kind != "embedder"],
        notices=[*lines, *records.notices],
        texts=records.texts,
        encoded=records.encoded,
        seconds=records.seconds,
        reused=records.reused,
        all_scores=True,  # one task, of which no score is more valid than the others
    )


def word_sets(
    lists: Path | str | Mapping[str, Any] | WordSets | None,
    sets: Mapping[str, Iterable[str]],
    *,
    targets: Sequence[str] = (),
    attributes: Sequence[str] = (),
    name: str | None = None,
) -> WordSets:
    """Return the sets of a user, from a file, a mapping or by name, with their roles.

    Raises
    ------
    UsageError
        If there are none, or two sources, or they have a mistake in them.
    """
    if isinstance(lists, WordSets):
        return lists
    if (lists is None) == (not sets):
        raise UsageError(
            "expected word sets: a .csv or .json file, or sets by name such as "
            "targets_1=he,man (and not both)"
        )
    label, source = name or NAME, "own word lists"
    found: Any
    if isinstance(lists, str | Path):
        path = folders.typed(str(lists))
        found, source = read_file(path), f"own word lists, {path.name}"
        label = name or re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).strip("-._") or NAME
    else:
        found = sets if lists is None else lists
        if set(found) == {TARGETS, ATTRIBUTES} and isinstance(found[TARGETS], Mapping):
            found = WordSets(found[TARGETS], found[ATTRIBUTES])
    if isinstance(found, WordSets):
        if not targets and not attributes:
            targets, attributes = tuple(found.targets), tuple(found.attributes)
        found = {**found.targets, **found.attributes}
    by_name = {composed(key): _as_words(key, value) for key, value in found.items()}
    own = with_roles(by_name, targets=targets, attributes=attributes, name=label, source=source)
    return replace(own, is_named=name is not None)


def _as_words(name: str, value: Iterable[str]) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise UsageError(f"set '{name}': expected a list of words, not {value!r}")
    words_ = tuple(value)
    for word in words_:
        if not _is_word(word):
            raise UsageError(f"set '{name}': expected a word, not {word!r}")
    if not words_:
        raise UsageError(f"set '{name}' has no words")
    return tuple(composed(word.strip()) for word in words_)


def _is_word(value: object) -> bool:
    """Return whether a value is a text with a character in it, and without half of one."""
    return (
        isinstance(value, str) and bool(value.strip()) and not re.search("[\ud800-\udfff]", value)
    )


def reading_of(language: str, concept: str | None, templates: str | Iterable[str]) -> Reading:
    """Return how the words are read, checked.

    Raises
    ------
    InvalidOption
        If the language is no code, or a template has no place for the word.
    """
    several = (templates,) if isinstance(templates, str) else tuple(templates)
    if not re.fullmatch("[a-z]{2,3}", language):
        raise InvalidOption(f"language '{language}': expected an ISO 639 code, such as pt")
    for template in several:
        if "{text}" not in template and "{Text}" not in template:
            raise InvalidOption(f"template '{template}': expected {{text}} where the word stands")
    return Reading(language, concept, several)


def check_name(name: str, registry: Registry) -> None:
    """Raise UsageError if a task of another content has the name, or it is no name."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise UsageError(f"invalid name '{name}': use letters, digits, '.', '_' and '-'")
    if name in registry.task_files or name + SENTENCES in registry.task_files:
        raise UsageError(
            f"a task '{name}' exists already: rename the file, or choose another name (--name)"
        )


def _embedder(model: str | object, registry: Registry) -> str | object:
    """Return the embedder of a model; the model itself if it is not available."""
    try:
        return evaluation.embedder_of(model, registry)
    except UsageError:
        raise
    except HarnessError:
        return model  # the evaluation reports it


def _foreign(embedder: Embedder, reading: Reading) -> Iterator[str]:
    languages = embedder.info.languages
    if languages and not {reading.language, "multilingual"} & set(languages):
        yield (
            f"the language of the words is '{reading.language}', and {embedder.info.name} is for "
            f"{' and '.join(languages)}"
        )


def _missing(records: Records) -> Iterator[str]:
    """Yield the words that each model lacks, a line a model."""
    missing: dict[str, dict[str, None]] = {}
    for record in records:
        missing.setdefault(record.model.name, {}).update(dict.fromkeys(record.coverage.missing))
    for model, its in missing.items():
        if its:
            yield f"{model} lacks {len(its):,} of the words: {_listed(list(its))}"
