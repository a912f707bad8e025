// @ts-check
// The cell that names a row: a model, or a mitigator on it; with its controls.
import { isMeasured } from "./choice.js";
import { mitigatorsText } from "./column_cells.js";
import { h } from "./dom.js";
import { MOST_COMPARED, comparedRows, rowName } from "./filters.js";
import { countText } from "./formats.js";
/** @import { HomeScreen } from "./pages/home.js" */
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
  const uneven = screen.choice.hasBias && unevenNote(board, line.row);
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
function mitigatorsNote({ scores }, { children = [], unfolded }) {
  const text = unfolded ? "" : mitigatorsText(scores, children);
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
  if (choice.isOwn) return null;
  const below = choice.below.get(row) ?? "";
  const reason = reasonOf(choice, row) || below;
  return reason ? reasonNote(whyOf(choice, row) ?? "not ranked", reason) : null;
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
    ),
  ];
}

/**
 * Return a note: a few words, and where there is room the rest. It is a button that shows the whole.
 * @param {string} words
 * @param {string} rest
 */
function reasonNote(words, rest) {
  return h(
    "button",
    {
      type: "button",
      class: "plain reason",
      title: `${words}: ${rest}`,
      "data-control": "note",
      click: () => showNote(words, rest),
    },
    h("b", {}, words),
    h("span", { class: "rest" }, `: ${rest}`),
  );
}

/**
 * Show a note as a whole, above the page, until the reader does something else.
 * @param {string} words
 * @param {string} rest
 */
function showNote(words, rest) {
  document.getElementById("note")?.remove();
  const close = h("button", { type: "button", autofocus: true }, "Close");
  const note = h(
    "div",
    { id: "note", popover: "auto", role: "dialog", "aria-label": words },
    h("h2", {}, words),
    h("p", {}, `${rest}.`),
    close,
  );
  close.addEventListener("click", () => note.hidePopover());
  document.querySelector("main")?.append(note); // it goes with the page
  note.showPopover();
}

/**
 * Return why a row has no rank, or would have none as a model; empty if it could be ranked.
 * @param {Choice} choice
 * @param {number} row
 */
export function reasonOf({ board, scores }, row) {
  return board.rows.unusable[row] ?? scores.unranked[row] ?? "";
}

/**
 * Return in a word why a row cannot lead; undefined if it can.
 * @param {Choice} choice
 * @param {number} row
 */
export function whyOf(choice, row) {
  if (choice.isOwn) return undefined;
  if (row in choice.board.rows.unusable) return "unusable";
  if (reasonOf(choice, row)) return "not ranked";
  return isMeasured(choice.board, choice.tasks, row) ? undefined : "incomplete";
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
