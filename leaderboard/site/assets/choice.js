// @ts-check
// The tasks and numbers of a view: a benchmark or an own choice of tasks.
"use strict";

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
function chosenTasks(board, view) {
  const listed = new Set(view.tasks);
  const own = rankedTasks(board).filter((task) => listed.has(board.tasks[task].name));
  if (own.length) return own;
  const without = new Set(view.without);
  return benchmarkOf(board, view).tasks.filter((task) => !without.has(board.tasks[task].name));
}

/** @param {Board} board */
function rankedTasks(board) {
  return [...board.tasks.keys()].filter((task) => board.tasks[task].not_ranked === null);
}

/**
 * Return the fields of a view that choose these tasks, with as few names as possible.
 * @param {Board} board
 * @param {View} view
 * @param {number[]} tasks
 * @returns {{ tasks: string[], without: string[] }}
 */
function choiceOf(board, view, tasks) {
  const names = (/** @type {number[]} */ indices) => indices.map((task) => board.tasks[task].name);
  const base = benchmarkOf(board, view).tasks;
  const absent = base.filter((task) => !tasks.includes(task));
  const isPart = tasks.every((task) => base.includes(task));
  if (isPart && absent.length <= tasks.length) return { tasks: [], without: names(absent) };
  return { tasks: names(tasks), without: [] };
}

/**
 * Return what a view chooses, with the numbers that follow. Numbers of the same tasks are not
 * computed again.
 * @param {Board} board
 * @param {View} view
 * @param {Choice | null} before
 * @returns {Choice}
 */
function choose(board, view, before) {
  const benchmark = benchmarkOf(board, view);
  const concepts = biasCategories(board);
  const concept = concepts.includes(view.concept) ? view.concept : "";
  const tasks = chosenTasks(board, view).filter((task) => {
    const { measures, category } = board.tasks[task];
    return !concept || measures !== "bias" || category === concept;
  });
  const key = JSON.stringify([tasks, view.leaks]);
  const isSame = before?.key === key;
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
    scores: isSame ? before.scores : scoresOf(board, tasks, view.leaks),
    effects:
      isSame && before.against === view.against
        ? before.effects
        : effectsOf(board, tasks, view.leaks, view.against),
  };
}

/**
 * Return the categories of bias, sorted.
 * @param {Board} board
 */
function biasCategories(board) {
  const tasks = rankedTasks(board).map((task) => board.tasks[task]);
  const names = tasks.filter(({ measures }) => measures === "bias").map(({ category }) => category);
  return distinct(names);
}

/**
 * Return the different ones of some names, sorted.
 * @param {string[]} names
 */
function distinct(names) {
  return [...new Set(names)].toSorted();
}
