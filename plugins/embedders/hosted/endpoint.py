"""An endpoint of OpenAI's protocol: requests through the `openai` client, and what its errors mean.

The client repeats requests, waits as the endpoint asks, and opens connections. A key is read from
an environment variable when the first request is sent, and goes only to the host that it was set
for. Errors are made of the status and the endpoint's message, without the key, and never have the
client's own error, which holds the request, as a cause.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from harness import names
from harness.errors import HarnessError, InvalidOption, ModelError, Unavailable

if TYPE_CHECKING:
    from openai import OpenAI, OpenAIError

T = TypeVar("T")
R = TypeVar("R")

TIMEOUT = 60.0  # seconds
RETRIES = 5  # about 15 seconds in total, unless the endpoint asks for longer waits
PARALLEL = 4  # concurrent requests
MESSAGE_LENGTH = 200  # most characters that an error quotes of an endpoint's message


class Refused(ModelError):
    """A request was refused, or its answer is invalid; other requests may succeed."""


@dataclass(frozen=True)
class Home:
    """The endpoint of a provider, for models without `base_url`.

    Parameters
    ----------
    url
        Its address.
    key
        Variable with the key of this endpoint, and of the one in `variable`.
    variable
        Variable with another address; None if there is none.
    """

    url: str
    key: str
    variable: str | None = None


OPENAI = Home("https://api.openai.com/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL")


@dataclass
class Usage:
    """Requests and tokens counted so far; a request without counts adds no tokens."""

    requests: int = 0
    prompt: int = 0
    completion: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, counted: object) -> None:
        """Add the `usage` of an answer."""
        counts = counted if isinstance(counted, Mapping) else {}
        prompt, completion = (
            int(count) if isinstance(count := counts.get(name), int | float) else 0
            for name in ("prompt_tokens", "completion_tokens")
        )
        with self._lock:
            self.requests += 1
            self.prompt += prompt
            self.completion += completion


def usage_notes(model: str, usage: Usage, price: float | None) -> tuple[str, ...]:
    """Return one line on the tokens that an endpoint counted; none without a request.

    Parameters
    ----------
    model
        Name of the model.
    usage
        The counts.
    price
        US$ per million tokens; None if unknown.
    """
    if not usage.requests:
        return ()
    tokens = f"{usage.prompt:,}" + (f" + {usage.completion:,}" if usage.completion else "")
    cost = "" if price is None else f", US$ {usage.prompt * price / 1e6:.4f}"
    requests = f"{usage.requests} request{'s' if usage.requests > 1 else ''}"
    return (f"{model}: the endpoint counted {tokens} tokens in {requests}{cost}",)


class Endpoint:
    """An endpoint.

    Parameters
    ----------
    base_url
        Address such as `http://localhost:8000/v1`; None for that of `home`.
    key
        Name of the environment variable that holds the key. None: that of `home` for its
        endpoint and the one in its variable, and no key for a `base_url`.
    home
        The endpoint without a `base_url`.
    timeout
        Seconds to wait for a connection and for each part of an answer; above 0.
    retries
        How often a failed request is repeated, 0 or more.

    Attributes
    ----------
    address
        Host and path, for messages and fingerprints.

    Raises
    ------
    InvalidOption
        If the address is invalid or holds a key, `key` is not the name of a variable, or a number
        is out of range.
    """

    def __init__(
        self,
        base_url: str | None = None,
        key: str | None = None,
        *,
        home: Home = OPENAI,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
    ) -> None:
        if key is not None and not names.is_variable(key):
            raise InvalidOption(
                "key= must be the name of an environment variable, such as OPENAI_API_KEY, in "
                "capitals with an underscore; never the key itself"
            )
        if not timeout > 0 or retries < 0:
            raise InvalidOption("timeout must be above 0, and retries 0 or more")
        url = base_url or os.environ.get(home.variable or "") or home.url
        self.url = url.strip().rstrip("/")
        self.address = _host_and_path(self.url)
        self.key = key or (None if base_url and self.url != home.url else home.key)
        self.timeout, self.retries = timeout, retries
        self.usage = Usage()

    def request(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the JSON object that the endpoint answers.

        Parameters
        ----------
        path
            Where the request goes, below the address of the endpoint.
        body
            Fields of the request; `model` among them.

        Raises
        ------
        Refused
            If the endpoint refuses the request, or its answer is not a JSON object.
        Unavailable
            If it does not answer, rejects the key, or does not know the model.
        """
        content, problem = b"", None
        client = self._client
        import httpx2
        from openai import OpenAIError

        try:
            content = client.post(path, cast_to=httpx2.Response, body=dict(body)).content
        except OpenAIError as error:
            problem = self._meaning(error, body["model"])
        except UnicodeError:
            problem = Refused("the text cannot be sent: it has characters that UTF-8 cannot encode")
        if problem is not None:  # raised here, so that the request with its key is not a context
            raise problem
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            raise Refused("the answer is not JSON") from None
        if not isinstance(answer, Mapping):
            raise Refused("the answer is not a JSON object")
        if answer.get("error"):  # some endpoints report errors with status 200
            raise Refused(self._safe(_message(answer["error"])))
        return answer

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        client = self.__dict__.pop("_client", None)
        if client is not None:
            client.close()

    @functools.cached_property
    def _client(self) -> OpenAI:
        try:
            from openai import DefaultHttpxClient, OpenAI
        except ModuleNotFoundError:
            raise Unavailable(
                "hosted models need the package 'openai': "
                'pip install "embedding-bias-harness[openai]"'
            ) from None
        secret = self._secret()
        if self.key is not None and not secret:
            raise Unavailable(
                f"{self.address} requires a key: set the environment variable {self.key}"
            )
        if not secret.isascii():
            raise Unavailable(f"the environment variable {self.key} holds no key, but other text")
        return OpenAI(
            api_key=secret or "none",  # the client requires some key
            base_url=self.url,
            timeout=self.timeout,
            max_retries=self.retries,
            # A redirect would send the texts to another host.
            http_client=DefaultHttpxClient(follow_redirects=False, timeout=self.timeout),
        )

    def _secret(self) -> str:
        return os.environ.get(self.key or "", "").strip()

    def _meaning(self, error: OpenAIError, model: str) -> HarnessError:
        import openai

        tries = f"after up to {self.retries + 1} requests" if self.retries else "after 1 request"
        if isinstance(error, openai.APITimeoutError):
            return Unavailable(f"{self.address} did not answer within {self.timeout:g} s, {tries}")
        if isinstance(error, openai.APIConnectionError):
            cause = self._safe(error.__cause__ or error)
            return Unavailable(f"{self.address} cannot be reached ({cause}), {tries}")
        if not isinstance(error, openai.APIStatusError):
            return Refused(self._safe(error))
        status = error.status_code
        details = f"{status}: {self._safe(_message(error.body) or error.message)}"
        if status in (401, 403):
            if self.key is None:
                return Unavailable(
                    f"{self.address} requires a key ({status}): put it into an environment "
                    "variable and add key=NAME_OF_THE_VARIABLE"
                )
            details = details if status == 403 else str(status)  # a 401 repeats parts of the key
            return Unavailable(f"{self.address} rejects the key in {self.key} ({details})")
        if 300 <= status < 400:
            return Unavailable(
                f"{self.address} redirects ({status}), which is not followed: set base_url to the "
                "right address"
            )
        if status == 404:
            return Unavailable(f"{self.address} has no model '{model}' ({details})")
        if status in (408, 409, 429) or status > 500:
            return Unavailable(f"{self.address} answers {details}, {tries}")
        return Refused(details)  # a 500 may be about one text

    def _safe(self, message: object) -> str:
        """Return a message as one short line without the key."""
        line = " ".join(str(message).split())
        secret = self._secret()
        return (line.replace(secret, "…") if secret else line)[:MESSAGE_LENGTH]


