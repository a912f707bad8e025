// @ts-check
// The active point of a plot: the one under the pointer or in focus. It has a tooltip, its
// intervals, the lines to its mitigators and a link to the model's page.
import { compared } from "./cells.js";
import { h, svg } from "./dom.js";
import { seriesClass } from "./plot_marks.js";
import { crossPath, leadPath, placeOf, pointPath } from "./plot_points.js";
import { NARROW, tickText } from "./plot_scale.js";
/** @import { Plot } from "./plot.js" */

/** Farthest that a pointer is from the point that it means, in pixels. */
const POINTER_REACH = 22;

/**
 * Return a list box with one option, the active point, for the keyboard and for screen readers.
 * @param {Plot} plot
 * @returns {HTMLElement}
 */
export function listOfPoints(plot) {
  const { x, y } = plot.options;
  const list = h(
    "div",
    {
      class: "plot-points",
      role: "listbox",
      tabindex: 0,
      "aria-label": `Points of the plot, ${x.title} against ${y.title}: arrow keys move, Enter opens`,
      "aria-activedescendant": plot.tip.id,
      keydown: (/** @type {KeyboardEvent} */ event) => onKey(plot, event),
      focus: () => plot.active !== null && activatePoint(plot, plot.active, true),
      blur: () => closeTip(plot),
    },
    plot.tip,
  );
  return list;
}

/**
 * A mouse shows the point under it, and a click opens its page. A first tap shows the point that is
 * tapped, and a second one opens its page.
 * @param {Plot} plot
 * @param {HTMLElement} area
 */
export function listenToPointer(plot, area) {
  let isFirstTap = false;
  const follow = (/** @type {PointerEvent} */ event) => {
    const point = nearestPoint(plot, area, event);
    const isShown = plot.open && point === plot.active;
    if (event.type === "pointerdown") isFirstTap = event.pointerType === "touch" && !isShown;
    if (point === null) closeTip(plot);
    else if (!isShown) activatePoint(plot, point, true);
  };
  area.addEventListener("pointermove", follow);
  area.addEventListener("pointerdown", follow);
  area.addEventListener("pointerleave", (event) => {
    if (event.pointerType !== "touch") closeTip(plot);
  });
  area.addEventListener("click", (event) => {
    if (isFirstTap) event.preventDefault();
  });
}

/**
 * @param {Plot} plot
 * @param {HTMLElement} area
 * @param {PointerEvent} event
 * @returns {number | null}
 */
function nearestPoint(plot, area, event) {
  const box = area.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  let [best, least] = [/** @type {number | null} */ (null), POINTER_REACH ** 2];
  for (const i of plot.shown) {
    const place = placeOf(plot, i);
    const distance = (place.x - x) ** 2 + (place.y - y) ** 2;
    if (distance <= least) [best, least] = [i, distance];
  }
  return best;
}

/**
 * Make a point the active one.
 * @param {Plot} plot
 * @param {number} i
 * @param {boolean} open whether its tooltip is shown
 */
export function activatePoint(plot, i, open) {
  plot.active = i;
  plot.open = open;
  const { points } = plot.options;
  plot.tip.replaceChildren(...tipLines(plot, i).map((line) => h("span", {}, line)));
  plot.tip.classList.toggle("shown", open);
  plot.overlay.replaceChildren();
  if (!open) return;
  const base = points[i].base ?? i;
  const family = plot.shown.filter((j) => j === base || points[j].base === base);
  const path = family.map((j) => leadPath(plot, j)).join("");
  plot.overlay.append(
    svg("path", { class: "plot-leads", d: path }),
    svg("path", { class: "plot-crosses", d: crossPath(plot, i) }),
    ...family.map((j) => {
      const { series, unusable } = points[j];
      const name = `mark ${seriesClass(series)}${unusable ? " open" : ""}`;
      return svg("path", { class: name, d: pointPath(plot, j) });
    }),
    pointLink(plot, i),
  );
  placeTip(plot, i);
}

/**
 * @param {Plot} plot
 */
function closeTip(plot) {
  if (plot.open && plot.active !== null) activatePoint(plot, plot.active, false);
}

