/**
 * The whole way with the real host: OpenCode, the shim as the installer writes
 * it, the real binary, and a provider that refuses what a real one would refuse.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { quantile } from "../bench/accounting.js";
import { own, readLatencies } from "./latency.js";
import { OpenCode, Place } from "./opencode.js";
import { Provider } from "./provider.js";
import { bulkyTurn, LONG_FILE, steps, turn, writeProject } from "./work.js";

/** @typedef {import("./provider.js").Recorded} Recorded */
/** @typedef {import("./latency.js").Latency} Latency */

const WINDOW = 24_000;
const OUTPUT = 2_000;
const TURNS = Number(process.env.CTXPLUGIN_E2E_TURNS ?? 80); // fewer are for trying things out
const KILL_AT = Math.floor(TURNS * 0.4);
const RESTART_AT = Math.floor(TURNS * 0.7);
const STEPS = 60;
const CHILD_STEPS = 30;
const BULKY_TURNS = 16;
const SECOND_PLUGIN_TURNS = 20;
const TURNS_WITHOUT_BINARY = 8;
const READ_MS = 100; // that a person takes between two turns at least

const HERE = fileURLToPath(new URL(".", import.meta.url));
const provider = new Provider(WINDOW);
const place = new Place();
const binary = join(place.root, "ctxplugin");
const latencies = join(place.root, "latencies");
const other = join(place.root, "other"); // a second project, with a second plugin
/** @type {OpenCode} */
let host;
let baseURL = "";

/** The two long sessions, by provider. */
const long = { "anthropic-mock": "", "openai-mock": "" };

/** @param {Record<string, string>} [environment] */
function start(environment) {
  return OpenCode.start(place, { CTXPLUGIN_E2E_LATENCY: latencies, ...environment });
}

process.once("SIGTERM", () => process.exit(1)); // the host goes with us
process.once("SIGINT", () => process.exit(1));

before(async () => {
  const plugins = join(HERE, "plugins");
  baseURL = await provider.start();
  place.configure(baseURL, { context: WINDOW, output: OUTPUT }, [join(plugins, "before.js")]);
  execFileSync("go", ["build", "-o", binary, "./cmd/ctxplugin"], {
    cwd: join(HERE, "../../.."),
    stdio: "inherit",
  });
  ctxplugin("install", "opencode");
  for (const project of [place.project, other]) {
    writeProject(project);
    const folder = join(project, ".opencode", "plugin"); // loaded after the user's own
    mkdirSync(folder, { recursive: true });
    copyFileSync(join(plugins, "after.js"), join(folder, "after.js"));
  }
  copyFileSync(join(plugins, "system-text.js"), join(other, ".opencode", "plugin", "system-text.js"));
  host = await start();
});

after(async () => {
  await host?.stop();
  await provider.stop();
  if (process.env.CTXPLUGIN_E2E_KEEP) console.log(`kept ${place.root}`);
  else place.remove();
});

/** @param {string[]} args */
function ctxplugin(...args) {
  return execFileSync(binary, args, { env: place.environment(), encoding: "utf8" });
}

/**
 * @param {string} session
 * @returns {any}
 */
function status(session) {
  return JSON.parse(ctxplugin("status", "--json", session));
}

/**
 * @param {string} session
 * @param {string} model
 * @param {number} from
 * @param {number} to
 */
async function turns(session, model, from, to, project = place.project) {
  for (let i = from; i < to; i++) {
    const { ask, script } = turn(project, i);
    provider.say(session, script);
    await setTimeout(READ_MS);
    const answer = await host.turn(session, ask, { provider: model, directory: project });
    assert.equal(answer.info.error, undefined, JSON.stringify(answer.info.error));
  }
}

/**
 * The rendered history of a request: the texts of its pairs.
 * @param {Recorded} request
 * @returns {string[]}
 */
