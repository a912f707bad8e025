// @ts-check
// What depends on the choice of tasks: means over families, ranks and paired effects. The same
// numbers as `leaderboard/boards` computes (ranking.py, effects.py), which says why they are so.
"use strict";

const LEAK = 1;
/** Digits of a mean and of a difference that count. */
const PRECISION = 1e5;

/** @type {WeakMap<Board, Cells>} */
const decodedBoards = new WeakMap();

/**
 * Return the numbers of a board, which are decoded once.
 * @param {Board} board
 * @returns {Cells}
 */
function cellsOf(board) {
  let cells = decodedBoards.get(board);
  if (!cells) {
    cells = {
      rows: board.rows.model.length,
      width: board.tasks.length,
      measure: numbers(board.measure),
      flags: numbers(board.flags),
    };
    decodedBoards.set(board, cells);
  }
  return cells;
}

/**
 * Return the means, ranks and completeness of all rows over some tasks.
 * @param {Board} board
 * @param {number[]} tasks indices of ranked tasks
 * @param {boolean} leaks whether leaks count
 * @returns {Scores}
 */
function scoresOf(board, tasks, leaks) {
  const biasTasks = tasks.filter((task) => board.tasks[task]?.measures === "bias");
  const usefulTasks = tasks.filter((task) => board.tasks[task]?.measures === "usefulness");
  const bias = meansOf(board, biasTasks, leaks);
  const usefulness = meansOf(board, usefulTasks, leaks);
  const hasBias = completeOf(board, biasTasks);
  const hasUsefulness = completeOf(board, usefulTasks);
  return {
    bias,
    usefulness,
    complete: biasTasks.length ? hasBias : hasUsefulness,
    rank: ranksOf(board, bias.mean, hasBias, 1),
    usefulness_rank: ranksOf(board, usefulness.mean, hasUsefulness, -1),
  };
}

/**
 * Return the mean over families of each row, with Student's interval.
 * @param {Board} board
 * @param {number[]} tasks all of bias or all of usefulness
 * @param {boolean} leaks whether leaks count
 * @returns {Means}
 */
function meansOf(board, tasks, leaks) {
  const { rows, width, measure, flags } = cellsOf(board);
  const families = familiesOf(board, tasks);
  const means = emptyMeans(rows);
  const values = new Float64Array(tasks.length);
  for (let row = 0; row < rows; row++) {
    for (let k = 0; k < values.length; k++) {
      const at = row * width + families.tasks[k];
      values[k] = !leaks && flags[at] & LEAK ? NaN : measure[at];
    }
    summarise(board, values, families.starts, means, row);
  }
  return means;
}

/**
 * Return the paired effects of all mitigated rows against a baseline. Holm's correction is over
 * the table: all rows, bias and usefulness.
 * @param {Board} board
 * @param {number[]} tasks indices of ranked tasks
 * @param {boolean} leaks whether leaks count
 * @param {string} baseline `none` or `normalize`
 * @returns {Effects}
 */
function effectsOf(board, tasks, leaks, baseline) {
  const base = baseRows(board, baseline);
  const [bias, usefulness] = ["bias", "usefulness"].map((measures) => {
    const chosen = tasks.filter((task) => board.tasks[task]?.measures === measures);
    return differencesOf(board, chosen, leaks, base);
  });
  const [biasHolm, usefulnessHolm] = holm([bias.p, usefulness.p]);
  return {
    bias: { ...bias, holm: biasHolm },
    usefulness: { ...usefulness, holm: usefulnessHolm },
  };
}

/**
 * Return the mean difference of each row from another row, over the tasks that both have.
 * @param {Board} board
 * @param {number[]} tasks all of bias or all of usefulness
 * @param {boolean} leaks whether leaks count
 * @param {Int32Array} base by row, the other row; -1 for none
 * @returns {Means}
 */
function differencesOf(board, tasks, leaks, base) {
  const { rows, width, measure, flags } = cellsOf(board);
  const families = familiesOf(board, tasks);
  const means = emptyMeans(rows);
  const values = new Float64Array(tasks.length);
  for (let row = 0; row < rows; row++) {
    const other = base[row];
    if (other < 0) continue;
    for (let k = 0; k < values.length; k++) {
      const at = row * width + families.tasks[k];
      const otherAt = other * width + families.tasks[k];
      const leaky = !leaks && (flags[at] | flags[otherAt]) & LEAK;
      values[k] = leaky ? NaN : rounded(measure[at] - measure[otherAt]);
    }
    summarise(board, values, families.starts, means, row);
  }
  return means;
}

/**
 * Return, by row, the row of the same model under the baseline, that with the fewest settings; -1
 * for rows that are not mitigated or have none.
 * @param {Board} board
 * @param {string} baseline
 */
