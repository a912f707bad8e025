// @ts-check
// Two to four rows beside each other: their paired differences, profiles, and task by task.
import { choose, knownView } from "../choice.js";
import { rangeLine } from "../column_cells.js";
import { h } from "../dom.js";
import { comparedRows, rowName } from "../filters.js";
import { changeText, intervalText, pText, scoreText, votesText } from "../formats.js";
import { biasPanel, folded, usefulnessPanel } from "../page_parts.js";
import { legendMark } from "../plot_marks.js";
import { rowChart, rowLegend } from "../plot_rows.js";
import { LEAK, cellsOf, compared, tasksOf } from "../pooling.js";
import { differenceOf, scoresOf } from "../scores.js";
import { address, queryOf, viewOf } from "../state.js";
import { EVIDENCE, holm } from "../student.js";
import { boardTitle, captionOf } from "./home.js";
import { groupHead, groupsOf } from "./model_parts.js";
/** @import { RowCell } from "../plot_rows.js" */

/** @type {Page} */
export const comparePage = (main, site, board, route) => {
  const view = knownView(board, viewOf(route.query));
  const choice = choose(board, view, null);
  const rows = comparedRows(board, view);
  const back = h(
    "a",
    { href: address(board.kind, "home", "", queryOf(view)) },
    "Back to the board",
  );
  main.append(h("h1", {}, "Comparison"), h("p", {}, back));
  if (rows.length < 2) {
    main.append(h("p", {}, "Tick two to four rows of the board to compare them."));
    return;
  }
  main.append(
    h("p", {}, captionOf(choice, boardTitle(site, board)), "."),
    h("h2", {}, "Paired differences"),
    pairsChart(choice, rows),
    h("h2", {}, "Bias by concept"),
    profiles(choice, rows, "bias"),
    h("h2", {}, "Usefulness by family of tasks"),
    profiles(choice, rows, "usefulness"),
    h("h2", {}, "Task by task"),
    folded("Bias of each task", cellsTable(choice, rows, "bias")),
    folded("Usefulness of each task", cellsTable(choice, rows, "usefulness")),
  );
};

/**
 * Return the paired differences of all pairs of rows.
 * @param {Choice} choice
 * @param {number[]} rows
 */
function pairsChart({ board, tasks, leaks }, rows) {
  const pairs = rows.flatMap((row, i) => rows.slice(i + 1).map((other) => ({ row, other })));
  const [bias, usefulness] = ["bias", "usefulness"].map((measures) =>
    pairs.map(({ row, other }) =>
      differenceOf(board, tasksOf(board, tasks, measures), leaks, other, row),
    ),
  );
  const [biasHolm, usefulnessHolm] = holm([
    Float64Array.from(bias, ({ p }) => p[0]),
    Float64Array.from(usefulness, ({ p }) => p[0]),
  ]);
  const lines = pairs.map(({ row, other }, i) => ({
    head: `${rowName(board, other)} less ${rowName(board, row)}`,
    cells: [
      pairCell(board, bias[i], biasHolm[i], "bias"),
      pairCell(board, usefulness[i], usefulnessHolm[i], "usefulness"),
    ],
  }));
  const none = [{ label: "no difference", value: 0 }];
  const panels = [
    { title: `Difference in bias: 1 = the bias of ${board.reference}`, words: "Bias", lines: none },
    { title: "Difference in usefulness", words: "Usefulness", lines: none },
  ];
  const legend = rowLegend([
    [{ value: 0, low: 0, high: 1 }, "a difference that is shown, with its 95 % interval"],
    [{ value: 0, form: "open" }, "one that is not shown"],
  ]);
  const caption =
    "The mean over families of the differences of the models on the tasks that both have, plus what the mitigators change. The p-values have Holm's correction over this table.";
  return rowChart(caption, "Rows", panels, lines, legend);
}

/**
 * @param {Board} board
 * @param {Means} means of a single row
 * @param {number} adjusted p-value
 * @param {"bias" | "usefulness"} measures
 * @returns {RowCell}
 */
function pairCell(
  board,
  { mean: [value], low: [low], high: [high], families: [n] },
  adjusted,
  measures,
) {
  if (Number.isNaN(value)) return { marks: [], words: h("span", { class: "quiet" }, "no value") };
  const isShown = adjusted < EVIDENCE;
  const word = `${value < 0 ? "less" : "more"} ${measures === "bias" ? "bias" : "useful"}`;
  const families = votesText(n, measures);
  const few = n < board.enough_families;
  const p = Number.isNaN(adjusted) ? "no upper limit" : `p ${pText(adjusted)}`;
  const why = few ? `${families} of ${board.enough_families} needed` : `${p}, ${families}`;
  return {
    marks: [{ value, low, high, form: isShown ? "full" : "open" }],
    words: [
      changeText(value),
      Number.isNaN(low)
        ? null
        : h("small", { class: "range" }, ` (${intervalText(low, high, changeText)})`),
      h("small", { class: "under" }, `${isShown ? `${word}, shown` : "not shown"}: ${why}`),
    ],
  };
}

