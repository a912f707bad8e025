// @ts-check
// Two to four rows beside each other: task by task, with paired differences over families.
import { choose, knownView } from "../choice.js";
import { changeCell, rangeLine } from "../column_cells.js";
import { h } from "../dom.js";
import { comparedRows, rowName } from "../filters.js";
import { countText, intervalText, pText, scoreText } from "../formats.js";
import { LEAK, cellsOf, compared, tasksOf } from "../pooling.js";
import { differenceOf } from "../scores.js";
import { address, queryOf, viewOf } from "../state.js";
import { holm } from "../student.js";
import { boardTitle, captionOf } from "./home.js";

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
    pairsTable(choice, rows),
    h(
      "p",
      { class: "quiet" },
      "The mean over families of the differences of the models on the tasks that both have, plus what the mitigators change. ",
      "The p-values have Holm's correction over this table.",
    ),
    ...["bias", "usefulness"].map((measures) => cellsTable(choice, rows, measures)),
  );
};

/**
 * Return the paired differences of all pairs of rows.
 * @param {Choice} choice
 * @param {number[]} rows
 */
function pairsTable({ board, tasks, leaks }, rows) {
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
  const lines = pairs.map(({ row, other }, i) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, `${rowName(board, other)} less ${rowName(board, row)}`),
      pairCell(bias[i], biasHolm[i], "bias"),
      pairCell(usefulness[i], usefulnessHolm[i], "usefulness"),
    ),
  );
  return comparisonTable("Paired differences", ["Rows", "Bias", "Usefulness"], lines);
}

/**
 * @param {Means} means of a single row
 * @param {number} adjusted p-value
 * @param {"bias" | "usefulness"} measures
 */
function pairCell(means, adjusted, measures) {
  const effect = { ...means, holm: Float64Array.of(adjusted) };
  const families = countText(means.families[0], "family", "families");
  const note = Number.isNaN(adjusted) ? families : `p ${pText(adjusted)}, ${families}`;
  return h(
    "td",
    { class: "number" },
    changeCell(effect, 0, measures),
    h("span", { class: "range" }, note),
  );
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