function head({ body }) {
  const messages = body.messages.filter((/** @type {any} */ { role }) => role !== "system");
  const texts = [];
  for (let i = 0; text(messages[i + 1]) === "Noted." && messages[i + 1].role === "assistant"; i += 2) {
    texts.push(text(messages[i]));
  }
  return texts;
}

/** @param {any} message */
function text(message) {
  const content = message?.content;
  return typeof content === "string"
    ? content
    : (content ?? []).map((/** @type {any} */ b) => b.text).join("\n");
}

/** @param {Recorded[]} requests */
function assertNothingRefused(requests) {
  for (const [i, { status, tokens, marks }] of requests.entries()) {
    assert.equal(status, 200, `request ${i}: ${tokens} tokens, ${marks} marks`);
  }
}

/**
 * Counts the folds that requests show, and checks that nothing else changes a
 * request's beginning.
 * @param {Recorded[]} requests
 * @returns {{full: number, stubs: number, appended: number[]}} appended: places of requests right after an append fold; stubs: how many folds made nothing else
 */
function assertFoldsAlone(requests) {
  const found = { full: 0, stubs: 0, appended: /** @type {number[]} */ ([]) };
  for (let i = 1; i < requests.length; i++) {
    const [then, now] = [requests[i - 1], requests[i]];
    const [was, is] = [head(then), head(now)];
    if (JSON.stringify(was) === JSON.stringify(is)) {
      const changed = then.blocks.filter(({ text }, k) => text !== now.blocks[k]?.text);
      if (changed.length > 0) found.stubs++;
      for (const { text } of changed) {
        const place = then.blocks.findIndex((block) => block.text === text);
        const became = now.blocks[place]?.text;
        assert.match(
          String(became),
          /\[stored /,
          `request ${i} differs in block ${place}:\n${text}\n${became}`,
        );
      }
    } else if (was.length > 0 && was.every((pair, k) => pair === is[k])) found.appended.push(i);
    else found.full++;
  }
  return found;
}

/** @param {string} text of a block */
function isNoted(text) {
  return text.startsWith("assistant") && text.includes('"Noted."');
}

const STUB = /^\[stored (?:argument|output) .*ctx_expand\((\{.*?\})\)\]/;

/**
 * The call that a stub names.
 * @param {string} stub
 * @returns {object}
 */
function callOf(stub) {
  return JSON.parse(String(STUB.exec(stub)?.[1]));
}

/**
 * The calls of a request with their results, in order.
 * @param {{body: any}} request
 * @returns {{id: string, name: string, input: any, output: string}[]}
 */
function calls({ body }) {
  const found = [];
  for (const { role, content, tool_calls, tool_call_id } of body.messages) {
    for (const { id, function: f } of tool_calls ?? []) {
      found.push({ id, name: f.name, input: JSON.parse(f.arguments), output: "" });
    }
    const blocks = role === "tool" ? [{ type: "tool_result", tool_use_id: tool_call_id, content }] : content;
    for (const block of Array.isArray(blocks) ? blocks : []) {
      if (block.type === "tool_use") found.push({ ...block, output: "" });
      const call = found.find(({ id }) => id === block.tool_use_id);
      if (call) call.output = text(block);
    }
  }
  return found;
}

/**
 * Reads something stored to its end: what the model says for that, and what it
 * was given, by field.
 * @param {object} input
 */
function expanding(input) {
  const bodies = { text: "", input: "", output: "" };
  let pages = 0;
  const header = /^=== message \d+, part \d+, (text|input|output) \(.*\), bytes (\d+)-(\d+) of \d+\n/m;
  /** @param {any} body @returns {import("./provider.js").Line[]} */
  const follow = (body) => {
    let page = Buffer.from(String(calls({ body }).at(-1)?.output)).toString("latin1"); // a character is a byte
    assert.match(page, header);
    for (let shown = header.exec(page); shown; shown = header.exec(page)) {
      const start = shown.index + shown[0].length;
      const end = start + Number(shown[3]) - Number(shown[2]);
      bodies[/** @type {keyof typeof bodies} */ (shown[1])] += page.slice(start, end);
      page = page.slice(end);
    }
    pages++;
    const next = /^(?:Rest|More): (\w+)\((.*)\)$/m.exec(page);
    return next ? [{ calls: [{ name: next[1], input: JSON.parse(next[2]) }] }, follow] : [];
  };
  const utf8 = (/** @type {string} */ bytes) => Buffer.from(bytes, "latin1").toString();
  return {
    /** @type {import("./provider.js").Line[]} */
    script: [{ calls: [{ name: "ctx_expand", input }] }, follow],
    read: () => ({ ...bodies, input: utf8(bodies.input), output: utf8(bodies.output), pages }),
  };
}

/** @returns {number[]} */
function binaries() {
  const rows = execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" }).trim().split("\n");
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, parent, command]) => Number(parent) === host.child.pid && command === binary)
    .map(([pid]) => Number(pid));
}