/**
 * Return a ring around a point that leads to its page.
 * @param {Plot} plot
 * @param {number} i
 * @returns {SVGElement}
 */
function pointLink(plot, i) {
  const { x, y } = placeOf(plot, i);
  const ring = svg("circle", { cx: x, cy: y, r: 10, class: "plot-ring" });
  const { href } = plot.options.points[i];
  return href ? svg("a", { href, tabindex: -1 }, ring) : ring;
}

/**
 * Return the lines of a tooltip: the point, and others at the same place.
 * @param {Plot} plot
 * @param {number} i
 * @returns {string[]}
 */
function tipLines(plot, i) {
  const { points, series, x, y } = plot.options;
  const { name, xEnds, yEnds, unusable } = points[i];
  const title = series.length > 1 ? `${name} · ${series[points[i].series]}` : name;
  const lines = [
    title,
    `${x.title} ${valueText(x, points[i].x, xEnds)}`,
    `${y.title} ${valueText(y, points[i].y, yEnds)}`,
  ];
  if (unusable) lines.push(`not counted: ${unusable}`);
  const here = placeOf(plot, i);
  const close = plot.shown.filter((j) => {
    const place = placeOf(plot, j);
    return j !== i && Math.hypot(place.x - here.x, place.y - here.y) < 5;
  });
  const names = close.slice(0, 3).map((j) => {
    const other = points[j];
    return other.name === name ? series[other.series] : `${other.name} · ${series[other.series]}`;
  });
  if (close.length > 3) names.push(`${close.length - 3} more`);
  if (names.length) lines.push(`at the same place: ${names.join(", ")}`);
  return lines;
}

/**
 * @param {PlotAxis} axis
 * @param {number} value
 * @param {[number, number] | null} [ends]
 * @returns {string}
 */
function valueText(axis, value, ends) {
  if (Number.isNaN(value)) return "not measured";
  const format = axis.format ?? ((/** @type {number} */ number) => tickText(number, 0.1));
  const unit = axis.unit ? `; ${axis.unit}` : "";
  const range = ends ? ` (${format(ends[0])} to ${format(ends[1])})` : "";
  return `${format(value)}${range}${unit}`;
}

/**
 * Put the tooltip beside its point, within the plot.
 * @param {Plot} plot
 * @param {number} i
 */
function placeTip(plot, i) {
  const { x, y } = placeOf(plot, i);
  const { style, offsetWidth, offsetHeight } = plot.tip;
  const left = x + 16 + offsetWidth <= plot.width ? x + 16 : x - 16 - offsetWidth;
  const isAbove = y > (plot.frame.top + plot.frame.bottom) / 2;
  const ends = isAbove ? 0 : plot.frame.bottom - offsetHeight;
  const beside = isAbove ? y - offsetHeight - 12 : y + 14;
  style.left = `${Math.max(0, Math.min(left, plot.width - offsetWidth))}px`;
  // On a narrow plot the tooltip stands at the end that is farther from its point.
  style.top = `${Math.max(0, plot.width < NARROW ? ends : beside)}px`;
}

/**
 * @param {Plot} plot
 * @param {KeyboardEvent} event
 */
function onKey(plot, event) {
  const { points } = plot.options;
  if (plot.active === null) return;
  const by = event.key === "ArrowUp" || event.key === "ArrowDown" ? "y" : "x";
  const valueOf = (/** @type {number} */ i) =>
    Number.isNaN(points[i][by]) ? -Infinity : points[i][by];
  const order = plot.shown.toSorted((a, b) => compared(valueOf(a), valueOf(b)) || a - b);
  const place = order.indexOf(plot.active);
  const last = order.length - 1;
  /** @type {Record<string, number>} */
  const moves = {
    ArrowRight: place + 1,
    ArrowUp: place + 1,
    ArrowLeft: place - 1,
    ArrowDown: place - 1,
    Home: 0,
    End: last,
  };
  if (event.key in moves) {
    activatePoint(plot, order[Math.max(0, Math.min(last, moves[event.key]))], true);
  } else if (event.key === "Enter") {
    const { href } = points[plot.active];
    if (href) location.href = href;
  } else if (event.key === "Escape") {
    closeTip(plot);
  } else {
    return;
  }
  event.preventDefault();
}
