// @ts-check
// A table of paired effects: what a mitigator changes on models.
import { rankedTasks } from "./choice.js";
import { h } from "./dom.js";
import { changeText, pText } from "./formats.js";
import { plainTable, withInterval } from "./page_parts.js";
import { endsOf } from "./plot_scale.js";
import { intervalBar } from "./plot_small.js";
import { leaksOf } from "./pooling.js";
import { EVIDENCE } from "./student.js";
/** @import { Child } from "./dom.js" */

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
  const ends = endsOf([
    0,
    ...rows.flatMap((row) => [bias.low[row], bias.high[row], bias.mean[row]]),
  ]);
  const columns = [
    { title: first, class: "model" },
    ...["Change in bias", "p"].map((title) => ({ title, number: true })),
    { title: "Drawn", class: "wide-only" },
    { title: "Change in usefulness", number: true },
    { title: "p", of: "the change in usefulness", number: true },
    { title: "Leaks left out", number: true },
    { title: "Not usable" },
  ];
  const lines = rows.map((row) => () => [
    head(row),
    ...effectCells(bias, row, -1),
    intervalBar(bias.mean[row], bias.low[row], bias.high[row], ends),
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