test("two long sessions, a killed binary and a restarted host", async (t) => {
  const models = /** @type {(keyof typeof long)[]} */ (Object.keys(long));
  for (const model of models) long[model] = await host.session();
  /** @param {number} from @param {number} to */
  const both = (from, to) => Promise.all(models.map((model) => turns(long[model], model, from, to)));
  await both(0, KILL_AT);
  const [pid, ...more] = binaries();
  assert.ok(pid && more.length === 0, "one binary runs");
  process.kill(pid, "SIGKILL");
  await both(KILL_AT, RESTART_AT);
  assert.notEqual(binaries()[0], pid);
  await host.stop();
  host = await start();
  await both(RESTART_AT, TURNS);

  for (const model of models) {
    const requests = provider.of(long[model]);
    const { stats, folds, ahead } = status(long[model]);
    const { full, stubs, appended } = assertFoldsAlone(requests);
    t.diagnostic(
      `${model}: ${requests.length} requests, ${appended.length} append folds, ${full} full folds, ${stubs} of stubs alone, ` +
        `most ${Math.max(...requests.map(({ tokens }) => tokens))} tokens of ${WINDOW}`,
    );
    assert.ok(requests.length >= TURNS * 2);
    assertNothingRefused(requests);
    assert.ok(appended.length > 0, "no append fold happened");
    const unseen = ahead ? 1 : 0; // made for a request that did not come
    assert.equal(
      full + stubs + appended.length + unseen,
      folds.length,
      "every change is a fold in the ledger",
    );
    assert.ok(stats.compartments > 0);
  }
});

test("after an append fold all earlier pairs are read from the cache", () => {
  const requests = provider.of(long["anthropic-mock"]);
  const { appended } = assertFoldsAlone(requests);
  assert.ok(appended.length > 0);
  for (const i of appended) {
    const pairs = head(requests[i - 1]).length;
    let noted = 0;
    let tokens = 0;
    for (const block of requests[i].blocks) {
      tokens += Math.ceil(Buffer.byteLength(block.text) / 4.5);
      if (isNoted(block.text) && ++noted === pairs) break;
    }
    assert.ok(
      requests[i].usage.read >= tokens,
      `request ${i}: ${requests[i].usage.read} tokens read, ${pairs} earlier pairs end at ${tokens}`,
    );
  }
});

test("the newest pair carries a cache mark while the request has room for one", () => {
  const requests = provider.of(long["anthropic-mock"]).filter((request) => head(request).length > 0);
  const marked = requests.filter(({ blocks }) => blocks.some(({ text, marked }) => marked && isNoted(text)));
  // Right after a start of the host the fixed part may not have been seen yet.
  assert.ok(
    marked.length >= requests.length - 2,
    `${marked.length} of ${requests.length} requests have the mark`,
  );
});

