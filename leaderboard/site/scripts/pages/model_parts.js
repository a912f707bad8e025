// @ts-check
// Parts of a model's page: its profile, effects of mitigators, and values by task.
import { cellsOf, tasksOf } from "../cells.js";
import { cellTable, withDetails } from "../cell_table.js";
import { conceptsOn } from "../choice.js";
import { LESS } from "../column_cells.js";
import { h } from "../dom.js";
import { effectChart, effectTable } from "../effect_table.js";
import {
  countText,
  intervalText,
  ordinal,
  scoreText,
  strengthText,
  yardstickText,
} from "../formats.js";
import { biasPanel, folded, pageLink, replaceFolded, usefulnessPanel } from "../page_parts.js";
import { rowChart, rowLegend } from "../plot_rows.js";
import { benchmarkScores } from "../scores.js";
import { address } from "../state.js";
import { itemsLink } from "./items.js";
/** @import { DecodedDetails } from "../cell_table.js" */
/** @import { Child } from "../dom.js" */
/** @import { RowCell } from "../plot_rows.js" */

/** Single results that are shown without unfolding. */
const STRONGEST = 10;

/**
 * Return the bias of a model by concept, among the other models.
 * @param {Board} board
 * @param {number} row
 */
export function biasProfile(board, row) {
  const [benchmark] = board.benchmarks;
  if (isNoise(board, benchmarkScores(board, benchmark).bias, row)) {
    return h("p", {}, "No profile: a gap over a yardstick has no meaning where texts have none.");
  }
  const unscaled = unscaledConcepts(board);
  const lines = conceptsOn(board, benchmark)
    .filter((concept) => !unscaled.includes(concept))
    .map((concept) => {
      const { bias, direction } = benchmarkScores(board, benchmark, concept);
      const head = [concept, h("small", { class: "under" }, direction[row] ?? "")];
      return profileLine(board, row, head, bias);
    });
  const chart = rowChart(
    "Bias by each concept alone, most first",
    "Concept",
    [biasPanel(board)],
    byValue(lines),
    profileLegend(true),
  );
  if (!unscaled.length) return chart;
  const line = `Not drawn: ${unscaled.join(", ")}. ${board.reference} shows no clear bias there, so there is no scale.`;
  return h("div", {}, chart, h("p", { class: "quiet" }, line));
}

/**
 * Return the usefulness of a model by task, among the other models.
 * @param {Board} board
 * @param {number} row
 */
export function usefulnessProfile(board, row) {
  const [benchmark] = board.benchmarks;
  const { measure, width } = cellsOf(board);
  const lines = tasksOf(board, benchmark.tasks, "usefulness").map((task) => {
    const mean = Float32Array.from(board.rows.model, (_, i) => measure[i * width + task]);
    const { name, category } = board.tasks[task];
    const none = new Float32Array(mean.length).fill(NaN);
    const head = [name, h("small", { class: "under" }, category)];
    return profileLine(board, row, head, { mean, low: none, high: none });
  });
  const { usefulness } = benchmarkScores(board, benchmark);
  return rowChart(
    "Usefulness on each task, most first",
    "Task",
    [usefulnessPanel(board, usefulness.mean)],
    byValue(lines),
    profileLegend(false),
  );
}

/** @param {boolean} withInterval */
function profileLegend(withInterval) {
  const mark = withInterval ? { value: 0, low: 0, high: 1 } : { value: 0 };
  return rowLegend([
    [mark, withInterval ? "this model, with its 95 % interval" : "this model"],
    ["others", "other models"],
  ]);
}

/**
 * @param {Board} board
 * @param {number} row
 * @param {Child[]} head
 * @param {Means} means
 */
