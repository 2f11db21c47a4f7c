/**
 * Steps whose answer is known: the stand-in for the binary says for which.
 */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { messageBytes } from "../plugin/ctxplugin/fit.js";
import { revisions } from "../plugin/ctxplugin/revision.js";
import { Standing } from "../plugin/ctxplugin/standing.js";
import { assistant, call, ids, SESSION, user } from "./examples.js";
import { Rig } from "./rig.js";

const rig = new Rig();
const HEAD = ["msg_ctx_0_u", "msg_ctx_0_a"];

/** A session whose first pair stands for its first turn. */
function session() {
  return [user("a", "first"), assistant("b", "answer", [call("output")]), user("c", "second")];
}

/**
 * A plugin that has asked for a plan, and was told how long it stands.
 * @param {object} [standing]
 * @param {string} [mode]
 */
async function told(standing = {}, mode = "", list = session()) {
  process.env.FAKE_STANDING = JSON.stringify({ inside: 2000, next: 1000, ms: 300_000, ...standing });
  const hooks = await rig.open(mode);
  await hooks.transform(structuredClone(list));
  return hooks;
}

/**
 * One step, and whether the list was ready when the hook gave the event loop away.
 * @param {any} hooks
 * @param {import("../plugin/ctxplugin/host.js").Message[]} list
 */
async function step(hooks, list) {
  const behind = hooks.transform(list);
  const atOnce = ids(list)[0] === HEAD[0];
  await behind;
  await answered();
  return atOnce;
}

/** Until what was asked is answered. */
async function answered() {
  await setTimeout(30);
}

/** The last question. */
const question = () => rig.asked("session/transform").at(-1).params;

test("a step whose answer is known waits for nothing, and is told", async () => {
  const hooks = await told();
  const list = [...session(), assistant("d", "more", [call("x".repeat(100))])];
  assert.equal(await step(hooks, list), true);
  assert.deepEqual(ids(list), [...HEAD, "c", "d"]);
  assert.deepEqual([question().sent, question().applied], [true, "through b"]);
  assert.deepEqual(
    rig
      .asked("session/sync")
      .at(-1)
      .params.messages.map((/** @type {any} */ { id }) => id),
    ["d"],
  );
});

test("each answer says it anew", async () => {
  const hooks = await told();
  const list = session();
  for (const id of "defghijk") {
    list.push(assistant(id, "x".repeat(1000)));
    assert.equal(await step(hooks, structuredClone(list)), true, id);
  }
});

for (const [name, standing, list] of /** @type {const} */ ([
  ["more than may come inside a turn", { inside: 1000 }, [assistant("d", "x".repeat(1000))]],
  ["more than may come where a turn begins", {}, [assistant("d", "done"), user("e", "x".repeat(1000))]],
  ["a cache that is gone", { ms: -1 }, [assistant("d", "more")]],
])) {
  test(`what is not known is asked: ${name}`, async () => {
    const hooks = await told(standing);
    assert.equal(await step(hooks, [...session(), ...list]), false);
    assert.equal(question().sent, false);
  });
}

test("what is not known is asked: another agent, an edit in the list", async () => {
  const hooks = await told();
  const more = [...session(), assistant("d", "more")];
  const other = structuredClone(more);
  /** @type {any} */ (other[2].info).agent = "plan";
  assert.equal(await step(hooks, other), false);
  const edited = structuredClone(more);
  /** @type {any} */ (edited[2].parts[0]).text = "second, but longer";
  assert.equal(await step(hooks, edited), false);
});

test("an edit of equal length in what the head stands for is asked about, one behind it is not", async () => {
  const hooks = await told();
  /** @param {string} messageID */
  const touch = (messageID) =>
    hooks.event({
      event: { type: "message.part.updated", properties: { part: { sessionID: SESSION, messageID } } },
    });
  const list = [...session(), assistant("d", "more")];
  await touch("c");
  assert.equal(await step(hooks, structuredClone(list)), true);
  await touch("b");
  assert.equal(await step(hooks, [...list, assistant("e", "more")]), false);
});

