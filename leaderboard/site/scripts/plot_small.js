// @ts-check
// Small drawings: the bar of an interval, and how values spread.
import { h, svg } from "./dom.js";
import { countText, medianOf, scoreText } from "./formats.js";
import { axisText, hint } from "./plot.js";
import {
  boxInside,
  boxesOverlap,
  labelBox,
  markPath,
  shortLabel,
  textWidth,
} from "./plot_marks.js";
import { tenths } from "./plot_points.js";
import { endsOf, scaleOf, tickText, ticksOf } from "./plot_scale.js";
/** @import { Scale } from "./plot_scale.js" */
/** @import { Box } from "./plot_marks.js" */

const BAR = { width: 120, height: 16 };
const STRIP = { height: 120, foot: 34, top: 22, dot: 7 };

/**
 * Return where the values of a small drawing stand, and round values of its axis.
 * @param {{ low: number, high: number }} ends
 * @param {number} width
 */
function barScale(ends, width) {
  const range = ends.high - ends.low || 1;
  const at = (/** @type {number} */ number) => {
    const share = Math.min(1, Math.max(0, (number - ends.low) / range));
    return tenths(4 + share * (width - 8));
  };
  return { at, ticks: ticksOf(ends.low, ends.high, 4) };
}

/**
 * Return a value with its interval as a small drawing, on the lines of its axis. The cells beside
 * it have the numbers.
 * @param {number | null} value
 * @param {number | null} low NaN or null without an interval
 * @param {number | null} high
 * @param {{ low: number, high: number }} ends of the scale, the same in all rows of a table
 * @param {number} [width]
 */
export function intervalBar(value, low, high, ends, width = BAR.width) {
  const { at, ticks } = barScale(ends, width);
  const drawing = smallDrawing(width, "interval");
  const lines = ticks.map((tick) => `M${at(tick)} 0V${BAR.height}`);
  drawing.append(svg("path", { class: "grid", d: lines.join("") }));
  if (ends.low <= 0 && ends.high >= 0) {
    drawing.append(svg("path", { class: "zero", d: `M${at(0)} 0V${BAR.height}` }));
  }
  if (value === null || !Number.isFinite(value)) return drawing;
  if (low !== null && high !== null && Number.isFinite(low + high)) {
    drawing.append(svg("path", { class: "whisker", d: `M${at(low)} 8H${at(high)}` }));
  }
  drawing.append(svg("circle", { cx: at(value), cy: 8, r: 3.5 }));
  return drawing;
}

/**
 * Return the axis of small drawings, for the head of their column.
 * @param {{ low: number, high: number }} ends
 * @param {number} [width]
 */
export function intervalAxis(ends, width = BAR.width) {
  const { at, ticks } = barScale(ends, width);
  const drawing = smallDrawing(width, "interval axis-of-column");
  for (const tick of ticks) {
    const text = tickText(tick, ends.high - ends.low).replace(/\.?0+$/, "") || "0";
    const x = Math.min(Math.max(at(tick), 8), width - 8);
    drawing.append(svg("text", { x, y: 11, "text-anchor": "middle" }, text));
  }
  return drawing;
}

/**
 * @param {number} width
 * @param {string} name
 */
function smallDrawing(width, name) {
  const viewBox = `0 0 ${width} ${BAR.height}`;
  return svg("svg", { ...BAR, width, viewBox, class: name, "aria-hidden": "true" });
}

/**
 * A value of a distribution.
 * @typedef {object} Spread
 * @property {number} value
 * @property {boolean} [marked] whether it is drawn in full, as the one that the page is about
 */

/**
 * Return how values spread: a dot each, in columns; columns that would be too high shrink.
 * @param {string} label
 * @param {Spread[]} values
 * @param {PlotAxis} axis
 * @param {{ label: string, value: number }[]} lines such as no change
 */
