"""A hosted model on the command line, with a real server that misbehaves."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from loopback import BUSY, DIMENSIONS, Fault, Loopback, expected, vector

from harness.commands.main import run
from harness.embedder import ModelInfo
from harness.results.folder import read
from harness.run.evaluation import evaluate
from harness.store.pruning import store_of, stores

SECRET = "sk-1234-never-to-be-seen"
NAMED = "Alejandro quickly ran"
"""Words of one of the texts."""


class Place:
    """A cache and a results folder, and commands that use them with the server's model."""

    def __init__(self, folder: Path, server: Loopback) -> None:
        self.folder, self.server = folder, server

    def command(self, *words: str) -> tuple[int, str, str]:
        """Run a command; return its exit code and what it printed."""
        out, err = io.StringIO(), io.StringIO()
        options = "key=LOOPBACK_KEY&retries=1&batch_texts=10&parallel=1&batch_tokens=200&price=100"
        model = f"openai:toy?base_url={self.server.url}&{options}"
        folders = ["--cache", str(self.folder / "cache"), "--results", str(self.folder / "results")]
        command = [*words, "--model", model, "--tasks", "name-triplets", *folders]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(command)
        return code, out.getvalue(), err.getvalue()

    def plan(self) -> Any:
        (plan,) = json.loads(self.command("plan", "--json")[1])
        return plan

    def stored(self) -> int:
        return sum(store_of(found).info().rows for found in stores(self.folder / "cache"))


@pytest.fixture
def place(tmp_path: Path, loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> Place:
    loopback.key = SECRET
    monkeypatch.setenv("LOOPBACK_KEY", SECRET)
    return Place(tmp_path, loopback)


def test_a_second_run_only_asks_who_answers_and_needs_no_key(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = place.plan()
    assert place.server.requests == []
    code, first, _ = place.command("eval")
    assert code == 0
    assert len(place.server.texts) == len(set(place.server.texts)) == plan["to_encode"]
    requests = len(place.server.requests)
    code, second, _ = place.command("eval", "--overwrite")
    assert (code, len(place.server.requests)) == (0, requests + 1)
    assert second.splitlines()[:-2] == first.splitlines()[:-2]  # but for the texts encoded
    monkeypatch.delenv("LOOPBACK_KEY")
    code, second, errors = place.command("eval", "--overwrite")
    assert (code, len(place.server.requests)) == (0, requests + 1)
    assert second.splitlines()[:-2] == first.splitlines()[:-2]  # but for the texts encoded
    assert "not compared with earlier runs" in errors
    assert "LOOPBACK_KEY" in errors


class LocalModel:
    """Computes the vectors of the server's model in this process."""

    info = ModelInfo(name="local", kind="text", dimensions=DIMENSIONS, fingerprint="local")

    def encode(self, texts: Sequence[str]) -> Any:
        return expected(texts)


def test_a_model_behind_an_endpoint_has_the_scores_of_the_same_model_here(
    tmp_path: Path, loopback: Loopback
) -> None:
    served = f"openai:toy?base_url={loopback.url}"
    records = evaluate(
        [LocalModel(), served],
        "name-triplets",
        ["none", "normalize"],
        results=None,
        cache=tmp_path,
    )
    local_scores, served_scores = (
        {
            (record.mitigator.name, record.scenario, record.metric, record.score): record.value
            for record in records
            if record.model.name == name
        }
        for name in ("local", served)
    )
    assert served_scores == local_scores
    assert len({value for value in local_scores.values() if value is not None}) > 2


def test_texts_encoded_before_an_endpoint_fails_are_kept_and_a_later_run_completes(
    place: Place,
) -> None:
    total = place.plan()["to_encode"]
    place.server.always = lambda body: BUSY if len(place.server.requests) > 2 else None
    code, _, errors = place.command("eval")
    assert code == 1
    assert f"127.0.0.1:{place.server.port}/v1" in errors
    assert "503: status 503 on demand" in errors
    assert "FAILED: openai:toy" in errors
    kept = place.stored()
    assert 0 < kept < total

    place.server.stop()
    code, _, errors = place.command("eval")
    assert code == 1
    assert "cannot be reached" in errors
    assert place.stored() == kept

    place.server.always = lambda body: None
    place.server.requests.clear()
    with place.server:
        code, out, _ = place.command("eval")
    assert code == 0
    assert len(place.server.texts) == total - kept
    assert f"{total} texts, {100 * kept // total} % read from the cache" in out


def test_the_key_is_nowhere_on_disk_or_on_the_screen(place: Place) -> None:
    code, *printed = place.command("eval", "--debug")
    assert code == 0
    place.server.always = lambda body: BUSY
    printed += place.command("eval", "--overwrite")[1:]
    assert SECRET not in "".join(printed)
    files = [path for path in place.folder.rglob("*") if path.is_file()]
    assert any(path.suffix == ".jsonl" for path in files)
    assert not any(SECRET.encode() in path.read_bytes() for path in files)
    (model,) = {record.model.name for record in read([place.folder / "results"]).records}
    assert model == f"openai:toy?base_url={place.server.url}"


def test_another_model_behind_the_same_name_gets_a_store_and_records_of_its_own(
    place: Place,
) -> None:
    first = place.server.embed

    def other(texts: list[str], dimensions: int) -> Any:
        return [vector("other " + text, dimensions) for text in texts]

    total = place.plan()["to_encode"]
    for embed, n_stores in ((first, 1), (other, 2)):
        place.server.embed = embed
        place.server.requests.clear()
        code, _, errors = place.command("eval")
        assert code == 0
        assert ("another model answers than in the last run" in errors) == (n_stores > 1)
        assert len(place.server.texts) == total, "no text has the vector of another model"
        assert place.stored() == n_stores * total
    fingerprints = {r.model.fingerprint for r in read([place.folder / "results"]).records}
    assert len(fingerprints) == 2
    place.server.embed = first
    place.server.requests.clear()
    code, _, errors = place.command("eval", "--overwrite")
    assert (code, place.server.texts, len(place.server.requests)) == (0, [], 1)
    assert "the vectors of an earlier run" in errors
    assert {r.model.fingerprint for r in read([place.folder / "results"]).records} == fingerprints


SPOILT: dict[str, tuple[Callable[[str], Any], str]] = {
    "null for a text": (lambda text: [None] * DIMENSIONS if NAMED in text else None, NAMED),
    "NaN for a text": (lambda text: [float("nan")] * DIMENSIONS if NAMED in text else None, NAMED),
    "one vector for all texts": (lambda _: vector("a").tolist(), "is not read by the model"),
    "uint8 for all texts": (lambda text: list(sha256(text.encode()).digest()), "whole numbers"),
    "base64 for all texts": (lambda _: "AACAPwAAgD8=", "not a list of numbers"),
}


@pytest.mark.parametrize("habit", SPOILT)
def test_there_is_no_score_without_a_vector_for_each_text(habit: str, place: Place) -> None:
    embedding, fact = SPOILT[habit]

    def twist(answer: dict[str, Any]) -> None:
        for item, text in zip(answer["data"], place.server.requests[-1]["input"], strict=True):
            item["embedding"] = embedding(text) or item["embedding"]

    place.server.always = lambda _: Fault(twist=twist)
    _, out, errors = place.command("eval")
    assert fact in " ".join((out + errors).split())
    results = place.folder / "results"
    records = read([results]).records if results.exists() else []
    assert all(record.value is None for record in records)
