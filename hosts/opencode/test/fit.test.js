import assert from "node:assert/strict";
import { test } from "node:test";
import { fit, isRealUser, messageBytes, usableTokens } from "../plugin/ctxplugin/fit.js";
import { assistant, call, ids, user } from "./examples.js";

/** Every message weighs what its text says, e.g. "10" is ten tokens. */
const byText = (/** @type {any} */ { parts }) => Number(parts[0].text);

test("a list that fits stays as it is", () => {
  const messages = [user("a", "5"), assistant("b", "5"), user("c", "5")];
  assert.equal(fit(messages, { head: 0, usable: 15, tokens: byText }), "");
  assert.deepEqual(ids(messages), ["a", "b", "c"]);
});

test("the oldest steps go, and what stays begins with a user message", () => {
  const messages = [
    user("h", "10"),
    assistant("i", "1"),
    user("a", "40"),
    assistant("b", "40"),
    user("c", "5"),
    assistant("d", "5"),
    user("e", "5"),
  ];
  assert.equal(fit(messages, { head: 2, usable: 60, tokens: byText }), "c");
  assert.deepEqual(ids(messages), ["h", "i", "c", "d", "e"]);
});

test("one long turn keeps its user message and the newest steps", () => {
  const messages = [user("a", "5"), ...[1, 2, 3, 4, 5].map((i) => assistant(`s${i}`, "20"))];
  assert.equal(fit(messages, { head: 0, usable: 70, tokens: byText }), "s4", "shrinks to 70 % of the window");
  assert.deepEqual(ids(messages), ["a", "s4", "s5"]);
});

test("a cut that still fits is made again, so that requests share their prefix", () => {
  const steps = () => [user("a", "5"), ...[1, 2, 3, 4, 5, 6].map((i) => assistant(`s${i}`, "10"))];
  const first = steps().slice(0, 6);
  const cut = fit(first, { head: 0, usable: 50, tokens: byText });
  assert.deepEqual(ids(first), ["a", "s3", "s4", "s5"]);
  const second = steps();
  assert.equal(fit(second, { head: 0, usable: 50, tokens: byText, cut }), "s3");
  assert.deepEqual(ids(second), ["a", "s3", "s4", "s5", "s6"]);
});

test("a cut inside an older turn moves to the next user message", () => {
  const messages = [
    user("a", "5"),
    assistant("s1", "5"),
    assistant("s2", "5"),
    user("b", "5"),
    assistant("t", "5"),
  ];
  fit(messages, { head: 0, usable: 100, tokens: byText, cut: "s2" });
  assert.deepEqual(ids(messages), ["b", "t"]);
});

test("what is too large even so has its largest outputs left out", () => {
  const big = assistant("s", "x", [call("n".repeat(30_000)), call("m".repeat(60_000)), call("small")]);
  const messages = [user("a", "go"), big];
  fit(messages, { head: 0, usable: 15_000, tokens: (message) => messageBytes(message) / 3 });
  const outputs = /** @type {any[]} */ (big.parts).slice(1).map(({ state }) => state.output);
  assert.equal(outputs[0].length, 30_000);
  assert.match(outputs[1], /^\[60000 bytes of output left out/);
  assert.equal(outputs[2], "small");
});

test("an unknown window cuts nothing", () => {
  const messages = [user("a", "1000000"), assistant("b", "1"), user("c", "1")];
  fit(messages, { head: 0, usable: usableTokens({ context: 0, output: 0 }, 0), tokens: byText });
  assert.equal(messages.length, 3);
});

test("the usable window leaves room for the answer and the fixed part", () => {
  assert.equal(usableTokens({ context: 200_000, output: 8_000 }, 30_000), 182_000);
  assert.equal(usableTokens({ context: 200_000, output: 64_000 }, 0), 168_000);
  assert.equal(usableTokens({ context: 200_000, output: 0 }, 0), 180_000);
  assert.equal(usableTokens({ context: 20_000, output: 16_000 }, 0), 15_000);
});

test("a real user message is one that a person wrote", () => {
  assert.equal(isRealUser(user("a", "hello")), true);
  assert.equal(isRealUser(user("a", " \n ")), false);
  assert.equal(isRealUser(user("a", "note", { synthetic: true })), false);
  assert.equal(isRealUser(user("a", "shown", { ignored: true })), false);
  assert.equal(isRealUser(assistant("a", "hello")), false);
  const compaction = user("a", "x");
  compaction.parts.push(/** @type {any} */ ({ type: "compaction", auto: true }));
  assert.equal(isRealUser(compaction), false);
});

test("media count by the picture", () => {
  const url = "data:image/png;base64," + "A".repeat(1 << 20);
  const picture = user("a", "look");
  picture.parts.push(/** @type {any} */ ({ type: "file", mime: "image/png", url }));
  assert.ok(messageBytes(picture) < 10_000);
});