test("word from the binary that it has to be asked", async () => {
  const hooks = await told({}, "outdated");
  await hooks.event({ event: { type: "session.idle", properties: { sessionID: SESSION } } });
  await answered();
  assert.equal(await step(hooks, [...session(), assistant("d", "more")]), false);
});

for (const mode of ["outdated at once", "outdated first"]) {
  test(`word that comes in one breath with an answer: ${mode}`, async () => {
    const hooks = await told({}, mode);
    assert.equal(await step(hooks, [...session(), assistant("d", "more")]), false);
  });
}

test("what was made of a forgotten session is sent no more, whether the binary answers or not", async () => {
  process.env.CTXPLUGIN_PATIENCE = "1";
  const hooks = await told({}, "forgotten");
  const kept = () => readdirSync(join(rig.folder, "ctxplugin", "opencode"));
  await setTimeout(100);
  assert.equal(kept().length, 1);
  await hooks.event({ event: { type: "session.idle", properties: { sessionID: SESSION } } });
  await setTimeout(100);
  assert.deepEqual(kept(), []);
  const list = [...session(), assistant("d", "more")];
  await hooks.transform(list);
  assert.deepEqual(ids(list), ["a", "b", "c", "d"]);
});

test("an answer that comes when the turn has ended says nothing of the next one", async () => {
  const hooks = await told({}, "late");
  const list = [...session(), assistant("d", "more")];
  assert.equal(await step(hooks, structuredClone(list)), true);
  const { info, parts } = assistant("e", "done");
  await hooks.event({ event: { type: "message.updated", properties: { info } } });
  const part = { ...parts[0], sessionID: SESSION, messageID: "e" };
  await hooks.event({ event: { type: "message.part.updated", properties: { part } } });
  await hooks.event({ event: { type: "session.idle", properties: { sessionID: SESSION } } });
  await setTimeout(150);
  assert.equal(await step(hooks, [...list, assistant("e", "done"), user("f", "third")]), false);
});

test("an older message that was edited while a turn ended", async () => {
  const hooks = await told();
  await answered();
  const part = { id: "b_p0", sessionID: SESSION, messageID: "b", type: "text", text: "ANSWER" };
  await hooks.event({ event: { type: "message.part.updated", properties: { part } } });
  const { info, parts } = assistant("d", "done");
  await hooks.event({ event: { type: "message.updated", properties: { info } } });
  const ending = { ...parts[0], sessionID: SESSION, messageID: "d" };
  await hooks.event({ event: { type: "message.part.updated", properties: { part: ending } } });
  await hooks.event({ event: { type: "session.idle", properties: { sessionID: SESSION } } });
  await answered();
  assert.equal(rig.asked("session/event").at(-1).params.type, "idle");
  assert.deepEqual(rig.told, []);
});

test("an edit of equal length in what the plan edits is asked about", async () => {
  const list = [...session(), assistant("d", "more", [call("an output")])];
  const hooks = await told({ stub: "stub" }, "", list);
  await answered();
  const part = { sessionID: SESSION, messageID: "d" };
  await hooks.event({ event: { type: "message.part.updated", properties: { part } } });
  assert.equal(await step(hooks, [...structuredClone(list), assistant("e", "more")]), false);
});

test("a plan that is told when the turn has ended is the next one", async () => {
  const hooks = await told({}, "ahead");
  await hooks.event({ event: { type: "session.idle", properties: { sessionID: SESSION } } });
  await answered();
  const list = [...session(), assistant("d", "done"), user("e", "third")];
  assert.equal(await step(hooks, list), true);
  assert.equal(/** @type {any} */ (list[0].parts[0]).text, "What came before, told anew.");
  assert.equal(question().applied, "ahead");
});

