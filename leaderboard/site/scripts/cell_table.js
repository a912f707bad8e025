// @ts-check
// Tables of cells: the values of a row on tasks, or of a task for rows. The details of cells are
// loaded on demand.
import { cellsOf } from "./cells.js";
import { load, numbers } from "./data.js";
import { h } from "./dom.js";
import { NOTHING, pText, scoreText, strengthText, yardstickText } from "./formats.js";
import { plainTable, replaceFolded, withInterval } from "./page_parts.js";
import { itemsLink } from "./pages/items.js";
import { endsOf } from "./plot_scale.js";
import { intervalBar } from "./plot_small.js";
/** @import { Child } from "./dom.js" */

/** Details of boards with more cells than this are loaded when they are asked for. */
const MANY_CELLS = 60_000;
/** @type {[number, string][]} */
const FLAG_TEXTS = [
  [2, "↔ reversed: the association points the other way"],
  [4, "◐ some texts have no vector"],
  [8, "some texts are truncated"],
];
export const RUN = 64;

/**
 * The decoded details of a board.
 * @typedef {Record<"value" | "low" | "high" | "p" | "floor" | "floor_sd" | "gap" | "gap_error" | "yardstick" | "yardstick_error" | "spread" | "word_share" | "n" | "asked" | "found" | "reason", ReturnType<typeof numbers>> & Pick<Details, "reasons">} DecodedDetails
 */

/** @type {WeakMap<Board, DecodedDetails>} */
const decodedDetails = new WeakMap();

/**
 * Return the details of a board's cells, which are loaded and decoded once.
 * @param {Site} site
 * @param {Board} board
 * @returns {Promise<DecodedDetails>}
 */
async function detailsOf(site, board) {
  const known = decodedDetails.get(board);
  if (known) return known;
  const entry = site.boards.find(({ kind }) => kind === board.kind);
  const { reasons, ...columns } = /** @type {Details} */ (await load(entry?.details ?? ""));
  const decoded = Object.entries(columns).map(([name, column]) => [name, numbers(column)]);
  const details = { ...Object.fromEntries(decoded), reasons };
  decodedDetails.set(board, details);
  return details;
}

/**
 * Return a part of a page that is drawn at once without details, and again when they are there.
 * @param {Site} site
 * @param {Board} board
 * @param {(details: DecodedDetails | null) => (Node | null)[]} build
 */
export function withDetails(site, board, build) {
  const place = h("div", {}, build(null));
  const fill = () =>
    detailsOf(site, board).then(
      (details) => replaceFolded(place, ...build(details).filter((node) => node !== null)),
      (error) => place.append(h("p", { class: "notice", role: "alert" }, String(error.message))),
    );
  if (board.rows.model.length * board.tasks.length <= MANY_CELLS) {
    void fill();
    return place;
  }
  const button = h("button", { type: "button" }, "Load scores, intervals, p-values and coverage");
  button.addEventListener("click", () => {
    button.disabled = true;
    void fill();
  });
  place.prepend(h("p", { class: "controls" }, button));
  return place;
}

/**
 * @typedef {object} CellTable
 * @property {string} caption
 * @property {string} first title of the first column
 * @property {(cell: BoardCell) => Child | Child[]} head content of the first column
 * @property {string} [second] title of a further column
 * @property {(cell: BoardCell) => Child | Child[]} [more] its content
 * @property {string} [secondClass]
 * @property {string} measure title of what ranks
 * @property {BoardCell[]} cells
 */

/** @typedef {{ row: number, task: number }} BoardCell */

/**
 * Return a table of cells.
 * @param {Board} board
 * @param {DecodedDetails | null} details
 * @param {CellTable} options
 */
export function cellTable(board, details, options) {
  const { measure, width } = cellsOf(board);
  const ends = endsOf([0, ...options.cells.map(({ row, task }) => measure[row * width + task])]);
  const isBias = options.cells.some(({ task }) => board.tasks[task].measures === "bias");
  const columns = [
    { title: options.first, class: "model" },
    ...(options.second ? [{ title: options.second, class: options.secondClass }] : []),
    { title: options.measure, number: true },
    { title: "Plot", class: "wide-only" },
    ...(details && isBias ? ["Gap", "Yardstick"].map((title) => ({ title, number: true })) : []),
    ...(details ? DETAIL_COLUMNS.map((title) => ({ title, number: true })) : []),
    { title: "Notes", class: "notes" },
  ];
  const rows = options.cells.map((cell) => () => {
    const at = cell.row * width + cell.task;
    return [
      options.head(cell),
      ...(options.second ? [options.more?.(cell) ?? null] : []),
      [scoreText(measure[at]), itemsLink(board, cell)],
      intervalBar(measure[at], null, null, ends),
      ...(details && isBias ? gapCells(details, at) : []),
      ...(details ? detailCells(details, at) : []),
      notes(board, details, cell),
    ];
  });
  return plainTable(options.caption, columns, rows);
}

/**
 * Return the gap and the yardstick with their standard errors, in cosines.
 * @param {DecodedDetails} details
 * @param {number} at
 */
function gapCells({ gap, gap_error, yardstick, yardstick_error }, at) {
  const pairs = [
    [gap[at], gap_error[at]],
    [yardstick[at], yardstick_error[at]],
  ];
  return pairs.map(([value, error]) =>
    Number.isNaN(value) ? NOTHING : `${scoreText(value)} ± ${scoreText(error)}`,
  );
}

const DETAIL_COLUMNS = ["Score", "p", "Floor", "Texts with a vector"];

/**
 * @param {DecodedDetails} details
 * @param {number} at
 * @returns {(Child | Child[])[]}
 */
function detailCells(details, at) {
  const spread = details.spread[at];
  const floor = details.floor[at];
  const asked = details.asked[at];
  const [score, interval] = withInterval(details.value[at], details.low[at], details.high[at]);
  return [
    [score, spread > 0 ? ` ± ${scoreText(spread)}` : "", interval],
    pText(details.p[at]),
    Number.isNaN(floor) ? NOTHING : `${scoreText(floor)} ± ${scoreText(details.floor_sd[at])}`,
    asked ? `${details.found[at]} of ${asked}` : NOTHING,
  ];
}

/**
 * Return what must be known of a cell, such as why it does not count.
 * @param {Board} board
 * @param {DecodedDetails | null} details
 * @param {BoardCell} cell
 * @returns {Child[]}
 */
function notes(board, details, { row, task }) {
  const at = row * board.tasks.length + task;
  const { flags, measure } = cellsOf(board);
  const texts = FLAG_TEXTS.filter(([bit]) => flags[at] & bit).map(([, text]) => text);
  if (board.rows.role[row] === "reference") texts.unshift("reference, never ranked");
  if (board.tasks[task].measures === "bias") {
    texts.push(strengthText(measure[at], yardstickText(board.tasks[task].yardstick_of)));
  }
  const share = details?.word_share[at] ?? 0;
  if (share > 0) {
    texts.push(
      `${(100 * share).toFixed(0)} % of the texts hold words that the mitigator was fitted on`,
    );
  }
  const reason = details?.reasons[details.reason[at]];
  if (!(flags[at] & RUN)) texts.push("not run");
  else if (reason) texts.push(`does not count: ${reason}`);
  else if (Number.isNaN(measure[at]) && !details) texts.push("does not count");
  return [texts.filter(Boolean).join("; ") || " "];
}
