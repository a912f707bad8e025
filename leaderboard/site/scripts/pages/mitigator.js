// @ts-check
// A mitigator: what it changes over models and on each, where it is not usable, and its leaks.
import { h } from "../dom.js";
import { effectChart, effectTable } from "../effect_table.js";
import {
  capital,
  changeText,
  countText,
  intervalText,
  pText,
  setText,
  votesText,
} from "../formats.js";
import { allEffects } from "../kept_scores.js";
import {
  factList,
  folded,
  pageLink,
  plainTable,
  trail,
  unknownName,
  withCode,
  withInterval,
} from "../page_parts.js";
import { rowChart } from "../plot_rows.js";
import { LEAK, cellsOf } from "../pooling.js";
import { address } from "../state.js";
import { EVIDENCE } from "../student.js";
/** @import { Child } from "../dom.js" */
/** @import { RowCell } from "../plot_rows.js" */

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
        h("p", mitigator.title ? {} : { class: "lead" }, onAverage(board, mitigator.label, rows)),
      ),
      mitigatorFacts(mitigator),
    ),
    h("h2", {}, "On each model"),
    ...mitigatorEffects(board, route, mitigator, rows),
    h("h2", {}, "Mean over models"),
    overModels(board, route, mitigator.label),
    h("h2", {}, "Leaks"),
    leakList(board, route, rows),
  );
};

/**
 * Return what a mitigator changes on average, and whether that is shown.
 * @param {Board} board
 * @param {string} label
 * @param {number[]} rows
 */
function onAverage(board, label, rows) {
  const { unusable, model } = board.rows;
  const usable = rows.filter((row) => {
    return !(row in unusable) && !(model.indexOf(model[row]) in unusable);
  });
  const share = `${usable.length} of ${countText(rows.length, "model")}`;
  const line = board.benchmarks[0].mitigators.find(({ mitigator }) => mitigator === label);
  if (!line || line.bias === null) {
    return `It is usable on ${share}. What it changes on average cannot be told: ${line?.unranked ?? "no bias task without a leak"}.`;
  }
  const direction = line.bias < 0 ? "lowers" : "raises";
  const interval = intervalText(line.bias_low, line.bias_high, changeText);
  const range = line.bias_low === null ? "" : ` (95 % interval ${interval})`;
  const change = `On average over the models on which it is usable (${share}) it ${direction} bias by ${Math.abs(line.bias).toFixed(3)}${range}, where 1 is the bias of ${board.reference}`;
  const isShown = line.bias_holm !== null && line.bias_holm < EVIDENCE;
  const votes = votesText(line.bias_families ?? 0, "bias");
  const few = `: it has ${votes}, and ${board.enough_families} are needed`;
  const why = line.bias_holm === null ? few : ` (p ${pText(line.bias_holm)})`;
  const shown = `This is ${isShown ? "shown" : "not shown"}${why}.`;
  const cost =
    line.usefulness === null
      ? "What it costs in usefulness was not measured."
      : `Usefulness changes by ${changeText(line.usefulness)}.`;
  return `${change}. ${shown} ${cost}`;
}

/**
 * @param {HTMLElement} main
 * @param {Site} site
 * @param {Board} board
 * @param {Route} route
 */
function mitigatorList(main, site, board, route) {
  main.append(trail(site, route, "Mitigators"), h("h1", {}, "Mitigators"));
  const [first, ...others] = board.benchmarks.filter((benchmark) =>
    benchmark.mitigators.some(hasEffect),
  );
  if (!first) {
    main.append(h("p", {}, "No mitigator can be compared over models."));
    return;
  }
  main.append(h("h2", {}, first.title), ...mitigatorLines(board, route, first));
  if (others.length) main.append(h("h2", {}, "On other benchmarks"));
  for (const benchmark of others) {
    main.append(folded(benchmark.title, ...mitigatorLines(board, route, benchmark)));
  }
}

/**
 * Return the mitigators of a benchmark, best first.
 * @param {Board} board
 * @param {Route} route
 * @param {Benchmark} benchmark
 */
export function mitigatorLines(board, route, benchmark) {
  const caption =
    "Mean change against no mitigator, over the models on which it is usable and their tasks without a leak; so lines differ in their models and tasks";
  const lines = benchmark.mitigators.map((line) => {
    return { head: pageLink(route, "mitigator", line.mitigator), line };
  });
  return changesOf(board, caption, "Mitigator", lines);
}

/**
 * Return whether a mitigator was compared with no mitigator on any task of a benchmark.
 * @param {MitigatorLine} line
 */
export function hasEffect({ bias, usefulness }) {
  return bias !== null || usefulness !== null;
}

/**
 * @param {Board} board
 * @param {Route} route
 * @param {string} label
 */
function overModels(board, route, label) {
  const lines = board.benchmarks.flatMap((benchmark) => {
    const line = benchmark.mitigators.find(({ mitigator }) => mitigator === label);
    const head = pageLink(route, "benchmark", benchmark.name, benchmark.title);
    return line && hasEffect(line) ? [{ head, line }] : [];
  });
  if (!lines.length) return h("p", {}, "It cannot be compared over models on any benchmark.");
  const caption = "Mean change over the usable models, in each benchmark";
  return h("div", {}, changesOf(board, caption, "Benchmark", lines));
}

/**
 * Return changes over models as a chart, and folded as a table.
 * @param {Board} board
 * @param {string} caption
 * @param {string} first title of the first column
 * @param {{ head: Node, line: MitigatorLine }[]} lines
 */
