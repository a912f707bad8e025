"""An OpenAI-compatible endpoint through the `openai` client: one way in for embeddings and chat.

Where it is, which key it gets, what its errors mean, and how many tokens it counted. The client
itself tries again what may pass (no connection, no answer in time, 408, 409, 429 and 5xx), after
as long as the endpoint's `Retry-After` asks, up to two minutes, else after 0.5, 1, 2 … 8 seconds
less up to a quarter by chance.

A key is taken from an environment variable when the first request is sent. It is in no message, no
identity and no cause of an exception, and it goes to no host that it was not named for. Knows
neither embedders nor mitigators.
"""

from __future__ import annotations

import functools
import json
import os
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from harness.errors import HarnessError, InvalidOption, ModelError, Unavailable

if TYPE_CHECKING:
    from openai import OpenAI

OPENAI = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
"""The variable of the key for OpenAI's own endpoint, and for the one in `OPENAI_BASE_URL`."""
TIMEOUT = 60.0  # seconds
RETRIES = 6  # some 20 seconds in all, unless the endpoint asks for more
PARALLEL = 4  # requests

_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")
_LATER = (408, 409, 429)
MOST_TOLD = 200  # characters of what an endpoint says of an error


class Refused(ModelError):
    """A request is refused, or its answer is no good; another request may well go through.

    Parameters
    ----------
    problem
        What is wrong.
    broken
        Whether the endpoint itself failed on it (500), so that trying long is in vain.
    """

    def __init__(self, problem: str, *, broken: bool = False) -> None:
        super().__init__(problem)
        self.broken = broken


@dataclass
class Usage:
    """What an endpoint counted; None of a request that it counted nothing for."""

    requests: int = 0
    prompt: int = 0
    completion: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, counted: object) -> None:
        """Add the `usage` of an answer."""
        told = counted if isinstance(counted, Mapping) else {}
        completion = _number(told.get("completion_tokens"))
        total = _number(told.get("total_tokens"))
        with self._lock:
            self.requests += 1
            self.prompt += _number(told.get("prompt_tokens")) or total - completion
            self.completion += completion


