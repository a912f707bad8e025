// @ts-check
// A benchmark, which is a named set of tasks, and the list of them.
import { h } from "../dom.js";
import { countText, languageName } from "../formats.js";
import {
  descriptionOf,
  factList,
  pageLink,
  plainTable,
  trail,
  unknownName,
  withCode,
} from "../page_parts.js";
import { publishedPlots } from "../published.js";
import { benchmarkScores, benchmarkView } from "../scores.js";
import { address } from "../state.js";
import { mitigatorLines } from "./mitigator.js";
import { baseRowsOf } from "./model.js";
import { modelChart } from "./model_parts.js";
import { taskTables } from "./task.js";

/** @type {Page} */
export const benchmarkPage = (main, site, board, route) => {
  if (!route.name) return benchmarkList(main, site, board, route);
  const benchmark = board.benchmarks.find(({ name }) => name === route.name);
  if (!benchmark)
    return unknownName(
      main,
      site,
      route,
      board.benchmarks.map(({ name }) => name),
    );
  const query = { benchmark: benchmark.name };
  const { finding, notices, mitigators } = /** @type {BoardView} */ (
    benchmarkView(board, benchmark)
  );
  main.append(
    trail(site, route, benchmark.title, [["Benchmarks", address(route.kind, "benchmark")]]),
    h("h1", {}, benchmark.title),
    h(
      "div",
      { class: "overview" },
      h(
        "div",
        {},
        h("p", { class: "lead" }, finding),
        ...descriptionOf(benchmark.description),
        h(
          "p",
          {},
          h("a", { href: address(route.kind, "home", "", query) }, "The models on this benchmark"),
        ),
        ...notices.map((notice) => h("p", { class: "notice" }, notice)),
      ),
      factList([
        ["Name", h("code", {}, benchmark.name)],
        ["Version", benchmark.version],
        ["Tasks", taskCounts(board, benchmark)],
        ["Languages", benchmark.languages.map(languageName).join(", ")],
        ["Citation", benchmark.citation && h("span", {}, withCode(benchmark.citation))],
        ["Licences", bulleted(benchmark.licences)],
      ]),
    ),
    h("h2", {}, "Models"),
    modelChart(
      board,
      route,
      benchmark,
      baseRowsOf(board),
      `${hasBias(board, benchmark) ? "Bias and usefulness" : "Usefulness"} on these tasks, best rank first, with the 95 % intervals. An open circle is not ranked.`,
    ),
    ...(mitigators.length
      ? [h("h2", {}, "Mitigators over models"), mitigatorLines(board, route, benchmark)]
      : []),
    h("h2", {}, "Tasks"),
    ...taskTables(
      board,
      route,
      benchmark.tasks,
      "The tasks of this benchmark, by family. A family has one vote.",
    ),
    ...publishedPlots(board, route),
  );
};

/**
 * @param {HTMLElement} main
 * @param {Site} site
 * @param {Board} board
 * @param {Route} route
 */
function benchmarkList(main, site, board, route) {
  const columns = [
    { title: "Benchmark", class: "model" },
    { title: "Description" },
    ...["Ranked models", "Tasks"].map((title) => ({ title, number: true })),
    { title: "Languages" },
  ];
  const rows = board.benchmarks.map((benchmark) => () => [
    pageLink(route, "benchmark", benchmark.name, benchmark.title),
    withCode(benchmark.description),
    rankedOn(board, benchmark),
    taskCounts(board, benchmark, ""),
    benchmark.languages.map(languageName).join(", "),
  ]);
  main.append(
    trail(site, route, "Benchmarks"),
    h("h1", {}, "Benchmarks"),
    h(
      "p",
      {},
      "A benchmark is a named set of tasks. Models are ranked on each by bias, or by usefulness if it has no task of bias.",
    ),
    plainTable(countText(rows.length, "benchmark"), columns, rows),
  );
}

/**
 * Return how many models are ranked, by usefulness where there is no bias task.
 * @param {Board} board
 * @param {Benchmark} benchmark
 */
function rankedOn(board, benchmark) {
  const { ranks } = benchmarkScores(board, benchmark);
  const isByBias = hasBias(board, benchmark);
  const count = [...(isByBias ? ranks.bias : ranks.usefulness).rank].filter(Boolean).length;
  return isByBias ? String(count) : `${count} by usefulness`;
}

/**
 * @param {Board} board
 * @param {Benchmark} benchmark
 */
function hasBias(board, benchmark) {
  return benchmark.tasks.some((task) => board.tasks[task].measures === "bias");
}

/**
 * Return how many tasks measure what; without `noun`, without their families.
 * @param {Board} board
 * @param {Benchmark} benchmark
 * @param {string} [noun]
 */
function taskCounts(board, benchmark, noun = "family") {
  const parts = ["bias", "usefulness", "control"].flatMap((measures) => {
    const tasks = benchmark.tasks.filter((task) => board.tasks[task].measures === measures);
    const families = new Set(tasks.map((task) => board.tasks[task].family)).size;
    if (!tasks.length) return [];
    const within = noun && ` in ${countText(families, noun, "families")}`;
    return `${tasks.length} of ${measures}${within}`;
  });
  return parts.join(", ");
}

/**
 * Return lines as a list if they are several, folded if they are many.
 * @param {string[]} lines
 */
function bulleted(lines) {
  if (lines.length < 2) return lines[0] ?? null;
  const list = h(
    "ul",
    {},
    lines.map((line) => h("li", {}, line)),
  );
  if (lines.length < 5) return list;
  return h("details", {}, h("summary", {}, countText(lines.length, "licence")), list);
}
