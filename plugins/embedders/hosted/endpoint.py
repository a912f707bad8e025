"""Requests to an OpenAI-compatible endpoint through the `openai` client, for embeddings and chat.

This module holds the address, the key and the meaning of errors. The client itself repeats requests
that may succeed later (no connection, timeout, status 408, 409, 429 and 5xx). It waits as long as
the endpoint's `Retry-After` says, up to two minutes, else 0.5, 1, 2 … 8 seconds less a random
quarter at most.

A key is read from an environment variable when the first request is sent. It appears in no message,
no identity and no cause of an exception, and goes only to the host that it was set for. This module
knows neither embedders nor mitigators.
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from harness.errors import HarnessError, InvalidOption, ModelError, Unavailable
from harness.plugins.embedders.hosted.usage import Usage

if TYPE_CHECKING:
    from openai import OpenAI

OPENAI = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
"""Variable with the key of OpenAI's own endpoint and of the one in `OPENAI_BASE_URL`."""
TIMEOUT = 60.0  # seconds
RETRIES = 6  # about 20 seconds in total, unless the endpoint asks for longer waits
PARALLEL = 4  # concurrent requests

_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")
_TEMPORARY = (408, 409, 429)
MESSAGE_LENGTH = 200  # most characters that an error quotes of an endpoint's message


class Refused(ModelError):
    """A request was refused, or its answer is invalid; other requests may succeed.

    Parameters
    ----------
    problem
        What is wrong.
    broken
        Whether the endpoint itself failed (status 500), so that many retries are useless.
    """

    def __init__(self, problem: str, *, broken: bool = False) -> None:
        super().__init__(problem)
        self.broken = broken


class Endpoint:
    """An endpoint. If a request raises `Unavailable`, further requests fail in the same way.

    Parameters
    ----------
    base_url
        Address such as `http://localhost:8000/v1`; None for the variable OPENAI_BASE_URL, else for
        OpenAI's own endpoint.
    key
        Name of the environment variable that holds the key. None: OPENAI_API_KEY for OpenAI's
        endpoint and the one in OPENAI_BASE_URL, and no key for a `base_url`.
    timeout
        Seconds to wait for an answer, above 0.
    retries
        How often a failed request is repeated, 0 or more.

    Attributes
    ----------
    address
        Host and path, for messages and fingerprints.

    Raises
    ------
    InvalidOption
        If the address is invalid or holds a password, `key` is not the name of a variable, or a
        number is out of range.
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
                "key= must be the name of an environment variable, such as OPENAI_API_KEY, in "
                "capitals with an underscore; never the key itself"
            )
        if timeout <= 0 or retries < 0:
            raise InvalidOption("timeout must be above 0, and retries 0 or more")
        self.url = (base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI).rstrip("/")
        self.address = _host_and_path(self.url)
        self.key = key or (None if base_url and self.url != OPENAI else OPENAI_KEY)
        self.timeout, self.retries = timeout, retries
        self.usage = Usage()

    def embeddings(self, *, retries: int | None = None, **body: Any) -> Mapping[str, Any]:
        """Request embeddings; `retries` overrides the endpoint's own number.

        Raises
        ------
        Refused
            If the endpoint refuses the request, or its answer is not a JSON object.
        Unavailable
            If it does not answer, rejects the key, or does not know the model.
        """
        return self._ask(
            lambda client: client.embeddings.with_raw_response.create(**body), body, retries
        )

    def chat(self, **body: Any) -> Mapping[str, Any]:
        """Request the completion of a chat; raises the same errors as `embeddings`."""
        return self._ask(
            lambda client: client.chat.completions.with_raw_response.create(**body), body, None
        )

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
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
            problem = Refused("the text cannot be sent: it has characters that UTF-8 cannot encode")
        else:
            return self._read(reply.http_response.content)
        raise problem  # outside the except block, so that the request with its key is not a cause

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
            # The client requires some key; endpoints without keys ignore it.
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
                f"{self.address} requires a key: set the environment variable {self.key}"
            )
        if not secret.isascii() or not secret.isprintable():
            raise Unavailable(
                f"the environment variable {self.key} does not hold a key: it has characters that "
                "no key has"
            )
        return secret

    def _problem(self, error: Exception, model: str) -> HarnessError:
        import openai

        if isinstance(error, openai.APITimeoutError):
            return Unavailable(
                f"{self.address} did not answer within {self.timeout:g} s, {self._tries()}"
            )
        if isinstance(error, openai.APIConnectionError):
            cause = error.__cause__ or error
            return Unavailable(
                f"{self.address} cannot be reached ({self._safe(cause)}), {self._tries()}"
            )
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
            # The message of a 401 repeats parts of the key.
            details = details if status == 403 else str(status)
            return Unavailable(f"{self.address} rejects the key in {self.key} ({details})")
        if status == 404:
            return Unavailable(f"{self.address} has no model '{model}' ({details})")
        if status in _TEMPORARY or status > 500:
            return Unavailable(f"{self.address} answers {details}, {self._tries()}")
        return Refused(details, broken=status == 500)

    def _read(self, content: bytes) -> Mapping[str, Any]:
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            raise Refused("the answer is not JSON") from None
        if not isinstance(answer, Mapping):
            raise Refused("the answer is not a JSON object")
        if answer.get("error"):  # some endpoints report errors with status 200
            raise Refused(self._safe(_message(answer["error"])))
        self.usage.add(answer.get("usage"))
        return answer

    def _safe(self, message: object) -> str:
        """Return an endpoint's message as one short line without the key."""
        line = " ".join(str(message).split())
        secret = os.environ.get(self.key or "", "").strip()
        return (line.replace(secret, "…") if secret else line)[:MESSAGE_LENGTH]

    def _tries(self) -> str:
        return f"after up to {self.retries + 1} requests" if self.retries else "after 1 request"


def _host_and_path(url: str) -> str:
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1)
    except ValueError:
        valid = None
    if not valid:
        raise InvalidOption("base_url must be like http://localhost:8000/v1 or https://host/v1")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise InvalidOption(
            "base_url must be only host and path; put a key into an environment variable and add "
            "key=NAME_OF_THE_VARIABLE"
        )
    return parts.netloc.lower() + parts.path


def _message(body: object) -> str:
    """Return the message in the body of an error."""
    if isinstance(body, Mapping):
        for name in ("message", "detail", "error"):
            if body.get(name):
                return _message(body[name])
        return ""
    return "" if body is None else str(body)