function profileLine(board, row, head, { mean, low, high }) {
  const value = mean[row];
  const others = otherRows(board, row)
    .map((other) => mean[other])
    .filter((other) => !Number.isNaN(other));
  /** @type {RowCell} */
  const cell = {
    marks: [{ value, low: low[row], high: high[row] }],
    others,
    words: Number.isNaN(value)
      ? h("span", { class: "quiet" }, "no value")
      : [
          scoreText(value),
          Number.isNaN(low[row])
            ? null
            : h("small", { class: "range" }, ` (${intervalText(low[row], high[row])})`),
        ],
  };
  return { value, head, cells: [cell] };
}

/**
 * Return the usable rows without a mitigator of the other models.
 * @param {Board} board
 * @param {number} row
 */
function otherRows({ rows }, row) {
  return [...rows.role.keys()].filter((other) => {
    return rows.role[other] === "model" && other !== row && !(other in rows.unusable);
  });
}

/**
 * Return lines with the highest value first; those without one are last.
 * @template {{ value: number }} T
 * @param {T[]} lines
 */
function byValue(lines) {
  const key = (/** @type {T} */ { value }) => (Number.isNaN(value) ? -Infinity : value);
  return lines.toSorted((a, b) => key(b) - key(a) || 0);
}

/**
 * Return the concepts of a benchmark for which nothing was computed, or by which no model has a
 * value, since the reference shows no clear bias.
 * @param {Board} board
 */
export function unscaledConcepts(board) {
  const [benchmark] = board.benchmarks;
  const tasks = tasksOf(board, benchmark.tasks, "bias");
  return groupsOf(board, tasks, "category")
    .map(({ name }) => name)
    .filter((concept) =>
      benchmarkScores(board, benchmark, concept).bias.mean.every((value) => Number.isNaN(value)),
    );
}

/**
 * Return tasks by a field, sorted by its texts.
 * @param {Board} board
 * @param {number[]} tasks
 * @param {"category" | "family" | "language"} field
 */
export function groupsOf(board, tasks, field) {
  const names = [...new Set(tasks.map((task) => board.tasks[task][field]))].toSorted();
  return names.map((name) => ({
    name,
    tasks: tasks.filter((task) => board.tasks[task][field] === name),
  }));
}

/**
 * Return a chart of the bias and usefulness of models on a benchmark, by rank.
 * @param {Board} board
 * @param {Route} route
 * @param {Benchmark} benchmark
 * @param {number[]} rows
 * @param {string} caption
 */
export function modelChart(board, route, benchmark, rows, caption) {
  const scores = benchmarkScores(board, benchmark);
  const { bias, usefulness, ranks } = scores;
  const hasBias = tasksOf(board, benchmark.tasks, "bias").length > 0;
  const main = (hasBias ? ranks.bias : ranks.usefulness).rank;
  const order = rows.toSorted((a, b) => {
    const isReference = (/** @type {number} */ row) => Number(board.rows.role[row] === "reference");
    return (
      isReference(a) - isReference(b) || (main[a] || Infinity) - (main[b] || Infinity) || a - b
    );
  });
  const lines = order.map((row) => ({
    head: [
      pageLink(route, "model", board.models[board.rows.model[row]].name),
      h("small", { class: "under" }, roleNote(board, scores, row)),
    ],
    cells: placeCells(scores, row),
  }));
  for (const [i, { cells }] of lines.entries()) {
    if (isNoise(board, bias, order[i])) {
      cells[0] = { marks: [], words: h("span", { class: "quiet" }, "no meaning") };
    }
  }
  const panels = [biasPanel(board), usefulnessPanel(board, usefulness.mean)];
  if (!hasBias) {
    for (const cells of [panels, ...lines.map((line) => line.cells)]) cells.shift();
  }
  return rowChart(caption, "Model", panels, lines);
}

/**
 * Return whether the bias of a row is noise over noise: where texts have no meaning, so has a gap
 * over a yardstick.
 * @param {Board} board
 * @param {Means} bias
 * @param {number} row
 */
export function isNoise({ rows }, { low }, row) {
  return rows.role[row] === "reference" && Number.isNaN(low[row]);
}

/**
 * @param {Board} board
 * @param {Scores} scores
 * @param {number} row
 */
