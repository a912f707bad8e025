// @ts-check
// The sentences of the first screen. Those of a benchmark are in its data (`boards/findings.py`);
// the first one follows a reader's choice of tasks and minimum of usefulness.
import { countText } from "./formats.js";
import { setsOf } from "./rank_sets.js";

/**
 * Return which model has least bias at good usefulness, what mitigation does, and what is not known.
 * @param {Choice} choice
 * @param {View} view
 * @returns {string[]}
 */
export function answersOf(choice, view) {
  const { benchmark, isBenchmark } = choice;
  const [first, mitigation, unknown] = benchmark.findings;
  if (isBenchmark) return [view.minimum ? leastBiased(choice) : first, mitigation, unknown];
  const chosen = `An own choice of ${countText(choice.tasks.length, "task")}.`;
  const leaks = choice.leaks ? " Tasks whose texts a mitigator was fitted on count, too." : "";
  return [
    leastBiased(choice),
    `${chosen}${leaks} Each row says what its mitigator changes.`,
    unknown,
  ];
}

/**
 * Return which of the models that are useful enough has least bias, and how sure that is.
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
  const n = useful.length;
  const some = n && n < ranked.length ? ` (${n} ${n === 1 ? "has" : "have"} good usefulness)` : "";
  const { name } = board.models[board.rows.model[best]];
  const lead = `${name} is the least biased of ${ranked.length} ranked models${some}`;
  const { low, high } = setsOf(choice, "bias");
  const [first, last] = [low[best], high[best]];
  if (first === null || last === null) return `${lead}; too few families to tell how sure this is.`;
  const level = `${Math.round(100 * board.level)} %`;
  if (first === last) return `${lead}: it is ${ordinal(first)}, with ${level} confidence.`;
  return `${lead}, but could be anywhere from ${ordinal(first)} to ${ordinal(last)}.`;
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
