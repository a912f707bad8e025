// @ts-check
// What a view of the page shows: the numbers of a benchmark, a concept and a language, or the
// values of single tasks.
import { missingOf, tasksOf } from "./cells.js";
import { comparedRows, distinct, facetsOf, rowName } from "./filters.js";
import { frontOf } from "./plot_scale.js";
import { noScores, scoresOf } from "./scores.js";

/**
 * Return a view without the names that a board does not know.
 * @param {Board} board
 * @param {View} view
 * @returns {View}
 */
export function knownView(board, view) {
  const { mitigators, encoders, licences, languages } = facetsOf(board);
  const tasks = rankedTasks(board).map((task) => board.tasks[task].name);
  const benchmarks = board.benchmarks.map(({ name }) => name);
  const models = new Set(board.models.map(({ name }) => name));
  const benchmark = nameIn(benchmarks, view.benchmark);
  const computed = viewsOn(board, { ...view, benchmark });
  const tongue = nameIn(
    computed.map((one) => one.language),
    view.tongue,
  );
  const inIt = computed.filter((one) => one.language === tongue);
  return {
    ...view,
    benchmark,
    tongue,
    concept: nameIn(
      inIt.map((one) => one.concept),
      view.concept,
    ),
    mitigator: nameIn(mitigators, view.mitigator),
    encoder: nameIn(encoders, view.encoder),
    licence: nameIn(licences, view.licence),
    language: nameIn(languages, view.language),
    tasks: view.tasks.filter((name) => tasks.includes(name)),
    toggled: view.toggled.filter((name) => models.has(name)),
    rows: comparedRows(board, view).map((row) => rowName(board, row)),
  };
}

/**
 * Return a name if it is known, else an empty one.
 * @param {string[]} names
 * @param {string} name
 */
function nameIn(names, name) {
  return names.includes(name) ? name : "";
}

/**
 * Return the benchmark of a view; the first if it has none.
 * @param {Board} board
 * @param {View} view
 */
function benchmarkOf(board, view) {
  return board.benchmarks.find(({ name }) => name === view.benchmark) ?? board.benchmarks[0];
}

/**
 * Return all that was computed on the benchmark of a view.
 * @param {Board} board
 * @param {View} view
 */
export function viewsOn(board, view) {
  const { name } = benchmarkOf(board, view);
  return board.views.filter((one) => one.benchmark === name);
}

/** @param {Board} board */
export function rankedTasks(board) {
  return [...board.tasks.keys()].filter((task) => board.tasks[task].not_ranked === null);
}

/**
 * Return the single tasks that a view names, by their indices.
 * @param {Board} board
 * @param {View} view
 */
export function ownTasks(board, view) {
  return rankedTasks(board).filter((task) => view.tasks.includes(board.tasks[task].name));
}

/**
 * Return what a view chooses, with its numbers.
 * @param {Board} board
 * @param {View} view
 * @returns {Choice}
 */
export function choose(board, view) {
  const own = ownTasks(board, view);
  const isOwn = own.length > 0;
  const views = viewsOn(board, view);
  const computed =
    views.find((one) => one.concept === view.concept && one.language === view.tongue) ?? views[0];
  const tasks = isOwn ? own : computed.tasks;
  const scores = isOwn ? noScores(board) : scoresOf(computed);
  const hasBias = tasksOf(board, tasks, "bias").length > 0;
  return {
    board,
    benchmark: benchmarkOf(board, view),
    computed,
    isOwn,
    tasks,
    hasBias,
    scores,
    ...belowMinimum(board, tasks, scores, view.minimum),
    layers: hasBias ? layersOf(board, tasks, scores) : new Map(),
  };
}

/** How far below the best model's usefulness a leading model may be, unless a view says another. */
export const MINIMUM = 10;
/** Digits of a mean that count, as a difference. */
const PRECISION = 5e-6;

