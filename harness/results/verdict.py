"""The verdict on a model beside its base, as people and programs read it.

`comparison` makes it of the records of both. Computes no number.
"""

from __future__ import annotations

import html as html_
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from harness.errors import Unavailable, listed
from harness.metrics import FOUR_FIFTHS
from harness.results.formats import Report, Sentences, Table, html, markdown, plain_text
from harness.results.ratios import (
    FEWEST_SEEDS,
    LESS,
    LEVEL,
    MORE,
    OVERALL,
    POWER,
    SAME,
    SMALLEST,
    UNCLEAR,
)
from harness.results.record import Record

if TYPE_CHECKING:
    import polars as pl

    from harness.results.estimator import Differences
    from harness.results.figures import Panel

DIGITS = 3
"""Digits after the point."""
LONGEST = 80
"""Most characters of an item in a table."""

Measures: TypeAlias = Literal["bias", "usefulness"]

MEASURES: tuple[Measures, ...] = ("bias", "usefulness")
TOWARDS = {1: "stereotype", -1: "against it", 0: "neither"}
"""What the associations of a concept are towards."""
WORDS: Mapping[str, str] = {"bias": "biased", "usefulness": "useful"}


@dataclass(frozen=True)
class Difference:
    """The difference of one concept, or overall: a line of `estimator.Differences.frame`."""

    measures: Measures
    name: str
    tasks: int
    methods: int
    base: float
    model: float
    base_toward: int
    model_toward: int
    difference: float
    low: float | None
    high: float | None
    detectable: float | None
    agree: int
    depends_on: str | None
    verdict: str
    lacks: str | None = None
    reason: str | None = None

    @property
    def words(self) -> str:
        """The verdict in words, such as `more biased`."""
        is_clear = self.verdict in (MORE, LESS)
        return f"{self.verdict} {WORDS[self.measures]}" if is_clear else self.verdict

    @property
    def shown(self) -> str:
        """The difference as text: that of the means as they are printed."""
        return f"{round(self.model, DIGITS) - round(self.base, DIGITS):+z.{DIGITS}f}"

    @property
    def ends(self) -> str | None:
        """The interval as text."""
        # Without `z`: an end of -0.0003 is below 0, and printed as -0.000.
        has = self.low is not None
        return f"[{self.low:+.{DIGITS}f}, {self.high:+.{DIGITS}f}]" if has else None

    @property
    def towards(self) -> str:
        """What the associations of the base, and then of the model, are towards."""
        words = [TOWARDS[of] for of in (self.base_toward, self.model_toward)]
        return " → ".join(dict.fromkeys(words))

    @property
    def other_ways(self) -> str:
        """How many methods agree, and on which one the sign depends."""
        agree = f"{self.agree} of {self.methods} agree"
        return f"{agree}, depends on {self.depends_on}" if self.depends_on else agree

    def sentence(self) -> str:
        """Return the difference as a sentence, with both questions that it answers."""
        where = "on this test" if self.tasks == 1 else f"on these {self.tasks} tests"
        means = f"{self.base:.{DIGITS}f} to {self.model:.{DIGITS}f}"
        parts = [f"{self.words}, {means}: {self.shown}"]
        if self.ends:
            parts[0] += f" {self.ends}"
        if self.lacks:
            parts[0] += f" ({self.lacks})"
        if self.verdict == UNCLEAR and self.detectable is not None and not self.lacks:
            parts.append(f"this run could have found a difference of {self.detectable:.{DIGITS}f}")
        if self.reason:
            parts[0] += f" ({self.reason})"
        if self.verdict != SAME and self.measures == "bias":
            agree = f"{self.agree} of {self.methods} agree"
            parts.append(f"other ways to ask: {agree if self.lacks else self.other_ways}")
        return f"{where}: {'; '.join(parts)}"

    def row(self) -> dict[str, Any]:
        """Return it as a flat mapping, with its sentence."""
        return asdict(self) | {"verdict": self.words, "sentence": self.sentence()}


def differences_of(found: Differences, pair: int = 0) -> list[Difference]:
    """Return the differences of bias and usefulness of a pair of rows."""
    return [
        Difference(**{name: value for name, value in line.items() if name != "pair"})
        for line in found.frame.filter(pair=pair).iter_rows(named=True)
        if line["measures"] in WORDS
    ]


