// @ts-check
// The address of a view: `#/KIND/PAGE/NAME?QUERY`. Every text in it may come from a stranger.
"use strict";

/**
 * Return what an address leads to. A kind without a board is no kind.
 * @param {string} hash such as `#/text/model/NAME?benchmark=encoders`
 * @param {Site} site
 * @returns {Route}
 */
function routeOf(hash, site) {
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
    const kind = kinds[0] ?? null;
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
function address(kind, page = "home", name = "", query = {}) {
  const path = page === "home" ? [kind] : [kind, page, name];
  const parts = path.filter((part) => part).map((part) => encodeURIComponent(String(part)));
  const search = new URLSearchParams(query).toString();
  return `#/${parts.join("/")}${search ? `?${search}` : ""}`;
}
