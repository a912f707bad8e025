"""`harness cache`: shows and prunes the cached embeddings and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from harness.commands import arguments
from harness.folders import Place
from harness.printing import echo

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness.store.store import Info


@click.group("cache")
def command() -> None:
    """Show and prune the cached embeddings."""


@command.command("info")
@arguments.cache
@arguments.as_json
def info(cache: Place | None, as_json: bool) -> None:
    """List the models with cached embeddings, and their sizes."""
    from harness.commands import output
    from harness.store import answers, pruning

    folder = _folder(cache)
    rows = [
        {
            "model": _model(store),
            "fingerprint": store.fingerprint,
            "texts": store.rows,
            "segments": store.segments,
            "bytes": store.bytes,
            "last_used": store.last_used.isoformat(timespec="seconds"),
        }
        for store in pruning.stores(folder)
    ]
    answer_files: list[dict[str, Any]] = [
        {"answers": path.stem, "bytes": path.stat().st_size}
        for path in ([] if cache else answers.files())
    ]
    if as_json:
        output.as_json({"folder": str(folder), "stores": rows, "answers": answer_files})
        return
    if rows:
        _print_stores(rows, folder)
    else:
        echo(f"no embeddings are cached in {folder}")
    if answer_files:
        output.lines(
            [{"cached answers": r["answers"], "MB": _megabytes(r["bytes"])} for r in answer_files],
            title=str(answers.default_folder()),
        )


@command.command("prune")
@arguments.cache
@click.option(
    "--model", "names", multiple=True, help="Remove the embeddings of this model; repeatable."
)
@click.option(
    "--unused-days",
    type=click.FloatRange(min=0),
    help="Remove embeddings that were not used for this many days.",
)
@click.option(
    "--max-gb",
    type=click.FloatRange(min=0, max=1e9),
    help="Remove the least recently used until this many gigabytes are left.",
)
@click.option(
    "--answers",
    "include_answers",
    is_flag=True,
    help="Remove the cached answers of name recognisers and language models too.",
)
def prune(
    cache: Place | None,
    names: tuple[str, ...],
    unused_days: float | None,
    max_gb: float | None,
    include_answers: bool,
) -> None:
    """Remove embeddings and leftovers, and merge small files."""
    from harness import folders
    from harness.commands import output
    from harness.store import pruning

    folder = _folder(cache)
    if names:
        _check_known(names, pruning.stores(folder))
    pruned = pruning.prune(
        folder,
        names=names,
        unused_days=unused_days,
        max_bytes=None if max_gb is None else int(max_gb * 1e9),
    )
    echo(
        f"removed {output.counted(len(pruned.removed), 'store')} and "
        f"{output.counted(pruned.leftovers, 'leftover')}, "
        f"merged {output.counted(pruned.merged, 'segment')}, freed {pruned.freed / 1e6:.1f} MB"
    )
    days = folders.UNUSED_DAYS if unused_days is None else unused_days
    count, freed = (0, 0) if cache else folders.remove_unused(folders.graphs(), days)
    if count:
        echo(f"removed {output.counted(count, 'graph')}, freed {freed / 1e6:.1f} MB")
    if include_answers:
        _remove_answers()


def _print_stores(rows: list[dict[str, Any]], folder: Place) -> None:
    from harness.commands import output

    shown = [
        {
            **{key: row[key] for key in ("model", "fingerprint", "texts", "segments")},
            "fingerprint": _end(row["fingerprint"]),
            "MB": _megabytes(row["bytes"]),
            "last used": row["last_used"][:16].replace("T", " "),
        }
        for row in rows
    ]
    output.lines(shown, title=str(folder), drop=("segments", "texts"))


def _check_known(names: Iterable[str], stores: Iterable[Info]) -> None:
    from fnmatch import fnmatchcase

    from harness.errors import UnknownName

    stores = list(stores)
    models = {_model(store) for store in stores}
    known = models | {store.fingerprint for store in stores}
    for name in names:
        if not any(fnmatchcase(candidate, name) for candidate in known):
            raise UnknownName("stored model", name, models)


def _remove_answers() -> None:
    from harness.commands import output
    from harness.store import answers

    paths = answers.files()
    freed = sum(path.stat().st_size for path in paths)
    for path in paths:
        path.unlink(missing_ok=True)
    count = output.counted(len(paths), "file")
    echo(f"removed {count} of answers, freed {freed / 1e6:.1f} MB")


def _folder(cache: Place | None) -> Place:
    from harness import folders

    return cache or folders.embeddings()


def _model(store: Info) -> str:
    from harness.printing import printable

    return printable(str(store.model.get("name", "?")))


def _megabytes(n_bytes: int) -> float:
    return round(n_bytes / 1e6, 3)


def _end(fingerprint: str) -> str:
    """Return the end of a long fingerprint: the hash, which differs between settings."""
    return fingerprint if len(fingerprint) <= 16 else f"…{fingerprint[-12:]}"
