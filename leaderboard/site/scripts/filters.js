// @ts-check
// Which rows a view shows, and in which order.
import { compared } from "./cells.js";
import { scoreText } from "./formats.js";

/** @type {WeakMap<Board, string[]>} */
const searchTexts = new WeakMap();

/**
 * Return the lines of the table: ranked models, those of them that are less useful than the view
 * asks for, those that are not ranked, and references, each
 * sorted, with the mitigated rows of a model below it if they are unfolded.
 * @param {Choice} choice
 * @param {View} view
 * @param {TableColumn | null} sorted the column to sort by; null for ranks
 * @returns {Lines}
 */
export function linesOf(choice, view, sorted) {
  const groups = matching(choice, view);
  const keyOf = sortKeys(choice, view, sorted);
  const isUnfolded = unfoldedNow(choice.board, view);
  /** @type {Lines} */
  const result = { lines: [], groups, models: 0, ranked: 0 };
  const sections = /** @type {[string, (row: number) => boolean][]} */ ([
    ["", (row) => isRanked(choice, row) && !choice.below.has(row)],
    [`Usefulness below ${scoreText(choice.least)}`, (row) => choice.below.get(row) === ""],
    ["Usefulness not fully measured", (row) => Boolean(choice.below.get(row))],
    [
      choice.isOwn ? "" : "Not ranked",
      (row) => !isRanked(choice, row) && choice.board.rows.role[row] !== "reference",
    ],
    ["References, never ranked", (row) => choice.board.rows.role[row] === "reference"],
  ]);
  for (const [title, holds] of sections) {
    const members = groups.filter((group) => holds(group.row));
    if (title && members.length) {
      result.lines.push({ row: -1, title: `${title} (${members.length.toLocaleString("en")})` });
    }
    if (members.some(({ row }) => isRanked(choice, row))) result.ranked += members.length;
    if (!title.startsWith("References")) result.models += members.length;
    for (const group of ordered(members, keyOf, view.desc)) {
      const unfolded = isUnfolded(group);
      const { row, children } = group;
      const name = `${choice.board.rows.role[row]}${choice.below.has(row) ? " below" : ""}`;
      result.lines.push({ row, title: "", children, unfolded, name });
      if (!unfolded) continue;
      for (const child of children) {
        result.lines.push({ row: child, title: "", name: `${name} mitigated` });
      }
    }
  }
  if (!result.lines.length) result.lines.push({ row: -1, title: "No row matches." });
  return result;
}

/**
 * Return whether a row has a rank, by bias or, without a task of bias, by usefulness.
 * @param {Choice} choice
 * @param {number} row
 */
function isRanked(choice, row) {
  return ranksShown(choice)[row] > 0;
}

/** @param {Choice} choice */
function ranksShown({ hasBias, scores: { ranks } }) {
  return (hasBias ? ranks.bias : ranks.usefulness).rank;
}

/**
 * Return the models that a view shows, each with the mitigated rows that it shows.
 * @param {Choice} choice
 * @param {View} view
 * @returns {RowGroup[]}
 */
function matching(choice, view) {
  const { board } = choice;
  const { model, mitigator, role } = board.rows;
  const texts = searchTextsOf(board);
  const words = view.q.toLowerCase().split(/\s+/).filter(Boolean);
  const hasFacts = board.models.map((facts) => hasModelFacts(facts, view));
  const wanted = board.mitigators.findIndex(({ label }) => label === view.mitigator);
  /** @type {RowGroup[]} */
  const groups = [];
  for (let row = 0; row < model.length;) {
    const head = row;
    const isFound = words.every((word) => texts[head].includes(word));
    const found = { row: head, children: /** @type {number[]} */ ([]), isFound };
    for (row++; row < model.length && model[row] === model[head]; row++) {
      if (wanted >= 0 && mitigator[row] !== wanted) continue;
      if (isFound || words.every((word) => texts[row].includes(word))) found.children.push(row);
    }
    if (role[head] === "reference") {
      if (isFound && wanted < 0) groups.push(found);
    } else if (
      hasFacts[model[head]] &&
      (wanted < 0 ? isFound || found.children.length : found.children.length)
    ) {
      groups.push(found);
    }
  }
  return groups;
}

/**
 * Return the texts of rows that a search looks into.
 * @param {Board} board
 */
function searchTextsOf(board) {
  let texts = searchTexts.get(board);
  if (!texts) {
    texts = board.rows.model.map((model, row) => {
      const { label } = board.mitigators[board.rows.mitigator[row]];
      const mitigator = board.rows.role[row] === "mitigated" ? label : "";
      return `${board.models[model].name} ${mitigator}`.toLowerCase();
    });
    searchTexts.set(board, texts);
  }
  return texts;
}

/**
 * @param {Model} model
 * @param {View} view
 */