function roleNote({ rows }, { unranked }, row) {
  if (rows.role[row] === "reference") return "reference, never ranked";
  return rows.unusable[row] ? `not usable: ${rows.unusable[row]}` : (unranked[row] ?? "");
}

/**
 * Return the bias and the usefulness of a model on a benchmark, with its ranks.
 * @param {Scores} scores
 * @param {number} row
 */
function placeCells({ bias, usefulness, ranks }, row) {
  return [placeCell(bias, ranks.bias, row), placeCell(usefulness, ranks.usefulness, row)];
}

/**
 * @param {Means} means
 * @param {Ranks} ranks
 * @param {number} row
 * @returns {RowCell}
 */
function placeCell({ mean, low, high }, ranks, row) {
  if (Number.isNaN(mean[row])) {
    return { marks: [], words: h("span", { class: "quiet" }, "no value") };
  }
  const [rank, first, last] = [ranks.rank[row], ranks.low[row], ranks.high[row]];
  const place = first === last ? "" : `, could be ${ordinal(first)} to ${ordinal(last)}`;
  const interval = Number.isNaN(low[row]) ? "" : ` (${intervalText(low[row], high[row])})`;
  return {
    marks: [{ value: mean[row], low: low[row], high: high[row], form: rank ? "full" : "open" }],
    words: [
      scoreText(mean[row]),
      h("small", { class: "range" }, interval),
      h("small", { class: "under" }, rank ? `${ordinal(rank)}${place}` : "not ranked"),
    ],
  };
}

/**
 * Return the places of a model in all benchmarks.
 * @param {Board} board
 * @param {Route} route
 * @param {number} row
 */
export function benchmarkProfile(board, route, row) {
  const lines = board.benchmarks.map((benchmark) => ({
    head: pageLink(route, "benchmark", benchmark.name, benchmark.title),
    cells: placeCells(benchmarkScores(board, benchmark), row),
  }));
  const { usefulness } = benchmarkScores(board, board.benchmarks[0]);
  const panels = [biasPanel(board), usefulnessPanel(board, usefulness.mean)];
  return rowChart("Bias and usefulness in each benchmark", "Benchmark", panels, lines);
}

/**
 * Return the single results of bias that are most surely far from fair.
 * @param {Board} board
 * @param {Route} route
 * @param {number} row
 */
export function strongest(board, route, row) {
  const { measure, low: lows, high: highs, width } = cellsOf(board);
  const cells = tasksOf(board, board.benchmarks[0].tasks, "bias")
    .filter((task) => !Number.isNaN(measure[row * width + task]))
    .map((task) => {
      const [low, high] = [lows[row * width + task], highs[row * width + task]];
      const sure = Math.max(low, -high); // of an interval without 0 the end that is nearer to it
      return { task, value: measure[row * width + task], low, high, sure };
    })
    .filter(({ sure }) => sure > 0)
    .toSorted((a, b) => b.sure - a.sure);
  if (!cells.length) return h("p", {}, "No single result is surely far from fair.");
  const others = otherRows(board, row);
  const lines = cells.slice(0, STRONGEST).map(({ task, value, low, high }) => {
    const { name, title, yardstick_of } = board.tasks[task];
    return {
      head: [
        pageLink(route, "task", name),
        itemsLink(board, { row, task }),
        h("small", { class: "under" }, title),
      ],
      cells: [
        {
          marks: [{ value, low, high }],
          others: others.map((other) => measure[other * width + task]),
          words: [
            scoreText(value),
            h("small", { class: "range" }, ` (${intervalText(low, high)})`),
            h("small", { class: "under" }, strengthText(value, yardstickText(yardstick_of))),
          ],
        },
      ],
    };
  });
  const count = countText(cells.length, "single result");
  const caption = `${count} of bias ${cells.length === 1 ? "has an interval" : "have intervals"} without 0: those farthest from it first${cells.length > STRONGEST ? `, ${STRONGEST} of them` : ""}`;
  const panel = {
    title: "Gap: 1 = as strong as the yardstick of the task",
    words: "Gap",
    lines: [
      { label: "fair", value: 0 },
      { label: "the yardstick", value: 1 },
    ],
  };
  return rowChart(caption, "Task", [panel], lines, profileLegend(true));
}

