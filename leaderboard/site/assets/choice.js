// @ts-check
// The tasks and numbers of a view: a benchmark or an own choice of tasks.
"use strict";

/**
 * Return a view without the names that a board does not know.
 * @param {Board} board
 * @param {View} view
 * @returns {View}
 */
function knownView(board, view) {
  const { mitigators, licences, languages } = facetsOf(board);
  const tasks = rankedTasks(board).map((task) => board.tasks[task].name);
  const benchmarks = board.benchmarks.map(({ name }) => name);
  const models = new Set(board.models.map(({ name }) => name));
  return {
    ...view,
    benchmark: nameIn(benchmarks, view.benchmark),
    concept: nameIn(biasCategories(board), view.concept),
    mitigator: nameIn(mitigators, view.mitigator),
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
  const tasks = chosenTasks(board, view).filter((task) => {
    const { measures, category } = board.tasks[task];
    return !view.concept || measures !== "bias" || category === view.concept;
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
