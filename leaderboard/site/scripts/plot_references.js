// @ts-check
// The lines of a plot to compare with, such as fair and random vectors.
import { svg } from "./dom.js";
import { boxInside, boxesOverlap, labelBox, shortLabel, textWidth } from "./plot_marks.js";
/** @import { Box } from "./plot_marks.js" */
/** @import { Plot } from "./plot.js" */

/** Most characters of a label of a line. */
const LONGEST = 48;

/**
 * Return the lines to compare with, and the places of their labels.
 * @param {Plot} plot
 * @returns {{ lines: SVGGElement, labels: Box[] }}
 */
export function referenceLines(plot) {
  const { frame, scales } = plot;
  const group = svg("g", { class: "plot-references" });
  const lines = plot.options.lines ?? [];
  const paths = lines.map(({ x, y }) => {
    const upright = x === null ? "" : `M${scales.x.at(x)} ${frame.top}V${frame.bottom}`;
    return upright + (y === null ? "" : `M${frame.left} ${scales.y.at(y)}H${frame.right}`);
  });
  group.append(svg("path", { d: paths.join("") }));
  /** @type {Box[]} */
  const labels = [];
  for (const line of lines) {
    const text = shortLabel(line.label, LONGEST);
    const boxes = referencePlaces(plot, line, textWidth(text)).filter((box) =>
      boxInside(box, frame),
    );
    const others = lines.flatMap((other) =>
      other.x === null || other === line ? [] : scales.x.at(other.x),
    );
    const free = boxes.filter((box) => !labels.some((label) => boxesOverlap(box, label)));
    const clear = free.find((box) => !others.some((x) => x > box.left && x < box.right)) ?? free[0];
    if (!clear) continue;
    labels.push(clear);
    group.append(svg("text", { x: clear.left, y: clear.bottom - 3 }, text));
  }
  return { lines: group, labels };
}

/**
 * Return where the label of a line can stand, the best place first.
 * @param {Plot} plot
 * @param {PlotLine} line
 * @param {number} width of the label
 * @returns {Box[]}
 */
function referencePlaces({ frame, scales }, { x, y }, width) {
  const places = [];
  if (y !== null) {
    for (const left of [frame.right - width - 4, frame.left + 6]) {
      places.push([left, scales.y.at(y) - 5], [left, scales.y.at(y) + 14]);
    }
  }
  if (x !== null) {
    for (const base of [frame.bottom - 6, frame.bottom - 22, frame.top + 12]) {
      places.push([scales.x.at(x) - 5 - width, base], [scales.x.at(x) + 5, base]);
    }
  }
  return places.map(([left, base]) => labelBox(left, base, width));
}
