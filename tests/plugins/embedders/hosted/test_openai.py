"""Facts about hosted text encoders, through the real client to a real server: vectors and keys."""

import logging
import sys
import traceback

import numpy as np
import pytest
from loopback import DIMENSIONS, Fault, Loopback, expected, twisted, vector

from harness.embedder import Embedder
from harness.errors import HarnessError, InvalidOption, Unavailable
from harness.plugins.embedders.hosted.openai import OpenAIEmbedder
from harness.registry.registry import Registry

SECRET = "sk-1234-never-to-be-seen"
TEXTS = [f"text number {i}" for i in range(10)]


# Vectors


@pytest.mark.parametrize("encoding", ["base64", "float"])
def test_vectors_are_those_of_the_endpoint_to_the_last_bit(embedder, encoding):
    vectors = embedder(encoding=encoding).encode(TEXTS)
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, expected(TEXTS))


def test_floats_are_understood_where_base64_was_asked_for(loopback, embedder):
    def as_floats(data):
        for item, text in zip(data, TEXTS, strict=True):
            item["embedding"] = vector(text).tolist()

    loopback.always = twisted(as_floats)
    np.testing.assert_array_equal(embedder().encode(TEXTS), expected(TEXTS))


def test_the_numbers_of_the_answer_say_whose_vector_it_is(loopback, embedder):
    loopback.always = twisted(lambda data: data.reverse())
    np.testing.assert_array_equal(embedder().encode(TEXTS), expected(TEXTS))


def test_no_texts_need_no_request(loopback, embedder):
    assert embedder(dimensions=4).encode([]).shape == (0, 4)
    assert loopback.requests == []


def test_dimensions_and_prompt_are_sent(loopback, embedder):
    assert embedder(dimensions=4, prompt="query: ").encode(["a"]).shape == (1, 4)
    (request,) = loopback.requests
    assert (request["dimensions"], request["input"]) == (4, ["query: a"])
    embedder().encode(["a"])
    assert "dimensions" not in loopback.requests[1]


def test_requests_hold_so_many_texts_and_tokens_at_most(loopback, embedder):
    embedder(batch_texts=4).encode(TEXTS)
    assert [len(request["input"]) for request in loopback.requests] == [4, 4, 2]
    loopback.requests.clear()
    embedder(batch_tokens=15).encode(["x" * 20, "y" * 20, "z" * 400, "w"])
    assert [len(request["input"]) for request in loopback.requests] == [2, 1, 1]


def test_requests_under_way_at_once_give_vectors_in_the_order_of_the_texts(loopback, embedder):
    texts = [f"text number {i}" for i in range(60)]
    vectors = embedder(batch_texts=3, parallel=4).encode(texts)
    np.testing.assert_array_equal(vectors, expected(texts))
    assert len(loopback.requests) == 20


# What it is


def test_what_it_is_costs_no_request_and_needs_no_key(loopback, embedder):
    made = embedder(dimensions=4, price=0.5, key="NO_SUCH_VARIABLE")
    assert isinstance(made, Embedder)
    assert (made.info.kind, made.info.dimensions, made.info.price) == ("text", 4, 0.5)
    assert loopback.requests == []


def test_a_fingerprint_tells_endpoints_models_lengths_and_prompts_apart():
    def fingerprint(reference="toy", **options):
        return OpenAIEmbedder(reference, **options).info.fingerprint

    some = [
        fingerprint(),
        fingerprint("other"),
        fingerprint(dimensions=4),
        fingerprint(prompt="q: "),
        fingerprint(base_url="http://localhost:1/v1"),
        fingerprint(base_url="http://localhost:2/v1"),
    ]
    assert len(set(some)) == len(some)
    same = {"key": "OTHER_KEY", "retries": 0, "timeout": 1, "batch_texts": 2, "encoding": "float"}
    assert fingerprint(**same, base_url="https://api.openai.com/v1/") == fingerprint()


def test_it_is_reported_under_what_changes_its_vectors(loopback):
    options = f"base_url={loopback.url}&timeout=3&dimensions=4&key=SOME_KEY&retries=0"
    info = Registry().embedder(f"openai:toy?{options}").info
    assert info.name == f"openai:toy?base_url={loopback.url}&dimensions=4"


@pytest.mark.parametrize(
    ("name", "dimensions", "price"),
    [
        ("text-embedding-3-small", 1536, 0.02),
        ("text-embedding-3-large", 3072, 0.13),
        ("text-embedding-ada-002", 1536, 0.10),
        ("voyage-3-lite", 512, 0.02),
        ("gemini-embedding-001", 3072, 0.15),
    ],
)
def test_hosted_models_are_registered_with_their_cards(name, dimensions, price):
    info = Registry().embedder(name).info
    assert (info.name, info.dimensions, info.price) == (name, dimensions, price)


