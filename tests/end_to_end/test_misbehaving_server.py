"""A hosted model whose server misbehaves, each time in one way, and then in the same way once.

The server speaks the real protocol on 127.0.0.1, through the real client. In a first run it
misbehaves from the fourth request on, in a second run at its second request only. Whatever it does:
the user reads lines without a traceback and without the key, the store has the vectors that were
answered and no others, and no vector is paid for twice.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import json
import socket
import struct
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from loopback import DIMENSIONS, Fault, Loopback, expected, vector

from harness import limits
from harness.embedder import ModelInfo
from harness.errors import HarnessError
from harness.plugins.embedders.hosted import retrying
from harness.registry.registry import Registry
from harness.results.records import NotRunWarning
from harness.run.evaluation import evaluate
from harness.store.pruning import store_of, stores

SECRET = "sk-Zq7Wx9Yv2Kp4Lm6Nt8Rb1"
TEXTS = [f"{kind}{i}" for kind in "abcd" for i in range(10)]
TASK = f"""
name: tiny
version: 1
title: Forty texts
category: gender
inputs:
  targets_1: {{words: [{", ".join(TEXTS[:10])}]}}
  targets_2: {{words: [{", ".join(TEXTS[10:20])}]}}
  attributes_1: {{words: [{", ".join(TEXTS[20:30])}]}}
  attributes_2: {{words: [{", ".join(TEXTS[30:])}]}}
metrics:
  weat: {{options: {{permutations: 10}}}}
primary: {{metric: weat, score: effect_size}}
"""
Change = Callable[[Any], Any]


@dataclass(frozen=True)
class Case:
    """One way to misbehave.

    Parameters
    ----------
    name
        What the server does.
    fault
        How it answers.
    fact
        What a line of the first run says; empty if the run succeeds.
    fails_once
        Whether the run still fails if the server does it once.
    timeout
        Seconds for an answer; so many that a busy machine gives the right ones in time.
    """

    name: str
    fault: Fault
    fact: str = ""
    fails_once: bool = False
    timeout: float = 30


def first(value: Any) -> Fault:
    """Return the fault that the vector of the first text of a request is another value."""

    def twist(answer: dict[str, Any]) -> None:
        answer["data"][0]["embedding"] = value

    return Fault(twist=twist, keeps=lambda i: i > 0)


def data(change: Change, *, keeps: bool = False) -> Fault:
    """Return the fault that the list of vectors is changed, in place or to another one."""

    def twist(answer: dict[str, Any]) -> None:
        answer["data"] = change(answer["data"]) or answer["data"]

    return Fault(twist=twist, keeps=lambda i: keeps)


def each(change: Change, *, keeps: bool = False) -> Fault:
    """Return the fault that each item of the list of vectors is changed."""
    return data(lambda items: [change(item) for item in items], keeps=keeps)


def status(code: int, message: str = "on demand", **headers: str) -> Fault:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = json.dumps({"error": {"message": message}}).encode()
    return Fault(status=code, headers=named, body=body)


def headers(handler: BaseHTTPRequestHandler, *lines: str) -> None:
    head = ["HTTP/1.1 200 OK", "Content-Type: application/json", *lines, "", ""]
    handler.wfile.write("\r\n".join(head).encode())
    handler.wfile.flush()


def reset(handler: BaseHTTPRequestHandler, _: bytes) -> None:
    """Reset the connection instead of closing it."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def reset_after_headers(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    headers(handler, f"Content-Length: {len(content)}")
    reset(handler, content)


def endless(handler: BaseHTTPRequestHandler, _: bytes) -> None:
    headers(handler, "Connection: close")
    with contextlib.suppress(OSError):
        while True:
            handler.wfile.write(b" " * 65_536)


