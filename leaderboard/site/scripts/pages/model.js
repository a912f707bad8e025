// @ts-check
// A model: where it stands in words, its profile, its mitigators, its results and its card.
import { missingOf, tasksOf } from "../cells.js";
import { h, webLink } from "../dom.js";
import {
  NOTHING,
  capital,
  countText,
  intervalText,
  languageName,
  ordinal,
  publishedText,
  scoreText,
  sizeText,
} from "../formats.js";
import { unevenNote } from "../model_cell.js";
import { factList, folded, pageLink, trail, unknownName } from "../page_parts.js";
import { benchmarkScores } from "../scores.js";
import { address } from "../state.js";
import {
  benchmarkProfile,
  biasProfile,
  isNoise,
  modelChart,
  modelEffects,
  modelValues,
  strongest,
  unscaledConcepts,
  usefulnessProfile,
} from "./model_parts.js";

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
  const [row] = rows;
  const overview = h(
    "div",
    { class: "overview" },
    h(
      "div",
      {},
      h("p", { class: "lead" }, biasSentence(board, row)),
      ...usefulnessSentence(board, row),
      h("p", { class: "quiet" }, unknownSentence(board, row)),
      ...unevenNotice(board, row),
      ...supersededBy(board, route, model),
    ),
    modelCard(board, model),
  );
  main.append(
    trail(site, route, model.name, [["Models", address(route.kind, "model")]]),
    h("h1", {}, model.name),
    overview,
    h("h2", {}, "Bias by concept"),
    biasProfile(board, row),
    h("h2", {}, "Usefulness by task"),
    usefulnessProfile(board, row),
    h("h2", {}, "With mitigators"),
    ...modelEffects(board, route, rows),
    h("h2", {}, "Strongest results"),
    strongest(board, route, row),
    h("h2", {}, "All results"),
    modelValues(site, board, route, rows),
    h("h2", {}, "More"),
    folded(
      `Rank in ${countText(board.benchmarks.length, "benchmark")}`,
      benchmarkProfile(board, route, row),
    ),
    folded("Provenance", provenance(model)),
    ...badgeLink(board, row, model),
  );
};

/**
 * @param {HTMLElement} main
 * @param {Site} site
 * @param {Board} board
 * @param {Route} route
 */
function modelList(main, site, board, route) {
  const [benchmark] = board.benchmarks;
  const rows = baseRowsOf(board);
  main.append(
    trail(site, route, "Models"),
    h("h1", {}, "Models"),
    modelChart(
      board,
      route,
      benchmark,
      rows,
      `${countText(rows.length, "model")} of this board on ${benchmark.title}, ranked ones first`,
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
 * Return how biased a model is, and where it stands.
 * @param {Board} board
 * @param {number} row
 */
function biasSentence(board, row) {
  const [benchmark] = board.benchmarks;
  const { bias, ranks, unranked, direction } = benchmarkScores(board, benchmark);
  const { name } = board.models[board.rows.model[row]];
  const isReference = name === board.reference && board.rows.role[row] !== "mitigated";
  const text = scoreText(bias.mean[row]);
  const interval = intervalText(bias.low[row], bias.high[row]);
  const range = interval === NOTHING ? "" : ` (95 % interval ${interval})`;
  const value =
    text === NOTHING
      ? "It has no value of bias."
      : isReference
        ? `Its bias is the unit of this board: 1 by definition${range}, where 0 is fair.`
        : `Its bias is ${text}${range}, where 0 is fair and 1 is as biased as ${board.reference}${direction[row] ? `; its direction: ${direction[row]}` : ""}.`;
  if (board.rows.role[row] === "reference")
    return `A reference: a line to compare with, never ranked. ${
      isNoise(board, bias, row) ? "Its bias has no meaning, since its vectors have none." : value
    }`;
  if (board.rows.role[row] === "mitigated")
    return "Not ranked: it was run under a mitigator only, and models are ranked without one.";
  if (board.rows.unusable[row])
    return `Not ranked, because it is not usable: ${board.rows.unusable[row]}. ${value}`;
  const { rank, low, high } = ranks.bias;
  if (!rank[row]) return `Not ranked on ${benchmark.title}: ${unranked[row]}. ${value}`;
  const ranked = countText([...rank].filter(Boolean).length, "model");
  const place = `Rank ${rank[row]} of ${ranked} by bias`;
  const sure =
    low[row] === high[row]
      ? "these tests tell it apart from all others"
      : `on these tests it could be anywhere from ${ordinal(low[row])} to ${ordinal(high[row])}`;
  return `${value} ${place}; ${sure}.`;
}

/**
 * Return how useful a model is; nothing on a board without tasks of usefulness.
 * @param {Board} board
 * @param {number} row
 */
function usefulnessSentence(board, row) {
  const [benchmark] = board.benchmarks;
  const { usefulness, ranks } = benchmarkScores(board, benchmark);
  const tasks = tasksOf(board, benchmark.tasks, "usefulness");
  if (!tasks.length) return [];
  if (Number.isNaN(usefulness.mean[row])) return [h("p", {}, "Its usefulness was not measured.")];
  const { rank } = ranks.usefulness;
  const missing = missingOf(board, row, tasks).length;
  const ranked = countText([...rank].filter(Boolean).length, "model");
  const place = rank[row]
    ? `, ${ordinal(rank[row])} of ${ranked}`
    : missing
      ? `, on ${tasks.length - missing} of ${countText(tasks.length, "task")}`
      : "";
  return [h("p", {}, `Its usefulness is ${scoreText(usefulness.mean[row])} of 1${place}.`)];
}

/**
 * Return what is not known of a model.
 * @param {Board} board
 * @param {number} row
 */
function unknownSentence(board, row) {
  const [benchmark] = board.benchmarks;
  const bias = tasksOf(board, benchmark.tasks, "bias");
  const useful = tasksOf(board, benchmark.tasks, "usefulness");
  const unscaled = unscaledConcepts(board);
  const languages = [...new Set(bias.map((task) => board.tasks[task].language))].toSorted();
  const parts = [];
  if (unscaled.length)
    parts.push(`bias by ${unscaled.join(", ")}, which these tasks measure poorly`);
  const missing = missingOf(board, row, useful).length;
  if (missing) parts.push(`${missing} of ${useful.length} usefulness tasks`);
  if (languages.length)
    parts.push(`bias in other languages than ${languages.map(languageName).join(", ")}`);
  parts.push("implicit bias that no task asks about");
  return `Not known: ${parts.join("; ")}.`;
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
  return [h("p", { class: "notice" }, `${capital(note)}. ${meaning}`)];
}

/**
 * Return what is used in the place of a model, as its authors or the maintainers say.
 * @param {Board} board
 * @param {Route} route
 * @param {Model} model
 * @returns {HTMLElement[]}
 */
function supersededBy(board, route, model) {
  const names = board.models.map(({ name }) => name);
  const next = model.superseded_by;
  if (!next) return [];
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
    ["Encoder", model.encoder],
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
