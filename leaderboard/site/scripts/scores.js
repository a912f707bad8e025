// @ts-check
// What depends on the choice of tasks: means over families, ranks and paired effects. The same
// numbers as `leaderboard/boards` computes (ranking.py, effects.py), which says why they are so.
import {
  LEAK,
  cellsOf,
  familiesOf,
  pooledOf,
  ratioOf,
  referenceOf,
  sumsOf,
  tasksOf,
} from "./pooling.js";
import { firstAtLeast, holm, studentP } from "./student.js";

/** Digits of a mean and of a difference that count. */
const PRECISION = 1e5;

/**
 * Return the means, ranks and completeness of all rows over some tasks. A mitigated row has the
 * mean of its model, plus its paired change: its own tasks are others, since leaks are left out.
 * @param {Board} board
 * @param {number[]} tasks indices of ranked tasks
 * @param {boolean} leaks whether leaks count
 * @returns {Scores}
 */
export function scoresOf(board, tasks, leaks) {
  const biasTasks = tasksOf(board, tasks, "bias");
  const usefulTasks = tasksOf(board, tasks, "usefulness");
  const bias = meansOf(board, biasTasks, leaks);
  widen(bias, promptErrors(board, tasks), board.normal);
  const usefulness = meansOf(board, usefulTasks, leaks);
  addChanges(board, bias, differencesOf(board, biasTasks, leaks, baseRows(board, "none")));
  addChanges(board, usefulness, differencesOf(board, usefulTasks, leaks, baseRows(board, "none")));
  const hasBias = completeOf(board, biasTasks);
  const hasUsefulness = completeOf(board, usefulTasks);
  return {
    bias,
    usefulness,
    complete: biasTasks.length ? hasBias : hasUsefulness,
    has_usefulness: hasUsefulness,
    rank: ranksOf(board, upperEnds(bias), hasBias, 1),
    usefulness_rank: ranksOf(board, usefulness.mean, hasUsefulness, -1),
  };
}

/**
 * Return what another prompt changes in the bias of each row: on a benchmark, or else on all tasks.
 * @param {Board} board
 * @param {number[]} tasks
 */
function promptErrors({ benchmarks }, tasks) {
  const key = tasks.toSorted((a, b) => a - b).join();
  const own = benchmarks.find((one) => one.tasks.toSorted((a, b) => a - b).join() === key);
  return (own ?? benchmarks.find(({ name }) => name === "all"))?.prompt_error ?? [];
}

/**
 * Widen the intervals of means by a further error.
 * @param {Means} means
 * @param {(number | null)[]} errors by row
 * @param {number} normal
 */
function widen({ mean, low, high }, errors, normal) {
  errors.forEach((error, row) => {
    if (!error) return;
    const half = Math.hypot(mean[row] - low[row], normal * error);
    low[row] = mean[row] - half;
    high[row] = mean[row] + half;
  });
}

/**
 * Return by what rows are ordered: a blurred model cannot show that its bias is low. Infinity
 * without an interval.
 * @param {Means} means
 */
export function upperEnds({ low, high }) {
  return low.map((end, row) =>
    Number.isNaN(end) ? Infinity : Math.max(Math.abs(end), Math.abs(high[row])),
  );
}

/**
 * Return the mean over families of each row: of bias with the interval that its items leave open,
 * of usefulness with Student's interval.
 * @param {Board} board
 * @param {number[]} tasks all of bias or all of usefulness
 * @param {boolean} leaks whether leaks count
 * @returns {Means}
 */
export function meansOf(board, tasks, leaks) {
  const families = familiesOf(board, tasks);
  const isBias = board.tasks[tasks[0]]?.measures === "bias";
  const means = emptyMeans(cellsOf(board).rows);
  for (let row = 0; row < means.mean.length; row++) {
    const parts = families.map((family) => pooledOf(board, sumsOf(board, family, row, leaks)));
    summarise(board, parts, means, row);
    if (!isBias) continue;
    const known = standardised(parts);
    const squares = known.reduce((sum, { error }) => sum + error ** 2, 0);
    const spread = (board.normal * Math.sqrt(squares)) / known.length;
    means.low[row] = means.mean[row] - spread;
    means.high[row] = means.mean[row] + spread;
  }
  return means;
}

/**
 * Move the means of mitigated rows to those of their models plus their changes.
 * @param {Board} board
 * @param {Means} means
 * @param {Means} changes against no mitigator
 */
