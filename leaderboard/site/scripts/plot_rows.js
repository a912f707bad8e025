// @ts-check
// A chart with a line for each row, such as a concept: points with intervals on one scale, beside
// the same in words. It is a table, so that a screen reader reads it, and its links are those of
// the keyboard. Places are percentages: nothing is drawn again when the width changes.
import { h, svg } from "./dom.js";
import { markPath, seriesClass, shortLabel } from "./plot_marks.js";
import { endsOf, scaleOf, tickText } from "./plot_scale.js";
/** @import { Child } from "./dom.js" */
/** @import { Scale } from "./plot_scale.js" */

/**
 * A point with its interval.
 * @typedef {object} RowMark
 * @property {number} value
 * @property {number} [low] NaN without an interval
 * @property {number} [high]
 * @property {number} [series] its shape and colour
 * @property {"full" | "open" | "crossed"} [form]
 */

/**
 * What a row has in a panel.
 * @typedef {object} RowCell
 * @property {RowMark[]} marks
 * @property {number[]} [others] values of others, drawn as faint ticks
 * @property {"shown" | "not shown"} [change] a line from the first mark to the second one
 * @property {[number, number]} [band] a range behind the marks, such as a floor
 * @property {boolean} [isAside] whether the scale need not hold it, such as noise
 * @property {Child | Child[]} words what is drawn, in words
 */

/**
 * @typedef {object} RowPanel
 * @property {string} title with the unit
 * @property {string} words title of the column of words
 * @property {{ label: string, value: number }[]} lines such as fair
 */

/**
 * @typedef {object} RowLine
 * @property {Child | Child[]} head
 * @property {RowCell[]} cells a panel each
 */

/** Rows that are drawn at first. */
const FIRST_LINES = 40;
/** Most ticks of others in a row: more are drawn as those at even distances in their order. */
const MOST_OTHERS = 60;
/** Places on an axis as of a drawing of this width, for the number of ticks; drawn in percent. */
const WIDTH = 480;
const MARGIN = 8;
const LINE_HEIGHT = 15;

/**
 * Return a chart of rows; a line of text if there is none.
 * @param {string} caption
 * @param {string} first title of the column of names
 * @param {RowPanel[]} panels
 * @param {RowLine[]} rows
 * @param {HTMLElement | null} [legend]
 */
export function rowChart(caption, first, panels, rows, legend = null) {
  if (!rows.length) return h("p", { class: "quiet" }, `${caption}: no value.`);
  const scales = panels.map((panel, i) =>
    scaleOfCells(
      panel,
      rows.map(({ cells }) => cells[i]).filter(({ isAside }) => !isAside),
    ),
  );
  const body = h("tbody", { role: "rowgroup" });
  const add = (/** @type {RowLine[]} */ some) =>
    body.append(...some.map((row) => chartRow(panels, scales, row)));
  add(rows.slice(0, FIRST_LINES));
  const titles = panels.flatMap((panel, i) => [
    h(
      "th",
      { scope: "col", role: "columnheader", class: "drawing" },
      panel.title,
      axisOf(panel, scales[i]),
    ),
    h("th", { scope: "col", role: "columnheader", class: "words" }, panel.words),
  ]);
  const head = h(
    "tr",
    { role: "row" },
    h("th", { scope: "col", role: "columnheader", class: "name" }, first),
    titles,
  );
  const table = h(
    "table",
    { class: `row-chart panels-${panels.length}`, role: "table" },
    h("caption", {}, caption),
    h("thead", { role: "rowgroup" }, head),
    body,
  );
  const chart = h("figure", { class: "rows" }, legend, table);
  if (rows.length > FIRST_LINES) {
    const more = h("button", { type: "button" }, `Show all ${rows.length.toLocaleString("en")}`);
    more.addEventListener("click", () => {
      add(rows.slice(FIRST_LINES));
      more.remove();
    });
    chart.append(h("p", { class: "controls" }, more));
  }
  return chart;
}

/**
 * Return the scale of a panel. It holds all values; intervals widen it to thrice their
 * range at most, since a wide one would leave the others no room.
 * @param {RowPanel} panel
 * @param {RowCell[]} cells
 */