/**
 * Return the models that are ranked by bias and are less useful than the best of them by more than
 * the chosen share of its usefulness above random vectors. A model without each usefulness task is
 * among them, with the reason: nobody leads by being worse.
 * @param {Board} board
 * @param {number[]} tasks
 * @param {Scores} scores
 * @param {string} chosen percent; `off` for no minimum, empty for `MINIMUM`
 * @returns {{ below: Map<number, string>, ends: { best: number, noise: number } | null, least: number }}
 */
function belowMinimum(board, tasks, scores, chosen) {
  /** @type {Map<number, string>} */
  const below = new Map();
  const { mean } = scores.usefulness;
  const ranked = rankedRows(scores);
  const full = ranked.filter((row) => isMeasured(board, tasks, row));
  if (!tasksOf(board, tasks, "usefulness").length || !full.length) {
    return { below, ends: null, least: NaN };
  }
  const best = Math.max(...full.map((row) => mean[row]));
  const ends = { best, noise: noiseOf(board, mean) };
  if (chosen === "off") return { below, ends, least: NaN };
  const least = minimumAt(ends, chosen);
  for (const row of ranked) {
    if (!full.includes(row)) below.set(row, INCOMPLETE);
    else if (mean[row] < least - PRECISION) below.set(row, "");
  }
  return { below, ends, least };
}

/** Why a model without each usefulness task stands below the others. */
export const INCOMPLETE = "some usefulness tasks are missing";

/**
 * Return whether a row has each usefulness task.
 * @param {Board} board
 * @param {number[]} tasks
 * @param {number} row
 */
export function isMeasured(board, tasks, row) {
  return !missingOf(board, row, tasksOf(board, tasks, "usefulness")).length;
}

/**
 * Return the rows with a rank by bias.
 * @param {Scores} scores
 */
function rankedRows({ ranks: { bias } }) {
  return [...bias.rank.keys()].filter((row) => bias.rank[row] > 0);
}

/**
 * Return the usefulness that a minimum asks for.
 * @param {{ best: number, noise: number }} ends usefulness of the best model and of random vectors
 * @param {string} minimum percent; `off` for no minimum, empty for `MINIMUM`
 */
export function minimumAt({ best, noise }, minimum) {
  const percent = minimum === "off" ? 100 : Number(minimum || MINIMUM);
  return best - (percent / 100) * (best - noise);
}

/**
 * Return the usefulness of random vectors; 0 on a board without them.
 * @param {Board} board
 * @param {Numbers} mean
 */
export function noiseOf(board, mean) {
  const { model, role } = board.rows;
  const row = model.findIndex(
    (index, i) =>
      role[i] === "reference" &&
      board.models[index].name.startsWith("random-") &&
      !Number.isNaN(mean[i]),
  );
  return row < 0 ? 0 : mean[row];
}

/** Most Pareto layers that are drawn. */
const MOST_LAYERS = 4;

/**
 * Return the Pareto layers of ranked models with each usefulness task, 0 for the front: no other
 * one has both less bias and more usefulness. The next layer is the front of the others.
 * @param {Board} board
 * @param {number[]} tasks
 * @param {Scores} scores
 * @returns {Map<number, number>}
 */
function layersOf(board, tasks, scores) {
  const x = /** @type {PlotAxis} */ ({ title: "", better: "low" });
  const y = /** @type {PlotAxis} */ ({ title: "", better: "high" });
  /** @type {Map<number, number>} */
  const layers = new Map();
  let rows = rankedRows(scores).filter((row) => isMeasured(board, tasks, row));
  for (let layer = 0; layer < MOST_LAYERS && rows.length; layer++) {
    const points = rows.map((row) => {
      return { x: scores.bias.mean[row], y: scores.usefulness.mean[row], usable: true };
    });
    for (const i of frontOf(points, x, y)) layers.set(rows[i], layer);
    rows = rows.filter((row) => !layers.has(row));
  }
  return layers;
}

/**
 * Return the concepts of bias for which a benchmark has numbers, sorted.
 * @param {Board} board
 * @param {Benchmark} benchmark
 */
export function conceptsOn(board, { name }) {
  const views = board.views.filter((view) => view.benchmark === name && view.language === "");
  return distinct(views.map(({ concept }) => concept).filter(Boolean));
}