function addChanges(board, means, changes) {
  const bases = baseRows(board, "none");
  const before = means.mean.slice();
  bases.forEach((base, row) => {
    const moved = before[base] + changes.mean[row] - before[row];
    if (base < 0 || Number.isNaN(moved)) return;
    means.mean[row] += moved;
    // A model without an interval may be anything, and so may it be with a mitigator.
    for (const ends of [means.low, means.high]) ends[row] += Number.isNaN(ends[base]) ? NaN : moved;
  });
}

/**
 * Return the paired effects of all mitigated rows against a baseline. Holm's correction is over
 * the effects on one model: its rows, bias and usefulness.
 * @param {Board} board
 * @param {number[]} tasks indices of ranked tasks
 * @param {boolean} leaks whether leaks count
 * @param {string} baseline `none` or `normalize`
 * @returns {Effects}
 */
export function effectsOf(board, tasks, leaks, baseline) {
  const base = baseRows(board, baseline);
  const [bias, usefulness] = ["bias", "usefulness"].map((measures) => {
    return differencesOf(board, tasksOf(board, tasks, measures), leaks, base);
  });
  const { model } = board.rows;
  const adjusted = [bias.p.slice(), usefulness.p.slice()];
  for (let start = 0; start < model.length;) {
    let end = start + 1; // the rows of a model follow each other
    while (end < model.length && model[end] === model[start]) end++;
    const own = holm([bias.p.slice(start, end), usefulness.p.slice(start, end)]);
    adjusted.forEach((column, i) => column.set(own[i], start));
    start = end;
  }
  return {
    bias: { ...bias, holm: adjusted[0] },
    usefulness: { ...usefulness, holm: adjusted[1] },
  };
}

/**
 * Return the mean change of each row against another row of its model, over the tasks that both
 * have, with Student's interval over families.
 * @param {Board} board
 * @param {number[]} tasks all of bias or all of usefulness
 * @param {boolean} leaks whether leaks count
 * @param {Int32Array} base by row, the other row; -1 for none
 * @returns {Means}
 */
function differencesOf(board, tasks, leaks, base) {
  const families = familiesOf(board, tasks);
  const means = emptyMeans(base.length);
  for (let row = 0; row < base.length; row++) {
    if (base[row] < 0) continue;
    const parts = families.map((family) => changeOf(board, family, row, base[row], leaks));
    summarise(board, parts, means, row);
    const known = families.filter((_, i) => !Number.isNaN(parts[i].measure));
    if (hasUnbounded(board, known, [row, base[row]], leaks)) forgetEnds(means, row);
  }
  return means;
}

/**
 * Return whether the ratio of any of these rows in any of these families may be anything, since its
 * yardstick is not clear; then so may their difference.
 * @param {Board} board
 * @param {Family[]} families
 * @param {number[]} rows
 * @param {boolean} leaks
 */
function hasUnbounded(board, families, rows, leaks) {
  return families.some((family) =>
    rows.some((row) => Number.isNaN(pooledOf(board, sumsOf(board, family, row, leaks)).error)),
  );
}

/**
 * Take the interval and the p-value of a row away.
 * @param {Means} means
 * @param {number} row
 */
function forgetEnds({ low, high, p }, row) {
  for (const ends of [low, high, p]) ends[row] = NaN;
}

/**
 * Return the change in a family against another row of the model, over the tasks that both have. Of
 * bias, with the gaps N' and the yardsticks D' of the row, and N and D of the other, it is the
 * larger of |N'/D'| − |N/D| and |N'/D| − |N/D|: neither noise nor a larger yardstick alone makes a
 * mitigator look good.
 * @param {Board} board
 * @param {Family} family
 * @param {number} row
 * @param {number} base
 * @param {boolean} leaks
 * @returns {Pooled}
 */
function changeOf(board, family, row, base, leaks) {
  const now = sumsOf(board, family, row, leaks, base);
  const before = sumsOf(board, family, base, leaks, row);
  const reference = referenceOf(now);
  const own = ratioOf(now.gap, now.yardstick, family.power);
  const old = ratioOf(before.gap, before.yardstick, family.power);
  let change = own - old;
  if (family.measures === "bias") {
    const onBase = Math.abs(ratioOf(now.gap, before.yardstick, family.power));
    const larger = Number.isNaN(own) ? onBase : Math.max(Math.abs(own), onBase);
    change = larger - Math.abs(old);
  }
  const { scale, tasks } = now;
  return { measure: rounded(change / reference), error: NaN, scale, tasks };
}

