// @ts-check
// A model: its card, ranks, strengths and weaknesses, mitigators, values and provenance.
import { h, webLink } from "../dom.js";
import { NOTHING, countText, publishedText, setText, sizeText } from "../formats.js";
import { benchmarkScores } from "../kept_scores.js";
import { unevenNote } from "../model_cell.js";
import {
  decisionNotices,
  factList,
  pageLink,
  plainTable,
  trail,
  unknownName,
  withInterval,
} from "../page_parts.js";
import { endsOf } from "../plot_scale.js";
import { intervalBar } from "../plot_small.js";
import { address } from "../state.js";
import { modelEffects, modelValues, strengths } from "./model_parts.js";

/** @type {Page} */
export const modelPage = (main, site, board, route) => {
  if (!route.name) return modelList(main, site, board, route);
  const index = board.models.findIndex(({ name }) => name === route.name);
  const model = board.models[index];
  if (!model)
    return unknownName(
      main,
      site,
      route,
      board.models.map(({ name }) => name),
    );
  const rows = [...board.rows.model.keys()].filter((row) => board.rows.model[row] === index);
  main.append(
    trail(site, route, model.name, [["Models", address(route.kind, "model")]]),
    h("h1", {}, model.name),
    h("p", { class: "lead" }, standing(board, rows[0])),
    ...unevenNotice(board, rows[0]),
    ...supersededBy(site, board, route, model),
    modelCard(board, model),
    h("h2", {}, "In each benchmark"),
    benchmarkTable(board, route, rows[0]),
    h("h2", {}, "Strengths and weaknesses"),
    strengths(board, rows[0]),
    h("h2", {}, "Under mitigators"),
    modelEffects(board, route, rows),
    h("h2", {}, "Values by task"),
    modelValues(site, board, route, rows),
    h("h2", {}, "Provenance"),
    provenance(model),
    ...badgeLink(board, rows[0], model),
  );
};

/**
 * @param {HTMLElement} main
 * @param {Site} site
 * @param {Board} board
 * @param {Route} route
 */
function modelList(main, site, board, route) {
  const scores = benchmarkScores(board, board.benchmarks[0]);
  const rows = baseRowsOf(board);
  const order = rows.toSorted(
    (a, b) => (scores.rank[a] || Infinity) - (scores.rank[b] || Infinity),
  );
  const columns = [
    { title: "Model", class: "model" },
    { title: "Rank", number: true },
    { title: "Size", number: true },
    { title: "Licence" },
    { title: "Note" },
  ];
  const lines = order.map((row) => () => {
    const model = board.models[board.rows.model[row]];
    const note = board.rows.role[row] === "reference" ? "reference" : board.rows.unusable[row];
    return [
      pageLink(route, "model", model.name),
      scores.rank[row] || NOTHING,
      sizeText(model.parameters),
      model.licence,
      note ?? " ",
    ];
  });
  main.append(
    trail(site, route, "Models"),
    h("h1", {}, "Models"),
    plainTable(
      `${countText(rows.length, "model")} of this board, ranked ones first`,
      columns,
      lines,
    ),
  );
}

/**
 * Return the row without a mitigator of each model.
 * @param {Board} board
 */
export function baseRowsOf(board) {
  const { model } = board.rows;
  return [...model.keys()].filter((row) => row === 0 || model[row] !== model[row - 1]);
}

/**
 * Return one line on where a model stands.
 * @param {Board} board
 * @param {number} row
 */
function standing(board, row) {
  if (board.rows.role[row] === "reference")
    return "A reference: a line to compare with, never ranked.";
  if (board.rows.role[row] === "mitigated")
    return "Not ranked: it was run under a mitigator only, and models are ranked without one.";
  const benchmark = board.benchmarks[0];
  const scores = benchmarkScores(board, benchmark);
  const ranked = scores.rank.filter((rank) => rank > 0).length;
  if (board.rows.unusable[row])
    return `Not ranked, because it is not usable: ${board.rows.unusable[row]}.`;
  if (!scores.complete[row]) {
    const tasks = benchmark.tasks.filter((task) => board.tasks[task].measures === "bias");
    const has = `${scores.bias.tasks[row]} of ${countText(tasks.length, "ranked bias task")}`;
    return `Not ranked on ${benchmark.title}: it has a value on ${has}.`;
  }
  if (!scores.rank[row]) return "Not ranked: ranking needs two models.";
  const low = benchmark.rank_low[row];
  const set = low === null ? "" : ` (set ${setText(low, benchmark.rank_high[row])})`;
  return `Rank ${scores.rank[row]}${set} of ${countText(ranked, "model")} by bias on ${benchmark.title}.`;
}

