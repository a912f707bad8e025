// @ts-check
// What changed since the last build.
import { h } from "../dom.js";
import { NOTHING, countText } from "../formats.js";
import { plainTable, trail } from "../page_parts.js";
import { address } from "../state.js";
import { listOf } from "./benchmark.js";

/** @type {Page} */
export const newsPage = (main, site, _board, route) => {
  main.append(trail(site, route, "News"), h("h1", {}, "News"));
  main.append(
    h("p", {}, h("a", { href: "history.html" }, "All changes of this board, build by build")),
  );
  const { news } = site;
  if (!news) {
    main.append(h("p", {}, "This is the first build, so nothing has changed since another."));
    return;
  }
  main.append(h("p", { class: "lead" }, `Since the build of ${news.since}.`));
  const lists = [
    ...listOf("New models", news.models),
    ...listOf("New mitigators", news.mitigators),
    ...listOf("New tasks", news.tasks),
  ];
  main.append(...lists);
  if (news.ranks.length) main.append(h("h2", {}, "Ranks that changed"), rankChanges(site, news));
  if (news.values) main.append(h("p", {}, `${countText(news.values, "value")} changed.`));
  if (!lists.length && !news.ranks.length && !news.values)
    main.append(h("p", {}, "Nothing changed."));
};

/**
 * @param {Site} site
 * @param {News} news
 */
function rankChanges(site, news) {
  const columns = [
    { title: "Model", class: "model" },
    { title: "Board" },
    { title: "Benchmark" },
    ...["Before", "Now"].map((title) => ({ title, number: true })),
    { title: "In words" },
  ];
  const rows = news.ranks.map(([kind, benchmark, model, before, now]) => () => [
    h("a", { href: address(kind, "model", model) }, model),
    site.boards.find((board) => board.kind === kind)?.title ?? kind,
    h("a", { href: address(kind, "benchmark", benchmark) }, benchmark),
    before ?? NOTHING,
    now ?? NOTHING,
    moveText(before, now),
  ]);
  const caption = "Ranks by bias. A rank also changes when other models come or go.";
  return plainTable(caption, columns, rows);
}

/**
 * @param {number | null} before
 * @param {number | null} now
 */
function moveText(before, now) {
  if (before === null) return "newly ranked";
  if (now === null) return "no longer ranked";
  return now < before ? `up by ${before - now}` : `down by ${now - before}`;
}
