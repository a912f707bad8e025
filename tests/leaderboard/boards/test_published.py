"""Bias against published quality: figure 1 of the context-injection paper."""

import pytest

from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.reading import frame_of

TASKS = ("gender-occupations", "age-traits")


@pytest.fixture
def records(make_record):
    """Make records of models, given as (name, MTEB score, value): three scores on each task."""

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


def test_models_are_ordered_by_their_published_score_with_spearmans_rho(records):
    (board,) = compile_boards(frame_of(records(THREE)))
    frame = board.published.filter(score="proportion")
    assert frame["model"].to_list() == ["b", "a", "c"]
    assert frame["value"].to_list() == pytest.approx([0.9, 0.7, 0.8])
    assert frame["tasks"].to_list() == [2, 2, 2]
    assert frame["rho"].to_list() == pytest.approx([0.5] * 3)


def test_correlations_count_by_their_absolute_value(records):
    (board,) = compile_boards(frame_of(records(THREE)))
    frame = board.published.filter(score="correlation")
    assert frame["value"].to_list() == pytest.approx([0.9, 0.7, 0.8]), "one of the two is negative"


def test_fewer_than_three_models_are_not_compared(records):
    (board,) = compile_boards(frame_of(records([*THREE[:2], ("c", None, 0.8)])))
    assert board.published.is_empty()


def test_incomplete_and_mitigated_models_are_left_out(records):
    more = records([("d", 65.0, 0.1)], tasks=TASKS[:1])
    more += records([(name, mteb, 0.0) for name, mteb, _ in THREE], mitigator="hard-debias")
    (board,) = compile_boards(frame_of(records(THREE) + more))
    assert set(board.published["model"]) == {"a", "b", "c"}
    assert board.published["value"].min() > 0.5


def test_equal_values_have_no_correlation(records):
    (board,) = compile_boards(frame_of(records([(name, mteb, 0.5) for name, mteb, _ in THREE])))
    assert board.published["rho"].null_count() == board.published.height


PRINTED = {  # Uriot (2024), tables 3 and 9: MTEB, and |ρ| for gender, wealth and age, neutral
    "stella-en-1.5B-v5": (71.19, 0.66, 0.53, 0.72),
    "gte-large-en-v1.5": (65.39, 0.83, 0.40, 0.55),
    "mxbai-embed-large-v1": (64.68, 0.66, 0.56, 0.60),
    "UAE-Large-V1": (64.64, 0.61, 0.49, 0.58),
    "multilingual-e5-large-instruct": (64.41, 0.74, 0.55, 0.71),
    "GIST-large-Embedding-v0": (64.34, 0.71, 0.18, 0.51),
    "bge-large-en-v1.5": (64.23, 0.54, 0.52, 0.55),
    "ember-v1": (63.34, 0.54, 0.52, 0.54),
    "nomic-embed-text-v1": (62.39, 0.17, 0.26, 0.63),
    "all-mpnet-base-v2": (57.77, 0.44, 0.17, 0.24),  # row 10; table 3 has it after the next
    "sentence-t5-xl": (57.87, 0.79, 0.25, 0.77),
    "all-MiniLM-L12-v2": (56.46, 0.01, 0.09, 0.02),
    "all-MiniLM-L6-v2": (56.09, 0.42, 0.03, 0.19),
}


def test_the_papers_correlations_give_the_rho_of_its_figure_1(make_record):
    records = [
        make_record(
            model__name=model, model__fingerprint=model, model__published={"MTEB": mteb},
            task__name=task, task__digest=task, metric="concept-direction", score="correlation",
            value=value, bounds=(-1.0, 1.0),
        )
        for model, (mteb, *values) in PRINTED.items()
        for task, value in zip(("gender", "wealth", "age"), values, strict=True)
    ]  # fmt: skip
    (board,) = compile_boards(frame_of(records))
    assert board.published["rho"][0] == pytest.approx(0.79, abs=0.005)
    assert board.published.height == 13