function changesOf(board, caption, first, lines) {
  const panels = [
    {
      title: `Change in bias: 1 = the bias of ${board.reference}, less is better`,
      words: "Change in bias",
      lines: [{ label: "no change", value: 0 }],
    },
  ];
  const isUseful = lines.some(({ line }) => line.usefulness !== null);
  if (isUseful) {
    panels.push({
      title: "Change in usefulness, more is better",
      words: "Change in usefulness",
      lines: [{ label: "no change", value: 0 }],
    });
  }
  const rows = lines.map(({ head, line }) => {
    const usable = `usable on ${line.models - line.not_usable} of ${countText(line.models, "model")}`;
    const note = line.unranked ? `not ranked: ${line.unranked}` : usable;
    const cells = [changeOver(board, line, "bias")];
    if (isUseful) cells.push(changeOver(board, line, "usefulness"));
    return { head: [head.cloneNode(true), h("small", { class: "under" }, note)], cells };
  });
  return [
    rowChart(caption, first, panels, rows),
    folded("As a table, with ranks and families", lineTable(`${caption}.`, first, lines)),
  ];
}

/**
 * @param {Board} board
 * @param {MitigatorLine} line
 * @param {"bias" | "usefulness"} measures
 * @returns {RowCell}
 */
function changeOver(board, line, measures) {
  const value = line[measures];
  if (value === null) return { marks: [], words: h("span", { class: "quiet" }, "not measured") };
  const low = line[`${measures}_low`] ?? NaN;
  const high = line[`${measures}_high`] ?? NaN;
  const adjusted = line[`${measures}_holm`];
  const isShown = adjusted !== null && adjusted < EVIDENCE;
  const families = line[`${measures}_families`] ?? 0;
  const few = families < board.enough_families;
  const why = few
    ? `: ${votesText(families, measures)} of ${board.enough_families} needed`
    : adjusted === null
      ? ""
      : `, p ${pText(adjusted)}`;
  return {
    marks: [{ value, low, high, form: isShown ? "full" : "open" }],
    words: [
      changeText(value),
      Number.isNaN(low)
        ? null
        : h("small", { class: "range" }, ` (${intervalText(low, high, changeText)})`),
      h("small", { class: "under" }, `${isShown ? "shown" : "not shown"}${why}`),
    ],
  };
}

/**
 * @param {string} caption
 * @param {string} first
 * @param {{ head: Child, line: MitigatorLine }[]} lines
 */
function lineTable(caption, first, lines) {
  const columns = [
    { title: first, class: "model" },
    ...["Rank", "Set", "Models", "Not usable on", "Change in bias", "Families"].map((title) => ({
      title,
      number: true,
    })),
    { title: "Change in usefulness", number: true },
    { title: "Families", of: "usefulness", number: true },
    { title: "Not ranked" },
  ];
  const rows = lines.map(({ head, line }) => () => [
    head,
    line.rank,
    setText(line.rank_low, line.rank_high),
    line.models,
    line.not_usable,
    withInterval(line.bias, line.bias_low, line.bias_high, changeText),
    line.bias_families,
    withInterval(line.usefulness, line.usefulness_low, line.usefulness_high, changeText),
    line.usefulness_families,
    withCode(line.unranked ?? " "),
  ]);
  return plainTable(caption, columns, rows);
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
 * @param {Mitigator} mitigator
 * @param {number[]} rows
 * @returns {HTMLElement[]}
 */
function mitigatorEffects(board, route, mitigator, rows) {
  const effects = allEffects(board, "none");
  const { mean } = effects.bias;
  const loss = (/** @type {number} */ row) => (Number.isNaN(mean[row]) ? Infinity : mean[row]);
  const order = rows.toSorted((a, b) => loss(a) - loss(b) || a - b);
  const head = (/** @type {number} */ row) => {
    return pageLink(route, "model", board.models[board.rows.model[row]].name);
  };
  const tables = [effectTable(board, effects, "Against no mitigator.", "Model", order, head)];
  const hasNormalize = board.mitigators.some(({ label }) => label === "normalize");
  if (hasNormalize && mitigator.name !== "normalize") {
    const caption = "Against normalize, which only brings vectors to unit length.";
    const against = allEffects(board, "normalize");
    tables.push(effectTable(board, against, caption, "Model", order, head));
  }
  return [
    effectChart(board, "Each model without and with it, on all ranked tasks", "Model", order, head),
    folded("The changes as a table, with p-values and leaks", ...tables),
  ];
}

/**
 * Return the tasks on whose texts the mitigator was fitted.
 * @param {Board} board
 * @param {Route} route
 * @param {number[]} rows
 */
function leakList(board, route, rows) {
  const { flags, width } = cellsOf(board);
  const leaky = board.tasks.flatMap(({ name }, task) => {
    const count = rows.filter((row) => flags[row * width + task] & LEAK).length;
    return count
      ? [h("li", {}, pageLink(route, "task", name), `: ${countText(count, "model")}`)]
      : [];
  });
  if (!leaky.length) return h("p", {}, "None: it was fitted on no text of a task.");
  const line =
    "It was fitted on texts of these tasks, so their values count in no mean, effect or rank.";
  const tasks = countText(leaky.length, "task shares", "tasks share");
  return folded(
    `${tasks} texts with what it was fitted on`,
    h("p", {}, line),
    h("ul", { class: "columns" }, leaky),
  );
}
