"""No key, and no part of one, in a message or an address."""

import base64
import json
from urllib.parse import quote

import pytest

from harness.errors import InvalidOption
from harness.plugins.embedders.hosted import endpoint
from harness.plugins.embedders.hosted.endpoint import WITHHELD, masked

KEY = "sk-proj-Zq7/Wx9+Yv2=Kp4Lm6Nt8Rb1"


def coded(data):
    return base64.b64encode(data.encode()).decode()


def spoken(character):
    """Return the name of a character, as people say it on the phone."""
    digits = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    letters = {"k": "kilo", "p": "Papa", "s": "Sierra", "x": "X-ray", "w": "whiskey"}
    if character.isdigit():
        return digits[int(character)]
    return letters.get(character.lower(), character) if character.isalpha() else "dash"


FORMS = {
    "whole": KEY,
    "capitals": KEY.upper(),
    "begin": KEY[:9],
    "end": KEY[-5:],
    "both ends": f"{KEY[:6]}****{KEY[-4:]}",
    "percent": quote(KEY, safe=""),
    "all percent": "".join(f"%{ord(c):02x}" for c in KEY),
    "percent twice": quote(quote(KEY, safe=""), safe=""),
    "json": "".join(f"\\u{ord(c):04X}" for c in KEY),
    "json of slashes": json.dumps(KEY).replace("/", "\\/"),
    "html": "".join(f"&#{ord(c)};" for c in KEY),
    "base64": coded(KEY),
    "base64 at 1": coded("x" + KEY),
    "base64 at 2": coded("xy" + KEY),
    "base64 of a header": coded(f"Authorization: Bearer {KEY}"),
    "base64 for addresses": base64.urlsafe_b64encode(KEY.encode()).decode(),
    "base64 of a part": coded(KEY[8:20]),
    "hex": KEY.encode().hex(),
    "hex with colons": KEY.encode().hex(":"),
    "apart": " ".join(KEY),
    "backwards": KEY[::-1],
    "backwards and apart": "-".join(KEY[::-1]),
    "base32": base64.b32encode(KEY.encode()).decode(),
    "base32 of a header": base64.b32encode(f"Bearer {KEY}".encode()).decode().lower(),
    "spoken": " ".join(map(spoken, KEY)),
    "half spoken": ", ".join(map(spoken, KEY[8:20])),
    "on lines": "\n".join(KEY[i : i + 3] for i in range(0, len(KEY), 3)),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_no_form_of_a_key_is_left(form):
    line = masked(f"the header '{form}' is wrong", KEY)
    assert line == WITHHELD or "…" in line
    assert not any(KEY[i : i + 4].lower() in line.lower() for i in range(len(KEY) - 3))
    for i in range(len(form) - 11):
        assert form[i : i + 12] not in line


@pytest.mark.parametrize(
    "message",
    [
        "maximum context length is 8192 tokens, however you requested 10240 tokens",
        "The model `text-embedding-3-large` does not exist (request id 0f8e2b1c-77aa-4d2b)",
        "Rate limit reached for 10KTPM-200RPM in organization org-a1B2c3D4e5F6 on tokens per min",
        "请求的文本太长 — слишком длинный текст",
        "",
    ],
)
def test_other_messages_stay_as_they_are(message):
    assert masked(message, KEY) == message
    assert masked(message, "") == message


def test_a_short_key_is_masked_too():
    assert masked("the key abc is wrong", "abc") == "the key … is wrong"


@pytest.mark.parametrize(
    "url",
    [
        "http://user:word@host/v1",
        "http://host/v1?key=abc",
        "http://host/v1#abc",
        "http://host/sk-0123456789abcdef/v1",
        "http://host/v1/0123456789abcdef0123456789abcdef",
        "http://host/eyJhbGciOiJIUzI1NiJ9.e30.abc/v1",
        "http://host/Bearer%20abcdefgh/v1",
    ],
)
def test_an_address_with_a_key_is_refused_and_not_repeated(url):
    with pytest.raises(InvalidOption) as error:
        endpoint.parse(url, of_variable=False)
    for part in ("word", "abc", "0123456789", "eyJ"):
        assert part not in str(error.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:11434/v1",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "https://my-resource.openai.azure.com/openai/deployments/text-embedding-3-large-2024-06/v1",
        "https://host/projects/123456789012/locations/us-central1/endpoints/openapi",
        "https://host/3f2504e0-4f89-11d3-9a0c-0305e82c3301/v1",
    ],
)
def test_other_addresses_are_shown_and_identify_as_before(url):
    parsed = endpoint.parse(url, of_variable=False)
    assert parsed.shown == parsed.identity == url.partition("://")[2]


def test_the_address_of_a_variable_may_have_a_key_which_is_not_shown():
    first, second = (
        endpoint.parse(f"https://gateway/v1/{key * 8}/openai", of_variable=True)
        for key in ("a1b2", "c3d4")
    )
    assert first.shown == second.shown == "gateway/v1/…/openai"
    assert first.identity != second.identity
    assert "a1b2a1b2" not in first.identity
    assert "a1b2a1b2" in first.url
