// @ts-check
// The columns of the table of models: what they hold and how a cell looks.
import { biasCategories } from "./choice.js";
import { changeCell, domainOf, meanBar, rangeLine } from "./column_cells.js";
import { finite, ranksShown } from "./filters.js";
import { intervalText, scoreText, setText, sizeText } from "./formats.js";
import { leaksOf } from "./pooling.js";
import { setsOf } from "./rank_sets.js";
import { meansOf } from "./scores.js";
import { EVIDENCE } from "./student.js";

/** Columns that are shown unless a view says others, by their keys: changes only beside mitigators. */
export const STANDARD_COLUMNS = [
  "rank",
  "bias",
  "prompts",
  "usefulness",
  "bias-change",
  "usefulness-change",
  "left-out",
  "parameters",
  "dimensions",
];

/** Stands for a set of ranks until it is computed. */
const COMPUTING = "…";

/**
 * Return all columns after the name of the model, in their order.
 * @param {Choice} choice
 * @returns {TableColumn[]}
 */
export function columnsOf(choice) {
  const hasBias = ranksShown(choice) === choice.scores.rank;
  return [
    {
      ...rankColumn(choice, hasBias ? "bias" : "usefulness"),
      key: "rank",
      title: "Rank",
      width: 5,
      narrow: 2.9,
    },
    ...(hasBias ? [meanColumn(choice, "bias")] : []),
    ...(hasBias && choice.benchmark.prompts.length ? [promptsColumn(choice)] : []),
    meanColumn(choice, "usefulness"),
    ...(hasBias ? [changeColumn(choice, "bias")] : []),
    changeColumn(choice, "usefulness"),
    ...(hasBias ? [leftOutColumn(choice)] : []),
    ...factColumns(choice.board),
    ...(hasBias ? [rankColumn(choice, "usefulness")] : []),
    ...besideColumns(choice.board),
    ...countColumns(choice),
    ...conceptColumns(choice),
  ];
}

/**
 * Return the columns that a view shows.
 * @param {TableColumn[]} columns
 * @param {View} view
 * @param {boolean} hasMitigated whether a mitigated row is shown
 */
export function shownColumns(columns, view, hasMitigated) {
  const known = view.cols.filter((key) => columns.some((column) => column.key === key));
  const keys = known.length ? known : STANDARD_COLUMNS;
  return columns.filter(
    ({ key, ofMitigated }) =>
      keys.includes(key) && (!ofMitigated || known.length || hasMitigated || view.sort === key),
  );
}

/**
 * @param {Choice} choice
 * @param {"bias" | "usefulness"} measures
 * @returns {TableColumn}
 */
function rankColumn(choice, measures) {
  const { scores } = choice;
  const isBias = measures === "bias";
  const ranks = isBias ? scores.rank : scores.usefulness_rank;
  const [low, high] = /** @type {const} */ (["low", "high"]).map(
    (end) => (/** @type {number} */ row) =>
      ranks[row] ? (setsOf(choice, measures)?.[end][row] ?? null) : null,
  );
  const set = (/** @type {number} */ row) =>
    ranks[row] && !setsOf(choice, measures) ? COMPUTING : setText(low(row), high(row));
  return {
    key: isBias ? "rank" : "usefulness-rank",
    title: isBias ? "Rank" : "Rank by usefulness",
    tip: isBias
      ? "The rank by the upper end of bias among all usable models, and the set of ranks that holds the true one"
      : "The rank by usefulness, and the set of ranks that holds the true one",
    width: isBias ? 5 : 7,
    narrow: isBias ? 2.9 : 7,
    isNumber: true,
    value: (row) => ranks[row] || null,
    more: { low, high },
    draw: ({ row }) => [ranks[row] ? String(ranks[row]) : "", rangeLine(set(row))],
  };
}

/**
 * Return the column of the ranks with any one family left out. Those of a benchmark are in its data.
 * @param {Choice} choice
 * @returns {TableColumn}
 */
