// @ts-check
// The choice of tasks: a benchmark, a concept, or single tasks grouped by measure and category.
import { biasCategories, choiceOf, chosenTasks, isOfConcept, rankedTasks } from "./choice.js";
import { checkField, choiceField } from "./controls.js";
import { h } from "./dom.js";
import { distinct } from "./filters.js";
import { countText, languageName } from "./formats.js";
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
  const concepts = biasCategories(board).map(
    (name) => /** @type {[string, string]} */ ([name, name]),
  );
  const panel = h("div", {}, tasksPanel(board, view, change));
  const choose = (/** @type {Partial<View>} */ changes) => {
    change(changes);
    panel.replaceChildren(tasksPanel(board, { ...view, ...changes }, change));
  };
  return [
    h(
      "div",
      { class: "controls" },
      choiceField("Benchmark", benchmarks, view.benchmark, (benchmark) =>
        choose({ benchmark, tasks: [], without: [] }),
      ),
      choiceField("Concept", [["", "all"], ...concepts], view.concept, (concept) =>
        choose({ concept }),
      ),
      ...languageField(board, view, choose),
      h("a", { href: address(board.kind, "benchmark") }, "About the benchmarks"),
    ),
    panel,
  ];
}

/**
 * Return the choice of the language of tasks: those in it that are ranked. Nothing on a board of one
 * language.
 * @param {Board} board
 * @param {View} view
 * @param {Change} change
 */
function languageField(board, view, change) {
  const languages = distinct(board.tasks.map(({ language }) => language));
  if (languages.length < 2) return [];
  const chosen = new Set(chosenTasks(board, view));
  const tasksIn = (/** @type {string} */ language) =>
    rankedTasks(board).filter((task) => board.tasks[task].language === language);
  const isChosen = (/** @type {number[]} */ tasks) =>
    tasks.length > 0 && tasks.length === chosen.size && tasks.every((task) => chosen.has(task));
  const current = languages.find((language) => isChosen(tasksIn(language))) ?? "";
  const options = languages.map((language) => {
    const ranked = tasksIn(language).length;
    const note = ranked ? countText(ranked, "task") : "none is ranked";
    return /** @type {[string, string]} */ ([language, `${languageName(language)} (${note})`]);
  });
  const field = choiceField(
    "Language of the tasks",
    [["", "those of the benchmark"], ...options],
    current,
    (language) =>
      change(language ? choiceOf(board, view, tasksIn(language)) : { tasks: [], without: [] }),
  );
  for (const option of field.querySelectorAll("option")) {
    option.disabled = option.value !== "" && !tasksIn(option.value).length;
  }
  return [field, h("a", { href: address(board.kind, "task") }, "Tasks by language")];
}

/**
 * Return check boxes for all ranked tasks, folded.
 * @param {Board} board
 * @param {View} view
 * @param {Change} change
 */
function tasksPanel(board, view, change) {
  const chosen = new Set(chosenTasks(board, view));
  const ranked = rankedTasks(board);
  const summary = h("summary");
  /** @type {(() => void)[]} */
  const refreshers = [
    () => {
      const count = [...chosen].filter((task) => isOfConcept(board, task, view.concept)).length;
      summary.textContent = `Tasks: ${count} of ${ranked.length}${chosen.size ? "" : "; choose some"}`;
    },
  ];
  const update = () => {
    refreshers.forEach((refresh) => refresh());
    if (chosen.size)
      change(
        choiceOf(
          board,
          view,
          ranked.filter((task) => chosen.has(task)),
        ),
      );
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
    return h("fieldset", {}, h("legend", {}, title), allAndNone(tasks, chosen, update), boxes);
  });
  refreshers.forEach((refresh) => refresh());
  const isOwn = view.tasks.length + view.without.length > 0;
  const box = h("div", { class: "task-groups" }, groups);
  return h("details", { class: "tasks", open: isOwn }, summary, box);
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

/**
 * @param {number[]} tasks
 * @param {Set<number>} chosen
 * @param {() => void} update
 */
function allAndNone(tasks, chosen, update) {
  const set = (/** @type {boolean} */ isChosen) => () => {
    tasks.forEach((task) => (isChosen ? chosen.add(task) : chosen.delete(task)));
    update();
  };
  return h(
    "p",
    { class: "buttons" },
    h("button", { type: "button", click: set(true) }, "All"),
    " ",
    h("button", { type: "button", click: set(false) }, "None"),
  );
}
