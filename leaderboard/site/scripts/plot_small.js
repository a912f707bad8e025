// @ts-check
// The small drawing of a value with its interval, for a cell of a table.
import { svg } from "./dom.js";
import { tenths } from "./plot_points.js";

const BAR = { width: 120, height: 16 };

/**
 * Return a value with its interval as a small drawing. The cells beside it have the numbers.
 * @param {number | null} value
 * @param {number | null} low NaN or null without an interval
 * @param {number | null} high
 * @param {{ low: number, high: number }} ends of the scale, the same in all rows of a table
 * @param {number} [width]
 */
export function intervalBar(value, low, high, ends, width = BAR.width) {
  const range = ends.high - ends.low || 1;
  const at = (/** @type {number} */ number) => {
    const share = Math.min(1, Math.max(0, (number - ends.low) / range));
    return tenths(4 + share * (width - 8));
  };
  const drawing = svg("svg", { ...BAR, width, class: "interval", "aria-hidden": "true" });
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
