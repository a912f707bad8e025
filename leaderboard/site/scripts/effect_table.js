// @ts-check
// Paired effects: what mitigators change on models, as a chart from before to after, and as a table.
import { LESS, biasChange, isShown, verdictText } from "./column_cells.js";
import { h } from "./dom.js";
import { changeText, intervalText, scoreText } from "./formats.js";
import { biasPanel, plainTable, withInterval } from "./page_parts.js";
import { rowChart, rowLegend } from "./plot_rows.js";
import { benchmarkScores } from "./scores.js";
/** @import { Child } from "./dom.js" */
/** @import { RowCell } from "./plot_rows.js" */

/**
 * Return a chart of mitigated rows: their bias without the mitigator and with it, on the tests of
 * both, and whether the change is shown.
 * @param {Board} board
 * @param {string} caption
 * @param {string} first title of the first column
 * @param {number[]} rows
 * @param {(row: number) => Child} head
 */
export function effectChart(board, caption, first, rows, head) {
  const scores = benchmarkScores(board, board.benchmarks[0]);
  const lines = rows.map((row) => {
    const reason = board.rows.unusable[row];
    const text = reason ? `not usable: ${reason}` : keptMeaning(board, row);
    const note = text && h("small", { class: "under" }, text);
    return { head: [head(row), note], cells: [changedCell(board, scores, row)] };
  });
  const legend = rowLegend([
    [{ value: 0, form: "open" }, "without the mitigator"],
    [{ value: 0 }, "with it"],
    [{ value: 0, form: "crossed" }, "with it, and not usable"],
    ["shown", "a change that is shown"],
    ["not shown", "a change that is not shown"],
  ]);
  return h(
    "div",
    {},
    rowChart(caption, first, [biasPanel(board)], lines, legend),
    board.judged.map((line) => h("p", {}, line)),
  );
}

/**
 * Return how much of the meaning of words a row keeps, which usefulness does not show.
 * @param {Board} board
 * @param {number} row
 */
function keptMeaning({ rows, reference }, row) {
  const share = rows.meaning[row];
  if (share === null) return "";
  return `tells mother from father by ${(100 * share).toFixed(0)} % of what ${reference} does`;
}

/**
 * @param {Board} board
 * @param {Scores} scores
 * @param {number} row
 * @returns {RowCell}
 */
function changedCell(board, scores, row) {
  const { base, model, change } = scores;
  if (Number.isNaN(change.mean[row])) {
    return { marks: [], words: h("span", { class: "quiet" }, "not compared") };
  }
  const range = intervalText(change.low[row], change.high[row], changeText);
  return {
    marks: [
      { value: base[row], form: "open" },
      { value: model[row], form: row in board.rows.unusable ? "crossed" : "full" },
    ],
    change: isShown(scores, row) ? "shown" : "not shown",
    words: [
      `${scoreText(base[row])} → ${scoreText(model[row])}`,
      h("small", { class: "under" }, `${biasChange(scores, row)} (${range})`),
      h("small", { class: "under" }, verdictText(scores, row)),
    ],
  };
}

/**
 * Return a table of the changes of mitigated rows, on the first benchmark.
 * @param {Board} board
 * @param {string} caption
 * @param {string} first title of the first column
 * @param {number[]} rows
 * @param {(row: number) => Child} head content of the first column
 */
export function effectTable(board, caption, first, rows, head) {
  const [benchmark] = board.benchmarks;
  const scores = benchmarkScores(board, benchmark);
  const columns = [
    { title: first, class: "model" },
    ...["Bias without", "with it", "Change"].map((title) => ({ title, number: true })),
    { title: "On these tests, and other ways to ask" },
    { title: "Change in usefulness", number: true },
    { title: "Not usable" },
  ];
  const lines = rows.map((row) => () => [
    head(row),
    scoreText(scores.base[row]),
    scoreText(scores.model[row]),
    effectCell(scores, row),
    verdictText(scores, row) || " ",
    changeText(scores.usefulness_change[row]),
    board.rows.unusable[row] ?? " ",
  ]);
  const evidence =
    "An arrow (▲ better, ▼ worse) needs an interval beyond 0, a change that is large enough, by the yardsticks of either, and no single method on which it depends.";
  return plainTable(`${caption} ${evidence}`, columns, lines);
}

/**
 * @param {Scores} scores
 * @param {number} row
 * @returns {Child[]}
 */
function effectCell(scores, row) {
  const { mean, low, high } = scores.change;
  const [, interval] = withInterval(mean[row], low[row], high[row], changeText);
  const text = biasChange(scores, row);
  if (!isShown(scores, row)) return [text, interval];
  const isBetter = scores.verdict[row] === LESS;
  const name = isBetter ? "better" : "worse";
  const spoken = h("span", { class: "visually-hidden" }, ` ${name}`);
  return [h("span", { class: name }, text, isBetter ? " ▲" : " ▼", spoken), interval];
}
