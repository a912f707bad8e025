"""The command `harness leaderboard`, and the commands of submissions in `harness results`.

Imports are inside the functions, so that `harness --help` stays fast.
"""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path

import click

from harness.commands import arguments
from harness.printing import echo


@click.group()
def leaderboard() -> None:
    """Rank models and mitigators on a static page."""


@leaderboard.command()
@click.argument("results", nargs=-1, required=True, type=arguments.PlaceType())
@arguments.copied("results")
@click.option(
    "--out",
    default=Path("site"),
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder for index.html with its data, static pages, leaderboard.csv, leaderboard.json and "
    "records.parquet.",
)
@click.option(
    "--tasks",
    "-t",
    multiple=True,
    help="Only these tasks: names, globs or benchmarks, comma-separated or "
    "repeated.  [default: all]",
)
@click.option(
    "--title", help="Title of the page.  [default: that of board.yaml, or 'Bias in embeddings']"
)
@click.option(
    "--url",
    help="Address where the page will be, such as https://example.org/board/, for search engines, "
    "badges and citations.  [default: that of board.yaml]",
)
@arguments.include
def build(
    results: tuple[Path, ...],
    out: Path,
    tasks: tuple[str, ...],
    title: str | None,
    url: str | None,
    include: tuple[Path, ...],
) -> None:
    """Build a leaderboard of the records in RESULTS, files or folders, also of buckets.

    Scales and categories are those of the registered tasks. A record that is not as its task says
    is set aside, with one line for each reason, and the rest is built. Tasks of your own are
    registered by their plugin, or by --include with their folder.
    """
    from harness.errors import UsageError
    from harness.names import split
    from harness.registry.registry import Registry

    from . import building
    from .site import about, evidence, writing
    from .site.registered import registered
    from .site.rendering import grouped
    from .site.static_pages import site_address

    address = site_address(url) if url is not None else ""
    say = functools.partial(echo, err=True)
    registry = Registry(include=include)
    who, notice = about.read(results)
    ranked = building.rank(results, registry, include=include, tasks=split(tasks), say=say)
    items = evidence.gather(ranked.boards, ranked.claims.frame, registry, results)
    claims = dataclasses.replace(ranked.claims, aside=(*ranked.claims.aside, *items.aside))
    for group in grouped(claims.aside):
        say(f"set aside: {group.line()}")
    notices = [*([notice] if notice else []), *ranked.notices, *items.notices]
    for notice in notices:
        say(notice)
    if not ranked.boards:
        places = ", ".join(f"'{path}'" for path in results)
        reason = (
            "all are set aside, see above" if ranked.claims.aside else "`harness eval` writes it"
        )
        raise UsageError(f"no record of a primary score counts in {places}: {reason}")
    for board in ranked.boards:
        for notice in board.notices:
            say(f"{board.kind} embeddings: {notice}")
    page = writing.write(
        ranked.boards,
        out,
        title=title or who.title or about.TITLE,
        claims=claims,
        registered=registered(registry, ranked.facts, include),
        notices=notices,
        sources=results,
        url=address or who.url or "",
        who=who,
        evidence=items,
    )
    if line := about.advice(who, results):
        say(line)
    for board in ranked.boards:
        echo(f"{board.kind} embeddings: {board.summary()}")
        echo(board.first.finding)
    echo(f"wrote {page}")


# `harness results check`: what the workflow of a results repository runs on a submission.


@click.command("check")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--base",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Results repository that they join; nothing of it may be changed or gone.",
)
@arguments.include
@arguments.as_json
@click.option(
    "--markdown",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write a comment to, for a pull request.",
)
def check(
    paths: tuple[Path, ...],
    base: Path | None,
    include: tuple[Path, ...],
    as_json: bool,
    markdown: Path | None,
) -> None:
    """Check submissions of results.

    PATHS are results repositories, folders in them, or files.

    Prints a line for each problem. A folder with a folder `results` and anything beside it is a
    changed copy of the base, which must still have all that the base has. Exits with 1 if there is
    a problem.

    \b
    harness results check results/all-MiniLM-L6-v2 --base ../board
    harness results check ../fork --base . --markdown comment.md
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness import folders
    from harness.commands import output

    from .submissions import check as comment
    from .submissions.check import check as checked_of

    checked = checked_of(paths, base, include=include)
    if markdown is not None:
        folders.write_atomically(markdown, comment.comment_markdown(checked).encode())
    if as_json:
        output.as_json(
            {
                "problems": [problem.to_dict() for problem in checked.problems],
                "warnings": [warning.to_dict() for warning in checked.warnings],
                "new_records": len(checked.records),
                "known_records": checked.known,
            }
        )
    else:
        for line in comment.listed(checked.problems, "problem"):
            echo(line)
        for line in comment.listed(checked.warnings, "warning"):
            echo(f"warning: {line}")
        echo(comment.comment_summary(checked))
    if checked.problems:
        click.get_current_context().exit(1)


# `harness results merge`: the command line of a maintainer's merge.


@click.command("merge")
@click.argument("submissions", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--into", type=click.Path(path_type=Path), required=True, help="The results repository."
)
def merge(submissions: tuple[Path, ...], into: Path) -> None:
    """Merge SUBMISSIONS into a results repository.

    They are folders as `harness results pack` writes them. Adds what is new and changes nothing.
    Exits with 1 if a record is there with another value: both are kept, and neither counts until
    withdrawn.yaml of the repository says which is withdrawn.

    \b
    harness results merge submission --into board
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness.commands.output import counted

    from .submissions import merge as merges
    from .submissions.check import listed

    merged = merges.merge(submissions, into)
    for file, n in merged.added.items():
        echo(f"{file}: {counted(n, 'new record')}")
    for file, n in merged.samples.items():
        echo(f"{file}: strongest items of {counted(n, 'record')}")
    for line in listed(merged.problems, "problem"):
        echo(line, err=True)
    new = sum(merged.added.values())
    echo(f"{counted(new, 'new record')}, {counted(merged.repeats, 'record')} there already")
    if merged.problems:
        click.get_current_context().exit(1)


