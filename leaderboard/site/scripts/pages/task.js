// @ts-check
// A task: what it asks, how far it measures, and how models do on it.
import { RUN, cellTable, withDetails } from "../cell_table.js";
import { h } from "../dom.js";
import { NOTHING, countText, scoreText } from "../formats.js";
import {
  descriptionOf,
  factList,
  pageLink,
  plainTable,
  trail,
  unknownName,
} from "../page_parts.js";
import { distribution } from "../plot_small.js";
import { ITEMS, cellsOf, ratioOf } from "../pooling.js";
import { address } from "../state.js";
import { baseRowsOf } from "./model.js";
/** @import { Child } from "../dom.js" */
/** @import { DecodedDetails } from "../cell_table.js" */

/** @type {Page} */
export const taskPage = (main, site, board, route) => {
  if (!route.name) return taskList(main, site, board, route);
  const index = board.tasks.findIndex(({ name }) => name === route.name);
  const task = board.tasks[index];
  if (!task)
    return unknownName(
      main,
      site,
      route,
      board.tasks.map(({ name }) => name),
    );
  main.append(
    trail(site, route, task.name, [["Tasks", address(route.kind, "task")]]),
    h("h1", {}, task.title || task.name),
    ...descriptionOf(task.description),
    ...notRanked(board, route, task),
    taskFacts(board, route, index),
    ...examplesOf(task),
    h("h2", {}, "How far it measures"),
    validityOf(task),
    h("h2", {}, "Models"),
    taskDistribution(board, index),
    withDetails(site, board, (details) => [taskRows(board, route, details, index)]),
  );
};

/**
 * Return why a task is not ranked, if so, with a link to the task that supersedes it.
 * @param {Board} board
 * @param {Route} route
 * @param {Task} task
 */
function notRanked(board, route, { not_ranked: reason }) {
  if (!reason) return [];
  const [, next, why = ""] = reason.match(/^superseded by ([^:]+)(: .*)?$/) ?? [];
  const isTask = board.tasks.some(({ name }) => name === next);
  const text = isTask ? ["superseded by ", pageLink(route, "task", next), why] : [reason];
  return [h("p", { class: "notice" }, "Shown and not ranked: ", ...text)];
}

/**
 * @param {HTMLElement} main
 * @param {Site} site
 * @param {Board} board
 * @param {Route} route
 */
function taskList(main, site, board, route) {
  const caption = `${countText(board.tasks.length, "task")} of this board, by family`;
  main.append(
    trail(site, route, "Tasks"),
    h("h1", {}, "Tasks"),
    taskTable(board, route, [...board.tasks.keys()], caption),
  );
}

/**
 * Return a table of tasks, by what they measure and their family.
 * @param {Board} board
 * @param {Route} route
 * @param {number[]} tasks
 * @param {string} caption
 */
export function taskTable(board, route, tasks, caption) {
  const sorted = tasks
    .map((index) => board.tasks[index])
    .toSorted((a, b) => {
      return (
        a.measures.localeCompare(b.measures) ||
        a.family.localeCompare(b.family) ||
        a.name.localeCompare(b.name)
      );
    });
  const titles = ["Measures", "Family", "Concept", "Language", "Licence", "Ranked"];
  const columns = [{ title: "Task", class: "model" }, ...titles.map((title) => ({ title }))];
  const rows = sorted.map((task) => () => [
    [
      pageLink(route, "task", task.name),
      task.title ? h("small", { class: "under" }, task.title) : null,
    ],
    task.measures,
    task.family,
    task.category,
    task.language,
    task.licence || NOTHING,
    task.not_ranked ? `no: ${task.not_ranked}` : "yes",
  ]);
  return plainTable(caption, columns, rows);
}

/**
 * @param {Board} board
 * @param {Route} route
 * @param {number} index
 */
function taskFacts(board, route, index) {
  const task = board.tasks[index];
  const benchmarks = board.benchmarks.filter(({ tasks }) => tasks.includes(index));
  const links = benchmarks.flatMap(({ name, title }, i) => [
    i ? ", " : "",
    pageLink(route, "benchmark", name, title),
  ]);
  return factList([
    ["Name", h("code", {}, task.name)],
    ["Measures", `${task.measures}, ${task.category}`],
    ["Family", `${task.family} (one vote)`],
    ["Score", `${task.metric} ${task.score}, scenario ${task.scenario}`],
    ["Reading", readingOf(task)],
    ["Language", task.language],
    ["Source", task.source],
    ["Licence", task.licence],
    ["Yardstick", yardstickOf(board, route, task)],
    ["Version", `${task.version}, content ${task.digest.slice(0, 8)}`],
    ["Benchmarks", links],
  ]);
}

/**
 * Return what the gap of a task is compared with, and what the reference encoder shows.
 * @param {Board} board
 * @param {Route} route
 * @param {Task} task
 */
function yardstickOf(board, route, { measures, yardstick_of: of, power, ...task }) {
  if (measures !== "bias" || !of) return null;
  const isHere = board.tasks.some(({ name }) => name === of);
  const link = isHere ? pageLink(route, "task", of) : of;
  const usual = ratioOf(task.reference_gap, task.reference_yardstick, power);
  return [
    of === ITEMS ? "its own items" : link,
    `; ${board.reference} has ${scoreText(usual)} of it`,
  ];
}

