// @ts-check
// Parts of a model's page: strengths and weaknesses, effects of mitigators, and values by task.
import { cellTable, withDetails } from "../cell_table.js";
import { h } from "../dom.js";
import { effectTable } from "../effect_table.js";
import { changeText, countText, medianOf, scoreText } from "../formats.js";
import { allEffects, benchmarkScores } from "../kept_scores.js";
import { pageLink, plainTable } from "../page_parts.js";
import { meansOf } from "../scores.js";
import { address } from "../state.js";
/** @import { BoardCell, DecodedDetails } from "../cell_table.js" */

/**
 * Return the bias of a model by concept, against the median of the ranked models.
 * @param {Board} board
 * @param {number} row
 */
export function strengths(board, row) {
  const benchmark = board.benchmarks[0];
  const { rank } = benchmarkScores(board, benchmark);
  const lines = conceptsOf(board, benchmark.tasks).flatMap(({ measures, concept, tasks }) => {
    const { mean } = meansOf(board, tasks, false);
    if (Number.isNaN(mean[row])) return [];
    const median = medianOf(mean.filter((_, other) => rank[other] > 0));
    const gain = (measures === "bias" ? -1 : 1) * (mean[row] - median);
    return [{ measures, concept, tasks: tasks.length, value: mean[row], median, gain }];
  });
  if (!lines.length) return h("p", {}, "No value on a ranked task.");
  lines.sort((a, b) => a.measures.localeCompare(b.measures) || compareGains(a.gain, b.gain));
  const columns = [
    { title: "Concept" },
    { title: "Measures", class: "wide-only" },
    { title: "Tasks", class: "wide-only", number: true },
    ...["This model", "Median", "Difference"].map((title) => ({ title, number: true })),
  ];
  const rows = lines.map(({ measures, concept, tasks, value, median }) => () => [
    concept,
    measures,
    tasks,
    scoreText(value),
    scoreText(median),
    [changeText(value - median), differenceWord(measures, value - median)],
  ]);
  const caption =
    "Means of tasks by concept, beside the median of the ranked models, best first. No test: a small difference is no evidence.";
  return plainTable(caption, columns, rows);
}

/**
 * @param {string} measures
 * @param {number} difference
 */
function differenceWord(measures, difference) {
  if (Number.isNaN(difference) || Math.abs(difference) < 0.0005) return null;
  const words = measures === "bias" ? ["more bias", "less bias"] : ["more useful", "less useful"];
  return h("small", { class: "under" }, difference > 0 ? words[0] : words[1]);
}

/**
 * @param {number} a
 * @param {number} b
 */
function compareGains(a, b) {
  return (Number.isNaN(b) ? -Infinity : b) - (Number.isNaN(a) ? -Infinity : a) || 0;
}

/**
 * Return the tasks of each measure and concept; the concept of a task is its category.
 * @param {Board} board
 * @param {number[]} tasks
 */
function conceptsOf(board, tasks) {
  /** @type {Map<string, { measures: string, concept: string, tasks: number[] }>} */
  const groups = new Map();
  for (const task of tasks) {
    const { measures, category } = board.tasks[task];
    const key = JSON.stringify([measures, category]);
    const group = groups.get(key) ?? { measures, concept: category, tasks: [] };
    group.tasks.push(task);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/**
 * Return the paired effects of the mitigators on a model.
 * @param {Board} board
 * @param {Route} route
 * @param {number[]} rows of the model
 */
export function modelEffects(board, route, rows) {
  const mitigated = rows.filter((row) => board.rows.role[row] === "mitigated");
  if (!mitigated.length) return h("p", {}, "It was run under no mitigator.");
  return effectTable(
    board,
    allEffects(board, "none"),
    "The change against the same model without a mitigator. Less bias and more usefulness are better.",
    "Mitigator",
    mitigated,
    (row) => pageLink(route, "mitigator", board.mitigators[board.rows.mitigator[row]].label),
  );
}

/**
 * Return the values of a model on all tasks, for one mitigator at a time.
 * @param {Site} site
 * @param {Board} board
 * @param {Route} route
 * @param {number[]} rows of the model
 */
export function modelValues(site, board, route, rows) {
  const label = (/** @type {number} */ row) => board.mitigators[board.rows.mitigator[row]].label;
  const chosen = rows.find((row) => label(row) === route.query.get("mitigator")) ?? rows[0];
  const place = h("div");
  const show = (/** @type {number} */ row) =>
    place.replaceChildren(
      withDetails(site, board, (details) => valueTables(board, route, details, row)),
    );
  show(chosen);
  if (rows.length === 1) return place;
  const options = rows.map((row) =>
    h("option", { value: row, selected: row === chosen }, label(row)),
  );
  const select = h("select", { id: "values-mitigator" }, options);
  select.addEventListener("change", () => {
    const row = Number(select.value);
    const query = new URLSearchParams(row === rows[0] ? [] : [["mitigator", label(row)]]);
    history.replaceState(null, "", address(route.kind, "model", route.name, query));
    show(row);
  });
  const field = h("p", { class: "controls" }, h("label", { for: select.id }, "Mitigator "), select);
  return h("div", {}, field, place);
}

/**
 * @param {Board} board
 * @param {Route} route
 * @param {DecodedDetails | null} details
 * @param {number} row
 */
function valueTables(board, route, details, row) {
  const cells = board.tasks.map((_, task) => ({ row, task }));
  const ranked = (/** @type {Measures} */ measures) =>
    cells.filter(
      ({ task }) => !board.tasks[task].not_ranked && board.tasks[task].measures === measures,
    );
  const shown = cells.filter(({ task }) => board.tasks[task].not_ranked);
  const table = (
    /** @type {string} */ caption,
    /** @type {string} */ measure,
    /** @type {BoardCell[]} */ some,
  ) =>
    some.length
      ? cellTable(board, details, {
          caption,
          measure,
          cells: some,
          first: "Task",
          head: ({ task }) => pageLink(route, "task", board.tasks[task].name),
          second: "Concept",
          secondClass: "wide-only",
          more: ({ task }) => board.tasks[task].category,
        })
      : null;
  return [
    table("Bias: 0 is fair, 1 as strong as the yardstick", "Gap over yardstick", ranked("bias")),
    table("Usefulness: more is better", "Usefulness", ranked("usefulness")),
    table("Shown and not ranked; the page of a task says why", "Measure", shown),
    details ? attachedTables(board, details, row) : null,
  ];
}

/**
 * @param {Board} board
 * @param {DecodedDetails} details
 * @param {number} row
 */
function attachedTables(board, details, row) {
  const tables = details.tables.filter((table) => table.row === row && isAttached(table.path));
  if (!tables.length) return null;
  const items = tables.map(({ task, scenario, name, path }) =>
    h("li", {}, `${board.tasks[task].name}, ${scenario}: `, h("a", { href: path }, name)),
  );
  return h(
    "details",
    {},
    h("summary", {}, countText(items.length, "attached table")),
    h("ul", {}, items),
  );
}

/**
 * Return whether a path is that of a table in this site.
 * @param {string} path
 */
function isAttached(path) {
  return /^tables\/[\w.-]+$/.test(path);
}
