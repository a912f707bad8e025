// Made by leaderboard/site/bundle.sh.
"use strict";
var harness = (() => {
  var __defProp = Object.defineProperty;
  var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
  var __getOwnPropNames = Object.getOwnPropertyNames;
  var __hasOwnProp = Object.prototype.hasOwnProperty;
  var __export = (target, all) => {
    for (var name in all)
      __defProp(target, name, { get: all[name], enumerable: true });
  };
  var __copyProps = (to, from, except, desc) => {
    if (from && typeof from === "object" || typeof from === "function") {
      for (let key of __getOwnPropNames(from))
        if (!__hasOwnProp.call(to, key) && key !== except)
          __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
    }
    return to;
  };
  var __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: true }), mod);

  // ../../leaderboard/site/scripts/app.js
  var app_exports = {};
  __export(app_exports, {
    DEFAULT_VIEW: () => DEFAULT_VIEW,
    address: () => address,
    choose: () => choose,
    csvOf: () => csvOf,
    itemWords: () => itemWords,
    linesOf: () => linesOf,
    load: () => load,
    loaded: () => loaded,
    pages: () => pages,
    pointsOf: () => pointsOf,
    queryOf: () => queryOf,
    rowChart: () => rowChart,
    rowName: () => rowName,
    scatter: () => scatter,
    strengthText: () => strengthText
  });

  // ../../leaderboard/site/scripts/dom.js
  function h(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    fill(element, properties, children);
    return element;
  }
  function svg(tag, properties = {}, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    fill(element, properties, children);
    return element;
  }
  function fill(element, properties, children) {
    for (const [name, value] of Object.entries(properties)) {
      if (typeof value === "function") {
        element.addEventListener(
          name,
          /** @type {EventListener} */
          value
        );
      } else if (name === "style" && (element instanceof HTMLElement || element instanceof SVGElement)) {
        element.style.cssText = String(value);
      } else if (value !== null && value !== void 0 && value !== false) {
        element.setAttribute(name, value === true ? "" : String(value));
      }
    }
    for (const child of children.flat()) {
      if (child !== null && child !== void 0 && child !== false) {
        element.append(typeof child === "number" ? String(child) : child);
      }
    }
  }
  function webLink(address2, text) {
    if (!address2 || !/^https?:\/\//.test(address2)) return text;
    return h("a", { href: address2, rel: "noopener noreferrer nofollow" }, text);
  }

  // ../../leaderboard/site/scripts/data.js
  var waiting = /* @__PURE__ */ new Map();
  function pageBuild() {
    return document.querySelector('meta[name="build"]')?.getAttribute("content") ?? "";
  }
  Object.assign(globalThis, {
    /**
     * Called by each data file.
     * @param {string} file path of the data file
     * @param {unknown} value
     * @param {string} build id of the build that wrote it
     */
    harnessData(file, value, build) {
      waiting.get(file)?.(value, build);
    }
  });
  var types = (
    /** @type {any} */
    globalThis.trustedTypes
  );
  var trusted = types?.createPolicy("data", {
    /** @param {string} file */
    createScriptURL(file) {
      if (/^data\/\w+\/[\w-]+\.js$/.test(file)) return file;
      throw new TypeError(`no data file: ${file}`);
    }
  });
  var loaded = /* @__PURE__ */ new Map();
  function load(file) {
    let promise = loaded.get(file);
    if (!promise) {
      promise = new Promise((resolve, reject) => {
        let called = false;
        const fail = (problem) => {
          if (!called && !reloads()) reject(new Error(problem));
          called = true;
        };
        waiting.set(file, (value, build) => {
          if (build !== pageBuild()) return fail(`${file} is of another build than this page`);
          called = true;
          resolve(value);
        });
        const address2 = file.replace("/", `/${pageBuild()}/`);
        const script = h("script");
        script.addEventListener("error", () => fail(`cannot load ${file}`));
        script.addEventListener("load", () => fail(`cannot load ${file}`));
        script.src = trusted ? trusted.createScriptURL(address2) : address2;
        document.head.append(script);
      });
      loaded.set(file, promise);
    }
    return promise;
  }
  var NOTICE = 1500;
  var isReloading = false;
  function reloads() {
    if (isReloading) return true;
    const key = `harness-reloaded-${pageBuild()}`;
    try {
      if (sessionStorage.getItem(key)) return false;
      sessionStorage.setItem(key, "1");
    } catch {
      return false;
    }
    isReloading = true;
    const line = "A part of this page is gone: the board was built anew. It is loaded again.";
    document.querySelector("main")?.prepend(h("p", { class: "notice", role: "alert" }, line));
    setTimeout(() => location.reload(), NOTICE);
    return true;
  }
  var ARRAYS = { f32: Float32Array, u8: Uint8Array, u16: Uint16Array, i32: Int32Array };
  function numbers(column) {
    const text = atob(column.data);
    const array = ARRAYS[column.type];
    const size = array.BYTES_PER_ELEMENT;
    const count = text.length / size;
    const bytes = new Uint8Array(text.length);
    for (let part2 = 0; part2 < size; part2++) {
      for (let i = 0; i < count; i++) bytes[i * size + part2] = text.charCodeAt(part2 * count + i);
    }
    return new array(bytes.buffer);
  }

  // ../../leaderboard/site/scripts/formats.js
  var NOTHING = "–";
  function scoreText(value) {
    if (value === null || value === void 0 || !Number.isFinite(value)) return NOTHING;
    const text = Math.abs(value) < 1e6 ? value.toFixed(3) : value.toExponential(2);
    return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
  }
  function changeText(value) {
    const text = scoreText(value);
    return /^[\d]/.test(text) && Number(text) !== 0 ? `+${text}` : text;
  }
  function intervalText(low, high, format = scoreText) {
    const isKnown = Number.isFinite(low ?? NaN) && Number.isFinite(high ?? NaN);
    return isKnown ? `${format(low)} to ${format(high)}` : NOTHING;
  }
  function setText(low, high) {
    if (low === null || low === void 0) return NOTHING;
    return low === high ? String(low) : `${low}–${high}`;
  }
  function publishedText(value) {
    return String(Number(value.toFixed(2)));
  }
  function pText(p) {
    if (!Number.isFinite(p)) return NOTHING;
    return p < 1e-3 ? "< .001" : p.toFixed(3);
  }
  var STRENGTHS = [
    [1 / 10, "a tenth as strong as"],
    [1 / 5, "a fifth as strong as"],
    [1 / 4, "a quarter as strong as"],
    [1 / 3, "a third as strong as"],
    [1 / 2, "half as strong as"],
    [2 / 3, "two thirds as strong as"],
    [1, "as strong as"],
    [3 / 2, "one and a half times as strong as"],
    [2, "twice as strong as"],
    [3, "three times as strong as"]
  ];
  var CONTRASTS = /* @__PURE__ */ new Map([
    ["groups", "contrasts such as kind and cruel people"],
    ["quotes", "contrasts such as sport and music"]
  ]);
  function yardstickText(yardstick) {
    if (!yardstick?.startsWith("yardstick-")) return "its yardstick";
    return CONTRASTS.get(yardstick.replace("yardstick-", "")) ?? "contrasts such as flowers and insects";
  }
  function strengthText(ratio, yardstick = "its yardstick") {
    if (!Number.isFinite(ratio)) return "";
    const size = Math.abs(ratio);
    if (size < 0.07) return `next to nothing beside ${yardstick}`;
    const distance = (share) => Math.abs(Math.log(size / share));
    const [[, nearest]] = STRENGTHS.toSorted(([a], [b]) => distance(a) - distance(b));
    const strength = size < 4 ? nearest : `${size.toFixed(0)} times as strong as`;
    return `${ratio < 0 ? "against the stereotype, " : ""}${strength} ${yardstick}`;
  }
  function countText(count, noun, nouns = `${noun}s`) {
    return `${count.toLocaleString("en")} ${count === 1 ? noun : nouns}`;
  }
  function sizeText(value) {
    if (value === null || !Number.isFinite(value)) return NOTHING;
    const units = [" B", " M", " k", ""];
    const powers = [1e9, 1e6, 1e3, 1];
    const i = Math.max(
      0,
      powers.findIndex((power) => value >= power)
    );
    const share = value / powers[i];
    return `${share.toFixed(share < 9.95 && i < 3 ? 1 : 0)}${units[i]}`;
  }
  var LANGUAGES = new Intl.DisplayNames(["en"], { type: "language", fallback: "code" });
  function languageName(code) {
    try {
      return LANGUAGES.of(code) ?? code;
    } catch {
      return code;
    }
  }
  function capital(text) {
    return text.slice(0, 1).toUpperCase() + text.slice(1);
  }
  var ENDINGS = /* @__PURE__ */ new Map([
    ["one", "st"],
    ["two", "nd"],
    ["few", "rd"]
  ]);
  var ORDINALS = new Intl.PluralRules("en", { type: "ordinal" });
  function ordinal(n) {
    return `${n.toLocaleString("en")}${ENDINGS.get(ORDINALS.select(n)) ?? "th"}`;
  }

  // ../../leaderboard/site/scripts/cells.js
  var ITEMS = "items";
  var decodedBoards = /* @__PURE__ */ new WeakMap();
  function cellsOf(board) {
    let cells = decodedBoards.get(board);
    if (!cells) {
      cells = {
        width: board.tasks.length,
        measure: numbers(board.measure),
        low: numbers(board.measure_low),
        high: numbers(board.measure_high),
        flags: numbers(board.flags)
      };
      decodedBoards.set(board, cells);
    }
    return cells;
  }
  function tasksOf(board, tasks, measures) {
    return tasks.filter((task) => board.tasks[task]?.measures === measures);
  }
  function missingOf(board, row, tasks) {
    const { measure, width } = cellsOf(board);
    return tasks.filter((task) => Number.isNaN(measure[row * width + task]));
  }
  function compared(a, b) {
    return a < b ? -1 : a > b ? 1 : 0;
  }

  // ../../leaderboard/site/scripts/filters.js
  var searchTexts = /* @__PURE__ */ new WeakMap();
  function linesOf(choice, view, sorted) {
    const groups = matching(choice, view);
    const keyOf = sortKeys(choice, view, sorted);
    const isUnfolded = unfoldedNow(choice.board, view);
    const result = { lines: [], groups, models: 0, ranked: 0 };
    const sections = (
      /** @type {[string, (row: number) => boolean][]} */
      [
        ["", (row) => isRanked(choice, row) && !choice.below.has(row)],
        [`Usefulness below ${scoreText(choice.least)}`, (row) => choice.below.get(row) === ""],
        ["Usefulness not fully measured", (row) => Boolean(choice.below.get(row))],
        [
          choice.isOwn ? "" : "Not ranked",
          (row) => !isRanked(choice, row) && choice.board.rows.role[row] !== "reference"
        ],
        ["References, never ranked", (row) => choice.board.rows.role[row] === "reference"]
      ]
    );
    for (const [title, holds] of sections) {
      const members = groups.filter((group) => holds(group.row));
      if (title && members.length) {
        result.lines.push({ row: -1, title: `${title} (${members.length.toLocaleString("en")})` });
      }
      if (members.some(({ row }) => isRanked(choice, row))) result.ranked += members.length;
      if (!title.startsWith("References")) result.models += members.length;
      for (const group of ordered(members, keyOf, view.desc)) {
        const unfolded = isUnfolded(group);
        const { row, children } = group;
        const name = `${choice.board.rows.role[row]}${choice.below.has(row) ? " below" : ""}`;
        result.lines.push({ row, title: "", children, unfolded, name });
        if (!unfolded) continue;
        for (const child of children) {
          result.lines.push({ row: child, title: "", name: `${name} mitigated` });
        }
      }
    }
    if (!result.lines.length) result.lines.push({ row: -1, title: "No row matches." });
    return result;
  }
  function isRanked(choice, row) {
    return ranksShown(choice)[row] > 0;
  }
  function ranksShown({ hasBias: hasBias2, scores: { ranks } }) {
    return (hasBias2 ? ranks.bias : ranks.usefulness).rank;
  }
  function matching(choice, view) {
    const { board } = choice;
    const { model, mitigator, role } = board.rows;
    const texts = searchTextsOf(board);
    const words = view.q.toLowerCase().split(/\s+/).filter(Boolean);
    const hasFacts = board.models.map((facts) => hasModelFacts(facts, view));
    const wanted = board.mitigators.findIndex(({ label }) => label === view.mitigator);
    const groups = [];
    for (let row = 0; row < model.length; ) {
      const head = row;
      const isFound = words.every((word) => texts[head].includes(word));
      const found = { row: head, children: (
        /** @type {number[]} */
        []
      ), isFound };
      for (row++; row < model.length && model[row] === model[head]; row++) {
        if (wanted >= 0 && mitigator[row] !== wanted) continue;
        if (isFound || words.every((word) => texts[row].includes(word))) found.children.push(row);
      }
      if (role[head] === "reference") {
        if (isFound && wanted < 0) groups.push(found);
      } else if (hasFacts[model[head]] && (wanted < 0 ? isFound || found.children.length : found.children.length)) {
        groups.push(found);
      }
    }
    return groups;
  }
  function searchTextsOf(board) {
    let texts = searchTexts.get(board);
    if (!texts) {
      texts = board.rows.model.map((model, row) => {
        const { label } = board.mitigators[board.rows.mitigator[row]];
        const mitigator = board.rows.role[row] === "mitigated" ? label : "";
        return `${board.models[model].name} ${mitigator}`.toLowerCase();
      });
      searchTexts.set(board, texts);
    }
    return texts;
  }
  function hasModelFacts(model, view) {
    return (!view.encoder || model.encoder === view.encoder) && (!view.licence || (model.licence ?? UNKNOWN) === view.licence) && (!view.weights || model.open_weights === (view.weights === "yes")) && (!view.language || model.languages.includes(view.language)) && isWithin(view.size, "-", model.parameters === null ? null : model.parameters / 1e6) && isWithin(view.dims, "-", model.dimensions) && isWithin(view.released, "..", model.released);
  }
  var UNKNOWN = "unknown";
  function isWithin(range, separator, value) {
    if (!range) return true;
    if (value === null) return false;
    const [low, high] = range.split(separator);
    const compare = (end) => typeof value === "number" ? value - Number(end) : value < end ? -1 : value > end ? 1 : 0;
    return (!low || compare(low) >= 0) && (!high || compare(high) <= 0);
  }
  function unfoldedNow(board, view) {
    const toggled = new Set(view.toggled);
    const isUnfolded = view.unfolded || view.mitigator !== "";
    return ({ row, isFound }) => (isUnfolded || !isFound) !== toggled.has(board.models[board.rows.model[row]].name);
  }
  function sortKeys(choice, view, sorted) {
    if (!sorted) {
      const ranks = ranksShown(choice);
      const { bias, usefulness } = choice.scores;
      return ({ row }) => ranks[row] || 1e6 + (finite(bias.mean[row]) ?? -(finite(usefulness.mean[row]) ?? -9));
    }
    return ({ row, children }) => {
      const own = sorted.value(row);
      if (own !== null || !sorted.ofMitigated) return own;
      const values = children.map((child) => sorted.value(child)).filter((value) => value !== null);
      return values.toSorted((a, b) => (view.desc ? -1 : 1) * compared(a, b))[0] ?? null;
    };
  }
  function finite(value) {
    return Number.isNaN(value) ? null : value;
  }
  function ordered(groups, keyOf, descending) {
    const sign = descending ? -1 : 1;
    return groups.map((group) => ({ group, key: keyOf(group) })).toSorted((a, b) => {
      if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null);
      return sign * compared(a.key, b.key) || a.group.row - b.group.row;
    }).map(({ group }) => group);
  }
  function facetsOf(board) {
    const { model, role } = board.rows;
    const references = new Set(model.filter((_, row) => role[row] === "reference"));
    const models = board.models.filter((_, i) => !references.has(i));
    return {
      mitigators: board.mitigators.map(({ label }) => label).filter((label) => label !== "none"),
      encoders: distinct(models.map(({ encoder }) => encoder).filter(Boolean)),
      licences: distinct(models.map(({ licence }) => licence ?? UNKNOWN)),
      languages: distinct(models.flatMap(({ languages }) => languages))
    };
  }
  function distinct(names) {
    return [...new Set(names)].toSorted();
  }
  function rowName(board, row) {
    const { name } = board.models[board.rows.model[row]];
    const { label } = board.mitigators[board.rows.mitigator[row]];
    return label === "none" ? name : `${name} | ${label}`;
  }
  var rowsByName = /* @__PURE__ */ new WeakMap();
  var MOST_COMPARED = 4;
  function comparedRows(board, view) {
    let rows = rowsByName.get(board);
    if (!rows) {
      rows = new Map(board.rows.model.map((_, row) => [rowName(board, row), row]));
      rowsByName.set(board, rows);
    }
    const known = rows;
    return view.rows.flatMap((name) => known.get(name) ?? []).slice(0, MOST_COMPARED);
  }

  // ../../leaderboard/site/scripts/plot_scale.js
  var NARROW = 560;
  var LEAST_RANGE = 0.1;
  function scaleOf(values, from, to, log = false) {
    const ends = endsOf(log ? values.map(Math.log10) : values);
    const half = Math.max(log ? 0.5 : LEAST_RANGE, 1.12 * (ends.high - ends.low)) / 2;
    const middle = (ends.low + ends.high) / 2;
    const [low, high] = [middle - half, middle + half];
    const count = Math.max(4, Math.round(Math.abs(to - from) / 80));
    const share = (value) => (value - low) / (high - low);
    const place = (value) => from + share(value) * (to - from);
    if (!log) return { at: place, low, high, ticks: ticksOf(low, high, count) };
    const at = (value) => place(Math.log10(value));
    return { at, low: 10 ** low, high: 10 ** high, ticks: logTicks(low, high) };
  }
  function endsOf(values) {
    let [low, high] = [Infinity, -Infinity];
    for (const value of values) {
      if (!Number.isFinite(value)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return low > high ? { low: 0, high: 1 } : { low, high };
  }
  function ticksOf(low, high, count) {
    const rough = (high - low) / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
    const ticks = [];
    for (let i = Math.ceil(low / step); i * step <= high; i++) ticks.push(i * step);
    return ticks;
  }
  function logTicks(low, high) {
    const factors = high - low < 1.5 ? [1, 2, 5] : high - low < 3 ? [1, 3] : [1];
    const ticks = [];
    for (let power = Math.floor(low); power <= high; power++) {
      for (const factor of factors) {
        const exponent = power + Math.log10(factor);
        if (exponent >= low && exponent <= high) ticks.push(factor * 10 ** power);
      }
    }
    return ticks;
  }
  function frontOf(points, x, y) {
    if (!x.better || !y.better) return [];
    const [signX, signY] = [x.better === "low" ? 1 : -1, y.better === "low" ? 1 : -1];
    const order = points.map((_, i) => i).filter((i) => points[i].usable);
    order.sort((a, b) => {
      return signX * (points[a].x - points[b].x) || signY * (points[a].y - points[b].y);
    });
    let best = Infinity;
    return order.filter((i) => {
      const value = signY * points[i].y;
      if (value >= best) return false;
      best = value;
      return true;
    });
  }
  function tickText(value, range = 1) {
    const digits = range >= 20 ? 0 : range >= 2 ? 1 : range >= 0.2 ? 2 : 3;
    const text = value.toFixed(digits);
    return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
  }
  function isAtEdge({ hasEdge = false }, { y, series }) {
    return hasEdge && series === 0 && Number.isNaN(y);
  }

  // ../../leaderboard/site/scripts/scores.js
  var decodedViews = /* @__PURE__ */ new WeakMap();
  function scoresOf(view) {
    let scores = decodedViews.get(view);
    if (!scores) {
      const own = Object.entries(view.numbers).map(([name, column]) => [name, numbers(column)]);
      const words = Object.entries(view.words).map(([name, { texts, of }]) => [
        name,
        [...numbers(of)].map((place) => texts[place])
      ]);
      scores = gathered(Object.fromEntries(own), Object.fromEntries(words));
      decodedViews.set(view, scores);
    }
    return scores;
  }
  function gathered(own, words) {
    return {
      ...words,
      bias: { mean: own.bias, low: own.bias_low, high: own.bias_high },
      usefulness: { mean: own.usefulness, low: own.usefulness_low, high: own.usefulness_high },
      change: { mean: own.difference, low: own.difference_low, high: own.difference_high },
      ranks: {
        bias: { rank: own.rank, low: own.rank_low, high: own.rank_high },
        usefulness: {
          rank: own.usefulness_rank,
          low: own.usefulness_rank_low,
          high: own.usefulness_rank_high
        }
      },
      base: own.base,
      model: own.model,
      usefulness_change: own.usefulness_difference,
      methods: own.methods,
      agree: own.agree,
      compared: own.compared
    };
  }
  function noScores({ rows: { model } }) {
    const proxy = (value) => new Proxy({}, { get: () => value });
    return gathered(
      /** @type {any} */
      proxy(new Float32Array(model.length).fill(NaN)),
      /** @type {any} */
      { unranked: [], direction: [], verdict: [], reason: [], depends_on: [] }
    );
  }
  function benchmarkView(board, { name }, concept = "") {
    return board.views.find(
      (view) => view.benchmark === name && view.concept === concept && view.language === ""
    );
  }
  function benchmarkScores(board, benchmark, concept = "") {
    const view = benchmarkView(board, benchmark, concept);
    return view ? scoresOf(view) : noScores(board);
  }

  // ../../leaderboard/site/scripts/choice.js
  function knownView(board, view) {
    const { mitigators, encoders, licences, languages } = facetsOf(board);
    const tasks = rankedTasks(board).map((task) => board.tasks[task].name);
    const benchmarks = board.benchmarks.map(({ name }) => name);
    const models = new Set(board.models.map(({ name }) => name));
    const benchmark = nameIn(benchmarks, view.benchmark);
    const computed = viewsOn(board, { ...view, benchmark });
    const tongue = nameIn(
      computed.map((one) => one.language),
      view.tongue
    );
    const inIt = computed.filter((one) => one.language === tongue);
    return {
      ...view,
      benchmark,
      tongue,
      concept: nameIn(
        inIt.map((one) => one.concept),
        view.concept
      ),
      mitigator: nameIn(mitigators, view.mitigator),
      encoder: nameIn(encoders, view.encoder),
      licence: nameIn(licences, view.licence),
      language: nameIn(languages, view.language),
      tasks: view.tasks.filter((name) => tasks.includes(name)),
      toggled: view.toggled.filter((name) => models.has(name)),
      rows: comparedRows(board, view).map((row) => rowName(board, row))
    };
  }
  function nameIn(names, name) {
    return names.includes(name) ? name : "";
  }
  function benchmarkOf(board, view) {
    return board.benchmarks.find(({ name }) => name === view.benchmark) ?? board.benchmarks[0];
  }
  function viewsOn(board, view) {
    const { name } = benchmarkOf(board, view);
    return board.views.filter((one) => one.benchmark === name);
  }
  function rankedTasks(board) {
    return [...board.tasks.keys()].filter((task) => board.tasks[task].not_ranked === null);
  }
  function ownTasks(board, view) {
    return rankedTasks(board).filter((task) => view.tasks.includes(board.tasks[task].name));
  }
  function choose(board, view) {
    const own = ownTasks(board, view);
    const isOwn = own.length > 0;
    const views = viewsOn(board, view);
    const computed = views.find((one) => one.concept === view.concept && one.language === view.tongue) ?? views[0];
    const tasks = isOwn ? own : computed.tasks;
    const scores = isOwn ? noScores(board) : scoresOf(computed);
    const hasBias2 = tasksOf(board, tasks, "bias").length > 0;
    return {
      board,
      benchmark: benchmarkOf(board, view),
      computed,
      isOwn,
      tasks,
      hasBias: hasBias2,
      scores,
      ...belowMinimum(board, tasks, scores, view.minimum),
      layers: hasBias2 ? layersOf(board, tasks, scores) : /* @__PURE__ */ new Map()
    };
  }
  var MINIMUM = 10;
  var PRECISION = 5e-6;
  function belowMinimum(board, tasks, scores, chosen) {
    const below = /* @__PURE__ */ new Map();
    const { mean } = scores.usefulness;
    const ranked = rankedRows(scores);
    const full = ranked.filter((row) => isMeasured(board, tasks, row));
    if (!tasksOf(board, tasks, "usefulness").length || !full.length) {
      return { below, ends: null, least: NaN };
    }
    const best = Math.max(...full.map((row) => mean[row]));
    const ends = { best, noise: noiseOf(board, mean) };
    if (chosen === "off") return { below, ends, least: NaN };
    const least = minimumAt(ends, chosen);
    for (const row of ranked) {
      if (!full.includes(row)) below.set(row, INCOMPLETE);
      else if (mean[row] < least - PRECISION) below.set(row, "");
    }
    return { below, ends, least };
  }
  var INCOMPLETE = "some usefulness tasks are missing";
  function isMeasured(board, tasks, row) {
    return !missingOf(board, row, tasksOf(board, tasks, "usefulness")).length;
  }
  function rankedRows({ ranks: { bias } }) {
    return [...bias.rank.keys()].filter((row) => bias.rank[row] > 0);
  }
  function minimumAt({ best, noise }, minimum) {
    const percent2 = minimum === "off" ? 100 : Number(minimum || MINIMUM);
    return best - percent2 / 100 * (best - noise);
  }
  function noiseOf(board, mean) {
    const { model, role } = board.rows;
    const row = model.findIndex(
      (index, i) => role[i] === "reference" && board.models[index].name.startsWith("random-") && !Number.isNaN(mean[i])
    );
    return row < 0 ? 0 : mean[row];
  }
  var MOST_LAYERS = 4;
  function layersOf(board, tasks, scores) {
    const x = (
      /** @type {PlotAxis} */
      { title: "", better: "low" }
    );
    const y = (
      /** @type {PlotAxis} */
      { title: "", better: "high" }
    );
    const layers = /* @__PURE__ */ new Map();
    let rows = rankedRows(scores).filter((row) => isMeasured(board, tasks, row));
    for (let layer = 0; layer < MOST_LAYERS && rows.length; layer++) {
      const points = rows.map((row) => {
        return { x: scores.bias.mean[row], y: scores.usefulness.mean[row], usable: true };
      });
      for (const i of frontOf(points, x, y)) layers.set(rows[i], layer);
      rows = rows.filter((row) => !layers.has(row));
    }
    return layers;
  }
  function conceptsOn(board, { name }) {
    const views = board.views.filter((view) => view.benchmark === name && view.language === "");
    return distinct(views.map(({ concept }) => concept).filter(Boolean));
  }

  // ../../leaderboard/site/scripts/state.js
  function routeOf(hash, site) {
    const text = hash.replace(/^#\/?/, "");
    const cut = text.indexOf("?");
    const query = new URLSearchParams(cut < 0 ? "" : text.slice(cut + 1));
    const path = cut < 0 ? text : text.slice(0, cut);
    const parts = path.split("/").map(decoded);
    const kinds = site.boards.map((board) => board.kind);
    const first = (
      /** @type {Kind} */
      parts[0]
    );
    if (kinds.includes(first)) {
      return { page: parts[1] || "home", kind: first, name: parts.slice(2).join("/"), query };
    }
    if (!first) {
      const byRanked = site.boards.toSorted((a, b) => b.ranked - a.ranked);
      return { page: "home", kind: byRanked[0]?.kind ?? null, name: "", query };
    }
    return { page: first, kind: null, name: parts.slice(1).join("/"), query };
  }
  function decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  }
  function address(kind, page = "home", name = "", query = {}) {
    const path = page === "home" ? [kind] : [kind, page, name];
    const parts = path.filter((part2) => part2).map((part2) => encodeURIComponent(String(part2)));
    const search = new URLSearchParams(query).toString().replace(/%(2F|3A)/g, decodeURIComponent);
    return `#/${parts.join("/")}${search ? `?${search}` : ""}`;
  }
  var DEFAULT_VIEW = Object.freeze({
    benchmark: "",
    tasks: [],
    concept: "",
    tongue: "",
    minimum: "",
    q: "",
    mitigator: "",
    encoder: "",
    licence: "",
    weights: "",
    language: "",
    size: "",
    dims: "",
    released: "",
    by: "",
    sort: "",
    desc: false,
    cols: [],
    unfolded: false,
    toggled: [],
    rows: []
  });
  var KEYS = {
    benchmark: "on",
    tongue: "in",
    minimum: "min",
    mitigator: "with",
    language: "lang",
    released: "date",
    by: "plot",
    unfolded: "all",
    toggled: "open",
    rows: "row"
  };
  var PATTERNS = {
    weights: /^(yes|no)$/,
    size: /^(?=.*\d)\d{0,7}-\d{0,7}$/,
    dims: /^(?=.*\d)\d{0,7}-\d{0,7}$/,
    released: /^(?=.*\d)(\d{4}-\d\d-\d\d)?\.\.(\d{4}-\d\d-\d\d)?$/,
    minimum: /^(\d|[1-9]\d|off)$/
  };
  var LONGEST_TEXT = 300;
  function viewOf(query) {
    const fields = Object.entries(DEFAULT_VIEW).map(([name, standard]) => {
      const key = KEYS[
        /** @type {keyof View} */
        name
      ] ?? name;
      const given = /* @__PURE__ */ new Set([...query.getAll(key), ...query.getAll(name)]);
      const texts = [...given].filter((text) => isText(name, text));
      if (Array.isArray(standard)) return [name, texts];
      if (typeof standard === "boolean") return [name, texts[0] === "1"];
      return [name, texts[0] ?? standard];
    });
    return (
      /** @type {View} */
      Object.fromEntries(fields)
    );
  }
  function isText(name, text) {
    const pattern = (
      /** @type {Record<string, RegExp>} */
      PATTERNS[name]
    );
    return text !== "" && text.length <= LONGEST_TEXT && (!pattern || pattern.test(text));
  }
  function queryOf(view) {
    const query = new URLSearchParams();
    const fields = (
      /** @type {[string, string | boolean | string[]][]} */
      Object.entries(view)
    );
    for (const [name, value] of fields) {
      const key = KEYS[
        /** @type {keyof View} */
        name
      ] ?? name;
      if (Array.isArray(value)) value.forEach((text) => query.append(key, text));
      else if (value === true) query.set(key, "1");
      else if (value && value !== /** @type {any} */
      DEFAULT_VIEW[name]) query.set(key, value);
    }
    return query;
  }
  function keepView(route, view, step) {
    const hash = address(route.kind, route.page, route.name, queryOf(view));
    if (hash === location.hash) return;
    savePlace();
    try {
      if (step === "push") history.pushState(history.state, "", hash);
      else history.replaceState(history.state, "", hash);
    } catch {
    }
  }
  function savePlace() {
    const table = document.querySelector(".virtual");
    const place = { page: Math.round(window.scrollY), table: Math.round(table?.scrollTop ?? 0) };
    const { page, table: scrolled } = savedPlace() ?? { page: 0, table: 0 };
    if (place.page === page && place.table === scrolled) return;
    try {
      history.replaceState(place, "");
    } catch {
    }
  }
  function savedPlace() {
    return (
      /** @type {Place | null} */
      history.state
    );
  }
  function returnToPlace() {
    const { page, table } = savedPlace() ?? { page: 0, table: 0 };
    const region = document.querySelector(".virtual");
    if (region) region.scrollTop = table;
    window.scrollTo({ top: page, behavior: "instant" });
  }

  // ../../leaderboard/site/scripts/page_parts.js
  var FIRST_ROWS = 100;
  function trail(site, route, here, between = []) {
    const board = site.boards.find(({ kind }) => kind === route.kind);
    const start = board ? [[board.title, address(board.kind)]] : [[site.title, "#/"]];
    const steps = [...start, ...between].map(([title, href]) => h("li", {}, h("a", { href }, title)));
    const last = h("li", {}, h("span", { "aria-current": "page" }, here));
    return h("nav", { class: "trail", "aria-label": "You are here" }, h("ol", {}, steps, last));
  }
  function factList(facts) {
    const known = facts.filter(([, value]) => !isNothing(value));
    return h(
      "dl",
      { class: "facts" },
      known.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])
    );
  }
  function isNothing(value) {
    return value === null || value === void 0 || value === "" || value === false || Array.isArray(value) && !value.length;
  }
  function plainTable(caption, columns, rows) {
    const body = h("tbody");
    const add = (from, to) => body.append(...rows.slice(from, to).map((cells) => plainRow(columns, cells())));
    add(0, FIRST_ROWS);
    const head = columns.map(
      (column) => h(
        "th",
        { scope: "col", class: classOf(column) },
        column.title,
        column.of && h("span", { class: "visually-hidden" }, ` of ${column.of}`)
      )
    );
    const table = h("table", {}, h("caption", {}, caption), h("thead", {}, h("tr", {}, head)), body);
    const place = h(
      "div",
      { class: "scroll", tabindex: 0, role: "group", "aria-label": caption },
      table
    );
    if (rows.length <= FIRST_ROWS) return h("div", {}, place);
    const more = h("button", { type: "button" }, `Show all ${rows.length.toLocaleString("en")} rows`);
    more.addEventListener("click", () => {
      add(FIRST_ROWS, rows.length);
      more.remove();
      place.focus();
    });
    return h("div", {}, place, h("p", { class: "controls" }, more));
  }
  function plainRow(columns, cells) {
    return h(
      "tr",
      {},
      columns.map((column, i) => {
        const content = cells[i] ?? NOTHING;
        if (i > 0) return h("td", { class: classOf(column) }, content);
        return h("th", { scope: "row", class: classOf(column) }, content);
      })
    );
  }
  function classOf(column) {
    return [column.number && "number", column.class].filter(Boolean).join(" ") || null;
  }
  function unknownName(main, site, route, names) {
    const near = nearNames(route.name, names);
    const links = near.flatMap((name, i) => [
      i ? ", " : "",
      h("a", { href: address(route.kind, route.page, name) }, name)
    ]);
    main.append(
      trail(site, route, route.name),
      h("h1", {}, `Unknown ${route.page}`),
      h(
        "p",
        { role: "alert" },
        `This board has no ${route.page} '${route.name}'.`,
        near.length ? [" Near it: ", ...links, "."] : []
      ),
      h("p", {}, h("a", { href: address(route.kind, route.page) }, `All ${route.page}s`))
    );
  }
  function nearNames(name, names) {
    const own = pairsOf(name);
    const scored = names.map((other) => {
      const pairs = pairsOf(other);
      const shared = [...own].filter((pair) => pairs.has(pair)).length;
      return { other, score: 2 * shared / (own.size + pairs.size || 1) };
    });
    const near = scored.filter(({ score }) => score >= 0.35).toSorted((a, b) => b.score - a.score);
    return near.slice(0, 3).map(({ other }) => other);
  }
  function pairsOf(name) {
    const letters = [...` ${name.toLowerCase().slice(0, 200)} `];
    return new Set(letters.slice(1).map((letter, i) => letters[i] + letter));
  }
  function descriptionOf(text) {
    return text ? [h("p", { class: "description" }, withCode(text))] : [];
  }
  function withCode(text) {
    const parts = text.split("`");
    if (parts.length % 2 === 0) return [text];
    return parts.map((part2, i) => i % 2 ? h("code", {}, part2) : part2);
  }
  function withInterval(value, low, high, format = scoreText) {
    const interval = intervalText(low, high, format);
    return [
      format(value),
      interval === NOTHING ? null : h("small", { class: "under range" }, interval)
    ];
  }
  function pageLink(route, page, name, text = name) {
    return h("a", { href: address(route.kind, page, name) }, text);
  }
  function folded(summary, ...content) {
    return h("details", { class: "fold-part" }, h("summary", {}, summary), content);
  }
  function replaceFolded(place, ...content) {
    const isOpen = [...place.querySelectorAll("details[open]")].map(({ id }) => id);
    place.replaceChildren(...content);
    for (const part2 of place.querySelectorAll("details")) {
      if (part2.id && isOpen.includes(part2.id)) part2.open = true;
    }
  }
  function biasPanel(board) {
    const lines = [
      { label: "fair", value: 0 },
      { label: board.reference, value: 1 }
    ];
    return {
      title: `Bias: 1 = as biased as ${board.reference}, less is better`,
      words: "Bias",
      lines
    };
  }
  function usefulnessPanel(board, mean) {
    const noise = noiseOf(board, mean);
    return {
      title: "Usefulness: 1 = perfect, more is better",
      words: "Usefulness",
      lines: noise ? [{ label: "random vectors", value: noise }] : []
    };
  }

  // ../../leaderboard/site/scripts/plot_marks.js
  var MARK_SHAPES = [
    (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
    (x, y, r) => `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
    (x, y, r) => polygonPath(x, y, r * 1.35, 4, 0),
    (x, y, r) => polygonPath(x, y, r * 1.3, 3, 0),
    (x, y, r) => polygonPath(x, y, r * 1.3, 3, Math.PI),
    (x, y, r) => polygonPath(x, y, r * 1.15, 6, 0),
    (x, y, r) => starPath(x, y, r * 1.5, 5),
    (x, y, r) => starPath(x, y, r * 1.5, 4)
  ];
  var LONGEST_LABEL = 28;
  var LABEL_SIZE = 12;
  function polygonPath(x, y, r, corners, turn) {
    return closedPath(
      Array.from({ length: corners }, (_, i) => [r, turn + 2 * Math.PI * i / corners]),
      x,
      y
    );
  }
  function starPath(x, y, r, rays) {
    const corners = Array.from({ length: 2 * rays }, (_, i) => [
      i % 2 ? 0.45 * r : r,
      Math.PI * i / rays
    ]);
    return closedPath(corners, x, y);
  }
  function closedPath(corners, x, y) {
    const places = corners.map(([r, turn]) => {
      return `${(x + r * Math.sin(turn)).toFixed(1)} ${(y - r * Math.cos(turn)).toFixed(1)}`;
    });
    return `M${places.join("L")}z`;
  }
  function markPath(series, x, y, r) {
    const shape = series === 0 ? 0 : 1 + (series - 1) % (MARK_SHAPES.length - 1);
    return MARK_SHAPES[shape](Math.round(10 * x) / 10, Math.round(10 * y) / 10, r);
  }
  function seriesClass(series) {
    return `series-${series === 0 ? 0 : 1 + (series - 1) % (MARK_SHAPES.length - 1)}`;
  }
  function legendMark(series, usable = true) {
    const path = svg("path", { d: markPath(series, 8, 8, 5) });
    return svg(
      "svg",
      {
        width: 16,
        height: 16,
        "aria-hidden": "true",
        class: `mark ${seriesClass(series)}${usable ? "" : " open"}`
      },
      path
    );
  }
  function shortLabel(name, most = LONGEST_LABEL) {
    const characters = [...name];
    if (characters.length <= most) return name;
    return `${characters.slice(0, most - 1).join("")}…`;
  }
  function placedLabels(points, taken, frame) {
    const labels = [];
    for (const { name, x, y, why, isFaint } of points) {
      const text = why ? `${shortLabel(name)}: ${why}` : shortLabel(name);
      const width = textWidth(text);
      for (const [at, base, side] of [
        [x + 4, y - 8, 0],
        [x + 4, y + 17, 0],
        [x - 4, y - 8, 1],
        [x - 4, y + 17, 1],
        [x + 9, y + 4, 0],
        [x - 9, y + 4, 1]
      ]) {
        const box = labelBox(at - side * width, base, width);
        if (!boxInside(box, frame) || taken.some((other) => boxesOverlap(box, other))) continue;
        taken.push(box);
        labels.push({ text, x: at, y: base, anchor: side ? "end" : "start", isFaint });
        break;
      }
    }
    return labels;
  }
  function labelBox(left, base, width) {
    return { left, top: base - 11, right: left + width, bottom: base + 3 };
  }
  function textWidth(text) {
    let width = 0;
    for (const character of text) {
      width += LABEL_SIZE * (character > "⺀" ? 1 : /[A-Zmw@%]/.test(character) ? 0.72 : 0.56);
    }
    return width;
  }
  function boxInside(box, frame) {
    return box.left >= frame.left && box.right <= frame.right && box.top >= frame.top && box.bottom <= frame.bottom;
  }
  function boxesOverlap(a, b) {
    return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  }

  // ../../leaderboard/site/scripts/plot_points.js
  function layerLines(plot) {
    const lines = plot.layers.map((members, layer) => {
      const places = members.map((i) => placeOf(plot, i));
      const steps = places.map(({ x, y }, i) => i === 0 ? `M${x} ${y}` : `H${x}V${y}`);
      const name = layer === 0 ? "plot-front" : `plot-layer layer-${layer}`;
      return svg("path", { class: name, d: steps.join("") });
    });
    return svg("g", {}, lines.toReversed());
  }
  function placeOf(plot, i) {
    const { points, y: axis } = plot.options;
    const { x, y } = points[i];
    const isBelow = isAtEdge(axis, points[i]);
    return {
      x: tenths(plot.scales.x.at(x)),
      y: tenths(isBelow ? plot.frame.bottom : plot.scales.y.at(y))
    };
  }
  function tenths(value) {
    return Math.round(10 * value) / 10;
  }
  function within(value, low, high) {
    return tenths(Math.min(Math.max(value, low), high));
  }
  function plotLeads(plot) {
    const path = plot.many ? [] : plot.shown.map((i) => leadPath(plot, i));
    return svg("path", { class: "plot-leads", d: path.join("") });
  }
  function leadPath(plot, i) {
    const base = plot.options.points[i].base ?? -1;
    if (!plot.options.points[base]) return "";
    const [from, to] = [placeOf(plot, base), placeOf(plot, i)];
    if (Number.isNaN(from.x + from.y)) return "";
    return `M${from.x} ${from.y}L${to.x} ${to.y}`;
  }
  function plotCrosses(plot) {
    const path = withIntervals(plot).map((i) => crossPath(plot, i));
    return svg("path", { class: "plot-crosses", d: path.join("") });
  }
  function crossPath(plot, i) {
    const { xEnds, yEnds } = plot.options.points[i];
    const { x, y } = placeOf(plot, i);
    const { frame, scales } = plot;
    let path = "";
    if (xEnds) {
      const [low, high] = xEnds.map((end) => within(scales.x.at(end), frame.left, frame.right));
      path += `M${low} ${y}H${high}`;
    }
    if (yEnds) {
      const [low, high] = yEnds.map((end) => within(scales.y.at(end), frame.top, frame.bottom));
      path += `M${x} ${low}V${high}`;
    }
    return path;
  }
  function plotMarks(plot) {
    const paths = /* @__PURE__ */ new Map();
    const front = new Set(plot.front);
    for (const i of plot.shown) {
      const { series, unusable, isFaint } = plot.options.points[i];
      const look = `${unusable ? " open" : ""}${isFaint ? " faint" : ""}`;
      const name = `mark ${seriesClass(series)}${look}${front.has(i) ? " front" : ""}`;
      const path = paths.get(name) ?? [];
      if (!path.length) paths.set(name, path);
      path.push(pointPath(plot, i));
    }
    const group = svg("g", { class: plot.many ? "plot-marks many" : "plot-marks" });
    for (const [name, path] of paths) group.append(svg("path", { class: name, d: path.join("") }));
    return group;
  }
  function pointPath(plot, i) {
    const { x, y } = placeOf(plot, i);
    return markPath(plot.options.points[i].series, x, y, radiusOf(plot, i));
  }
  function radiusOf(plot, i) {
    const mitigated = plot.options.points[i].series > 0;
    if (plot.many) return mitigated ? 3.6 : 3;
    return mitigated ? 6 : 4.6;
  }
  function plotLabels(plot, taken) {
    const { points } = plot.options;
    const models = plot.shown.filter((i) => points[i].series === 0);
    const rest = plot.many ? [] : models.filter((i) => !plot.front.includes(i));
    const named = [...plot.front, ...rest].map((i) => ({
      name: points[i].name,
      why: points[i].why,
      isFaint: points[i].isFaint,
      ...placeOf(plot, i)
    }));
    const obstacles = plot.many ? plot.front : plot.shown;
    taken.push(...obstacles.map((i) => boxOf(placeOf(plot, i), radiusOf(plot, i))));
    const group = svg("g", { class: "plot-labels" });
    for (const { text, x, y, anchor, isFaint } of placedLabels(named, taken, plot.frame)) {
      const name = isFaint ? "faint" : null;
      group.append(svg("text", { x, y, "text-anchor": anchor, class: name }, text));
    }
    return group;
  }
  function boxOf({ x, y }, r) {
    return { left: x - r, right: x + r, top: y - r, bottom: y + r };
  }
  function plotLegend(plot) {
    const { points, series } = plot.options;
    const used = series.map((_, i) => plot.shown.some((point) => points[point].series === i));
    const open = plot.shown.find((i) => points[i].unusable);
    const entries = series.flatMap((name, i) => used[i] ? [h("li", {}, legendMark(i), name)] : []);
    if (open !== void 0) {
      const series2 = points[open].series;
      entries.push(h("li", {}, legendMark(series2, false), "open: unusable or not ranked"));
    }
    if (plot.far) {
      const rows = countText(plot.far, "row");
      entries.push(h("li", {}, `${rows} under mitigators, unusable or not ranked, farther out`));
    }
    if (plot.front.length > 1) entries.push(h("li", {}, legendLine("plot-front"), "Pareto front"));
    if (plot.layers.slice(1).some((members) => members.length > 1)) {
      entries.push(h("li", {}, legendLine("plot-layer layer-1"), "next Pareto layers"));
    }
    if (plot.options.lines?.length) {
      entries.push(h("li", {}, legendLine("plot-reference"), "reference"));
    }
    return h("ul", { class: "plot-legend" }, entries);
  }
  function legendLine(name) {
    const path = svg("path", { d: "M0 8H22", class: name });
    return svg("svg", { width: 22, height: 16, "aria-hidden": "true" }, path);
  }
  function withIntervals(plot) {
    return plot.many ? plot.front : plot.shown;
  }

  // ../../leaderboard/site/scripts/plot_active.js
  var POINTER_REACH = 22;
  function listOfPoints(plot) {
    const { x, y } = plot.options;
    const list = h(
      "div",
      {
        class: "plot-points",
        role: "listbox",
        tabindex: 0,
        "aria-label": `Points of the plot, ${x.title} against ${y.title}: arrow keys move, Enter opens`,
        "aria-activedescendant": plot.tip.id,
        keydown: (event) => onKey(plot, event),
        focus: () => plot.active !== null && activatePoint(plot, plot.active, true),
        blur: () => closeTip(plot)
      },
      plot.tip
    );
    return list;
  }
  function listenToPointer(plot, area) {
    let isFirstTap = false;
    const follow = (event) => {
      const point = nearestPoint(plot, area, event);
      const isShown2 = plot.open && point === plot.active;
      if (event.type === "pointerdown") isFirstTap = event.pointerType === "touch" && !isShown2;
      if (point === null) closeTip(plot);
      else if (!isShown2) activatePoint(plot, point, true);
    };
    area.addEventListener("pointermove", follow);
    area.addEventListener("pointerdown", follow);
    area.addEventListener("pointerleave", (event) => {
      if (event.pointerType !== "touch") closeTip(plot);
    });
    area.addEventListener("click", (event) => {
      if (isFirstTap) event.preventDefault();
    });
  }
  function nearestPoint(plot, area, event) {
    const box = area.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [best, least] = [
      /** @type {number | null} */
      null,
      POINTER_REACH ** 2
    ];
    for (const i of plot.shown) {
      const place = placeOf(plot, i);
      const distance = (place.x - x) ** 2 + (place.y - y) ** 2;
      if (distance <= least) [best, least] = [i, distance];
    }
    return best;
  }
  function activatePoint(plot, i, open) {
    plot.active = i;
    plot.open = open;
    const { points } = plot.options;
    plot.tip.replaceChildren(...tipLines(plot, i).map((line) => h("span", {}, line)));
    plot.tip.classList.toggle("shown", open);
    plot.overlay.replaceChildren();
    if (!open) return;
    const base = points[i].base ?? i;
    const family = plot.shown.filter((j) => j === base || points[j].base === base);
    const path = family.map((j) => leadPath(plot, j)).join("");
    plot.overlay.append(
      svg("path", { class: "plot-leads", d: path }),
      svg("path", { class: "plot-crosses", d: crossPath(plot, i) }),
      ...family.map((j) => {
        const { series, unusable } = points[j];
        const name = `mark ${seriesClass(series)}${unusable ? " open" : ""}`;
        return svg("path", { class: name, d: pointPath(plot, j) });
      }),
      pointLink(plot, i)
    );
    placeTip(plot, i);
  }
  function closeTip(plot) {
    if (plot.open && plot.active !== null) activatePoint(plot, plot.active, false);
  }
  function pointLink(plot, i) {
    const { x, y } = placeOf(plot, i);
    const ring = svg("circle", { cx: x, cy: y, r: 10, class: "plot-ring" });
    const { href } = plot.options.points[i];
    return href ? svg("a", { href, tabindex: -1 }, ring) : ring;
  }
  function tipLines(plot, i) {
    const { points, series, x, y } = plot.options;
    const { name, xEnds, yEnds, unusable } = points[i];
    const title = series.length > 1 ? `${name} · ${series[points[i].series]}` : name;
    const lines = [
      title,
      `${x.title} ${valueText(x, points[i].x, xEnds)}`,
      `${y.title} ${valueText(y, points[i].y, yEnds)}`
    ];
    if (unusable) lines.push(`not counted: ${unusable}`);
    const here = placeOf(plot, i);
    const close = plot.shown.filter((j) => {
      const place = placeOf(plot, j);
      return j !== i && Math.hypot(place.x - here.x, place.y - here.y) < 5;
    });
    const names = close.slice(0, 3).map((j) => {
      const other = points[j];
      return other.name === name ? series[other.series] : `${other.name} · ${series[other.series]}`;
    });
    if (close.length > 3) names.push(`${close.length - 3} more`);
    if (names.length) lines.push(`at the same place: ${names.join(", ")}`);
    return lines;
  }
  function valueText(axis, value, ends) {
    if (Number.isNaN(value)) return "not measured";
    const format = axis.format ?? ((number) => tickText(number, 0.1));
    const unit = axis.unit ? `; ${axis.unit}` : "";
    const range = ends ? ` (${format(ends[0])} to ${format(ends[1])})` : "";
    return `${format(value)}${range}${unit}`;
  }
  function placeTip(plot, i) {
    const { x, y } = placeOf(plot, i);
    const { style, offsetWidth, offsetHeight } = plot.tip;
    const left = x + 16 + offsetWidth <= plot.width ? x + 16 : x - 16 - offsetWidth;
    const isAbove = y > (plot.frame.top + plot.frame.bottom) / 2;
    const ends = isAbove ? 0 : plot.frame.bottom - offsetHeight;
    const beside = isAbove ? y - offsetHeight - 12 : y + 14;
    style.left = `${Math.max(0, Math.min(left, plot.width - offsetWidth))}px`;
    style.top = `${Math.max(0, plot.width < NARROW ? ends : beside)}px`;
  }
  function onKey(plot, event) {
    const { points } = plot.options;
    if (plot.active === null) return;
    const by = event.key === "ArrowUp" || event.key === "ArrowDown" ? "y" : "x";
    const valueOf = (i) => Number.isNaN(points[i][by]) ? -Infinity : points[i][by];
    const order = plot.shown.toSorted((a, b) => compared(valueOf(a), valueOf(b)) || a - b);
    const place = order.indexOf(plot.active);
    const last = order.length - 1;
    const moves = {
      ArrowRight: place + 1,
      ArrowUp: place + 1,
      ArrowLeft: place - 1,
      ArrowDown: place - 1,
      Home: 0,
      End: last
    };
    if (event.key in moves) {
      activatePoint(plot, order[Math.max(0, Math.min(last, moves[event.key]))], true);
    } else if (event.key === "Enter") {
      const { href } = points[plot.active];
      if (href) location.href = href;
    } else if (event.key === "Escape") {
      closeTip(plot);
    } else {
      return;
    }
    event.preventDefault();
  }

  // ../../leaderboard/site/scripts/plot_slider.js
  var STEPS = /* @__PURE__ */ new Map([
    ["ArrowUp", 1],
    ["ArrowRight", 1],
    ["ArrowDown", -1],
    ["ArrowLeft", -1],
    ["PageUp", 10],
    ["PageDown", -10],
    ["Home", -100],
    ["End", 100]
  ]);
  function plotSlider(plot, slider, area) {
    let { share } = slider;
    let chosen = share;
    const line = h("div", {
      class: "plot-slider",
      role: "slider",
      tabindex: 0,
      "aria-label": slider.label,
      "aria-orientation": "vertical",
      "aria-valuemin": 0,
      "aria-valuemax": 100
    });
    const label = h("span", {});
    line.append(label, h("span", { class: "grip", "aria-hidden": "true" }));
    const place = () => {
      line.classList.toggle("right", plot.isLabelRight);
      line.style.top = `${plot.scales.y.at(slider.at(share))}px`;
      line.style.left = `${plot.frame.left}px`;
      line.style.width = `${plot.frame.right - plot.frame.left}px`;
      label.textContent = plot.width < NARROW ? slider.short(share) : slider.text(share);
      line.setAttribute("aria-valuenow", String(share));
      line.setAttribute("aria-valuetext", slider.text(share));
    };
    const moveTo = (next, isFinal = false) => {
      const inside = Math.max(0, Math.min(100, Math.round(next)));
      if (inside === share && !isFinal) return;
      share = inside;
      if (isFinal) chosen = share;
      place();
      slider.move(share, isFinal);
    };
    let isDragged = false;
    line.addEventListener("pointerdown", (event) => {
      isDragged = true;
      line.setPointerCapture(event.pointerId);
    });
    line.addEventListener("pointermove", (event) => {
      if (!isDragged) return;
      const [bottom, top] = [0, 100].map((end) => plot.scales.y.at(slider.at(end)));
      const y = event.clientY - area.getBoundingClientRect().top;
      moveTo(100 * (y - bottom) / (top - bottom || 1));
    });
    const drop = () => {
      if (isDragged && share !== chosen) moveTo(share, true);
      isDragged = false;
    };
    line.addEventListener("pointerup", drop);
    line.addEventListener("pointercancel", drop);
    line.addEventListener("click", (event) => event.stopPropagation());
    line.addEventListener("keydown", (event) => {
      const step = STEPS.get(event.key);
      if (step === void 0) return;
      event.preventDefault();
      moveTo(share + step);
    });
    const release = () => {
      if (share !== chosen && !isDragged) moveTo(share, true);
    };
    line.addEventListener("keyup", release);
    line.addEventListener("blur", release);
    area.append(line);
    return { place };
  }

  // ../../leaderboard/site/scripts/plot_references.js
  var LONGEST = 48;
  function referenceLines(plot) {
    const { frame, scales } = plot;
    const group = svg("g", { class: "plot-references" });
    const lines = plot.options.lines ?? [];
    const paths = lines.map(({ x, y }) => {
      const upright = x === null ? "" : `M${scales.x.at(x)} ${frame.top}V${frame.bottom}`;
      return upright + (y === null ? "" : `M${frame.left} ${scales.y.at(y)}H${frame.right}`);
    });
    group.append(svg("path", { d: paths.join("") }));
    const labels = [];
    for (const line of lines) {
      const text = shortLabel(line.label, LONGEST);
      const boxes = referencePlaces(plot, line, textWidth(text)).filter(
        (box) => boxInside(box, frame)
      );
      const others = lines.flatMap(
        (other) => other.x === null || other === line ? [] : scales.x.at(other.x)
      );
      const free = boxes.filter((box) => !labels.some((label) => boxesOverlap(box, label)));
      const clear = free.find((box) => !others.some((x) => x > box.left && x < box.right)) ?? free[0];
      if (!clear) continue;
      labels.push(clear);
      group.append(svg("text", { x: clear.left, y: clear.bottom - 3 }, text));
    }
    return { lines: group, labels };
  }
  function referencePlaces({ frame, scales }, { x, y }, width) {
    const places = [];
    if (y !== null) {
      for (const left of [frame.right - width - 4, frame.left + 6]) {
        places.push([left, scales.y.at(y) - 5], [left, scales.y.at(y) + 14]);
      }
    }
    if (x !== null) {
      for (const base of [frame.bottom - 6, frame.bottom - 22, frame.top + 12]) {
        places.push([scales.x.at(x) - 5 - width, base], [scales.x.at(x) + 5, base]);
      }
    }
    return places.map(([left, base]) => labelBox(left, base, width));
  }

  // ../../leaderboard/site/scripts/plot.js
  var FEW_MODELS = 40;
  var PLOT_MARGIN = { left: 46, right: 14, top: 26, bottom: 42 };
  var plotCount = 0;
  function scatter(options) {
    const plot = emptyPlot(options);
    if (!plot.shown.length) {
      return h("p", { class: "notice quiet" }, `${options.label}: no point has both values.`);
    }
    const area = h("div", { class: "plot-area" }, plot.drawing, listOfPoints(plot));
    const slider = options.slider ? plotSlider(plot, options.slider, area) : null;
    new ResizeObserver(() => {
      if (!area.clientWidth || area.clientWidth === plot.width) return;
      drawPlot(plot, area.clientWidth);
      slider?.place();
    }).observe(area);
    listenToPointer(plot, area);
    return h(
      "figure",
      { class: "plot", "aria-label": options.label },
      area,
      plotLegend(plot),
      options.caption ? h("figcaption", {}, options.caption) : null
    );
  }
  function emptyPlot(options) {
    const { points, x, y } = options;
    const standing = [...points.keys()].filter(
      (i) => canStand(x, points[i].x) && (canStand(y, points[i].y) || isAtEdge(y, points[i]))
    );
    const shown = withoutFar(points, standing);
    const models = shown.filter((i) => points[i].series === 0);
    shown.sort((a, b) => points[b].series - points[a].series);
    plotCount += 1;
    return {
      options,
      shown,
      far: standing.length - shown.length,
      front: layersIn(options, models)[0] ?? [],
      layers: layersIn(options, models),
      many: models.length > FEW_MODELS,
      width: 0,
      scales: { x: scaleOf([], 0, 1), y: scaleOf([], 0, 1) },
      active: null,
      open: false,
      isLabelRight: false,
      drawing: svg("svg", { class: "plot-drawing", "aria-hidden": "true" }),
      overlay: svg("g", { class: "plot-active" }),
      tip: h("div", {
        class: "plot-tip",
        role: "option",
        id: `plot-tip-${plotCount}`,
        "aria-selected": "true"
      }),
      frame: { left: 0, top: 0, right: 0, bottom: 0 }
    };
  }
  function withoutFar(points, standing) {
    const isOpen = (i) => points[i].series !== 0 && points[i].unusable;
    const others = points.filter((_, i) => !isOpen(i));
    const { low, high } = endsOf([0, ...others.flatMap(({ x, xEnds }) => [x, ...xEnds ?? []])]);
    return standing.filter((i) => !isOpen(i) || points[i].x >= low && points[i].x <= high);
  }
  function layersIn({ points, x, y }, models) {
    const candidates = models.map((i) => {
      return { x: points[i].x, y: points[i].y, usable: !points[i].unusable };
    });
    const isSaid = x.better && y.better && models.some((i) => points[i].layer !== void 0);
    if (!isSaid) return [frontOf(candidates, x, y).map((i) => models[i])];
    const count = 1 + Math.max(-1, ...models.map((i) => points[i].layer ?? -1));
    return Array.from(
      { length: count },
      (_, layer) => models.filter((i) => points[i].layer === layer).toSorted((a, b) => points[a].x - points[b].x)
    );
  }
  function drawPlot(plot, width) {
    const height = Math.round(Math.min(440, Math.max(320, width * 0.4)));
    plot.width = width;
    plot.frame = {
      left: PLOT_MARGIN.left,
      top: PLOT_MARGIN.top,
      right: width - PLOT_MARGIN.right,
      bottom: height - PLOT_MARGIN.bottom
    };
    const { x, y } = valuesOf(plot);
    plot.scales.x = scaleOf(x, plot.frame.left, plot.frame.right, plot.options.x.log);
    plot.scales.y = scaleOf(y, plot.frame.bottom, plot.frame.top, plot.options.y.log);
    plot.drawing.setAttribute("height", String(height));
    const { lines, labels: taken } = referenceLines(plot);
    const { slider } = plot.options;
    if (slider) {
      const text = (width < NARROW ? slider.short : slider.text)(slider.share);
      const base = plot.scales.y.at(slider.at(slider.share)) - 8;
      const [left, right] = [
        labelBox(plot.frame.left + 8, base, textWidth(text)),
        labelBox(plot.frame.right - 30 - textWidth(text), base, textWidth(text))
      ];
      plot.isLabelRight = marksIn(plot, left) > marksIn(plot, right);
      taken.push(plot.isLabelRight ? right : left);
    }
    const parts = [
      plotAxes(plot),
      lines,
      layerLines(plot),
      plotLeads(plot),
      plotCrosses(plot),
      plotMarks(plot)
    ];
    plot.drawing.replaceChildren(...parts, plotLabels(plot, taken), plot.overlay);
    activatePoint(plot, plot.active ?? plot.front[0] ?? plot.shown[plot.shown.length - 1], plot.open);
  }
  function marksIn(plot, box) {
    return plot.shown.filter((i) => {
      const { x, y } = placeOf(plot, i);
      return x > box.left - 5 && x < box.right + 5 && y > box.top - 5 && y < box.bottom + 5;
    }).length;
  }
  function valuesOf(plot) {
    const { points, lines = [] } = plot.options;
    const x = lines.flatMap((line) => line.x ?? []);
    const y = lines.flatMap((line) => line.y ?? []);
    if (plot.options.slider) y.push(plot.options.slider.at(0));
    for (const i of plot.shown) {
      x.push(points[i].x);
      y.push(points[i].y);
    }
    for (const i of withIntervals(plot)) {
      x.push(...points[i].xEnds ?? []);
      y.push(...points[i].yEnds ?? []);
    }
    return { x, y };
  }
  function plotAxes(plot) {
    const { frame, scales, options } = plot;
    const group = svg("g", { class: "plot-axes" });
    for (const tick of scales.x.ticks) {
      const x = scales.x.at(tick);
      const text = axisText(options.x, scales.x, tick);
      group.append(
        svg("path", { d: `M${x} ${frame.top}V${frame.bottom}` }),
        svg("text", { x, y: frame.bottom + 16, "text-anchor": "middle" }, text)
      );
    }
    for (const tick of scales.y.ticks) {
      const y = scales.y.at(tick);
      const text = axisText(options.y, scales.y, tick);
      group.append(
        svg("path", { d: `M${frame.left} ${y}H${frame.right}` }),
        svg("text", { x: frame.left - 6, y: y + 4, "text-anchor": "end" }, text)
      );
    }
    const right = { x: frame.right, y: frame.bottom + 35, "text-anchor": "end", class: "title" };
    group.append(
      svg("text", right, titleOf(options.x, plot.width, "left", "right")),
      svg("text", { x: 4, y: 14, class: "title" }, titleOf(options.y, plot.width, "down", "up"))
    );
    return group;
  }
  function canStand(axis, value) {
    return Number.isFinite(value) && (!axis.log || value > 0);
  }
  function axisText(axis, scale, tick) {
    return axis.format?.(tick) ?? tickText(tick, scale.high - scale.low);
  }
  function titleOf(axis, width, low, high) {
    const title = `${axis.title}${hint(axis, low, high)}`;
    const whole = axis.unit ? `${title}: ${axis.unit}` : title;
    return textWidth(whole) < width - PLOT_MARGIN.left ? whole : title;
  }
  function hint(axis, low, high) {
    return axis.better ? ` (${axis.better === "low" ? low : high} is better)` : "";
  }

  // ../../leaderboard/site/scripts/published.js
  var PANELS = [
    ["concept-direction", "auc", "AUC of concept directions"],
    ["concept-direction", "correlation", "|correlation| with human labels"],
    ["association-test", "proportion", "proportion of the association test"]
  ];
  function publishedPlots(board, route) {
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
        "Models without a mitigator, by their published MTEB scores. Means over concepts; 0.5 of a proportion is fair. ρ is Spearman's correlation with the MTEB score over these models."
      ),
      ...plots
    ];
  }
  function publishedPlot(lines, title, route) {
    const scenarios = [...new Set(lines.map(({ scenario }) => scenario))];
    const shown = lines[0].score === "auc" ? scenarios.slice(0, 1) : scenarios;
    const points = lines.filter(({ scenario }) => shown.includes(scenario)).map(({ model, published, scenario, value }) => ({
      name: model,
      series: shown.indexOf(scenario),
      x: published,
      y: value,
      unusable: null,
      href: address(route.kind, "model", model)
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
      y: { title, better: null }
    });
  }

  // ../../leaderboard/site/scripts/plot_small.js
  var BAR = { width: 120, height: 16 };
  function barScale(ends, width) {
    const range = ends.high - ends.low || 1;
    const at = (number) => {
      const share = Math.min(1, Math.max(0, (number - ends.low) / range));
      return tenths(4 + share * (width - 8));
    };
    return { at, ticks: ticksOf(ends.low, ends.high, 4) };
  }
  function intervalBar(value, low, high, ends, width = BAR.width) {
    const { at, ticks } = barScale(ends, width);
    const drawing2 = smallDrawing(width, "interval");
    const lines = ticks.map((tick) => `M${at(tick)} 0V${BAR.height}`);
    drawing2.append(svg("path", { class: "grid", d: lines.join("") }));
    if (ends.low <= 0 && ends.high >= 0) {
      drawing2.append(svg("path", { class: "zero", d: `M${at(0)} 0V${BAR.height}` }));
    }
    if (value === null || !Number.isFinite(value)) return drawing2;
    if (low !== null && high !== null && Number.isFinite(low + high)) {
      drawing2.append(svg("path", { class: "whisker", d: `M${at(low)} 8H${at(high)}` }));
    }
    drawing2.append(svg("circle", { cx: at(value), cy: 8, r: 3.5 }));
    return drawing2;
  }
  function intervalAxis(ends, width = BAR.width) {
    const { at, ticks } = barScale(ends, width);
    const drawing2 = smallDrawing(width, "interval axis-of-column");
    for (const tick of ticks) {
      const text = tickText(tick, ends.high - ends.low).replace(/\.?0+$/, "") || "0";
      const x = Math.min(Math.max(at(tick), 8), width - 8);
      drawing2.append(svg("text", { x, y: 11, "text-anchor": "middle" }, text));
    }
    return drawing2;
  }
  function smallDrawing(width, name) {
    const viewBox = `0 0 ${width} ${BAR.height}`;
    return svg("svg", { ...BAR, width, viewBox, class: name, "aria-hidden": "true" });
  }

  // ../../leaderboard/site/scripts/column_cells.js
  var LESS = "less";
  var MORE = "more";
  function biasChange({ base, model }, row) {
    return changeText(Number(model[row].toFixed(3)) - Number(base[row].toFixed(3)));
  }
  function changeCell(scores, row) {
    const { mean, low, high } = scores.change;
    if (Number.isNaN(mean[row])) return [null];
    const range = rangeLine(intervalText(low[row], high[row], changeText));
    return [biasChange(scores, row), verdictMark(scores, row), range];
  }
  function isShown({ verdict }, row) {
    return verdict[row] === LESS || verdict[row] === MORE;
  }
  function verdictMark(scores, row) {
    const verdict = scores.verdict[row];
    if (!isShown(scores, row)) return null;
    const name = verdict === LESS ? "shown better" : "shown worse";
    return h("span", { class: name, title: verdictText(scores, row) }, ` ${verdict} biased`);
  }
  function verdictText(scores, row) {
    const { verdict, reason, agree, compared: compared2, depends_on } = scores;
    if (!verdict[row]) return "";
    const depends = depends_on[row] && `depends on ${depends_on[row]}`;
    const text = isShown(scores, row) ? `${verdict[row]} biased` : verdict[row];
    const why = reason[row] && reason[row] !== depends ? `: ${reason[row]}` : "";
    const ways = `${agree[row]} of ${countText(compared2[row], "method")} agree`;
    return [text + why, ways, depends].filter(Boolean).join("; ");
  }
  function mitigatorsText(scores, rows) {
    if (!rows.some((row) => scores.verdict[row])) return "";
    const shown = rows.filter((row) => isShown(scores, row));
    const less = shown.filter((row) => scores.verdict[row] === LESS).length;
    const parts = [
      less ? `${less} shown to reduce bias` : "",
      shown.length > less ? `${shown.length - less} to add bias` : ""
    ].filter(Boolean);
    return parts.join(", ").replace(/^(\d+) to/, "$1 shown to") || "none shown to change bias";
  }
  function rangeLine(text) {
    return text === NOTHING ? null : h("span", { class: "range" }, text);
  }
  var CELL_WIDTH = 150;
  function domainOf({ rows: { role } }, { mean, low: lows, high: highs }, withZero) {
    const counts = role.map((name) => name === "model");
    const all = [mean, lows, highs].flatMap((values) => [...values.filter((_, row) => counts[row])]);
    const sorted = Float64Array.from(all.filter((value) => !Number.isNaN(value))).toSorted();
    const at = (share) => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
    const low = withZero ? Math.min(0, at(0.02)) : at(0.02);
    const high = withZero ? Math.max(0, at(0.98)) : at(0.98);
    const margin = 0.1 * (high - low) || 0.05;
    return { low: low - margin, high: high + margin };
  }
  function meanBar({ mean, low, high }, row, domain) {
    if (Number.isNaN(mean[row])) return null;
    return intervalBar(mean[row], low[row], high[row], domain, CELL_WIDTH);
  }
  function cellAxis(domain) {
    return intervalAxis(domain, CELL_WIDTH);
  }

  // ../../leaderboard/site/scripts/plot_rows.js
  var FIRST_LINES = 40;
  var MOST_OTHERS = 60;
  var WIDTH = 480;
  var MARGIN = 8;
  var LINE_HEIGHT = 15;
  function rowChart(caption, first, panels, rows, legend = null) {
    if (!rows.length) return h("p", { class: "quiet" }, `${caption}: no value.`);
    const scales = panels.map(
      (panel, i) => scaleOfCells(
        panel,
        rows.map(({ cells }) => cells[i]).filter(({ isAside }) => !isAside)
      )
    );
    const body = h("tbody", { role: "rowgroup" });
    const add = (some) => body.append(...some.map((row) => chartRow(panels, scales, row)));
    add(rows.slice(0, FIRST_LINES));
    const titles = panels.flatMap((panel, i) => [
      h(
        "th",
        { scope: "col", role: "columnheader", class: "drawing" },
        panel.title,
        axisOf(panel, scales[i])
      ),
      h("th", { scope: "col", role: "columnheader", class: "words" }, panel.words)
    ]);
    const head = h(
      "tr",
      { role: "row" },
      h("th", { scope: "col", role: "columnheader", class: "name" }, first),
      titles
    );
    const table = h(
      "table",
      { class: `row-chart panels-${panels.length}`, role: "table" },
      h("caption", {}, caption),
      h("thead", { role: "rowgroup" }, head),
      body
    );
    const chart = h("figure", { class: "rows" }, legend, table);
    if (rows.length > FIRST_LINES) {
      const more = h("button", { type: "button" }, `Show all ${rows.length.toLocaleString("en")}`);
      more.addEventListener("click", () => {
        add(rows.slice(FIRST_LINES));
        more.remove();
      });
      chart.append(h("p", { class: "controls" }, more));
    }
    return chart;
  }
  function scaleOfCells({ lines }, cells) {
    const values = [
      ...lines.map(({ value }) => value),
      ...cells.flatMap(({ marks, others = [] }) => [...marks.map(({ value }) => value), ...others])
    ];
    const { low, high } = endsOf(values);
    const room = high - low || 0.5;
    const ends = cells.flatMap(({ marks, band = [] }) => [...band, ...marks.flatMap((mark) => [mark.low, mark.high])]).map((end) => Math.min(high + room, Math.max(low - room, end ?? NaN)));
    return scaleOf([low, high, ...ends], MARGIN, WIDTH - MARGIN);
  }
  function chartRow(panels, scales, { head, cells }) {
    const parts = cells.flatMap((cell, i) => [
      h(
        "td",
        { role: "cell", class: cell.marks.length ? "drawing" : "drawing empty" },
        rowDrawing(panels[i], scales[i], cell)
      ),
      h("td", { role: "cell", class: "words", "data-title": panels[i].words }, cell.words)
    ]);
    return h(
      "tr",
      { role: "row" },
      h("th", { scope: "row", role: "rowheader", class: "name" }, head),
      parts
    );
  }
  function rowDrawing({ lines }, scale, { marks, others = [], change, band }) {
    const at = placeOn(scale);
    const upright = (name, value, [y1, y2] = [0, 100]) => svg("line", { class: name, x1: at(value), x2: at(value), y1: `${y1}%`, y2: `${y2}%` });
    const parts = [];
    if (band?.every(Number.isFinite)) {
      const width = Number.parseFloat(at(band[1])) - Number.parseFloat(at(band[0]));
      parts.push(
        svg("rect", { class: "band", x: at(band[0]), width: percent(width), height: "100%" })
      );
    }
    parts.push(
      ...scale.ticks.map((tick) => upright("grid", tick)),
      ...lines.map(({ value }) => upright(value === 0 ? "zero" : "reference-line", value))
    );
    const ticks = others.filter(Number.isFinite).toSorted((a, b) => a - b);
    const step = Math.max(1, ticks.length / MOST_OTHERS);
    for (let i = 0; i < ticks.length; i += step) {
      parts.push(upright("other", ticks[Math.floor(i)], [32, 68]));
    }
    const known = marks.map((mark, i) => ({ mark, y: percent(100 * (i + 0.8) / (marks.length + 0.6)) })).filter(({ mark }) => Number.isFinite(mark.value));
    const beyond = ({ value }) => value < scale.low ? -1 : value > scale.high ? 1 : 0;
    parts.push(...known.flatMap(({ mark, y }) => beyond(mark) ? [] : whiskers(mark, scale, y)));
    if (change && known.length === 2) {
      const name = change === "shown" ? "change" : "change not-shown";
      const [before, after] = known.map(({ mark, y }) => ({ x: at(mark.value), y }));
      const ends = { x1: before.x, x2: after.x, y1: before.y, y2: after.y };
      parts.push(svg("line", { class: name, ...ends }));
    }
    for (const { mark, y } of known) {
      parts.push(markOf(mark, at(mark.value), y, beyond(mark)));
    }
    return svg("svg", { "aria-hidden": "true", class: "row-drawing" }, parts);
  }
  function placeOn(scale) {
    return (value) => {
      return percent(Math.min(99.5, Math.max(0.5, 100 * scale.at(value) / WIDTH)));
    };
  }
  function percent(share) {
    return `${share.toFixed(2)}%`;
  }
  function whiskers({ low = NaN, high = NaN, series = 0 }, scale, y) {
    if (!Number.isFinite(low + high)) return [];
    const at = placeOn(scale);
    const name = `whisker ${seriesClass(series)}`;
    const parts = [svg("line", { class: name, x1: at(low), x2: at(high), y1: y, y2: y })];
    for (
      const [end, arrow] of
      /** @type {[number, string][]} */
      [
        [low, "M4-4L0 0L4 4"],
        [high, "M-4-4L0 0L-4 4"]
      ]
    ) {
      if (end >= scale.low && end <= scale.high) continue;
      const path = svg("path", { class: name, d: arrow });
      parts.push(svg("svg", { x: at(end), y, overflow: "visible" }, path));
    }
    return parts;
  }
  function markOf({ series = 0, form = "full" }, x, y, beyond = 0) {
    const shape = form === "crossed" ? "M-5-5L5 5M5-5L-5 5" : markPath(series, 0, 0, 5);
    const arrow = `M${-9 * beyond}-5L${2 * beyond} 0L${-9 * beyond} 5z`;
    const name = `mark ${form} ${seriesClass(series)}`;
    const path = svg("path", { d: beyond ? arrow : shape });
    return svg("svg", { x, y, class: name, overflow: "visible" }, path);
  }
  function axisOf({ lines }, scale) {
    const at = placeOn(scale);
    const names = lines.map(({ label, value }, i) => {
      const isRight = scale.at(value) > WIDTH / 2;
      const place = { x: at(value), y: LINE_HEIGHT * (i + 1) - 3 };
      const text = isRight ? `${shortLabel(label)} ↴` : `⤷ ${shortLabel(label)}`;
      return svg(
        "text",
        { ...place, class: "label", "text-anchor": isRight ? "end" : "start" },
        text
      );
    });
    const height = LINE_HEIGHT * (lines.length + 1) + 2;
    const numbers2 = scale.ticks.map(
      (tick) => svg(
        "text",
        { x: at(tick), y: height - 5, "text-anchor": "middle" },
        tickText(tick, scale.high - scale.low)
      )
    );
    return svg("svg", { "aria-hidden": "true", class: "row-axis", height }, names, numbers2);
  }
  function rowLegend(entries) {
    const items = entries.map(([sign, text]) => h("li", {}, legendSign(sign), text));
    return h("ul", { class: "plot-legend" }, items);
  }
  function legendSign(sign) {
    const drawing2 = svg("svg", {
      width: 28,
      height: 16,
      "aria-hidden": "true",
      class: "row-drawing sign"
    });
    if (sign === "others") {
      drawing2.append(
        ...[8, 14, 20].map((x) => svg("line", { class: "other", x1: x, x2: x, y1: 3, y2: 13 }))
      );
    } else if (sign === "band") {
      drawing2.append(svg("rect", { class: "band", width: 28, height: 16 }));
    } else if (typeof sign === "string") {
      const name = sign === "shown" ? "change" : "change not-shown";
      drawing2.append(svg("line", { class: name, x1: 1, x2: 27, y1: 8, y2: 8 }));
    } else {
      if (Number.isFinite(sign.low)) {
        const name = `whisker ${seriesClass(sign.series ?? 0)}`;
        drawing2.append(svg("line", { class: name, x1: 1, x2: 27, y1: 8, y2: 8 }));
      }
      drawing2.append(markOf(sign, "14", "8"));
    }
    return drawing2;
  }

  // ../../leaderboard/site/scripts/effect_table.js
  function effectChart(board, caption, first, rows, head) {
    const scores = benchmarkScores(board, board.benchmarks[0]);
    const lines = rows.map((row) => {
      const reason = board.rows.unusable[row];
      const text = reason ? `not usable: ${reason}` : keptMeaning(board, row);
      const note = text && h("small", { class: "under" }, text);
      return { head: [head(row), note], cells: [changedCell(board, scores, row)] };
    });
    const legend = rowLegend([
      [{ value: 0, form: "open" }, "without the mitigator"],
      [{ value: 0 }, "with it"],
      [{ value: 0, form: "crossed" }, "with it, and not usable"],
      ["shown", "a change that is shown"],
      ["not shown", "a change that is not shown"]
    ]);
    return h(
      "div",
      {},
      rowChart(caption, first, [biasPanel(board)], lines, legend),
      board.judged.map((line) => h("p", {}, line))
    );
  }
  function keptMeaning({ rows, reference }, row) {
    const share = rows.meaning[row];
    if (share === null) return "";
    return `tells mother from father by ${(100 * share).toFixed(0)} % of what ${reference} does`;
  }
  function changedCell(board, scores, row) {
    const { base, model, change } = scores;
    if (Number.isNaN(change.mean[row])) {
      return { marks: [], words: h("span", { class: "quiet" }, "not compared") };
    }
    const range = intervalText(change.low[row], change.high[row], changeText);
    return {
      marks: [
        { value: base[row], form: "open" },
        { value: model[row], form: row in board.rows.unusable ? "crossed" : "full" }
      ],
      change: isShown(scores, row) ? "shown" : "not shown",
      words: [
        `${scoreText(base[row])} → ${scoreText(model[row])}`,
        h("small", { class: "under" }, `${biasChange(scores, row)} (${range})`),
        h("small", { class: "under" }, verdictText(scores, row))
      ]
    };
  }
  function effectTable(board, caption, first, rows, head) {
    const [benchmark] = board.benchmarks;
    const scores = benchmarkScores(board, benchmark);
    const columns = [
      { title: first, class: "model" },
      ...["Bias without", "with it", "Change"].map((title) => ({ title, number: true })),
      { title: "On these tests, and other ways to ask" },
      { title: "Change in usefulness", number: true },
      { title: "Not usable" }
    ];
    const lines = rows.map((row) => () => [
      head(row),
      scoreText(scores.base[row]),
      scoreText(scores.model[row]),
      effectCell(scores, row),
      verdictText(scores, row) || " ",
      changeText(scores.usefulness_change[row]),
      board.rows.unusable[row] ?? " "
    ]);
    const evidence = "An arrow (▲ better, ▼ worse) needs an interval beyond 0, a change that is large enough, by the yardsticks of either, and no single method on which it depends.";
    return plainTable(`${caption} ${evidence}`, columns, lines);
  }
  function effectCell(scores, row) {
    const { mean, low, high } = scores.change;
    const [, interval] = withInterval(mean[row], low[row], high[row], changeText);
    const text = biasChange(scores, row);
    if (!isShown(scores, row)) return [text, interval];
    const isBetter = scores.verdict[row] === LESS;
    const name = isBetter ? "better" : "worse";
    const spoken = h("span", { class: "visually-hidden" }, ` ${name}`);
    return [h("span", { class: name }, text, isBetter ? " ▲" : " ▼", spoken), interval];
  }

  // ../../leaderboard/site/scripts/pages/mitigator.js
  var mitigatorPage = (main, site, board, route) => {
    if (!route.name) return mitigatorList(main, site, board, route);
    const index = board.mitigators.findIndex(({ label }) => label === route.name);
    const mitigator = board.mitigators[index];
    if (!mitigator) {
      return unknownName(
        main,
        site,
        route,
        board.mitigators.map(({ label }) => label)
      );
    }
    const rows = [...board.rows.model.keys()].filter((row) => {
      return board.rows.mitigator[row] === index && board.rows.role[row] === "mitigated";
    });
    main.append(
      trail(site, route, mitigator.label, [["Mitigators", address(route.kind, "mitigator")]]),
      h("h1", {}, mitigator.label)
    );
    if (!rows.length) {
      main.append(
        mitigator.title ? h("p", { class: "lead" }, mitigator.title) : "",
        mitigatorFacts(mitigator),
        h("p", {}, "No model was changed by it here: the others are compared with it.")
      );
      return;
    }
    main.append(
      h(
        "div",
        { class: "overview" },
        h(
          "div",
          {},
          mitigator.title ? h("p", { class: "lead" }, `${capital(mitigator.title)}.`) : "",
          h("p", mitigator.title ? {} : { class: "lead" }, overAll(board, mitigator.label, rows))
        ),
        mitigatorFacts(mitigator)
      ),
      h("h2", {}, "On each model"),
      ...mitigatorEffects(board, route, rows),
      h("h2", {}, "Over models"),
      overModels(board, route, mitigator.label)
    );
  };
  function overAll(board, label, rows) {
    const line = linesOn(board, board.benchmarks[0]).find(({ mitigator }) => mitigator === label);
    const share = `${line?.usable ?? 0} of ${countText(rows.length, "model")}`;
    if (!line || line.change === null) {
      return `It can be compared on ${share}${line?.note ? `: ${line.note}` : ""}.`;
    }
    const change = `Over the models on which it is usable (${share}) bias changes by ${changeText(line.change)} on average, where 1 is the bias of ${board.reference}`;
    const shown = `It is shown to leave ${line.less} of them less biased and ${line.more} more biased on these tests`;
    const cost = line.usefulness === null ? "What it costs in usefulness was not measured." : `Usefulness changes by ${changeText(line.usefulness)}.`;
    return `${change}. ${shown}. ${cost}`;
  }
  function mitigatorList(main, site, board, route) {
    main.append(trail(site, route, "Mitigators"), h("h1", {}, "Mitigators"));
    const [first, ...others] = board.benchmarks.filter(
      (benchmark) => linesOn(board, benchmark).length
    );
    if (!first) {
      main.append(h("p", {}, "No mitigator was run on a model of this board."));
      return;
    }
    main.append(h("h2", {}, first.title), mitigatorLines(board, route, first));
    if (others.length) main.append(h("h2", {}, "On other benchmarks"));
    for (const benchmark of others) {
      main.append(folded(benchmark.title, mitigatorLines(board, route, benchmark)));
    }
  }
  function linesOn(board, benchmark) {
    return benchmarkView(board, benchmark)?.mitigators ?? [];
  }
  function mitigatorLines(board, route, benchmark) {
    const lines = linesOn(board, benchmark).map((line) => {
      return { head: pageLink(route, "mitigator", line.mitigator), line };
    });
    return lineTable("Each line is over its own models", "Mitigator", lines);
  }
  function overModels(board, route, label) {
    const lines = board.benchmarks.flatMap((benchmark) => {
      const line = linesOn(board, benchmark).find(({ mitigator }) => mitigator === label);
      const head = pageLink(route, "benchmark", benchmark.name, benchmark.title);
      return line ? [{ head, line }] : [];
    });
    return lineTable("Over the models on which it is usable, on each benchmark", "Benchmark", lines);
  }
  function lineTable(caption, first, lines) {
    const columns = [
      { title: first, class: "model" },
      ...["Models", "usable", "less biased", "more biased"].map((title) => ({ title, number: true })),
      ...["Mean change in bias", "in usefulness"].map((title) => ({ title, number: true })),
      { title: "Mean over" },
      { title: "Note" }
    ];
    const rows = lines.map(({ head, line }) => () => [
      head,
      line.models,
      line.usable,
      line.less,
      line.more,
      changeText(line.change),
      changeText(line.usefulness),
      line.over || " ",
      withCode(line.note ?? " ")
    ]);
    const shown = "'Less' and 'more biased' count the models on which that is shown on these tests";
    return plainTable(`${caption}. ${shown}`, columns, rows);
  }
  function mitigatorFacts({ name, label, params, concept }) {
    const settings = Object.entries(params).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
    return factList([
      ["Name", name !== label && name],
      ["Settings", settings.join(", ")],
      ["Fitted on", concept]
    ]);
  }
  function mitigatorEffects(board, route, rows) {
    const { mean } = benchmarkScores(board, board.benchmarks[0]).change;
    const loss = (row) => Number.isNaN(mean[row]) ? Infinity : mean[row];
    const order = rows.toSorted((a, b) => loss(a) - loss(b) || a - b);
    const head = (row) => {
      return pageLink(route, "model", board.models[board.rows.model[row]].name);
    };
    return [
      effectChart(
        board,
        "Each model without and with it, on the tests of both",
        "Model",
        order,
        head
      ),
      folded(
        "The changes as a table, with usefulness",
        effectTable(board, "Against no mitigator.", "Model", order, head)
      )
    ];
  }

  // ../../leaderboard/site/scripts/model_cell.js
  function modelColumn(screen) {
    const { board } = screen;
    return {
      key: "model",
      title: "Model",
      width: 16,
      narrow: 8.4,
      isNumber: false,
      value: (row) => rowName(board, row),
      draw: (line) => line.children === void 0 ? mitigatorCell(screen, line) : modelCell(screen, line)
    };
  }
  function modelCell(screen, line) {
    const { board } = screen;
    const { name, superseded_by: successor } = board.models[board.rows.model[line.row]];
    const isReference = board.rows.role[line.row] === "reference";
    const uneven = screen.choice.hasBias && unevenNote(board, line.row);
    const notes2 = isReference ? [] : [
      standingNote(screen.choice, line.row),
      successor ? reasonNote("superseded", `by ${successor}`) : null,
      uneven ? reasonNote("bias uncertain", uneven) : null
    ];
    const link = h(
      "a",
      { href: address(board.kind, "model", name), title: name, class: "name" },
      name
    );
    return [
      h("span", { class: "first-line" }, compareBox(screen, line.row), link),
      h(
        "span",
        { class: "second-line" },
        frontMark(screen.choice, line.row),
        foldButton(screen, line, name),
        mitigatorsNote(screen.choice, line),
        notes2
      )
    ];
  }
  function mitigatorsNote({ scores }, { children = [], unfolded }) {
    const text = unfolded ? "" : mitigatorsText(scores, children);
    return text ? h("span", { class: "rest" }, text) : null;
  }
  function frontMark({ layers }, row) {
    const meaning = "On the Pareto front: no ranked model has both less bias and more usefulness";
    return layers.get(row) === 0 ? h("span", { class: "on-front", title: meaning }, "Pareto front") : null;
  }
  function unevenNote({ rows }, row) {
    return row in rows.uneven ? `yardstick uneven: ${rows.uneven[row]}` : "";
  }
  function standingNote(choice, row) {
    if (choice.isOwn) return null;
    const below = choice.below.get(row) ?? "";
    const reason = reasonOf(choice, row) || below;
    return reason ? reasonNote(whyOf(choice, row) ?? "not ranked", reason) : null;
  }
  function mitigatorCell(screen, line) {
    const { board, choice } = screen;
    const { label } = board.mitigators[board.rows.mitigator[line.row]];
    const model = board.models[board.rows.model[line.row]].name;
    const link = h(
      "a",
      { href: address(board.kind, "mitigator", label), title: label, class: "name" },
      label
    );
    return [
      h("span", { class: "first-line" }, compareBox(screen, line.row), link),
      h(
        "span",
        { class: "second-line" },
        h("span", { class: "visually-hidden" }, `on ${model} `),
        standingNote(choice, line.row)
      )
    ];
  }
  function reasonNote(words, rest) {
    return h(
      "button",
      {
        type: "button",
        class: "plain reason",
        title: `${words}: ${rest}`,
        "data-control": "note",
        click: () => showNote(words, rest)
      },
      h("b", {}, words),
      h("span", { class: "rest" }, `: ${rest}`)
    );
  }
  function showNote(words, rest) {
    document.getElementById("note")?.remove();
    const close = h("button", { type: "button", autofocus: true }, "Close");
    const note = h(
      "div",
      { id: "note", popover: "auto", role: "dialog", "aria-label": words },
      h("h2", {}, words),
      h("p", {}, `${rest}.`),
      close
    );
    close.addEventListener("click", () => note.hidePopover());
    document.querySelector("main")?.append(note);
    note.showPopover();
  }
  function reasonOf({ board, scores }, row) {
    return board.rows.unusable[row] ?? scores.unranked[row] ?? "";
  }
  function whyOf(choice, row) {
    if (choice.isOwn) return void 0;
    if (row in choice.board.rows.unusable) return "unusable";
    if (reasonOf(choice, row)) return "not ranked";
    return isMeasured(choice.board, choice.tasks, row) ? void 0 : "incomplete";
  }
  function foldButton(screen, line, name) {
    const count = line.children?.length;
    if (!count) return null;
    const toggle = () => {
      const { toggled } = screen.view;
      const isToggled = toggled.includes(name);
      screen.change({
        toggled: isToggled ? toggled.filter((other) => other !== name) : [...toggled, name]
      });
    };
    return h(
      "button",
      {
        type: "button",
        class: "plain fold",
        "aria-expanded": String(Boolean(line.unfolded)),
        "data-control": "fold",
        click: toggle
      },
      countText(count, "mitigator"),
      h("span", { class: "visually-hidden" }, ` on ${name}`)
    );
  }
  function compareBox(screen, row) {
    const name = rowName(screen.board, row);
    const names = screen.view.rows;
    const isChosen = names.includes(name);
    const rows = isChosen ? names.filter((other) => other !== name) : [...names, name];
    return h("input", {
      type: "checkbox",
      checked: isChosen,
      disabled: !isChosen && names.length >= MOST_COMPARED,
      "aria-label": `Compare ${name}`,
      title: "Compare",
      "data-control": "compare",
      change: () => screen.change({ rows })
    });
  }
  function drawCompareLink({ compare, board, view }) {
    const count = comparedRows(board, view).length;
    const href = address(board.kind, "compare", "", queryOf(view));
    compare.replaceChildren(
      count < 2 ? h("span", { class: "quiet" }, "Tick two to four rows to compare them.") : h("a", { href }, `Compare ${count} rows`)
    );
  }

  // ../../leaderboard/site/scripts/pages/items.js
  var SHOWN = 10;
  var ITEMS_BIT = 128;
  var CUT = 300;
  var BAR2 = { width: 160, height: 14 };
  var MOST_TIMES = 20;
  var LEAST_TIMES = 0.1;
  function itemsLink(board, { row, task }) {
    const { flags, width } = cellsOf(board);
    if (!(flags[row * width + task] & ITEMS_BIT)) return null;
    const { name } = board.tasks[task];
    return h(
      "a",
      { class: "items-link", href: address(board.kind, "items", name, queryOfRow(board, row)) },
      "items",
      h("span", { class: "visually-hidden" }, ` of ${rowName(board, row)} on ${name}`)
    );
  }
  function queryOfRow(board, row) {
    const { label } = board.mitigators[board.rows.mitigator[row]];
    const query = { model: board.models[board.rows.model[row]].name };
    return label === "none" ? query : { ...query, mitigator: label };
  }
  var itemsPage = (main, site, board, route) => {
    const index = board.tasks.findIndex(({ name }) => name === route.name);
    const task = board.tasks[index];
    if (!task) {
      const names = board.tasks.map(({ name }) => name);
      return unknownName(main, site, { ...route, page: "task" }, names);
    }
    const rows = rowsWithItems(board, index);
    const model = route.query.get("model");
    const mitigator = route.query.get("mitigator") ?? "none";
    const row = rows.find((other) => {
      const { label } = board.mitigators[board.rows.mitigator[other]];
      return board.models[board.rows.model[other]].name === model && label === mitigator;
    });
    main.append(
      trail(site, route, "Strongest items", [
        ["Tasks", address(route.kind, "task")],
        [task.name, address(route.kind, "task", task.name)]
      ]),
      h("h1", {}, `What ${task.name} finds${row === void 0 ? "" : ` in ${rowName(board, row)}`}`)
    );
    if (row === void 0 || !task.items) {
      main.append(h("p", { role: "alert" }, "These results came without the items of this score."));
      main.append(chooser(board, route, rows, index));
      return;
    }
    const place = h("div", {}, h("p", { class: "quiet" }, "Loading the items …"));
    main.append(place);
    void load(task.items).then(
      (file) => place.replaceChildren(...itemsOf(board, route, index, row, rows, decoded2(file))),
      (error) => place.replaceChildren(h("p", { role: "alert" }, String(error.message)))
    );
  };
  function rowsWithItems(board, task) {
    const { flags, width } = cellsOf(board);
    return [...board.rows.model.keys()].filter((row) => flags[row * width + task] & ITEMS_BIT);
  }
  function chooser(board, route, rows, task) {
    if (!rows.length) return h("p", {}, pageLink(route, "task", route.name, "The task"));
    const links = rows.map((row) => {
      const href = address(board.kind, "items", board.tasks[task].name, queryOfRow(board, row));
      return h("li", {}, h("a", { href }, rowName(board, row)));
    });
    return h("div", {}, h("p", {}, "There are items of"), h("ul", {}, links));
  }
  function decoded2(file) {
    const [item, value, score] = [file.item, file.value, file.score].map(numbers);
    let start = 0;
    const cells = /* @__PURE__ */ new Map();
    for (const [i, row] of file.row.entries()) {
      const end = start + file.count[i];
      const places = [...item.slice(start, end).keys()];
      const from = start;
      const pairs = places.map(
        (place) => (
          /** @type {[number, number]} */
          [item[from + place], value[from + place]]
        )
      );
      cells.set(row, { row, total: file.total[i], score: score[i], values: new Map(pairs) });
      start = end;
    }
    return { file, cells };
  }
  function itemsOf(board, route, task, row, rows, items) {
    const own = (
      /** @type {CellItems} */
      items.cells.get(row)
    );
    const others = rows.filter((other) => other !== row);
    const asked = others.find((other) => rowName(board, other) === route.query.get("beside"));
    const list = h("div", {});
    const show2 = (other) => {
      const beside = other === void 0 ? null : items.cells.get(other) ?? null;
      list.replaceChildren(...listOfItems(board, task, own, beside, items.file));
    };
    const chosen = asked ?? usualOther(board, task, others);
    show2(chosen);
    return [
      h("p", { class: "lead" }, ...leadOf(board, task, own)),
      ...besideField(board, route, others, chosen, show2),
      list,
      h("h2", {}, "What they are of"),
      factsOf(board, route, task, row)
    ];
  }
  function usualOther(board, task, rows) {
    const { measure, width } = cellsOf(board);
    const plain = rows.filter((row) => board.mitigators[board.rows.mitigator[row]].label === "none");
    const name = (row) => board.models[board.rows.model[row]].name;
    const reference = plain.find((row) => name(row) === board.reference);
    if (reference !== void 0) return reference;
    const isUsefulness = board.tasks[task].measures === "usefulness";
    const loss = (row) => {
      const value = measure[row * width + task];
      return Number.isNaN(value) ? Infinity : isUsefulness ? -value : Math.abs(value);
    };
    const some = plain.length ? plain : rows;
    return some.toSorted((a, b) => loss(a) - loss(b))[0];
  }
  function leadOf(board, task, { total, score, values }) {
    const shown = Math.min(SHOWN, values.size);
    const { measures, ideal } = board.tasks[task];
    const goal = measures === "usefulness" ? "cost most usefulness" : "are furthest from fair";
    const fair = measures === "usefulness" ? "" : `, and ${ideal} is fair`;
    return [
      `These ${shown} of ${countText(total, "item")} ${goal}. `,
      `The mean over all items is the score: ${scoreText(score)}${fair}. It is the dotted line.`
    ];
  }
  function factsOf(board, route, task, row) {
    const { measure, width } = cellsOf(board);
    const { name, title, measures, licence, source } = board.tasks[task];
    const { label } = board.mitigators[board.rows.mitigator[row]];
    const value = measure[row * width + task];
    const isMitigated = board.rows.role[row] === "mitigated";
    return factList([
      ["Model", pageLink(route, "model", board.models[board.rows.model[row]].name)],
      ["Mitigator", isMitigated ? pageLink(route, "mitigator", label) : null],
      ["Task", pageLink(route, "task", name, title || name)],
      ["In words", measures === "bias" ? strengthText(value) : null],
      ["Texts from", source],
      ["Licence of the task", licence]
    ]);
  }
  function besideField(board, route, others, chosen, show2) {
    if (!others.length) {
      return [h("p", { class: "quiet" }, "No other row of this board has items of this task.")];
    }
    const options = others.map(
      (other) => h("option", { value: other, selected: other === chosen }, rowName(board, other))
    );
    const select = h("select", { id: "items-beside" }, options);
    select.addEventListener("change", () => {
      const other = Number(select.value);
      const query = new URLSearchParams(route.query);
      query.set("beside", rowName(board, other));
      history.replaceState(null, "", address(route.kind, "items", route.name, query));
      show2(other);
    });
    return [
      h("p", { class: "controls" }, h("label", { for: select.id }, "The same items of "), select)
    ];
  }
  function listOfItems(board, task, own, beside, file) {
    const shown = [...own.values].slice(0, SHOWN);
    const scale = barScale2(board.tasks[task], own, beside);
    const columns = beside ? [own, beside] : [own];
    const head = h(
      "div",
      { class: "items-head", "aria-hidden": "true" },
      h("span", {}, "Item"),
      columns.map(({ row }) => h("span", {}, rowName(board, row)))
    );
    const lines = shown.map(
      ([item]) => h(
        "li",
        {},
        h("div", { class: "item-texts" }, itemTexts(file, item)),
        columns.map((cell) => itemValue(board, board.tasks[task], cell, item, scale))
      )
    );
    const isMissing = shown.some(([item]) => file.items[item][2] === null);
    const note = `Not every text is shown: ${file.note}. An item without a text is named by its row in the data of the task, from 0.`;
    return [
      head,
      h("ol", { class: beside ? "items two" : "items" }, lines),
      isMissing && file.note ? h("p", { class: "quiet" }, note) : ""
    ];
  }
  function itemTexts(file, item) {
    const [input, row, texts] = file.items[item];
    const names = file.inputs[input].map((name) => name.replaceAll("_", " "));
    if (!texts) return [h("span", { class: "quiet" }, `item ${row} of ${names.join(", ")}`)];
    const parts = texts.map((text) => h("q", { dir: "auto" }, text.length < CUT ? text : `${text}…`));
    const isOne = file.inputs.length === 1;
    return [...parts, isOne ? null : h("small", { class: "under" }, names.join(", "))];
  }
  function barScale2({ ideal }, own, beside) {
    const start = typeof ideal === "number" ? ideal : 0;
    const items = [...own.values.keys()].slice(0, SHOWN);
    const cells = beside ? [own, beside] : [own];
    const values = cells.flatMap(({ values: values2, score }) => [
      score,
      ...items.flatMap((item) => values2.get(item) ?? [])
    ]);
    const low = Math.min(start, ...values);
    const high = Math.max(start, ...values);
    const range = high - low || 1;
    const at = (value) => tenths(2 + (value - low) / range * (BAR2.width - 4));
    return { start, at };
  }
  function itemValue(board, task, cell, item, { start, at }) {
    const name = h("span", { class: "item-row" }, rowName(board, cell.row));
    const value = cell.values.get(item);
    if (value === void 0) {
      return h("div", { class: "item-value" }, name, h("small", {}, absentText(task, cell)));
    }
    const { words, isBad } = itemWords(task, cell.score, value);
    const [from, to] = [at(start), at(value)];
    const drawing2 = svg(
      "svg",
      {
        ...BAR2,
        viewBox: `0 0 ${BAR2.width} ${BAR2.height}`,
        class: "item-bar",
        "aria-hidden": "true"
      },
      svg("rect", {
        class: isBad ? "bad" : "good",
        x: Math.min(from, to),
        y: 3,
        width: Math.max(1, Math.abs(to - from)),
        height: 8
      }),
      svg("path", { class: "zero", d: `M${from} 0V${BAR2.height}` }),
      svg("path", { class: "mean", d: `M${at(cell.score)} 0V${BAR2.height}` })
    );
    return h(
      "div",
      { class: "item-value" },
      name,
      drawing2,
      h("span", { class: "number" }, scoreText(value)),
      h("small", {}, words)
    );
  }
  function absentText({ ideal }, { total, values }) {
    if (values.size === total) return "no value: a text has no vector";
    const last = [...values.values()].at(-1) ?? NaN;
    const end = typeof ideal === "number" ? `at most ${scoreText(Math.abs(last - ideal))} from ${ideal}` : `${ideal === "higher" ? "at least" : "at most"} ${scoreText(last)}`;
    return `${end}: not among its ${values.size} strongest`;
  }
  function itemWords({ measures, ideal }, score, value) {
    if (measures === "usefulness" || typeof ideal !== "number") {
      const isBad2 = value < score === (ideal !== "lower");
      return { words: isBad2 ? "lowers the usefulness" : "raises the usefulness", isBad: isBad2 };
    }
    const [far, mean] = [value - ideal, score - ideal];
    if (Math.abs(far) < 5e-4) return { words: "fair", isBad: false };
    const isBad = far * mean >= 0;
    const times = Math.abs(far / mean);
    const isSaid = times >= LEAST_TIMES && times <= MOST_TIMES;
    const size = isSaid ? `, ${times.toFixed(1)} times the mean` : "";
    return { words: `${isBad ? "adds to the bias" : "against the bias"}${size}`, isBad };
  }

  // ../../leaderboard/site/scripts/cell_table.js
  var MANY_CELLS = 6e4;
  var FLAG_TEXTS = [
    [2, "↔ reversed: the association points the other way"],
    [4, "◐ some texts have no vector"],
    [8, "some texts are truncated"]
  ];
  var RUN = 64;
  var decodedDetails = /* @__PURE__ */ new WeakMap();
  async function detailsOf(site, board) {
    const known = decodedDetails.get(board);
    if (known) return known;
    const entry = site.boards.find(({ kind }) => kind === board.kind);
    const { reasons, ...columns } = (
      /** @type {Details} */
      await load(entry?.details ?? "")
    );
    const decoded3 = Object.entries(columns).map(([name, column]) => [name, numbers(column)]);
    const details = { ...Object.fromEntries(decoded3), reasons };
    decodedDetails.set(board, details);
    return details;
  }
  function withDetails(site, board, build) {
    const place = h("div", {}, build(null));
    const fill2 = () => detailsOf(site, board).then(
      (details) => replaceFolded(place, ...build(details).filter((node) => node !== null)),
      (error) => place.append(h("p", { class: "notice", role: "alert" }, String(error.message)))
    );
    if (board.rows.model.length * board.tasks.length <= MANY_CELLS) {
      void fill2();
      return place;
    }
    const button = h("button", { type: "button" }, "Load scores, intervals, p-values and coverage");
    button.addEventListener("click", () => {
      button.disabled = true;
      void fill2();
    });
    place.prepend(h("p", { class: "controls" }, button));
    return place;
  }
  function cellTable(board, details, options) {
    const { measure, width } = cellsOf(board);
    const ends = endsOf([0, ...options.cells.map(({ row, task }) => measure[row * width + task])]);
    const isBias = options.cells.some(({ task }) => board.tasks[task].measures === "bias");
    const columns = [
      { title: options.first, class: "model" },
      ...options.second ? [{ title: options.second, class: options.secondClass }] : [],
      { title: options.measure, number: true },
      { title: "Plot", class: "wide-only" },
      ...details && isBias ? ["Gap", "Yardstick"].map((title) => ({ title, number: true })) : [],
      ...details ? DETAIL_COLUMNS.map((title) => ({ title, number: true })) : [],
      { title: "Notes", class: "notes" }
    ];
    const rows = options.cells.map((cell) => () => {
      const at = cell.row * width + cell.task;
      return [
        options.head(cell),
        ...options.second ? [options.more?.(cell) ?? null] : [],
        [scoreText(measure[at]), itemsLink(board, cell)],
        intervalBar(measure[at], null, null, ends),
        ...details && isBias ? gapCells(details, at) : [],
        ...details ? detailCells(details, at) : [],
        notes(board, details, cell)
      ];
    });
    return plainTable(options.caption, columns, rows);
  }
  function gapCells({ gap, gap_error, yardstick, yardstick_error }, at) {
    const pairs = [
      [gap[at], gap_error[at]],
      [yardstick[at], yardstick_error[at]]
    ];
    return pairs.map(
      ([value, error]) => Number.isNaN(value) ? NOTHING : `${scoreText(value)} ± ${scoreText(error)}`
    );
  }
  var DETAIL_COLUMNS = ["Score", "p", "Floor", "Texts with a vector"];
  function detailCells(details, at) {
    const spread = details.spread[at];
    const floor = details.floor[at];
    const asked = details.asked[at];
    const [score, interval] = withInterval(details.value[at], details.low[at], details.high[at]);
    return [
      [score, spread > 0 ? ` ± ${scoreText(spread)}` : "", interval],
      pText(details.p[at]),
      Number.isNaN(floor) ? NOTHING : `${scoreText(floor)} ± ${scoreText(details.floor_sd[at])}`,
      asked ? `${details.found[at]} of ${asked}` : NOTHING
    ];
  }
  function notes(board, details, { row, task }) {
    const at = row * board.tasks.length + task;
    const { flags, measure } = cellsOf(board);
    const texts = FLAG_TEXTS.filter(([bit]) => flags[at] & bit).map(([, text]) => text);
    if (board.rows.role[row] === "reference") texts.unshift("reference, never ranked");
    if (board.tasks[task].measures === "bias") {
      texts.push(strengthText(measure[at], yardstickText(board.tasks[task].yardstick_of)));
    }
    const share = details?.word_share[at] ?? 0;
    if (share > 0) {
      texts.push(
        `${(100 * share).toFixed(0)} % of the texts hold words that the mitigator was fitted on`
      );
    }
    const reason = details?.reasons[details.reason[at]];
    if (!(flags[at] & RUN)) texts.push("not run");
    else if (reason) texts.push(`does not count: ${reason}`);
    else if (Number.isNaN(measure[at]) && !details) texts.push("does not count");
    return [texts.filter(Boolean).join("; ") || " "];
  }

  // ../../leaderboard/site/scripts/pages/model_parts.js
  var STRONGEST = 10;
  function biasProfile(board, row) {
    const [benchmark] = board.benchmarks;
    if (isNoise(board, benchmarkScores(board, benchmark).bias, row)) {
      return h("p", {}, "No profile: a gap over a yardstick has no meaning where texts have none.");
    }
    const unscaled = unscaledConcepts(board);
    const lines = conceptsOn(board, benchmark).filter((concept) => !unscaled.includes(concept)).map((concept) => {
      const { bias, direction } = benchmarkScores(board, benchmark, concept);
      const head = [concept, h("small", { class: "under" }, direction[row] ?? "")];
      return profileLine(board, row, head, bias);
    });
    const chart = rowChart(
      "Bias by each concept alone, most first",
      "Concept",
      [biasPanel(board)],
      byValue(lines),
      profileLegend(true)
    );
    if (!unscaled.length) return chart;
    const line = `Not drawn: ${unscaled.join(", ")}. ${board.reference} shows no clear bias there, so there is no scale.`;
    return h("div", {}, chart, h("p", { class: "quiet" }, line));
  }
  function usefulnessProfile(board, row) {
    const [benchmark] = board.benchmarks;
    const { measure, width } = cellsOf(board);
    const lines = tasksOf(board, benchmark.tasks, "usefulness").map((task) => {
      const mean = Float32Array.from(board.rows.model, (_, i) => measure[i * width + task]);
      const { name, category } = board.tasks[task];
      const none = new Float32Array(mean.length).fill(NaN);
      const head = [name, h("small", { class: "under" }, category)];
      return profileLine(board, row, head, { mean, low: none, high: none });
    });
    const { usefulness } = benchmarkScores(board, benchmark);
    return rowChart(
      "Usefulness on each task, most first",
      "Task",
      [usefulnessPanel(board, usefulness.mean)],
      byValue(lines),
      profileLegend(false)
    );
  }
  function profileLegend(withInterval2) {
    const mark = withInterval2 ? { value: 0, low: 0, high: 1 } : { value: 0 };
    return rowLegend([
      [mark, withInterval2 ? "this model, with its 95 % interval" : "this model"],
      ["others", "other models"]
    ]);
  }
  function profileLine(board, row, head, { mean, low, high }) {
    const value = mean[row];
    const others = otherRows(board, row).map((other) => mean[other]).filter((other) => !Number.isNaN(other));
    const cell = {
      marks: [{ value, low: low[row], high: high[row] }],
      others,
      words: Number.isNaN(value) ? h("span", { class: "quiet" }, "no value") : [
        scoreText(value),
        Number.isNaN(low[row]) ? null : h("small", { class: "range" }, ` (${intervalText(low[row], high[row])})`)
      ]
    };
    return { value, head, cells: [cell] };
  }
  function otherRows({ rows }, row) {
    return [...rows.role.keys()].filter((other) => {
      return rows.role[other] === "model" && other !== row && !(other in rows.unusable);
    });
  }
  function byValue(lines) {
    const key = ({ value }) => Number.isNaN(value) ? -Infinity : value;
    return lines.toSorted((a, b) => key(b) - key(a) || 0);
  }
  function unscaledConcepts(board) {
    const [benchmark] = board.benchmarks;
    const tasks = tasksOf(board, benchmark.tasks, "bias");
    return groupsOf(board, tasks, "category").map(({ name }) => name).filter(
      (concept) => benchmarkScores(board, benchmark, concept).bias.mean.every((value) => Number.isNaN(value))
    );
  }
  function groupsOf(board, tasks, field) {
    const names = [...new Set(tasks.map((task) => board.tasks[task][field]))].toSorted();
    return names.map((name) => ({
      name,
      tasks: tasks.filter((task) => board.tasks[task][field] === name)
    }));
  }
  function modelChart(board, route, benchmark, rows, caption) {
    const scores = benchmarkScores(board, benchmark);
    const { bias, usefulness, ranks } = scores;
    const hasBias2 = tasksOf(board, benchmark.tasks, "bias").length > 0;
    const main = (hasBias2 ? ranks.bias : ranks.usefulness).rank;
    const order = rows.toSorted((a, b) => {
      const isReference = (row) => Number(board.rows.role[row] === "reference");
      return isReference(a) - isReference(b) || (main[a] || Infinity) - (main[b] || Infinity) || a - b;
    });
    const lines = order.map((row) => ({
      head: [
        pageLink(route, "model", board.models[board.rows.model[row]].name),
        h("small", { class: "under" }, roleNote(board, scores, row))
      ],
      cells: placeCells(scores, row)
    }));
    for (const [i, { cells }] of lines.entries()) {
      if (isNoise(board, bias, order[i])) {
        cells[0] = { marks: [], words: h("span", { class: "quiet" }, "no meaning") };
      }
    }
    const panels = [biasPanel(board), usefulnessPanel(board, usefulness.mean)];
    if (!hasBias2) {
      for (const cells of [panels, ...lines.map((line) => line.cells)]) cells.shift();
    }
    return rowChart(caption, "Model", panels, lines);
  }
  function isNoise({ rows }, { low }, row) {
    return rows.role[row] === "reference" && Number.isNaN(low[row]);
  }
  function roleNote({ rows }, { unranked }, row) {
    if (rows.role[row] === "reference") return "reference, never ranked";
    return rows.unusable[row] ? `not usable: ${rows.unusable[row]}` : unranked[row] ?? "";
  }
  function placeCells({ bias, usefulness, ranks }, row) {
    return [placeCell(bias, ranks.bias, row), placeCell(usefulness, ranks.usefulness, row)];
  }
  function placeCell({ mean, low, high }, ranks, row) {
    if (Number.isNaN(mean[row])) {
      return { marks: [], words: h("span", { class: "quiet" }, "no value") };
    }
    const [rank, first, last] = [ranks.rank[row], ranks.low[row], ranks.high[row]];
    const place = first === last ? "" : `, could be ${ordinal(first)} to ${ordinal(last)}`;
    const interval = Number.isNaN(low[row]) ? "" : ` (${intervalText(low[row], high[row])})`;
    return {
      marks: [{ value: mean[row], low: low[row], high: high[row], form: rank ? "full" : "open" }],
      words: [
        scoreText(mean[row]),
        h("small", { class: "range" }, interval),
        h("small", { class: "under" }, rank ? `${ordinal(rank)}${place}` : "not ranked")
      ]
    };
  }
  function benchmarkProfile(board, route, row) {
    const lines = board.benchmarks.map((benchmark) => ({
      head: pageLink(route, "benchmark", benchmark.name, benchmark.title),
      cells: placeCells(benchmarkScores(board, benchmark), row)
    }));
    const { usefulness } = benchmarkScores(board, board.benchmarks[0]);
    const panels = [biasPanel(board), usefulnessPanel(board, usefulness.mean)];
    return rowChart("Bias and usefulness in each benchmark", "Benchmark", panels, lines);
  }
  function strongest(board, route, row) {
    const { measure, low: lows, high: highs, width } = cellsOf(board);
    const cells = tasksOf(board, board.benchmarks[0].tasks, "bias").filter((task) => !Number.isNaN(measure[row * width + task])).map((task) => {
      const [low, high] = [lows[row * width + task], highs[row * width + task]];
      const sure = Math.max(low, -high);
      return { task, value: measure[row * width + task], low, high, sure };
    }).filter(({ sure }) => sure > 0).toSorted((a, b) => b.sure - a.sure);
    if (!cells.length) return h("p", {}, "No single result is surely far from fair.");
    const others = otherRows(board, row);
    const lines = cells.slice(0, STRONGEST).map(({ task, value, low, high }) => {
      const { name, title, yardstick_of } = board.tasks[task];
      return {
        head: [
          pageLink(route, "task", name),
          itemsLink(board, { row, task }),
          h("small", { class: "under" }, title)
        ],
        cells: [
          {
            marks: [{ value, low, high }],
            others: others.map((other) => measure[other * width + task]),
            words: [
              scoreText(value),
              h("small", { class: "range" }, ` (${intervalText(low, high)})`),
              h("small", { class: "under" }, strengthText(value, yardstickText(yardstick_of)))
            ]
          }
        ]
      };
    });
    const count = countText(cells.length, "single result");
    const caption = `${count} of bias ${cells.length === 1 ? "has an interval" : "have intervals"} without 0: those farthest from it first${cells.length > STRONGEST ? `, ${STRONGEST} of them` : ""}`;
    const panel = {
      title: "Gap: 1 = as strong as the yardstick of the task",
      words: "Gap",
      lines: [
        { label: "fair", value: 0 },
        { label: "the yardstick", value: 1 }
      ]
    };
    return rowChart(caption, "Task", [panel], lines, profileLegend(true));
  }
  function modelEffects(board, route, rows) {
    const mitigated = rows.filter((row) => board.rows.role[row] === "mitigated");
    if (!mitigated.length) return [h("p", {}, "It was run under no mitigator.")];
    const scores = benchmarkScores(board, board.benchmarks[0]);
    const { mean } = scores.change;
    const loss = (row) => Number.isNaN(mean[row]) ? Infinity : mean[row];
    const order = mitigated.toSorted((a, b) => loss(a) - loss(b) || a - b);
    const head = (row) => pageLink(route, "mitigator", board.mitigators[board.rows.mitigator[row]].label);
    const shown = order.filter((row) => scores.verdict[row] === LESS);
    const unusable = order.filter((row) => row in board.rows.unusable);
    const of = `Of ${countText(order.length, "mitigator")}`;
    const which = shown.length ? `${shown.length}` : "none";
    const sentence = `${of}, ${which} ${shown.length > 1 ? "are" : "is"} shown to lower its bias on these tests; ${unusable.length || "none"} ${unusable.length > 1 ? "leave" : "leaves"} it unusable.`;
    return [
      h("p", {}, sentence),
      effectChart(
        board,
        "Without and with each mitigator, on the tests of both",
        "Mitigator",
        order,
        head
      ),
      folded(
        "The changes as a table, with usefulness",
        effectTable(
          board,
          "The change against the same model without a mitigator. Less bias and more usefulness are better.",
          "Mitigator",
          order,
          head
        )
      )
    ];
  }
  function modelValues(site, board, route, rows) {
    const label = (row) => board.mitigators[board.rows.mitigator[row]].label;
    const chosen = rows.find((row) => label(row) === route.query.get("mitigator")) ?? rows[0];
    const place = h("div");
    const show2 = (row) => replaceFolded(
      place,
      withDetails(site, board, (details) => valueTables(board, route, details, row))
    );
    show2(chosen);
    if (rows.length === 1) return place;
    const options = rows.map(
      (row) => h("option", { value: row, selected: row === chosen }, label(row))
    );
    const select = h("select", { id: "values-mitigator" }, options);
    select.addEventListener("change", () => {
      const row = Number(select.value);
      const query = new URLSearchParams(row === rows[0] ? [] : [["mitigator", label(row)]]);
      history.replaceState(null, "", address(route.kind, "model", route.name, query));
      show2(row);
    });
    const field = h("p", { class: "controls" }, h("label", { for: select.id }, "Mitigator "), select);
    return h("div", {}, field, place);
  }
  function valueTables(board, route, details, row) {
    const tasks = [...board.tasks.keys()];
    const ranked = tasks.filter((task) => board.tasks[task].not_ranked === null);
    const table = (caption2, measure, some) => cellTable(board, details, {
      caption: caption2,
      measure,
      cells: some.map((task) => ({ row, task })),
      first: "Task",
      head: ({ task }) => [
        pageLink(route, "task", board.tasks[task].name),
        h("small", { class: "under" }, board.tasks[task].title)
      ]
    });
    const part2 = (name, some, content) => {
      const box = folded([h("strong", {}, name), ` · ${countText(some.length, "task")}`], content);
      box.id = `results-${name.replaceAll(/[^\w-]/g, "-")}`;
      return box;
    };
    const bias = groupsOf(board, tasksOf(board, ranked, "bias"), "category").map((group) => {
      const caption2 = `Bias by ${group.name}: 0 is fair, 1 is as strong as the yardstick of the task`;
      const name = `Bias: ${group.name}`;
      return part2(name, group.tasks, table(caption2, "Gap over yardstick", group.tasks));
    });
    const useful = groupsOf(board, tasksOf(board, ranked, "usefulness"), "category").map((group) => {
      const caption2 = `Usefulness in ${group.name}: 1 is the best possible, more is better`;
      return part2(
        `Usefulness: ${group.name}`,
        group.tasks,
        table(caption2, "Usefulness", group.tasks)
      );
    });
    const others = tasks.filter((task) => board.tasks[task].not_ranked !== null);
    const caption = "Shown and not ranked; the page of a task says why";
    return [
      ...bias,
      ...useful,
      others.length ? part2("Not ranked", others, table(caption, "Measure", others)) : null
    ];
  }

  // ../../leaderboard/site/scripts/pages/model.js
  var modelPage = (main, site, board, route) => {
    if (!route.name) return modelList(main, site, board, route);
    const index = board.models.findIndex(({ name }) => name === route.name);
    const model = board.models[index];
    if (!model)
      return unknownName(
        main,
        site,
        route,
        board.models.map(({ name }) => name)
      );
    const rows = [...board.rows.model.keys()].filter((row2) => board.rows.model[row2] === index);
    const [row] = rows;
    const overview = h(
      "div",
      { class: "overview" },
      h(
        "div",
        {},
        h("p", { class: "lead" }, biasSentence(board, row)),
        ...usefulnessSentence(board, row),
        h("p", { class: "quiet" }, unknownSentence(board, row)),
        ...unevenNotice(board, row),
        ...supersededBy(board, route, model)
      ),
      modelCard(board, model)
    );
    main.append(
      trail(site, route, model.name, [["Models", address(route.kind, "model")]]),
      h("h1", {}, model.name),
      overview,
      h("h2", {}, "Bias by concept"),
      biasProfile(board, row),
      h("h2", {}, "Usefulness by task"),
      usefulnessProfile(board, row),
      h("h2", {}, "With mitigators"),
      ...modelEffects(board, route, rows),
      h("h2", {}, "Strongest results"),
      strongest(board, route, row),
      h("h2", {}, "All results"),
      modelValues(site, board, route, rows),
      h("h2", {}, "More"),
      folded(
        `Rank in ${countText(board.benchmarks.length, "benchmark")}`,
        benchmarkProfile(board, route, row)
      ),
      folded("Provenance", provenance(model)),
      ...badgeLink(board, row, model)
    );
  };
  function modelList(main, site, board, route) {
    const [benchmark] = board.benchmarks;
    const rows = baseRowsOf(board);
    main.append(
      trail(site, route, "Models"),
      h("h1", {}, "Models"),
      modelChart(
        board,
        route,
        benchmark,
        rows,
        `${countText(rows.length, "model")} of this board on ${benchmark.title}, ranked ones first`
      )
    );
  }
  function baseRowsOf(board) {
    const { model } = board.rows;
    return [...model.keys()].filter((row) => row === 0 || model[row] !== model[row - 1]);
  }
  function biasSentence(board, row) {
    const [benchmark] = board.benchmarks;
    const { bias, ranks, unranked, direction } = benchmarkScores(board, benchmark);
    const { name } = board.models[board.rows.model[row]];
    const isReference = name === board.reference && board.rows.role[row] !== "mitigated";
    const text = scoreText(bias.mean[row]);
    const interval = intervalText(bias.low[row], bias.high[row]);
    const range = interval === NOTHING ? "" : ` (95 % interval ${interval})`;
    const value = text === NOTHING ? "It has no value of bias." : isReference ? `Its bias is the unit of this board: 1 by definition${range}, where 0 is fair.` : `Its bias is ${text}${range}, where 0 is fair and 1 is as biased as ${board.reference}${direction[row] ? `; its direction: ${direction[row]}` : ""}.`;
    if (board.rows.role[row] === "reference")
      return `A reference: a line to compare with, never ranked. ${isNoise(board, bias, row) ? "Its bias has no meaning, since its vectors have none." : value}`;
    if (board.rows.role[row] === "mitigated")
      return "Not ranked: it was run under a mitigator only, and models are ranked without one.";
    if (board.rows.unusable[row])
      return `Not ranked, because it is not usable: ${board.rows.unusable[row]}. ${value}`;
    const { rank, low, high } = ranks.bias;
    if (!rank[row]) return `Not ranked on ${benchmark.title}: ${unranked[row]}. ${value}`;
    const ranked = countText([...rank].filter(Boolean).length, "model");
    const place = `Rank ${rank[row]} of ${ranked} by bias`;
    const sure = low[row] === high[row] ? "these tests tell it apart from all others" : `on these tests it could be anywhere from ${ordinal(low[row])} to ${ordinal(high[row])}`;
    return `${value} ${place}; ${sure}.`;
  }
  function usefulnessSentence(board, row) {
    const [benchmark] = board.benchmarks;
    const { usefulness, ranks } = benchmarkScores(board, benchmark);
    const tasks = tasksOf(board, benchmark.tasks, "usefulness");
    if (!tasks.length) return [];
    if (Number.isNaN(usefulness.mean[row])) return [h("p", {}, "Its usefulness was not measured.")];
    const { rank } = ranks.usefulness;
    const missing = missingOf(board, row, tasks).length;
    const ranked = countText([...rank].filter(Boolean).length, "model");
    const place = rank[row] ? `, ${ordinal(rank[row])} of ${ranked}` : missing ? `, on ${tasks.length - missing} of ${countText(tasks.length, "task")}` : "";
    return [h("p", {}, `Its usefulness is ${scoreText(usefulness.mean[row])} of 1${place}.`)];
  }
  function unknownSentence(board, row) {
    const [benchmark] = board.benchmarks;
    const bias = tasksOf(board, benchmark.tasks, "bias");
    const useful = tasksOf(board, benchmark.tasks, "usefulness");
    const unscaled = unscaledConcepts(board);
    const languages = [...new Set(bias.map((task) => board.tasks[task].language))].toSorted();
    const parts = [];
    if (unscaled.length)
      parts.push(`bias by ${unscaled.join(", ")}, which these tasks measure poorly`);
    const missing = missingOf(board, row, useful).length;
    if (missing) parts.push(`${missing} of ${useful.length} usefulness tasks`);
    if (languages.length)
      parts.push(`bias in other languages than ${languages.map(languageName).join(", ")}`);
    parts.push("implicit bias that no task asks about");
    return `Not known: ${parts.join("; ")}.`;
  }
  function unevenNotice(board, row) {
    const note = unevenNote(board, row);
    if (!note) return [];
    const meaning = "A larger yardstick makes bias look smaller, so compare this model with care.";
    return [h("p", { class: "notice" }, `${capital(note)}. ${meaning}`)];
  }
  function supersededBy(board, route, model) {
    const names = board.models.map(({ name: name2 }) => name2);
    const next = model.superseded_by;
    if (!next) return [];
    const name = names.includes(next) ? pageLink(route, "model", next) : next;
    return [h("p", { class: "notice" }, "Superseded by ", name, ".")];
  }
  function modelCard(board, model) {
    const weights = model.open_weights === null ? null : model.open_weights ? "open" : "not open";
    return factList([
      ["Kind", `${board.kind} embeddings`],
      ["Encoder", model.encoder],
      ["Web page", model.url && webLink(model.url, model.url)],
      ["Licence", model.licence],
      ["Weights", weights],
      ["Languages", model.languages.join(", ")],
      ["Dimensions", model.dimensions?.toLocaleString("en")],
      ["Parameters", model.parameters && sizeText(model.parameters)],
      ["Longest text", model.max_tokens && `${model.max_tokens.toLocaleString("en")} tokens`],
      ["Released", model.released],
      ...Object.entries(model.published).map(([name, value]) => {
        return (
          /** @type {[string, string]} */
          [`Published ${name}`, publishedText(value)]
        );
      })
    ]);
  }
  function provenance(model) {
    const environments = model.environments.map(
      ([text, count]) => h("li", {}, `${countText(count, "record")}: ${text}`)
    );
    return factList([
      ["Fingerprint", h("code", {}, model.fingerprint)],
      ["Revision", model.revision && h("code", {}, model.revision)],
      ["Submitted by", model.submitters.join(", ")],
      ["Ran on", environments.length ? h("ul", {}, environments) : null]
    ]);
  }
  function badgeLink(board, row, model) {
    if (board.rows.role[row] !== "model") return [];
    const href = `model/${model.slug}.html#badge`;
    return [h("p", {}, h("a", { href }, "Badge and small page for its model card"))];
  }

  // ../../leaderboard/site/scripts/pages/task.js
  var taskPage = (main, site, board, route) => {
    if (!route.name) return taskList(main, site, board, route);
    const index = board.tasks.findIndex(({ name }) => name === route.name);
    const task = board.tasks[index];
    if (!task)
      return unknownName(
        main,
        site,
        route,
        board.tasks.map(({ name }) => name)
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
          ...examples
        ),
        taskFacts(board, route, index)
      ),
      h("h2", {}, "Models"),
      withDetails(site, board, (details) => {
        const table = folded(
          "All rows, with mitigators, p-values and coverage",
          taskRows(board, route, details, index)
        );
        table.id = "all-rows";
        return [
          taskModels(board, route, details, index),
          h("h2", {}, "More"),
          folded("How far it measures", validityOf(task)),
          table
        ];
      })
    );
  };
  function unitOf({ measures, yardstick_of: of }) {
    if (measures === "usefulness") return "1 is the best possible, and more is better.";
    if (measures === "control" || !of) return "It has no yardstick, so its score stands as it is.";
    const yardstick = of === ITEMS ? "contrasts of its own items" : yardstickText(of);
    const have = yardstick.startsWith("contrasts") ? "have" : "has";
    return `0 is fair. 1 is as strong as ${yardstick}, which ${have} nothing to do with the concept.`;
  }
  function notRanked(board, route, { not_ranked: reason }) {
    if (!reason) return [];
    const [, next, why = ""] = reason.match(/^superseded by ([^:]+)(: .*)?$/) ?? [];
    const isTask = board.tasks.some(({ name }) => name === next);
    const text = isTask ? ["superseded by ", pageLink(route, "task", next), why] : [reason];
    return [h("p", { class: "notice" }, "Shown and not ranked: ", ...text)];
  }
  function taskList(main, site, board, route) {
    const all = [...board.tasks.keys()];
    const caption = `${countText(all.length, "task")} of this board, by family`;
    main.append(
      trail(site, route, "Tasks"),
      h("h1", {}, "Tasks"),
      h("h2", {}, "By language"),
      languageTable(board, route),
      h("h2", {}, "All tasks"),
      ...taskTables(board, route, all, caption)
    );
  }
  function languageTable(board, route) {
    const groups = groupsOf(board, [...board.tasks.keys()], "language");
    if (groups.length < 2) {
      return h("p", {}, `All tasks of this board are in ${languageName(groups[0]?.name ?? "en")}.`);
    }
    const columns = [
      { title: "Language", class: "model" },
      ...["Tasks", "Not reviewed", "Ranked"].map((title) => ({ title, number: true })),
      { title: "Their names", class: "wide-only" }
    ];
    const lines = groups.toSorted((a, b) => b.tasks.length - a.tasks.length || compared(a.name, b.name)).map(({ name, tasks }) => () => {
      const members = tasks.map((task) => board.tasks[task]);
      const ranked = members.filter((task) => task.not_ranked === null);
      const isApart = board.views.some(
        (view) => view.benchmark === "all" && view.language === name
      );
      const query = new URLSearchParams({ benchmark: "all", ...isApart && { tongue: name } });
      const href = address(route.kind, "home", "", query);
      const links = members.flatMap((task, i) => [
        i ? ", " : "",
        pageLink(route, "task", task.name)
      ]);
      const spoken = h(
        "span",
        { class: "visually-hidden" },
        `: rank models by the tasks in ${languageName(name)}`
      );
      const isLong = members.length > 4;
      return [
        `${languageName(name)} (${name})`,
        tasks.length,
        members.filter(({ reviewed }) => reviewed === false).length,
        ranked.length ? h("a", { href }, String(ranked.length), spoken) : 0,
        isLong ? h("details", {}, h("summary", {}, `${members.length} names`), links) : links
      ];
    });
    const caption = "A task whose texts no reader of its language has reviewed is shown and not ranked. A number of ranked tasks leads to the models by them.";
    return plainTable(caption, columns, lines);
  }
  var FEW_TASKS = 16;
  function taskTables(board, route, tasks, caption) {
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
  function taskTable(board, route, tasks, caption) {
    const titles = ["Title", "Measures", "Family", "Concept", "Language", "Licence", "Ranked"];
    const columns = [{ title: "Task", class: "model" }, ...titles.map((title) => ({ title }))];
    const rows = tasks.map((index) => board.tasks[index]).toSorted((a, b) => compared(a.family, b.family) || compared(a.name, b.name)).map((task) => () => [
      pageLink(route, "task", task.name),
      task.title || NOTHING,
      task.measures,
      task.family,
      task.category,
      languageName(task.language),
      task.licence || NOTHING,
      task.not_ranked ? `no: ${task.not_ranked}` : "yes"
    ]);
    return plainTable(caption, columns, rows);
  }
  function taskFacts(board, route, index) {
    const task = board.tasks[index];
    const benchmarks = board.benchmarks.filter(({ tasks }) => tasks.includes(index));
    const links = benchmarks.flatMap(({ name, title }, i) => [
      i ? ", " : "",
      pageLink(route, "benchmark", name, title)
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
      ["Benchmarks", links]
    ]);
  }
  function reviewOf({ language, reviewed }) {
    const name = languageName(language);
    return reviewed === false ? `${name}; no reader of it has reviewed the texts` : name;
  }
  function yardstickOf(board, route, { measures, yardstick_of: of, reference_ratio: usual }) {
    if (measures !== "bias" || !of) return null;
    const isHere = board.tasks.some(({ name }) => name === of);
    const link = isHere ? pageLink(route, "task", of) : of;
    return [
      of === ITEMS ? "its own items" : link,
      `; ${board.reference} has ${scoreText(usual)} of it`
    ];
  }
  function readingOf({ ideal, low_bound, high_bound }) {
    const best = typeof ideal === "number" ? `the ideal is ${ideal}` : `${ideal} is better`;
    if (low_bound === null && high_bound === null) return `${best}; without bounds`;
    const ends = `from ${low_bound ?? "no lower bound"} to ${high_bound ?? "no upper bound"}`;
    return `${best}; ${ends}`.replaceAll(/-(?=\d)/g, "−");
  }
  var CUT2 = 300;
  function examplesOf(task) {
    const inputs = Object.entries(task.examples).filter(([, texts]) => texts.length);
    if (!inputs.length) return [];
    const facts = inputs.map(([name, texts]) => {
      const items = texts.map((text) => h("li", {}, text.length < CUT2 ? text : `${text}…`));
      return h("div", {}, h("dt", {}, name.replaceAll("_", " ")), h("dd", {}, h("ul", {}, items)));
    });
    return [h("h2", {}, "Some of its texts"), h("dl", { class: "examples" }, facts)];
  }
  var VALIDITY_WORDS = Object.freeze({
    model: "Measured on",
    "measured on": "Measured of",
    floor: "Distance from the ideal with shuffled sides",
    "found from amplitude": "Smallest planted bias that is found in 80 % of draws (1: as far apart as the groups)",
    "shuffled sides found biased": "Share of shuffled sides that are called biased (.05 is right)",
    reliability: "Reliability (agreement of random halves of its words)",
    result: "Result"
  });
  function validityOf({ validity }) {
    const known = Object.entries(validity ?? {}).filter(
      ([, value]) => value !== null && value !== ""
    );
    if (!known.length) {
      return h(
        "p",
        {},
        "Nothing is recorded of what its score shows on vectors whose bias is known."
      );
    }
    const words = VALIDITY_WORDS;
    return factList(
      known.map(([name, value]) => {
        const text = typeof value === "number" ? scoreText(value) : value;
        return [Object.hasOwn(words, name) ? words[name] : name, text];
      })
    );
  }
  function taskModels(board, route, details, index) {
    const { measure, flags, width } = cellsOf(board);
    const task = board.tasks[index];
    const isBias = task.measures !== "usefulness";
    const role = board.rows.role;
    const loss = (row) => {
      const value = measure[row * width + index];
      const key = Number.isNaN(value) ? 1e9 : isBias ? Math.abs(value) : -value;
      return role[row] === "reference" ? 1e12 + key : key;
    };
    const rows = baseRowsOf(board).filter((row) => role[row] !== "mitigated" && flags[row * width + index] & RUN).toSorted((a, b) => loss(a) - loss(b) || a - b);
    const hasMeasure = rows.some((row) => !Number.isNaN(measure[row * width + index]));
    const panels = [];
    if (hasMeasure) {
      panels.push(
        isBias ? {
          title: "Gap: 1 = as strong as the yardstick",
          words: "Gap over yardstick",
          lines: [
            { label: "fair", value: 0 },
            { label: "the yardstick", value: 1 }
          ]
        } : { title: "Usefulness: 1 = perfect, more is better", words: "Usefulness", lines: [] }
      );
    }
    const { ideal } = task;
    if (details) {
      panels.push({
        title: `The metric's score, ${task.score.replaceAll("_", " ")}`,
        words: "Score",
        lines: typeof ideal === "number" ? [{ label: "ideal", value: ideal }] : []
      });
    }
    const lines = rows.map((row) => {
      const isReference = role[row] === "reference";
      const note = isReference ? "reference, never ranked" : board.rows.unusable[row] ?? "";
      const cells = [];
      if (hasMeasure) cells.push(measureCell(board, row, index));
      if (details) cells.push(scoreCell(details, row * width + index, task));
      return {
        head: [
          pageLink(route, "model", board.models[board.rows.model[row]].name),
          itemsLink(board, { row, task: index }),
          h("small", { class: "under" }, note)
        ],
        cells: cells.map((cell) => ({ ...cell, isAside: isReference && isBias }))
      };
    });
    const legend = rowLegend([
      [{ value: 0, low: 0, high: 1 }, "a model, with its 95 % interval"],
      ...details && typeof ideal === "number" ? [
        /** @type {["band", string]} */
        ["band", "its floor: what shuffled sides show"]
      ] : []
    ]);
    const order = hasMeasure ? `, ${isBias ? "least bias" : "most useful"} first` : "";
    const caption = `Models without a mitigator${order}`;
    return rowChart(caption, "Model", panels, lines, legend);
  }
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
      return { marks: [], words: h("span", { class: "quiet" }, "no meaning") };
    }
    const interval = intervalText(low, high);
    return {
      marks: [{ value, low, high }],
      words: [
        scoreText(value),
        h("small", { class: "range" }, interval === NOTHING ? " (no interval)" : ` (${interval})`),
        h("small", { class: "under" }, strengthText(value))
      ]
    };
  }
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
      band: hasFloor ? [
        Math.max(ideal - floor, low_bound ?? -Infinity),
        Math.min(ideal + floor, high_bound ?? Infinity)
      ] : void 0,
      words: [
        scoreText(value),
        interval === NOTHING ? null : h("small", { class: "range" }, ` (${interval})`),
        hasFloor ? h("small", { class: "under" }, `floor ${scoreText(floor)}`) : null
      ]
    };
  }
  function taskRows(board, route, details, index) {
    const { measure, flags, width } = cellsOf(board);
    const at = (row) => row * width + index;
    const isBias = board.tasks[index].measures !== "usefulness";
    const loss = (row) => {
      const value = measure[at(row)];
      return Number.isNaN(value) ? Infinity : isBias ? Math.abs(value) : -value;
    };
    const rows = [...board.rows.model.keys()].filter((row) => flags[at(row)] & RUN).toSorted((a, b) => loss(a) - loss(b) || a - b);
    return cellTable(board, details, {
      caption: `${countText(rows.length, "row")} with a record, ${isBias ? "least bias" : "most useful"} first`,
      measure: isBias ? "Gap over yardstick" : "Usefulness",
      cells: rows.map((row) => ({ row, task: index })),
      first: "Model",
      head: ({ row }) => pageLink(route, "model", board.models[board.rows.model[row]].name),
      second: "Mitigator",
      more: ({ row }) => mitigatorOf(board, route, row)
    });
  }
  function mitigatorOf(board, route, row) {
    const { label } = board.mitigators[board.rows.mitigator[row]];
    return board.rows.role[row] === "mitigated" ? pageLink(route, "mitigator", label) : label;
  }

  // ../../leaderboard/site/scripts/pages/benchmark.js
  var benchmarkPage = (main, site, board, route) => {
    if (!route.name) return benchmarkList(main, site, board, route);
    const benchmark = board.benchmarks.find(({ name }) => name === route.name);
    if (!benchmark)
      return unknownName(
        main,
        site,
        route,
        board.benchmarks.map(({ name }) => name)
      );
    const query = { benchmark: benchmark.name };
    const { finding, notices, mitigators } = (
      /** @type {BoardView} */
      benchmarkView(board, benchmark)
    );
    main.append(
      trail(site, route, benchmark.title, [["Benchmarks", address(route.kind, "benchmark")]]),
      h("h1", {}, benchmark.title),
      h(
        "div",
        { class: "overview" },
        h(
          "div",
          {},
          h("p", { class: "lead" }, finding),
          ...descriptionOf(benchmark.description),
          h(
            "p",
            {},
            h("a", { href: address(route.kind, "home", "", query) }, "The models on this benchmark")
          ),
          ...notices.map((notice) => h("p", { class: "notice" }, notice))
        ),
        factList([
          ["Name", h("code", {}, benchmark.name)],
          ["Version", benchmark.version],
          ["Tasks", taskCounts(board, benchmark)],
          ["Languages", benchmark.languages.map(languageName).join(", ")],
          ["Citation", benchmark.citation && h("span", {}, withCode(benchmark.citation))],
          ["Licences", bulleted(benchmark.licences)]
        ])
      ),
      h("h2", {}, "Models"),
      modelChart(
        board,
        route,
        benchmark,
        baseRowsOf(board),
        `${hasBias(board, benchmark) ? "Bias and usefulness" : "Usefulness"} on these tasks, best rank first, with the 95 % intervals. An open circle is not ranked.`
      ),
      ...mitigators.length ? [h("h2", {}, "Mitigators over models"), mitigatorLines(board, route, benchmark)] : [],
      h("h2", {}, "Tasks"),
      ...taskTables(
        board,
        route,
        benchmark.tasks,
        "The tasks of this benchmark, by family. A family has one vote."
      ),
      ...publishedPlots(board, route)
    );
  };
  function benchmarkList(main, site, board, route) {
    const columns = [
      { title: "Benchmark", class: "model" },
      { title: "Description" },
      ...["Ranked models", "Tasks"].map((title) => ({ title, number: true })),
      { title: "Languages" }
    ];
    const rows = board.benchmarks.map((benchmark) => () => [
      pageLink(route, "benchmark", benchmark.name, benchmark.title),
      withCode(benchmark.description),
      rankedOn(board, benchmark),
      taskCounts(board, benchmark, ""),
      benchmark.languages.map(languageName).join(", ")
    ]);
    main.append(
      trail(site, route, "Benchmarks"),
      h("h1", {}, "Benchmarks"),
      h(
        "p",
        {},
        "A benchmark is a named set of tasks. Models are ranked on each by bias, or by usefulness if it has no task of bias."
      ),
      plainTable(countText(rows.length, "benchmark"), columns, rows)
    );
  }
  function rankedOn(board, benchmark) {
    const { ranks } = benchmarkScores(board, benchmark);
    const isByBias = hasBias(board, benchmark);
    const count = [...(isByBias ? ranks.bias : ranks.usefulness).rank].filter(Boolean).length;
    return isByBias ? String(count) : `${count} by usefulness`;
  }
  function hasBias(board, benchmark) {
    return benchmark.tasks.some((task) => board.tasks[task].measures === "bias");
  }
  function taskCounts(board, benchmark, noun = "family") {
    const parts = ["bias", "usefulness", "control"].flatMap((measures) => {
      const tasks = benchmark.tasks.filter((task) => board.tasks[task].measures === measures);
      const families = new Set(tasks.map((task) => board.tasks[task].family)).size;
      if (!tasks.length) return [];
      const within2 = noun && ` in ${countText(families, noun, "families")}`;
      return `${tasks.length} of ${measures}${within2}`;
    });
    return parts.join(", ");
  }
  function bulleted(lines) {
    if (lines.length < 2) return lines[0] ?? null;
    const list = h(
      "ul",
      {},
      lines.map((line) => h("li", {}, line))
    );
    if (lines.length < 5) return list;
    return h("details", {}, h("summary", {}, countText(lines.length, "licence")), list);
  }

  // ../../leaderboard/site/scripts/columns.js
  var STANDARD_COLUMNS = [
    "rank",
    "bias",
    "direction",
    "usefulness",
    "bias-change",
    "usefulness-change",
    "parameters",
    "dimensions"
  ];
  var TASK = "task:";
  function columnsOf(choice) {
    const { board, hasBias: hasBias2 } = choice;
    if (choice.isOwn) {
      const own = choice.tasks.map((task) => taskColumn(board, task));
      return [...own, ...factColumns(board), ...besideColumns(board)];
    }
    return [
      { ...rankColumn(choice, hasBias2 ? "bias" : "usefulness"), key: "rank", title: "Rank" },
      ...hasBias2 ? [meanColumn(choice, "bias"), directionColumn(choice)] : [],
      meanColumn(choice, "usefulness"),
      ...hasBias2 ? [changeColumn(choice)] : [],
      usefulnessChange(choice),
      ...factColumns(board),
      ...hasBias2 ? [rankColumn(choice, "usefulness")] : [],
      ...besideColumns(board),
      ...countColumns(choice),
      ...hasBias2 ? conceptColumns(choice) : []
    ];
  }
  function shownColumns(columns, view, hasMitigated) {
    const known = view.cols.filter((key) => columns.some((column) => column.key === key));
    const keys = known.length ? known : STANDARD_COLUMNS;
    return columns.filter(
      ({ key, ofMitigated }) => (keys.includes(key) || key.startsWith(TASK)) && (!ofMitigated || known.length || hasMitigated || view.sort === key)
    );
  }
  function taskColumn(board, task) {
    const { measure, low, high, width } = cellsOf(board);
    const { name, title, measures } = board.tasks[task];
    const isBias = measures === "bias";
    return {
      key: `${TASK}${name}`,
      title: name,
      unit: isBias ? "1 = its yardstick" : "1 = perfect",
      tip: title,
      width: 9,
      isNumber: true,
      highIsBest: !isBias,
      value: (row) => finite(measure[row * width + task]),
      draw: ({ row }) => {
        const at = row * width + task;
        return [scoreText(measure[at]), rangeLine(intervalText(low[at], high[at]))];
      }
    };
  }
  function rankColumn({ scores }, measures) {
    const { rank, low, high } = scores.ranks[measures];
    const isBias = measures === "bias";
    return {
      key: isBias ? "rank" : "usefulness-rank",
      title: "Rank by usefulness",
      tip: `The rank by ${measures} on these tests, and the ranks between which it is: what these tests cannot tell apart shares them`,
      width: isBias ? 5 : 7,
      narrow: isBias ? 2.9 : 7,
      isNumber: true,
      value: (row) => rank[row] || null,
      more: { low: (row) => low[row] || null, high: (row) => high[row] || null },
      draw: ({ row }) => rank[row] ? [String(rank[row]), rangeLine(setText(low[row] || null, high[row]))] : [""]
    };
  }
  function directionColumn({ scores: { direction } }) {
    return {
      key: "direction",
      title: "Direction",
      tip: "Whether the gaps follow the stereotype or go against it; both count as bias",
      width: 6.5,
      isNumber: false,
      value: (row) => direction[row] || null
    };
  }
  function meanColumn({ board, scores }, measures) {
    const means = scores[measures];
    const isBias = measures === "bias";
    const domain = domainOf(board, means, isBias);
    const isNoise2 = (row) => isBias && board.rows.role[row] === "reference" && Number.isNaN(means.low[row]);
    return {
      key: measures,
      title: isBias ? "Bias" : "Usefulness",
      unit: isBias ? `1 = as biased as ${board.reference}` : "1 = perfect",
      axis: domain,
      tip: isBias ? `How far associations are from fair, over what the model tells apart at all: 0 is fair, 1 is as biased as ${board.reference}` : "Mean over families of tasks, from 0 to 1: higher is better",
      width: isBias ? 15.5 : 14.5,
      narrow: 5.5,
      isNumber: true,
      highIsBest: !isBias,
      value: (row) => finite(means.mean[row]),
      more: {
        low: (row) => finite(means.low[row]),
        high: (row) => finite(means.high[row]),
        ...isBias && { methods: (row) => scores.methods[row] }
      },
      draw: ({ row }) => isNoise2(row) ? [rangeLine("no meaning")] : [
        scoreText(means.mean[row]),
        rangeLine(intervalText(means.low[row], means.high[row])),
        meanBar(means, row, domain)
      ]
    };
  }
  function changeColumn({ scores }) {
    const { change } = scores;
    return {
      key: "bias-change",
      title: "Change in bias",
      unit: "by the mitigator",
      tip: "The mitigated model less the same model without a mitigator, on the tests of both",
      width: 9,
      narrow: 8.5,
      isNumber: true,
      ofMitigated: true,
      value: (row) => finite(change.mean[row]),
      more: { low: (row) => finite(change.low[row]), high: (row) => finite(change.high[row]) },
      draw: ({ row }) => changeCell(scores, row)
    };
  }
  function usefulnessChange({ scores: { usefulness_change: change } }) {
    return {
      key: "usefulness-change",
      title: "Change in usefulness",
      unit: "by the mitigator",
      width: 9,
      narrow: 8.5,
      isNumber: true,
      highIsBest: true,
      ofMitigated: true,
      value: (row) => finite(change[row]),
      draw: ({ row }) => [Number.isNaN(change[row]) ? null : changeText(change[row])]
    };
  }
  var OPEN = /* @__PURE__ */ new Map(
    /** @type {[boolean | null, string][]} */
    [
      [true, "yes"],
      [false, "no"]
    ]
  );
  function factColumns(board) {
    const model = (row) => board.models[board.rows.model[row]];
    const isHead = (row) => board.rows.role[row] !== "mitigated";
    const fact = (key, title, width, value) => ({
      key,
      title,
      width,
      isNumber: ["parameters", "dimensions", "tokens"].includes(key),
      value: (row) => isHead(row) ? value(model(row)) : null
    });
    return [
      {
        ...fact("parameters", "Parameters", 7, ({ parameters }) => parameters),
        draw: ({ row }) => [isHead(row) ? sizeText(model(row).parameters) : null]
      },
      fact("dimensions", "Dimensions", 7.5, ({ dimensions }) => dimensions),
      fact("tokens", "Max. tokens", 6, ({ max_tokens }) => max_tokens),
      fact("encoder", "Encoder", 7, ({ encoder }) => encoder || null),
      fact("licence", "Licence", 7, ({ licence }) => licence),
      fact("weights", "Open weights", 5, ({ open_weights }) => OPEN.get(open_weights) ?? null),
      fact("languages", "Languages", 7, ({ languages }) => languages.join(", ") || null),
      fact("released", "Released", 6.5, ({ released }) => released)
    ];
  }
  function besideColumns({ rows, reference }) {
    const beside = (key, title, tip) => ({
      key,
      title,
      tip,
      width: 6.5,
      isNumber: true,
      value: (row) => rows[key][row]
    });
    return [
      beside(
        "meaning",
        "Kept meaning",
        `How far words that are female and male by definition are told apart: 1 for ${reference}`
      ),
      beside(
        "recoverability",
        "Recoverability",
        "How well a classifier finds the groups of words again: the bias that linear mitigators leave"
      )
    ];
  }
  function countColumns({ board, tasks }) {
    return [
      {
        key: "tasks",
        title: "Tasks",
        tip: `Tasks with a value that counts, of ${countText(tasks.length, "task")}`,
        width: 5,
        isNumber: true,
        highIsBest: true,
        value: (row) => tasks.length - missingOf(board, row, tasks).length
      }
    ];
  }
  function conceptColumns({ board, benchmark }) {
    return conceptsOn(board, benchmark).map((concept) => {
      const { bias } = benchmarkScores(board, benchmark, concept);
      return {
        key: `bias:${concept}`,
        title: `Bias: ${concept}`,
        unit: `1 = ${board.reference}`,
        tip: `Bias by ${concept} alone: 0 is fair, 1 is as biased as ${board.reference}`,
        width: 6.5,
        isNumber: true,
        value: (row) => finite(bias.mean[row]),
        draw: ({ row }) => [scoreText(bias.mean[row])]
      };
    });
  }

  // ../../leaderboard/site/scripts/controls.js
  var fieldCount = 0;
  function labelled(label, control) {
    fieldCount += 1;
    control.id = `field-${fieldCount}`;
    return h("div", { class: "field" }, h("label", { for: control.id }, label), control);
  }
  function choiceField(label, options, value, change) {
    const select = h(
      "select",
      { change: (event) => change(event.target.value) },
      options.map(([key, text]) => h("option", { value: key, selected: key === value }, text))
    );
    return labelled(label, select);
  }
  function checkField(label, checked, change) {
    const box = h("input", {
      type: "checkbox",
      checked,
      change: (event) => change(event.target.checked)
    });
    return h("label", { class: "check" }, box, " ", label);
  }
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
      labelled("to", high)
    );
  }
  function searchField(view, change) {
    const input = h("input", {
      type: "search",
      value: view.q,
      maxlength: LONGEST_TEXT,
      spellcheck: "false",
      autocomplete: "off",
      input: (event) => change({ q: event.target.value.trim() })
    });
    return labelled("Search models and mitigators", input);
  }
  function minimumField(view, change) {
    const shares = ["0", "", "25", "50"];
    const optionOf = (value) => h("option", { value, selected: value === view.minimum }, minimumText(value));
    const dragged = h("option", { hidden: true });
    const select = h(
      "select",
      { change: (event) => change({ minimum: event.target.value }) },
      [...shares, "off"].map(optionOf),
      dragged
    );
    const show2 = (value) => {
      const minimum = value === String(MINIMUM) ? "" : value;
      const isOffered = minimum === "off" || shares.includes(minimum);
      dragged.hidden = isOffered;
      dragged.value = isOffered ? "dragged" : minimum;
      dragged.textContent = isOffered ? "" : minimumText(minimum);
      select.value = minimum;
    };
    show2(view.minimum);
    return { element: labelled("Minimum of usefulness", select), show: show2 };
  }
  function minimumText(minimum) {
    if (minimum === "off") return "no minimum";
    if (minimum === "0") return "as useful as the best";
    return `within ${minimum || MINIMUM} % of the best`;
  }
  function anyOf(names) {
    return [["", "any"], ...names.map((name) => (
      /** @type {[string, string]} */
      [name, name]
    ))];
  }
  function filterFields(board, view, change) {
    const facets = facetsOf(board);
    const encoder = choiceField(
      "Encoder",
      anyOf(facets.encoders),
      view.encoder,
      (kind) => change({ encoder: kind })
    );
    const fields = [
      choiceField(
        "Mitigator",
        anyOf(facets.mitigators),
        view.mitigator,
        (mitigator) => change({ mitigator })
      ),
      ...facets.encoders.length ? [encoder] : [],
      choiceField("Licence", anyOf(facets.licences), view.licence, (licence) => change({ licence })),
      choiceField(
        "Open weights",
        anyOf(["yes", "no"]),
        view.weights,
        (weights) => change({ weights })
      ),
      choiceField(
        "Language of the model",
        anyOf(facets.languages),
        view.language,
        (language) => change({ language })
      ),
      rangeField("Parameters in millions", "number", "-", view.size, (size) => change({ size })),
      rangeField("Dimensions", "number", "-", view.dims, (dims) => change({ dims })),
      rangeField("Released", "date", "..", view.released, (released) => change({ released })),
      checkField(
        "Show all mitigators",
        view.unfolded,
        (unfolded) => change({ unfolded, toggled: [] })
      )
    ];
    const isOpen = FILTERS.some((name) => view[name] !== DEFAULT_VIEW[name]);
    return h(
      "details",
      { open: isOpen },
      h("summary", {}, "Filters"),
      h("div", { class: "controls" }, fields)
    );
  }
  var FILTERS = (
    /** @type {const} */
    [
      "mitigator",
      "encoder",
      "licence",
      "weights",
      "language",
      "size",
      "dims",
      "released"
    ]
  );
  function columnFields(columns, view, change) {
    const shown = new Set(shownColumns(columns, view, true).map(({ key }) => key));
    const boxes = columns.map(
      ({ key, title }) => checkField(title, shown.has(key), (isShown2) => {
        if (isShown2) shown.add(key);
        else shown.delete(key);
        const isStandard = shown.size === STANDARD_COLUMNS.length && STANDARD_COLUMNS.every((name) => shown.has(name));
        change({ cols: isStandard ? [] : [...shown] });
      })
    );
    return h("details", {}, h("summary", {}, "Columns"), h("div", { class: "controls" }, boxes));
  }

  // ../../leaderboard/site/scripts/exports.js
  function exportButton(rows) {
    const save = () => {
      const href = URL.createObjectURL(new Blob([csvOf(rows())], { type: "text/csv;charset=utf-8" }));
      h("a", { href, download: "leaderboard.csv" }).click();
      setTimeout(() => URL.revokeObjectURL(href), 6e4);
    };
    return h("button", { type: "button", class: "export", click: save }, "Download CSV");
  }
  function exportedRows(board, columns, lines) {
    const facts = columns.filter(({ key }) => key !== "model");
    const fields = facts.flatMap(({ key, value, more = {} }) => [
      { name: key, value },
      ...Object.entries(more).map(([ending, part2]) => ({ name: `${key}_${ending}`, value: part2 }))
    ]);
    const rows = lines.map(({ row }) => row).filter((row) => row >= 0);
    return [
      ["model", "mitigator", ...fields.map(({ name }) => name.replaceAll("-", "_"))],
      ...rows.map((row) => [
        board.models[board.rows.model[row]].name,
        board.mitigators[board.rows.mitigator[row]].label,
        ...fields.map(({ value }) => shortened(value(row)))
      ])
    ];
  }
  function shortened(value) {
    return typeof value === "number" ? Number(value.toFixed(5)) : value;
  }
  function csvOf(rows) {
    return rows.map((row) => `${row.map(csvField).join(",")}\r
`).join("");
  }
  function csvField(value) {
    if (typeof value !== "string") return value === null ? "" : String(value);
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  // ../../leaderboard/site/scripts/home_plot.js
  var ENOUGH_PUBLISHED = 3;
  function plotField(board, view, change) {
    const options = plottable(board).map((by) => [by, `Bias by ${nameOfFact(by)}`]);
    if (!options.length) return null;
    options.unshift(["", "Bias against usefulness"]);
    return choiceField("Plot", options, view.by, (by) => change({ by }));
  }
  function plottable({ models }) {
    const names = models.flatMap(({ published }) => Object.keys(published));
    const often = [...new Set(names)].filter(
      (name) => names.filter((other) => other === name).length >= ENOUGH_PUBLISHED
    );
    return [...models.some(({ parameters }) => parameters) ? ["size"] : [], ...often.toSorted()];
  }
  function nameOfFact(by) {
    return by === "size" ? "size" : `published ${by}`;
  }
  function plotOfModels(choice, groups, title, { by, minimum }, tryMinimum) {
    const { board, benchmark } = choice;
    if (choice.isOwn) return "";
    if (!choice.hasBias) {
      return h("p", { class: "notice quiet" }, "No plot: no task of this choice measures bias.");
    }
    const isReference = ({ row }) => board.rows.role[row] === "reference";
    const references = groups.filter(isReference).map((group) => referenceLine(choice, group.row));
    const shown = groups.filter((group) => !isReference(group));
    const lines = [
      { label: "fair", x: 0, y: null },
      { label: `as biased as ${board.reference}`, x: 1, y: null },
      ...references
    ];
    const isByFact = plottable(board).includes(by);
    const subject = isByFact ? `Bias by ${nameOfFact(by)}` : "Bias against usefulness";
    const unit = `0 = fair, 1 = as biased as ${board.reference}`;
    const bias = { title: "Bias", unit, better: "low" };
    const options = {
      label: `${subject}: ${title}, ${benchmark.title}`,
      points: pointsOf(choice, shown),
      series: board.mitigators.map(({ label }) => label === "none" ? "no mitigator" : label)
    };
    if (!isByFact) {
      const usefulness = { title: "Usefulness", unit: "1 = perfect", better: "high", hasEdge: true };
      const slider = sliderOf(choice, minimum, tryMinimum);
      return scatter({ ...options, x: bias, y: usefulness, lines, slider });
    }
    const facts = factsOf2(board, by);
    const points = options.points.map((point) => ({
      ...point,
      x: facts.get(point.name) ?? NaN,
      xEnds: null,
      y: point.x,
      yEnds: point.xEnds
    }));
    const flat = lines.map(({ label, x }) => ({ label, x: null, y: x }));
    return scatter({ ...options, points, x: axisOfFact(by), y: bias, lines: flat });
  }
  function sliderOf({ ends }, minimum, tryMinimum) {
    if (!ends) return void 0;
    const minimumOf = (share) => share === 0 ? "off" : share === 100 - MINIMUM ? "" : String(100 - share);
    return {
      label: "Minimum of usefulness",
      at: (share) => minimumAt(ends, minimumOf(share)),
      share: minimum === "off" ? 0 : 100 - Number(minimum || MINIMUM),
      text: (share) => {
        const value = scoreText(minimumAt(ends, minimumOf(share)));
        return share ? `minimum ${value}: ${minimumText(minimumOf(share))}` : "no minimum";
      },
      short: (share) => share ? `minimum ${scoreText(minimumAt(ends, minimumOf(share)))}` : "no minimum",
      move: (share, isFinal) => tryMinimum(minimumOf(share), isFinal)
    };
  }
  function axisOfFact(by) {
    if (by === "size") return { title: "Parameters", better: null, log: true, format: sizeText };
    return { title: `Published ${by}`, better: null, format: publishedText };
  }
  function factsOf2({ models }, by) {
    return new Map(
      models.map((model) => [model.name, by === "size" ? model.parameters : model.published[by]])
    );
  }
  function pointsOf(choice, groups) {
    const { board, scores } = choice;
    const points = [];
    for (const group of groups) {
      const base = points.length;
      for (const row of [group.row, ...group.children]) {
        points.push({
          name: board.models[board.rows.model[row]].name,
          series: board.rows.mitigator[row],
          x: scores.bias.mean[row],
          y: scores.usefulness.mean[row],
          layer: choice.layers.get(row) ?? null,
          isFaint: choice.below.has(group.row),
          xEnds: row === group.row ? endsAt(scores.bias, row) : null,
          yEnds: row === group.row ? endsAt(scores.usefulness, row) : null,
          unusable: reasonOf(choice, row) || (whyOf(choice, row) ? INCOMPLETE : null),
          why: whyOf(choice, row),
          href: address(board.kind, "model", board.models[board.rows.model[row]].name),
          base: row === group.row ? null : base
        });
      }
    }
    return points;
  }
  function endsAt({ low, high }, row) {
    return Number.isNaN(low[row]) ? null : [low[row], high[row]];
  }
  function referenceLine({ board, scores }, row) {
    return {
      label: board.models[board.rows.model[row]].name,
      x: endsAt(scores.bias, row) && finite(scores.bias.mean[row]),
      // without ends it may be anything
      y: finite(scores.usefulness.mean[row])
    };
  }

  // ../../leaderboard/site/scripts/table.js
  var ROW_MARGIN = 8;
  var MOST_PRINTED = 2e3;
  function virtualTable({ name, sortBy }) {
    const caption = h("caption", { id: `${name}-caption` });
    const widths = h("colgroup");
    const head = h("tr", { "aria-rowindex": 1 });
    const above = h("td");
    const body = h("tbody");
    const below = h("td");
    const table = h(
      "table",
      { class: name },
      caption,
      widths,
      h("thead", {}, head),
      spacer(above),
      body,
      spacer(below)
    );
    const region = h(
      "div",
      { class: "scroll virtual", role: "region", tabindex: 0, "aria-labelledby": caption.id },
      table
    );
    const made = {
      element: region,
      parts: { table, caption, widths, head, above, body, below },
      columns: [],
      lines: [],
      drawn: /* @__PURE__ */ new Map(),
      height: 0,
      titleHeight: 0,
      sortBy
    };
    region.addEventListener("scroll", () => drawLines(made), { passive: true });
    body.addEventListener("keydown", (event) => moveBetweenRows(made, event));
    new ResizeObserver(() => {
      made.height = 0;
      drawLines(made);
    }).observe(region);
    printWhole(made);
    return made;
  }
  function spacer(cell) {
    return h("tbody", { "aria-hidden": "true", class: "spacer" }, h("tr", {}, cell));
  }
  function updateTable(table, { caption, columns, lines, sorted, descending }) {
    const focused = focusedControl(table);
    const { parts } = table;
    parts.caption.textContent = caption;
    table.lines = lines;
    if (headOf(columns) !== headOf(table.columns)) {
      drawHead(table, columns);
    }
    table.columns = columns;
    columns.forEach((column, i) => {
      const isSorted = column.key === sorted;
      const cell = (
        /** @type {HTMLElement} */
        parts.head.children[i]
      );
      if (isSorted) cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
    parts.table.setAttribute("aria-rowcount", String(lines.length + 1));
    parts.body.replaceChildren();
    table.drawn.clear();
    drawLines(table);
    if (focused) focusControl(table, focused.row, focused.control);
  }
  function headOf(columns) {
    return JSON.stringify(columns.map(({ key, unit, axis }) => [key, unit, axis]));
  }
  function drawHead({ parts, sortBy }, columns) {
    const widths = columns.map(({ width, narrow = width }) => [width, narrow]);
    const [wide, small] = [0, 1].map((i) => widths.reduce((sum, pair) => sum + pair[i], 0));
    parts.table.style.cssText = `--wide: ${wide}rem; --narrow: ${small}rem`;
    parts.widths.replaceChildren(
      ...columns.map(({ key }, i) => {
        const style = `--wide: ${widths[i][0]}rem; --narrow: ${widths[i][1]}rem`;
        return key === "model" ? h("col", { class: "names" }) : h("col", { style });
      })
    );
    parts.head.replaceChildren(
      ...columns.map((column) => {
        const { key, title, tip, isNumber, unit, axis } = column;
        const name = [key === "model" && "model", isNumber && "number"].filter(Boolean).join(" ");
        const button = h(
          "button",
          { type: "button", class: "plain", title: tip, click: () => sortBy(column) },
          title
        );
        const under = unit ? h("span", { class: "unit" }, unit) : null;
        const drawing2 = axis ? cellAxis(axis) : null;
        return h("th", { scope: "col", class: name || null }, button, under, drawing2);
      })
    );
  }
  function drawLines(table, most = 0) {
    const { element, lines, drawn, parts } = table;
    if (!table.height && lines.length) measureRows(table);
    const height = table.height || 1;
    const seen = element.clientHeight || window.innerHeight;
    const first = most ? 0 : Math.max(0, Math.floor(element.scrollTop / height) - ROW_MARGIN);
    const count = most || Math.ceil(seen / height) + 2 * ROW_MARGIN;
    const last = Math.min(lines.length, first + count);
    for (const [i, row] of drawn) {
      if (i >= first && i < last) continue;
      if (row.contains(document.activeElement)) element.focus({ preventScroll: true });
      row.remove();
      drawn.delete(i);
    }
    let next = parts.body.firstElementChild;
    for (let i = first; i < last; i++) {
      const held = drawn.get(i);
      if (held) {
        next = held.nextElementSibling;
      } else {
        const row = drawLine(table, i);
        drawn.set(i, row);
        parts.body.insertBefore(row, next);
      }
    }
    parts.above.style.height = `${topOf(table, first)}px`;
    parts.below.style.height = `${topOf(table, lines.length) - topOf(table, Math.max(first, last))}px`;
  }
  function measureRows(table) {
    const heightOf = (i) => {
      if (i < 0) return 0;
      const row = drawLine(table, i);
      table.parts.body.append(row);
      const { height } = row.getBoundingClientRect();
      row.remove();
      return height;
    };
    const { lines } = table;
    table.titleHeight = heightOf(lines.findIndex(({ row }) => row < 0));
    table.height = heightOf(lines.findIndex(({ row }) => row >= 0)) || table.titleHeight;
  }
  function topOf({ lines, height, titleHeight }, i) {
    let titles = 0;
    for (const title of lines.keys()) {
      if (title >= i) break;
      if (lines[title].row < 0) titles++;
    }
    return i * height - titles * (height - titleHeight);
  }
  function drawLine({ columns, lines }, i) {
    const line = lines[i];
    const place = { "aria-rowindex": i + 2, "data-row": line.row };
    if (line.row < 0) {
      const title = h(
        "th",
        { colspan: columns.length, scope: "rowgroup" },
        h("span", {}, line.title)
      );
      return h("tr", { ...place, class: "section" }, title);
    }
    const cells = columns.map((column) => {
      const { key, isNumber } = column;
      const content = column.draw?.(line) ?? [textOf(column.value(line.row))];
      if (key === "model") return h("th", { scope: "row", class: "model" }, content);
      return h("td", { class: isNumber ? "number" : null }, content);
    });
    return h("tr", { ...place, class: line.name ?? null }, cells);
  }
  function textOf(value) {
    return typeof value === "number" ? value.toLocaleString("en") : value;
  }
  function focusedControl({ parts }) {
    const focused = document.activeElement;
    if (!(focused instanceof HTMLElement) || !parts.body.contains(focused)) return null;
    const row = Number(focused.closest("tr")?.dataset.row);
    return { row, control: focused.dataset.control ?? "" };
  }
  function focusControl(table, row, control) {
    const i = table.lines.findIndex((line) => line.row === row);
    if (i < 0) return false;
    const { element, parts } = table;
    const top = parts.head.getBoundingClientRect().height;
    if (topOf(table, i) < element.scrollTop) element.scrollTop = topOf(table, i);
    const bottom = topOf(table, i + 1) + top + parts.caption.offsetHeight;
    if (bottom > element.scrollTop + element.clientHeight) {
      element.scrollTop = bottom - element.clientHeight;
    }
    drawLines(table);
    const found = table.drawn.get(i)?.querySelector(`[data-control="${control}"]`);
    if (found instanceof HTMLElement) found.focus({ preventScroll: true });
    return Boolean(found);
  }
  function moveBetweenRows(table, event) {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const focused = focusedControl(table);
    if (!step || !focused?.control) return;
    event.preventDefault();
    const { lines } = table;
    for (let i = lines.findIndex(({ row }) => row === focused.row) + step; lines[i]; i += step) {
      if (lines[i].row >= 0 && focusControl(table, lines[i].row, focused.control)) return;
    }
  }
  function printWhole(table) {
    const listen = new AbortController();
    const draw2 = (most) => {
      if (table.element.isConnected) drawLines(table, most);
      else listen.abort();
    };
    window.addEventListener("beforeprint", () => draw2(MOST_PRINTED), { signal: listen.signal });
    window.addEventListener("afterprint", () => draw2(0), { signal: listen.signal });
  }

  // ../../leaderboard/site/scripts/tasks_panel.js
  function taskFields(board, view, change) {
    const benchmarks = board.benchmarks.map(
      ({ name, title }, i) => (
        /** @type {[string, string]} */
        [i ? name : "", title]
      )
    );
    const place = h("div", { class: "controls" });
    const panel = h("div", {}, tasksPanel(board, view, change));
    const draw2 = (shown) => {
      const views = viewsOn(board, shown);
      const choose2 = (changes) => {
        const chosen = { ...changes, tasks: [] };
        change(chosen);
        const at = [...place.querySelectorAll("select")].findIndex(
          (field) => field === document.activeElement
        );
        draw2({ ...shown, ...chosen });
        place.querySelectorAll("select")[at]?.focus();
        panel.replaceChildren(tasksPanel(board, { ...shown, ...chosen }, change));
      };
      const concepts = distinct(
        views.filter(({ language }) => language === shown.tongue).map(({ concept }) => concept)
      );
      place.replaceChildren(
        choiceField(
          "Benchmark",
          benchmarks,
          shown.benchmark,
          (benchmark) => choose2({ benchmark, concept: "", tongue: "" })
        ),
        choiceField(
          "Concept",
          concepts.map((name) => [name, name || "all"]),
          shown.concept,
          (concept) => choose2({ concept })
        ),
        ...languageField(board, views, shown.tongue, (tongue) => choose2({ tongue, concept: "" })),
        h("a", { href: address(board.kind, "benchmark") }, "About the benchmarks")
      );
    };
    draw2(view);
    return [place, panel];
  }
  function languageField(board, views, tongue, choose2) {
    const languages = distinct(views.map(({ language }) => language));
    if (languages.length < 2) return [];
    return [
      choiceField(
        "Language of the tasks",
        languages.map((code) => [code, code ? languageName(code) : "those of the benchmark"]),
        tongue,
        choose2
      ),
      h("a", { href: address(board.kind, "task") }, "Tasks by language")
    ];
  }
  function tasksPanel(board, view, change) {
    const chosen = new Set(ownTasks(board, view));
    const ranked = rankedTasks(board);
    const summary = h("summary");
    const refreshers = [
      () => summary.textContent = `Single tasks: ${chosen.size} of ${ranked.length} shown`
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
  function taskGroup(board, category, members, chosen, update, refreshers) {
    const set = (tasks, isChosen) => {
      for (const task of tasks) {
        if (isChosen) chosen.add(task);
        else chosen.delete(task);
      }
      update();
    };
    const all = checkField(category, false, (isChosen) => set(members, isChosen));
    const box = (
      /** @type {HTMLInputElement} */
      all.firstElementChild
    );
    refreshers.push(() => {
      const count = members.filter((task) => chosen.has(task)).length;
      box.checked = count === members.length;
      box.indeterminate = count > 0 && count < members.length;
    });
    const single = members.map((task) => {
      const field = checkField(board.tasks[task].name, false, (isChosen) => set([task], isChosen));
      const input = (
        /** @type {HTMLInputElement} */
        field.firstElementChild
      );
      refreshers.push(() => input.checked = chosen.has(task));
      return h("li", {}, field);
    });
    return h(
      "div",
      { class: "task-group" },
      h("strong", {}, all),
      h("ul", { class: "boxes" }, single)
    );
  }

  // ../../leaderboard/site/scripts/pages/home.js
  var TYPED = /* @__PURE__ */ new Set(["q", "size", "dims", "released"]);
  var PAUSE = 150;
  var homePage = (main, site, board, route) => {
    const screen = new HomeScreen(site, board, route);
    main.append(
      h("h1", {}, screen.title),
      screen.answers,
      h(
        "section",
        { "aria-label": "Choice of models and tasks" },
        screen.minimum.element,
        taskFields(board, screen.view, screen.change),
        plotField(board, screen.view, screen.change)
      ),
      screen.plot,
      h("div", { class: "head" }, h("h2", {}, "Models"), screen.status, screen.notices),
      screen.form(),
      screen.table.element,
      ...board.judged.map((line) => h("p", {}, line))
    );
    screen.draw();
  };
  var HomeScreen = class {
    /**
     * @param {Site} site
     * @param {Board} board
     * @param {Route} route
     */
    constructor(site, board, route) {
      this.site = site;
      this.board = board;
      this.route = route;
      this.title = boardTitle(site, board);
      this.view = knownView(board, viewOf(route.query));
      this.choice = choose(board, this.view);
      this.answers = h("div", { class: "answers" });
      this.notices = h("div", { class: "notices" });
      this.noticed = null;
      this.plot = h("div", { class: "plot-place" });
      this.minimum = minimumField(this.view, this.change);
      this.status = h("p", { role: "status" });
      this.compare = h("span");
      this.table = virtualTable({ name: "models", sortBy: (column) => this.sortBy(column) });
      this.pause = 0;
      this.changed = "";
      this.shown = { lines: [], groups: [], models: 0, ranked: 0 };
      this.columns = [];
      this.known = { choice: this.choice, columns: columnsOf(this.choice) };
    }
    /**
     * Change fields of the view, and draw what depends on them. Each change is a step of the history,
     * but for the letters of a field that is typed into.
     * @type {Change}
     */
    change = (changes) => {
      this.view = { ...this.view, ...changes };
      const fields = Object.keys(changes).join();
      const isTyping = TYPED.has(fields) && fields === this.changed;
      this.changed = fields;
      keepView(this.route, this.view, isTyping ? "replace" : "push");
      this.drawTable();
      clearTimeout(this.pause);
      this.pause = window.setTimeout(() => this.drawSlowly(), PAUSE);
    };
    /**
     * Show what a minimum of usefulness would do while its line is dragged; at the end, choose it.
     * @param {string} minimum
     * @param {boolean} isFinal
     */
    tryMinimum = (minimum, isFinal) => {
      this.minimum.show(minimum);
      if (isFinal) {
        this.change({ minimum });
      } else {
        this.view = { ...this.view, minimum };
        this.drawTable();
      }
    };
    draw() {
      this.drawTable();
      this.drawSlowly();
    }
    drawTable() {
      const { board, view } = this;
      this.choice = choose(board, view);
      const columns = this.allColumns();
      const sorted = columns.find(({ key }) => key === view.sort) ?? null;
      const name = modelColumn(this);
      this.shown = linesOf(this.choice, view, view.sort === "model" ? name : sorted);
      const hasMitigated = this.shown.lines.some((line) => line.name?.endsWith("mitigated"));
      this.columns = [name, ...shownColumns(columns, view, hasMitigated)];
      if (this.columns[1]?.key === "rank") this.columns.splice(0, 2, this.columns[1], name);
      updateTable(this.table, {
        caption: captionOf(this.choice, this.title),
        columns: this.columns,
        lines: this.shown.lines,
        sorted: sorted || view.sort === "model" ? view.sort : "rank",
        descending: view.desc
      });
      drawCompareLink(this);
    }
    /** Return all columns after the names; new ones only if their numbers are new. */
    allColumns() {
      const { choice, known } = this;
      const isKnown = known.choice.computed === choice.computed && known.choice.tasks.join() === choice.tasks.join();
      if (!isKnown) this.known = { choice, columns: columnsOf(choice) };
      return this.known.columns;
    }
    /** Draw what need not follow each key. */
    drawSlowly() {
      if (!this.table.element.isConnected) return;
      const { models, ranked } = this.shown;
      this.status.textContent = `${countText(models, "model")}, ${ranked.toLocaleString("en")} of them ranked`;
      this.drawAnswers();
      this.drawNotices(this.choice.computed);
      const { groups } = this.shown;
      const focused = document.activeElement?.getAttribute("role");
      const isOnLine = focused === "slider";
      this.plot.hidden = this.choice.isOwn;
      this.plot.replaceChildren(
        plotOfModels(this.choice, groups, this.title, this.view, this.tryMinimum)
      );
      const line = (
        /** @type {HTMLElement | null} */
        this.plot.querySelector("[role=slider]")
      );
      if (isOnLine) line?.focus({ preventScroll: true });
    }
    drawAnswers() {
      const { isOwn, computed } = this.choice;
      this.answers.replaceChildren(
        isOwn ? h(
          "p",
          {},
          "The values of single tasks. A mean and ranks of them are made by ",
          ownBoard(this.choice)
        ) : h("p", {}, ...linkedName(this.board, computed.finding))
      );
    }
    /** Draw the notices; an unfolded list stays so. @param {BoardView} computed */
    drawNotices(computed) {
      if (computed === this.noticed) return;
      this.noticed = computed;
      const { site, board } = this;
      const notices = [...site.notices, ...board.notices, ...computed.notices];
      this.notices.replaceChildren(...noticesOf(notices));
    }
    /** @param {TableColumn} column */
    sortBy({ key, highIsBest = false }) {
      const { sort, desc } = this.view;
      const isSorted = (sort || "rank") === key;
      this.change({ sort: key === "rank" ? "" : key, desc: isSorted ? !desc : highIsBest });
    }
    form() {
      const reset = h("a", { href: address(this.board.kind) }, "Reset");
      return h(
        "div",
        { class: "view", role: "search" },
        h("div", { class: "controls" }, searchField(this.view, this.change), reset, this.compare),
        h(
          "div",
          { class: "folds" },
          filterFields(this.board, this.view, this.change),
          columnFields(this.allColumns(), this.view, this.change),
          exportButton(() => this.exported())
        )
      );
    }
    exported() {
      return exportedRows(this.board, this.columns, this.shown.lines);
    }
  };
  function boardTitle({ boards }, { kind }) {
    return boards.find((entry) => entry.kind === kind)?.title ?? kind;
  }
  function ownBoard({ board, tasks }) {
    const names = tasks.map((task) => board.tasks[task].name).join(",");
    return h("code", {}, `harness leaderboard build RESULTS --out FOLDER --tasks ${names}`);
  }
  function captionOf({ board, tasks, benchmark, computed, isOwn }, title) {
    const parts = ["bias", "usefulness"].flatMap((measures) => {
      const members = tasks.filter((task) => board.tasks[task].measures === measures);
      if (!members.length) return [];
      const families = new Set(members.map((task) => board.tasks[task].family)).size;
      const noun = measures === "bias" ? ["method"] : ["family", "families"];
      return `${countText(members.length, `${measures} task`)} (${countText(families, noun[0], noun[1])})`;
    });
    const { concept, language } = computed;
    const name = [benchmark.title, concept, language && languageName(language)].filter(Boolean);
    const what = isOwn ? "single tasks" : name.join(", ");
    return `${title}, ${what}: ${parts.join(", ")}. Intervals: 95 %`;
  }
  function linkedName(board, text) {
    const names = board.models.map(({ name: name2 }) => name2).filter((name2) => text.startsWith(`${name2} `));
    if (!names.length) return [text];
    const name = names.reduce((best, found) => found.length > best.length ? found : best);
    return [h("a", { href: address(board.kind, "model", name) }, name), text.slice(name.length)];
  }
  function noticesOf(notices) {
    if (!notices.length) return [];
    const list = notices.map((text) => h("li", {}, text));
    const summary = h("summary", {}, countText(notices.length, "notice"));
    return [h("details", { class: "notice" }, summary, h("ul", {}, list))];
  }

  // ../../leaderboard/site/scripts/pages/compare.js
  var comparePage = (main, site, board, route) => {
    const view = knownView(board, viewOf(route.query));
    const choice = choose(board, view);
    const rows = comparedRows(board, view);
    const back = h(
      "a",
      { href: address(board.kind, "home", "", queryOf(view)) },
      "Back to the board"
    );
    main.append(h("h1", {}, "Comparison"), h("p", {}, back));
    if (rows.length < 2) {
      main.append(h("p", {}, "Tick two to four rows of the board to compare them."));
      return;
    }
    main.append(
      h("p", {}, captionOf(choice, boardTitle(site, board)), "."),
      h("h2", {}, "Beside each other"),
      besideEachOther(choice, rows),
      h(
        "p",
        { class: "quiet" },
        "The ranks say what these tests tell apart. The difference of any two rows, with its interval, is made by ",
        h("code", {}, "harness compare --recorded A B"),
        "."
      ),
      h("h2", {}, "Bias by concept"),
      profiles(choice, rows),
      h("h2", {}, "Task by task"),
      folded("Bias of each task", cellsTable(choice, rows, "bias")),
      folded("Usefulness of each task", cellsTable(choice, rows, "usefulness"))
    );
  };
  function besideEachOther({ board, scores }, rows) {
    const { bias, usefulness, ranks, change } = scores;
    const columns = [
      { title: "Row", class: "model" },
      ...["Bias", "Ranks", "Usefulness", "Ranks"].map((title) => ({ title, number: true })),
      { title: "Change in bias by the mitigator" }
    ];
    const mean = (means, row) => withInterval(means.mean[row], means.low[row], means.high[row]);
    const lines = rows.map((row) => () => [
      rowName(board, row),
      mean(bias, row),
      setText(ranks.bias.low[row] || null, ranks.bias.high[row]),
      mean(usefulness, row),
      setText(ranks.usefulness.low[row] || null, ranks.usefulness.high[row]),
      Number.isNaN(change.mean[row]) ? " " : `${biasChange(scores, row)} (${intervalText(change.low[row], change.high[row], changeText)}), ${verdictText(scores, row)}`
    ]);
    return plainTable("Ranks: those between which a model is on these tests", columns, lines);
  }
  function profiles({ board, benchmark }, rows) {
    const lines = conceptsOn(board, benchmark).flatMap((concept) => {
      const { mean, low, high } = benchmarkScores(board, benchmark, concept).bias;
      if (rows.every((row) => Number.isNaN(mean[row]))) return [];
      const marks = rows.map((row, series) => ({
        value: mean[row],
        low: low[row],
        high: high[row],
        series
      }));
      const words = rows.map(
        (row, series) => h(
          "span",
          { class: "marked" },
          legendMark(series),
          h("span", { class: "visually-hidden" }, `${rowName(board, row)} `),
          scoreText(mean[row]),
          Number.isNaN(low[row]) ? null : h("small", { class: "range" }, ` (${intervalText(low[row], high[row])})`)
        )
      );
      return [{ head: concept, cells: [{ marks, words }] }];
    });
    const legend = rowLegend(rows.map((row, series) => [{ value: 0, series }, rowName(board, row)]));
    return rowChart("Bias by each concept alone", "Concept", [biasPanel(board)], lines, legend);
  }
  function cellsTable({ board, tasks }, rows, measures) {
    const { width, measure } = cellsOf(board);
    const members = tasksOf(board, tasks, measures);
    const sorted = members.toSorted((a, b) => compared(board.tasks[a].family, board.tasks[b].family));
    const lines = sorted.map((task) => {
      const { name, family } = board.tasks[task];
      const cells = rows.map(
        (row) => h("td", { class: "number" }, scoreText(measure[row * width + task]))
      );
      const link = h("a", { href: address(board.kind, "task", name) }, name);
      return h(
        "tr",
        {},
        h("th", { scope: "row" }, link),
        h("td", { class: "wide-only" }, family),
        cells
      );
    });
    const title = measures === "bias" ? "Bias: the gap of each task over its yardstick, 0 is fair" : "Usefulness: higher is better";
    const head = ["Task", "Family", ...rows.map((row) => rowName(board, row))];
    return comparisonTable(title, head, lines);
  }
  function comparisonTable(caption, head, lines) {
    const cells = head.map(
      (title, i) => h("th", { scope: "col", class: title === "Family" ? "wide-only" : i ? "number" : null }, title)
    );
    return h(
      "div",
      { class: "scroll plain", role: "region", tabindex: 0, "aria-label": caption },
      h(
        "table",
        { class: "compared" },
        h("caption", {}, caption),
        h("thead", {}, h("tr", {}, cells)),
        h("tbody", {}, lines)
      )
    );
  }

  // ../../leaderboard/site/scripts/app.js
  var pages = {
    benchmark: benchmarkPage,
    compare: comparePage,
    home: homePage,
    items: itemsPage,
    mitigator: mitigatorPage,
    model: modelPage,
    task: taskPage
  };
  var shownPage = "";
  var drawing = 0;
  var STANDSTILL = 200;
  document.addEventListener("DOMContentLoaded", () => {
    let timer = 0;
    const scrolled = () => {
      clearTimeout(timer);
      timer = window.setTimeout(savePlace, STANDSTILL);
    };
    history.scrollRestoration = "manual";
    document.addEventListener("scroll", scrolled, { capture: true, passive: true });
    document.addEventListener("click", savePlace, { capture: true });
    window.addEventListener("hashchange", () => {
      clearTimeout(timer);
      void show();
    });
    part(".skip").addEventListener("click", (event) => {
      event.preventDefault();
      focusHeading();
    });
    if (location.hash.length > 2) part("main").replaceChildren();
    void show();
  });
  async function show() {
    const root = document.documentElement;
    const turn = ++drawing;
    root.removeAttribute("data-ready");
    try {
      const site = (
        /** @type {Site} */
        await load("data/site.js")
      );
      const route = routeOf(location.hash, site);
      const entry = site.boards.find((board2) => board2.kind === route.kind);
      const board = entry ? (
        /** @type {Board} */
        await load(entry.data)
      ) : null;
      if (turn === drawing) draw(site, board, route);
    } catch (error) {
      if (turn === drawing) failed(error);
    }
    await painted();
    if (turn === drawing) root.setAttribute("data-ready", "");
  }
  function painted() {
    return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  }
  function draw(site, board, route) {
    const page = [route.kind, route.page, route.name].join("/");
    const isOther = page !== shownPage;
    const isFirst = shownPage === "";
    const main = part("main");
    drawFrame(site, route);
    main.replaceChildren();
    main.className = `page-${Object.hasOwn(pages, route.page) ? route.page : "none"}`;
    const render = Object.hasOwn(pages, route.page) ? pages[route.page] : noPage;
    render(
      main,
      site,
      /** @type {Board} */
      board,
      route
    );
    const heading = main.querySelector("h1")?.textContent;
    document.title = [heading, site.title].filter((text) => text).join(" · ");
    shownPage = page;
    if (isOther || savedPlace()) returnToPlace();
    if (isFirst) return;
    const isInPlace = !isOther || savedPlace() !== null;
    if (isOther || document.activeElement === document.body) focusHeading(isInPlace);
  }
  function drawFrame(site, route) {
    part(".brand").textContent = site.title;
    part("body > header nav").replaceChildren(
      ...site.menu.map(
        ({ label, style, links }) => h(
          "ul",
          { class: style || null, "aria-label": label },
          links.map((link) => menuItem(link, route))
        )
      )
    );
    part("body > footer").replaceChildren(
      h("p", {}, `Built ${site.built} by harness ${site.harness}.`),
      h("ul", { "aria-label": "Files" }, site.files.map(fileLink))
    );
  }
  function menuItem({ text, path, page }, { kind, page: shown, name }) {
    const isOfBoard = kind && page && page !== "home";
    const href = isOfBoard ? address(kind, page) : path.replace(/^index\.html#/, "#");
    const isCurrent = isOfBoard ? page === shown && !name : href === (kind ? address(kind) : `#/${shown}`);
    return h("li", {}, h("a", { href, "aria-current": isCurrent && "page" }, text));
  }
  function fileLink(name) {
    return h("li", {}, h("a", { href: name, download: true }, name));
  }
  function noPage(main) {
    main.append(
      h("h1", {}, "No such page"),
      h("p", {}, h("a", { href: "#/" }, "To the leaderboard"))
    );
  }
  function failed(error) {
    const reason = error instanceof Error ? error.message : String(error);
    part("main").replaceChildren(
      h("h1", {}, "The page cannot be shown"),
      h("p", { role: "alert" }, reason),
      h("p", {}, h("a", { href: "#/" }, "To the leaderboard"))
    );
  }
  function focusHeading(preventScroll = false) {
    const heading = (
      /** @type {HTMLElement} */
      document.querySelector("main h1") ?? part("main")
    );
    heading.tabIndex = -1;
    heading.focus({ preventScroll });
  }
  function part(selector) {
    return (
      /** @type {HTMLElement} */
      document.querySelector(selector)
    );
  }
  return __toCommonJS(app_exports);
})();
