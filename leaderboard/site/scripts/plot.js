// @ts-check
// A scatter plot of points with intervals, such as bias against usefulness. All points of one look
// are one path, so that thousands are drawn at once.
import { h, svg } from "./dom.js";
import { activatePoint, listOfPoints, listenToPointer } from "./plot_active.js";
import { plotSlider } from "./plot_slider.js";
import {
  layerLines,
  placeOf,
  plotCrosses,
  plotLabels,
  plotLeads,
  plotLegend,
  plotMarks,
  withIntervals,
} from "./plot_points.js";
import { referenceLines } from "./plot_references.js";
import { NARROW, endsOf, frontOf, isAtEdge, scaleOf, tickText } from "./plot_scale.js";
/** @import { Scale } from "./plot_scale.js" */
import { labelBox, textWidth } from "./plot_marks.js";
/** @import { Box } from "./plot_marks.js" */

/**
 * A drawn plot.
 * @typedef {object} Plot
 * @property {PlotOptions} options
 * @property {number[]} shown indices of the points with both values, in drawing order
 * @property {number} far number of mitigated points that are left out, see `withoutFar`
 * @property {number[]} front indices of the Pareto front
 * @property {number[][]} layers indices of the Pareto layers; the first is the front
 * @property {boolean} many whether only the front has labels and intervals
 * @property {number} width
 * @property {{ x: Scale, y: Scale }} scales
 * @property {number | null} active index of the point under the pointer or in focus
 * @property {boolean} open whether the tooltip is open
 * @property {boolean} isLabelRight whether the label of the slider stands at the right
 * @property {SVGSVGElement} drawing
 * @property {SVGGElement} overlay what the active point adds
 * @property {HTMLElement} tip
 * @property {Box} frame
 */

/** With more models than this only the front has labels and intervals. */
const FEW_MODELS = 40;
const PLOT_MARGIN = { left: 46, right: 14, top: 26, bottom: 42 };
let plotCount = 0;

/**
 * Return a scatter plot. It is drawn when it has a width, and again when the width changes.
 * @param {PlotOptions} options
 * @returns {HTMLElement}
 */
export function scatter(options) {
  const plot = emptyPlot(options);
  if (!plot.shown.length) {
    return h("p", { class: "notice quiet" }, `${options.label}: no point has both values.`);
  }
  const area = h("div", { class: "plot-area" }, plot.drawing, listOfPoints(plot));
  const slider = options.slider ? plotSlider(plot, options.slider, area) : null;
  new ResizeObserver(() => {
    if (!area.clientWidth || area.clientWidth === plot.width) return;
    drawPlot(plot, area.clientWidth);
    slider?.place();
  }).observe(area);
  listenToPointer(plot, area);
  return h(
    "figure",
    { class: "plot", "aria-label": options.label },
    area,
    plotLegend(plot),
    options.caption ? h("figcaption", {}, options.caption) : null,
  );
}

/**
 * @param {PlotOptions} options
 * @returns {Plot}
 */
function emptyPlot(options) {
  const { points, x, y } = options;
  const standing = [...points.keys()].filter(
    (i) => canStand(x, points[i].x) && (canStand(y, points[i].y) || isAtEdge(y, points[i])),
  );
  const shown = withoutFar(points, standing);
  const models = shown.filter((i) => points[i].series === 0);
  // Models as they are lie on top and are smaller, so that a mitigated one that stands at the same
  // place looks out below.
  shown.sort((a, b) => points[b].series - points[a].series);
  plotCount += 1;
  return {
    options,
    shown,
    far: standing.length - shown.length,
    front: layersIn(options, models)[0] ?? [],
    layers: layersIn(options, models),
    many: models.length > FEW_MODELS,
    width: 0,
    scales: { x: scaleOf([], 0, 1), y: scaleOf([], 0, 1) },
    active: null,
    open: false,
    isLabelRight: false,
    drawing: svg("svg", { class: "plot-drawing", "aria-hidden": "true" }),
    overlay: svg("g", { class: "plot-active" }),
    tip: h("div", {
      class: "plot-tip",
      role: "option",
      id: `plot-tip-${plotCount}`,
      "aria-selected": "true",
    }),
    frame: { left: 0, top: 0, right: 0, bottom: 0 },
  };
}

/**
 * Return the points without the mitigated ones that are not usable and stand farther out than all
 * others and their intervals: they would take the room of those that are.
 * @param {PlotPoint[]} points
 * @param {number[]} standing
 */
function withoutFar(points, standing) {
  const isOpen = (/** @type {number} */ i) => points[i].series !== 0 && points[i].unusable;
  const others = points.filter((_, i) => !isOpen(i));
  const { low, high } = endsOf([0, ...others.flatMap(({ x, xEnds }) => [x, ...(xEnds ?? [])])]);
  return standing.filter((i) => !isOpen(i) || (points[i].x >= low && points[i].x <= high));
}

/**
 * Return the indices of the models in each Pareto layer: those that say so, or of the front alone
 * as their values say.
 * @param {PlotOptions} options
 * @param {number[]} models
 * @returns {number[][]}
 */
function layersIn({ points, x, y }, models) {
  const candidates = models.map((i) => {
    return { x: points[i].x, y: points[i].y, usable: !points[i].unusable };
  });
  const isSaid = x.better && y.better && models.some((i) => points[i].layer !== undefined);
  if (!isSaid) return [frontOf(candidates, x, y).map((i) => models[i])];
  const count = 1 + Math.max(-1, ...models.map((i) => points[i].layer ?? -1));
  return Array.from({ length: count }, (_, layer) =>
    models.filter((i) => points[i].layer === layer).toSorted((a, b) => points[a].x - points[b].x),
  );
}