def test_the_endpoint_counts_tokens_and_the_price_makes_them_a_cost(embedder):
    made = embedder(price=1000, batch_texts=5)
    assert made.notes == ()
    made.encode(TEXTS)
    told = "openai:toy: the endpoint counted 30 tokens in 2 requests, US$ 0.0300"
    assert made.notes == (told,)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"base_url": "localhost:80"}, "base_url must be like"),
        ({"base_url": f"http://user:{SECRET}@localhost/v1"}, "host and path alone"),
        ({"base_url": f"http://localhost/v1?key={SECRET}"}, "host and path alone"),
        ({"key": SECRET}, "the name of an environment variable"),
        ({"timeout": 0}, "timeout must be above 0"),
        ({"batch_texts": 0}, "batch_texts=0"),
        ({"parallel": 0}, "parallel=0"),
        ({"dimensions": 0}, "dimensions=0"),
    ],
)
def test_options_that_do_not_fit_are_refused_without_telling_a_key(options, told):
    with pytest.raises(InvalidOption, match=told) as refused:
        OpenAIEmbedder("toy", **options)
    assert SECRET not in str(refused.value)


# Keys


def test_the_key_is_that_of_the_variable(loopback, embedder, monkeypatch):
    loopback.key = SECRET
    monkeypatch.setenv("SOME_KEY", SECRET)
    assert embedder(key="SOME_KEY").encode(["a"]).shape == (1, DIMENSIONS)


def test_a_key_goes_to_no_host_that_it_was_not_named_for(loopback, embedder, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    embedder().encode(["a"])
    assert SECRET not in str(loopback.requests)
    monkeypatch.setenv("OPENAI_BASE_URL", loopback.url)
    embedder(base_url=None).encode(["a"])
    assert loopback.requests[1]["headers"]["authorization"] == f"Bearer {SECRET}"


def test_a_key_does_not_follow_to_where_an_endpoint_sends_on(loopback, embedder, monkeypatch):
    monkeypatch.setenv("SOME_KEY", SECRET)
    with Loopback() as other:
        there = {"location": f"{other.url}/embeddings"}
        loopback.always = lambda body: Fault(status=307, headers=there)
        embedder(key="SOME_KEY").encode(["a"])
        assert other.texts == ["a"]
        assert SECRET not in str(other.requests)


def test_a_variable_that_is_not_set_is_named(embedder, monkeypatch):
    monkeypatch.delenv("SOME_KEY", raising=False)
    with pytest.raises(Unavailable, match="the environment variable SOME_KEY is not set"):
        embedder(key="SOME_KEY").encode(["a"])


def test_an_endpoint_that_wants_a_key_says_how_to_name_one(loopback, embedder):
    loopback.key = SECRET
    with pytest.raises(Unavailable, match="add key=NAME_OF_THE_VARIABLE"):
        embedder().encode(["a"])


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 503])
def test_the_key_is_in_no_message_log_or_traceback(loopback, embedder, monkeypatch, caplog, status):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("SOME_KEY", SECRET)
    body = f'{{"error": {{"message": "{SECRET} is not a key that we know"}}}}'.encode()
    loopback.always = lambda _: Fault(status=status, body=body)
    made = embedder(key="SOME_KEY", retries=0)
    with pytest.raises(HarnessError) as refused:
        made.encode(TEXTS)
    trace = traceback.TracebackException.from_exception(refused.value, capture_locals=False)
    assert SECRET not in "".join(trace.format())
    assert SECRET not in caplog.text
    assert SECRET not in repr(vars(made)) + repr(made.info) + repr(made.notes)
    error = refused.value
    while error is not None:
        assert not hasattr(error, "request"), "the request holds the key"
        error = error.__context__


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_refused_is_one_line_with_its_variable(
    loopback, embedder, monkeypatch, status
):
    monkeypatch.setenv("SOME_KEY", SECRET)
    loopback.always = lambda body: Fault(status=status)
    with pytest.raises(Unavailable) as refused:
        embedder(key="SOME_KEY").encode(TEXTS)
    assert f"{loopback.port}/v1 refuses the key in SOME_KEY ({status}" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(loopback.requests) == 1, "it is not tried again"


def test_a_model_that_the_endpoint_does_not_know_is_told(loopback, embedder):
    with pytest.raises(Unavailable, match=r"no such model as 'nobody' \(404: The model `nobody`"):
        embedder("nobody").encode(TEXTS)
    assert len(loopback.requests) == 1


def test_without_the_client_it_says_what_to_install(embedder, monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(Unavailable, match=r'pip install "embedding-bias-harness\[openai\]"'):
        embedder().encode(["a"])
