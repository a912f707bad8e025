// @ts-check
// The points of a scatter plot: marks, intervals, lines between them, labels and the legend.
import { h, svg } from "./dom.js";
import { countText } from "./formats.js";
import { legendMark, markPath, placedLabels, seriesClass } from "./plot_marks.js";
import { isAtEdge } from "./plot_scale.js";
/** @import { Plot } from "./plot.js" */
/** @import { Box } from "./plot_marks.js" */

/**
 * Return the steps of the Pareto layers, the front on top.
 * @param {Plot} plot
 * @returns {SVGGElement}
 */
export function layerLines(plot) {
  const lines = plot.layers.map((members, layer) => {
    const places = members.map((i) => placeOf(plot, i));
    const steps = places.map(({ x, y }, i) => (i === 0 ? `M${x} ${y}` : `H${x}V${y}`));
    const name = layer === 0 ? "plot-front" : `plot-layer layer-${layer}`;
    return svg("path", { class: name, d: steps.join("") });
  });
  return svg("g", {}, lines.toReversed());
}

/**
 * Return the pixels of a point.
 * @param {Plot} plot
 * @param {number} i
 * @returns {{ x: number, y: number }}
 */
export function placeOf(plot, i) {
  const { points, y: axis } = plot.options;
  const { x, y } = points[i];
  const isBelow = isAtEdge(axis, points[i]);
  return {
    x: tenths(plot.scales.x.at(x)),
    y: tenths(isBelow ? plot.frame.bottom : plot.scales.y.at(y)),
  };
}

/**
 * @param {number} value
 * @returns {number} rounded
 */
export function tenths(value) {
  return Math.round(10 * value) / 10;
}

/**
 * @param {number} value
 * @param {number} low
 * @param {number} high
 * @returns {number} the value, or the end that it is beyond
 */
function within(value, low, high) {
  return tenths(Math.min(Math.max(value, low), high));
}

/**
 * Return the lines from models to the same models under a mitigator. Of many models only the
 * active one has them.
 * @param {Plot} plot
 * @returns {SVGPathElement}
 */
export function plotLeads(plot) {
  const path = plot.many ? [] : plot.shown.map((i) => leadPath(plot, i));
  return svg("path", { class: "plot-leads", d: path.join("") });
}

/**
 * @param {Plot} plot
 * @param {number} i
 * @returns {string}
 */
export function leadPath(plot, i) {
  const base = plot.options.points[i].base ?? -1;
  if (!plot.options.points[base]) return "";
  const [from, to] = [placeOf(plot, base), placeOf(plot, i)];
  if (Number.isNaN(from.x + from.y)) return "";
  return `M${from.x} ${from.y}L${to.x} ${to.y}`;
}

/**
 * Return the intervals of models as thin crosses.
 * @param {Plot} plot
 * @returns {SVGPathElement}
 */
export function plotCrosses(plot) {
  const path = withIntervals(plot).map((i) => crossPath(plot, i));
  return svg("path", { class: "plot-crosses", d: path.join("") });
}

/**
 * @param {Plot} plot
 * @param {number} i
 * @returns {string}
 */
export function crossPath(plot, i) {
  const { xEnds, yEnds } = plot.options.points[i];
  const { x, y } = placeOf(plot, i);
  const { frame, scales } = plot;
  let path = "";
  if (xEnds) {
    const [low, high] = xEnds.map((end) => within(scales.x.at(end), frame.left, frame.right));
    path += `M${low} ${y}H${high}`;
  }
  if (yEnds) {
    const [low, high] = yEnds.map((end) => within(scales.y.at(end), frame.top, frame.bottom));
    path += `M${x} ${low}V${high}`;
  }
  return path;
}

/**
 * Return the marks: a path for all points of one look.
 * @param {Plot} plot
 * @returns {SVGGElement}
 */
