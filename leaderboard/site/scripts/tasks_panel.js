// @ts-check
// The choice of tasks: a benchmark, a concept, or single tasks grouped by measure and category.
import { ownTasks, rankedTasks, viewsOn } from "./choice.js";
import { checkField, choiceField } from "./controls.js";
import { h } from "./dom.js";
import { distinct } from "./filters.js";
import { languageName } from "./formats.js";
import { address } from "./state.js";
/** @import { Change } from "./controls.js" */

/**
 * Return the fields that choose tasks.
 * @param {Board} board
 * @param {View} view
 * @param {Change} change
 */
export function taskFields(board, view, change) {
  const benchmarks = board.benchmarks.map(
    ({ name, title }, i) => /** @type {[string, string]} */ ([i ? name : "", title]),
  );
  const place = h("div", { class: "controls" });
  const panel = h("div", {}, tasksPanel(board, view, change));
  const draw = (/** @type {View} */ shown) => {
    const views = viewsOn(board, shown);
    const choose = (/** @type {Partial<View>} */ changes) => {
      const chosen = { ...changes, tasks: [] };
      change(chosen);
      const at = [...place.querySelectorAll("select")].findIndex(
        (field) => field === document.activeElement,
      );
      draw({ ...shown, ...chosen });
      place.querySelectorAll("select")[at]?.focus();
      panel.replaceChildren(tasksPanel(board, { ...shown, ...chosen }, change));
    };
    const concepts = distinct(
      views.filter(({ language }) => language === shown.tongue).map(({ concept }) => concept),
    );
    place.replaceChildren(
      choiceField("Benchmark", benchmarks, shown.benchmark, (benchmark) =>
        choose({ benchmark, concept: "", tongue: "" }),
      ),
      choiceField(
        "Concept",
        concepts.map((name) => [name, name || "all"]),
        shown.concept,
        (concept) => choose({ concept }),
      ),
      ...languageField(board, views, shown.tongue, (tongue) => choose({ tongue, concept: "" })),
      h("a", { href: address(board.kind, "benchmark") }, "About the benchmarks"),
    );
  };
  draw(view);
  return [place, panel];
}

/**
 * Return the choice of the language of tasks. Nothing on a benchmark of one language.
 * @param {Board} board
 * @param {BoardView[]} views
 * @param {string} tongue
 * @param {(tongue: string) => void} choose
 */
function languageField(board, views, tongue, choose) {
  const languages = distinct(views.map(({ language }) => language));
  if (languages.length < 2) return [];
  return [
    choiceField(
      "Language of the tasks",
      languages.map((code) => [code, code ? languageName(code) : "those of the benchmark"]),
      tongue,
      choose,
    ),
    h("a", { href: address(board.kind, "task") }, "Tasks by language"),
  ];
}

/**
 * Return check boxes for all ranked tasks, folded: those that are chosen are columns of the table.
 * @param {Board} board
 * @param {View} view
 * @param {Change} change
 */
function tasksPanel(board, view, change) {
  const chosen = new Set(ownTasks(board, view));
  const ranked = rankedTasks(board);
  const summary = h("summary");
  /** @type {(() => void)[]} */
  const refreshers = [
    () => (summary.textContent = `Single tasks: ${chosen.size} of ${ranked.length} shown`),
  ];
  const update = () => {
    refreshers.forEach((refresh) => refresh());
    const tasks = ranked.filter((task) => chosen.has(task)).map((task) => board.tasks[task].name);
    change({ tasks });
  };
  const groups = ["bias", "usefulness"].flatMap((measures) => {
    const tasks = ranked.filter((task) => board.tasks[task].measures === measures);
    if (!tasks.length) return [];
    const categories = distinct(tasks.map((task) => board.tasks[task].category));
    const boxes = categories.map((category) => {
      const members = tasks.filter((task) => board.tasks[task].category === category);
      return taskGroup(board, category, members, chosen, update, refreshers);
    });
    const title = measures === "bias" ? "Bias" : "Usefulness";
    return h("fieldset", {}, h("legend", {}, title), boxes);
  });
  refreshers.forEach((refresh) => refresh());
  const box = h("div", { class: "task-groups" }, groups);
  return h("details", { class: "tasks", open: chosen.size > 0 }, summary, box);
}

/**
 * Return the tasks of a category, with a box for all of them.
 * @param {Board} board
 * @param {string} category
 * @param {number[]} members
 * @param {Set<number>} chosen
 * @param {() => void} update
 * @param {(() => void)[]} refreshers
 */
function taskGroup(board, category, members, chosen, update, refreshers) {
  const set = (/** @type {number[]} */ tasks, /** @type {boolean} */ isChosen) => {
    for (const task of tasks) {
      if (isChosen) chosen.add(task);
      else chosen.delete(task);
    }
    update();
  };
  const all = checkField(category, false, (isChosen) => set(members, isChosen));
  const box = /** @type {HTMLInputElement} */ (all.firstElementChild);
  refreshers.push(() => {
    const count = members.filter((task) => chosen.has(task)).length;
    box.checked = count === members.length;
    box.indeterminate = count > 0 && count < members.length;
  });
  const single = members.map((task) => {
    const field = checkField(board.tasks[task].name, false, (isChosen) => set([task], isChosen));
    const input = /** @type {HTMLInputElement} */ (field.firstElementChild);
    refreshers.push(() => (input.checked = chosen.has(task)));
    return h("li", {}, field);
  });
  return h(
    "div",
    { class: "task-group" },
    h("strong", {}, all),
    h("ul", { class: "boxes" }, single),
  );
}
