// @ts-check
// The cell that names a row: a model, or a mitigator on it; with its controls.
import { mitigatorsText } from "./column_cells.js";
import { h } from "./dom.js";
import { MOST_COMPARED, comparedRows, rowName } from "./filters.js";
import { countText } from "./formats.js";
/** @import { HomeScreen } from "./pages/home.js" */
import { LEAK, cellsOf, leaksOf, tasksOf } from "./pooling.js";
import { address, queryOf } from "./state.js";

/**
 * Return the column of names.
 * @param {HomeScreen} screen
 * @returns {TableColumn}
 */
export function modelColumn(screen) {
  const { board } = screen;
  return {
    key: "model",
    title: "Model",
    width: 16,
    narrow: 8.4,
    isNumber: false,
    value: (row) => rowName(board, row),
    draw: (line) =>
      line.children === undefined ? mitigatorCell(screen, line) : modelCell(screen, line),
  };
}

/**
 * @param {HomeScreen} screen
 * @param {Line} line
 */
function modelCell(screen, line) {
  const { board } = screen;
  const { name, superseded_by: successor } = board.models[board.rows.model[line.row]];
  const isReference = board.rows.role[line.row] === "reference";
  const uneven = unevenNote(board, line.row);
  const notes = isReference
    ? []
    : [
        standingNote(screen.choice, line.row),
        successor ? reasonNote("superseded", `by ${successor}`) : null,
        uneven ? reasonNote("bias uncertain", uneven) : null,
      ];
  const link = h(
    "a",
    { href: address(board.kind, "model", name), title: name, class: "name" },
    name,
  );
  return [
    h("span", { class: "first-line" }, compareBox(screen, line.row), link),
    h(
      "span",
      { class: "second-line" },
      frontMark(screen.choice, line.row),
      foldButton(screen, line, name),
      mitigatorsNote(screen.choice, line),
      notes,
    ),
  ];
}

/**
 * Return what the folded mitigators of a model are shown to do.
 * @param {Choice} choice
 * @param {Line} line
 */
function mitigatorsNote({ effects }, { children = [], unfolded }) {
  const text = unfolded ? "" : mitigatorsText(effects.bias, children);
  return text ? h("span", { class: "rest" }, text) : null;
}

/**
 * Return a mark for a model on the Pareto front.
 * @param {Choice} choice
 * @param {number} row
 */
function frontMark({ layers }, row) {
  const meaning = "On the Pareto front: no ranked model has both less bias and more usefulness";
  return layers.get(row) === 0
    ? h("span", { class: "on-front", title: meaning }, "Pareto front")
    : null;
}

/**
 * Return why the yardstick of a row is uneven, if it is.
 * @param {Board} board
 * @param {number} row
 */
export function unevenNote({ rows }, row) {
  return row in rows.uneven ? `yardstick uneven: ${rows.uneven[row]}` : "";
}

/**
 * Return why a model does not stand among the first ones; null if it does.
 * @param {Choice} choice
 * @param {number} row
 */
function standingNote(choice, row) {
  const below = choice.below.get(row) ?? "";
  const reason = reasonOf(choice, row) || below;
  return reason ? reasonNote(whyOf(choice, row) ?? "incomplete", reason) : null;
}

/**
 * @param {HomeScreen} screen
 * @param {Line} line
 */
function mitigatorCell(screen, line) {
  const { board, choice } = screen;
  const { label } = board.mitigators[board.rows.mitigator[line.row]];
  const model = board.models[board.rows.model[line.row]].name;
  const link = h(
    "a",
    { href: address(board.kind, "mitigator", label), title: label, class: "name" },
    label,
  );
  return [
    h("span", { class: "first-line" }, compareBox(screen, line.row), link),
    h(
      "span",
      { class: "second-line" },
      h("span", { class: "visually-hidden" }, `on ${model} `),
      standingNote(choice, line.row),
      leaksNote(choice, line.row),
    ),
  ];
}

/**
 * @param {Choice} choice
 * @param {number} row
 */
function leaksNote({ board, tasks, leaks }, row) {
  const count = leaks ? 0 : leaksOf(board, row, tasks).length;
  if (!count) return null;
  const counted = countText(count, "task");
  return reasonNote(`${counted} left out`, "the mitigator was fitted on their texts");
}

/**
 * Return a note: a few words, and where there is room the rest.
 * @param {string} words
 * @param {string} rest
 */
function reasonNote(words, rest) {
  return h(
    "span",
    { class: "reason", title: `${words}: ${rest}` },
    h("b", {}, words),
    h("span", { class: "rest" }, `: ${rest}`),
  );
}

/**
 * Return why a row has no rank, or would have none as a model; empty if it is usable and complete.
 * @param {Choice} choice
 * @param {number} row
 */
export function reasonOf({ board, tasks, scores }, row) {
  if (row in board.rows.unusable) return board.rows.unusable[row];
  if (scores.complete[row]) return "";
  const hasBias = tasks.some((task) => board.tasks[task].measures === "bias");
  const measures = hasBias ? "bias" : "usefulness";
  const members = tasksOf(board, tasks, measures);
  const { width, gap, flags } = cellsOf(board);
  const missing = members.filter((task) => {
    const at = row * width + task;
    return Number.isNaN(gap[at]) && !(flags[at] & LEAK);
  });
  return `${missing.length} of ${countText(members.length, `${measures} task`)} missing`;
}

/**
 * Return in a word why a row cannot lead; undefined if it can.
 * @param {Choice} choice
 * @param {number} row
 */
export function whyOf({ board, tasks, scores }, row) {
  if (row in board.rows.unusable) return "unusable";
  const asksUsefulness = tasksOf(board, tasks, "usefulness").length > 0;
  const isWhole = scores.complete[row] && (scores.has_usefulness[row] || !asksUsefulness);
  return isWhole ? undefined : "incomplete";
}

/**
 * @param {HomeScreen} screen
 * @param {Line} line
 * @param {string} name
 */
function foldButton(screen, line, name) {
  const count = line.children?.length;
  if (!count) return null;
  const toggle = () => {
    const { toggled } = screen.view;
    const isToggled = toggled.includes(name);
    screen.change({
      toggled: isToggled ? toggled.filter((other) => other !== name) : [...toggled, name],
    });
  };
  return h(
    "button",
    {
      type: "button",
      class: "plain fold",
      "aria-expanded": String(Boolean(line.unfolded)),
      "data-control": "fold",
      click: toggle,
    },
    countText(count, "mitigator"),
    h("span", { class: "visually-hidden" }, ` on ${name}`),
  );
}

/**
 * @param {HomeScreen} screen
 * @param {number} row
 */
function compareBox(screen, row) {
  const name = rowName(screen.board, row);
  const names = screen.view.rows;
  const isChosen = names.includes(name);
  const rows = isChosen ? names.filter((other) => other !== name) : [...names, name];
  return h("input", {
    type: "checkbox",
    checked: isChosen,
    disabled: !isChosen && names.length >= MOST_COMPARED,
    "aria-label": `Compare ${name}`,
    title: "Compare",
    "data-control": "compare",
    change: () => screen.change({ rows }),
  });
}

/**
 * Draw the link to the comparison of the chosen rows.
 * @param {HomeScreen} screen
 */
export function drawCompareLink({ compare, board, view }) {
  const count = comparedRows(board, view).length;
  const href = address(board.kind, "compare", "", queryOf(view));
  compare.replaceChildren(
    count < 2
      ? h("span", { class: "quiet" }, "Tick two to four rows to compare them.")
      : h("a", { href }, `Compare ${count} rows`),
  );
}
