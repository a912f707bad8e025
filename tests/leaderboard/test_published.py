"""Bias beside published quality: figure 1 of the context-injection paper."""

import pytest

from harness.leaderboard import site
from harness.leaderboard.board import compile_boards
from harness.leaderboard.plot import published_plot

HOSTILE = '</script><img src=x onerror="1">'
TASKS = ("gender-occupations", "age-traits")


@pytest.fixture
def records(make_record):
    """Records of models by MTEB score and value: three scores on two tasks."""

    def make(models, mitigator="none", tasks=TASKS):
        return [
            make_record(
                model__name=name, model__fingerprint=name, mitigator__name=mitigator,
                mitigator__fingerprint=mitigator,
                model__published={} if mteb is None else {"MTEB": mteb},
                task__name=task, task__digest=task, metric=metric, score=score,
                scenario="neutral", primary=score == "proportion", bounds=(-1.0, 1.0),
                value=value * (-1 if score == "correlation" and i else 1),
            )
            for name, mteb, value in models
            for i, task in enumerate(tasks)
            for metric, score in (
                ("association-test", "proportion"),
                ("concept-direction", "auc"),
                ("concept-direction", "correlation"),
            )
        ]  # fmt: skip

    return make


THREE = [("a", 60.0, 0.7), ("b", 70.0, 0.9), ("c", 50.0, 0.8)]


def test_models_stand_in_the_order_of_their_published_score_with_spearmans_rho(records):
    (board,) = compile_boards(records(THREE))
    frame = board.published.filter(score="proportion")
    assert frame["model"].to_list() == ["b", "a", "c"]
    assert frame["value"].to_list() == pytest.approx([0.9, 0.7, 0.8])
    assert frame["tasks"].to_list() == [2, 2, 2]
    assert frame["rho"].to_list() == pytest.approx([0.5] * 3)


def test_of_correlations_the_size_counts(records):
    (board,) = compile_boards(records(THREE))
    frame = board.published.filter(score="correlation")
    assert frame["value"].to_list() == pytest.approx([0.9, 0.7, 0.8]), "one of the two is negative"


def test_fewer_than_three_models_are_not_compared(records, tmp_path):
    (board,) = compile_boards(records([*THREE[:2], ("c", None, 0.8)]))
    assert board.published.is_empty()
    assert published_plot(board) is None
    page = site.write([board], tmp_path, title="T").page.read_text()
    assert "published quality" not in page


def test_a_model_that_lacks_a_task_and_one_that_is_mitigated_are_left_out(records):
    more = records([("d", 65.0, 0.1)], tasks=TASKS[:1])
    more += records([(name, mteb, 0.0) for name, mteb, _ in THREE], mitigator="hard-debias")
    (board,) = compile_boards(records(THREE) + more)
    assert set(board.published["model"]) == {"a", "b", "c"}
    assert board.published["value"].min() > 0.5


def test_equal_values_have_no_correlation_and_are_drawn(records):
    (board,) = compile_boards(records([(name, mteb, 0.5) for name, mteb, _ in THREE]))
    assert board.published["rho"].null_count() == board.published.height
    assert "\\u03c1 \\u2013" in published_plot(board), "ρ –"


def test_the_plot_shows_each_measure_once_and_runs_no_name(records, tmp_path):
    models = [(HOSTILE + name, mteb, value) for name, mteb, value in THREE]
    boards = compile_boards(records(models))
    drawing = published_plot(boards[0])
    assert drawing.count('"mode":"lines+markers"') == 3
    assert "<img" not in drawing
    page = site.write(boards, tmp_path, title="T").page.read_text()
    assert "Bias against published quality" in page
    assert "<img" not in page