export function plotMarks(plot) {
  /** @type {Map<string, string[]>} */
  const paths = new Map();
  const front = new Set(plot.front);
  for (const i of plot.shown) {
    const { series, unusable, isFaint } = plot.options.points[i];
    const look = `${unusable ? " open" : ""}${isFaint ? " faint" : ""}`;
    const name = `mark ${seriesClass(series)}${look}${front.has(i) ? " front" : ""}`;
    const path = paths.get(name) ?? [];
    if (!path.length) paths.set(name, path);
    path.push(pointPath(plot, i));
  }
  const group = svg("g", { class: plot.many ? "plot-marks many" : "plot-marks" });
  for (const [name, path] of paths) group.append(svg("path", { class: name, d: path.join("") }));
  return group;
}

/**
 * @param {Plot} plot
 * @param {number} i
 * @returns {string}
 */
export function pointPath(plot, i) {
  const { x, y } = placeOf(plot, i);
  return markPath(plot.options.points[i].series, x, y, radiusOf(plot, i));
}

/**
 * @param {Plot} plot
 * @param {number} i
 * @returns {number}
 */
function radiusOf(plot, i) {
  const mitigated = plot.options.points[i].series > 0;
  if (plot.many) return mitigated ? 3.6 : 3;
  return mitigated ? 6 : 4.6;
}

/**
 * Return the labels that have room: of all models if they are few, else of the front.
 * @param {Plot} plot
 * @param {Box[]} taken
 * @returns {SVGGElement}
 */
export function plotLabels(plot, taken) {
  const { points } = plot.options;
  const models = plot.shown.filter((i) => points[i].series === 0);
  const rest = plot.many ? [] : models.filter((i) => !plot.front.includes(i));
  const named = [...plot.front, ...rest].map((i) => ({
    name: points[i].name,
    why: points[i].why,
    isFaint: points[i].isFaint,
    ...placeOf(plot, i),
  }));
  const obstacles = plot.many ? plot.front : plot.shown;
  taken.push(...obstacles.map((i) => boxOf(placeOf(plot, i), radiusOf(plot, i))));
  const group = svg("g", { class: "plot-labels" });
  for (const { text, x, y, anchor, isFaint } of placedLabels(named, taken, plot.frame)) {
    const name = isFaint ? "faint" : null;
    group.append(svg("text", { x, y, "text-anchor": anchor, class: name }, text));
  }
  return group;
}

/**
 * @param {{ x: number, y: number }} place
 * @param {number} r
 * @returns {Box}
 */
function boxOf({ x, y }, r) {
  return { left: x - r, right: x + r, top: y - r, bottom: y + r };
}

/**
 * Return what the shapes and lines mean.
 * @param {Plot} plot
 * @returns {HTMLElement}
 */
export function plotLegend(plot) {
  const { points, series } = plot.options;
  const used = series.map((_, i) => plot.shown.some((point) => points[point].series === i));
  const open = plot.shown.find((i) => points[i].unusable);
  const entries = series.flatMap((name, i) => (used[i] ? [h("li", {}, legendMark(i), name)] : []));
  if (open !== undefined) {
    const series = points[open].series;
    entries.push(h("li", {}, legendMark(series, false), "open: unusable or not ranked"));
  }
  if (plot.far) {
    const rows = countText(plot.far, "row");
    entries.push(h("li", {}, `${rows} under mitigators, unusable or not ranked, farther out`));
  }
  if (plot.front.length > 1) entries.push(h("li", {}, legendLine("plot-front"), "Pareto front"));
  if (plot.layers.slice(1).some((members) => members.length > 1)) {
    entries.push(h("li", {}, legendLine("plot-layer layer-1"), "next Pareto layers"));
  }
  if (plot.options.lines?.length) {
    entries.push(h("li", {}, legendLine("plot-reference"), "reference"));
  }
  return h("ul", { class: "plot-legend" }, entries);
}

/**
 * @param {string} name
 * @returns {SVGSVGElement}
 */
function legendLine(name) {
  const path = svg("path", { d: "M0 8H22", class: name });
  return svg("svg", { width: 22, height: 16, "aria-hidden": "true" }, path);
}

/**
 * Return the indices of the points whose intervals are always drawn.
 * @param {Plot} plot
 * @returns {number[]}
 */
export function withIntervals(plot) {
  return plot.many ? plot.front : plot.shown;
}
