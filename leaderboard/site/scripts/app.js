// @ts-check
// The shell: finds the page of an address, loads the data of its board and draws it.
//
// Each script has one subject:
//   dom, data, formats            elements, data files, numbers as text
//   cells, scores                 the numbers of tasks and of benchmarks, as Python computed them
//   state, choice, filters        the address, the tasks and the rows that it asks for
//   table, columns, column_cells, model_cell   the table of models, drawn as far as it is in sight
//   controls, tasks_panel, exports             the form of the first screen
//   plot*, home_plot, published   drawings
//   cell_table, effect_table, page_parts       parts of other pages
//   pages/                        a page each
import { load } from "./data.js";
import { h } from "./dom.js";
import { benchmarkPage } from "./pages/benchmark.js";
import { comparePage } from "./pages/compare.js";
import { homePage } from "./pages/home.js";
import { itemWords, itemsPage } from "./pages/items.js";
import { mitigatorPage } from "./pages/mitigator.js";
import { modelPage } from "./pages/model.js";
import { taskPage } from "./pages/task.js";
import { address, returnToPlace, routeOf, savePlace, savedPlace } from "./state.js";

// What tests call, as properties of the global `harness`.
export { choose } from "./choice.js";
export { loaded } from "./data.js";
export { csvOf } from "./exports.js";
export { linesOf, rowName } from "./filters.js";
export { strengthText } from "./formats.js";
export { pointsOf } from "./home_plot.js";
export { scatter } from "./plot.js";
export { rowChart } from "./plot_rows.js";
export { DEFAULT_VIEW, queryOf } from "./state.js";
export { address, itemWords, load, pages };

/**
 * Pages by their names in the address. Each draws itself into an empty `main`, with an `h1`.
 * @type {Record<string, Page>}
 */
const pages = {
  benchmark: benchmarkPage,
  compare: comparePage,
  home: homePage,
  items: itemsPage,
  mitigator: mitigatorPage,
  model: modelPage,
  task: taskPage,
};

/** The page that is shown, without its query. */
let shownPage = "";
/** Counts drawings, so that a board that comes late does not replace a later page. */
let drawing = 0;

/** Milliseconds after the last scrolling at which the place is kept for Back. */
const STANDSTILL = 200;

document.addEventListener("DOMContentLoaded", () => {
  let timer = 0;
  const scrolled = () => {
    clearTimeout(timer);
    timer = window.setTimeout(savePlace, STANDSTILL);
  };
  history.scrollRestoration = "manual"; // a page has its height once its data are here
  document.addEventListener("scroll", scrolled, { capture: true, passive: true });
  document.addEventListener("click", savePlace, { capture: true });
  window.addEventListener("hashchange", () => {
    clearTimeout(timer); // what was scrolled belongs to the entry that was left
    void show();
  });
  part(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    focusHeading();
  });
  // What the page has without its script is of the home page.
  if (location.hash.length > 2) part("main").replaceChildren();
  void show();
});

/** Draw the page of the address. */
async function show() {
  const root = document.documentElement;
  const turn = ++drawing;
  root.removeAttribute("data-ready");
  try {
    const site = /** @type {Site} */ (await load("data/site.js"));
    const route = routeOf(location.hash, site);
    const entry = site.boards.find((board) => board.kind === route.kind);
    const board = entry ? /** @type {Board} */ (await load(entry.data)) : null;
    if (turn === drawing) draw(site, board, route);
  } catch (error) {
    if (turn === drawing) failed(error);
  }
  await painted();
  if (turn === drawing) root.setAttribute("data-ready", "");
}

/** Wait until what was drawn is on the screen: plots are drawn once they have a width. */
function painted() {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

/**
 * @param {Site} site
 * @param {Board | null} board
 * @param {Route} route
 */
function draw(site, board, route) {
  const page = [route.kind, route.page, route.name].join("/");
  const isOther = page !== shownPage;
  const isFirst = shownPage === "";
  const main = part("main");
  drawFrame(site, route);
  main.replaceChildren();
  main.className = `page-${Object.hasOwn(pages, route.page) ? route.page : "none"}`;
  const render = Object.hasOwn(pages, route.page) ? pages[route.page] : noPage;
  render(main, site, /** @type {Board} */ (board), route);
  const heading = main.querySelector("h1")?.textContent;
  document.title = [heading, site.title].filter((text) => text).join(" · ");
  shownPage = page;
  if (isOther || savedPlace()) returnToPlace();
  if (isFirst) return;
  const isInPlace = !isOther || savedPlace() !== null;
  if (isOther || document.activeElement === document.body) focusHeading(isInPlace);
}

/**
 * Draw what stands on every page: the links of the site and its foot.
 * @param {Site} site
 * @param {Route} route
 */
function drawFrame(site, route) {
  part(".brand").textContent = site.title;
  part("body > header nav").replaceChildren(
    ...site.menu.map(({ label, style, links }) =>
      h(
        "ul",
        { class: style || null, "aria-label": label },
        links.map((link) => menuItem(link, route)),
      ),
    ),
  );
  part("body > footer").replaceChildren(
    h("p", {}, `Built ${site.built} by harness ${site.harness}.`),
    h("ul", { "aria-label": "Files" }, site.files.map(fileLink)),
  );
}

/**
 * Return an item of the menu: it leads to the page of the shown board, if that has one.
 * @param {MenuLink} link
 * @param {Route} route
 */
function menuItem({ text, path, page }, { kind, page: shown, name }) {
  const isOfBoard = kind && page && page !== "home";
  const href = isOfBoard ? address(kind, page) : path.replace(/^index\.html#/, "#");
  const isCurrent = isOfBoard
    ? page === shown && !name
    : href === (kind ? address(kind) : `#/${shown}`);
  return h("li", {}, h("a", { href, "aria-current": isCurrent && "page" }, text));
}

/** @param {string} name */
function fileLink(name) {
  return h("li", {}, h("a", { href: name, download: true }, name));
}

/** @type {Page} */
function noPage(main) {
  main.append(
    h("h1", {}, "No such page"),
    h("p", {}, h("a", { href: "#/" }, "To the leaderboard")),
  );
}

/** @param {unknown} error */
function failed(error) {
  const reason = error instanceof Error ? error.message : String(error);
  part("main").replaceChildren(
    h("h1", {}, "The page cannot be shown"),
    h("p", { role: "alert" }, reason),
    h("p", {}, h("a", { href: "#/" }, "To the leaderboard")),
  );
}

/**
 * Move the focus to the heading of the page.
 * @param {boolean} [preventScroll]
 */
function focusHeading(preventScroll = false) {
  const heading = /** @type {HTMLElement} */ (document.querySelector("main h1") ?? part("main"));
  heading.tabIndex = -1;
  heading.focus({ preventScroll });
}

/**
 * Return the first element that a selector matches.
 * @param {string} selector
 */
function part(selector) {
  return /** @type {HTMLElement} */ (document.querySelector(selector));
}
