// @ts-check
// How to read the pages, and what was set aside.
"use strict";

/** Terms and what they mean, a fact a sentence. */
const TERMS = [
  [
    "Bias above the floor",
    "Every score has an ideal, such as 0 for an association and 0.5 for a share of choices. Vectors without any bias are not exactly there: chance moves them. The floor is how far a score is from its ideal on the same vectors with shuffled sides. Bias is the distance of the score from its ideal, less the floor, divided by the unit of the score. 0 is what chance shows, and a value may be a little below 0. A score without a unit is divided by the greatest distance that it can have.",
  ],
  [
    "Usefulness",
    "1 − the distance to the best value, as a share of the greatest distance. 1 is best. A correlation of 0 is 0.5.",
  ],
  [
    "Family",
    "A category and a family of methods, such as gender and association. The mean of a row is over families, and that of a family over its tasks. So fourteen tasks of one method have one vote.",
  ],
  [
    "Rank and set",
    "Models are ranked without a mitigator, by their mean bias. The set of ranks holds the true rank: all sets of a benchmark do so at once, with 95 % confidence. Do not call one of two models with overlapping sets better. With fewer than six families there are no intervals and no sets. No other model changes the mean of a model, so copies of a model change no order.",
  ],
  [
    "What is ranked",
    "Usable models with a value on every ranked bias task of the benchmark. A value outside its bounds does not count.",
  ],
  [
    "Usable",
    "Bias alone cannot tell: random vectors have little of any bias. A usable model shows at least half of the yardsticks clearly, such as flowers and insects, tells mother from father, and is more useful than random vectors. Under a mitigator it keeps at least 75 % of the model's usefulness above that of random vectors. In the plots, open shapes are not usable.",
  ],
  [
    "Leak (†)",
    "The mitigator was fitted on texts of the task. Such a value is shown, and counts in no mean, effect or rank.",
  ],
  [
    "Arrows (▲ ▼)",
    "Only a change with p < .05 after Holm's correction over all changes has an arrow: ▲ is better, ▼ is worse. Without an arrow there is no evidence of a change.",
  ],
  [
    "Other marks",
    "↔ is a reversal: the association points the other way. ◐ says that some texts have no vector.",
  ],
  [
    "References",
    "Random vectors show what every number is where texts have no meaning. Constant vectors, the same for every text, have no value: no difference is not fairness. References are never ranked.",
  ],
  [
    "Mitigators",
    "A mitigator is compared with the same model without it (none), and with vectors of unit length only (normalize), over the same tasks. Then mitigators are ranked by their mean change over models. One removes bias only with p < .05 after Holm's correction over the mitigators.",
  ],
  ["Pareto front", "No usable model has both less bias and more usefulness than one on the front."],
  [
    "Limits",
    "A small distance is no proof of fairness: each task tests one kind of bias in one set of texts. A large distance is a reason to look closer.",
  ],
];

pages.reading = (main, site, _board, route) => {
  const terms = TERMS.flatMap(([term, text]) => [h("dt", {}, term), h("dd", {}, text)]);
  main.append(
    trail(site, route, "How to read it"),
    h("h1", {}, "How to read it"),
    h("dl", { class: "terms" }, terms),
    h("h2", {}, "Records that were set aside"),
    ...asideParts(site),
    ...listOf("Notices of this build", site.notices),
    h("h2", {}, "Environments"),
    environments(site),
  );
};

/**
 * Return what was set aside, and why.
 * @param {Site} site
 * @returns {HTMLElement[]}
 */
function asideParts(site) {
  if (!site.aside.length)
    return [h("p", {}, "None: every record counts or is shown with its reason.")];
  const columns = [
    { title: "Reason", class: "model" },
    { title: "Records", number: true },
    { title: "Such as" },
  ];
  const rows = site.aside.map(({ reason, count, examples }) => () => [
    reason,
    count,
    h(
      "ul",
      {},
      examples.map((example) => h("li", {}, example)),
    ),
  ]);
  return [
    h(
      "p",
      {},
      "A record of somebody else is a claim. What is wrong is set aside, and the rest is built.",
    ),
    plainTable("Set aside, by reason", columns, rows),
  ];
}

/**
 * Return what the records of all boards ran on. The boards are loaded.
 * @param {Site} site
 */
function environments(site) {
  const place = h("div", {}, h("p", {}, "Loading…"));
  const boards = site.boards.map(({ data }) => /** @type {Promise<Board>} */ (load(data)));
  void Promise.all(boards).then((all) => place.replaceChildren(environmentList(all)));
  return place;
}

/**
 * @param {Board[]} boards
 */
function environmentList(boards) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const [text, count] of boards.flatMap(({ models }) =>
    models.flatMap((m) => m.environments),
  )) {
    counts.set(text, (counts.get(text) ?? 0) + count);
  }
  if (!counts.size) return h("p", {}, "The records do not say what they ran on.");
  const sorted = [...counts].toSorted((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
  const columns = [{ title: "Environment" }, { title: "Records", number: true }];
  return plainTable(
    "What the records ran on",
    columns,
    sorted.map((line) => () => line),
  );
}
