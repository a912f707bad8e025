"""The address of an endpoint: checked, and as it may be shown and written, without any key."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from harness.digest import digest
from harness.errors import InvalidOption

VARIABLE = "OPENAI_BASE_URL"
"""Variable with the address of an endpoint, for models without `base_url`."""
_PREFIX = re.compile(
    r"(?:sk|pk|rk|xai|glpat|nvapi|pplx)-.{8}|(?:hf|gsk|gh[a-z]|r8|key|token)_.{8}|AIza.{8}|eyJ.{8}|"
    r"(?:bearer|api-?key|key|token|secret)[ =:-].{8}",
    re.IGNORECASE,
)
"""The beginnings of the keys of well-known providers."""
_LONGEST_WORD = 20  # letters and digits in a row; the parts of a UUID are shorter
_HIDDEN = "…"


@dataclass(frozen=True)
class Address:
    """An address.

    Parameters
    ----------
    url
        The whole address, to send requests to.
    shown
        Host and path, for messages; a part that looks like a key is left out.
    identity
        Host and path, for fingerprints; such a part is a digest.
    """

    url: str
    shown: str
    identity: str


def parse(url: str, *, of_variable: bool) -> Address:
    """Return an address.

    Parameters
    ----------
    url
        What the user gives.
    of_variable
        Whether it comes from an environment variable: then it may have a key in its path.

    Raises
    ------
    InvalidOption
        If it is no address, or has a key where it would be shown.
    """
    url = url.strip().rstrip("/")
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
    host = parts.netloc.lower()
    segments = [_HIDDEN if _is_key(part) else part for part in parts.path.split("/")]
    shown = host + "/".join(segments)
    if _HIDDEN not in segments:
        return Address(url, shown, shown)
    if not of_variable:
        raise InvalidOption(
            "base_url has a part that looks like a key, and would be shown; set the whole address "
            f"as the environment variable {VARIABLE}, and leave base_url out"
        )
    return Address(url, shown, f"{shown} {digest(parts.path)}")


def host_and_path(url: str) -> str:
    """Return an address of a server's choice, such as of a redirect, as it may be shown."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "") + (f":{parts.port}" if parts.port else "")
    except ValueError:
        return "an invalid address"
    path = "/".join(_HIDDEN if _is_key(part) else part for part in parts.path.split("/"))
    return f"{host}{path}"


def _is_key(segment: str) -> bool:
    plain = unquote(segment)
    if _PREFIX.match(plain):
        return True
    return any(
        len(word) >= _LONGEST_WORD
        and sum(c.isdigit() for c in word) >= 3
        and sum(c.isalpha() for c in word) >= 3
        for word in re.split(r"[^A-Za-z0-9]+", plain)
    )
