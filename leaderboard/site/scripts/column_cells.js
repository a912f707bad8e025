// @ts-check
// What cells of the table of models show: changes, intervals and small drawings.
import { h } from "./dom.js";
import { NOTHING, changeText, countText, intervalText } from "./formats.js";
import { intervalAxis, intervalBar } from "./plot_small.js";

/** What is said of a change that is shown. */
export const LESS = "less";
const MORE = "more";

/**
 * Return a change in bias as text: the difference of what is printed with the mitigator and without.
 * @param {Scores} scores
 * @param {number} row
 */
export function biasChange({ base, model }, row) {
  return changeText(Number(model[row].toFixed(3)) - Number(base[row].toFixed(3)));
}

/**
 * Return a change in bias with its interval, and in words what it shows.
 * @param {Scores} scores
 * @param {number} row
 */
export function changeCell(scores, row) {
  const { mean, low, high } = scores.change;
  if (Number.isNaN(mean[row])) return [null];
  const range = rangeLine(intervalText(low[row], high[row], changeText));
  return [biasChange(scores, row), verdictMark(scores, row), range];
}

/**
 * Return whether a change in bias is shown: then it has an arrow.
 * @param {Scores} scores
 * @param {number} row
 */
export function isShown({ verdict }, row) {
  return verdict[row] === LESS || verdict[row] === MORE;
}

/**
 * @param {Scores} scores
 * @param {number} row
 */
function verdictMark(scores, row) {
  const verdict = scores.verdict[row];
  if (!isShown(scores, row)) return null;
  const name = verdict === LESS ? "shown better" : "shown worse";
  return h("span", { class: name, title: verdictText(scores, row) }, ` ${verdict} biased`);
}

/**
 * Return in words what a change shows on these tests, and how many methods agree.
 * @param {Scores} scores
 * @param {number} row
 */
export function verdictText(scores, row) {
  const { verdict, reason, agree, compared, depends_on } = scores;
  if (!verdict[row]) return "";
  const depends = depends_on[row] && `depends on ${depends_on[row]}`;
  const text = isShown(scores, row) ? `${verdict[row]} biased` : verdict[row];
  const why = reason[row] && reason[row] !== depends ? `: ${reason[row]}` : "";
  const ways = `${agree[row]} of ${countText(compared[row], "method")} agree`;
  return [text + why, ways, depends].filter(Boolean).join("; ");
}

/**
 * Return what the mitigators that are folded under a model are shown to do; empty if none was
 * compared.
 * @param {Scores} scores
 * @param {number[]} rows
 */
export function mitigatorsText(scores, rows) {
  if (!rows.some((row) => scores.verdict[row])) return "";
  const shown = rows.filter((row) => isShown(scores, row));
  const less = shown.filter((row) => scores.verdict[row] === LESS).length;
  const parts = [
    less ? `${less} shown to reduce bias` : "",
    shown.length > less ? `${shown.length - less} to add bias` : "",
  ].filter(Boolean);
  return parts.join(", ").replace(/^(\d+) to/, "$1 shown to") || "none shown to change bias";
}

/** @param {string} text */
export function rangeLine(text) {
  return text === NOTHING ? null : h("span", { class: "range" }, text);
}

/** Width of a drawing in a cell, in its own units. */
const CELL_WIDTH = 150;

/**
 * Return the range of the bars of a column: that of most models as they are, since a far one
 * would leave the others no room.
 * @param {Board} board
 * @param {Means} means
 * @param {boolean} withZero
 */
export function domainOf({ rows: { role } }, { mean, low: lows, high: highs }, withZero) {
  const counts = role.map((name) => name === "model");
  const all = [mean, lows, highs].flatMap((values) => [...values.filter((_, row) => counts[row])]);
  const sorted = Float64Array.from(all.filter((value) => !Number.isNaN(value))).toSorted();
  const at = (/** @type {number} */ share) => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
  const low = withZero ? Math.min(0, at(0.02)) : at(0.02);
  const high = withZero ? Math.max(0, at(0.98)) : at(0.98);
  const margin = 0.1 * (high - low) || 0.05;
  return { low: low - margin, high: high + margin };
}

/**
 * Return a small drawing of a mean with its interval on the axis of its column. Texts say the same.
 * @param {Means} means
 * @param {number} row
 * @param {{ low: number, high: number }} domain
 */
export function meanBar({ mean, low, high }, row, domain) {
  if (Number.isNaN(mean[row])) return null;
  return intervalBar(mean[row], low[row], high[row], domain, CELL_WIDTH);
}

/**
 * Return the axis of the drawings of a column.
 * @param {{ low: number, high: number }} domain
 */
export function cellAxis(domain) {
  return intervalAxis(domain, CELL_WIDTH);
}