function leftOutColumn({ benchmark, isBenchmark }) {
  const { left_out_low: lows, left_out_high: highs } = benchmark;
  const low = (/** @type {number} */ row) => (isBenchmark ? (lows[row] ?? null) : null);
  const high = (/** @type {number} */ row) => (isBenchmark ? (highs[row] ?? null) : null);
  const text = (/** @type {number} */ row) => {
    const [first, last] = [low(row), high(row)];
    return first === null ? "" : first === last ? String(first) : `${first}–${last}`;
  };
  return {
    key: "left-out",
    title: "Rank, left out",
    unit: "any one family",
    tip: "The lowest and the highest rank by bias with any one family of tasks left out, on a benchmark",
    width: 6.5,
    isNumber: true,
    value: high,
    more: { low, high },
    draw: ({ row }) => [text(row)],
  };
}

/**
 * Return the column of the bias under other neutral prompts.
 * @param {Choice} choice
 * @returns {TableColumn}
 */
function promptsColumn({ benchmark, isBenchmark }) {
  const { prompts, prompt_low: lows, prompt_high: highs } = benchmark;
  const low = (/** @type {number} */ row) => (isBenchmark ? (lows[row] ?? null) : null);
  const high = (/** @type {number} */ row) => (isBenchmark ? (highs[row] ?? null) : null);
  const range = (/** @type {number} */ row) => `${scoreText(low(row))}–${scoreText(high(row))}`;
  const count = (/** @type {number} */ row) => {
    const n = isBenchmark ? prompts[row] : null;
    return n === null ? "" : n === 0 ? "takes none" : n === 1 ? "not known" : `${n} prompts`;
  };
  return {
    key: "prompts",
    title: "Over prompts",
    unit: "lowest to highest bias",
    tip: "Bias under other neutral prompts, on a benchmark. What they change is part of the interval and of the set of ranks; where it is not known, the median of the other models",
    width: 7.5,
    isNumber: true,
    value: (row) => {
      const [first, last] = [low(row), high(row)];
      return first === null || last === null ? null : last - first;
    },
    more: { low, high, prompts: (row) => (isBenchmark ? (prompts[row] ?? null) : null) },
    draw: ({ row }) => [low(row) === null ? "" : range(row), rangeLine(count(row))],
  };
}

/**
 * @param {Choice} choice
 * @param {"bias" | "usefulness"} measures
 * @returns {TableColumn}
 */
function meanColumn({ board, scores }, measures) {
  const means = scores[measures];
  const isBias = measures === "bias";
  const domain = domainOf(board, means, isBias);
  // Where texts have no meaning, a gap over a yardstick is noise over noise.
  const isNoise = (/** @type {number} */ row) =>
    isBias && board.rows.role[row] === "reference" && Number.isNaN(means.low[row]);
  const ends = (/** @type {number} */ row) => intervalText(means.low[row], means.high[row]);
  return {
    key: measures,
    title: isBias ? "Bias" : "Usefulness",
    unit: isBias ? `1 = as biased as ${board.reference}` : "1 = perfect",
    axis: domain,
    tip: isBias
      ? `How much stereotypes show, over what the model tells apart at all: 0 is fair, 1 is as biased as ${board.reference}. Models are ordered by the upper end of the interval`
      : "Mean over families of tasks, from 0 to 1: higher is better",
    width: isBias ? 15.5 : 14.5,
    narrow: 5.5,
    isNumber: true,
    highIsBest: !isBias,
    value: (row) => finite(means.mean[row]),
    more: {
      low: (row) => finite(means.low[row]),
      high: (row) => finite(means.high[row]),
      families: (row) => means.families[row],
    },
    draw: ({ row }) =>
      isNoise(row)
        ? [rangeLine("no meaning")]
        : [
            scoreText(means.mean[row]),
            isBias && Number.isNaN(means.low[row]) && !Number.isNaN(means.mean[row])
              ? rangeLine("no upper limit")
              : rangeLine(ends(row)),
            meanBar(means, row, domain),
          ],
  };
}

/**
 * @param {Choice} choice
 * @param {"bias" | "usefulness"} measures
 * @returns {TableColumn}
 */
function changeColumn(choice, measures) {
  const effect = choice.effects[measures];
  return {
    key: `${measures}-change`,
    title: `Change in ${measures}`,
    unit: choice.against === "none" ? "by the mitigator" : `against ${choice.against}`,
    tip:
      `Change of a mitigated model against ${choice.against}, over the same tasks. ` +
      `Words say what is shown: p < ${String(EVIDENCE).slice(1)} after Holm's correction over the changes of this model`,
    width: 9,
    narrow: 8.5,
    isNumber: true,
    highIsBest: measures === "usefulness",
    ofMitigated: true,
    value: (row) => finite(effect.mean[row]),
    more: {
      low: (row) => finite(effect.low[row]),
      high: (row) => finite(effect.high[row]),
      holm: (row) => finite(effect.holm[row]),
    },
    draw: ({ row }) => changeCell(effect, row, measures),
  };
}

