// @ts-check
// Paired effects: what mitigators change on models, as a chart from before to after, and as a table.
import { rankedTasks } from "./choice.js";
import { h } from "./dom.js";
import { changeText, pText, scoreText, votesText } from "./formats.js";
import { allEffects, benchmarkScores } from "./kept_scores.js";
import { biasPanel, plainTable, usefulnessPanel, withInterval } from "./page_parts.js";
import { rowChart, rowLegend } from "./plot_rows.js";
import { leaksOf } from "./pooling.js";
import { EVIDENCE } from "./student.js";
/** @import { Child } from "./dom.js" */
/** @import { RowCell } from "./plot_rows.js" */

/**
 * Return a chart of mitigated rows over all ranked tasks: their bias and usefulness without the
 * mitigator and with it, and whether the change is shown.
 * @param {Board} board
 * @param {string} caption
 * @param {string} first title of the first column
 * @param {number[]} rows
 * @param {(row: number) => Child} head
 */
export function effectChart(board, caption, first, rows, head) {
  const { bias, usefulness } = benchmarkScores(board, board.benchmarks[0]);
  const effects = allEffects(board, "none");
  const isUseful = rows.some((row) => !Number.isNaN(effects.usefulness.mean[row]));
  const panels = [biasPanel(board), ...(isUseful ? [usefulnessPanel(board, usefulness.mean)] : [])];
  const lines = rows.map((row) => {
    const reason = board.rows.unusable[row];
    const text = reason ? `not usable: ${reason}` : keptMeaning(board, row);
    const note = text && h("small", { class: "under" }, text);
    const cells = [changedCell(board, bias, effects.bias, row, "bias")];
    if (isUseful) {
      cells.push(changedCell(board, usefulness, effects.usefulness, row, "usefulness"));
    }
    return { head: [head(row), note], cells };
  });
  const legend = rowLegend([
    [{ value: 0, form: "open" }, "without the mitigator"],
    [{ value: 0, low: 0, high: 1 }, "with it, and the 95 % interval"],
    [{ value: 0, form: "crossed" }, "with it, and not usable"],
    ["shown", "a change that is shown"],
    ["not shown", "a change that is not shown"],
  ]);
  const chart = rowChart(caption, first, panels, lines, legend);
  if (isUseful) return chart;
  const line = "Usefulness was not measured with a mitigator, so the cost is not known.";
  return h("div", {}, chart, h("p", { class: "quiet" }, line));
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
 * @param {Means} means
 * @param {Effect} effect
 * @param {number} row
 * @param {"bias" | "usefulness"} measures
 * @returns {RowCell}
 */
function changedCell(board, { mean, low, high }, effect, row, measures) {
  const base = board.rows.model.indexOf(board.rows.model[row]);
  if (Number.isNaN(effect.mean[row])) {
    return { marks: [], words: h("span", { class: "quiet" }, "not compared") };
  }
  const { isShown, text } = evidenceOf(board, effect, row, measures);
  const range = Number.isNaN(effect.low[row])
    ? ""
    : ` (${changeText(effect.low[row])} to ${changeText(effect.high[row])})`;
  return {
    marks: [
      { value: mean[base], low: low[base], high: high[base], form: "open" },
      {
        value: mean[row],
        low: low[row],
        high: high[row],
        form: row in board.rows.unusable ? "crossed" : "full",
      },
    ],
    change: isShown ? "shown" : "not shown",
    words: [
      `${scoreText(mean[base])} → ${scoreText(mean[row])}`,
      h("small", { class: "under" }, `${changeText(effect.mean[row])}${range}`),
      h("small", { class: "under" }, text),
    ],
  };
}

/**
 * Return whether a change is shown, in words.
 * @param {Board} board
 * @param {Effect} effect
 * @param {number} row
 * @param {"bias" | "usefulness"} measures
 */
export function evidenceOf(board, { mean, holm, families }, row, measures) {
  const word = `${mean[row] < 0 ? "less" : "more"} ${measures === "bias" ? "bias" : "useful"}`;
  if (holm[row] < EVIDENCE) return { isShown: true, text: `${word}: shown, p ${pText(holm[row])}` };
  if (families[row] < board.enough_families) {
    const few = `${votesText(families[row], measures)} of ${board.enough_families} needed`;
    return { isShown: false, text: `not shown: ${few}` };
  }
  if (Number.isNaN(holm[row])) return { isShown: false, text: "not shown: no upper limit" };
  return { isShown: false, text: `not shown, p ${pText(holm[row])}` };
}

/**
 * Return a table of the changes of mitigated rows against a baseline, over all ranked tasks.
 * @param {Board} board
 * @param {Effects} effects of all ranked tasks
 * @param {string} caption
 * @param {string} first title of the first column
 * @param {number[]} rows
 * @param {(row: number) => Child} head content of the first column
 */
export function effectTable(board, { bias, usefulness }, caption, first, rows, head) {
  const tasks = rankedTasks(board);
  const columns = [
    { title: first, class: "model" },
    ...["Change in bias", "p"].map((title) => ({ title, number: true })),
    { title: "Change in usefulness", number: true },
    { title: "p", of: "the change in usefulness", number: true },
    { title: "Leaks left out", number: true },
    { title: "Not usable" },
  ];
  const lines = rows.map((row) => () => [
    head(row),
    ...effectCells(bias, row, -1),
    ...effectCells(usefulness, row, 1),
    leaksOf(board, row, tasks).length,
    board.rows.unusable[row] ?? " ",
  ]);
  const evidence = `p has Holm's correction over the changes of one model. Only a change with p < ${String(EVIDENCE).slice(1)} has an arrow: ▲ better, ▼ worse.`;
  return plainTable(`${caption} ${evidence}`, columns, lines);
}

/**
 * @param {Effect} effect
 * @param {number} row
 * @param {1 | -1} sign -1 if less is better
 * @returns {(Child | Child[])[]}
 */
function effectCells(effect, row, sign) {
  const isEvident = effect.holm[row] < EVIDENCE;
  const isBetter = sign * effect.mean[row] > 0;
  const name = isEvident ? (isBetter ? "better" : "worse") : null;
  const [text, interval] = withInterval(
    effect.mean[row],
    effect.low[row],
    effect.high[row],
    changeText,
  );
  const mark = isEvident ? (isBetter ? " ▲" : " ▼") : "";
  const spoken = name && h("span", { class: "visually-hidden" }, ` ${name}`);
  return [[h("span", { class: name }, text, mark, spoken), interval], pText(effect.holm[row])];
}
