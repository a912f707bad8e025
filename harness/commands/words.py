"""`harness words`: own word lists, every metric that they allow, in one table."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import arguments, output
from harness.names import NONE
from harness.printing import echo

if TYPE_CHECKING:
    from harness.embedder import Kind
    from harness.registry.registry import Registry
    from harness.results.record import Record
    from harness.run.words import Reading, WordSets

PAIRED = ("ripa", "direct-bias")
"""Metrics that read the target sets as pairs."""
SIGNED = {"weat": 1, "association-test": 1, "ripa": 1, "rnd": -1}
"""Metrics with the side of their ideal on which the first attributes go with the first targets."""
COLUMNS = ("interval", "p", "floor", "yardstick")
"""Columns that are left out where no score has them."""
LISTED = 8
"""Number of words left out that are named."""


@click.command("words")
@click.argument("lists", required=False, type=click.Path(path_type=Path), metavar="[FILE]")
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="NAME=WORD,WORD",
    help="A set of words, in place of a file; repeatable.",
)
@click.option("--targets", default="", help="Names of the sets of targets, comma-separated.")
@click.option("--attributes", default="", help="Names of the sets of attributes.")
@click.option(
    "--model",
    "-m",
    "models",
    multiple=True,
    help="Registered name, hub id, folder, file or provider:reference; repeatable.",
    shell_complete=arguments.complete("model"),
)
@click.option(
    "--mitigator",
    "-M",
    "mitigators",
    multiple=True,
    default=("none",),
    show_default=True,
    help="Mitigator, e.g. hard-debias?k=2; + makes a chain; repeatable.",
    shell_complete=arguments.complete("mitigator"),
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    help="A further metric, whose inputs are named as those of --write-task; repeatable.",
    shell_complete=arguments.complete("metric"),
)
@click.option(
    "--name", help="Name of the task in records.  [default: that of the file, and a digest]"
)
@click.option(
    "--language", default="en", show_default=True, help="ISO 639 code of the words' language."
)
@click.option(
    "--concept",
    help="Concept that the words are about; mitigators are fitted on it.",
    shell_complete=arguments.complete("concept"),
)
@click.option(
    "--template",
    "templates",
    multiple=True,
    metavar="TEXT",
    help="Sentence with {text} in it, in which text encoders read the words; repeatable.  "
    "[default: plain English sentences]",
)
@click.option(
    "--write-task",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the task file, too, for harness eval.",
)
@arguments.shared_results
@arguments.cache
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of all random numbers.",
)
@click.option(
    "--overwrite", is_flag=True, help="Compute recorded scores again; replace a task file."
)
@arguments.include
@arguments.as_json
@click.pass_obj
def command(debug: bool, /, **options: Any) -> int:
    """Score own word lists by every metric that they allow.

    FILE is a CSV file with a column for each set (or the columns set and word), or a JSON file,
    {"targets": {...}, "attributes": {...}}. Without roles in names, the first two sets are the
    targets.

    \b
    harness words sets.csv --model glove-6b-50d --mitigator none --mitigator hard-debias
    harness words --set he=he,man,son --set she=she,woman,aunt --set job=office,salary,career \\
        --set home=home,wedding,family --model glove-6b-50d

    Exit code 1: something failed, or there is no score.
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness import names
    from harness.errors import UsageError
    from harness.progress import for_terminal
    from harness.registry.registry import Registry
    from harness.results.records import reasons
    from harness.run import words

    registry = Registry(include=options["include"])
    own = words.word_sets(
        options["lists"],
        _typed_sets(options["sets"]),
        targets=names.split(options["targets"]),
        attributes=names.split(options["attributes"]),
        name=options["name"],
    )
    if options["write_task"] is not None:
        reading = words.reading_of(options["language"], options["concept"], options["templates"])
        words.check_name(own.name, registry)
        _write(options["write_task"], own, reading, registry, overwrite=options["overwrite"])
    if not options["models"]:
        if options["write_task"] is None:
            raise UsageError("missing option '--model': whose vectors are measured?")
        return 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the report has these lines
        records = words.words(
            list(dict.fromkeys(options["models"])),
            own,
            mitigators=list(options["mitigators"]),
            language=options["language"],
            concept=options["concept"],
            templates=options["templates"],
            metrics=list(options["metrics"]),
            results=options["results"],
            cache=options["cache"],
            seed=options["seed"],
            overwrite=options["overwrite"],
            registry=registry,
            progress=for_terminal(),
            debug=debug,
        )
    if options["as_json"]:
        from harness.commands.evaluate import report_as_json

        output.as_json(report_as_json(records))
    else:
        show(records, own)
        echo(f"{output.counted(len(records), 'record')} in {options['results']}")
        for line in records.notices:
            echo(line, err=True)
    for label, entries in (("FAILED", records.failed), ("skipped", records.skipped)):
        for reason in reasons(entries):
            echo(f"{label}: {reason.line(verbose=True)}", err=True)
    has_score = any(record.value is not None for record in records)
    return 0 if has_score and not records.failed else 1


