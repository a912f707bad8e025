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
    const kind = byRanked[0]?.kind ?? null;
    return { page: kind ? "home" : "studies", kind, name: "", query };
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
  const search = new URLSearchParams(query).toString();
  return `#/${parts.join("/")}${search ? `?${search}` : ""}`;
}

/**
 * The view of a board without a query. A link leaves out what is as here.
 * @type {Readonly<View>}
 */
export const DEFAULT_VIEW = Object.freeze({
  benchmark: "",
  tasks: [],
  without: [],
  concept: "",
  leaks: false,
  minimum: "",
  q: "",
  mitigator: "",
  licence: "",
  weights: "",
  language: "",
  size: "",
  dims: "",
  released: "",
  complete: false,
  against: "none",
  by: "",
  sort: "",
  desc: false,
  cols: [],
  unfolded: false,
  toggled: [],
  rows: [],
});

/** What a text of an address must look like; all others are free. */
const PATTERNS = {
  weights: /^(yes|no)$/,
  size: /^(?=.*\d)\d{0,7}-\d{0,7}$/,
  dims: /^(?=.*\d)\d{0,7}-\d{0,7}$/,
  released: /^(?=.*\d)(\d{4}-\d\d-\d\d)?\.\.(\d{4}-\d\d-\d\d)?$/,
  against: /^(none|normalize)$/,
  minimum: /^(0|25|off)$/,
};
export const LONGEST_TEXT = 300;

/**
 * Return the view of an address. What is not known is ignored.
 * @param {URLSearchParams} query
 * @returns {View}
 */
export function viewOf(query) {
  const fields = Object.entries(DEFAULT_VIEW).map(([name, standard]) => {
    const texts = query.getAll(name).filter((text) => isText(name, text));
    if (Array.isArray(standard)) return [name, [...new Set(texts)]];
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
    if (Array.isArray(value)) value.forEach((text) => query.append(name, text));
    else if (value === true) query.set(name, "1");
    else if (value && value !== /** @type {any} */ (DEFAULT_VIEW)[name]) query.set(name, value);
  }
  return query;
}

/**
 * Show a view in the address, without a new entry in the history.
 * @param {Route} route
 * @param {View} view
 */
export function keepView(route, view) {
  try {
    history.replaceState(null, "", address(route.kind, route.page, route.name, queryOf(view)));
  } catch {
    // Some browsers refuse more than a hundred changes in half a minute. The next one has all.
  }
}
