// @ts-check
// Gaps over yardsticks: those of single cells, and pooled over the tasks of a family. The same
// numbers as `harness/results/ratios.py` computes, which says why they are so.
import { numbers } from "./data.js";

export const LEAK = 1;
/** Name of a yardstick that is made of the task's own items: each task has its own. */
export const ITEMS = "items";
/** Least sum of the gaps of the reference encoder, over its error, as in `ratios.py`. */
const CLEAR_GAP = 2;

/** @type {WeakMap<Board, Cells>} */
const decodedBoards = new WeakMap();

/**
 * Return the numbers of a board, which are decoded once.
 * @param {Board} board
 * @returns {Cells}
 */
export function cellsOf(board) {
  let cells = decodedBoards.get(board);
  if (!cells) {
    const width = board.tasks.length;
    const [gap, yardstick] = [numbers(board.gap), numbers(board.yardstick)];
    cells = {
      rows: board.rows.model.length,
      width,
      gap,
      gapError: numbers(board.gap_error),
      yardstick,
      yardstickError: numbers(board.yardstick_error),
      measure: Float64Array.from(gap, (value, at) =>
        ratioOf(value, yardstick[at], board.tasks[at % width].power),
      ),
      flags: numbers(board.flags),
    };
    decodedBoards.set(board, cells);
  }
  return cells;
}

/**
 * Return a gap over its yardstick, of squares the root; NaN if the yardstick is not above 0.
 * @param {number} gap
 * @param {number} yardstick
 * @param {number} power
 */
export function ratioOf(gap, yardstick, power) {
  if (!(yardstick > 0)) return NaN;
  const quotient = gap / yardstick;
  return power === 1 ? quotient : Math.sign(quotient) * Math.sqrt(Math.abs(quotient));
}

/**
 * @param {Board} board
 * @param {number[]} tasks
 * @param {string} measures
 */
export function tasksOf(board, tasks, measures) {
  return tasks.filter((task) => board.tasks[task]?.measures === measures);
}

/**
 * Return the families of tasks, sorted by name. In each the tasks with one yardstick follow each
 * other.
 * @param {Board} board
 * @param {number[]} tasks all of bias or all of usefulness
 * @returns {Family[]}
 */
export function familiesOf(board, tasks) {
  const family = (/** @type {number} */ task) => board.tasks[task].family;
  const yardstick = (/** @type {number} */ task) => {
    const { yardstick_of: of } = board.tasks[task];
    return of === ITEMS ? `${of} ${task}` : (of ?? "");
  };
  return [...new Set(tasks.map(family))].toSorted().map((name) => {
    const members = tasks.filter((task) => family(task) === name);
    const { power, measures } = board.tasks[members[0]];
    const sorted = members.toSorted((a, b) => compared(yardstick(a), yardstick(b)));
    const isNew = sorted.map((task, i) => i > 0 && yardstick(task) !== yardstick(sorted[i - 1]));
    return { name, measures, power, tasks: sorted, isNew };
  });
}

/**
 * @param {number | string} a
 * @param {number | string} b
 */
export function compared(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Return the sums of a row's gaps and yardsticks over a family, with their variances: of one
 * yardstick that several tasks have the errors add up as they are.
 * @param {Board} board
 * @param {Family} family
 * @param {number} row
 * @param {boolean} leaks whether leaks count
 * @param {number} [other] another row: only tasks that it has count
 * @returns {Sums}
 */
export function sumsOf(board, { tasks, isNew, power }, row, leaks, other = row) {
  const { width, gap, gapError, yardstick, yardstickError, flags } = cellsOf(board);
  const sums = {
    power,
    scale: board.tasks[tasks[0]].reference_scale,
    tasks: 0,
    gap: 0,
    yardstick: 0,
    referenceGap: 0,
    referenceYardstick: 0,
    referenceVariance: 0,
    gapVariance: 0,
    yardstickVariance: 0,
  };
  let shared = 0;
  for (let i = 0; i < tasks.length; i++) {
    if (isNew[i]) {
      sums.yardstickVariance += shared ** 2;
      shared = 0;
    }
    const at = row * width + tasks[i];
    const otherAt = other * width + tasks[i];
    if (Number.isNaN(gap[at]) || Number.isNaN(gap[otherAt])) continue;
    if (!leaks && (flags[at] | flags[otherAt]) & LEAK) continue;
    const { reference_gap, reference_yardstick, reference_error } = board.tasks[tasks[i]];
    sums.tasks++;
    sums.gap += gap[at];
    sums.yardstick += yardstick[at];
    sums.referenceGap += reference_gap;
    sums.referenceVariance += reference_error ** 2;
    sums.referenceYardstick += reference_yardstick;
    sums.gapVariance += (board.shared * (gapError[at] || 0)) ** 2;
    shared += yardstickError[at] || 0;
  }
  sums.yardstickVariance += shared ** 2;
  return sums;
}

/**
 * Return the ratio of the reference encoder; NaN if its gap is not clear, so that there is no scale.
 * @param {Sums} sums
 */
export function referenceOf({ referenceGap, referenceYardstick, referenceVariance, power }) {
  const isClear = referenceGap > 0 && referenceGap >= CLEAR_GAP * Math.sqrt(referenceVariance);
  return isClear ? ratioOf(referenceGap, referenceYardstick, power) : NaN;
}

/**
 * Return the ratio of sums over that of the reference encoder, with the error of Fieller's upper
 * end; NaN without one.
 * @param {Board} board
 * @param {Sums} sums
 * @returns {Pooled}
 */
export function pooledOf(board, sums) {
  const { power, gap: n, yardstick: d } = sums;
  const reference = referenceOf(sums);
  const ratio = ratioOf(n, d, power);
  const a = d ** 2 - board.normal ** 2 * sums.yardstickVariance;
  const c = n ** 2 - board.normal ** 2 * sums.gapVariance;
  const high = n * d + Math.sqrt(Math.max((n * d) ** 2 - a * c, 0));
  return {
    measure: ratio / reference,
    error: (ratioOf(high, a, power) - ratio) / board.normal / reference,
    scale: sums.scale,
    tasks: sums.tasks,
  };
}

/**
 * Return the ends of the interval of a cell's gap over its yardstick, after Fieller (1954); NaN if
 * the yardstick is not clear.
 * @param {Board} board
 * @param {number} row
 * @param {number} task
 */
export function cellEnds(board, row, task) {
  const { width, gap, gapError, yardstick, yardstickError } = cellsOf(board);
  const at = row * width + task;
  const { power } = board.tasks[task];
  const [n, d] = [gap[at], yardstick[at]];
  const a = d ** 2 - (board.normal * yardstickError[at]) ** 2;
  const c = n ** 2 - (board.normal * gapError[at]) ** 2;
  const root = Math.sqrt(Math.max((n * d) ** 2 - a * c, 0));
  return { low: ratioOf(n * d - root, a, power), high: ratioOf(n * d + root, a, power) };
}

/**
 * Return the tasks on which a row leaks.
 * @param {Board} board
 * @param {number} row
 * @param {number[]} tasks
 */
export function leaksOf(board, row, tasks) {
  const { flags, width } = cellsOf(board);
  return tasks.filter((task) => flags[row * width + task] & LEAK);
}
