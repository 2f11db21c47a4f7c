/** The table that people read, and the lines that it is checked against. */
import { BYTES_PER_TOKEN } from "./accounting.js";
import { VIEW_FROM } from "./measure.js";

/** @typedef {import("./measure.js").Result} Result */
/** @typedef {import("./play.js").Contender} Contender */
/** @typedef {Partial<Record<Contender, Result>>} Results by contender */

/**
 * What the product promises at a window, for requests from turn 60 on.
 * @param {number} window
 */
export function targets(window) {
  return window < 100_000
    ? { cost: 0.9, whole: 5, wholeMedian: 8, history: 5_000 }
    : { cost: 0.75, whole: 8, wholeMedian: 8, history: 20_000 };
}

/**
 * @param {number} window
 * @param {Results} results
 * @returns {string[]} the lines that were missed
 */
export function missed(window, results) {
  const target = targets(window);
  const { ours, host } = results;
  /** @type {string[]} */
  const lines = [];
  const line = (/** @type {boolean} */ holds, /** @type {string} */ text) =>
    holds || lines.push(`${window}: ${text}`);
  for (const [name, { errors, requests, unplanned }] of Object.entries(results)) {
    line(unplanned === 0, `${name}: ${unplanned} tool outputs are not those of the workload`);
    line(errors.length === 0, `${name}: ${errors.length} turns failed, the first ${errors[0]}`);
    line(requests > 0, `${name}: no request was answered`);
  }
  if (!ours) return lines;
  if (host) {
    for (const [column, cost] of /** @type {const} */ ([
      ["prefixes", "prefixCost"],
      ["marks", "markCost"],
    ])) {
      const share = ours[cost] / host[cost];
      line(
        share <= target.cost,
        `cost by ${column}: ${share.toFixed(3)} of the host's, at most ${target.cost}`,
      );
    }
  }
  const { changes, whole, folds } = ours;
  line(changes.inside === 0, `folds inside a turn: ${changes.inside}, none allowed`);
  line(changes.all === folds, `changed prefixes: ${changes.all}, folds in the ledger: ${folds}`);
  line(ours.over === 0, `requests over the window: ${ours.over}`);
  line(ours.refused === 0, `requests refused: ${ours.refused}`);
  if (Number.isNaN(whole.least)) return lines;
  line(whole.least >= target.whole, `raw turns: least ${whole.least}, at least ${target.whole}`);
  line(
    whole.median >= target.wholeMedian,
    `raw turns: median ${whole.median}, at least ${target.wholeMedian}`,
  );
  // Little rendered is enough as long as nothing of it is below the first tier.
  const below = ours.rows.filter(
    ({ turn, history, full }) => turn >= VIEW_FROM && history < target.history && !full,
  );
  line(
    below.length === 0,
    `rendered history: ${below.length} requests with less than ${target.history} tokens and not all at full`,
  );
  return lines;
}

/**
 * @param {number} window
 * @param {Results} results
 * @returns {string}
 */
export function table(window, results) {
  const names = /** @type {Contender[]} */ (Object.keys(results));
  const of = /** @type {Result[]} */ (Object.values(results));
  const base = results.host;
  const tokens = (/** @type {number} */ bytes) => Math.round(bytes / BYTES_PER_TOKEN).toLocaleString("en");
  const share = (/** @type {"prefixCost" | "markCost"} */ column) => (/** @type {Result} */ result) =>
    base ? (result[column] / base[column]).toFixed(3) : "-";
  const spread = (/** @type {Result["whole"]} */ { least, median }) =>
    Number.isNaN(least) ? "-" : `${least} / ${median}`;
  const ms = (/** @type {number} */ x) => (Number.isNaN(x) ? "-" : x.toFixed(1));
  /** @type {[string, (result: Result) => string | number][]} */
  const rows = [
    ["main requests", ({ requests }) => requests],
    ["side requests", ({ sideRequests }) => sideRequests],
    ["tokens sent", ({ bytes }) => tokens(bytes)],
    ["largest request, tokens", ({ mostTokens }) => mostTokens.toLocaleString("en")],
    ["cost by prefixes", ({ prefixCost }) => tokens(prefixCost)],
    ["  of the host's", share("prefixCost")],
    ["cost by marks", ({ markCost }) => tokens(markCost)],
    ["  of the host's", share("markCost")],
    ["with a model as historian, by prefixes", ({ withModel }) => tokens(withModel.prefixCost)],
    ["  by marks", ({ withModel }) => tokens(withModel.markCost)],
    ["changed prefixes", ({ changes }) => changes.all],
    ["  at a turn's start / inside a turn", ({ changes }) => `${changes.turnStart} / ${changes.inside}`],
    ["folds, or summaries", ({ folds, summaries }) => folds + summaries],
    ["raw turns shown whole, least / median", ({ whole }) => spread(whole)],
    ["rendered history, tokens, least / median", ({ history }) => spread(history)],
    ["planted items lost", ({ lost, planted }) => `${lost} of ${planted}`],
    ...Object.keys(of[0]?.kept ?? {}).map(
      (dimension) =>
        /** @type {[string, (result: Result) => string]} */ ([
          `  ${dimension} kept`,
          ({ kept }) => kept[dimension],
        ]),
    ),
    ["requests over the window / refused", ({ over, refused }) => `${over} / ${refused}`],
    ["hook, ms, p50 / p95", ({ hookMs }) => `${ms(hookMs.p50)} / ${ms(hookMs.p95)}`],
    // what an older bench wrote has none
    ["  of the time that it had", ({ hookOwnMs: own }) => (own ? `${ms(own.p50)} / ${ms(own.p95)}` : "-")],
  ];
  const cells = rows.map(([name, value]) => [name, ...of.map((result) => String(value(result)))]);
  const lines = [[`window ${window.toLocaleString("en")}`, ...names], ...cells];
  const widths = lines[0].map((_, i) => Math.max(...lines.map((line) => line[i].length)));
  return lines
    .map((line) =>
      line.map((cell, i) => (i ? cell.padStart(widths[i] + 2) : cell.padEnd(widths[i]))).join(""),
    )
    .join("\n");
}