const OPEN = new Map(
  /** @type {[boolean | null, string][]} */ ([
    [true, "yes"],
    [false, "no"],
  ]),
);

/**
 * @param {Board} board
 * @returns {TableColumn[]}
 */
function factColumns(board) {
  const model = (/** @type {number} */ row) => board.models[board.rows.model[row]];
  const isHead = (/** @type {number} */ row) => board.rows.role[row] !== "mitigated";
  /** @type {(key: string, title: string, width: number, value: (model: Model) => number | string | null) => TableColumn} */
  const fact = (key, title, width, value) => ({
    key,
    title,
    width,
    isNumber: ["parameters", "dimensions", "tokens"].includes(key),
    value: (row) => (isHead(row) ? value(model(row)) : null),
  });
  return [
    {
      ...fact("parameters", "Parameters", 7, ({ parameters }) => parameters),
      draw: ({ row }) => [isHead(row) ? sizeText(model(row).parameters) : null],
    },
    fact("dimensions", "Dimensions", 7.5, ({ dimensions }) => dimensions),
    fact("tokens", "Max. tokens", 6, ({ max_tokens }) => max_tokens),
    fact("encoder", "Encoder", 7, ({ encoder }) => encoder || null),
    fact("licence", "Licence", 7, ({ licence }) => licence),
    fact("weights", "Open weights", 5, ({ open_weights }) => OPEN.get(open_weights) ?? null),
    fact("languages", "Languages", 7, ({ languages }) => languages.join(", ") || null),
    fact("released", "Released", 6.5, ({ released }) => released),
  ];
}

/**
 * Return the columns that stand beside the ranks and enter none.
 * @param {Board} board
 * @returns {TableColumn[]}
 */
function besideColumns({ rows, reference }) {
  /** @type {(key: "meaning" | "recoverability", title: string, tip: string) => TableColumn} */
  const beside = (key, title, tip) => ({
    key,
    title,
    tip,
    width: 6.5,
    isNumber: true,
    value: (row) => rows[key][row],
  });
  return [
    beside(
      "meaning",
      "Kept meaning",
      `How far words that are female and male by definition are told apart: 1 for ${reference}`,
    ),
    beside(
      "recoverability",
      "Recoverability",
      "How well a classifier finds the groups of words again: the bias that linear mitigators leave",
    ),
  ];
}

/**
 * @param {Choice} choice
 * @returns {TableColumn[]}
 */
function countColumns({ board, tasks, scores }) {
  return [
    {
      key: "tasks",
      title: "Tasks",
      tip: `Tasks with a value that counts, of ${tasks.length}`,
      width: 5,
      isNumber: true,
      highIsBest: true,
      value: (row) => scores.bias.tasks[row] + scores.usefulness.tasks[row],
    },
    {
      key: "leaks",
      title: "Leaks",
      tip: "Bias tasks on whose texts the mitigator was fitted",
      width: 5,
      isNumber: true,
      ofMitigated: true,
      value: (row) =>
        board.rows.role[row] === "mitigated" ? leaksOf(board, row, tasks).length : null,
    },
  ];
}

/**
 * Return a column for each category of bias. Its numbers are computed when it is shown.
 * @param {Choice} choice
 * @returns {TableColumn[]}
 */
function conceptColumns({ board, tasks, leaks }) {
  return biasCategories(board).map((category) => {
    const members = tasks.filter(
      (task) => board.tasks[task].measures === "bias" && board.tasks[task].category === category,
    );
    /** @type {Means | null} */
    let means = null;
    const computed = () => (means ??= meansOf(board, members, leaks));
    return {
      key: `bias:${category}`,
      title: `Bias: ${category}`,
      unit: `1 = ${board.reference}`,
      tip: `Mean over the methods of ${category}: 0 is fair, 1 is as biased as ${board.reference}`,
      width: 6.5,
      isNumber: true,
      value: (row) => finite(computed().mean[row]),
      draw: ({ row }) => [scoreText(computed().mean[row])],
    };
  });
}
