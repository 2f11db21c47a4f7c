import assert from "node:assert/strict";
import { test } from "node:test";
import {
  infoMark,
  markMetadata,
  wireEvent,
  wireLimits,
  wireMessage,
  wirePrices,
} from "../plugin/ctxplugin/wire.js";
import { assistant, call, user } from "./examples.js";

/**
 * @param {string} npm
 * @param {object} [rest]
 * @returns {any}
 */
function model(npm, rest = {}) {
  const cost = { input: 3, output: 15, cache: { read: 0.3, write: 3.75 } };
  return { id: "m", providerID: "acme", api: { npm }, cost, limit: { context: 100, output: 10 }, ...rest };
}

test("a message goes over the wire with its parts untouched", () => {
  const message = assistant("b", "done", [call("out"), { type: "novel", payload: { z: 1, a: "<&>" } }]);
  const wire = JSON.parse(wireMessage(message));
  assert.deepEqual(wire.parts, message.parts);
  assert.deepEqual(Object.keys(wire), ["id", "role", "time", "agent", "model", "tokens", "finish", "parts"]);
  assert.deepEqual([wire.id, wire.role, wire.time, wire.model], ["b", "assistant", 2, "acme/m"]);
  const asked = JSON.parse(wireMessage(user("a", "hi")));
  assert.deepEqual([asked.role, asked.agent, asked.model], ["user", "build", "acme/m"]);
});

test("only the host's own summary is marked as one", () => {
  const summary = assistant("s", "what we did");
  Object.assign(summary.info, { summary: true, error: { name: "MessageAbortedError" } });
  const wire = JSON.parse(wireMessage(summary));
  assert.equal(wire.summary, true);
  assert.equal(wire.error.name, "MessageAbortedError");
  const asked = user("a", "hi");
  Object.assign(asked.info, { summary: { diffs: [] } });
  assert.equal(JSON.parse(wireMessage(asked)).summary, undefined);
});

test("the mark of a message changes with what the host sets at its end", () => {
  const before = assistant("b", "x");
  const marks = new Set([infoMark(before)]);
  for (const change of [
    { finish: "tool-calls" },
    { finish: undefined },
    { error: { name: "UnknownError" } },
    { summary: true },
    { tokens: { input: 10, output: 2, cache: { read: 5, write: 0 } } },
  ]) {
    const after = assistant("b", "x");
    Object.assign(after.info, change);
    marks.add(infoMark(after));
  }
  assert.equal(marks.size, 6);
  assert.equal(infoMark(user("a", "x")), 0);
});

test("prices are micro-units per million tokens, with the kind of cache", () => {
  assert.deepEqual(wirePrices(model("@ai-sdk/anthropic")), {
    input: 3_000_000,
    output: 15_000_000,
    cacheRead: 300_000,
    cacheWrite: 3_750_000,
    ttlMs: 300_000,
    kind: "marks",
  });
  const free = { cost: { input: 0, output: 0, cache: { read: 0, write: 0 } } };
  /** @type {[any, boolean, string][]} */
  const kinds = [
    [model("@ai-sdk/google-vertex/anthropic"), true, "marks"],
    [model("@ai-sdk/openai"), true, "automatic"],
    [model("@ai-sdk/openai-compatible", free), true, "free"],
    [model("@ai-sdk/openai-compatible", free), false, "unknown"],
    [
      model("@ai-sdk/openai", { cost: { input: 1, output: 2, cache: { read: 0, write: 0 } } }),
      true,
      "unknown",
    ],
    [model("@ai-sdk/openai", { cost: undefined }), true, "unknown"],
    [undefined, true, "unknown"],
  ];
  for (const [of, priced, kind] of kinds) assert.equal(wirePrices(of, priced).kind, kind);
  assert.equal(markMetadata(model("@ai-sdk/openai")), undefined);
  assert.ok(markMetadata(model("@ai-sdk/anthropic")));
});

test("a model that caps its input has the window in which this input fits", () => {
  assert.deepEqual(wireLimits(model("x")), { context: 100, output: 10 });
  const capped = { context: 400_000, input: 272_000, output: 128_000 };
  assert.deepEqual(wireLimits(model("x", { limit: capped })), { context: 304_000, output: 128_000 });
  assert.deepEqual(wireLimits(undefined), { context: 0, output: 0 });
});

test("events that the list cannot show are passed on", () => {
  const finished = assistant("b", "x").info;
  const cases = [
    [{ type: "message.updated", properties: { info: finished } }, "usage"],
    [{ type: "message.updated", properties: { info: { ...finished, finish: undefined } } }, null],
    [{ type: "message.updated", properties: { info: { ...finished, summary: true } } }, null],
    [{ type: "message.updated", properties: { info: user("a", "x").info } }, null],
    [{ type: "session.idle", properties: { sessionID: "s" } }, "idle"],
    [{ type: "session.deleted", properties: { info: { id: "s" } } }, "deleted"],
    [{ type: "session.error", properties: {} }, null],
    [{ type: "server.connected", properties: {} }, null],
  ];
  for (const [event, type] of cases) assert.equal(wireEvent(/** @type {any} */ (event))?.type ?? null, type);
  const overflow = { name: "ContextOverflowError", data: { message: "prompt is too long" } };
  const refused = { name: "APIError", data: { message: "no", statusCode: 401 } };
  /** @param {object} error */
  const told = (error) =>
    wireEvent(/** @type {any} */ ({ type: "session.error", properties: { sessionID: "s", error } }));
  const both = "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000";
  assert.equal(told(overflow)?.overflow, true);
  assert.equal(told({ name: "APIError", data: { message: both, statusCode: 400 } })?.overflow, true);
  assert.equal(told({ name: "APIError", data: { message: both, statusCode: 500 } })?.overflow, false);
  assert.equal(told({ name: "APIError", data: { message: "no", statusCode: 413 } })?.overflow, true);
  assert.deepEqual([told(refused)?.overflow, told(refused)?.status], [false, 401]);
});
