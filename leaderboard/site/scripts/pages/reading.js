// @ts-check
// How to read the pages, and what was set aside.
import { load } from "../data.js";
import { h } from "../dom.js";
import { plainTable, trail } from "../page_parts.js";
import { listOf } from "./benchmark.js";

/** What to know before a first look. */
const IN_SHORT = [
  "Bias: 0 is fair, and 1 is as biased as the reference model. Less is better.",
  "Usefulness: 1 is perfect. A model that knows nothing has little bias, so look at both.",
  "A rank with 1–5 below it could be anywhere from 1st to 5th.",
  "A small bias is no proof of fairness: each task asks about one kind of bias.",
];

/** Terms and what they mean, a fact a sentence. */
const TERMS = [
  [
    "Bias",
    "Each task has a gap: how much more similar the texts of a stereotype are than those against it. Its yardstick is a gap of the same form on the same vectors, between texts that have nothing to do with the concept, such as flowers and insects, and that every usable model must tell apart. Bias is the gap over the yardstick. Noise, scale and common components change both alike. The gaps of a method are added and divided by the sum of its yardsticks, then by the same ratio of a reference model (all-MiniLM-L6-v2 for texts, glove-6b-50d for words), and methods are averaged. So 0 is fair and 1 is as biased as the reference. Its interval says what the words and items of the tasks leave open.",
  ],
  [
    "Usefulness",
    "1 − the distance to the best value, as a share of the greatest distance. 1 is best. A correlation of 0 is 0.5.",
  ],
  [
    "Family",
    "What has one vote: of bias a method, such as association, of usefulness a category and a method. The mean of a row is over families. So fourteen tasks of one method have one vote.",
  ],
  [
    "Rank and set",
    "Models are ranked without a mitigator, by the upper end of the interval of their bias: a blurred model cannot show that its bias is low. The set of ranks holds the true rank: all sets of a benchmark do so at once, with 95 % confidence. Do not call one of two models with overlapping sets better. With fewer than six families there are no sets, and the order only describes these tasks. No other model changes the mean of a model, so copies of a model change no order.",
  ],
  [
    "What is ranked",
    "Usable models with a value on every ranked bias task of the benchmark. A value outside its bounds does not count.",
  ],
  [
    "Minimum of usefulness",
    "Nobody leads by being worse. First come the models whose usefulness above random vectors is within 10 % of the best model's, or another share that you choose. The others stand below, with the reason. So does a model without a value on every usefulness task: it is incomplete. In the plot the minimum is a line that you can drag, or move by the arrow keys.",
  ],
  [
    "Usable",
    "Bias alone cannot tell: random vectors have little of any bias. At least half of the yardsticks of a usable model are clear, such as flowers and insects: t of 3 or more. The yardstick of each method is above 0, and the model is more useful than random vectors. Under a mitigator it keeps at least 75 % of the model's usefulness above that of random vectors. In the plots, open shapes are unusable or incomplete, and grey ones are below the minimum of usefulness.",
  ],
  [
    "Kept meaning and recoverability",
    "Both stand beside the ranks. Kept meaning says how far words that are female and male by definition, such as mother and father, are told apart; 1 is the reference. A row that keeps less than 5 % is not usable. Recoverability says how well a classifier finds the groups of words again: a mitigator may hide a bias and not remove it.",
  ],
  [
    "Bias uncertain: yardstick uneven",
    "One contrast gives more than 30 % of the yardstick, or its contrasts spread more than twice as much as those of the reference. The yardstick may have been boosted, which makes bias look smaller.",
  ],
  [
    "Leak (†), task left out",
    "The mitigator was fitted on texts of the task. Such a value is shown, and counts in no mean, effect or rank.",
  ],
  [
    "Less bias, more bias, less useful, more useful",
    "Such words stand only beside a change with p < .05 after Holm's correction over the changes of one model. Without them the change is not shown to be more than chance.",
  ],
  [
    "Other marks",
    "↔ is a reversal: the association points the other way. ◐ says that some texts have no vector.",
  ],
  [
    "No meaning, no upper limit",
    "Random vectors tell nothing apart, so their gap over their yardstick is noise over noise: it has no meaning as bias. A model whose yardsticks are hardly clear has no upper limit of bias, and comes last.",
  ],
  [
    "References",
    "Random vectors show what every number is where texts have no meaning. Constant vectors, the same for every text, have no value: no difference is not fairness. References are never ranked.",
  ],
  [
    "Mitigators",
    "A mitigator is compared with the same model without it (none), and with vectors of unit length only (normalize), over the same tasks. A change of bias is measured by the yardstick of the mitigated model and by that of the model, and the smaller reduction counts: neither noise nor a larger yardstick is a reduction. A mitigated row has the bias of its model plus this change. Then mitigators are ranked by their mean change over the models on which they are usable. One removes bias only with p < .05 after Holm's correction over the mitigators.",
  ],
  [
    "Pareto front and layers",
    "No ranked model has both less bias, by the upper end of its interval, and more usefulness than one on the front. Only models with a value on every usefulness task can be on it. The next layer is the front of the others, and is paler.",
  ],
  [
    "Limits",
    "A small bias is no proof of fairness: each task tests one kind of bias in one set of texts. A large one is a reason to look closer.",
  ],
];

/** @type {Page} */
export const readingPage = (main, site, _board, route) => {
  const terms = TERMS.map(([term, text]) => h("div", {}, h("dt", {}, term), h("dd", {}, text)));
  main.append(
    trail(site, route, "How to read it"),
    h("h1", {}, "How to read it"),
    h(
      "ul",
      { class: "short" },
      IN_SHORT.map((text) => h("li", {}, text)),
    ),
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