test("an original that left the request is read again, word for word and in pages", async (t) => {
  const session = long["anthropic-mock"];
  const messages = await host.call("GET", `/session/${session}/message`);
  const isLong = (/** @type {any} */ part) => part.state?.input?.filePath?.endsWith(LONG_FILE);
  const message = messages.findIndex((/** @type {any} */ { parts }) => parts.some(isLong)) + 1;
  const part = messages[message - 1].parts.findIndex(isLong);
  const original = messages[message - 1].parts[part].state.output;
  const before = provider.of(session).at(-1);
  assert.ok(
    !JSON.stringify(before?.body).includes(original.split("\n")[100]),
    "the original is still in the request",
  );

  const whole = expanding({ message, part, field: "output" });
  provider.say(session, [...whole.script, { text: "That is all of it." }]);
  await host.turn(session, "Show me the long file again.");
  const { output, pages } = whole.read();
  t.diagnostic(`${Buffer.byteLength(output)} bytes in ${pages} pages`);
  assert.equal(output, original);
  assert.ok(pages > 1);
  assertNothingRefused(provider.of(session));
});

test("the stubs of a fold reach no file, and their originals are read again", async (t) => {
  /** @param {string} model */
  const stubbed = async (model) => {
    const session = await host.session();
    /** @type {ReturnType<typeof calls>} */
    let written = [];
    /** @type {ReturnType<typeof calls>} */
    let outputs = [];
    let turns = 0;
    for (; turns < BULKY_TURNS && (written.length === 0 || outputs.length === 0); turns++) {
      const { ask, script } = bulkyTurn(place.project, model, turns);
      provider.say(session, script);
      await host.turn(session, ask, { provider: model });
      const shown = calls(/** @type {Recorded} */ (provider.of(session).at(-1)));
      written = shown.filter(({ name, input }) => name === "write" && STUB.test(input.content));
      outputs = shown.filter(({ name, output }) => name === "read" && STUB.test(output));
    }
    t.diagnostic(`${model}: ${written.length} arguments and ${outputs.length} outputs after ${turns} turns`);
    assert.ok(written.length > 0 && outputs.length > 0, "no fold made stubs of both");

    const { filePath, content } = written[0].input;
    const copy = join(place.project, `copy-${model}.txt`);
    const argument = expanding(callOf(content));
    const output = expanding(callOf(outputs[0].output));
    provider.say(session, [
      { calls: [{ name: "write", input: { filePath: copy, content } }] },
      (body) => {
        const told = String(calls({ body }).at(-1)?.output);
        assert.match(told, /holds the placeholder of something stored.*Nothing was changed/);
        return [...argument.script, ...output.script, { text: "Now I have read both." }];
      },
    ]);
    await host.turn(session, "Copy that table.", { provider: model });
    assert.ok(!existsSync(copy), "a stub was written to a file");
    assert.ok(argument.read().input.includes(readFileSync(filePath, "utf8")), argument.read().input);
    const messages = await host.call("GET", `/session/${session}/message`);
    const original = messages
      .flatMap((/** @type {any} */ message) => message.parts)
      .find((/** @type {any} */ part) => part.callID === outputs[0].id);
    assert.equal(output.read().output, original.state.output);
    assertNothingRefused(provider.of(session));
  };
  await Promise.all(Object.keys(long).map(stubbed));
});

test("one message with many steps is managed from its second step on", async (t) => {
  const session = await host.session();
  provider.say(session, [...steps(place.project, STEPS), { text: "Done." }]);
  await host.turn(session, "Read all files and tell me which ones disagree.");
  const requests = provider.of(session);
  assert.equal(requests.length, STEPS + 1);
  assertNothingRefused(requests);
  const { full, appended } = assertFoldsAlone(requests);
  t.diagnostic(`${full} full and ${appended.length} append folds in ${STEPS} steps`);
  assert.ok(head(requests[STEPS]).length > 0);
  for (const request of requests) {
    assert.ok(
      JSON.stringify(request.body.messages).includes("tell me which ones disagree"),
      "the request is kept",
    );
  }
});

