// @ts-check
// Student's t: p-values of means, and Holm's correction of many of them.

/** A change with a p-value below this after Holm's correction has evidence. */
export const EVIDENCE = 0.05;

/**
 * Return the two-sided p-value of a t statistic with whole degrees of freedom.
 *
 * The finite sums of Abramowitz and Stegun (1964), 26.7.3 and 26.7.4. The result is 1 less a
 * probability, so that it is exact to about 1e-15, and 0 below.
 * @param {number} t
 * @param {number} df degrees of freedom, from 1
 */
export function studentP(t, df) {
  const angle = Math.atan(Math.abs(t) / Math.sqrt(df));
  const sine = Math.sin(angle);
  const cosine = Math.cos(angle);
  const isOdd = df % 2 === 1;
  let term = isOdd ? cosine : 1;
  let sum = df === 1 ? 0 : term;
  for (let k = isOdd ? 3 : 2; k < df; k += 2) {
    term *= ((k - 1) / k) * cosine * cosine;
    sum += term;
  }
  const inside = isOdd ? (2 / Math.PI) * (angle + sine * sum) : sine * sum;
  return Math.min(1, Math.max(0, 1 - inside));
}

/**
 * Adjust p-values so that the family-wise error rate holds over all of them (Holm 1979). NaN stays
 * NaN and does not count.
 * @param {Float64Array[]} columns p-values of one table
 * @returns {Float64Array[]}
 */
export function holm(columns) {
  const known = columns.flatMap((column) => Array.from(column.filter((p) => p >= 0)));
  const sorted = Float64Array.from(known).toSorted();
  const adjusted = new Float64Array(sorted.length);
  let largest = 0;
  for (let i = 0; i < sorted.length; i++) {
    largest = Math.max(largest, (sorted.length - i) * (sorted[i] ?? 0));
    adjusted[i] = Math.min(largest, 1);
  }
  // Equal p-values have equal results: those of the first of them.
  return columns.map((column) => column.map((p) => adjusted[firstAtLeast(sorted, p)] ?? NaN));
}

/**
 * Return the index of the first number of a sorted array that is at least `value`.
 * @param {Float64Array} sorted
 * @param {number} value
 */
export function firstAtLeast(sorted, value) {
  if (Number.isNaN(value)) return -1;
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (/** @type {number} */ (sorted[middle]) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
