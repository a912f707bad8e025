"""The plot of bias against published MTEB scores, as HTML without plotly's script."""

from __future__ import annotations

from html import escape

from harness.leaderboard.boards.board import Board
from harness.leaderboard.boards.published import SCORE
from harness.leaderboard.site.plot_style import COLOURS, LAYOUT, plot_html

_LABEL = 28  # most characters of a label under an axis


def published_plot(board: Board) -> str | None:
    """Return the plot of bias against published quality, or None if too few models have both.

    As figure 1 of Uriot (2024). Above: the AUC of concept directions (dashed) and their
    correlations with human labels. Below: the proportions of the association test, by scenario.
    """
    frame = board.published
    if frame.is_empty():
        return None
    from plotly.subplots import make_subplots

    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.06)
    models = frame["model"].unique(maintain_order=True).to_list()
    lines = frame.select("metric", "score", "scenario", "rho").unique(maintain_order=True)
    scenarios = list(dict.fromkeys(lines["scenario"]))
    for metric, score, scenario, rho in lines.rows():
        if score == "auc" and scenario != scenarios[0]:
            continue  # the AUC is the same in every scenario
        points = frame.filter(metric=metric, score=score, scenario=scenario)
        rho_text = "–" if rho is None else f"{rho:.2f}".replace("-", "−")
        label = score if score == "auc" else f"{score}, {scenario}"
        figure.add_scatter(
            x=[models.index(model) for model in points["model"]],
            y=points["value"].to_list(),
            mode="lines+markers",
            name=escape(f"{label} (ρ {rho_text})"),
            text=[escape(model) for model in points["model"]],
            customdata=points["published"].to_list(),
            hovertemplate=f"%{{text}}, {SCORE} %{{customdata:.2f}}<br>%{{y:.3f}}",
            line={
                "color": COLOURS[scenarios.index(scenario) % len(COLOURS)],
                "dash": "dash" if score == "auc" else "solid",
            },
            row=2 if metric == "association-test" else 1,
            col=1,
        )
    axis = {"zeroline": False, "gridcolor": "rgba(127,127,127,.2)"}
    labels = [escape(m if len(m) <= _LABEL else m[: _LABEL - 1] + "…") for m in models]
    figure.update_xaxes(**axis, tickvals=list(range(len(models))), ticktext=labels, tickangle=-35)
    figure.update_xaxes(title=f"models, best {SCORE} first", title_standoff=8, row=2)
    figure.update_yaxes(**axis, range=[-0.02, 1.05])
    figure.update_yaxes(title="AUC, |correlation|", row=1)
    figure.update_yaxes(title="proportion", row=2)
    figure.update_layout(
        **LAYOUT,
        margin={"l": 60, "r": 8, "t": 8, "b": 150},
        height=640,
        showlegend=True,
    )
    return plot_html(figure, f"published-{board.kind}")