def _typed_sets(sets: Sequence[str]) -> dict[str, list[str]]:
    """Return the sets after `--set`, by name."""
    from harness.errors import UsageError

    found: dict[str, list[str]] = {}
    for typed in sets:
        name, equals, words = typed.partition("=")
        members = [word.strip() for word in words.split(",") if word.strip()]
        if not equals or not name.strip() or not members:
            raise UsageError(f"--set {typed}: expected NAME=WORD,WORD, such as --set male=he,man")
        if name.strip() in found:
            raise UsageError(f"--set {typed}: a second set '{name.strip()}'")
        found[name.strip()] = members
    return found


def _write(
    path: Path, own: WordSets, reading: Reading, registry: Registry, *, overwrite: bool
) -> None:
    """Write the task of the sets for word embeddings, and beside it that for text encoders."""
    from harness import folders
    from harness.run import words

    beside = path.with_name(f"{path.stem}{words.SENTENCES}{path.suffix}")
    for file in (path, beside):
        arguments.refuse_to_replace(file, overwrite=overwrite)
    files: dict[Kind, Path] = {"word": path, "text": beside}
    for kind, file in files.items():
        task = words.task_of(own, kind, reading, registry)
        head = f"# Own word lists. Run it: harness eval --model MODEL --tasks {file.name}\n"
        folders.write_atomically(file, (head + task.yaml).encode())
        echo(f"wrote {file}, for {'word embeddings' if kind == 'word' else 'text encoders'}")


def show(records: Sequence[Record], own: WordSets) -> None:
    """Print the scores in one table, and what its marks mean."""
    from harness.results import formats

    if any(record.mitigator.name != NONE for record in records):
        records = [record.judged() for record in records]
    lines = [_line(record, own) for record in records if record.value is not None]
    empty = {key for key in COLUMNS if all(line[key] in (None, "") for line in lines)}
    lines = [{k: v for k, v in line.items() if k not in empty} for line in lines]
    title = [own.name]
    for key in ("model", "mitigator"):
        values = {line[key]: None for line in lines}
        if len(values) == 1:
            title += [value for value in values if value != NONE]
            lines = [{k: v for k, v in line.items() if k != key} for line in lines]
    table = formats.Table.of(": ".join(title), lines, drop=["n", "ideal", "interval"])
    legend = formats.Sentences("", _legend(records, own))
    output.report(formats.Report("", [table, legend] if lines else [legend]))


