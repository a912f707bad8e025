// @ts-check
// Scales and ticks of plots, and the Pareto front. Draws nothing.

/**
 * An axis with its place on the page.
 * @typedef {object} Scale
 * @property {(value: number) => number} at pixel of a value
 * @property {number} low
 * @property {number} high
 * @property {number[]} ticks
 */

/** A plot that is narrower, in pixels, has less text. */
export const NARROW = 560;
/** Smallest range of a linear axis, so that a difference of .001 does not look like one of 1. */
const LEAST_RANGE = 0.1;

/**
 * Return a scale that holds all values, with a margin.
 * @param {number[]} values
 * @param {number} from pixel of the low end
 * @param {number} to pixel of the high end
 * @param {boolean} [log]
 * @returns {Scale}
 */
export function scaleOf(values, from, to, log = false) {
  const ends = endsOf(log ? values.map(Math.log10) : values);
  const half = Math.max(log ? 0.5 : LEAST_RANGE, 1.12 * (ends.high - ends.low)) / 2;
  const middle = (ends.low + ends.high) / 2;
  const [low, high] = [middle - half, middle + half];
  const count = Math.max(4, Math.round(Math.abs(to - from) / 80));
  const share = (/** @type {number} */ value) => (value - low) / (high - low);
  const place = (/** @type {number} */ value) => from + share(value) * (to - from);
  if (!log) return { at: place, low, high, ticks: ticksOf(low, high, count) };
  const at = (/** @type {number} */ value) => place(Math.log10(value));
  return { at, low: 10 ** low, high: 10 ** high, ticks: logTicks(low, high) };
}

/**
 * Return the smallest and the largest of the finite values; 0 and 1 without one.
 * @param {Iterable<number>} values
 * @returns {{ low: number, high: number }}
 */
export function endsOf(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low > high ? { low: 0, high: 1 } : { low, high };
}

/**
 * Return round values between both ends, about `count` of them.
 * @param {number} low
 * @param {number} high
 * @param {number} count
 * @returns {number[]}
 */
export function ticksOf(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) ticks.push(i * step);
  return ticks;
}

/**
 * Return 1, 2, 5, 10 ... between two powers of ten; over a wider range 1, 3, 10 ... or 1, 10 ...
 * @param {number} low
 * @param {number} high
 * @returns {number[]}
 */
function logTicks(low, high) {
  const factors = high - low < 1.5 ? [1, 2, 5] : high - low < 3 ? [1, 3] : [1];
  const ticks = [];
  for (let power = Math.floor(low); power <= high; power++) {
    for (const factor of factors) {
      const exponent = power + Math.log10(factor);
      if (exponent >= low && exponent <= high) ticks.push(factor * 10 ** power);
    }
  }
  return ticks;
}

/**
 * Return the indices of the usable points that no other one beats on both axes, best x first.
 * @param {{ x: number, y: number, usable: boolean }[]} points
 * @param {PlotAxis} x
 * @param {PlotAxis} y
 * @returns {number[]}
 */
export function frontOf(points, x, y) {
  if (!x.better || !y.better) return [];
  const [signX, signY] = [x.better === "low" ? 1 : -1, y.better === "low" ? 1 : -1];
  const order = points.map((_, i) => i).filter((i) => points[i].usable);
  order.sort((a, b) => {
    return signX * (points[a].x - points[b].x) || signY * (points[a].y - points[b].y);
  });
  let best = Infinity;
  return order.filter((i) => {
    const value = signY * points[i].y;
    if (value >= best) return false;
    best = value;
    return true;
  });
}

/**
 * Return a number with the decimals that a range of this width needs.
 * @param {number} value
 * @param {number} [range]
 * @returns {string}
 */
export function tickText(value, range = 1) {
  const digits = range >= 20 ? 0 : range >= 2 ? 1 : range >= 0.2 ? 2 : 3;
  const text = value.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

/**
 * Return whether a model stands at the low end of an axis, since it has no value.
 * @param {PlotAxis} axis
 * @param {PlotPoint} point
 */
export function isAtEdge({ hasEdge = false }, { y, series }) {
  return hasEdge && series === 0 && Number.isNaN(y);
}
