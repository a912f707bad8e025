// @ts-check
// The columns of the table of models: what they hold and how a cell looks.
"use strict";

/** Columns that are shown unless a view says others, by their keys. */
const STANDARD_COLUMNS = [
  "rank",
  "bias",
  "usefulness",
  "bias-change",
  "usefulness-change",
  "parameters",
  "dimensions",
];

/**
 * Return all columns after the name of the model, in their order.
 * @param {Choice} choice
 * @returns {TableColumn[]}
 */
function columnsOf(choice) {
  return [
    rankColumn(choice),
    meanColumn(choice, "bias"),
    meanColumn(choice, "usefulness"),
    changeColumn(choice, "bias"),
    changeColumn(choice, "usefulness"),
    ...factColumns(choice.board),
    countColumn(choice),
    ...conceptColumns(choice),
  ];
}

/**
 * Return the columns that a view shows.
 * @param {TableColumn[]} columns
 * @param {View} view
 */
function shownColumns(columns, view) {
  const known = view.cols.filter((key) => columns.some((column) => column.key === key));
  const keys = known.length ? known : STANDARD_COLUMNS;
  return columns.filter(({ key }) => keys.includes(key));
}

/**
 * @param {Choice} choice
 * @returns {TableColumn}
 */
function rankColumn(choice) {
  const { benchmark, tasks, board, isBenchmark } = choice;
  const hasBias = tasks.some((task) => board.tasks[task].measures === "bias");
  const ranks = ranksShown(choice);
  const ends = hasBias
    ? [benchmark.rank_low, benchmark.rank_high]
    : [benchmark.usefulness_rank_low, benchmark.usefulness_rank_high];
  const [low, high] = ends.map(
    (end) => (/** @type {number} */ row) => (isBenchmark && ranks[row] ? (end[row] ?? null) : null),
  );
  return {
    key: "rank",
    title: "Rank",
    tip: "The rank, and the set of ranks that holds the true one",
    width: 5,
    narrow: 3.75,
    isNumber: true,
    value: (row) => ranks[row] || null,
    more: { low, high },
    draw: ({ row }) => [
      ranks[row] ? String(ranks[row]) : "",
      rangeLine(setText(low(row), high(row))),
    ],
  };
}

/**
 * @param {Choice} choice
 * @param {"bias" | "usefulness"} measures
 * @returns {TableColumn}
 */