/**
 * Return the paired effects of the mitigators on a model.
 * @param {Board} board
 * @param {Route} route
 * @param {number[]} rows of the model
 */
export function modelEffects(board, route, rows) {
  const mitigated = rows.filter((row) => board.rows.role[row] === "mitigated");
  if (!mitigated.length) return [h("p", {}, "It was run under no mitigator.")];
  const scores = benchmarkScores(board, board.benchmarks[0]);
  const { mean } = scores.change;
  const loss = (/** @type {number} */ row) => (Number.isNaN(mean[row]) ? Infinity : mean[row]);
  const order = mitigated.toSorted((a, b) => loss(a) - loss(b) || a - b);
  const head = (/** @type {number} */ row) =>
    pageLink(route, "mitigator", board.mitigators[board.rows.mitigator[row]].label);
  const shown = order.filter((row) => scores.verdict[row] === LESS);
  const unusable = order.filter((row) => row in board.rows.unusable);
  const of = `Of ${countText(order.length, "mitigator")}`;
  const which = shown.length ? `${shown.length}` : "none";
  const sentence = `${of}, ${which} ${shown.length > 1 ? "are" : "is"} shown to lower its bias on these tests; ${unusable.length || "none"} ${unusable.length > 1 ? "leave" : "leaves"} it unusable.`;
  return [
    h("p", {}, sentence),
    effectChart(
      board,
      "Without and with each mitigator, on the tests of both",
      "Mitigator",
      order,
      head,
    ),
    folded(
      "The changes as a table, with usefulness",
      effectTable(
        board,
        "The change against the same model without a mitigator. Less bias and more usefulness are better.",
        "Mitigator",
        order,
        head,
      ),
    ),
  ];
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
    replaceFolded(
      place,
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
  const tasks = [...board.tasks.keys()];
  const ranked = tasks.filter((task) => board.tasks[task].not_ranked === null);
  const table = (
    /** @type {string} */ caption,
    /** @type {string} */ measure,
    /** @type {number[]} */ some,
  ) =>
    cellTable(board, details, {
      caption,
      measure,
      cells: some.map((task) => ({ row, task })),
      first: "Task",
      head: ({ task }) => [
        pageLink(route, "task", board.tasks[task].name),
        h("small", { class: "under" }, board.tasks[task].title),
      ],
    });
  const part = (
    /** @type {string} */ name,
    /** @type {number[]} */ some,
    /** @type {HTMLElement} */ content,
  ) => {
    const box = folded([h("strong", {}, name), ` · ${countText(some.length, "task")}`], content);
    box.id = `results-${name.replaceAll(/[^\w-]/g, "-")}`;
    return box;
  };
  const bias = groupsOf(board, tasksOf(board, ranked, "bias"), "category").map((group) => {
    const caption = `Bias by ${group.name}: 0 is fair, 1 is as strong as the yardstick of the task`;
    const name = `Bias: ${group.name}`;
    return part(name, group.tasks, table(caption, "Gap over yardstick", group.tasks));
  });
  const useful = groupsOf(board, tasksOf(board, ranked, "usefulness"), "category").map((group) => {
    const caption = `Usefulness in ${group.name}: 1 is the best possible, more is better`;
    return part(
      `Usefulness: ${group.name}`,
      group.tasks,
      table(caption, "Usefulness", group.tasks),
    );
  });
  const others = tasks.filter((task) => board.tasks[task].not_ranked !== null);
  const caption = "Shown and not ranked; the page of a task says why";
  return [
    ...bias,
    ...useful,
    others.length ? part("Not ranked", others, table(caption, "Measure", others)) : null,
  ];
}
