// @ts-check
// The address of a view: `#/KIND/PAGE/NAME?QUERY`. Every text in it may come from a stranger.

/**
 * Return what an address leads to. A kind without a board is no kind.
 * @param {string} hash such as `#/text/model/NAME?benchmark=encoders`
 * @param {Site} site
 * @returns {Route}
 */
export function routeOf(hash, site) {
  const text = hash.replace(/^#\/?/, "");
  const cut = text.indexOf("?");
  const query = new URLSearchParams(cut < 0 ? "" : text.slice(cut + 1));
  const path = cut < 0 ? text : text.slice(0, cut);
  const parts = path.split("/").map(decoded);
  const kinds = site.boards.map((board) => board.kind);
  const first = /** @type {Kind} */ (parts[0]);
  if (kinds.includes(first)) {
    return { page: parts[1] || "home", kind: first, name: parts.slice(2).join("/"), query };
  }
  if (!first) {
    const byRanked = site.boards.toSorted((a, b) => b.ranked - a.ranked);
    return { page: "home", kind: byRanked[0]?.kind ?? null, name: "", query };
  }
  return { page: first, kind: null, name: parts.slice(1).join("/"), query };
}

/**
 * Return a part of an address, decoded if that can be done.
 * @param {string} text
 */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Return the address of a page.
 * @param {Kind | null} kind
 * @param {string} [page]
 * @param {string} [name]
 * @param {URLSearchParams | Record<string, string>} [query]
 */
export function address(kind, page = "home", name = "", query = {}) {
  const path = page === "home" ? [kind] : [kind, page, name];
  const parts = path.filter((part) => part).map((part) => encodeURIComponent(String(part)));
  const search = new URLSearchParams(query).toString().replace(/%(2F|3A)/g, decodeURIComponent);
  return `#/${parts.join("/")}${search ? `?${search}` : ""}`;
}

/**
 * The view of a board without a query. A link leaves out what is as here.
 * @type {Readonly<View>}
 */
export const DEFAULT_VIEW = Object.freeze({
  benchmark: "",
  tasks: [],
  concept: "",
  tongue: "",
  minimum: "",
  q: "",
  mitigator: "",
  encoder: "",
  licence: "",
  weights: "",
  language: "",
  size: "",
  dims: "",
  released: "",
  by: "",
  sort: "",
  desc: false,
  cols: [],
  unfolded: false,
  toggled: [],
  rows: [],
});

/**
 * Keys of an address that differ from the names of their fields, so that links are short. The name
 * is read, too.
 * @type {Partial<Record<keyof View, string>>}
 */
const KEYS = {
  benchmark: "on",
  tongue: "in",
  minimum: "min",
  mitigator: "with",
  language: "lang",
  released: "date",
  by: "plot",
  unfolded: "all",
  toggled: "open",
  rows: "row",
};

/** What a text of an address must look like; all others are free. */
const PATTERNS = {
  weights: /^(yes|no)$/,
  size: /^(?=.*\d)\d{0,7}-\d{0,7}$/,
  dims: /^(?=.*\d)\d{0,7}-\d{0,7}$/,
  released: /^(?=.*\d)(\d{4}-\d\d-\d\d)?\.\.(\d{4}-\d\d-\d\d)?$/,
  minimum: /^(\d|[1-9]\d|off)$/,
};
export const LONGEST_TEXT = 300;

/**
 * Return the view of an address. What is not known is ignored.
 * @param {URLSearchParams} query
 * @returns {View}
 */
export function viewOf(query) {
  const fields = Object.entries(DEFAULT_VIEW).map(([name, standard]) => {
    const key = KEYS[/** @type {keyof View} */ (name)] ?? name;
    const given = new Set([...query.getAll(key), ...query.getAll(name)]);
    const texts = [...given].filter((text) => isText(name, text));
    if (Array.isArray(standard)) return [name, texts];
    if (typeof standard === "boolean") return [name, texts[0] === "1"];
    return [name, texts[0] ?? standard];
  });
  return /** @type {View} */ (Object.fromEntries(fields));
}

/**
 * @param {string} name of a field
 * @param {string} text
 */
function isText(name, text) {
  const pattern = /** @type {Record<string, RegExp>} */ (PATTERNS)[name];
  return text !== "" && text.length <= LONGEST_TEXT && (!pattern || pattern.test(text));
}

/**
 * Return the query of a view, without what is as by default.
 * @param {View} view
 */
export function queryOf(view) {
  const query = new URLSearchParams();
  const fields = /** @type {[string, string | boolean | string[]][]} */ (Object.entries(view));
  for (const [name, value] of fields) {
    const key = KEYS[/** @type {keyof View} */ (name)] ?? name;
    if (Array.isArray(value)) value.forEach((text) => query.append(key, text));
    else if (value === true) query.set(key, "1");
    else if (value && value !== /** @type {any} */ (DEFAULT_VIEW)[name]) query.set(key, value);
  }
  return query;
}

/**
 * Show a view in the address: as a new entry of the history, to which Back leads, or in place of
 * the entry that is shown.
 * @param {Route} route
 * @param {View} view
 * @param {"push" | "replace"} step
 */
export function keepView(route, view, step) {
  const hash = address(route.kind, route.page, route.name, queryOf(view));
  if (hash === location.hash) return;
  savePlace();
  try {
    if (step === "push") history.pushState(history.state, "", hash);
    else history.replaceState(history.state, "", hash);
  } catch {
    // Some browsers refuse more than a hundred changes in half a minute. The next one has all.
  }
}

/** How far the page and its table are scrolled, as an entry of the history keeps it. */
/** @typedef {{ page: number, table: number }} Place */

/** Keep in the entry of the history how far the page and its table are scrolled. */
export function savePlace() {
  const table = document.querySelector(".virtual");
  /** @type {Place} */
  const place = { page: Math.round(window.scrollY), table: Math.round(table?.scrollTop ?? 0) };
  const { page, table: scrolled } = savedPlace() ?? { page: 0, table: 0 };
  if (place.page === page && place.table === scrolled) return;
  try {
    history.replaceState(place, "");
  } catch {
    // As above.
  }
}

/** Return the place that the entry of the history keeps; null for a new one. */
export function savedPlace() {
  return /** @type {Place | null} */ (history.state);
}

/** Scroll the page and its table to where they were, or to the top. */
export function returnToPlace() {
  const { page, table } = savedPlace() ?? { page: 0, table: 0 };
  const region = document.querySelector(".virtual");
  if (region) region.scrollTop = table;
  window.scrollTo({ top: page, behavior: "instant" });
}
