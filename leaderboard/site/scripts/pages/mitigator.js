// @ts-check
// A mitigator: what it changes over models and on each, and where it is not usable.
import { h } from "../dom.js";
import { effectChart, effectTable } from "../effect_table.js";
import { capital, changeText, countText } from "../formats.js";
import {
  factList,
  folded,
  pageLink,
  plainTable,
  trail,
  unknownName,
  withCode,
} from "../page_parts.js";
import { benchmarkScores, benchmarkView } from "../scores.js";
import { address } from "../state.js";
/** @import { Child } from "../dom.js" */

/** @type {Page} */
export const mitigatorPage = (main, site, board, route) => {
  if (!route.name) return mitigatorList(main, site, board, route);
  const index = board.mitigators.findIndex(({ label }) => label === route.name);
  const mitigator = board.mitigators[index];
  if (!mitigator) {
    return unknownName(
      main,
      site,
      route,
      board.mitigators.map(({ label }) => label),
    );
  }
  const rows = [...board.rows.model.keys()].filter((row) => {
    return board.rows.mitigator[row] === index && board.rows.role[row] === "mitigated";
  });
  main.append(
    trail(site, route, mitigator.label, [["Mitigators", address(route.kind, "mitigator")]]),
    h("h1", {}, mitigator.label),
  );
  if (!rows.length) {
    main.append(
      mitigator.title ? h("p", { class: "lead" }, mitigator.title) : "",
      mitigatorFacts(mitigator),
      h("p", {}, "No model was changed by it here: the others are compared with it."),
    );
    return;
  }
  main.append(
    h(
      "div",
      { class: "overview" },
      h(
        "div",
        {},
        mitigator.title ? h("p", { class: "lead" }, `${capital(mitigator.title)}.`) : "",
        h("p", mitigator.title ? {} : { class: "lead" }, overAll(board, mitigator.label, rows)),
      ),
      mitigatorFacts(mitigator),
    ),
    h("h2", {}, "On each model"),
    ...mitigatorEffects(board, route, rows),
    h("h2", {}, "Over models"),
    overModels(board, route, mitigator.label),
  );
};

/**
 * Return what a mitigator changes over models, and on how many that is shown.
 * @param {Board} board
 * @param {string} label
 * @param {number[]} rows
 */
function overAll(board, label, rows) {
  const line = linesOn(board, board.benchmarks[0]).find(({ mitigator }) => mitigator === label);
  const share = `${line?.usable ?? 0} of ${countText(rows.length, "model")}`;
  if (!line || line.change === null) {
    return `It can be compared on ${share}${line?.note ? `: ${line.note}` : ""}.`;
  }
  const change = `Over the models on which it is usable (${share}) bias changes by ${changeText(line.change)} on average, where 1 is the bias of ${board.reference}`;
  const shown = `It is shown to leave ${line.less} of them less biased and ${line.more} more biased on these tests`;
  const cost =
    line.usefulness === null
      ? "What it costs in usefulness was not measured."
      : `Usefulness changes by ${changeText(line.usefulness)}.`;
  return `${change}. ${shown}. ${cost}`;
}

/**
 * @param {HTMLElement} main
 * @param {Site} site
 * @param {Board} board
 * @param {Route} route
 */
function mitigatorList(main, site, board, route) {
  main.append(trail(site, route, "Mitigators"), h("h1", {}, "Mitigators"));
  const [first, ...others] = board.benchmarks.filter(
    (benchmark) => linesOn(board, benchmark).length,
  );
  if (!first) {
    main.append(h("p", {}, "No mitigator was run on a model of this board."));
    return;
  }
  main.append(h("h2", {}, first.title), mitigatorLines(board, route, first));
  if (others.length) main.append(h("h2", {}, "On other benchmarks"));
  for (const benchmark of others) {
    main.append(folded(benchmark.title, mitigatorLines(board, route, benchmark)));
  }
}

/**
 * Return the mitigators on a benchmark.
 * @param {Board} board
 * @param {Benchmark} benchmark
 */
function linesOn(board, benchmark) {
  return benchmarkView(board, benchmark)?.mitigators ?? [];
}

/**
 * Return a table of the mitigators of a benchmark.
 * @param {Board} board
 * @param {Route} route
 * @param {Benchmark} benchmark
 */
export function mitigatorLines(board, route, benchmark) {
  const lines = linesOn(board, benchmark).map((line) => {
    return { head: pageLink(route, "mitigator", line.mitigator), line };
  });
  return lineTable("Each line is over its own models", "Mitigator", lines);
}

/**
 * @param {Board} board
 * @param {Route} route
 * @param {string} label
 */
function overModels(board, route, label) {
  const lines = board.benchmarks.flatMap((benchmark) => {
    const line = linesOn(board, benchmark).find(({ mitigator }) => mitigator === label);
    const head = pageLink(route, "benchmark", benchmark.name, benchmark.title);
    return line ? [{ head, line }] : [];
  });
  return lineTable("Over the models on which it is usable, on each benchmark", "Benchmark", lines);
}

/**
 * @param {string} caption
 * @param {string} first
 * @param {{ head: Child, line: MitigatorLine }[]} lines
 */
function lineTable(caption, first, lines) {
  const columns = [
    { title: first, class: "model" },
    ...["Models", "usable", "less biased", "more biased"].map((title) => ({ title, number: true })),
    ...["Mean change in bias", "in usefulness"].map((title) => ({ title, number: true })),
    { title: "Mean over" },
    { title: "Note" },
  ];
  const rows = lines.map(({ head, line }) => () => [
    head,
    line.models,
    line.usable,
    line.less,
    line.more,
    changeText(line.change),
    changeText(line.usefulness),
    line.over || " ",
    withCode(line.note ?? " "),
  ]);
  const shown = "'Less' and 'more biased' count the models on which that is shown on these tests";
  return plainTable(`${caption}. ${shown}`, columns, rows);
}

/**
 * @param {Mitigator} mitigator
 */
function mitigatorFacts({ name, label, params, concept }) {
  const settings = Object.entries(params).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return factList([
    ["Name", name !== label && name],
    ["Settings", settings.join(", ")],
    ["Fitted on", concept],
  ]);
}

/**
 * @param {Board} board
 * @param {Route} route
 * @param {number[]} rows
 * @returns {HTMLElement[]}
 */
function mitigatorEffects(board, route, rows) {
  const { mean } = benchmarkScores(board, board.benchmarks[0]).change;
  const loss = (/** @type {number} */ row) => (Number.isNaN(mean[row]) ? Infinity : mean[row]);
  const order = rows.toSorted((a, b) => loss(a) - loss(b) || a - b);
  const head = (/** @type {number} */ row) => {
    return pageLink(route, "model", board.models[board.rows.model[row]].name);
  };
  return [
    effectChart(
      board,
      "Each model without and with it, on the tests of both",
      "Model",
      order,
      head,
    ),
    folded(
      "The changes as a table, with usefulness",
      effectTable(board, "Against no mitigator.", "Model", order, head),
    ),
  ];
}
