// @ts-check
// The form of the first screen: search, filters, columns. Each control changes fields of the view.
import { MINIMUM } from "./choice.js";
import { STANDARD_COLUMNS, shownColumns } from "./columns.js";
import { h } from "./dom.js";
import { facetsOf } from "./filters.js";
import { DEFAULT_VIEW, LONGEST_TEXT } from "./state.js";

/** @typedef {(changes: Partial<View>) => void} Change */

let fieldCount = 0;

/**
 * Return a control with its label before it.
 * @param {string} label
 * @param {HTMLElement} control
 */
function labelled(label, control) {
  fieldCount += 1;
  control.id = `field-${fieldCount}`;
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control);
}

/**
 * Return a list of choices with its label.
 * @param {string} label
 * @param {[string, string][]} options values and their texts
 * @param {string} value
 * @param {(value: string) => void} change
 */
export function choiceField(label, options, value, change) {
  const select = h(
    "select",
    { change: (event) => change(event.target.value) },
    options.map(([key, text]) => h("option", { value: key, selected: key === value }, text)),
  );
  return labelled(label, select);
}

/**
 * Return a check box with its label after it.
 * @param {string} label
 * @param {boolean} checked
 * @param {(checked: boolean) => void} change
 */
export function checkField(label, checked, change) {
  const box = h("input", {
    type: "checkbox",
    checked,
    change: (event) => change(event.target.checked),
  });
  return h("label", { class: "check" }, box, " ", label);
}

/**
 * Return fields for both ends of a range such as `10-500`.
 * @param {string} title
 * @param {"number" | "date"} type
 * @param {string} separator
 * @param {string} range
 * @param {(range: string) => void} change
 */
function rangeField(title, type, separator, range, change) {
  const ends = range ? range.split(separator) : ["", ""];
  const inputs = ends.map((value) => h("input", { type, value, min: type === "number" && 0 }));
  for (const input of inputs) {
    input.addEventListener("input", () => {
      const values = inputs.map((end) => end.value);
      change(values.some((value) => value) ? values.join(separator) : "");
    });
  }
  const [low, high] = inputs;
  return h(
    "fieldset",
    { class: "range-field" },
    h("legend", {}, title),
    labelled("from", low),
    labelled("to", high),
  );
}

/**
 * Return the field to search for models and mitigators.
 * @param {View} view
 * @param {Change} change
 */
export function searchField(view, change) {
  const input = h("input", {
    type: "search",
    value: view.q,
    maxlength: LONGEST_TEXT,
    spellcheck: "false",
    autocomplete: "off",
    input: (event) => change({ q: event.target.value.trim() }),
  });
  return labelled("Search models and mitigators", input);
}

/**
 * Return the choice of how useful a model must be to stand above the others. The line in the plot
 * is the same value: `show` takes what it is dragged to.
 * @param {View} view
 * @param {Change} change
 */
export function minimumField(view, change) {
  const shares = ["0", "", "25", "50"];
  const optionOf = (/** @type {string} */ value) =>
    h("option", { value, selected: value === view.minimum }, minimumText(value));
  const dragged = h("option", { hidden: true });
  const select = h(
    "select",
    { change: (event) => change({ minimum: event.target.value }) },
    [...shares, "off"].map(optionOf),
    dragged,
  );
  const show = (/** @type {string} */ value) => {
    const minimum = value === String(MINIMUM) ? "" : value;
    const isOffered = minimum === "off" || shares.includes(minimum);
    dragged.hidden = isOffered;
    dragged.value = isOffered ? "dragged" : minimum;
    dragged.textContent = isOffered ? "" : minimumText(minimum);
    select.value = minimum;
  };
  show(view.minimum);
  return { element: labelled("Minimum of usefulness", select), show };
}

/**
 * Return in words how useful a model must be.
 * @param {string} minimum percent below the best model; `off` for no minimum, empty for `MINIMUM`
 */
export function minimumText(minimum) {
  if (minimum === "off") return "no minimum";
  if (minimum === "0") return "as useful as the best";
  return `within ${minimum || MINIMUM} % of the best`;
}

/**
 * @param {string[]} names
 * @returns {[string, string][]}
 */
function anyOf(names) {
  return [["", "any"], ...names.map((name) => /** @type {[string, string]} */ ([name, name]))];
}

/**
 * Return the filters, folded if none is set.
 * @param {Board} board
 * @param {View} view
 * @param {Change} change
 */
export function filterFields(board, view, change) {
  const facets = facetsOf(board);
  const encoder = choiceField("Encoder", anyOf(facets.encoders), view.encoder, (kind) =>
    change({ encoder: kind }),
  );
  const fields = [
    choiceField("Mitigator", anyOf(facets.mitigators), view.mitigator, (mitigator) =>
      change({ mitigator }),
    ),
    ...(facets.encoders.length ? [encoder] : []),
    choiceField("Licence", anyOf(facets.licences), view.licence, (licence) => change({ licence })),
    choiceField("Open weights", anyOf(["yes", "no"]), view.weights, (weights) =>
      change({ weights }),
    ),
    choiceField("Language of the model", anyOf(facets.languages), view.language, (language) =>
      change({ language }),
    ),
    rangeField("Parameters in millions", "number", "-", view.size, (size) => change({ size })),
    rangeField("Dimensions", "number", "-", view.dims, (dims) => change({ dims })),
    rangeField("Released", "date", "..", view.released, (released) => change({ released })),
    checkField("Show all mitigators", view.unfolded, (unfolded) =>
      change({ unfolded, toggled: [] }),
    ),
  ];
  const isOpen = FILTERS.some((name) => view[name] !== DEFAULT_VIEW[name]);
  return h(
    "details",
    { open: isOpen },
    h("summary", {}, "Filters"),
    h("div", { class: "controls" }, fields),
  );
}

/** Fields of a view that filter rows. */
const FILTERS = /** @type {const} */ ([
  "mitigator",
  "encoder",
  "licence",
  "weights",
  "language",
  "size",
  "dims",
  "released",
]);

/**
 * Return the choice of columns, folded.
 * @param {TableColumn[]} columns
 * @param {View} view
 * @param {Change} change
 */
export function columnFields(columns, view, change) {
  const shown = new Set(shownColumns(columns, view, true).map(({ key }) => key));
  const boxes = columns.map(({ key, title }) =>
    checkField(title, shown.has(key), (isShown) => {
      if (isShown) shown.add(key);
      else shown.delete(key);
      const isStandard =
        shown.size === STANDARD_COLUMNS.length && STANDARD_COLUMNS.every((name) => shown.has(name));
      change({ cols: isStandard ? [] : [...shown] });
    }),
  );
  return h("details", {}, h("summary", {}, "Columns"), h("div", { class: "controls" }, boxes));
}
