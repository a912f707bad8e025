// @ts-check
// A table of many rows of equal height, of which only those in sight are drawn, in sections.
import { cellAxis } from "./column_cells.js";
import { h } from "./dom.js";

/** Rows that are drawn above and below those in sight. */
const ROW_MARGIN = 8;
/** Most rows that are printed. */
const MOST_PRINTED = 2000;

/**
 * Return an empty table in a box that scrolls.
 * @param {{ name: string, sortBy: (column: TableColumn) => void }} options
 * @returns {VirtualTable}
 */
export function virtualTable({ name, sortBy }) {
  const caption = h("caption", { id: `${name}-caption` });
  const widths = h("colgroup");
  const head = h("tr", { "aria-rowindex": 1 });
  const above = h("td");
  const body = h("tbody");
  const below = h("td");
  const table = h(
    "table",
    { class: name },
    caption,
    widths,
    h("thead", {}, head),
    spacer(above),
    body,
    spacer(below),
  );
  const region = h(
    "div",
    { class: "scroll virtual", role: "region", tabindex: 0, "aria-labelledby": caption.id },
    table,
  );
  /** @type {VirtualTable} */
  const made = {
    element: region,
    parts: { table, caption, widths, head, above, body, below },
    columns: [],
    lines: [],
    drawn: new Map(),
    height: 0,
    titleHeight: 0,
    sortBy,
  };
  region.addEventListener("scroll", () => drawLines(made), { passive: true });
  body.addEventListener("keydown", (event) => moveBetweenRows(made, event));
  new ResizeObserver(() => {
    made.height = 0; // the style sheet has another for narrow windows
    drawLines(made);
  }).observe(region);
  printWhole(made);
  return made;
}

/**
 * Return what takes the room of rows that are not drawn.
 * @param {HTMLElement} cell
 */
function spacer(cell) {
  return h("tbody", { "aria-hidden": "true", class: "spacer" }, h("tr", {}, cell));
}

/**
 * Show other lines, columns or another order.
 * @param {VirtualTable} table
 * @param {{ caption: string, columns: TableColumn[], lines: Line[], sorted: string, descending: boolean }} content
 */
export function updateTable(table, { caption, columns, lines, sorted, descending }) {
  const focused = focusedControl(table);
  const { parts } = table;
  parts.caption.textContent = caption;
  table.lines = lines;
  if (headOf(columns) !== headOf(table.columns)) {
    drawHead(table, columns);
  }
  table.columns = columns;
  columns.forEach((column, i) => {
    const isSorted = column.key === sorted;
    const cell = /** @type {HTMLElement} */ (parts.head.children[i]);
    if (isSorted) cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
    else cell.removeAttribute("aria-sort");
  });
  parts.table.setAttribute("aria-rowcount", String(lines.length + 1));
  parts.body.replaceChildren();
  table.drawn.clear();
  drawLines(table);
  if (focused) focusControl(table, focused.row, focused.control);
}

/**
 * Return what the head of a table shows.
 * @param {TableColumn[]} columns
 */
function headOf(columns) {
  return JSON.stringify(columns.map(({ key, unit, axis }) => [key, unit, axis]));
}

/**
 * @param {VirtualTable} table
 * @param {TableColumn[]} columns
 */
function drawHead({ parts, sortBy }, columns) {
  // The names take the room that is left, and no less than their width.
  const widths = columns.map(({ width, narrow = width }) => [width, narrow]);
  const [wide, small] = [0, 1].map((i) => widths.reduce((sum, pair) => sum + pair[i], 0));
  parts.table.style.cssText = `--wide: ${wide}rem; --narrow: ${small}rem`;
  parts.widths.replaceChildren(
    ...columns.map(({ key }, i) => {
      const style = `--wide: ${widths[i][0]}rem; --narrow: ${widths[i][1]}rem`;
      return key === "model" ? h("col", { class: "names" }) : h("col", { style });
    }),
  );
  parts.head.replaceChildren(
    ...columns.map((column) => {
      const { key, title, tip, isNumber, unit, axis } = column;
      const name = [key === "model" && "model", isNumber && "number"].filter(Boolean).join(" ");
      const button = h(
        "button",
        { type: "button", class: "plain", title: tip, click: () => sortBy(column) },
        title,
      );
      const under = unit ? h("span", { class: "unit" }, unit) : null;
      const drawing = axis ? cellAxis(axis) : null;
      return h("th", { scope: "col", class: name || null }, button, under, drawing);
    }),
  );
}

/**
 * Draw the lines in sight that are not drawn, and remove the others.
 * @param {VirtualTable} table
 * @param {number} [most] draw so many from the first on, whatever is in sight
 */
