// What the data files hold. Python writes them (payload.py), the scripts read them.
// Every text in them may come from a stranger: it enters a page as text, never as HTML.

/** data/site.js */
interface Site {
  schema: 5;
  title: string;
  built: string;
  harness: string;
  notices: string[];
  boards: BoardEntry[];
  /** The menu of every page. */
  menu: { label: string; style: string; links: MenuLink[] }[];
  /** Names of the files to download, such as leaderboard.csv. */
  files: string[];
}

interface MenuLink {
  text: string;
  /** Path in the site. */
  path: string;
  /** Name of the page of the shown board that stands in its place; empty if there is none. */
  page: string;
}

interface BoardEntry {
  kind: Kind;
  title: string;
  models: number;
  /** Models that are ranked by bias. The site opens on the board with most of them. */
  ranked: number;
  rows: number;
  tasks: number;
  /** Path of the board's data, and of the details of its cells, which are loaded on demand. */
  data: string;
  details: string;
}

/** A column in memory. */
type Numbers = ReturnType<typeof import("./data.js").numbers>;

type Kind = "word" | "text";
type Measures = "bias" | "usefulness" | "control";

/** data/word.js or data/text.js. A row is a model under a mitigator. */
interface Board {
  kind: Kind;
  /** Name of the model whose bias is 1. */
  reference: string;
  notices: string[];
  /** How the mitigated rows are judged. */
  judged: string[];
  /** The first is the default. `all` holds every ranked task. */
  benchmarks: Benchmark[];
  tasks: Task[];
  models: Model[];
  mitigators: Mitigator[];
  rows: {
    /** Index of the model and of the mitigator. The rows of a model follow each other, `none` first. */
    model: number[];
    mitigator: number[];
    role: Role[];
    /** By row, why it is not usable. */
    unusable: Record<number, string>;
    /** By row, why its yardstick may have been boosted. */
    uneven: Record<number, string>;
    /** How far a row tells words apart that are female and male by definition; 1: the reference. */
    meaning: (number | null)[];
    /** How well a classifier finds the groups of words again: what linear mitigators leave. */
    recoverability: (number | null)[];
  };
  /** What was computed: of each benchmark all concepts in its own language first. */
  views: BoardView[];
  /**
   * (rows × tasks), row after row. float32; NaN where nothing counts. For bias the gap over the
   * yardstick (0 is fair) and its interval, for usefulness 1 - distance (higher is better).
   */
  measure: Column;
  measure_low: Column;
  measure_high: Column;
  /** (rows × tasks), bits of `Flag`. */
  flags: Column;
  published: PublishedLine[];
}

type Role = "model" | "mitigated" | "reference";

/** Bits of the flags of a cell. */
declare const enum Flag {
  Reversed = 2,
  MissingTexts = 4,
  Truncated = 8,
  /** The value does not count; the details say why. */
  Aside = 16,
  /** p < .05. */
  Significant = 32,
  /** There is a record. */
  Run = 64,
  /** There are items in the data file of the task. */
  Items = 128,
}

interface Column {
  type: "f32" | "u8" | "u16" | "i32";
  /** Little-endian bytes in base64: the first bytes of all numbers, then the second ones ... */
  data: string;
}

interface Benchmark {
  name: string;
  title: string;
  description: string;
  citation: string;
  version: number | null;
  /** Indices of its tasks. */
  tasks: number[];
  languages: string[];
  licences: string[];
}

/** By row of the board; NaN without a number, 0 without a rank. */
type NumberName =
  | ("bias" | "bias_low" | "bias_high" | "rank" | "rank_low" | "rank_high" | "methods")
  | ("usefulness" | "usefulness_low" | "usefulness_high")
  | ("usefulness_rank" | "usefulness_rank_low" | "usefulness_rank_high")
  /** Of a mitigated row, on the tasks of both: the bias without and with the mitigator. */
  | ("base" | "model" | "difference" | "difference_low" | "difference_high")
  /** How many of the compared methods agree with the difference. */
  | ("agree" | "compared" | "usefulness_difference");