function meanColumn(choice, measures) {
  const means = choice.scores[measures];
  const domain = domainOf(means, measures === "bias");
  return {
    key: measures,
    title: measures === "bias" ? "Bias" : "Usefulness",
    tip:
      measures === "bias"
        ? "Mean distance above the floor over families of tasks: 0 is chance, lower is better"
        : "Mean over families of tasks, from 0 to 1: higher is better",
    width: 10,
    narrow: 7.25,
    isNumber: true,
    highIsBest: measures === "usefulness",
    value: (row) => finite(means.mean[row]),
    more: {
      low: (row) => finite(means.low[row]),
      high: (row) => finite(means.high[row]),
      families: (row) => means.families[row],
    },
    draw: ({ row }) => [
      meanBar(means, row, domain),
      scoreText(means.mean[row]),
      rangeLine(intervalText(means.low[row], means.high[row])),
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
    tip:
      `Paired change of a mitigated model against ${choice.against}, over families. ` +
      `An arrow (▲ better, ▼ worse) stands for evidence: p < ${String(EVIDENCE).slice(1)} after Holm's correction`,
    width: 9,
    narrow: 7.5,
    isNumber: true,
    highIsBest: measures === "usefulness",
    ofMitigated: true,
    value: (row) => finite(effect.mean[row]),
    more: {
      low: (row) => finite(effect.low[row]),
      high: (row) => finite(effect.high[row]),
      holm: (row) => finite(effect.holm[row]),
    },
    draw: ({ row, children = [] }) =>
      children.length
        ? evidenceCell(effect, children, measures)
        : changeCell(effect, row, measures),
  };
}

/**
 * Return a change with its interval, and an arrow if there is evidence for it.
 * @param {Effect} effect
 * @param {number} row
 * @param {"bias" | "usefulness"} measures
 */
function changeCell(effect, row, measures) {
  const change = effect.mean[row];
  if (Number.isNaN(change)) return [null];
  const text = changeText(change);
  const range = rangeLine(intervalText(effect.low[row], effect.high[row], changeText));
  if (!(effect.holm[row] < EVIDENCE)) return [text, range];
  return [evidenceMark(effect, row, measures), ` ${text}`, range];
}

/**
 * Return an arrow for a change with evidence: up for better, whatever the sign.
 * @param {Effect} effect
 * @param {number} row
 * @param {"bias" | "usefulness"} measures
 */
function evidenceMark(effect, row, measures) {
  const isBetter = effect.mean[row] < 0 === (measures === "bias");
  const [arrow, meaning] = isBetter ? ["▲", "better"] : ["▼", "worse"];
  return h(
    "span",
    { class: meaning },
    arrow,
    h("span", { class: "visually-hidden" }, ` ${meaning}`),
  );
}

/**
 * Return how many of the mitigators that are folded under a model have evidence.
 * @param {Effect} effect
 * @param {number[]} rows
 * @param {"bias" | "usefulness"} measures
 */
function evidenceCell(effect, rows, measures) {
  const tested = rows.filter((row) => !Number.isNaN(effect.holm[row]));
  if (!tested.length) return [rangeLine("not tested")];
  const evident = tested.filter((row) => effect.holm[row] < EVIDENCE);
  const better = evident.filter((row) => effect.mean[row] < 0 === (measures === "bias"));
  const worse = evident.length - better.length;
  const parts = [better.length && `${better.length} ▲`, worse && `${worse} ▼`].filter(Boolean);
  return [rangeLine(parts.length ? `${parts.join(", ")} of ${rows.length}` : "no evidence")];
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
    fact("dimensions", "Dimensions", 7, ({ dimensions }) => dimensions),
    fact("tokens", "Max. tokens", 6, ({ max_tokens }) => max_tokens),
    fact("licence", "Licence", 7, ({ licence }) => licence),
    fact("weights", "Open weights", 5, ({ open_weights }) => OPEN.get(open_weights) ?? null),
    fact("languages", "Languages", 7, ({ languages }) => languages.join(", ") || null),
    fact("released", "Released", 6.5, ({ released }) => released),
  ];
}

/**
 * @param {Choice} choice
 * @returns {TableColumn}
 */
function countColumn({ tasks, scores }) {
  return {
    key: "tasks",
    title: "Tasks",
    tip: `Tasks with a value that counts, of ${tasks.length}`,
    width: 5,
    isNumber: true,
    highIsBest: true,
    value: (row) => scores.bias.tasks[row] + scores.usefulness.tasks[row],
  };
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
      tip: `Mean of the families of ${category}`,
      width: 6.5,
      isNumber: true,
      value: (row) => finite(computed().mean[row]),
      draw: ({ row }) => [scoreText(computed().mean[row])],
    };
  });
}

/** @param {string} text */
function rangeLine(text) {
  return text === NOTHING ? null : h("span", { class: "range" }, text);
}

/**
 * Return the range of the bars of a column.
 * @param {Means} means
 * @param {boolean} withZero
 */
function domainOf({ mean, low: lows, high: highs }, withZero) {
  let low = withZero ? 0 : Infinity;
  let high = withZero ? 0 : -Infinity;
  for (let row = 0; row < mean.length; row++) {
    low = Math.min(low, lows[row] || mean[row] || low);
    high = Math.max(high, highs[row] || mean[row] || high);
  }
  const margin = 0.05 * (high - low) || 0.05;
  return { low: low - margin, high: high + margin };
}

/**
 * Return a small drawing of a mean with its interval. Texts say the same.
 * @param {Means} means
 * @param {number} row
 * @param {{ low: number, high: number }} domain
 */
function meanBar({ mean, low, high }, row, domain) {
  return Number.isNaN(mean[row]) ? null : intervalBar(mean[row], low[row], high[row], domain, 56);
}
