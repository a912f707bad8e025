"""An OpenAI-compatible endpoint: requests for embeddings and chats, and the meaning of its errors.

A key is read from an environment variable when the first request is sent. It appears in no message,
no identity and no cause of an exception, and goes only to the host that it was set for. This module
knows neither embedders nor mitigators. `retrying.py` repeats requests, `client.py` bounds answers.
"""

from __future__ import annotations

import functools
import json
import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from harness import labels
from harness.errors import HarnessError, InvalidOption, ModelError, Unavailable
from harness.plugins.embedders.hosted import address, client
from harness.plugins.embedders.hosted.limiter import Clock, Limiter
from harness.plugins.embedders.hosted.masking import masked
from harness.plugins.embedders.hosted.retrying import (
    MAX_WAIT,
    RETRIES,
    TEMPORARY,
    TIMEOUT,
    Problem,
    Retrying,
    asked_wait,
)
from harness.plugins.embedders.hosted.usage import Usage

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI

OPENAI = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
"""Variable with the key of OpenAI's own endpoint and of the one in `OPENAI_BASE_URL`."""
PARALLEL = 4  # concurrent requests

MESSAGE_LENGTH = 200  # most characters that an error quotes of an endpoint's message


class Refused(ModelError):
    """A request was refused, or its answer is invalid; other requests may succeed.

    Parameters
    ----------
    problem
        What is wrong.
    broken
        Whether the endpoint itself failed (status 500, or an answer that is cut), so that many
        retries are useless.
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
        Seconds to wait for a connection, and for a whole answer; above 0.
    retries
        How often a failed request is repeated, 0 or more.
    max_wait
        Longest wait in seconds that the endpoint may ask for; beyond it the run ends, and says so.
    rpm, tpm
        Most requests and tokens a minute, above 0; None for no limit.
    clock
        What tells the time.

    Attributes
    ----------
    address
        Host and path, for messages.
    identity
        Host and path, for fingerprints.
    stated_model
        Name of the model in an answer, if it is another one than was asked for; else empty.
    retrying
        Repeats requests; its `say` shows a line while a run waits.

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
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        max_wait: float = MAX_WAIT,
        rpm: float | None = None,
        tpm: float | None = None,
        clock: Clock = time,
    ) -> None:
        if key is not None and not labels.is_variable(key):
            raise InvalidOption(
                "key= must be the name of an environment variable, such as OPENAI_API_KEY, in "
                "capitals with an underscore; never the key itself"
            )
        if not timeout > 0 or retries < 0 or not max_wait >= 0:
            raise InvalidOption("timeout must be above 0, and retries and max_wait 0 or more")
        url = base_url or os.environ.get(address.VARIABLE) or OPENAI
        parsed = address.parse(url, of_variable=not base_url)
        self.url, self.address, self.identity = parsed.url, parsed.shown, parsed.identity
        self.key = key or (None if base_url and self.url != OPENAI else OPENAI_KEY)
        self.timeout = timeout
        self.retrying = Retrying(Limiter(rpm, tpm, clock), retries, max_wait)
        self.usage = Usage()
        self.stated_model = ""

    def embeddings(
        self, *, tokens: int = 0, retries: int | None = None, **body: Any
    ) -> Mapping[str, Any]:
        """Request embeddings.

        Parameters
        ----------
        tokens
            Number of tokens of the request, at least an estimate.
        retries
            Overrides the endpoint's own number.
        **body
            Fields of the request.

        Raises
        ------
        Refused
            If the endpoint refuses the request, or its answer is not a JSON object.
        Unavailable
            If it does not answer, rejects the key, or does not know the model.
        """
        return self._ask(
            lambda openai: openai.embeddings.with_raw_response.create(**body), body, tokens, retries
        )

    def chat(self, *, tokens: int = 0, **body: Any) -> Mapping[str, Any]:
        """Request the completion of a chat; raises the same errors as `embeddings`."""
        return self._ask(
            lambda openai: openai.chat.completions.with_raw_response.create(**body), body, tokens
        )

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        openai = self.__dict__.pop("_client", None)
        if openai is not None:
            openai.close()

    def _ask(
        self,
        send: Callable[[OpenAI], Any],
        body: Mapping[str, Any],
        tokens: int,
        retries: int | None = None,
    ) -> Mapping[str, Any]:
        once = functools.partial(self._once, self._client, send, body["model"])
        return self.retrying.request(once, tokens, self.address, retries)

    def _once(
        self, openai: OpenAI, send: Callable[[OpenAI], Any], model: str
    ) -> Mapping[str, Any] | Problem:
        from openai import OpenAIError

        # What is returned here is raised outside the except block, so that the request with its
        # key is not a cause.
        try:
            reply = send(openai)
        except OpenAIError as error:
            return self._problem(error, model)
        except client.Unbounded as error:
            return Problem(Refused(str(error)))
        except UnicodeError:
            return Problem(
                Refused("the text cannot be sent: it has characters that UTF-8 cannot encode")
            )
        answer = self._read(reply.http_response.content)
        stated = None if isinstance(answer, Problem) else answer.get("model")
        # Endpoints add an owner, a version or a tag to a name.
        if isinstance(stated, str) and _base(model) not in stated.casefold():
            self.stated_model = self._safe(stated)
        return answer

    @functools.cached_property
    def _client(self) -> OpenAI:
        return client.client(self.url, self._secret(), self.timeout)

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

    def _problem(self, error: Exception, model: str) -> Problem:
        import openai

        if isinstance(error, openai.APITimeoutError):
            text = f"{self.address} did not answer within {self.timeout:g} s, {self._tries()}"
            unreached = type(error.__cause__).__name__ == "ConnectTimeout"
            return Problem(Unavailable(text), again=True, unreached=unreached)
        if isinstance(error, openai.APIConnectionError):
            cause = error.__cause__ or error
            text = f"{self.address} cannot be reached ({self._safe(cause)}), {self._tries()}"
            unreached = type(cause).__name__ == "ConnectError"
            return Problem(Unavailable(text), again=True, unreached=unreached)
        if not isinstance(error, openai.APIStatusError):
            return Problem(Refused(self._safe(error)))
        status = error.status_code
        asked = asked_wait(error.response.headers)
        again = status in TEMPORARY or status >= 500
        meaning = self._meaning(error, model)
        return Problem(meaning, again=again, wait=asked, too_many=status == 429)

    def _meaning(self, error: APIStatusError, model: str) -> HarnessError:
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
        if 300 <= status < 400:
            place = self._safe(address.host_and_path(error.response.headers.get("location", "")))
            return Unavailable(
                f"{self.address} redirects to {place or 'nowhere'} ({status}), which is not "
                "followed: set base_url to the right address"
            )
        if status == 404:
            return Unavailable(f"{self.address} has no model '{model}' ({details})")
        if status in TEMPORARY or status > 500:
            return Unavailable(f"{self.address} answers {details}, {self._tries()}")
        return Refused(details, broken=status == 500)

    def _read(self, content: bytes) -> Mapping[str, Any] | Problem:
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            # Most likely it was cut on the way.
            return Problem(Refused("the answer is not JSON", broken=True), again=True)
        if not isinstance(answer, Mapping):
            return Problem(Refused("the answer is not a JSON object"))
        if answer.get("error"):  # some endpoints report errors with status 200
            return Problem(Refused(self._safe(_message(answer["error"]))))
        self.usage.add(answer.get("usage"))
        return answer

    def _safe(self, message: object) -> str:
        """Return an endpoint's message as one short line without the key."""
        secret = os.environ.get(self.key or "", "").strip()
        return masked(str(message), secret)[:MESSAGE_LENGTH]

    def _tries(self) -> str:
        retries = self.retrying.retries
        return f"after up to {retries + 1} requests" if retries else "after 1 request"


def _base(model: str) -> str:
    return model.rpartition("/")[2].casefold()


def _message(body: object) -> str:
    """Return the message in the body of an error."""
    for _ in range(4):  # messages are nested, but not for ever
        if not isinstance(body, Mapping):
            break
        body = next((body[n] for n in ("message", "detail", "error") if body.get(n)), None)
    try:
        return "" if body is None else str(body)
    except RecursionError:
        return "a message that is nested too deep"
