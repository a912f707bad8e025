// @ts-check
// Numbers as texts.
"use strict";

/** What stands for a number that there is not. */
const NO_NUMBER = "–";

/**
 * Return a number with three decimals and a minus sign that is no hyphen.
 * @param {number | null | undefined} value
 * @param {boolean} [signed] whether a positive number has a plus sign
 */
function decimals(value, signed = false) {
  if (value === null || value === undefined || Number.isNaN(value)) return NO_NUMBER;
  const text = Math.abs(value).toFixed(3);
  if (Number(text) === 0) return text;
  return `${value < 0 ? "−" : signed ? "+" : ""}${text}`;
}

/**
 * @param {number | null | undefined} low
 * @param {number | null | undefined} high
 * @param {boolean} [signed]
 * @returns {string} empty without an interval
 */
function intervalText(low, high, signed = false) {
  const isEmpty = [low, high].some((end) => typeof end !== "number" || Number.isNaN(end));
  return isEmpty ? "" : `${decimals(low, signed)} to ${decimals(high, signed)}`;
}

/**
 * @param {number} p
 * @returns {string} such as `p = .013`
 */
function pText(p) {
  if (Number.isNaN(p)) return "no p-value";
  if (p < 0.001) return "p < .001";
  return p > 0.9995 ? "p = 1" : `p = ${p.toFixed(3).replace(/^0/, "")}`;
}

/**
 * Return a number of things, such as `1 task` and `1,000 tasks`.
 * @param {number} count
 * @param {string} noun
 * @param {string} [plural]
 */
function counted(count, noun, plural = `${noun}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : plural}`;
}

/**
 * @param {number | null} parameters
 * @returns {string} such as `22.7 M`
 */
function sizeText(parameters) {
  if (parameters === null) return NO_NUMBER;
  const [unit, letter] =
    parameters >= 1e9 ? [1e9, "B"] : parameters >= 1e6 ? [1e6, "M"] : [1e3, "k"];
  const value = parameters / unit;
  return `${value >= 100 ? value.toFixed(0) : Number(value.toPrecision(3))} ${letter}`;
}
