"""Which prompts are used for which role, and what users are told about the others."""

import pytest

from harness.errors import InvalidOption
from harness.plugins.embedders import prompts


def used(named, **options):
    return prompts.by_role(named, model="m", **options)


def told(named, *, default="", plain=None, **options):
    by_role = used(named, default=default, plain=plain, **options)
    return list(prompts.notices(named, by_role, **options))


def test_prompts_of_queries_and_documents_are_understood_under_other_names():
    for query, document in (
        ("retrieval.query", "retrieval.passage"),
        ("Retrieval-query", "Retrieval-document"),
        ("search_query", "search_document"),
        ("web_search_query", "corpus"),
        ("queries", "passages"),
    ):
        named = {"STS": "similar: ", query: "q: ", document: "d: "}
        assert used(named) == {"text": "", "query": "q: ", "document": "d: "}
        (line,) = told(named)
        assert "?query_prompt=NAME&document_prompt=NAME" in line


def test_the_names_of_the_library_come_first_and_need_no_notice():
    named = {"retrieval.query": "other: ", "query": "q: ", "document": "d: ", "passage": "other: "}
    assert used(named) == {"text": "", "query": "q: ", "document": "d: "}
    assert told(named) == []


def test_the_default_prompt_is_for_texts_that_are_neither():
    named = {"sts": "similar: "}
    assert used(named, plain="similar: ") == {"text": "similar: ", "query": "", "document": ""}


def test_prompts_that_are_not_understood_are_named_with_the_way_to_choose_one():
    (line,) = told({"STS": "similar: ", "NFCorpus-query": "find: "})
    for fact in ("queries and documents", "'STS', 'NFCorpus-query'", "query_prompt=NAME"):
        assert fact in line


def test_a_prompt_for_queries_alone_is_the_way_of_many_models_and_needs_no_notice():
    assert told({"query": "q: ", "clustering": "c: "}) == []
    (line,) = told({"query": "q: ", "title_document": "d: "})
    assert line.startswith("documents get none of its prompts ('title_document')")


def test_who_has_chosen_needs_no_notice():
    named = {"STS": "similar: "}
    assert told(named, prompt="STS") == []
    assert told(named, query_prompt="STS", document_prompt="") == []
    (line,) = told(named, query_prompt="STS") or [""]
    assert "queries" not in line


@pytest.mark.parametrize("instruction", ["Instruct: {task}\nQuery: ", "Represent {}: "])
def test_a_placeholder_that_nothing_fills_in_is_told(instruction):
    (line,) = told({"query": instruction})
    assert "placeholder '{" in line
    assert "query_prompt=TEXT" in line
    assert "\n" not in line


def test_a_name_with_dots_can_be_chosen_and_a_wrong_one_is_an_error():
    named = {"retrieval.query": "q: ", "text-matching": "t: "}
    assert used(named, prompt="text-matching") == {"text": "t: "}
    assert used(named, prompt="retrieval.query") == {"text": "q: "}
    with pytest.raises(InvalidOption, match=r"did you mean 'retrieval\.query'"):
        used(named, query_prompt="retrieval.qery")
    assert used(named, prompt="query:") == {"text": "query:"}
