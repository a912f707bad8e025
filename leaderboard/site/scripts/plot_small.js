// @ts-check
// The small drawing of a value with its interval, for a cell of a table.
import { svg } from "./dom.js";
import { tenths } from "./plot_points.js";
import { tickText, ticksOf } from "./plot_scale.js";

const BAR = { width: 120, height: 16 };

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
