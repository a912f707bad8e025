// @ts-check
// The columns of the table of models: what they hold and how a cell looks.
import { cellsOf, missingOf } from "./cells.js";
import { conceptsOn } from "./choice.js";
import { changeCell, domainOf, meanBar, rangeLine } from "./column_cells.js";
import { finite } from "./filters.js";
import { changeText, countText, intervalText, scoreText, setText, sizeText } from "./formats.js";
import { benchmarkScores } from "./scores.js";

/** Columns that are shown unless a view says others, by their keys: changes only beside mitigators. */
export const STANDARD_COLUMNS = [
  "rank",
  "bias",
  "direction",
  "usefulness",
  "bias-change",
  "usefulness-change",
  "parameters",
  "dimensions",
];
/** Beginning of the keys of the columns of single tasks. */
const TASK = "task:";

/**
 * Return all columns after the name of the model, in their order.
 * @param {Choice} choice
 * @returns {TableColumn[]}
 */
export function columnsOf(choice) {
  const { board, hasBias } = choice;
  if (choice.isOwn) {
    const own = choice.tasks.map((task) => taskColumn(board, task));
    return [...own, ...factColumns(board), ...besideColumns(board)];
  }
  return [
    { ...rankColumn(choice, hasBias ? "bias" : "usefulness"), key: "rank", title: "Rank" },
    ...(hasBias ? [meanColumn(choice, "bias"), directionColumn(choice)] : []),
    meanColumn(choice, "usefulness"),
    ...(hasBias ? [changeColumn(choice)] : []),
    usefulnessChange(choice),
    ...factColumns(board),
    ...(hasBias ? [rankColumn(choice, "usefulness")] : []),
    ...besideColumns(board),
    ...countColumns(choice),
    ...(hasBias ? conceptColumns(choice) : []),
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
      (keys.includes(key) || key.startsWith(TASK)) &&
      (!ofMitigated || known.length || hasMitigated || view.sort === key),
  );
}

/**
 * Return the column of a single task: the gap over its yardstick, or the usefulness.
 * @param {Board} board
 * @param {number} task
 * @returns {TableColumn}
 */
function taskColumn(board, task) {
  const { measure, low, high, width } = cellsOf(board);
  const { name, title, measures } = board.tasks[task];
  const isBias = measures === "bias";
  return {
    key: `${TASK}${name}`,
    title: name,
    unit: isBias ? "1 = its yardstick" : "1 = perfect",
    tip: title,
    width: 9,
    isNumber: true,
    highIsBest: !isBias,
    value: (row) => finite(measure[row * width + task]),
    draw: ({ row }) => {
      const at = row * width + task;
      return [scoreText(measure[at]), rangeLine(intervalText(low[at], high[at]))];
    },
  };
}

/**
 * @param {Choice} choice
 * @param {"bias" | "usefulness"} measures
 * @returns {TableColumn}
 */
function rankColumn({ scores }, measures) {
  const { rank, low, high } = scores.ranks[measures];
  const isBias = measures === "bias";
  return {
    key: isBias ? "rank" : "usefulness-rank",
    title: "Rank by usefulness",
    tip: `The rank by ${measures} on these tests, and the ranks between which it is: what these tests cannot tell apart shares them`,
    width: isBias ? 5 : 7,
    narrow: isBias ? 2.9 : 7,
    isNumber: true,
    value: (row) => rank[row] || null,
    more: { low: (row) => low[row] || null, high: (row) => high[row] || null },
    draw: ({ row }) =>
      rank[row] ? [String(rank[row]), rangeLine(setText(low[row] || null, high[row]))] : [""],
  };
}

/**
 * Return the column of the way in which the associations of a row point.
 * @param {Choice} choice
 * @returns {TableColumn}
 */
function directionColumn({ scores: { direction } }) {
  return {
    key: "direction",
    title: "Direction",
    tip: "Whether the gaps follow the stereotype or go against it; both count as bias",
    width: 6.5,
    isNumber: false,
    value: (row) => direction[row] || null,
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
  return {
    key: measures,
    title: isBias ? "Bias" : "Usefulness",
    unit: isBias ? `1 = as biased as ${board.reference}` : "1 = perfect",
    axis: domain,
    tip: isBias
      ? `How far associations are from fair, over what the model tells apart at all: 0 is fair, 1 is as biased as ${board.reference}`
      : "Mean over families of tasks, from 0 to 1: higher is better",
    width: isBias ? 15.5 : 14.5,
    narrow: 5.5,
    isNumber: true,
    highIsBest: !isBias,
    value: (row) => finite(means.mean[row]),
    more: {
      low: (row) => finite(means.low[row]),
      high: (row) => finite(means.high[row]),
      ...(isBias && { methods: (row) => scores.methods[row] }),
    },
    draw: ({ row }) =>
      isNoise(row)
        ? [rangeLine("no meaning")]
        : [
            scoreText(means.mean[row]),
            rangeLine(intervalText(means.low[row], means.high[row])),
            meanBar(means, row, domain),
          ],
  };
}

/**
 * @param {Choice} choice
 * @returns {TableColumn}
 */
function changeColumn({ scores }) {
  const { change } = scores;
  return {
    key: "bias-change",
    title: "Change in bias",
    unit: "by the mitigator",
    tip: "The mitigated model less the same model without a mitigator, on the tests of both",
    width: 9,
    narrow: 8.5,
    isNumber: true,
    ofMitigated: true,
    value: (row) => finite(change.mean[row]),
    more: { low: (row) => finite(change.low[row]), high: (row) => finite(change.high[row]) },
    draw: ({ row }) => changeCell(scores, row),
  };
}

/**
 * @param {Choice} choice
 * @returns {TableColumn}
 */
function usefulnessChange({ scores: { usefulness_change: change } }) {
  return {
    key: "usefulness-change",
    title: "Change in usefulness",
    unit: "by the mitigator",
    width: 9,
    narrow: 8.5,
    isNumber: true,
    highIsBest: true,
    ofMitigated: true,
    value: (row) => finite(change[row]),
    draw: ({ row }) => [Number.isNaN(change[row]) ? null : changeText(change[row])],
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
function countColumns({ board, tasks }) {
  return [
    {
      key: "tasks",
      title: "Tasks",
      tip: `Tasks with a value that counts, of ${countText(tasks.length, "task")}`,
      width: 5,
      isNumber: true,
      highIsBest: true,
      value: (row) => tasks.length - missingOf(board, row, tasks).length,
    },
  ];
}

/**
 * Return a column for each concept of bias.
 * @param {Choice} choice
 * @returns {TableColumn[]}
 */
function conceptColumns({ board, benchmark }) {
  return conceptsOn(board, benchmark).map((concept) => {
    const { bias } = benchmarkScores(board, benchmark, concept);
    return {
      key: `bias:${concept}`,
      title: `Bias: ${concept}`,
      unit: `1 = ${board.reference}`,
      tip: `Bias by ${concept} alone: 0 is fair, 1 is as biased as ${board.reference}`,
      width: 6.5,
      isNumber: true,
      value: (row) => finite(bias.mean[row]),
      draw: ({ row }) => [scoreText(bias.mean[row])],
    };
  });
}