/** By row of the board; empty without a text. */
type WordName =
  /** Why a row has no rank. */
  | "unranked"
  /** Whether its gaps follow the stereotype: `stereotype`, `against it` or `mixed`. */
  | "direction"
  /** Of a mitigated row: what its difference shows, and why it does not. */
  | "verdict"
  | "reason"
  /** The method on which the verdict depends. */
  | "depends_on";

/** Texts by row: `of` holds their places in `texts`, of which the first is empty. */
interface Words {
  texts: string[];
  of: Column;
}

/** What was computed for a benchmark, a concept of bias and a language. */
interface BoardView {
  benchmark: string;
  /** Empty for all concepts. */
  concept: string;
  /** Of the tasks; empty for those of the benchmark. */
  language: string;
  /** Indices of the tasks. */
  tasks: number[];
  /** The answer of the first screen. */
  finding: string;
  notices: string[];
  numbers: Record<NumberName, Column>;
  words: Record<WordName, Words>;
  mitigators: MitigatorLine[];
}

interface MitigatorLine {
  mitigator: string;
  /** On how many models it was run, and on how many of them it is usable and can be compared. */
  models: number;
  usable: number;
  /** On how many of these it is shown to leave less bias, or more. */
  less: number;
  more: number;
  /** Mean changes over these models. */
  change: number | null;
  usefulness: number | null;
  /** These models. */
  over: string;
  note: string | null;
}

interface Task {
  name: string;
  title: string;
  description: string;
  source: string;
  licence: string;
  version: number;
  digest: string;
  measures: Measures;
  category: string;
  /** What has one vote: of bias the method, of usefulness category/method. */
  family: string;
  concept: string | null;
  language: string;
  /** Whether a reader of the language has read its texts; null if that is not known. */
  reviewed: boolean | null;
  metric: string;
  score: string;
  scenario: string;
  ideal: number | "higher" | "lower";
  low_bound: number | null;
  high_bound: number | null;
  /** The task that is the yardstick, `items` for the task's own items, null for usefulness. */
  yardstick_of: string | null;
  /** What the reference encoder shows: its gap over its yardstick. */
  reference_ratio: number | null;
  /** Why it is shown and not ranked. */
  not_ranked: string | null;
  /** The data file of its strongest items; null if no row has any. */
  items: string | null;
  /** Some of its texts by the name of the input. */
  examples: Record<string, string[]>;
  /** What the harness measured of it as an instrument. */
  validity: Record<string, number | string | null> | null;
}

interface Model {
  name: string;
  fingerprint: string;
  /** `dense`, `sparse`, `multi-vector` or `cross-encoder`; empty for word vectors. */
  encoder: string;
  revision: string | null;
  url: string | null;
  dimensions: number | null;
  parameters: number | null;
  max_tokens: number | null;
  licence: string | null;
  open_weights: boolean | null;
  released: string | null;
  superseded_by: string | null;
  /** Name of its static page in addresses. */
  slug: string;
  languages: string[];
  published: Record<string, number>;
  /** What the harness ran on, with the number of records. */
  environments: [string, number][];
  /** Who submitted its results; empty for results that are not a submission. */
  submitters: string[];
}

interface Mitigator {
  /** As shown: the name with the options that differ from their defaults. */
  label: string;
  name: string;
  params: Record<string, unknown>;
  concept: string | null;
  title: string;
}

/** Figure 1 of Uriot (2024): bias against published quality. */
interface PublishedLine {
  model: string;
  published: number;
  metric: string;
  score: string;
  scenario: string;
  value: number;
  rho: number | null;
}

/** data/word-details.js or data/text-details.js: more about each cell, (rows × tasks). */
interface Details {
  value: Column;
  low: Column;
  high: Column;
  p: Column;
  floor: Column;
  floor_sd: Column;
  /** In cosines, with their standard errors. */
  gap: Column;
  gap_error: Column;
  yardstick: Column;
  yardstick_error: Column;
  /** Standard deviation over seeds; NaN with one seed. */
  spread: Column;
  /** Share of the texts that hold words that the mitigator was fitted on; NaN if unknown. */
  word_share: Column;
  n: Column;
  asked: Column;
  found: Column;
  /** Index into `reasons` of why there is no value, or why it does not count; 0 for none. */
  reason: Column;
  reasons: string[];
}

