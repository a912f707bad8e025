"""The numbers of the documentation: written by a command, from kept or measured values.

    python docs/pages.py                   # write the numbers that are committed
    python docs/pages.py --keep results/   # keep scores of results folders, and draw the findings
    python docs/pages.py --show speed      # print a table that only the site has

A comment `<!-- table: NAME ARGUMENT … -->` in a page stands for a table. If `<!-- end of table -->`
follows, the table is committed and stands between the two. If not, only the site has it: Sphinx
fills it in (`conf.py`).

A number in a sentence stands between `<!-- here: ROW -->` and `<!-- end -->`. It is the recorded
value of a row of a paper (`tasks/reproduction/`), or for `languages` their number. No line begins
with such a comment, since Markdown would take the whole line for HTML.
"""

from __future__ import annotations

import functools
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import findings
from kept_scores import Scores, keep

import harness
from harness import folders
from harness.plugins.reproduction import rows
from harness.plugins.validity import command as validity_command
from harness.plugins.validity import measuring
from harness.registry.registry import Registry
from harness.results import formats, tables
from harness.run.tasks import list_tasks
from harness.task import reference
from harness.task.schema import TaskFile

ROOT = Path(__file__).parents[1]
MARK = re.compile(
    r"<!-- table: (?P<name>[\w:. -]+?) -->\n"
    r"(?P<committed>(?:(?!<!-- table: ).)*?<!-- end of table -->)?",
    re.DOTALL,
)
END = "<!-- end of table -->"
NUMBER_MARK = re.compile(r"(<!-- here: ([\w.-]+) -->)([^<]*)(<!-- end -->)")
MODEL = "all-MiniLM-L6-v2"
MITIGATORS = ("none", "normalize", "hard-debias")
NUMBER = re.compile(r"[+-]?\d+\.\d+")
ROUNDING = 0.002
"""By how much a value of an encoder may differ between machines."""


def committed() -> list[Path]:
    """Return the README and the pages."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def for_site(page: str) -> str:
    """Return a page with the tables that only the site has; those that are committed stay."""

    def written(match: re.Match[str]) -> str:
        name, *arguments = match["name"].split()
        return match[0] if match["committed"] else f"\n{table(name, arguments)}\n"

    return MARK.sub(written, page)


def up_to_date(page: str) -> str:
    """Return a page with its committed tables written anew."""

    def written(match: re.Match[str]) -> str:
        if match["committed"] is None:
            return match[0]
        name, *arguments = match["name"].split()
        old = match["committed"].removesuffix(END).strip("\n")
        new = table(name, [*arguments, *([old] if name == "result" else [])]).strip("\n")
        return f"<!-- table: {match['name']} -->\n\n{new}\n\n{END}"

    return NUMBER_MARK.sub(with_number, MARK.sub(written, page))


def with_number(match: re.Match[str]) -> str:
    """Return a number in a sentence, written anew with the digits that it has in the page."""
    begin, name, old, end = match.groups()
    text = f"{numbers()[name]:.{len(old.partition('.')[2])}f}"
    return f"{begin}{text.removeprefix('0') if old.startswith('.') else text}{end}"


@functools.cache
def numbers() -> dict[str, float]:
    """Return the recorded values of the rows of all papers, and the number of languages."""
    results = rows.of_recorded(rows.read(Registry()).values())
    recorded = {result.row.id: result.here for result in results}
    recorded["languages"] = len({entry.file.language for entry in list_tasks(Registry())})
    return {name: value for name, value in recorded.items() if isinstance(value, int | float)}


def table(name: str, arguments: Sequence[str]) -> str:
    """Return a table by its name: one of this module's, or of the kept scores."""
    make: Callable[..., str] = TABLES.get(name) or getattr(kept_scores(), name)
    return make(*arguments)


@functools.cache
def kept_scores() -> Scores:
    """Return the kept scores; they take seconds to read."""
    return Scores()


NOT_VALID = {
    "association-test/proportion": "an offset of all attributes changes the count",
    "concept-direction/auc": "the best of many components, without its floor",
    "ect/coherence": "does not move with the bias",
    "mac/distance": "does not move with the bias",
    "reference-correlation/pooled_pearson": "pools the levels of whole articles",
    "reference-correlation/pooled_spearman": "pools the levels of whole articles",
    "ripa/association": "a single set of attributes has an offset",
    "rnd/difference": "a single set of attributes has an offset",
    "rnsb/divergence": "does not move with the bias",
    "weat/effect_size": "standardised: no magnitude of bias",
}
"""Why a published score is not valid, by `metric/score`; docs/findings.md names the tests.

A number may reproduce and still say nothing about bias. It counts where no ranked task has the
score for its primary one: RND of two contrasted attribute sets is valid, that of single sets not.
"""


