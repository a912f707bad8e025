// @ts-check
// Numbers that depend on no choice of a visitor: those of a benchmark, and the effects over all
// ranked tasks. They are computed once.
import { rankedTasks } from "./choice.js";
import { effectsOf, scoresOf } from "./scores.js";

/** @type {WeakMap<Benchmark, Scores>} */
const keptScores = new WeakMap();
/** @type {WeakMap<Board, Map<string, Effects>>} */
const keptEffects = new WeakMap();

/**
 * Return the scores of all rows on a benchmark, without leaks.
 * @param {Board} board
 * @param {Benchmark} benchmark
 */
export function benchmarkScores(board, benchmark) {
  const kept = keptScores.get(benchmark) ?? scoresOf(board, benchmark.tasks, false);
  keptScores.set(benchmark, kept);
  return kept;
}

/**
 * Return the effects of all mitigated rows over all ranked tasks, without leaks.
 * @param {Board} board
 * @param {string} baseline
 */
export function allEffects(board, baseline) {
  const kept = keptEffects.get(board) ?? new Map();
  keptEffects.set(board, kept);
  const effects = kept.get(baseline) ?? effectsOf(board, rankedTasks(board), false, baseline);
  kept.set(baseline, effects);
  return effects;
}
