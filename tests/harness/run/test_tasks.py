"""The tasks that `--tasks` selects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.errors import InvalidFile, NameClash, UnknownName, UsageError
from harness.registry.registry import Registry
from harness.run.tasks import list_tasks, select


def names(registry, *wanted):
    return [entry.file.name for entry in select(registry, wanted)]


def test_tasks_are_sorted_by_the_numbers_in_their_names(registry, write):
    assert [entry.file.name for entry in list_tasks(registry)] == [
        "toy-places",
        "toy-places-10",
        "toy-ratings",
        "toy-sentences",
    ]


def test_all_and_names_and_globs_and_tags_and_categories_select_tasks(registry):
    assert len(names(registry, "all")) == 4
    assert names(registry, "toy-places") == ["toy-places"]
    assert names(registry, "toy-places*") == ["toy-places", "toy-places-10"]
    assert names(registry, "sentences") == ["toy-sentences"]
    assert names(registry, "similarity") == names(registry, "usefulness") == ["toy-ratings"]


def test_only_its_name_and_a_benchmark_select_a_large_task(registry, write):
    toy = (Path(__file__).parents[1] / "toy/tasks/toy-ratings.yaml").read_text()
    path = write("large/toy-hours.yaml", toy.replace("toy-ratings", "toy-hours") + "\nlarge: true")
    more = Registry(registry.plugins, include=[path.parent])
    assert "toy-hours" in {entry.file.name for entry in list_tasks(more)}
    for group in ("all", "toy-*", "similarity", "usefulness"):
        assert "toy-hours" not in names(more, group)
    assert names(more, "toy-hours") == names(more, str(path)) == ["toy-hours"]
    bench = {"name": "both", "version": 1, "title": "t", "tasks": {"toy-hours": 1}}
    assert names(more, str(write("both.yaml", json.dumps(bench)))) == ["toy-hours"]
    with pytest.raises(UsageError, match="toy-hours"):
        names(more, "toy-h*")


def test_a_large_task_is_excluded_like_any_other(registry, write):
    toy = (Path(__file__).parents[1] / "toy/tasks/toy-ratings.yaml").read_text()
    path = write("large/toy-hours.yaml", toy.replace("toy-ratings", "toy-hours") + "\nlarge: true")
    more = Registry(registry.plugins, include=[path.parent])
    for group in ("toy-hours", "toy-h*", "similarity"):
        chosen = select(more, ["toy-hours", "toy-places"], exclude=[group])
        assert [entry.file.name for entry in chosen] == ["toy-places"]


def test_a_file_may_be_named_by_its_path(registry, write):
    path = write(
        "mine.yaml", (Path(__file__).parents[1] / "toy/tasks/toy-ratings.yaml").read_text()
    )
    (entry,) = select(registry, [str(path)])
    assert entry.document.path == path
    with pytest.raises(NameClash, match="'toy-ratings'"):
        select(registry, ["toy-ratings", str(path)])


def test_a_benchmark_has_the_name_of_a_category_only_if_its_bias_is_of_it(registry, write):
    tasks = {"toy-places": 1, "toy-ratings": 1}
    (category,) = {entry.file.category for entry in select(registry, ["toy-places"])}
    named = {"name": category, "version": 1, "title": "t", "tasks": tasks}
    assert names(registry, str(write("good.yaml", json.dumps(named)))) == sorted(tasks)
    for name in ("similarity", "toy-places", "small"):  # another category, a task, a tag
        path = write("bad.yaml", json.dumps(named | {"name": name}))
        with pytest.raises(NameClash, match=f"'{name}' is the benchmark"):
            names(registry, str(path))


def test_a_file_with_a_mistake_is_a_notice_or_if_it_is_named_an_error(registry, write):
    path = write("more/bad.yaml", "name: bad\nversoin: 1")
    write("more/worse.yaml", "name: [")
    more = Registry(registry.plugins, include=[path.parent])
    assert [entry.file.name for entry in select(more, ["toy-places"])] == ["toy-places"]
    assert len(more.notices) == 2
    assert any(f"{path}:2: versoin" in line for line in more.notices)
    with pytest.raises(InvalidFile, match="'version'"):
        select(more, ["bad"])


def test_the_error_of_an_unknown_task_has_the_nearest_name_tag_or_category(registry):
    with pytest.raises(UnknownName, match=r"'similarities'.*'similarity'"):
        names(registry, "toy-places", "similarities")
    with pytest.raises(UnknownName, match=r"'weat-\*'"):
        names(registry, "weat-*")
