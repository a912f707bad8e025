// @ts-check
// The first screen: the answer, bias against usefulness, and one row a model.
import { choose, knownView } from "../choice.js";
import { columnsOf, shownColumns } from "../columns.js";
import { columnFields, filterFields, minimumField, searchField } from "../controls.js";
import { h } from "../dom.js";
import { exportButton, exportedRows } from "../exports.js";
import { linesOf } from "../filters.js";
import { countText, languageName } from "../formats.js";
import { plotField, plotOfModels } from "../home_plot.js";
import { drawCompareLink, modelColumn } from "../model_cell.js";
import { address, keepView, viewOf } from "../state.js";
import { updateTable, virtualTable } from "../table.js";
import { taskFields } from "../tasks_panel.js";
/** @import { Change } from "../controls.js" */

/** Fields of the view that are typed into. */
const TYPED = new Set(["q", "size", "dims", "released"]);
/** Milliseconds after the last change at which what is slow or read aloud follows. */
const PAUSE = 150;

/** @type {Page} */
export const homePage = (main, site, board, route) => {
  const screen = new HomeScreen(site, board, route);
  main.append(
    h("h1", {}, screen.title),
    screen.answers,
    h(
      "section",
      { "aria-label": "Choice of models and tasks" },
      screen.minimum.element,
      taskFields(board, screen.view, screen.change),
      plotField(board, screen.view, screen.change),
    ),
    screen.plot,
    h("div", { class: "head" }, h("h2", {}, "Models"), screen.status, screen.notices),
    screen.form(),
    screen.table.element,
    ...board.judged.map((line) => h("p", {}, line)),
  );
  screen.draw();
};

/** The parts of the first screen, and the view that they show. */
export class HomeScreen {
  /**
   * @param {Site} site
   * @param {Board} board
   * @param {Route} route
   */
  constructor(site, board, route) {
    this.site = site;
    this.board = board;
    this.route = route;
    this.title = boardTitle(site, board);
    this.view = knownView(board, viewOf(route.query));
    this.choice = choose(board, this.view);
    this.answers = h("div", { class: "answers" });
    this.notices = h("div", { class: "notices" });
    /** @type {BoardView | null} whose notices are shown */
    this.noticed = null;
    this.plot = h("div", { class: "plot-place" });
    this.minimum = minimumField(this.view, this.change);
    this.status = h("p", { role: "status" });
    this.compare = h("span");
    this.table = virtualTable({ name: "models", sortBy: (column) => this.sortBy(column) });
    this.pause = 0;
    /** The fields that changed last. */
    this.changed = "";
    /** @type {Lines} */
    this.shown = { lines: [], groups: [], models: 0, ranked: 0 };
    /** @type {TableColumn[]} */
    this.columns = [];
    this.known = { choice: this.choice, columns: columnsOf(this.choice) };
  }

  /**
   * Change fields of the view, and draw what depends on them. Each change is a step of the history,
   * but for the letters of a field that is typed into.
   * @type {Change}
   */
  change = (changes) => {
    this.view = { ...this.view, ...changes };
    const fields = Object.keys(changes).join();
    const isTyping = TYPED.has(fields) && fields === this.changed;
    this.changed = fields;
    keepView(this.route, this.view, isTyping ? "replace" : "push");
    this.drawTable();
    clearTimeout(this.pause);
    this.pause = window.setTimeout(() => this.drawSlowly(), PAUSE);
  };

  /**
   * Show what a minimum of usefulness would do while its line is dragged; at the end, choose it.
   * @param {string} minimum
   * @param {boolean} isFinal
   */
  tryMinimum = (minimum, isFinal) => {
    this.minimum.show(minimum);
    if (isFinal) {
      this.change({ minimum });
    } else {
      this.view = { ...this.view, minimum };
      this.drawTable();
    }
  };

  draw() {
    this.drawTable();
    this.drawSlowly();
  }

  drawTable() {
    const { board, view } = this;
    this.choice = choose(board, view);
    const columns = this.allColumns();
    const sorted = columns.find(({ key }) => key === view.sort) ?? null;
    const name = modelColumn(this);
    this.shown = linesOf(this.choice, view, view.sort === "model" ? name : sorted);
    const hasMitigated = this.shown.lines.some((line) => line.name?.endsWith("mitigated"));
    this.columns = [name, ...shownColumns(columns, view, hasMitigated)];
    if (this.columns[1]?.key === "rank") this.columns.splice(0, 2, this.columns[1], name);
    updateTable(this.table, {
      caption: captionOf(this.choice, this.title),
      columns: this.columns,
      lines: this.shown.lines,
      sorted: sorted || view.sort === "model" ? view.sort : "rank",
      descending: view.desc,
    });
    drawCompareLink(this);
  }

