/**
 * The generate side of the shim against a stand-in for the host: one child a call,
 * always deleted, and what the host says of a failure in the words of the protocol.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { AGENT, Generator } from "../plugin/ctxplugin/generate.js";

/**
 * @param {(request: any, emit: (event: any) => void) => any} answer
 */
function host(answer) {
  /** @type {any[]} */
  const log = [];
  let count = 0;
  /** @type {Generator} */
  let generator;
  const session = {
    create: async (/** @type {any} */ { body }) => {
      log.push(["create", body.parentID]);
      return { data: { id: `child_${++count}` } };
    },
    prompt: async (/** @type {any} */ request) => {
      log.push(["prompt", request.path.id, request.body.agent, request.body.model?.modelID]);
      return answer(request, (event) => generator.event(event));
    },
    abort: async (/** @type {any} */ { path }) => log.push(["abort", path.id]),
    delete: async (/** @type {any} */ { path }) => log.push(["delete", path.id]),
    children: async () => ({
      data: [
        { id: "left", title: "ctx-historian" },
        { id: "theirs", title: "Work" },
      ],
    }),
  };
  generator = new Generator(/** @type {any} */ ({ session }), "/project");
  return { generator, log };
}

const asked = { sessionID: "ses_1", system: "ours", prompt: "[1] user", maxTokens: 900 };
const never = new AbortController().signal;

const answered = (/** @type {any} */ info, /** @type {any[]} */ parts) => ({
  data: {
    info: { providerID: "p", modelID: "m", finish: "stop", tokens: { input: 9 }, cost: 0.0125, ...info },
    parts,
  },
});

test("a text, from a child with the session's model that is deleted afterwards", async () => {
  const { generator, log } = host(() =>
    answered({}, [
      { type: "reasoning", text: "hm" },
      { type: "text", text: "fine" },
    ]),
  );
  generator.seen("ses_1", { providerID: "p", modelID: "small" });
  const reply = await generator.generate(asked, never);
  assert.deepEqual(reply, {
    text: "fine",
    finish: "stop",
    toolCall: false,
    reasoning: true,
    model: "p/m",
    usage: { input: 9 },
    cost: 12500,
  });
  assert.deepEqual(log, [
    ["abort", "left"],
    ["delete", "left"],
    ["create", "ses_1"],
    ["prompt", "child_1", AGENT, "small"],
    ["abort", "child_1"],
    ["delete", "child_1"],
  ]);
});

test("the child's request has our text alone, and our limits", async () => {
  const { generator } = host(({ path }) => {
    const system = ["theirs", "AGENTS.md"];
    generator.system(path.id, system);
    const output = { temperature: 1, maxOutputTokens: 32_000 };
    generator.request(path.id, output);
    assert.deepEqual([system, output], [["ours"], { maxOutputTokens: 900 }]);
    return answered({}, []);
  });
  await generator.generate(asked, never);
  const theirs = ["theirs"];
  generator.system("ses_1", theirs);
  assert.deepEqual(theirs, ["theirs"]);
});

/** @type {Record<string, [any, string]>} */
const failures = {
  "a wrong key": [{ name: "ProviderAuthError", data: { message: "no" } }, "auth"],
  "status 401": [{ name: "APIError", data: { message: "no", statusCode: 401 } }, "auth"],
  "status 404": [{ name: "APIError", data: { message: "no", statusCode: 404 } }, "unknown-model"],
  "no model": [{ name: "UnknownError", data: { message: "ProviderModelNotFoundError" } }, "unknown-model"],
  "too long": [{ name: "ContextOverflowError", data: { message: "prompt is too long" } }, "too-long"],
  "an option": [{ name: "APIError", data: { message: "bad option", statusCode: 400 } }, "request"],
  "status 500": [{ name: "APIError", data: { message: "oops", statusCode: 500 } }, "server"],
  "no network": [{ name: "UnknownError", data: { message: "fetch failed" } }, "network"],
  nothing: [undefined, "server"],
};

for (const [name, [error, verdict]] of Object.entries(failures)) {
  test(`a failure: ${name}`, async () => {
    for (const answer of [{ error }, answered({ error }, [])]) {
      if (!error && answer !== undefined && "data" in answer) continue;
      const { generator, log } = host(() => answer);
      await assert.rejects(
        generator.generate(asked, never),
        (/** @type {any} */ e) => e.data.verdict === verdict,
      );
      assert.deepEqual(log.at(-1), ["delete", "child_1"]);
    }
  });
}

test("the host's own retry ends the call", async () => {
  const { generator, log } = host(({ path }, emit) => {
    const status = { type: "retry", attempt: 1, message: "Too Many Requests", next: Date.now() + 60_000 };
    emit({ type: "session.status", properties: { sessionID: path.id, status } });
    return new Promise(() => {});
  });
  await assert.rejects(
    generator.generate(asked, never),
    (/** @type {any} */ e) => e.data.verdict === "rate-limit" && e.data.retryAfterMs > 50_000,
  );
  assert.deepEqual(log.at(-1), ["delete", "child_1"]);
});

test("a tool call ends the call, and so does giving up", async () => {
  const { generator, log } = host(({ path }, emit) => {
    const part = { type: "tool", sessionID: path.id, messageID: "m" };
    assert.ok(emit({ type: "message.part.updated", properties: { part } }) !== undefined);
    return new Promise(() => {});
  });
  assert.deepEqual(await generator.generate(asked, never), {
    text: "",
    finish: "tool",
    toolCall: true,
    usage: {},
  });
  const giveUp = new AbortController();
  const stuck = host(() => new Promise(() => setTimeout(() => giveUp.abort())));
  await assert.rejects(
    stuck.generator.generate(asked, giveUp.signal),
    (/** @type {any} */ e) => e.data.verdict === "cancelled",
  );
  for (const { log: entries } of [{ log }, stuck]) assert.equal(entries.at(-1)[0], "delete");
});

test("events of others are nobody's business here", async () => {
  const { generator } = host(() => answered({}, []));
  await generator.generate(asked, never);
  assert.equal(
    generator.event(/** @type {any} */ ({ type: "session.idle", properties: { sessionID: "ses_1" } })),
    false,
  );
  const late = { type: "session.deleted", properties: { info: { id: "child_1" } } };
  assert.equal(generator.event(/** @type {any} */ (late)), true);
});
