"""An endpoint on 127.0.0.1 that embeds and chats as OpenAI's does, and misbehaves when told to.

A real HTTP server in a thread: tests go through the real client to it. The vector of a text comes
from the text alone, so that a test can say what it should be.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import numpy as np

MODEL = "toy"
DIMENSIONS = 8


@dataclass(frozen=True, kw_only=True)
class Fault:
    """How one request is answered amiss.

    Parameters
    ----------
    status, headers, body
        What is sent; without a body, an error in OpenAI's form.
    seconds
        To wait before.
    cut
        Whether the connection is cut in the middle of the answer.
    twist
        Changes the right answer in place, or returns what to send for it.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    seconds: float = 0.0
    cut: bool = False
    twist: Callable[[dict[str, Any]], Any] | None = None


TOO_MANY = Fault(status=429, headers={"retry-after": "0.01"})
"""Too many requests, with leave to come back soon."""
BROKEN = Fault(status=500, headers={"retry-after": "0.01"})
BUSY = Fault(status=503, headers={"retry-after": "0.01"})


class Loopback:
    """The endpoint; use it with `with`.

    Parameters
    ----------
    key
        The key that a request must bring; None lets all in.
    longest
        Characters of a text, above which it is refused as too long.
    most
        Texts of a request, above which it is refused.
    port
        Where to listen; 0 for any that is free.
    """

    def __init__(
        self,
        *,
        key: str | None = None,
        longest: int = 10_000,
        most: int = 2048,
        port: int = 0,
    ) -> None:
        self.key, self.longest, self.most, self.port = key, longest, most, port
        self.reply: Callable[[str, str], Any] = lambda system, text: text
        """Answers a chat, from the instruction and the text."""
        self.embed: Callable[[list[str], int], Any] = lambda texts, d: [vector(t, d) for t in texts]
        """Gives the float32 vectors of texts, of a length."""
        self.faults: list[Fault | None] = []
        """How the next requests are answered amiss, in order; None is answered well."""
        self.always: Callable[[Mapping[str, Any]], Fault | None] = lambda body: None
        """Tells from what a request brings how it is answered amiss, once `faults` are used up."""
        self.requests: list[dict[str, Any]] = []
        """What each request brought; its headers, in lower case, under `headers`."""
        self.lock = threading.Lock()
        self.stopped = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def texts(self) -> list[str]:
        """Every text that was asked to be embedded, in order."""
        return [text for body in self.requests for text in body.get("input", ())]

    def __enter__(self) -> Self:
        class Handler(_Handler):
            loopback = self

        self.stopped.clear()
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop listening: from now on connections are refused."""
        if not self.stopped.is_set():
            self.stopped.set()
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()


def vector(text: str, dimensions: int = DIMENSIONS) -> np.ndarray:
    """Return the (d,) float32 unit vector of a text."""
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
    drawn = np.random.default_rng(seed).standard_normal(dimensions)
    return (drawn / np.linalg.norm(drawn)).astype(np.float32)


def expected(texts: Iterable[str]) -> np.ndarray:
    """Return the vectors of texts, a row each."""
    return np.array([vector(text) for text in texts])


def twisted(change: Callable[[Any], Any]) -> Callable[[Mapping[str, Any]], Fault]:
    """Return what, as `always`, has each right answer changed in place."""

    def twist(answer: dict[str, Any]) -> None:
        change(answer["data"])

    return lambda body: Fault(twist=twist)


class _Handler(BaseHTTPRequestHandler):
    """Answers a request."""

    loopback: Loopback
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:  # the library's name
        here = self.loopback
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        with here.lock:
            here.requests.append(body | {"headers": headers})
            fault = here.faults.pop(0) if here.faults else here.always(body)
        if fault is None:
            self._send(*self._answer(body))
            return
        here.stopped.wait(fault.seconds)
        status, answer = self._answer(body) if fault.status == 200 else (fault.status, None)
        if fault.twist is not None:
            answer = fault.twist(answer) or answer
        if fault.body is None and answer is None:
            answer = {"error": {"message": f"status {fault.status} on demand"}}
        self._send(status, answer, fault)

    def _answer(self, body: Mapping[str, Any]) -> tuple[int, Any]:
        here = self.loopback
        given = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if here.key is not None and given != here.key:
            return 401, _error(f"Incorrect API key provided: {given}")
        if body["model"] != MODEL:
            return 404, _error(f"The model `{body['model']}` does not exist")
        if self.path == "/v1/embeddings":
            return self._embeddings(body)
        if self.path == "/v1/chat/completions":
            return self._chat(body)
        return 404, _error("Not found")

    def _embeddings(self, body: Mapping[str, Any]) -> tuple[int, Any]:
        texts = body["input"]
        if len(texts) > self.loopback.most:
            return 413, _error(f"batch size {len(texts)} > maximum {self.loopback.most}")
        if any(len(text) > self.loopback.longest for text in texts):
            return 400, _error("maximum context length exceeded")
        if not all(texts):
            return 400, _error("input cannot be an empty string")
        vectors = self.loopback.embed(texts, body.get("dimensions", DIMENSIONS))
        in_base64 = body.get("encoding_format") == "base64"
        data = [
            {
                "object": "embedding",
                "index": i,
                "embedding": base64.b64encode(one.tobytes()).decode()
                if in_base64
                else one.tolist(),
            }
            for i, one in enumerate(vectors)
        ]
        tokens = sum(len(text.split()) for text in texts)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return 200, {"object": "list", "model": MODEL, "data": data, "usage": usage}

    def _chat(self, body: Mapping[str, Any]) -> tuple[int, Any]:
        system, text = (message["content"] for message in body["messages"])
        content = self.loopback.reply(system, text)
        prompt = len(f"{system} {text}".split())
        completion = len(str(content).split())
        message = {"role": "assistant", "content": content}
        return 200, {
            "id": "1",
            "object": "chat.completion",
            "model": MODEL,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "total_tokens": prompt + completion,
            },
        }

    def _send(self, status: int, answer: Any, fault: Fault | None = None) -> None:
        fault = fault or Fault()
        content = json.dumps(answer).encode() if fault.body is None else fault.body
        self.send_response(status)
        for name, value in fault.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if fault.cut else content)
        self.close_connection = fault.cut or self.loopback.stopped.is_set()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": None}}
