// @ts-check
// What was computed for a benchmark, a concept and a language: means, ranks and changes by row.
// Python computes them (`harness/results/estimator.py`); nothing is computed here.
import { numbers } from "./data.js";

/** @type {WeakMap<BoardView, Scores>} */
const decodedViews = new WeakMap();

/**
 * Return the numbers of a view, which are decoded once.
 * @param {BoardView} view
 * @returns {Scores}
 */
export function scoresOf(view) {
  let scores = decodedViews.get(view);
  if (!scores) {
    const own = Object.entries(view.numbers).map(([name, column]) => [name, numbers(column)]);
    const words = Object.entries(view.words).map(([name, { texts, of }]) => [
      name,
      [...numbers(of)].map((place) => texts[place]),
    ]);
    scores = gathered(Object.fromEntries(own), Object.fromEntries(words));
    decodedViews.set(view, scores);
  }
  return scores;
}

/**
 * @param {Record<NumberName, Numbers>} own
 * @param {Record<WordName, string[]>} words
 * @returns {Scores}
 */
function gathered(own, words) {
  return {
    ...words,
    bias: { mean: own.bias, low: own.bias_low, high: own.bias_high },
    usefulness: { mean: own.usefulness, low: own.usefulness_low, high: own.usefulness_high },
    change: { mean: own.difference, low: own.difference_low, high: own.difference_high },
    ranks: {
      bias: { rank: own.rank, low: own.rank_low, high: own.rank_high },
      usefulness: {
        rank: own.usefulness_rank,
        low: own.usefulness_rank_low,
        high: own.usefulness_rank_high,
      },
    },
    base: own.base,
    model: own.model,
    usefulness_change: own.usefulness_difference,
    methods: own.methods,
    agree: own.agree,
    compared: own.compared,
  };
}

/**
 * Return scores without a number, for a choice of tasks that nothing was computed for.
 * @param {Board} board
 * @returns {Scores}
 */
export function noScores({ rows: { model } }) {
  const proxy = (/** @type {unknown} */ value) => new Proxy({}, { get: () => value });
  return gathered(
    /** @type {any} */ (proxy(new Float32Array(model.length).fill(NaN))),
    /** @type {any} */ ({ unranked: [], direction: [], verdict: [], reason: [], depends_on: [] }),
  );
}

/**
 * Return what was computed on a benchmark, by a concept of bias or by all.
 * @param {Board} board
 * @param {Benchmark} benchmark
 * @param {string} [concept]
 */
export function benchmarkView(board, { name }, concept = "") {
  return board.views.find(
    (view) => view.benchmark === name && view.concept === concept && view.language === "",
  );
}

/**
 * Return the numbers on a benchmark, by a concept of bias or by all.
 * @param {Board} board
 * @param {Benchmark} benchmark
 * @param {string} [concept]
 */
export function benchmarkScores(board, benchmark, concept = "") {
  const view = benchmarkView(board, benchmark, concept);
  return view ? scoresOf(view) : noScores(board);
}