function hasModelFacts(model, view) {
  return (
    (!view.encoder || model.encoder === view.encoder) &&
    (!view.licence || (model.licence ?? UNKNOWN) === view.licence) &&
    (!view.weights || model.open_weights === (view.weights === "yes")) &&
    (!view.language || model.languages.includes(view.language)) &&
    isWithin(view.size, "-", model.parameters === null ? null : model.parameters / 1e6) &&
    isWithin(view.dims, "-", model.dimensions) &&
    isWithin(view.released, "..", model.released)
  );
}

/** The licence of a model that says none. */
export const UNKNOWN = "unknown";

/**
 * Return whether a value lies in a range such as `10-500`; either end may be left out.
 * @template {number | string} T
 * @param {string} range
 * @param {string} separator
 * @param {T | null} value
 */
function isWithin(range, separator, value) {
  if (!range) return true;
  if (value === null) return false;
  const [low, high] = range.split(separator);
  const compare = (/** @type {string} */ end) =>
    typeof value === "number" ? value - Number(end) : value < end ? -1 : value > end ? 1 : 0;
  return (!low || compare(low) >= 0) && (!high || compare(high) <= 0);
}

/**
 * Return whether the mitigated rows of a model are shown. A search for a mitigator unfolds them.
 * @param {Board} board
 * @param {View} view
 * @returns {(group: RowGroup) => boolean}
 */
function unfoldedNow(board, view) {
  const toggled = new Set(view.toggled);
  const isUnfolded = view.unfolded || view.mitigator !== "";
  return ({ row, isFound }) =>
    (isUnfolded || !isFound) !== toggled.has(board.models[board.rows.model[row]].name);
}

/**
 * Return the number or text by which a model is sorted: its own, or the best of its mitigated rows.
 * @param {Choice} choice
 * @param {View} view
 * @param {TableColumn | null} sorted
 * @returns {(group: RowGroup) => number | string | null}
 */
function sortKeys(choice, view, sorted) {
  if (!sorted) {
    const ranks = ranksShown(choice);
    const { bias, usefulness } = choice.scores;
    return ({ row }) =>
      ranks[row] || 1e6 + (finite(bias.mean[row]) ?? -(finite(usefulness.mean[row]) ?? -9));
  }
  return ({ row, children }) => {
    const own = sorted.value(row);
    if (own !== null || !sorted.ofMitigated) return own;
    const values = children.map((child) => sorted.value(child)).filter((value) => value !== null);
    return values.toSorted((a, b) => (view.desc ? -1 : 1) * compared(a, b))[0] ?? null;
  };
}

/**
 * @param {number} value
 * @returns {number | null}
 */
export function finite(value) {
  return Number.isNaN(value) ? null : value;
}

/**
 * Return groups sorted by their keys; those without a key are last.
 * @param {RowGroup[]} groups
 * @param {(group: RowGroup) => number | string | null} keyOf
 * @param {boolean} descending
 */
function ordered(groups, keyOf, descending) {
  const sign = descending ? -1 : 1;
  return groups
    .map((group) => ({ group, key: keyOf(group) }))
    .toSorted((a, b) => {
      if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null);
      return sign * compared(a.key, b.key) || a.group.row - b.group.row;
    })
    .map(({ group }) => group);
}

/**
 * Return what models and mitigators can be filtered by.
 * @param {Board} board
 */
export function facetsOf(board) {
  const { model, role } = board.rows;
  const references = new Set(model.filter((_, row) => role[row] === "reference"));
  const models = board.models.filter((_, i) => !references.has(i));
  return {
    mitigators: board.mitigators.map(({ label }) => label).filter((label) => label !== "none"),
    encoders: distinct(models.map(({ encoder }) => encoder).filter(Boolean)),
    licences: distinct(models.map(({ licence }) => licence ?? UNKNOWN)),
    languages: distinct(models.flatMap(({ languages }) => languages)),
  };
}

/**
 * Return the different ones of some names, sorted.
 * @param {string[]} names
 */
export function distinct(names) {
  return [...new Set(names)].toSorted();
}

/**
 * Return what names a row in an address and in an export.
 * @param {Board} board
 * @param {number} row
 */
export function rowName(board, row) {
  const { name } = board.models[board.rows.model[row]];
  const { label } = board.mitigators[board.rows.mitigator[row]];
  return label === "none" ? name : `${name} | ${label}`;
}

/** @type {WeakMap<Board, Map<string, number>>} */
export const rowsByName = new WeakMap();

/** Most rows that are compared. */
export const MOST_COMPARED = 4;

/**
 * Return the rows that a view compares.
 * @param {Board} board
 * @param {View} view
 * @returns {number[]}
 */
export function comparedRows(board, view) {
  let rows = rowsByName.get(board);
  if (!rows) {
    rows = new Map(board.rows.model.map((_, row) => [rowName(board, row), row]));
    rowsByName.set(board, rows);
  }
  const known = rows;
  return view.rows.flatMap((name) => known.get(name) ?? []).slice(0, MOST_COMPARED);
}
