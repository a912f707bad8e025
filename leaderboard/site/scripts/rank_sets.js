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

/** @type {WeakMap<Scores, Map<string, Sets>>} */
const keptSets = new WeakMap();

/** @typedef {{ low: (number | null)[], high: (number | null)[] }} Sets by row; null without a set */

/**
 * Return the sets of ranks of a choice of tasks. Those of a benchmark are in its data, those of
 * another choice are computed once.
 * @param {Choice} choice
 * @param {"bias" | "usefulness"} measures
 * @returns {Sets}
 */
export function setsOf(choice, measures) {
  const { benchmark, isBenchmark, scores } = choice;
  if (isBenchmark) {
    return measures === "bias"
      ? { low: benchmark.rank_low, high: benchmark.rank_high }
      : { low: benchmark.usefulness_rank_low, high: benchmark.usefulness_rank_high };
  }
  const kept = keptSets.get(scores) ?? new Map();
  keptSets.set(scores, kept);
  const sets = kept.get(measures) ?? computedSets(choice, measures);
  kept.set(measures, sets);
  return sets;
}

/**
 * @param {Choice} choice
 * @param {"bias" | "usefulness"} measures
 * @returns {Sets}
 */
function computedSets({ board, tasks, leaks, scores }, measures) {
  const isBias = measures === "bias";
  const ranks = isBias ? scores.rank : scores.usefulness_rank;
  const sets = { low: Array(ranks.length).fill(null), high: Array(ranks.length).fill(null) };
  const families = familiesOf(board, tasksOf(board, tasks, measures));
  const rows = [...ranks.keys()].filter((row) => ranks[row]);
  const losses = rows.map((row) =>
    Float64Array.from(families, (family) => {
      const { measure } = pooledOf(board, sumsOf(board, family, row, leaks));
      return isBias ? measure : -measure;
    }),
  );
  // A family without a scale has no measure in any row.
  const scaled = families.map((_, i) => losses.some((row) => !Number.isNaN(row[i])));
  const counted = losses.map((row) => row.filter((_, i) => scaled[i]));
  if (!rows.length || counted[0].length < board.enough_families) return sets;
  const order = isBias ? upperEnds(scores.bias) : scores.usefulness.mean;
  const isKnown = (/** @type {number} */ i) =>
    Number.isFinite(order[rows[i]]) && !counted[i].includes(NaN);
  const known = [...rows.keys()].filter(isKnown);
  const { low, high } = rankSets(known.map((i) => counted[i]));
  for (const [i, row] of rows.entries()) {
    const place = known.indexOf(i);
    const ends =
      place < 0 ? [1, rows.length] : [low[place], high[place] + rows.length - known.length];
    sets.low[row] = Math.min(ends[0], ranks[row]);
    sets.high[row] = Math.max(ends[1], ranks[row]);
  }
  return sets;
}

/**
 * Return the lowest and the highest rank of each row; all hold at once with the level of the board.
 * @param {Float64Array[]} losses by row, the loss in each family; lower is better
 * @returns {{ low: Int32Array, high: Int32Array }}
 */
export function rankSets(losses) {
  const rows = losses.length;
  const low = new Int32Array(rows).fill(1);
  const high = new Int32Array(rows).fill(rows);
  const families = losses[0]?.length ?? 0;
  const totals = losses.map((row) => row.reduce((sum, loss) => sum + loss, 0));
  const pairs = pairsOf(losses);
  const sums = flippedSums(losses, signsOf(families, rows));
  const flips = sums[0]?.length ?? 0;
  const largest = new Float64Array(flips);
  let open = pairs;
  for (;;) {
    largest.fill(0);
    for (const { j, k, scale } of open) {
      const [ours, theirs] = [sums[j], sums[k]];
      for (let flip = 0; flip < flips; flip++) {
        const statistic = Math.abs(ours[flip] - theirs[flip]) / scale;
        if (statistic > largest[flip]) largest[flip] = statistic;
      }
    }
    const critical = largest.toSorted()[Math.ceil(QUANTILE * flips) - 1];
    const isDifferent = (/** @type {Pair} */ { j, k, scale }) =>
      Math.abs(totals[j] - totals[k]) / scale > critical * (1 + 1e-4);
    const differing = open.filter(isDifferent);
    for (const { j, k } of differing) {
      const [better, worse] = totals[j] < totals[k] ? [j, k] : [k, j];
      low[worse]++;
      high[better]--;
    }
    if (!differing.length) return { low, high };
    open = open.filter((pair) => !isDifferent(pair));
  }
}

/** @typedef {{ j: number, k: number, scale: number }} Pair */

/**
 * Return the pairs of rows that are not equal, with the scale of their difference.
 * @param {Float64Array[]} losses
 * @returns {Pair[]}
 */
function pairsOf(losses) {
  const norms = losses.map((row) => row.reduce((sum, loss) => sum + loss ** 2, 0));
  const least = 1e-12 * Math.max(...norms, 1e-300);
  /** @type {Pair[]} */
  const pairs = [];
  for (let k = 0; k < losses.length; k++) {
    for (let j = 0; j < k; j++) {
      let square = 0;
      losses[j].forEach((loss, i) => (square += (loss - losses[k][i]) ** 2));
      if (square >= least) pairs.push({ j, k, scale: square });
    }
  }
  const squares = Float64Array.from(pairs, ({ scale }) => scale).toSorted();
  const middle = squares.length >> 1;
  const median = squares.length % 2 ? squares[middle] : (squares[middle - 1] + squares[middle]) / 2;
  return pairs.map(({ j, k, scale }) => ({ j, k, scale: Math.sqrt(scale + median) }));
}

/**
 * Return the sum of each row's losses under each flip.
 * @param {Float64Array[]} losses
 * @param {Int8Array[]} signs
 */
function flippedSums(losses, signs) {
  return losses.map((row) =>
    Float64Array.from(signs, (flip) =>
      row.reduce((sum, loss, family) => sum + flip[family] * loss, 0),
    ),
  );
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
