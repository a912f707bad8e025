// @ts-check
// Two to four rows beside each other: their paired differences, profiles, and task by task.
import { cellsOf, compared, tasksOf } from "../cells.js";
import { choose, conceptsOn, knownView } from "../choice.js";
import { biasChange, verdictText } from "../column_cells.js";
import { h } from "../dom.js";
import { comparedRows, rowName } from "../filters.js";
import { changeText, intervalText, scoreText, setText } from "../formats.js";
import { biasPanel, folded, plainTable, withInterval } from "../page_parts.js";
import { legendMark } from "../plot_marks.js";
import { rowChart, rowLegend } from "../plot_rows.js";
import { benchmarkScores } from "../scores.js";
import { address, queryOf, viewOf } from "../state.js";
import { boardTitle, captionOf } from "./home.js";

/** @type {Page} */
export const comparePage = (main, site, board, route) => {
  const view = knownView(board, viewOf(route.query));
  const choice = choose(board, view);
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
    h("h2", {}, "Beside each other"),
    besideEachOther(choice, rows),
    h(
      "p",
      { class: "quiet" },
      "The ranks say what these tests tell apart. The difference of any two rows, with its interval, is made by ",
      h("code", {}, "harness compare --recorded A B"),
      ".",
    ),
    h("h2", {}, "Bias by concept"),
    profiles(choice, rows),
    h("h2", {}, "Task by task"),
    folded("Bias of each task", cellsTable(choice, rows, "bias")),
    folded("Usefulness of each task", cellsTable(choice, rows, "usefulness")),
  );
};

/**
 * Return the means of rows, their ranks, and what their mitigators change.
 * @param {Choice} choice
 * @param {number[]} rows
 */
function besideEachOther({ board, scores }, rows) {
  const { bias, usefulness, ranks, change } = scores;
  const columns = [
    { title: "Row", class: "model" },
    ...["Bias", "Ranks", "Usefulness", "Ranks"].map((title) => ({ title, number: true })),
    { title: "Change in bias by the mitigator" },
  ];
  const mean = (/** @type {Means} */ means, /** @type {number} */ row) =>
    withInterval(means.mean[row], means.low[row], means.high[row]);
  const lines = rows.map((row) => () => [
    rowName(board, row),
    mean(bias, row),
    setText(ranks.bias.low[row] || null, ranks.bias.high[row]),
    mean(usefulness, row),
    setText(ranks.usefulness.low[row] || null, ranks.usefulness.high[row]),
    Number.isNaN(change.mean[row])
      ? " "
      : `${biasChange(scores, row)} (${intervalText(change.low[row], change.high[row], changeText)}), ${verdictText(scores, row)}`,
  ]);
  return plainTable("Ranks: those between which a model is on these tests", columns, lines);
}

/**
 * Return the bias of rows by concept.
 * @param {Choice} choice
 * @param {number[]} rows
 */
function profiles({ board, benchmark }, rows) {
  const lines = conceptsOn(board, benchmark).flatMap((concept) => {
    const { mean, low, high } = benchmarkScores(board, benchmark, concept).bias;
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
    return [{ head: concept, cells: [{ marks, words }] }];
  });
  const legend = rowLegend(rows.map((row, series) => [{ value: 0, series }, rowName(board, row)]));
  return rowChart("Bias by each concept alone", "Concept", [biasPanel(board)], lines, legend);
}

/**
 * Return the values of rows, task by task.
 * @param {Choice} choice
 * @param {number[]} rows
 * @param {string} measures
 */
function cellsTable({ board, tasks }, rows, measures) {
  const { width, measure } = cellsOf(board);
  const members = tasksOf(board, tasks, measures);
  const sorted = members.toSorted((a, b) => compared(board.tasks[a].family, board.tasks[b].family));
  const lines = sorted.map((task) => {
    const { name, family } = board.tasks[task];
    const cells = rows.map((row) =>
      h("td", { class: "number" }, scoreText(measure[row * width + task])),
    );
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
      ? "Bias: the gap of each task over its yardstick, 0 is fair"
      : "Usefulness: higher is better";
  const head = ["Task", "Family", ...rows.map((row) => rowName(board, row))];
  return comparisonTable(title, head, lines);
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