  /** Return all columns after the names; new ones only if their numbers are new. */
  allColumns() {
    const { choice, known } = this;
    const isKnown =
      known.choice.computed === choice.computed &&
      known.choice.tasks.join() === choice.tasks.join();
    if (!isKnown) this.known = { choice, columns: columnsOf(choice) };
    return this.known.columns;
  }

  /** Draw what need not follow each key. */
  drawSlowly() {
    if (!this.table.element.isConnected) return; // another page is shown by now
    const { models, ranked } = this.shown;
    this.status.textContent = `${countText(models, "model")}, ${ranked.toLocaleString("en")} of them ranked`;
    this.drawAnswers();
    this.drawNotices(this.choice.computed);
    const { groups } = this.shown;
    const focused = document.activeElement?.getAttribute("role");
    const isOnLine = focused === "slider";
    this.plot.hidden = this.choice.isOwn;
    this.plot.replaceChildren(
      plotOfModels(this.choice, groups, this.title, this.view, this.tryMinimum),
    );
    const line = /** @type {HTMLElement | null} */ (this.plot.querySelector("[role=slider]"));
    if (isOnLine) line?.focus({ preventScroll: true });
  }

  drawAnswers() {
    const { isOwn, computed } = this.choice;
    this.answers.replaceChildren(
      isOwn
        ? h(
            "p",
            {},
            "The values of single tasks. A mean and ranks of them are made by ",
            ownBoard(this.choice),
          )
        : h("p", {}, ...linkedName(this.board, computed.finding)),
    );
  }

  /** Draw the notices; an unfolded list stays so. @param {BoardView} computed */
  drawNotices(computed) {
    if (computed === this.noticed) return;
    this.noticed = computed;
    const { site, board } = this;
    const notices = [...site.notices, ...board.notices, ...computed.notices];
    this.notices.replaceChildren(...noticesOf(notices));
  }

  /** @param {TableColumn} column */
  sortBy({ key, highIsBest = false }) {
    const { sort, desc } = this.view;
    const isSorted = (sort || "rank") === key;
    this.change({ sort: key === "rank" ? "" : key, desc: isSorted ? !desc : highIsBest });
  }

  form() {
    const reset = h("a", { href: address(this.board.kind) }, "Reset");
    return h(
      "div",
      { class: "view", role: "search" },
      h("div", { class: "controls" }, searchField(this.view, this.change), reset, this.compare),
      h(
        "div",
        { class: "folds" },
        filterFields(this.board, this.view, this.change),
        columnFields(this.allColumns(), this.view, this.change),
        exportButton(() => this.exported()),
      ),
    );
  }

  exported() {
    return exportedRows(this.board, this.columns, this.shown.lines);
  }
}

/**
 * @param {Site} site
 * @param {Board} board
 */
export function boardTitle({ boards }, { kind }) {
  return boards.find((entry) => entry.kind === kind)?.title ?? kind;
}

/**
 * Return the command that builds a board of single tasks.
 * @param {Choice} choice
 */
function ownBoard({ board, tasks }) {
  const names = tasks.map((task) => board.tasks[task].name).join(",");
  return h("code", {}, `harness leaderboard build RESULTS --out FOLDER --tasks ${names}`);
}

/**
 * @param {Choice} choice
 * @param {string} title
 */
export function captionOf({ board, tasks, benchmark, computed, isOwn }, title) {
  const parts = ["bias", "usefulness"].flatMap((measures) => {
    const members = tasks.filter((task) => board.tasks[task].measures === measures);
    if (!members.length) return [];
    const families = new Set(members.map((task) => board.tasks[task].family)).size;
    const noun = measures === "bias" ? ["method"] : ["family", "families"];
    return `${countText(members.length, `${measures} task`)} (${countText(families, noun[0], noun[1])})`;
  });
  const { concept, language } = computed;
  const name = [benchmark.title, concept, language && languageName(language)].filter(Boolean);
  const what = isOwn ? "single tasks" : name.join(", ");
  return `${title}, ${what}: ${parts.join(", ")}. Intervals: 95 %`;
}

/**
 * Return a sentence whose first words, if they name a model, lead to its page.
 * @param {Board} board
 * @param {string} text
 */
function linkedName(board, text) {
  const names = board.models.map(({ name }) => name).filter((name) => text.startsWith(`${name} `));
  if (!names.length) return [text];
  const name = names.reduce((best, found) => (found.length > best.length ? found : best));
  return [h("a", { href: address(board.kind, "model", name) }, name), text.slice(name.length)];
}

/** @param {string[]} notices */
function noticesOf(notices) {
  if (!notices.length) return [];
  const list = notices.map((text) => h("li", {}, text));
  const summary = h("summary", {}, countText(notices.length, "notice"));
  return [h("details", { class: "notice" }, summary, h("ul", {}, list))];
}
