// @ts-check
// The strongest items of a cell: what a model's score on a task is made of, beside another model.
import { load, numbers } from "../data.js";
import { h, svg } from "../dom.js";
import { rowName } from "../filters.js";
import { countText, scoreText, strengthText } from "../formats.js";
import { factList, pageLink, trail, unknownName } from "../page_parts.js";
import { tenths } from "../plot_points.js";
import { cellsOf } from "../cells.js";
import { address } from "../state.js";
/** @import { Child } from "../dom.js" */

/** Items that are shown. */
const SHOWN = 10;
/** Bit of a cell that has items. */
export const ITEMS_BIT = 128;
/** Characters at which the data file cuts a text. */
const CUT = 300;
const BAR = { width: 160, height: 14 };
/** Times the mean above and below which the times say little. */
const MOST_TIMES = 20;
const LEAST_TIMES = 0.1;

/**
 * The items of a cell.
 * @typedef {object} CellItems
 * @property {number} row of the board
 * @property {number} total
 * @property {number} score the mean over all items
 * @property {Map<number, number>} values by the index of an item, the strongest first
 */

/**
 * Return a link to the strongest items of a cell; null if it has none.
 * @param {Board} board
 * @param {{ row: number, task: number }} cell
 */
export function itemsLink(board, { row, task }) {
  const { flags, width } = cellsOf(board);
  if (!(flags[row * width + task] & ITEMS_BIT)) return null;
  const { name } = board.tasks[task];
  return h(
    "a",
    { class: "items-link", href: address(board.kind, "items", name, queryOfRow(board, row)) },
    "items",
    h("span", { class: "visually-hidden" }, ` of ${rowName(board, row)} on ${name}`),
  );
}

/**
 * @param {Board} board
 * @param {number} row
 */
function queryOfRow(board, row) {
  const { label } = board.mitigators[board.rows.mitigator[row]];
  const query = { model: board.models[board.rows.model[row]].name };
  return label === "none" ? query : { ...query, mitigator: label };
}

/** @type {Page} */
export const itemsPage = (main, site, board, route) => {
  const index = board.tasks.findIndex(({ name }) => name === route.name);
  const task = board.tasks[index];
  if (!task) {
    const names = board.tasks.map(({ name }) => name);
    return unknownName(main, site, { ...route, page: "task" }, names);
  }
  const rows = rowsWithItems(board, index);
  const model = route.query.get("model");
  const mitigator = route.query.get("mitigator") ?? "none";
  const row = rows.find((other) => {
    const { label } = board.mitigators[board.rows.mitigator[other]];
    return board.models[board.rows.model[other]].name === model && label === mitigator;
  });
  main.append(
    trail(site, route, "Strongest items", [
      ["Tasks", address(route.kind, "task")],
      [task.name, address(route.kind, "task", task.name)],
    ]),
    h("h1", {}, `What ${task.name} finds${row === undefined ? "" : ` in ${rowName(board, row)}`}`),
  );
  if (row === undefined || !task.items) {
    main.append(h("p", { role: "alert" }, "These results came without the items of this score."));
    main.append(chooser(board, route, rows, index));
    return;
  }
  const place = h("div", {}, h("p", { class: "quiet" }, "Loading the items …"));
  main.append(place);
  void load(task.items).then(
    (file) => place.replaceChildren(...itemsOf(board, route, index, row, rows, decoded(file))),
    (error) => place.replaceChildren(h("p", { role: "alert" }, String(error.message))),
  );
};

/**
 * Return the rows that have items of a task.
 * @param {Board} board
 * @param {number} task
 */
function rowsWithItems(board, task) {
  const { flags, width } = cellsOf(board);
  return [...board.rows.model.keys()].filter((row) => flags[row * width + task] & ITEMS_BIT);
}

/**
 * Return links to the rows that have items of a task.
 * @param {Board} board
 * @param {Route} route
 * @param {number[]} rows
 * @param {number} task
 */
function chooser(board, route, rows, task) {
  if (!rows.length) return h("p", {}, pageLink(route, "task", route.name, "The task"));
  const links = rows.map((row) => {
    const href = address(board.kind, "items", board.tasks[task].name, queryOfRow(board, row));
    return h("li", {}, h("a", { href }, rowName(board, row)));
  });
  return h("div", {}, h("p", {}, "There are items of"), h("ul", {}, links));
}

/**
 * @param {TaskItems} file
 * @returns {{ file: TaskItems, cells: Map<number, CellItems> }}
 */
function decoded(file) {
  const [item, value, score] = [file.item, file.value, file.score].map(numbers);
  let start = 0;
  /** @type {Map<number, CellItems>} */
  const cells = new Map();
  for (const [i, row] of file.row.entries()) {
    const end = start + file.count[i];
    const places = [...item.slice(start, end).keys()];
    const from = start;
    const pairs = places.map(
      (place) => /** @type {[number, number]} */ ([item[from + place], value[from + place]]),
    );
    cells.set(row, { row, total: file.total[i], score: score[i], values: new Map(pairs) });
    start = end;
  }
  return { file, cells };
}