def valid(entry: rows.Entry) -> str:
    """Return whether tasks rank by the score of a row: `yes`, `no: ` and why, or a dash.

    It is the primary score of a task that is ranked and no control.
    """
    answer, source, unranked = entry.answer, entry.source, None
    if isinstance(answer, rows.StudyAnswer):
        measure = source["measures"].get(answer.measure)
        if measure is None:
            return "–"
        metric = measure["metric"]
        score = measure.get("score") or next(iter(Registry().metric(metric).scores))
    elif answer is None or answer.field != "value":
        return "–"
    else:
        metric, score, unranked = answer.metric, answer.score, source.get("unranked")
        primary = (source["primary"]["metric"], source["primary"]["score"])
        if (metric, score) == primary and unranked is None:
            return "–" if source.get("measures") == "control" else "yes"
    reason = NOT_VALID.get(f"{metric}/{score}") or unranked
    return f"no: {reason}" if reason else "–"


def papers() -> str:
    """Return how many rows of each paper reproduce."""
    lines = []
    for name, file in rows.read(Registry()).items():
        of_paper = rows.of_recorded([file])
        items = {item for result in of_paper for item in result.row.items}
        printed = [sum(item.startswith(kind) for item in items) for kind in ("Table", "Figure")]
        counts = [sum(r.status == status for r in of_paper) for status in rows.SHOWN]
        lines.append((name, *map(str, (*printed, sum(counts), *counts))))
    totals = [str(sum(int(line[i]) for line in lines)) for i in range(1, 7)]
    columns = ("paper", "tables", "figures", "rows", *rows.SHOWN)
    return formats.markdown_grid(columns, [*lines, ("**all**", *totals)]) + "\n"


def reproduction() -> str:
    """Return the rows of each paper under a heading, with the commands below them."""
    return "\n".join(map(_paper, rows.read(Registry()).values()))


def _paper(file: rows.PaperFile) -> str:
    of_paper, paper = rows.of_recorded([file]), file.paper
    commands = list(dict.fromkeys(r.entry.command for r in of_paper if r.entry.command))
    lines = []
    for result in of_paper:
        row, entry = result.row, result.entry
        texts = (row.claim, result.printed, result.found, valid(entry), entry.model or "–")
        number = str(commands.index(entry.command) + 1) if entry.command else "–"
        cells = [*map(_escaped, texts), number, _escaped(result.verdict)]
        lines.append((", ".join(row.items), *cells))
    columns = ("item", "claim", "printed", "here", "valid score", "model", "command", "status")
    parts = [
        f"## {paper.name}",
        f"{_escaped(paper.title)}. {_escaped(paper.citation)}.",
        formats.markdown_grid(columns, lines),
    ]
    if commands:
        parts.append("\n".join(f"{i}. `{command}`" for i, command in enumerate(commands, 1)))
    return "\n\n".join(parts) + "\n"


def _escaped(value: str) -> str:
    """Return a text for a cell in Markdown; what stands in backticks is code."""
    texts_and_codes = re.split("`([^`]+)`", value)
    return "".join(
        f"`{part.replace('|', chr(92) + '|')}`" if i % 2 else formats.markdown_text(part)
        for i, part in enumerate(texts_and_codes)
    )


def validity() -> str:
    """Return what is recorded of the validity of all tasks: a table for each metric."""
    recorded, parts = measuring.recorded(Registry()), []
    for metric in sorted({row.metric for row in recorded}):
        of_metric = [row for row in recorded if row.metric == metric]
        scores = ", ".join(dict.fromkeys(f"`{row.score}`" for row in of_metric))
        cells = [list(map(formats.markdown_text, validity_command.line(row))) for row in of_metric]
        grid = formats.markdown_grid(validity_command.COLUMNS, cells)
        parts += [f"## {metric}\n\nScore: {scores}.\n", f"{grid}\n"]
    return "\n".join(parts)


def families() -> str:
    """Return the families of tasks that there are in other languages than English."""
    files = [entry.file for entry in list_tasks(Registry())]
    other = [file for file in files if file.language != "en" and f"-{file.language}" in file.name]
    names = {file.name.partition(f"-{file.language}")[0] for file in other}
    members: dict[str, list[TaskFile]] = {name: [] for name in sorted(names)}
    for file in files:
        found = [name for name in names if file.name.startswith(f"{name}-")]
        if found:
            members[max(found, key=len)].append(file)
    lines = []
    for name, of in members.items():
        reviewed = {file.language for file in of if file.is_reviewed}
        categories = sorted({file.category for file in of})
        lines.append(
            [
                f"`{name}-*`",
                " ".join(sorted({file.language for file in of})),
                ", ".join(categories),
                f"`{of[0].primary.metric}`",
                " ".join(sorted(reviewed)) or "none",
            ]
        )
    return formats.markdown_grid(["tasks", "languages", "category", "metric", "reviewed"], lines)


