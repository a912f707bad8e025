// @ts-check
// The list of studies, each with a page of its own.
import { h } from "../dom.js";
import { countText } from "../formats.js";
import { plainTable, trail } from "../page_parts.js";

/** @type {Page} */
export const studiesPage = (main, site, _board, route) => {
  main.append(
    trail(site, route, "Studies"),
    h("h1", {}, "Studies"),
    h(
      "p",
      {},
      "Comparisons of mitigators by nested cross-validation: no mitigator is tested on a pair of words that it was fitted on, and differences have significance tests.",
    ),
  );
  if (!site.studies.length) {
    main.append(h("p", {}, "These results have no study."));
    return;
  }
  const columns = [{ title: "Study", class: "model" }, { title: "Model" }, { title: "Result" }];
  const rows = site.studies.map((study) => () => [
    /^studies\/[^:]+$/.test(study.page) ? h("a", { href: study.page }, study.title) : study.title,
    study.model,
    study.line,
  ]);
  main.append(plainTable(countText(rows.length, "study", "studies"), columns, rows));
};