# `harness results pack`: the command line of a submission's first step.


@click.command("pack")
@click.argument("results", type=click.Path(path_type=Path))
@click.option(
    "--out", "-o", type=click.Path(path_type=Path), required=True, help="Folder to write into."
)
@click.option("--by", required=True, help="Who submits: a person or organisation; public.")
@click.option(
    "--licence",
    default="CC0-1.0",
    show_default=True,
    help="Licence of the results, an SPDX expression.",
)
@click.option("--contact", help="Address or page for questions; public.")
@arguments.include
def pack(
    results: Path,
    out: Path,
    by: str,
    licence: str,
    contact: str | None,
    include: tuple[Path, ...],
) -> None:
    """Pack the records in RESULTS for a results repository.

    Writes results/MODEL/FINGERPRINT/RUN.jsonl into OUT, and a submission.json beside it. Leaves out
    what a check would refuse, such as smoke runs and tasks that are not registered, and says so.
    Of samples (harness eval --samples), the strongest items of each primary score are in
    RUN.samples.jsonl. Tables, figures and other samples stay where they are.

    \b
    harness results pack results --out submission --by "Ada Example"
    """  # noqa: D301  # click keeps the lines after a backspace
    import shlex

    from harness.commands.output import counted
    from harness.results.record import SUFFIX

    from .submissions import pack as packing

    packed = packing.pack(
        results,
        out,
        by=by,
        licence=licence,
        contact=contact,
        include=include,
    )
    for reason, n in packed.left_out.items():
        echo(f"{counted(n, 'record')} left out: {reason}", err=True)
    for warning in packed.warnings:
        echo(f"warning: {warning}", err=True)
    for reason, n in packed.without_items.items():
        echo(f"items of {counted(n, 'score')} left out: {reason}", err=True)
    for path, n in packed.written.items():
        is_samples = path.name.endswith(SUFFIX)
        echo(f"{path}: {'strongest items of ' * is_samples}{counted(n, 'record')}")
    for path in packed.kept:
        echo(f"{path}: is there, unchanged")
    echo(f"\nlicence of the results: {licence}")
    folders = [word for folder in include for word in ("--include", str(folder))]
    echo(f"next: {shlex.join(['harness', 'results', 'check', str(out), *folders])}")


# `harness results card`: the command line of a model card's scores.


@click.command("card")
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--model", "-m", help="Name of the model; needed if there are several.")
@click.option("--mitigator", "-M", default="none", show_default=True, help="Label of a mitigator.")
@click.option("--url", help="Address of the board, as the source of the scores.")
@arguments.include
def card(
    results: tuple[Path, ...],
    model: str | None,
    mitigator: str,
    url: str | None,
    include: tuple[Path, ...],
) -> None:
    """Print the scores of a model in RESULTS for its page on a hub.

    Prints metadata of a model card (model-index) and a table in Markdown, which together begin a
    README.md. Only scores of registered tasks are printed.

    \b
    harness results card results --model all-MiniLM-L6-v2 > card.md
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness.results.formats import markdown_text

    from .submissions.card import model_index, scores_for_card, table
    from .submissions.check import listed

    scores = scores_for_card(results, model, mitigator, include=include)
    for line in listed(scores.aside, "record"):
        echo(line, err=True)
    under = "" if mitigator == "none" else f" under the mitigator {markdown_text(mitigator)}"
    echo(f"---\n{model_index(scores.rows, url=url)}\n---\n")
    echo(f"Bias and usefulness{under}, by the Embedding Bias Harness:\n")
    echo(table(scores.rows))


# The commands of submissions, which join `harness results`.


@click.group("results")
def results() -> None:
    """Commands that join `harness results`."""


for command in (pack, check, merge, card):
    results.add_command(command)


# `harness leaderboard init`: the command line of a new results repository.


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--title", default="Bias in embeddings", show_default=True, help="Title of the board."
)
@click.option(
    "--harness",
    "pinned",
    metavar="WHEEL",
    help="What the repository installs: FILE.whl, https://HOST/FILE.whl or "
    "git+https://HOST/PATH@COMMIT.  "
    "[default: what this harness was installed from]",
)
def init(folder: Path, title: str, pinned: str | None) -> None:
    """Write a repository that collects results into FOLDER.

    It has guides, a checklist and workflows. People submit results to it by pull requests, which a
    workflow checks. Another workflow builds the board and publishes it. Files that exist stay as
    they are.
    """
    from .submissions.init import init as write

    written = write(folder, title=title, pinned=pinned)
    for file in written.files:
        echo(file)
    for file in written.kept:
        echo(f"kept '{file}', which exists", err=True)
    echo(f"\nit installs {written.requirement}; others must be able to, too")
    echo(f"next: read {folder / 'README.md'}, section 'Set up'")
