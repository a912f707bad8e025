// @ts-check
// Simultaneous sets of ranks of any choice of tasks: the same as `leaderboard/boards/ranking.py`
// computes, which says why they are so.
import { familiesOf, pooledOf, sumsOf, tasksOf } from "./pooling.js";
import { upperEnds } from "./scores.js";

/** Quantile of the largest statistic under flips, and numbers of flips, as in `ranking.py`. */
const QUANTILE = 0.96;
const FLIPS = 2048;
const FEWEST_FLIPS = 256;
const WORK = 100_000_000;

/** Most rows whose sets are computed at once, in some milliseconds; those of more take turns. */
const AT_ONCE = 100;
/** Milliseconds of a turn: between two of them the page draws and answers. */
const TURN = 15;

/**
 * @typedef {{ low: (number | null)[], high: (number | null)[] }} Sets by row; null without a set
 * @typedef {{ steps: Iterator<void, Sets>, sets: Sets | null }} Computation
 */

/** @type {WeakMap<Scores, Map<string, Computation>>} */
const computations = new WeakMap();

/**
 * Return the sets of ranks of a choice of tasks; null as long as they are being computed. Those of
 * a benchmark are in its data, those of another choice are computed once.
 * @param {Choice} choice
 * @param {"bias" | "usefulness"} measures
 * @returns {Sets | null}
 */
export function setsOf(choice, measures) {
  const { benchmark, isBenchmark, scores } = choice;
  if (isBenchmark) {
    return measures === "bias"
      ? { low: benchmark.rank_low, high: benchmark.rank_high }
      : { low: benchmark.usefulness_rank_low, high: benchmark.usefulness_rank_high };
  }
  const known = computations.get(scores) ?? new Map();
  computations.set(scores, known);
  let computation = known.get(measures);
  if (!computation) {
    computation = { steps: setSteps(choice, measures), sets: null };
    known.set(measures, computation);
    const ranks = measures === "bias" ? scores.rank : scores.usefulness_rank;
    if (ranks.filter((rank) => rank).length <= AT_ONCE) finish(computation);
  }
  return computation.sets;
}

/**
 * Compute the sets that `setsOf` was asked for and could not return, in turns after the next frame.
 * @param {Choice} choice
 * @param {() => void} done called when all are computed; not called if none is missing
 * @returns {() => void} stops the computation
 */
export function computeSets({ scores }, done) {
  const missing = [...(computations.get(scores)?.values() ?? [])].filter(({ sets }) => !sets);
  let timer = 0;
  const turn = () => {
    const end = performance.now() + TURN;
    while (missing.length && performance.now() < end) if (step(missing[0])) missing.shift();
    if (missing.length) timer = window.setTimeout(turn);
    else done();
  };
  const frame = missing.length ? requestAnimationFrame(() => (timer = window.setTimeout(turn))) : 0;
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
}

/**
 * Compute now what `setsOf` was asked for.
 * @param {Choice} choice
 */
export function finishSets({ scores }) {
  computations.get(scores)?.forEach(finish);
}

/** @param {Computation} computation */
function finish(computation) {
  while (!step(computation));
}

/**
 * Compute a little, and return whether the sets are there.
 * @param {Computation} computation
 */
function step(computation) {
  if (computation.sets) return true;
  const { done, value } = computation.steps.next();
  if (done) computation.sets = value;
  return Boolean(done);
}

/**
 * @param {Choice} choice
 * @param {"bias" | "usefulness"} measures
 * @returns {Generator<void, Sets>}
 */
function* setSteps({ board, tasks, leaks, scores }, measures) {
  const isBias = measures === "bias";
  const ranks = isBias ? scores.rank : scores.usefulness_rank;
  const sets = { low: Array(ranks.length).fill(null), high: Array(ranks.length).fill(null) };
  const families = familiesOf(board, tasksOf(board, tasks, measures));
  const rows = [...ranks.keys()].filter((row) => ranks[row]);
  /** @type {Float64Array[]} */
  const losses = [];
  for (const row of rows) {
    losses.push(
      Float64Array.from(families, (family) => {
        const { measure, scale } = pooledOf(board, sumsOf(board, family, row, leaks));
        return (isBias ? measure : -measure) / scale;
      }),
    );
    yield;
  }
  // A family without a scale has no measure in any row.
  const scaled = families.map((_, i) => losses.some((row) => !Number.isNaN(row[i])));
  const counted = losses.map((row) => row.filter((_, i) => scaled[i]));
  if (!rows.length || counted[0].length < board.enough_families) return sets;
  const order = isBias ? upperEnds(scores.bias) : scores.usefulness.mean;
  const isKnown = rows.map((row, i) => Number.isFinite(order[row]) && !counted[i].includes(NaN));
  const known = counted.filter((_, i) => isKnown[i]);
  const { low, high } = yield* rankSetSteps(known);
  let place = 0;
  for (const [i, row] of rows.entries()) {
    const ends = isKnown[i]
      ? [low[place], high[place] + rows.length - known.length]
      : [1, rows.length];
    if (isKnown[i]) place++;
    sets.low[row] = Math.min(ends[0], ranks[row]);
    sets.high[row] = Math.max(ends[1], ranks[row]);
  }
  return sets;
}