def methods() -> str:
    """Return the methods that rank, each with its tasks: those with a value of the reference."""
    lines: dict[tuple[str, str], tuple[list[str], list[str]]] = {}
    for entry in list_tasks(Registry()):
        file = entry.file
        if file.measures != "bias" or file.not_ranked:
            continue
        metric, method = file.primary.metric, file.family or file.primary.metric
        for kind in reference.of_task(entry.document.path, file.name, file.version):
            metrics, tasks = lines.setdefault((kind, method), ([], []))
            tasks.append(f"`{file.name}`")
            metrics += [] if f"`{metric}`" in metrics else [f"`{metric}`"]
    return formats.markdown_grid(
        ["models", "method", "metric", "tasks"],
        [[*key, ", ".join(m), ", ".join(t)] for key, (m, t) in sorted(lines.items())],
    )


def result(*arguments: str) -> str:
    """Return what `harness eval` prints of some tasks; numbers that differ by rounding stay.

    Parameters
    ----------
    *arguments
        The tasks, and what is printed now.
    """
    *tasks, old = arguments
    records = harness.evaluate(MODEL, tasks, MITIGATORS, concept="gender", progress=False)
    lines: list[str] = []
    printed = formats.plain_text(tables.report(tables.sections(records.select())))
    for line in printed.splitlines():
        if line.startswith("*"):
            break  # the notes
        is_mean = line.strip().startswith(("mean ", "change,"))
        if not is_mean and " in the mean: " not in line:
            lines.append(line)
    text = "\n".join(lines).strip("\n")
    text = "```\n" + text.replace("\n\n" + MODEL, "\n …\n\n" + MODEL) + "\n …\n```"
    return old if differ_by_rounding(old, text) else text


def differ_by_rounding(old: str, new: str) -> bool:
    """Return whether two texts have the same words, and nearly the same numbers."""
    if NUMBER.sub("", old) != NUMBER.sub("", new):
        return False
    pairs = zip(NUMBER.findall(old), NUMBER.findall(new), strict=True)
    return all(abs(float(a) - float(b)) <= ROUNDING for a, b in pairs)


def gaming(model: str) -> str:
    """Return what changes that remove no bias do to the bias of a model."""
    sys.path.insert(0, str(ROOT))
    from tests.gaming import table_of

    return table_of(model)


def marked(model: str) -> str:
    """Return the table of yardsticks that are marked as uneven, by what is boosted."""
    sys.path.insert(0, str(ROOT))
    from tests import gaming as changes

    frame = changes.marked(changes.Bench.of(model))
    return formats.markdown_grid(frame.columns, [[f"{n:g}" for n in row] for row in frame.rows()])


def speed() -> str:
    """Return the kept figures of the benchmarks; those that are older than their code are marked.

    Not committed: the marks change with the code.
    """
    sys.path.insert(0, str(ROOT / "perf"))
    from timing import code_digest

    parts: list[str] = []
    for path in sorted((ROOT / "perf").glob("*.json")):
        kept = json.loads(path.read_text("utf-8"))
        older = {
            name
            for name, code in kept["code"].items()
            if code_digest(code["paths"]) != code["digest"]
        }
        columns = list(dict.fromkeys(column for row in kept["rows"] for column in row))
        lines = []
        for row in kept["rows"]:
            name = row[columns[0]]
            figures = [str(row.get(column, "")) for column in columns[1:]]
            lines.append([f"{name} †" if name in older else name, *figures])
        versions = ", ".join(f"{name} {version}" for name, version in kept["versions"].items())
        parts += [
            f"## {kept['title']}",
            formats.markdown_grid(columns, lines).strip("\n"),
            f"Measured on {kept['date']}, {kept['machine']}, load {kept['load']:g}; {versions}."
            + " † is older than the code that it measures." * bool(older),
            f"```text\n{kept['command']}\n```",
        ]
    return "\n\n".join(parts)


TABLES: dict[str, Callable[..., str]] = {
    "families": families,
    "gaming": gaming,
    "marked": marked,
    "methods": methods,
    "papers": papers,
    "reproduction": reproduction,
    "result": result,
    "speed": speed,
    "validity": validity,
}


def changed() -> dict[Path, str]:
    """Return the new text of each committed page whose tables are out of date."""
    texts = {path: path.read_text("utf-8") for path in committed()}
    new = {path: up_to_date(text) for path, text in texts.items()}
    return {path: text for path, text in new.items() if text != texts[path]}


def main(*arguments: str) -> None:
    """Write the tables; before that, keep scores of results folders, and draw what they show.

    Or print one table.
    """
    if arguments[:1] == ("--keep",):
        keep([Path(path) for path in arguments[1:]])
        findings.draw(kept_scores().found)
    if arguments[:1] == ("--show",):
        print(table(arguments[1], arguments[2:]))
        return
    for path, text in changed().items():
        folders.write_atomically(path, text.encode())
        print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
