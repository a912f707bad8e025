// @ts-check
// What cells of the table of models show: changes, intervals and small drawings.
import { h } from "./dom.js";
import { NOTHING, changeText, intervalText, pText } from "./formats.js";
import { intervalAxis, intervalBar } from "./plot_small.js";
import { EVIDENCE } from "./student.js";

/**
 * Return a change with its interval, and in words what it shows if there is evidence for it.
 * @param {Effect} effect
 * @param {number} row
 * @param {"bias" | "usefulness"} measures
 */
export function changeCell(effect, row, measures) {
  const change = effect.mean[row];
  if (Number.isNaN(change)) return [null];
  const range = rangeLine(intervalText(effect.low[row], effect.high[row], changeText));
  return [changeText(change), evidenceMark(effect, row, measures), range];
}

/**
 * Return what a change with evidence shows; null without evidence.
 * @param {Effect} effect
 * @param {number} row
 * @param {"bias" | "usefulness"} measures
 */
function evidenceMark(effect, row, measures) {
  if (!isEvident(effect, row)) return null;
  const isLess = effect.mean[row] < 0;
  const isBetter = isLess === (measures === "bias");
  const words =
    measures === "bias"
      ? isLess
        ? "less bias"
        : "more bias"
      : isLess
        ? "less useful"
        : "more useful";
  return h(
    "span",
    {
      class: isBetter ? "shown better" : "shown worse",
      title: `p ${pText(effect.holm[row])} after Holm's correction`,
    },
    ` ${words}`,
  );
}

/**
 * @param {Effect} effect
 * @param {number} row
 */
function isEvident(effect, row) {
  return effect.holm[row] < EVIDENCE;
}

/**
 * Return what the mitigators that are folded under a model are shown to do; empty if none was
 * tested.
 * @param {Effect} effect of bias
 * @param {number[]} rows
 */
export function mitigatorsText(effect, rows) {
  if (!rows.some((row) => !Number.isNaN(effect.holm[row]))) return "";
  const evident = rows.filter((row) => isEvident(effect, row));
  const less = evident.filter((row) => effect.mean[row] < 0).length;
  const parts = [
    less ? `${less} shown to reduce bias` : "",
    evident.length > less ? `${evident.length - less} to add bias` : "",
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