function scaleOfCells({ lines }, cells) {
  const values = [
    ...lines.map(({ value }) => value),
    ...cells.flatMap(({ marks, others = [] }) => [...marks.map(({ value }) => value), ...others]),
  ];
  const { low, high } = endsOf(values);
  const room = high - low || 0.5;
  const ends = cells
    .flatMap(({ marks, band = [] }) => [...band, ...marks.flatMap((mark) => [mark.low, mark.high])])
    .map((end) => Math.min(high + room, Math.max(low - room, end ?? NaN)));
  return scaleOf([low, high, ...ends], MARGIN, WIDTH - MARGIN);
}

/**
 * @param {RowPanel[]} panels
 * @param {Scale[]} scales
 * @param {RowLine} row
 */
function chartRow(panels, scales, { head, cells }) {
  const parts = cells.flatMap((cell, i) => [
    h(
      "td",
      { role: "cell", class: cell.marks.length ? "drawing" : "drawing empty" },
      rowDrawing(panels[i], scales[i], cell),
    ),
    h("td", { role: "cell", class: "words", "data-title": panels[i].words }, cell.words),
  ]);
  return h(
    "tr",
    { role: "row" },
    h("th", { scope: "row", role: "rowheader", class: "name" }, head),
    parts,
  );
}

/**
 * @param {RowPanel} panel
 * @param {Scale} scale
 * @param {RowCell} cell
 */
function rowDrawing({ lines }, scale, { marks, others = [], change, band }) {
  const at = placeOn(scale);
  const upright = (/** @type {string} */ name, /** @type {number} */ value, [y1, y2] = [0, 100]) =>
    svg("line", { class: name, x1: at(value), x2: at(value), y1: `${y1}%`, y2: `${y2}%` });
  /** @type {SVGElement[]} */
  const parts = [];
  if (band?.every(Number.isFinite)) {
    const width = Number.parseFloat(at(band[1])) - Number.parseFloat(at(band[0]));
    parts.push(
      svg("rect", { class: "band", x: at(band[0]), width: percent(width), height: "100%" }),
    );
  }
  parts.push(
    ...scale.ticks.map((tick) => upright("grid", tick)),
    ...lines.map(({ value }) => upright(value === 0 ? "zero" : "reference-line", value)),
  );
  const ticks = others.filter(Number.isFinite).toSorted((a, b) => a - b);
  const step = Math.max(1, ticks.length / MOST_OTHERS);
  for (let i = 0; i < ticks.length; i += step) {
    parts.push(upright("other", ticks[Math.floor(i)], [32, 68]));
  }
  // One below the other, so that none covers another.
  const known = marks
    .map((mark, i) => ({ mark, y: percent((100 * (i + 0.8)) / (marks.length + 0.6)) }))
    .filter(({ mark }) => Number.isFinite(mark.value));
  const beyond = (/** @type {RowMark} */ { value }) =>
    value < scale.low ? -1 : value > scale.high ? 1 : 0;
  parts.push(...known.flatMap(({ mark, y }) => (beyond(mark) ? [] : whiskers(mark, scale, y))));
  if (change && known.length === 2) {
    const name = change === "shown" ? "change" : "change not-shown";
    const [before, after] = known.map(({ mark, y }) => ({ x: at(mark.value), y }));
    const ends = { x1: before.x, x2: after.x, y1: before.y, y2: after.y };
    parts.push(svg("line", { class: name, ...ends }));
  }
  for (const { mark, y } of known) {
    parts.push(markOf(mark, at(mark.value), y, beyond(mark)));
  }
  return svg("svg", { "aria-hidden": "true", class: "row-drawing" }, parts);
}

/**
 * Return where values stand; those beyond the scale stand at its end.
 * @param {Scale} scale
 */
function placeOn(scale) {
  return (/** @type {number} */ value) => {
    return percent(Math.min(99.5, Math.max(0.5, (100 * scale.at(value)) / WIDTH)));
  };
}

/** @param {number} share */
function percent(share) {
  return `${share.toFixed(2)}%`;
}