/**
 * Return the page of a cell whose items are loaded.
 * @param {Board} board
 * @param {Route} route
 * @param {number} task
 * @param {number} row
 * @param {number[]} rows that have items
 * @param {ReturnType<typeof decoded>} items
 */
function itemsOf(board, route, task, row, rows, items) {
  const own = /** @type {CellItems} */ (items.cells.get(row));
  const others = rows.filter((other) => other !== row);
  const asked = others.find((other) => rowName(board, other) === route.query.get("beside"));
  const list = h("div", {});
  /** @param {number | undefined} other */
  const show = (other) => {
    const beside = other === undefined ? null : (items.cells.get(other) ?? null);
    list.replaceChildren(...listOfItems(board, task, own, beside, items.file));
  };
  const chosen = asked ?? usualOther(board, task, others);
  show(chosen);
  return [
    h("p", { class: "lead" }, ...leadOf(board, task, own)),
    ...besideField(board, route, others, chosen, show),
    list,
    h("h2", {}, "What they are of"),
    factsOf(board, route, task, row),
  ];
}

/**
 * Return the row to stand beside another one: the reference model, else the least biased one.
 * @param {Board} board
 * @param {number} task
 * @param {number[]} rows
 */
function usualOther(board, task, rows) {
  const { measure, width } = cellsOf(board);
  const plain = rows.filter((row) => board.mitigators[board.rows.mitigator[row]].label === "none");
  const name = (/** @type {number} */ row) => board.models[board.rows.model[row]].name;
  const reference = plain.find((row) => name(row) === board.reference);
  if (reference !== undefined) return reference;
  const isUsefulness = board.tasks[task].measures === "usefulness";
  const loss = (/** @type {number} */ row) => {
    const value = measure[row * width + task];
    return Number.isNaN(value) ? Infinity : isUsefulness ? -value : Math.abs(value);
  };
  const some = plain.length ? plain : rows;
  return some.toSorted((a, b) => loss(a) - loss(b))[0];
}

/**
 * Say what the items are.
 * @param {Board} board
 * @param {number} task
 * @param {CellItems} cell
 * @returns {Child[]}
 */
function leadOf(board, task, { total, score, values }) {
  const shown = Math.min(SHOWN, values.size);
  const { measures, ideal } = board.tasks[task];
  const goal = measures === "usefulness" ? "cost most usefulness" : "are furthest from fair";
  const fair = measures === "usefulness" ? "" : `, and ${ideal} is fair`;
  return [
    `These ${shown} of ${countText(total, "item")} ${goal}. `,
    `The mean over all items is the score: ${scoreText(score)}${fair}. It is the dotted line.`,
  ];
}

/**
 * @param {Board} board
 * @param {Route} route
 * @param {number} task
 * @param {number} row
 */
function factsOf(board, route, task, row) {
  const { measure, width } = cellsOf(board);
  const { name, title, measures, licence, source } = board.tasks[task];
  const { label } = board.mitigators[board.rows.mitigator[row]];
  const value = measure[row * width + task];
  const isMitigated = board.rows.role[row] === "mitigated";
  return factList([
    ["Model", pageLink(route, "model", board.models[board.rows.model[row]].name)],
    ["Mitigator", isMitigated ? pageLink(route, "mitigator", label) : null],
    ["Task", pageLink(route, "task", name, title || name)],
    ["In words", measures === "bias" ? strengthText(value) : null],
    ["Texts from", source],
    ["Licence of the task", licence],
  ]);
}

/**
 * Return the choice of the other row.
 * @param {Board} board
 * @param {Route} route
 * @param {number[]} others
 * @param {number | undefined} chosen
 * @param {(row: number | undefined) => void} show
 * @returns {HTMLElement[]}
 */
function besideField(board, route, others, chosen, show) {
  if (!others.length) {
    return [h("p", { class: "quiet" }, "No other row of this board has items of this task.")];
  }
  const options = others.map((other) =>
    h("option", { value: other, selected: other === chosen }, rowName(board, other)),
  );
  const select = h("select", { id: "items-beside" }, options);
  select.addEventListener("change", () => {
    const other = Number(select.value);
    const query = new URLSearchParams(route.query);
    query.set("beside", rowName(board, other));
    history.replaceState(null, "", address(route.kind, "items", route.name, query));
    show(other);
  });
  return [
    h("p", { class: "controls" }, h("label", { for: select.id }, "The same items of "), select),
  ];
}

/**
 * Return the list of items, each with its value, and beside it that of another row.
 * @param {Board} board
 * @param {number} task
 * @param {CellItems} own
 * @param {CellItems | null} beside
 * @param {TaskItems} file
 */