/**
 * Return the lowest and the highest rank of each row; all hold at once with the level of the board.
 * @param {Float64Array[]} losses by row, the loss in each family; lower is better
 */
export function rankSets(losses) {
  const steps = rankSetSteps(losses);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/**
 * @param {Float64Array[]} losses
 * @returns {Generator<void, { low: Int32Array, high: Int32Array }>}
 */
function* rankSetSteps(losses) {
  const rows = losses.length;
  const low = new Int32Array(rows).fill(1);
  const high = new Int32Array(rows).fill(rows);
  const signs = signsOf(losses[0]?.length ?? 0, rows);
  const totals = Float64Array.from(losses, (row) => row.reduce((sum, loss) => sum + loss, 0));
  const pairs = yield* pairSteps(losses);
  const sums = new Float64Array(rows);
  const largest = new Float64Array(signs.length);
  const largestAt = new Int32Array(signs.length).fill(-1);
  for (;;) {
    for (let flip = 0; flip < signs.length; flip++) {
      // The largest statistic of open pairs is another one only if its pair was closed.
      if (largestAt[flip] >= 0 && pairs.squares[largestAt[flip]] < Infinity) continue;
      addFlipped(losses, signs[flip], sums);
      const { statistic, at } = largestOf(sums, pairs);
      [largest[flip], largestAt[flip]] = [statistic, at];
      yield;
    }
    const critical = largest.toSorted()[Math.ceil(QUANTILE * signs.length) - 1];
    const limit = critical * (1 + 1e-4);
    let closed = 0;
    for (let k = 1; k < rows; k++) {
      closed += closePairs(k, totals, limit, pairs, low, high);
      yield;
    }
    if (!closed) return { low, high };
  }
}

/**
 * Pairs of rows that may differ: closed ones, and pairs of equal rows, have infinite squares.
 * @typedef {object} Pairs
 * @property {Float64Array} squares the sum of squared differences of rows j < k, at `pairAt(k) + j`
 * @property {number} median of the squares; the scale of a pair is the root of its square and this
 */

/**
 * Return where the pairs of a row with those before it begin.
 * @param {number} k
 */
function pairAt(k) {
  return (k * (k - 1)) / 2;
}

/**
 * @param {Float64Array[]} losses
 * @returns {Generator<void, Pairs>}
 */
function* pairSteps(losses) {
  const norms = losses.map((row) => row.reduce((sum, loss) => sum + loss ** 2, 0));
  const least = 1e-12 * norms.reduce((most, norm) => Math.max(most, norm), 1e-300);
  const squares = new Float64Array(pairAt(losses.length));
  let unequal = 0;
  for (let k = 1; k < losses.length; k++) {
    unequal += addSquares(losses, k, least, squares);
    yield;
  }
  const sorted = squares.slice(); // as far as the median needs; infinite ones are last
  const middle = unequal >> 1;
  yield* selectSteps(sorted, middle);
  let median = sorted[middle];
  if (unequal % 2 === 0) {
    let before = 0;
    for (let i = 0; i < middle; i++) before = Math.max(before, sorted[i]);
    median = (before + median) / 2;
  }
  return { squares, median };
}

/**
 * Write the squares of the pairs of a row with those before it.
 * @param {Float64Array[]} losses
 * @param {number} k
 * @param {number} least below which rows are equal
 * @param {Float64Array} squares
 * @returns {number} how many pairs are not equal
 */
function addSquares(losses, k, least, squares) {
  const theirs = losses[k];
  const start = pairAt(k);
  let unequal = 0;
  for (let j = 0; j < k; j++) {
    const ours = losses[j];
    let square = 0;
    for (let i = 0; i < ours.length; i++) square += (ours[i] - theirs[i]) ** 2;
    squares[start + j] = square < least ? Infinity : square;
    if (square >= least) unequal++;
  }
  return unequal;
}

/**
 * Move the n-th smallest value to place n, and smaller ones before it (Hoare 1961, "Find").
 * @param {Float64Array} values
 * @param {number} n
 * @returns {Generator<void, void>}
 */
function* selectSteps(values, n) {
  let first = 0;
  let last = values.length - 1;
  while (first < last) {
    const pivot = values[(first + last) >> 1];
    let [i, j] = [first, last];
    while (i <= j) {
      while (values[i] < pivot) i++;
      while (pivot < values[j]) j--;
      if (i > j) break;
      const value = values[i];
      values[i++] = values[j];
      values[j--] = value;
    }
    if (j < n) first = i;
    if (n < i) last = j;
    yield;
  }
}

/**
 * Write the sum of each row's losses under a flip.
 * @param {Float64Array[]} losses
 * @param {Int8Array} signs
 * @param {Float64Array} sums
 */
function addFlipped(losses, signs, sums) {
  for (let row = 0; row < losses.length; row++) {
    const own = losses[row];
    let sum = 0;
    for (let i = 0; i < signs.length; i++) sum += signs[i] * own[i];
    sums[row] = sum;
  }
}

/**
 * Return the largest statistic of the open pairs, and its pair; -1 without one. No scale is below
 * the root of the median, so pairs with a small difference need not be looked at: hardly one of
 * twenty is. Squares of statistics are compared, without roots and quotients.
 * @param {Float64Array} sums
 * @param {Pairs} pairs
 */
function largestOf(sums, { squares, median }) {
  const rows = sums.length;
  let [lowest, highest] = [0, 0];
  for (let row = 1; row < rows; row++) {
    if (sums[row] < sums[lowest]) lowest = row;
    if (sums[row] > sums[highest]) highest = row;
  }
  // First the pairs of the two rows at the ends, whose differences are large.
  let square = 0;
  let at = -1;
  for (const end of [lowest, highest]) {
    for (let row = 0; row < rows; row++) {
      if (row === end) continue;
      const place = row < end ? pairAt(end) + row : pairAt(row) + end;
      const difference = (sums[row] - sums[end]) ** 2;
      if (difference <= square * (squares[place] + median)) continue;
      square = difference / (squares[place] + median);
      if (square > 0) at = place;
    }
  }
  // A larger statistic has a difference of at least so much.
  let least = Math.sqrt(square * median);
  const low = [...sums.keys()].filter((row) => sums[highest] - sums[row] > least);
  const high = [...sums.keys()].filter((row) => sums[row] - sums[lowest] > least);
  for (const j of low) {
    for (const k of high) {
      const difference = sums[k] - sums[j];
      if (difference <= least) continue;
      const place = j < k ? pairAt(k) + j : pairAt(j) + k;
      if (difference ** 2 <= square * (squares[place] + median)) continue;
      square = difference ** 2 / (squares[place] + median);
      least = Math.sqrt(square * median);
      if (square > 0) at = place;
    }
  }
  return { statistic: Math.sqrt(square), at };
}

/**
 * Close the pairs of a row and those before it that differ, and count them in the ranks.
 * @param {number} k
 * @param {Float64Array} totals
 * @param {number} limit of the statistic
 * @param {Pairs} pairs
 * @param {Int32Array} low
 * @param {Int32Array} high
 * @returns {number} how many
 */
function closePairs(k, totals, limit, { squares, median }, low, high) {
  const start = pairAt(k);
  let closed = 0;
  for (let j = 0; j < k; j++) {
    const size = Math.abs(totals[j] - totals[k]) / Math.sqrt(squares[start + j] + median);
    if (!(size > limit)) continue;
    squares[start + j] = Infinity;
    low[totals[j] < totals[k] ? k : j]++;
    high[totals[j] < totals[k] ? j : k]--;
    closed++;
  }
  return closed;
}

/**
 * Return signs for the families, (flips, families): all, or those of a fixed table of bits; the
 * first is +1.
 * @param {number} families
 * @param {number} rows
 * @returns {Int8Array[]}
 */
export function signsOf(families, rows) {
  const pairs = Math.max(1, (rows * (rows - 1)) / 2);
  const flips = Math.min(FLIPS, Math.max(FEWEST_FLIPS, Math.floor(WORK / pairs)));
  const all = 2 ** (families - 1);
  return Array.from({ length: Math.min(all, flips) }, (_, flip) =>
    Int8Array.from({ length: families }, (__, family) => {
      const isFlipped =
        all <= flips ? flip & (2 ** family) : flip && bitOf(flip * families + family);
      return isFlipped ? -1 : 1;
    }),
  );
}

/**
 * Return a bit that looks random: the highest of a hash of a number (Wellons 2018, `lowbias32`).
 * @param {number} n
 */
function bitOf(n) {
  let x = n >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 31;
}