test("a subagent is managed like any session", async (t) => {
  const session = await host.session();
  const prompt = "Compare every file with its neighbour and report the differences.";
  const input = { description: "Compare files", prompt, subagent_type: "general" };
  provider.say(session, [{ calls: [{ name: "task", input }] }, { text: "The subagent has reported." }]);
  provider.sayInChild(session, [
    ...steps(place.project, CHILD_STEPS),
    { text: "No differences that matter." },
  ]);
  await host.turn(session, "Have the files compared.");
  const requests = provider.requests.filter(({ parent }) => parent === session);
  assert.equal(requests.length, CHILD_STEPS + 1);
  assertNothingRefused([...requests, ...provider.of(session)]);
  const { full, appended } = assertFoldsAlone(requests);
  t.diagnostic(`${full} full and ${appended.length} append folds in ${CHILD_STEPS} steps`);
  assert.ok(head(requests[CHILD_STEPS]).length > 0);
  for (const request of requests)
    assert.ok(JSON.stringify(request.body.messages).includes(prompt), "the order is kept");
  assert.match(JSON.stringify(provider.of(session).at(-1)?.body), /No differences that matter/);
  const listed = JSON.parse(ctxplugin("sessions", "--json"));
  const child = listed.find((/** @type {any} */ line) => line.session === requests[0].session);
  assert.equal(child.parent, session);
});

test("beside a plugin that adds system text no request has too many marks", async () => {
  const session = await host.session(other);
  await turns(session, "anthropic-mock", 0, SECOND_PLUGIN_TURNS, other);
  const requests = provider.of(session);
  assertNothingRefused(requests);
  assert.ok(
    requests.every(({ body }) => body.system.length === 2),
    "the other plugin adds its text",
  );
  assert.ok(requests.some((request) => head(request).length > 0));
  assertFoldsAlone(requests);
});

test("a window that is smaller than its model claims costs one refused request", async () => {
  const session = await host.session();
  const model = "boastful";
  provider.say(session, steps(place.project, STEPS));
  const refused = await host.turn(session, "Read all files and tell me which ones disagree.", { model });
  assert.ok(refused.info.error, "nothing was refused");
  provider.forgetScript(session);
  provider.say(session, [...steps(place.project, 5), { text: "Done." }]);
  const answer = await host.turn(session, "Go on.", { model });
  assert.equal(answer.info.error, undefined, JSON.stringify(answer.info.error));
  const statuses = provider.of(session).map(({ status }) => status);
  assert.deepEqual(
    statuses.filter((status) => status !== 200),
    [400],
  );
});

test("a fork goes on with the same history", async () => {
  const original = long["anthropic-mock"];
  const before = provider.of(original).at(-1);
  assert.ok(before && head(before).length > 0);
  const { id } = await host.call("POST", `/session/${original}/fork`, {});
  provider.say(id, [{ text: "I am the copy." }]);
  await host.turn(id, "Go on from here.");
  const [request] = provider.of(id);
  assertNothingRefused([request]);
  if (!status(id).folds?.length) {
    assert.deepEqual(head(request), head(before));
  } else {
    // A fold was due: the entries stay, with the ordinals of the original.
    const entries = (/** @type {Recorded} */ of) => head(of).join("\n").split("\n\n");
    assert.equal(entries(request)[1], entries(before)[1]);
  }
});

test("a revert takes the turn back and nothing else", async () => {
  const session = long["openai-mock"];
  const messages = await host.call("GET", `/session/${session}/message`);
  const turnStart = messages.findLast((/** @type {any} */ { info }) => info.role === "user").info.id;
  const before = /** @type {Recorded} */ (provider.of(session).at(-1));
  const taken = text(before.body.messages.findLast((/** @type {any} */ { role }) => role === "user"));
  await host.call("POST", `/session/${session}/revert`, { messageID: turnStart });
  provider.say(session, [{ text: "Then I try something else." }]);
  await host.turn(session, "That was wrong. Try something else.", { provider: "openai-mock" });
  const request = /** @type {Recorded} */ (provider.of(session).at(-1));
  assertNothingRefused([request]);
  assert.ok(!JSON.stringify(request.body.messages).includes(JSON.stringify(taken).slice(1, -1)));
  assert.ok(head(request).length > 0);
});