for (const [name, said] of [
  ["as the next list has it", "done"],
  ["otherwise than the next list has it", "something else"],
]) {
  test(`what ended a turn is sent when it has ended: ${name}`, async () => {
    const hooks = await told();
    await answered();
    const { info, parts } = assistant("d", said);
    await hooks.event({ event: { type: "message.updated", properties: { info } } });
    const part = { ...parts[0], sessionID: SESSION, messageID: "d" };
    await hooks.event({ event: { type: "message.part.updated", properties: { part } } });
    const before = rig.asked("session/sync").length;
    await hooks.event({ event: { type: "session.idle", properties: { sessionID: SESSION } } });
    await answered();
    /** @param {number} from */
    const sent = (from) =>
      rig
        .asked("session/sync")
        .slice(from)
        .map(({ params }) =>
          params.messages.map((/** @type {any} */ { id, parts }) => `${id}: ${parts[0].text}`),
        );
    assert.deepEqual(sent(before), [[`d: ${said}`]]);
    const list = [...session(), assistant("d", "done"), user("e", "third")];
    await step(hooks, list);
    assert.deepEqual(sent(before + 1), [said === "done" ? ["e: third"] : ["d: done", "e: third"]]);
    assert.deepEqual(ids(list).slice(0, 2), HEAD);
  });
}

test("a plan that comes in one breath with an answer comes after it", async () => {
  const hooks = await told({}, "ahead at once");
  assert.equal(await step(hooks, [...session(), assistant("d", "done")]), true);
  const list = [...session(), assistant("d", "done"), user("e", "third")];
  assert.equal(await step(hooks, list), true);
  assert.equal(question().applied, "ahead");
});

test("a plan that comes in one breath with word that the end of a turn is stored comes after that", async () => {
  const hooks = await told({}, "ahead of all");
  const { info, parts } = assistant("d", "done");
  const part = { ...parts[0], sessionID: SESSION, messageID: "d" };
  await hooks.event({ event: { type: "message.updated", properties: { info } } });
  await hooks.event({ event: { type: "message.part.updated", properties: { part } } });
  await hooks.event({ event: { type: "session.idle", properties: { sessionID: SESSION } } });
  await answered();
  assert.equal(await step(hooks, [...session(), assistant("d", "done"), user("e", "third")]), true);
  assert.equal(question().applied, "ahead");
});

test("an error of the provider ends what is known", async () => {
  const hooks = await told();
  await hooks.event({
    event: {
      type: "session.error",
      properties: { sessionID: SESSION, error: { name: "APIError", data: {} } },
    },
  });
  assert.equal(await step(hooks, [...session(), assistant("d", "more")]), false);
});

test("what is told behind a step is the list as the host has it, without the plan's edits", async () => {
  const hooks = await told({ stub: "stubbed" });
  const list = session();
  for (const id of "defg") {
    list.push(assistant(id, "more", [call(`output of ${id}`)]));
    assert.equal(await step(hooks, structuredClone(list)), true);
  }
  const stored = JSON.stringify(rig.asked("session/sync"));
  assert.ok(stored.includes("output of g") && !stored.includes("stubbed"));
});

test("a binary that says nothing to what it is told delays no step that is known", async () => {
  const hooks = await told({}, "deaf");
  const list = [...session(), assistant("d", "more")];
  const began = rig.asked().length;
  assert.equal(await step(hooks, structuredClone(list)), true);
  list.push(assistant("e", "more"));
  assert.equal(await step(hooks, structuredClone(list)), true);
  const params = rig.asked().slice(began);
  assert.equal(params.length, 2, "while a question is open nothing more is told");
});

test("the clock of the host may jump", () => {
  const list = session();
  const revs = revisions(list);
  const then = { generation: 1, model: "m", fixedBytes: 100, now: 5000 };
  const standing = new Standing("p", { rev: revs.at(), inside: 100, next: 100, until: 9000 }, revs, then);
  assert.equal(standing.covers(list, revs, { ...then, now: 8999 }), true);
  assert.equal(standing.covers(list, revs, { ...then, now: 9000 }), false);
  assert.equal(standing.covers(list, revs, { ...then, now: 4999 }), false);
  assert.equal(standing.covers(list, revs, { ...then, fixedBytes: 200 }), true);
  assert.equal(standing.covers(list, revs, { ...then, fixedBytes: 201 }), false);
  assert.equal(standing.covers(list, revs, { ...then, generation: 2 }), false);
});

test("a message has no more tokens than the bytes that it counts as", () => {
  const message = assistant("d", "Grüße", [
    call("12345", { input: { a: 1 } }),
    { type: "novelty", text: "new" },
  ]);
  assert.equal(messageBytes(message), 24 + (24 + 7) + (24 + 4 + 7 + 5) + (24 + 3));
});
