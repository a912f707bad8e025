// @ts-check
// The tasks and numbers of a view: a benchmark or an own choice of tasks.
import { comparedRows, distinct, facetsOf, rowName } from "./filters.js";
import { frontOf } from "./plot_scale.js";
import { tasksOf } from "./pooling.js";
import { effectsOf, rounded, scoresOf, upperEnds } from "./scores.js";

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
  return {
    ...view,
    benchmark: nameIn(benchmarks, view.benchmark),
    concept: nameIn(biasCategories(board), view.concept),
    mitigator: nameIn(mitigators, view.mitigator),
    encoder: nameIn(encoders, view.encoder),
    licence: nameIn(licences, view.licence),
    language: nameIn(languages, view.language),
    tasks: view.tasks.filter((name) => tasks.includes(name)),
    without: view.without.filter((name) => tasks.includes(name)),
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
 * Return the indices of the tasks of a view, before the choice of a concept.
 * @param {Board} board
 * @param {View} view
 * @returns {number[]}
 */
export function chosenTasks(board, view) {
  const listed = new Set(view.tasks);
  const own = rankedTasks(board).filter((task) => listed.has(board.tasks[task].name));
  if (own.length) return own;
  const without = new Set(view.without);
  return benchmarkOf(board, view).tasks.filter((task) => !without.has(board.tasks[task].name));
}

/** @param {Board} board */
export function rankedTasks(board) {
  return [...board.tasks.keys()].filter((task) => board.tasks[task].not_ranked === null);
}

/**
 * Return the fields of a view that choose these tasks, with as few names as possible.
 * @param {Board} board
 * @param {View} view
 * @param {number[]} tasks
 * @returns {{ tasks: string[], without: string[] }}
 */
export function choiceOf(board, view, tasks) {
  const names = (/** @type {number[]} */ indices) => indices.map((task) => board.tasks[task].name);
  const base = benchmarkOf(board, view).tasks;
  const absent = base.filter((task) => !tasks.includes(task));
  const isPart = tasks.every((task) => base.includes(task));
  if (isPart && absent.length <= tasks.length) return { tasks: [], without: names(absent) };
  return { tasks: names(tasks), without: [] };
}

/**
 * Return whether a task counts where a reader chose a concept of bias; empty if none is chosen.
 * @param {Board} board
 * @param {number} task
 * @param {string} concept
 */
export function isOfConcept(board, task, concept) {
  const { measures, category } = board.tasks[task];
  return !concept || measures !== "bias" || category === concept;
}

/**
 * Return what a view chooses, with the numbers that follow. Numbers of the same tasks are not
 * computed again.
 * @param {Board} board
 * @param {View} view
 * @param {Choice | null} before
 * @returns {Choice}
 */
export function choose(board, view, before) {
  const benchmark = benchmarkOf(board, view);
  const tasks = chosenTasks(board, view).filter((task) => isOfConcept(board, task, view.concept));
  const key = JSON.stringify([tasks, view.leaks]);
  const isSame = before?.key === key;
  const scores = isSame ? before.scores : scoresOf(board, tasks, view.leaks);
  const isOfBenchmark =
    tasks.length === benchmark.tasks.length &&
    tasks.every((task) => benchmark.tasks.includes(task));
  return {
    board,
    benchmark,
    tasks,
    key,
    leaks: view.leaks,
    against: view.against,
    isBenchmark: isOfBenchmark && !view.leaks,
    scores,
    effects:
      isSame && before.against === view.against
        ? before.effects
        : effectsOf(board, tasks, view.leaks, view.against),
    ...belowMinimum(board, tasks, scores, view.minimum),
    layers: tasksOf(board, tasks, "bias").length ? layersOf(scores) : new Map(),
  };
}

/** How far below the best model's usefulness a leading model may be, unless a view says another. */
export const MINIMUM = 10;

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
  const useful = tasksOf(board, tasks, "usefulness");
  const { mean } = scores.usefulness;
  const ranked = [...mean.keys()].filter((row) => scores.rank[row] > 0);
  const full = ranked.filter((row) => scores.has_usefulness[row]);
  if (!useful.length || !full.length) return { below, ends: null, least: NaN };
  const best = Math.max(...full.map((row) => mean[row]));
  const ends = { best, noise: noiseOf(board, mean) };
  if (chosen === "off") return { below, ends, least: NaN };
  const least = rounded(minimumAt(ends, chosen));
  for (const row of ranked) {
    if (!scores.has_usefulness[row]) below.set(row, INCOMPLETE);
    else if (rounded(mean[row]) < least) below.set(row, "");
  }
  return { below, ends, least };
}

/** Why a model without each usefulness task stands below the others. */
export const INCOMPLETE = "some usefulness tasks are missing";

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
 * Return the mean usefulness of random vectors; 0 on a board without them.
 * @param {Board} board
 * @param {Float64Array} mean
 */
export function noiseOf(board, mean) {
  const { model, role } = board.rows;
  const values = model.flatMap((index, row) => {
    const isNoise = role[row] === "reference" && board.models[index].name.startsWith("random-");
    return isNoise && !Number.isNaN(mean[row]) ? [mean[row]] : [];
  });
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : 0;
}

/** Most Pareto layers that are drawn. */
const MOST_LAYERS = 4;

/**
 * Return the Pareto layers of ranked models with each usefulness task, 0 for the front: no other
 * one has both less bias, by the upper end of its interval, and more usefulness. The next layer is
 * the front of the others.
 * @param {Scores} scores
 * @returns {Map<number, number>}
 */
function layersOf({ rank, has_usefulness, usefulness, bias }) {
  const order = upperEnds(bias);
  const x = /** @type {PlotAxis} */ ({ title: "", better: "low" });
  const y = /** @type {PlotAxis} */ ({ title: "", better: "high" });
  /** @type {Map<number, number>} */
  const layers = new Map();
  let rows = [...rank.keys()].filter((row) => rank[row] > 0 && has_usefulness[row]);
  for (let layer = 0; layer < MOST_LAYERS && rows.length; layer++) {
    const points = rows.map((row) => ({ x: order[row], y: usefulness.mean[row], usable: true }));
    for (const i of frontOf(points, x, y)) layers.set(rows[i], layer);
    rows = rows.filter((row) => !layers.has(row));
  }
  return layers;
}

/**
 * Return the categories of bias, sorted.
 * @param {Board} board
 */
export function biasCategories(board) {
  const tasks = rankedTasks(board).map((task) => board.tasks[task]);
  const names = tasks.filter(({ measures }) => measures === "bias").map(({ category }) => category);
  return distinct(names);
}
