// @ts-check
// Shapes, labels and lines of a plot, as paths: thousands of marks are a few elements.
import { svg } from "./dom.js";

/**
 * Paths of the shapes, around a point; the first is for models as they are.
 * @type {((x: number, y: number, r: number) => string)[]}
 */
const MARK_SHAPES = [
  (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
  (x, y, r) => `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
  (x, y, r) => polygonPath(x, y, r * 1.35, 4, 0),
  (x, y, r) => polygonPath(x, y, r * 1.3, 3, 0),
  (x, y, r) => polygonPath(x, y, r * 1.3, 3, Math.PI),
  (x, y, r) => polygonPath(x, y, r * 1.15, 6, 0),
  (x, y, r) => starPath(x, y, r * 1.5, 5),
  (x, y, r) => starPath(x, y, r * 1.5, 4),
];
/** Most characters of a label. */
const LONGEST_LABEL = 28;
const LABEL_SIZE = 12;

/**
 * @param {number} x
 * @param {number} y
 * @param {number} r
 * @param {number} corners
 * @param {number} turn
 * @returns {string}
 */
function polygonPath(x, y, r, corners, turn) {
  return closedPath(
    Array.from({ length: corners }, (_, i) => [r, turn + (2 * Math.PI * i) / corners]),
    x,
    y,
  );
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} r
 * @param {number} rays
 * @returns {string}
 */
function starPath(x, y, r, rays) {
  const corners = Array.from({ length: 2 * rays }, (_, i) => [
    i % 2 ? 0.45 * r : r,
    (Math.PI * i) / rays,
  ]);
  return closedPath(corners, x, y);
}

/**
 * Return the path of corners in polar coordinates, clockwise from the top.
 * @param {number[][]} corners radius and angle
 * @param {number} x
 * @param {number} y
 * @returns {string}
 */
function closedPath(corners, x, y) {
  const places = corners.map(([r, turn]) => {
    return `${(x + r * Math.sin(turn)).toFixed(1)} ${(y - r * Math.cos(turn)).toFixed(1)}`;
  });
  return `M${places.join("L")}z`;
}

/**
 * Return the path of the mark of a series; after the last shape, the first mitigator's follows.
 * @param {number} series
 * @param {number} x
 * @param {number} y
 * @param {number} r
 * @returns {string}
 */
export function markPath(series, x, y, r) {
  const shape = series === 0 ? 0 : 1 + ((series - 1) % (MARK_SHAPES.length - 1));
  return MARK_SHAPES[shape](Math.round(10 * x) / 10, Math.round(10 * y) / 10, r);
}

/**
 * Return the class of the colour of a series.
 * @param {number} series
 * @returns {string}
 */
export function seriesClass(series) {
  return `series-${series === 0 ? 0 : 1 + ((series - 1) % (MARK_SHAPES.length - 1))}`;
}

/**
 * Return a small drawing of the mark of a series, for a legend.
 * @param {number} series
 * @param {boolean} [usable]
 * @returns {SVGSVGElement}
 */
export function legendMark(series, usable = true) {
  const path = svg("path", { d: markPath(series, 8, 8, 5) });
  return svg(
    "svg",
    {
      width: 16,
      height: 16,
      "aria-hidden": "true",
      class: `mark ${seriesClass(series)}${usable ? "" : " open"}`,
    },
    path,
  );
}

/**
 * Return a name that is short enough for a label.
 * @param {string} name
 * @param {number} [most]
 * @returns {string}
 */
export function shortLabel(name, most = LONGEST_LABEL) {
  const characters = [...name];
  if (characters.length <= most) return name;
  return `${characters.slice(0, most - 1).join("")}…`;
}

/**
 * A place that is taken.
 * @typedef {{ left: number, top: number, right: number, bottom: number }} Box
 */

/**
 * Return the labels that have room near their points, in the order of `points`: above or below,
 * where they cover no interval, and else beside.
 * @param {{ name: string, x: number, y: number, why?: string, isFaint?: boolean }[]} points in
 *   pixels; `why` stands after the name
 * @param {Box[]} taken places without a label; the labels are added
 * @param {Box} frame
 * @returns {{ text: string, x: number, y: number, anchor: string, isFaint?: boolean }[]}
 */
export function placedLabels(points, taken, frame) {
  const labels = [];
  for (const { name, x, y, why, isFaint } of points) {
    const text = why ? `${shortLabel(name)}: ${why}` : shortLabel(name);
    const width = textWidth(text);
    for (const [at, base, side] of [
      [x + 4, y - 8, 0],
      [x + 4, y + 17, 0],
      [x - 4, y - 8, 1],
      [x - 4, y + 17, 1],
      [x + 9, y + 4, 0],
      [x - 9, y + 4, 1],
    ]) {
      const box = labelBox(at - side * width, base, width);
      if (!boxInside(box, frame) || taken.some((other) => boxesOverlap(box, other))) continue;
      taken.push(box);
      labels.push({ text, x: at, y: base, anchor: side ? "end" : "start", isFaint });
      break;
    }
  }
  return labels;
}

/**
 * @param {number} left
 * @param {number} base
 * @param {number} width
 * @returns {Box}
 */
export function labelBox(left, base, width) {
  return { left, top: base - 11, right: left + width, bottom: base + 3 };
}

/**
 * Return about how wide a text is, in pixels.
 * @param {string} text
 * @returns {number}
 */
export function textWidth(text) {
  let width = 0;
  for (const character of text) {
    width += LABEL_SIZE * (character > "\u2e80" ? 1 : /[A-Zmw@%]/.test(character) ? 0.72 : 0.56);
  }
  return width;
}

/**
 * @param {Box} box
 * @param {Box} frame
 * @returns {boolean}
 */
export function boxInside(box, frame) {
  return (
    box.left >= frame.left &&
    box.right <= frame.right &&
    box.top >= frame.top &&
    box.bottom <= frame.bottom
  );
}

/**
 * @param {Box} a
 * @param {Box} b
 * @returns {boolean}
 */
export function boxesOverlap(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