function listOfItems(board, task, own, beside, file) {
  const shown = [...own.values].slice(0, SHOWN);
  const scale = barScale(board.tasks[task], own, beside);
  const columns = beside ? [own, beside] : [own];
  const head = h(
    "div",
    { class: "items-head", "aria-hidden": "true" },
    h("span", {}, "Item"),
    columns.map(({ row }) => h("span", {}, rowName(board, row))),
  );
  const lines = shown.map(([item]) =>
    h(
      "li",
      {},
      h("div", { class: "item-texts" }, itemTexts(file, item)),
      columns.map((cell) => itemValue(board, board.tasks[task], cell, item, scale)),
    ),
  );
  const isMissing = shown.some(([item]) => file.items[item][2] === null);
  const note = `Not every text is shown: ${file.note}. An item without a text is named by its row in the data of the task, from 0.`;
  return [
    head,
    h("ol", { class: beside ? "items two" : "items" }, lines),
    isMissing && file.note ? h("p", { class: "quiet" }, note) : "",
  ];
}

/**
 * Return the texts of an item, or its row.
 * @param {TaskItems} file
 * @param {number} item
 * @returns {Child[]}
 */
function itemTexts(file, item) {
  const [input, row, texts] = file.items[item];
  const names = file.inputs[input].map((name) => name.replaceAll("_", " "));
  if (!texts) return [h("span", { class: "quiet" }, `item ${row} of ${names.join(", ")}`)];
  const parts = texts.map((text) => h("q", { dir: "auto" }, text.length < CUT ? text : `${text}…`));
  const isOne = file.inputs.length === 1;
  return [...parts, isOne ? null : h("small", { class: "under" }, names.join(", "))];
}

/**
 * Return the scale of the bars: the values of both rows, the ideal and the means.
 * @param {Task} task
 * @param {CellItems} own
 * @param {CellItems | null} beside
 */
function barScale({ ideal }, own, beside) {
  const start = typeof ideal === "number" ? ideal : 0;
  const items = [...own.values.keys()].slice(0, SHOWN);
  const cells = beside ? [own, beside] : [own];
  const values = cells.flatMap(({ values, score }) => [
    score,
    ...items.flatMap((item) => values.get(item) ?? []),
  ]);
  const low = Math.min(start, ...values);
  const high = Math.max(start, ...values);
  const range = high - low || 1;
  const at = (/** @type {number} */ value) => tenths(2 + ((value - low) / range) * (BAR.width - 4));
  return { start, at };
}

/**
 * Return the value of an item for a row: a bar, the number and words.
 * @param {Board} board
 * @param {Task} task
 * @param {CellItems} cell
 * @param {number} item
 * @param {ReturnType<typeof barScale>} scale
 */
function itemValue(board, task, cell, item, { start, at }) {
  const name = h("span", { class: "item-row" }, rowName(board, cell.row));
  const value = cell.values.get(item);
  if (value === undefined) {
    return h("div", { class: "item-value" }, name, h("small", {}, absentText(task, cell)));
  }
  const { words, isBad } = itemWords(task, cell.score, value);
  const [from, to] = [at(start), at(value)];
  const drawing = svg(
    "svg",
    {
      ...BAR,
      viewBox: `0 0 ${BAR.width} ${BAR.height}`,
      class: "item-bar",
      "aria-hidden": "true",
    },
    svg("rect", {
      class: isBad ? "bad" : "good",
      x: Math.min(from, to),
      y: 3,
      width: Math.max(1, Math.abs(to - from)),
      height: 8,
    }),
    svg("path", { class: "zero", d: `M${from} 0V${BAR.height}` }),
    svg("path", { class: "mean", d: `M${at(cell.score)} 0V${BAR.height}` }),
  );
  return h(
    "div",
    { class: "item-value" },
    name,
    drawing,
    h("span", { class: "number" }, scoreText(value)),
    h("small", {}, words),
  );
}

/**
 * Say what is known of an item that is not among the strongest of a row.
 * @param {Task} task
 * @param {CellItems} cell
 */
function absentText({ ideal }, { total, values }) {
  if (values.size === total) return "no value: a text has no vector";
  const last = [...values.values()].at(-1) ?? NaN;
  const end =
    typeof ideal === "number"
      ? `at most ${scoreText(Math.abs(last - ideal))} from ${ideal}`
      : `${ideal === "higher" ? "at least" : "at most"} ${scoreText(last)}`;
  return `${end}: not among its ${values.size} strongest`;
}

/**
 * Say in words what an item does to the score, and how much of it.
 * @param {Task} task
 * @param {number} score
 * @param {number} value
 * @returns {{ words: string, isBad: boolean }}
 */
export function itemWords({ measures, ideal }, score, value) {
  if (measures === "usefulness" || typeof ideal !== "number") {
    const isBad = value < score === (ideal !== "lower");
    return { words: isBad ? "lowers the usefulness" : "raises the usefulness", isBad };
  }
  const [far, mean] = [value - ideal, score - ideal];
  if (Math.abs(far) < 5e-4) return { words: "fair", isBad: false };
  const isBad = far * mean >= 0;
  const times = Math.abs(far / mean);
  const isSaid = times >= LEAST_TIMES && times <= MOST_TIMES;
  const size = isSaid ? `, ${times.toFixed(1)} times the mean` : "";
  return { words: `${isBad ? "adds to the bias" : "against the bias"}${size}`, isBad };
}
