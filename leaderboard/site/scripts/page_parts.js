// @ts-check
// What pages have in common: the trail back, facts, plain tables, and a line for unknown names.
import { noiseOf } from "./choice.js";
import { h } from "./dom.js";
import { NOTHING, intervalText, scoreText } from "./formats.js";
import { address } from "./state.js";
/** @import { Child } from "./dom.js" */
/** @import { RowPanel } from "./plot_rows.js" */

/** Rows that a table shows at first. */
const FIRST_ROWS = 100;

/**
 * A column of a plain table.
 * @typedef {object} PlainColumn
 * @property {string} title
 * @property {string} [of] says more to a screen reader where two columns have one title
 * @property {boolean} [number] whether it holds numbers
 * @property {string} [class]
 */

/**
 * Return the way back from a page: the board, the list of its kind of page, and the page.
 * @param {Site} site
 * @param {Route} route
 * @param {string} here title of the page
 * @param {[string, string][]} [between] titles and addresses of what lies between
 */
export function trail(site, route, here, between = []) {
  const board = site.boards.find(({ kind }) => kind === route.kind);
  /** @type {[string, string][]} */
  const start = board ? [[board.title, address(board.kind)]] : [[site.title, "#/"]];
  const steps = [...start, ...between].map(([title, href]) => h("li", {}, h("a", { href }, title)));
  const last = h("li", {}, h("span", { "aria-current": "page" }, here));
  return h("nav", { class: "trail", "aria-label": "You are here" }, h("ol", {}, steps, last));
}

/**
 * Return facts with their names; those without a value are left out.
 * @param {[string, Child | Child[]][]} facts
 */
export function factList(facts) {
  const known = facts.filter(([, value]) => !isNothing(value));
  return h(
    "dl",
    { class: "facts" },
    known.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
  );
}

/**
 * @param {Child | Child[]} value
 */
function isNothing(value) {
  return (
    value === null ||
    value === undefined ||
    value === "" ||
    value === false ||
    (Array.isArray(value) && !value.length)
  );
}

/**
 * Return a table whose rows are drawn when they are shown: the first hundred, and all on demand.
 * @param {string} caption
 * @param {PlainColumn[]} columns the first holds the header cells of the rows
 * @param {(() => (Child | Child[])[])[]} rows cells of each row
 */
export function plainTable(caption, columns, rows) {
  const body = h("tbody");
  const add = (/** @type {number} */ from, /** @type {number} */ to) =>
    body.append(...rows.slice(from, to).map((cells) => plainRow(columns, cells())));
  add(0, FIRST_ROWS);
  const head = columns.map((column) =>
    h(
      "th",
      { scope: "col", class: classOf(column) },
      column.title,
      column.of && h("span", { class: "visually-hidden" }, ` of ${column.of}`),
    ),
  );
  const table = h("table", {}, h("caption", {}, caption), h("thead", {}, h("tr", {}, head)), body);
  const place = h(
    "div",
    { class: "scroll", tabindex: 0, role: "group", "aria-label": caption },
    table,
  );
  if (rows.length <= FIRST_ROWS) return h("div", {}, place);
  const more = h("button", { type: "button" }, `Show all ${rows.length.toLocaleString("en")} rows`);
  more.addEventListener("click", () => {
    add(FIRST_ROWS, rows.length);
    more.remove();
    place.focus();
  });
  return h("div", {}, place, h("p", { class: "controls" }, more));
}

/**
 * @param {PlainColumn[]} columns
 * @param {(Child | Child[])[]} cells
 */
function plainRow(columns, cells) {
  return h(
    "tr",
    {},
    columns.map((column, i) => {
      const content = cells[i] ?? NOTHING;
      if (i > 0) return h("td", { class: classOf(column) }, content);
      return h("th", { scope: "row", class: classOf(column) }, content);
    }),
  );
}

/**
 * @param {PlainColumn} column
 */
function classOf(column) {
  return [column.number && "number", column.class].filter(Boolean).join(" ") || null;
}

/**
 * Say that a name is unknown, and which names are near it.
 * @param {HTMLElement} main
 * @param {Site} site
 * @param {Route} route
 * @param {string[]} names all names that are known
 */
