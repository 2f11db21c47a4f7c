import assert from "node:assert/strict";
import { test } from "node:test";
import { entries, pairs, wholeTurns } from "../bench/view.js";

const user = (/** @type {any[]} */ ...content) => ({ role: "user", content: content.map(block) });
const model = (/** @type {any[]} */ ...content) => ({ role: "assistant", content: content.map(block) });
const block = (/** @type {any} */ one) => (typeof one === "string" ? { type: "text", text: one } : one);
const call = { type: "tool_use", id: "c", name: "read", input: {} };
const result = { type: "tool_result", tool_use_id: "c", content: "..." };
const noted = model("Noted.");
const body = (/** @type {any[]} */ ...messages) => ({ messages });

const TURNS = [
  { ask: "one", texts: ["I look.", "Found."], calls: 1 },
  { ask: "two", texts: ["Yes."], calls: 0 },
  { ask: "three", texts: [], calls: 0 },
];
const ONE = [user("one"), model("I look.", call), user(result), model("Found.")];

test("pairs are texts that were noted", () => {
  const request = body(user("record"), noted, user("more of it"), noted, user("one"));
  assert.deepEqual(pairs(request), ["record", "more of it"]);
  assert.deepEqual(pairs(body(...ONE)), []);
});

test("the entries of a record begin at its headings", () => {
  const text =
    "[Session record, messages 1-9.]\n\n[1-3 full] a\nsaid [4-5 dense]\n\n[4 anchor] b\n\n[5-9 index] c";
  assert.deepEqual(entries([text, "[10-12 full] d"]), [
    { range: "1-3", tier: "full", bytes: 31 },
    { range: "4", tier: "anchor", bytes: 14 },
    { range: "5-9", tier: "index", bytes: 13 },
    { range: "10-12", tier: "full", bytes: 14 },
  ]);
});

test("a turn is whole with all its parts, and the newest one counts", () => {
  assert.equal(wholeTurns(body(...ONE, user("two"), model("Yes."), user("three")), TURNS), 3);
  assert.equal(wholeTurns(body(user("record"), noted, ...ONE), TURNS), 1);
});

test("a turn is not whole without a text, a call or its user message", () => {
  assert.equal(wholeTurns(body(user("one"), model("I look.", call), user(result)), TURNS), 0);
  assert.equal(wholeTurns(body(user("one"), model("I look."), model("Found.")), TURNS), 0);
  assert.equal(wholeTurns(body(user("one"), model("I look.", call), model("Found.")), TURNS), 0);
  assert.equal(wholeTurns(body(model("I look.", call), user(result), model("Found.")), TURNS), 0);
});

test("a user message that is kept alone is no turn", () => {
  assert.equal(wholeTurns(body(user("record"), noted, user("one", "two"), model("Yes.")), TURNS), 1);
});

test("a stub stands for a text, and for no more than one", () => {
  const stub =
    '[stored text, 900 characters; not shown here. The whole: ctx_expand({"message": 2, "part": 0})]';
  assert.equal(wholeTurns(body(user("one"), model(stub, call), user(result), model("Found.")), TURNS), 1);
  assert.equal(wholeTurns(body(user("one"), model(stub, call), user(result)), TURNS), 0);
});

test("the same words inside a record are no turn", () => {
  assert.equal(wholeTurns(body(user("one"), noted, user("two"), model("Yes.")), TURNS), 1);
});