def slow(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    """Send a byte now and then: no single wait is as long as the timeout."""
    headers(handler, f"Content-Length: {len(content)}")
    with contextlib.suppress(OSError):
        for byte in content[:100]:
            handler.wfile.write(bytes([byte]))
            time.sleep(0.02)


def slow_headers(handler: BaseHTTPRequestHandler, _: bytes) -> None:
    """Begin header after header, a byte now and then."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    with contextlib.suppress(OSError):
        for _ in range(100):
            handler.wfile.write(b"X: y\r\n")
            handler.wfile.flush()
            time.sleep(0.02)


def sent(*head: str, change: Callable[[bytes], bytes] = bytes) -> Fault:
    """Return the fault that the content is sent with these headers, changed."""

    def raw(handler: BaseHTTPRequestHandler, content: bytes) -> None:
        headers(handler, *(line.format(size=len(content)) for line in head))
        with contextlib.suppress(OSError):
            handler.wfile.write(change(content))

    return Fault(raw=raw)


def silently_closed(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    headers(handler, f"Content-Length: {len(content)}")  # as if the connection stayed open
    handler.wfile.write(content)


def tls(handler: BaseHTTPRequestHandler, _: bytes) -> None:
    """Answer as a server of TLS does to plain HTTP: with an alert."""
    handler.wfile.write(b"\x15\x03\x03\x00\x02\x02\x28")


def unindexed(item: Mapping[str, Any]) -> dict[str, Any]:
    return {"embedding": item["embedding"]}


def of_other_model(item: dict[str, Any]) -> dict[str, Any]:
    return item | {"embedding": vector(f"other {item['embedding']}").tolist()}


def shortened(item: dict[str, Any]) -> dict[str, Any]:
    row = np.frombuffer(base64.b64decode(item["embedding"]), dtype="<f4")[:-1]
    return item | {"embedding": base64.b64encode(row.tobytes()).decode()}


def packed(kind: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a function that sends the numbers of an item in base64 as another type."""

    def change(item: dict[str, Any]) -> dict[str, Any]:
        row = np.frombuffer(base64.b64decode(item["embedding"]), dtype="<f4").astype(kind)
        return item | {"embedding": base64.b64encode(row.tobytes()).decode()}

    return change


NUMBERS = vector("a").tolist()
BOMB = gzip.compress(b" " * 30_000_000)
HALF = base64.b64encode(b"key=" + SECRET.encode()).decode()
CASES = [
    # Vectors
    Case("one vector is too short", first(NUMBERS[:-1]), "7 dimensions, not 8", fails_once=True),
    Case("one vector has NaN", first([float("nan")] * 8), "NaN or infinity", fails_once=True),
    Case("one vector is null", first(None), "not a list of numbers", fails_once=True),
    Case("one vector is zero", first([0.0] * 8), "zero", fails_once=True),
    Case("strings for numbers", first(list(map(str, NUMBERS))), "list of numbers", fails_once=True),
    Case("numbers beyond any float", first([10**400] * 8), "list of numbers", fails_once=True),
    Case("integers beyond 64 bits in index", each(lambda item: item | {"index": 2**70}), "indices"),
    Case("one vector has infinity", first([float("-inf")] * 8), "infinity", fails_once=True),
    Case("a sparse vector", first({"indices": [1], "values": [0.5]}), "sparse", fails_once=True),
    Case("a vector for each token", first([NUMBERS]), "for each token", fails_once=True),
    Case("quantised vectors", each(lambda item: item | {"embedding": [3, 200]}), "quantised"),
    Case("doubles in mid-run", each(packed("<f8")), "not of float32"),
    Case("halves in mid-run", each(packed("<f2")), "not of float32"),
    Case("the other byte order in mid-run", each(packed(">f4")), "not of float32"),
    Case("index as text", each(lambda item: item | {"index": str(item["index"])}), "indices"),
    Case("one index twice", each(lambda item: item | {"index": 0}), "indices"),
    Case("base64 is cut", first("AAAAAAA"), "not a list of numbers", fails_once=True),
    Case("a vector too few", data(lambda items: items[:-1]), "vectors for"),
    Case("no vectors", data(list.clear), "0 vectors"),
    Case("each vector twice", data(lambda items: items + items), "vectors for"),
    Case(
        "one vector for all texts",
        each(lambda item: item | {"embedding": NUMBERS}),
        "another model",
        fails_once=True,
    ),
    Case("another order, with index", data(list.reverse, keeps=True)),
    Case(
        "another order, without index",
        data(lambda items: [unindexed(item) for item in reversed(items)]),
        "not in the order",
    ),
    Case("another model in mid-run", each(of_other_model), "another model", fails_once=True),
    Case("another width in mid-run", each(shortened), "another model", fails_once=True),
    # Bodies
    Case("JSON is cut", sent("Connection: close", change=lambda c: c[:-40]), "not JSON"),
    Case("JSON is nested 30,000 deep", Fault(body=b"[" * 30_000), "not JSON"),
    Case("HTML with status 200", Fault(body=b"<html>\n" * 99), "not JSON"),
    Case("an error with status 200", Fault(body=b'{"error": {"message": "no"}}'), "no"),
    Case("a bomb of gzip", Fault(body=BOMB, headers={"Content-Encoding": "gzip"}), "bytes; at mo"),
    Case("compressed as nobody asked", sent("Content-Encoding: br"), "compressed as 'br'"),
    Case("a body without an end", Fault(raw=endless), "bytes; at most"),
    Case("a body that trickles", Fault(raw=slow), "did not answer within", timeout=1),
    Case("headers that trickle", Fault(raw=slow_headers), "did not answer within", timeout=1),
    # Connections
    Case("reset before the headers", Fault(raw=reset), "cannot be reached"),
    Case("reset after the headers", Fault(raw=reset_after_headers), "cannot be reached"),
    Case("Content-Length is too large", sent("Content-Length: 9{size}"), "cannot be reached"),
    Case("Content-Length is too small", sent("Content-Length: 20"), "not JSON"),
    Case("chunks of garbage", sent("Transfer-Encoding: chunked"), "cannot be reached"),
    Case("closed without a word", Fault(raw=silently_closed, keeps=lambda _: True)),
    Case(
        "TLS", Fault(raw=lambda h, _: h.wfile.write(b"\x15\x03\x03\x00\x02\x02\x28") and None), "r"
    ),
    # Status
    Case("500", status(500), "500: on demand"),
    Case("503", status(503), "503: on demand"),
    Case("400 for base64", status(400, "base64 is not supported"), "400: base64 is not"),
    Case("429 with Retry-After 0", status(429, retry_after="0"), "429: on demand"),
    Case("429 with Retry-After 0.02", status(429, retry_after="0.02"), "429: on demand"),
    Case(
        "429 with a huge Retry-After",
        status(429, retry_after="1e12"),
        "asks to wait 1,000,000,000,000 s",
        fails_once=True,
    ),
    Case(
        "429 with a date as Retry-After",
        status(429, retry_after="Fri, 01 Jan 2100 00:00:00 GMT"),
        "asks to wait",
        fails_once=True,
    ),
    Case("429 with an invalid Retry-After", status(429, retry_after="soon"), "429: on demand"),
    Case("404", status(404), "has no model", fails_once=True),
    Case("413", status(413), "413"),
    Case(
        "a redirect to another host",
        status(307, location="http://127.0.0.1:1/v1/embeddings"),
        "redirects to 127.0.0.1:1/v1/embeddings",
        fails_once=True,
    ),
    Case(
        "a redirect to itself", status(308, location="/v1/embeddings"), "redirects", fails_once=True
    ),
    # Keys
    Case("401 with the key", status(401, f"invalid key {SECRET}"), "rejects the key", True),
    Case("403 with a part of the key", status(403, f"{SECRET[:9]}***"), "rejects the key", True),
    Case("400 with the key in base64", status(400, f"bad header {HALF}"), "withheld"),
    Case(
        "404 with the key in percent signs",
        status(404, "".join(f"%{ord(c):02X}" for c in SECRET)),
        "withheld",
        fails_once=True,
    ),
    Case(
        "503 with the key in escapes of JSON",
        status(503, "".join(f"\\u{ord(c):04x}" for c in SECRET)),
        "withheld",
    ),
    Case(
        "a redirect with the key in its address",
        status(302, location=f"http://127.0.0.1:1/{quote(SECRET)}/v1?key={SECRET}"),
        "redirects to 127.0.0.1:1/…/v1",
        fails_once=True,
    ),
]


@pytest.fixture(scope="module")
def registry() -> Registry:
    """The installed plugins, which are read once."""
    return Registry()


@pytest.fixture
def run(
    tmp_path: Path,
    loopback: Loopback,
    monkeypatch: pytest.MonkeyPatch,
    registry: Registry,
    case: Case,
) -> Callable[[], tuple[int, str]]:
    """Return a function that evaluates the model, and returns the exit code and all lines."""
    monkeypatch.setattr(retrying, "SHORTEST", 0.01)
    monkeypatch.setattr(limits, "ANSWER_BYTES", 1_000_000)
    monkeypatch.setenv("LOOPBACK_KEY", SECRET)
    loopback.key = SECRET
    task = tmp_path / "tiny.yaml"
    task.write_text(TASK)
    options = "key=LOOPBACK_KEY&retries=1&batch_texts=8&parallel=1&batch_tokens=60"
    model = f"openai:toy?base_url={loopback.url}&{options}&timeout={case.timeout}"

    def evaluated() -> tuple[int, str]:
        lines: list[str] = []
        code = 0
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", NotRunWarning)
            try:
                records = evaluate(
                    model,
                    task,
                    results=tmp_path / "results",
                    cache=tmp_path / "cache",
                    registry=registry,
                    debug=True,  # an error that is not meant for the user is raised
                )
            except HarnessError as error:
                lines.append(str(error))
                code = error.exit_code
            else:
                lines += [*records.notices, *(entry.reason for entry in records.not_run)]
                code = int(bool(records.failed))
        lines += [str(warning.message) for warning in caught]
        for line in lines:
            assert len(line) < 600
            assert line.isprintable()
            assert not any(SECRET[i : i + 4] in line for i in range(3, len(SECRET) - 3)), line
        return code, "\n".join(lines)

    return evaluated


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_server_that(
    case: Case,
    loopback: Loopback,
    run: Callable[[], tuple[int, str]],
    tmp_path: Path,
) -> None:
    def check() -> None:
        """Compare the store with what the server answered."""
        (found,) = stores(tmp_path / "cache")
        store = store_of(found)
        answered = sorted(loopback.answered)
        assert sorted(set(TEXTS) - set(store.missing(TEXTS))) == answered
        np.testing.assert_array_equal(store.get(answered), expected(answered))
        assert max(loopback.answered.values()) == 1, "no vector is paid for twice"

    loopback.always = lambda _: case.fault if len(loopback.requests) > 3 else None
    code, printed = run()
    assert (code, case.fact in printed) == (int(bool(case.fact)), True), printed
    check()
    assert len(loopback.requests) < 150
    if not case.fact:
        assert len(loopback.answered) == len(TEXTS)
        return

    loopback.always = lambda _: None
    loopback.faults = [None, case.fault]
    code, printed = run()
    assert code == int(case.fails_once), printed
    check()
    if case.fails_once:
        assert run()[0] == 0
        check()
    assert len(loopback.answered) == len(TEXTS)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(SECRET.encode() in path.read_bytes() for path in files)


class LocalModel:
    """Computes the vectors of the server's model in this process."""

    info = ModelInfo(name="local", kind="text", dimensions=DIMENSIONS, fingerprint="local")

    def encode(self, texts: Sequence[str]) -> Any:
        return expected(texts)


def in_base64(fault: Fault) -> Callable[[Mapping[str, Any]], Fault | None]:
    """Return a function for `always` that has the fault where base64 is asked for."""
    return lambda body: fault if body["encoding_format"] == "base64" else None


HABITS: dict[str, Callable[[Mapping[str, Any]], Fault | None]] = {
    "doubles in base64": in_base64(each(packed("<f8"))),
    "halves in base64": in_base64(each(packed("<f2"))),
    "the other byte order in base64": in_base64(each(packed(">f4"))),
    "base64 is refused": in_base64(status(400, "base64 encoding is not currently supported")),
    "base64 is refused without a word of it": in_base64(status(422, "invalid")),
    "another order, with index": lambda _: data(list.reverse),
    "two texts at most": lambda body: status(422, "too large") if len(body["input"]) > 2 else None,
}


@pytest.mark.parametrize("habit", HABITS)
def test_a_score_is_the_right_one_whatever_the_habits_of_its_server(
    habit: str, loopback: Loopback, tmp_path: Path, registry: Registry
) -> None:
    loopback.always = HABITS[habit]
    task = tmp_path / "tiny.yaml"
    task.write_text(TASK)
    served = f"openai:toy?base_url={loopback.url}&retries=0"
    records = evaluate(
        [LocalModel(), served], task, results=None, cache=tmp_path / "cache", registry=registry
    )
    right, score = (r.value for r in records if (r.metric, r.score) == ("weat", "effect_size"))
    assert score == right


SPOILT: dict[str, tuple[Callable[[Any], Any], str]] = {
    "null for a text": (lambda text: [None] * DIMENSIONS if text == "c3" else None, "c3"),
    "NaN for a text": (lambda text: [float("nan")] * DIMENSIONS if text == "c3" else None, "c3"),
    "one vector for all texts": (lambda text: NUMBERS, "all texts have the same vector"),
    "uint8 for all texts": (lambda text: [ord(text[0]), len(text)], "quantised"),
}


@pytest.mark.parametrize("habit", SPOILT)
def test_there_is_no_score_without_a_vector_for_each_text(
    habit: str, loopback: Loopback, tmp_path: Path, registry: Registry
) -> None:
    embedding, fact = SPOILT[habit]

    def twist(answer: dict[str, Any]) -> None:
        for item, text in zip(answer["data"], loopback.requests[-1]["input"], strict=True):
            item["embedding"] = embedding(text) or item["embedding"]

    loopback.always = lambda _: Fault(twist=twist)
    task = tmp_path / "tiny.yaml"
    task.write_text(TASK)
    served = f"openai:toy?base_url={loopback.url}&retries=0&parallel=1"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", NotRunWarning)
        try:
            records = evaluate(
                served, task, results=None, cache=tmp_path / "cache", registry=registry
            )
        except HarnessError as error:
            lines = [str(error)]
        else:
            assert all(record.value is None for record in records)
            lines = [*records.notices, *(entry.reason for entry in records.not_run)]
            lines += [record.reason or "" for record in records]
    assert fact in "\n".join([*lines, *(str(warning.message) for warning in caught)])
