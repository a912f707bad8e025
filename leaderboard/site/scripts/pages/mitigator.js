// @ts-check
// A mitigator: what it changes over models and on each, where it is not usable, and its leaks.
import { h } from "../dom.js";
import { effectTable } from "../effect_table.js";
import { changeText, countText, setText } from "../formats.js";
import { allEffects } from "../kept_scores.js";
import {
  FIRST_ROWS,
  factList,
  pageLink,
  plainTable,
  trail,
  unknownName,
  withCode,
  withInterval,
} from "../page_parts.js";
import { endsOf } from "../plot_scale.js";
import { distribution, intervalBar } from "../plot_small.js";
import { LEAK, cellsOf } from "../pooling.js";
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
    mitigator.title ? h("p", { class: "lead" }, mitigator.title) : "",
    mitigatorFacts(mitigator, rows.length),
  );
  if (!rows.length) {
    main.append(h("p", {}, "No model was changed by it here: the others are compared with it."));
    return;
  }
  main.append(
    h("h2", {}, "Over models"),
    overModels(board, route, mitigator.label),
    h("h2", {}, "On each model"),
    ...mitigatorEffects(board, route, mitigator, rows),
    ...notUsable(board, route, rows),
    h("h2", {}, "Leaks"),
    leakList(board, route, rows),
  );
};

/**
 * @param {HTMLElement} main
 * @param {Site} site
 * @param {Board} board
 * @param {Route} route
 */
function mitigatorList(main, site, board, route) {
  main.append(trail(site, route, "Mitigators"), h("h1", {}, "Mitigators"));
  for (const benchmark of board.benchmarks) {
    if (!benchmark.mitigators.some(hasEffect)) continue;
    main.append(h("h2", {}, benchmark.title), mitigatorLines(route, benchmark));
  }
  if (main.childElementCount === 2)
    main.append(h("p", {}, "No mitigator can be compared over models."));
}

/**
 * Return the table of the mitigators of a benchmark, best first.
 * @param {Route} route
 * @param {Benchmark} benchmark
 */
export function mitigatorLines(route, benchmark) {
  const caption =
    "Mean change against no mitigator, over the models on which it is usable and their tasks without a leak.";
  return lineTable(
    caption,
    "Mitigator",
    benchmark.mitigators.map((line) => {
      return { head: pageLink(route, "mitigator", line.mitigator), line };
    }),
  );
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
  return lineTable("Mean change over the usable models, in each benchmark.", "Benchmark", lines);
}

/**
 * @param {string} caption
 * @param {string} first
 * @param {{ head: Child, line: MitigatorLine }[]} lines
 */
function lineTable(caption, first, lines) {
  const ends = endsOf([
    0,
    ...lines.flatMap(({ line }) => {
      return [line.bias ?? NaN, line.bias_low ?? NaN, line.bias_high ?? NaN];
    }),
  ]);
  const columns = [
    { title: first, class: "model" },
    ...["Rank", "Set", "Models", "Not usable on", "Change in bias", "Families"].map((title) => ({
      title,
      number: true,
    })),
    { title: "Drawn", class: "wide-only" },
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
    intervalBar(line.bias, line.bias_low, line.bias_high, ends),
    withInterval(line.usefulness, line.usefulness_low, line.usefulness_high, changeText),
    line.usefulness_families,
    withCode(line.unranked ?? " "),
  ]);
  return plainTable(caption, columns, rows);
}

/**
 * @param {Mitigator} mitigator
 * @param {number} models
 */
function mitigatorFacts({ name, label, params, concept }, models) {
  const settings = Object.entries(params).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return factList([
    ["Name", name !== label && name],
    ["Settings", settings.join(", ")],
    ["Fitted on", concept],
    ["Models", models && countText(models, "model")],
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
  const values = rows.map((row) => ({ value: mean[row] }));
  /** @type {PlotAxis} */
  const axis = { title: "change in bias against none", better: "low" };
  const parts = [
    distribution("Change in bias over models", values, axis, [{ label: "no change", value: 0 }]),
    effectTable(board, effects, "Against no mitigator.", "Model", order, head),
  ];
  const hasNormalize = board.mitigators.some(({ label }) => label === "normalize");
  if (hasNormalize && mitigator.name !== "normalize") {
    const caption = "Against normalize, which only brings vectors to unit length.";
    const against = allEffects(board, "normalize");
    parts.push(effectTable(board, against, caption, "Model", order, head));
  }
  return parts;
}

/**
 * @param {Board} board
 * @param {Route} route
 * @param {number[]} rows
 * @returns {HTMLElement[]}
 */
function notUsable(board, route, rows) {
  const failing = rows.filter((row) => row in board.rows.unusable);
  if (!failing.length) return [];
  const items = failing.slice(0, FIRST_ROWS).map((row) => {
    const { name } = board.models[board.rows.model[row]];
    return h("li", {}, pageLink(route, "model", name), `: ${board.rows.unusable[row]}`);
  });
  const more = failing.length - items.length;
  if (more) items.push(h("li", {}, `and ${countText(more, "more model", "more models")}`));
  return [h("h2", {}, "Not usable"), h("ul", {}, items)];
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
  return h("div", {}, h("p", {}, line), h("ul", {}, leaky));
}
