"""A hosted model on the command line, with a real server that misbehaves."""

from __future__ import annotations

import contextlib
import io
import json
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small_study
from loopback import BUSY, DIMENSIONS, Loopback, expected, vector

from harness.commands.main import run
from harness.embedder import ModelInfo
from harness.encode import admission
from harness.errors import HarnessError
from harness.results import jsonl
from harness.results.folder import read
from harness.run.evaluation import evaluate
from harness.store.pruning import store_of, stores
from harness.study.running import run_study
from harness.study.study_record import StudyRecord

SECRET = "sk-1234-never-to-be-seen"


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
    code, first, errors = place.command("eval")
    assert code == 0
    assert len(place.server.texts) == len(set(place.server.texts)) == plan["to_encode"]
    requests = len(place.server.requests)
    assert f"{requests} requests, US$ " in errors
    code, second, errors = place.command("eval", "--overwrite")
    assert (code, len(place.server.requests)) == (0, requests + 1)
    assert second.splitlines()[:-2] == first.splitlines()[:-2]  # but for the texts encoded
    assert "1 request, US$ " in errors
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


def test_the_plan_estimates_tokens_and_cost(place: Place) -> None:
    plan = place.plan()
    assert plan["cost"] == pytest.approx(plan["tokens"] * 100 / 1e6)
    code, out, _ = place.command("plan")
    assert code == 0
    assert f"{plan['tokens']:,} tokens, US$ " in out
    assert place.server.requests == []


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


def test_a_wrong_key_is_one_line_with_its_variable(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", "sk-wrong")
    code, _, errors = place.command("eval")
    assert code == 1
    last = errors.splitlines()[-1]
    assert f"127.0.0.1:{place.server.port}/v1 " in last
    assert "LOOPBACK_KEY" in last
    assert "401" in last
    assert "sk-wrong" not in errors


def test_another_model_behind_the_same_name_gets_a_store_and_records_of_its_own(
    place: Place,
) -> None:
    first = place.server.embed

    def other(texts: list[str], dimensions: int) -> Any:
        return [vector("other " + text, dimensions) for text in texts]

    def wide(texts: list[str], dimensions: int) -> Any:
        return [vector(text, dimensions + 1) for text in texts]

    total = place.plan()["to_encode"]
    for embed, n_stores in ((first, 1), (other, 2), (wide, 3)):
        place.server.embed = embed
        place.server.requests.clear()
        code, _, errors = place.command("eval")
        assert code == 0
        assert ("another model answers than in earlier runs" in errors) == (n_stores > 1)
        assert len(place.server.texts) == total, "no text has the vector of another model"
        assert place.stored() == n_stores * total
    fingerprints = {r.model.fingerprint for r in read([place.folder / "results"]).records}
    assert len(fingerprints) == 3
    assert sum(admission.VARIANT in fingerprint for fingerprint in fingerprints) == 2

    # Each is found again, also with the noise of an endpoint.
    def noisy(texts: list[str], dimensions: int) -> Any:
        noise = np.random.default_rng().standard_normal((len(texts), dimensions)) * 1e-4
        return (np.asarray(other(texts, dimensions)) + noise).astype(np.float32)

    for embed, is_told in ((wide, False), (noisy, True), (other, False), (first, True)):
        place.server.embed = embed
        place.server.requests.clear()
        code, _, errors = place.command("eval", "--overwrite")
        assert (code, place.server.texts, len(place.server.requests)) == (0, [], 1)
        assert ("one of an earlier run" in errors) == is_told
        assert place.plan()["to_encode"] == 0, "a plan takes the variant of the last run"
    assert place.stored() == 3 * total
    assert {r.model.fingerprint for r in read([place.folder / "results"]).records} == fingerprints


def test_an_answer_is_stored_as_soon_as_it_has_arrived(place: Place) -> None:
    stored: list[int] = []
    embed = place.server.embed

    def watched(texts: list[str], dimensions: int) -> Any:
        stored.append(place.stored())
        return embed(texts, dimensions)

    place.server.embed = watched
    assert place.command("eval")[0] == 0
    sent = [
        sum(text not in admission.CANARY_TEXTS for text in b["input"])
        for b in place.server.requests
    ]
    # One request at a time: what was sent before a request is stored when it arrives.
    assert stored == [sum(sent[:i]) for i in range(len(sent))]
    segments = [store_of(found).info().segments for found in stores(place.folder / "cache")]
    assert max(segments) < 33, "small segments are merged"


@pytest.mark.parametrize(
    "place_of_key",
    ["http://user:{}@127.0.0.1:1/v1", "http://127.0.0.1:1/v1?key={}"],
)
@pytest.mark.parametrize("command", ["eval", "show"])
def test_a_key_in_an_address_is_refused_and_repeated_nowhere(
    tmp_path: Path, place_of_key: str, command: str
) -> None:
    key = "sk-0a1b2c3d4e5f6a7b8c9d"
    model = f"openai:toy?base_url={place_of_key.format(key)}"
    words = {
        "eval": ["eval", "--debug", "--tasks", "name-triplets", "--model", model],
        "show": ["show", "model", model],
    }[command]
    if command == "eval":
        words += ["--results", str(tmp_path / "results"), "--cache", str(tmp_path / "cache")]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = run(words)
        except HarnessError as error:  # --debug shows the traceback
            code = error.exit_code
            traceback.print_exc(file=err)
    printed = out.getvalue() + err.getvalue()
    assert code == 2
    assert "base_url" in printed
    assert not any(key[i : i + 4] in printed for i in range(len(key) - 3))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(key.encode() in path.read_bytes() for path in files)


def test_a_study_notices_another_model_too(tmp_path: Path, loopback: Loopback) -> None:
    folder = small_study.fill(tmp_path, small_study.vectors())
    model = f"openai:toy?base_url={loopback.url}"
    path = tmp_path / "small.yaml"
    small_study.write(path, small_study.content(folder) | {"models": [model]})
    embed, rows = loopback.embed, []
    for salt in ("", "x ", "x "):
        loopback.embed = lambda texts, d, salt=salt: embed([salt + text for text in texts], d)
        study = run_study(
            path, results=tmp_path / "results", cache=tmp_path / "cache", workers=2, trust=True
        )
        rows.append((study.new > 0, any("another model" in line for line in study.notices)))
    assert rows == [(True, False), (True, True), (False, False)]
    records = jsonl.RecordsFile(study.path, StudyRecord).records.values()
    assert len({record.model.fingerprint for record in records}) == 2