def _host_and_path(url: str) -> str:
    """Return host and path of an endpoint's address; InvalidOption if it has more or is none."""
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1)
    except ValueError:
        is_valid = False
    if not is_valid:
        raise InvalidOption("base_url must be like http://localhost:8000/v1 or https://host/v1")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise InvalidOption(
            "base_url must be only host and path; put a key into an environment variable and add "
            "key=NAME_OF_THE_VARIABLE"
        )
    return parts.netloc.lower() + parts.path


def _message(body: object) -> str:
    """Return the message in the body of an error."""
    for _ in range(3):  # messages are nested
        if isinstance(body, Mapping):
            body = next((body[n] for n in ("message", "detail", "error") if body.get(n)), None)
    return "" if body is None else str(body)


def map_in_threads(function: Callable[[T], R], items: Sequence[T], threads: int) -> list[R]:
    """Return `function` of each item, in their order, computed in up to `threads` threads.

    If it raises, as on Ctrl-C, no further item is started, and items in progress are not waited
    for, as an executor of the standard library would: a slow endpoint must not keep an ending
    program alive.
    """
    if threads == 1 or len(items) < 2:
        return [function(item) for item in items]
    results: list[Future[R]] = [Future() for _ in items]
    waiting: SimpleQueue[tuple[T, Future[R]]] = SimpleQueue()
    for pair in zip(items, results, strict=True):
        waiting.put(pair)

    def work() -> None:
        with contextlib.suppress(Empty):
            while True:
                item, result = waiting.get_nowait()
                try:
                    result.set_result(function(item))
                except BaseException as error:  # raised again by result.result()
                    result.set_exception(error)

    for _ in range(min(threads, len(items))):
        threading.Thread(target=work, daemon=True).start()
    try:
        return [result.result() for result in results]
    finally:
        with contextlib.suppress(Empty):
            while True:
                waiting.get_nowait()
