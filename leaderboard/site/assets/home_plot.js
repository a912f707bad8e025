// @ts-check
// Bias against usefulness of the models of a view.
"use strict";

/**
 * @param {Choice} choice
 * @param {RowGroup[]} groups
 * @param {string} title
 */
function plotOfModels(choice, groups, title) {
  const { board, benchmark, isBenchmark } = choice;
  const isReference = (/** @type {RowGroup} */ { row }) => board.rows.role[row] === "reference";
  const references = groups.filter(isReference).map((group) => referenceLine(choice, group.row));
  return scatter({
    label: `Bias against usefulness: ${title}, ${isBenchmark ? benchmark.title : "own choice of tasks"}`,
    points: pointsOf(
      choice,
      groups.filter((group) => !isReference(group)),
    ),
    series: board.mitigators.map(({ label }) => (label === "none" ? "no mitigator" : label)),
    x: { title: "Bias", better: "low" },
    y: { title: "Usefulness", better: "high" },
    lines: [{ label: "floor", x: 0, y: null }, ...references],
  });
}

/**
 * Return a point for each model and for each of its mitigated rows, which has moved by its paired
 * changes: a leak moves no point.
 * @param {Choice} choice
 * @param {RowGroup[]} groups
 * @returns {PlotPoint[]}
 */
function pointsOf(choice, groups) {
  const { board, scores, effects } = choice;
  /** @type {PlotPoint[]} */
  const points = [];
  for (const group of groups) {
    const base = points.length;
    for (const row of [group.row, ...group.children]) {
      const isMoved = row !== group.row && choice.against === "none";
      const place = (/** @type {"bias" | "usefulness"} */ measures) =>
        isMoved
          ? scores[measures].mean[group.row] + effects[measures].mean[row]
          : scores[measures].mean[row];
      points.push({
        name: board.models[board.rows.model[row]].name,
        series: board.rows.mitigator[row],
        x: place("bias"),
        y: place("usefulness"),
        xEnds: row === group.row ? endsAt(scores.bias, row) : null,
        yEnds: row === group.row ? endsAt(scores.usefulness, row) : null,
        unusable: reasonOf(choice, row) || null,
        href: address(board.kind, "model", board.models[board.rows.model[row]].name),
        base: row === group.row ? null : base,
      });
    }
  }
  return points;
}

/**
 * @param {Means} means
 * @param {number} row
 * @returns {[number, number] | null}
 */
function endsAt({ low, high }, row) {
  return Number.isNaN(low[row]) ? null : [low[row], high[row]];
}

/**
 * @param {Choice} choice
 * @param {number} row
 * @returns {PlotLine}
 */
function referenceLine({ board, scores }, row) {
  return {
    label: board.models[board.rows.model[row]].name,
    x: finite(scores.bias.mean[row]),
    y: finite(scores.usefulness.mean[row]),
  };
}
