import assert from "node:assert/strict";
import { test } from "node:test";
import { exported } from "../bench/export.js";
import { Historian } from "../bench/historian.js";
import { Measure, VIEW_FROM, unplanned } from "../bench/measure.js";
import { ITEMS, isIn, placed } from "../bench/planted.js";
import { missed, table } from "../bench/report.js";
import { SUMMARY_BYTES, summary } from "../bench/summary.js";
import { BYTES_PER_TURN, workload } from "../bench/workload.js";

const PROJECT = "/project";
const TURNS = 150;
const work = workload({ seed: 1, turns: TURNS, project: PROJECT });
const items = [...work.places.values()].flat();

test("the workload has the size that it promises, for any seed", () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const { bytes, turns } = workload({ seed, turns: TURNS, project: PROJECT });
    const requests = turns.reduce((sum, { replies }) => sum + replies.length, 0);
    assert.equal(requests, 380, `seed ${seed}`);
    assert.ok(Math.abs(bytes.all / (TURNS * BYTES_PER_TURN) - 1) < 0.05, `seed ${seed}: ${bytes.all} bytes`);
    assert.ok(Math.abs(bytes.tools / bytes.all - 0.6) < 0.02, `seed ${seed}: ${bytes.tools} of ${bytes.all}`);
    const lengths = new Set(turns.map(({ replies }) => replies.length));
    assert.deepEqual([...lengths].sort(), [1, 2, 3, 4]);
  }
});

test("the same seed gives the same workload, another seed another", () => {
  assert.deepEqual(workload({ seed: 1, turns: TURNS, project: PROJECT }), work);
  assert.notDeepEqual(workload({ seed: 2, turns: TURNS, project: PROJECT }).turns, work.turns);
});

test("turns are told apart by what is asked", () => {
  assert.equal(new Set(work.turns.map(({ ask }) => ask)).size, TURNS);
});

test("edits can be made: the text to replace is there once", () => {
  const files = new Map(work.files);
  let edits = 0;
  for (const { name, input } of work.turns.flatMap(({ replies }) =>
    replies.flatMap(({ calls = [] }) => calls),
  )) {
    const { filePath = "", content, oldString, newString } = /** @type {any} */ (input);
    const path = filePath.replace(`${PROJECT}/`, "");
    if (name === "write") files.set(path, content);
    if (name !== "edit") continue;
    const pieces = (files.get(path) ?? "").split(oldString);
    assert.equal(pieces.length, 2, path);
    files.set(path, pieces.join(newString));
    edits++;
  }
  assert.ok(edits > 30, `${edits} edits`);
});

test("every planted item is said once, and by whom it should be", () => {
  assert.equal(items.length, ITEMS.length);
  const said = (/** @type {string} */ text) =>
    work.turns.filter((turn) => JSON.stringify(turn).includes(text));
  for (const [turn, list] of work.places) {
    for (const item of list) {
      const { ask, replies } = work.turns[turn];
      const place = item.by === "user" ? ask : (replies[replies.length - 1].text ?? "");
      assert.ok(place.includes(item.text), item.text);
      assert.equal(said(item.text).length, 1, item.text);
      assert.ok(isIn(item, JSON.stringify(item.text)), `probes of: ${item.text}`);
      assert.ok(
        !work.turns.some((other, i) => i !== turn && isIn(item, JSON.stringify(other))),
        `elsewhere: ${item.text}`,
      );
    }
  }
  assert.ok(Math.max(...placed(TURNS).keys()) < TURNS * 0.8, "the last turns say nothing new");
});

test("the session file is the session", () => {
  const { messages } = exported(work, PROJECT);
  assert.equal(messages.length, TURNS + 380);
  assert.equal(unplanned(messages, work), 0);
  assert.equal(new Set(messages.map(({ info }) => info.id)).size, messages.length);
  messages[1].parts.push({ type: "tool", tool: "bash", state: { output: "more" } });
  assert.ok(unplanned(messages, work) > 0, "one call too many is noticed");
});

test("a summary is as long as real ones, passes on a part, and invents nothing", () => {
  const all = items.map(({ text }) => text).join("\n");
  const text = summary(all, work.turns, items, 1);
  assert.ok(Math.abs(Buffer.byteLength(text) / SUMMARY_BYTES - 1) < 0.1, `${Buffer.byteLength(text)} bytes`);
  const kept = items.filter((item) => isIn(item, text)).length;
  assert.ok(kept > items.length * 0.3 && kept < items.length * 0.9, `${kept} of ${items.length}`);
  const none = summary("nothing", work.turns, items, 1);
  assert.deepEqual(
    items.filter((item) => isIn(item, none)),
    [],
  );
});

test("the historian as a model reads what is covered once and writes four tiers of each entry", () => {
  const historian = new Historian();
  historian.see([
    { range: "1-2", tier: "full", bytes: 100 },
    { range: "3", tier: "full", bytes: 60 },
  ]);
  historian.see([
    { range: "1-2", tier: "anchor", bytes: 10 },
    { range: "1-9", tier: "index", bytes: 5 },
  ]);
  const messages = [
    { parts: [{ text: "four" }] },
    { parts: [{ state: { input: {}, output: "xyz" } }, { type: "step-start" }] },
    { parts: [{ text: "not covered" }] },
  ];
  const bytes = historian.bytes(messages, { folds: [{ through: 1 }, { through: 2 }] });
  assert.deepEqual(bytes, { input: 4 + 2 + 3, output: 160 + 2 * 10 });
});