function drawLines(table, most = 0) {
  const { element, lines, drawn, parts } = table;
  if (!table.height && lines.length) measureRows(table);
  const height = table.height || 1;
  const seen = element.clientHeight || window.innerHeight;
  const first = most ? 0 : Math.max(0, Math.floor(element.scrollTop / height) - ROW_MARGIN);
  const count = most || Math.ceil(seen / height) + 2 * ROW_MARGIN;
  const last = Math.min(lines.length, first + count);
  for (const [i, row] of drawn) {
    if (i >= first && i < last) continue;
    if (row.contains(document.activeElement)) element.focus({ preventScroll: true });
    row.remove();
    drawn.delete(i);
  }
  /** @type {Element | null} */
  let next = parts.body.firstElementChild;
  for (let i = first; i < last; i++) {
    const held = drawn.get(i);
    if (held) {
      next = held.nextElementSibling;
    } else {
      const row = drawLine(table, i);
      drawn.set(i, row);
      parts.body.insertBefore(row, next);
    }
  }
  parts.above.style.height = `${topOf(table, first)}px`;
  parts.below.style.height = `${topOf(table, lines.length) - topOf(table, Math.max(first, last))}px`;
}

/**
 * Find the heights of rows and of titles of sections, as the style sheet has them.
 * @param {VirtualTable} table
 */
function measureRows(table) {
  const heightOf = (/** @type {number} */ i) => {
    if (i < 0) return 0;
    const row = drawLine(table, i);
    table.parts.body.append(row);
    const { height } = row.getBoundingClientRect();
    row.remove();
    return height;
  };
  const { lines } = table;
  table.titleHeight = heightOf(lines.findIndex(({ row }) => row < 0));
  table.height = heightOf(lines.findIndex(({ row }) => row >= 0)) || table.titleHeight;
}

/**
 * Return where a line begins, in pixels. Titles of sections are few and lower than rows.
 * @param {VirtualTable} table
 * @param {number} i
 */
function topOf({ lines, height, titleHeight }, i) {
  let titles = 0;
  for (const title of lines.keys()) {
    if (title >= i) break;
    if (lines[title].row < 0) titles++;
  }
  return i * height - titles * (height - titleHeight);
}

/**
 * @param {VirtualTable} table
 * @param {number} i
 */
function drawLine({ columns, lines }, i) {
  const line = lines[i];
  const place = { "aria-rowindex": i + 2, "data-row": line.row };
  if (line.row < 0) {
    const title = h(
      "th",
      { colspan: columns.length, scope: "rowgroup" },
      h("span", {}, line.title),
    );
    return h("tr", { ...place, class: "section" }, title);
  }
  const cells = columns.map((column) => {
    const { key, isNumber } = column;
    const content = column.draw?.(line) ?? [textOf(column.value(line.row))];
    if (key === "model") return h("th", { scope: "row", class: "model" }, content);
    return h("td", { class: isNumber ? "number" : null }, content);
  });
  return h("tr", { ...place, class: line.name ?? null }, cells);
}

/**
 * @param {number | string | null} value
 */
function textOf(value) {
  return typeof value === "number" ? value.toLocaleString("en") : value;
}

/**
 * Return the control of a row that has the focus.
 * @param {VirtualTable} table
 */
function focusedControl({ parts }) {
  const focused = document.activeElement;
  if (!(focused instanceof HTMLElement) || !parts.body.contains(focused)) return null;
  const row = Number(focused.closest("tr")?.dataset.row);
  return { row, control: focused.dataset.control ?? "" };
}

/**
 * Move the focus to a control of a row, which is drawn if it is not.
 * @param {VirtualTable} table
 * @param {number} row
 * @param {string} control
 */
function focusControl(table, row, control) {
  const i = table.lines.findIndex((line) => line.row === row);
  if (i < 0) return false;
  const { element, parts } = table;
  const top = parts.head.getBoundingClientRect().height;
  if (topOf(table, i) < element.scrollTop) element.scrollTop = topOf(table, i);
  const bottom = topOf(table, i + 1) + top + parts.caption.offsetHeight;
  if (bottom > element.scrollTop + element.clientHeight) {
    element.scrollTop = bottom - element.clientHeight;
  }
  drawLines(table);
  const found = table.drawn.get(i)?.querySelector(`[data-control="${control}"]`);
  if (found instanceof HTMLElement) found.focus({ preventScroll: true });
  return Boolean(found);
}

/**
 * The arrow keys move from a control to the same one of the next row that has it.
 * @param {VirtualTable} table
 * @param {KeyboardEvent} event
 */
function moveBetweenRows(table, event) {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  const focused = focusedControl(table);
  if (!step || !focused?.control) return;
  event.preventDefault();
  const { lines } = table;
  for (let i = lines.findIndex(({ row }) => row === focused.row) + step; lines[i]; i += step) {
    if (lines[i].row >= 0 && focusControl(table, lines[i].row, focused.control)) return;
  }
}

/**
 * Draw all rows while the page is printed.
 * @param {VirtualTable} table
 */
function printWhole(table) {
  const listen = new AbortController();
  const draw = (/** @type {number} */ most) => {
    if (table.element.isConnected) drawLines(table, most);
    else listen.abort();
  };
  window.addEventListener("beforeprint", () => draw(MOST_PRINTED), { signal: listen.signal });
  window.addEventListener("afterprint", () => draw(0), { signal: listen.signal });
}