def _legend(records: Sequence[Record], own: WordSets) -> list[str]:
    """Return the meaning of the columns and marks, a line each."""
    from harness.errors import listed
    from harness.results import tables
    from harness.results.ratios import CLEAR
    from harness.results.record import STARS
    from harness.results.tables import ONE_SIDED, REVERSED, VOID

    lines = [_roles(own)]
    if any(_is_reversed(record, own) for record in records):
        (first, *_), (*_, last) = own.attributes, own.targets
        lines.append(f"{REVERSED} reversed: {first} goes with {last}")
    if any(record.p_value is not None for record in records):
        lines.append(STARS)
        one_sided = dict.fromkeys(
            f"{record.metric} {record.score}"
            for record in records
            if record.p_value is not None and record.details.get("alternative") in ONE_SIDED
        )
        if one_sided:
            lines.append(f"p of {', '.join(one_sided)}: one-sided, so near 1 where reversed")
    elif len(own.attributes) == 1:
        lines.append("p: none, since a test shuffles the words of two sets of attributes")
    lines.append("n: number of words, sentences or pairs that the score is computed from")
    if any(record.metric == "mac" for record in records):
        lines.append("distance of mac: 1 less the mean cosine of targets and attributes")
    if any(record.floor for record in records):
        lines.append("floor: mean distance from the ideal with shuffled sides; noise is near it")
    if any(_yardstick(record) for record in records):
        lines.append("yardstick: gap of the sets over that of things, such as flowers and insects")
    elif any(record.ratio for record in records):
        lines.append(f"yardstick: none, since that of the model is not clear (t below {CLEAR:g})")
    if paired := [m for m in PAIRED if any(record.metric == m for record in records)]:
        lines.append(f"{' and '.join(paired)}: word i of both target sets is read as a pair")
    if judged := [r for r in records if r.unseen and r.mitigator.name != NONE]:
        kinds: Counter[str] = Counter(record.unseen.kind for record in judged if record.unseen)
        (line,) = tables.judged_lines({"mitigated": kinds})
        withheld = listed(dict.fromkeys(w for r in judged for w in r.withheld), LISTED)
        lines.append(line + (f"; left out of the sets or the fit: {withheld}" if withheld else ""))
    rows = {(record.model.name, record.mitigator.label) for record in records}
    void: dict[str, dict[str, dict[tuple[str, str], None]]] = {}  # by reason and metric, the rows
    for record in records:
        if record.value is None:
            its = void.setdefault(str(record.reason), {}).setdefault(record.metric, {})
            its[record.model.name, record.mitigator.label] = None
    for reason, metrics in void.items():
        names = [
            metric if len(its) == len(rows) else f"{metric} ({'; '.join(map(', '.join, its))})"
            for metric, its in metrics.items()
        ]
        lines.append(f"{VOID}: {', '.join(names)}: {reason}")
    return lines


def _roles(own: WordSets) -> str:
    """Return which sets have which role."""
    return f"targets: {', '.join(own.targets)}; attributes: {', '.join(own.attributes)}"


def _is_reversed(record: Record, own: WordSets) -> bool:
    """Return whether the first attributes go with the second of two targets."""
    from harness.results.tables import DIGITS

    if record.value is None or isinstance(record.ideal, str):
        return False
    side = SIGNED.get(record.metric, 0) if len(own.targets) == 2 else 0
    return side * round(record.value - record.ideal, DIGITS) < 0


def _yardstick(record: Record) -> str | None:
    """Return the ratio to the yardstick; None if that is not clear, when a ratio says nothing."""
    from harness.results.ratios import CLEAR

    ratio = record.ratio
    if ratio is None or ratio.value is None or ratio.yardstick < CLEAR * ratio.yardstick_error:
        return None
    return f"{ratio.value:.2f}"


def _line(record: Record, own: WordSets) -> dict[str, Any]:
    """Return the row of a score."""
    from harness.results import tables

    floor, p = record.floor, record.p_value
    cell = replace(tables.cell_of(record), is_reversed=_is_reversed(record, own))
    return {
        "model": record.model.name,
        "mitigator": record.mitigator.label,
        "metric": record.metric,
        "score": record.score,
        "ideal": f"{record.ideal:g}" if isinstance(record.ideal, float) else record.ideal,
        "value": tables.value_of(cell),
        "interval": tables.beside(cell, intervals=True) or None,
        "p": None if p is None else "<.001" if p < 0.001 else f"{p:.3f}",
        "floor": None if floor is None else f"{floor.mean:.3f}",
        "yardstick": _yardstick(record),
        "n": record.n,
    }
