// @ts-check
// A task: what it asks, how far it measures, and how models do on it.
import { ITEMS, cellsOf, compared } from "../cells.js";
import { RUN, cellTable, withDetails } from "../cell_table.js";
import { h } from "../dom.js";
import {
  NOTHING,
  capital,
  countText,
  intervalText,
  languageName,
  scoreText,
  strengthText,
  yardstickText,
} from "../formats.js";
import {
  descriptionOf,
  factList,
  folded,
  pageLink,
  plainTable,
  trail,
  unknownName,
} from "../page_parts.js";
import { rowChart, rowLegend } from "../plot_rows.js";
import { address } from "../state.js";
import { itemsLink } from "./items.js";
import { baseRowsOf } from "./model.js";
import { groupsOf } from "./model_parts.js";
/** @import { DecodedDetails } from "../cell_table.js" */
/** @import { RowCell, RowPanel } from "../plot_rows.js" */

/** @type {Page} */
export const taskPage = (main, site, board, route) => {
  if (!route.name) return taskList(main, site, board, route);
  const index = board.tasks.findIndex(({ name }) => name === route.name);
  const task = board.tasks[index];
  if (!task)
    return unknownName(
      main,
      site,
      route,
      board.tasks.map(({ name }) => name),
    );
  const examples = examplesOf(task);
  main.append(
    trail(site, route, task.name, [["Tasks", address(route.kind, "task")]]),
    h("h1", {}, task.title || task.name),
    ...notRanked(board, route, task),
    h(
      "div",
      { class: examples.length ? "overview" : "overview wide" },
      h(
        "div",
        {},
        ...descriptionOf(task.description),
        h("p", { class: "lead" }, unitOf(task)),
        ...examples,
      ),
      taskFacts(board, route, index),
    ),
    h("h2", {}, "Models"),
    withDetails(site, board, (details) => {
      const table = folded(
        "All rows, with mitigators, p-values and coverage",
        taskRows(board, route, details, index),
      );
      table.id = "all-rows";
      return [
        taskModels(board, route, details, index),
        h("h2", {}, "More"),
        folded("How far it measures", validityOf(task)),
        table,
      ];
    }),
  );
};

/**
 * Return what a number of a task means.
 * @param {Task} task
 */
function unitOf({ measures, yardstick_of: of }) {
  if (measures === "usefulness") return "1 is the best possible, and more is better.";
  if (measures === "control" || !of) return "It has no yardstick, so its score stands as it is.";
  const yardstick = of === ITEMS ? "contrasts of its own items" : yardstickText(of);
  const have = yardstick.startsWith("contrasts") ? "have" : "has";
  return `0 is fair. 1 is as strong as ${yardstick}, which ${have} nothing to do with the concept.`;
}

/**
 * Return why a task is not ranked, if so, with a link to the task that supersedes it.
 * @param {Board} board
 * @param {Route} route
 * @param {Task} task
 */
function notRanked(board, route, { not_ranked: reason }) {
  if (!reason) return [];
  const [, next, why = ""] = reason.match(/^superseded by ([^:]+)(: .*)?$/) ?? [];
  const isTask = board.tasks.some(({ name }) => name === next);
  const text = isTask ? ["superseded by ", pageLink(route, "task", next), why] : [reason];
  return [h("p", { class: "notice" }, "Shown and not ranked: ", ...text)];
}

/**
 * @param {HTMLElement} main
 * @param {Site} site
 * @param {Board} board
 * @param {Route} route
 */
function taskList(main, site, board, route) {
  const all = [...board.tasks.keys()];
  const caption = `${countText(all.length, "task")} of this board, by family`;
  main.append(
    trail(site, route, "Tasks"),
    h("h1", {}, "Tasks"),
    h("h2", {}, "By language"),
    languageTable(board, route),
    h("h2", {}, "All tasks"),
    ...taskTables(board, route, all, caption),
  );
}

/**
 * Return the tasks by language, with what was reviewed.
 * @param {Board} board
 * @param {Route} route
 */