test("the host's own compaction reads the list as it is, and the session goes on", async () => {
  const session = await host.session();
  await turns(session, "anthropic-mock", 0, 3);
  const told = provider.of(session).length;
  provider.say(session, [{ text: "Summary: three rounds were done." }]);
  await host.call("POST", `/session/${session}/summarize`, { providerID: "anthropic-mock", modelID: "m" });
  const compaction = /** @type {Recorded} */ (provider.of(session)[told]);
  assert.match(JSON.stringify(compaction.body.messages), /Round 0: look into the parser/);
  await turns(session, "anthropic-mock", 3, 5);
  const requests = provider.of(session).slice(told + 1);
  assertNothingRefused(requests);
  assert.match(JSON.stringify(requests[0].body.messages), /three rounds were done|Round 2: look into/);
});

test("titles are made as without the plugin", async () => {
  /** @param {OpenCode} on */
  const titled = async (on) => {
    const session = await on.session();
    provider.say(session, [{ text: "It reads an empty row as the end." }]);
    await on.turn(session, "Why does the importer drop the last row?");
    const titles = () => provider.requests.filter((request) => request.session === session && request.title);
    for (let i = 0; i < 100 && titles().length === 0; i++) await setTimeout(50); // it is made beside the turn
    const requests = titles();
    assert.equal(requests.length, 1);
    return JSON.stringify(requests[0].body);
  };
  const bare = new Place();
  bare.configure(baseURL, { context: WINDOW, output: OUTPUT });
  const plain = await OpenCode.start(bare);
  try {
    assert.equal(await titled(host), await titled(plain));
  } finally {
    await plain.stop();
    bare.remove();
  }
});

test("without the binary a session far longer than the window works on every turn", async (t) => {
  await host.stop();
  unlinkSync(binary);
  host = await start();
  for (const model of /** @type {(keyof typeof long)[]} */ (Object.keys(long))) {
    const session = long[model];
    const before = provider.of(session);
    await turns(session, model, TURNS, TURNS + TURNS_WITHOUT_BINARY);
    const requests = provider.of(session).slice(before.length);
    assertNothingRefused(requests);
    const last = /** @type {Recorded} */ (before.at(-1));
    assert.deepEqual(head(requests[0]), head(last), "the last plan is in force");
    const messages = await host.call("GET", `/session/${session}/message`);
    const windows = Buffer.byteLength(JSON.stringify(messages)) / 4.5 / WINDOW;
    t.diagnostic(`${model}: ${windows.toFixed(1)} windows long, ${requests.length} requests`);
    assert.ok(windows > 3 || TURNS < 80);
  }
});

test("how long the hook took", (t) => {
  const all = readLatencies(latencies);
  const answered = all.filter(({ turns }) => turns > 0);
  const line = (
    /** @type {string} */ name,
    /** @type {(latency: Latency) => number} */ of,
    among = answered,
  ) => {
    const ms = among.map(of).sort((x, y) => x - y);
    const at = (/** @type {number} */ share) => quantile(ms, share).toFixed(1);
    t.diagnostic(`${name}: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, most ${at(1)} ms`);
  };
  line(`${all.length} hooks`, ({ ms }) => ms, all);
  line(`the ${answered.length} that were answered`, ({ ms }) => ms);
  line("… until the host calls the shim", ({ begun }) => begun);
  line("… until all is asked", ({ ask }) => ask);
  line("… until the answer is read", ({ wait }) => wait);
  line("    of that the host's event loop was held", ({ held }) => held);
  line("… applying it", ({ apply }) => apply);
  line("… in all of the time that it had", own);
  const first = answered.filter(({ turns }) => turns === 1);
  t.diagnostic(`${first.length} answers were there when the loop first came around`);
  assert.ok(all.length >= TURNS * 4 && all.every(({ ms, held }) => ms > 0 && held <= ms));
});
