/** What is written down of each request while a contender plays. */
import { Account, BYTES_PER_TOKEN, OUTPUT_PRICE, SIDE_PRICE, quantile, sum } from "./accounting.js";
import { own } from "../e2e/latency.js";
import { Historian } from "./historian.js";
import { DIMENSIONS, isIn } from "./planted.js";
import { summary } from "./summary.js";
import { entries, pairs, wholeTurns } from "./view.js";

/** @typedef {import("../e2e/provider.js").Recorded} Recorded */
/** @typedef {import("./play.js").Played} Played */
/** @typedef {import("./view.js").Expected} Expected */
/** @typedef {import("./workload.js").Workload} Workload */

/** The view is measured from this turn on, counted from 1: before, there is little to lose. */
export const VIEW_FROM = 60;

/**
 * @typedef {object} Row one main request that was answered
 * @property {number} turn counted from 1
 * @property {boolean} first of its turn
 * @property {number} tokens as the provider counts them
 * @property {number} bytes
 * @property {number} shared
 * @property {number} read
 * @property {boolean} changed
 * @property {number} whole turns that are there whole
 * @property {number} history tokens of rendered history
 * @property {boolean} full whether nothing of it is below the first tier
 */

export class Measure {
  /**
   * @param {Workload} workload
   * @param {number} window
   */
  constructor(workload, window) {
    this.workload = workload;
    this.window = window;
    this.account = new Account();
    this.historian = new Historian();
    /** @type {Row[]} */
    this.rows = [];
    /** @type {Expected[]} */
    this.expected = [];
    this.answered = 0; // requests of the turn under way
    this.refused = 0;
    this.over = 0;
    this.summaries = 0;
    this.summaryBytes = 0; // of the summaries themselves
    this.last = ""; // text of the newest main request
  }

  /** @param {number} i */
  turn(i) {
    this.expected[i] = { ask: this.workload.turns[i].ask, texts: [], calls: 0 };
    this.answered = 0;
  }

  /** @param {Recorded} request */
  aside({ body }) {
    if (!isSummary(body)) return undefined;
    const played = this.workload.turns.slice(0, this.expected.length);
    const items = [...this.workload.places.values()].flat();
    const text = summary(JSON.stringify(body.messages), played, items, ++this.summaries);
    this.summaryBytes += Buffer.byteLength(text);
    return { text };
  }

  /** @param {Recorded} request */
  request({ body, blocks, status, tokens, title }) {
    if (title || isSummary(body)) {
      if (status === 200) this.account.aside(blocks);
      return;
    }
    if (tokens + (body.max_tokens ?? 0) > this.window) this.over++;
    if (status !== 200) {
      this.refused++;
      return;
    }
    const turn = this.expected.length;
    const charge = this.account.main(blocks);
    const texts = pairs(body);
    const found = entries(texts);
    this.historian.see(found);
    this.rows.push({
      ...charge,
      turn,
      first: this.answered === 0,
      tokens,
      whole: turn < VIEW_FROM ? 0 : wholeTurns(body, this.expected),
      history: Math.floor(sum(texts.map((text) => Buffer.byteLength(text))) / BYTES_PER_TOKEN),
      full: found.every(({ tier }) => tier === "full"),
    });
    this.last = JSON.stringify([body.system, body.messages]);
    const reply = this.workload.turns[turn - 1].replies[this.answered++];
    if (reply?.text) this.expected[turn - 1].texts.push(reply.text);
    this.expected[turn - 1].calls += reply?.calls?.length ?? 0;
  }

  /**
   * @param {Played} played
   */
  result({ messages, status, latencies, errors }) {
    const { account, rows } = this;
    const changes = rows.filter(({ changed }) => changed);
    const viewed = rows.filter(({ turn }) => turn >= VIEW_FROM);
    const historian = this.historian.bytes(messages, status);
    const inputPrice = SIDE_PRICE * historian.input + OUTPUT_PRICE * historian.output;
    const modelCost = inputPrice + OUTPUT_PRICE * this.summaryBytes;
    const planted = [...this.workload.places.values()].flat();
    /** @type {Record<string, string>} */
    const kept = {};
    for (const dimension of DIMENSIONS) {
      const of = planted.filter((item) => item.dimension === dimension);
      kept[dimension] = `${of.filter((item) => isIn(item, this.last)).length}/${of.length}`;
    }
    return {
      requests: rows.length,
      sideRequests: account.sideRequests,
      bytes: sum(rows.map(({ bytes }) => bytes)),
      mostTokens: Math.max(0, ...rows.map(({ tokens }) => tokens)),
      prefixCost: Math.round(account.prefixCost),
      markCost: Math.round(account.markCost),
      withModel: {
        ...historian,
        prefixCost: Math.round(account.prefixCost + modelCost),
        markCost: Math.round(account.markCost + modelCost),
      },
      changes: {
        all: changes.length,
        turnStart: changes.filter(({ first }) => first).length,
        inside: changes.filter(({ first }) => !first).length,
      },
      folds: (status?.folds?.length ?? 0) - (status?.ahead ? 1 : 0), // one made for a request that did not come is not seen
      summaries: this.summaries,
      whole: spread(viewed.map(({ whole }) => whole)),
      history: spread(viewed.map(({ history }) => history)),
      lost: planted.filter((item) => !isIn(item, this.last)).length,
      planted: planted.length,
      kept,
      over: this.over,
      refused: this.refused,
      errors,
      hookMs: times(latencies.map(({ ms }) => ms)),
      hookOwnMs: times(latencies.map(own)),
      newText: newText(messages),
      unplanned: unplanned(messages, this.workload),
      rows,
    };
  }
}

/** @typedef {ReturnType<Measure["result"]>} Result */

/** Words of the host's own instructions for a summary. */
const SUMMARY_AGENT = "You are a context summarization agent";

/** @param {any} body */
function isSummary({ system }) {
  return JSON.stringify(system ?? "").includes(SUMMARY_AGENT);
}

/** @param {number[]} numbers */
function spread(numbers) {
  const sorted = [...numbers].sort((x, y) => x - y);
  return { least: sorted[0] ?? NaN, median: quantile(sorted, 0.5) };
}

/** @param {number[]} numbers */
function times(numbers) {
  const sorted = [...numbers].sort((x, y) => x - y);
  return { p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95) };
}

/**
 * Bytes of text that the session holds, and of it tool output.
 * @param {any[]} messages
 */
function newText(messages) {
  let [all, tools] = [0, 0];
  for (const { info, parts } of messages) {
    if (info.summary === true) continue; // a user message has an object there
    for (const { type, text, synthetic, state } of parts) {
      if (type === "text" && !synthetic) all += Buffer.byteLength(text);
      if (type !== "tool") continue;
      const output = Buffer.byteLength(state.output ?? state.error ?? "");
      tools += output;
      all += output + Buffer.byteLength(JSON.stringify(state.input));
    }
  }
  return { all, tools };
}

/**
 * How many tool outputs are other than planned: the workload would be another
 * one then, and its session file wrong.
 * @param {any[]} messages
 * @param {Workload} workload
 */
export function unplanned(messages, { turns }) {
  const planned = turns.flatMap(({ replies }) => replies.flatMap(({ calls = [] }) => calls));
  const real = messages.flatMap(({ parts }) =>
    parts.filter((/** @type {any} */ part) => part.type === "tool"),
  );
  const wrong = planned.filter(({ name, output }, i) => {
    const part = real[i];
    return part?.tool !== name || part.state.output !== output;
  });
  return wrong.length + Math.max(0, real.length - planned.length);
}
