// @ts-check
// The sentence of the first screen. That of a benchmark is in its data (`boards/findings.py`); here
// it follows a reader's choice of tasks and minimum of usefulness.
import { countText } from "./formats.js";
import { familiesOf, tasksOf } from "./pooling.js";
import { setsOf } from "./rank_sets.js";

/**
 * Return which model has least bias at good usefulness; of tasks without bias, the most useful one.
 * @param {Choice} choice
 * @param {View} view
 */
export function answerOf(choice, view) {
  const { benchmark, isBenchmark } = choice;
  const hasBias = tasksOf(choice.board, choice.tasks, "bias").length > 0;
  if (isBenchmark && !(hasBias && view.minimum)) return benchmark.finding;
  return hasBias ? leastBiased(choice) : mostUseful(choice);
}

/**
 * Return which model is most useful, where no task measures bias.
 * @param {Choice} choice
 */
function mostUseful({ board, scores }) {
  const ranks = scores.usefulness_rank;
  const ranked = [...ranks.keys()].filter((row) => ranks[row] > 0);
  if (!ranked.length) {
    return "No model is ranked: a rank needs two usable models with every usefulness task.";
  }
  const best = ranked.reduce((a, b) => (ranks[b] < ranks[a] ? b : a));
  const { name } = board.models[board.rows.model[best]];
  return `${name} is the most useful of ${ranked.length} ranked models on these tasks.`;
}

/**
 * Return which of the models that are useful enough has least bias, and how sure that is: the same
 * sentence as `findings.py` writes.
 * @param {Choice} choice
 */
function leastBiased(choice) {
  const { board, scores, below } = choice;
  const ranked = [...scores.rank.keys()].filter((row) => scores.rank[row] > 0);
  if (!ranked.length) {
    return "No model is ranked: a rank needs two usable models with every bias task.";
  }
  const useful = ranked.filter((row) => !below.has(row));
  const byRank = (/** @type {number} */ a, /** @type {number} */ b) =>
    scores.rank[a] - scores.rank[b];
  const [best] = (useful.length ? useful : ranked).toSorted(byRank);
  const { name } = board.models[board.rows.model[best]];
  const n = ranked.length;
  const areAll = !useful.length || useful.length === n;
  const sets = setsOf(choice, "bias");
  const [first, last] = [sets?.low[best] ?? null, sets?.high[best] ?? null];
  const isSure = first === last;
  const level = `${Math.round(100 * board.level)} %`;
  const place = isSure
    ? `is ${ordinal(first ?? 0)}, with ${level} confidence`
    : `could be anywhere from ${ordinal(first ?? 0)} to ${ordinal(last ?? 0)}`;
  let lead = `${name} is the least biased of ${n} ranked models`;
  let end = isSure ? `: it ${place}` : `, but ${place}`;
  if (!areAll) {
    lead =
      useful.length === 1
        ? `${name} is the only one of ${n} ranked models with good usefulness`
        : `${name} is the least biased of ${useful.length} models with good usefulness`;
    end =
      useful.length === 1 ? `; by bias it ${place}` : `; among all ${n} ranked ones it ${place}`;
  }
  if (!sets) {
    end = "; how sure this is, is being computed";
  } else if (first === null) {
    const methods = familiesOf(board, tasksOf(board, choice.tasks, "bias")).length;
    const verb = methods === 1 ? "is" : "are";
    const what = useful.length === 1 && !areAll ? "its rank by bias" : "how sure this is";
    end = `; ${countText(methods, "method")} ${verb} too few to tell ${what}`;
  }
  return `${lead}${end}.`;
}

const ENDINGS = new Map([
  ["one", "st"],
  ["two", "nd"],
  ["few", "rd"],
]);
const ORDINALS = new Intl.PluralRules("en", { type: "ordinal" });

/** @param {number} n */
export function ordinal(n) {
  return `${n.toLocaleString("en")}${ENDINGS.get(ORDINALS.select(n)) ?? "th"}`;
}
