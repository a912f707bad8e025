"""Runs a kind: the inputs of its corpus, then mutations of them, and says what is wrong.

Allowed is a value, or a `HarnessError` whose message has one line. It must come within seconds, and
no file outside of the sandbox may have been opened.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from harness.errors import HarnessError

from .kinds import KINDS
from .mutating import Mutator

CORPUS = Path(__file__).parent / "corpus"
SECONDS = 10
"""Time for one input; usual ones take milliseconds."""
FORBIDDEN = ("/dev/zero",)  # a file may name any model, so it may look into any file
_opened: list[str] = []
_watching = False


class Hang(BaseException):
    """An input took too long."""


def problem_of(read: Callable[[Path], object], path: Path, outside: Path | None) -> str | None:
    """Return what is wrong with how an input is read; None if nothing is.

    Parameters
    ----------
    read
        Reads a file.
    path
        The input.
    outside
        Folder that no input may read; None if the input is the user's own word.
    """
    global _watching
    _opened.clear()
    signal.signal(signal.SIGALRM, _too_long)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    _watching = outside is not None
    try:
        read(path)
    except HarnessError as error:
        if "\n" in str(error) and outside is not None:
            return f"a message of several lines: {error!r}"
    except Hang:
        return f"no end after {SECONDS} s"
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [f for f in frames if "/tests/" not in f.filename]
        last = own[-1] if own else frames[-1]
        return f"{type(error).__name__} at {last.filename}:{last.lineno}: {str(error)[:200]}"
    finally:
        _watching = False
        signal.setitimer(signal.ITIMER_REAL, 0)
    for name in _opened:
        real = os.path.realpath(name)
        if real in FORBIDDEN or (outside and real.startswith(f"{outside}{os.sep}")):
            return f"it opened {real}"
    return None


def _too_long(*_: object) -> None:
    raise Hang


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _watching and event == "open" and isinstance(arguments[0], str | bytes):
        _opened.append(os.fsdecode(arguments[0]))


sys.addaudithook(_audit)


def sandbox(folder: Path) -> tuple[Path, Path]:
    """Fill a folder with what inputs may name, and one beside it with what they may not."""
    inside, outside = folder.resolve() / "inside", folder.resolve() / "outside"
    for place in (inside, outside):
        place.mkdir()
    (outside / "secret.yaml").write_text("sets: {secret: [word]}\n")
    (outside / "secret.tsv").write_text("text\tlabel\nsecret\t1\n")
    (inside / "a.tsv").write_text("text\tlabel\nnurse\t1\ndoctor\t0\n")
    (inside / "a.jsonl").write_text('{"text": "nurse", "label": 1}\n')
    (inside / "a.yaml").write_text("sets: {one: [word]}\n")
    for name in ("yaml", "tsv"):
        (inside / f"link.{name}").symlink_to(outside / f"secret.{name}")
    os.mkfifo(inside / "pipe.yaml")
    return inside, outside


def seeds(name: str) -> list[bytes]:
    """Return the inputs of a kind in the corpus, and those that it makes itself."""
    paths = sorted((CORPUS / name).glob("*"))
    return [*(path.read_bytes() for path in paths), *KINDS[name].seeds()]


def findings(name: str, folder: Path, inputs: int, seed: int = 0) -> Iterator[tuple[str, bytes]]:
    """Yield problems and their inputs, of so many inputs of a kind, the corpus first.

    Parameters
    ----------
    name
        The kind.
    folder
        An empty folder.
    inputs
        The number of inputs.
    seed
        Seed of the mutations.
    """
    kind, known = KINDS[name], seeds(name)
    inside, outside = sandbox(folder)
    mutator = Mutator(known, random.Random(f"{name} {seed}"))
    for i in range(inputs):
        content = known[i] if i < len(known) else mutator.next()
        path = inside / f"input-{i}{kind.suffix}"  # no cache takes it for another
        path.write_bytes(content)
        problem = problem_of(kind.read, path, None if kind.is_own_word else outside)
        path.unlink(missing_ok=True)
        if problem is not None:
            yield problem, content


def keep(name: str, content: bytes) -> Path:
    """Write an input of a kind into the corpus and return its path."""
    path = CORPUS / name / f"found-{hashlib.sha256(content).hexdigest()[:12]}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def place_of(problem: str) -> str:
    """Return a problem without what differs from input to input."""
    return re.sub(r": .*", "", problem, flags=re.DOTALL)