function languageTable(board, route) {
  const groups = groupsOf(board, [...board.tasks.keys()], "language");
  if (groups.length < 2) {
    return h("p", {}, `All tasks of this board are in ${languageName(groups[0]?.name ?? "en")}.`);
  }
  const columns = [
    { title: "Language", class: "model" },
    ...["Tasks", "Not reviewed", "Ranked"].map((title) => ({ title, number: true })),
    { title: "Their names", class: "wide-only" },
  ];
  const lines = groups
    .toSorted((a, b) => b.tasks.length - a.tasks.length || compared(a.name, b.name))
    .map(({ name, tasks }) => () => {
      const members = tasks.map((task) => board.tasks[task]);
      const ranked = members.filter((task) => task.not_ranked === null);
      const isApart = board.views.some(
        (view) => view.benchmark === "all" && view.language === name,
      );
      const query = new URLSearchParams({ benchmark: "all", ...(isApart && { tongue: name }) });
      const href = address(route.kind, "home", "", query);
      const links = members.flatMap((task, i) => [
        i ? ", " : "",
        pageLink(route, "task", task.name),
      ]);
      const spoken = h(
        "span",
        { class: "visually-hidden" },
        `: rank models by the tasks in ${languageName(name)}`,
      );
      const isLong = members.length > 4;
      return [
        `${languageName(name)} (${name})`,
        tasks.length,
        members.filter(({ reviewed }) => reviewed === false).length,
        ranked.length ? h("a", { href }, String(ranked.length), spoken) : 0,
        isLong ? h("details", {}, h("summary", {}, `${members.length} names`), links) : links,
      ];
    });
  const caption =
    "A task whose texts no reader of its language has reviewed is shown and not ranked. A number of ranked tasks leads to the models by them.";
  return plainTable(caption, columns, lines);
}

/** More tasks than this are folded by family. */
const FEW_TASKS = 16;

/**
 * Return tables of tasks, by what they measure and their family.
 * @param {Board} board
 * @param {Route} route
 * @param {number[]} tasks
 * @param {string} caption
 */
export function taskTables(board, route, tasks, caption) {
  const families = ["bias", "usefulness", "control"].flatMap((measures) => {
    const members = tasks.filter((task) => board.tasks[task].measures === measures);
    return groupsOf(board, members, "family").map((group) => ({ measures, ...group }));
  });
  if (tasks.length <= FEW_TASKS) {
    const sorted = families.flatMap((family) => family.tasks);
    return [taskTable(board, route, sorted, caption)];
  }
  const parts = families.map(({ measures, name, tasks: members }) => {
    const title = `${capital(measures)}: ${name}`;
    const ranked = members.filter((task) => board.tasks[task].not_ranked === null).length;
    const count = `${countText(members.length, "task")}, ${ranked} ranked`;
    return folded([h("strong", {}, title), ` · ${count}`], taskTable(board, route, members, title));
  });
  return [h("p", { class: "quiet" }, `${caption.replace(/\.$/, "")}.`), ...parts];
}

/**
 * @param {Board} board
 * @param {Route} route
 * @param {number[]} tasks
 * @param {string} caption
 */
function taskTable(board, route, tasks, caption) {
  const titles = ["Title", "Measures", "Family", "Concept", "Language", "Licence", "Ranked"];
  const columns = [{ title: "Task", class: "model" }, ...titles.map((title) => ({ title }))];
  const rows = tasks
    .map((index) => board.tasks[index])
    .toSorted((a, b) => compared(a.family, b.family) || compared(a.name, b.name))
    .map((task) => () => [
      pageLink(route, "task", task.name),
      task.title || NOTHING,
      task.measures,
      task.family,
      task.category,
      languageName(task.language),
      task.licence || NOTHING,
      task.not_ranked ? `no: ${task.not_ranked}` : "yes",
    ]);
  return plainTable(caption, columns, rows);
}

/**
 * @param {Board} board
 * @param {Route} route
 * @param {number} index
 */
function taskFacts(board, route, index) {
  const task = board.tasks[index];
  const benchmarks = board.benchmarks.filter(({ tasks }) => tasks.includes(index));
  const links = benchmarks.flatMap(({ name, title }, i) => [
    i ? ", " : "",
    pageLink(route, "benchmark", name, title),
  ]);
  return factList([
    ["Name", h("code", {}, task.name)],
    ["Measures", `${task.measures}, ${task.category}`],
    ["Family", `${task.family} (one vote)`],
    ["Score", `${task.metric} ${task.score}, scenario ${task.scenario}`],
    ["Reading", readingOf(task)],
    ["Language", reviewOf(task)],
    ["Source", task.source],
    ["Licence", task.licence],
    ["Yardstick", yardstickOf(board, route, task)],
    ["Version", `${task.version}, content ${task.digest.slice(0, 8)}`],
    ["Benchmarks", links],
  ]);
}

/**
 * Return the language of a task, and whether somebody who reads it has read the texts.
 * @param {Task} task
 */
function reviewOf({ language, reviewed }) {
  const name = languageName(language);
  return reviewed === false ? `${name}; no reader of it has reviewed the texts` : name;
}

/**
 * Return what the gap of a task is compared with, and what the reference encoder shows.
 * @param {Board} board
 * @param {Route} route
 * @param {Task} task
 */