/**
 * @param {Plot} plot
 * @param {number} width
 */
function drawPlot(plot, width) {
  const height = Math.round(Math.min(440, Math.max(320, width * 0.4)));
  plot.width = width;
  plot.frame = {
    left: PLOT_MARGIN.left,
    top: PLOT_MARGIN.top,
    right: width - PLOT_MARGIN.right,
    bottom: height - PLOT_MARGIN.bottom,
  };
  const { x, y } = valuesOf(plot);
  plot.scales.x = scaleOf(x, plot.frame.left, plot.frame.right, plot.options.x.log);
  plot.scales.y = scaleOf(y, plot.frame.bottom, plot.frame.top, plot.options.y.log);
  plot.drawing.setAttribute("height", String(height));
  const { lines, labels: taken } = referenceLines(plot);
  const { slider } = plot.options;
  if (slider) {
    const text = (width < NARROW ? slider.short : slider.text)(slider.share);
    const base = plot.scales.y.at(slider.at(slider.share)) - 8;
    const [left, right] = [
      labelBox(plot.frame.left + 8, base, textWidth(text)),
      labelBox(plot.frame.right - 30 - textWidth(text), base, textWidth(text)),
    ];
    plot.isLabelRight = marksIn(plot, left) > marksIn(plot, right);
    taken.push(plot.isLabelRight ? right : left);
  }
  const parts = [
    plotAxes(plot),
    lines,
    layerLines(plot),
    plotLeads(plot),
    plotCrosses(plot),
    plotMarks(plot),
  ];
  plot.drawing.replaceChildren(...parts, plotLabels(plot, taken), plot.overlay);
  activatePoint(plot, plot.active ?? plot.front[0] ?? plot.shown[plot.shown.length - 1], plot.open);
}

/**
 * Return how many marks a box would cover.
 * @param {Plot} plot
 * @param {Box} box
 */
function marksIn(plot, box) {
  return plot.shown.filter((i) => {
    const { x, y } = placeOf(plot, i);
    return x > box.left - 5 && x < box.right + 5 && y > box.top - 5 && y < box.bottom + 5;
  }).length;
}

/**
 * Return the values that the axes must hold.
 * @param {Plot} plot
 * @returns {{ x: number[], y: number[] }}
 */
function valuesOf(plot) {
  const { points, lines = [] } = plot.options;
  const x = lines.flatMap((line) => line.x ?? []);
  const y = lines.flatMap((line) => line.y ?? []);
  if (plot.options.slider) y.push(plot.options.slider.at(0));
  for (const i of plot.shown) {
    x.push(points[i].x);
    y.push(points[i].y);
  }
  for (const i of withIntervals(plot)) {
    x.push(...(points[i].xEnds ?? []));
    y.push(...(points[i].yEnds ?? []));
  }
  return { x, y };
}

/**
 * @param {Plot} plot
 * @returns {SVGGElement}
 */
function plotAxes(plot) {
  const { frame, scales, options } = plot;
  const group = svg("g", { class: "plot-axes" });
  for (const tick of scales.x.ticks) {
    const x = scales.x.at(tick);
    const text = axisText(options.x, scales.x, tick);
    group.append(
      svg("path", { d: `M${x} ${frame.top}V${frame.bottom}` }),
      svg("text", { x, y: frame.bottom + 16, "text-anchor": "middle" }, text),
    );
  }
  for (const tick of scales.y.ticks) {
    const y = scales.y.at(tick);
    const text = axisText(options.y, scales.y, tick);
    group.append(
      svg("path", { d: `M${frame.left} ${y}H${frame.right}` }),
      svg("text", { x: frame.left - 6, y: y + 4, "text-anchor": "end" }, text),
    );
  }
  const right = { x: frame.right, y: frame.bottom + 35, "text-anchor": "end", class: "title" };
  group.append(
    svg("text", right, titleOf(options.x, plot.width, "left", "right")),
    svg("text", { x: 4, y: 14, class: "title" }, titleOf(options.y, plot.width, "down", "up")),
  );
  return group;
}

/**
 * Return whether an axis has a place for a value.
 * @param {PlotAxis} axis
 * @param {number} value
 * @returns {boolean}
 */
function canStand(axis, value) {
  return Number.isFinite(value) && (!axis.log || value > 0);
}

/**
 * @param {PlotAxis} axis
 * @param {Scale} scale
 * @param {number} tick
 * @returns {string}
 */
function axisText(axis, scale, tick) {
  return axis.format?.(tick) ?? tickText(tick, scale.high - scale.low);
}

/**
 * Return the title of an axis, with its unit if it has room.
 * @param {PlotAxis} axis
 * @param {number} width of the plot
 * @param {string} low
 * @param {string} high
 */
function titleOf(axis, width, low, high) {
  const title = `${axis.title}${hint(axis, low, high)}`;
  const whole = axis.unit ? `${title}: ${axis.unit}` : title;
  return textWidth(whole) < width - PLOT_MARGIN.left ? whole : title;
}

/**
 * @param {PlotAxis} axis
 * @param {string} low
 * @param {string} high
 * @returns {string}
 */
function hint(axis, low, high) {
  return axis.better ? ` (${axis.better === "low" ? low : high} is better)` : "";
}