class Endpoint:
    """An endpoint and how to ask it; `Unavailable` from it holds for further requests as well.

    Parameters
    ----------
    base_url
        Such as `http://localhost:8000/v1`; None for the variable OPENAI_BASE_URL, else OpenAI's.
    key
        Name of the environment variable that holds the key. None: OPENAI_API_KEY for OpenAI's
        endpoint and the one in OPENAI_BASE_URL, and no key for a `base_url`.
    timeout
        Seconds that an answer may take.
    retries
        How often a request is sent again.

    Raises
    ------
    InvalidOption
        If the address is none, or holds a password, or `key` is no name of a variable.
    """

    def __init__(
        self,
        base_url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
    ) -> None:
        if key is not None and not _VARIABLE.fullmatch(key):
            raise InvalidOption(
                "key= takes the name of an environment variable, such as OPENAI_API_KEY, "
                "in capitals with an underscore; never the key itself"
            )
        if timeout <= 0 or retries < 0:
            raise InvalidOption("timeout must be above 0, and retries 0 or more")
        self.url = (base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI).rstrip("/")
        self.where = _host_and_path(self.url)
        self.key = key or (None if base_url and self.url != OPENAI else OPENAI_KEY)
        self.timeout, self.retries = timeout, retries
        self.usage = Usage()

    def embeddings(self, *, retries: int | None = None, **body: Any) -> Mapping[str, Any]:
        """Send a request for embeddings; `retries` differ from the endpoint's if given.

        Raises
        ------
        Refused
            If the endpoint refuses what was sent, or its answer is no JSON object.
        Unavailable
            If it does not answer, wants another key, or does not know the model.
        """
        return self._ask(
            lambda client: client.embeddings.with_raw_response.create(**body), body, retries
        )

    def chat(self, **body: Any) -> Mapping[str, Any]:
        """Send a request for the completion of a chat; raises as `embeddings` does."""
        return self._ask(
            lambda client: client.chat.completions.with_raw_response.create(**body), body, None
        )

    def close(self) -> None:
        """Close the connections; a further request opens them anew."""
        client = self.__dict__.pop("_client", None)
        if client is not None:
            client.close()

    def _ask(
        self, send: Callable[[OpenAI], Any], body: Mapping[str, Any], retries: int | None
    ) -> Mapping[str, Any]:
        client = self._client
        from openai import OpenAIError

        problem: HarnessError
        try:
            reply = send(client if retries is None else client.with_options(max_retries=retries))
        except OpenAIError as error:
            problem = self._problem(error, body["model"])
        except UnicodeError:
            problem = Refused("it cannot be sent: it holds what UTF-8 does not encode")
        else:
            return self._read(reply.http_response.content)
        raise problem  # here, where the request with its key is not among the causes

    @functools.cached_property
    def _client(self) -> OpenAI:
        try:
            from openai import OpenAI
        except ModuleNotFoundError:
            raise Unavailable(
                "hosted models need the package 'openai': "
                'pip install "embedding-bias-harness[openai]"'
            ) from None
        return OpenAI(
            # The client insists on some key; endpoints that need none do not look at it.
            api_key=self._secret() or "none",
            base_url=self.url,
            timeout=self.timeout,
            max_retries=self.retries,
        )

    def _secret(self) -> str:
        if self.key is None:
            return ""
        secret = os.environ.get(self.key, "").strip()
        if not secret:
            raise Unavailable(
                f"{self.where} needs a key, and the environment variable {self.key} is not set"
            )
        if not secret.isascii() or not secret.isprintable():
            raise Unavailable(f"what the environment variable {self.key} holds is no key")
        return secret

    def _problem(self, error: Exception, model: str) -> HarnessError:
        import openai

        if isinstance(error, openai.APITimeoutError):
            return Unavailable(
                f"{self.where} did not answer within {self.timeout:g} s, {self._tries()}"
            )
        if isinstance(error, openai.APIConnectionError):
            cause = error.__cause__ or error
            return Unavailable(
                f"{self.where} cannot be reached ({self._safe(cause)}), {self._tries()}"
            )
        if not isinstance(error, openai.APIStatusError):
            return Refused(self._safe(error))
        status = error.status_code
        told = f"{status}: {self._safe(_message(error.body) or error.message)}"
        if status in (401, 403):
            if self.key is None:
                return Unavailable(
                    f"{self.where} wants a key ({status}): put it into an environment variable "
                    "and add key=NAME_OF_THE_VARIABLE"
                )
            # What comes with a 401 repeats parts of the key.
            told = told if status == 403 else str(status)
            return Unavailable(f"{self.where} refuses the key in {self.key} ({told})")
        if status == 404:
            return Unavailable(f"{self.where} has no such model as '{model}' ({told})")
        if status in _LATER or status > 500:
            return Unavailable(f"{self.where} answers {told}, {self._tries()}")
        return Refused(told, broken=status == 500)

    def _read(self, content: bytes) -> Mapping[str, Any]:
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            raise Refused("the answer is not JSON") from None
        if not isinstance(answer, Mapping):
            raise Refused("the answer is not a JSON object")
        if answer.get("error"):  # some say so with the status 200
            raise Refused(self._safe(_message(answer["error"])))
        self.usage.add(answer.get("usage"))
        return answer

    def _safe(self, told: object) -> str:
        """Return one line that can be shown, whatever an endpoint says: without the key."""
        line = " ".join(str(told).split())
        secret = os.environ.get(self.key or "", "").strip()
        return (line.replace(secret, "…") if secret else line)[:MOST_TOLD]

    def _tries(self) -> str:
        return f"asked up to {self.retries + 1} times" if self.retries else "asked once"


def used(model: str, usage: Usage, price: float | None) -> tuple[str, ...]:
    """Return a line on the tokens that an endpoint counted, if it was asked for anything.

    Parameters
    ----------
    model
        What was asked.
    usage
        What was counted.
    price
        US$ per million tokens, if it is known.
    """
    if not usage.requests:
        return ()
    tokens = f"{usage.prompt:,}" + (f" + {usage.completion:,}" if usage.completion else "")
    cost = "" if price is None else f", US$ {usage.prompt * price / 1e6:.4f}"
    requests = f"{usage.requests} request{'s' if usage.requests > 1 else ''}"
    return (f"{model}: the endpoint counted {tokens} tokens in {requests}{cost}",)


def _host_and_path(url: str) -> str:
    try:
        parts = urlsplit(url)
        there = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1)
    except ValueError:
        there = None
    if not there:
        raise InvalidOption("base_url must be like http://localhost:8000/v1 or https://host/v1")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise InvalidOption(
            "base_url must be host and path alone; a key belongs into an environment variable, "
            "named with key=NAME"
        )
    return parts.netloc.lower() + parts.path


def _message(body: object) -> str:
    """Return what the body of an error says."""
    if isinstance(body, Mapping):
        for name in ("message", "detail", "error"):
            if body.get(name):
                return _message(body[name])
        return ""
    return "" if body is None else str(body)


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
