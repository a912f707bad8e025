// @ts-check
// The table of a view as CSV, Markdown, LaTeX and BibTeX.
import { labelled } from "./controls.js";
import { h } from "./dom.js";
import { textOf } from "./table.js";

/**
 * Formats by their names: how a table becomes a text, and the file's ending.
 * @type {Record<string, { ending: string, type: string, text: (content: Exported) => string }>}
 */
export const FORMATS = {
  CSV: { ending: "csv", type: "text/csv", text: ({ head, rows }) => csvOf([head, ...rows]) },
  Markdown: { ending: "md", type: "text/markdown", text: markdownOf },
  LaTeX: { ending: "tex", type: "application/x-tex", text: latexOf },
  BibTeX: { ending: "bib", type: "application/x-bibtex", text: bibtexOf },
};

/**
 * Return the fields that export what `content` returns.
 * @param {() => Exported} content
 */
export function exportFields(content) {
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
 * Return the columns and rows of a table as they are exported: for programs and for readers.
 * @param {Board} board
 * @param {TableColumn[]} columns
 * @param {Line[]} lines
 * @returns {Pick<Exported, "head" | "rows" | "titles" | "texts">}
 */
export function exportedTable(board, columns, lines) {
  const facts = columns.filter(({ key }) => key !== "model");
  const fields = facts.flatMap(({ key, value, more = {} }) => [
    { name: key, value },
    ...Object.entries(more).map(([ending, part]) => ({ name: `${key}_${ending}`, value: part })),
  ]);
  const rows = lines.map(({ row }) => row).filter((row) => row >= 0);
  const names = (/** @type {number} */ row) => [
    board.models[board.rows.model[row]].name,
    board.mitigators[board.rows.mitigator[row]].label,
  ];
  return {
    head: ["model", "mitigator", ...fields.map(({ name }) => name.replaceAll("-", "_"))],
    rows: rows.map((row) => [...names(row), ...fields.map(({ value }) => shortened(value(row)))]),
    titles: ["Model", "Mitigator", ...facts.map(({ title }) => title)],
    texts: rows.map((row) => [
      ...names(row),
      ...facts.map(({ value, text }) => text?.(row) ?? textOf(value(row)) ?? ""),
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
function markdownOf({ titles, texts, caption }) {
  const rule = `| --- | --- |${" ---: |".repeat(titles.length - 2)}\n`;
  return `${markdownText(caption)}\n\n${markdownLine(titles)}${rule}${texts.map(markdownLine).join("")}`;
}

/** @param {string[]} row */
function markdownLine(row) {
  return `| ${row.map(markdownText).join(" | ")} |\n`;
}

/** @param {string} text */
function markdownText(text) {
  return text.replaceAll(/\s+/g, " ").replaceAll(/[\\`*_{}[\]<>#!|~$&]/g, String.raw`\$&`);
}

/** @param {Exported} content */
function latexOf({ titles, texts, caption }) {
  return [
    "% needs the package booktabs\n",
    `\\begin{table}\n\\caption{${latexText(caption)}}\n`,
    `\\begin{tabular}{ll${"r".repeat(titles.length - 2)}}\n\\toprule\n`,
    `${latexLine(titles)}\\midrule\n${texts.map(latexLine).join("")}\\bottomrule\n\\end{tabular}\n\\end{table}\n`,
  ].join("");
}

/** @param {string[]} row */
function latexLine(row) {
  return `${row.map(latexText).join(" & ")} \\\\\n`;
}

const LATEX = /** @type {Record<string, string>} */ ({
  "\\": "\\textbackslash{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
  "<": "\\textless{}",
  ">": "\\textgreater{}",
  "|": "\\textbar{}",
  '"': "\\textquotedbl{}",
  "−": "$-$",
  "–": "--",
});

/** @param {string} text */
function latexText(text) {
  return text
    .replaceAll(/\s+/g, " ")
    .replaceAll(/[\\~^<>|"{}$&#_%−–]/g, (letter) => LATEX[letter] ?? `\\${letter}`);
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