/**
 * Return the difference of a row from another one, of any two models, as columns with a single
 * number: the difference of the models on the tasks that both have, plus what the mitigators
 * change on each.
 * @param {Board} board
 * @param {number[]} tasks all of bias or all of usefulness
 * @param {boolean} leaks whether leaks count
 * @param {number} row
 * @param {number} other
 * @returns {Means}
 */
export function differenceOf(board, tasks, leaks, row, other) {
  const bases = baseRows(board, "none");
  const own = bases[row] < 0 ? row : bases[row];
  const others = bases[other] < 0 ? other : bases[other];
  const families = familiesOf(board, tasks);
  const parts = families.map((family) => {
    const now = pooledOf(board, sumsOf(board, family, own, leaks, others));
    const before = pooledOf(board, sumsOf(board, family, others, leaks, own));
    let measure = now.measure - before.measure;
    if (row !== own) measure += changeOf(board, family, row, own, leaks).measure;
    if (other !== others) measure -= changeOf(board, family, other, others, leaks).measure;
    return { ...now, measure: rounded(measure) };
  });
  const means = emptyMeans(1);
  summarise(board, parts, means, 0);
  const known = families.filter((_, i) => !Number.isNaN(parts[i].measure));
  if (hasUnbounded(board, known, [row, other, own, others], leaks)) forgetEnds(means, 0);
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

/**
 * Return the families that have a value, in units whose mean is that of standardised ones; see
 * `harness/results/ratios.py`.
 * @param {Pooled[]} all
 */
function standardised(all) {
  const parts = all.filter(({ measure }) => !Number.isNaN(measure));
  const mean = parts.reduce((sum, { scale }) => sum + 1 / scale, 0) / parts.length;
  return parts.map((part) => {
    const share = 1 / part.scale / mean;
    return { ...part, measure: part.measure * share, error: part.error * share };
  });
}

/**
 * Write the mean of some families, with Student's interval and p-value, into `means`.
 * @param {Board} board
 * @param {Pooled[]} all with NaN for families without a value
 * @param {Means} means
 * @param {number} row
 */
function summarise(board, all, means, row) {
  const parts = standardised(all);
  const families = parts.length;
  means.families[row] = families;
  means.tasks[row] = parts.reduce((sum, { tasks }) => sum + tasks, 0);
  if (families === 0) return;
  const mean = parts.reduce((sum, { measure }) => sum + measure, 0) / families;
  means.mean[row] = mean;
  if (families < board.enough_families) return;
  const squares = parts.reduce((sum, { measure }) => sum + (measure - mean) ** 2, 0);
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
  const { rows, width, gap, flags } = cellsOf(board);
  const complete = new Uint8Array(rows);
  for (let row = 0; row < rows; row++) {
    let has = tasks.length;
    for (const task of tasks) {
      const at = row * width + task;
      if (Number.isNaN(gap[at]) && !(flags[at] & LEAK)) has--;
    }
    complete[row] = has > 0 && has === tasks.length ? 1 : 0;
  }
  return complete;
}

/**
 * Return the rank of each model that is usable and complete, 0 for all other rows. Equal values
 * share the best rank. A single model has none.
 * @param {Board} board
 * @param {Float64Array} order what rows are ordered by
 * @param {Uint8Array} complete
 * @param {1 | -1} sign -1 if the highest has rank 1
 */
function ranksOf(board, order, complete, sign) {
  const { role, unusable } = board.rows;
  const ranks = new Int32Array(order.length);
  const isRanked = (/** @type {number} */ row) =>
    role[row] === "model" && !(row in unusable) && complete[row] && !Number.isNaN(order[row]);
  const losses = order.map((value, row) => (isRanked(row) ? rounded(sign * value) : NaN));
  const sorted = losses.filter((loss) => !Number.isNaN(loss)).toSorted();
  if (sorted.length < 2) return ranks;
  return ranks.map((_, row) =>
    Number.isNaN(losses[row]) ? 0 : 1 + firstAtLeast(sorted, losses[row]),
  );
}

/** @param {number} value */
export function rounded(value) {
  return Math.round(value * PRECISION) / PRECISION;
}