/**
 * Return the ideal and the bounds of a score in words.
 * @param {Task} task
 */
function readingOf({ ideal, low_bound, high_bound }) {
  const best = typeof ideal === "number" ? `the ideal is ${ideal}` : `${ideal} is better`;
  if (low_bound === null && high_bound === null) return `${best}; without bounds`;
  const ends = `from ${low_bound ?? "no lower bound"} to ${high_bound ?? "no upper bound"}`;
  return `${best}; ${ends}`.replaceAll(/-(?=\d)/g, "−");
}

/** Characters at which the data file cuts a text. */
const CUT = 300;

/**
 * Return how items of the task look.
 * @param {Task} task
 * @returns {HTMLElement[]}
 */
function examplesOf(task) {
  const inputs = Object.entries(task.examples).filter(([, texts]) => texts.length);
  if (!inputs.length) return [];
  const facts = inputs.map(([name, texts]) => {
    const items = texts.map((text) => h("li", {}, text.length < CUT ? text : `${text}…`));
    return /** @type {[string, Child]} */ ([name, h("ul", { class: "examples" }, items)]);
  });
  return [h("h2", {}, "Some of its texts"), factList(facts)];
}

/** Words for what was measured of a score as an instrument. */
const VALIDITY_WORDS = Object.freeze({
  model: "Measured on",
  "measured on": "Measured of",
  floor: "Distance from the ideal with shuffled sides",
  "found from amplitude":
    "Smallest planted bias that is found in 80 % of draws (1: as far apart as the groups)",
  "shuffled sides found biased": "Share of shuffled sides that are called biased (.05 is right)",
  reliability: "Reliability (agreement of random halves of its words)",
  result: "Result",
});

/**
 * Return what the harness measured of a task's score.
 * @param {Task} task
 */
function validityOf({ validity }) {
  const known = Object.entries(validity ?? {}).filter(
    ([, value]) => value !== null && value !== "",
  );
  if (!known.length) {
    return h(
      "p",
      {},
      "Nothing is recorded of what its score shows on vectors whose bias is known.",
    );
  }
  /** @type {Record<string, string>} */
  const words = VALIDITY_WORDS;
  return factList(
    known.map(([name, value]) => {
      const text = typeof value === "number" ? scoreText(value) : value;
      return [Object.hasOwn(words, name) ? words[name] : name, text];
    }),
  );
}

/**
 * Return how the models spread on a task.
 * @param {Board} board
 * @param {number} index
 */
function taskDistribution(board, index) {
  const { measure, width } = cellsOf(board);
  const isBias = board.tasks[index].measures !== "usefulness";
  const rows = baseRowsOf(board);
  const at = (/** @type {number} */ row) => measure[row * width + index];
  const role = board.rows.role;
  const values = rows.filter((row) => role[row] === "model").map((row) => ({ value: at(row) }));
  const references = rows
    .filter((row) => role[row] === "reference" && Number.isFinite(at(row)))
    .map((row) => ({ label: board.models[board.rows.model[row]].name, value: at(row) }));
  /** @type {PlotAxis} */
  const axis = isBias
    ? { title: "gap over the yardstick, 0 is fair", better: null }
    : { title: "usefulness", better: "high" };
  const lines = isBias ? [{ label: "fair", value: 0 }, ...references] : references;
  if (values.filter(({ value }) => Number.isFinite(value)).length < 2) return "";
  return distribution("Models without a mitigator", values, axis, lines);
}

/**
 * @param {Board} board
 * @param {Route} route
 * @param {DecodedDetails | null} details
 * @param {number} index
 */
function taskRows(board, route, details, index) {
  const { measure, flags, width } = cellsOf(board);
  const at = (/** @type {number} */ row) => row * width + index;
  const isBias = board.tasks[index].measures !== "usefulness";
  const loss = (/** @type {number} */ row) => {
    const value = measure[at(row)];
    return Number.isNaN(value) ? Infinity : isBias ? Math.abs(value) : -value;
  };
  const rows = [...board.rows.model.keys()]
    .filter((row) => flags[at(row)] & RUN)
    .toSorted((a, b) => loss(a) - loss(b) || a - b);
  return cellTable(board, details, {
    caption: `${countText(rows.length, "row")} with a record, ${isBias ? "least bias" : "most useful"} first`,
    measure: isBias ? "Gap over yardstick" : "Usefulness",
    cells: rows.map((row) => ({ row, task: index })),
    first: "Model",
    head: ({ row }) => pageLink(route, "model", board.models[board.rows.model[row]].name),
    second: "Mitigator",
    more: ({ row }) => mitigatorOf(board, route, row),
  });
}

/**
 * Return the mitigator of a row, with a link if it is one.
 * @param {Board} board
 * @param {Route} route
 * @param {number} row
 */
function mitigatorOf(board, route, row) {
  const { label } = board.mitigators[board.rows.mitigator[row]];
  return board.rows.role[row] === "mitigated" ? pageLink(route, "mitigator", label) : label;
}
