"""Language models behind an endpoint, through the real client to a real server."""

import pytest
from loopback import BUSY, Fault

from harness.errors import Unavailable
from harness.plugins.embedders.hosted.chat import Chat
from harness.plugins.embedders.hosted.endpoint import Refused


@pytest.fixture
def chat(loopback):
    """Make a chat with the loopback server: `chat(option=…)`."""
    chats = []

    def make(model="toy", **options):
        options = {"base_url": loopback.url, "retries": 2, "timeout": 5} | options
        chats.append(Chat(model, **options))
        return chats[-1]

    yield make
    for chat in chats:
        chat.close()


def test_an_answer_is_the_text_of_the_model(loopback, chat):
    loopback.reply = lambda system, text: f"{system}: {text.upper()}"
    assert chat().ask("shout", "hello") == "shout: HELLO"
    (request,) = loopback.requests
    assert (request["temperature"], request["seed"], request["model"]) == (0, 0, "toy")


def test_sampling_that_a_model_refuses_can_be_left_out(loopback, chat):
    chat(temperature=None, seed=None).ask("", "hello")
    assert not {"temperature", "seed"} & loopback.requests[0].keys()


def test_many_answers_come_in_the_order_of_the_texts(loopback, chat):
    texts = [f"text {i}" for i in range(20)]
    assert chat(parallel=4).ask_many("s", texts) == texts
    assert len(loopback.requests) == 20


def test_one_text_that_is_refused_leaves_the_others(loopback, chat):
    def fault(body):
        return Fault(status=400) if body["messages"][1]["content"] == "bad" else None

    loopback.always = fault
    good, bad, last = chat().ask_many("s", ["good", "bad", "last"])
    assert (good, last) == ("good", "last")
    assert isinstance(bad, Refused)
    assert "400" in str(bad)


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        ({"choices": []}, "choices"),
        ({"choices": [{"message": None}]}, "choices"),
        ({"choices": [{"message": {"content": None}}]}, "text"),
        (
            {"choices": [{"message": {"content": "a"}, "finish_reason": "length"}]},
            "finish_reason: length",
        ),
        ({"choices": [{"message": {"content": "", "refusal": "No."}}]}, "No."),
        ({"error": {"message": "overloaded"}}, "overloaded"),
        ([1], "JSON object"),
    ],
)
def test_an_invalid_answer_is_an_error(loopback, chat, content, fact):
    loopback.always = lambda body: Fault(twist=lambda answer: content)
    (answer,) = chat().ask_many("s", ["hello"])
    assert isinstance(answer, Refused)
    assert fact in str(answer)


def test_once_the_endpoint_is_unavailable_the_remaining_texts_are_not_sent(loopback, chat):
    loopback.always = lambda body: BUSY
    answers = chat(parallel=2, retries=1).ask_many("s", [f"text {i}" for i in range(50)])
    assert all(isinstance(answer, Unavailable) for answer in answers)
    assert "503" in str(answers[-1])
    assert len(loopback.requests) <= 4


def test_an_identity_names_endpoint_model_and_sampling(loopback, chat):
    where = f"127.0.0.1:{loopback.port}/v1"
    assert chat(key="SOME_KEY").identity == {
        "endpoint": where,
        "model": "toy",
        "temperature": 0.0,
        "seed": 0,
    }
