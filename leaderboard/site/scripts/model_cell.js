// @ts-check
// The cell that names a row: a model, or a mitigator on it; with its controls.
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
    narrow: 9,
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
  const reason = isReference ? "" : reasonOf(screen.choice, line.row);
  const successorNote = successor ? `superseded by ${successor}` : "";
  const standing = reason || screen.choice.below.get(line.row) || successorNote;
  const note = [standing, unevenNote(board, line.row)].filter(Boolean).join("; ");
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
      foldButton(screen, line, name),
      frontMark(screen.choice, line.row),
      reasonNote(note),
    ),
  ];
}

/**
 * Return a mark for a model on the Pareto front.
 * @param {Choice} choice
 * @param {number} row
 */
function frontMark({ front }, row) {
  const meaning = "On the Pareto front: no ranked model has both less bias and more usefulness";
  return front.has(row) ? h("span", { class: "on-front", title: meaning }, "Pareto front") : null;
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
      reasonNote(
        [reasonOf(choice, line.row), leaksNote(choice, line.row)].filter(Boolean).join("; "),
      ),
    ),
  ];
}

/**
 * @param {Choice} choice
 * @param {number} row
 */
function leaksNote({ board, tasks, leaks }, row) {
  const count = leaks ? 0 : leaksOf(board, row, tasks).length;
  return count ? `${countText(count, "leak")} left out` : "";
}

/** @param {string} reason */
function reasonNote(reason) {
  return reason ? h("span", { class: "reason", title: reason }, reason) : null;
}

/**
 * Return why a row has no rank, or would have none as a model; empty if it is usable and complete.
 * @param {Choice} choice
 * @param {number} row
 */
export function reasonOf({ board, tasks, scores }, row) {
  if (row in board.rows.unusable) return `not usable: ${board.rows.unusable[row]}`;
  if (scores.complete[row]) return "";
  const hasBias = tasks.some((task) => board.tasks[task].measures === "bias");
  const measures = hasBias ? "bias" : "usefulness";
  const members = tasksOf(board, tasks, measures);
  const { width, gap, flags } = cellsOf(board);
  const missing = members.filter((task) => {
    const at = row * width + task;
    return Number.isNaN(gap[at]) && !(flags[at] & LEAK);
  });
  return `lacks ${missing.length} of ${countText(members.length, `${measures} task`)}`;
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