function baseRows(board, baseline) {
  const { model, mitigator, role } = board.rows;
  const settings = board.mitigators.map(({ params }) => JSON.stringify(params).length);
  const bases = new Int32Array(board.models.length).fill(-1);
  for (let row = 0; row < model.length; row++) {
    if (board.mitigators[mitigator[row]].name !== baseline) continue;
    const held = bases[model[row]];
    if (held < 0 || settings[mitigator[row]] < settings[mitigator[held]]) bases[model[row]] = row;
  }
  return Int32Array.from(model, (index, row) =>
    role[row] === "mitigated" && bases[index] !== row ? bases[index] : -1,
  );
}

/**
 * Return tasks in the order of their families, with the place where each family starts, and an end.
 * @param {Board} board
 * @param {number[]} tasks
 */
function familiesOf(board, tasks) {
  const family = (/** @type {number} */ task) => board.tasks[task].family;
  const order = [...new Set(tasks.map(family))].toSorted();
  const place = new Map(order.map((name, i) => [name, i]));
  const by = (/** @type {number} */ task) => place.get(family(task)) ?? 0;
  const sorted = tasks.toSorted((a, b) => by(a) - by(b));
  const starts = order.map((name) => sorted.findIndex((task) => family(task) === name));
  return { tasks: Int32Array.from(sorted), starts: Int32Array.from([...starts, sorted.length]) };
}

/**
 * @param {number} rows
 * @returns {Means}
 */
function emptyMeans(rows) {
  const empty = () => new Float64Array(rows).fill(NaN);
  return {
    mean: empty(),
    low: empty(),
    high: empty(),
    p: empty(),
    families: new Int32Array(rows),
    tasks: new Int32Array(rows),
  };
}

/** Means of the families of one row. */
const familyMeans = new Float64Array(4096);

/**
 * Write the mean over families of a row's values, with its interval and its p-value, into `means`.
 * @param {Board} board
 * @param {Float64Array} values in the order of the families; NaN without one
 * @param {Int32Array} starts
 * @param {Means} means
 * @param {number} row
 */
function summarise(board, values, starts, means, row) {
  let families = 0;
  let tasks = 0;
  let total = 0;
  for (let f = 0; f + 1 < starts.length; f++) {
    let sum = 0;
    let count = 0;
    for (let k = starts[f]; k < starts[f + 1]; k++) {
      if (Number.isNaN(values[k])) continue;
      sum += values[k];
      count++;
    }
    if (count === 0) continue;
    familyMeans[families++] = sum / count;
    total += sum / count;
    tasks += count;
  }
  means.families[row] = families;
  means.tasks[row] = tasks;
  if (families === 0) return;
  const mean = total / families;
  means.mean[row] = mean;
  if (families < board.enough_families) return;
  let squares = 0;
  for (let f = 0; f < families; f++) squares += (familyMeans[f] - mean) ** 2;
  const error = Math.sqrt(squares / (families - 1) / families);
  const quantile = board.student[Math.min(families - 1, board.student.length) - 1];
  means.low[row] = mean - quantile * error;
  means.high[row] = mean + quantile * error;
  const isZero = error === 0 && mean === 0; // no difference at all
  means.p[row] = isZero ? 1 : studentP(mean / error, families - 1);
}

/**
 * Return which rows have a value, or a leak, on every task.
 * @param {Board} board
 * @param {number[]} tasks
 */
function completeOf(board, tasks) {
  const { rows, width, measure, flags } = cellsOf(board);
  const complete = new Uint8Array(rows);
  for (let row = 0; row < rows; row++) {
    let has = tasks.length;
    for (const task of tasks) {
      const at = row * width + task;
      if (Number.isNaN(measure[at]) && !(flags[at] & LEAK)) has--;
    }
    complete[row] = has > 0 && has === tasks.length ? 1 : 0;
  }
  return complete;
}

/**
 * Return the rank of each model that is usable and complete, 0 for all other rows. Equal means
 * share the best rank. A single model has none.
 * @param {Board} board
 * @param {Float64Array} mean
 * @param {Uint8Array} complete
 * @param {1 | -1} sign -1 if the highest mean has rank 1
 */
function ranksOf(board, mean, complete, sign) {
  const { role, unusable } = board.rows;
  const ranks = new Int32Array(mean.length);
  const isRanked = (/** @type {number} */ row) =>
    role[row] === "model" && !(row in unusable) && complete[row] && !Number.isNaN(mean[row]);
  const losses = mean.map((value, row) => (isRanked(row) ? rounded(sign * value) : NaN));
  const sorted = losses.filter((loss) => !Number.isNaN(loss)).toSorted();
  if (sorted.length < 2) return ranks;
  return ranks.map((_, row) =>
    Number.isNaN(losses[row]) ? 0 : 1 + firstAtLeast(sorted, losses[row]),
  );
}

/** @param {number} value */
function rounded(value) {
  return Math.round(value * PRECISION) / PRECISION;
}