export function unknownName(main, site, route, names) {
  const near = nearNames(route.name, names);
  const links = near.flatMap((name, i) => [
    i ? ", " : "",
    h("a", { href: address(route.kind, route.page, name) }, name),
  ]);
  main.append(
    trail(site, route, route.name),
    h("h1", {}, `Unknown ${route.page}`),
    h(
      "p",
      { role: "alert" },
      `This board has no ${route.page} '${route.name}'.`,
      near.length ? [" Near it: ", ...links, "."] : [],
    ),
    h("p", {}, h("a", { href: address(route.kind, route.page) }, `All ${route.page}s`)),
  );
}

/**
 * Return the names that share most pairs of letters with a name.
 * @param {string} name
 * @param {string[]} names
 */
function nearNames(name, names) {
  const own = pairsOf(name);
  const scored = names.map((other) => {
    const pairs = pairsOf(other);
    const shared = [...own].filter((pair) => pairs.has(pair)).length;
    return { other, score: (2 * shared) / (own.size + pairs.size || 1) };
  });
  const near = scored.filter(({ score }) => score >= 0.35).toSorted((a, b) => b.score - a.score);
  return near.slice(0, 3).map(({ other }) => other);
}

/**
 * @param {string} name
 */
function pairsOf(name) {
  const letters = [...` ${name.toLowerCase().slice(0, 200)} `];
  return new Set(letters.slice(1).map((letter, i) => letters[i] + letter));
}

/**
 * Return a description as a paragraph; nothing if it is empty.
 * @param {string} text
 */
export function descriptionOf(text) {
  return text ? [h("p", { class: "description" }, withCode(text))] : [];
}

/**
 * Return a text whose parts in backticks are code.
 * @param {string} text
 * @returns {Child[]}
 */
export function withCode(text) {
  const parts = text.split("`");
  if (parts.length % 2 === 0) return [text];
  return parts.map((part, i) => (i % 2 ? h("code", {}, part) : part));
}

/**
 * Return a value and, below it, its interval.
 * @param {number | null} value
 * @param {number | null} low
 * @param {number | null} high
 * @param {(value: number | null | undefined) => string} [format]
 * @returns {Child[]}
 */
export function withInterval(value, low, high, format = scoreText) {
  const interval = intervalText(low, high, format);
  return [
    format(value),
    interval === NOTHING ? null : h("small", { class: "under range" }, interval),
  ];
}

/**
 * Return a link to a page of the same board.
 * @param {Route} route
 * @param {"model" | "task" | "mitigator" | "benchmark"} page
 * @param {string} name
 * @param {string} [text]
 */
export function pageLink(route, page, name, text = name) {
  return h("a", { href: address(route.kind, page, name) }, text);
}

/**
 * Return a part of a page that is folded under a line.
 * @param {Child | Child[]} summary
 * @param {(Node | null)[]} content
 */
export function folded(summary, ...content) {
  return h("details", { class: "fold-part" }, h("summary", {}, summary), content);
}

/**
 * Replace what an element holds; parts with the same id stay unfolded.
 * @param {HTMLElement} place
 * @param {...Node} content
 */
export function replaceFolded(place, ...content) {
  const isOpen = [...place.querySelectorAll("details[open]")].map(({ id }) => id);
  place.replaceChildren(...content);
  for (const part of place.querySelectorAll("details")) {
    if (part.id && isOpen.includes(part.id)) part.open = true;
  }
}

/**
 * Return the panel of a chart for means of bias.
 * @param {Board} board
 * @returns {RowPanel}
 */
export function biasPanel(board) {
  const lines = [
    { label: "fair", value: 0 },
    { label: board.reference, value: 1 },
  ];
  return {
    title: `Bias: 1 = as biased as ${board.reference}, less is better`,
    words: "Bias",
    lines,
  };
}

/**
 * Return the panel of a chart for means of usefulness.
 * @param {Board} board
 * @param {Numbers} mean by row
 * @returns {RowPanel}
 */
export function usefulnessPanel(board, mean) {
  const noise = noiseOf(board, mean);
  return {
    title: "Usefulness: 1 = perfect, more is better",
    words: "Usefulness",
    lines: noise ? [{ label: "random vectors", value: noise }] : [],
  };
}