/**
 * Return the interval of a mark; an end that is beyond the scale has an arrow.
 * @param {RowMark} mark
 * @param {Scale} scale
 * @param {string} y
 */
function whiskers({ low = NaN, high = NaN, series = 0 }, scale, y) {
  if (!Number.isFinite(low + high)) return [];
  const at = placeOn(scale);
  const name = `whisker ${seriesClass(series)}`;
  /** @type {SVGElement[]} */
  const parts = [svg("line", { class: name, x1: at(low), x2: at(high), y1: y, y2: y })];
  for (const [end, arrow] of /** @type {[number, string][]} */ ([
    [low, "M4-4L0 0L4 4"],
    [high, "M-4-4L0 0L-4 4"],
  ])) {
    if (end >= scale.low && end <= scale.high) continue;
    const path = svg("path", { class: name, d: arrow });
    parts.push(svg("svg", { x: at(end), y, overflow: "visible" }, path));
  }
  return parts;
}

/**
 * Return the shape of a mark; an arrow for one that is beyond the scale.
 * @param {RowMark} mark
 * @param {string} x
 * @param {string} y
 * @param {number} [beyond] -1 if it is below the scale, 1 if it is above
 */
function markOf({ series = 0, form = "full" }, x, y, beyond = 0) {
  const shape = form === "crossed" ? "M-5-5L5 5M5-5L-5 5" : markPath(series, 0, 0, 5);
  const arrow = `M${-9 * beyond}-5L${2 * beyond} 0L${-9 * beyond} 5z`;
  const name = `mark ${form} ${seriesClass(series)}`;
  const path = svg("path", { d: beyond ? arrow : shape });
  return svg("svg", { x, y, class: name, overflow: "visible" }, path);
}

/**
 * Return the numbers of a scale, and above them the names of the lines.
 * @param {RowPanel} panel
 * @param {Scale} scale
 */
function axisOf({ lines }, scale) {
  const at = placeOn(scale);
  const names = lines.map(({ label, value }, i) => {
    const isRight = scale.at(value) > WIDTH / 2;
    const place = { x: at(value), y: LINE_HEIGHT * (i + 1) - 3 };
    const text = isRight ? `${shortLabel(label)} ↴` : `⤷ ${shortLabel(label)}`;
    return svg(
      "text",
      { ...place, class: "label", "text-anchor": isRight ? "end" : "start" },
      text,
    );
  });
  const height = LINE_HEIGHT * (lines.length + 1) + 2;
  const numbers = scale.ticks.map((tick) =>
    svg(
      "text",
      { x: at(tick), y: height - 5, "text-anchor": "middle" },
      tickText(tick, scale.high - scale.low),
    ),
  );
  return svg("svg", { "aria-hidden": "true", class: "row-axis", height }, names, numbers);
}

/**
 * Return what the marks of a chart mean.
 * @param {[RowMark | "others" | "shown" | "not shown" | "band", string][]} entries
 */
export function rowLegend(entries) {
  const items = entries.map(([sign, text]) => h("li", {}, legendSign(sign), text));
  return h("ul", { class: "plot-legend" }, items);
}

/** @param {RowMark | "others" | "shown" | "not shown" | "band"} sign */
function legendSign(sign) {
  const drawing = svg("svg", {
    width: 28,
    height: 16,
    "aria-hidden": "true",
    class: "row-drawing sign",
  });
  if (sign === "others") {
    drawing.append(
      ...[8, 14, 20].map((x) => svg("line", { class: "other", x1: x, x2: x, y1: 3, y2: 13 })),
    );
  } else if (sign === "band") {
    drawing.append(svg("rect", { class: "band", width: 28, height: 16 }));
  } else if (typeof sign === "string") {
    const name = sign === "shown" ? "change" : "change not-shown";
    drawing.append(svg("line", { class: name, x1: 1, x2: 27, y1: 8, y2: 8 }));
  } else {
    if (Number.isFinite(sign.low)) {
      const name = `whisker ${seriesClass(sign.series ?? 0)}`;
      drawing.append(svg("line", { class: name, x1: 1, x2: 27, y1: 8, y2: 8 }));
    }
    drawing.append(markOf(sign, "14", "8"));
  }
  return drawing;
}