function yardstickOf(board, route, { measures, yardstick_of: of, reference_ratio: usual }) {
  if (measures !== "bias" || !of) return null;
  const isHere = board.tasks.some(({ name }) => name === of);
  const link = isHere ? pageLink(route, "task", of) : of;
  return [
    of === ITEMS ? "its own items" : link,
    `; ${board.reference} has ${scoreText(usual)} of it`,
  ];
}

/**
 * Return the ideal and the bounds of a score in words.
 * @param {Task} task
 */
function readingOf({ ideal, low_bound, high_bound }) {
  const best = typeof ideal === "number" ? `the ideal is ${ideal}` : `${ideal} is better`;
  if (low_bound === null && high_bound === null) return `${best}; without bounds`;
  const ends = `from ${low_bound ?? "no lower bound"} to ${high_bound ?? "no upper bound"}`;
  return `${best}; ${ends}`.replaceAll(/-(?=\d)/g, "−");
}

/** Characters at which the data file cuts a text. */
const CUT = 300;

/**
 * Return how items of the task look.
 * @param {Task} task
 * @returns {HTMLElement[]}
 */
function examplesOf(task) {
  const inputs = Object.entries(task.examples).filter(([, texts]) => texts.length);
  if (!inputs.length) return [];
  const facts = inputs.map(([name, texts]) => {
    const items = texts.map((text) => h("li", {}, text.length < CUT ? text : `${text}…`));
    return h("div", {}, h("dt", {}, name.replaceAll("_", " ")), h("dd", {}, h("ul", {}, items)));
  });
  return [h("h2", {}, "Some of its texts"), h("dl", { class: "examples" }, facts)];
}

/** Words for what was measured of a score as an instrument. */
const VALIDITY_WORDS = Object.freeze({
  model: "Measured on",
  "measured on": "Measured of",
  floor: "Distance from the ideal with shuffled sides",
  "found from amplitude":
    "Smallest planted bias that is found in 80 % of draws (1: as far apart as the groups)",
  "shuffled sides found biased": "Share of shuffled sides that are called biased (.05 is right)",
  reliability: "Reliability (agreement of random halves of its words)",
  result: "Result",
});

/**
 * Return what the harness measured of a task's score.
 * @param {Task} task
 */
function validityOf({ validity }) {
  const known = Object.entries(validity ?? {}).filter(
    ([, value]) => value !== null && value !== "",
  );
  if (!known.length) {
    return h(
      "p",
      {},
      "Nothing is recorded of what its score shows on vectors whose bias is known.",
    );
  }
  /** @type {Record<string, string>} */
  const words = VALIDITY_WORDS;
  return factList(
    known.map(([name, value]) => {
      const text = typeof value === "number" ? scoreText(value) : value;
      return [Object.hasOwn(words, name) ? words[name] : name, text];
    }),
  );
}

/**
 * Return the models without a mitigator on a task: the gap over the yardstick, and when the details
 * are there the score with its floor.
 * @param {Board} board
 * @param {Route} route
 * @param {DecodedDetails | null} details
 * @param {number} index
 */
function taskModels(board, route, details, index) {
  const { measure, flags, width } = cellsOf(board);
  const task = board.tasks[index];
  const isBias = task.measures !== "usefulness";
  const role = board.rows.role;
  const loss = (/** @type {number} */ row) => {
    const value = measure[row * width + index];
    const key = Number.isNaN(value) ? 1e9 : isBias ? Math.abs(value) : -value;
    return role[row] === "reference" ? 1e12 + key : key;
  };
  const rows = baseRowsOf(board)
    .filter((row) => role[row] !== "mitigated" && flags[row * width + index] & RUN)
    .toSorted((a, b) => loss(a) - loss(b) || a - b);
  const hasMeasure = rows.some((row) => !Number.isNaN(measure[row * width + index]));
  /** @type {RowPanel[]} */
  const panels = [];
  if (hasMeasure) {
    panels.push(
      isBias
        ? {
            title: "Gap: 1 = as strong as the yardstick",
            words: "Gap over yardstick",
            lines: [
              { label: "fair", value: 0 },
              { label: "the yardstick", value: 1 },
            ],
          }
        : { title: "Usefulness: 1 = perfect, more is better", words: "Usefulness", lines: [] },
    );
  }
  const { ideal } = task;
  if (details) {
    panels.push({
      title: `The metric's score, ${task.score.replaceAll("_", " ")}`,
      words: "Score",
      lines: typeof ideal === "number" ? [{ label: "ideal", value: ideal }] : [],
    });
  }
  const lines = rows.map((row) => {
    const isReference = role[row] === "reference";
    const note = isReference ? "reference, never ranked" : (board.rows.unusable[row] ?? "");
    const cells = [];
    if (hasMeasure) cells.push(measureCell(board, row, index));
    if (details) cells.push(scoreCell(details, row * width + index, task));
    return {
      head: [
        pageLink(route, "model", board.models[board.rows.model[row]].name),
        itemsLink(board, { row, task: index }),
        h("small", { class: "under" }, note),
      ],
      cells: cells.map((cell) => ({ ...cell, isAside: isReference && isBias })),
    };
  });
  const legend = rowLegend([
    [{ value: 0, low: 0, high: 1 }, "a model, with its 95 % interval"],
    ...(details && typeof ideal === "number"
      ? [/** @type {["band", string]} */ (["band", "its floor: what shuffled sides show"])]
      : []),
  ]);
  const order = hasMeasure ? `, ${isBias ? "least bias" : "most useful"} first` : "";
  const caption = `Models without a mitigator${order}`;
  return rowChart(caption, "Model", panels, lines, legend);
}