export function distribution(label, values, axis, lines = []) {
  const known = values.filter(({ value }) => Number.isFinite(value));
  if (!known.length) return h("p", { class: "notice quiet" }, `${label}: no value.`);
  const numbers = known.map(({ value }) => value);
  const { low, high } = endsOf(numbers);
  const summary = `${label}: ${countText(known.length, "value")} from ${scoreText(low)} to ${scoreText(high)}, median ${scoreText(medianOf(numbers))}`;
  const drawing = svg("svg", {
    class: "plot-drawing spread",
    height: STRIP.height,
    role: "img",
    "aria-label": summary,
  });
  const area = h("div", { class: "plot-area" }, drawing);
  let width = 0;
  new ResizeObserver(() => {
    if (!area.clientWidth || area.clientWidth === width) return;
    width = area.clientWidth;
    drawing.replaceChildren(...spreadParts(known, axis, lines, width));
  }).observe(area);
  return h("figure", { class: "plot" }, area, h("figcaption", {}, `${summary}.`));
}

/**
 * @param {Spread[]} values
 * @param {PlotAxis} axis
 * @param {{ label: string, value: number }[]} lines
 * @param {number} width
 */
function spreadParts(values, axis, lines, width) {
  const all = [...values, ...lines].map(({ value }) => value);
  const scale = scaleOf(all, 12, width - 12);
  const foot = STRIP.height - STRIP.foot;
  /** @type {SVGElement[]} */
  const parts = [svg("path", { class: "baseline", d: `M0 ${foot}H${width}` })];
  for (const tick of scale.ticks) {
    const x = scale.at(tick);
    parts.push(
      svg("text", { x, y: foot + 15, "text-anchor": "middle" }, axisText(axis, scale, tick)),
    );
  }
  const title = `${axis.title}${hint(axis, "left", "right")}`;
  parts.push(
    svg("text", { x: width, y: STRIP.height - 3, "text-anchor": "end", class: "title" }, title),
  );
  parts.push(...spreadLines(lines, scale, foot, width), ...spreadDots(values, scale, foot));
  return parts;
}

/**
 * @param {Spread[]} values
 * @param {Scale} scale
 * @param {number} foot
 */
function spreadDots(values, scale, foot) {
  /** @type {Map<number, Spread[]>} */
  const columns = new Map();
  for (const value of values) {
    const column = Math.round(scale.at(value.value) / STRIP.dot);
    columns.set(column, [...(columns.get(column) ?? []), value]);
  }
  const highest = Math.max(...[...columns.values()].map((column) => column.length));
  const step = Math.min(STRIP.dot, (foot - STRIP.top) / highest);
  const paths = { plain: "", marked: "" };
  for (const [column, members] of columns) {
    members.sort((a, b) => Number(b.marked ?? false) - Number(a.marked ?? false));
    for (const [i, { marked }] of members.entries()) {
      const path = markPath(0, column * STRIP.dot, foot - (i + 0.5) * step, marked ? 4.5 : 3);
      paths[marked ? "marked" : "plain"] += path;
    }
  }
  return [
    svg("path", { class: "mark series-0 dots", d: paths.plain }),
    svg("path", { class: "mark series-1", d: paths.marked }),
  ];
}

/**
 * @param {{ label: string, value: number }[]} lines
 * @param {Scale} scale
 * @param {number} foot
 * @param {number} width
 */
function spreadLines(lines, scale, foot, width) {
  const group = svg("g", { class: "plot-references" });
  /** @type {Box[]} */
  const taken = [];
  const frame = { left: 0, top: 0, right: width, bottom: foot };
  for (const { label, value } of lines) {
    const x = scale.at(value);
    const text = shortLabel(label);
    group.prepend(svg("path", { d: `M${x} 4V${foot}` })); // below all labels
    const box = [x + 4, x - 4 - textWidth(text)]
      .flatMap((left) => [12, 26].map((base) => labelBox(left, base, textWidth(text))))
      .find(
        (place) => boxInside(place, frame) && !taken.some((other) => boxesOverlap(place, other)),
      );
    if (!box) continue;
    taken.push(box);
    group.append(svg("text", { x: box.left, y: box.bottom - 3 }, text));
  }
  return [group];
}
