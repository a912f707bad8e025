// @ts-check
// The table of a view as CSV, Markdown, LaTeX and BibTeX.
"use strict";

/**
 * Formats by their names: how a table becomes a text, and the file's ending.
 * @type {Record<string, { ending: string, type: string, text: (content: Exported) => string }>}
 */
const FORMATS = {
  CSV: { ending: "csv", type: "text/csv", text: ({ head, rows }) => csvOf([head, ...rows]) },
  Markdown: { ending: "md", type: "text/markdown", text: markdownOf },
  LaTeX: { ending: "tex", type: "application/x-tex", text: latexOf },
  BibTeX: { ending: "bib", type: "application/x-bibtex", text: bibtexOf },
};

/**
 * Return the fields that export what `content` returns.
 * @param {() => Exported} content
 */
function exportFields(content) {
  const status = h("span", { role: "status" });
  const format = h(
    "select",
    {},
    Object.keys(FORMATS).map((name) => h("option", {}, name)),
  );
  const made = () => {
    const { ending, type, text } = FORMATS[format.value];
    return { ending, type, text: text(content()) };
  };
  const copy = async () => {
    const isCopied = await copied(made().text);
    status.textContent = isCopied ? "Copied." : "This browser does not allow to copy.";
  };
  const save = () => {
    const { ending, type, text } = made();
    download(`leaderboard.${ending}`, type, text);
    status.textContent = "";
  };
  return h(
    "details",
    { class: "export" },
    h("summary", {}, "Export"),
    h(
      "div",
      { class: "controls" },
      labelled("Format", format),
      h("button", { type: "button", click: save }, "Download"),
      h("button", { type: "button", click: () => void copy() }, "Copy"),
      status,
    ),
  );
}

/**
 * @param {string} text
 * @returns {Promise<boolean>} whether it could be copied
 */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {string} name
 * @param {string} type
 * @param {string} text
 */
function download(name, type, text) {
  const href = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = h("a", { href, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

/**
 * Return the columns and rows of a table as they are exported: with intervals in columns of their
 * own, and numbers as they are.
 * @param {Board} board
 * @param {TableColumn[]} columns
 * @param {Line[]} lines
 * @returns {{ head: string[], rows: (string | number | null)[][] }}
 */
function exportedTable(board, columns, lines) {
  const facts = columns.filter(({ key }) => key !== "model");
  const fields = facts.flatMap(({ key, value, more = {} }) => [
    { name: key, value },
    ...Object.entries(more).map(([ending, part]) => ({ name: `${key}_${ending}`, value: part })),
  ]);
  const rows = lines.filter(({ row }) => row >= 0);
  return {
    head: ["model", "mitigator", ...fields.map(({ name }) => name.replaceAll("-", "_"))],
    rows: rows.map(({ row }) => [
      board.models[board.rows.model[row]].name,
      board.mitigators[board.rows.mitigator[row]].label,
      ...fields.map(({ value }) => shortened(value(row))),
    ]),
  };
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
function csvOf(rows) {
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

/** @param {Exported} content */
function markdownOf({ head, rows, caption }) {
  const rule = `|${" --- |".repeat(head.length)}\n`;
  return `${markdownText(caption)}\n\n${markdownLine(head)}${rule}${rows.map(markdownLine).join("")}`;
}

/** @param {Field[]} row */
function markdownLine(row) {
  return `| ${row.map(markdownField).join(" | ")} |\n`;
}

/** @param {Field} value */
function markdownField(value) {
  return typeof value === "string" ? markdownText(value) : String(value ?? "");
}

/** @param {string} text */
function markdownText(text) {
  return text.replaceAll(/\s+/g, " ").replaceAll(/[\\`*_{}[\]<>()#!|~$&]/g, String.raw`\$&`);
}

/** @param {Exported} content */
function latexOf({ head, rows, caption }) {
  return [
    "% needs the package booktabs\n",
    `\\begin{table}\n\\caption{${latexText(caption)}}\n`,
    `\\begin{tabular}{ll${"r".repeat(head.length - 2)}}\n\\toprule\n`,
    `${latexLine(head)}\\midrule\n${rows.map(latexLine).join("")}\\bottomrule\n\\end{tabular}\n\\end{table}\n`,
  ].join("");
}

/** @param {Field[]} row */
function latexLine(row) {
  return `${row.map(latexField).join(" & ")} \\\\\n`;
}

/** @param {Field} value */
function latexField(value) {
  return typeof value === "number" ? `$${value}$` : latexText(value ?? "");
}

const LATEX = /** @type {Record<string, string>} */ ({
  "\\": "\\textbackslash{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
  "<": "\\textless{}",
  ">": "\\textgreater{}",
  "|": "\\textbar{}",
  '"': "\\textquotedbl{}",
});

/** @param {string} text */
function latexText(text) {
  return text
    .replaceAll(/\s+/g, " ")
    .replaceAll(/[\\~^<>|"{}$&#_%]/g, (letter) => LATEX[letter] ?? `\\${letter}`);
}

/** @param {Exported} content */
function bibtexOf({ site, benchmark, link }) {
  const key = `leaderboard${site.built.replaceAll(/\D/g, "").slice(0, 8)}`;
  const version = benchmark.version === null ? "" : `, version ${benchmark.version}`;
  const fields = {
    title: `{${latexText(site.title)}}`,
    howpublished: `{Leaderboard of embeddings by the Embedding Bias Harness ${latexText(site.harness)}}`,
    year: `{${site.built.slice(0, 4).replaceAll(/\D/g, "")}}`,
    note: `{${latexText(`Benchmark ${benchmark.title}${version}; built ${site.built}`)}}`,
    url: `{${link.replaceAll(/[{}\\\s]/g, encodeURIComponent)}}`,
  };
  const lines = Object.entries(fields).map(([name, value]) => `  ${name} = ${value}`);
  const cited = benchmark.citation
    ? `\n% The benchmark: ${benchmark.citation.replaceAll(/\s+/g, " ")}\n`
    : "";
  return `@misc{${key},\n${lines.join(",\n")}\n}\n${cited}`;
}