/**
 * @param {Board} board
 * @param {number} row
 * @param {number} task
 * @returns {RowCell}
 */
function measureCell(board, row, task) {
  const { measure, low: lows, high: highs, width } = cellsOf(board);
  const at = row * width + task;
  const value = measure[at];
  if (Number.isNaN(value)) {
    return { marks: [], words: h("span", { class: "quiet" }, "does not count") };
  }
  if (board.tasks[task].measures === "usefulness") {
    return { marks: [{ value }], words: scoreText(value) };
  }
  const [low, high] = [lows[at], highs[at]];
  if (board.rows.role[row] === "reference" && Number.isNaN(low)) {
    return { marks: [], words: h("span", { class: "quiet" }, "no meaning") }; // noise over noise
  }
  const interval = intervalText(low, high);
  return {
    marks: [{ value, low, high }],
    words: [
      scoreText(value),
      h("small", { class: "range" }, interval === NOTHING ? " (no interval)" : ` (${interval})`),
      h("small", { class: "under" }, strengthText(value)),
    ],
  };
}

/**
 * @param {DecodedDetails} details
 * @param {number} at
 * @param {Task} task
 * @returns {RowCell}
 */
function scoreCell(details, at, { ideal, low_bound, high_bound }) {
  const [value, low, high] = [details.value[at], details.low[at], details.high[at]];
  if (Number.isNaN(value)) {
    return { marks: [], words: h("span", { class: "quiet" }, "no value") };
  }
  const floor = details.floor[at];
  const hasFloor = typeof ideal === "number" && !Number.isNaN(floor);
  const interval = intervalText(low, high);
  return {
    marks: [{ value, low, high }],
    band: hasFloor
      ? [
          Math.max(ideal - floor, low_bound ?? -Infinity),
          Math.min(ideal + floor, high_bound ?? Infinity),
        ]
      : undefined,
    words: [
      scoreText(value),
      interval === NOTHING ? null : h("small", { class: "range" }, ` (${interval})`),
      hasFloor ? h("small", { class: "under" }, `floor ${scoreText(floor)}`) : null,
    ],
  };
}

/**
 * @param {Board} board
 * @param {Route} route
 * @param {DecodedDetails | null} details
 * @param {number} index
 */
function taskRows(board, route, details, index) {
  const { measure, flags, width } = cellsOf(board);
  const at = (/** @type {number} */ row) => row * width + index;
  const isBias = board.tasks[index].measures !== "usefulness";
  const loss = (/** @type {number} */ row) => {
    const value = measure[at(row)];
    return Number.isNaN(value) ? Infinity : isBias ? Math.abs(value) : -value;
  };
  const rows = [...board.rows.model.keys()]
    .filter((row) => flags[at(row)] & RUN)
    .toSorted((a, b) => loss(a) - loss(b) || a - b);
  return cellTable(board, details, {
    caption: `${countText(rows.length, "row")} with a record, ${isBias ? "least bias" : "most useful"} first`,
    measure: isBias ? "Gap over yardstick" : "Usefulness",
    cells: rows.map((row) => ({ row, task: index })),
    first: "Model",
    head: ({ row }) => pageLink(route, "model", board.models[board.rows.model[row]].name),
    second: "Mitigator",
    more: ({ row }) => mitigatorOf(board, route, row),
  });
}

/**
 * Return the mitigator of a row, with a link if it is one.
 * @param {Board} board
 * @param {Route} route
 * @param {number} row
 */
function mitigatorOf(board, route, row) {
  const { label } = board.mitigators[board.rows.mitigator[row]];
  return board.rows.role[row] === "mitigated" ? pageLink(route, "mitigator", label) : label;
}
