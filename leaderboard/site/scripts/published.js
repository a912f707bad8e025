// @ts-check
// Bias against published quality: figure 1 of Uriot (2024). Do better models have more bias?
import { h } from "./dom.js";
import { NOTHING, publishedText } from "./formats.js";
import { scatter } from "./plot.js";
import { address } from "./state.js";

/** Panels of the figure: metric, score, and the title of the axis. */
const PANELS = [
  ["concept-direction", "auc", "AUC of concept directions"],
  ["concept-direction", "correlation", "|correlation| with human labels"],
  ["association-test", "proportion", "proportion of the association test"],
];

/**
 * Return a plot for each of the paper's measures that three or more models have.
 * @param {Board} board
 * @param {Route} route
 * @returns {HTMLElement[]}
 */
export function publishedPlots(board, route) {
  const plots = PANELS.flatMap(([metric, score, title]) => {
    const lines = board.published.filter((line) => line.metric === metric && line.score === score);
    return lines.length ? [publishedPlot(lines, title, route)] : [];
  });
  if (!plots.length) return [];
  return [
    h("h2", {}, "Bias against published quality"),
    h(
      "p",
      {},
      "Models without a mitigator, by their published MTEB scores. Means over concepts; 0.5 of a proportion is fair. ρ is Spearman's correlation with the MTEB score over these models.",
    ),
    ...plots,
  ];
}

/**
 * @param {PublishedLine[]} lines
 * @param {string} title
 * @param {Route} route
 */
function publishedPlot(lines, title, route) {
  const scenarios = [...new Set(lines.map(({ scenario }) => scenario))];
  // The AUC is the same in every scenario.
  const shown = lines[0].score === "auc" ? scenarios.slice(0, 1) : scenarios;
  const points = lines
    .filter(({ scenario }) => shown.includes(scenario))
    .map(({ model, published, scenario, value }) => ({
      name: model,
      series: shown.indexOf(scenario),
      x: published,
      y: value,
      unusable: null,
      href: address(route.kind, "model", model),
    }));
  const series = shown.map((scenario) => {
    const rho = lines.find((line) => line.scenario === scenario)?.rho ?? NaN;
    return `${scenario} (ρ ${Number.isFinite(rho) ? rho.toFixed(2).replace("-", "−") : NOTHING})`;
  });
  return scatter({
    label: `${title} against published MTEB scores`,
    points,
    series,
    x: { title: "published MTEB score", better: "high", format: publishedText },
    y: { title, better: null },
  });
}