/**
 * @param {Board} board
 * @param {number} row
 * @returns {HTMLElement[]}
 */
function unevenNotice(board, row) {
  const note = unevenNote(board, row);
  if (!note) return [];
  const meaning = "A larger yardstick makes bias look smaller, so compare this model with care.";
  return [h("p", { class: "notice" }, `The ${note}. ${meaning}`)];
}

/**
 * Return what maintainers decided on a model, or else what its authors recommend in its place.
 * @param {Site} site
 * @param {Board} board
 * @param {Route} route
 * @param {Model} model
 * @returns {HTMLElement[]}
 */
function supersededBy(site, board, route, model) {
  const names = board.models.map(({ name }) => name);
  const decided = decisionNotices(site, route, names);
  const next = model.superseded_by;
  if (!next || decided.length) return decided;
  const name = names.includes(next) ? pageLink(route, "model", next) : next;
  return [h("p", { class: "notice" }, "Superseded by ", name, ".")];
}

/**
 * @param {Board} board
 * @param {Model} model
 */
function modelCard(board, model) {
  const weights = model.open_weights === null ? null : model.open_weights ? "open" : "not open";
  return factList([
    ["Kind", `${board.kind} embeddings`],
    ["Web page", model.url && webLink(model.url, model.url)],
    ["Licence", model.licence],
    ["Weights", weights],
    ["Languages", model.languages.join(", ")],
    ["Dimensions", model.dimensions?.toLocaleString("en")],
    ["Parameters", model.parameters && sizeText(model.parameters)],
    ["Longest text", model.max_tokens && `${model.max_tokens.toLocaleString("en")} tokens`],
    ["Released", model.released],
    ...Object.entries(model.published).map(([name, value]) => {
      return /** @type {[string, string]} */ ([`Published ${name}`, publishedText(value)]);
    }),
  ]);
}

/**
 * @param {Board} board
 * @param {Route} route
 * @param {number} row
 */
function benchmarkTable(board, route, row) {
  const lines = board.benchmarks.map((benchmark) => ({
    benchmark,
    scores: benchmarkScores(board, benchmark),
  }));
  const all = lines.flatMap(({ scores: { bias } }) => [
    bias.low[row],
    bias.high[row],
    bias.mean[row],
  ]);
  const ends = endsOf([0, ...all]);
  const columns = [
    { title: "Benchmark", class: "model" },
    ...["Rank", "Set", "Bias", "Families"].map((title) => ({ title, number: true })),
    { title: "Drawn", class: "wide-only" },
    { title: "Usefulness", number: true },
    ...["Rank", "Set"].map((title) => ({ title, of: "usefulness", number: true })),
  ];
  const rows = lines.map(
    ({ benchmark, scores: { bias, usefulness, rank, usefulness_rank } }) =>
      () => [
        pageLink(route, "benchmark", benchmark.name, benchmark.title),
        rank[row] || NOTHING,
        setText(benchmark.rank_low[row], benchmark.rank_high[row]),
        withInterval(bias.mean[row], bias.low[row], bias.high[row]),
        bias.families[row],
        intervalBar(bias.mean[row], bias.low[row], bias.high[row], ends),
        withInterval(usefulness.mean[row], usefulness.low[row], usefulness.high[row]),
        usefulness_rank[row] || NOTHING,
        setText(benchmark.usefulness_rank_low[row], benchmark.usefulness_rank_high[row]),
      ],
  );
  const caption =
    "Bias is the gap over the yardstick, 0 is fair and 1 is as biased as the reference (less is better); usefulness is 1 − the distance to the best value (more is better). The set holds the true rank.";
  return plainTable(caption, columns, rows);
}

/**
 * @param {Model} model
 */
function provenance(model) {
  const environments = model.environments.map(([text, count]) =>
    h("li", {}, `${countText(count, "record")}: ${text}`),
  );
  return factList([
    ["Fingerprint", h("code", {}, model.fingerprint)],
    ["Revision", model.revision && h("code", {}, model.revision)],
    ["Submitted by", model.submitters.join(", ")],
    ["Ran on", environments.length ? h("ul", {}, environments) : null],
  ]);
}

/**
 * Return a link to what shows the model's numbers elsewhere, such as on its page on a hub.
 * @param {Board} board
 * @param {number} row
 * @param {Model} model
 */
function badgeLink(board, row, model) {
  if (board.rows.role[row] !== "model") return [];
  const href = `model/${model.slug}.html#badge`;
  return [h("p", {}, h("a", { href }, "Badge and small page for its model card"))];
}