/** A request as the provider records it. @param {any[]} messages @param {object} more */
const request = (messages, more = {}) =>
  /** @type {any} */ ({
    body: { system: "s", max_tokens: 10, messages },
    blocks: messages.map((message) => ({ text: JSON.stringify(message), marked: true })),
    status: 200,
    tokens: 50,
    title: false,
    ...more,
  });

test("requests are told apart: main ones, side ones, refused ones, those over the window", () => {
  const measure = new Measure(work, 100);
  measure.turn(0);
  const ask = { role: "user", content: work.turns[0].ask };
  measure.request(request([{ role: "user", content: "a title, please" }], { title: true }));
  measure.request(request([ask]));
  measure.request(request([ask], { tokens: 91 }));
  measure.request(request([ask], { tokens: 101, status: 400 }));
  const side = request([ask]);
  side.body.system = "You are a context summarization agent.";
  assert.ok(measure.aside(side)?.text.includes("## Objective"));
  assert.equal(measure.aside(request([ask])), undefined);
  measure.request(side);
  const result = measure.result({ info: {}, messages: [], status: undefined, latencies: [], errors: [] });
  assert.equal(result.requests, 2);
  assert.equal(result.sideRequests, 2);
  assert.equal(result.refused, 1);
  assert.equal(result.over, 2);
  assert.equal(result.summaries, 1);
  assert.deepEqual(
    measure.rows.map(({ first }) => first),
    [true, false],
  );
});

test("changes of the prefix are split by where in the turn they come", () => {
  const measure = new Measure(work, 100);
  const say = (/** @type {string} */ text) => ({ role: "user", content: text });
  measure.turn(0);
  measure.request(request([say("a")]));
  measure.request(request([say("b")])); // inside
  measure.turn(1);
  measure.request(request([say("b"), say("c")])); // nothing
  measure.turn(2);
  measure.request(request([say("d"), say("c")])); // at the start
  const { changes } = measure.result({ info: {}, messages: [], status: {}, latencies: [], errors: [] });
  assert.deepEqual(changes, { all: 2, turnStart: 1, inside: 1 });
});

/** @param {Partial<import("../bench/measure.js").Row>} figures */
const row = (figures) => ({
  turn: VIEW_FROM,
  first: true,
  tokens: 1,
  bytes: 1,
  shared: 0,
  read: 0,
  changed: false,
  head: false,
  whole: 8,
  history: 20_000,
  full: false,
  ...figures,
});

/** A result that holds every line at any window. */
const good = () => {
  const measure = new Measure(work, 100);
  const result = measure.result({
    info: {},
    messages: exported(work, PROJECT).messages,
    status: { folds: [] },
    latencies: [{ ms: 1, begun: 0, ask: 1, wait: 0, held: 0, turns: 0, apply: 0 }],
    errors: [],
  });
  const sizes = { requests: 380, prefixCost: 70, markCost: 70, whole: { least: 8, median: 9 } };
  return { ...result, ...sizes, rows: [row({ history: 20_000 }), row({ history: 10, full: true })] };
};

test("each line that is missed is named, and none other", () => {
  const host = { ...good(), prefixCost: 100, markCost: 100 };
  for (const window of [60_000, 200_000]) assert.deepEqual(missed(window, { ours: good(), host }), []);
  /** @type {[object, RegExp][]} */
  const cases = [
    [{ prefixCost: 91 }, /cost by prefixes: 0.910/],
    [{ markCost: 91 }, /cost by marks: 0.910/],
    [{ changes: { all: 0, turnStart: 0, inside: 1 } }, /inside a turn: 1/],
    [{ folds: 3 }, /changed prefixes: 0, folds in the ledger: 3/],
    [{ over: 1 }, /over the window: 1/],
    [{ refused: 1 }, /refused: 1/],
    [{ whole: { least: 4, median: 9 } }, /least 4/],
    [{ whole: { least: 8, median: 7 } }, /median 7/],
    [{ rows: [row({ history: 4_999 }), row({ history: 5_000 })] }, /1 requests with less than 5000/],
    [{ errors: ["turn 3: no"] }, /1 turns failed/],
    [{ unplanned: 1 }, /1 tool outputs/],
    [{ requests: 0 }, /no request/],
  ];
  for (const [change, line] of cases) {
    const lines = missed(60_000, { ours: { ...good(), ...change }, host });
    assert.equal(lines.length, 1, lines.join("\n"));
    assert.match(lines[0], line);
  }
});

test("the wider window asks for more", () => {
  const rows = [row({ history: 5_000 }), row({ turn: VIEW_FROM - 1, history: 0 })];
  const ours = { ...good(), whole: { least: 5, median: 8 }, prefixCost: 80, markCost: 80, rows };
  const host = { ...good(), prefixCost: 100, markCost: 100 };
  assert.deepEqual(missed(60_000, { ours, host }), []);
  assert.equal(missed(200_000, { ours, host }).length, 4);
});

test("the table has a column for each contender, also without a host to compare with", () => {
  const text = table(60_000, { ours: good() });
  assert.match(text, /^window 60,000 +ours$/m);
  assert.match(text, /of the host's +-$/m);
  assert.ok(VIEW_FROM <= TURNS);
});
