"""`harness cache`: shows, verifies and prunes the stored embeddings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from harness.commands import arguments


@click.group("cache")
def command() -> None:
    """Show, verify and prune the stored embeddings."""


@command.command("info")
@arguments.cache
@arguments.as_json
def info(cache: Path | None, as_json: bool) -> None:
    """Show which models' embeddings are stored, and how large they are."""
    from harness.commands import output
    from harness.store import answers, pruning

    folder = _folder(cache)
    rows = [
        {
            "model": found.model.get("name", "?"),
            "fingerprint": found.fingerprint,
            "texts": found.rows,
            "segments": found.segments,
            "bytes": found.bytes,
            "last_used": found.last_used.isoformat(timespec="seconds"),
        }
        for found in pruning.stores(folder)
    ]
    answer_files: list[dict[str, Any]] = [
        {"answers": path.stem, "bytes": path.stat().st_size}
        for path in ([] if cache else answers.files())
    ]
    if as_json:
        output.as_json({"folder": str(folder), "stores": rows, "answers": answer_files})
        return
    if rows:
        output.table(
            ["model", "fingerprint", "texts", "segments", "MB", "last used"],
            [
                [
                    row["model"],
                    _end(row["fingerprint"]),
                    row["texts"],
                    row["segments"],
                    round(row["bytes"] / 1e6, 3),
                    row["last_used"][:16].replace("T", " "),
                ]
                for row in rows
            ],
            title=str(folder),
            drop=("segments", "texts"),
        )
    else:
        click.echo(f"nothing is stored in {folder}")
    if answer_files:
        output.table(
            ["answers of", "MB"],
            [[row["answers"], round(row["bytes"] / 1e6, 3)] for row in answer_files],
            title=str(answers.default_folder()),
        )


@command.command("verify")
@arguments.cache
@arguments.as_json
def verify(cache: Path | None, as_json: bool) -> int:
    """Check every stored vector; what is damaged is set aside and made again when needed."""
    from harness.commands import output
    from harness.store import pruning

    rows = []
    for found in pruning.stores(_folder(cache)):
        for checked in pruning.store_of(found).verify():
            rows.append(
                {
                    "model": found.model.get("name", "?"),
                    "segment": checked.name,
                    "texts": checked.rows,
                    "problem": checked.problem or None,
                }
            )
    bad = [row for row in rows if row["problem"]]
    if as_json:
        output.as_json(rows)
    else:
        if bad:
            output.table(list(bad[0]), [list(row.values()) for row in bad], drop=("texts",))
        click.echo(f"{output.counted(len(rows), 'segment')}, {len(bad)} damaged")
    return 1 if bad else 0


@command.command("prune")
@arguments.cache
@click.option("--model", "names", multiple=True, help="Remove this model's embeddings.")
@click.option(
    "--unused-days",
    type=click.FloatRange(min=0),
    help="Remove what was not used for so many days.",
)
@click.option(
    "--max-gb",
    type=click.FloatRange(min=0, max=1e9),
    help="Remove the longest unused until this much is left.",
)
@click.option(
    "--answers",
    "include_answers",
    is_flag=True,
    help="Remove what recognisers of names and language models answered, too.",
)
def prune(
    cache: Path | None,
    names: tuple[str, ...],
    unused_days: float | None,
    max_gb: float | None,
    include_answers: bool,
) -> None:
    """Remove embeddings; merge small segments; tidy up what a kill left."""
    from fnmatch import fnmatchcase

    from harness.commands import output
    from harness.errors import UnknownName
    from harness.store import answers, pruning

    folder = _folder(cache)
    if names:
        found = pruning.stores(folder)
        known = {str(one.model.get("name", "?")) for one in found}
        fingerprints = {one.fingerprint for one in found}
        for name in names:
            if not any(fnmatchcase(one, name) for one in known | fingerprints):
                raise UnknownName("stored model", name, known)
    done = pruning.prune(
        folder,
        names=names,
        unused_days=unused_days,
        max_bytes=None if max_gb is None else int(max_gb * 1e9),
    )
    click.echo(
        f"removed {output.counted(len(done.removed), 'store')} and "
        f"{output.counted(done.leftovers, 'leftover')}, "
        f"merged {output.counted(done.merged, 'segment')}, freed {done.freed / 1e6:.1f} MB"
    )
    if include_answers:
        gone = answers.files()
        freed = sum(path.stat().st_size for path in gone)
        for path in gone:
            path.unlink(missing_ok=True)
        click.echo(f"removed {output.counted(len(gone), 'file')} of answers, {freed / 1e6:.1f} MB")


def _folder(cache: Path | None) -> Path:
    from harness import folders

    return cache or folders.embeddings()


def _end(fingerprint: str) -> str:
    """Return the end of a fingerprint: the hash, which tells one setting from another."""
    return fingerprint if len(fingerprint) <= 16 else f"…{fingerprint[-12:]}"
