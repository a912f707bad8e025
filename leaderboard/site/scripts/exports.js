// @ts-check
// The table of a view as CSV.
import { h } from "./dom.js";

/**
 * Return the button that saves what `rows` returns.
 * @param {() => Field[][]} rows
 */
export function exportButton(rows) {
  const save = () => {
    const href = URL.createObjectURL(new Blob([csvOf(rows())], { type: "text/csv;charset=utf-8" }));
    h("a", { href, download: "leaderboard.csv" }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
  };
  return h("button", { type: "button", class: "export", click: save }, "Download CSV");
}

/**
 * Return the names of the columns, and the rows, of a table as they are exported.
 * @param {Board} board
 * @param {TableColumn[]} columns
 * @param {Line[]} lines
 * @returns {Field[][]}
 */
export function exportedRows(board, columns, lines) {
  const facts = columns.filter(({ key }) => key !== "model");
  const fields = facts.flatMap(({ key, value, more = {} }) => [
    { name: key, value },
    ...Object.entries(more).map(([ending, part]) => ({ name: `${key}_${ending}`, value: part })),
  ]);
  const rows = lines.map(({ row }) => row).filter((row) => row >= 0);
  return [
    ["model", "mitigator", ...fields.map(({ name }) => name.replaceAll("-", "_"))],
    ...rows.map((row) => [
      board.models[board.rows.model[row]].name,
      board.mitigators[board.rows.mitigator[row]].label,
      ...fields.map(({ value }) => shortened(value(row))),
    ]),
  ];
}

/** @param {number | string | null} value */
function shortened(value) {
  return typeof value === "number" ? Number(value.toFixed(5)) : value;
}

/** @typedef {string | number | null} Field */

/**
 * Return lines of comma-separated values.
 * @param {Field[][]} rows
 */
export function csvOf(rows) {
  return rows.map((row) => `${row.map(csvField).join(",")}\r\n`).join("");
}

/**
 * A text that a spreadsheet would run gets an apostrophe.
 * @param {Field} value
 */
function csvField(value) {
  if (typeof value !== "string") return value === null ? "" : String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