/** data/KIND-items-N.js: the strongest items of the cells of a task. */
interface TaskItems {
  /** Why some texts are missing; empty if none is. */
  note: string;
  /** Inputs whose rows are one item: one input for a word, several for a pair. */
  inputs: string[][];
  /** Index of the inputs, row there, and text in each; null where it is not quoted. */
  items: [number, number, string[] | null][];
  /** By cell: its row of the board, the number of all its items, and of those here. */
  row: number[];
  total: number[];
  count: number[];
  /** By cell, the score: the mean over all its items. */
  score: Column;
  /** By cell after cell, its items, the strongest first: index into `items`, and the value. */
  item: Column;
  value: Column;
}

// The scripts.

/** The decoded numbers of the cells of a board, (rows × width), row after row. */
interface Cells {
  width: number;
  /** The gap over the yardstick; of usefulness the usefulness. */
  measure: Numbers;
  low: Numbers;
  high: Numbers;
  flags: Numbers;
}

/** Means by row; NaN without one. */
interface Means {
  mean: Numbers;
  low: Numbers;
  high: Numbers;
}

/** Ranks by row, and the ranks between which it is; 0 without one. */
interface Ranks {
  rank: Numbers;
  low: Numbers;
  high: Numbers;
}

/** The decoded numbers of a view, by row of the board. */
interface Scores extends Record<WordName, string[]> {
  bias: Means;
  usefulness: Means;
  /** What a mitigator changes in bias. */
  change: Means;
  ranks: { bias: Ranks; usefulness: Ranks };
  base: Numbers;
  model: Numbers;
  usefulness_change: Numbers;
  methods: Numbers;
  agree: Numbers;
  compared: Numbers;
}

/** What a visitor chose: the fields of a query. Names are not checked against a board. */
interface View {
  benchmark: string;
  /** Single tasks that are shown in the place of a benchmark. */
  tasks: string[];
  /** Concept of the bias tasks; empty for all. */
  concept: string;
  /** Language of the tasks; empty for those of the benchmark. */
  tongue: string;
  /** How far below the best model's usefulness a leading model may be, in %; `off` for any. */
  minimum: string;
  q: string;
  mitigator: string;
  encoder: string;
  licence: string;
  weights: string;
  language: string;
  /** Ranges such as `10-500`: parameters in millions, and dimensions. */
  size: string;
  dims: string;
  /** Range of dates such as `2024-01-01..`. */
  released: string;
  /** What bias is plotted by: `size` or a published score such as MTEB; empty for usefulness. */
  by: string;
  /** Key of a column; empty for ranks. */
  sort: string;
  desc: boolean;
  /** Keys of columns; empty for the standard ones. */
  cols: string[];
  /** Whether mitigators are shown; models for which it is the other way round. */
  unfolded: boolean;
  toggled: string[];
  /** Rows to compare. */
  rows: string[];
}

/** What a view of the page chooses, with its numbers. */
interface Choice {
  board: Board;
  benchmark: Benchmark;
  computed: BoardView;
  /** Whether single tasks are shown: they have no means or ranks. */
  isOwn: boolean;
  tasks: number[];
  /** Whether a task measures bias. */
  hasBias: boolean;
  scores: Scores;
  /** Ranked models that stand below the others: less useful than asked for, or why not measured. */
  below: Map<number, string>;
  /** The usefulness that is asked for; NaN without a minimum. */
  least: number;
  /** Usefulness of the best ranked model and of random vectors; null without such a model. */
  ends: { best: number; noise: number } | null;
  /** Pareto layers of ranked models: 0 if no other one beats it in both bias and usefulness. */
  layers: Map<number, number>;
}

/** The row of a model, and its mitigated rows. */
interface RowGroup {
  row: number;
  children: number[];
  /** Whether a search matches the model itself, and not its mitigators alone. */
  isFound: boolean;
}

/** A line of a table: a row of the board, or the title of a section with the row -1. */
interface Line {
  row: number;
  title: string;
  /** The mitigated rows of a model that are folded under it. */
  children?: number[];
  unfolded?: boolean;
  /** Class of the row. */
  name?: string;
}

interface Lines {
  lines: Line[];
  groups: RowGroup[];
  models: number;
  ranked: number;
}