/**
 * Return the bias of rows by concept, or their usefulness by family.
 * @param {Choice} choice
 * @param {number[]} rows
 * @param {"bias" | "usefulness"} measures
 */
function profiles({ board, tasks, scores, leaks }, rows, measures) {
  const isBias = measures === "bias";
  const members = tasksOf(board, tasks, measures);
  const lines = groupsOf(board, members, isBias ? "category" : "family").flatMap((group) => {
    const { mean, low, high } = scoresOf(board, group.tasks, leaks)[measures];
    if (rows.every((row) => Number.isNaN(mean[row]))) return [];
    const marks = rows.map((row, series) => ({
      value: mean[row],
      low: low[row],
      high: high[row],
      series,
    }));
    const words = rows.map((row, series) =>
      h(
        "span",
        { class: "marked" },
        legendMark(series),
        h("span", { class: "visually-hidden" }, `${rowName(board, row)} `),
        scoreText(mean[row]),
        Number.isNaN(low[row])
          ? null
          : h("small", { class: "range" }, ` (${intervalText(low[row], high[row])})`),
      ),
    );
    return [{ head: groupHead(group), cells: [{ marks, words }] }];
  });
  const panel = isBias ? biasPanel(board) : usefulnessPanel(board, scores.usefulness.mean);
  const legend = rowLegend(rows.map((row, series) => [{ value: 0, series }, rowName(board, row)]));
  const caption = isBias
    ? "Means over the tasks of each concept"
    : "Means over the tasks of each family";
  return rowChart(caption, isBias ? "Concept" : "Family", [panel], lines, legend);
}

/**
 * Return the values of rows, task by task, with their means in the first lines.
 * @param {Choice} choice
 * @param {number[]} rows
 * @param {string} measures
 */
function cellsTable({ board, tasks, scores, leaks }, rows, measures) {
  const { width, measure, flags } = cellsOf(board);
  const means = measures === "bias" ? scores.bias : scores.usefulness;
  const members = tasksOf(board, tasks, measures);
  const sorted = members.toSorted((a, b) => compared(board.tasks[a].family, board.tasks[b].family));
  const total = h(
    "tr",
    { class: "section" },
    h("th", { scope: "row" }, "Mean over families"),
    h("td", { class: "wide-only" }),
    rows.map((row) =>
      h(
        "td",
        { class: "number" },
        scoreText(means.mean[row]),
        rangeLine(intervalText(means.low[row], means.high[row])),
      ),
    ),
  );
  const lines = sorted.map((task) => {
    const { name, family } = board.tasks[task];
    const cells = rows.map((row) => {
      const at = row * width + task;
      const isLeak = Boolean(flags[at] & LEAK);
      return taskCell(measure[at], isLeak, leaks);
    });
    const link = h("a", { href: address(board.kind, "task", name) }, name);
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, link),
      h("td", { class: "wide-only" }, family),
      cells,
    );
  });
  const title =
    measures === "bias"
      ? "Bias: the gap of each task over its yardstick, 0 is fair; the mean over families is 1 for the reference"
      : "Usefulness: higher is better";
  const head = ["Task", "Family", ...rows.map((row) => rowName(board, row))];
  return comparisonTable(title, head, [total, ...lines]);
}

/**
 * @param {number} value
 * @param {boolean} isLeak
 * @param {boolean} counts whether leaks count
 */
function taskCell(value, isLeak, counts) {
  const note = isLeak ? h("span", { class: "marks" }, counts ? " leak" : " leak, left out") : null;
  return h("td", { class: "number" }, scoreText(value), note);
}

/**
 * Return a table with its caption in a box that scrolls.
 * @param {string} caption
 * @param {string[]} head
 * @param {HTMLTableRowElement[]} lines
 */
function comparisonTable(caption, head, lines) {
  const cells = head.map((title, i) =>
    h("th", { scope: "col", class: title === "Family" ? "wide-only" : i ? "number" : null }, title),
  );
  return h(
    "div",
    { class: "scroll plain", role: "region", tabindex: 0, "aria-label": caption },
    h(
      "table",
      { class: "compared" },
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, cells)),
      h("tbody", {}, lines),
    ),
  );
}
