// @ts-check
// Bias against usefulness of the models of a view.
import { INCOMPLETE, MINIMUM, minimumAt } from "./choice.js";
import { choiceField, minimumText } from "./controls.js";
import { h } from "./dom.js";
import { finite } from "./filters.js";
import { publishedText, scoreText, sizeText } from "./formats.js";
import { reasonOf, whyOf } from "./model_cell.js";
import { scatter } from "./plot.js";
import { address } from "./state.js";
/** @import { Change } from "./controls.js" */

/** A published score can be plotted if so many models have it. */
const ENOUGH_PUBLISHED = 3;

/**
 * Return the choice of what is plotted, if there is one.
 * @param {Board} board
 * @param {View} view
 * @param {Change} change
 */
export function plotField(board, view, change) {
  /** @type {[string, string][]} */
  const options = plottable(board).map((by) => [by, `Bias by ${nameOfFact(by)}`]);
  if (!options.length) return null;
  options.unshift(["", "Bias against usefulness"]);
  return choiceField("Plot", options, view.by, (by) => change({ by }));
}

/**
 * Return the facts of models by which bias can be plotted.
 * @param {Board} board
 */
function plottable({ models }) {
  const names = models.flatMap(({ published }) => Object.keys(published));
  const often = [...new Set(names)].filter(
    (name) => names.filter((other) => other === name).length >= ENOUGH_PUBLISHED,
  );
  return [...(models.some(({ parameters }) => parameters) ? ["size"] : []), ...often.toSorted()];
}

/** @param {string} by */
function nameOfFact(by) {
  return by === "size" ? "size" : `published ${by}`;
}

/**
 * @param {Choice} choice
 * @param {RowGroup[]} groups
 * @param {string} title
 * @param {View} view
 * @param {(minimum: string, isFinal: boolean) => void} tryMinimum
 */
export function plotOfModels(choice, groups, title, { by, minimum }, tryMinimum) {
  const { board, benchmark } = choice;
  if (choice.isOwn) return "";
  if (!choice.hasBias) {
    return h("p", { class: "notice quiet" }, "No plot: no task of this choice measures bias.");
  }
  const isReference = (/** @type {RowGroup} */ { row }) => board.rows.role[row] === "reference";
  const references = groups.filter(isReference).map((group) => referenceLine(choice, group.row));
  const shown = groups.filter((group) => !isReference(group));
  const lines = [
    { label: "fair", x: 0, y: null },
    { label: `as biased as ${board.reference}`, x: 1, y: null },
    ...references,
  ];
  const isByFact = plottable(board).includes(by);
  const subject = isByFact ? `Bias by ${nameOfFact(by)}` : "Bias against usefulness";
  const unit = `0 = fair, 1 = as biased as ${board.reference}`;
  /** @type {PlotAxis} */
  const bias = { title: "Bias", unit, better: "low" };
  const options = {
    label: `${subject}: ${title}, ${benchmark.title}`,
    points: pointsOf(choice, shown),
    series: board.mitigators.map(({ label }) => (label === "none" ? "no mitigator" : label)),
  };
  if (!isByFact) {
    /** @type {PlotAxis} */
    const usefulness = { title: "Usefulness", unit: "1 = perfect", better: "high", hasEdge: true };
    const slider = sliderOf(choice, minimum, tryMinimum);
    return scatter({ ...options, x: bias, y: usefulness, lines, slider });
  }
  const facts = factsOf(board, by);
  const points = options.points.map((point) => ({
    ...point,
    x: facts.get(point.name) ?? NaN,
    xEnds: null,
    y: point.x,
    yEnds: point.xEnds,
  }));
  const flat = lines.map(({ label, x }) => ({ label, x: null, y: x }));
  return scatter({ ...options, points, x: axisOfFact(by), y: bias, lines: flat });
}

/**
 * Return the line of the minimum of usefulness: a share of the best model's, above random vectors.
 * @param {Choice} choice
 * @param {string} minimum
 * @param {(minimum: string, isFinal: boolean) => void} tryMinimum
 * @returns {PlotSlider | undefined}
 */
function sliderOf({ ends }, minimum, tryMinimum) {
  if (!ends) return undefined;
  const minimumOf = (/** @type {number} */ share) =>
    share === 0 ? "off" : share === 100 - MINIMUM ? "" : String(100 - share);
  return {
    label: "Minimum of usefulness",
    at: (share) => minimumAt(ends, minimumOf(share)),
    share: minimum === "off" ? 0 : 100 - Number(minimum || MINIMUM),
    text: (share) => {
      const value = scoreText(minimumAt(ends, minimumOf(share)));
      return share ? `minimum ${value}: ${minimumText(minimumOf(share))}` : "no minimum";
    },
    short: (share) =>
      share ? `minimum ${scoreText(minimumAt(ends, minimumOf(share)))}` : "no minimum",
    move: (share, isFinal) => tryMinimum(minimumOf(share), isFinal),
  };
}

/**
 * @param {string} by
 * @returns {PlotAxis}
 */
function axisOfFact(by) {
  if (by === "size") return { title: "Parameters", better: null, log: true, format: sizeText };
  return { title: `Published ${by}`, better: null, format: publishedText };
}

/**
 * Return the size or a published score of each model that has it.
 * @param {Board} board
 * @param {string} by
 * @returns {Map<string, number | null>}
 */
function factsOf({ models }, by) {
  return new Map(
    models.map((model) => [model.name, by === "size" ? model.parameters : model.published[by]]),
  );
}

/**
 * Return a point for each model and for each of its mitigated rows.
 * @param {Choice} choice
 * @param {RowGroup[]} groups
 * @returns {PlotPoint[]}
 */
export function pointsOf(choice, groups) {
  const { board, scores } = choice;
  /** @type {PlotPoint[]} */
  const points = [];
  for (const group of groups) {
    const base = points.length;
    for (const row of [group.row, ...group.children]) {
      points.push({
        name: board.models[board.rows.model[row]].name,
        series: board.rows.mitigator[row],
        x: scores.bias.mean[row],
        y: scores.usefulness.mean[row],
        layer: choice.layers.get(row) ?? null,
        isFaint: choice.below.has(group.row),
        xEnds: row === group.row ? endsAt(scores.bias, row) : null,
        yEnds: row === group.row ? endsAt(scores.usefulness, row) : null,
        unusable: reasonOf(choice, row) || (whyOf(choice, row) ? INCOMPLETE : null),
        why: whyOf(choice, row),
        href: address(board.kind, "model", board.models[board.rows.model[row]].name),
        base: row === group.row ? null : base,
      });
    }
  }
  return points;
}

/**
 * @param {Means} means
 * @param {number} row
 * @returns {[number, number] | null}
 */
function endsAt({ low, high }, row) {
  return Number.isNaN(low[row]) ? null : [low[row], high[row]];
}

/**
 * @param {Choice} choice
 * @param {number} row
 * @returns {PlotLine}
 */
function referenceLine({ board, scores }, row) {
  return {
    label: board.models[board.rows.model[row]].name,
    x: endsAt(scores.bias, row) && finite(scores.bias.mean[row]), // without ends it may be anything
    y: finite(scores.usefulness.mean[row]),
  };
}