interface TableColumn {
  key: string;
  title: string;
  /** Says more than the title. */
  tip?: string;
  /** What a number counts, under the title. */
  unit?: string;
  /** Ends of the axis of its drawings, which stands under the title. */
  axis?: { low: number; high: number };
  /** In rem, and in a narrow window. */
  width: number;
  narrow?: number;
  isNumber: boolean;
  /** Whether the best value comes with a descending order. */
  highIsBest?: boolean;
  /** Whether only mitigated rows have values. */
  ofMitigated?: boolean;
  /** What is sorted and exported; null without one. */
  value: (row: number) => number | string | null;
  /** Further columns of a CSV, by their endings. */
  more?: Record<string, (row: number) => number | null>;
  /** What is drawn; by default the text of the value. */
  draw?: (line: Line) => (Node | string | null)[];
}

interface VirtualTable {
  element: HTMLElement;
  parts: {
    table: HTMLTableElement;
    caption: HTMLTableCaptionElement;
    widths: HTMLElement;
    head: HTMLTableRowElement;
    above: HTMLTableCellElement;
    body: HTMLTableSectionElement;
    below: HTMLTableCellElement;
  };
  columns: TableColumn[];
  lines: Line[];
  /** Rows that are drawn, by the place of their lines. */
  drawn: Map<number, HTMLTableRowElement>;
  /** Of a row, in pixels; 0 before the first is drawn. */
  height: number;
  /** Of the title of a section. */
  titleHeight: number;
  sortBy: (column: TableColumn) => void;
}

/** What an address leads to: `#/KIND/PAGE/NAME?QUERY`. */
interface Route {
  page: string;
  /** null for an unknown one. */
  kind: Kind | null;
  /** Empty without one. */
  name: string;
  query: URLSearchParams;
}

/** Draws a page into an empty `main`. Pages of the whole site ignore the board: they have none. */
type Page = (main: HTMLElement, site: Site, board: Board, route: Route) => void;

/** A point of `scatter(options)`. */
interface PlotPoint {
  /** Of the model. */
  name: string;
  /** Index into the series; 0 for a model as it is. */
  series: number;
  /** NaN if there is none: the point is not drawn. */
  x: number;
  y: number;
  /** Ends of the intervals; null or absent without one. */
  xEnds?: [number, number] | null;
  yEnds?: [number, number] | null;
  /** Why it is not usable: such a point is open, and never on the Pareto front. */
  unusable: string | null;
  /** Its Pareto layer, 0 for the front, null for none; by default the front as values say. */
  layer?: number | null;
  /** One word that stands after the name of an open point. */
  why?: string;
  /** Whether it stands back, in grey. */
  isFaint?: boolean;
  /** Address of the page that a click or Enter opens. */
  href: string | null;
  /** Index of the point from which a line leads here, such as the model without a mitigator. */
  base?: number | null;
}

interface PlotAxis {
  title: string;
  /** The end that is better; without one on both axes there is no front. */
  better: "low" | "high" | null;
  /** Whether the axis is logarithmic. A point at 0 or less is then not drawn. */
  log?: boolean;
  /** Whether a point without a value stands at the low end. */
  hasEdge?: boolean;
  /** Says more of the unit than the title, where there is room. */
  unit?: string;
  /** Text of a value at the ticks and in the tooltip. */
  format?: (value: number) => string;
}

/** A labelled line to compare with, such as fair; null for no line on that axis. */
interface PlotLine {
  label: string;
  x: number | null;
  y: number | null;
}

/** A horizontal line that the reader can drag. */
interface PlotSlider {
  label: string;
  /** Value of the y axis of a share from 0 to 100. */
  at: (share: number) => number;
  share: number;
  /** What the share means. */
  text: (share: number) => string;
  /** The same in a narrow plot. */
  short: (share: number) => string;
  /** Called while the line moves, and at the end. */
  move: (share: number, isFinal: boolean) => void;
}

interface PlotOptions {
  /** Says what the plot shows: its accessible name. */
  label: string;
  points: PlotPoint[];
  /** Names of the series: `none` and the mitigators. */
  series: string[];
  x: PlotAxis;
  y: PlotAxis;
  lines?: PlotLine[];
  caption?: string;
  slider?: PlotSlider;
}
