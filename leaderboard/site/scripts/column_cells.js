// @ts-check
// What cells of the table of models show: changes, intervals and small drawings.
import { h } from "./dom.js";
import { NOTHING, changeText, intervalText, pText } from "./formats.js";
import { intervalBar } from "./plot_small.js";
import { EVIDENCE } from "./student.js";

/**
 * Return a change with its interval, and an arrow if there is evidence for it.
 * @param {Effect} effect
 * @param {number} row
 * @param {"bias" | "usefulness"} measures
 */
export function changeCell(effect, row, measures) {
  const change = effect.mean[row];
  if (Number.isNaN(change)) return [null];
  const text = changeText(change);
  const range = rangeLine(intervalText(effect.low[row], effect.high[row], changeText));
  if (!(effect.holm[row] < EVIDENCE)) return [text, range];
  return [evidenceMark(effect, row, measures), ` ${text}`, range];
}

/**
 * Return an arrow for a change with evidence: up for better, whatever the sign.
 * @param {Effect} effect
 * @param {number} row
 * @param {"bias" | "usefulness"} measures
 */
function evidenceMark(effect, row, measures) {
  const isBetter = effect.mean[row] < 0 === (measures === "bias");
  const [arrow, meaning] = isBetter ? ["▲", "better"] : ["▼", "worse"];
  return h(
    "span",
    { class: meaning, title: `p ${pText(effect.holm[row])} after Holm's correction` },
    arrow,
    h("span", { class: "visually-hidden" }, ` ${meaning}`),
  );
}

/**
 * Return how many of the mitigators that are folded under a model have evidence.
 * @param {Effect} effect
 * @param {number[]} rows
 * @param {"bias" | "usefulness"} measures
 */
export function evidenceCell(effect, rows, measures) {
  const tested = rows.filter((row) => !Number.isNaN(effect.holm[row]));
  if (!tested.length) return [rangeLine("not tested")];
  const evident = tested.filter((row) => effect.holm[row] < EVIDENCE);
  const better = evident.filter((row) => effect.mean[row] < 0 === (measures === "bias"));
  const worse = evident.length - better.length;
  if (!evident.length) return [rangeLine("no evidence")];
  const counts = /** @type {[number, string, string][]} */ ([
    [better.length, "▲", "better"],
    [worse, "▼", "worse"],
  ]);
  const parts = counts
    .filter(([count]) => count)
    .flatMap(([count, arrow, meaning], i) => [
      `${i ? ", " : ""}${count} ${arrow}`,
      h("span", { class: "visually-hidden" }, ` ${meaning}`),
    ]);
  return [h("span", { class: "range" }, parts, ` of ${rows.length}`)];
}

/** @param {string} text */
export function rangeLine(text) {
  return text === NOTHING ? null : h("span", { class: "range" }, text);
}

/**
 * Return a number and, in brackets, its interval or set if there is one.
 * @param {string} text
 * @param {string} range
 */
export function withRange(text, range) {
  return range === NOTHING ? text : `${text} (${range})`;
}

/**
 * Return a change as a table to read has it: with its interval, and a star for evidence.
 * @param {Effect} effect
 * @param {number} row
 */
export function changeLine({ mean, low, high, holm: adjusted }, row) {
  if (Number.isNaN(mean[row])) return "";
  const text = withRange(changeText(mean[row]), intervalText(low[row], high[row], changeText));
  return adjusted[row] < EVIDENCE ? `${text}*` : text;
}

/**
 * Return the range of the bars of a column: that of most rows, since a far one would leave the
 * others no room.
 * @param {Means} means
 * @param {boolean} withZero
 */
export function domainOf({ mean, low: lows, high: highs }, withZero) {
  const all = new Float64Array(3 * mean.length);
  [mean, lows, highs].forEach((values, i) => all.set(values, i * mean.length));
  const sorted = all.filter((value) => !Number.isNaN(value)).toSorted();
  const at = (/** @type {number} */ share) => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
  const low = withZero ? Math.min(0, at(0.02)) : at(0.02);
  const high = withZero ? Math.max(0, at(0.98)) : at(0.98);
  const margin = 0.1 * (high - low) || 0.05;
  return { low: low - margin, high: high + margin };
}

/**
 * Return a small drawing of a mean with its interval. Texts say the same.
 * @param {Means} means
 * @param {number} row
 * @param {{ low: number, high: number }} domain
 */
export function meanBar({ mean, low, high }, row, domain) {
  return Number.isNaN(mean[row]) ? null : intervalBar(mean[row], low[row], high[row], domain, 56);
}