FailOn: TypeAlias = Literal["more", "unclear", "never"]
"""Which verdicts on bias fail: a larger bias; also one that is not clear; none."""


class Failure(NamedTuple):
    """Why a model does not pass, with the exit code of `harness compare`."""

    code: int
    line: str


MORE_BIASED, NOT_SHOWN, LESS_USEFUL = 3, 4, 5
"""Exit codes: more biased or beyond the margin; not clear; usefulness beyond its margin. 1 is an
error and 2 a wrong command line."""


@dataclass(frozen=True)
class Moved:
    """An item whose contribution to a score moved much.

    Parameters
    ----------
    task, text
        The task, and the item's texts.
    base, model
        Contributions of the item to the score.
    spreads
        The difference in standard deviations of the contributions of the task's items.
    """

    task: str
    text: str
    base: float
    model: float
    spreads: float


@dataclass(frozen=True)
class Verdict:
    """The verdict on a model beside its base.

    Parameters
    ----------
    differences
        Of bias, then of usefulness: that of each concept, and overall as the first.
    left_out
        By what tasks measure, the names of the tasks that do not count, by the reason.
    moved
        The items that moved most; none without samples.
    without_line
        Concepts of counting tasks on which nothing is known alone: the reference encoder shows too
        little bias for a line of their own.
    not_judged
        Why nothing is known of a concept on words that the mitigator never saw.
    names
        Names of the base and the model.
    seeds
        Number of seeds of the model's training; with three or more their spread is part of the
        intervals.
    smallest
        Smallest difference of bias that counts as more or less.
    compared
        The records of both rows.
    screened
        Records of tasks of screening, which the page shows and which do not count.
    notices
        What the evaluation of the models has to say, a line each.
    not_run
        Tasks that lacked data, did not apply or failed, and why, a line each.
    meaning
        How well the base and the model tell words apart that are female and male by definition: 1
        is the reference encoder. None if no control asked.
    """

    differences: tuple[Difference, ...]
    left_out: Mapping[str, Mapping[str, tuple[str, ...]]]
    moved: tuple[Moved, ...] = ()
    without_line: tuple[str, ...] = ()
    not_judged: Mapping[str, str] = field(default_factory=dict)
    names: tuple[str, str] = ("base", "model")
    seeds: int = 1
    smallest: float = SMALLEST
    compared: tuple[Record, ...] = field(default=(), repr=False, compare=False)
    screened: tuple[Record, ...] = field(default=(), repr=False, compare=False)
    notices: tuple[str, ...] = field(default=(), repr=False)
    not_run: tuple[str, ...] = ()
    meaning: tuple[float, float] | None = None

    @property
    def records(self) -> list[Record]:
        """The records of all rows, each once, and those of screening."""
        return list({record.id: record for record in (*self.compared, *self.screened)}.values())

    def overall(self, measures: Measures) -> Difference | None:
        """Return the overall difference of bias or usefulness; None if no task counts."""
        of = [d for d in self.differences if d.measures == measures and d.name == OVERALL]
        return of[0] if of else None

    def failures(
        self,
        *,
        fail_on: FailOn = "more",
        margin: float | None = None,
        usefulness_margin: float | None = None,
    ) -> list[Failure]:
        """Return why the model does not pass; none if it passes.

        Less bias and more usefulness always pass. A comparison that could not be made passes only
        if `fail_on` is `never` and there is no margin.

        Parameters
        ----------
        fail_on
            `more`: more bias, in a concept or overall; with a margin, by more than the margin.
            `unclear`: also if the overall verdict is not clear, which a margin decides if there is
            one. `never`: no verdict fails.
        margin
            Most bias above the base: the upper end of the overall interval must be below it.
        usefulness_margin
            Most usefulness that may be lost: the lower end of the overall interval of usefulness
            must be above its negative.
        """
        failures = []
        bias = self.overall("bias")
        is_measured = bias is not None and (bias.low is not None or bias.verdict == SAME)
        if not is_measured and (fail_on != "never" or margin is not None):
            why = bias.reason if bias else "no task counts in both"
            failures.append(Failure(NOT_SHOWN, f"bias was not measured: {why}"))
        for d in self._of("bias"):
            if fail_on != "never" and d.verdict == MORE and (d.low or 0.0) > (margin or 0.0):
                by = f" by more than {margin:g}" if margin else ""
                failures.append(Failure(MORE_BIASED, f"{d.name}: more biased{by}"))
        if bias is not None and bias.high is not None:
            if margin is not None and bias.high >= margin:
                line = f"the bias is not shown to be within {margin:g} of the base"
                failures.append(Failure(MORE_BIASED, f"{line}: {bias.ends}"))
            if fail_on == "unclear" and bias.verdict == UNCLEAR and margin is None:
                failures.append(Failure(NOT_SHOWN, "the overall verdict on bias is not clear"))
        if usefulness_margin is not None:
            use = self.overall("usefulness")
            low = None if use is None else use.low
            is_equal = use is not None and use.verdict == SAME
            if not is_equal and (low is None or low <= -usefulness_margin):
                line = f"usefulness is not shown to fall by less than {usefulness_margin:g}"
                ends = use.ends if use and use.ends else "it was not measured"
                failures.append(Failure(LESS_USEFUL, f"{line}: {ends}"))
        return failures

    def __str__(self) -> str:
        return plain_text(self.report())

    def _repr_html_(self) -> str:
        return html(self.report())

    def figure(self) -> tuple[str, list[Panel]]:
        """Return the forest plot for `figures.write_figure`: its title and its panels."""
        return _forest(self)

    def page(self, *, licences: Mapping[str, str] | None = None, result: Sequence[str] = ()) -> str:
        """Return one self-contained HTML page for an auditor.

        Parameters
        ----------
        licences
            Licence of the data of each task, by its name.
        result
            What was asked for, and whether the model passes, a line each.
        """
        sections = {
            **({"Result": Report("", [Sentences("", list(result))])} if result else {}),
            "Verdict": self.report(verbose=True),
            "Screening": Report("", _screening(self.records)),
            "What was measured": Report("", _measured(self.records, licences or {})),
            "Limits": Report("", [Sentences("", LIMITS)]),
        }
        body = _picture(self) + "".join(
            f"<h2>{html_.escape(name)}</h2>\n{html(part)}" for name, part in sections.items()
        )
        title = html_.escape(f"Bias of {self.names[1]} beside {self.names[0]}")
        return (
            f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{title}</title>\n"
            f"<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}</body>\n</html>\n"
        )

    def _repr_markdown_(self) -> str:
        return markdown(self.report())

    def to_polars(self) -> pl.DataFrame:
        """Return a polars data frame with one row per difference."""
        import polars as pl

        return pl.DataFrame(self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat mapping per difference."""
        return [difference.row() for difference in self.differences]

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "base": self.names[0],
            "model": self.names[1],
            "seeds": self.seeds,
            "level": LEVEL,
            "power": POWER,
            "differences": self.rows(),
            "left_out": {
                measures: {reason: list(tasks) for reason, tasks in of.items()}
                for measures, of in self.left_out.items()
            },
            "without_line": list(self.without_line),
            "not_judged": dict(self.not_judged),
            "not_run": list(self.not_run),
            "meaning": self.meaning,
            "moved": [asdict(moved) for moved in self.moved],
        }

    def report(self, *, verbose: bool = False) -> Report:
        """Return it as tables and sentences.

        Parameters
        ----------
        verbose
            Whether to name all tasks that are left out, and to show long items whole.
        """
        base, model = self.names
        parts: list[Table | Sentences] = [
            Sentences("", self.sentences()),
            *self.tables(verbose=verbose),
        ]
        parts.append(Sentences("How to read it", self.legend()))
        parts.append(Sentences("Left out", self._left_out(verbose=verbose)))
        return Report(f"{model} beside {base}", parts)

    def sentences(self) -> list[str]:
        """Return the verdict on bias and usefulness, overall and where a concept is clear."""
        sentences = []
        for measures, of in ((name, self.overall(name)) for name in MEASURES):
            found = "no task counts in both" if of is None else of.sentence()
            sentences.append(f"{measures}: {found}")
        sentences += [
            f"bias, {d.name}: {d.sentence()}"
            for d in self._of("bias")
            if d.name != OVERALL and d.verdict in (MORE, LESS)
        ]
        if self.meaning is not None:
            before, after = self.meaning
            sentences.append(
                "meaning: words that are female or male by definition are told apart "
                f"{after:.2f} times as well as by the reference encoder, by the base {before:.2f}"
            )
        sentences += [f"not judged: {name}: {why}" for name, why in self.not_judged.items()]
        return sentences

    def tables(self, *, verbose: bool = False) -> list[Table]:
        """Return the differences of bias and of usefulness, and the items that moved most.

        Parameters
        ----------
        verbose
            Whether to show long items whole.
        """
        tables = [self._table(measures) for measures in WORDS if self._of(measures)]
        if self.moved:
            text = str if verbose else _shortened
            rows = [
                [m.task, text(m.text), m.base, m.model, f"{m.spreads:+.1f}"] for m in self.moved
            ]
            columns = ["task", "item", "base", "model", "moved by"]
            tables.append(Table("items that moved most", columns, rows, shorten=("item",)))
        return tables

    def _of(self, measures: str) -> list[Difference]:
        return [d for d in self.differences if d.measures == measures]

    def _table(self, measures: str) -> Table:
        columns = [measures, "verdict", "base", "model", "difference", "95% interval", "methods"]
        columns += [*(["towards"] if measures == "bias" else []), "detectable", "tasks"]
        rows = [
            [
                *(d.name, d.words, d.base, d.model, d.shown, d.ends),
                d.other_ways if d.verdict != SAME else None,
                *([d.towards] if measures == "bias" else []),
                *(d.detectable, d.tasks),
            ]
            for d in self._of(measures)
        ]
        return Table("", columns, rows, drop=("tasks", "detectable", "towards"))

    def legend(self) -> list[str]:
        """Return what the tables mean, a line each."""
        if not self.differences:
            return []
        lines = [
            "difference: model less base, over the tasks of both; of bias, 1 is the reference "
            "encoder's; of usefulness, 1 is the ideal",
            "95% interval: over paired items, for all lines of a table at once; it says what the "
            "words and items of these tasks leave open",
            "methods: in how many other ways to ask the difference has this sign",
            "towards: whether the associations of the base (→ of the model) are towards the "
            "stereotype, against it, or neither clearly",
            f"more or less: the interval is beyond 0, the difference at least {self.smallest:g}, "
            "over the yardsticks of either row, too, and no single method turns it",
            f"detectable: the smallest difference that this run finds in {POWER:.0%} of cases",
        ]
        if self.seeds >= FEWEST_SEEDS:
            lines.append(f"seeds: the spread of {self.seeds} trainings is part of the intervals")
        elif not self._is_one_model:
            lines.append(
                f"seeds: {self.seeds}; how much another training of the model would differ is "
                f"unknown ({FEWEST_SEEDS} of them tell)"
            )
        if self.moved:
            lines.append("moved by: in standard deviations of the contributions of the task")
        if self.without_line:
            lines.append(
                f"{', '.join(self.without_line)}: part of overall; the reference encoder shows too "
                "little of these for a line of their own"
            )
        reasons: dict[str, list[str]] = {}
        for d in self.differences:
            if d.reason:
                reasons.setdefault(d.reason, []).append(d.name)
        lines += [f"no interval of {', '.join(names)}: {why}" for why, names in reasons.items()]
        return lines

    @property
    def _is_one_model(self) -> bool:
        return len({record.model.fingerprint for record in self.compared}) == 1

    def _left_out(self, *, verbose: bool) -> list[str]:
        lines = []
        for measures, of in self.left_out.items():
            for reason, tasks in of.items():
                named = listed(tasks, len(tasks) if verbose else 3)
                lines.append(f"left out of {measures}: {len(tasks)} {reason} ({named})")
        return [*lines, *(f"not run: {line}" for line in self.not_run)]


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


# The forest plot.


def _forest(verdict: Verdict) -> tuple[str, list[Panel]]:
    """Return a panel for each of bias and usefulness, with a line for each difference."""
    from harness.results import figures

    panels: list[Panel] = []
    for measures in WORDS:
        of = [d for d in verdict.differences if d.measures == measures]
        values = [d.difference for d in of]
        spread = [
            [d.difference - (d.difference if d.low is None else d.low) for d in of],
            [(d.difference if d.high is None else d.high) - d.difference for d in of],
        ]
        names = [f"{d.name}: {d.words}" for d in of]
        axis = f"{measures}: difference, with the 95% intervals that hold at once"
        if of:
            panels.append(
                partial(figures.intervals, names=names, values=values, spread=spread, axis=axis)
            )
    return f"{verdict.names[1]} beside {verdict.names[0]}", panels


def _picture(verdict: Verdict) -> str:
    """Return the forest plot for a page; empty without Matplotlib or a difference."""
    from harness.results.figures import picture

    if not verdict.differences:
        return ""
    try:
        content = picture("svg", *_forest(verdict))
    except Unavailable:
        return ""
    sentences = html_.escape("; ".join(verdict.sentences()))
    source = f"data:image/svg+xml;base64,{b64encode(content).decode()}"
    return f'<img alt="{sentences}" src="{source}">\n'


# The parts of the page that the text has not.


STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;margin:1em 0}td,th{padding:.2em .8em .2em 0;"
    "border-bottom:1px solid #ccc;vertical-align:top}"
    # On a phone a wide table scrolls, and the page does not.
    "table{display:block;overflow-x:auto}img{max-width:100%}p{overflow-wrap:anywhere}"
)
LIMITS = (
    "A test finds the bias that it asks about. Bias along a direction that no task reads is not "
    "measured.",
    "A ratio compares a bias with the model's own strength of associations that have nothing to "
    "do with people. It says nothing about a program that uses the vectors.",
    "A verdict of 'not clear' is no evidence of equality; a margin asks for that.",
    "Words, names and stereotypes of the tasks are those of their authors, times and countries.",
    "The tasks are public. A model that was trained on them cannot be judged by them.",
)


def _screening(records: Sequence[Record]) -> list[Table | Sentences]:
    """Return the rates of selection of each row, with the four-fifths ratio."""
    rows: list[list[Any]] = []
    for record in records:
        if record.score != "impact_ratio" or "rates" not in record.details:
            continue
        rates = ", ".join(f"{name} {rate:.1%}" for name, rate in record.details["rates"].items())
        is_below = record.value is not None and record.value < FOUR_FIFTHS
        label = f"{record.model.name} under {record.mitigator.label}"
        verdict = "below four fifths" if is_below else "within four fifths"
        ends = record.interval
        if is_below and ends is not None and ends.high >= FOUR_FIFTHS:
            verdict += ", not clear"
        between = "" if ends is None else f"{ends.low:.2f} to {ends.high:.2f}"
        rows.append([record.task.name, label, record.value, between, verdict, rates])
    if not rows:
        return [Sentences("", ["no task of screening was run (for encoders: --tasks screening)"])]
    note = (
        "the lowest rate of selection over the highest; below 0.8 is evidence of adverse impact, "
        "but not clear where the interval holds 0.8: chance alone is below it with so few names"
    )
    columns = ["task", "model", "ratio", "95 % interval", "four-fifths rule", "rates of selection"]
    return [Table("", columns, sorted(rows)), Sentences("", [note])]


def _measured(records: Sequence[Record], licences: Mapping[str, str]) -> list[Table | Sentences]:
    """Return the models, the tasks with the licences of their data, and the versions."""
    models = {
        (r.model.name, r.mitigator.label, r.model.fingerprint): [
            *(r.model.name, r.mitigator.label, r.model.revision, r.model.licence),
            r.model.fingerprint,
        ]
        for r in records
    }
    tasks = {
        r.task.name: [
            *(r.task.name, r.task.version, r.task.title, r.category, r.language),
            licences.get(r.task.name) or None,
        ]
        for r in records
    }
    versions = dict.fromkeys(
        f"harness {r.environment.harness}, Python {r.environment.python}, "
        f"{r.environment.platform}; "
        + ", ".join(f"{name} {version}" for name, version in r.environment.packages.items())
        for r in records
    )
    dates = sorted(r.created for r in records)
    when = [f"measured {dates[0]} to {dates[-1]} (UTC)"] if dates else []
    columns = ["task", "version", "title", "concept", "language", "licence of the data"]
    return [
        Table("", ["model", "mitigator", "revision", "licence", "digest"], list(models.values())),
        Table("", columns, [tasks[name] for name in sorted(tasks)]),
        Sentences("", [*when, *versions]),
    ]
