// @ts-check
// Numbers as text.

export const NOTHING = "–";

/**
 * Return a score with three decimals and a minus sign; a dash for NaN and null.
 * @param {number | null | undefined} value
 */
export function scoreText(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
  const text = Math.abs(value) < 1e6 ? value.toFixed(3) : value.toExponential(2);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

/**
 * Return a change with its sign.
 * @param {number | null | undefined} value
 */
export function changeText(value) {
  const text = scoreText(value);
  return /^[\d]/.test(text) && Number(text) !== 0 ? `+${text}` : text;
}

/**
 * Return an interval; a dash without one.
 * @param {number | null | undefined} low
 * @param {number | null | undefined} high
 * @param {(value: number | null | undefined) => string} [format]
 */
export function intervalText(low, high, format = scoreText) {
  const isKnown = Number.isFinite(low ?? NaN) && Number.isFinite(high ?? NaN);
  return isKnown ? `${format(low)} to ${format(high)}` : NOTHING;
}

/**
 * Return a set of ranks, such as 2–5.
 * @param {number | null | undefined} low
 * @param {number | null | undefined} high
 */
export function setText(low, high) {
  if (low === null || low === undefined) return NOTHING;
  return low === high ? String(low) : `${low}–${high}`;
}

/**
 * Return a score as its publishers do, with two decimals at most.
 * @param {number} value
 */
export function publishedText(value) {
  return String(Number(value.toFixed(2)));
}

/**
 * Return a p-value.
 * @param {number} p
 */
export function pText(p) {
  if (!Number.isFinite(p)) return NOTHING;
  return p < 0.001 ? "< .001" : p.toFixed(3);
}

/** @type {[number, string][]} */
const STRENGTHS = [
  [1 / 10, "a tenth as strong as"],
  [1 / 5, "a fifth as strong as"],
  [1 / 4, "a quarter as strong as"],
  [1 / 3, "a third as strong as"],
  [1 / 2, "half as strong as"],
  [2 / 3, "two thirds as strong as"],
  [1, "as strong as"],
  [3 / 2, "one and a half times as strong as"],
  [2, "twice as strong as"],
  [3, "three times as strong as"],
];

/** What yardsticks contrast, by the ends of their names; the others contrast things and kinds. */
const CONTRASTS = new Map([
  ["groups", "contrasts such as kind and cruel people"],
  ["quotes", "contrasts such as sport and music"],
]);

/**
 * Return in words what a yardstick contrasts.
 * @param {string | null} yardstick name of its task; `items` for the task's own items
 */
export function yardstickText(yardstick) {
  if (!yardstick?.startsWith("yardstick-")) return "its yardstick";
  return (
    CONTRASTS.get(yardstick.replace("yardstick-", "")) ?? "contrasts such as flowers and insects"
  );
}

/**
 * Say in words how strong a gap is beside its yardstick; empty without a ratio.
 * @param {number} ratio
 * @param {string} [yardstick] in words
 */
export function strengthText(ratio, yardstick = "its yardstick") {
  if (!Number.isFinite(ratio)) return "";
  const size = Math.abs(ratio);
  if (size < 0.07) return `next to nothing beside ${yardstick}`;
  const distance = (/** @type {number} */ share) => Math.abs(Math.log(size / share));
  const [[, nearest]] = STRENGTHS.toSorted(([a], [b]) => distance(a) - distance(b));
  const strength = size < 4 ? nearest : `${size.toFixed(0)} times as strong as`;
  return `${ratio < 0 ? "against the stereotype, " : ""}${strength} ${yardstick}`;
}

/**
 * Return a number and its noun.
 * @param {number} count
 * @param {string} noun
 * @param {string} [nouns]
 */
export function countText(count, noun, nouns = `${noun}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : nouns}`;
}

/**
 * Return a large number, such as a number of parameters, with two or three digits.
 * @param {number | null} value
 */
export function sizeText(value) {
  if (value === null || !Number.isFinite(value)) return NOTHING;
  const units = [" B", " M", " k", ""];
  const powers = [1e9, 1e6, 1e3, 1];
  const i = Math.max(
    0,
    powers.findIndex((power) => value >= power),
  );
  const share = value / powers[i];
  return `${share.toFixed(share < 9.95 && i < 3 ? 1 : 0)}${units[i]}`;
}

const LANGUAGES = new Intl.DisplayNames(["en"], { type: "language", fallback: "code" });

/**
 * Return the English name of a language; its code if the browser does not know it.
 * @param {string} code such as `de`
 */
export function languageName(code) {
  try {
    return LANGUAGES.of(code) ?? code;
  } catch {
    return code; // a text that is no code
  }
}

/**
 * Return a text with a capital letter at its beginning.
 * @param {string} text
 */
export function capital(text) {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

const ENDINGS = new Map([
  ["one", "st"],
  ["two", "nd"],
  ["few", "rd"],
]);
const ORDINALS = new Intl.PluralRules("en", { type: "ordinal" });

/**
 * Return a number as an ordinal, such as 1st.
 * @param {number} n
 */
export function ordinal(n) {
  return `${n.toLocaleString("en")}${ENDINGS.get(ORDINALS.select(n)) ?? "th"}`;
}
