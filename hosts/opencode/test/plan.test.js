import assert from "node:assert/strict";
import { test } from "node:test";
import { applyPlan, isPlan } from "../plugin/ctxplugin/plan.js";
import { assistant, call, ids, MODEL, user } from "./examples.js";

const who = /** @type {any} */ (user("c", "newest").info);
const MARK = { anthropic: { cacheControl: { type: "ephemeral" } } };

/** @param {object} [plan] */
function planOf(plan) {
  return { id: "p", head: [], through: "", keep: [], edits: [], ...plan };
}

function list() {
  return [
    user("a", "first"),
    assistant("b", "doing", [call("output one"), call("output two")]),
    user("c", "newest"),
    assistant("d", "working", [call("boom", { status: "error", error: "boom" })]),
  ];
}

test("the list is changed in place and what stays are the same objects", () => {
  const messages = list();
  const [, , c, d] = messages;
  const bytes = JSON.stringify([c, d]);
  const head = [
    { text: "one", cacheMark: false },
    { text: "two", cacheMark: true },
  ];
  assert.equal(applyPlan(messages, planOf({ head, through: "b" }), who, MARK), true);
  assert.deepEqual(ids(messages), ["msg_ctx_0_u", "msg_ctx_0_a", "msg_ctx_1_u", "msg_ctx_1_a", "c", "d"]);
  assert.equal(messages[4], c);
  assert.equal(messages[5], d);
  assert.equal(JSON.stringify([c, d]), bytes);
});

test("pairs have fixed ids and times, synthetic parts, and the current model", () => {
  const messages = list();
  applyPlan(
    messages,
    planOf({ head: [0, 1].map((i) => ({ text: `t${i}`, cacheMark: i === 1 })), through: "b" }),
    who,
    MARK,
  );
  const [u0, a0, u1, a1] = /** @type {any[]} */ (messages);
  assert.deepEqual(
    [u0, a0, u1, a1].map(({ info }) => info.time.created),
    [0, 1, 2, 3],
  );
  assert.deepEqual(
    [u0, a0, u1, a1].map(({ parts }) =>
      parts.map((/** @type {any} */ { text, synthetic }) => [text, synthetic]),
    ),
    [[["t0", true]], [["Noted.", true]], [["t1", true]], [["Noted.", true]]],
  );
  assert.deepEqual([a1.info.providerID, a1.info.modelID], [MODEL.providerID, MODEL.modelID]);
  assert.deepEqual([a0.parts[0].metadata, a1.parts[0].metadata], [undefined, MARK]);
  const again = list();
  applyPlan(again, planOf({ head: [{ text: "t0", cacheMark: true }], through: "b" }), who);
  assert.equal(/** @type {any} */ (again[1].parts[0]).metadata, undefined, "no room for a mark");
});

test("kept messages stay raw and in order", () => {
  const messages = list();
  applyPlan(messages, planOf({ through: "d", keep: ["c", "a", "absent"] }), who);
  assert.deepEqual(ids(messages), ["a", "c"]);
});

test("a plan whose through is not in the list is void", () => {
  const messages = list();
  const head = [{ text: "one", cacheMark: false }];
  const edits = [{ messageID: "b", part: 1, field: "output", value: "x" }];
  assert.equal(applyPlan(messages, planOf({ head, through: "gone", edits }), who), false);
  assert.deepEqual(messages, list());
});

test("edits replace fields by the place of the part as stored", () => {
  const messages = list();
  applyPlan(
    messages,
    planOf({
      edits: [
        { messageID: "b", part: 0, field: "drop", value: "" },
        { messageID: "b", part: 1, field: "output", value: "short" },
        { messageID: "b", part: 2, field: "input", value: '{"command":"true"}' },
        { messageID: "b", part: 2, field: "output", value: "two" },
        { messageID: "d", part: 1, field: "output", value: "failed" },
        { messageID: "d", part: 0, field: "text", value: "said" },
        { messageID: "d", part: 9, field: "text", value: "no such part" },
        { messageID: "gone", part: 0, field: "text", value: "no such message" },
        { messageID: "d", part: 1, field: "input", value: "no JSON" },
      ],
    }),
    who,
  );
  const [, b, , d] = /** @type {any[]} */ (messages);
  assert.equal(b.parts.length, 2);
  assert.equal(b.parts[0].state.output, "short");
  assert.deepEqual(b.parts[1].state.input, { command: "true" });
  assert.equal(b.parts[1].state.output, "two");
  assert.equal(d.parts[0].text, "said");
  assert.equal(d.parts[1].state.error, "failed");
  assert.deepEqual(d.parts[1].state.input, { command: "ls" });
});

test("a replaced output takes its attachments away", () => {
  const messages = [
    user("a", "x"),
    assistant("b", "y", [call("img", { attachments: [{ mime: "image/png" }] })]),
  ];
  applyPlan(messages, planOf({ edits: [{ messageID: "b", part: 1, field: "output", value: "stub" }] }), who);
  assert.equal("attachments" in /** @type {any} */ (messages[1].parts[1]).state, false);
});

test("what has not the shape of a plan is none", () => {
  assert.equal(isPlan(planOf()), true);
  for (const bad of [
    null,
    7,
    "p",
    {},
    planOf({ head: {} }),
    planOf({ head: [{}] }),
    planOf({ through: null }),
  ]) {
    assert.equal(isPlan(bad), false, JSON.stringify(bad));
  }
});
